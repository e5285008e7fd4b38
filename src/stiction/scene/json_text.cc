#include "stiction/scene/json_text.h"

#include <fmt/format.h>

#include <cmath>

#include "stiction/base/check.h"
#include "stiction/base/error.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

JsonNode of_kind(JsonKind kind) {
  JsonNode node;
  node.kind = kind;
  return node;
}

constexpr std::size_t kMaxColumns = 110;

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::string scalar_text(const JsonNode& node) {
  switch (node.kind) {
    case JsonKind::kBoolean:
      return node.boolean ? "true" : "false";
    case JsonKind::kNumber:
      return node.number_text;
    case JsonKind::kString:
      return json_quoted(node.string);
    default:
      return "null";
  }
}

/// Compact text, cut short once it is longer than `limit`.
void append_compact(const JsonNode& node, std::size_t limit, std::string& out) {
  if (node.is_array()) {
    out += '[';
    for (std::size_t i = 0; i < node.items.size() && out.size() <= limit; ++i) {
      if (i > 0) out += ", ";
      append_compact(node.items[i], limit, out);
    }
    out += ']';
  } else if (node.is_object()) {
    out += '{';
    for (std::size_t i = 0; i < node.members.size() && out.size() <= limit; ++i) {
      if (i > 0) out += ", ";
      out += json_quoted(node.members[i].key) + ": ";
      append_compact(node.members[i].node, limit, out);
    }
    out += '}';
  } else {
    out += scalar_text(node);
  }
}

void append(const JsonNode& node, std::size_t indent, std::size_t column, bool may_be_compact,
            std::string& out) {
  const std::size_t limit = column < kMaxColumns ? kMaxColumns - column : 0;
  std::string compact;
  append_compact(node, limit, compact);
  const bool is_scalar = !node.is_array() && !node.is_object();
  if (is_scalar || (may_be_compact && compact.size() <= limit)) {
    out += compact;
    return;
  }
  const bool is_array = node.is_array();
  const std::size_t count = is_array ? node.items.size() : node.members.size();
  out += is_array ? '[' : '{';
  for (std::size_t i = 0; i < count; ++i) {
    out += i > 0 ? ",\n" : "\n";
    out.append(indent + 2, ' ');
    std::size_t start = indent + 2;
    if (!is_array) {
      const std::string key = json_quoted(node.members[i].key) + ": ";
      start += key.size();
      out += key;
    }
    append(is_array ? node.items[i] : node.members[i].node, indent + 2, start, true, out);
  }
  out += '\n';
  out.append(indent, ' ');
  out += is_array ? ']' : '}';
}

}  // namespace

JsonNode make_json(double number) {
  if (!std::isfinite(number))
    throw InputError(fmt::format("a number of the scene would be {}, must be finite", number));
  JsonNode node = of_kind(JsonKind::kNumber);
  node.number = number;
  node.number_text = to_text(number == 0 ? 0.0 : number);  // no "-0"
  return node;
}

JsonNode make_json(bool boolean) {
  JsonNode node = of_kind(JsonKind::kBoolean);
  node.boolean = boolean;
  return node;
}

JsonNode make_json(std::string_view text) {
  JsonNode node = of_kind(JsonKind::kString);
  node.string = text;
  return node;
}

JsonNode make_json(const Eigen::Vector3d& vector) {
  return make_json_array(std::span(vector.data(), 3));
}

JsonNode make_json_array(std::span<const double> numbers) {
  JsonNode node = make_json_array();
  for (const double number : numbers) node.items.push_back(make_json(number));
  return node;
}

JsonNode make_json_array() { return of_kind(JsonKind::kArray); }
JsonNode make_json_object() { return of_kind(JsonKind::kObject); }

void add_member(JsonNode& object, std::string_view key, JsonNode value) {
  ST_DEMAND(object.is_object() && object.find(key) == nullptr);
  object.members.push_back({std::string(key), {}, std::move(value)});
}

void add_item(JsonNode& array, JsonNode value) {
  ST_DEMAND(array.is_array());
  array.items.push_back(std::move(value));
}

std::string to_json_line(const JsonNode& node) {
  std::string text;
  append_compact(node, std::string::npos, text);
  return text;
}

std::string to_json_text(const JsonNode& node) {
  std::string out;
  append(node, 0, 0, false, out);
  return out + '\n';
}

}  // namespace stiction
