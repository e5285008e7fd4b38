// An engine with settings, as the benchmark sees it.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/scenes/scene.h"

namespace stiction::bench {

/// One engine with a scene in it.
class SceneWorld {
 public:
  virtual ~SceneWorld() = default;
  /// Advances by h. Timed.
  virtual void step() = 0;
  /// Fills the bodies that move, in the order of the scene; leaves static ones alone. Not timed.
  virtual void read(std::vector<BodyState>& bodies) = 0;
  /// Whether the engine itself has given up, for example by resetting the scene.
  virtual bool is_lost() const { return false; }
  /// The largest certificate residual of all steps so far; NaN for engines without certificates.
  virtual double residual_max() const { return std::numeric_limits<double>::quiet_NaN(); }
  /// Steps that missed the tolerance so far.
  virtual int steps_above_tolerance() const { return 0; }
};

/// What an engine cannot do, thrown when it is given a scene; the table shows the message.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the settings are meant for.
enum class Setting { kDefault, kAccurate };

struct SceneContender {
  std::string engine, settings;
  Setting setting = Setting::kDefault;
  std::function<std::unique_ptr<SceneWorld>(const SceneDescription&)> make;
  std::string name() const { return engine + ", " + settings; }
};
using SceneContenders = std::vector<SceneContender>;

/// Ours first, then all that this program was built with.
SceneContenders list_scene_contenders();

SceneContenders make_our_scene_contenders();
/// Ours under `moreau`.
std::unique_ptr<SceneWorld> make_our_world(const SceneDescription& scene, double tolerance,
                                           int num_threads);

/// Each is compiled only where its library is installed, see CMakeLists.txt.
SceneContenders make_ode_scene_contenders();
SceneContenders make_bullet_scene_contenders();
SceneContenders make_mujoco_scene_contenders();
SceneContenders make_dart_scene_contenders();

}  // namespace stiction::bench
