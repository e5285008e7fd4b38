// Contacts of a shape with flat regions: those with the whole plane, where they are over the
// region; and where the region ends under the shape, the points of the shape over its border.
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "stiction/geometry/cylinder_parts.h"
#include "stiction/geometry/surface_query.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

struct RegionFrame {
  int region = 0;
  Vector3d normal, point;  // of the plane, below the shape
  bool is_touched = true;
  bool has_border = true;                                    // else only corners above it count
  double lowest = -std::numeric_limits<double>::infinity();  // [m] no gaps below
};

/// x and y are any; z is the normal, exactly.
Pose plane_pose(const RegionFrame& frame) {
  int smallest = 0;
  frame.normal.cwiseAbs().minCoeff(&smallest);
  const Vector3d x = frame.normal.cross(Vector3d::Unit(smallest)).normalized();
  Pose pose{.position = frame.point, .rotation = {}};
  pose.rotation.col(0) = x;
  pose.rotation.col(1) = frame.normal.cross(x);
  pose.rotation.col(2) = frame.normal;
  return pose;
}

/// The lowest point of the rim of a cylinder, which stands for the fixed points next to it, is not
/// over the region: those that are count themselves. Not where it lies: its mantle knows what is
/// over the region, and fixed points would be knobs on a wheel.
void add_points_of_rim(SurfaceQuery& query, const RegionFrame& frame) {
  const CylinderParts parts(query.a);
  const Vector3d down = -(query.pose_sa.rotation.transpose() * frame.normal);
  if (std::abs(down.z()) < std::sqrt(0.5)) return;
  const int end = down.z() > 0 ? 1 : 0;
  for (int k = 0; k < kNumRimPoints; ++k) {
    const Vector3d point = query.pose_sa * parts.rim_point(end, k);
    if (!CylinderParts::is_next_to(down, k) ||
        frame.normal.dot(point - frame.point) < frame.lowest ||
        !is_over_region(query, frame.region, point, query.tolerance)) {
      continue;
    }
    add_candidate(query,
                  {.a = make_point_feature(parts.rim_point(end, k)),
                   .b = make_plane_feature(frame.point, frame.normal)},
                  CylinderParts::rim_point_code(end, k), surface_region_code(frame.region));
  }
}

void add_plane_contacts(SurfaceQuery& query, const RegionFrame& frame, ContactList& scratch) {
  SurfaceWorkspace& w = query.workspace;
  if (!w.plane) w.plane.emplace(Plane{});
  const std::size_t num_candidates = scratch.candidates.size(),
                    num_patches = scratch.patches.size();
  const int num_groups = scratch.num_groups, num_reduced = scratch.num_reduced;
  ContactOptions options = query.options;
  options.reduces = false;
  options.wants_alternatives = false;
  collect_contacts(query.a, query.pose_a, *w.plane, query.pose_s * plane_pose(frame), options,
                   query.contact_workspace, scratch);
  const FeatureCode code = surface_region_code(frame.region);
  bool loses_rim = false;
  for (std::size_t i = num_candidates; i < scratch.candidates.size(); ++i) {
    ContactCandidate candidate = scratch.candidates[i];
    const Vector3d point =
        query.pose_s.rotation.transpose() * (candidate.point - query.pose_s.position);
    if (candidate.gap < frame.lowest ||
        !is_over_region(query, frame.region, point, query.tolerance)) {
      loses_rim = loses_rim || candidate.a.kind == ContactFeature::Kind::kCircle;
      continue;
    }
    candidate.b = make_plane_feature(frame.point, frame.normal);
    candidate.id = (candidate.id >> 32 << 32) |
                   make_contact_id({.kind = FeatureCode::Kind::kWhole, .index = 0}, code);
    w.candidates.push_back({.candidate = candidate, .feature = code.index, .rank = 0});
  }
  scratch.candidates.resize(num_candidates);
  scratch.patches.resize(num_patches);
  scratch.num_groups = num_groups;
  scratch.num_reduced = num_reduced;
  if (loses_rim && frame.has_border) add_points_of_rim(query, frame);
}

