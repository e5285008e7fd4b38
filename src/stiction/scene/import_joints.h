// Which joint of a scene, with which frames, the joints of an imported body become.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string>
#include <vector>

#include "stiction/scene/import_model.h"

namespace stiction {

/// A coordinate of a scene's joint that stands for a joint of the robot.
struct ImportedCoordinate {
  int joint = 0;     // index among the joints of the body
  std::string key;   // "angle", "slide", "angle_x", "angle_y"; empty: has none
  double shift = 0;  // value in the scene + shift = value in the robot: whole turns
};

/// One joint of a scene. Frames are given in the body's own frame, on the side of the parent as the
/// body stands at the reference.
struct ImportedJoint {
  std::string type;  // "hinge", …
  std::vector<ImportedCoordinate> coordinates;
  std::array<Pose, 2> frames;
};

/// The joints of a body in order, each between the body before (the parent first) and the next
/// (the body last). One entry: a single joint, or several that are one joint of the scene. None:
/// the body moves freely.
std::vector<ImportedJoint> make_joints(const ImportBody& body);

}  // namespace stiction
