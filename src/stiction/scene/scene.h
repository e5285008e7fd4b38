// A scene: a model with its name, its text, and how its author wants it simulated. Plain data;
// which schemes and solvers exist is known to the caller, who passes their names for checking.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/base/diagnostics.h"
#include "stiction/base/stepping_options.h"
#include "stiction/model/model.h"
#include "stiction/problem/friction_section.h"
#include "stiction/scene/scene_view.h"

namespace stiction {

/// The block "simulate" of a scene, with the defaults of scene.schema.json.
struct SimulateSettings {
  std::string scheme = "moreau";
  std::string solver = "auto";
  double h = 1e-3;      // [s]
  double duration = 1;  // [s]
  double tolerance = 1e-9;
  FrictionSection friction{FrictionSection::Kind::kPolygon, 8};
  int every = 1;
  std::string on_failure = "reject";  // reject, retry-smaller, accept-and-flag
  double penetration_tolerance = 1e-6;
  bool project_start = false;
  bool sleep = false;
  SteppingOptions stepping{};
  CollisionOptions collision{};
};

struct Scene {
  std::string name;
  std::string text;  // as read, for the recording
  SimulateSettings simulate;
  Model model;
  SceneView view = {};
};

/// Names that a scene may use for its scheme and solver; empty lists are not checked.
struct KnownNames {
  std::vector<std::string> schemes;
  std::vector<std::string> solvers;
};

/// What a caller has decided over the head of the scene, as far as it changes what is a fault.
struct SceneOverrides {
  std::optional<bool> project_start{};
};

/// Reads a scene. All faults go to `diagnostics`; there is a scene only if there are no errors.
/// A start that can be moved to where constraints and gaps agree is no fault if it is to be: with
/// project_start. (Moving it is the simulation's business.)
[[nodiscard]] std::optional<Scene> read_scene(const std::string& text, const KnownNames& known,
                                              Diagnostics& diagnostics,
                                              const SceneOverrides& overrides = {});
/// The same from a file; a missing or unreadable file is a diagnostic too. The name of a scene that
/// has none is that of the file without folder and ending.
[[nodiscard]] std::optional<Scene> read_scene_file(const std::string& path, const KnownNames& known,
                                                   Diagnostics& diagnostics,
                                                   const SceneOverrides& overrides = {});

/// The block "simulate" alone, for models that come from elsewhere. `text` is that object.
[[nodiscard]] std::optional<SimulateSettings> read_settings(const std::string& text,
                                                            const KnownNames& known,
                                                            Diagnostics& diagnostics);

}  // namespace stiction
