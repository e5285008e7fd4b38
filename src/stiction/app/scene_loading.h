// Reading a scene for a command: messages go to stderr, an unusable scene ends the command.
#pragma once

#include <optional>
#include <string>

#include "stiction/app/simulation_options.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {

/// The scene, or nothing after its faults (all of them) were printed.
std::optional<Scene> load_scene(const std::string& path, const SceneOverrides& overrides = {});

/// Tells on stderr what the scheme leaves out of the model.
void print_notes(const Simulation& simulation);

}  // namespace stiction
