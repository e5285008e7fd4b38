// Balls inside a body that touch its surface from within: the proof that a direction found by a
// local search is the best of all.
//
// If A − B contains a ball of radius ρ that touches its boundary at the point p nearest to the
// origin *locally*, and the origin lies on the radius to p at a depth d ≤ ρ, then the ball of
// radius d about the origin lies in that ball, hence in A − B: no other direction leads out sooner.
// Balls of A and of B add up.
#pragma once

#include "stiction/geometry/collision_shape.h"

namespace stiction {

/// [m] Radius of a ball in the core that touches its surface at x, where m is the outward unit
/// normal, both in the frame of the shape; the largest one, but for ellipsoids, where it is the
/// largest that fits everywhere. 0 at edges. Linear in the number of faces.
double compute_inscribed_radius(const CollisionShape& shape, const Eigen::Vector3d& x,
                                const Eigen::Vector3d& m);

}  // namespace stiction
