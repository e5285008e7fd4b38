// Scenes as text: JSON values are put together and written so that people can read them. Numbers
// read back as the same doubles.
#pragma once

#include <Eigen/Core>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "stiction/scene/json_document.h"

namespace stiction {

/// Throws InputError for a number that is not finite, which JSON does not have.
JsonNode make_json(double number);
JsonNode make_json(bool boolean);
JsonNode make_json(std::string_view text);
inline JsonNode make_json(const char* text) { return make_json(std::string_view(text)); }
JsonNode make_json(const Eigen::Vector3d& vector);
JsonNode make_json_array(std::span<const double> numbers);
JsonNode make_json_array();
JsonNode make_json_object();

/// Appends; the object must not have the key yet.
void add_member(JsonNode& object, std::string_view key, JsonNode value);
void add_item(JsonNode& array, JsonNode value);

/// The text of a value, ended by a line break. What fits into a line stands in one.
std::string to_json_text(const JsonNode& node);
/// The same in one line, without the break.
std::string to_json_line(const JsonNode& node);

}  // namespace stiction
