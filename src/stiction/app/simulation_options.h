// What the settings of a scene mean for a simulation: the only place that knows both. Shared by the
// program and the Python package.
#pragma once

#include <string>
#include <vector>

#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {

/// Schemes and solvers of this program.
KnownNames known_names();

/// Names of OnFailure in scenes and on the command line, in the order of the enumerators.
std::vector<std::string> on_failure_names();
/// `settings` come from a scene or a checked command line: names are known.
SimulationOptions to_simulation_options(const SimulateSettings& settings);

}  // namespace stiction