/// One edge of a region, with the wall that stands on it along the normal.
struct Border {
  FeatureCode code{};
  int half_edge = 0;
  Vector3d start, along, inward;  // along and inward are unit vectors
  double length = 0;
  double height(const Vector3d& p) const { return inward.dot(p - start); }
  bool is_beside(const Vector3d& p, double margin) const {
    const double place = along.dot(p - start);
    return place >= -margin && place <= length + margin;
  }
};

bool has_contact(const SurfaceQuery& query, std::uint64_t id) {
  const std::vector<SurfaceCandidate>& all = query.workspace.candidates;
  return std::any_of(all.begin(), all.end(),
                     [id](const SurfaceCandidate& item) { return item.candidate.id == id; });
}

/// A point of the shape over the border. Where the region is only below a tilted shape, what is
/// touched beside it may have the same place already, and then knows better.
void add_over_region(SurfaceQuery& query, const RegionFrame& frame, const Vector3d& point,
                     FeatureCode code_a, FeatureCode code_s) {
  const double gap = frame.normal.dot(point - frame.point);
  if (gap < frame.lowest || gap > query.options.reach + query.tolerance) return;
  constexpr double kApart = 0.02;  // of the size
  if (!frame.is_touched && (has_contact(query, make_contact_id(code_a, code_s)) ||
                            !is_apart_from_contacts(query, point - gap / 2 * frame.normal,
                                                    frame.normal, kApart * query.a.size()))) {
    return;
  }
  add_candidate(
      query, {.a = point_of_a(query, point, 0), .b = make_plane_feature(frame.point, frame.normal)},
      code_a, code_s, surface_region_code(frame.region));
}

void add_on_border(SurfaceQuery& query, const RegionFrame& frame, const Border& border,
                   const Vector3d& point, FeatureCode code_a) {
  if (!border.is_beside(point, query.tolerance)) return;
  add_over_region(query, frame, point, code_a, border.code);
}

/// A side of the incident polygon over the border.
void cross_side(SurfaceQuery& query, const RegionFrame& frame, const Border& border,
                const Vector3d& p, const Vector3d& q, FeatureCode code_a) {
  const double hp = border.height(p), hq = border.height(q);
  // Corners on the border are contacts of their own.
  if (std::min(hp, hq) >= -query.tolerance || std::max(hp, hq) <= query.tolerance) return;
  add_on_border(query, frame, border, p + hp / (hp - hq) * (q - p), code_a);
}

