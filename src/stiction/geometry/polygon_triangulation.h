// Polygons in space, nearly flat, cut into triangles.
#pragma once

#include <Eigen/Core>

#include <span>
#include <vector>

#include "stiction/geometry/shape.h"

namespace stiction {

/// Cutting ears takes O(n²) as a rule and O(n³) at worst.
inline constexpr std::size_t kMaxConcaveCorners = 500;

/// Appends n − 2 triangles of a polygon of n ≥ 3 corners, turning like it: a fan if it is convex,
/// else ears cut off one by one, seen along its mean normal (Newell). False, and nothing appended,
/// if it is not convex and has too many corners. A polygon that intersects itself gives some
/// triangles.
bool triangulate_polygon(const std::vector<Eigen::Vector3d>& vertices, std::span<const int> loop,
                         std::vector<Triangle>& out);

}  // namespace stiction
