#include "stiction/base/root.h"

#include <gtest/gtest.h>

#include <cmath>

namespace stiction {
namespace {

struct Count {
  int calls = 0;
};

template <class Function>
RootBracket solve(const Function& f, double low, double high, double tolerance, Count& count) {
  const auto counted = [&](double x) {
    ++count.calls;
    return f(x);
  };
  return find_root(counted, {low, high}, f(low), f(high), tolerance);
}

TEST(FindRoot, BracketsASmoothRootWithFewCalls) {
  Count count;
  const auto f = [](double x) { return std::cos(x); };
  const RootBracket root = solve(f, 0, 3, 1e-12, count);
  EXPECT_NEAR(root.low, std::acos(0.0), 1e-12);
  EXPECT_GE(f(root.low), 0);
  EXPECT_LT(f(root.high), 0);
  EXPECT_LE(root.high - root.low, 1e-12);
  EXPECT_LE(count.calls, 15);
}

TEST(FindRoot, NeedsNoMoreThanTwiceTheCallsOfBisectionAtAJump) {
  Count count;
  const RootBracket root =
      solve([](double x) { return x < 0.123456 ? 1e-9 : -1e9; }, 0, 1, 1e-12, count);
  EXPECT_NEAR(root.high, 0.123456, 1e-12);
  EXPECT_LE(count.calls, 3 * 40 + 5);  // a bisection in every third call
}

TEST(FindRoot, GoesDownToNeighbouringNumbers) {
  Count count;
  const RootBracket root = solve([](double x) { return 2 - x * x; }, 1, 2, 0, count);
  EXPECT_EQ(std::nextafter(root.low, 2), root.high);
  EXPECT_LT(count.calls, 200);
}

TEST(FindRoot, TakesIntervalsFromRightToLeft) {
  Count count;
  const RootBracket root = solve([](double x) { return x - 0.3; }, 1, 0, 1e-10, count);
  EXPECT_NEAR(root.low, 0.3, 1e-10);
}

}  // namespace
}  // namespace stiction
