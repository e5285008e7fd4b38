#include "stiction/model/tape.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "stiction/model/derivative.h"
#include "tests/model/formulas.h"

namespace stiction {
namespace {

using testing::Formulas;

/// The value of a node by recursion over its operands, written apart from apply_operation.
class DirectEvaluation {
 public:
  DirectEvaluation(const ExpressionPool& pool, std::map<std::string, double> values)
      : pool_(pool), values_(std::move(values)) {}

  double value(NodeId id) const {
    const ExpressionNode& node = pool_.node(id);
    if (node.operation == Operation::kConstant) return node.value;
    if (node.operation == Operation::kSymbol) return values_.at(pool_.symbol_name(id));
    const double a = value(node.operands[0]);
    if (node.operation == Operation::kSelect) return value(node.operands[a == 0 ? 2 : 1]);
    if (node.operands[1] == NodeId::kNone) return unary(node.operation, a);
    return binary(node.operation, a, value(node.operands[1]));
  }

 private:
  static double unary(Operation operation, double a) {
    switch (operation) {
      case Operation::kNegate:
        return -a;
      case Operation::kSin:
        return std::sin(a);
      case Operation::kCos:
        return std::cos(a);
      case Operation::kTan:
        return std::tan(a);
      case Operation::kAsin:
        return std::asin(a);
      case Operation::kAcos:
        return std::acos(a);
      case Operation::kAtan:
        return std::atan(a);
      case Operation::kSinh:
        return std::sinh(a);
      case Operation::kCosh:
        return std::cosh(a);
      case Operation::kTanh:
        return std::tanh(a);
      case Operation::kExp:
        return std::exp(a);
      case Operation::kLog:
        return std::log(a);
      case Operation::kSqrt:
        return std::sqrt(a);
      case Operation::kAbs:
        return std::fabs(a);
      case Operation::kSign:
        return a == 0 || std::isnan(a) ? a : std::copysign(1, a);
      default:
        throw std::logic_error("no unary operation");
    }
  }

  static double binary(Operation operation, double a, double b) {
    switch (operation) {
      case Operation::kAdd:
        return a + b;
      case Operation::kSubtract:
        return a - b;
      case Operation::kMultiply:
        return a * b;
      case Operation::kDivide:
        return a / b;
      case Operation::kPower:
        return std::pow(a, b);
      case Operation::kAtan2:
        return std::atan2(a, b);
      case Operation::kHypot:
        return std::hypot(a, b);
      case Operation::kMin:
        return std::isnan(a + b) && std::isnan(a) ? a : a < b ? a : b;
      case Operation::kMax:
        return std::isnan(a + b) && std::isnan(a) ? a : a > b ? a : b;
      case Operation::kLess:
        return a < b;
      case Operation::kLessEqual:
        return a <= b;
      default:
        throw std::logic_error("no binary operation");
    }
  }

  const ExpressionPool& pool_;
  std::map<std::string, double> values_;
};

/// A random formula text of the given depth, so that the parser is exercised as well. The constants
/// cannot combine to something that is not finite.
std::string random_text(Random& random, int depth) {
  if (depth == 0) {
    const char* const leaves[] = {"x", "y", "z", "t", "0.5", "2", "3"};
    return leaves[random.integer(0, 6)];
  }
  // Drawn one after the other: the operands of + are evaluated in any order.
  const std::string a = random_text(random, depth - 1), b = random_text(random, depth - 1);
  const std::string both = "(" + a + ", " + b + ")";
  if (random.chance(0.5)) {
    const char* const signs[] = {"+", "-", "*", "/ (4 + sin", "<", "<=", ">", ">="};
    const int sign = random.integer(0, 7);
    return "(" + a + signs[sign] + "(" + b + (sign == 3 ? ")))" : "))");
  }
  const char* const wrappers[] = {"sin",  "cos", "tan",  "atan", "sinh", "cosh",
                                  "tanh", "abs", "sign", "-",    "1+-"};
  if (random.chance(0.5)) return wrappers[random.integer(0, 10)] + ("(" + a + ")");
  switch (random.integer(0, 7)) {
    case 0:
      return "min" + both;
    case 1:
      return "max" + both;
    case 2:
      return "hypot" + both;
    case 3:
      return "atan2" + both;
    case 4:
      return "if(" + a + "," + b + ", x*y)";
    case 5:
      return "sqrt(abs(" + a + "))";
    case 6:
      return "log(1.5 + abs(" + a + "))";
    default:
      return "(1 + (" + a + ")^2)^(0.3*sin(" + b + "))";
  }
}

TEST(Tape, GivesTheBitsOfDirectEvaluation) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Formulas f;
    const std::vector<Expression> outputs{f.parse(random_text(random, 5)),
                                          f.parse(random_text(random, 4))};
    const std::vector<Expression> inputs{f.x, f.y, f.z, f.t};
    const Tape tape(outputs, inputs);
    double values[4], results[2];
    for (double& value : values) value = random.uniform(-2, 2);
    tape.evaluate(values, results);
    const DirectEvaluation direct(
        *f.pool, {{"x", values[0]}, {"y", values[1]}, {"z", values[2]}, {"t", values[3]}});
    for (int i = 0; i < 2; ++i) {
      const double expected = direct.value(outputs[i].node_in(*f.pool));
      if (!std::isnan(expected))
        EXPECT_EQ(std::bit_cast<std::uint64_t>(results[i]), std::bit_cast<std::uint64_t>(expected));
      else
        EXPECT_TRUE(std::isnan(results[i]));
    }
  }
}

