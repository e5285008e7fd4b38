// Boxes and hulls against a surface, triangle by triangle: the axis of largest separation, as for
// two convex bodies, but only among axes that a true feature of the surface allows. The faces of
// the surface found so are left to collect_regions.
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "stiction/geometry/gjk.h"
#include "stiction/geometry/surface_query.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kStrict = 1e-9;
constexpr double kRough = 1e-6;  // directions of distances are as good as these are long

/// A direction and what would touch along it.
struct SurfaceAxis {
  enum class Kind { kNone, kFace, kNeighbor, kFaceOfShape, kEdges };
  Kind kind = Kind::kNone;
  double separation = -std::numeric_limits<double>::infinity();
  int half_edge = 0;  // kNeighbor, kEdges: of the triangle
  int index = 0;      // face or edge of the shape
  double side = 1;    // kEdges: n = side d_a × d_s
};

class PolytopeOnTriangle {
 public:
  PolytopeOnTriangle(SurfaceQuery& query, const NearTriangle& near)
      : query_(query),
        near_(near),
        t_(query, near.index),
        polytope_(*query.a.polytope()),
        points_(query.workspace.points),
        normals_(query.workspace.normals),
        tie_(query.tie + 1e-9 * polytope_.extent()) {}

  void collect() {
    const double reach = query_.options.reach;
    if (face_separation(near_) > reach || is_out_of_reach()) return;
    add_corners_above();
    corners_ = corners_near(query_, t_);
    const GjkResult gjk = run();
    const double distance = gjk.touches ? 0 : gjk.v.norm();
    if (distance > reach + query_.tolerance) return;
    const bool is_apart = distance > tie_;
    query_.note_distance(is_apart ? distance : 0, tie_);
    find_axes(is_apart ? distance - tie_ : -std::numeric_limits<double>::infinity());
    if (best_.kind == SurfaceAxis::Kind::kNone && gjk.touches) {
      query_.workspace.cut.push_back(near_);
    }
    if (is_apart && best_.kind == SurfaceAxis::Kind::kNone) {
      if (!gjk.touches) add_nearest(gjk);
    } else if (is_apart) {
      emit(best_);
      if (is_beyond_border(best_, gjk)) add_nearest(gjk);
    } else if (best_.kind != SurfaceAxis::Kind::kNone) {
      query_.workspace.overlaps.push_back({.near = near_,
                                           .ids = t_.ids,
                                           .n = direction_of(best_),
                                           .separation = best_.separation,
                                           .side = best_.side,
                                           .kind = static_cast<int>(best_.kind),
                                           .half_edge = best_.half_edge,
                                           .index = best_.index});
    }
  }

  /// After all triangles have found theirs.
  void emit(const OverlapAxis& overlap) {
    if (find_explanation(query_, overlap, tie_) != nullptr) return;
    if (overlap.separation < -tie_) query_.workspace.cut.push_back(near_);
    emit(SurfaceAxis{.kind = static_cast<SurfaceAxis::Kind>(overlap.kind),
                     .separation = overlap.separation,
                     .half_edge = overlap.half_edge,
                     .index = overlap.index,
                     .side = overlap.side});
  }

  /// What of the triangle is under a face that is slightly tilted over another one.
  void collect_under(const TiltedSide& side) {
    const int face = side.side;
    const double slack = possible_turn(query_, polytope_.extent());
    const Vector3d n = -normals_[face];
    const double apart = polytope_.extent() / 50;
    for (int k = 0; k < 3; ++k) {
      if (query_.surface.vertex_kind(t_.ids[k]) == TriangleSurface::VertexKind::kCorner &&
          is_under(face, t_.corners[k]) && vertex_allows(query_, t_.ids[k], n, slack) &&
          may_come_down(t_.corners[k], side, apart)) {
        add_on_face(t_.corners[k], face,
                    {FeatureCode::Kind::kFace, static_cast<std::uint32_t>(face)},
                    surface_vertex_code(t_.ids[k]));
      }
      clip_edge(side, k, n, apart);
    }
  }

