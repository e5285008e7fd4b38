// Cylinders and ellipsoids against a surface, triangle by triangle. The separation along a
// direction n is s(n) = min_A n·x − max_S n·y. Over the normal cone of a face it is one number,
// over that of an edge a function of one angle, largest (once, where they are apart) where its
// slope
//   ds/dθ = n′(θ)·(x(n) − y)
// changes sign. Faces are left to collect_regions.
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/geometry/gjk.h"
#include "stiction/geometry/surface_query.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kStrict = 1e-9;
constexpr double kParallel = 1e-9;
/// Sine of the angle between the axis of a cylinder and an edge up to which both ends of what they
/// have in common count: whichever is higher may come down in the step.
constexpr double kNearlyParallel = 0.1;
constexpr int kNumSamples = 8;  // of the directions of an edge

class CurvedOnTriangle {
 public:
  CurvedOnTriangle(SurfaceQuery& query, const NearTriangle& near)
      : query_(query),
        near_(near),
        t_(query, near.index),
        equal_(query.tie + 1e-9 * query.a.size()),
        tie_(query.tie + 1e-7 * query.a.size()) {}

  void collect() {
    const double reach = query_.options.reach, height = face_separation(near_);
    if (height > reach) return;
    const GjkResult gjk = run();
    // The iteration may stall at round bodies: only what it has seen to separate them is certain.
    const double distance = gjk.touches ? 0 : gjk.best_separation;
    if (distance > reach + tie_) return;
    if (near_.is_front) touch_region(query_, near_, false);
    const bool is_apart = distance > tie_;
    query_.note_distance(is_apart ? distance : 0, tie_);
    const double least = is_apart ? distance - tie_ : -std::numeric_limits<double>::infinity();
    find_best(least, height, gjk.touches ? gjk.best_direction : gjk.v);
    if (is_apart && best_.kind == Kind::kNone) {
      if (!gjk.touches) add_nearest(gjk);
    } else if (is_apart) {
      emit(best_);
      emit(border_);
    } else {
      if (best_.kind == Kind::kNone && gjk.touches) query_.workspace.cut.push_back(near_);
      keep(best_);
      keep(border_);
    }
  }

  /// After all triangles have found theirs.
  void emit(const OverlapAxis& overlap) {
    const OverlapAxis* better = find_explanation(query_, overlap, equal_);
    rest_on_face(better == nullptr ? overlap.n : better->n);
    if (better != nullptr) return;
    if (overlap.separation < -tie_) query_.workspace.cut.push_back(near_);
    emit(Best{.kind = static_cast<Kind>(overlap.kind),
              .separation = overlap.separation,
              .half_edge = overlap.half_edge,
              .n = overlap.n});
  }

  /// What of the triangle is under an end that is slightly tilted over another one.
  void collect_under(const TiltedSide& end) {
    const double slack = possible_turn(query_, 2 * query_.a.half().x());
    const Vector3d up = (end.side == 1 ? 1 : -1) * query_.pose_sa.rotation.col(2);
    for (int k = 0; k < 3; ++k) {
      if (query_.surface.vertex_kind(t_.ids[k]) == TriangleSurface::VertexKind::kCorner &&
          is_under_end(t_.corners[k]) && vertex_allows(query_, t_.ids[k], up, slack) &&
          may_come_down(t_.corners[k], end, up)) {
        add_candidate(query_, {.a = flat_end(up), .b = make_point_feature(t_.corners[k])},
                      code(FeatureCode::Kind::kFace, 0), surface_vertex_code(t_.ids[k]));
      }
      add_ends_of_chord(k, end, up);
    }
  }

 private:
  enum class Kind { kNone, kFace, kNeighbor, kEdge, kVertex };
  struct Best {
    Kind kind = Kind::kNone;
    double separation = 0;
    int half_edge = 0;  // kVertex: the corner of the triangle
    Vector3d n = Vector3d::UnitZ();
  };

  void keep(const Best& axis) {
    if (axis.kind == Kind::kNone) return;
    query_.workspace.overlaps.push_back({.near = near_,
                                         .ids = t_.ids,
                                         .n = axis.n,
                                         .separation = axis.separation,
                                         .kind = static_cast<int>(axis.kind),
                                         .half_edge = axis.half_edge});
  }

