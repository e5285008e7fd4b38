#include "stiction/model/expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stiction/base/error.h"
#include "tests/model/formulas.h"

namespace stiction {
namespace {

using testing::Formulas;

TEST(Expression, OperatorsComputeWhatTheySay) {
  const Formulas f;
  const Expression &x = f.x, &y = f.y;
  const double a = 0.7, b = -1.3;
  const auto expect = [&](const Expression& formula, double value) {
    EXPECT_DOUBLE_EQ(f.value(formula, a, b), value);
  };
  expect(x + y, a + b);
  expect(x - y, a - b);
  expect(2 * x * y, 2 * a * b);
  expect(x / y, a / b);
  expect(-x, -a);
  expect(pow(x, y), std::pow(a, b));
  expect(pow(x, 2.5), std::pow(a, 2.5));
  expect(sin(x) + cos(y) + tan(x), std::sin(a) + std::cos(b) + std::tan(a));
  expect(asin(x) + acos(x) + atan(y), std::asin(a) + std::acos(a) + std::atan(b));
  expect(atan2(x, y), std::atan2(a, b));
  expect(sinh(x) + cosh(y) + tanh(x), std::sinh(a) + std::cosh(b) + std::tanh(a));
  expect(exp(y) + log(x) + sqrt(x), std::exp(b) + std::log(a) + std::sqrt(a));
  expect(abs(y), 1.3);
  expect(sign(y), -1);
  expect(sign(x * 0.0 + (y - y)), 0);
  expect(min(x, y), b);
  expect(max(x, y), a);
  expect(hypot(x, y), std::hypot(a, b));
  expect(select(x < y, 1, 2), 2);
  expect((x > y) + 2 * (x >= y) + 4 * (x <= y), 3);
}

TEST(Expression, SimplificationsKeepFormulasSmall) {
  const Formulas f;
  const Expression &x = f.x, &y = f.y;
  EXPECT_TRUE((0 * x).is_constant(0));
  EXPECT_TRUE((0 / x).is_constant(0));
  EXPECT_TRUE((x - x).is_constant(0));
  EXPECT_TRUE(pow(x, 0).is_constant(1));
  EXPECT_TRUE(is_same(1 * x, x));
  EXPECT_TRUE(is_same(x + 0, x));
  EXPECT_TRUE(is_same(x - 0, x));
  EXPECT_TRUE(is_same(x / 1, x));
  EXPECT_TRUE(is_same(pow(x, 1), x));
  EXPECT_TRUE(is_same(pow(x, 2), x * x));
  EXPECT_TRUE(is_same(pow(x, -1), 1 / x));
  EXPECT_TRUE(is_same(pow(x, 0.5), sqrt(x)));
  EXPECT_TRUE(is_same(-(-x), x));
  EXPECT_TRUE(is_same(0 - x, -x));
  EXPECT_TRUE(is_same(x + -y, x - y));
  EXPECT_TRUE(is_same(x - -y, x + y));
  EXPECT_TRUE(is_same(-(x - y), y - x));
  EXPECT_TRUE(is_same((-x) * (-y), x * y));
  EXPECT_TRUE(is_same(2 * (3 * x), 6 * x));
  EXPECT_TRUE(is_same(x + x, 2 * x));
  EXPECT_TRUE(is_same(3 * x - x, 2 * x));
  EXPECT_TRUE(is_same(2 * x / 2, x));
  EXPECT_TRUE(is_same(select(1, x, y), x));
  EXPECT_TRUE(is_same(select(x < y, y, y), y));
  EXPECT_TRUE(is_same(min(x, x), x));
}

TEST(Expression, TheSameFormulaIsTheSameNode) {
  const Formulas f;
  const Expression first = sin(f.x * f.y + 1);
  const int num_nodes = f.pool->num_nodes();
  EXPECT_TRUE(is_same(sin(1 + f.y * f.x), first));
  EXPECT_EQ(f.pool->num_nodes(), num_nodes);
}

TEST(Expression, FoldsConstants) {
  EXPECT_TRUE((Expression(2) * 3 + 1).is_constant(7));
  EXPECT_TRUE(select(Expression(1) < 2, 5, 6).is_constant(5));
}

TEST(Expression, RescalingNeverOverflowsOrUnderflowsWhatWasFine) {
  const Formulas f;
  EXPECT_EQ(f.value(1e200 * (1e200 * f.x), 1e-300), 1e200 * (1e200 * 1e-300));
  EXPECT_EQ(f.value(1e-200 * (1e-200 * f.x), 1e300), 1e-200 * (1e-200 * 1e300));
}

TEST(Expression, ReportsConstantsThatAreNotFinite) {
  const Formulas f;
  const Expression zero = 0, minus_one = -1, huge = 1e300;
  const auto message_of = [](const auto& build) -> std::string {
    try {
      build();
    } catch (const InputError& error) {
      return error.what();
    }
    return "nothing thrown";
  };
  EXPECT_EQ(message_of([&] { sqrt(minus_one); }), "expression sqrt(-1) is not finite");
  EXPECT_EQ(message_of([&] { huge* huge; }), "expression 1e+300 * 1e+300 is not finite");
  EXPECT_EQ(message_of([&] { f.x / zero; }), "divisor in an expression is 0, must not vanish");
  EXPECT_EQ(message_of([&] { 0 * log(zero); }), "expression log(0) is not finite");
  EXPECT_EQ(message_of([] { return Expression(std::numeric_limits<double>::infinity()); }),
            "constant in an expression is inf, must be finite");
}

TEST(Expression, RefusesToMixPools) {
  const Formulas one, other;
  EXPECT_THROW(one.x + other.x, InputError);
}

TEST(Expression, KeepsItsPoolAlive) {
  Expression formula;
  {
    const Formulas f;
    formula = f.x * f.x;
  }
  EXPECT_EQ(symbols_of(formula), std::vector<std::string>{"x"});
}

TEST(Expression, ListsItsSymbols) {
  const Formulas f;
  EXPECT_EQ(symbols_of(sin(f.z) + f.x * f.x), (std::vector<std::string>{"x", "z"}));
  EXPECT_TRUE(symbols_of(3).empty());
}

TEST(Expression, NanIsNotSwallowed) {
  const Formulas f;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Expression& formula : {min(f.x, f.y), max(f.x, f.y), abs(f.x + f.y)}) {
    EXPECT_TRUE(std::isnan(f.value(formula, nan, 1)));
    EXPECT_TRUE(std::isnan(f.value(formula, 1, nan)));
  }
}

}  // namespace
}  // namespace stiction
