// Closed forms and corner cases; random configurations are judged in distance_reference_test.cc.
#include "stiction/geometry/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/base/infinity.h"
#include "tests/geometry/random_pairs.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

Pose at(double x, double y, double z) { return {.position = {x, y, z}}; }

Pose turned(const Vector3d& axis, double angle, const Vector3d& position) {
  return {.position = position,
          .rotation = Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix()};
}

void expect_distance(const SignedDistance& found, double gap, const Vector3d& normal,
                     double tolerance = 1e-14) {
  EXPECT_NEAR(found.gap, gap, tolerance);
  EXPECT_LE((found.normal - normal).norm(), tolerance);
  EXPECT_LE((found.point_a - found.point_b - found.gap * found.normal).norm(), tolerance);
}

TEST(Distance, SpheresMeetAlongTheLineOfCentres) {
  const CollisionShape a(Sphere{1}), b(Sphere{2});
  expect_distance(compute_distance(a, at(0, 4, 0), b, at(0, 0, 0)), 1, Vector3d::UnitY());
  expect_distance(compute_distance(a, at(0, 2, 0), b, at(0, 0, 0)), -1, Vector3d::UnitY());
  EXPECT_EQ(compute_distance(a, at(1, 1, 1), b, at(1, 1, 1)).gap, -3);
}

TEST(Distance, SphereInsideBoxLeavesThroughTheNearestFace) {
  const CollisionShape ball(Sphere{0.1}), box(Box{Vector3d(2, 4, 6)});
  expect_distance(compute_distance(ball, at(0.75, 0, 1), box, at(0, 0, 0)), -0.35,
                  Vector3d::UnitX());
  expect_distance(compute_distance(ball, at(2, 3, 0), box, at(0, 0, 0)), std::sqrt(2.0) - 0.1,
                  Vector3d(1, 1, 0).normalized());
}

TEST(Distance, SphereAndCylinderHaveMantleEndAndRim) {
  const CollisionShape ball(Sphere{0.5}), cylinder(Cylinder{.radius = 1, .length = 4});
  expect_distance(compute_distance(ball, at(3, 0, 1), cylinder, at(0, 0, 0)), 1.5,
                  Vector3d::UnitX());
  expect_distance(compute_distance(ball, at(0.5, 0, -4), cylinder, at(0, 0, 0)), 1.5,
                  -Vector3d::UnitZ());
  expect_distance(compute_distance(ball, at(0, 4, 6), cylinder, at(0, 0, 0)), 4.5,
                  Vector3d(0, 0.6, 0.8));
  expect_distance(compute_distance(ball, at(0, 0, 0), cylinder, at(0, 0, 0)), -1.5,
                  Vector3d::UnitX());
}

TEST(Distance, SphereInsideEllipsoidLeavesAlongTheShortestAxis) {
  const CollisionShape ball(Sphere{0.5}), egg(Ellipsoid{Vector3d(3, 1, 2)});
  EXPECT_NEAR(compute_distance(ball, at(0, 0, 0), egg, at(0, 0, 0)).gap, -1.5, 1e-15);
  expect_distance(compute_distance(ball, at(0, 3, 0), egg, at(0, 0, 0)), 1.5, Vector3d::UnitY());
  // On the long axis inside the focal curve the nearest point is off the axis: with q on the unit
  // circle, d² = (x − 3 q_x)² + q_y² is least at q_x = 3x/8.
  const double x = 2, q = 3 * x / 8;
  const double depth = std::hypot(x - 3 * q, std::sqrt(1 - q * q));
  EXPECT_NEAR(compute_distance(ball, at(x, 0, 0), egg, at(0, 0, 0)).gap, -depth - 0.5, 1e-15);
}

TEST(Distance, CrossedCapsulesMeetAlongTheCommonPerpendicular) {
  const CollisionShape a(Capsule{.radius = 0.1, .length = 2});
  const Pose across = turned(Vector3d::UnitX(), std::numbers::pi / 2, {0.5, 0, 0});
  expect_distance(compute_distance(a, at(0, 0, 0), a, across), 0.3, -Vector3d::UnitX());
  // Axes that meet: both perpendiculars are equally good.
  const Pose through = turned(Vector3d::UnitX(), std::numbers::pi / 2, {0, 0, 0});
  const SignedDistance met = compute_distance(a, at(0, 0, 0), a, through);
  EXPECT_NEAR(met.gap, -0.2, 1e-15);
  EXPECT_NEAR(std::abs(met.normal.x()), 1, 1e-15);
}

