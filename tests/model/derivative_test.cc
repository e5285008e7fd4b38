#include "stiction/model/derivative.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "tests/model/formulas.h"

namespace stiction {
namespace {

using testing::Formulas;

/// A formula in x and y, and the interval from which both are drawn.
struct Case {
  const char* text;
  double low, high;
};

class DerivativeRule : public ::testing::TestWithParam<Case> {
 protected:
  /// Central difference of `f` in x (y) with step 1e-5: truncation h²|f'''|/6 and rounding ε|f|/h
  /// are both near 1e-10 for f and f''' of order one; the formulas below reach order 1e3.
  void expect_derivative(const Expression& f, const Expression& derivative, bool in_x, double x,
                         double y) {
    constexpr double kStep = 1e-5;
    const double dx = in_x ? kStep : 0, dy = in_x ? 0 : kStep;
    const double difference =
        (formulas_.value(f, x + dx, y + dy) - formulas_.value(f, x - dx, y - dy)) / (2 * kStep);
    const double exact = formulas_.value(derivative, x, y);
    EXPECT_NEAR(exact, difference, 1e-6 * std::max(1.0, std::abs(difference)))
        << GetParam().text << " at " << x << ", " << y;
  }

  Formulas formulas_;
};

TEST_P(DerivativeRule, AgreesWithDifferencesOnceAndTwice) {
  const Expression f = formulas_.parse(GetParam().text);
  const Expression f_x = differentiate(f, formulas_.x), f_y = differentiate(f, formulas_.y);
  const Expression f_xx = differentiate(f_x, formulas_.x), f_xy = differentiate(f_x, formulas_.y);
  const Expression f_yy = differentiate(f_y, formulas_.y), f_yx = differentiate(f_y, formulas_.x);
  Random random(7);
  for (int i = 0; i < 20; ++i) {
    const double x = random.uniform(GetParam().low, GetParam().high);
    const double y = random.uniform(GetParam().low, GetParam().high);
    expect_derivative(f, f_x, true, x, y);
    expect_derivative(f, f_y, false, x, y);
    expect_derivative(f_x, f_xx, true, x, y);
    expect_derivative(f_x, f_xy, false, x, y);
    expect_derivative(f_y, f_yy, false, x, y);
    expect_derivative(f_y, f_yx, true, x, y);
  }
}

// The intervals keep a distance to poles and kinks, where differences say nothing.
INSTANTIATE_TEST_SUITE_P(
    All, DerivativeRule,
    ::testing::Values(
        Case{"x*y + 3*x - y", -2, 2}, Case{"x - x*y*2", -2, 2}, Case{"x/y", 0.5, 2},
        Case{"-x*y", -2, 2}, Case{"x^2 + y^3 + x^4*y", -2, 2}, Case{"x^-2 + y^-1", 0.5, 2},
        Case{"x^0.5 * y^2.7", 0.5, 2}, Case{"(x*y)^5", -1, 1}, Case{"x^y", 0.5, 2},
        Case{"2^x * 3^(x*y)", -1, 1}, Case{"sin(x*y)", -2, 2}, Case{"cos(x + 2*y)", -2, 2},
        Case{"tan(x - y/2)", -0.8, 0.8}, Case{"asin(x*y)", -0.7, 0.7}, Case{"acos(x*y)", -0.7, 0.7},
        Case{"atan(x*y)", -2, 2}, Case{"atan2(x, y)", 0.5, 2}, Case{"atan2(x*y, -y)", 0.5, 2},
        Case{"sinh(x*y)", -1, 1}, Case{"cosh(x - y)", -1, 1}, Case{"tanh(x*y + x)", -2, 2},
        Case{"exp(x*y)", -1, 1}, Case{"log(x*y)", 0.5, 2}, Case{"sqrt(x + y*y)", 0.5, 2},
        Case{"abs(x)*y", 0.5, 2}, Case{"abs(x)*y", -2, -0.5}, Case{"sign(x)*y", -2, -0.5},
        Case{"min(x*y, x + y + 4)", -2, 2}, Case{"max(x, -x*y - 9)", -2, 2},
        Case{"min(5 + x*x, y)", -2, 2}, Case{"hypot(x, 2*y)", 0.5, 2},
        Case{"if(x < 3, x*x*y, y)", -2, 2}, Case{"if(x > 3, x, y^3)", -2, 2},
        Case{"(x <= 9)*x*y", -2, 2}, Case{"exp(-x^2)*sin(3*y)/(1 + x^2*y^2)", -2, 2}));

TEST(Derivative, OfLinearFormulasIsConstant) {
  const Formulas f;
  EXPECT_TRUE(differentiate(3 * f.x - f.y / 4 + 1, f.x).is_constant(3));
  EXPECT_TRUE(differentiate(3 * f.x - f.y / 4 + 1, f.y).is_constant(-0.25));
  EXPECT_TRUE(differentiate(f.parse("(2*x + 6*y)/2 - x"), f.x).is_constant(0));
  EXPECT_TRUE(differentiate(f.parse("if(y < 1, 2*x, 2*x + y)"), f.x).is_constant(2));
}

TEST(Derivative, OfFormulasWithoutTheSymbolIsZero) {
  const Formulas f;
  EXPECT_TRUE(differentiate(sin(f.y) * exp(f.z), f.x).is_constant(0));
  EXPECT_TRUE(differentiate(5, f.x).is_constant(0));
}

TEST(Derivative, OfPowersIsRightAtZero) {
  const Formulas f;
  EXPECT_EQ(f.value(differentiate(pow(f.x, 2), f.x), 0), 0);
  EXPECT_EQ(f.value(differentiate(pow(f.x, 5), f.x), 0), 0);
  EXPECT_EQ(f.value(differentiate(pow(f.x, 1.5), f.x), 0), 0);
  EXPECT_EQ(f.value(differentiate(pow(f.x, f.y), f.x), 0, 2), 0);
  EXPECT_EQ(f.value(differentiate(pow(f.x, f.y), f.y), 0, 2), 0);
  EXPECT_EQ(f.value(differentiate(pow(f.x, 5), f.x), -2), 80);
  EXPECT_TRUE(std::isnan(f.value(differentiate(pow(f.x, f.y), f.y), -1, 2)));
}

TEST(Derivative, TakesOneSideAtKinks) {
  const Formulas f;
  EXPECT_EQ(f.value(differentiate(abs(f.x), f.x), 0), 0);
  EXPECT_TRUE(differentiate(sign(f.x), f.x).is_constant(0));
  EXPECT_EQ(f.value(differentiate(min(2 * f.x, f.y), f.x), 1, 2), 2);
  EXPECT_EQ(f.value(differentiate(max(2 * f.x, f.y), f.x), 1, 2), 2);
}

TEST(Derivative, OfTheBranchNotTakenDoesNotLeak) {
  const Formulas f;
  const Expression root = f.parse("if(x > 0, sqrt(x), 0)");
  EXPECT_EQ(f.value(differentiate(root, f.x), -1), 0);
  EXPECT_EQ(f.value(differentiate(root, f.x), 4), 0.25);
}

TEST(Derivative, SharesWhatFormulasShare) {
  const Formulas f;
  // Forty compositions: as a tree the derivative would double at every level.
  Expression nested = f.x;
  for (int i = 0; i < 40; ++i) nested = sin(nested) * cos(nested);
  const Expression twice = differentiate(differentiate(nested, f.x), f.x);
  const std::vector<Expression> inputs{f.x};
  EXPECT_LT(Tape({&twice, 1}, inputs).num_operations(), 40 * 40);
}

TEST(Derivative, NeedsASymbol) {
  const Formulas f;
  EXPECT_THROW(differentiate(f.x, f.x * f.x), InputError);
  EXPECT_THROW(differentiate(f.x, 2), InputError);
}

}  // namespace
}  // namespace stiction
