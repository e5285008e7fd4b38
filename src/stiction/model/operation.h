// The operations of formulas: what a node of an expression computes from its operands. Constant
// folding and the tape share apply_operation, so a folded constant has the bits the tape would
// give.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stiction {

enum class Operation : std::uint8_t {
  kConstant,
  kSymbol,
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kAtan2,  // operands y, x
  kSinh,
  kCosh,
  kTanh,
  kExp,
  kLog,
  kSqrt,
  kAbs,
  kSign,  // −1, 0 or 1
  kMin,
  kMax,
  kHypot,
  kLess,       // 1 where a < b, else 0; a > b is written b < a
  kLessEqual,  // 1 where a ≤ b, else 0
  kSelect,     // b where a ≠ 0, else c; stays last
};
inline constexpr int kNumOperations = static_cast<int>(Operation::kSelect) + 1;

/// A function as formulas call it, e.g. {"atan2", kAtan2, 2}.
struct FunctionInfo {
  std::string_view name;
  Operation operation;
  int num_arguments;
};

/// All functions a formula may call.
std::span<const FunctionInfo> known_functions();
/// Their names, for suggestions in messages.
std::vector<std::string> known_function_names();
std::optional<FunctionInfo> find_function(std::string_view name);

/// "1 / 0" or "sqrt(-1)": an operation on numbers, for a message.
std::string operation_text(Operation operation, std::span<const double> operands);

/// The value of one operation; operands it does not have are ignored. min and max let a NaN through
/// (std::min would swallow one), and kSelect never mixes in the side it does not take.
inline double apply_operation(Operation operation, double a, double b, double c) {
  switch (operation) {
    case Operation::kNegate:
      return -a;
    case Operation::kAdd:
      return a + b;
    case Operation::kSubtract:
      return a - b;
    case Operation::kMultiply:
      return a * b;
    case Operation::kDivide:
      return a / b;
    case Operation::kPower:
      return std::pow(a, b);
    case Operation::kSin:
      return std::sin(a);
    case Operation::kCos:
      return std::cos(a);
    case Operation::kTan:
      return std::tan(a);
    case Operation::kAsin:
      return std::asin(a);
    case Operation::kAcos:
      return std::acos(a);
    case Operation::kAtan:
      return std::atan(a);
    case Operation::kAtan2:
      return std::atan2(a, b);
    case Operation::kSinh:
      return std::sinh(a);
    case Operation::kCosh:
      return std::cosh(a);
    case Operation::kTanh:
      return std::tanh(a);
    case Operation::kExp:
      return std::exp(a);
    case Operation::kLog:
      return std::log(a);
    case Operation::kSqrt:
      return std::sqrt(a);
    case Operation::kAbs:
      return std::abs(a);
    case Operation::kSign:
      return a > 0 ? 1 : a < 0 ? -1 : a;
    case Operation::kMin:
      return a < b || std::isnan(a) ? a : b;
    case Operation::kMax:
      return a > b || std::isnan(a) ? a : b;
    case Operation::kHypot:
      return std::hypot(a, b);
    case Operation::kLess:
      return a < b ? 1 : 0;
    case Operation::kLessEqual:
      return a <= b ? 1 : 0;
    case Operation::kSelect:
      return a != 0 ? b : c;
    case Operation::kConstant:
    case Operation::kSymbol:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace stiction
