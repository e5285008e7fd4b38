// Integer clouds make an exact check possible that shares nothing with the hull's own predicate:
// determinants of coordinates below 10⁵ fit in 64 bits.
#include "stiction/geometry/convex_hull.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "stiction/base/random.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Cloud = std::vector<Vector3d>;

Cloud integer_cloud(Random& random, int num_points, int limit) {
  Cloud points(num_points);
  for (Vector3d& point : points) {
    for (double& x : point) x = random.integer(-limit, limit);
  }
  return points;
}

std::int64_t integer_determinant(const Vector3d& a, const Vector3d& b, const Vector3d& c,
                                 const Vector3d& d) {
  const Eigen::Matrix<std::int64_t, 3, 1> u = (b - a).cast<std::int64_t>();
  const Eigen::Matrix<std::int64_t, 3, 1> v = (c - a).cast<std::int64_t>();
  return u.cross(v).dot((d - a).cast<std::int64_t>());
}

/// A closed surface of one piece without handles: every directed edge once, its reverse once, and
/// Euler's V − E + F = 2.
void expect_sphere_topology(const std::vector<Triangle>& triangles) {
  std::set<std::pair<int, int>> edges;
  std::set<int> vertices;
  for (const Triangle& triangle : triangles) {
    for (int k = 0; k < 3; ++k) {
      vertices.insert(triangle[k]);
      EXPECT_TRUE(edges.emplace(triangle[k], triangle[(k + 1) % 3]).second);
    }
  }
  for (const auto& [from, to] : edges) EXPECT_TRUE(edges.contains({to, from}));
  EXPECT_EQ(vertices.size() + triangles.size(), edges.size() / 2 + 2);
}

/// Rotated to begin with the smallest index, so that triangles can be compared.
Triangle canonical(Triangle t) {
  std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
  return t;
}

/// All triples that have every other point strictly below: in general position these are the faces.
std::set<Triangle> find_faces_by_trying_all(const Cloud& points) {
  const int n = static_cast<int>(points.size());
  std::set<Triangle> faces;
  for (int a = 0; a < n; ++a) {
    for (int b = a + 1; b < n; ++b) {
      for (int c = a + 1; c < n; ++c) {
        if (c == b) continue;
        bool is_face = true;
        for (int d = 0; d < n && is_face; ++d) {
          if (d == a || d == b || d == c) continue;
          is_face = integer_determinant(points[a], points[b], points[c], points[d]) < 0;
        }
        if (is_face) faces.insert({a, b, c});
      }
    }
  }
  return faces;
}

TEST(ConvexHull, FacesAreThoseFoundByTryingAllTriples) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Cloud points = integer_cloud(random, random.integer(4, 24), 100'000);
    const auto triangles = compute_convex_hull(points);
    ASSERT_TRUE(triangles);
    std::set<Triangle> faces;
    for (const Triangle& triangle : *triangles) faces.insert(canonical(triangle));
    EXPECT_EQ(faces, find_faces_by_trying_all(points));
    EXPECT_EQ(faces.size(), triangles->size());
  }
}

bool is_flat(const Cloud& points) {
  for (const Vector3d& b : points) {
    for (const Vector3d& c : points) {
      for (const Vector3d& d : points) {
        if (integer_determinant(points[0], b, c, d) != 0) return false;
      }
    }
  }
  return true;
}

// Coordinates from −1 … 1 up to −3 … 3: nearly all points are repeated, collinear or coplanar with
// others. Closed, made of the points, and with no point above a face: that is the hull.
TEST(ConvexHull, IsClosedAndConvexForDegenerateClouds) {
  int num_hulls = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Cloud points = integer_cloud(random, random.integer(4, 80), random.integer(1, 3));
    const auto triangles = compute_convex_hull(points);
    if (!triangles) {
      EXPECT_TRUE(is_flat(points));
      continue;
    }
    ++num_hulls;
    expect_sphere_topology(*triangles);
    for (const auto& [a, b, c] : *triangles) {
      EXPECT_GT((points[b] - points[a]).cross(points[c] - points[a]).norm(), 0);
      for (const Vector3d& d : points) {
        ASSERT_LE(integer_determinant(points[a], points[b], points[c], d), 0);
      }
    }
  }
  EXPECT_GT(num_hulls, 900);
}

