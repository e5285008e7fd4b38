// References share nothing with the code: distances to all triangles one by one, and planes.
#include "stiction/geometry/surface_contacts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "stiction/base/random.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/convex_hull.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/triangle_surface.h"
#include "tests/geometry/polyhedra.h"
#include "tests/geometry/random_surfaces.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

ContactList contacts(const CollisionShape& a, const Pose& pose_a, const CollisionShape& surface,
                     const Pose& pose_surface, double reach, bool reduces = true) {
  ContactWorkspace workspace;
  ContactList list;
  collect_contacts(a, pose_a, surface, pose_surface, {.reach = reach, .reduces = reduces},
                   workspace, list);
  return list;
}

ContactList contacts(const Shape& a, const Pose& pose_a, const Shape& surface, double reach) {
  return contacts(CollisionShape(a), pose_a, CollisionShape(surface), Pose{}, reach);
}

Pose at(double x, double y, double z) { return {.position = {x, y, z}}; }

/// A grid over [−size/2, size/2]² with given heights; diagonals alternate at random.
template <typename Height>
Mesh grid_mesh(int n, double size, Height&& height, std::uint64_t seed = 1) {
  Random random(seed);
  Mesh mesh;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const double x = (i / (n - 1.0) - 0.5) * size, y = (j / (n - 1.0) - 0.5) * size;
      mesh.vertices.emplace_back(x, y, height(x, y));
    }
  }
  for (int i = 0; i + 1 < n; ++i) {
    for (int j = 0; j + 1 < n; ++j) {
      const int v = i * n + j;
      if (random.chance(0.5)) {
        mesh.triangles.push_back({v, v + n, v + n + 1});
        mesh.triangles.push_back({v, v + n + 1, v + 1});
      } else {
        mesh.triangles.push_back({v, v + n, v + 1});
        mesh.triangles.push_back({v + 1, v + n, v + n + 1});
      }
    }
  }
  return mesh;
}

Mesh flat_mesh(int n, double size) {
  return grid_mesh(n, size, [](double, double) { return 0.0; });
}

double distance_to_segment(const Vector3d& p, const Vector3d& a, const Vector3d& b) {
  const double t = std::clamp((p - a).dot(b - a) / (b - a).squaredNorm(), 0.0, 1.0);
  return (p - a - t * (b - a)).norm();
}

