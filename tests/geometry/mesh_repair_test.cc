#include "stiction/geometry/mesh_repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stiction/geometry/mass_properties.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Kind = MeshFault::Kind;

int count(const std::vector<MeshFault>& faults, Kind kind) {
  return static_cast<int>(std::count_if(faults.begin(), faults.end(),
                                        [&](const MeshFault& f) { return f.kind == kind; }));
}

void turn(Triangle& t) { std::swap(t[0], t[1]); }

Mesh joined(Mesh a, const Mesh& b, bool turns) {
  const int first = static_cast<int>(a.vertices.size());
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (const Triangle& t : b.triangles) {
    a.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
    if (turns) turn(a.triangles.back());
  }
  return a;
}

TEST(MeshRepair, LeavesAGoodMeshAlone) {
  const Mesh box = box_mesh({1, 2, 3});
  EXPECT_TRUE(find_mesh_faults(box).empty());
  const MeshRepair repair = repaired(box);
  EXPECT_FALSE(repair.has_changed());
  EXPECT_EQ(repair.mesh.triangles, box.triangles);
  EXPECT_EQ(repair.to_text(), "nothing to repair");
}

TEST(MeshRepair, NamesAndTurnsASingleTriangle) {
  for (int t = 0; t < 12; ++t) {
    Mesh box = box_mesh({1, 2, 3});
    turn(box.triangles[t]);
    const std::vector<MeshFault> faults = find_mesh_faults(box);
    ASSERT_EQ(count(faults, Kind::kOrientation), 3);
    for (const MeshFault& fault : faults) {
      EXPECT_TRUE(fault.triangle == t || fault.other == t);
      EXPECT_NE(fault.message.find(std::to_string(t)), std::string::npos);
    }
    const MeshRepair repair = repaired(box);
    EXPECT_EQ(repair.num_turned, 1);
    EXPECT_TRUE(repair.remaining.empty());
    EXPECT_NEAR(compute_mass_properties(repair.mesh, 1)->mass, 6, 1e-12);
  }
}

TEST(MeshRepair, TurnsAMeshThatIsInsideOut) {
  Mesh box = box_mesh({1, 2, 3});
  for (Triangle& t : box.triangles) turn(t);
  const std::vector<MeshFault> faults = find_mesh_faults(box);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].kind, Kind::kInsideOut);
  EXPECT_NE(faults[0].message.find("inside out"), std::string::npos);
  const MeshRepair repair = repaired(box);
  EXPECT_EQ(repair.num_turned, 12);
  EXPECT_NEAR(compute_mass_properties(repair.mesh, 1)->mass, 6, 1e-12);
}

TEST(MeshRepair, CavitiesStayCavities) {
  const Mesh hollow = joined(box_mesh({2, 2, 2}), box_mesh({1, 1, 1}), true);
  EXPECT_TRUE(find_mesh_faults(hollow).empty());
  EXPECT_FALSE(repaired(hollow).has_changed());
  // Beside each other they are two solids, and one is inside out.
  Mesh small = box_mesh({1, 1, 1});
  for (Eigen::Vector3d& v : small.vertices) v.x() += 5;
  const Mesh beside = joined(box_mesh({2, 2, 2}), small, true);
  EXPECT_EQ(count(find_mesh_faults(beside), Kind::kInsideOut), 1);
  EXPECT_NEAR(compute_mass_properties(repaired(beside).mesh, 1)->mass, 9, 1e-12);
}

TEST(MeshRepair, DropsDuplicates) {
  Mesh box = box_mesh({1, 1, 1});
  box.triangles.push_back({box.triangles[4][1], box.triangles[4][2], box.triangles[4][0]});
  const std::vector<MeshFault> faults = find_mesh_faults(box);
  ASSERT_EQ(count(faults, Kind::kDuplicate), 1);
  EXPECT_EQ(count(faults, Kind::kNonManifold), 3);
  const auto duplicate = std::find_if(
      faults.begin(), faults.end(), [](const MeshFault& f) { return f.kind == Kind::kDuplicate; });
  EXPECT_EQ(duplicate->triangle, 12);
  EXPECT_EQ(duplicate->other, 4);
  const MeshRepair repair = repaired(box);
  EXPECT_EQ(repair.num_dropped_duplicates, 1);
  EXPECT_EQ(repair.mesh.triangles.size(), 12u);
  EXPECT_TRUE(repair.remaining.empty());
}

