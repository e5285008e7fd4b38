// The nodes of formulas, hash-consed: a formula written twice is one node, so formulas form a
// directed graph without duplicates and their derivatives share what they have in common.
//
// A node is created after its operands, hence ids ascend from operands to results: every traversal
// is a loop over ascending ids, and no formula is long enough to exhaust the stack.
//
// make() folds constants and simplifies (0·x, 1·x, x + 0, c·x + d·x, x², …). An operation on
// constants whose result is not finite stays a node, so a simplification hides none; Expression and
// the parser report it to the author of the formula. Not thread-safe: one thread builds formulas of
// a pool at a time. Most users write Expression (expression.h) and never see a node.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "stiction/model/operation.h"

namespace stiction {

/// Index of a node in its pool.
enum class NodeId : std::int32_t { kNone = -1 };

struct ExpressionNode {
  Operation operation = Operation::kConstant;
  std::array<NodeId, 3> operands{NodeId::kNone, NodeId::kNone, NodeId::kNone};
  double value = 0;  // of a constant
  int symbol = -1;   // of a symbol: its place in the order of creation

  friend bool operator==(const ExpressionNode&, const ExpressionNode&) = default;
};

class ExpressionPool {
 public:
  ExpressionPool() = default;
  ExpressionPool(const ExpressionPool&) = delete;
  ExpressionPool& operator=(const ExpressionPool&) = delete;

  /// Demands a finite value.
  NodeId constant(double value);
  /// The same name gives the same symbol.
  NodeId symbol(const std::string& name);
  /// The simplified operation on nodes of this pool.
  NodeId make(Operation operation, NodeId a, NodeId b = NodeId::kNone, NodeId c = NodeId::kNone);

  int num_nodes() const { return static_cast<int>(nodes_.size()); }
  /// Valid until the next node is made.
  const ExpressionNode& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  const std::string& symbol_name(NodeId id) const;
  bool is_constant(NodeId id) const { return node(id).operation == Operation::kConstant; }
  bool is_constant(NodeId id, double value) const {
    return is_constant(id) && node(id).value == value;
  }

  /// `roots` and everything they are computed from, ascending: operands before results.
  std::vector<NodeId> collect_reachable(std::span<const NodeId> roots) const;

 private:
  struct NodeHash {
    std::size_t operator()(const ExpressionNode& node) const;
  };
  /// A node seen as factor · base, e.g. 3·x, or −1·x for −x.
  struct Multiple {
    double factor;
    NodeId base;
  };

  NodeId intern(const ExpressionNode& node);
  NodeId intern(Operation operation, NodeId a, NodeId b = NodeId::kNone, NodeId c = NodeId::kNone) {
    return intern(ExpressionNode{.operation = operation, .operands = {a, b, c}});
  }
  bool has_constant_operands(const std::array<NodeId, 3>& operands) const;
  NodeId fold(Operation operation, const std::array<NodeId, 3>& operands);
  Multiple as_multiple(NodeId id) const;
  std::optional<NodeId> try_collect(NodeId a, NodeId b, double sign_b);

  bool is_negation(NodeId id) const { return node(id).operation == Operation::kNegate; }
  NodeId operand(NodeId id) const { return node(id).operands[0]; }
  NodeId negate(NodeId a);
  NodeId add(NodeId a, NodeId b);
  NodeId subtract(NodeId a, NodeId b);
  NodeId multiply(NodeId a, NodeId b);
  NodeId scale(double factor, NodeId a);
  NodeId divide(NodeId a, NodeId b);
  NodeId power(NodeId base, NodeId exponent);
  NodeId integer_power(NodeId base, int exponent);
  NodeId select(NodeId condition, NodeId a, NodeId b);
  NodeId compare(Operation operation, NodeId a, NodeId b);

  std::vector<ExpressionNode> nodes_;
  std::unordered_map<ExpressionNode, NodeId, NodeHash> ids_;
  std::vector<std::string> symbol_names_;
  std::unordered_map<std::string, NodeId> symbols_;
};

}  // namespace stiction
