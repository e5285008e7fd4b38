// The JSON Schema of scene files, and the check of a document against it. Every violation is
// reported, with its place and path, what was found, what was expected, and the description that
// the schema gives of that key as help: the schema is documentation and check in one.
//
// Understands the part of JSON Schema 2020-12 that scene.schema.json uses: type, properties,
// required, additionalProperties, propertyNames (the pattern of identifiers only), items, minItems,
// maxItems, minProperties, enum, const, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
// oneOf, anyOf, $ref to #/$defs/NAME, and annotations. Of our own: "x-unsupported": {KEY: REASON},
// keys that get REASON as their message instead of "unknown key". Any other keyword in a schema is
// refused.
#pragma once

#include <string_view>

#include "stiction/base/diagnostics.h"
#include "stiction/scene/json_document.h"

namespace stiction {

/// The text of scene.schema.json, compiled in.
std::string_view scene_schema_text();

class SceneSchema {
 public:
  /// The schema that ships with the program.
  SceneSchema();
  /// Another schema. Throws InputError where it is not JSON, uses a keyword that is not listed
  /// above, or refers to a definition that it does not have. A definition must not lead back to
  /// itself without entering an item or a member.
  explicit SceneSchema(std::string_view schema_text);

  /// Reports every violation; returns whether there was none.
  bool validate(const JsonNode& document, Diagnostics& diagnostics) const;

 private:
  JsonNode root_;
};

}  // namespace stiction