/// Lines at an angle of 1e-7 that cross in the middle: a formula with 1 − cos² would see no angle.
TEST(Distance, NearlyParallelCapsulesStillCross) {
  const CollisionShape a(Capsule{.radius = 0.01, .length = 2});
  const Pose tilted = turned(Vector3d::UnitX(), 1e-7, {0.5, 0.3e-7, 0});
  const SignedDistance found = compute_distance(a, at(0, 0, 0), a, tilted);
  expect_distance(found, 0.48, -Vector3d::UnitX(), 1e-9);
  EXPECT_NEAR(found.gap, 0.48, 1e-15);
  EXPECT_NEAR(found.point_a.z(), 0.3, 1e-6);
}

TEST(Distance, CapsulesOnOneAxisTouchWithTheirEnds) {
  const CollisionShape a(Capsule{.radius = 0.5, .length = 2});
  expect_distance(compute_distance(a, at(0, 0, 3.25), a, at(0, 0, 0)), 0.25, Vector3d::UnitZ());
  EXPECT_NEAR(compute_distance(a, at(0, 0, 0.5), a, at(0, 0, 0)).gap, -1, 1e-15);
}

TEST(Distance, BoxesFaceToFaceEdgeToEdgeCornerToCorner) {
  const CollisionShape box(Box{Vector3d(2, 2, 2)});
  expect_distance(compute_distance(box, at(0.3, 0.2, 2.5), box, at(0, 0, 0)), 0.5,
                  Vector3d::UnitZ());
  expect_distance(compute_distance(box, at(0.3, 0.2, 1.9), box, at(0, 0, 0)), -0.1,
                  Vector3d::UnitZ());
  expect_distance(compute_distance(box, at(3, 3, 0), box, at(0, 0, 0)), std::sqrt(2.0),
                  Vector3d(1, 1, 0).normalized());
  expect_distance(compute_distance(box, at(3, 3, 3), box, at(0, 0, 0)), std::sqrt(3.0),
                  Vector3d(1, 1, 1).normalized());
  // Two edges at right angles, each box on its edge: half diagonals √2 along z.
  const Pose on_edge_x = turned(Vector3d::UnitX(), std::numbers::pi / 4, {0, 0, 3});
  const Pose on_edge_y = turned(Vector3d::UnitY(), std::numbers::pi / 4, {0, 0, 0});
  expect_distance(compute_distance(box, on_edge_x, box, on_edge_y), 3 - 2 * std::sqrt(2.0),
                  Vector3d::UnitZ());
}

/// Overlap by 0.06 mm means 0.06 mm, never a phantom.
TEST(Distance, BoxesThatOverlapByLittleSaySo) {
  const CollisionShape box(Box{Vector3d(1, 1, 1)});
  expect_distance(compute_distance(box, at(0.1, 0.9, 1 - 6e-5), box, at(0, 0, 0)), -6e-5,
                  Vector3d::UnitZ(), 1e-15);
}

TEST(Distance, IdenticalBoxesPartAlongTheShortestEdge) {
  const CollisionShape box(Box{Vector3d(3, 1, 2)});
  const SignedDistance found = compute_distance(box, at(1, 2, 3), box, at(1, 2, 3));
  EXPECT_NEAR(found.gap, -1, 1e-15);
  EXPECT_NEAR(std::abs(found.normal.y()), 1, 1e-15);
}

TEST(Distance, CylindersMantleToMantleEndToEndRimToMantle) {
  const CollisionShape a(Cylinder{.radius = 1, .length = 4});
  expect_distance(compute_distance(a, at(3, 0, 1), a, at(0, 0, 0)), 1, Vector3d::UnitX());
  expect_distance(compute_distance(a, at(0.5, 0, 4.5), a, at(0, 0, 0)), 0.5, Vector3d::UnitZ());
  const Pose lying = turned(Vector3d::UnitX(), std::numbers::pi / 2, {0, 0, 4});
  expect_distance(compute_distance(a, lying, a, at(0, 0, 0)), 1, Vector3d::UnitZ());
  // Rim to rim along x and z.
  expect_distance(compute_distance(a, at(5, 0, 8), a, at(0, 0, 0)), 5, Vector3d(0.6, 0, 0.8));
}

