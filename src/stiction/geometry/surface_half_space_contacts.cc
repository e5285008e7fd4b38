// A half-space against a surface: the corners of the surface are points against the plane. Vertices
// inside faces and edges are in the hull of others and left out.
#include <algorithm>
#include <cmath>

#include "stiction/geometry/surface_query.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// The part of a box with n·x ≤ limit, as a box.
Bounds clipped(Bounds box, const Vector3d& n, double limit) {
  const Vector3d smallest = n.cwiseProduct(box.lower).cwiseMin(n.cwiseProduct(box.upper));
  const double sum = smallest.sum();
  for (int k = 0; k < 3; ++k) {
    const double bound = (limit - (sum - smallest[k])) / n[k];
    if (!std::isfinite(bound)) continue;
    if (n[k] > 0) box.upper[k] = std::min(box.upper[k], bound);
    if (n[k] < 0) box.lower[k] = std::max(box.lower[k], bound);
  }
  return box;
}

}  // namespace

void collect_half_space(SurfaceQuery& query) {
  const auto& plane = std::get<Plane>(query.a.shape());
  const TriangleSurface& surface = query.surface;
  const Vector3d n = query.pose_sa.rotation * plane.normal;
  const double offset = plane.offset + n.dot(query.pose_sa.position);
  Bounds box = clipped(surface.bounds(), n, offset + query.options.reach);
  box.widen(query.tolerance);
  SurfaceWorkspace& w = query.workspace;
  w.found.clear();
  surface.find_in_box(box, w.found);
  w.stack.clear();
  for (const int t : w.found) {
    for (const int v : surface.triangle(t)) {
      if (surface.vertex_kind(v) == TriangleSurface::VertexKind::kCorner) w.stack.push_back(v);
    }
  }
  std::sort(w.stack.begin(), w.stack.end());
  w.stack.erase(std::unique(w.stack.begin(), w.stack.end()), w.stack.end());
  const FeatureCode whole{FeatureCode::Kind::kWhole, 0}, group{FeatureCode::Kind::kFace, 0};
  for (const int v : w.stack) {
    add_candidate(query,
                  {.a = make_plane_feature(plane.offset * plane.normal, plane.normal),
                   .b = make_point_feature(surface.vertex(v))},
                  whole, surface_vertex_code(v), group);
  }
}

}  // namespace stiction
