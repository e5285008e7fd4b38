#include "stiction/geometry/triangle_surface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stiction/base/random.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using VertexKind = TriangleSurface::VertexKind;

Mesh random_soup(Random& random, int num_triangles) {
  Mesh mesh;
  for (int t = 0; t < num_triangles; ++t) {
    const Vector3d center = 5 * random_vector(random);
    for (int k = 0; k < 3; ++k) mesh.vertices.push_back(center + random_vector(random));
    mesh.triangles.push_back({3 * t, 3 * t + 1, 3 * t + 2});
  }
  return mesh;
}

HeightField random_field(Random& random, int rows, int cols) {
  HeightField field{.size = {3, 5}, .heights = Eigen::MatrixXd(rows, cols)};
  for (double& h : field.heights.reshaped()) h = random.uniform(-0.5, 0.5);
  return field;
}

/// Brute force over all triangles.
std::vector<int> touching(const TriangleSurface& surface, const Bounds& box) {
  std::vector<int> result;
  for (int t = 0; t < surface.num_triangles(); ++t) {
    Bounds own;
    for (const Vector3d& p : surface.corners(t)) own.include(p);
    if (own.overlaps(box)) result.push_back(t);
  }
  return result;
}

void expect_finds_all(const TriangleSurface& surface, Random& random) {
  for (int k = 0; k < 200; ++k) {
    Bounds box;
    const Vector3d center = 3 * random_vector(random);
    const double size = std::exp(random.uniform(-4, 2));
    box.include(center - size * Vector3d::Ones());
    box.include(center + size * Vector3d(random.uniform(), random.uniform(), random.uniform()));
    std::vector<int> found;
    surface.find_in_box(box, found);
    EXPECT_EQ(found, touching(surface, box));
  }
}

TEST(TriangleSurface, FindsAllTrianglesInABox) {
  Random random(1);
  for (const int n : {1, 2, 4, 5, 17, 300}) {
    SCOPED_TRACE(n);
    expect_finds_all(TriangleSurface(random_soup(random, n)), random);
  }
  for (const int n : {2, 3, 5, 20}) {
    SCOPED_TRACE(n);
    expect_finds_all(TriangleSurface(random_field(random, n, n + 3)), random);
  }
}

TEST(TriangleSurface, FindsTheNearestTriangle) {
  Random random(2);
  std::vector<TriangleSurface> surfaces;
  surfaces.emplace_back(random_soup(random, 300));
  surfaces.emplace_back(random_field(random, 12, 17));
  for (const TriangleSurface& surface : surfaces) {
    for (int k = 0; k < 500; ++k) {
      const Vector3d p = 4 * random_vector(random);
      double expected = std::numeric_limits<double>::infinity();
      for (int t = 0; t < surface.num_triangles(); ++t) {
        expected =
            std::min(expected, (find_nearest_on_triangle(p, surface.corners(t)).point - p).norm());
      }
      const TriangleSurface::Nearest nearest = surface.find_nearest(p);
      EXPECT_NEAR(nearest.distance, expected, 1e-11);
      EXPECT_NEAR((nearest.point - p).norm(), expected, 1e-11);
      EXPECT_EQ(surface.find_nearest(p, expected / 2).triangle, TriangleSurface::kNone);
    }
  }
}

/// A grid search, coarse to fine, that shares nothing with the formula.
TEST(TriangleSurface, NearestPointOfATriangleIsNearest) {
  Random random(3);
  for (int k = 0; k < 300; ++k) {
    std::array<Vector3d, 3> corners{random_vector(random), random_vector(random),
                                    random_vector(random)};
    if (k % 5 == 0) corners[2] = corners[0] + 0.3 * (corners[1] - corners[0]);  // no area
    if (k % 25 == 0) corners[1] = corners[2] = corners[0];
    const Vector3d p = 2 * random_vector(random);
    const TrianglePoint nearest = find_nearest_on_triangle(p, corners);
    EXPECT_NEAR(nearest.weights.sum(), 1, 1e-12);
    EXPECT_GE(nearest.weights.minCoeff(), 0);
    const Vector3d rebuilt = nearest.weights[0] * corners[0] + nearest.weights[1] * corners[1] +
                             nearest.weights[2] * corners[2];
    EXPECT_LE((rebuilt - nearest.point).norm(), 1e-12);
    const double distance = (p - nearest.point).norm();
    for (int i = 0; i <= 60; ++i) {
      for (int j = 0; i + j <= 60; ++j) {
        const Vector3d q = corners[0] + i / 60.0 * (corners[1] - corners[0]) +
                           j / 60.0 * (corners[2] - corners[0]);
        EXPECT_GE((p - q).norm(), distance - 1e-12);
      }
    }
  }
}

TEST(TriangleSurface, BoxHasSixFacesTwelveEdgesEightCorners) {
  const TriangleSurface surface(box_mesh({1, 2, 3}));
  EXPECT_EQ(surface.num_regions(), 6);
  std::set<int> edges;
  int num_flat = 0;
  for (int h = 0; h < 36; ++h) {
    if (surface.edge_id(h) == TriangleSurface::kNone) {
      ++num_flat;
    } else {
      edges.insert(surface.edge_id(h));
      EXPECT_EQ(surface.edge_id(h), surface.edge_id(surface.twin(h)));
    }
    EXPECT_EQ(surface.twin(surface.twin(h)), h);
  }
  EXPECT_EQ(edges.size(), 12u);
  EXPECT_EQ(num_flat, 12);  // six diagonals, from both sides
  for (int v = 0; v < 8; ++v) EXPECT_EQ(surface.vertex_kind(v), VertexKind::kCorner);
  for (int t = 0; t < 12; ++t) {
    EXPECT_TRUE(surface.is_solid(t));
    // Outward.
    EXPECT_GT(surface.normal(t).dot(surface.corners(t)[0]), 0);
  }
}