TEST(Distance, EllipsoidsOnCommonAxes) {
  const CollisionShape a(Ellipsoid{Vector3d(1, 2, 3)}), b(Ellipsoid{Vector3d(2, 1, 1)});
  expect_distance(compute_distance(a, at(0, 0, 5), b, at(0, 0, 0)), 1, Vector3d::UnitZ());
  expect_distance(compute_distance(a, at(0, 0, 3.9), b, at(0, 0, 0)), -0.1, Vector3d::UnitZ());
  EXPECT_NEAR(compute_distance(a, at(0, 0, 0), b, at(0, 0, 0)).gap, -3, 1e-14);
}

TEST(Distance, PlaneTouchesTheLowestPoint) {
  const CollisionShape ground(Plane{.normal = Vector3d::UnitZ(), .offset = 1});
  const Vector3d up = Vector3d::UnitZ();
  const double quarter = std::numbers::pi / 2;
  const auto gap = [&](const Shape& shape, const Pose& pose) {
    const SignedDistance found = compute_distance(CollisionShape(shape), pose, ground, Pose{});
    EXPECT_LE((found.normal - up).norm(), 1e-15);
    EXPECT_NEAR(found.point_b.z(), 1, 1e-14);
    return found.gap;
  };
  EXPECT_NEAR(gap(Sphere{0.5}, at(9, 9, 2)), 0.5, 1e-15);
  EXPECT_NEAR(gap(Capsule{.radius = 0.5, .length = 2}, at(0, 0, 2)), -0.5, 1e-15);
  EXPECT_NEAR(gap(Box{Vector3d(1, 1, 2)}, turned(up.unitOrthogonal(), 0, {0, 0, 5})), 3, 1e-15);
  EXPECT_NEAR(
      gap(Cylinder{.radius = 1, .length = 4}, turned(Vector3d::UnitX(), quarter, {0, 0, 3})), 1,
      1e-15);
  EXPECT_NEAR(gap(Cylinder{.radius = 3, .length = 8},
                  turned(Vector3d::UnitX(), std::atan2(4, 3), {0, 0, 7})),
              7 - 1 - (3 * 0.8 + 4 * 0.6), 1e-14);
  EXPECT_NEAR(gap(Ellipsoid{Vector3d(1, 2, 3)}, turned(Vector3d::UnitX(), quarter, {0, 0, 4})), 1,
              1e-15);
  EXPECT_NEAR(gap(Convex{box_corners({1, 1, 1})}, at(0, 0, 1)), -0.5, 1e-15);
  // Seen from the other side the normal turns.
  const SignedDistance swapped =
      compute_distance(ground, Pose{}, CollisionShape(Sphere{0.5}), at(0, 0, 2));
  EXPECT_LE((swapped.normal + up).norm(), 1e-15);
}

TEST(Distance, HalfSpacesAreApartOnlyIfOpposite) {
  const CollisionShape floor(Plane{.normal = Vector3d::UnitZ(), .offset = -1});
  const CollisionShape roof(Plane{.normal = -Vector3d::UnitZ(), .offset = -2});
  expect_distance(compute_distance(roof, Pose{}, floor, Pose{}), 3, Vector3d::UnitZ());
  const CollisionShape wall(Plane{.normal = Vector3d::UnitX(), .offset = 0});
  EXPECT_EQ(compute_distance(wall, Pose{}, floor, Pose{}).gap, -kInfinity);
}

TEST(Distance, QuickTestNeverSaysApartOfWhatIsNot) {
  Random random(7);
  int num_apart = 0, num_seen = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto kind_a = static_cast<ShapeKind>(random.integer(0, 6));
    const auto kind_b = static_cast<ShapeKind>(random.integer(0, 5));
    const PlacedPair pair = random_pair(random, kind_a, kind_b);
    const CollisionShape a(pair.a), b(pair.b);
    const double gap = compute_distance(a, pair.pose_a, b, pair.pose_b).gap;
    const double size = std::max(a.size(), b.size());
    const double reach = size * random.uniform(-0.1, 0.5);
    const bool is_far = are_farther_apart(a, pair.pose_a, b, pair.pose_b, reach);
    if (is_far) {
      EXPECT_GT(gap, reach - 1e-12 * (size + std::abs(gap)));
    }
    num_apart += gap > reach;
    num_seen += is_far;
  }
  EXPECT_GT(num_seen, num_apart / 2);  // else it would be of no use
}

}  // namespace
}  // namespace stiction
