// Limits, motors and friction of joints: what acts on their free coordinates. A joint with one
// coordinate takes the value itself, one with several an object with a value per coordinate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/spatial_reader.h"

namespace stiction {

/// The name as a key of scenes: "angle", "slide", "angle_x", …
std::string coordinate_key(JointCoordinate coordinate);

/// Fills limits, motors and friction of a joint whose type is known. `what` is "a hinge".
void read_joint_drives(const SceneValue& value, const std::string& what,
                       const SpatialReader& reader, JointDescription& joint);

}  // namespace stiction
