#include "stiction/scheme/gap_path.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stiction {
namespace {

/// The path of a given cubic a + b t + c t² + d t³.
GapPath cubic(double length, double a, double b, double c, double d) {
  const double t = length;
  return {.length = t,
          .start = a,
          .end = a + t * (b + t * (c + t * d)),
          .start_rate = b,
          .end_rate = b + t * (2 * c + 3 * t * d)};
}

TEST(GapPath, ReproducesACubic) {
  const GapPath path = cubic(0.7, 1, -2, 0.5, 0.25);
  for (const double t : {0.0, 0.1, 0.35, 0.7})
    EXPECT_NEAR(path.at(t), 1 - 2 * t + 0.5 * t * t + 0.25 * t * t * t, 1e-15);
}

TEST(GapPath, FindsTheFallOfABall) {
  const std::optional<double> time = cubic(1, 1, 0, -4.905, 0).find_closing();
  ASSERT_TRUE(time);
  EXPECT_NEAR(*time, std::sqrt(1 / 4.905), 1e-15);
}

TEST(GapPath, FindsTheReturnAfterARebound) {
  // Leaves at 2 m/s from the floor, and a rounding error below it.
  for (const double start : {0.0, -1e-12}) {
    const std::optional<double> time = cubic(1, start, 2, -4.905, 0).find_closing();
    ASSERT_TRUE(time);
    EXPECT_NEAR(*time, 2 / 4.905, 1e-11);
  }
}

TEST(GapPath, SeesADipWithinTheStep) {
  // (t − 0.4)² − 0.01: closes at 0.3, open again at both ends.
  const std::optional<double> time = cubic(1, 0.15, -0.8, 1, 0).find_closing();
  ASSERT_TRUE(time);
  EXPECT_NEAR(*time, 0.3, 1e-14);
}

TEST(GapPath, IsSilentWhereNothingCloses) {
  EXPECT_FALSE(cubic(1, 0.17, -0.8, 1, 0).find_closing());  // the dip stays above
  EXPECT_FALSE(cubic(1, 1, 1, 0, 0).find_closing());        // leaves
  EXPECT_FALSE(cubic(1, -0.1, -1, 0, 0).find_closing());    // was closed before
  EXPECT_FALSE(cubic(1, -1, 0.1, 0, 0).find_closing());     // opens, but not far enough
}

TEST(GapPath, ClosesOnTheOpenSide) {
  const GapPath path = cubic(0.01, 1e-3, -0.3, -4.905, 2);
  const std::optional<double> time = path.find_closing();
  ASSERT_TRUE(time);
  EXPECT_GE(path.at(*time), 0);
  EXPECT_LT(path.at(*time), 1e-17);
}

}  // namespace
}  // namespace stiction
