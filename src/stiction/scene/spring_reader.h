// Entries of "springs" and "forces" of a scene with rigid bodies.
#pragma once

#include <vector>

#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/joint_reader.h"
#include "stiction/scene/spatial_reader.h"

namespace stiction {

/// Both read the array `value` into `description`, whose bodies and joints are complete, and where
/// their entries stand into `places`. Entries with faults are left out.
void read_springs(const SceneValue& value, const NameList& bodies, const SceneJoints& joints,
                  const SpatialReader& reader, RigidBodyDescription& description,
                  std::vector<SceneValue>& places);
void read_forces(const SceneValue& value, const NameList& bodies, const SpatialReader& reader,
                 RigidBodyDescription& description, std::vector<SceneValue>& places);

}  // namespace stiction