  /// What lies along triangles that are nearly in one plane is deepest at one end for all of them,
  /// and one of them is the best by chance. What is over this one has sunk in as well, and rests
  /// there too.
  void rest_on_face(const Vector3d& n) {
    const Vector3d& normal = query_.surface.normal(near_.index);
    const bool is_lying = std::abs(normal.dot(query_.pose_sa.rotation.col(2))) < kNearlyParallel;
    if (query_.a.kind() != ShapeKind::kCylinder || !is_lying) return;
    tilt_over_region(query_, near_, n, face_separation(near_));
  }

  void emit(const Best& axis) {
    if (axis.kind == Kind::kFace) touch_region(query_, near_, true);
    if (axis.kind == Kind::kNeighbor) {
      touch_region(query_, neighbor_across(query_, near_, axis.half_edge), true);
    }
    if (axis.kind == Kind::kEdge) add_edge(axis.half_edge, axis.n);
    if (axis.kind == Kind::kVertex) add_vertex(axis.half_edge, axis.n);
    const bool is_flat = axis.kind != Kind::kEdge && axis.kind != Kind::kVertex;
    if (!is_flat && query_.a.kind() == ShapeKind::kCylinder) {
      tilt_over_region(query_, near_, axis.n, axis.separation);
    }
  }

  double face_separation(const NearTriangle& near) const {
    const double side = query_.region_side(near);
    const Vector3d n = side * query_.surface.normal(near.index);
    return n.dot(lowest_of_a(query_, n)) - side * query_.surface.offset(near.index);
  }

  GjkResult run() const {
    const std::array<Vector3d, 3> corners = corners_near(query_, t_);
    const auto support = [&](const Vector3d& v) {
      DifferencePoint point;
      point.a = lowest_of_a(query_, v);
      int k = 0;
      for (int i = 1; i < 3; ++i) {
        if (v.dot(corners[i] - corners[k]) > 0) k = i;
      }
      point.b = corners[k];
      point.w = point.a - point.b;
      return point;
    };
    Vector3d guess = query_.center - (corners[0] + corners[1] + corners[2]) / 3;
    if (!(guess.squaredNorm() > 0)) guess = Vector3d::UnitZ();
    return run_gjk(
        support, guess,
        {.relative = 1e-10, .touching = tie_ / 10, .reach = query_.options.reach + tie_});
  }

  void consider(const Best& axis, double least) {
    if (axis.separation < least) return;
    if (best_.kind == Kind::kNone || axis.separation > best_.separation + equal_) {
      best_ = axis;
      border_ = {};
    } else if (is_flat(best_) && !is_flat(axis) && axis.separation >= best_.separation - equal_ &&
               (border_.kind == Kind::kNone || axis.separation > border_.separation)) {
      border_ = axis;
    }
  }

  static bool is_flat(const Best& axis) {
    return axis.kind == Kind::kFace || axis.kind == Kind::kNeighbor;
  }

  /// `hint`: a direction of large separation from this triangle alone.
  void find_best(double least, double height, const Vector3d& hint) {
    if (near_.is_front) {
      consider({.kind = Kind::kFace,
                .separation = height,
                .n = near_.side * query_.surface.winding_normal(near_.index)},
               least);
    }
    for (int k = 0; k < 3; ++k) {
      const int half_edge = 3 * near_.index + k;
      if (query_.surface.edge_id(half_edge) == TriangleSurface::kNone) continue;
      consider_neighbor(half_edge, least);
    }
    for (int k = 0; k < 3; ++k) {
      const int half_edge = 3 * near_.index + k;
      if (query_.surface.edge_id(half_edge) != TriangleSurface::kNone) {
        consider_edge(k, least, hint);
      }
    }
    for (int k = 0; k < 3; ++k) consider_vertex(k, least);
  }

  void consider_neighbor(int half_edge, double least) {
    const int twin = query_.surface.twin(half_edge);
    if (twin < 0 || !query_.surface.has_area(twin / 3)) return;
    const NearTriangle neighbor = neighbor_across(query_, near_, half_edge);
    if (!neighbor.is_front) return;
    const Vector3d n = query_.region_side(neighbor) * query_.surface.normal(neighbor.index);
    if (!edge_allows(query_, half_edge, n, kStrict)) return;
    consider({.kind = Kind::kNeighbor,
              .separation = face_separation(neighbor),
              .half_edge = half_edge,
              .n = n},
             least);
  }

  /// The directions of an edge: from the normal of the triangle over the edge to that of the
  /// neighbour, or around a rim.
  struct EdgeArc {
    Vector3d first, outward;
    double end = 0;  // ≤ 0: none
    Vector3d direction(double angle) const {
      return std::cos(angle) * first + std::sin(angle) * outward;
    }
    double angle_of(const Vector3d& n) const { return std::atan2(n.dot(outward), n.dot(first)); }
  };

