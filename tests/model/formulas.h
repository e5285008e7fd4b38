// Shared by the tests of formulas: a pool with symbols x, y, z, and formulas as text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stiction/model/expression_parser.h"
#include "stiction/model/tape.h"

namespace stiction::testing {

struct Formulas {
  std::shared_ptr<ExpressionPool> pool = std::make_shared<ExpressionPool>();
  std::vector<std::string> names{"x", "y", "z"};
  SymbolTable symbols = make_symbol_table(pool, names, {.has_velocities = false});
  Expression x = Expression::symbol(pool, "x");
  Expression y = Expression::symbol(pool, "y");
  Expression z = Expression::symbol(pool, "z");
  Expression t = Expression::symbol(pool, "t");

  Expression parse(const std::string& text) const;

  /// The value at (x, y, z), t = 0.
  double value(const Expression& f, double x_value = 0, double y_value = 0,
               double z_value = 0) const;
};

}  // namespace stiction::testing
