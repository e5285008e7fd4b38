// Capsules that lie across ends of cylinders, askew by anything from rounding on: nearly parallel
// features, where an answer that fits to rounding is hard to find.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "stiction/base/random.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/random_pairs.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Vector3d;

double distance_to_cylinder(const Cylinder& cylinder, const Vector3d& point) {
  const double radial = std::hypot(point.x(), point.y()) - cylinder.radius;
  const double axial = std::abs(point.z()) - cylinder.length / 2;
  if (radial <= 0 && axial <= 0) return std::max(radial, axial);
  return std::hypot(std::max(radial, 0.0), std::max(axial, 0.0));
}

/// Distances of the points of a segment from a convex body are convex along it: the golden section.
double reference_gap(const Capsule& capsule, const Pose& pose, const Cylinder& cylinder) {
  const auto at = [&](double t) {
    return distance_to_cylinder(cylinder, pose.position + t * pose.rotation.col(2));
  };
  const double share = (std::sqrt(5.0) - 1) / 2;
  double low = -capsule.length / 2, high = capsule.length / 2;
  double least = std::min(at(low), at(high));
  for (int i = 0; i < 100; ++i) {
    const double x = high - share * (high - low), y = low + share * (high - low);
    least = std::min({least, at(x), at(y)});
    (at(x) <= at(y) ? high : low) = at(x) <= at(y) ? y : x;
  }
  return least - capsule.radius;
}

TEST(CapsuleOverCylinder, DistanceIsRightHoweverLittleItIsAskew) {
  Random random(3);
  const Cylinder cylinder{.radius = 1, .length = 1};
  for (const double radius : {0.1, 1.0, 3.0, 5.0})
    for (int exponent = -16; exponent < -3; ++exponent)
      for (int i = 0; i < 100; ++i) {
        const Capsule capsule{.radius = radius, .length = radius * random.uniform(0.5, 2)};
        const double tilt = std::pow(10, exponent + random.uniform(0, 1));
        const Pose pose{.position = {random.uniform(-0.8, 0.8), random.uniform(-0.8, 0.8),
                                     0.5 + radius + 1e-3 * random.uniform(-1, 1)},
                        .rotation = (AngleAxisd(random.uniform(0, 6.3), Vector3d::UnitZ()) *
                                     AngleAxisd(std::acos(0.0) + tilt, Vector3d::UnitY()))
                                        .toRotationMatrix()};
        const Pose world{.position = Vector3d::Zero(), .rotation = random_rotation(random)};
        const SignedDistance found = compute_distance(CollisionShape(capsule), world * pose,
                                                      CollisionShape(cylinder), world);
        const double size = std::max(2 * radius + capsule.length, 3.0);
        ASSERT_NEAR(found.gap, reference_gap(capsule, pose, cylinder), 1e-9 * size)
            << "radius " << radius << ", tilt " << tilt;
        EXPECT_NEAR((found.point_a - found.point_b).dot(found.normal), found.gap, 1e-9 * size);
        EXPECT_LT((found.point_a - found.point_b - found.gap * found.normal).norm(), 1e-6 * size);
      }
}

}  // namespace
}  // namespace stiction