  EdgeArc find_arc(int half_edge, const Vector3d& along) const {
    const int twin = query_.surface.twin(half_edge);
    EdgeArc arc{.first = near_.side * query_.surface.winding_normal(near_.index),
                .outward = -query_.surface.winding_normal(near_.index).cross(along)};
    if (twin == TriangleSurface::kJunction) return arc;
    arc.end = std::numbers::pi;
    if (twin >= 0) {
      const NearTriangle neighbor = neighbor_across(query_, near_, half_edge);
      const Vector3d second = neighbor.side * query_.surface.winding_normal(neighbor.index);
      arc.end = arc.angle_of(second);
      if (arc.end <= 0 && second.dot(arc.first) < -0.5) arc.end += 2 * std::numbers::pi;  // a blade
      if (!(arc.end > kStrict && arc.end <= std::numbers::pi + kStrict)) arc.end = 0;     // concave
    } else if (query_.surface.is_height_field()) {
      arc.end = std::atan2(arc.first.z(), -arc.outward.z());  // until n is level
    }
    return arc;
  }

  /// Where the shape is apart from the line the separation has one maximum above zero, else it may
  /// have several: the best of some samples is next to the best of them. Thin peaks of cylinders
  /// lie where the mantle is across the edge, and, where they overlap, near the end.
  void consider_edge(int k, double least, const Vector3d& hint) {
    const Vector3d edge = t_.corners[(k + 1) % 3] - t_.corners[k];
    const double length = edge.norm();
    if (!(length > 0)) return;
    const EdgeArc arc = find_arc(3 * near_.index + k, edge / length);
    if (!(arc.end > 0)) return;
    double best = std::clamp(arc.angle_of(hint), 0.0, arc.end);
    double highest = separation(arc.direction(best), t_.corners[k]);
    const auto sample = [&](double angle) {
      const double value = separation(arc.direction(angle), t_.corners[k]);
      if (!(value > highest)) return;
      highest = value;
      best = angle;
    };
    for (int i = 0; i <= kNumSamples; ++i) sample(arc.end * i / kNumSamples);
    const bool is_cylinder = query_.a.kind() == ShapeKind::kCylinder;
    const Vector3d axis = query_.pose_sa.rotation.col(2), across = axis.cross(edge);
    for (const double side : {1.0, -1.0}) {
      const double angle = arc.angle_of(side * across);
      if (is_cylinder && angle > 0 && angle < arc.end) sample(angle);
    }
    consider_peak(k, arc, best, least);
    const bool may_overlap = least == -std::numeric_limits<double>::infinity();
    for (const double side : {1.0, -1.0}) {
      const double angle = std::clamp(arc.angle_of(side * axis), 0.0, arc.end);
      if (may_overlap && is_cylinder) consider_peak(k, arc, angle, least);
    }
  }

  /// The maximum that is uphill of an angle. The angle may be that of a kink, where rounding says
  /// which of its two slopes is found: a step to one side could end on another hill.
  void consider_peak(int k, const EdgeArc& arc, double from, double least) {
    const auto slope = [&](double angle) {
      const Vector3d turn = std::cos(angle) * arc.outward - std::sin(angle) * arc.first;
      return turn.dot(lowest_of_a(query_, arc.direction(angle)) - t_.corners[k]);
    };
    constexpr double kBeside = 100 * kStrict;
    const double step = arc.end / kNumSamples;
    double low = from, high = from;
    if (slope(from) > 0) {
      high = std::min(arc.end, from + (slope(from + kBeside) > 0 ? step : kBeside));
      for (; high < arc.end && slope(high) > 0; high = std::min(arc.end, high + step)) low = high;
      // The neighbour is better. At the end itself the slope may jump, as it does where a mantle
      // stands upright beside the rim of a height field. Not further beyond it than what counts as
      // flat: the end of a cylinder that is tilted by more is touched at one point, beside the
      // edge.
      if (high >= arc.end && slope(arc.end) > 0 &&
          (slope(arc.end + kParallel) > 0 || !touches_flat(arc.direction(arc.end)))) {
        return;
      }
    } else {
      low = std::max(0.0, from - (slope(from - kBeside) > 0 ? kBeside : step));
      for (; low > 0 && !(slope(low) > 0); low = std::max(0.0, low - step)) high = low;
      if (low <= 0 && !(slope(0) > 0)) return;  // the face is better
    }
    for (int i = 0; i < 60 && high - low > 1e-16; ++i) {
      const double middle = (low + high) / 2;
      (slope(middle) > 0 ? low : high) = middle;
    }
    const Vector3d n = arc.direction((low + high) / 2).normalized();
    const Vector3d edge = t_.corners[(k + 1) % 3] - t_.corners[k];
    const double length = edge.norm();
    if (!is_before(n, t_.corners[k]) || !meets_edge(n, t_.corners[k], edge / length, length)) {
      return;
    }
    consider({.kind = Kind::kEdge,
              .separation = separation(n, t_.corners[k]),
              .half_edge = 3 * near_.index + k,
              .n = n},
             least);
  }

