// Signed distance of convex cores without a closed form: iterative, but exact where features are.
#pragma once

#include "stiction/geometry/convex_pair.h"
#include "stiction/geometry/distance.h"

namespace stiction {

/// a and b convex and bounded, at least one of them box, hull, cylinder or ellipsoid. Of a gap
/// beyond `reach` a lower bound is enough.
SignedDistance compute_convex_distance(const CollisionShape& a, const Pose& pose_a,
                                       const CollisionShape& b, const Pose& pose_b, double reach);

}  // namespace stiction
