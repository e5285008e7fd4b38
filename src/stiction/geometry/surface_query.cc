#include "stiction/geometry/surface_query.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

using Eigen::Vector3d;

/// What n must satisfy at one triangle of an edge.
struct EdgeSide {
  Vector3d inward;  // unit, in the plane of the triangle, away from the edge
  Vector3d normal;  // by winding
};

EdgeSide side_at(const SurfaceQuery& query, int half_edge) {
  const int t = half_edge / 3, k = half_edge % 3;
  const Triangle ids = query.surface.triangle(t);
  const Vector3d along =
      (query.surface.vertex(ids[(k + 1) % 3]) - query.surface.vertex(ids[k])).normalized();
  const Vector3d normal = query.surface.winding_normal(t);
  return {.inward = normal.cross(along), .normal = normal};
}

/// Calls visit(side) for every triangle at the edge until it returns false.
template <typename Visit>
void for_each_side(const SurfaceQuery& query, int half_edge, Visit&& visit) {
  if (!visit(side_at(query, half_edge))) return;
  const int twin = query.surface.twin(half_edge);
  if (twin >= 0) {
    visit(side_at(query, twin));
    return;
  }
  if (twin == TriangleSurface::kNone) return;
  const Triangle ids = query.surface.triangle(half_edge / 3);
  const int from = ids[half_edge % 3], to = ids[(half_edge % 3 + 1) % 3];
  bool goes_on = true;
  query.surface.for_each_at_vertex(from, [&](int t) {
    if (!goes_on || t == half_edge / 3) return;
    const Triangle other = query.surface.triangle(t);
    for (int k = 0; k < 3; ++k) {
      const int p = other[k], q = other[(k + 1) % 3];
      if ((p == from && q == to) || (p == to && q == from)) {
        goes_on = goes_on && visit(side_at(query, 3 * t + k));
      }
    }
  });
}

}  // namespace

std::array<Vector3d, 3> corners_near(const SurfaceQuery& query, const TriangleView& t) {
  const double reach = query.a.bounding_radius() + std::max(0.0, query.options.reach);
  double furthest = 0;
  for (const Vector3d& corner : t.corners) {
    furthest = std::max(furthest, (corner - query.center).squaredNorm());
  }
  if (furthest <= 1e6 * reach * reach) return t.corners;
  const Vector3d nearest = find_nearest_on_triangle(query.center, t.corners).point;
  // All that is within reach of the shape is within twice its ball of the nearest point.
  const double close = 4 * reach;
  Vector3d pivot = nearest;
  std::array<bool, 3> has_pivot{};  // edges
  for (int k = 0; k < 3; ++k) {
    const Vector3d along = (t.corners[(k + 1) % 3] - t.corners[k]).normalized();
    const Vector3d foot = t.corners[k] + along.dot(nearest - t.corners[k]) * along;
    if ((foot - nearest).norm() > 2 * close) continue;
    pivot = foot;
    has_pivot[k] = true;
  }
  if (has_pivot[0] && has_pivot[1] && has_pivot[2]) return t.corners;
  for (int k = 0; k < 3; ++k) {
    if (has_pivot[k] && has_pivot[(k + 2) % 3]) pivot = t.corners[k];
  }
  const double kept = (pivot - nearest).norm() + close;
  double factor = 0;
  for (int k = 0; k < 3; ++k) {
    if (has_pivot[k]) continue;
    const Vector3d along = (t.corners[(k + 1) % 3] - t.corners[k]).normalized();
    factor = std::max(factor, kept / along.cross(pivot - t.corners[k]).norm());
  }
  if (!(factor <= 0.5)) return t.corners;
  std::array<Vector3d, 3> corners;
  for (int k = 0; k < 3; ++k) corners[k] = pivot + factor * (t.corners[k] - pivot);
  return corners;
}