  /// What the shape touches along n lies between the ends of the edge.
  bool meets_edge(const Vector3d& n, const Vector3d& start, const Vector3d& along,
                  double length) const {
    double place = along.dot(lowest_of_a(query_, n) - start);
    if (is_on_end(n)) {
      const Chord chord = find_chord(start, along, length);
      return chord.from <= chord.to;
    }
    if (is_on_mantle(n)) {
      const Vector3d axis = query_.pose_sa.rotation.col(2), offset = query_.center - start;
      const Vector3d cross = axis.cross(along);
      const double squared_sine = cross.squaredNorm();
      if (!(squared_sine > 1e-12)) {  // parallel
        const double middle = along.dot(offset), half = query_.a.half().z();
        return middle + half >= 0 && middle - half <= length;
      }
      const double on_axis = along.cross(offset).dot(cross) / squared_sine;
      if (std::abs(on_axis) > query_.a.half().z() + query_.tolerance) return false;
      place = axis.cross(offset).dot(cross) / squared_sine;
    }
    return place >= -query_.tolerance && place <= length + query_.tolerance;
  }

  /// What touches along n is all before the place, its centre too.
  bool is_before(const Vector3d& n, const Vector3d& place) const {
    return n.dot(query_.center - place) >= -query_.tolerance;
  }

  double separation(const Vector3d& n, const Vector3d& place) const {
    return n.dot(lowest_of_a(query_, n) - place);
  }

  void try_vertex(int k, const Vector3d& n, double least) {
    if (!is_before(n, t_.corners[k]) || !vertex_allows(query_, t_.ids[k], n, kStrict)) return;
    consider(
        {.kind = Kind::kVertex, .separation = separation(n, t_.corners[k]), .half_edge = k, .n = n},
        least);
  }

  void consider_vertex(int k, double least) {
    if (query_.surface.vertex_kind(t_.ids[k]) != TriangleSurface::VertexKind::kCorner) return;
    if (query_.a.kind() == ShapeKind::kCylinder) {
      consider_vertex_of_cylinder(k, least);
    } else {  // along the normal where it is nearest
      const Touch touch =
          evaluate_touch({.a = {}, .b = make_point_feature(t_.corners[k])}, query_.a, query_.pose_a,
                         query_.surface_shape, query_.pose_s);
      try_vertex(k, query_.pose_s.rotation.transpose() * touch.normal, least);
    }
  }

  /// A corner that is under an end leaves through it, one beside the mantle through the mantle, and
  /// one beyond both is nearest to the rim. Not along the axis too: what is nearly as good but has
  /// no contact there would win the tie.
  void consider_vertex_of_cylinder(int k, double least) {
    const Vector3d axis = query_.pose_sa.rotation.col(2), offset = query_.center - t_.corners[k];
    const Vector3d radial = offset - offset.dot(axis) * axis;
    const double length = radial.norm();
    const double beyond_end = std::abs(offset.dot(axis)) - query_.a.half().z();
    const double beyond_mantle = length - query_.a.half().x();
    if (beyond_mantle <= 0) {
      try_vertex(k, axis, least);
      try_vertex(k, -axis, least);
    }
    if (beyond_end <= 0 && length > query_.tolerance) try_vertex(k, radial / length, least);
    if (beyond_end > 0 && beyond_mantle > 0) {
      const double side = offset.dot(axis) > 0 ? 1 : -1;
      const Vector3d to_rim = beyond_end * side * axis + beyond_mantle / length * radial;
      if (to_rim.norm() > query_.tolerance) try_vertex(k, to_rim.normalized(), least);
    }
  }

