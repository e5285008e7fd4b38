#include "stiction/model/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "stiction/base/check.h"
#include "stiction/base/error.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

using Operands = std::initializer_list<const Expression*>;

Expression fold(Operation operation, Operands operands) {
  std::array<double, 3> x{};
  std::transform(operands.begin(), operands.end(), x.begin(),
                 [](const Expression* operand) { return operand->constant_value(); });
  const double value = apply_operation(operation, x[0], x[1], x[2]);
  if (!std::isfinite(value))
    throw InputError(fmt::format("expression {} is not finite", operation_text(operation, x)));
  return value;
}

Expression combine(Operation operation, Operands operands) {
  const auto holder = std::find_if(operands.begin(), operands.end(),
                                   [](const Expression* x) { return !x->is_constant(); });
  if (holder == operands.end()) return fold(operation, operands);
  const auto& pool = (*holder)->pool();
  std::array<NodeId, 3> ids{NodeId::kNone, NodeId::kNone, NodeId::kNone};
  std::transform(operands.begin(), operands.end(), ids.begin(),
                 [&](const Expression* operand) { return operand->node_in(*pool); });
  return {pool, pool->make(operation, ids[0], ids[1], ids[2])};
}

Expression combine(Operation operation, const Expression& a) { return combine(operation, {&a}); }
Expression combine(Operation operation, const Expression& a, const Expression& b) {
  return combine(operation, {&a, &b});
}

}  // namespace

Expression::Expression(double value) : value_(value) {
  if (!std::isfinite(value))
    throw InputError(
        fmt::format("constant in an expression is {}, must be finite", to_text(value)));
}

Expression::Expression(std::shared_ptr<ExpressionPool> pool, NodeId id) : pool_(std::move(pool)) {
  ST_DEMAND(pool_ != nullptr && id != NodeId::kNone);
  if (pool_->is_constant(id)) {
    value_ = pool_->node(id).value;
    pool_ = nullptr;
  } else {
    id_ = id;
  }
}

Expression Expression::symbol(const std::shared_ptr<ExpressionPool>& pool,
                              const std::string& name) {
  return {pool, pool->symbol(name)};
}

bool Expression::is_symbol() const {
  return pool_ != nullptr && pool_->node(id_).operation == Operation::kSymbol;
}

double Expression::constant_value() const {
  ST_DEMAND(is_constant());
  return value_;
}

const std::string& Expression::symbol_name() const {
  ST_DEMAND(is_symbol());
  return pool_->symbol_name(id_);
}

NodeId Expression::node_in(ExpressionPool& pool) const {
  if (is_constant()) return pool.constant(value_);
  if (pool_.get() != &pool)
    throw InputError("expression uses symbols of another pool, must stay within one");
  return id_;
}

Expression operator-(const Expression& a) { return combine(Operation::kNegate, a); }
Expression operator+(const Expression& a, const Expression& b) {
  return combine(Operation::kAdd, a, b);
}
Expression operator-(const Expression& a, const Expression& b) {
  return combine(Operation::kSubtract, a, b);
}
Expression operator*(const Expression& a, const Expression& b) {
  return combine(Operation::kMultiply, a, b);
}
Expression operator/(const Expression& a, const Expression& b) {
  if (b.is_constant(0)) throw InputError("divisor in an expression is 0, must not vanish");
  return combine(Operation::kDivide, a, b);
}
Expression pow(const Expression& base, const Expression& exponent) {
  return combine(Operation::kPower, base, exponent);
}
Expression sin(const Expression& x) { return combine(Operation::kSin, x); }
Expression cos(const Expression& x) { return combine(Operation::kCos, x); }
Expression tan(const Expression& x) { return combine(Operation::kTan, x); }
Expression asin(const Expression& x) { return combine(Operation::kAsin, x); }
Expression acos(const Expression& x) { return combine(Operation::kAcos, x); }
Expression atan(const Expression& x) { return combine(Operation::kAtan, x); }
Expression atan2(const Expression& y, const Expression& x) {
  return combine(Operation::kAtan2, y, x);
}
Expression sinh(const Expression& x) { return combine(Operation::kSinh, x); }
Expression cosh(const Expression& x) { return combine(Operation::kCosh, x); }
Expression tanh(const Expression& x) { return combine(Operation::kTanh, x); }
Expression exp(const Expression& x) { return combine(Operation::kExp, x); }
Expression log(const Expression& x) { return combine(Operation::kLog, x); }
Expression sqrt(const Expression& x) { return combine(Operation::kSqrt, x); }
Expression abs(const Expression& x) { return combine(Operation::kAbs, x); }
Expression sign(const Expression& x) { return combine(Operation::kSign, x); }
Expression min(const Expression& a, const Expression& b) { return combine(Operation::kMin, a, b); }
Expression max(const Expression& a, const Expression& b) { return combine(Operation::kMax, a, b); }
Expression hypot(const Expression& a, const Expression& b) {
  return combine(Operation::kHypot, a, b);
}
Expression operator<(const Expression& a, const Expression& b) {
  return combine(Operation::kLess, a, b);
}
Expression operator<=(const Expression& a, const Expression& b) {
  return combine(Operation::kLessEqual, a, b);
}
Expression select(const Expression& condition, const Expression& a, const Expression& b) {
  return combine(Operation::kSelect, {&condition, &a, &b});
}

bool is_same(const Expression& a, const Expression& b) {
  return a.pool_ == b.pool_ && a.id_ == b.id_ && a.value_ == b.value_;
}

std::vector<std::string> symbols_of(const Expression& expression) {
  if (expression.is_constant()) return {};
  ExpressionPool& pool = *expression.pool();
  const NodeId root = expression.node_in(pool);
  std::vector<std::string> names;
  for (const NodeId id : pool.collect_reachable({&root, 1}))
    if (pool.node(id).operation == Operation::kSymbol) names.push_back(pool.symbol_name(id));
  return names;
}

}  // namespace stiction