double distance_to_triangle(const Vector3d& p, const Vector3d& a, const Vector3d& b,
                            const Vector3d& c) {
  // Least squares for the foot; inside if all barycentric coordinates are.
  Eigen::Matrix<double, 3, 2> basis;
  basis << b - a, c - a;
  const Vector2d w = (basis.transpose() * basis).inverse() * (basis.transpose() * (p - a));
  if (w.minCoeff() >= 0 && w.sum() <= 1) return (p - a - basis * w).norm();
  return std::min(
      {distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
}

double distance_to_mesh(const Vector3d& p, const Mesh& mesh) {
  double best = std::numeric_limits<double>::infinity();
  for (const Triangle& t : mesh.triangles) {
    best = std::min(best, distance_to_triangle(p, mesh.vertices[t[0]], mesh.vertices[t[1]],
                                               mesh.vertices[t[2]]));
  }
  return best;
}

double smallest_of(const ContactList& list) {
  double gap = std::numeric_limits<double>::infinity();
  for (const ContactCandidate& candidate : list.candidates) gap = std::min(gap, candidate.gap);
  return gap;
}

std::vector<std::uint64_t> sorted_ids_of(const ContactList& list) {
  std::vector<std::uint64_t> ids;
  for (const ContactCandidate& candidate : list.candidates) ids.push_back(candidate.id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// What every list must satisfy.
void expect_sound(const ContactList& list, const CollisionShape& a, const Pose& pose_a,
                  const CollisionShape& surface, const Pose& pose_s, double reach) {
  int count = 0;
  for (const ContactPatch& patch : list.patches) {
    EXPECT_EQ(patch.first, count);
    EXPECT_GT(patch.count, 0);
    count += patch.count;
  }
  EXPECT_EQ(count, static_cast<int>(list.candidates.size()));
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_TRUE(std::isfinite(candidate.gap));
    EXPECT_TRUE(candidate.point.allFinite());
    EXPECT_NEAR(candidate.normal.norm(), 1, 1e-12);
    EXPECT_LE(candidate.gap, reach);
    const Touch touch = evaluate_touch(candidate, a, pose_a, surface, pose_s);
    EXPECT_NEAR(touch.gap, candidate.gap, 1e-12 * (1 + std::abs(candidate.gap)));
    EXPECT_LE((touch.normal - candidate.normal).norm(), 1e-9);
  }
  const std::vector<std::uint64_t> ids = sorted_ids_of(list);
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(SurfaceContacts, BallOnFlatTrianglesHasOneContactWithTheExactNormal) {
  const CollisionShape mesh(flat_mesh(11, 10)), ball(Sphere{.radius = 0.7});
  const CollisionShape field(
      HeightField{.size = {10, 10}, .heights = Eigen::MatrixXd::Zero(11, 11)});
  Random random(1);
  for (int k = 0; k < 1000; ++k) {
    SCOPED_TRACE(k);
    // Every second one over a vertex, an edge or a diagonal of the grid.
    Vector3d p(random.uniform(-4, 4), random.uniform(-4, 4), random.uniform(0.5, 0.75));
    if (k % 2 == 0) p.x() = random.integer(-4, 4);
    if (k % 4 == 0) p.y() = random.integer(-4, 4);
    if (k % 8 == 1) p.y() = p.x();
    for (const CollisionShape* surface : {&mesh, &field}) {
      const ContactList list = contacts(ball, {.position = p}, *surface, {}, 0.1);
      ASSERT_EQ(list.candidates.size(), 1u);
      EXPECT_EQ(list.candidates[0].normal, Vector3d::UnitZ());
      EXPECT_NEAR(list.candidates[0].gap, p.z() - 0.7, 1e-15);
    }
  }
}

TEST(SurfaceContacts, BallOnTheSmallestHeightFieldHasOneContact) {
  const HeightField field{.size = {1, 1}, .heights = Eigen::MatrixXd::Constant(2, 2, 0.25)};
  for (const Vector2d& place : {Vector2d(0, 0), Vector2d(0.2, -0.3), Vector2d(0.1, 0.1)}) {
    const ContactList list =
        contacts(Sphere{.radius = 0.1}, at(place.x(), place.y(), 0.35), field, 0.01);
    ASSERT_EQ(list.candidates.size(), 1u);
    EXPECT_EQ(list.candidates[0].normal, Vector3d::UnitZ());
  }
}

TEST(SurfaceContacts, FlatTrianglesActAsOneFaceInAnyOrientation) {
  Random random(2);
  const CollisionShape ball(Sphere{.radius = 0.7});
  for (int k = 0; k < 200; ++k) {
    SCOPED_TRACE(k);
    const Eigen::Matrix3d turn = random_rotation(random);
    const Vector3d shift = random_vector(random);
    Mesh mesh = flat_mesh(6, 10);
    for (Vector3d& v : mesh.vertices) v = turn * v + shift;
    const CollisionShape surface(mesh);
    EXPECT_EQ(surface.surface()->num_regions(), 1);
    const Vector3d p = turn * Vector3d(random.uniform(-4, 4), random.uniform(-4, 4), 0.71) + shift;
    const ContactList list = contacts(ball, {.position = p}, surface, {}, 0.1);
    ASSERT_EQ(list.candidates.size(), 1u);
    EXPECT_NEAR(list.candidates[0].gap, 0.01, 1e-13);
    EXPECT_LE((list.candidates[0].normal - turn.col(2)).norm(), 1e-14);
  }
}

/// The tip of a tetrahedron that leans over a fold: it has gone through one side of it and is under
/// the other, which none of it meets. Whether the fold is flat or bent by 1e-7, the tip is as deep.
TEST(SurfaceContacts, TipsThatLeanOverAFoldAreAsDeepAsOnTheFlat) {
  for (const double bend : {0.0, 1e-9, 1e-8, 1e-7}) {
    for (int seed = 1; seed <= 500; ++seed) {
      Random random(seed);
      HeightField field{.size = {4, 4}, .heights = Eigen::MatrixXd(5, 5)};
      for (double& height : field.heights.reshaped()) height = bend * random.uniform(-1, 1);
      Convex hull{.points = {{0, 0, 0}}};
      for (int k = 0; k < 3; ++k) {
        const double towards = 2.0943951 * k + random.uniform(0, 0.5);
        const double width = random.uniform(0.1, 1);
        hull.points.emplace_back(-random.uniform(0.05, 0.5), width * std::sin(towards),
                                 random.uniform(0.02, 0.6));
      }
      const double depth = std::pow(10, random.uniform(-4, -2));
      const double beside = std::pow(10, random.uniform(-4, -2));
      if (!find_fault(Shape(hull)).empty()) continue;
      const ContactList list = contacts(hull, at(beside, 0.3, -depth), field, 1e-4);
      double least = 1;
      for (const ContactCandidate& candidate : list.candidates)
        least = std::min(least, candidate.gap);
      EXPECT_NEAR(least, -depth, 2 * bend + 1e-9) << "seed " << seed << ", bend " << bend;
    }
  }
}

TEST(SurfaceContacts, BallRollingOverFoldsHasTheGapOfTheNearestTriangle) {
  const auto ridges = [](double x, double y) { return 0.2 * std::sin(2 * x) + 0.1 * std::cos(y); };
  const Mesh mesh = grid_mesh(15, 10, ridges);
  const CollisionShape surface(mesh), ball(Sphere{.radius = 0.5});
  HeightField field{.size = {10, 10}, .heights = Eigen::MatrixXd(15, 15)};
  for (int i = 0; i < 15; ++i) {
    for (int j = 0; j < 15; ++j) field.heights(i, j) = mesh.vertices[i * 15 + j].z();
  }
  Mesh field_mesh = mesh;
  field_mesh.triangles.clear();
  for (int i = 0; i < 14; ++i) {
    for (int j = 0; j < 14; ++j) {
      const int v = 15 * i + j;
      field_mesh.triangles.push_back({v, v + 15, v + 16});
      field_mesh.triangles.push_back({v, v + 16, v + 1});
    }
  }
  const CollisionShape ground(field);
  constexpr int kPlaces = testing::fewer_sanitized(4000);
  for (int k = 0; k <= kPlaces; ++k) {
    const double s = k / double{kPlaces};
    const Vector3d p(-4 + 8 * s, -3 + 5 * s, 0.75 + 0.2 * std::sin(40 * s));
    const ContactList list = contacts(ball, {.position = p}, surface, {}, 0.3);
    const double expected = distance_to_mesh(p, mesh) - 0.5;
    if (expected <= 0.3) {
      EXPECT_NEAR(smallest_of(list), expected, 1e-12) << k;
    }
    expect_sound(list, ball, {.position = p}, surface, {}, 0.3);
    const double over_field = distance_to_mesh(p, field_mesh) - 0.5;
    const ContactList other = contacts(ball, {.position = p}, ground, {}, 0.3);
    if (over_field <= 0.3) {
      EXPECT_NEAR(smallest_of(other), over_field, 1e-12) << k;
    }
  }
}

/// Every candidate of a ball is a local minimum of the distance: its normal points from the nearest
/// point of its feature, and no point of the surface near that one is nearer.
TEST(SurfaceContacts, EveryContactOfABallIsALocalMinimumOfTheDistance) {
  Random random(3);
  const Mesh mesh = grid_mesh(
      9, 4, [&](double, double) { return random.uniform(-0.3, 0.3); }, 4);
  const CollisionShape surface(mesh), ball(Sphere{.radius = 0.8});
  int num_multiple = 0;
  for (int k = 0; k < 500; ++k) {
    const Vector3d p(random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5), random.uniform(0.4, 1));
    if (distance_to_mesh(p, mesh) < 0.05) continue;
    const ContactList list = contacts(ball, {.position = p}, surface, {}, 0.2);
    num_multiple += list.candidates.size() > 1;
    for (const ContactCandidate& candidate : list.candidates) {
      const double distance = candidate.gap + 0.8;
      const Vector3d foot = p - distance * candidate.normal;
      for (const Triangle& t : mesh.triangles) {
        // The part of the surface near the foot, moved away from the rest of it.
        const double near = distance_to_triangle(foot, mesh.vertices[t[0]], mesh.vertices[t[1]],
                                                 mesh.vertices[t[2]]);
        if (near > 1e-9) continue;
        EXPECT_GE(
            distance_to_triangle(p, mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]),
            distance - 1e-9);
      }
    }
  }
  EXPECT_GT(num_multiple, 50);
}

/// Same normals, gaps and points, in any order.
void expect_same(const ContactList& p, const ContactList& q, double tolerance) {
  ASSERT_EQ(p.candidates.size(), q.candidates.size());
  for (const ContactCandidate& one : p.candidates) {
    const bool is_found =
        std::any_of(q.candidates.begin(), q.candidates.end(), [&](const ContactCandidate& other) {
          return (one.point - other.point).norm() <= tolerance &&
                 std::abs(one.gap - other.gap) <= tolerance &&
                 (one.normal - other.normal).norm() <= tolerance;
        });
    EXPECT_TRUE(is_found) << one.point.transpose() << " gap " << one.gap;
  }
}

std::vector<Shape> all_convex() {
  Random random(5);
  Convex hull;
  for (int i = 0; i < 20; ++i) hull.points.push_back(random_vector(random).normalized() * 0.5);
  return {Sphere{.radius = 0.5},
          Capsule{.radius = 0.3, .length = 0.8},
          Box{.size = {1, 0.7, 0.4}},
          Cylinder{.radius = 0.4, .length = 0.9},
          Ellipsoid{.radii = {0.6, 0.4, 0.3}},
          hull};
}

TEST(SurfaceContacts, TriangulatedPlaneActsAsPlane) {
  const CollisionShape mesh(flat_mesh(21, 8)), plane{Plane{}};
  const CollisionShape field(HeightField{.size = {8, 8}, .heights = Eigen::MatrixXd::Zero(21, 17)});
  Random random(6);
  for (const Shape& shape : all_convex()) {
    SCOPED_TRACE(name_of(shape));
    const CollisionShape a(shape);
    for (int k = 0; k < 200; ++k) {
      SCOPED_TRACE(k);
      Pose pose{.position = {random.uniform(-2, 2), random.uniform(-2, 2), 0}};
      // Some lie flat or stand upright.
      if (k % 4 != 0) pose.rotation = random_rotation(random);
      if (k % 4 == 1) {
        pose.rotation =
            Eigen::AngleAxisd(random.uniform(0, 6), Vector3d::UnitZ()).toRotationMatrix() *
            Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()).toRotationMatrix();
      }
      const double lowest = a.bounds(pose).lower.z();
      pose.position.z() = -lowest + (k % 3 == 0 ? 0 : random.uniform(-0.02, 0.02));
      const ContactList expected = contacts(a, pose, plane, {}, 0.05);
      for (const CollisionShape* surface : {&mesh, &field}) {
        const ContactList list = contacts(a, pose, *surface, {}, 0.05);
        expect_same(expected, list, 1e-9);
        expect_sound(list, a, pose, *surface, {}, 0.05);
        EXPECT_EQ(list.patches.size(), 1u);
      }
    }
  }
}

/// Two planes that meet along y, rising or falling with the slope away from it.
Mesh fold(double slope) {
  Mesh mesh;
  for (const double y : {-5.0, -1.0, 2.0, 5.0}) {
    for (const double x : {-5.0, 0.0, 5.0}) mesh.vertices.emplace_back(x, y, slope * std::abs(x));
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int v = 3 * i + j;
      mesh.triangles.push_back({v, v + 1, v + 4});
      mesh.triangles.push_back({v, v + 4, v + 3});
    }
  }
  return mesh;
}

