#include "stiction/scene/quantity_reader.h"

#include <fmt/format.h>

#include "stiction/base/text.h"

namespace stiction {
namespace {

std::string limit_fault(double value, const Limits& limits) {
  if (limits.above && !(value > *limits.above))
    return fmt::format("is {}, must be > {}", value, *limits.above);
  if (limits.at_least && !(value >= *limits.at_least))
    return fmt::format("is {}, must be >= {}", value, *limits.at_least);
  if (limits.at_most && !(value <= *limits.at_most))
    return fmt::format("is {}, must be <= {}", value, *limits.at_most);
  if (limits.below && !(value < *limits.below))
    return fmt::format("is {}, must be < {}", value, *limits.below);
  return {};
}

}  // namespace

Expression QuantityReader::read_expression(const SceneValue& value,
                                           const SymbolTable& symbols) const {
  if (!value.is_quantity()) return 0;
  if (value.node->is_number()) return value.node->number;
  ParseResult result = parse_expression(value.node->string, symbols, pool_);
  if (result.expression) return *result.expression;
  diagnostics_.error(value.node->position_in_string(result.error->column), value.path,
                     result.error->message, result.error->help);
  return 0;
}

double QuantityReader::read_number(const SceneValue& value, const SymbolTable& symbols,
                                   double fallback, const Limits& limits) const {
  if (!value.is_quantity()) return fallback;
  if (value.node->is_number()) return value.node->number;
  const ParseResult result = parse_expression(value.node->string, symbols, pool_);
  if (!result.expression) {
    diagnostics_.error(value.node->position_in_string(result.error->column), value.path,
                       result.error->message, result.error->help);
    return fallback;
  }
  const double number = result.expression->constant_value();
  if (const std::string fault = limit_fault(number, limits); !fault.empty()) {
    diagnostics_.error(value.node->position, value.path, fault);
    return fallback;
  }
  return number;
}

}  // namespace stiction
