#include "stiction/geometry/gjk.h"

#include <Eigen/Core>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "stiction/base/random.h"
#include "stiction/geometry/collision_shape.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// A round body or a box over a triangle, often with parts of both in planes of the grid: there the
/// points of A − B that are found are coplanar up to rounding.
struct OverTriangle {
  CollisionShape shape;
  Pose pose;
  std::array<Vector3d, 3> corners;

  explicit OverTriangle(Random& random) : shape(random_shape(random)) {
    if (random.chance(0.4)) pose.rotation = random_rotation(random);
    pose.position = random_vector(random);
    if (random.chance(0.5)) pose.position.head<2>().setZero();
    for (Vector3d& corner : corners) {
      corner = 3 * random_vector(random);
      if (random.chance(0.5)) corner.x() = std::round(corner.x());
      if (random.chance(0.5)) corner.z() = std::round(corner.z());
    }
    if (random.chance(0.1)) {  // a needle
      corners[2] = corners[0] + random.uniform() * (corners[1] - corners[0]);
      corners[2] += 1e-9 * random_vector(random);
    }
    if (random.chance(0.5)) {
      corners[1].z() = corners[2].z() = corners[0].z();
      pose.position.z() = corners[0].z() + shape.half().z() + std::pow(10, random.uniform(-3, 0));
    }
  }

  static CollisionShape random_shape(Random& random) {
    const double width = std::pow(10, random.uniform(-2, 1)), height = random.uniform(0.01, 10);
    if (random.chance(0.5)) return CollisionShape(Cylinder{.radius = width, .length = height});
    if (random.chance(0.5)) return CollisionShape(Ellipsoid{{width, width, height}});
    return CollisionShape(Box{{width, 1, height}});
  }

  DifferencePoint support(const Vector3d& v) const {
    DifferencePoint point;
    point.a = pose * shape.core_support(-(pose.rotation.transpose() * v));
    point.b = *std::max_element(
        corners.begin(), corners.end(),
        [&](const Vector3d& p, const Vector3d& q) { return v.dot(p) < v.dot(q); });
    point.w = point.a - point.b;
    return point;
  }
};

/// The separation along any direction is a lower bound of the distance, |v| an upper one. Where GJK
/// says that the origin is in A − B, no direction that it tried may separate it from there; where
/// it says how far it is, the two have to meet. 1e-6 is what round bodies need to converge to.
TEST(Gjk, NeitherTouchesNorIsFarAgainstItsOwnBounds) {
  int num_touching = 0;
  for (int seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const OverTriangle pair(random);
    const double size = std::max(1.0, pair.shape.size());
    const Vector3d guess =
        pair.pose.position - (pair.corners[0] + pair.corners[1] + pair.corners[2]) / 3;
    const GjkResult found = run_gjk([&](const Vector3d& v) { return pair.support(v); }, guess,
                                    {.relative = 1e-10, .touching = 1e-8 * size});
    const Vector3d n = found.best_direction.normalized();
    const double separation = n.dot(pair.support(n).w);
    // The weights say of which points: rounding of four products of lengths up to 10 `size`, at
    // tetrahedra that are not flat but may be thin.
    ASSERT_NEAR((found.simplex.point_a() - found.simplex.point_b()).norm(),
                found.touches && found.simplex.count == 4 ? 0 : found.v.norm(), 1e-12 * size);
    if (found.touches) {
      ++num_touching;
      ASSERT_LE(separation, 2e-8 * size);
    } else {
      ASSERT_NEAR(found.v.norm(), separation, 1e-6 * size);
    }
  }
  EXPECT_GT(num_touching, 2000);
}

/// Four points in a plane that the origin is not in, as exactly as doubles allow: their volume has
/// the sign of rounding.
TEST(Gjk, FlatSimplicesDoNotHoldTheOrigin) {
  for (int seed = 0; seed < 20000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Vector3d n = random_vector(random).normalized();
    const Vector3d t = n.unitOrthogonal();
    const double height = std::pow(10, random.uniform(-3, 0));
    std::array<Vector3d, 8> points;
    for (Vector3d& point : points) {
      point = height * n + random.uniform(-1, 1) * t + random.uniform(-1, 1) * n.cross(t);
    }
    const auto support = [&](const Vector3d& v) {
      DifferencePoint point;
      point.w = *std::min_element(
          points.begin(), points.end(),
          [&](const Vector3d& p, const Vector3d& q) { return v.dot(p) < v.dot(q); });
      point.a = point.w;
      point.b.setZero();
      return point;
    };
    const GjkResult found =
        run_gjk(support, random_vector(random), {.relative = 1e-14, .touching = 1e-14});
    ASSERT_FALSE(found.touches);
    ASSERT_GE(found.v.norm(), height - 1e-14);
  }
}

}  // namespace
}  // namespace stiction
