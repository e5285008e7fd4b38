#include "stiction/geometry/collision_shape.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/base/error.h"
#include "stiction/base/infinity.h"
#include "tests/geometry/random_pairs.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

TEST(CollisionShape, RefusesFaultyShapes) {
  EXPECT_THROW(CollisionShape(Sphere{-1}), InputError);
  EXPECT_THROW(CollisionShape(Box{Vector3d(1, 0, 1)}), InputError);
  EXPECT_THROW(CollisionShape(Convex{box_corners({1, 1, 0})}), InputError);
}

TEST(CollisionShape, KindsFollowTheAlternativesOfShape) {
  EXPECT_EQ(CollisionShape(Sphere{1}).kind(), ShapeKind::kSphere);
  EXPECT_EQ(CollisionShape(Capsule{1, 2}).kind(), ShapeKind::kCapsule);
  EXPECT_EQ(CollisionShape(Box{Vector3d(1, 1, 1)}).kind(), ShapeKind::kBox);
  EXPECT_EQ(CollisionShape(Cylinder{1, 2}).kind(), ShapeKind::kCylinder);
  EXPECT_EQ(CollisionShape(Ellipsoid{Vector3d(1, 2, 3)}).kind(), ShapeKind::kEllipsoid);
  EXPECT_EQ(CollisionShape(Convex{box_corners({1, 1, 1})}).kind(), ShapeKind::kConvex);
  EXPECT_EQ(CollisionShape(Plane{}).kind(), ShapeKind::kPlane);
}

TEST(CollisionShape, SizesAreThoseOfTheBoxAround) {
  EXPECT_EQ(CollisionShape(Sphere{0.5}).size(), 1);
  EXPECT_EQ(CollisionShape(Capsule{.radius = 1, .length = 3}).size(), 5);
  EXPECT_EQ(CollisionShape(Box{Vector3d(1, 4, 2)}).size(), 4);
  EXPECT_EQ(CollisionShape(Cylinder{.radius = 1, .length = 1}).size(), 2);
  EXPECT_EQ(CollisionShape(Ellipsoid{Vector3d(1, 2, 3)}).size(), 6);
  EXPECT_EQ(CollisionShape(Plane{}).size(), 0);
  EXPECT_EQ(CollisionShape(Plane{}).bounding_radius(), kInfinity);
  Convex shifted{box_corners({1, 2, 3})};
  for (Vector3d& point : shifted.points) point += Vector3d(10, 0, 0);
  const CollisionShape hull(shifted);
  EXPECT_EQ(hull.center(), Vector3d(10, 0, 0));
  EXPECT_EQ(hull.size(), 3);
  EXPECT_NEAR(hull.bounding_radius(), std::sqrt(14.0) / 2, 1e-15);
}

/// Support points bound the box from inside; a tight box is touched on every side.
TEST(CollisionShape, BoundsAreTight) {
  Random random(1);
  for (int i = 0; i < 600; ++i) {
    const CollisionShape shape(random_shape(random, static_cast<ShapeKind>(i % 6), 2, 1e-3));
    const Pose pose = random_pose(random, 5);
    const Bounds bounds = shape.bounds(pose);
    const double tolerance = 1e-14 * (shape.size() + pose.position.norm());
    for (int axis = 0; axis < 3; ++axis) {
      const Vector3d direction = pose.rotation.row(axis);
      const double high = (pose * shape.core_support(direction))[axis] + shape.core_radius();
      const double low = (pose * shape.core_support(-direction))[axis] - shape.core_radius();
      EXPECT_NEAR(bounds.upper[axis], high, tolerance);
      EXPECT_NEAR(bounds.lower[axis], low, tolerance);
    }
  }
}

TEST(CollisionShape, HalfSpaceIsBoundedOnlyAlongAnAxis) {
  const CollisionShape ground(Plane{.normal = Vector3d::UnitZ(), .offset = 2});
  EXPECT_EQ(ground.bounds(Pose{.position = {5, 5, 1}}).upper, Vector3d(kInfinity, kInfinity, 3));
  EXPECT_EQ(ground.bounds(Pose{.position = {5, 5, 1}}).lower, Vector3d::Constant(-kInfinity));
  const CollisionShape slope(Plane{.normal = Vector3d(0, 0.6, 0.8), .offset = 2});
  EXPECT_EQ(slope.bounds(Pose{}).upper, Vector3d::Constant(kInfinity));
}

TEST(CollisionShape, BoundingBallHoldsTheShape) {
  Random random(2);
  for (int i = 0; i < 600; ++i) {
    const CollisionShape shape(random_shape(random, static_cast<ShapeKind>(i % 6), 2, 1e-3));
    const Vector3d direction = random_vector(random).normalized();
    const Vector3d point = shape.core_support(direction) + shape.core_radius() * direction;
    EXPECT_LE((point - shape.center()).norm(), shape.bounding_radius() * (1 + 1e-15));
  }
}

}  // namespace
}  // namespace stiction
