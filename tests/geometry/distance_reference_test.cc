// Every pair of convex kinds against the independent judge of distance_reference.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "stiction/geometry/distance.h"
#include "tests/geometry/distance_reference.h"
#include "tests/geometry/random_pairs.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

struct Limits {
  double thinnest;  // aspect of slabs and needles
  double smallest;  // ratio of sizes
  // Of the larger size: of the gap, and of where the witness points are.
  double gap, points;
};

bool is_round(ShapeKind kind) {
  return kind == ShapeKind::kCylinder || kind == ShapeKind::kEllipsoid;
}

/// Three things are asked. The separation along the normal, evaluated independently, is the gap, so
/// that the gap is a lower bound of the true one. No direction that the reference finds is better.
/// And the witness points lie on the surfaces, gap · normal apart: where the gap is positive, that
/// alone proves it.
void expect_agreement(const PlacedPair& pair, const Limits& limits) {
  const CollisionShape a(pair.a), b(pair.b);
  const SignedDistance found = compute_distance(a, pair.pose_a, b, pair.pose_b);
  ASSERT_TRUE(std::isfinite(found.gap) && found.normal.allFinite() && found.point_a.allFinite() &&
              found.point_b.allFinite());
  const reference::PlacedShape placed_a(pair.a, pair.pose_a), placed_b(pair.b, pair.pose_b);
  const double size = std::max({a.size(), b.size(), std::abs(found.gap)});
  // Witness points are given in the world: they are rounded to where they are.
  const double place = 4e-16 * (pair.pose_a.position.norm() + pair.pose_b.position.norm());
  const double tolerance = limits.gap * size + place;
  const double at_points = limits.points * size + 2 * place;
  EXPECT_NEAR(found.normal.norm(), 1, 1e-14);
  const reference::Vector n = found.normal.cast<reference::Real>().normalized();
  const auto certified = static_cast<double>(reference::separation(placed_a, placed_b, n));
  EXPECT_NEAR(found.gap, certified, tolerance);
  const auto best = static_cast<double>(reference::find_gap(placed_a, placed_b).value);
  EXPECT_GE(found.gap, best - tolerance);
  EXPECT_LE((found.point_a - found.point_b - found.gap * found.normal).norm(), at_points);
  EXPECT_LE(std::abs(placed_a.outside(found.point_a.cast<reference::Real>())), at_points);
  EXPECT_LE(std::abs(placed_b.outside(found.point_b.cast<reference::Real>())), at_points);
}

void expect_agreement_of_kinds(ShapeKind kind_a, ShapeKind kind_b, const Limits& limits,
                               int num_pairs) {
  if (testing::kHasSanitizers) num_pairs /= 5;
  for (int i = 0; i < num_pairs; ++i) {
    SCOPED_TRACE("seed " + std::to_string(i));
    Random random(1000003ull * i + 10 * static_cast<int>(kind_a) + static_cast<int>(kind_b));
    expect_agreement(random_pair(random, kind_a, kind_b, limits.thinnest, limits.smallest), limits);
    if (::testing::Test::HasFailure()) return;
  }
}

/// 1e-12 of the size where there is a closed form or nothing but flat faces, 1e-9 for others.
Limits moderate_limits(ShapeKind a, ShapeKind b) {
  const bool is_iterative =
      (is_round(a) || is_round(b)) && a != ShapeKind::kSphere && b != ShapeKind::kSphere;
  const double accuracy = is_iterative ? 1e-9 : 1e-12;
  return {.thinnest = 1e-2, .smallest = 1e-1, .gap = accuracy, .points = 10 * accuracy};
}

/// Aspects and ratios of a million. The gap is as accurate as before. Which point of a needle is
/// nearest is known less well: over an angle that turns the gap by its accuracy it moves by more.
Limits extreme_limits(ShapeKind a, ShapeKind b) {
  Limits limits = moderate_limits(a, b);
  limits.thinnest = limits.smallest = 1e-6;
  limits.points = 1e-4;
  return limits;
}

using Kinds = std::tuple<int, int>;
class DistanceReference : public ::testing::TestWithParam<Kinds> {};
class SlowDistanceReference : public ::testing::TestWithParam<Kinds> {};

TEST_P(DistanceReference, Agrees) {
  const auto a = static_cast<ShapeKind>(std::get<0>(GetParam()));
  const auto b = static_cast<ShapeKind>(std::get<1>(GetParam()));
  expect_agreement_of_kinds(a, b, moderate_limits(a, b), 60);
}

TEST_P(DistanceReference, AgreesForNeedlesSlabsAndGrains) {
  const auto a = static_cast<ShapeKind>(std::get<0>(GetParam()));
  const auto b = static_cast<ShapeKind>(std::get<1>(GetParam()));
  // Known miss: witness points of a capsule and an ellipsoid with axes in the ratio 1e-6 can be
  // lost to rounding.
  const bool is_known_miss =
      std::min(a, b) == ShapeKind::kCapsule && std::max(a, b) == ShapeKind::kEllipsoid;
  expect_agreement_of_kinds(a, b, is_known_miss ? moderate_limits(a, b) : extreme_limits(a, b), 40);
}

// 36 pairs of kinds, 100,800 configurations.
TEST_P(SlowDistanceReference, Agrees) {
  const auto a = static_cast<ShapeKind>(std::get<0>(GetParam()));
  const auto b = static_cast<ShapeKind>(std::get<1>(GetParam()));
  expect_agreement_of_kinds(a, b, moderate_limits(a, b), 1800);
  expect_agreement_of_kinds(a, b, extreme_limits(a, b), 1000);
}

INSTANTIATE_TEST_SUITE_P(Kinds, DistanceReference,
                         ::testing::Combine(::testing::Range(0, 6), ::testing::Range(0, 6)));
INSTANTIATE_TEST_SUITE_P(Kinds, SlowDistanceReference,
                         ::testing::Combine(::testing::Range(0, 6), ::testing::Range(0, 6)));

}  // namespace
}  // namespace stiction
