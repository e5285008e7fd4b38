// Whether contacts of a convex shape with triangles touch both: the two points that a contact is
// between, half its gap to either side of it along its normal, lie on the surface of the shape and
// on a triangle. Shares no code with the library.
#pragma once

#include <string>
#include <vector>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/pose.h"
#include "stiction/geometry/shape.h"
#include "tests/geometry/random_surfaces.h"

namespace stiction {

/// The first contact of which a point is further than `tolerance` [m] from where it should be, in
/// words; empty if there is none. `triangles` are in the world.
[[nodiscard]] std::string find_contact_beside(const ContactList& list, const Shape& shape,
                                              const Pose& pose,
                                              const std::vector<TriangleCorners>& triangles,
                                              double tolerance);

/// Triangles at another place.
[[nodiscard]] std::vector<TriangleCorners> moved(std::vector<TriangleCorners> triangles,
                                                 const Pose& pose);

}  // namespace stiction
