// Bodies deep inside one another, nearly concentric, nearly parallel: where many directions are
// almost as good. Every separation along a direction is a lower bound of the gap, so a better one
// proves an error; some configurations have closed forms.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

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

/// Across each of both third axes all around, along the axes, and across pairs of them: on and
/// beside every place where bodies with axes can have their best direction.
std::vector<Vector3d> fan_of_directions(const Matrix3d& A, const Matrix3d& B) {
  std::vector<Vector3d> fan;
  const auto add = [&](const Vector3d& direction) {
    if (!(direction.norm() > 1e-14)) return;
    fan.push_back(direction.normalized());
    fan.push_back(-direction.normalized());
  };
  for (const Matrix3d& axes : {A, B}) {
    for (int i = 0; i < 3; ++i) add(axes.col(i));
    for (int k = 0; k < 180; ++k) {
      const double angle = k * (std::numbers::pi / 180);
      add(std::cos(angle) * axes.col(0) + std::sin(angle) * axes.col(1));
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) add(A.col(i).cross(B.col(j)));
  }
  return fan;
}

void expect_no_better_direction(const Placed& pair, double accuracy) {
  const SignedDistance found = pair.distance();
  expect_consistent(pair, found, accuracy);
  double best = -1e300;
  for (const Vector3d& n : fan_of_directions(pair.pose_a.rotation, pair.pose_b.rotation)) {
    best = std::max(best, pair.along(n));
  }
  EXPECT_GE(found.gap, best - accuracy * pair.size());
}

/// A grain of radius r and length l that lies across the axis of a cylinder of radius R, p along
/// itself from it: sideways it has to go R + r, endways R + l/2 − p, and more in between, where
/// r cos φ + (l/2 − p) sin φ is concave.
TEST(DeepDistance, GrainAcrossACylinderLeavesOnItsThinSide) {
  for (const double ratio : {0.1, 1e-2, 1e-3, 1e-4, 1e-5}) {
    for (const double part : {0.0, 0.1, 0.4}) {
      SCOPED_TRACE("ratio " + std::to_string(ratio) + " part " + std::to_string(part));
      const double r = 0.36 * ratio, l = ratio, p = part * l;
      const Placed pair{CollisionShape(Cylinder{.radius = 0.5, .length = 1.3}),
                        {},
                        CollisionShape(Cylinder{.radius = r, .length = l}),
                        {.position = {p, 0, 0}, .rotation = turn(Vector3d::UnitY(), kQuarter)}};
      const SignedDistance found = pair.distance();
      EXPECT_NEAR(found.gap, -0.5 - std::min(r, l / 2 - p), 1e-9 * pair.size());
      expect_consistent(pair, found, 1e-9);
    }
  }
}

/// The same with offsets in all directions that are small beside the grain: each moves the gap by
/// its length at most.
TEST(DeepDistance, GrainBesideTheAxisLeavesOnItsThinSide) {
  const double r = 1.461072325109548e-05, R = 0.064277824390565869;
  const Placed pair{
      CollisionShape(Cylinder{.radius = R, .length = 0.13539313802655298}),
      {},
      CollisionShape(Cylinder{.radius = r, .length = 4.0144893109195662e-05}),
      {.position = {2.65e-8, 1.35e-8, 1.45e-8}, .rotation = turn(Vector3d::UnitY(), kQuarter)}};
  EXPECT_GE(pair.distance().gap, -R - r);
  EXPECT_LE(pair.distance().gap, -R - r + 1.35e-8 + 1e-9 * pair.size());
  expect_no_better_direction(pair, 1e-9);
}

/// With a common centre the direction across both axes parts a capsule from a cylinder after the
/// sum of their radii, at any tilt; no other is better where the cylinder is longer than wide.
TEST(DeepDistance, CapsuleInTheMiddleOfACylinderLeavesAcrossBothAxes) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const double R = random.uniform(0.5, 1), L = random.uniform(2.1, 4) * R;
    const double r = random.uniform(0.1, 1), l = std::pow(10, random.uniform(-6, 1));
    const double tilt = random.chance(0.5) ? std::pow(10, random.uniform(-9, 0)) : kQuarter;
    const double offset = std::pow(10, random.uniform(-16, -9));
    const Matrix3d about = turn(Vector3d::UnitZ(), random.uniform(0, 4 * kQuarter));
    const Placed pair{CollisionShape(Capsule{.radius = r, .length = l}),
                      {.position = offset * random_vector(random).normalized(),
                       .rotation = about * turn(Vector3d::UnitX(), tilt)},
                      CollisionShape(Cylinder{.radius = R, .length = L}),
                      {}};
    const SignedDistance found = pair.distance();
    EXPECT_NEAR(found.gap, -R - r, offset + 1e-9 * pair.size());
    expect_consistent(pair, found, 1e-9);
  }
}

/// Ratios of 1 to 1e-4, quarter turns with tilts down to 1e-15, centres on a common axis or as
/// little apart as 1e-16 of the size.
Placed nearly_concentric_pair(Random& random) {
  const auto shape = [&](double size) {
    const double width = size * random.uniform(0.3, 1);
    const double thin = random.chance(0.4) ? std::pow(10, random.uniform(-5, -1)) : 1;
    switch (random.integer(0, 2)) {
      case 0:
        return CollisionShape(Capsule{.radius = width, .length = thin * size});
      case 1:
        return CollisionShape(Ellipsoid{Vector3d(width, thin * size, size)});
      default:
        return CollisionShape(Cylinder{.radius = width, .length = thin * size});
    }
  };
  const auto rotation = [&] {
    const Matrix3d turned = turn(Vector3d::Unit(random.integer(0, 2)), kQuarter);
    return random.chance(0.5) ? Matrix3d(turned.array().round()) : turned;
  };
  Pose pose;
  pose.rotation = rotation() * rotation();
  if (random.chance(0.4)) {
    pose.rotation *= turn(random_vector(random), std::pow(10, random.uniform(-15, -4)));
  }
  const double ratio = std::pow(10, random.chance(0.5) ? random.uniform(-4, 0) : 0.0);
  pose.position = ratio * std::pow(10, random.uniform(-16, -1)) * random_vector(random);
  if (random.chance(0.3)) pose.position[random.integer(0, 2)] = 0;
  const CollisionShape cylinder(
      Cylinder{.radius = random.uniform(0.3, 1), .length = random.uniform(0.3, 3)});
  return {cylinder, {}, shape(ratio), pose};
}

TEST(DeepDistance, NearlyConcentricBodiesHaveNoBetterDirection) {
  for (unsigned seed = 0; seed < testing::fewer_sanitized(4000, 5); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    expect_no_better_direction(nearly_concentric_pair(random), 1e-9);
    if (::testing::Test::HasFailure()) return;
  }
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