  /// From a corner outside of the cylinder to its nearest point, exactly: along what the iteration
  /// has found an end that is nearly across it may be lowest far from there.
  Vector3d way_from(const Vector3d& corner) const {
    const Vector3d axis = query_.pose_sa.rotation.col(2), offset = query_.center - corner;
    const Vector3d radial = offset - offset.dot(axis) * axis;
    const double length = radial.norm(), side = offset.dot(axis) > 0 ? 1 : -1;
    const double beyond_end = std::max(0.0, std::abs(offset.dot(axis)) - query_.a.half().z());
    const double beyond_mantle = std::max(0.0, length - query_.a.half().x());
    if (!(beyond_mantle > 0)) return side * axis;
    return (beyond_end * side * axis + beyond_mantle / length * radial).normalized();
  }

  /// What the shape touches along n: flat end, mantle or point.
  bool is_on_end(const Vector3d& n) const {
    return query_.a.kind() == ShapeKind::kCylinder &&
           n.cross(query_.pose_sa.rotation.col(2)).norm() < kParallel;
  }
  bool is_on_mantle(const Vector3d& n) const {
    return query_.a.kind() == ShapeKind::kCylinder &&
           std::abs(n.dot(query_.pose_sa.rotation.col(2))) < kParallel;
  }
  bool touches_flat(const Vector3d& n) const { return is_on_end(n) || is_on_mantle(n); }
  Touch touch_of(const ContactCandidate& candidate) const {
    return evaluate_touch(candidate, query_.a, query_.pose_a, query_.surface_shape, query_.pose_s);
  }
  /// Of a touch, in S.
  Vector3d normal_in_surface(const Touch& touch) const {
    return query_.pose_s.rotation.transpose() * touch.normal;
  }
  ContactFeature mantle() const {
    return make_line_feature(Vector3d::Zero(), Vector3d::UnitZ(), query_.a.half().x());
  }
  ContactFeature flat_end(const Vector3d& n) const {
    const double side = n.dot(query_.pose_sa.rotation.col(2)) > 0 ? -1 : 1;
    return make_plane_feature(Vector3d(0, 0, side * query_.a.half().z()), side * Vector3d::UnitZ());
  }
  static FeatureCode code(FeatureCode::Kind kind, int index) {
    return {kind, static_cast<std::uint32_t>(index)};
  }

  void add_edge(int half_edge, const Vector3d& n) {
    const int k = half_edge % 3;
    const Vector3d edge = t_.corners[(k + 1) % 3] - t_.corners[k];
    const double length = edge.norm();
    const Vector3d along = edge / length;
    const FeatureCode code_s = surface_edge_code(query_, half_edge);
    if (is_along_mantle(n, along)) {
      add_edge_along_mantle(half_edge, n, along, length);
      add_rest_of_edge(half_edge, n, separation(n, t_.corners[k]));
      return;
    }
    if (is_on_end(n) || is_on_mantle(n)) {
      add_flat_on_edge(half_edge, n, along, length);
      return;
    }
    const Vector3d lowest = lowest_of_a(query_, n);
    const double place = along.dot(lowest - t_.corners[k]);
    if (place < -query_.tolerance || place > length + query_.tolerance) return;
    if (query_.a.kind() == ShapeKind::kEllipsoid) {
      add_ellipsoid(line_of_edge(query_, half_edge).feature, n, t_.corners[k], code_s);
    } else {
      add_candidate(query_,
                    {.a = point_of_a(query_, lowest, 0), .b = make_plane_feature(t_.corners[k], n)},
                    code(FeatureCode::Kind::kRim, 0), code_s);
      note_tilted_end(n, t_.corners[k]);
    }
  }

  /// Deeper than its centre it would be pushed out on the other side: there the plane decides.
  void add_ellipsoid(const ContactFeature& feature, const Vector3d& n, const Vector3d& place,
                     FeatureCode code_s) {
    ContactCandidate candidate{.a = {}, .b = feature};
    const Touch touch =
        evaluate_touch(candidate, query_.a, query_.pose_a, query_.surface_shape, query_.pose_s);
    if (!((query_.pose_s.rotation * n).dot(touch.normal) > kSlightTilt)) {
      candidate.b = make_plane_feature(place, n);
    }
    add_candidate(query_, candidate, code(FeatureCode::Kind::kWhole, 0), code_s);
  }

  void note_tilted_end(const Vector3d& n, const Vector3d& place) {
    const double cosine = query_.pose_sa.rotation.col(2).dot(n);
    if (std::abs(cosine) > kSlightTilt) {
      note_tilted(query_, cosine > 0 ? 1 : 0, separation(n, place));
    }
  }

