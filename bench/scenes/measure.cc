#include "bench/scenes/measure.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "stiction/geometry/distance.h"

namespace stiction::bench {
namespace {

/// A point of the world at the start, carried along by a body.
Eigen::Vector3d carry(const SceneDescription& scene, const std::vector<BodyState>& bodies, int body,
                      const Eigen::Vector3d& point) {
  if (body == kGround) return point;
  const SceneBody& start = scene.bodies[static_cast<std::size_t>(body)];
  const BodyState& now = bodies[static_cast<std::size_t>(body)];
  return now.p_WB + now.R_WB * (start.orientation.conjugate() * (point - start.position));
}

}  // namespace

PenetrationMeasure::PenetrationMeasure(const SceneDescription& scene) : poses_() {
  for (int i = 0; i < scene.num_bodies(); ++i) {
    const SceneBody& body = scene.bodies[static_cast<std::size_t>(i)];
    if (!body.touches) continue;
    collision_scene_.add({.shape = std::make_shared<CollisionShape>(body.shape),
                          .body = i,
                          .is_static = body.is_static});
    body_of_object_.push_back(i);
  }
  std::vector<std::pair<int, int>> joined;
  for (const SceneJoint& joint : scene.joints)
    if (joint.first != kGround) joined.emplace_back(joint.first, joint.second);
  collision_scene_.exclude_bodies(joined);
}

double PenetrationMeasure::compute(const std::vector<BodyState>& bodies) {
  poses_.clear();
  for (const int body : body_of_object_) {
    const BodyState& state = bodies[static_cast<std::size_t>(body)];
    if (!is_finite(state)) return std::numeric_limits<double>::infinity();
    poses_.push_back({state.p_WB, state.R_WB.normalized().toRotationMatrix()});
  }
  double deepest = 0;
  for (const IndexPair& pair : collision_scene_.find_box_pairs(poses_, {})) {
    const auto pose = [&](int i) { return poses_[static_cast<std::size_t>(i)]; };
    const SignedDistance distance =
        compute_distance(*collision_scene_.object(pair.first).shape, pose(pair.first),
                         *collision_scene_.object(pair.second).shape, pose(pair.second));
    deepest = std::max(deepest, -distance.gap);
  }
  return deepest;
}

double compute_joint_gap(const SceneDescription& scene, const std::vector<BodyState>& bodies) {
  double gap = 0;
  for (const SceneJoint& joint : scene.joints) {
    Eigen::Vector3d apart =
        carry(scene, bodies, joint.second, joint.at) - carry(scene, bodies, joint.first, joint.at);
    if (joint.kind == SceneJoint::Kind::kSlider) apart -= joint.axis * joint.axis.dot(apart);
    gap = std::max(gap, apart.norm());
  }
  return gap;
}

double compute_kinetic_energy(const SceneDescription& scene, const std::vector<BodyState>& bodies) {
  double energy = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const SceneBody& body = scene.bodies[i];
    if (body.is_static) continue;
    const Eigen::Vector3d w_WB_B = bodies[i].R_WB.conjugate() * bodies[i].w_WB;
    energy += body.mass * bodies[i].v_WB.squaredNorm() / 2 +
              w_WB_B.dot(body.inertia.cwiseProduct(w_WB_B)) / 2;
  }
  return energy;
}

double compute_energy(const SceneDescription& scene, const std::vector<BodyState>& bodies) {
  double energy = compute_kinetic_energy(scene, bodies);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const SceneBody& body = scene.bodies[i];
    if (!body.is_static)
      energy += body.mass * kGravity * bodies[i].p_WB.z() - body.force.dot(bodies[i].p_WB);
  }
  return energy;
}

double compute_drift(const SceneDescription& scene, const std::vector<BodyState>& bodies) {
  double drift = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (!scene.bodies[i].is_static)
      drift = std::max(drift, (bodies[i].p_WB - scene.bodies[i].position).norm());
  return drift;
}

}  // namespace stiction::bench