TEST(Tape, EvaluatesSharedPartsOnce) {
  const Formulas f;
  const Expression shared = sin(f.x * f.y);
  const std::vector<Expression> outputs{shared, shared + 1, shared * shared, shared};
  const std::vector<Expression> inputs{f.x, f.y};
  EXPECT_EQ(Tape(outputs, inputs).num_operations(), 4);
}

TEST(Tape, ReusesRegisters) {
  const Formulas f;
  Expression chain = f.x;
  for (int i = 0; i < 5000; ++i) chain = sin(chain) + f.y;
  const Tape tape({&chain, 1}, std::vector<Expression>{f.x, f.y});
  EXPECT_EQ(tape.num_operations(), 10000);
  EXPECT_LE(tape.num_registers(), 4);
}

TEST(Tape, WorksBeyondTheStackRegisters) {
  const Formulas f;
  std::vector<Expression> outputs;
  for (int i = 0; i < 3000; ++i) outputs.push_back(f.x * (i + 0.5));
  const Tape tape(outputs, {&f.x, 1});
  EXPECT_GT(tape.num_registers(), Tape::kStackRegisters);
  std::vector<double> results(outputs.size());
  const double x = 2;
  tape.evaluate({&x, 1}, results.data());
  for (int i = 0; i < 3000; ++i) EXPECT_EQ(results[i], 2 * (i + 0.5));
}

TEST(Tape, ConstantOutputsNeedNoOperations) {
  const Formulas f;
  const std::vector<Expression> outputs{1, 2.5, f.x - f.x};
  const Tape tape(outputs, {&f.x, 1});
  EXPECT_TRUE(tape.is_constant());
  double results[3];
  const double x = 7;
  tape.evaluate({&x, 1}, results);
  EXPECT_EQ(results[0], 1);
  EXPECT_EQ(results[1], 2.5);
  EXPECT_EQ(results[2], 0);
}

TEST(Tape, PassesInputsThrough) {
  const Formulas f;
  const std::vector<Expression> outputs{f.y, 3, f.x, f.y};
  const std::vector<Expression> inputs{f.x, f.y};
  const double values[] = {1, 2};
  double results[4];
  Tape(outputs, inputs).evaluate(values, results);
  EXPECT_EQ(results[0], 2);
  EXPECT_EQ(results[1], 3);
  EXPECT_EQ(results[2], 1);
  EXPECT_EQ(results[3], 2);
}

TEST(Tape, FillsStridedBlocks) {
  const Formulas f;
  const std::vector<Expression> outputs{1, f.x, 2 * f.x, 4, -f.x, 9};
  double matrix[6] = {0, 0, 77, 0, 0, 77}, vector[2];
  const double x = 5;
  const Tape::Block blocks[] = {{matrix, 2, 2, 3}, {vector, 1, 2, 2}};
  Tape(outputs, {&f.x, 1}).evaluate({&x, 1}, blocks);
  const double expected[6] = {1, 5, 77, 10, 4, 77};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(matrix[i], expected[i]);
  EXPECT_EQ(vector[0], -5);
  EXPECT_EQ(vector[1], 9);
}

TEST(Tape, SelectDoesNotMixInTheOtherSide) {
  const Formulas f;
  const Expression root = f.parse("if(x >= 0, sqrt(x), 7)");
  EXPECT_EQ(f.value(root, -1), 7);
  EXPECT_EQ(f.value(root, 9), 3);
}

TEST(Tape, NamesASymbolThatIsNoInput) {
  const Formulas f;
  try {
    Tape({&f.y, 1}, {&f.x, 1});
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "symbol 'y' is not among the inputs of a tape");
  }
}

// As a tree this would be a hundred thousand levels deep.
TEST(Tape, LongChainsNeedNoStack) {
  const Formulas f;
  std::string text = "x";
  for (int i = 1; i < 100000; ++i) text += i % 2 == 0 ? "+x*y" : "+sin(y)";
  const Expression chain = f.parse(text);
  EXPECT_NEAR(f.value(chain, 1, 0.5), 1 + 50000 * std::sin(0.5) + 49999 * 0.5, 1e-6);
  EXPECT_NEAR(f.value(differentiate(chain, f.y), 1, 0.5), 50000 * std::cos(0.5) + 49999, 1e-6);
  std::string ones = "1";
  for (int i = 1; i < 100000; ++i) ones += "+1";
  EXPECT_TRUE(f.parse(ones).is_constant(100000));
}

}  // namespace
}  // namespace stiction