TEST(SurfaceContacts, BallInAValleyTouchesBothSides) {
  // At height r √2 over the bottom of a right angle.
  const ContactList list =
      contacts(Sphere{.radius = 1}, at(0, 0.3, std::numbers::sqrt2), fold(1), 0.1);
  ASSERT_EQ(list.candidates.size(), 2u);
  EXPECT_EQ(list.patches.size(), 2u);
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_NEAR(candidate.gap, 0, 1e-14);
    EXPECT_NEAR(std::abs(candidate.normal.x()), std::numbers::sqrt2 / 2, 1e-14);
    EXPECT_NEAR(candidate.normal.z(), std::numbers::sqrt2 / 2, 1e-14);
  }
}

TEST(SurfaceContacts, RidgePushesAlongTheDirectionBetweenItsFaces) {
  const Mesh ridge = fold(-1);
  Random random(7);
  for (int k = 0; k < 100; ++k) {
    const double angle = random.uniform(-0.78, 0.78);  // the cone ends at 45°
    const Vector3d n(std::sin(angle), 0, std::cos(angle));
    const Vector3d p = 1.05 * n + random.uniform(-0.8, 1.8) * Vector3d::UnitY();
    const ContactList list = contacts(Sphere{.radius = 1}, {.position = p}, ridge, 0.1);
    ASSERT_EQ(list.candidates.size(), 1u);
    EXPECT_LE((list.candidates[0].normal - n).norm(), 1e-14);
    EXPECT_NEAR(list.candidates[0].gap, 0.05, 1e-14);
  }
}

TEST(SurfaceContacts, StraightEdgeOfManySegmentsIsOneFeature) {
  // Over the vertex (0, −1, 0) between two segments of the ridge, and beside it: one contact, with
  // one id.
  std::uint64_t id = 0;
  for (const double y : {-1.3, -1.0, -0.9, 1.0, 2.0, 2.5}) {
    const ContactList list = contacts(Sphere{.radius = 1}, at(0, y, 1), fold(-1), 0.1);
    ASSERT_EQ(list.candidates.size(), 1u) << y;
    if (id == 0) id = list.candidates[0].id;
    EXPECT_EQ(list.candidates[0].id, id);
  }
}

Mesh pyramid(int sides, double height) {
  Mesh mesh;
  mesh.vertices.emplace_back(0, 0, height);
  for (int i = 0; i < sides; ++i) {
    const double angle = 2 * std::numbers::pi * i / sides;
    mesh.vertices.emplace_back(std::cos(angle), std::sin(angle), 0);
  }
  for (int i = 0; i < sides; ++i) {
    mesh.triangles.push_back({0, 1 + i, 1 + (i + 1) % sides});
    if (i >= 2) mesh.triangles.push_back({1, 1 + i, i});
  }
  return mesh;
}

TEST(SurfaceContacts, TipOfAConePushesAwayFromTheTip) {
  const Mesh cone = pyramid(12, 1);
  EXPECT_EQ(find_closure_fault(cone), "");
  Random random(8);
  for (int k = 0; k < 100; ++k) {
    const Vector3d n =
        Vector3d(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 1).normalized();
    const ContactList list =
        contacts(Sphere{.radius = 0.5}, {.position = Vector3d(0, 0, 1) + 0.52 * n}, cone, 0.1);
    ASSERT_EQ(list.candidates.size(), 1u);
    EXPECT_LE((list.candidates[0].normal - n).norm(), 1e-13);
    EXPECT_NEAR(list.candidates[0].gap, 0.02, 1e-14);
  }
  // All others stand on the tip with one contact along the axis.
  for (const Shape& shape : all_convex()) {
    SCOPED_TRACE(name_of(shape));
    const CollisionShape a(shape);
    Pose pose;
    if (name_of(shape) == "convex") continue;  // some corner is lowest, not over the tip
    for (const double gap : {0.01, -0.01}) {
      pose.position.z() = 1 - a.bounds(Pose{}).lower.z() + gap;
      const ContactList list = contacts(a, pose, CollisionShape(cone), {}, 0.02);
      ASSERT_EQ(list.candidates.size(), 1u) << gap;
      EXPECT_NEAR(list.candidates[0].gap, gap, 1e-12);
      EXPECT_LE((list.candidates[0].normal - Vector3d::UnitZ()).norm(), 1e-9);
    }
  }
}

TEST(SurfaceContacts, SheetPushesToTheSideOfTheCentre) {
  const Mesh sheet = flat_mesh(5, 4);
  for (const Shape& shape : all_convex()) {
    SCOPED_TRACE(name_of(shape));
    const CollisionShape a(shape), surface(sheet), plane{Plane{}};
    Pose pose;
    pose.position.z() = -a.bounds(Pose{}).lower.z() - 0.01;
    const ContactList above = contacts(a, pose, surface, {}, 0);
    expect_same(above, contacts(a, pose, plane, {}, 0), 1e-9);
    pose.position.z() = -a.bounds(Pose{}).upper.z() + 0.01;
    const ContactList below = contacts(a, pose, surface, {}, 0);
    ASSERT_FALSE(below.candidates.empty());
    for (const ContactCandidate& candidate : below.candidates) {
      EXPECT_EQ(candidate.normal, -Vector3d::UnitZ());
      EXPECT_LE(candidate.gap, 0);
      EXPECT_GE(candidate.gap, -0.01 - 1e-12);
    }
  }
}

TEST(SurfaceContacts, RimOfASheetPushesAllAround) {
  const Mesh sheet = flat_mesh(5, 4);
  for (double angle = -1.5; angle <= 1.5; angle += 0.1) {
    const Vector3d n(std::cos(angle), 0, std::sin(angle));
    const ContactList list =
        contacts(Sphere{.radius = 0.5}, {.position = Vector3d(2, 0.3, 0) + 0.51 * n}, sheet, 0.1);
    ASSERT_EQ(list.candidates.size(), 1u) << angle;
    EXPECT_LE((list.candidates[0].normal - n).norm(), 1e-13);
  }
}

TEST(SurfaceContacts, BothSidesOfAThinPlateWork) {
  const CollisionShape plate(box_mesh({4, 4, 1e-3}));
  for (const Shape& shape : all_convex()) {
    SCOPED_TRACE(name_of(shape));
    const CollisionShape a(shape);
    for (const double side : {1.0, -1.0}) {
      Pose pose;
      const Bounds box = a.bounds(Pose{});
      // Deeper than the plate is thick.
      pose.position.z() = side > 0 ? -box.lower.z() - 2e-3 : -box.upper.z() + 2e-3;
      const ContactList list = contacts(a, pose, plate, {}, 1e-3);
      ASSERT_FALSE(list.candidates.empty());
      EXPECT_NEAR(smallest_of(list), -2.5e-3, 1e-12);
      for (const ContactCandidate& candidate : list.candidates) {
        EXPECT_EQ(candidate.normal, side * Vector3d::UnitZ());
      }
    }
  }
}

