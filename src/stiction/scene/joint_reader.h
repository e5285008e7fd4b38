// Entries of "joints": joints between two bodies, and gears and racks between two joints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_description.h"
#include "stiction/scene/spatial_reader.h"

namespace stiction {

/// Named by a scene where it means the world.
inline constexpr const char* kWorldName = "world";

/// What "type" of a joint may be.
std::vector<std::string> joint_type_names();

/// The index of a body that a value names, kWorld for "world"; none after a fault.
std::optional<int> find_body(const SceneValue& value, const NameList& bodies,
                             const SpatialReader& reader);

/// The joints of a scene and where they stand in it.
struct SceneJoints {
  NameList names{"joint"};
  std::vector<int> index{};  // by name: of the joint in the description, or one of these
  static constexpr int kCoupling = -1, kOfUnknownType = -2;
  std::vector<SceneValue> places{}, coupling_places{};
};

/// Reads the array `value` into `description`, whose bodies are complete.
SceneJoints read_joints(const SceneValue& value, const NameList& bodies,
                        const SpatialReader& reader, RigidBodyDescription& description);

}  // namespace stiction
