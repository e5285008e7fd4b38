// The bodies of a scene as a tree, for engines with reduced coordinates.
#pragma once

#include <optional>
#include <vector>

#include "bench/scenes/scene.h"

namespace stiction::bench {

/// A body hangs from the joint of which it is the second body; without one it is free.
struct JointTree {
  std::vector<std::optional<SceneJoint>> joint_of_body;
  std::vector<std::vector<int>> children;  // of each body
  std::vector<int> roots;                  // free, static, or joined to the ground
};

/// Throws Unsupported if a body hangs from two joints.
JointTree make_joint_tree(const SceneDescription& scene);

/// The μ that all bodies which touch have, for engines that combine them in other ways than by the
/// root of the product. Throws Unsupported if they differ.
double find_common_friction(const SceneDescription& scene);

}  // namespace stiction::bench
