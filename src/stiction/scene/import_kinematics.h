// Where the bodies of an imported robot are and how they move at the start, and which of them are
// one rigid body.
#pragma once

#include <vector>

#include "stiction/scene/import_model.h"

namespace stiction {

/// A frame and how it moves.
struct MovingFrame {
  Pose pose{};                                                 // in the world
  Eigen::Vector3d velocity = Eigen::Vector3d::Zero();          // [m/s] of its origin, world
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();  // [rad/s] world
};

/// The body that another one is fixed to, itself if it has joints.
struct Carrier {
  int body = kImportWorld;
  Pose frame{};  // of the other one in the frame of this body
};

struct ImportKinematics {
  std::vector<Carrier> carriers;
  std::vector<MovingFrame> frames;  // of the bodies
  /// After each joint of a body: stages[i][k] follows joint k; the last one is frames[i].
  std::vector<std::vector<MovingFrame>> stages;
};

ImportKinematics compute_kinematics(const ImportModel& model);

/// The poses of all bodies with every joint at its reference.
std::vector<Pose> compute_reference_poses(const ImportModel& model);

}  // namespace stiction
