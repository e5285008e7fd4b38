// Signed distances with a closed form, or with one unknown: half-spaces, balls, capsules.
#pragma once

#include "stiction/geometry/distance.h"

namespace stiction {

/// b is a plane, a is bounded and convex. Exact up to the rounding of one support point.
SignedDistance compute_plane_distance(const CollisionShape& a, const Pose& pose_a,
                                      const CollisionShape& b, const Pose& pose_b);
/// Both are planes; see compute_distance.
SignedDistance compute_plane_plane_distance(const CollisionShape& a, const Pose& pose_a,
                                            const CollisionShape& b, const Pose& pose_b);
/// a is a sphere; b sphere, capsule, box, cylinder or ellipsoid.
SignedDistance compute_sphere_distance(const CollisionShape& a, const Pose& pose_a,
                                       const CollisionShape& b, const Pose& pose_b);
/// Both are capsules.
SignedDistance compute_capsule_distance(const CollisionShape& a, const Pose& pose_a,
                                        const CollisionShape& b, const Pose& pose_b);

/// Nearest point of the surface of a solid, in its frame, to a point inside or outside.
struct SurfacePoint {
  Eigen::Vector3d point;   // [m]
  Eigen::Vector3d normal;  // outward, unit
  double distance = 0;     // [m] < 0 inside
};
SurfacePoint nearest_on_box(const Eigen::Vector3d& half, const Eigen::Vector3d& p);
SurfacePoint nearest_on_cylinder(double radius, double half_length, const Eigen::Vector3d& p);
SurfacePoint nearest_on_ellipsoid(const Eigen::Vector3d& radii, const Eigen::Vector3d& p);

}  // namespace stiction