// A concave edge of a solid has a cone too, but on the inside: the sum of the normals tells. Not at
// the rim of a height field, whose walls are no triangles: there n must not point down.
bool edge_allows(const SurfaceQuery& query, int half_edge, const Vector3d& n, double slack) {
  const TriangleSurface& surface = query.surface;
  if (surface.is_height_field() && !(n.z() >= -slack)) return false;
  bool is_allowed = true;
  double outward = 0;
  for_each_side(query, half_edge, [&](const EdgeSide& side) {
    is_allowed = side.inward.dot(n) <= slack;
    outward += side.normal.dot(n);
    return is_allowed;
  });
  return is_allowed && (!surface.is_solid(half_edge / 3) || outward >= -slack ||
                        surface.twin(half_edge) == TriangleSurface::kNone);
}

bool is_convex_edge(const SurfaceQuery& query, int half_edge) {
  constexpr double kEnough = 1e-9;
  const int twin = query.surface.twin(half_edge);
  if (twin == TriangleSurface::kNone) return true;
  if (twin == TriangleSurface::kJunction) {
    // The direction away from all triangles.
    Vector3d sum = Vector3d::Zero();
    for_each_side(query, half_edge, [&](const EdgeSide& side) {
      sum -= side.inward;
      return true;
    });
    const double length = sum.norm();
    return length > kEnough && edge_allows(query, half_edge, sum / length, 0);
  }
  const EdgeSide own = side_at(query, half_edge), other = side_at(query, twin);
  if (!query.surface.is_solid(half_edge / 3)) return true;  // from one of the two sides
  return own.normal.dot(other.inward) < -kEnough || own.inward.dot(other.inward) > 0;
}

bool vertex_allows(const SurfaceQuery& query, int vertex, const Vector3d& n, double slack) {
  const TriangleSurface& surface = query.surface;
  if (surface.is_height_field() && !(n.z() >= -slack)) return false;
  const Vector3d apex = surface.vertex(vertex);
  bool is_allowed = true, is_solid = true;
  surface.for_each_at_vertex(vertex, [&](int t) {
    if (!is_allowed) return;
    const Triangle ids = surface.triangle(t);
    const int k = ids[0] == vertex ? 0 : ids[1] == vertex ? 1 : 2;
    const Vector3d u = surface.vertex(ids[(k + 1) % 3]) - apex;
    const Vector3d v = surface.vertex(ids[(k + 2) % 3]) - apex;
    is_allowed = n.dot(u) <= slack * u.norm() && n.dot(v) <= slack * v.norm();
    for (const int half_edge : {3 * t + k, 3 * t + (k + 2) % 3})
      is_solid = is_solid && surface.twin(half_edge) != TriangleSurface::kNone;
    is_solid = is_solid && surface.is_solid(t);
  });
  return is_allowed && (!is_solid || n.dot(surface.vertex_normal(vertex)) >= -slack);
}

bool is_over_triangle(const SurfaceQuery& query, const TriangleView& t, const Vector3d& p,
                      double margin) {
  if (!query.surface.has_area(t.index)) return false;
  const Vector3d normal = query.surface.winding_normal(t.index);
  for (int k = 0; k < 3; ++k) {
    const Vector3d along = t.corners[(k + 1) % 3] - t.corners[k];
    if (normal.cross(along).dot(p - t.corners[k]) < -margin * along.norm()) return false;
  }
  return true;
}

bool is_over_region(const SurfaceQuery& query, int region, const Vector3d& p, double margin) {
  for (const NearTriangle& near : query.workspace.triangles) {
    if (query.surface.region(near.index) != region) continue;
    if (is_over_triangle(query, TriangleView(query, near.index), p, margin)) return true;
  }
  return false;
}

