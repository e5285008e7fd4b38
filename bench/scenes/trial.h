// One contender in one scene, in a process of its own: an engine that crashes, hangs, prints or
// eats the memory is a line of the table and not the end of the benchmark.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "bench/scenes/contender.h"
#include "bench/scenes/scenes.h"

namespace stiction::bench {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct TrialResult {
  std::string contender;
  Setting setting = Setting::kDefault;
  std::string trouble{};  // empty: all steps were taken
  std::string remark{};   // what was not measured, although they were
  int steps = 0;          // taken
  // [s] of the processor, all threads together, per step: over all steps, and from
  // SceneDescription::settled_from on. The least of several runs where one is short.
  double seconds_mean = kUnknown, seconds_settled = kUnknown;
  double penetration_max = kUnknown, penetration_settled = kUnknown;  // [m]
  double joint_gap = kUnknown;                                        // [m]
  double drift = kUnknown;                                            // [m]
  // Relative to energy_scale.
  double energy_scale = kUnknown;  // [J] m g times the height of the scene, all bodies
  double energy_gain = kUnknown;   // most above the start, never negative
  double energy_end = kUnknown;    // end minus start
  double kinetic_end = kUnknown;   // [J]
  double residual = kUnknown;      // of our certificates
  int steps_above_tolerance = 0;
  std::vector<SceneError> errors{};  // what the scene says, empty if it did not come to its end
};

struct TrialLimits {
  double seconds = 60;  // [s] of the processor, after which no further step is begun
  /// [s] after which the process is ended.
  double end() const { return 2 * seconds; }
};

/// In this process; for tests.
TrialResult run_trial(const SceneCase& scene, const SceneContender& contender,
                      const TrialLimits& limits);
/// In a process of its own.
TrialResult run_trial_apart(const SceneCase& scene, const SceneContender& contender,
                            const TrialLimits& limits);

}  // namespace stiction::bench