TEST(TriangleSurface, NeighborsOfHeightFieldsAreThoseOfTheEqualMesh) {
  Random random(4);
  const HeightField field = random_field(random, 4, 6);
  const TriangleSurface surface(field);
  Mesh mesh;
  for (int v = 0; v < surface.num_vertices(); ++v) mesh.vertices.push_back(surface.vertex(v));
  for (int t = 0; t < surface.num_triangles(); ++t) mesh.triangles.push_back(surface.triangle(t));
  const TriangleSurface other(mesh);
  for (int h = 0; h < 3 * surface.num_triangles(); ++h) {
    EXPECT_EQ(surface.twin(h), other.twin(h));
    EXPECT_EQ(surface.edge_id(h), other.edge_id(h));
  }
  for (int v = 0; v < surface.num_vertices(); ++v) {
    std::set<int> ring, other_ring;
    surface.for_each_at_vertex(v, [&](int t) { ring.insert(t); });
    other.for_each_at_vertex(v, [&](int t) { other_ring.insert(t); });
    EXPECT_EQ(ring, other_ring);
    EXPECT_EQ(surface.vertex_kind(v), other.vertex_kind(v));
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 6; ++j) {
      EXPECT_EQ(surface.vertex(i * 6 + j),
                Vector3d((i / 3.0 - 0.5) * 3, (j / 5.0 - 0.5) * 5, field.heights(i, j)));
    }
  }
  for (int t = 0; t < surface.num_triangles(); ++t) {
    EXPECT_GT(surface.normal(t).z(), 0);
    EXPECT_TRUE(surface.is_solid(t));
  }
}

TEST(TriangleSurface, KnowsWhatIsBelowAHeightField) {
  Random random(5);
  const TriangleSurface surface(random_field(random, 6, 9));
  for (int k = 0; k < 1000; ++k) {
    const Vector3d p(random.uniform(-1.6, 1.6), random.uniform(-2.6, 2.6), random.uniform(-1, 1));
    // Height by the triangle that holds (x, y).
    bool is_below = false;
    for (int t = 0; t < surface.num_triangles(); ++t) {
      auto c = surface.corners(t);
      Eigen::Matrix3d flat;
      flat << c[0].x(), c[1].x(), c[2].x(), c[0].y(), c[1].y(), c[2].y(), 1, 1, 1;
      const Vector3d w = flat.inverse() * Vector3d(p.x(), p.y(), 1);
      if (w.minCoeff() >= 0) {
        is_below = p.z() < w.dot(Vector3d(c[0].z(), c[1].z(), c[2].z()));
        break;
      }
    }
    EXPECT_EQ(surface.may_contain(p), is_below) << p.transpose();
  }
}

TEST(TriangleSurface, OpenPartsAreSheetsAndClosedPartsAreSolids) {
  Mesh mesh = box_mesh({1, 1, 1});
  const int first = static_cast<int>(mesh.vertices.size());
  for (const Vector3d& p : {Vector3d(5, 0, 0), Vector3d(6, 0, 0), Vector3d(5, 1, 0)}) {
    mesh.vertices.push_back(p);
  }
  mesh.triangles.push_back({first, first + 1, first + 2});
  const TriangleSurface surface(mesh);
  for (int t = 0; t < 12; ++t) EXPECT_TRUE(surface.is_solid(t));
  EXPECT_FALSE(surface.is_solid(12));
}

TEST(TriangleSurface, CornersAtOnePlaceAreOneVertex) {
  const Mesh box = box_mesh({1, 1, 1});
  Mesh loose;  // as STL has it
  for (const Triangle& t : box.triangles) {
    for (const int v : t) {
      loose.triangles.resize(loose.vertices.size() / 3 + 1);
      loose.triangles.back()[loose.vertices.size() % 3] = static_cast<int>(loose.vertices.size());
      loose.vertices.push_back(box.vertices[v]);
    }
  }
  const TriangleSurface surface(loose);
  EXPECT_EQ(surface.num_regions(), 6);
  for (int t = 0; t < 12; ++t) EXPECT_TRUE(surface.is_solid(t));
}

TEST(TriangleSurface, GentleFoldsAreNotFlat) {
  for (const double angle : {1e-10, 1e-6, 1e-3}) {
    const Mesh mesh{.vertices = {{0, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, angle}},
                    .triangles = {{0, 1, 2}, {1, 0, 3}}};
    EXPECT_EQ(TriangleSurface(mesh).num_regions(), 2) << angle;
  }
  const Mesh flat{.vertices = {{0, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {1, 0, 1e-13}},
                  .triangles = {{0, 1, 2}, {1, 0, 3}}};
  EXPECT_EQ(TriangleSurface(flat).num_regions(), 1);
  // Folded back onto itself is not flat either.
  const Mesh folded{.vertices = {{0, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {-2, 0, 0}},
                    .triangles = {{0, 1, 2}, {1, 0, 3}}};
  EXPECT_EQ(TriangleSurface(folded).num_regions(), 2);
}

TEST(TriangleSurface, SliversJoinTheRegionOfANeighbor) {
  // A unit square, one side of which has a vertex in the middle, closed by a sliver.
  const Mesh mesh{.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0, 0}},
                  .triangles = {{0, 1, 2}, {0, 2, 3}, {0, 4, 1}}};
  const TriangleSurface surface(mesh);
  EXPECT_EQ(surface.num_regions(), 1);
  EXPECT_FALSE(surface.has_area(2));
  EXPECT_EQ(surface.vertex_kind(4), VertexKind::kStraight);
}

}  // namespace
}  // namespace stiction
