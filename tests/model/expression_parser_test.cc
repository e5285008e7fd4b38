#include "stiction/model/expression_parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/model/formulas.h"

namespace stiction {
namespace {

using testing::Formulas;

double value_of(const std::string& text, double x = 0, double y = 0) {
  const Formulas f;
  return f.value(f.parse(text), x, y);
}

TEST(ExpressionParser, FollowsThePrecedenceOfMathematics) {
  EXPECT_EQ(value_of("-x^2", 3), -9);
  EXPECT_EQ(value_of("2^3^2"), 512);
  EXPECT_EQ(value_of("2^-1"), 0.5);
  EXPECT_EQ(value_of("2^-x^2", 2), 1.0 / 16);
  EXPECT_EQ(value_of("(-x)^2", 3), 9);
  EXPECT_EQ(value_of("x - y - 1", 5, 2), 2);
  EXPECT_EQ(value_of("x / y / 2", 8, 2), 2);
  EXPECT_EQ(value_of("1 + 2 * x ^ 2", 3), 19);
  EXPECT_EQ(value_of("2*-x", 3), -6);
  EXPECT_EQ(value_of("x--y", 3, 2), 5);
  EXPECT_EQ(value_of("+x", 3), 3);
  EXPECT_EQ(value_of("x + 1 < y + 2", 1, 1), 1);
  EXPECT_EQ(value_of("if(x > y, 10, 20) + (x <= y)", 1, 1), 21);
  EXPECT_EQ(value_of("if(x >= y, 10, 20)", 1, 1), 10);
}

TEST(ExpressionParser, ReadsNumbers) {
  EXPECT_EQ(value_of("1e-4"), 1e-4);
  EXPECT_EQ(value_of(".5"), 0.5);
  EXPECT_EQ(value_of("5."), 5);
  EXPECT_EQ(value_of("5.e1"), 50);
  EXPECT_EQ(value_of("1.25E+2"), 125);
  EXPECT_EQ(value_of("\t12 "), 12);
}

TEST(ExpressionParser, CallsFunctions) {
  EXPECT_DOUBLE_EQ(value_of("atan2(x, y)", 1, -1), 0.75 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(value_of("sin(pi/6)"), std::sin(std::numbers::pi / 6));
  EXPECT_DOUBLE_EQ(value_of("hypot(3, x)", 4), 5);
  EXPECT_DOUBLE_EQ(value_of("max(min(x, 2), 1)", 9), 2);
}

TEST(ExpressionParser, SubstitutesParametersAndReadsVelocities) {
  const auto pool = std::make_shared<ExpressionPool>();
  const std::vector<std::string> coordinates{"v", "φ"};
  SymbolTable table = make_symbol_table(pool, coordinates);
  table.add("m", 2);
  const auto parse = [&](const char* text) {
    return *parse_expression(text, table, pool).expression;
  };
  EXPECT_TRUE(is_same(parse("v.v*m"), 2 * Expression::symbol(pool, "v.v")));
  EXPECT_TRUE(is_same(parse("v.φ + v"), *table.find("v.φ") + *table.find("v")));
  EXPECT_TRUE(parse("m*m + 1").is_constant(5));
}

TEST(ExpressionParser, AllowsDeepButNotEndlessNesting) {
  const Formulas f;
  const auto nested = [](int n) { return std::string(n, '(') + "x" + std::string(n, ')'); };
  EXPECT_EQ(f.value(f.parse(nested(kMaxNesting - 1)), 3), 3);
  for (const std::string& hostile :
       {nested(100000), std::string(100000, '-') + "x", std::string(100000, '(')}) {
    const ParseResult result = parse_expression(hostile, f.symbols, f.pool);
    ASSERT_TRUE(result.error);
    EXPECT_EQ(result.error->message, "the expression is nested deeper than 200 levels");
    EXPECT_EQ(result.error->column, 201);
  }
  std::string tower = "x";
  for (int i = 0; i < 100000; ++i) tower += "^x";
  EXPECT_TRUE(parse_expression(tower, f.symbols, f.pool).error);
}

struct Fault {
  const char* text;
  int column;
  const char* message;
  const char* help;
};

class ExpressionParserFault : public ::testing::TestWithParam<Fault> {};

TEST_P(ExpressionParserFault, IsReportedWithItsPlaceAndTheWayOut) {
  const Formulas f;
  const ParseResult result = parse_expression(GetParam().text, f.symbols, f.pool);
  EXPECT_FALSE(result.expression);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->column, GetParam().column);
  EXPECT_EQ(result.error->message, GetParam().message);
  EXPECT_EQ(result.error->help, GetParam().help);
}

constexpr const char* kOperandExpected = "expected a number, a name or '(', found ";

INSTANTIATE_TEST_SUITE_P(
    All, ExpressionParserFault,
    ::testing::Values(
        Fault{"", 1, "the expression is empty", "write 0 for nothing"},
        Fault{"  \t", 1, "the expression is empty", "write 0 for nothing"},
        Fault{"x + ", 5, "expected a number, a name or '(', found the end", ""},
        Fault{"x + * y", 5, "expected a number, a name or '(', found '*'", ""},
        Fault{"x ** y", 4, "expected a number, a name or '(', found '*'", "write ^ for powers"},
        Fault{"x # y", 3, "expected an operator, found '#'", ""},
        Fault{"x\x07", 2, "expected an operator, found character 0x07", ""},
        Fault{"2x", 2, "expected an operator, found 'x'", "write * between factors"},
        Fault{"x y", 3, "expected an operator, found 'y'", "write * between factors"},
        Fault{"1.2.3", 4, "expected an operator, found '.3'", "write * between factors"},
        Fault{"(x)(y)", 4, "expected an operator, found '('", "write * between factors"},
        Fault{"x = 0", 3, "expected an operator, found '='",
              "an equation is written without '= 0', its left side only"},
        Fault{"0 < x < 1", 7, "comparisons cannot be chained", "use parentheses, or min and max"},
        Fault{"xx + 1", 1, "unknown symbol 'xx'", "did you mean 'x'? known: x, y, z, t, pi"},
        Fault{"1 + gravity", 5, "unknown symbol 'gravity'", "known: x, y, z, t, pi"},
        Fault{"φ + x", 1, "unknown symbol 'φ'", "known: x, y, z, t, pi"},
        Fault{"pi*σσ + q", 4, "unknown symbol 'σσ'", "known: x, y, z, t, pi"},
        Fault{"x −y", 3, "expected an operator, found '−y'", "write - for minus"},
        Fault{"x²", 1, "unknown symbol 'x²'", "write ^2 for a square"},
        Fault{"v.x", 1, "unknown symbol 'v.x'", "velocities cannot be used here"},
        Fault{
            "sine(x)", 1, "unknown function 'sine'",
            "did you mean 'sin'? known: sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, "
            "exp, log, sqrt, abs, sign, min, max, hypot, if"},
        Fault{"x(2)", 1, "'x' is not a function", "write * between factors"},
        Fault{"1 + sin", 5, "'sin' is a function, expected its arguments", "write sin(…)"},
        Fault{"1 + sin(x, y)", 5, "sin takes 1 argument, found 2", ""},
        Fault{"atan2(x)", 1, "atan2 takes 2 arguments, found 1", ""},
        Fault{"cos()", 1, "cos takes 1 argument, found 0", ""},
        Fault{"2*(x + 1", 3, "'(' is not closed", "expected ')' before the end"},
        Fault{"min(x, 1", 4, "'(' is not closed", "expected ',' or ')' before the end"},
        Fault{"x + 1) * 2", 6, "')' has no matching '('", ""},
        Fault{"(1,5)*x", 3, "expected an operator or ')', found ','",
              "a comma separates arguments of a function; decimals are written with a point"},
        Fault{"2 + 1e999", 5, "number 1e999 is out of range",
              "numbers have magnitudes from 2.3e-308 to 1.7e308"},
        Fault{"1e-999", 1, "number 1e-999 is out of range",
              "numbers have magnitudes from 2.3e-308 to 1.7e308"},
        Fault{"x + 1/0", 6, "division by zero", ""}, Fault{"x/(1-1)", 2, "division by zero", ""},
        Fault{"0*sqrt(-1)", 3, "sqrt(-1) is not finite", ""},
        Fault{"1e200*1e200*x", 6, "1e+200 * 1e+200 is not finite", ""},
        Fault{"0^-1", 2, "0 ^ -1 is not finite", ""},
        Fault{"φ_φ", 1, "unknown symbol 'φ_φ'", "known: x, y, z, t, pi"}));

TEST(ExpressionParser, ColumnsCountCharactersNotBytes) {
  const auto pool = std::make_shared<ExpressionPool>();
  const std::vector<std::string> coordinates{"φ"};
  const SymbolTable table = make_symbol_table(pool, coordinates);
  const ParseResult result = parse_expression("φ*φ + )", table, pool);
  ASSERT_TRUE(result.error);
  EXPECT_EQ(result.error->column, 7);
  EXPECT_EQ(result.error->message, std::string(kOperandExpected) + "')'");
}

}  // namespace
}  // namespace stiction
