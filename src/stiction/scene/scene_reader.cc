// read_scene: schema first, then what a schema cannot say, then the start of the simulation.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/base/whole_file.h"
#include "stiction/model/expression_system.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/scene/bodies_reader.h"
#include "stiction/scene/generalized_reader.h"
#include "stiction/scene/scene.h"
#include "stiction/scene/schema.h"
#include "stiction/scene/start_faults.h"
#include "stiction/scene/stepping_reader.h"
#include "stiction/scene/view_reader.h"

namespace stiction {
namespace {

std::string read_string(const SceneValue& value, const std::string& fallback) {
  return value.is_string() ? value.node->string : fallback;
}

void check_known(const SceneValue& value, const std::string& what,
                 const std::vector<std::string>& known, Diagnostics& diagnostics) {
  if (!value.is_string() || known.empty()) return;
  const std::string& name = value.node->string;
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  diagnostics.error(value.node->position, value.path, fmt::format("unknown {} '{}'", what, name),
                    "known: " + joined(known));
}

SimulateSettings read_simulate(const SceneValue& value, const SymbolTable& parameters,
                               const QuantityReader& quantities, const KnownNames& known,
                               Diagnostics& diagnostics) {
  SimulateSettings settings;
  if (!value.is_object()) return settings;
  settings.scheme = read_string(value["scheme"], settings.scheme);
  settings.solver = read_string(value["solver"], settings.solver);
  settings.on_failure = read_string(value["on_failure"], settings.on_failure);
  settings.project_start = value["project_start"].boolean_or(settings.project_start);
  settings.sleep = value["sleep"].boolean_or(settings.sleep);
  settings.stepping = read_stepping(value, parameters, quantities);
  const SceneValue collision = value["collision"];
  settings.collision.reduces = collision["reduce"].boolean_or(true);
  settings.collision.alternatives = collision["alternatives"].boolean_or(true);
  check_known(value["scheme"], "scheme", known.schemes, diagnostics);
  check_known(value["solver"], "solver", known.solvers, diagnostics);
  const auto number = [&](const char* key, double& field, const Limits& limits) {
    field = quantities.read_number(value[key], parameters, field, limits);
  };
  number("h", settings.h, {.above = 0});
  number("duration", settings.duration, {.at_least = 0});
  number("tol", settings.tolerance, {.above = 0});
  number("penetration_tolerance", settings.penetration_tolerance, {.at_least = 0});
  if (const SceneValue every = value["every"]; every && every.node->is_number())
    settings.every = static_cast<int>(every.node->number);
  if (const SceneValue friction = value["friction"]; friction.is_string()) {
    const auto section = try_parse_friction_section(friction.node->string);
    if (section)
      settings.friction = *section;
    else
      diagnostics.error(friction.node->position, friction.path,
                        fmt::format("unknown friction section '{}'", friction.node->string),
                        "write \"disc\", \"box\" or \"polygon:K\" with K even, 4 to 1024");
  }
  return settings;
}

/// Faults of the mass matrix that show without a state.
void report_mass_faults(const ExpressionSystemDescription& description, const SceneValue& mass,
                        Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < description.mass.size(); ++i) {
    const Expression& diagonal = description.mass[i][i];
    if (!diagonal.is_constant() || diagonal.constant_value() > 0) continue;
    const SceneValue cell = mass.item(i).item(i);
    diagnostics.error(
        cell.node->position, cell.path,
        fmt::format("is {}, must be > 0", to_text(diagonal.constant_value())),
        fmt::format("it is the mass of '{}', and the matrix must be positive definite",
                    description.coordinates[i]));
  }
  if (const auto entry = find_asymmetric_mass(description)) {
    const SceneValue cell = mass.item(entry->first).item(entry->second);
    diagnostics.error(cell.node->position, cell.path, "differs from its mirror image",
                      fmt::format("the mass matrix must be symmetric: compare mass[{}][{}]",
                                  entry->second, entry->first));
  }
}

/// The model under construction, and where in the scene its parts come from.
struct ModelInProgress {
  ModelBuilder builder{};
  SceneView view{};
  std::vector<PlaceOfFault> place_of_fault{};
};

/// Reads and adds the rigid bodies; what only the system finds is reported for all of them.
void add_bodies(const SceneValue& root, const std::shared_ptr<ExpressionPool>& pool,
                const SymbolTable& parameters, Diagnostics& diagnostics, ModelInProgress& model) {
  BodiesScene bodies = read_bodies(root, pool, parameters, diagnostics);
  model.view.body_shapes = std::move(bodies.seen_shapes);
  model.view.colors = std::move(bodies.colors);
  if (diagnostics.has_errors()) return;
  try {
    const auto system = std::make_shared<RigidBodySystem>(bodies.description);
    model.builder.add_system(system, system->initial_q(), system->initial_v());
    model.place_of_fault.emplace_back(
        [bodies = std::move(bodies), system](const StartFault& fault) {
          return find_body_place(bodies, *system, fault);
        });
  } catch (const InputError& error) {
    diagnostics.error(root["bodies"].node->position, root["bodies"].path, error.what());
  }
}

/// Reads, compiles and adds the system in its own coordinates; what only the compiler of formulas
/// finds is reported for the whole block.
void add_generalized(const SceneValue& root, const std::shared_ptr<ExpressionPool>& pool,
                     const SymbolTable& parameters, Diagnostics& diagnostics,
                     ModelInProgress& model) {
  const SceneValue place = root["generalized"];
  const GeneralizedSceneSystem read = read_generalized(place, pool, parameters, diagnostics);
  read_view(root["view"], pool, parameters, &read, diagnostics, model.view);
  if (diagnostics.has_errors()) return;
  report_mass_faults(read.description, place["mass"], diagnostics);
  if (diagnostics.has_errors()) return;
  try {
    const auto system = std::make_shared<ExpressionSystem>(read.description);
    model.builder.add_system(system, read.position, read.velocity);
    model.place_of_fault.emplace_back([place, system](const StartFault& fault) {
      return find_generalized_place(place, *system, fault);
    });
  } catch (const InputError& error) {
    diagnostics.error(place.node->position, place.path, error.what());
  }
}

/// Keys of rigid bodies in a scene that has none, and a scene that has nothing.
void report_missing_systems(const SceneValue& root, Diagnostics& diagnostics) {
  if (root["bodies"]) return;
  for (const char* key :
       {"gravity", "materials", "material_pairs", "joints", "springs", "forces", "no_contact"})
    if (const SceneValue given = root[key])
      diagnostics.error(given.node->position, given.path,
                        "belongs to rigid bodies, but the scene has no 'bodies'",
                        "what a system in its own coordinates needs stands in 'generalized'");
  if (!root["generalized"] && root.is_object())
    diagnostics.error(root.node->position, "", "the scene has neither 'bodies' nor 'generalized'",
                      "describe rigid bodies under 'bodies', or a system in its own coordinates "
                      "under 'generalized'");
}

}  // namespace

