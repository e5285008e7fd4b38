// Contacts of last resort: the shape is deeper in a surface than features that touch can tell. Each
// is between a point of the surface of the shape and one of a triangle, as all contacts are: what
// is deepest of the shape may be far beside what it overlaps.
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stiction/base/infinity.h"
#include "stiction/geometry/gjk.h"
#include "stiction/geometry/surface_query.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// The larger t with |p + t d| = r, for p within r.
template <typename Vector>
double leave_ball(const Vector& p, const Vector& d, double r) {
  const double squared = d.squaredNorm(), half = p.dot(d);
  if (!(squared > 0)) return kInfinity;
  const double square = half * half - squared * (p.squaredNorm() - r * r);
  return (std::sqrt(std::max(0.0, square)) - half) / squared;
}

/// [m] How far a point of the shape is from its surface along d, a unit vector, both in its frame.
/// The point may be beside the shape by `tolerance`, which the search of common points leaves: a
/// side that is along d ends the way only where that is further beyond it.
double way_out(const CollisionShape& a, const Vector3d& p, const Vector3d& d, double tolerance) {
  const Vector3d& half = a.half();
  if (a.kind() == ShapeKind::kEllipsoid) {
    return leave_ball<Vector3d>(p.cwiseQuotient(half), d.cwiseQuotient(half), 1);
  }
  if (a.kind() == ShapeKind::kCylinder) {
    const double through_mantle =
        leave_ball<Eigen::Vector2d>(p.head<2>(), d.head<2>(), half.x() + tolerance);
    const double inside = std::max(0.0, half.z() - (d.z() > 0 ? p.z() : -p.z()));
    const double through_end = d.z() != 0 ? (inside + tolerance) / std::abs(d.z()) : kInfinity;
    return std::min(through_mantle, through_end);
  }
  double way = kInfinity;
  for (const Polytope::Face& face : a.polytope()->faces()) {
    const double towards = face.normal.dot(d);
    const double inside = std::max(0.0, face.offset - face.normal.dot(p));
    if (towards > 0) way = std::min(way, (inside + tolerance) / towards);
  }
  return way;
}

/// The point of the surface of a below one of its points, along −n.
Vector3d surface_below(const SurfaceQuery& query, const Vector3d& point, const Vector3d& n) {
  if (query.a.core_radius() > 0) {  // balls and capsules: their deepest point
    return lowest_of_a(query, n);
  }
  const Eigen::Matrix3d back = query.pose_sa.rotation.transpose();
  const double way =
      way_out(query.a, back * (point - query.pose_sa.position), -(back * n), query.tolerance);
  return point - way * n;
}

void add_below(SurfaceQuery& query, const Vector3d& point, const Vector3d& place, const Vector3d& n,
               int triangle) {
  add_candidate(query,
                {.a = point_of_a(query, surface_below(query, point, n), query.a.core_radius()),
                 .b = make_plane_feature(place, n)},
                {.kind = FeatureCode::Kind::kWhole, .index = 0},
                surface_region_code(query.surface.region(triangle)));
}

bool has_touching_contact(const SurfaceQuery& query, const NearTriangle& near) {
  const std::array<Vector3d, 3> corners = query.surface.corners(near.index);
  const std::vector<SurfaceCandidate>& all = query.workspace.candidates;
  const auto region = static_cast<std::uint32_t>(query.surface.region(near.index));
  return std::any_of(all.begin(), all.end(), [&](const SurfaceCandidate& item) {
    if (item.candidate.gap > touching_distance(query)) return false;
    if (item.rank == 0 && item.feature == region) return true;  // all of its plane
    const Vector3d place =
        query.pose_s.rotation.transpose() * (item.candidate.point - query.pose_s.position);
    return (find_nearest_on_triangle(place, corners).point - place).norm() <=
           1e3 * touching_distance(query);
  });
}

/// Some axis that was found parts the triangle from the shape, up to what counts as touching, so
/// that it overlaps no deeper, whatever its own plane says: one that has only a vertex on an edge
/// does not know the axis of what stands on the other side of that edge.
bool is_only_touched(const SurfaceQuery& query, const NearTriangle& near) {
  const std::array<Vector3d, 3> corners = query.surface.corners(near.index);
  const std::vector<OverlapAxis>& axes = query.workspace.overlaps;
  return std::any_of(axes.begin(), axes.end(), [&](const OverlapAxis& axis) {
    const double highest =
        std::max({axis.n.dot(corners[0]), axis.n.dot(corners[1]), axis.n.dot(corners[2])});
    return axis.n.dot(lowest_of_a(query, axis.n)) - highest >= -2 * touching_distance(query);
  });
}

