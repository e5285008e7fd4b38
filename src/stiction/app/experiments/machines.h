// What the wheel loader (E11), the rover and the pawl (E12) are asked.
#pragma once

#include <string>

#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/mechanism_watch.h"

namespace stiction::experiments {

inline constexpr int kNumRocks = 151;

/// The loader without rocks, `compliance` of rigid rows as given.
Scene bare_loader(double compliance = 1e-8);

/// A smooth step from 0 to 1 between two times, as in the loader's script.
double loader_ramp(double t, double from, double to);

int rocks_in_bucket(const MechanismWatch& watch);

/// Figure 14: root mean square over 7.5 s of the largest error of a joint. Motors and wheels are
/// the same functions of time for every step.
double loader_joint_error(double h, double compliance);

inline constexpr int kNumWheels = 4;
/// Wheels of the rover that press on the ground in the last step.
int num_loaded_wheels(const Simulation& simulation);

/// The rover with its rockers fixed to the chassis.
Scene stiff_rover();

inline constexpr double kPawlLength = 2.3e-3;  // [m]

struct PawlComparison {
  double difference = 0;                   // [m] of positions
  double turn = 0;                         // of the quaternion
  long long rows_whole = 0, rows_cut = 0;  // of all problems
};

/// The pawl on a plate of fifty triangles in one mesh, and on pieces of it that do not know of each
/// other, after other changes to the scene.
PawlComparison compare_plates(const std::string& scheme, double duration, const SceneEdit& edit);

}  // namespace stiction::experiments
