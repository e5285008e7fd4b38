#include "bench/scenes/joint_tree.h"

#include "bench/scenes/contender.h"

namespace stiction::bench {

JointTree make_joint_tree(const SceneDescription& scene) {
  JointTree tree;
  tree.joint_of_body.resize(scene.bodies.size());
  tree.children.resize(scene.bodies.size());
  for (const SceneJoint& joint : scene.joints) {
    std::optional<SceneJoint>& place = tree.joint_of_body[static_cast<std::size_t>(joint.second)];
    if (place) throw Unsupported("loops of joints");
    place = joint;
  }
  for (int i = 0; i < scene.num_bodies(); ++i) {
    const auto& joint = tree.joint_of_body[static_cast<std::size_t>(i)];
    if (joint && joint->first != kGround)
      tree.children[static_cast<std::size_t>(joint->first)].push_back(i);
    else
      tree.roots.push_back(i);
  }
  return tree;
}

double find_common_friction(const SceneDescription& scene) {
  std::optional<double> mu;
  for (const SceneBody& body : scene.bodies) {
    if (!body.touches) continue;
    if (mu && *mu != body.mu) throw Unsupported("several coefficients of friction");
    mu = body.mu;
  }
  return mu.value_or(0);
}

}  // namespace stiction::bench
