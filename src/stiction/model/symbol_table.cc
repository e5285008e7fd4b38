#include "stiction/model/symbol_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "stiction/base/error.h"

namespace stiction {
namespace {

constexpr std::string_view kVelocityPrefix = "v.";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

bool is_identifier(std::string_view name) {
  const auto may_continue = [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), may_continue);
}

std::string velocity_name(std::string_view coordinate) {
  return fmt::format("{}{}", kVelocityPrefix, coordinate);
}

bool is_velocity_name(std::string_view name) {
  return name.starts_with(kVelocityPrefix) && is_identifier(name.substr(kVelocityPrefix.size()));
}

SymbolTable::SymbolTable() { meanings_.emplace("pi", std::numbers::pi); }

void SymbolTable::add(const std::string& name, const Expression& meaning) {
  if (!is_identifier(name) && !is_velocity_name(name))
    throw InputError(fmt::format(
        "symbol name is '{}', must be a letter or _ followed by letters, digits and _", name));
  if (!meanings_.emplace(name, meaning).second)
    throw InputError(fmt::format("symbol name '{}' is already taken, must be unique", name));
  order_.push_back(name);
}

std::optional<Expression> SymbolTable::find(std::string_view name) const {
  const auto found = meanings_.find(std::string(name));
  if (found == meanings_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> SymbolTable::names() const {
  std::vector<std::string> names = order_;
  names.emplace_back("pi");
  return names;
}

SymbolTable make_symbol_table(const std::shared_ptr<ExpressionPool>& pool,
                              std::span<const std::string> coordinates, SymbolScope scope) {
  SymbolTable table;
  const auto add = [&](const std::string& name) {
    table.add(name, Expression::symbol(pool, name));
  };
  for (const std::string& name : coordinates) {
    if (name == "t") throw InputError("coordinate name is 't', which is the time in formulas");
    add(name);
  }
  if (scope.has_velocities)
    for (const std::string& name : coordinates) add(velocity_name(name));
  if (scope.has_time) add("t");
  return table;
}

}  // namespace stiction
