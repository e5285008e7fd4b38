#include "stiction/scene/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/check.h"
#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/model/symbol_table.h"

namespace stiction {
namespace {

constexpr std::string_view kDefinitionPrefix = "#/$defs/";
constexpr std::string_view kIdentifierPattern =
    R"(^[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*$)";

// --- The schema itself: checked when it is read, so that the validator may rely on its form. ---

constexpr std::array<std::string_view, 7> kTypeNames = {"null",   "boolean", "integer", "number",
                                                        "string", "array",   "object"};

/// What the value of a keyword must be.
enum class Operand {
  kAnything,
  kText,
  kNumber,
  kTexts,       // array of strings
  kTextMap,     // object of strings
  kTypes,       // one type name or an array of them
  kReference,   // #/$defs/NAME
  kList,        // array of anything
  kNames,       // {"pattern": the one of identifiers}
  kSchema,      // a schema
  kOpenSchema,  // a schema, or true or false
  kSchemas,     // array of schemas
  kSchemaMap,   // object of schemas
};

constexpr std::array<std::pair<std::string_view, Operand>, 27> kKeywords = {{
    {"$schema", Operand::kText},
    {"$id", Operand::kText},
    {"$comment", Operand::kText},
    {"title", Operand::kText},
    {"description", Operand::kText},
    {"default", Operand::kAnything},
    {"examples", Operand::kAnything},
    {"type", Operand::kTypes},
    {"enum", Operand::kList},
    {"const", Operand::kAnything},
    {"minimum", Operand::kNumber},
    {"maximum", Operand::kNumber},
    {"exclusiveMinimum", Operand::kNumber},
    {"exclusiveMaximum", Operand::kNumber},
    {"minItems", Operand::kNumber},
    {"maxItems", Operand::kNumber},
    {"minProperties", Operand::kNumber},
    {"required", Operand::kTexts},
    {"x-unsupported", Operand::kTextMap},
    {"$ref", Operand::kReference},
    {"items", Operand::kSchema},
    {"propertyNames", Operand::kNames},
    {"additionalProperties", Operand::kOpenSchema},
    {"oneOf", Operand::kSchemas},
    {"anyOf", Operand::kSchemas},
    {"properties", Operand::kSchemaMap},
    {"$defs", Operand::kSchemaMap},
}};

const JsonNode* find_definition(const JsonNode& root, std::string_view reference) {
  const JsonNode* definitions = root.find("$defs");
  if (definitions == nullptr || !reference.starts_with(kDefinitionPrefix)) return nullptr;
  return definitions->find(reference.substr(kDefinitionPrefix.size()));
}

bool is_type_name(const JsonNode& node) {
  return std::find(kTypeNames.begin(), kTypeNames.end(), node.string) != kTypeNames.end();
}

void check_schema(const JsonNode& schema, const JsonNode& root, const std::string& path);

void check_schemas(const JsonNode& schemas, const JsonNode& root, const std::string& path) {
  for (std::size_t i = 0; i < schemas.items.size(); ++i)
    check_schema(schemas.items[i], root, item_path(path, i));
  for (const JsonMember& member : schemas.members)
    check_schema(member.node, root, member_path(path, member.key));
}

/// Whether `value` has the form that the keyword asks for; schemas within are checked elsewhere.
bool is_operand(const JsonNode& value, Operand operand, const JsonNode& root) {
  const auto is_text = [](const JsonNode& node) { return node.is_string(); };
  switch (operand) {
    case Operand::kAnything:
      return true;
    case Operand::kText:
      return value.is_string();
    case Operand::kNumber:
      return value.is_number();
    case Operand::kTexts:
      return value.is_array() && std::all_of(value.items.begin(), value.items.end(), is_text);
    case Operand::kTextMap:
      return value.is_object() &&
             std::all_of(value.members.begin(), value.members.end(),
                         [](const JsonMember& member) { return member.node.is_string(); });
    case Operand::kTypes:
      return value.is_array() ? std::all_of(value.items.begin(), value.items.end(), is_type_name)
                              : is_type_name(value);
    case Operand::kReference:
      return find_definition(root, value.string) != nullptr;
    case Operand::kList:
      return value.is_array();
    case Operand::kNames:
      return value.members.size() == 1 && value.members[0].key == "pattern" &&
             value.members[0].node.string == kIdentifierPattern;
    case Operand::kSchema:
    case Operand::kSchemaMap:
      return value.is_object();
    case Operand::kOpenSchema:
      return value.is_object() || value.is_boolean();
    case Operand::kSchemas:
      return value.is_array() && !value.items.empty();
  }
  return false;
}

void check_keyword(const JsonMember& keyword, const JsonNode& root, const std::string& path) {
  const auto known = std::find_if(kKeywords.begin(), kKeywords.end(),
                                  [&](const auto& entry) { return entry.first == keyword.key; });
  if (known == kKeywords.end())
    throw InputError(fmt::format("schema: {}: keyword is not supported", path));
  if (!is_operand(keyword.node, known->second, root))
    throw InputError(fmt::format("schema: {}: {} does not fit", path, describe(keyword.node)));
  if (known->second == Operand::kSchemas || known->second == Operand::kSchemaMap)
    check_schemas(keyword.node, root, path);
  if (known->second == Operand::kSchema || known->second == Operand::kOpenSchema)
    if (keyword.node.is_object()) check_schema(keyword.node, root, path);
}

void check_schema(const JsonNode& schema, const JsonNode& root, const std::string& path) {
  if (!schema.is_object())
    throw InputError(fmt::format("schema: {}: {} is not a schema", path, describe(schema)));
  for (const JsonMember& keyword : schema.members)
    check_keyword(keyword, root, member_path(path, keyword.key));
}

// --- Documents. ---

struct Violation {
  TextPosition where;
  std::string path;
  std::string message;
  std::string help;
  int depth = 0;  // levels below the document's root
  bool is_wrong_type = false;
};

/// Where the validator stands in the document.
struct Place {
  std::string path;
  int depth = 0;
  std::string help;  // what the schema says about this value

