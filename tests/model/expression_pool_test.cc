#include "stiction/model/expression_pool.h"

#include <gtest/gtest.h>

namespace stiction {
namespace {

TEST(ExpressionPool, OperandsComeBeforeResults) {
  ExpressionPool pool;
  const NodeId x = pool.symbol("x");
  const NodeId sum = pool.make(Operation::kAdd, pool.make(Operation::kSin, x), x);
  const std::vector<NodeId> nodes = pool.collect_reachable({&sum, 1});
  ASSERT_EQ(nodes.size(), 3u);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const NodeId operand : pool.node(nodes[i]).operands) EXPECT_LT(operand, nodes[i]);
  EXPECT_EQ(nodes.back(), sum);
}

TEST(ExpressionPool, SymbolsAreKnownByName) {
  ExpressionPool pool;
  EXPECT_EQ(pool.symbol("x"), pool.symbol("x"));
  EXPECT_NE(pool.symbol("x"), pool.symbol("y"));
  EXPECT_EQ(pool.symbol_name(pool.symbol("y")), "y");
}

// A derivative may meet such constants, e.g. that of a factor that overflows: they must show up
// when evaluated instead of being folded into something harmless.
TEST(ExpressionPool, NonFiniteConstantsStayOperations) {
  ExpressionPool pool;
  const NodeId huge = pool.constant(1e300);
  const NodeId product = pool.make(Operation::kMultiply, huge, huge);
  EXPECT_FALSE(pool.is_constant(product));
  EXPECT_EQ(pool.node(product).operation, Operation::kMultiply);
}

TEST(ExpressionPool, ZeroHasNoSign) {
  ExpressionPool pool;
  EXPECT_EQ(pool.constant(-0.0), pool.constant(0.0));
}

}  // namespace
}  // namespace stiction