TEST(SurfaceContacts, ShapesOnATableActAsOnABox) {
  // Half over the edge: the contacts are the corners of the overlap.
  const Mesh table = box_mesh({2, 2, 1});
  const ContactList box = contacts(Box{.size = {1, 1, 1}}, at(1, 0, 1), table, 1e-3);
  ASSERT_EQ(box.candidates.size(), 4u);
  for (const ContactCandidate& candidate : box.candidates) {
    EXPECT_EQ(candidate.normal, Vector3d::UnitZ());
    EXPECT_NEAR(candidate.gap, 0, 1e-14);
    EXPECT_NEAR(std::abs(candidate.point.y()), 0.5, 1e-14);
    EXPECT_NEAR(std::abs(candidate.point.x() - 0.75), 0.25, 1e-14);
  }
  // Over a corner of the table: one corner of each and two crossings.
  const ContactList corner = contacts(Box{.size = {1, 1, 1}}, at(1, 1, 1), table, 1e-3);
  ASSERT_EQ(corner.candidates.size(), 4u);
  for (const ContactCandidate& candidate : corner.candidates) {
    EXPECT_EQ(candidate.normal, Vector3d::UnitZ());
    EXPECT_NEAR(std::abs(candidate.point.x() - 0.75), 0.25, 1e-14);
    EXPECT_NEAR(std::abs(candidate.point.y() - 0.75), 0.25, 1e-14);
  }
  // A capsule over two edges.
  Pose lying = at(0, 0.3, 0.8);
  lying.rotation = Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitY()).toRotationMatrix();
  const ContactList capsule = contacts(Capsule{.radius = 0.3, .length = 4}, lying, table, 1e-3);
  ASSERT_EQ(capsule.candidates.size(), 2u);
  for (const ContactCandidate& candidate : capsule.candidates) {
    EXPECT_LE((candidate.normal - Vector3d::UnitZ()).norm(), 1e-12);
    EXPECT_NEAR(std::abs(candidate.point.x()), 1, 1e-12);
  }
  const ContactList rod = contacts(Cylinder{.radius = 0.3, .length = 4}, lying, table, 1e-3);
  ASSERT_EQ(rod.candidates.size(), 2u);
  for (const ContactCandidate& candidate : rod.candidates) {
    EXPECT_LE((candidate.normal - Vector3d::UnitZ()).norm(), 1e-12);
    EXPECT_NEAR(std::abs(candidate.point.x()), 1, 1e-12);
  }
}

TEST(SurfaceContacts, BoxPivotingOnAnEdgeIsPushedAlongItsOwnFace) {
  for (const double angle : {0.02, 0.2, 0.5, 1.0, 1.5}) {
    SCOPED_TRACE(angle);
    const Mesh table = box_mesh({2, 2, 1});
    Pose pose;
    pose.rotation = Eigen::AngleAxisd(angle, Vector3d::UnitY()).toRotationMatrix();
    pose.position = Vector3d(1, 0, 0.5) + pose.rotation * Vector3d(0.2, 0, 0.25 - 1e-4);
    const ContactList list = contacts(Box{.size = {1.2, 0.6, 0.5}}, pose, table, 1e-3);
    ASSERT_EQ(list.candidates.size(), 2u);
    for (const ContactCandidate& candidate : list.candidates) {
      EXPECT_LE((candidate.normal - pose.rotation.col(2)).norm(), 1e-12);
      EXPECT_NEAR(candidate.gap, -1e-4, 1e-12);
      EXPECT_NEAR(std::abs(candidate.point.y()), 0.3, 1e-12);
    }
  }
}

TEST(SurfaceContacts, BoxInACornerTouchesFloorAndWallOnly) {
  // An L: floor z = 0 for x > 0, wall x = 0 up to z = 0.5, then another floor.
  Mesh stairs;
  for (const double y : {-3.0, 0.0, 3.0}) {
    for (const Vector2d& p :
         {Vector2d(-3, 0.5), Vector2d(0, 0.5), Vector2d(0, 0), Vector2d(3, 0)}) {
      stairs.vertices.emplace_back(p.x(), y, p.y());
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int v = 4 * i + j;
      stairs.triangles.push_back({v, v + 1, v + 5});
      stairs.triangles.push_back({v, v + 5, v + 4});
    }
  }
  // 1 mm into the wall, taller than it.
  const ContactList list = contacts(Box{.size = {1, 1, 2}}, at(0.499, 0.1, 1), stairs, 1e-4);
  int num_floor = 0, num_wall = 0;
  for (const ContactCandidate& candidate : list.candidates) {
    if (candidate.normal.z() > 0.5) {
      ++num_floor;
      EXPECT_NEAR(candidate.gap, 0, 1e-12);
    } else {
      ++num_wall;
      EXPECT_EQ(candidate.normal, Vector3d::UnitX());
      EXPECT_NEAR(candidate.gap, -1e-3, 1e-12);
    }
  }
  EXPECT_EQ(num_floor + num_wall, static_cast<int>(list.candidates.size()));
  EXPECT_EQ(num_floor, 4);
  EXPECT_EQ(num_wall, 4);
}

TEST(SurfaceContacts, BallInsideASolidIsPushedToTheNearestFace) {
  Random random(9);
  const CollisionShape solid(box_mesh({2, 3, 4})), ball(Sphere{.radius = 0.1});
  for (int k = 0; k < 200; ++k) {
    const Vector3d p(random.uniform(-1, 1), random.uniform(-1.5, 1.5), random.uniform(-2, 2));
    const Vector3d depth = Vector3d(1, 1.5, 2) - p.cwiseAbs();
    const ContactList list = contacts(ball, {.position = p}, solid, {}, 0);
    ASSERT_EQ(list.candidates.size(), 1u);
    EXPECT_NEAR(list.candidates[0].gap, -depth.minCoeff() - 0.1, 1e-12);
    int axis = 0;
    depth.minCoeff(&axis);
    EXPECT_NEAR(list.candidates[0].normal[axis], p[axis] > 0 ? 1 : -1, 1e-12);
  }
}

TEST(SurfaceContacts, HeightFieldPushesUpFromAnyDepthAndEndsAtItsRectangle) {
  Random random(10);
  HeightField field{.size = {10, 10}, .heights = Eigen::MatrixXd(11, 11)};
  for (double& h : field.heights.reshaped()) h = random.uniform(-0.2, 0.2);
  const CollisionShape ground(field);
  for (const Shape& shape : all_convex()) {
    SCOPED_TRACE(name_of(shape));
    const CollisionShape a(shape);
    for (int k = 0; k < 100; ++k) {
      const Pose pose{
          .position = {random.uniform(-4, 4), random.uniform(-4, 4), random.uniform(-3, -0.3)},
          .rotation = random_rotation(random)};
      const ContactList list = contacts(a, pose, ground, {}, 0);
      ASSERT_FALSE(list.candidates.empty());
      for (const ContactCandidate& candidate : list.candidates) {
        EXPECT_GT(candidate.normal.z(), 0);
      }
      EXPECT_LT(smallest_of(list), 0);
    }
    EXPECT_TRUE(contacts(a, at(6.5, 0, -1), ground, {}, 0.1).candidates.empty());
  }
}

