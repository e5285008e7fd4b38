// Derivatives of formulas as formulas, by the rules of calculus applied once to every node: exact,
// with shared parts shared, and differentiable again.
//
// At kinks the derivative takes one side: abs' is sign (0 at 0), sign' is 0, min and max take their
// first operand on a tie, a comparison is constant, select(c, a, b) is differentiated in each
// branch. sqrt, hypot and atan2 have no derivative at their singular points; there it is not
// finite.
#pragma once

#include <span>
#include <vector>

#include "stiction/model/expression.h"

namespace stiction {

/// ∂f/∂symbol of each f, the parts they share differentiated once. Linear in the number of nodes.
/// Throws InputError if `symbol` is no symbol.
std::vector<Expression> differentiate(std::span<const Expression> functions,
                                      const Expression& symbol);
Expression differentiate(const Expression& function, const Expression& symbol);

/// ∂f/∂x_1, …, ∂f/∂x_n.
std::vector<Expression> compute_gradient(const Expression& function,
                                         std::span<const Expression> symbols);

}  // namespace stiction