  /// Where an edge leaves the end of the cylinder.
  void add_ends_of_chord(int k, const TiltedSide& end, const Vector3d& up) {
    const int half_edge = 3 * near_.index + k;
    if (query_.surface.edge_id(half_edge) == TriangleSurface::kNone) return;
    const Vector3d start = t_.corners[k], edge = t_.corners[(k + 1) % 3] - start;
    const double length = edge.norm();
    if (!(length > 0)) return;
    const Vector3d along = edge / length, across = up - up.dot(along) * along;
    if (!(across.norm() > 0.1) || !edge_allows(query_, half_edge, across.normalized(), kStrict)) {
      return;
    }
    add_ends(half_edge, along, length, find_chord(start, along, length), flat_end(up), 4, &end);
  }

  struct Chord {
    double from, to;  // [m] along an edge, from > to: there is none
  };

  /// The part of an edge that is under an end of the cylinder.
  Chord find_chord(const Vector3d& start, const Vector3d& along, double length) const {
    const Vector3d axis = query_.pose_sa.rotation.col(2), offset = start - query_.center;
    const Vector3d across = offset - offset.dot(axis) * axis;
    const Vector3d flat = along - along.dot(axis) * axis;
    const double squared = flat.squaredNorm(), radius = query_.a.half().x();
    if (!(squared > 0)) return {1, 0};
    const double middle = -across.dot(flat) / squared;
    const double square = radius * radius - (across + middle * flat).squaredNorm();
    if (!(square >= 0)) return {1, 0};
    const double half = std::sqrt(square / squared);
    return {std::max(0.0, middle - half), std::min(length, middle + half)};
  }

  /// The part of the edge under an end has two ends; a mantle across the edge touches it once.
  void add_flat_on_edge(int half_edge, const Vector3d& n, const Vector3d& along, double length) {
    if (!is_on_end(n)) return add_crossing(half_edge, n, along);
    const Vector3d start = t_.corners[half_edge % 3];
    add_ends(half_edge, along, length, find_chord(start, along, length), flat_end(n), 4);
  }

  void add_crossing(int half_edge, const Vector3d& n, const Vector3d& along) {
    const SurfaceLine line = line_of_edge(query_, half_edge);
    const double side =
        query_.pose_sa.rotation.col(2).cross(along).dot(n) > 0 ? line.turns : -line.turns;
    add_candidate(query_, {.a = mantle(), .b = line.feature, .side = side},
                  code(FeatureCode::Kind::kEdge, 0), surface_edge_code(query_, half_edge));
  }

  bool is_along_mantle(const Vector3d& n, const Vector3d& along) const {
    const Vector3d axis = query_.pose_sa.rotation.col(2);
    return query_.a.kind() == ShapeKind::kCylinder && std::abs(n.dot(axis)) < kNearlyParallel &&
           along.cross(axis).norm() < kNearlyParallel;
  }

  /// Rims over the edge, its ends beside the mantle, and what is nearest of both in between, where
  /// the edge pushes that way. Rims roll along with the cylinder, and the next triangle has the end
  /// of an edge that goes on straight.
  void add_edge_along_mantle(int half_edge, const Vector3d& n, const Vector3d& along,
                             double length) {
    add_ends_along_mantle(half_edge, n, along, length, -std::numeric_limits<double>::infinity());
    const Vector3d axis = query_.pose_sa.rotation.col(2);
    const bool may_cross = is_on_mantle(n) && along.cross(axis).norm() > 1e-6;
    if (may_cross) add_crossing(half_edge, n, along);
  }