 private:
  void emit(const SurfaceAxis& axis) {
    best_ = axis;
    if (axis.kind == SurfaceAxis::Kind::kFace) {
      touch_face(near_, axis.separation);
    } else if (axis.kind == SurfaceAxis::Kind::kNeighbor) {
      touch_face(neighbor_across(query_, near_, axis.half_edge), axis.separation);
    } else if (axis.kind == SurfaceAxis::Kind::kFaceOfShape) {
      collect_on_face_of_shape(axis.index);
      note_tilted(query_, axis.index, axis.separation);
      tilt_over_region(query_, near_, direction_of(axis), axis.separation);
    } else if (axis.kind == SurfaceAxis::Kind::kEdges) {
      add_edge_pair();
      note_tilted_faces(direction_of(axis), axis.separation);
    }
  }

  /// And a face beside it that continues it, if the deepest corner is under that, and no deeper: a
  /// tip that leans may have gone through the one and be under the other, which it does not meet.
  void touch_face(const NearTriangle& face, double separation) {
    constexpr double kNearlyFlat = 1 - 1e-8, kAsDeep = 1 + 1e-3;
    touch_region(query_, face, true);
    if (!(separation < -tie_)) return;
    const int region = query_.surface.region(face.index);
    const Vector3d n = query_.region_side(face) * query_.surface.normal(face.index);
    const Vector3d& deepest = lowest(n);
    if (is_over_region(query_, region, deepest, query_.tolerance)) return;
    for (const NearTriangle& other : query_.workspace.triangles) {
      if (!other.is_front || query_.surface.region(other.index) == region) continue;
      const Vector3d m = query_.region_side(other) * query_.surface.normal(other.index);
      if (!(m.dot(n) > kNearlyFlat)) continue;
      const double height = query_.height(other, deepest);
      if (height > 0 || height < kAsDeep * separation - tie_) continue;
      if (!is_over_triangle(query_, TriangleView(query_, other.index), deepest, 0)) continue;
      touch_region(query_, other, true);
      return;
    }
  }

  /// A face that is as good as what is nearest, but ends before it: it will have no contact there.
  bool is_beyond_border(const SurfaceAxis& axis, const GjkResult& gjk) const {
    if (axis.kind == SurfaceAxis::Kind::kFaceOfShape) {
      return !is_under(axis.index, gjk.simplex.point_b());
    }
    const bool is_face =
        axis.kind == SurfaceAxis::Kind::kFace || axis.kind == SurfaceAxis::Kind::kNeighbor;
    if (!is_face) return false;
    const int t = axis.kind == SurfaceAxis::Kind::kFace ? near_.index
                                                        : query_.surface.twin(axis.half_edge) / 3;
    // Not the lowest corner: of a side all of which is nearest it may be any one.
    const Vector3d p = gjk.simplex.point_a();
    return !is_over_triangle(query_, TriangleView(query_, t), p, query_.tolerance) &&
           !is_over_region(query_, query_.surface.region(t), p, query_.tolerance);
  }

  Vector3d direction_of(const SurfaceAxis& axis) const {
    if (axis.kind == SurfaceAxis::Kind::kFaceOfShape) return -normals_[axis.index];
    if (axis.kind == SurfaceAxis::Kind::kEdges) {
      const int k = axis.half_edge % 3;
      const Polytope::Edge& edge = polytope_.edges()[axis.index];
      return axis.side * (points_[edge.head] - points_[edge.tail])
                             .cross(t_.corners[(k + 1) % 3] - t_.corners[k])
                             .normalized();
    }
    const NearTriangle face = axis.kind == SurfaceAxis::Kind::kFace
                                  ? near_
                                  : neighbor_across(query_, near_, axis.half_edge);
    return query_.region_side(face) * query_.surface.normal(face.index);
  }

