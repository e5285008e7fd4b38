#include "stiction/sim/step_times.h"

#include <gtest/gtest.h>

namespace stiction {
namespace {

TEST(DurationHistogram, QuantilesAreThoseOfTheDurationsToTheWidthOfABin) {
  DurationHistogram histogram;
  for (int k = 1; k <= 1000; ++k) histogram.add(1e-3 * k);
  EXPECT_EQ(histogram.count(), 1000);
  EXPECT_NEAR(histogram.mean(), 0.5005, 1e-12);
  EXPECT_EQ(histogram.max(), 1.0);
  for (const double share : {0.01, 0.5, 0.99, 1.0}) {
    EXPECT_GE(histogram.quantile(share), share) << share;
    EXPECT_LE(histogram.quantile(share), 1.011 * share) << share;
  }
}

TEST(DurationHistogram, TakesWhatIsOutOfItsRange) {
  DurationHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  histogram.add(0);
  histogram.add(1e9);
  EXPECT_EQ(histogram.max(), 1e9);
  EXPECT_LE(histogram.quantile(0.5), 2e-7);
  EXPECT_GT(histogram.quantile(1), 1e3);
}

TEST(DurationHistogram, OctavesCountAll) {
  DurationHistogram histogram;
  EXPECT_TRUE(histogram.octaves().empty());
  for (const double seconds : {1.1e-7, 3e-7, 3.1e-7, 3.3e-6}) histogram.add(seconds);
  const auto octaves = histogram.octaves();
  ASSERT_EQ(octaves.size(), 6U);
  EXPECT_NEAR(octaves[0].up_to, 2e-7, 1e-20);
  EXPECT_EQ(octaves[0].count, 1);
  EXPECT_EQ(octaves[1].count, 2);
  EXPECT_EQ(octaves[2].count, 0);
  EXPECT_NEAR(octaves[5].up_to, 6.4e-6, 1e-19);
  EXPECT_EQ(octaves[5].count, 1);
}

}  // namespace
}  // namespace stiction
