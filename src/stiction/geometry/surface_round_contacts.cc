// Balls and capsules against a surface. A ball touches where the distance from its centre has a
// local minimum over the surface: over a face, or at an edge or vertex in the direction of its
// normal cone. A capsule is a ball at either end and a line between them, which touches edges and
// vertices only.
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <optional>

#include "stiction/geometry/surface_query.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// What rounding may do to directions.
constexpr double kStrict = 1e-9;
/// A capsule that lies on a face and crosses its border may be lifted at the border by this angle
/// and still needs a candidate there, for when it tilts back.
constexpr double kTilted = 0.05;

struct Ball {
  Vector3d center;
  double radius = 0;
  FeatureCode code{};
  Vector3d inward = Vector3d::Zero();  // unit, to the other end of a capsule
};

void add_face(SurfaceQuery& query, const NearTriangle& near, const Ball& ball) {
  const TriangleSurface& surface = query.surface;
  const int region = surface.region(near.index);
  const double side = query.region_side(near);
  const Vector3d& normal = surface.region_normal(region);
  add_candidate(query,
                {.a = point_of_a(query, ball.center, ball.radius),
                 .b = make_plane_feature(surface.region_offset(region) * normal, side * normal)},
                ball.code, surface_region_code(region));
}

void add_edge(SurfaceQuery& query, int half_edge, const Ball& ball, double side) {
  add_candidate(query,
                {.a = point_of_a(query, ball.center, ball.radius),
                 .b = line_of_edge(query, half_edge).feature,
                 .side = side},
                ball.code, surface_edge_code(query, half_edge));
}

void add_vertex(SurfaceQuery& query, int vertex, const Ball& ball, double side) {
  add_candidate(query,
                {.a = point_of_a(query, ball.center, ball.radius),
                 .b = make_point_feature(query.surface.vertex(vertex)),
                 .side = side},
                ball.code, surface_vertex_code(vertex));
}

/// Along n the rest of the capsule is nearer than its end: then not the end touches an edge or
/// corner, but the axis. At an edge that is nearly parallel to the axis both ends count all the
/// same: whichever is higher may come down in the step.
bool is_passed_by_axis(const Ball& end, const Vector3d& n) { return end.inward.dot(n) < -kStrict; }
bool is_nearly_parallel(const Ball& end, const Vector3d& along) {
  constexpr double kSine = 0.2;  // 11°
  return end.inward.cross(along).squaredNorm() <= kSine * kSine * along.squaredNorm();
}

/// Centre outside: all local minima.
void collect_outside(SurfaceQuery& query, const NearTriangle& near, const Ball& ball) {
  const TriangleSurface& surface = query.surface;
  const TriangleView t(query, near.index);
  const double reach = query.options.reach + ball.radius + query.tolerance;
  if (near.is_front) {
    const double height = query.height(near, ball.center);
    if (height >= -query.tolerance && height <= reach &&
        is_over_triangle(query, t, ball.center, query.tolerance)) {
      add_face(query, near, ball);
    }
  }
  for (int k = 0; k < 3; ++k) {
    const int half_edge = 3 * near.index + k;
    if (surface.edge_id(half_edge) == TriangleSurface::kNone) continue;
    const Vector3d along = t.corners[(k + 1) % 3] - t.corners[k];
    const double squared = along.squaredNorm();
    if (!(squared > 0)) continue;
    const Vector3d from = ball.center - t.corners[k];
    const double place = from.dot(along) / squared, margin = query.tolerance / std::sqrt(squared);
    if (place < -margin || place > 1 + margin) continue;
    const Vector3d away = from - place * along;
    const double distance = away.norm();
    if (!(distance > query.tolerance && distance <= reach)) continue;
    if (is_passed_by_axis(ball, away / distance) && !is_nearly_parallel(ball, along)) continue;
    if (edge_allows(query, half_edge, away / distance, kStrict))
      add_edge(query, half_edge, ball, 1);
  }
  for (int k = 0; k < 3; ++k) {
    if (surface.vertex_kind(t.ids[k]) != TriangleSurface::VertexKind::kCorner) continue;
    const Vector3d away = ball.center - t.corners[k];
    const double distance = away.norm();
    if (!(distance > query.tolerance && distance <= reach)) continue;
    if (is_passed_by_axis(ball, away / distance)) continue;
    if (vertex_allows(query, t.ids[k], away / distance, kStrict)) {
      add_vertex(query, t.ids[k], ball, 1);
    }
  }
}

