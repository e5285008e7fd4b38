// One convex shape against one surface: what the parts of collect_surface_contacts share. Internal
// to them. All vectors are in the frame of the surface S unless their name says otherwise.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <limits>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/surface_workspace.h"
#include "stiction/geometry/triangle_surface.h"

namespace stiction {

struct SurfaceQuery {
  const CollisionShape& a;
  const CollisionShape& surface_shape;
  const TriangleSurface& surface;
  Pose pose_a, pose_s;  // in the world
  Pose pose_sa;         // of the frame of a in S
  ContactOptions options;
  ContactWorkspace& contact_workspace;
  SurfaceWorkspace& workspace;
  Eigen::Vector3d center;  // of a
  double tolerance = 0;    // [m] what rounding may do to positions
  double tie = 0;          // [m] and to separations: those that differ by less are equal
  /// [m] Of the nearest triangle, 0 where that is nearer than a tie; and this tie.
  double distance = std::numeric_limits<double>::infinity(), distance_tie = 0;

  void note_distance(double of_triangle, double tie) {
    distance = std::min(distance, of_triangle);
    distance_tie = tie;
  }
  /// Both ties go by the size of the surface, in whose coordinates positions are. Of a shape that
  /// is less than a hundredth of that they would become a part of the shape that counts: there
  /// they go by the shape, but are not less than what doubles of that size leave.
  void set_ties(double scale) {
    constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
    const double own = 1e2 * a.size();
    const auto tie_of = [&](double part, double rounding) {
      return std::min(part * scale, std::max(part * own, rounding * kEpsilon * scale));
    };
    tolerance = tie_of(TriangleSurface::kFlatness, 32);
    tie = tie_of(1e3 * TriangleSurface::kFlatness, 256);
  }
  /// Height of a point over the plane of a near triangle, on the side that counts.
  double height(const NearTriangle& near, const Eigen::Vector3d& point) const {
    return region_side(near) * (surface.normal(near.index).dot(point) - surface.offset(near.index));
  }
  /// ±1 for the normal of its region.
  double region_side(const NearTriangle& near) const {
    return surface.winds_with_region(near.index) ? near.side : -near.side;
  }
};

/// The features of a near triangle, gathered once.
struct TriangleView {
  explicit TriangleView(const SurfaceQuery& query, int t)
      : index(t), ids(query.surface.triangle(t)), corners(query.surface.corners(t)) {}
  int index;
  Triangle ids;
  std::array<Eigen::Vector3d, 3> corners;
};

/// Corners of a triangle for searches of nearest points, by products of differences of corners: of
/// one that is thousands of times larger than the shape their rounding is a part of the shape that
/// counts, and searches end early. It is drawn together about a corner or a point of an edge that
/// is near the shape, or else about its own nearest point, and all of it that is within reach
/// stays. Corners that are moved are out of reach, so that what is nearest names the same features.
std::array<Eigen::Vector3d, 3> corners_near(const SurfaceQuery& query, const TriangleView& t);

/// The triangle across a half-edge that has a twin, seen from the same side.
NearTriangle neighbor_across(const SurfaceQuery& query, const NearTriangle& near, int half_edge);

// Normal cones. `n` is a unit vector, slack the sine of an angle by which it may lie outside.

/// The edge pushes along n: n points out of the solid, and no triangle at the edge rises along n.
bool edge_allows(const SurfaceQuery& query, int half_edge, const Eigen::Vector3d& n, double slack);
/// Some direction is allowed with room to spare: a convex edge or a rim.
bool is_convex_edge(const SurfaceQuery& query, int half_edge);
bool vertex_allows(const SurfaceQuery& query, int vertex, const Eigen::Vector3d& n, double slack);
/// The foot of p on the plane of t lies in t, or outside by up to `margin` [m].
bool is_over_triangle(const SurfaceQuery& query, const TriangleView& t, const Eigen::Vector3d& p,
                      double margin);
/// The same for some near triangle of a region.
bool is_over_region(const SurfaceQuery& query, int region, const Eigen::Vector3d& p, double margin);

/// The axis of a neighbour at a vertex that parts this triangle from the shape better than its own,
/// and that it allows: then the neighbour's contact is the true one. Or the axis of a triangle
/// further away, if it is steeper and parts this one as well as that one. Null if there is none. (A
/// triangle that has only a vertex on a ridge does not know the axes of the ridge.)
const OverlapAxis* find_explanation(const SurfaceQuery& query, const OverlapAxis& overlap,
                                    double tie);

// Results. They fill in gap, normal and point by evaluate_touch and drop what is out of reach.

/// `group` is the feature of the surface that it belongs to, if not code_s.
void add_candidate(SurfaceQuery& query, ContactCandidate candidate, FeatureCode code_a,
                   FeatureCode code_s);
void add_candidate(SurfaceQuery& query, ContactCandidate candidate, FeatureCode code_a,
                   FeatureCode code_s, FeatureCode group);
/// What counts as touching, [m].
double touching_distance(const SurfaceQuery& query);
/// Some contact so far has a gap below this, [m].
bool has_contact_below(const SurfaceQuery& query, double gap);
/// Features given in S, moved to the frame of a.
ContactFeature point_of_a(const SurfaceQuery& query, const Eigen::Vector3d& point, double radius);
ContactFeature plane_of_a(const SurfaceQuery& query, const Eigen::Vector3d& point,
                          const Eigen::Vector3d& normal);
/// A point of the core of a furthest along −n.
Eigen::Vector3d lowest_of_a(const SurfaceQuery& query, const Eigen::Vector3d& n);
/// The line of an edge, the same for both triangles: from the vertex of the lower number. `turns`
/// is −1 where the half-edge runs the other way, else 1.
struct SurfaceLine {
  ContactFeature feature{};
  double turns = 1;
};
SurfaceLine line_of_edge(const SurfaceQuery& query, int half_edge);
FeatureCode surface_region_code(int region);
FeatureCode surface_edge_code(const SurfaceQuery& query, int half_edge);
FeatureCode surface_vertex_code(int vertex);
void touch_region(SurfaceQuery& query, const NearTriangle& near, bool is_touched);
/// An edge or corner of the triangle, or something across it, is touched along n. If that is
/// nearly the normal of its region, then what else is over the region may come down on it in the
/// same step, or has sunk in as well, less deep than along n.
void tilt_over_region(SurfaceQuery& query, const NearTriangle& near, const Eigen::Vector3d& n,
                      double separation);

// Flat sides that are slightly tilted. One touches a bump or a ridge at one place first; where else
// the surface is under it, it may come down in the same step.

/// Cosine of the angle up to which that is so, 11°: steeper ones would brake what moves along them.
constexpr double kSlightTilt = 0.98;
/// By how much a side of the given width may turn in the step, as a sine.
inline double possible_turn(const SurfaceQuery& query, double width) {
  return std::min(0.2, 2 * query.options.reach / width);
}
void note_tilted(SurfaceQuery& query, int side, double separation);
/// No contact is within `apart` [m] of a point already, along nearly the same normal. In S.
bool is_apart_from_contacts(const SurfaceQuery& query, const Eigen::Vector3d& point,
                            const Eigen::Vector3d& n, double apart);
/// Whether a point of the surface under the flat side, whose plane goes through `on_side`, is one
/// of those: within reach, not further behind the plane than what the side touches, where other
/// sides of the shape are, and apart from other contacts. All in S; n points into the shape.
bool may_come_down_on(const SurfaceQuery& query, const TiltedSide& side,
                      const Eigen::Vector3d& point, const Eigen::Vector3d& on_side,
                      const Eigen::Vector3d& n, double apart);

// The parts.

/// Balls and capsules.
void collect_round(SurfaceQuery& query);
/// Boxes and hulls: finds the touched regions, adds all else.
void collect_polytope(SurfaceQuery& query);
/// Cylinders and ellipsoids: the same.
void collect_curved(SurfaceQuery& query);
/// The contacts of a with the planes of workspace.regions, clipped to the regions.
/// Uses the end of `scratch` and restores it.
void collect_regions(SurfaceQuery& query, ContactList& scratch);
/// Last resorts, where nothing else says that a is inside a solid, or cuts triangles.
void collect_deep(SurfaceQuery& query);
void collect_cut(SurfaceQuery& query);
/// No contact is as near as what is nearest.
void collect_nearest(SurfaceQuery& query);
/// a is a plane: the corners of the surface are within reach of it.
void collect_half_space(SurfaceQuery& query);

}  // namespace stiction
