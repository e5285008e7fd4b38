// Formulas as text: numbers, names, + - * / ^, comparisons, functions, parentheses.
//
//   -x^2 is -(x^2), 2^3^2 is 2^(3^2), 2^-1 is allowed, comparisons give 1 or 0, v.NAME is a
//   velocity.
//
// A fault is a value with its place and the way out, never an exception. Refused besides bad
// syntax: constants that are not finite (1/0, sqrt(-1), 1e999), division by zero, and nesting
// deeper than kMaxNesting, so that no text from outside can exhaust the stack. Chains of any length
// are fine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stiction/model/expression.h"
#include "stiction/model/symbol_table.h"

namespace stiction {

inline constexpr int kMaxNesting = 200;

struct ParseError {
  int column = 1;       // 1-based, in characters (UTF-8 code points) of the text
  std::string message;  // what was found and what was expected
  std::string help;     // the way out; may be empty
};

/// Exactly one of the two is set.
struct [[nodiscard]] ParseResult {
  std::optional<Expression> expression;
  std::optional<ParseError> error;
};

/// Reads `text`, a formula in the names of `symbols`, into `pool`, to which those belong.
ParseResult parse_expression(std::string_view text, const SymbolTable& symbols,
                             const std::shared_ptr<ExpressionPool>& pool);

}  // namespace stiction
