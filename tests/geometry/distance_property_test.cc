// What must hold for any signed distance, whatever the shapes.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "stiction/geometry/distance.h"
#include "tests/geometry/random_pairs.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr int kNumKinds = 6, kNumTrials = testing::fewer_sanitized(3600, 5);

struct Trial {
  CollisionShape a, b;
  Pose pose_a, pose_b;
  double size, tolerance;
};

Trial make_trial(Random& random, int index) {
  const auto kind_a = static_cast<ShapeKind>(index % kNumKinds);
  const auto kind_b = static_cast<ShapeKind>(index / kNumKinds % kNumKinds);
  const PlacedPair pair = random_pair(random, kind_a, kind_b);
  const CollisionShape a(pair.a), b(pair.b);
  const double reach = (pair.pose_a.position - pair.pose_b.position).norm();
  const double size = std::max({a.size(), b.size(), reach});
  // 1e-9 of the size is promised for all pairs; the world adds its rounding.
  const double place = 1e-15 * (pair.pose_a.position.norm() + pair.pose_b.position.norm());
  return {a, b, pair.pose_a, pair.pose_b, size, 1e-9 * size + place};
}

double gap_of(const Trial& t) { return compute_distance(t.a, t.pose_a, t.b, t.pose_b).gap; }

TEST(DistanceProperty, SwappingFlipsTheNormal) {
  Random random(11);
  for (int i = 0; i < kNumTrials; ++i) {
    SCOPED_TRACE("trial " + std::to_string(i));
    const Trial t = make_trial(random, i);
    const SignedDistance one = compute_distance(t.a, t.pose_a, t.b, t.pose_b);
    const SignedDistance two = compute_distance(t.b, t.pose_b, t.a, t.pose_a);
    EXPECT_NEAR(one.gap, two.gap, t.tolerance);
    // The direction is the same only where it is unique, as it is for bodies apart.
    if (one.gap > 1e-3 * t.size) {
      EXPECT_LE((one.normal + two.normal).norm(), 1e-5);
    }
  }
}

TEST(DistanceProperty, GapIsInvariantUnderMotionOfTheWorld) {
  Random random(12);
  for (int i = 0; i < kNumTrials; ++i) {
    SCOPED_TRACE("trial " + std::to_string(i));
    Trial t = make_trial(random, i);
    const double before = gap_of(t);
    const Pose world{.position = t.size * random_vector(random),
                     .rotation = random_rotation(random)};
    t.pose_a = world * t.pose_a;
    t.pose_b = world * t.pose_b;
    EXPECT_NEAR(gap_of(t), before, 2 * t.tolerance);
  }
}

/// A power of two changes no digit, so the results must agree to the last one: no tolerance in the
/// code may be an absolute length.
TEST(DistanceProperty, ScalingByAPowerOfTwoIsExact) {
  Random random(13);
  for (int i = 0; i < kNumTrials; ++i) {
    SCOPED_TRACE("trial " + std::to_string(i));
    const Trial t = make_trial(random, i);
    const double factor = std::ldexp(1.0, random.integer(-20, 20));
    const CollisionShape a(scaled(t.a.shape(), factor)), b(scaled(t.b.shape(), factor));
    Pose pose_a = t.pose_a, pose_b = t.pose_b;
    pose_a.position *= factor;
    pose_b.position *= factor;
    const SignedDistance found = compute_distance(a, pose_a, b, pose_b);
    EXPECT_EQ(found.gap, factor * gap_of(t));
  }
}

