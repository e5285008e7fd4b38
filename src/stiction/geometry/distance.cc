#include "stiction/geometry/distance.h"

#include <cmath>
#include <limits>

#include "stiction/geometry/analytic_distance.h"
#include "stiction/geometry/convex_distance.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// kind(a) ≤ kind(b).
SignedDistance compute_ordered(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                               const Pose& pose_b, double reach) {
  if (b.kind() == ShapeKind::kPlane) {
    return a.kind() == ShapeKind::kPlane ? compute_plane_plane_distance(a, pose_a, b, pose_b)
                                         : compute_plane_distance(a, pose_a, b, pose_b);
  }
  if (a.kind() == ShapeKind::kSphere && b.kind() != ShapeKind::kConvex) {
    return compute_sphere_distance(a, pose_a, b, pose_b);
  }
  if (b.kind() == ShapeKind::kCapsule) return compute_capsule_distance(a, pose_a, b, pose_b);
  return compute_convex_distance(a, pose_a, b, pose_b, reach);
}

}  // namespace

SignedDistance compute_distance(const CollisionShape& a, const Pose& pose_a,
                                const CollisionShape& b, const Pose& pose_b) {
  return compute_distance_within(a, pose_a, b, pose_b, std::numeric_limits<double>::infinity());
}

SignedDistance compute_distance_within(const CollisionShape& a, const Pose& pose_a,
                                       const CollisionShape& b, const Pose& pose_b, double reach) {
  const bool swaps = a.kind() > b.kind() || (a.kind() == b.kind() && precedes(b, a));
  if (!swaps) return compute_ordered(a, pose_a, b, pose_b, reach);
  const SignedDistance swapped = compute_ordered(b, pose_b, a, pose_a, reach);
  return {swapped.gap, -swapped.normal, swapped.point_b, swapped.point_a};
}

bool are_farther_apart(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                       const Pose& pose_b, double reach) {
  if (a.kind() == ShapeKind::kPlane || b.kind() == ShapeKind::kPlane) {
    return compute_distance(a, pose_a, b, pose_b).gap > reach;
  }
  const Vector3d w = pose_a * a.center() - pose_b * b.center();
  const double distance = w.norm();
  if (distance - a.bounding_radius() - b.bounding_radius() > reach) return true;
  if (!(distance > reach) || !a.is_convex() || !b.is_convex()) return false;
  // Along the line of centres; for bodies that are not elongated this decides most cases.
  return separation_along(w / distance, a, pose_a, b, pose_b) > reach;
}

double separation_along(const Vector3d& n, const CollisionShape& a, const Pose& pose_a,
                        const CollisionShape& b, const Pose& pose_b) {
  const Vector3d x = a.core_support(-(pose_a.rotation.transpose() * n));
  const Vector3d y = b.core_support(pose_b.rotation.transpose() * n);
  return n.dot(pose_a * x - pose_b * y) - a.core_radius() - b.core_radius();
}

}  // namespace stiction
