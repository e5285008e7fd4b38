// Signed distance and nearest points of two convex shapes.
//
// The signed distance of A and B is the largest separation over all directions,
//   gap = max_{|n| = 1} s(n),   s(n) = min_{x ∈ A} n·x − max_{y ∈ B} n·y.
// Apart, it is the distance; overlapping, minus the length of the shortest translation that leaves
// them touching. Both cases are one function, with slope n·(velocity of A − velocity of B) at the
// witness points wherever the best n is unique.
#pragma once

#include <Eigen/Core>

#include "stiction/geometry/collision_shape.h"

namespace stiction {

/// point_a − point_b = gap normal, up to the accuracy of the gap; the points lie on the surfaces.
struct SignedDistance {
  double gap = 0;                                     // [m] > 0 apart
  Eigen::Vector3d normal = Eigen::Vector3d::UnitX();  // unit, from b to a: moving a along it parts
  Eigen::Vector3d point_a = Eigen::Vector3d::Zero();  // [m] world
  Eigen::Vector3d point_b = Eigen::Vector3d::Zero();  // [m] world
};

/// Both convex (see CollisionShape::is_convex). Accurate to 1e-12 of the larger size (or of the
/// distance, if that is larger) for pairs with a closed form and for polytopes, to 1e-9 for others.
/// Where several directions are equally good (coincident centres) one of them is returned, always
/// the same for the same input. Swapping a and b flips the normal; where there are several such
/// directions, unless the measures of both are the same.
///
/// Two half-spaces have a finite gap only if their normals are opposite; else they overlap without
/// end and the gap is −∞, the normal that of b, the points those of the two planes next to the
/// origin. Does not allocate, does not throw.
SignedDistance compute_distance(const CollisionShape& a, const Pose& pose_a,
                                const CollisionShape& b, const Pose& pose_b);

/// The same where the gap is at most `reach`. Of a larger one only that is said: the gap is some
/// lower bound of it above `reach`, and normal and points go with that.
SignedDistance compute_distance_within(const CollisionShape& a, const Pose& pose_a,
                                       const CollisionShape& b, const Pose& pose_b, double reach);

/// True only if the gap is larger than `reach`: a quick test of a few directions. False says
/// nothing.
bool are_farther_apart(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                       const Pose& pose_b, double reach);

/// s(n) [m] above, for a unit vector n and convex shapes other than planes.
double separation_along(const Eigen::Vector3d& n, const CollisionShape& a, const Pose& pose_a,
                        const CollisionShape& b, const Pose& pose_b);

}  // namespace stiction