/// What of the shape lies on the region.
class Footprint {
 public:
  Footprint(SurfaceQuery& query, const RegionFrame& frame) : query_(query), frame_(frame) {
    if (const Polytope* polytope = query.a.polytope()) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < polytope->faces().size(); ++i) {
        const double cosine = query.workspace.normals[i].dot(frame.normal);
        if (cosine >= best) continue;
        best = cosine;
        face_ = static_cast<int>(i);
      }
    } else if (query.a.kind() == ShapeKind::kCylinder) {
      const Vector3d axis = query.pose_sa.rotation.col(2);
      const double cosine = axis.dot(frame.normal);
      const Vector3d half = (cosine > 0 ? -1 : 1) * query.a.half().z() * axis;
      stands_ = std::abs(cosine) > std::sqrt(0.5);
      end_center_ = query.center + half;
      axis_ = axis;
      const Vector3d down = -(frame.normal - cosine * axis);
      if (!stands_) offset_ = down.normalized() * query.a.half().x();
    }
  }

  void cross(const Border& border) {
    if (face_ >= 0) {
      const Polytope& polytope = *query_.a.polytope();
      for (const int e : polytope.edges_of(face_)) {
        const Polytope::Edge& edge = polytope.edges()[e];
        const std::vector<Vector3d>& points = query_.workspace.points;
        cross_side(query_, frame_, border, points[edge.tail], points[edge.head],
                   {FeatureCode::Kind::kEdge, static_cast<std::uint32_t>(e)});
      }
    } else if (query_.a.kind() == ShapeKind::kCylinder && stands_) {
      cross_rim(border);
    } else if (query_.a.kind() == ShapeKind::kCylinder) {
      const Vector3d half = query_.a.half().z() * axis_;
      cross_side(query_, frame_, border, query_.center + offset_ - half,
                 query_.center + offset_ + half, {FeatureCode::Kind::kEdge, 0});
      add_ends_beyond(border);
    }
  }

  /// A vertex of the region under the shape.
  void cover(int vertex, FeatureCode code) {
    const Vector3d corner = query_.surface.vertex(vertex);
    Vector3d normal, point;
    if (face_ >= 0) {
      const Polytope& polytope = *query_.a.polytope();
      normal = query_.workspace.normals[face_];
      point = query_.workspace.points[polytope.vertices_of(face_)[0]];
    } else if (query_.a.kind() == ShapeKind::kCylinder && stands_) {
      normal = axis_;
      point = end_center_;
    } else {
      return;
    }
    const double cosine = normal.dot(frame_.normal);
    if (!(std::abs(cosine) > 1e-6)) return;
    const Vector3d above = corner + normal.dot(point - corner) / cosine * frame_.normal;
    if (!covers(above)) return;
    add_over_region(query_, frame_, above,
                    {FeatureCode::Kind::kFace, static_cast<std::uint32_t>(std::max(face_, 0))},
                    code);
  }

 private:
  bool covers(const Vector3d& p) const {
    if (face_ < 0) return (p - end_center_).norm() <= query_.a.half().x();
    const Polytope& polytope = *query_.a.polytope();
    const std::span<const int> loop = polytope.vertices_of(face_);
    const Vector3d& normal = query_.workspace.normals[face_];
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const Vector3d& from = query_.workspace.points[loop[k]];
      const Vector3d& to = query_.workspace.points[loop[(k + 1) % loop.size()]];
      if (normal.cross(to - from).dot(p - from) < 0) return false;
    }
    return true;
  }

  /// A mantle that lies along a border, askew by a little, has one end beyond it: over the edge,
  /// which holds it when it comes down. The end is that of either.
  void add_ends_beyond(const Border& border) {
    constexpr double kNearlyParallel = 0.1;  // sine
    if (query_.surface.edge_id(border.half_edge) == TriangleSurface::kNone) return;
    if (!(border.along.cross(axis_).norm() < kNearlyParallel)) return;
    const double half = query_.a.half().z(), radius = query_.a.half().x();
    const Vector3d axis = Vector3d::UnitZ();
    const auto is_beyond = [&](double z) {
      return border.height(query_.center + offset_ + z * axis_) < -query_.tolerance;
    };
    for (const int end : {0, 1}) {
      const double z = end == 0 ? -half : half;
      const double place =
          (query_.center + z * axis_ - border.start).dot(axis_) / border.along.dot(axis_);
      const bool is_beside =
          place >= -query_.tolerance && place <= border.length + query_.tolerance;
      if (!is_beside || !is_beyond(z)) continue;
      add_end_beyond(border,
                     {.a = make_circle_feature({0, 0, z}, axis, radius),
                      .b = line_of_edge(query_, border.half_edge).feature},
                     CylinderParts::rim_code(end), border.code);
    }
    const Triangle ids = query_.surface.triangle(border.half_edge / 3);
    for (const int k : {border.half_edge % 3, (border.half_edge % 3 + 1) % 3}) {
      if (query_.surface.vertex_kind(ids[k]) != TriangleSurface::VertexKind::kCorner) continue;
      const Vector3d corner = query_.surface.vertex(ids[k]);
      const double z = axis_.dot(corner - query_.center);
      if (std::abs(z) > half || !is_beyond(z)) continue;
      add_end_beyond(
          border,
          {.a = make_line_feature(Vector3d::Zero(), axis, radius), .b = make_point_feature(corner)},
          {FeatureCode::Kind::kEdge, 0}, surface_vertex_code(ids[k]));
    }
  }

  /// If the edge pushes that way. Not what is deeper than all else: others part it from the edge.
  void add_end_beyond(const Border& border, const ContactCandidate& candidate, FeatureCode code_a,
                      FeatureCode code_s) {
    constexpr double kStrict = 1e-9;
    const Touch touch =
        evaluate_touch(candidate, query_.a, query_.pose_a, query_.surface_shape, query_.pose_s);
    const Vector3d n = query_.pose_s.rotation.transpose() * touch.normal;
    const Vector3d across = (n - n.dot(border.along) * border.along).normalized();
    if (touch.gap < 0 && !has_contact_below(query_, touch.gap + 2 * query_.tie)) return;
    if (touch.gap < frame_.lowest || !(n.dot(frame_.normal) > kSlightTilt)) return;
    if (!edge_allows(query_, border.half_edge, across, kStrict)) return;
    add_candidate(query_, candidate, code_a, code_s);
  }

  /// Both points where the wall cuts the rim.
  void cross_rim(const Border& border) {
    const double radius = query_.a.half().x(), height = border.height(end_center_);
    const Vector3d in_disc = border.inward - border.inward.dot(axis_) * axis_;
    const double squared = in_disc.squaredNorm();
    if (!(squared > 1e-12)) return;
    const Vector3d foot = end_center_ - height / squared * in_disc;
    const double half_square = radius * radius - height * height / squared;
    if (!(half_square > 0)) return;
    const Vector3d chord = axis_.cross(in_disc).normalized() * std::sqrt(half_square);
    const std::uint32_t end = end_center_.dot(axis_) > query_.center.dot(axis_) ? 1 : 0;
    add_on_border(query_, frame_, border, foot - chord, {FeatureCode::Kind::kOther, 2 * end});
    add_on_border(query_, frame_, border, foot + chord, {FeatureCode::Kind::kOther, 2 * end + 1});
  }

  SurfaceQuery& query_;
  const RegionFrame& frame_;
  int face_ = -1;  // of a polytope
  // Cylinders:
  bool stands_ = false;
  Vector3d end_center_ = Vector3d::Zero(), axis_ = Vector3d::UnitZ(), offset_ = Vector3d::Zero();
};

