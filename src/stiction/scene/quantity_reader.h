// Numbers of a scene, which may be strings holding expressions. Faults in an expression point at
// the column of the file. The readers of this room are tolerant: a value of the wrong kind was
// already reported by the schema, so they pass over it and go on, in order to find every other
// fault too.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "stiction/base/check.h"
#include "stiction/base/diagnostics.h"
#include "stiction/model/expression_parser.h"
#include "stiction/scene/json_document.h"

namespace stiction {

/// A value with its path in the document.
struct SceneValue {
  const JsonNode* node = nullptr;  // null: not there
  std::string path;
  std::shared_ptr<const SceneValue> like{};  // has the members that this one does not write

  explicit operator bool() const { return node != nullptr; }
  /// A member of an object, or of the one that it is like; not there if this is no object.
  SceneValue operator[](const char* key) const {
    const JsonNode* found = node ? node->find(key) : nullptr;
    if (found == nullptr && like != nullptr) return (*like)[key];
    return {found, member_path(path, key)};
  }
  /// An item of an array that is there.
  SceneValue item(std::size_t index) const {
    ST_DEMAND(node != nullptr);
    return {&node->items[index], item_path(path, index)};
  }
  bool is_array() const { return node && node->is_array(); }
  bool is_object() const { return node && node->is_object(); }
  bool is_string() const { return node && node->is_string(); }
  bool is_boolean() const { return node && node->is_boolean(); }
  bool boolean_or(bool fallback) const { return is_boolean() ? node->boolean : fallback; }
  bool is_quantity() const { return node && (node->is_number() || node->is_string()); }
};

/// Limits of a number; those that are set are checked for values of expressions (plain numbers are
/// the schema's business).
struct Limits {
  std::optional<double> above{};  // >
  std::optional<double> at_least{};
  std::optional<double> at_most{};
  std::optional<double> below{};  // <
};

class QuantityReader {
 public:
  QuantityReader(std::shared_ptr<ExpressionPool> pool, Diagnostics& diagnostics)
      : pool_(std::move(pool)), diagnostics_(diagnostics) {}

  /// The formula in the names of `symbols`; 0 after a fault or where the value is missing.
  Expression read_expression(const SceneValue& value, const SymbolTable& symbols) const;
  /// The number, or `fallback` where it is missing or faulty. `symbols` holds constants only.
  double read_number(const SceneValue& value, const SymbolTable& symbols, double fallback,
                     const Limits& limits = {}) const;

 private:
  std::shared_ptr<ExpressionPool> pool_;
  Diagnostics& diagnostics_;
};

}  // namespace stiction
