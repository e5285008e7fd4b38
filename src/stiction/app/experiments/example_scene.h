// The scenes of examples/ as they were when the program was built: an installed program needs no
// source tree. With parameters changed, and with their own settings as options of a simulation.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction::experiments {

/// Throws InputError for a scene that does not exist.
std::string_view example_text(std::string_view name);

Scene example(const std::string& name);

using SceneEdit = std::function<void(nlohmann::ordered_json& document)>;

/// A scene given as text after `edit(document)` has changed its JSON. Throws InputError with all
/// faults of what comes out.
Scene edit_scene(const std::string& name, std::string_view text, const SceneEdit& edit);
/// The same for a scene of examples/.
Scene edited_example(const std::string& name, const SceneEdit& edit);
/// Other values for some parameters of a generalised system; all of them must be there.
SceneEdit with_parameters(std::map<std::string, double> values);

/// What the scene's author asks for, with another scheme and step.
SimulationOptions options_of(const Scene& scene);
SimulationOptions options_of(const Scene& scene, const std::string& scheme, double h);

}  // namespace stiction::experiments