/// d gap/dt = normal · (velocity of a − velocity of b) at the witness points, for bodies apart, by
/// differences. Where the slopes to both sides differ, as for parallel edges that start to turn,
/// the gap has no derivative. The second derivative is of order size²/gap, so that a step of 1e-6
/// leaves an error of 1e-4 of the size at most; half the difference of the slopes measures it.
TEST(DistanceProperty, GapMovesWithTheNormalVelocityOfTheWitnesses) {
  Random random(14);
  int num_tested = 0, num_kinks = 0;
  for (int i = 0; i < kNumTrials; ++i) {
    SCOPED_TRACE("trial " + std::to_string(i));
    const Trial t = make_trial(random, i);
    const SignedDistance found = compute_distance(t.a, t.pose_a, t.b, t.pose_b);
    if (found.gap < 0.05 * t.size || found.gap > 10 * std::max(t.a.size(), t.b.size())) continue;
    const Vector3d v = t.size * random_vector(random).normalized();
    const Vector3d w = random_vector(random).normalized();
    const auto gap_after = [&](double h) {
      Trial moved = t;
      moved.pose_a.position += h * v;
      moved.pose_a.rotation = Eigen::AngleAxisd(h, w).toRotationMatrix() * moved.pose_a.rotation;
      return gap_of(moved);
    };
    constexpr double kStep = 1e-6;
    const double forward = (gap_after(kStep) - found.gap) / kStep;
    const double backward = (found.gap - gap_after(-kStep)) / kStep;
    ++num_tested;
    if (std::abs(forward - backward) > 2e-4 * t.size) {
      ++num_kinks;
      continue;
    }
    const Vector3d velocity = v + w.cross(found.point_a - t.pose_a.position);
    EXPECT_NEAR((forward + backward) / 2, found.normal.dot(velocity), 2e-4 * t.size);
  }
  EXPECT_GT(num_tested, kNumTrials / 8);
  EXPECT_LT(num_kinks, num_tested / 5);
}

/// The gap changes by no more than the motion, from overlap over touching to apart, and outwards
/// along the normal by as much. (Inwards it may even grow again: a sharp tip that meets another one
/// can be passed on the side.)
TEST(DistanceProperty, GapIsContinuousThroughTouching) {
  Random random(15);
  for (int i = 0; i < kNumTrials / 2; ++i) {
    SCOPED_TRACE("trial " + std::to_string(i));
    Trial t = make_trial(random, i);
    const SignedDistance start = compute_distance(t.a, t.pose_a, t.b, t.pose_b);
    if (!(start.gap > 1e-3 * t.size)) continue;
    t.pose_a.position -= start.gap * start.normal;
    const Vector3d touching = t.pose_a.position;
    EXPECT_NEAR(gap_of(t), 0, t.tolerance);
    const double small = std::min(t.a.size(), t.b.size());
    for (const double step : {1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4}) {
      t.pose_a.position = touching + step * small * start.normal;
      EXPECT_NEAR(gap_of(t), step * small, t.tolerance);
      t.pose_a.position = touching - step * small * start.normal;
      const double inside = gap_of(t);
      EXPECT_GE(inside, -step * small - t.tolerance);
      EXPECT_LE(inside, step * small + t.tolerance);
    }
  }
}

TEST(DistanceProperty, BeyondReachALowerBoundIsGiven) {
  Random random(17);
  for (int i = 0; i < kNumTrials; ++i) {
    SCOPED_TRACE("trial " + std::to_string(i));
    const Trial t = make_trial(random, i);
    const double gap = gap_of(t), reach = random.uniform(0, 2) * std::max(0.0, gap);
    const double within = compute_distance_within(t.a, t.pose_a, t.b, t.pose_b, reach).gap;
    if (gap <= reach) {
      EXPECT_EQ(within, gap);
    } else {
      EXPECT_GT(within, reach);
      EXPECT_LE(within, gap + t.tolerance);
    }
  }
}

TEST(DistanceProperty, SameInputGivesSameBits) {
  Random random(16);
  for (int i = 0; i < 360; ++i) {
    const Trial t = make_trial(random, i);
    const SignedDistance one = compute_distance(t.a, t.pose_a, t.b, t.pose_b);
    const SignedDistance two = compute_distance(t.a, t.pose_a, t.b, t.pose_b);
    EXPECT_EQ(one.gap, two.gap);
    EXPECT_EQ(one.normal, two.normal);
    EXPECT_EQ(one.point_a, two.point_a);
    EXPECT_EQ(one.point_b, two.point_b);
  }
}

}  // namespace
}  // namespace stiction
