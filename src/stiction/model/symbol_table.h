// The names a formula may use and what they stand for: symbols (coordinates, velocities, time) or
// constants (parameters, whose values take the place of their names). `pi` is always known.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stiction/model/expression.h"

namespace stiction {

/// A letter or _ first, then letters, digits and _. All bytes from 0x80 on count as letters, so
/// names may be written in any script.
bool is_identifier(std::string_view name);

/// The name of the velocity of a coordinate: "v.y" for "y".
std::string velocity_name(std::string_view coordinate);
bool is_velocity_name(std::string_view name);

class SymbolTable {
 public:
  SymbolTable();

  /// Throws InputError if `name` is no identifier (nor v.IDENTIFIER) or is already taken.
  void add(const std::string& name, const Expression& meaning);
  bool contains(std::string_view name) const { return find(name).has_value(); }
  std::optional<Expression> find(std::string_view name) const;
  /// In the order in which they were added, `pi` last.
  std::vector<std::string> names() const;

 private:
  std::unordered_map<std::string, Expression> meanings_;
  std::vector<std::string> order_;
};

/// Which of the symbols of a system a formula may use, beside its coordinates.
struct SymbolScope {
  bool has_velocities = true;
  bool has_time = true;
};

/// The table of a system with these coordinates: NAME, v.NAME and t, as symbols of `pool`. Throws
/// InputError as SymbolTable::add does; a coordinate cannot be called t or pi.
SymbolTable make_symbol_table(const std::shared_ptr<ExpressionPool>& pool,
                              std::span<const std::string> coordinates, SymbolScope scope = {});

}  // namespace stiction
