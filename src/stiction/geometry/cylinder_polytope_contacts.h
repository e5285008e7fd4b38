// Cylinders on boxes and hulls. Internal to this room.
#pragma once

#include "stiction/geometry/contact_pair.h"

namespace stiction {

/// a is a cylinder, b a box or convex.
void collect_cylinder_polytope_contacts(ContactPair& pair);

}  // namespace stiction