TEST(SurfaceContacts, BallFallingBesideAHeightFieldIsNotCaughtByItsWall) {
  const HeightField field{.size = {2, 2}, .heights = Eigen::MatrixXd::Zero(3, 3)};
  for (double z = 0.6; z > -2; z -= 0.05) {
    const ContactList list = contacts(Sphere{.radius = 0.5}, at(1.3, 0, z), field, 0.01);
    for (const ContactCandidate& candidate : list.candidates) {
      EXPECT_GE(candidate.normal.z(), -1e-9);
      EXPECT_GE(z, -1e-9);
    }
  }
}

TEST(SurfaceContacts, AllIsTheSameInOtherPlacesAndUnits) {
  Random random(11);
  const Mesh mesh = grid_mesh(
      7, 3, [&](double, double) { return random.uniform(-0.2, 0.2); }, 12);
  int num_compared = 0;
  for (const Shape& shape : all_convex()) {
    SCOPED_TRACE(name_of(shape));
    for (const double unit : {1e-6, 1e3}) {
      const auto scaled = [&](const Shape& s) {
        Shape copy = s;
        if (auto* p = std::get_if<Sphere>(&copy)) p->radius *= unit;
        if (auto* p = std::get_if<Capsule>(&copy)) p->radius *= unit, p->length *= unit;
        if (auto* p = std::get_if<Box>(&copy)) p->size *= unit;
        if (auto* p = std::get_if<Cylinder>(&copy)) p->radius *= unit, p->length *= unit;
        if (auto* p = std::get_if<Ellipsoid>(&copy)) p->radii *= unit;
        if (auto* p = std::get_if<Convex>(&copy)) {
          for (Vector3d& v : p->points) v *= unit;
        }
        if (auto* p = std::get_if<Mesh>(&copy)) {
          for (Vector3d& v : p->vertices) v *= unit;
        }
        return copy;
      };
      const CollisionShape a(shape), surface(mesh), a_unit(scaled(shape)),
          surface_unit(scaled(mesh));
      for (int k = 0; k < 30; ++k) {
        const Pose pose{
            .position = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0.3, 0.8)},
            .rotation = random_rotation(random)};
        const Pose pose_unit{.position = unit * pose.position, .rotation = pose.rotation};
        const ContactList here = contacts(a, pose, surface, {}, 0.05);
        const ContactList there = contacts(a_unit, pose_unit, surface_unit, {}, 0.05 * unit);
        const Pose moved{.position = random_vector(random), .rotation = random_rotation(random)};
        const ContactList turned = contacts(a, moved * pose, surface, moved, 0.05);
        // Deep inside a rough surface several features part the shapes equally well, and rounding
        // decides which is found.
        const auto is_deep = [](const ContactCandidate& c) { return c.gap < -0.1; };
        if (std::any_of(here.candidates.begin(), here.candidates.end(), is_deep)) continue;
        ++num_compared;
        ASSERT_EQ(here.candidates.size(), there.candidates.size());
        ASSERT_EQ(here.candidates.size(), turned.candidates.size());
        for (std::size_t i = 0; i < here.candidates.size(); ++i) {
          EXPECT_NEAR(there.candidates[i].gap / unit, here.candidates[i].gap, 1e-8);
          EXPECT_NEAR(turned.candidates[i].gap, here.candidates[i].gap, 1e-8);
          EXPECT_EQ(there.candidates[i].id, here.candidates[i].id);
        }
      }
    }
  }
  EXPECT_GT(num_compared, 100);
}

TEST(SurfaceContacts, SeparationOfConvexShapesIsTheDistanceToTheNearestTriangle) {
  // Independent: the convex shape against each triangle, as a thin prism of almost no height.
  Random random(13);
  const Mesh mesh = grid_mesh(
      6, 3, [&](double, double) { return random.uniform(-0.3, 0.3); }, 14);
  const CollisionShape surface(mesh);
  for (const Shape& shape : all_convex()) {
    SCOPED_TRACE(name_of(shape));
    const CollisionShape a(shape);
    for (int k = 0; k < 60; ++k) {
      SCOPED_TRACE(k);
      const Pose pose{
          .position = {random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(0.6, 1)},
          .rotation = random_rotation(random)};
      double expected = std::numeric_limits<double>::infinity();
      for (const Triangle& t : mesh.triangles) {
        const Vector3d &p = mesh.vertices[t[0]], &q = mesh.vertices[t[1]], &r = mesh.vertices[t[2]];
        const Vector3d below = -1e-3 * (q - p).cross(r - p).normalized();
        const CollisionShape prism(Convex{.points = {p, q, r, (p + q + r) / 3 + below}});
        expected = std::min(expected, compute_distance(a, pose, prism, {}).gap);
      }
      const ContactList list = contacts(a, pose, surface, {}, 1);
      if (expected > 1e-3 && expected < 1) {
        EXPECT_NEAR(smallest_of(list), expected, 1e-8);
      }
      expect_sound(list, a, pose, surface, {}, 1);
    }
  }
}

TEST(SurfaceContacts, PlaneCarriesTheCornersOfAMesh) {
  const CollisionShape mesh(box_mesh({1, 1, 1})), plane{Plane{}};
  const ContactList list = contacts(mesh, at(0, 0, 0.5), plane, {}, 0.1);
  ASSERT_EQ(list.candidates.size(), 4u);
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_EQ(candidate.normal, Vector3d::UnitZ());
    EXPECT_NEAR(candidate.gap, 0, 1e-15);
  }
}

TEST(SurfaceContacts, TwoSurfacesHaveNoContacts) {
  EXPECT_TRUE(contacts(box_mesh({1, 1, 1}), {}, flat_mesh(3, 2), 1).candidates.empty());
}

TEST(SurfaceContacts, SurvivesDegenerateTriangles) {
  Random random(15);
  for (int k = 0; k < 300; ++k) {
    SCOPED_TRACE(k);
    Mesh mesh;
    const int n = random.integer(3, 30);
    for (int i = 0; i < n; ++i) {
      mesh.vertices.emplace_back(random.integer(-2, 2), random.integer(-2, 2),
                                 random.integer(-1, 1));
      if (random.chance(0.3)) mesh.vertices.back() *= 1e-9;
    }
    for (int i = 0; i < 3 * n; ++i) {
      Triangle t{random.integer(0, n - 1), random.integer(0, n - 1), random.integer(0, n - 1)};
      if (t[0] != t[1] && t[1] != t[2] && t[2] != t[0]) mesh.triangles.push_back(t);
    }
    if (mesh.triangles.empty()) continue;
    const CollisionShape surface(mesh);
    for (const Shape& shape : all_convex()) {
      SCOPED_TRACE(name_of(shape));
      const CollisionShape a(shape);
      Pose pose{.position = random_vector(random), .rotation = random_rotation(random)};
      if (random.chance(0.5)) {  // coincidences
        pose.rotation.setIdentity();
        for (double& x : pose.position) x = random.integer(-4, 4) / 2.0;
      }
      expect_sound(contacts(a, pose, surface, {}, 0.3), a, pose, surface, {}, 0.3);
    }
  }
}

TEST(SurfaceContacts, DoesNotDependOnWhatTheWorkspaceWasUsedForBefore) {
  Random random(16);
  const CollisionShape surface(grid_mesh(
      9, 4, [&](double, double) { return random.uniform(-0.3, 0.3); }, 4));
  ContactWorkspace workspace;
  ContactList list;
  for (int k = 0; k < 50; ++k) {
    for (const Shape& shape : all_convex()) {
      const CollisionShape a(shape);
      const Pose pose{.position = {random.uniform(-1, 1), random.uniform(-1, 1), 0.4},
                      .rotation = random_rotation(random)};
      list.clear();
      collect_contacts(a, pose, surface, {}, {.reach = 0.1}, workspace, list);
      const ContactList fresh = contacts(a, pose, surface, {}, 0.1);
      ASSERT_EQ(list.candidates.size(), fresh.candidates.size());
      for (std::size_t i = 0; i < list.candidates.size(); ++i) {
        EXPECT_EQ(list.candidates[i].id, fresh.candidates[i].id);
        EXPECT_EQ(list.candidates[i].gap, fresh.candidates[i].gap);
      }
    }
  }
}

