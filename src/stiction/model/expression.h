// A formula as a value: write 0.5 * m * v * v or sin(x) with ordinary operators. An Expression is a
// constant or a node of a shared pool (expression_pool.h), which it keeps alive; copying is cheap.
//
// Operators throw InputError where constants give a result that is not finite (1 / 0, sqrt(-1)) or
// operands belong to different pools. Compile expressions into a Tape (tape.h) to evaluate them,
// differentiate them with derivative.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stiction/model/expression_pool.h"

namespace stiction {

class Expression {
 public:
  /// A constant; implicit, so that numbers may stand in formulas. Throws InputError if not finite.
  Expression(double value = 0);
  /// The node `id` of `pool`.
  Expression(std::shared_ptr<ExpressionPool> pool, NodeId id);
  /// The symbol called `name`; the same name in the same pool is the same symbol.
  static Expression symbol(const std::shared_ptr<ExpressionPool>& pool, const std::string& name);

  bool is_constant() const { return pool_ == nullptr; }
  bool is_constant(double value) const { return is_constant() && value_ == value; }
  bool is_symbol() const;
  /// Demands a constant.
  double constant_value() const;
  /// Demands a symbol.
  const std::string& symbol_name() const;

  /// Null for a constant, which belongs to no pool.
  const std::shared_ptr<ExpressionPool>& pool() const { return pool_; }
  /// The node in `pool`, where a constant is entered if need be. Throws InputError if the
  /// expression belongs to another pool.
  NodeId node_in(ExpressionPool& pool) const;

  Expression& operator+=(const Expression& other) { return *this = *this + other; }
  Expression& operator-=(const Expression& other) { return *this = *this - other; }
  Expression& operator*=(const Expression& other) { return *this = *this * other; }
  Expression& operator/=(const Expression& other) { return *this = *this / other; }

  // Friends that only a call with an Expression finds: sin(0.5) keeps its usual meaning.
  friend Expression operator+(const Expression& a) { return a; }
  friend Expression operator-(const Expression& a);
  friend Expression operator+(const Expression& a, const Expression& b);
  friend Expression operator-(const Expression& a, const Expression& b);
  friend Expression operator*(const Expression& a, const Expression& b);
  friend Expression operator/(const Expression& a, const Expression& b);
  friend Expression pow(const Expression& base, const Expression& exponent);
  friend Expression sin(const Expression& x);
  friend Expression cos(const Expression& x);
  friend Expression tan(const Expression& x);
  friend Expression asin(const Expression& x);
  friend Expression acos(const Expression& x);
  friend Expression atan(const Expression& x);
  friend Expression atan2(const Expression& y, const Expression& x);
  friend Expression sinh(const Expression& x);
  friend Expression cosh(const Expression& x);
  friend Expression tanh(const Expression& x);
  friend Expression exp(const Expression& x);
  friend Expression log(const Expression& x);
  friend Expression sqrt(const Expression& x);
  friend Expression abs(const Expression& x);
  friend Expression sign(const Expression& x);  // −1, 0 or 1
  friend Expression min(const Expression& a, const Expression& b);
  friend Expression max(const Expression& a, const Expression& b);
  friend Expression hypot(const Expression& a, const Expression& b);
  // Comparisons give 1 or 0.
  friend Expression operator<(const Expression& a, const Expression& b);
  friend Expression operator<=(const Expression& a, const Expression& b);
  friend Expression operator>(const Expression& a, const Expression& b) { return b < a; }
  friend Expression operator>=(const Expression& a, const Expression& b) { return b <= a; }
  /// `a` where `condition` is not 0, else `b`.
  friend Expression select(const Expression& condition, const Expression& a, const Expression& b);

  /// True where both are the same constant or the same node. Formulas that differ only in the order
  /// of the operands of one + or * are the same; other equal formulas may not be.
  friend bool is_same(const Expression& a, const Expression& b);

 private:
  std::shared_ptr<ExpressionPool> pool_;  // null: the constant value_
  NodeId id_ = NodeId::kNone;
  double value_ = 0;
};

/// The names of the symbols in `expression`, in the order of their creation.
std::vector<std::string> symbols_of(const Expression& expression);

}  // namespace stiction