struct NearestFeature {
  const NearTriangle* near = nullptr;
  double distance = std::numeric_limits<double>::infinity();
  double facing = 0;  // < 0: behind the surface
  TrianglePoint at{};
};

/// Of equally near triangles the one that faces the point most.
NearestFeature find_nearest_near(const SurfaceQuery& query, const Vector3d& point, bool is_front) {
  NearestFeature best;
  for (const NearTriangle& near : query.workspace.triangles) {
    if (!query.surface.has_area(near.index) || (is_front && !near.is_front)) continue;
    const TrianglePoint at = find_nearest_on_triangle(point, query.surface.corners(near.index));
    const double distance = (at.point - point).norm();
    if (distance > best.distance + query.tolerance) continue;
    const double facing =
        near.side *
        query.surface.outward_at(near.index, at.point, query.tolerance).dot(point - at.point);
    const bool is_tie = std::abs(distance - best.distance) <= query.tolerance;
    if (is_tie ? std::abs(facing) > std::abs(best.facing) + query.tolerance
               : distance < best.distance) {
      best = {.near = &near, .distance = distance, .facing = facing, .at = at};
    }
  }
  return best;
}

/// Whether the nearest point is on the rim of an open mesh, around which both sides are one.
bool is_on_rim(const SurfaceQuery& query, const NearestFeature& nearest) {
  const TriangleSurface& surface = query.surface;
  const Triangle ids = surface.triangle(nearest.near->index);
  const auto weight_of = [&](int vertex) {
    for (int k = 0; k < 3; ++k) {
      if (ids[k] == vertex) return nearest.at.weights[k];
    }
    return 0.0;
  };
  bool is_found = false;
  for (int k = 0; k < 3; ++k) {
    if (!(nearest.at.weights[k] > 0)) continue;
    surface.for_each_at_vertex(ids[k], [&](int t) {
      const Triangle other = surface.triangle(t);
      for (int i = 0; i < 3; ++i) {
        if (surface.twin(3 * t + i) != TriangleSurface::kNone) continue;
        const double on_edge = weight_of(other[i]) + weight_of(other[(i + 1) % 3]);
        is_found = is_found || on_edge == nearest.at.weights.sum();
      }
    });
  }
  return is_found;
}

/// Centre behind the surface: only the nearest feature, since others may be the far side of the
/// solid.
void collect_inside(SurfaceQuery& query, const NearestFeature& nearest, const Ball& ball) {
  const TriangleView t(query, nearest.near->index);
  int num_corners = 0, corner = 0, opposite = 0;
  for (int k = 0; k < 3; ++k) {
    if (nearest.at.weights[k] > 0) {
      ++num_corners;
      corner = k;
    } else {
      opposite = k;
    }
  }
  const int half_edge = 3 * t.index + (opposite + 1) % 3;
  const bool is_edge = num_corners == 2 && nearest.distance > query.tolerance &&
                       query.surface.edge_id(half_edge) != TriangleSurface::kNone;
  const bool is_vertex =
      num_corners == 1 && nearest.distance > query.tolerance &&
      query.surface.vertex_kind(t.ids[corner]) == TriangleSurface::VertexKind::kCorner;
  if (is_edge) {
    add_edge(query, half_edge, ball, -1);
  } else if (is_vertex) {
    add_vertex(query, t.ids[corner], ball, -1);
  } else {
    add_face(query, *nearest.near, ball);
  }
}

