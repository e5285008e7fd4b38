// Finds the direction of largest separation of two convex cores to rounding, from one that is
// close.
//
// On the sphere of directions n the separation s(n) = min_A n·x − max_B n·y is smooth but for
// great circles, where an edge or the mantle of a cylinder is the support (n ⟂ d), and points,
// where a flat face is (n = its normal). The maximum usually lies on these. So s is maximised on
// every circle, point and smooth piece near the start, by Newton's method in at most two variables:
// gradient x − y, second derivative −(∇²h_A + ∇²h_B + s I) along the sphere, with the support
// functions h. This holds apart, touching and overlapping alike, and loses no digits at s = 0,
// where a distance |x − y| has no usable gradient. Every n gives a true lower bound of the gap, so
// that trying one too many does no harm.
#pragma once

#include "stiction/geometry/convex_pair.h"

namespace stiction {

struct SearchOptions {
  double angle = 1e-3;  // how far from n circles and points are looked for
  // [m] known not to be surpassed: ends the search when reached up to rounding
  double upper = std::numeric_limits<double>::infinity();
};

/// The best direction found from `n` (unit length), and its separation; never worse than n itself.
struct DirectedSeparation {
  Eigen::Vector3d normal;
  double value = 0;  // [m] s(normal)
};
DirectedSeparation maximize_separation(ConvexPair& pair, const Eigen::Vector3d& n,
                                       const SearchOptions& options);

/// Points of the faces, edges or vertices that are nearest along a direction, as little apart
/// across it as possible.
CoreDistance find_witnesses(ConvexPair& pair, const DirectedSeparation& separation);

/// The same gap up to rounding, where points misfit by more than `tolerance` [m] with other ones
/// that fit better, whatever features they lie on: slower, and right even where features are
/// neither flat on each other nor clearly askew.
CoreDistance find_fitting_points(ConvexPair& pair, const CoreDistance& found, double tolerance);

}  // namespace stiction
