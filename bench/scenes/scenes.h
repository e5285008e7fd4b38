// The scenes of the comparison, each with what is known about it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/peers/chain.h"
#include "bench/scenes/scene.h"

namespace stiction::bench {

/// The states of all bodies after each step; frame 0 is the start. Scenes with very many bodies
/// keep only the first and the last frame.
struct Trajectory {
  double h = 0;  // [s]
  std::vector<std::vector<BodyState>> frames{};
};

/// A number that is 0 for an exact engine.
struct SceneError {
  std::string name;  // with its unit
  double value = 0;
};

struct SceneCase {
  SceneDescription description;
  /// What is wrong with a whole trajectory beyond what is measured in every scene. The first one
  /// is what the scene is about; without any, the penetration is.
  std::function<std::vector<SceneError>(const SceneDescription&, const Trajectory&)> judge{};
  /// Names of the errors that `judge` returns, for tables of engines that never got there.
  std::vector<std::string> error_names{};
  /// [s] What `judge` knows is true of no shorter run; 0: of any.
  double judged_from = 0;
};

SceneCase make_wall();
/// The wall, and a ball that has nearly reached it: everything in it moves. For measuring threads,
/// which a wall at rest gives next to nothing to do.
SceneCase make_struck_wall();
SceneCase make_spheres(int count);
SceneCase make_logs();
SceneCase make_stack();
SceneCase make_incline(bool is_steep);
SceneCase make_chain(const ChainScene& chain = {});
SceneCase make_sliding();
SceneCase make_rolling_plate();

/// All but those for scaling.
std::vector<SceneCase> list_scene_cases();
/// Spheres in a box of the same depth, by their number.
std::vector<SceneCase> list_scaling_cases();
/// The same for any number of spheres.
SceneCase make_scaling_case(int count);

}  // namespace stiction::bench