  /// No gaps below `lowest` [m].
  void add_ends_along_mantle(int half_edge, const Vector3d& n, const Vector3d& along, double length,
                             double lowest) {
    const int k = half_edge % 3;
    const Vector3d axis = query_.pose_sa.rotation.col(2), start = t_.corners[k];
    const double half = query_.a.half().z(), cosine = axis.dot(along);
    const ContactFeature line = line_of_edge(query_, half_edge).feature;
    for (const int end : {0, 1}) {
      const double z = end == 0 ? -half : half;
      const double place = (z - axis.dot(start - query_.center)) / cosine;
      if (place < -query_.tolerance || place > length + query_.tolerance) continue;
      const ContactCandidate rim{
          .a = make_circle_feature({0, 0, z}, Vector3d::UnitZ(), query_.a.half().x()), .b = line};
      const Touch touch = touch_of(rim);
      const Vector3d way = normal_in_surface(touch);
      if (touch.gap < lowest || !(way.dot(n) > kSlightTilt)) continue;
      if (!edge_allows(query_, half_edge, way, kStrict)) continue;
      add_candidate(query_, rim, code(FeatureCode::Kind::kRim, end),
                    surface_edge_code(query_, half_edge));
    }
    for (const int corner : {k, (k + 1) % 3}) {
      const bool goes_on =
          query_.surface.vertex_kind(t_.ids[corner]) == TriangleSurface::VertexKind::kStraight;
      const bool is_beside = std::abs(axis.dot(t_.corners[corner] - query_.center)) <= half;
      if (goes_on || !is_beside) continue;
      const ContactCandidate beside{.a = mantle(), .b = make_point_feature(t_.corners[corner])};
      // Across the edge: the end of it that a tilted mantle is lifted from counts as well.
      const Touch touch = touch_of(beside);
      const Vector3d way = normal_in_surface(touch), across = way - way.dot(along) * along;
      if (touch.gap < lowest || !(way.dot(n) > kSlightTilt)) continue;
      if (!vertex_allows(query_, t_.ids[corner], across.normalized(), kStrict)) continue;
      add_candidate(query_, beside, code(FeatureCode::Kind::kEdge, 0),
                    surface_vertex_code(t_.ids[corner]));
    }
  }

  /// Where the edge goes on straight, or has another end, the mantle lies along that as well: less
  /// deep than here, and what of it is lifted may come down in the step.
  void add_rest_of_edge(int half_edge, const Vector3d& n, double deepest) {
    const int id = query_.surface.edge_id(half_edge);
    const std::vector<NearTriangle>& triangles = query_.workspace.triangles;
    for (std::size_t i = 0; i < triangles.size(); ++i) {
      for (int k = 0; k < 3; ++k) {
        const int other = 3 * triangles[i].index + k;
        if (other == half_edge || query_.surface.edge_id(other) != id) continue;
        CurvedOnTriangle(query_, triangles[i]).add_part_of_edge(k, n, deepest - tie_);
      }
    }
  }

  void add_part_of_edge(int k, const Vector3d& n, double lowest) {
    const Vector3d edge = t_.corners[(k + 1) % 3] - t_.corners[k];
    const double length = edge.norm();
    if (!(length > 0)) return;
    add_ends_along_mantle(3 * near_.index + k, n, edge / length, length, lowest);
  }

  /// Both ends of what an edge and a flat part have in common, numbered along the line, whichever
  /// way a triangle has it. Where the edge goes on straight the next triangle has the end. With
  /// `tilted`: only what may come down.
  void add_ends(int half_edge, const Vector3d& along, double length, const Chord& chord,
                const ContactFeature& feature, int first_index,
                const TiltedSide* tilted = nullptr) {
    if (chord.from > chord.to) return;
    const int k = half_edge % 3;
    const Vector3d up = -(query_.pose_sa.rotation * feature.direction);
    const auto is_straight = [&](int corner) {
      return query_.surface.vertex_kind(t_.ids[corner]) == TriangleSurface::VertexKind::kStraight;
    };
    const bool is_turned = along.dot(direction_of_line(along)) < 0;
    for (const int end : {0, 1}) {
      const double place = end == 0 ? chord.from : chord.to;
      const bool goes_on =
          end == 0 ? place <= 0 && is_straight(k) : place >= length && is_straight((k + 1) % 3);
      const Vector3d point = t_.corners[k] + place * along;
      if (goes_on || (tilted != nullptr && !may_come_down(point, *tilted, up))) continue;
      add_candidate(query_, {.a = feature, .b = make_point_feature(point)},
                    code(FeatureCode::Kind::kOther, first_index + (is_turned ? 1 - end : end)),
                    surface_edge_code(query_, half_edge));
    }
  }

  /// The same for both directions of a line.
  static Vector3d direction_of_line(const Vector3d& along) {
    int largest = 0;
    along.cwiseAbs().maxCoeff(&largest);
    return along[largest] > 0 ? along : Vector3d(-along);
  }

