// What the files of RigidBodySystem share. Private to them.
#pragma once

#include <array>

#include "stiction/model/rigid_body_system.h"

namespace stiction {

/// Whether the first three rows hold a point with world components: forces are their multipliers,
/// and their mean over a step has a closed form.
inline bool holds_point(JointType type) {
  return type == JointType::kBall || type == JointType::kHinge || type == JointType::kUniversal ||
         type == JointType::kFixed;
}

/// Poses of the two bodies asked for last: joints of a chain share them.
class PoseCache {
 public:
  PoseCache(const RigidBodySystem& system, double t, const ConstVectorRef& q)
      : system_(system), t_(t), q_(q) {}
  /// Valid until two other bodies have been asked for.
  const Pose& operator[](int body) {
    for (const int slot : {0, 1})
      if (body_[slot] == body) {
        oldest_ = 1 - slot;
        return pose_[slot];
      }
    const int slot = oldest_;
    oldest_ = 1 - slot;
    body_[slot] = body;
    system_.place_body(t_, q_, body, pose_[slot]);
    return pose_[slot];
  }

 private:
  static constexpr int kNone = kWorld - 1;
  const RigidBodySystem& system_;
  double t_;
  const ConstVectorRef& q_;
  std::array<int, 2> body_{kNone, kNone};
  std::array<Pose, 2> pose_{};
  int oldest_ = 0;
};

}  // namespace stiction
