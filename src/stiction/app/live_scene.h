// The scene of a run that may be steered: its text holds all that the run begins with, the settings
// of the command line included, and a spring without strength that takes hold of bodies later on.
// With the commands of the recording it says everything about the motion.
#pragma once

#include <Eigen/Core>
#include <map>
#include <optional>
#include <string>

#include "stiction/app/run_options.h"
#include "stiction/scene/scene.h"

namespace stiction {

/// What can be changed of a scene while it is simulated.
struct WorldChanges {
  std::optional<Eigen::Vector3d> gravity{};    // [m/s²]
  double friction_factor = 1;                  // on all coefficients of friction, ≥ 0
  std::map<std::string, double> parameters{};  // by name
};

/// The text of the scene with what the command line overrules written into it, and with the spring
/// where there is a body that can be pulled. `scene` was read from a file without faults.
std::string make_live_text(const Scene& scene, const RunOptions& options);

/// The scene of such a text, changed. `place` is a path in the folder of the files that the scene
/// names. Throws InputError with all faults; a start that does not fit is none unless the run
/// `is_at_start`.
Scene read_live_scene(const std::string& text, const WorldChanges& changes,
                      const std::string& place, bool is_at_start = false);

/// The spring of make_live_text; −1 if there is none.
int find_pull_spring(const Scene& scene);

/// Parameters whose values are numbers, of the scene and of its system in its own coordinates.
std::map<std::string, double> find_parameters(const std::string& text);

}  // namespace stiction
