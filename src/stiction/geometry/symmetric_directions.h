// Directions that the symmetry of two overlapping bodies singles out, for the depth where a search
// from face to face of A − B ends without proof.
//
// A thin or small body near the axis of a body of revolution is pushed out almost as far in all
// directions across that axis: how far differs by the measures of the small body only, and the
// faces of A − B would have to become smaller than these to tell the directions apart. But where s
// can be largest is known beforehand up to one angle: on the circles across axes, and on these at
// kinks or in between.
#pragma once

#include "stiction/geometry/separation_search.h"

namespace stiction {

/// The best of all such directions, searched around: a lower bound of the gap, as any.
DirectedSeparation search_symmetric_directions(ConvexPair& pair);

}  // namespace stiction
