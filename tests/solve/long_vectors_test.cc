// Loops over long arrays: what they compute, and the same bits with every width of vectors.
#include "stiction/solve/long_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "stiction/base/random.h"

namespace stiction {
namespace {

template <class Real>
class LongVectorsOf : public ::testing::Test {
 protected:
  static std::vector<Real> draw(std::uint64_t seed, int n) {
    Random random(seed);
    std::vector<Real> values(n);
    for (Real& value : values) value = static_cast<Real>(random.uniform(-1, 1));
    return values;
  }
};
using Precisions = ::testing::Types<double, float>;
TYPED_TEST_SUITE(LongVectorsOf, Precisions);

TYPED_TEST(LongVectorsOf, HaveTheSameBitsWithNarrowVectors) {
  const auto &wide = LongVectors<TypeParam>::chosen(), &narrow = LongVectors<TypeParam>::plain();
  for (const int n : {0, 1, 7, 31, 32, 33, 1000}) {
    const auto a = this->draw(1, n), b = this->draw(2, n), c = this->draw(3, n);
    EXPECT_EQ(wide.dot(a.data(), b.data(), n), narrow.dot(a.data(), b.data(), n));
    double both[2], both_narrow[2];
    wide.dot_both(a.data(), b.data(), c.data(), n, both);
    narrow.dot_both(a.data(), b.data(), c.data(), n, both_narrow);
    EXPECT_EQ(both[0], both_narrow[0]);
    EXPECT_EQ(both[1], both_narrow[1]);
    for (const auto* loops : {&wide, &narrow}) {
      std::vector<TypeParam> out = c;
      loops->take_off(TypeParam(0.3), a.data(), n, out.data());
      for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], c[i] - TypeParam(0.3) * a[i]);
      loops->subtract(a.data(), b.data(), n, out.data());
      for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], a[i] - b[i]);
      loops->subtract_weighted(c.data(), a.data(), b.data(), n, out.data());
      for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], c[i] * (a[i] - b[i]));
      std::vector<TypeParam> last = a;
      out = b;
      loops->carry_on(TypeParam(0.8), n, last.data(), out.data());
      for (int i = 0; i < n; ++i) EXPECT_EQ(out[i], b[i] + TypeParam(0.8) * (b[i] - a[i]));
      EXPECT_EQ(last, b);
    }
  }
}

/// A sum of n products below one is wrong by at most n/2 units in the last place of n.
TYPED_TEST(LongVectorsOf, AddUpAllTerms) {
  const auto& loops = LongVectors<TypeParam>::chosen();
  for (const int n : {1, 31, 33, 1000}) {
    const auto a = this->draw(1, n), b = this->draw(2, n), c = this->draw(3, n);
    long double ab = 0, ac = 0, bc = 0;
    for (int i = 0; i < n; ++i) {
      ab += static_cast<long double>(a[i]) * b[i];
      ac += static_cast<long double>(a[i]) * c[i];
      bc += static_cast<long double>(b[i]) * c[i];
    }
    double both[2];
    loops.dot_both(a.data(), b.data(), c.data(), n, both);
    const double rounding = 0.5 * n * std::numeric_limits<TypeParam>::epsilon() * std::sqrt(n);
    EXPECT_NEAR(loops.dot(a.data(), b.data(), n), static_cast<double>(ab), rounding);
    EXPECT_NEAR(both[0], static_cast<double>(ac), rounding);
    EXPECT_NEAR(both[1], static_cast<double>(bc), rounding);
  }
}

}  // namespace
}  // namespace stiction