// Edges and vertices inside a region give contacts that those of its border can replace. Where
// nothing is to be reduced they are added, for every triangle anew: what a detection finds that
// clips each of them by itself.

bool is_crossed(const SurfaceQuery& query, int half_edge) {
  if (query.surface.edge_id(half_edge) != TriangleSurface::kNone) return true;
  return !query.options.reduces;
}

/// Ids of true edges are the number of one of their own half-edges: those of others are free.
FeatureCode border_code(const SurfaceQuery& query, int half_edge) {
  if (query.surface.edge_id(half_edge) != TriangleSurface::kNone)
    return surface_edge_code(query, half_edge);
  return {FeatureCode::Kind::kEdge, static_cast<std::uint32_t>(half_edge)};
}

void add_border_contacts(SurfaceQuery& query, const RegionFrame& frame) {
  Footprint footprint(query, frame);
  const TriangleSurface& surface = query.surface;
  const std::vector<NearTriangle>& triangles = query.workspace.triangles;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const int index = triangles[i].index;
    if (surface.region(index) != frame.region) continue;
    const TriangleView t(query, index);
    for (int k = 0; k < 3; ++k) {
      const int half_edge = 3 * index + k;
      // Concave borders too: a shape that has entered a wall must not lose its support beside it.
      if (is_crossed(query, half_edge)) {
        Border border{.code = border_code(query, half_edge),
                      .half_edge = half_edge,
                      .start = t.corners[k],
                      .along = t.corners[(k + 1) % 3] - t.corners[k],
                      .inward = {}};
        border.length = border.along.norm();
        if (border.length > 0) {
          border.along /= border.length;
          border.inward = query.surface.winding_normal(index).cross(border.along);
          footprint.cross(border);
        }
      }
      if (surface.vertex_kind(t.ids[k]) == TriangleSurface::VertexKind::kCorner) {
        footprint.cover(t.ids[k], surface_vertex_code(t.ids[k]));
      } else if (!query.options.reduces) {
        footprint.cover(t.ids[k],
                        {FeatureCode::Kind::kOther, static_cast<std::uint32_t>(half_edge)});
      }
    }
  }
}

}  // namespace

void collect_regions(SurfaceQuery& query, ContactList& scratch) {
  for (const TouchedRegion& touched : query.workspace.regions) {
    RegionFrame frame{.region = touched.region,
                      .normal = {},
                      .point = {},
                      .is_touched = touched.is_touched,
                      .has_border = touched.is_touched || touched.is_below_tilted};
    if (!touched.is_touched) frame.lowest = touched.lowest - query.tie;
    const Vector3d& normal = query.surface.region_normal(touched.region);
    frame.normal = touched.side * normal;
    frame.point = query.center -
                  (normal.dot(query.center) - query.surface.region_offset(touched.region)) * normal;
    add_plane_contacts(query, frame, scratch);
    if (frame.has_border) add_border_contacts(query, frame);
  }
}

}  // namespace stiction
