// Reading a scene for a command: messages go to stderr, an unusable scene ends the command.
#pragma once

#include <optional>
#include <string>

#include "stiction/scene/scene.h"

namespace stiction {

/// Schemes and solvers of this program.
KnownNames known_names();
/// The scene, or nothing after its faults (all of them) were printed.
std::optional<Scene> load_scene(const std::string& path);

}  // namespace stiction