  Place below(std::string child_path) const { return {std::move(child_path), depth + 1, {}}; }
};

using Violations = std::vector<Violation>;
using TypeNames = std::vector<std::string>;

bool has_type(const JsonNode& value, std::string_view type) {
  switch (value.kind) {
    case JsonKind::kNull:
      return type == "null";
    case JsonKind::kBoolean:
      return type == "boolean";
    case JsonKind::kNumber:
      return type == "number" || (type == "integer" && std::trunc(value.number) == value.number);
    case JsonKind::kString:
      return type == "string";
    case JsonKind::kArray:
      return type == "array";
    case JsonKind::kObject:
      break;
  }
  return type == "object";
}

bool has_one_of(const JsonNode& value, const TypeNames& types) {
  return types.empty() || std::any_of(types.begin(), types.end(), [&](const std::string& type) {
           return has_type(value, type);
         });
}

/// "a number", "a number or a string", "a number, a string or an array".
std::string alternatives_text(const TypeNames& types) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i > 0) text += i + 1 == types.size() ? " or " : ", ";
    const bool has_vowel = std::string_view("aio").find(types[i].front()) != std::string::npos;
    if (types[i] != "null") text += has_vowel ? "an " : "a ";
    text += types[i];
  }
  return text;
}

bool is_equal(const JsonNode& a, const JsonNode& b) {
  if (a.kind != b.kind || a.boolean != b.boolean || a.number != b.number) return false;
  if (a.string != b.string || a.members.size() != b.members.size()) return false;
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(), is_equal) &&
         std::all_of(a.members.begin(), a.members.end(), [&](const JsonMember& member) {
           const JsonNode* other = b.find(member.key);
           return other != nullptr && is_equal(member.node, *other);
         });
}

/// A value as it would be written, for "is 2, must be 1"; arrays and objects in words.
std::string value_text(const JsonNode& value) {
  if (value.is_number()) return excerpt(value.number_text);
  if (value.is_string()) return fmt::format("\"{}\"", excerpt(value.string));
  if (value.is_boolean()) return value.boolean ? "true" : "false";
  return describe(value);
}

TypeNames names_in(const JsonNode& types) {
  if (types.is_string()) return {types.string};
  TypeNames names;
  for (const JsonNode& item : types.items) names.push_back(item.string);
  return names;
}

class Validator {
 public:
  explicit Validator(const JsonNode& root) : root_(root) {}

  void check(const JsonNode& value, const JsonNode& schema, Place place, Violations& out) const;

 private:
  TypeNames types_of(const JsonNode& schema) const;
  TypeNames types_of_all(const JsonNode& branches) const;
  std::string description_of(const JsonNode& schema) const;
  void check_alternatives(const JsonNode& value, const JsonNode& branches, bool is_exclusive,
                          const Place& place, Violations& out) const;
  void check_object(const JsonNode& value, const JsonNode& schema, const Place& place,
                    Violations& out) const;
  void check_member(const JsonMember& member, const JsonNode& schema, const Place& place,
                    Violations& out) const;
  void check_required(const JsonNode& value, const JsonNode& schema, const Place& place,
                      Violations& out) const;

  const JsonNode& root_;
};

void report(const JsonNode& value, const Place& place, std::string_view statement, std::string help,
            Violations& out) {
  const std::string_view subject = place.path.empty() ? "the document " : "";
  out.push_back({value.position, place.path, fmt::format("{}{}", subject, statement),
                 std::move(help), place.depth});
}

