// Where the two frames of a joint are: given once in the world at the start ("at", "axis"), so that
// the joint fits there by construction, or in each body ("frames"). What an axis is in its frame,
// model/joint_placement.h says.
#pragma once

#include <array>

#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/spatial_reader.h"

namespace stiction {

/// Where the bodies' frames are at the start.
using BodyStarts = std::array<Pose, 2>;

/// The frames of a joint in its bodies; needs its type and radius. Faults leave frames that may
/// stand anywhere.
std::array<Pose, 2> read_joint_frames(const SceneValue& value, const JointDescription& joint,
                                      const BodyStarts& starts, const SpatialReader& reader);

}  // namespace stiction
