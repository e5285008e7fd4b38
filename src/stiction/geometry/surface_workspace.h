// Storage that collect_surface_contacts reuses from call to call. It holds no information between
// calls.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <optional>
#include <vector>

#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/contact_candidate.h"

namespace stiction {

/// One triangle near a shape.
struct NearTriangle {
  int index = 0;          // in the surface
  double side = 1;        // ±1: times the normal by winding it points to the side that counts
  bool is_front = false;  // the shape's centre is on that side
};

/// A candidate before duplicates are removed.
struct SurfaceCandidate {
  ContactCandidate candidate{};
  std::uint32_t feature = 0;  // index of the surface's feature
  int rank = 0;               // 0 face, 1 edge, 2 vertex: faces win over edges over vertices
};

/// A flat region that a shape touches, has corners above, or touches an edge or corner of.
struct TouchedRegion {
  int region = 0;
  double side = 1;  // ±1 for the normal of the region
  bool is_touched = false;
  // Not touched itself, but slightly tilted over what is touched at its border: counts as well,
  // with its own border. Else only corners above it count.
  bool is_below_tilted = false;
  double lowest = 0;  // [m] ≤ 0: of what is not touched, gaps below this do not count
};

/// A flat side of the shape that is slightly tilted over what it touches.
struct TiltedSide {
  int side = 0;
  double separation = 0;  // [m] the smallest of what it touches
};

/// The best axis of a triangle that overlaps the shape, by the numbers of whoever found it.
struct OverlapAxis {
  NearTriangle near{};
  Triangle ids{};
  Eigen::Vector3d n = Eigen::Vector3d::UnitZ();
  double separation = 0;  // [m]
  double side = 1;
  int kind = 0, half_edge = 0, index = 0;
};

struct SurfaceWorkspace {
  std::vector<int> found{};  // triangles near the shape, ascending
  std::vector<NearTriangle> triangles{};
  std::vector<int> stack{};
  std::vector<std::uint8_t> is_visited{};
  std::vector<Eigen::Vector3d> points{};   // vertices of a polytope in the frame of the surface
  std::vector<Eigen::Vector3d> normals{};  // of its faces
  std::vector<OverlapAxis> overlaps{};
  std::vector<NearTriangle> cut{};  // triangles that the shape overlaps
  std::vector<TiltedSide> tilted{};
  std::vector<TouchedRegion> regions{};
  std::vector<SurfaceCandidate> candidates{};
  std::optional<CollisionShape> plane{};  // z ≤ 0
};

}  // namespace stiction