/// On a flat region an ellipsoid touches as on a plane, and goes on doing so while it rolls: its
/// gap is that of its lowest point at other poses, too, whichever of the two shapes comes first.
TEST(SurfaceContacts, AnEllipsoidRollsOnAFlatMeshAsOnAPlane) {
  const CollisionShape ellipsoid{Shape(Ellipsoid{{0.1, 0.2, 0.35}})}, plane{Shape(Plane{})},
      mesh{Shape(flat_mesh(6, 4))};
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const auto turned = [&](const Eigen::Quaterniond& by) {
      Pose pose{{random.uniform(-1, 1), random.uniform(-1, 1), 1}, by.toRotationMatrix()};
      pose.position.z() -= compute_distance(ellipsoid, pose, plane, {}).gap;
      return pose;
    };
    const Eigen::Quaterniond start(random.uniform(-1, 1), random.uniform(-1, 1),
                                   random.uniform(-1, 1), random.uniform(-1, 1));
    const Pose pose = turned(start.normalized());
    ContactWorkspace workspace;
    ContactList list, swapped_list;
    collect_contacts(ellipsoid, pose, mesh, {}, {.reach = 1e-3}, workspace, list);
    collect_contacts(mesh, {}, ellipsoid, pose, {.reach = 1e-3}, workspace, swapped_list);
    ASSERT_EQ(list.candidates.size(), 1U);
    ASSERT_EQ(swapped_list.candidates.size(), 1U);
    Pose later = pose;
    later.rotation = pose.rotation * Eigen::AngleAxisd(0.3, Vector3d::UnitX());
    const double expected = compute_distance(ellipsoid, later, plane, {}).gap;
    const Touch touch = evaluate_touch(list.candidates[0], ellipsoid, later, mesh, {});
    const Touch other = evaluate_touch(swapped_list.candidates[0], mesh, {}, ellipsoid, later);
    EXPECT_NEAR(touch.gap, expected, 1e-14);
    EXPECT_NEAR(other.gap, expected, 1e-14);
    EXPECT_LT((touch.normal + other.normal).norm(), 1e-14);
    EXPECT_LT((touch.point - other.point).norm(), 1e-14);
  }
}

/// A ridge along x with slopes to both sides: as a mesh, and as the top of a hull.
Mesh ridge_mesh(int num_segments = 1) {
  Mesh mesh;
  for (int k = 0; k <= num_segments; ++k) {
    const double x = -1 + 2.0 * k / num_segments;
    mesh.vertices.insert(mesh.vertices.end(), {{x, 0, 0}, {x, -1, -0.3}, {x, 1, -0.3}});
    if (k == 0) continue;
    const int n = 3 * k, o = n - 3;
    mesh.triangles.insert(mesh.triangles.end(),
                          {{o + 1, n + 1, n}, {o + 1, n, o}, {o, n, n + 2}, {o, n + 2, o + 2}});
  }
  return mesh;
}

Convex ridge_hull() {
  Convex hull;
  const Mesh mesh = ridge_mesh();
  hull.points.assign(mesh.vertices.begin(), mesh.vertices.end());
  for (const double x : {-1.0, 1.0})
    for (const double y : {-1.0, 1.0}) hull.points.push_back({x, y, -1});
  return hull;
}

/// A flat side that is tilted over a ridge comes down with one end first; the other is within
/// reach, too. Where a hull has both, so must a mesh: the same places, and gaps that differ by the
/// angle between a face and what touches first, squared, times the length.
TEST(SurfaceContacts, AFaceOverARidgeHasBothOfItsEnds) {
  const CollisionShape meshes[] = {CollisionShape{Shape(ridge_mesh())},
                                   CollisionShape{Shape(ridge_mesh(9))}},
                       hull{Shape(ridge_hull())};
  const Convex pyramid{.points = {{-0.2, -0.15, -0.01},
                                  {0.2, -0.15, -0.01},
                                  {0.2, 0.15, -0.01},
                                  {-0.2, 0.15, -0.01},
                                  {0, 0, 0.05}}};
  const Shape shapes[] = {Box{{0.4, 0.3, 0.02}}, pyramid, Cylinder{0.2, 0.02}};
  constexpr double kReach = 5e-3;
  for (const CollisionShape& mesh : meshes)
    for (const Shape& shape : shapes)
      for (const double tilt : {0.0, 1e-6, -1e-4, 1e-3, -5e-3})
        for (const double turn : {0.0, 0.3, -1.0}) {
          const CollisionShape a{shape};
          const Eigen::Matrix3d rotation = (Eigen::AngleAxisd(tilt, Vector3d::UnitY()) *
                                            Eigen::AngleAxisd(turn, Vector3d::UnitZ()))
                                               .toRotationMatrix();
          Pose pose{{0.1, 0.02, 0.5}, rotation};
          pose.position.z() -= compute_distance(a, pose, hull, {}).gap;
          ContactWorkspace workspace;
          ContactList on_mesh, on_hull;
          collect_contacts(a, pose, mesh, {}, {.reach = kReach}, workspace, on_mesh);
          collect_contacts(a, pose, hull, {}, {.reach = kReach}, workspace, on_hull);
          SCOPED_TRACE(::testing::Message()
                       << static_cast<int>(a.kind()) << " tilt " << tilt << " turn " << turn);
          ASSERT_EQ(on_hull.candidates.size(), 2U);
          ASSERT_EQ(on_mesh.candidates.size(), 2U);
          for (const ContactCandidate& expected : on_hull.candidates) {
            double nearest = 1, gap = 1;
            for (const ContactCandidate& found : on_mesh.candidates) {
              const double distance = (found.point - expected.point).norm();
              if (distance < nearest) gap = found.gap;
              nearest = std::min(nearest, distance);
            }
            EXPECT_LT(nearest, 1e-2);  // places are between the two bodies
            EXPECT_NEAR(gap, expected.gap, 0.5 * tilt * tilt + 1e-12);
          }
        }
}

/// A box that stands on an edge across a ridge touches it with that edge alone, before and after
/// they meet: its faces are too steep for what comes down.
TEST(SurfaceContacts, AnEdgeAcrossARidgeKeepsItsNormalWhenItSinksIn) {
  const CollisionShape mesh{Shape(ridge_mesh())}, box{Shape(Box{{0.2, 0.2, 0.2}})};
  const Eigen::Matrix3d rotation =
      Eigen::AngleAxisd(std::numbers::pi / 4, Vector3d::UnitY()).toRotationMatrix();
  for (const double gap : {1e-6, 1e-12, -1e-12, -1e-6, -1e-4}) {
    const Pose pose{{0.1, 0.02, std::sqrt(0.02) + gap}, rotation};
    ContactWorkspace workspace;
    ContactList list;
    collect_contacts(box, pose, mesh, {}, {.reach = 5e-3}, workspace, list);
    ASSERT_EQ(list.candidates.size(), 1U) << gap;
    EXPECT_NEAR(list.candidates[0].gap, gap, 1e-14);
    EXPECT_LT((list.candidates[0].normal - Vector3d::UnitZ()).norm(), 1e-12) << gap;
  }
}