void collect_ball(SurfaceQuery& query, const Ball& ball) {
  const NearestFeature nearest = find_nearest_near(query, ball.center, false);
  if (nearest.near == nullptr || nearest.distance > ball.radius + query.options.reach) return;
  // Below the rim of a height field, or behind that of a sheet, but beside it, is not inside.
  const bool is_beside =
      query.surface.is_height_field()
          ? !query.surface.may_contain(ball.center)
          : !query.surface.is_solid(nearest.near->index) && is_on_rim(query, nearest);
  if (nearest.facing >= -query.tolerance || is_beside) {
    for (const NearTriangle& near : query.workspace.triangles) collect_outside(query, near, ball);
    return;
  }
  const NearestFeature in_front = find_nearest_near(query, ball.center, true);
  if (in_front.near != nullptr) {
    collect_inside(query, in_front, ball);
  } else if (query.surface.is_solid(nearest.near->index)) {
    collect_inside(query, nearest, ball);
  }
}

/// The axis of a capsule.
struct Axis {
  Vector3d start, end, direction;
  double length = 0, radius = 0;
};

/// Along n the edge is seen from the side of the sheet that counts: a valley is a ridge from below,
/// and what has sunk into the valley has not come from there.
bool is_seen_along(const SurfaceQuery& query, const NearTriangle& near, int half_edge,
                   const Vector3d& n) {
  const TriangleSurface& surface = query.surface;
  if (surface.is_solid(near.index) || surface.twin(half_edge) < 0) return true;
  const NearTriangle across = neighbor_across(query, near, half_edge);
  const Vector3d outward = query.region_side(near) * surface.normal(near.index) +
                           query.region_side(across) * surface.normal(across.index);
  return n.dot(outward) >= -kStrict;
}

// What of a lifted axis is over a triangle or along an edge ends at a plane through a corner, the
// wall. That end touches along n if it comes down. The normal of the mantle there is another one:
// with it, what slides over edges of nearly flat ground would be braked.

/// The lowest point of the mantle in the wall, if it is between the ends.
std::optional<Vector3d> find_lowest_in_wall(const Axis& axis, const Vector3d& wall,
                                            const Vector3d& corner, const Vector3d& n) {
  const Vector3d up = (n - n.dot(axis.direction) * axis.direction).normalized();
  const Vector3d bottom = axis.start - axis.radius * up;
  const double place = wall.dot(corner - bottom) / wall.dot(axis.direction);
  if (!(place >= 0 && place <= axis.length)) return std::nullopt;
  return bottom + place * axis.direction;
}

/// Touches the mantle from within at a point of it, and takes its place.
ContactFeature ball_within(const SurfaceQuery& query, const Axis& axis, const Vector3d& point,
                           const Vector3d& n) {
  return point_of_a(query, point + axis.radius * n, axis.radius);
}

/// The end, at an edge, of what of the axis is over a triangle.
std::optional<Vector3d> find_border(const SurfaceQuery& query, const NearTriangle& near,
                                    const TriangleView& t, int k, const Axis& axis) {
  const Vector3d normal = query.region_side(near) * query.surface.normal(t.index);
  const Vector3d edge = t.corners[(k + 1) % 3] - t.corners[k];
  const std::optional<Vector3d> lowest =
      find_lowest_in_wall(axis, normal.cross(edge), t.corners[k], normal);
  if (!lowest) return std::nullopt;
  const double place = edge.dot(*lowest - t.corners[k]), length = edge.norm();
  const bool is_in_edge =
      place >= -query.tolerance * length && place <= (length + query.tolerance) * length;
  return is_in_edge ? lowest : std::nullopt;
}

/// n lies outside of the normal cone of the edge, since the axis rises from the triangle.
void add_border(SurfaceQuery& query, const NearTriangle& near, const TriangleView& t, int k,
                const Axis& axis, const Vector3d& n) {
  const int region = query.surface.region(t.index);
  const Vector3d& upright = query.surface.region_normal(region);
  const Vector3d normal = query.region_side(near) * upright;
  const Vector3d inward = near.side * normal.cross(t.corners[(k + 1) % 3] - t.corners[k]);
  if (!(normal.dot(n) > 0 && inward.dot(n) > 0)) return;
  const std::optional<Vector3d> lowest = find_border(query, near, t, k, axis);
  if (!lowest) return;
  add_candidate(query,
                {.a = ball_within(query, axis, *lowest, normal),
                 .b = make_plane_feature(query.surface.region_offset(region) * upright, normal)},
                {.kind = FeatureCode::Kind::kEdge, .index = 0},
                surface_edge_code(query, 3 * t.index + k), surface_region_code(region));
}

