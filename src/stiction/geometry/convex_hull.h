// The convex hull of points in space as a closed mesh of triangles.
//
// Quickhull (Barber, Dobkin, Huhdanpaa 1996) with exact decisions: whether a point sees a face is
// decided without rounding, so that the surface is closed and convex for every input, coplanar,
// collinear and repeated points included. Rounded distances only choose the order in which points
// are added. Coplanar faces are not merged: a cube has twelve triangles, and a point in the middle
// of a face or an edge may or may not be a vertex of them.
#pragma once

#include <Eigen/Core>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "stiction/geometry/shape.h"

namespace stiction {

/// Points flatter than this part of their extent count as lying in one plane. For a plate of
/// thickness t and width L the moments of inertia satisfy A + B − C ≈ m t²/6 with C ≈ m L²/6: once
/// t²/L² is below the rounding of doubles, the inertia no longer knows that there is a thickness.
constexpr double kFlatness = 0x1p-26;

/// Four points that span a volume, wide ones rather than narrow ones; none if all points lie in one
/// plane up to kFlatness. Points must be finite. Linear.
std::optional<std::array<int, 4>> find_spanning_tetrahedron(
    std::span<const Eigen::Vector3d> points);

/// Triangles of the hull, outside counterclockwise, as indices of `points`; none if all points lie
/// in one plane up to kFlatness. Points must be finite. O(n log n) for points in no special order.
/// The same points in the same order give the same triangles.
std::optional<std::vector<Triangle>> compute_convex_hull(std::span<const Eigen::Vector3d> points);

}  // namespace stiction