const OverlapAxis* find_explanation(const SurfaceQuery& query, const OverlapAxis& overlap,
                                    double tie) {
  constexpr double kStrict = 1e-9;
  const std::array<Vector3d, 3> corners = query.surface.corners(overlap.near.index);
  const auto shares_vertex = [&](const OverlapAxis& other) {
    return std::find_first_of(overlap.ids.begin(), overlap.ids.end(), other.ids.begin(),
                              other.ids.end()) != overlap.ids.end();
  };
  const auto is_of_same_face = [&](const OverlapAxis& other) {
    return query.surface.region(other.near.index) == query.surface.region(overlap.near.index) &&
           query.region_side(other.near) == query.region_side(overlap.near);
  };
  for (const OverlapAxis& other : query.workspace.overlaps) {
    if (other.near.index == overlap.near.index) continue;
    const bool is_neighbor = shares_vertex(other);
    // Across a face or along an edge of many triangles, too. Not of triangles elsewhere that are
    // nearly in one plane: each of those may bear an end of what lies on them.
    const bool is_steeper = overlap.n.dot(other.n) < kSlightTilt;
    if (!is_neighbor && !is_of_same_face(other) && !is_steeper) continue;
    int k = 0;
    for (int i = 1; i < 3; ++i) {
      if (other.n.dot(corners[i] - corners[k]) > 0) k = i;
    }
    const double separation = other.n.dot(lowest_of_a(query, other.n) - corners[k]);
    // Nowhere higher than what the other one touches with: that parts both.
    if (other.separation > overlap.separation + tie &&
        separation >= other.separation - query.tolerance) {
      return &other;
    }
    if (is_neighbor && separation > overlap.separation + tie &&
        other.n.dot(query.center - corners[k]) >= -query.tolerance &&
        vertex_allows(query, overlap.ids[k], other.n, kStrict)) {
      return &other;
    }
  }
  return nullptr;
}

void add_candidate(SurfaceQuery& query, ContactCandidate candidate, FeatureCode code_a,
                   FeatureCode code_s) {
  add_candidate(query, candidate, code_a, code_s, code_s);
}

void add_candidate(SurfaceQuery& query, ContactCandidate candidate, FeatureCode code_a,
                   FeatureCode code_s, FeatureCode group) {
  const Touch touch =
      evaluate_touch(candidate, query.a, query.pose_a, query.surface_shape, query.pose_s);
  if (!(touch.gap <= query.options.reach)) return;
  fix_crossing(touch, query.pose_a, query.pose_s, candidate);
  candidate.gap = touch.gap;
  candidate.normal = touch.normal;
  candidate.point = touch.point;
  candidate.id = make_contact_id(code_a, code_s);
  const int rank = group.kind == FeatureCode::Kind::kFace   ? 0
                   : group.kind == FeatureCode::Kind::kEdge ? 1
                                                            : 2;
  query.workspace.candidates.push_back(
      {.candidate = candidate, .feature = group.index, .rank = rank});
}

double touching_distance(const SurfaceQuery& query) {
  constexpr double kTouching = 1e-6;  // of the size: far above what triangles are told by
  return kTouching * query.a.size();
}

bool has_contact_below(const SurfaceQuery& query, double gap) {
  const std::vector<SurfaceCandidate>& all = query.workspace.candidates;
  return std::any_of(all.begin(), all.end(),
                     [gap](const SurfaceCandidate& item) { return item.candidate.gap < gap; });
}

ContactFeature point_of_a(const SurfaceQuery& query, const Vector3d& point, double radius) {
  return make_point_feature(query.pose_sa.rotation.transpose() * (point - query.pose_sa.position),
                            radius);
}

ContactFeature plane_of_a(const SurfaceQuery& query, const Vector3d& point,
                          const Vector3d& normal) {
  const Eigen::Matrix3d back = query.pose_sa.rotation.transpose();
  return make_plane_feature(back * (point - query.pose_sa.position), back * normal);
}

Vector3d lowest_of_a(const SurfaceQuery& query, const Vector3d& n) {
  return query.pose_sa * query.a.core_support(query.pose_sa.rotation.transpose() * Vector3d(-n));
}