void add_crossing(SurfaceQuery& query, int half_edge, const Axis& axis, double side) {
  const SurfaceLine line = line_of_edge(query, half_edge);
  add_candidate(query,
                {.a = make_line_feature(Vector3d::Zero(), Vector3d::UnitZ(), axis.radius),
                 .b = line.feature,
                 .side = line.turns * side},
                {.kind = FeatureCode::Kind::kEdge, .index = 0},
                surface_edge_code(query, half_edge));
}

/// Axis against an edge of the surface, where both are nearest to each other between their ends.
void collect_axis_on_edge(SurfaceQuery& query, const NearTriangle& near, const TriangleView& t,
                          int k, const Axis& axis) {
  const int half_edge = 3 * t.index + k;
  const Vector3d edge = t.corners[(k + 1) % 3] - t.corners[k];
  const double edge_length = edge.norm();
  if (!(edge_length > 0)) return;
  const Vector3d along = edge / edge_length;
  const Vector3d cross = axis.direction.cross(along);
  const double sine = cross.norm();
  if (!(sine > 1e-9)) return;  // parallel: the ends of both say all
  const Vector3d offset = axis.start - t.corners[k];
  const double s = along.cross(offset).dot(cross) / (sine * sine);
  const double u = axis.direction.cross(offset).dot(cross) / (sine * sine);
  const auto is_between = [&](double margin) {
    return s >= -margin && s <= axis.length + margin && u >= -margin - query.tolerance &&
           u <= edge_length + margin + query.tolerance;
  };
  // Where the axis crosses the edge as seen along the normal of a triangle, instead of n, both are
  // elsewhere by no more than this.
  if (!is_between(kTilted * (2 * axis.radius + query.options.reach) / sine)) return;
  if (!is_between(0) && !find_border(query, near, t, k, axis)) return;
  for (const double side : {1.0, -1.0}) {
    const Vector3d n = side / sine * cross;
    const double distance = n.dot(offset);
    // Beyond the edge by more than the radius: the faces know better.
    if (distance < -axis.radius || distance - axis.radius > query.options.reach) continue;
    if (!edge_allows(query, half_edge, n, kTilted)) continue;
    if (!is_seen_along(query, near, half_edge, n)) continue;
    if (!edge_allows(query, half_edge, n, kStrict)) {
      const bool is_lifted = distance > 0 && is_convex_edge(query, half_edge);
      if (is_lifted) add_border(query, near, t, k, axis, n);
      continue;
    }
    if (!is_between(0)) continue;
    // Around a rim both directions are allowed: the axis is before it, not beyond.
    if (distance < 0 && edge_allows(query, half_edge, -n, kStrict)) continue;
    add_crossing(query, half_edge, axis, side);
  }
}

/// The corner does not push the axis, but an edge that ends there does, and the axis is nearly
/// parallel to it: the end of it that the axis is lifted from may be touched in the step.
void add_end_of_edge(SurfaceQuery& query, const TriangleView& t, int k, const Axis& axis) {
  constexpr double kSine = 0.1;
  for (const int edge : {k, (k + 2) % 3}) {
    const int half_edge = 3 * t.index + edge;
    if (query.surface.edge_id(half_edge) == TriangleSurface::kNone) continue;
    const Vector3d along = (t.corners[(edge + 1) % 3] - t.corners[edge]).normalized();
    if (!(axis.direction.cross(along).squaredNorm() < kSine * kSine)) continue;
    const double place = along.dot(t.corners[k] - axis.start) / along.dot(axis.direction);
    const Vector3d across = (axis.start + place * axis.direction - t.corners[k]).normalized();
    if (!vertex_allows(query, t.ids[k], across, kStrict)) continue;
    const std::optional<Vector3d> lowest = find_lowest_in_wall(axis, along, t.corners[k], across);
    if (!lowest) continue;
    add_candidate(query,
                  {.a = ball_within(query, axis, *lowest, across),
                   .b = line_of_edge(query, half_edge).feature},
                  {.kind = FeatureCode::Kind::kEdge, .index = 0}, surface_vertex_code(t.ids[k]),
                  surface_edge_code(query, half_edge));
    return;
  }
}