  double face_separation(const NearTriangle& near) const {
    const double side = query_.region_side(near);
    const Vector3d n = side * query_.surface.normal(near.index);
    return n.dot(lowest(n)) - side * query_.surface.offset(near.index);
  }

  const Vector3d& lowest(const Vector3d& n) const {
    return points_[polytope_.find_support(query_.pose_sa.rotation.transpose() * Vector3d(-n))];
  }

  double highest_of_triangle(const Vector3d& n) const {
    return std::max({n.dot(t_.corners[0]), n.dot(t_.corners[1]), n.dot(t_.corners[2])});
  }

  double separation_along_face(int face) const {
    const Vector3d& g = normals_[face];
    return -g.dot(points_[polytope_.vertices_of(face)[0]]) - highest_of_triangle(-g);
  }

  bool is_out_of_reach() const {
    for (std::size_t f = 0; f < normals_.size(); ++f) {
      if (separation_along_face(static_cast<int>(f)) > query_.options.reach) return true;
    }
    return false;
  }

  /// Corners of the shape above the triangle may come down on it, whatever else touches.
  void add_corners_above() {
    if (!near_.is_front) return;
    for (const Vector3d& point : points_) {
      const double height = query_.height(near_, point);
      if (height < -query_.tolerance || height > query_.options.reach) continue;
      if (!is_over_triangle(query_, t_, point, query_.tolerance)) continue;
      touch_region(query_, near_, false);
      return;
    }
  }

  GjkResult run() const {
    const auto support = [&](const Vector3d& v) {
      DifferencePoint point;
      point.a = lowest(v);
      int k = 0;
      for (int i = 1; i < 3; ++i) {
        if (v.dot(corners_[i] - corners_[k]) > 0) k = i;
      }
      point.b = corners_[k];
      point.w = point.a - point.b;
      return point;
    };
    Vector3d guess = query_.center - (corners_[0] + corners_[1] + corners_[2]) / 3;
    if (!(guess.squaredNorm() > 0)) guess = Vector3d::UnitZ();
    return run_gjk(support, guess,
                   {.relative = 1e-12,
                    .touching = query_.tolerance,
                    .reach = query_.options.reach + query_.tolerance});
  }

  /// Keeps an axis that is better by more than a tie: earlier ones win ties.
  void consider(const SurfaceAxis& axis, double least) {
    if (axis.separation < least) return;
    if (best_.kind == SurfaceAxis::Kind::kNone || axis.separation > best_.separation + tie_) {
      best_ = axis;
    }
  }

  /// All allowed axes with a separation of at least `least`.
  void find_axes(double least) {
    if (near_.is_front && query_.surface.has_area(near_.index)) {
      consider({.kind = SurfaceAxis::Kind::kFace, .separation = face_separation(near_)}, least);
    }
    for (int k = 0; k < 3; ++k) consider_neighbor(3 * near_.index + k, least);
    for (std::size_t f = 0; f < normals_.size(); ++f) {
      const SurfaceAxis axis{.kind = SurfaceAxis::Kind::kFaceOfShape,
                             .separation = separation_along_face(static_cast<int>(f)),
                             .index = static_cast<int>(f)};
      if (axis.separation >= least && is_better(axis) && allows(-normals_[f])) {
        consider(axis, least);
      }
    }
    for (int k = 0; k < 3; ++k) consider_edges(k, least);
  }

  bool is_better(const SurfaceAxis& axis) const {
    return best_.kind == SurfaceAxis::Kind::kNone || axis.separation > best_.separation + tie_;
  }

  /// Across a convex edge the neighbour's normal is allowed at the edge too.
  void consider_neighbor(int half_edge, double least) {
    const int twin = query_.surface.twin(half_edge);
    if (twin < 0 || query_.surface.edge_id(half_edge) == TriangleSurface::kNone) return;
    if (!query_.surface.has_area(twin / 3)) return;
    const NearTriangle neighbor = neighbor_across(query_, near_, half_edge);
    if (!neighbor.is_front) return;
    const Vector3d n = query_.region_side(neighbor) * query_.surface.normal(neighbor.index);
    const SurfaceAxis axis{.kind = SurfaceAxis::Kind::kNeighbor,
                           .separation = face_separation(neighbor),
                           .half_edge = half_edge};
    if (is_better(axis) && edge_allows(query_, half_edge, n, kStrict)) consider(axis, least);
  }