/// The nearest points of the shape and a triangle; the same, if they overlap.
Simplex find_common_points(const SurfaceQuery& query, const TriangleView& t) {
  const std::array<Vector3d, 3> corners = corners_near(query, t);
  const auto support = [&](const Vector3d& v) {
    DifferencePoint point;
    point.a = lowest_of_a(query, v);
    point.b = *std::max_element(
        corners.begin(), corners.end(),
        [&](const Vector3d& p, const Vector3d& q) { return v.dot(p) < v.dot(q); });
    point.w = point.a - point.b;
    return point;
  };
  Vector3d guess = query.center - (corners[0] + corners[1] + corners[2]) / 3;
  if (!(guess.squaredNorm() > 0)) guess = Vector3d::UnitZ();
  return run_gjk(support, guess, {.relative = 1e-10, .touching = query.tolerance}).simplex;
}

/// [-] How much of a way that begins over the triangle is over it.
double share_over(const SurfaceQuery& query, const TriangleView& t, const Vector3d& from,
                  const Vector3d& way) {
  const Vector3d normal = query.surface.winding_normal(t.index);
  double share = 1;
  for (int k = 0; k < 3; ++k) {
    const Vector3d inward = normal.cross(t.corners[(k + 1) % 3] - t.corners[k]);
    const double at = std::max(0.0, inward.dot(from - t.corners[k])), change = inward.dot(way);
    if (change < 0) share = std::min(share, -at / change);
  }
  return share;
}

}  // namespace

/// The centre is inside a solid: the nearest part of the surface pushes what is behind the centre.
void collect_deep(SurfaceQuery& query) {
  const TriangleSurface& surface = query.surface;
  if (!surface.may_contain(query.center)) return;
  const TriangleSurface::Nearest nearest = surface.find_nearest(query.center);
  if (nearest.triangle == TriangleSurface::kNone || !surface.is_solid(nearest.triangle)) return;
  const Vector3d outward = surface.winding_normal(nearest.triangle);
  if (!(surface.outward_at(nearest.triangle, nearest.point, query.tolerance)
            .dot(query.center - nearest.point) < 0)) {
    return;
  }
  // Towards the nearest point, which may lie on a reentrant edge.
  const Vector3d direction = (nearest.point - query.center).normalized();
  const Vector3d n = direction.dot(outward) > 1 - 1e-9 ? outward : direction;
  const double depth = n.dot(nearest.point - query.center);
  add_below(query, nearest.point - depth * n, nearest.point, n, nearest.triangle);
}

/// The shape has been pushed through a corner of the surface, deeper than its features tell: of the
/// triangles that it overlaps the one it leaves soonest, as if it had no end. Not those that have a
/// contact, or that another axis parts from the shape: they are only touched. What pushes is over
/// the triangle, towards what is deepest.
void collect_cut(SurfaceQuery& query) {
  const NearTriangle* best = nullptr;
  double least = kInfinity;  // [m] of depth
  const auto normal_of = [&](const NearTriangle& near) -> Vector3d {
    return query.region_side(near) * query.surface.normal(near.index);
  };
  for (const NearTriangle& near : query.workspace.cut) {
    if (has_touching_contact(query, near)) continue;
    const double depth = -query.height(near, lowest_of_a(query, normal_of(near)));
    // The side that the centre is on first.
    const bool is_better = best == nullptr || (near.is_front && !best->is_front) ||
                           (near.is_front == best->is_front && depth < least);
    if (!is_better || (depth > 2 * touching_distance(query) && is_only_touched(query, near))) {
      continue;
    }
    best = &near;
    least = depth;
  }
  if (best == nullptr) return;
  const TriangleView t(query, best->index);
  const Vector3d n = normal_of(*best), common = find_common_points(query, t).point_b();
  const Vector3d way = lowest_of_a(query, n) - common;
  add_below(query, common + share_over(query, t, common, way) * way, t.corners[0], n, t.index);
}

/// The least gap is the distance. Where a corner is beside a face or a side by less than a tie,
/// that was taken for as good, but has its contacts elsewhere: then the points nearest to each
/// other. Where they touch, along the best axis of their triangle, else its normal.
void collect_nearest(SurfaceQuery& query) {
  const NearTriangle* best = nullptr;
  double least = query.distance + 2 * query.distance_tie;
  Vector3d on_shape, on_triangle;
  for (const NearTriangle& near : query.workspace.triangles) {
    if (!near.is_front || !query.surface.has_area(near.index)) continue;
    const Simplex nearest = find_common_points(query, TriangleView(query, near.index));
    const Vector3d p = nearest.point_a(), q = nearest.point_b();
    if (!((p - q).norm() < least)) continue;
    best = &near;
    least = (p - q).norm();
    on_shape = p;
    on_triangle = q;
  }
  if (best == nullptr) return;
  Vector3d n = query.region_side(*best) * query.surface.normal(best->index);
  for (const OverlapAxis& axis : query.workspace.overlaps) {
    if (axis.near.index == best->index) n = axis.n;
  }
  if (query.distance > 0) n = (on_shape - on_triangle).normalized();
  add_candidate(query,
                {.a = point_of_a(query, on_shape, 0), .b = make_plane_feature(on_triangle, n)},
                {.kind = FeatureCode::Kind::kWhole, .index = 0},
                surface_region_code(query.surface.region(best->index)));
}

}  // namespace stiction
