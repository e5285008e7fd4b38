#include "stiction/scene/scene_override.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "stiction/base/text.h"
#include "stiction/scene/json_text.h"

namespace stiction {
namespace {

/// The words of a path: a.b[3]['c d'] is a, b, 3, c d. Nothing if it is not one.
std::optional<std::vector<std::string>> split_path(std::string_view path) {
  std::vector<std::string> words;
  std::size_t i = 0;
  while (i < path.size()) {
    std::size_t end = 0;
    if (path.substr(i).starts_with("['")) {
      end = path.find("']", i + 2);
      if (end == std::string_view::npos) return std::nullopt;
      words.emplace_back(path.substr(i + 2, end - i - 2));
      i = end + 2;
    } else if (path[i] == '[') {
      end = path.find(']', i);
      if (end == std::string_view::npos) return std::nullopt;
      words.emplace_back(path.substr(i + 1, end - i - 1));
      i = end + 1;
    } else {
      if (path[i] == '.') ++i;
      end = std::min(path.find_first_of(".[", i), path.size());
      words.emplace_back(path.substr(i, end - i));
      i = end;
    }
    if (words.back().empty()) return std::nullopt;
  }
  if (words.empty()) return std::nullopt;
  return words;
}

JsonNode* find_member(JsonNode& object, std::string_view key) {
  for (JsonMember& member : object.members)
    if (member.key == key) return &member.node;
  return nullptr;
}

std::vector<std::string> names_in(const JsonNode& node) {
  std::vector<std::string> names;
  for (const JsonMember& member : node.members) names.push_back(member.key);
  for (const JsonNode& item : node.items)
    if (const JsonNode* name = item.find("name"); name != nullptr && name->is_string())
      names.push_back(name->string);
  return names;
}

JsonNode* find_item(JsonNode& array, const std::string& word) {
  std::size_t index = 0;
  const char* end = word.data() + word.size();
  if (std::from_chars(word.data(), end, index).ptr == end)
    return index < array.items.size() ? &array.items[index] : nullptr;
  for (JsonNode& item : array.items)
    if (const JsonNode* name = item.find("name");
        name != nullptr && name->is_string() && name->string == word)
      return &item;
  return nullptr;
}

JsonNode* find_child(JsonNode& node, const std::string& word) {
  return node.is_array() ? find_item(node, word) : find_member(node, word);
}

/// Objects that a name without path may be a key of.
std::vector<JsonNode*> find_homes(JsonNode& root) {
  std::vector<JsonNode*> homes;
  if (JsonNode* parameters = find_member(root, "parameters")) homes.push_back(parameters);
  if (JsonNode* generalized = find_member(root, "generalized"))
    if (JsonNode* parameters = find_member(*generalized, "parameters")) homes.push_back(parameters);
  if (JsonNode* simulate = find_member(root, "simulate")) homes.push_back(simulate);
  return homes;
}

/// The place of a name without path; an error unless there is exactly one.
JsonNode* find_by_name(JsonNode& root, const std::string& name, Diagnostics& diagnostics) {
  JsonNode* found = nullptr;
  std::vector<std::string> known;
  for (JsonNode* home : find_homes(root)) {
    for (const JsonMember& member : home->members) known.push_back(member.key);
    JsonNode* here = find_member(*home, name);
    if (here != nullptr && found != nullptr) {
      diagnostics.error({}, name, "is the name of several parameters of the scene",
                        "write the whole path, such as generalized.parameters." + name);
      return nullptr;
    }
    if (here != nullptr) found = here;
  }
  if (found == nullptr)
    diagnostics.error({}, name, "no such parameter in the scene", suggestion(name, known));
  return found;
}

/// The place of a path. A last key that an object does not have yet is added.
JsonNode* find_place(JsonNode& root, const std::string& path, Diagnostics& diagnostics) {
  const auto words = split_path(path);
  if (!words) {
    diagnostics.error({}, path, "is no path of a scene",
                      "write a parameter's name, or a path such as bodies[0].mass");
    return nullptr;
  }
  if (words->size() == 1 && find_member(root, words->front()) == nullptr)
    return find_by_name(root, words->front(), diagnostics);
  JsonNode* node = &root;
  for (std::size_t i = 0; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    JsonNode* next = find_child(*node, word);
    const bool is_last = i + 1 == words->size();
    const bool may_be_new = is_last || (i == 0 && word == "simulate");
    if (next == nullptr && may_be_new && node->is_object()) {
      node->members.push_back({.key = word, .key_position = {}, .node = {}});
      next = &node->members.back().node;
      next->kind = JsonKind::kObject;
    }
    if (next == nullptr) {
      diagnostics.error({}, path, fmt::format("the scene has no '{}' there", word),
                        suggestion(word, names_in(*node)));
      return nullptr;
    }
    node = next;
  }
  return node;
}

}  // namespace

std::optional<std::string> override_scene(std::string_view text,
                                          const std::vector<SceneOverride>& overrides,
                                          Diagnostics& diagnostics) {
  std::optional<JsonNode> root = parse_json(text, diagnostics);
  if (!root || diagnostics.has_errors()) return std::nullopt;
  if (!root->is_object()) {
    diagnostics.error({}, "", "is no scene, expected an object");
    return std::nullopt;
  }
  for (const SceneOverride& one : overrides) {
    const std::optional<JsonNode> value = parse_json(one.value, diagnostics);
    if (!value) return std::nullopt;
    if (JsonNode* place = find_place(*root, one.path, diagnostics)) *place = *value;
  }
  if (diagnostics.has_errors()) return std::nullopt;
  return to_json_line(*root);
}

}  // namespace stiction