TEST(MeshRepair, DropsTrianglesWithTwoCornersAtOnePlace) {
  Mesh box = box_mesh({1, 1, 1});
  box.vertices.push_back(box.vertices[0]);  // vertex 8 is where vertex 0 is
  box.triangles.insert(box.triangles.begin() + 3, {0, 8, 1});
  EXPECT_EQ(find_closure_fault(box), "");
  const std::vector<MeshFault> faults = find_mesh_faults(box);
  ASSERT_EQ(count(faults, Kind::kDegenerate), 1);
  EXPECT_EQ(faults[0].triangle, 3);
  const MeshRepair repair = repaired(box);
  EXPECT_EQ(repair.num_dropped_degenerate, 1);
  EXPECT_EQ(find_closure_fault(repair.mesh), "");
  EXPECT_TRUE(repair.remaining.empty());
  EXPECT_EQ(repair.sources[3], 4);
}

TEST(MeshRepair, KeepsASliverThatClosesTheMesh) {
  // The edge 0–1 of one triangle of a tetrahedron has a vertex in the middle.
  const Mesh closed{
      .vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0, 0}},
      .triangles = {{0, 2, 4}, {4, 2, 1}, {0, 4, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  ASSERT_EQ(find_closure_fault(closed), "");
  const MeshRepair repair = repaired(closed);
  EXPECT_FALSE(repair.has_changed());
  ASSERT_EQ(count(repair.remaining, Kind::kDegenerate), 1);
  EXPECT_EQ(repair.remaining[0].triangle, 2);
  // In a sheet nothing is lost.
  const Mesh sheet{.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.5, 0, 0}},
                   .triangles = {{0, 1, 2}, {0, 3, 1}}};
  EXPECT_EQ(repaired(sheet).num_dropped_degenerate, 1);
}

TEST(MeshRepair, LeavesAMoebiusStripAlone) {
  Mesh strip;
  const int n = 5;
  for (int i = 0; i < n; ++i) {
    const double u = 2 * 3.14159265358979 * i / n;
    for (const double s : {-0.3, 0.3}) {
      const double r = 1 + s * std::cos(u / 2);
      strip.vertices.emplace_back(r * std::cos(u), r * std::sin(u), s * std::sin(u / 2));
    }
  }
  for (int i = 0; i < n; ++i) {
    const int a = 2 * i, b = a + 1, c = i + 1 < n ? a + 2 : 1, d = i + 1 < n ? a + 3 : 0;
    strip.triangles.push_back({a, c, b});
    strip.triangles.push_back({b, c, d});
  }
  const MeshRepair repair = repaired(strip);
  EXPECT_EQ(repair.num_turned, 0);
  EXPECT_EQ(count(repair.remaining, Kind::kOrientation), 1);
  EXPECT_NE(repair.to_text().find("not repaired"), std::string::npos);
}

TEST(MeshRepair, NamesEdgesOfManyTriangles) {
  const Mesh fins{.vertices = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {-1, -1, 0}},
                  .triangles = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}}};
  const std::vector<MeshFault> faults = find_mesh_faults(fins);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].kind, Kind::kNonManifold);
  EXPECT_NE(faults[0].message.find("vertices 0 and 1"), std::string::npos);
  EXPECT_FALSE(repaired(fins).has_changed());
}

TEST(MeshRepair, SurvivesAnything) {
  Random random(1);
  for (int k = 0; k < 500; ++k) {
    Mesh mesh;
    const int n = random.integer(3, 12);
    for (int i = 0; i < n; ++i) {
      mesh.vertices.emplace_back(random.integer(0, 2), random.integer(0, 2), random.integer(0, 2));
    }
    for (int i = 0; i < 3 * n; ++i) {
      const Triangle t{random.integer(0, n - 1), random.integer(0, n - 1),
                       random.integer(0, n - 1)};
      if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) mesh.triangles.push_back(t);
    }
    if (mesh.triangles.empty()) continue;
    const MeshRepair repair = repaired(mesh);
    EXPECT_EQ(repair.sources.size(), repair.mesh.triangles.size());
    EXPECT_EQ(find_closure_fault(mesh).empty() && !find_closure_fault(repair.mesh).empty(), false);
    // Once is enough.
    EXPECT_FALSE(repaired(repair.mesh).has_changed()) << k;
  }
}

}  // namespace
}  // namespace stiction