void report_type(const JsonNode& value, const TypeNames& types, const Place& place,
                 Violations& out) {
  report(value, place, fmt::format("is {}, expected {}", describe(value), alternatives_text(types)),
         place.help, out);
  out.back().is_wrong_type = true;
}

/// How far into the value its types were as expected.
int depth_of_types(const Violations& violations) {
  int depth = std::numeric_limits<int>::max();
  for (const Violation& violation : violations)
    if (violation.is_wrong_type) depth = std::min(depth, violation.depth);
  return depth;
}

void check_choice(const JsonNode& value, const JsonNode& schema, const Place& place,
                  Violations& out) {
  if (const JsonNode* constant = schema.find("const"); constant && !is_equal(value, *constant))
    report(value, place, fmt::format("is {}, must be {}", value_text(value), value_text(*constant)),
           place.help, out);
  const JsonNode* choices = schema.find("enum");
  if (choices == nullptr) return;
  std::vector<std::string> texts, names;
  for (const JsonNode& choice : choices->items) {
    if (is_equal(value, choice)) return;
    texts.push_back(value_text(choice));
    if (choice.is_string()) names.push_back(choice.string);
  }
  const auto nearest = value.is_string() ? nearest_name(value.string, names) : std::nullopt;
  report(value, place, fmt::format("is {}, must be one of {}", value_text(value), joined(texts)),
         nearest ? fmt::format("did you mean \"{}\"?", *nearest) : place.help, out);
}

void check_number(const JsonNode& value, const JsonNode& schema, const Place& place,
                  Violations& out) {
  const auto require = [&](std::string_view keyword, std::string_view relation, auto is_met) {
    const JsonNode* limit = schema.find(keyword);
    if (limit == nullptr || is_met(value.number, limit->number)) return;
    report(value, place,
           fmt::format("is {}, must be {} {}", value_text(value), relation, limit->number_text),
           place.help, out);
  };
  require("minimum", ">=", std::greater_equal<>());
  require("maximum", "<=", std::less_equal<>());
  require("exclusiveMinimum", ">", std::greater<>());
  require("exclusiveMaximum", "<", std::less<>());
}

struct Count {
  std::size_t number;
  std::string_view noun;
};

void check_count(const JsonNode& value, Count count, const JsonNode* minimum,
                 const JsonNode* maximum, const Place& place, Violations& out) {
  const auto number = static_cast<double>(count.number);
  const auto tell = [&](std::string_view bound, const JsonNode& limit) {
    report(value, place,
           fmt::format("has {} {}{}, must have {} {}", count.number, count.noun,
                       count.number == 1 ? "" : "s", bound, limit.number_text),
           place.help, out);
  };
  if (minimum != nullptr && number < minimum->number) tell("at least", *minimum);
  if (maximum != nullptr && number > maximum->number) tell("at most", *maximum);
}

void Validator::check(const JsonNode& value, const JsonNode& schema, Place place,
                      Violations& out) const {
  // The outermost description of a value is the one written for this very key.
  if (place.help.empty()) place.help = description_of(schema);
  if (const JsonNode* reference = schema.find("$ref"))
    check(value, *find_definition(root_, reference->string), place, out);
  if (const JsonNode* types = schema.find("type"); types && !has_one_of(value, names_in(*types)))
    return report_type(value, names_in(*types), place, out);  // all else would only repeat it
  check_choice(value, schema, place, out);
  if (value.is_number()) check_number(value, schema, place, out);
  if (value.is_object()) check_object(value, schema, place, out);
  if (value.is_array()) {
    check_count(value, {value.items.size(), "item"}, schema.find("minItems"),
                schema.find("maxItems"), place, out);
    if (const JsonNode* items = schema.find("items"))
      for (std::size_t i = 0; i < value.items.size(); ++i)
        check(value.items[i], *items, place.below(item_path(place.path, i)), out);
  }
  for (const bool is_exclusive : {true, false})
    if (const JsonNode* branches = schema.find(is_exclusive ? "oneOf" : "anyOf"))
      check_alternatives(value, *branches, is_exclusive, place, out);
}

/// The types that a schema allows, its alternatives taken together; empty where it allows any.
TypeNames Validator::types_of(const JsonNode& schema) const {
  if (const JsonNode* types = schema.find("type")) return names_in(*types);
  if (const JsonNode* reference = schema.find("$ref"))
    return types_of(*find_definition(root_, reference->string));
  for (const char* keyword : {"oneOf", "anyOf"})
    if (const JsonNode* branches = schema.find(keyword)) return types_of_all(*branches);
  return {};
}

