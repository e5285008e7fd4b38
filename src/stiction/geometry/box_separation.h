// The separating axes of two boxes: six faces and nine pairs of edges decide overlap (Gottschalk,
// Lin, Manocha 1996), and the best of them is the depth, since every face of the difference of two
// boxes is parallel to a face of one or to two edges.
#pragma once

#include "stiction/geometry/separation_search.h"

namespace stiction {

/// Both shapes are boxes. The largest separation over the fifteen axes: the gap itself if it is
/// negative. Of equals, up to rounding, faces win over edges, a over b, low indices over high ones.
DirectedSeparation find_box_separation(const ConvexPair& pair);

}  // namespace stiction
