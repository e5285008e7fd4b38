// Scenes of examples/ for the experiments of the papers: with parameters changed, and with their
// own settings as options of a simulation.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction::testing {

/// The scene after `edit(document)` has changed its JSON.
Scene edited_scene(const std::string& name,
                   const std::function<void(nlohmann::ordered_json& document)>& edit);

/// The scene with other values for some parameters of its system; parameters that it does not have
/// fail the test.
Scene scene_variant(const std::string& name, const std::map<std::string, double>& values);

/// What the scene's author asks for, to be changed where a test wants something else.
SimulationOptions options_of(const Scene& scene);

SimulationOptions options_of(const Scene& scene, const std::string& scheme, double h);

}  // namespace stiction::testing