  void add_vertex(int k, const Vector3d& n) {
    const FeatureCode code_s = surface_vertex_code(t_.ids[k]);
    const ContactFeature corner = make_point_feature(t_.corners[k]);
    if (is_on_end(n)) {
      if (is_under_end(t_.corners[k])) {
        add_candidate(query_, {.a = flat_end(n), .b = corner}, code(FeatureCode::Kind::kFace, 0),
                      code_s);
      }
      note_tilted_end(n, t_.corners[k]);
    } else if (query_.a.kind() == ShapeKind::kEllipsoid) {
      add_ellipsoid(corner, n, t_.corners[k], code_s);
    } else if (is_on_mantle(n)) {
      add_candidate(query_, {.a = mantle(), .b = corner}, code(FeatureCode::Kind::kEdge, 0),
                    code_s);
      for (const int edge : {k, (k + 2) % 3}) {
        const Vector3d along = (t_.corners[(edge + 1) % 3] - t_.corners[edge]).normalized();
        if (query_.surface.edge_id(3 * near_.index + edge) == TriangleSurface::kNone ||
            !is_along_mantle(n, along)) {
          continue;
        }
        add_part_of_edge(edge, n, separation(n, t_.corners[k]) - tie_);
        add_rest_of_edge(3 * near_.index + edge, n, separation(n, t_.corners[k]));
      }
    } else {
      add_candidate(query_,
                    {.a = point_of_a(query_, lowest_of_a(query_, n), 0),
                     .b = make_plane_feature(t_.corners[k], n)},
                    code(FeatureCode::Kind::kRim, 0), code_s);
      note_tilted_end(n, t_.corners[k]);
    }
  }

  bool may_come_down(const Vector3d& point, const TiltedSide& end, const Vector3d& up) const {
    return may_come_down_on(query_, end, point, query_.center - query_.a.half().z() * up, up,
                            query_.a.half().x() / 25);
  }

  bool is_under_end(const Vector3d& corner) const {
    const Vector3d axis = query_.pose_sa.rotation.col(2), offset = corner - query_.center;
    return (offset - offset.dot(axis) * axis).norm() <= query_.a.half().x();
  }

  /// Apart, and nearest to a vertex.
  void add_nearest(const GjkResult& gjk) {
    constexpr double kRough = 1e-5;
    const Vector3d n = gjk.v.normalized(), nearest = gjk.simplex.point_b();
    for (int k = 0; k < 3; ++k) {
      if (query_.surface.vertex_kind(t_.ids[k]) != TriangleSurface::VertexKind::kCorner) continue;
      if ((nearest - t_.corners[k]).norm() > tie_) continue;
      if (!vertex_allows(query_, t_.ids[k], n, kRough)) return;
      add_vertex(k, query_.a.kind() == ShapeKind::kCylinder ? way_from(t_.corners[k]) : n);
      return;
    }
    const int twin_less = find_junction(nearest);
    if (twin_less >= 0 && edge_allows(query_, twin_less, n, kRough)) add_edge(twin_less, n);
  }

  /// An edge of more than two triangles at the point, or −1.
  int find_junction(const Vector3d& point) const {
    for (int k = 0; k < 3; ++k) {
      if (query_.surface.twin(3 * near_.index + k) != TriangleSurface::kJunction) continue;
      const Vector3d along = (t_.corners[(k + 1) % 3] - t_.corners[k]).normalized();
      if (along.cross(point - t_.corners[k]).norm() <= tie_) return 3 * near_.index + k;
    }
    return -1;
  }

  SurfaceQuery& query_;
  const NearTriangle near_;
  const TriangleView t_;
  const double equal_;  // [m] separations this close are equally good
  const double tie_;    // [m] what the iteration leaves of the distance of round bodies
  Best best_{};
  /// An edge or corner as good as a face: just beyond its border the face has no contact.
  Best border_{};
};

}  // namespace

void collect_curved(SurfaceQuery& query) {
  std::vector<OverlapAxis>& overlaps = query.workspace.overlaps;
  overlaps.clear();
  query.workspace.tilted.clear();
  for (std::size_t i = 0; i < query.workspace.triangles.size(); ++i) {
    const NearTriangle near = query.workspace.triangles[i];
    if (query.surface.has_area(near.index)) CurvedOnTriangle(query, near).collect();
  }
  for (std::size_t i = 0; i < overlaps.size(); ++i) {
    CurvedOnTriangle(query, overlaps[i].near).emit(overlaps[i]);
  }
  const std::vector<TiltedSide>& tilted = query.workspace.tilted;
  for (std::size_t end = 0; end < tilted.size(); ++end) {
    for (std::size_t i = 0; i < query.workspace.triangles.size(); ++i) {
      const NearTriangle near = query.workspace.triangles[i];
      if (near.is_front) CurvedOnTriangle(query, near).collect_under(tilted[end]);
    }
  }
}

}  // namespace stiction