std::optional<Scene> read_scene(const std::string& text, const KnownNames& known,
                                Diagnostics& diagnostics, const SceneOverrides& overrides) {
  const std::optional<JsonNode> document = parse_json(text, diagnostics);
  if (!document) return std::nullopt;
  SceneSchema().validate(*document, diagnostics);

  const SceneValue root{&*document, ""};
  const auto pool = std::make_shared<ExpressionPool>();
  SymbolTable parameters;
  read_parameters(root["parameters"], pool, parameters, diagnostics);
  Scene scene;
  scene.text = text;
  scene.name = read_string(root["name"], "");
  scene.simulate = read_simulate(root["simulate"], parameters, QuantityReader(pool, diagnostics),
                                 known, diagnostics);
  scene.simulate.project_start = overrides.project_start.value_or(scene.simulate.project_start);
  report_missing_systems(root, diagnostics);
  ModelInProgress model;
  if (root["bodies"].is_array()) add_bodies(root, pool, parameters, diagnostics, model);
  if (root["generalized"].is_object())
    add_generalized(root, pool, parameters, diagnostics, model);
  else
    read_view(root["view"], pool, parameters, nullptr, diagnostics, model.view);
  if (diagnostics.has_errors()) return std::nullopt;

  scene.model = model.builder.build();
  scene.view = std::move(model.view);
  report_start_faults(scene.model, scene.simulate, model.place_of_fault, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return scene;
}

std::optional<SimulateSettings> read_settings(const std::string& text, const KnownNames& known,
                                              Diagnostics& diagnostics) {
  const std::optional<JsonNode> document =
      parse_json("{\"stiction\": 1, \"simulate\": " + text + "}", diagnostics);
  if (!document) return std::nullopt;
  SceneSchema().validate(*document, diagnostics);
  const auto pool = std::make_shared<ExpressionPool>();
  const SceneValue root{&*document, ""};
  const SimulateSettings settings = read_simulate(
      root["simulate"], SymbolTable(), QuantityReader(pool, diagnostics), known, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return settings;
}

std::optional<Scene> read_scene_file(const std::string& path, const KnownNames& known,
                                     Diagnostics& diagnostics, const SceneOverrides& overrides) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    diagnostics.error({}, "", "is a folder, expected a scene file");
    return std::nullopt;
  }
  std::string reason;
  const std::optional<std::string> text = try_read_file(path, reason);
  if (!text) {
    diagnostics.error({}, "", reason);
    return std::nullopt;
  }
  std::optional<Scene> scene = read_scene(*text, known, diagnostics, overrides);
  if (scene && scene->name.empty()) scene->name = std::filesystem::path(path).stem().string();
  return scene;
}

}  // namespace stiction