void note_tilted(SurfaceQuery& query, int side, double separation) {
  for (TiltedSide& tilted : query.workspace.tilted) {
    if (tilted.side != side) continue;
    tilted.separation = std::min(tilted.separation, separation);
    return;
  }
  query.workspace.tilted.push_back({.side = side, .separation = separation});
}

bool is_apart_from_contacts(const SurfaceQuery& query, const Vector3d& point, const Vector3d& n,
                            double apart) {
  const Vector3d place = query.pose_s * point, normal = query.pose_s.rotation * n;
  const std::vector<SurfaceCandidate>& all = query.workspace.candidates;
  return std::none_of(all.begin(), all.end(), [&](const SurfaceCandidate& item) {
    return item.candidate.normal.dot(normal) > kSlightTilt &&
           (item.candidate.point - place).squaredNorm() <= apart * apart;
  });
}

bool may_come_down_on(const SurfaceQuery& query, const TiltedSide& side, const Vector3d& point,
                      const Vector3d& on_side, const Vector3d& n, double apart) {
  const double gap = n.dot(on_side - point), reach = query.options.reach;
  const double lowest = std::min(0.0, side.separation);
  const double tie = query.tie + 1e-9 * query.a.size();
  if (gap > reach + query.tolerance || gap < lowest - tie) return false;
  return is_apart_from_contacts(query, point, n, apart);
}

NearTriangle neighbor_across(const SurfaceQuery& query, const NearTriangle& near, int half_edge) {
  const int twin = query.surface.twin(half_edge);
  const bool winds_alike = query.surface.triangle(twin / 3)[twin % 3] !=
                           query.surface.triangle(half_edge / 3)[half_edge % 3];
  NearTriangle neighbor{.index = twin / 3, .side = winds_alike ? near.side : -near.side};
  neighbor.is_front = query.height(neighbor, query.center) >= -query.tolerance;
  return neighbor;
}

SurfaceLine line_of_edge(const SurfaceQuery& query, int half_edge) {
  const Triangle ids = query.surface.triangle(half_edge / 3);
  const int from = ids[half_edge % 3], to = ids[(half_edge % 3 + 1) % 3];
  const Vector3d start = query.surface.vertex(std::min(from, to));
  const Vector3d along = (query.surface.vertex(std::max(from, to)) - start).normalized();
  return {.feature = make_line_feature(start, along), .turns = from < to ? 1.0 : -1.0};
}

FeatureCode surface_region_code(int region) {
  return {.kind = FeatureCode::Kind::kFace, .index = static_cast<std::uint32_t>(region)};
}
FeatureCode surface_edge_code(const SurfaceQuery& query, int half_edge) {
  return {.kind = FeatureCode::Kind::kEdge,
          .index = static_cast<std::uint32_t>(query.surface.edge_id(half_edge))};
}
FeatureCode surface_vertex_code(int vertex) {
  return {.kind = FeatureCode::Kind::kVertex, .index = static_cast<std::uint32_t>(vertex)};
}

namespace {

TouchedRegion& find_region(SurfaceQuery& query, const NearTriangle& near) {
  const int region = query.surface.region(near.index);
  const double side = query.region_side(near);
  for (TouchedRegion& touched : query.workspace.regions) {
    if (touched.region == region && touched.side == side) return touched;
  }
  return query.workspace.regions.emplace_back(TouchedRegion{.region = region, .side = side});
}

}  // namespace

void touch_region(SurfaceQuery& query, const NearTriangle& near, bool is_touched) {
  TouchedRegion& region = find_region(query, near);
  region.is_touched = region.is_touched || is_touched;
}

void tilt_over_region(SurfaceQuery& query, const NearTriangle& near, const Vector3d& n,
                      double separation) {
  const Vector3d normal = query.region_side(near) * query.surface.normal(near.index);
  if (!near.is_front || !(normal.dot(n) > kSlightTilt)) return;
  TouchedRegion& region = find_region(query, near);
  region.is_below_tilted = true;
  region.lowest = std::min(region.lowest, separation);
}

}  // namespace stiction
