// A study: one scene, run many times with other values. The product of all lists and ranges is the
// grid; where values are drawn, every point of the grid is run with each draw. What a run is made
// of follows from the study and the number of the run alone, never from who runs it or when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stiction/base/diagnostics.h"
#include "stiction/scene/scene_override.h"

namespace stiction {

/// One parameter, or any other value of the scene.
struct StudyAxis {
  enum class Kind { kGrid, kUniform, kLogUniform, kNormal };
  std::string path;  // as of scene_override.h
  Kind kind = Kind::kGrid;
  std::vector<std::string> values;  // of a grid, JSON
  double first = 0, second = 0;     // bounds, or mean and deviation, of draws
};

struct Study {
  std::string name;
  std::string scene_path;
  std::string scene_text;               // as the file has it
  std::vector<SceneOverride> simulate;  // the same for all runs
  std::vector<StudyAxis> axes;
  std::int64_t draws = 1;
  std::uint64_t seed = 0;
  double time_limit = 0;            // [s] of wall time for a run; 0: none
  std::vector<std::string> finals;  // columns: last values of these
  std::vector<std::string> watch;   // columns: least, greatest and mean values of these

  std::int64_t num_grid_points() const;
  std::int64_t num_runs() const { return num_grid_points() * draws; }
  /// The values of a run as JSON, one per axis. The last axis changes fastest, draws after it.
  std::vector<std::string> values_of(std::int64_t run) const;
  /// The whole scene of a run. Faults go to `diagnostics`.
  std::optional<std::string> scene_of(std::int64_t run, Diagnostics& diagnostics) const;
  /// Tells studies apart, so that none goes on where another left off.
  std::uint64_t fingerprint() const;
};

/// Reads and checks a study: its own rules, that the scene is one, and that all paths and names are
/// there. Faults of the study go to `diagnostics`, those of the scene to `scene_diagnostics`.
[[nodiscard]] std::optional<Study> read_study(const std::string& path, Diagnostics& diagnostics,
                                              Diagnostics& scene_diagnostics);

}  // namespace stiction
