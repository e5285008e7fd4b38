// The neutral measure: what is read off the poses and velocities of the bodies, with the same
// functions for every engine. No engine is asked what it thinks of itself.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "bench/scenes/scene.h"
#include "stiction/geometry/collision_scene.h"

namespace stiction::bench {

/// Overlap of the true shapes, by exact distances: of every pair of bodies that may touch, minus
/// the signed distance (the length of the shortest translation that parts them).
class PenetrationMeasure {
 public:
  explicit PenetrationMeasure(const SceneDescription& scene);
  /// [m] The largest overlap, 0 if there is none; infinite if a body is not finite.
  double compute(const std::vector<BodyState>& bodies);

 private:
  CollisionScene collision_scene_;
  std::vector<int> body_of_object_;
  std::vector<Pose> poses_;
};

/// [m] The largest distance between the points that a joint holds together; of a slider, the
/// distance from its axis.
double compute_joint_gap(const SceneDescription& scene, const std::vector<BodyState>& bodies);

/// Kinetic + potential energy [J]; constant forces count as potential.
double compute_energy(const SceneDescription& scene, const std::vector<BodyState>& bodies);
double compute_kinetic_energy(const SceneDescription& scene, const std::vector<BodyState>& bodies);

/// [m] The furthest that the centre of a moving body is from where it started.
double compute_drift(const SceneDescription& scene, const std::vector<BodyState>& bodies);

}  // namespace stiction::bench