  /// The triangle's own support along n is a local maximum of the whole surface.
  bool allows(const Vector3d& n) const {
    int k = 0;
    for (int i = 1; i < 3; ++i) {
      if (n.dot(t_.corners[i] - t_.corners[k]) > 0) k = i;
    }
    return is_before(n, t_.corners[k]) && vertex_allows(query_, t_.ids[k], n, kStrict);
  }

  /// What touches along n is all before the place, its centre too.
  bool is_before(const Vector3d& n, const Vector3d& place) const {
    return n.dot(query_.center - place) >= -query_.tolerance;
  }

  void consider_edges(int k, double least) {
    const int half_edge = 3 * near_.index + k;
    if (query_.surface.edge_id(half_edge) == TriangleSurface::kNone) return;
    const Vector3d edge = t_.corners[(k + 1) % 3] - t_.corners[k];
    const double length = edge.norm();
    if (!(length > 0)) return;
    const Vector3d along = edge / length;
    for (std::size_t e = 0; e < polytope_.edges().size(); ++e) {
      const Polytope::Edge& own = polytope_.edges()[e];
      const Vector3d tail = points_[own.tail];
      const Vector3d direction = points_[own.head] - tail;
      const Vector3d cross = direction.cross(along);
      const double sine = cross.norm();
      if (!(sine > 1e-9 * direction.norm())) continue;
      // n points into the shape at its edge: along both faces it does not fall.
      const Vector3d in_left = normals_[own.left].cross(direction),
                     in_right = direction.cross(normals_[own.right]);
      const double left = cross.dot(in_left), right = cross.dot(in_right);
      if (left * right < 0) continue;
      const double side = left + right >= 0 ? 1 : -1;
      const Vector3d n = side / sine * cross;
      const Vector3d offset = tail - t_.corners[k];
      const SurfaceAxis axis{.kind = SurfaceAxis::Kind::kEdges,
                             .separation = n.dot(offset),
                             .half_edge = half_edge,
                             .index = static_cast<int>(e),
                             .side = side};
      if (axis.separation < least || !is_better(axis)) continue;
      const double s = along.cross(offset).dot(cross) / (sine * sine);
      const double u = direction.cross(offset).dot(cross) / (sine * sine);
      if (s < 0 || s > 1 || u < 0 || u > length || !is_before(n, t_.corners[k])) continue;
      if (edge_allows(query_, half_edge, n, kStrict)) consider(axis, least);
    }
  }

  void add_edge_pair() {
    const Polytope::Edge& edge = polytope_.edges()[best_.index];
    const SurfaceLine line = line_of_edge(query_, best_.half_edge);
    add_candidate(query_,
                  {.a = make_line_feature(polytope_.vertices()[edge.tail], edge.direction),
                   .b = line.feature,
                   .side = line.turns * best_.side},
                  {FeatureCode::Kind::kEdge, static_cast<std::uint32_t>(best_.index)},
                  surface_edge_code(query_, best_.half_edge));
  }

  void note_tilted_faces(const Vector3d& n, double separation) {
    for (std::size_t f = 0; f < normals_.size(); ++f) {
      if (-normals_[f].dot(n) > kSlightTilt) note_tilted(query_, static_cast<int>(f), separation);
    }
    tilt_over_region(query_, near_, n, separation);
  }

  bool may_come_down(const Vector3d& point, const TiltedSide& face, double apart) const {
    return may_come_down_on(query_, face, point, points_[polytope_.vertices_of(face.side)[0]],
                            -normals_[face.side], apart);
  }

