#include "stiction/model/operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stiction/base/text.h"

namespace stiction {
namespace {

constexpr std::array kFunctions = {
    FunctionInfo{"sin", Operation::kSin, 1},     FunctionInfo{"cos", Operation::kCos, 1},
    FunctionInfo{"tan", Operation::kTan, 1},     FunctionInfo{"asin", Operation::kAsin, 1},
    FunctionInfo{"acos", Operation::kAcos, 1},   FunctionInfo{"atan", Operation::kAtan, 1},
    FunctionInfo{"atan2", Operation::kAtan2, 2}, FunctionInfo{"sinh", Operation::kSinh, 1},
    FunctionInfo{"cosh", Operation::kCosh, 1},   FunctionInfo{"tanh", Operation::kTanh, 1},
    FunctionInfo{"exp", Operation::kExp, 1},     FunctionInfo{"log", Operation::kLog, 1},
    FunctionInfo{"sqrt", Operation::kSqrt, 1},   FunctionInfo{"abs", Operation::kAbs, 1},
    FunctionInfo{"sign", Operation::kSign, 1},   FunctionInfo{"min", Operation::kMin, 2},
    FunctionInfo{"max", Operation::kMax, 2},     FunctionInfo{"hypot", Operation::kHypot, 2},
    FunctionInfo{"if", Operation::kSelect, 3},
};

std::string_view infix_sign(Operation operation) {
  switch (operation) {
    case Operation::kAdd:
      return "+";
    case Operation::kSubtract:
      return "-";
    case Operation::kMultiply:
      return "*";
    case Operation::kDivide:
      return "/";
    case Operation::kPower:
      return "^";
    case Operation::kLess:
      return "<";
    case Operation::kLessEqual:
      return "<=";
    default:
      return {};
  }
}

}  // namespace

std::span<const FunctionInfo> known_functions() { return kFunctions; }

std::vector<std::string> known_function_names() {
  std::vector<std::string> names;
  names.reserve(kFunctions.size());
  for (const FunctionInfo& function : kFunctions) names.emplace_back(function.name);
  return names;
}

std::optional<FunctionInfo> find_function(std::string_view name) {
  for (const FunctionInfo& function : kFunctions)
    if (function.name == name) return function;
  return std::nullopt;
}

std::string operation_text(Operation operation, std::span<const double> operands) {
  if (const std::string_view sign = infix_sign(operation); !sign.empty())
    return fmt::format("{} {} {}", to_text(operands[0]), sign, to_text(operands[1]));
  if (operation == Operation::kNegate) return fmt::format("-{}", to_text(operands[0]));
  for (const FunctionInfo& function : kFunctions) {
    if (function.operation != operation) continue;
    std::vector<std::string> arguments(static_cast<std::size_t>(function.num_arguments));
    std::transform(operands.begin(), operands.begin() + function.num_arguments, arguments.begin(),
                   [](double operand) { return to_text(operand); });
    return fmt::format("{}({})", function.name, joined(arguments));
  }
  return "constant";
}

}  // namespace stiction