// Rotation leaves the points of each face coplanar up to rounding only, the case in which hulls
// with rounded decisions break. A point may be above a face by what rounding does to the test
// itself.
TEST(ConvexHull, OfARotatedGridIsClosedAndConvexToRounding) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const Eigen::Matrix3d R = random_rotation(random);
    Cloud points;
    for (int i = 0; i < 6 * 6 * 6; ++i) {
      points.push_back(R * Vector3d(i % 6, i / 6 % 6, i / 36) / 5);
    }
    const auto triangles = compute_convex_hull(points);
    ASSERT_TRUE(triangles);
    expect_sphere_topology(*triangles);
    for (const auto& [a, b, c] : *triangles) {
      const Vector3d normal = (points[b] - points[a]).cross(points[c] - points[a]);
      // Edges up to √3, so that the triple product sums terms below 3√3, with ten roundings.
      for (const Vector3d& d : points) EXPECT_LE(normal.dot(d - points[a]), 52 * 0x1p-53);
    }
  }
}

TEST(ConvexHull, OfPointsOnASphereUsesThemAll) {
  Random random(3);
  Cloud points;
  for (int i = 0; i < 3000; ++i) points.push_back(random_vector(random).normalized());
  const auto triangles = compute_convex_hull(points);
  ASSERT_TRUE(triangles);
  expect_sphere_topology(*triangles);
  EXPECT_EQ(triangles->size(), 2u * 3000 - 4);  // Euler, with all points as vertices
}

TEST(ConvexHull, OfACubeWithPointsInsideIsTwelveTriangles) {
  Cloud points = box_corners({1, 1, 1});
  Random random(4);
  for (int i = 0; i < 200; ++i) points.push_back(0.2 * random_vector(random).normalized());
  const auto triangles = compute_convex_hull(points);
  ASSERT_TRUE(triangles);
  EXPECT_EQ(triangles->size(), 12u);
  for (const Triangle& triangle : *triangles) {
    for (const int index : triangle) EXPECT_LT(index, 8);
  }
}

TEST(ConvexHull, DoesNotDependOnTheUnitOfLength) {
  Random random(5);
  Cloud points;
  for (int i = 0; i < 60; ++i) points.push_back(random_vector(random));
  const auto triangles = compute_convex_hull(points);
  ASSERT_TRUE(triangles);
  for (const double scale : {0x1p-1000, 0x1p-20, 0x1p20, 0x1p1000}) {
    Cloud scaled = points;
    for (Vector3d& point : scaled) point *= scale;
    EXPECT_EQ(compute_convex_hull(scaled), triangles) << scale;
  }
}

TEST(ConvexHull, OfFlatPointsIsNone) {
  EXPECT_FALSE(compute_convex_hull(Cloud{}));
  EXPECT_FALSE(compute_convex_hull(Cloud(3, Vector3d::Ones())));
  EXPECT_FALSE(compute_convex_hull(Cloud(9, Vector3d::Ones())));
  EXPECT_FALSE(compute_convex_hull(Cloud(9, Vector3d::Zero())));
  Random random(6);
  const Eigen::Matrix3d R = random_rotation(random);
  Cloud line, square;
  for (int i = 0; i < 20; ++i) {
    line.push_back(R.col(0) * i);
    square.push_back(R * Vector3d(random.uniform(), random.uniform(), 0));
  }
  EXPECT_FALSE(compute_convex_hull(line));
  EXPECT_FALSE(compute_convex_hull(square));
}

TEST(ConvexHull, OfAPlateIsNoneOnceItsThicknessIsLostToRounding) {
  // The extent compared with is between 1/√3 of the diagonal and the diagonal.
  const double diagonal = std::sqrt(2.0);
  EXPECT_TRUE(compute_convex_hull(box_corners({1, 1, 1.01 * kFlatness * diagonal})));
  EXPECT_FALSE(
      compute_convex_hull(box_corners({1, 1, 0.99 * kFlatness * diagonal / std::sqrt(3.0)})));
}

}  // namespace
}  // namespace stiction
