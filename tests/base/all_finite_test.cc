#include "stiction/base/all_finite.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace stiction {
namespace {

TEST(AllFinite, SeesEveryNumberOfEveryLength) {
  for (std::size_t size = 0; size < 12; ++size) {
    std::vector<double> values(size, std::numeric_limits<double>::max());
    EXPECT_TRUE(all_finite(values));
    for (double& value : values)
      for (const double bad :
           {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
            std::numeric_limits<double>::quiet_NaN()}) {
        const double before = value;
        value = bad;
        EXPECT_FALSE(all_finite(values)) << size << " numbers";
        value = before;
      }
  }
}

}  // namespace
}  // namespace stiction
