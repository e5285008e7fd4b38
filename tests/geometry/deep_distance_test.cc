// Bodies deep inside one another, nearly concentric, nearly parallel: where many directions are
// almost as good. Every separation along a direction is a lower bound of the gap, so a better one
// proves an error; some configurations have closed forms.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "stiction/geometry/distance.h"
#include "tests/geometry/random_pairs.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kQuarter = std::numbers::pi / 2;

Matrix3d turn(const Vector3d& axis, double angle) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

struct Placed {
  CollisionShape a;
  Pose pose_a;
  CollisionShape b;
  Pose pose_b;

  double size() const { return std::max(a.size(), b.size()); }
  double along(const Vector3d& n) const { return separation_along(n, a, pose_a, b, pose_b); }
  SignedDistance distance() const { return compute_distance(a, pose_a, b, pose_b); }
};

/// Accuracies are promised as parts of the size; witness points are held to ten times as much.
void expect_consistent(const Placed& pair, const SignedDistance& found, double accuracy) {
  const double tolerance = accuracy * pair.size();
  EXPECT_NEAR(pair.along(found.normal), found.gap, tolerance);
  EXPECT_LE((found.point_a - found.point_b - found.gap * found.normal).norm(), 10 * tolerance);
}

/// Two cubes with half diagonals of 1 face each other with edges along z, which the one has turned
/// from by an angle about the common normal: they cross in the middle, at any angle. To the faces
/// beside them the ends of the edges dig in by a part of the angle: edges win if the overlap is
/// small beside that.
TEST(DeepDistance, EdgesOfBoxesCrossAtAnySmallAngle) {
  const CollisionShape cube(Box{Vector3d::Constant(std::numbers::sqrt2)});
  const Matrix3d on_edge = turn(Vector3d::UnitZ(), kQuarter / 2);
  for (const double angle : {1e-6, 1e-7, 1e-8, 3e-9, 6e-10, 1e-10, 1e-11}) {
    SCOPED_TRACE("angle " + std::to_string(-std::log10(angle)));
    const double overlap = 0.01 * angle;
    const Placed pair{
        cube,
        {.rotation = on_edge},
        cube,
        {.position = {2 - overlap, 0, 0}, .rotation = turn(Vector3d::UnitX(), angle) * on_edge}};
    const SignedDistance found = pair.distance();
    EXPECT_NEAR(found.gap, -overlap, 1e-12 * pair.size());
    EXPECT_LE((found.point_a - found.point_b - found.gap * found.normal).norm(),
              1e-12 * pair.size());
  }
}

/// Capsules of one length side by side, moved along each other by 3e-9 of it: the lower ends are as
/// far from each other as from the axis of the other to the last digit, but the normal is across
/// the axes.
TEST(DeepDistance, NormalOfParallelCapsulesIsAcrossThemWhereTheirEndsAreClose) {
  const CollisionShape a(Capsule{.radius = 0.25, .length = 2}),
      b(Capsule{.radius = 0.5, .length = 2});
  for (const double beyond : {1e-8, 3e-9, 3e-10, 3e-11, 3e-12, 0.0}) {
    for (const double side : {-1.0, 1.0}) {
      SCOPED_TRACE("beyond " + std::to_string(side * beyond * 1e12) + " pm");
      const Placed pair{a, {}, b, {.position = {0, 1, side * beyond}}};
      const SignedDistance found = pair.distance();
      EXPECT_NEAR(found.gap, 0.25, 1e-12 * pair.size());
      EXPECT_LE((found.normal + Vector3d::UnitY()).norm(), 1e-15);
      expect_consistent(pair, found, 1e-12);
    }
  }
}

TEST(DeepDistance, NormalsOfNearlyParallelCapsulesSupportTheirGaps) {
  for (unsigned seed = 0; seed < testing::fewer_sanitized(20000, 5); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto capsule = [&] {
      return CollisionShape(
          Capsule{.radius = random.uniform(0.01, 1), .length = 0.25 * random.integer(1, 8)});
    };
    Pose pose;
    pose.rotation = turn(random_vector(random), std::pow(10, random.uniform(-16, -3)));
    for (double& coordinate : pose.position) {
      coordinate = random.chance(0.3) ? 0 : 0.125 * random.integer(-8, 8);
      if (random.chance(0.5)) coordinate += std::pow(10, random.uniform(-16, -3));
    }
    const Placed pair{capsule(), {}, capsule(), pose};
    expect_consistent(pair, pair.distance(), 1e-12);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace stiction
