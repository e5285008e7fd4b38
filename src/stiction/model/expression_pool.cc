#include "stiction/model/expression_pool.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "stiction/base/check.h"

namespace stiction {

std::size_t ExpressionPool::NodeHash::operator()(const ExpressionNode& node) const {
  std::uint64_t hash = static_cast<std::uint64_t>(node.operation);
  const auto mix = [&hash](std::uint64_t part) {
    hash = (hash ^ part) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32;
  };
  for (const NodeId operand : node.operands) mix(static_cast<std::uint32_t>(operand));
  mix(std::bit_cast<std::uint64_t>(node.value));
  mix(static_cast<std::uint32_t>(node.symbol));
  return hash;
}

NodeId ExpressionPool::intern(const ExpressionNode& node) {
  const auto [found, is_new] = ids_.try_emplace(node, static_cast<NodeId>(num_nodes()));
  if (is_new) nodes_.push_back(node);
  return found->second;
}

NodeId ExpressionPool::constant(double value) {
  ST_DEMAND(std::isfinite(value));
  // −0 and 0 are one constant: they compare equal, so they must also hash alike.
  return intern(ExpressionNode{.value = value == 0 ? 0 : value});
}

NodeId ExpressionPool::symbol(const std::string& name) {
  if (const auto found = symbols_.find(name); found != symbols_.end()) return found->second;
  const NodeId id = intern(ExpressionNode{.operation = Operation::kSymbol,
                                          .symbol = static_cast<int>(symbol_names_.size())});
  symbol_names_.push_back(name);
  symbols_.emplace(name, id);
  return id;
}

const std::string& ExpressionPool::symbol_name(NodeId id) const {
  ST_DEMAND(node(id).operation == Operation::kSymbol);
  return symbol_names_[static_cast<std::size_t>(node(id).symbol)];
}

std::vector<NodeId> ExpressionPool::collect_reachable(std::span<const NodeId> roots) const {
  std::vector<bool> is_seen(nodes_.size(), false);
  std::vector<NodeId> reachable;
  const auto visit = [&](NodeId id) {
    if (id == NodeId::kNone || is_seen[static_cast<std::size_t>(id)]) return;
    is_seen[static_cast<std::size_t>(id)] = true;
    reachable.push_back(id);
  };
  for (const NodeId root : roots) visit(root);
  for (std::size_t i = 0; i < reachable.size(); ++i)
    for (const NodeId operand : node(reachable[i]).operands) visit(operand);
  std::sort(reachable.begin(), reachable.end());
  return reachable;
}

bool ExpressionPool::has_constant_operands(const std::array<NodeId, 3>& operands) const {
  return std::all_of(operands.begin(), operands.end(),
                     [this](NodeId id) { return id == NodeId::kNone || is_constant(id); });
}

NodeId ExpressionPool::fold(Operation operation, const std::array<NodeId, 3>& operands) {
  std::array<double, 3> x{};
  for (int i = 0; i < 3; ++i)
    if (operands[i] != NodeId::kNone) x[i] = node(operands[i]).value;
  const double value = apply_operation(operation, x[0], x[1], x[2]);
  if (std::isfinite(value)) return constant(value);
  return intern(operation, operands[0], operands[1], operands[2]);
}

NodeId ExpressionPool::make(Operation operation, NodeId a, NodeId b, NodeId c) {
  if (has_constant_operands({a, b, c})) return fold(operation, {a, b, c});
  switch (operation) {
    case Operation::kNegate:
      return negate(a);
    case Operation::kAdd:
      return add(a, b);
    case Operation::kSubtract:
      return subtract(a, b);
    case Operation::kMultiply:
      return multiply(a, b);
    case Operation::kDivide:
      return divide(a, b);
    case Operation::kPower:
      return power(a, b);
    case Operation::kSelect:
      return select(a, b, c);
    case Operation::kLess:
    case Operation::kLessEqual:
      return compare(operation, a, b);
    case Operation::kMin:
    case Operation::kMax:
      return a == b ? a : intern(operation, a, b);
    default:
      return intern(operation, a, b, c);
  }
}

ExpressionPool::Multiple ExpressionPool::as_multiple(NodeId id) const {
  const ExpressionNode& n = node(id);
  if (n.operation == Operation::kNegate) return {-1, n.operands[0]};
  if (n.operation == Operation::kMultiply && is_constant(n.operands[0]))
    return {node(n.operands[0]).value, n.operands[1]};
  return {1, id};
}

/// c·x ± d·x = (c ± d)·x; with it x + x is 2·x and x − x is 0.
std::optional<NodeId> ExpressionPool::try_collect(NodeId a, NodeId b, double sign_b) {
  const Multiple left = as_multiple(a), right = as_multiple(b);
  const double factor = left.factor + sign_b * right.factor;
  if (left.base != right.base || !std::isfinite(factor)) return std::nullopt;
  return scale(factor, left.base);
}

NodeId ExpressionPool::negate(NodeId a) {
  const ExpressionNode n = node(a);
  if (n.operation == Operation::kNegate) return n.operands[0];
  if (n.operation == Operation::kSubtract) return subtract(n.operands[1], n.operands[0]);
  if (n.operation == Operation::kMultiply && is_constant(n.operands[0]))
    return scale(-node(n.operands[0]).value, n.operands[1]);
  return intern(Operation::kNegate, a);
}

NodeId ExpressionPool::add(NodeId a, NodeId b) {
  if (is_constant(a, 0)) return b;
  if (is_constant(b, 0)) return a;
  if (const auto sum = try_collect(a, b, 1)) return *sum;
  if (is_negation(b)) return subtract(a, operand(b));
  if (is_negation(a)) return subtract(b, operand(a));
  return intern(Operation::kAdd, std::min(a, b), std::max(a, b));
}

NodeId ExpressionPool::subtract(NodeId a, NodeId b) {
  if (is_constant(b, 0)) return a;
  if (is_constant(a, 0)) return negate(b);
  if (const auto difference = try_collect(a, b, -1)) return *difference;
  if (is_negation(b)) return add(a, operand(b));
  return intern(Operation::kSubtract, a, b);
}

/// factor·a for a that is no constant. A constant in front of a product moves into `factor`, unless
/// that overflows or underflows where the product as written would not.
NodeId ExpressionPool::scale(double factor, NodeId a) {
  if (factor == 0) return constant(0);
  if (factor == 1) return a;
  const Multiple multiple = as_multiple(a);
  const double product = factor * multiple.factor;
  if (multiple.base != a && std::isnormal(product)) return scale(product, multiple.base);
  if (factor == -1) return negate(a);
  return intern(Operation::kMultiply, constant(factor), a);
}

NodeId ExpressionPool::multiply(NodeId a, NodeId b) {
  if (is_constant(a)) return scale(node(a).value, b);
  if (is_constant(b)) return scale(node(b).value, a);
  if (is_negation(a)) return negate(multiply(operand(a), b));
  if (is_negation(b)) return negate(multiply(a, operand(b)));
  return intern(Operation::kMultiply, std::min(a, b), std::max(a, b));
}

NodeId ExpressionPool::divide(NodeId a, NodeId b) {
  if (is_constant(b, 0)) return intern(Operation::kDivide, a, b);
  if (is_constant(a, 0) || is_constant(b, 1)) return a;
  if (is_constant(b, -1)) return negate(a);
  if (is_negation(a)) return negate(divide(operand(a), b));
  const Multiple multiple = as_multiple(a);
  if (multiple.base != a && is_constant(b)) {
    const double quotient = multiple.factor / node(b).value;
    if (std::isnormal(quotient)) return scale(quotient, multiple.base);
  }
  return intern(Operation::kDivide, a, b);
}

NodeId ExpressionPool::power(NodeId base, NodeId exponent) {
  if (is_constant(base, 1)) return base;
  if (!is_constant(exponent)) return intern(Operation::kPower, base, exponent);
  const double e = node(exponent).value;
  if (e == 0.5) return make(Operation::kSqrt, base);
  if (e == std::floor(e) && std::abs(e) <= 4) return integer_power(base, static_cast<int>(e));
  return intern(Operation::kPower, base, exponent);
}

/// Products for |exponent| ≤ 4: cheaper than pow, and their derivatives simplify further.
NodeId ExpressionPool::integer_power(NodeId base, int exponent) {
  if (exponent == 0) return constant(1);
  if (exponent < 0) return make(Operation::kDivide, constant(1), integer_power(base, -exponent));
  if (exponent == 1) return base;
  const NodeId square = make(Operation::kMultiply, base, base);
  return make(Operation::kMultiply, square, integer_power(base, exponent - 2));
}

NodeId ExpressionPool::select(NodeId condition, NodeId a, NodeId b) {
  if (is_constant(condition)) return node(condition).value != 0 ? a : b;
  return a == b ? a : intern(Operation::kSelect, condition, a, b);
}

NodeId ExpressionPool::compare(Operation operation, NodeId a, NodeId b) {
  if (a == b) return constant(operation == Operation::kLessEqual ? 1 : 0);
  return intern(operation, a, b);
}

}  // namespace stiction
