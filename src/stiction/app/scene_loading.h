// Reading a scene for a command: messages go to stderr, an unusable scene ends the command. And
// what the settings of a scene mean for a simulation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {

/// Schemes and solvers of this program.
KnownNames known_names();
/// The scene, or nothing after its faults (all of them) were printed.
std::optional<Scene> load_scene(const std::string& path, const SceneOverrides& overrides = {});

/// Names of OnFailure in scenes and on the command line, in the order of the enumerators.
std::vector<std::string> on_failure_names();
/// `settings` come from a scene or a checked command line: names are known.
SimulationOptions to_simulation_options(const SimulateSettings& settings);

/// Tells on stderr what the scheme leaves out of the model.
void print_notes(const Simulation& simulation);

}  // namespace stiction
