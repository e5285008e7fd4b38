// Two convex shapes in the frame of the first: what the iterative distance algorithms work on.
#pragma once

#include <Eigen/Core>

#include <algorithm>

#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/gjk.h"

namespace stiction {

/// The cores of a and b (see CollisionShape), in the frame of a. Remembers where the support
/// functions ended, as the next question is usually close to the last.
class ConvexPair {
 public:
  ConvexPair(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
             const Pose& pose_b)
      : a_(a),
        b_(b),
        rotation_(pose_a.rotation.transpose() * pose_b.rotation),
        position_(pose_a.rotation.transpose() * (pose_b.position - pose_a.position)) {}

  const CollisionShape& a() const { return a_; }
  const CollisionShape& b() const { return b_; }
  /// Of the frame of b in that of a.
  const Eigen::Matrix3d& rotation() const { return rotation_; }
  const Eigen::Vector3d& position() const { return position_; }
  /// [m] the unit of tolerances.
  double size() const { return std::max(a_.size(), b_.size()); }

  Eigen::Vector3d support_a(const Eigen::Vector3d& direction) {
    return a_.core_support(direction, hint_a_);
  }
  Eigen::Vector3d support_b(const Eigen::Vector3d& direction) {
    return position_ + rotation_ * b_.core_support(rotation_.transpose() * direction, hint_b_);
  }
  /// The two points nearest to each other along n, from b to a.
  DifferencePoint support(const Eigen::Vector3d& n) {
    DifferencePoint point;
    point.a = support_a(-n);
    point.b = support_b(n);
    point.w = point.a - point.b;
    return point;
  }
  /// s(n) of the cores, for a unit vector n.
  double separation(const Eigen::Vector3d& n) { return n.dot(support(n).w); }

  Eigen::Vector3d center_difference() const {
    return a_.center() - position_ - rotation_ * b_.center();
  }

  /// Vertices last found by support functions of polytopes.
  int hint_a() const { return hint_a_; }
  int hint_b() const { return hint_b_; }

 private:
  const CollisionShape& a_;
  const CollisionShape& b_;
  Eigen::Matrix3d rotation_;
  Eigen::Vector3d position_;
  int hint_a_ = 0, hint_b_ = 0;
};

/// Of the cores, in the frame of a.
struct CoreDistance {
  double gap = 0;          // [m] s(normal)
  Eigen::Vector3d normal;  // unit, from b to a
  Eigen::Vector3d a, b;    // [m] points of the cores
  double misfit = 0;       // [m] |a − b − gap normal|: 0 at a stationary point of s
};

}  // namespace stiction
