// The point or segment in the middle of a sphere or capsule. Internal to this room.
#pragma once

#include <Eigen/Core>

#include "stiction/geometry/contact_pair.h"

namespace stiction {

/// A capsule of length 0 counts as a sphere: its two ends are one.
struct RoundedCore {
  RoundedCore(const CollisionShape& shape, const Pose& pose)
      : axis(pose.rotation.col(2)), half(shape.half().z()), radius(shape.core_radius()) {
    if (shape.kind() != ShapeKind::kCapsule) half = 0;
  }

  Eigen::Vector3d axis;  // world
  double half = 0;       // [m] of the length
  double radius = 0;     // [m]

  int num_ends() const { return half > 0 ? 2 : 1; }
  /// End 0 is that at −z.
  double sign_of(int end) const { return end == 0 ? -1 : 1; }
  /// From the centre, in the frame of the shape.
  Eigen::Vector3d end_point(int end) const { return {0, 0, sign_of(end) * half}; }
  /// From the centre, along the axes of the world.
  Eigen::Vector3d end_offset(int end) const { return sign_of(end) * half * axis; }
  double along(const Eigen::Vector3d& offset) const { return axis.dot(offset); }

  ContactFeature end_feature(int end) const { return make_point_feature(end_point(end), radius); }
  ContactFeature line_feature() const {
    return make_line_feature(Eigen::Vector3d::Zero(), Eigen::Vector3d::UnitZ(), radius);
  }
  FeatureCode end_code(int end) const { return half > 0 ? vertex_code(end) : whole(); }
};

inline Eigen::Vector3d relative_position(const ContactPair& pair) {
  return pair.pose_a.position - pair.pose_b.position;
}

/// Sphere or capsule a against a box or convex b; closes its patches.
void collect_rounded_polytope_contacts(ContactPair& pair, const RoundedCore& a);
/// Sphere or capsule a against a cylinder b.
void collect_rounded_cylinder_contacts(ContactPair& pair, const RoundedCore& a);

}  // namespace stiction
