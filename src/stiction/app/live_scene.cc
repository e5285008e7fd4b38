#include "stiction/app/live_scene.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/app/simulation_options.h"
#include "stiction/base/error.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/scene/json_document.h"
#include "stiction/scene/json_text.h"

namespace stiction {
namespace {

constexpr std::string_view kPullSpring = "pull by hand";

JsonNode parse(const std::string& text) {
  Diagnostics diagnostics("scene");
  std::optional<JsonNode> root = parse_json(text, diagnostics);
  if (!root || !root->is_object()) throw InputError(diagnostics.to_text());
  return std::move(*root);
}

JsonNode* find_member(JsonNode& object, std::string_view key) {
  for (JsonMember& member : object.members)
    if (member.key == key) return &member.node;
  return nullptr;
}

/// The member, an empty object if it is new.
JsonNode& member_of(JsonNode& object, std::string_view key) {
  if (JsonNode* found = find_member(object, key)) return *found;
  add_member(object, key, make_json_object());
  return object.members.back().node;
}

/// Writes what the command line says over what the scene says.
void write_settings(JsonNode& simulate, const SimulateSettings& settings,
                    const RunOptions& options) {
  const auto set = [&](std::string_view key, JsonNode value) {
    member_of(simulate, key) = std::move(value);
  };
  set("scheme", make_json(settings.scheme));
  set("solver", make_json(settings.solver));
  set("friction", make_json(to_text(settings.friction)));
  set("h", make_json(settings.h));
  set("duration", make_json(settings.duration));
  set("tol", make_json(settings.tolerance));
  set("on_failure", make_json(settings.on_failure));
  set("every", make_json(static_cast<double>(settings.every)));
  set("project_start", make_json(settings.project_start));
  if (settings.sleep || options.sleeps) set("sleep", make_json(settings.sleep));
  if (settings.stepping.projection) set("projection", make_json(*settings.stepping.projection));
  if (options.jacobians) set("jacobians", make_json(*options.jacobians));
  if (options.iterates_positions)
    member_of(member_of(simulate, "spook"), "position_iteration") = make_json(true);
  if (options.error_tolerance)
    member_of(member_of(simulate, "error_control"), "tolerance") =
        make_json(*options.error_tolerance);
  if (!options.has_no_events) return;
  for (const char* key : {"collisions", "transitions"})
    member_of(member_of(simulate, "events"), key) = make_json(false);
}

const RigidBodySystem* find_bodies(const Model& model) {
  for (const Model::Part& part : model.parts())
    if (const auto* bodies = dynamic_cast<const RigidBodySystem*>(part.system.get())) return bodies;
  return nullptr;
}

void add_pull_spring(JsonNode& root, const Model& model) {
  const RigidBodySystem* bodies = find_bodies(model);
  if (bodies == nullptr) return;
  const auto& all = bodies->description().bodies;
  const auto moving = std::find_if(all.begin(), all.end(), [](const BodyDescription& body) {
    return body.motion == BodyDescription::Motion::kDynamic;
  });
  const auto& springs = bodies->description().springs;
  const bool is_taken = std::any_of(springs.begin(), springs.end(),
                                    [](const auto& spring) { return spring.name == kPullSpring; });
  if (moving == all.end() || is_taken) return;
  JsonNode end = make_json_object(), place = make_json_object(), between = make_json_array();
  add_member(end, "body", make_json(moving->name));
  add_member(place, "world", make_json(moving->position));
  add_item(between, std::move(end));
  add_item(between, std::move(place));
  JsonNode spring = make_json_object();
  add_member(spring, "name", make_json(kPullSpring));
  add_member(spring, "between", std::move(between));
  add_member(spring, "stiffness", make_json(0.0));
  if (find_member(root, "springs") == nullptr) add_member(root, "springs", make_json_array());
  add_item(*find_member(root, "springs"), std::move(spring));
}

/// Multiplies a coefficient of friction, which may be a formula.
void scale_friction(JsonNode& owner, double factor) {
  JsonNode* mu = find_member(owner, "mu");
  if (mu == nullptr) return;
  if (mu->is_number())
    *mu = make_json(factor * mu->number);
  else if (mu->is_string())
    *mu = make_json(fmt::format("({}) * {}", mu->string, factor));
}

void scale_all_friction(JsonNode& root, double factor) {
  if (JsonNode* materials = find_member(root, "materials"))
    for (JsonMember& material : materials->members) scale_friction(material.node, factor);
  if (JsonNode* pairs = find_member(root, "material_pairs"))
    for (JsonNode& pair : pairs->items) scale_friction(pair, factor);
  if (JsonNode* generalized = find_member(root, "generalized"))
    if (JsonNode* contacts = find_member(*generalized, "contacts"))
      for (JsonNode& contact : contacts->items) scale_friction(contact, factor);
}

/// Objects that hold parameters.
std::vector<JsonNode*> find_homes(JsonNode& root) {
  std::vector<JsonNode*> homes;
  for (JsonNode* owner : {&root, find_member(root, "generalized")})
    if (owner != nullptr)
      if (JsonNode* parameters = find_member(*owner, "parameters")) homes.push_back(parameters);
  return homes;
}

void set_parameter(JsonNode& root, const std::string& name, double value) {
  bool is_found = false;
  for (JsonNode* home : find_homes(root))
    if (JsonNode* parameter = find_member(*home, name)) {
      *parameter = make_json(value);
      is_found = true;
    }
  if (!is_found) throw InputError(fmt::format("the scene has no parameter '{}'", name));
}

}  // namespace

std::string make_live_text(const Scene& scene, const RunOptions& options) {
  JsonNode root = parse(scene.text);
  member_of(root, "name") = make_json(scene.name);
  write_settings(member_of(root, "simulate"), merged_settings(scene.simulate, options), options);
  add_pull_spring(root, scene.model);
  return to_json_text(root);
}

Scene read_live_scene(const std::string& text, const WorldChanges& changes,
                      const std::string& place, bool is_at_start) {
  JsonNode root = parse(text);
  if (changes.gravity) member_of(root, "gravity") = make_json(*changes.gravity);
  if (changes.friction_factor != 1) scale_all_friction(root, changes.friction_factor);
  for (const auto& [name, value] : changes.parameters) set_parameter(root, name, value);
  Diagnostics diagnostics(place);
  SceneOverrides overrides;
  if (!is_at_start) overrides.project_start = true;
  std::optional<Scene> scene =
      read_scene(to_json_line(root), known_names(), diagnostics, overrides);
  if (!scene) throw InputError(diagnostics.to_text());
  return std::move(*scene);
}

int find_pull_spring(const Scene& scene) {
  const RigidBodySystem* bodies = find_bodies(scene.model);
  if (bodies == nullptr) return -1;
  const auto& springs = bodies->description().springs;
  for (std::size_t i = 0; i < springs.size(); ++i)
    if (springs[i].name == kPullSpring) return static_cast<int>(i);
  return -1;
}

std::map<std::string, double> find_parameters(const std::string& text) {
  JsonNode root = parse(text);
  std::map<std::string, double> parameters;
  for (const JsonNode* home : find_homes(root))
    for (const JsonMember& member : home->members)
      if (member.node.is_number()) parameters[member.key] = member.node.number;
  return parameters;
}

}  // namespace stiction