void collect_axis_on_vertex(SurfaceQuery& query, const TriangleView& t, int k, const Axis& axis) {
  const int vertex = t.ids[k];
  const Vector3d& corner = t.corners[k];
  const double place = axis.direction.dot(corner - axis.start);
  if (place < 0 || place > axis.length) return;
  const Vector3d away = axis.start + place * axis.direction - corner;
  const double distance = away.norm();
  if (!(distance > query.tolerance)) return;
  if (!(distance - axis.radius <= query.options.reach)) return;
  if (!vertex_allows(query, vertex, away / distance, kStrict)) {
    add_end_of_edge(query, t, k, axis);
    return;
  }
  add_candidate(query,
                {.a = make_line_feature(Vector3d::Zero(), Vector3d::UnitZ(), axis.radius),
                 .b = make_point_feature(corner)},
                {.kind = FeatureCode::Kind::kEdge, .index = 0}, surface_vertex_code(vertex));
}

/// The triangle cuts the axis, and nothing else tells so: the end behind it leaves through its
/// face, however deep it is.
void collect_cut_axis(SurfaceQuery& query, const NearTriangle& near, const TriangleView& t,
                      const Axis& axis) {
  if (!near.is_front || !query.surface.has_area(near.index)) return;
  const double start = query.height(near, axis.start), end = query.height(near, axis.end);
  if (!(std::min(start, end) < 0 && std::max(start, end) > 0)) return;
  const Vector3d cut = axis.start + start / (start - end) * (axis.end - axis.start);
  if (!is_over_triangle(query, t, cut, query.tolerance)) return;
  const std::uint32_t behind = start < end ? 0 : 1;
  add_face(query, near,
           {.center = behind == 0 ? axis.start : axis.end,
            .radius = axis.radius,
            .code = {FeatureCode::Kind::kVertex, behind}});
}

void collect_axis(SurfaceQuery& query, const Axis& axis) {
  for (const NearTriangle& near : query.workspace.triangles) {
    const TriangleView t(query, near.index);
    for (int k = 0; k < 3; ++k) {
      if (query.surface.edge_id(3 * near.index + k) == TriangleSurface::kNone) continue;
      collect_axis_on_edge(query, near, t, k, axis);
    }
    for (int k = 0; k < 3; ++k) {
      if (query.surface.vertex_kind(t.ids[k]) != TriangleSurface::VertexKind::kCorner) continue;
      collect_axis_on_vertex(query, t, k, axis);
    }
  }
  if (has_contact_below(query, -touching_distance(query))) return;
  for (std::size_t i = 0; i < query.workspace.triangles.size(); ++i) {
    const NearTriangle near = query.workspace.triangles[i];
    collect_cut_axis(query, near, TriangleView(query, near.index), axis);
  }
}

}  // namespace

void collect_round(SurfaceQuery& query) {
  const double radius = query.a.core_radius();
  const Vector3d half = query.pose_sa.rotation * query.a.half();
  const double half_length = query.a.half().z();
  if (query.a.kind() != ShapeKind::kCapsule || !(half_length > 0)) {
    const FeatureCode::Kind kind = query.a.kind() == ShapeKind::kCapsule
                                       ? FeatureCode::Kind::kVertex
                                       : FeatureCode::Kind::kWhole;
    collect_ball(query, {.center = query.center, .radius = radius, .code = {kind, 0}});
    return;
  }
  for (const int end : {0, 1}) {
    const double side = end == 0 ? -1 : 1;
    collect_ball(query, {.center = query.center + side * half,
                         .radius = radius,
                         .code = {FeatureCode::Kind::kVertex, static_cast<std::uint32_t>(end)},
                         .inward = -side * query.pose_sa.rotation.col(2)});
  }
  collect_axis(query, {.start = query.center - half,
                       .end = query.center + half,
                       .direction = query.pose_sa.rotation.col(2),
                       .length = 2 * half_length,
                       .radius = radius});
}

}  // namespace stiction