TypeNames Validator::types_of_all(const JsonNode& branches) const {
  TypeNames all;
  for (const JsonNode& branch : branches.items) {
    const TypeNames types = types_of(branch);
    if (types.empty()) return {};
    for (const std::string& type : types)
      if (std::find(all.begin(), all.end(), type) == all.end()) all.push_back(type);
  }
  return all;
}

std::string Validator::description_of(const JsonNode& schema) const {
  if (const JsonNode* description = schema.find("description")) return description->string;
  if (const JsonNode* reference = schema.find("$ref"))
    return description_of(*find_definition(root_, reference->string));
  return {};
}

/// Where no alternative fits, the violations of one of them are reported: the one whose types fit
/// deepest into the value, since that is most likely the form that was meant; among equals the one
/// with the fewest faults, then the first.
void Validator::check_alternatives(const JsonNode& value, const JsonNode& branches,
                                   bool is_exclusive, const Place& place, Violations& out) const {
  if (const TypeNames types = types_of_all(branches); !has_one_of(value, types))
    return report_type(value, types, place, out);
  Violations best;
  std::pair<int, std::ptrdiff_t> best_rank;
  int num_fitting = 0;
  for (const JsonNode& branch : branches.items) {
    Violations found;
    check(value, branch, place, found);
    if (found.empty()) {
      ++num_fitting;
      continue;
    }
    const std::pair rank(depth_of_types(found), -std::ssize(found));
    if (best.empty() || rank > best_rank) {
      best = std::move(found);
      best_rank = rank;
    }
  }
  if (num_fitting == 0) out.insert(out.end(), best.begin(), best.end());
  if (is_exclusive && num_fitting > 1)
    report(value, place, "fits more than one of the allowed forms", place.help, out);
}

void Validator::check_object(const JsonNode& value, const JsonNode& schema, const Place& place,
                             Violations& out) const {
  check_count(value, {value.members.size(), "key"}, schema.find("minProperties"), nullptr, place,
              out);
  check_required(value, schema, place, out);
  for (const JsonMember& member : value.members) check_member(member, schema, place, out);
}

void Validator::check_required(const JsonNode& value, const JsonNode& schema, const Place& place,
                               Violations& out) const {
  const JsonNode* required = schema.find("required");
  if (required == nullptr) return;
  const JsonNode* properties = schema.find("properties");
  for (const JsonNode& key : required->items) {
    if (value.find(key.string) != nullptr) continue;
    const JsonNode* property = properties != nullptr ? properties->find(key.string) : nullptr;
    out.push_back({value.position, place.path,
                   fmt::format("required key '{}' is missing", key.string),
                   property != nullptr ? description_of(*property) : std::string(), place.depth});
  }
}

void Validator::check_member(const JsonMember& member, const JsonNode& schema, const Place& place,
                             Violations& out) const {
  const Place below = place.below(member_path(place.path, member.key));
  if (schema.find("propertyNames") != nullptr && !is_identifier(member.key))
    out.push_back(
        {member.key_position, place.path,
         fmt::format("key '{}' is not a name that expressions can use", excerpt(member.key)),
         "a name is a letter or '_', then letters, digits and '_'", below.depth});
  const JsonNode* properties = schema.find("properties");
  if (properties != nullptr)
    if (const JsonNode* property = properties->find(member.key))
      return check(member.node, *property, below, out);
  if (const JsonNode* reasons = schema.find("x-unsupported"))
    if (const JsonNode* reason = reasons->find(member.key)) {
      out.push_back({member.key_position, below.path, reason->string, {}, below.depth});
      return;
    }
  const JsonNode* additional = schema.find("additionalProperties");
  if (additional == nullptr) return;
  if (additional->is_object()) return check(member.node, *additional, below, out);
  if (additional->boolean) return;
  std::vector<std::string> known;
  if (properties != nullptr)
    for (const JsonMember& property : properties->members) known.push_back(property.key);
  out.push_back({member.key_position, place.path,
                 fmt::format("unknown key '{}'", excerpt(member.key)),
                 suggestion(member.key, known), below.depth});
}

}  // namespace

SceneSchema::SceneSchema() : SceneSchema(scene_schema_text()) {}

SceneSchema::SceneSchema(std::string_view schema_text) {
  Diagnostics diagnostics("schema");
  std::optional<JsonNode> root = parse_json(schema_text, diagnostics);
  if (diagnostics.has_errors()) throw InputError(diagnostics.to_text());
  ST_DEMAND(root.has_value());
  check_schema(*root, *root, "#");
  root_ = std::move(*root);
}

bool SceneSchema::validate(const JsonNode& document, Diagnostics& diagnostics) const {
  Violations violations;
  Validator(root_).check(document, root_, Place{}, violations);
  for (Violation& violation : violations)
    diagnostics.error(violation.where, std::move(violation.path), std::move(violation.message),
                      std::move(violation.help));
  return violations.empty();
}

}  // namespace stiction
