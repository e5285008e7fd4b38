// The faces of a convex hull: triangles that lie in one plane joined to polygons. Internal to this
// room.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "stiction/geometry/shape.h"

namespace stiction {

/// Loops of vertices, counterclockwise from outside, by falling area of their largest triangle.
/// `tolerance` [m]: how far off the plane of that triangle others may be. Vertices within edges are
/// left out. The triangles must bound a convex body.
std::vector<std::vector<int>> merge_coplanar_triangles(std::span<const Eigen::Vector3d> points,
                                                       std::span<const Triangle> triangles,
                                                       double tolerance);

/// Twice the area times the unit normal, taken about a vertex so that far origins cost no digits.
Eigen::Vector3d compute_area_vector(std::span<const Eigen::Vector3d> points,
                                    std::span<const int> loop);

}  // namespace stiction
