// A JSON text as a tree in which every value and every key knows its place in the file, so that a
// message about a scene can point at the character that is wrong. (nlohmann-json, used elsewhere
// for writing, forgets positions; that is why this reader exists.)
//
// Strict JSON (RFC 8259) with one addition: // and /* */ comments. A byte order mark is skipped.
// Refused with a message of their own: duplicate keys, trailing commas, numbers that are not finite
// as doubles, invalid UTF-8, nesting deeper than kMaxJsonDepth.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/diagnostics.h"

namespace stiction {

/// Arrays and objects within each other. Reading recurses, so this bounds the stack that hostile
/// input can use.
inline constexpr int kMaxJsonDepth = 200;

enum class JsonKind { kNull, kBoolean, kNumber, kString, kArray, kObject };

/// An escape sequence of a string: the column of its character in the decoded string, and how many
/// columns more it takes in the file.
struct JsonEscape {
  int column = 0;
  int extra = 0;
};

struct JsonMember;

/// One value. Only the fields of its kind are filled.
struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  TextPosition position;            // first character; columns count Unicode code points
  bool boolean = false;             // kBoolean
  double number = 0;                // kNumber, finite
  std::string number_text;          // kNumber, as written
  std::string string;               // kString, decoded, valid UTF-8
  std::vector<JsonEscape> escapes;  // kString, in order
  std::vector<JsonNode> items;      // kArray
  std::vector<JsonMember> members;  // kObject, in the order of the text, keys unique

  bool is_null() const { return kind == JsonKind::kNull; }
  bool is_boolean() const { return kind == JsonKind::kBoolean; }
  bool is_number() const { return kind == JsonKind::kNumber; }
  bool is_string() const { return kind == JsonKind::kString; }
  bool is_array() const { return kind == JsonKind::kArray; }
  bool is_object() const { return kind == JsonKind::kObject; }

  /// The value of `key`, or nullptr where this is no object or has no such key.
  const JsonNode* find(std::string_view key) const;

  /// The place in the file of a column (1-based, code points) of the decoded string. The column
  /// after the last one is the closing quote; columns beyond either end are moved to that end.
  TextPosition position_in_string(int column) const;
};

struct JsonMember {
  std::string key;
  TextPosition key_position;
  JsonNode node;
};

/// Reads one JSON value and nothing else. The first syntax error ends reading: it is reported and
/// there is no document. A duplicate key is reported too, but the document is still returned, with
/// the first of the equal keys, so that a caller can look for further faults; ask
/// `diagnostics.has_errors()` before using it.
[[nodiscard]] std::optional<JsonNode> parse_json(std::string_view text, Diagnostics& diagnostics);

/// Paths for messages: generalized.contacts[1].gap; keys that are no identifiers are written ['…'].
std::string member_path(std::string_view path, std::string_view key);
std::string item_path(std::string_view path, std::size_t index);

/// Text from the file for a message: control characters made visible, cut after 40 characters.
std::string excerpt(std::string_view text);

/// Kind and value for a message: `a string ("abc")`, `a number (1e-3)`, `an array (2 items)`,
/// `null`.
std::string describe(const JsonNode& node);

}  // namespace stiction