  void add_on_face(const Vector3d& point, int face, FeatureCode code_a, FeatureCode code_s) {
    add_candidate(query_,
                  {.a = plane_of_a(query_, points_[polytope_.vertices_of(face)[0]], normals_[face]),
                   .b = make_point_feature(point)},
                  code_a, code_s);
  }

  /// True corners of the triangle under the face, and true edges where they leave it. There may be
  /// none: then collect_cut finds what overlaps, or add_nearest what is nearest.
  void collect_on_face_of_shape(int face) {
    const Vector3d n = -normals_[face];
    const FeatureCode face_code{FeatureCode::Kind::kFace, static_cast<std::uint32_t>(face)};
    const std::size_t before = query_.workspace.candidates.size();
    for (int k = 0; k < 3; ++k) {
      if (query_.surface.vertex_kind(t_.ids[k]) == TriangleSurface::VertexKind::kCorner &&
          is_under(face, t_.corners[k]) && vertex_allows(query_, t_.ids[k], n, kStrict)) {
        add_on_face(t_.corners[k], face, face_code, surface_vertex_code(t_.ids[k]));
      }
      clip_edge({.side = face}, k, n);
    }
    if (query_.workspace.candidates.size() > before) return;
    // A corner that is beside the face by no more than a tie: the face was taken for as good.
    int k = 0;
    for (int i = 1; i < 3; ++i) {
      if (n.dot(t_.corners[i] - t_.corners[k]) > 0) k = i;
    }
    if (query_.surface.vertex_kind(t_.ids[k]) == TriangleSurface::VertexKind::kCorner &&
        is_under(face, t_.corners[k], tie_)) {
      add_on_face(t_.corners[k], face, face_code, surface_vertex_code(t_.ids[k]));
    }
  }

  bool is_under(int face, const Vector3d& p) const { return is_under(face, p, query_.tolerance); }

