#include "stiction/app/experiments/example_scene.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "stiction/app/experiments/example_texts.h"
#include "stiction/app/scene_loading.h"
#include "stiction/base/error.h"

namespace stiction::experiments {
namespace {

Scene read(const std::string& name, const std::string& text) {
  Diagnostics diagnostics(name);
  auto scene = read_scene(text, known_names(), diagnostics);
  if (!scene) throw InputError(diagnostics.to_text());
  return *std::move(scene);
}

}  // namespace

std::string_view example_text(std::string_view name) {
  for (const ExampleText& example : example_texts())
    if (example.name == name) return example.text;
  throw InputError(fmt::format("there is no example '{}'", name));
}

Scene example(const std::string& name) { return read(name, std::string(example_text(name))); }

Scene edit_scene(const std::string& name, std::string_view text, const SceneEdit& edit) {
  auto document = nlohmann::ordered_json::parse(text, nullptr, true, /*ignore_comments=*/true);
  edit(document);
  return read(name, document.dump(2));
}

Scene edited_example(const std::string& name, const SceneEdit& edit) {
  return edit_scene(name, example_text(name), edit);
}

SceneEdit with_parameters(std::map<std::string, double> values) {
  return [values = std::move(values)](nlohmann::ordered_json& document) {
    auto& parameters = document.at("generalized").at("parameters");
    for (const auto& [parameter, value] : values) parameters.at(parameter) = value;
  };
}

SimulationOptions options_of(const Scene& scene) { return to_simulation_options(scene.simulate); }

SimulationOptions options_of(const Scene& scene, const std::string& scheme, double h) {
  SimulationOptions options = options_of(scene);
  options.scheme = scheme;
  options.h = h;
  return options;
}

}  // namespace stiction::experiments