/// The end that touches keeps the normal of what crosses there, also where it has sunk in.
TEST(SurfaceContacts, AFaceThatHasSunkInKeepsTheNormalsOfItsEnds) {
  const CollisionShape mesh{Shape(ridge_mesh(5))}, box{Shape(Box{{0.4, 0.3, 0.02}})};
  constexpr double kTilt = 1e-3;
  const Eigen::Matrix3d rotation = Eigen::AngleAxisd(kTilt, Vector3d::UnitY()).toRotationMatrix();
  for (const double gap : {1e-6, -1e-6}) {
    const double lowest = 0.2 * std::sin(kTilt) + 0.01 * std::cos(kTilt);
    const Pose pose{{0.1, 0.02, lowest + gap}, rotation};
    ContactWorkspace workspace;
    ContactList list;
    collect_contacts(box, pose, mesh, {}, {.reach = 5e-3}, workspace, list);
    ASSERT_EQ(list.candidates.size(), 2U) << gap;
    for (const ContactCandidate& candidate : list.candidates) {
      const bool is_low = candidate.point.x() > 0.1;
      const Vector3d expected = is_low ? Vector3d::UnitZ() : Vector3d(rotation.col(2));
      EXPECT_LT((candidate.normal - expected).norm(), 1e-12) << gap;
      EXPECT_NEAR(candidate.gap, is_low ? gap : gap + 0.4 * kTilt, 1e-6) << gap;
    }
  }
}

/// A ridge through given points, with slopes to both sides.
Mesh bent_ridge(const std::vector<Vector3d>& crest) {
  Mesh mesh;
  for (std::size_t k = 0; k < crest.size(); ++k) {
    const Vector3d& p = crest[k];
    mesh.vertices.insert(mesh.vertices.end(), {p, {p.x(), -1, -0.3}, {p.x(), 1, -0.3}});
    if (k == 0) continue;
    const int n = 3 * static_cast<int>(k), o = n - 3;
    mesh.triangles.insert(mesh.triangles.end(),
                          {{o + 1, n + 1, n}, {o + 1, n, o}, {o, n, n + 2}, {o, n + 2, o + 2}});
  }
  return mesh;
}

/// Terrain has ridges that bend. Under a flat side that is slightly tilted over one, every place
/// where the ridge leaves it, or is highest under it, is a contact if it is within reach: none of
/// them may be entered before the next detection.
TEST(SurfaceContacts, AFaceOverABentRidgeHasBothOfItsEnds) {
  const std::vector<Vector3d> crests[] = {
      {{-1, 0.1, 0}, {-0.13, 0.04, 0}, {0.24, -0.05, 0}, {1, 0.2, 0}},  // to the sides
      {{-1, 0, -1e-2}, {-0.13, 0, 0}, {0.02, 0, 1e-5}, {0.24, 0, 0}, {1, 0, -1e-2}},         // down
      {{-1, 0.1, 1e-2}, {-0.13, 0.1, 0}, {0.02, -0.1, -1e-5}, {0.24, 0, 0}, {1, 0, 1e-2}}};  // up
  const Shape shapes[] = {Box{{0.4, 0.3, 0.02}}, Cylinder{0.2, 0.02}};
  constexpr double kReach = 5e-3;
  for (const auto& crest : crests)
    for (const Shape& shape : shapes)
      for (const double tilt : {1e-6, -1e-4, 1e-3, -5e-3}) {
        const CollisionShape a{shape}, mesh{Shape(bent_ridge(crest))};
        const Eigen::Matrix3d rotation =
            Eigen::AngleAxisd(tilt, Vector3d::UnitY()).toRotationMatrix();
        const Vector3d up = rotation.col(2), foot = Vector3d(0.05, 0.02, 0.02) - 0.01 * up;
        // Heights of the crest under the flat side, at a thousand places.
        double low = 1;
        std::vector<Vector3d> places;
        for (std::size_t k = 0; k + 1 < crest.size(); ++k)
          for (int i = 0; i <= 1000; ++i) {
            const Vector3d p = crest[k] + i / 1000.0 * (crest[k + 1] - crest[k]);
            const Vector3d local = rotation.transpose() * (p - foot);
            const bool is_under = a.kind() == ShapeKind::kBox
                                      ? std::abs(local.x()) < 0.2 && std::abs(local.y()) < 0.15
                                      : std::hypot(local.x(), local.y()) < 0.2;
            if (!is_under) continue;
            places.push_back(p);
            low = std::min(low, up.dot(foot - p));
          }
        const Pose pose{foot + 0.01 * up - low * up, rotation};
        ContactWorkspace workspace;
        ContactList list;
        collect_contacts(a, pose, mesh, {}, {.reach = kReach}, workspace, list);
        // The side turns about what touches until it meets the crest elsewhere. If contacts hold it
        // everywhere, no place of the crest within reach is further from all of them than the crest
        // is from being straight: between two contacts it lies below their line.
        SCOPED_TRACE(::testing::Message() << static_cast<int>(a.kind()) << " tilt " << tilt);
        double first = 1, last = -1;
        for (const ContactCandidate& candidate : list.candidates) {
          first = std::min(first, candidate.point.x());
          last = std::max(last, candidate.point.x());
        }
        for (const Vector3d& p : places) {
          if (up.dot(foot - p) - low > kReach) continue;
          EXPECT_GT(p.x(), first - 0.05);
          EXPECT_LT(p.x(), last + 0.05);
        }
        EXPECT_LE(list.candidates.size(), 8U);
      }
}

/// Open meshes may wind either way from triangle to triangle, and have two sides all the same.
TEST(SurfaceContacts, SheetsOfMixedWindingHaveTwoSides) {
  Mesh sheet{.vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}}, .triangles = {}};
  const std::vector<Triangle> windings[] = {{{0, 1, 2}, {0, 2, 3}},
                                            {{0, 1, 2}, {0, 3, 2}},
                                            {{0, 2, 1}, {0, 2, 3}},
                                            {{0, 2, 1}, {0, 3, 2}}};
  for (const std::vector<Triangle>& triangles : windings)
    for (const double side : {1.0, -1.0}) {
      sheet.triangles = triangles;
      // Over the edge inside, which is none.
      const ContactList ball = contacts(Sphere{0.1}, at(0, 0, 0.05 * side), sheet, 0.01);
      ASSERT_EQ(ball.candidates.size(), 1U);
      EXPECT_NEAR(ball.candidates[0].gap, -0.05, 1e-12);
      EXPECT_LT((ball.candidates[0].normal - side * Vector3d::UnitZ()).norm(), 1e-12);
      const ContactList box =
          contacts(Box{{0.4, 0.4, 0.4}}, at(0.1, 0.1, 0.199 * side), sheet, 0.01);
      ASSERT_EQ(box.candidates.size(), 4U);
      for (const ContactCandidate& candidate : box.candidates)
        EXPECT_NEAR(candidate.gap, -1e-3, 1e-12);
    }
}

/// A capsule that lies across the edge of a cube, its axis just outside and just inside: what it
/// has sunk in by does not jump.
TEST(SurfaceContacts, ACapsuleAcrossAnEdgeLeavesOverTheEdge) {
  Mesh cube{.vertices = {}, .triangles = {}};
  for (int i = 0; i < 8; ++i) cube.vertices.emplace_back(i & 1, i >> 1 & 1, i >> 2 & 1);
  cube.triangles = compute_convex_hull(cube.vertices).value();
  const Vector3d out = Vector3d(1, 0, 1).normalized(), along = Vector3d(1, 0, -1).normalized();
  Eigen::Matrix3d rotation;
  rotation << out, Vector3d(out.cross(along)) * -1, along;
  if (rotation.determinant() < 0) rotation.col(1) *= -1;
  for (const double outside : {1e-3, -1e-3}) {
    const Pose pose{Vector3d(1, 0.5, 1) + outside * out + 0.2 * along, rotation};
    const ContactList list = contacts(Capsule{.radius = 0.02, .length = 1}, pose, cube, 0.01);
    double deepest = 0;
    for (const ContactCandidate& candidate : list.candidates)
      deepest = std::min(deepest, candidate.gap);
    EXPECT_NEAR(deepest, outside - 0.02, 1e-9) << outside;
  }
}

