// The quick method takes the path of the dictionary, so that what is known of one holds for both.
#include "stiction/solve/lemke_small.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/solve/lemke_lcp.h"

namespace stiction {
namespace {

MixedLcp<double> random_lcp(Random& random, int size, bool is_degenerate) {
  MixedLcp<double> lcp;
  lcp.resize(0, size);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j)
      lcp.row(i)[j] = (is_degenerate ? random.integer(-1, 1) : random.uniform(-1, 1)) / size;
    lcp.row(i)[i] += 2;
    lcp.vector[i] = is_degenerate ? random.integer(-1, 1) : random.normal();
  }
  lcp.vector[0] = -1;
  return lcp;
}

DenseLcpView view_of(const MixedLcp<double>& lcp) {
  return {.size = lcp.size(),
          .matrix = lcp.matrix.data(),
          .q = lcp.vector.data(),
          .row_step = lcp.size()};
}

TEST(LemkeSmall, TakesThePathOfTheDictionary) {
  Random random(1);
  LemkeSmall small;
  LemkeLcp<double> reference;
  for (int size = 1; size <= LemkeSmall::kMaxSize; ++size)
    for (int trial = 0; trial < 10; ++trial) {
      SCOPED_TRACE(size);
      const MixedLcp<double> lcp = random_lcp(random, size, trial % 2 == 1);
      std::vector<double> z(size);
      const LcpReport report = small.solve(view_of(lcp), z.data());
      const LcpReport expected = reference.solve(lcp, {.uses_dictionary = true});
      ASSERT_EQ(report.status, LcpStatus::kSolved);
      ASSERT_EQ(expected.status, LcpStatus::kSolved);
      EXPECT_EQ(report.pivots, expected.pivots);
      // Diagonally dominant: the solution is unique, and rounding does not grow.
      for (int i = 0; i < size; ++i)
        EXPECT_NEAR(z[i], static_cast<double>(reference.z()[i]), 1e-12);
    }
}

TEST(LemkeSmall, EndsOnARayOrAtTheLimitWithoutTouchingTheAnswer) {
  LemkeSmall small;
  const double matrix[] = {-1, 0, 0, -1}, q[] = {-1, -1};
  double z[] = {7, 8};
  EXPECT_EQ(small.solve({.size = 2, .matrix = matrix, .q = q, .row_step = 2}, z).status,
            LcpStatus::kRay);
  EXPECT_EQ(z[0], 7);
  EXPECT_EQ(z[1], 8);
}

}  // namespace
}  // namespace stiction
