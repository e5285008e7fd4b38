#include "tests/papers/scene_variant.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace stiction::testing {

Scene edited_scene(const std::string& name,
                   const std::function<void(nlohmann::ordered_json& document)>& edit) {
  std::ifstream file(std::string(STICTION_SOURCE_DIR) + "/examples/" + name + ".json");
  auto document = nlohmann::ordered_json::parse(file, nullptr, true, /*ignore_comments=*/true);
  edit(document);
  Diagnostics diagnostics(name);
  auto scene = read_scene(document.dump(2), {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  return *scene;
}

Scene scene_variant(const std::string& name, const std::map<std::string, double>& values) {
  return edited_scene(name, [&](nlohmann::ordered_json& document) {
    auto& parameters = document.at("generalized").at("parameters");
    for (const auto& [parameter, value] : values) parameters.at(parameter) = value;
  });
}

SimulationOptions options_of(const Scene& scene) {
  const SimulateSettings& settings = scene.simulate;
  return {.scheme = settings.scheme,
          .solver = settings.solver,
          .h = settings.h,
          .tolerance = settings.tolerance,
          .friction = settings.friction,
          .penetration_tolerance = settings.penetration_tolerance,
          .project_start = settings.project_start,
          .stepping = settings.stepping};
}

SimulationOptions options_of(const Scene& scene, const std::string& scheme, double h) {
  SimulationOptions options = options_of(scene);
  options.scheme = scheme;
  options.h = h;
  return options;
}

}  // namespace stiction::testing