/// Triangles of a file in single precision lie in one plane up to 1e-7. A capsule or a cylinder
/// that has sunk in lies there as on the plane: along all of its length, as deep, pushed up.
/// Nothing of an open mesh is seen from below, and what rolls has no knobs.
TEST(SurfaceContacts, WhatLiesOnNearlyFlatTrianglesTouchesThemAsThePlane) {
  Random random(11);
  constexpr double kRadius = 0.1, kLength = 1;
  const CollisionShape shapes[] = {CollisionShape(Capsule{.radius = kRadius, .length = kLength}),
                                   CollisionShape(Cylinder{.radius = kRadius, .length = kLength})};
  for (int i = 0; i < 400; ++i) {
    const double rough = std::pow(10, random.uniform(-10, -6));
    HeightField field{.size = {6, 6}, .heights = Eigen::MatrixXd(13, 13)};
    for (double& height : field.heights.reshaped()) height = rough * random.uniform(-1, 1);
    const Mesh sheet = make_bent_sheet(field), block = make_block(field, -4);
    const CollisionShape grounds[] = {CollisionShape{Shape(sheet)}, CollisionShape{Shape(block)},
                                      CollisionShape{Shape(field)}};
    const double depth = random.uniform(1e-4, 1e-3);
    Pose pose{.position = random_vector(random, -1, 1), .rotation = {}};
    pose.position.z() = kRadius - depth;
    pose.rotation =
        (Eigen::AngleAxisd(random.uniform(-0.1, 0.1), Vector3d::UnitZ()) *
         Eigen::AngleAxisd((0.5 + random.integer(0, 1)) * std::numbers::pi, Vector3d::UnitX()) *
         Eigen::AngleAxisd(random.uniform(0, 6), Vector3d::UnitZ()))
            .toRotationMatrix();
    for (const CollisionShape& shape : shapes) {
      for (const CollisionShape& ground : grounds) {
        SCOPED_TRACE(std::string(name_of(shape.shape())) + " on " +
                     std::string(name_of(ground.shape())) + ", case " + std::to_string(i));
        const ContactList list = contacts(shape, pose, ground, {}, 1e-3);
        double first = 1, last = -1;  // [m] along the axis
        for (const ContactCandidate& touch : list.candidates) {
          EXPECT_NEAR(touch.gap, -depth, 10 * rough);
          EXPECT_GT(touch.normal.z(), 1 - 1e-6);
          const double place = pose.rotation.col(2).dot(touch.point - pose.position);
          first = std::min(first, place);
          last = std::max(last, place);
        }
        EXPECT_LT(first, -kLength / 2 + 1e-6);
        EXPECT_GT(last, kLength / 2 - 1e-6);
      }
    }
  }
}

/// Boxes and cylinders that rest on a top or over its border; 1e-12 is what the arithmetic of a
/// step leaves of a place.
TEST(SurfaceContacts, IdsOfWhatRestsOverABorderOutliveJitter) {
  const HeightField field{.size = {2, 1.6}, .heights = Eigen::MatrixXd::Constant(5, 6, 0)};
  const CollisionShape grounds[] = {CollisionShape{Shape(make_block(field, -0.6))},
                                    CollisionShape{Shape(make_bent_sheet(field))},
                                    CollisionShape{Shape(field)}};
  const CollisionShape shapes[] = {CollisionShape(Box{{0.4, 0.3, 0.5}}),
                                   CollisionShape(Cylinder{.radius = 0.2, .length = 0.3})};
  const double half_heights[] = {0.25, 0.15};
  Random random(7);
  for (int i = 0; i < testing::fewer_sanitized(200); ++i) {
    const double gap = std::pow(10, random.uniform(-9, -4)) * (random.chance(0.5) ? 1 : -1);
    Pose pose{.position = {random.uniform(-1, 1), random.uniform(-0.8, 0.8), 0}, .rotation = {}};
    pose.rotation = Eigen::AngleAxisd(random.uniform(0, 6.3), Vector3d::UnitZ());
    for (const int k : {0, 1}) {
      pose.position.z() = half_heights[k] + gap;
      for (const CollisionShape& ground : grounds) {
        SCOPED_TRACE(std::string(name_of(shapes[k].shape())) + " on " +
                     std::string(name_of(ground.shape())) + ", case " + std::to_string(i));
        const std::vector<std::uint64_t> ids =
            sorted_ids_of(contacts(shapes[k], pose, ground, {}, 1e-3));
        for (int j = 0; j < 5; ++j) {
          const Eigen::AngleAxisd turn(1e-12, random_vector(random).normalized());
          const Pose jittered{.position = pose.position + 1e-12 * random_vector(random),
                              .rotation = turn * pose.rotation};
          EXPECT_EQ(sorted_ids_of(contacts(shapes[k], jittered, ground, {}, 1e-3)), ids);
        }
      }
    }
  }
}

/// A side that is nearly along the way out of a shape does not end that way, however near to it a
/// point is that the shape and a triangle have in common.
TEST(SurfaceContacts, AFlushBoxIsNowhereApartFromWhatItTouches) {
  const HeightField field{.size = {2, 1.6}, .heights = Eigen::MatrixXd::Constant(5, 6, 0)};
  const CollisionShape grounds[] = {CollisionShape{Shape(make_block(field, -0.6))},
                                    CollisionShape{Shape(make_bent_sheet(field))},
                                    CollisionShape{Shape(field)}};
  const CollisionShape box(Box{{0.4, 0.3, 0.5}});
  Random random(2);
  for (int i = 0; i < testing::fewer_sanitized(2000); ++i) {
    const double depth = std::pow(10, random.uniform(-9, -7)), angle = random.uniform(0, 6.3);
    const Pose pose{
        .position = {random.uniform(-1, 1), random.uniform(-0.8, 0.8), 0.25 - depth},
        .rotation = (Eigen::AngleAxisd(1e-12, random_vector(random).normalized()) *
                     Eigen::AngleAxisd(random.chance(0.3) ? 0 : angle, Vector3d::UnitZ()))
                        .toRotationMatrix()};
    for (const CollisionShape& ground : grounds) {
      for (const ContactCandidate& touch : contacts(box, pose, ground, {}, 1e-3).candidates) {
        EXPECT_NEAR(touch.gap, -depth, 1e-11) << "case " << i;
      }
    }
  }
}

/// Of a flat side all of which is nearest the lowest corner is any one, and may be beside the face.
TEST(SurfaceContacts, AMeshCubeOverABoxHasFourContacts) {
  const CollisionShape cube{Shape(box_mesh({1, 1, 1}))}, box(Box{{4, 4, 1}});
  for (const double gap : {1e-4, 1e-6, 0.0, -1e-4}) {
    for (const double angle : {0.0, 0.4, 1.0}) {
      Pose pose = at(0.1, 0.2, 1 + gap);
      pose.rotation = Eigen::AngleAxisd(angle, Vector3d::UnitZ()).toRotationMatrix();
      EXPECT_EQ(contacts(cube, pose, box, {}, 1e-3).candidates.size(), 4u) << gap << ' ' << angle;
    }
  }
}

}  // namespace
}  // namespace stiction