  /// Or beside it by up to `margin` [m].
  bool is_under(int face, const Vector3d& p, double margin) const {
    const std::span<const int> loop = polytope_.vertices_of(face);
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const Vector3d& from = points_[loop[i]];
      const Vector3d along = points_[loop[(i + 1) % loop.size()]] - from;
      if (normals_[face].cross(along).dot(p - from) < -margin * along.norm()) {
        return false;
      }
    }
    return true;
  }

  /// With `apart` > 0 [m]: only what may come down.
  void clip_edge(const TiltedSide& tilted, int k, const Vector3d& n, double apart = 0) {
    const int face = tilted.side;
    const int half_edge = 3 * near_.index + k;
    if (query_.surface.edge_id(half_edge) == TriangleSurface::kNone) return;
    const Vector3d start = t_.corners[k], edge = t_.corners[(k + 1) % 3] - start;
    const Vector3d across = n - n.dot(edge) / edge.squaredNorm() * edge;
    const double length = across.norm();
    if (!(length > 0.1) || !edge_allows(query_, half_edge, across / length, kStrict)) return;
    const std::span<const int> loop = polytope_.vertices_of(face);
    double enter = 0, leave = 1;
    int enter_side = -1, leave_side = -1;
    for (std::size_t i = 0; i < loop.size(); ++i) {
      const Vector3d& from = points_[loop[i]];
      const Vector3d inward =
          normals_[face].cross(points_[loop[(i + 1) % loop.size()]] - from).normalized();
      const double at = inward.dot(start - from), slope = inward.dot(edge);
      if (std::abs(slope) <= query_.tolerance) {
        if (at < -query_.tolerance) return;
        continue;
      }
      const double place = -at / slope;
      if (slope > 0 && place > enter) {
        enter = place;
        enter_side = polytope_.edges_of(face)[i];
      } else if (slope < 0 && place < leave) {
        leave = place;
        leave_side = polytope_.edges_of(face)[i];
      }
    }
    if (enter > leave) return;
    for (const auto& [place, side] : {std::pair{enter, enter_side}, std::pair{leave, leave_side}}) {
      if (side < 0) continue;  // ends under the face, a corner
      const Vector3d point = start + place * edge;
      if (apart > 0 && !may_come_down(point, tilted, apart)) continue;
      add_on_face(point, face, {FeatureCode::Kind::kEdge, static_cast<std::uint32_t>(side)},
                  surface_edge_code(query_, half_edge));
    }
  }

  /// Both ends of what parallel edges, as near as the nearest points, have in common. Each is at a
  /// corner of one of them; where the edge of the surface goes on straight the next triangle has
  /// the end. False if there are none.
  bool add_parallel_edges(double distance) {
    const std::size_t before = query_.workspace.candidates.size();
    for (int k = 0; k < 3; ++k) {
      if (query_.surface.edge_id(3 * near_.index + k) == TriangleSurface::kNone) continue;
      for (std::size_t e = 0; e < polytope_.edges().size(); ++e) {
        add_if_parallel(k, static_cast<int>(e), distance);
      }
    }
    return query_.workspace.candidates.size() > before;
  }

  void add_if_parallel(int k, int own, double distance) {
    const Vector3d edge = t_.corners[(k + 1) % 3] - t_.corners[k];
    const Vector3d& tail = points_[polytope_.edges()[own].tail];
    const Vector3d direction = points_[polytope_.edges()[own].head] - tail;
    const double length = edge.norm(), shorter = std::min(length, direction.norm());
    if (!(direction.cross(edge).norm() * shorter <= tie_ * direction.norm() * length)) return;
    const Vector3d along = edge / length, offset = tail - t_.corners[k];
    const Vector3d across = offset - offset.dot(along) * along, n = across.normalized();
    if (!(across.norm() <= distance + tie_)) return;
    if (!edge_allows(query_, 3 * near_.index + k, n, kRough)) return;
    add_ends(3 * near_.index + k, along, length, n, own);
    note_tilted_faces(n, across.norm());
  }

  void add_ends(int half_edge, const Vector3d& along, double length, const Vector3d& n, int own) {
    const int k = half_edge % 3;
    const Polytope::Edge& edge = polytope_.edges()[own];
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const int vertex : {edge.tail, edge.head}) {
      const double place = along.dot(points_[vertex] - t_.corners[k]);
      low = std::min(low, place);
      high = std::max(high, place);
      if (place < -tie_ || place > length + tie_) continue;
      add_candidate(
          query_,
          {.a = point_of_a(query_, points_[vertex], 0), .b = make_plane_feature(t_.corners[k], n)},
          {FeatureCode::Kind::kVertex, static_cast<std::uint32_t>(vertex)},
          surface_edge_code(query_, half_edge));
    }
    for (const int corner : {k, (k + 1) % 3}) {
      const double place = corner == k ? 0 : length;
      if (query_.surface.vertex_kind(t_.ids[corner]) == TriangleSurface::VertexKind::kStraight ||
          place <= low + tie_ || place >= high - tie_) {
        continue;
      }
      add_candidate(query_,
                    {.a = plane_of_a(query_, points_[edge.tail], -n),
                     .b = make_point_feature(t_.corners[corner])},
                    {FeatureCode::Kind::kEdge, static_cast<std::uint32_t>(own)},
                    surface_vertex_code(t_.ids[corner]));
    }
  }

  /// No flat feature is involved: corner to corner or corner to edge. A point against the plane
  /// across the distance, as for two polytopes.
  void add_nearest(const GjkResult& gjk) {
    Vector3d weights = Vector3d::Zero();
    int vertices[2] = {-1, -1}, num_vertices = 0;
    for (int i = 0; i < gjk.simplex.count; ++i) {
      for (int k = 0; k < 3; ++k) {
        if (gjk.simplex.points[i].b == corners_[k]) weights[k] += gjk.simplex.weights[i];
      }
      for (std::size_t v = 0; v < points_.size(); ++v) {
        if (points_[v] != gjk.simplex.points[i].a) continue;
        const int vertex = static_cast<int>(v);
        if (vertex == vertices[0] || vertex == vertices[1]) break;
        if (num_vertices < 2) vertices[num_vertices] = vertex;
        ++num_vertices;
        break;
      }
    }
    const Vector3d n = gjk.v.normalized();
    if (add_parallel_edges(gjk.v.norm())) return;
    int num_corners = 0, corner = 0, opposite = 0;
    for (int k = 0; k < 3; ++k) {
      if (weights[k] > 0) {
        ++num_corners;
        corner = k;
      } else {
        opposite = k;
      }
    }
    const int half_edge = 3 * near_.index + (opposite + 1) % 3;
    FeatureCode code_s = surface_vertex_code(t_.ids[corner]);
    if (num_corners == 1) {
      if (query_.surface.vertex_kind(t_.ids[corner]) != TriangleSurface::VertexKind::kCorner ||
          !vertex_allows(query_, t_.ids[corner], n, kRough)) {
        return;
      }
    } else if (num_corners == 2) {
      if (query_.surface.edge_id(half_edge) == TriangleSurface::kNone ||
          !edge_allows(query_, half_edge, n, kRough)) {
        return;
      }
      code_s = surface_edge_code(query_, half_edge);
    } else {
      if (near_.is_front) touch_region(query_, near_, true);
      return;
    }
    add_candidate(query_,
                  {.a = point_of_a(query_, gjk.simplex.point_a(), 0),
                   .b = make_plane_feature(gjk.simplex.point_b(), n)},
                  code_of(vertices, num_vertices), code_s);
    note_tilted_faces(n, gjk.v.norm());
  }

  FeatureCode code_of(const int (&vertices)[2], int num_vertices) const {
    if (num_vertices == 1) {
      return {FeatureCode::Kind::kVertex, static_cast<std::uint32_t>(vertices[0])};
    }
    if (num_vertices == 2) {
      const std::span<const int> neighbors = polytope_.neighbors_of(vertices[0]);
      for (std::size_t i = 0; i < neighbors.size(); ++i) {
        if (neighbors[i] != vertices[1]) continue;
        return {FeatureCode::Kind::kEdge,
                static_cast<std::uint32_t>(polytope_.edges_at(vertices[0])[i])};
      }
    }
    return {FeatureCode::Kind::kOther, 0};
  }

  SurfaceQuery& query_;
  const NearTriangle near_;
  const TriangleView t_;
  const Polytope& polytope_;
  const std::vector<Vector3d>& points_;   // vertices
  const std::vector<Vector3d>& normals_;  // of faces
  const double tie_;                      // [m]
  SurfaceAxis best_{};
  std::array<Vector3d, 3> corners_ = t_.corners;  // for the search
};

}  // namespace

void collect_polytope(SurfaceQuery& query) {
  const Polytope& polytope = *query.a.polytope();
  SurfaceWorkspace& w = query.workspace;
  w.overlaps.clear();
  w.tilted.clear();
  w.points.clear();
  w.normals.clear();
  for (const Vector3d& vertex : polytope.vertices()) w.points.push_back(query.pose_sa * vertex);
  for (const Polytope::Face& face : polytope.faces()) {
    w.normals.push_back(query.pose_sa.rotation * face.normal);
  }
  for (std::size_t i = 0; i < w.triangles.size(); ++i) {
    const NearTriangle near = w.triangles[i];
    if (query.surface.has_area(near.index)) PolytopeOnTriangle(query, near).collect();
  }
  for (std::size_t i = 0; i < w.overlaps.size(); ++i) {
    PolytopeOnTriangle(query, w.overlaps[i].near).emit(w.overlaps[i]);
  }
  for (std::size_t f = 0; f < w.tilted.size(); ++f) {
    for (std::size_t i = 0; i < w.triangles.size(); ++i) {
      const NearTriangle near = w.triangles[i];
      if (near.is_front) PolytopeOnTriangle(query, near).collect_under(w.tilted[f]);
    }
  }
}

}  // namespace stiction
