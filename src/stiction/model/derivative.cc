#include "stiction/model/derivative.h"

#include "stiction/base/check.h"
#include "stiction/base/error.h"

namespace stiction {
namespace {

/// Differentiates the nodes of one pool with respect to one symbol, operands before results.
class Differentiation {
 public:
  Differentiation(ExpressionPool& pool, NodeId symbol)
      : pool_(pool),
        symbol_(symbol),
        zero_(pool.constant(0)),
        derivatives_(static_cast<std::size_t>(pool.num_nodes()), zero_) {}

  void run(std::span<const NodeId> roots) {
    for (const NodeId id : pool_.collect_reachable(roots))
      derivatives_[static_cast<std::size_t>(id)] = differentiate_node(id);
  }
  NodeId derivative(NodeId id) const { return derivatives_[static_cast<std::size_t>(id)]; }

 private:
  NodeId constant(double value) { return pool_.constant(value); }
  NodeId make(Operation operation, NodeId a, NodeId b = NodeId::kNone) {
    return pool_.make(operation, a, b);
  }
  NodeId add(NodeId a, NodeId b) { return make(Operation::kAdd, a, b); }
  NodeId subtract(NodeId a, NodeId b) { return make(Operation::kSubtract, a, b); }
  NodeId multiply(NodeId a, NodeId b) { return make(Operation::kMultiply, a, b); }
  NodeId divide(NodeId a, NodeId b) { return make(Operation::kDivide, a, b); }
  NodeId square(NodeId a) { return multiply(a, a); }

  NodeId differentiate_node(NodeId f);
  NodeId differentiate_unary(NodeId f, NodeId a, NodeId da);
  NodeId differentiate_binary(NodeId f, NodeId a, NodeId b);
  NodeId differentiate_power(NodeId f, NodeId a, NodeId b);
  NodeId slope(NodeId f, NodeId a);

  ExpressionPool& pool_;
  NodeId symbol_;
  NodeId zero_;
  std::vector<NodeId> derivatives_;  // by node; 0 where not yet known
};

NodeId Differentiation::differentiate_node(NodeId f) {
  if (f == symbol_) return constant(1);
  const ExpressionNode node = pool_.node(f);  // a copy: making nodes moves them
  const auto [a, b, c] = node.operands;
  bool is_variable = false;
  for (const NodeId operand : node.operands)
    is_variable = is_variable || (operand != NodeId::kNone && derivative(operand) != zero_);
  if (!is_variable) return zero_;
  if (node.operation == Operation::kSelect)
    return pool_.make(Operation::kSelect, a, derivative(b), derivative(c));
  if (b == NodeId::kNone) return differentiate_unary(f, a, derivative(a));
  return differentiate_binary(f, a, b);
}

NodeId Differentiation::differentiate_unary(NodeId f, NodeId a, NodeId da) {
  switch (pool_.node(f).operation) {
    case Operation::kNegate:
      return make(Operation::kNegate, da);
    case Operation::kAsin:
      return divide(da, make(Operation::kSqrt, subtract(constant(1), square(a))));
    case Operation::kAcos:
      return make(Operation::kNegate,
                  divide(da, make(Operation::kSqrt, subtract(constant(1), square(a)))));
    case Operation::kAtan:
      return divide(da, add(constant(1), square(a)));
    case Operation::kLog:
      return divide(da, a);
    case Operation::kSqrt:
      return divide(multiply(constant(0.5), da), f);
    default:
      return multiply(slope(f, a), da);
  }
}

/// f'(a) of the functions whose derivative is no quotient.
NodeId Differentiation::slope(NodeId f, NodeId a) {
  switch (pool_.node(f).operation) {
    case Operation::kSin:
      return make(Operation::kCos, a);
    case Operation::kCos:
      return make(Operation::kNegate, make(Operation::kSin, a));
    case Operation::kTan:
      return add(constant(1), square(f));
    case Operation::kSinh:
      return make(Operation::kCosh, a);
    case Operation::kCosh:
      return make(Operation::kSinh, a);
    case Operation::kTanh:
      return subtract(constant(1), square(f));
    case Operation::kExp:
      return f;
    case Operation::kAbs:
      return make(Operation::kSign, a);
    case Operation::kSign:
      return zero_;
    default:
      ST_DEMAND(!"an operation without a derivative");
      return zero_;
  }
}

NodeId Differentiation::differentiate_binary(NodeId f, NodeId a, NodeId b) {
  const NodeId da = derivative(a), db = derivative(b);
  switch (pool_.node(f).operation) {
    case Operation::kAdd:
      return add(da, db);
    case Operation::kSubtract:
      return subtract(da, db);
    case Operation::kMultiply:
      return add(multiply(da, b), multiply(a, db));
    case Operation::kDivide:
      return divide(subtract(da, multiply(f, db)), b);
    case Operation::kPower:
      return differentiate_power(f, a, b);
    case Operation::kAtan2:
      return divide(subtract(multiply(b, da), multiply(a, db)), add(square(a), square(b)));
    case Operation::kHypot:
      return divide(add(multiply(a, da), multiply(b, db)), f);
    case Operation::kMin:
      return pool_.make(Operation::kSelect, make(Operation::kLessEqual, a, b), da, db);
    case Operation::kMax:
      return pool_.make(Operation::kSelect, make(Operation::kLessEqual, b, a), da, db);
    default:
      return zero_;  // a comparison
  }
}

/// (aᵇ)' = b aᵇ⁻¹ a' + aᵇ log(a) b'. The second term appears only where the exponent varies, and is
/// 0 at a = 0, its limit for b > 0; a NaN in `a` still comes through.
NodeId Differentiation::differentiate_power(NodeId f, NodeId a, NodeId b) {
  const NodeId da = derivative(a), db = derivative(b);
  NodeId result = zero_;
  if (da != zero_) {
    const NodeId reduced = make(Operation::kPower, a, subtract(b, constant(1)));
    result = multiply(multiply(b, reduced), da);
  }
  if (db == zero_) return result;
  const NodeId is_zero = make(Operation::kLessEqual, make(Operation::kAbs, a), zero_);
  const NodeId growth = multiply(multiply(f, make(Operation::kLog, a)), db);
  return add(result, pool_.make(Operation::kSelect, is_zero, zero_, growth));
}

}  // namespace

std::vector<Expression> differentiate(std::span<const Expression> functions,
                                      const Expression& symbol) {
  if (!symbol.is_symbol())
    throw InputError("argument symbol of differentiate is a formula, must be a symbol");
  ExpressionPool& pool = *symbol.pool();
  std::vector<NodeId> roots;
  for (const Expression& function : functions) roots.push_back(function.node_in(pool));
  Differentiation differentiation(pool, symbol.node_in(pool));
  differentiation.run(roots);
  std::vector<Expression> derivatives;
  derivatives.reserve(roots.size());
  for (const NodeId root : roots)
    derivatives.emplace_back(symbol.pool(), differentiation.derivative(root));
  return derivatives;
}

Expression differentiate(const Expression& function, const Expression& symbol) {
  return differentiate({&function, 1}, symbol).front();
}

std::vector<Expression> compute_gradient(const Expression& function,
                                         std::span<const Expression> symbols) {
  std::vector<Expression> gradient;
  for (const Expression& symbol : symbols) gradient.push_back(differentiate(function, symbol));
  return gradient;
}

}  // namespace stiction
