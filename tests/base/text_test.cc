#include "stiction/base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stiction/base/diagnostics.h"
#include "stiction/base/random.h"

namespace stiction {
namespace {

const std::vector<std::string> kNames = {"position", "velocity", "mass", "mu"};

TEST(NearestName, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("positon", kNames), "position");
  EXPECT_EQ(nearest_name("Velocity", kNames), "velocity");
  EXPECT_EQ(nearest_name("MU", kNames), "mu");
  EXPECT_EQ(nearest_name("gravity_of_the_moon", kNames), std::nullopt);
}

TEST(Suggestion, ListsTheNamesWhereNoneIsNear) {
  EXPECT_EQ(suggestion("masss", kNames), "did you mean 'mass'?");
  EXPECT_EQ(suggestion("xyzzy_plugh", kNames), "known: position, velocity, mass, mu");
  EXPECT_EQ(suggestion("a", {}), "");
}

TEST(Diagnostics, AreShownInTheOrderOfTheTextWithPlaceAndHelp) {
  Diagnostics diagnostics("arch.json");
  diagnostics.warning({41, 13}, "bodies[7].mu", "is large");
  diagnostics.error({2, 5}, "h", "is -1, must be > 0", "write a positive step");
  diagnostics.error({}, "", "cannot be read");
  EXPECT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.to_text(),
            "arch.json: error: cannot be read\n"
            "arch.json:2:5: error: h: is -1, must be > 0\n"
            "  help: write a positive step\n"
            "arch.json:41:13: warning: bodies[7].mu: is large\n");
}

TEST(Random, IsTheSameEverywhere) {
  // First outputs of SplitMix64 for seed 1234567, from its authors' reference implementation.
  Random random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  double mean = 0, square = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    mean += x / kCount;
    square += x * x / kCount;
  }
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(double{kCount}));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2.0 / kCount));
}

}  // namespace
}  // namespace stiction
