#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"
#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/face_clipping.h"
#include "stiction/geometry/polytope.h"
#include "stiction/geometry/rounded_core.h"

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

/// Sphere or capsule a over the polytope b. Everything in the frame of b.
class RoundedOverPolytope {
 public:
  RoundedOverPolytope(ContactPair& pair, const RoundedCore& core)
      : pair_(pair),
        core_(core),
        b_(pair.polytope_b()),
        a_in_b_(inverse(pair.pose_b) * pair.pose_a),
        axis_(a_in_b_.rotation.col(2)) {
    for (int end = 0; end < 2; ++end) ends_[end] = a_in_b_ * core.end_point(end);
  }

  void collect() {
    if (is_out_of_reach()) return;
    if (const int face = find_face_below(); face >= 0) return collect_above(face);
    const SignedDistance distance = compute_distance(pair_.a, pair_.pose_a, pair_.b, pair_.pose_b);
    gap_ = distance.gap;
    if (!(gap_ <= pair_.options.reach)) return;
    normal_ = pair_.pose_b.rotation.transpose() * distance.normal;
    const int face = find_face();
    append_over_face(face, gap_ - pair_.tie);
    if (separation_of(face) < gap_ - pair_.tie)
      pair_.drop_askew((distance.point_a + distance.point_b) / 2, distance.normal);
    if (!(pair_.smallest_gap() <= gap_ + pair_.tie)) append_nearest(distance);
    pair_.close_patch(gap_);
    if (pair_.options.wants_alternatives) append_alternatives(face);
  }

 private:
  /// Of a wall, say, that is beside it: one of six faces tells at once. Faces of hulls are many.
  bool is_out_of_reach() const {
    if (pair_.b.kind() != ShapeKind::kBox) return false;
    for (int face = 0; face < static_cast<int>(b_.faces().size()); ++face)
      if (separation_of(face) > pair_.options.reach) return true;
    return false;
  }

  /// The face of a box whose prism holds all of the core, well within its rim and above it: what
  /// lies on a floor, as a rule. Its plane then has the distance, and both ends are over the face.
  /// −1 if there is none.
  int find_face_below() const {
    if (pair_.b.kind() != ShapeKind::kBox) return kNone;
    const Vector3d inner = pair_.b.half() - Vector3d::Constant(pair_.snap);
    for (int face = 0; face < static_cast<int>(b_.faces().size()); ++face) {
      if (!(separation_of(face) + core_.radius > pair_.tie)) continue;
      const Vector3d& normal = b_.faces()[face].normal;
      bool is_over = true;
      for (int end = 0; end < core_.num_ends(); ++end)
        for (int axis = 0; axis < 3; ++axis)
          is_over = is_over && (normal[axis] != 0 || std::abs(ends_[end][axis]) < inner[axis]);
      return is_over ? face : kNone;  // another face has less
    }
    return kNone;
  }

  void collect_above(int face) {
    gap_ = separation_of(face);
    if (!(gap_ <= pair_.options.reach)) return;
    for (int end = 0; end < core_.num_ends(); ++end)
      pair_.emit(core_.end_feature(end), plane_of(face),
                 make_contact_id(core_.end_code(end), face_code(face)), 1, gap_ - pair_.tie);
    pair_.close_patch(gap_);
    if (pair_.options.wants_alternatives) append_alternatives(face);
  }

  double separation_of(int face) const {
    const Polytope::Face& f = b_.faces()[face];
    double lowest = f.normal.dot(ends_[0]);
    if (core_.num_ends() == 2) lowest = std::min(lowest, f.normal.dot(ends_[1]));
    return lowest - f.offset - core_.radius;
  }

  /// Apart, the face that looks along the normal. Where the core is inside, several faces may tie,
  /// and the choice must not be left to rounding.
  int find_face() const {
    int best = 0;
    const int count = static_cast<int>(b_.faces().size());
    if (gap_ + core_.radius > pair_.tie) {
      for (int f = 1; f < count; ++f) {
        if (b_.faces()[f].normal.dot(normal_) > b_.faces()[best].normal.dot(normal_)) best = f;
      }
      return best;
    }
    double highest = separation_of(0);
    for (int f = 1; f < count; ++f) {
      const double separation = separation_of(f);
      if (separation > highest + pair_.tie) {
        highest = separation;
        best = f;
      }
    }
    return best;
  }

  ContactFeature ball_at(double t) const {
    return make_point_feature({0, 0, (2 * t - 1) * core_.half}, core_.radius);
  }
  ContactFeature plane_of(int face) const {
    return make_plane_feature(b_.vertices()[b_.vertices_of(face)[0]], b_.faces()[face].normal);
  }

  /// The face in the plane, and the ends of the core.
  ConvexPolygon& lay_face(int face) {
    const Vector3d normal = b_.faces()[face].normal;
    const Vector3d u = normal.unitOrthogonal(), v = normal.cross(u);
    ConvexPolygon& polygon = pair_.workspace.reference;
    polygon.clear();
    for (const int k : b_.vertices_of(face)) {
      polygon.add({u.dot(b_.vertices()[k]), v.dot(b_.vertices()[k])});
    }
    polygon.finish();
    for (int end = 0; end < 2; ++end) places_[end] = {u.dot(ends_[end]), v.dot(ends_[end])};
    return polygon;
  }

  void append_end(int face, int end, double lowest, std::uint64_t mark) {
    pair_.emit(core_.end_feature(end), plane_of(face),
               make_contact_id(core_.end_code(end), face_code(face)) | mark, 1, lowest);
  }

  /// The ends of the part of the core that is over the face. `mark` is kAlternativeBit or 0.
  void append_over_face(int face, double lowest, std::uint64_t mark = 0) {
    if (!(separation_of(face) <= pair_.options.reach)) return;
    if (core_.num_ends() == 1) {
      // A ball is over the face if and only if the face has the separation. That alone would take
      // one that is beyond the rim by √(2 d tie), d the distance of its centre, to be over it.
      if (separation_of(face) >= lowest && b_.is_over(face, ends_[0], pair_.snap))
        append_end(face, 0, -kInfinity, mark);
      return;
    }
    const ConvexPolygon& polygon = lay_face(face);
    bool inside[2];
    for (int end = 0; end < 2; ++end) {
      inside[end] = polygon.contains(places_[end], pair_.snap);
      if (inside[end]) append_end(face, end, lowest, mark);
    }
    if (inside[0] && inside[1]) return;
    const ClippedSegment part = polygon.clip(places_[0], places_[1], 0, pair_.snap);
    if (!part.hits) return;
    const auto append = [&](double t, int side) {
      const FeatureCode code =
          mark != 0 ? rim_code(b_, face, side) : edge_code(b_.edges_of(face)[side]);
      pair_.emit(ball_at(t), plane_of(face), make_contact_id(edge_code(0), code) | mark, 1, lowest);
    };
    // A crossing next to an end that is inside is the same place.
    const double least = pair_.snap / std::max((places_[1] - places_[0]).norm(), pair_.snap);
    const bool has_start =
        !inside[0] && part.start_side >= 0 && !(inside[1] && part.start >= 1 - least);
    const bool has_end = !inside[1] && part.end_side >= 0 && !(inside[0] && part.end <= least) &&
                         !(has_start && part.end - part.start <= least);
    if (has_start) append(part.start, part.start_side);
    if (has_end) append(part.end, part.end_side);
  }

  /// Edges and corners of b. Apart from b, core and feature have a distance with a direction;
  /// a core that enters b is parted from an edge by the common perpendicular of both.
  void append_nearest(const SignedDistance& distance) {
    const Vector3d on_core =
        inverse(pair_.pose_b) * Vector3d(distance.point_a + core_.radius * distance.normal);
    const Vector3d on_b = inverse(pair_.pose_b) * distance.point_b;
    const int vertex = b_.find_support(normal_);
    const int edge = nearest_edge_at(vertex, on_b);
    if (gap_ + core_.radius > pair_.snap) {
      append_around_edge(edge);
      for (const int e : b_.edges_at(vertex)) {
        if (e != edge && may_lie_along(e)) append_around_edge(e);
      }
    } else {
      append_crossing_inside(vertex);
    }
    if (pair_.smallest_gap() <= gap_ + pair_.tie) return;
    const FeatureCode code =
        core_.num_ends() == 1 ? whole() : FeatureCode{FeatureCode::Kind::kOther, 0};
    pair_.emit(make_point_feature(inverse(a_in_b_) * on_core, core_.radius),
               make_plane_feature(on_b, normal_), make_contact_id(code, edge_code(edge)));
  }

  int nearest_edge_at(int vertex, const Vector3d& point) const {
    int best = b_.edges_at(vertex)[0];
    double nearest = kInfinity;
    for (const int e : b_.edges_at(vertex)) {
      const Polytope::Edge& edge = b_.edges()[e];
      const Vector3d &tail = b_.vertices()[edge.tail], &head = b_.vertices()[edge.head];
      const double t = std::clamp(edge.direction.dot(point - tail), 0.0, (head - tail).norm());
      const double squared = (tail + t * edge.direction - point).squaredNorm();
      if (squared < nearest) {
        nearest = squared;
        best = e;
      }
    }
    return best;
  }

  /// Whether the axis is beside the line of an edge by no more than the reach, where a corner of it
  /// is the nearest of b.
  bool may_lie_along(int e) const {
    constexpr double kNearlyParallel = 0.1;
    const Polytope::Edge& edge = b_.edges()[e];
    const double length = (b_.vertices()[edge.head] - b_.vertices()[edge.tail]).norm();
    const double sine = axis_.cross(edge.direction).norm();
    return core_.num_ends() == 2 && sine <= kNearlyParallel &&
           sine * std::min(2 * core_.half, length) <= pair_.options.reach;
  }

  /// Whether the way from a point of b to one of the core is one that contact could take.
  bool is_along_normal(const Vector3d& way) const { return way.dot(normal_) >= 0.9 * way.norm(); }

  void append_around_edge(int e) {
    const Polytope::Edge& edge = b_.edges()[e];
    const Vector3d &tail = b_.vertices()[edge.tail], &head = b_.vertices()[edge.head];
    const double length = (head - tail).norm();
    const ContactFeature line = make_line_feature(tail, edge.direction);
    const double lowest = gap_ - pair_.tie;
    for (int end = 0; end < core_.num_ends(); ++end) {
      const double t = edge.direction.dot(ends_[end] - tail);
      if (t < -pair_.snap || t > length + pair_.snap) continue;
      if (!is_along_normal(ends_[end] - tail - t * edge.direction)) continue;
      pair_.emit(core_.end_feature(end), line, make_contact_id(core_.end_code(end), edge_code(e)),
                 1, lowest);
    }
    append_vertex_over_core(edge.tail, lowest);
    append_vertex_over_core(edge.head, lowest);
    if (core_.num_ends() == 2) append_crossing(e, lowest);
    append_end_and_vertex(edge.tail, lowest);
    append_end_and_vertex(edge.head, lowest);
  }

  void append_vertex_over_core(int vertex, double lowest) {
    if (core_.num_ends() == 1) return;
    const Vector3d offset = b_.vertices()[vertex] - a_in_b_.position;
    const double along = axis_.dot(offset);
    // An end over the vertex: the edge has it.
    if (std::abs(along) > core_.half - pair_.snap) return;
    const std::uint64_t id = make_contact_id(edge_code(0), vertex_code(vertex));
    if (!is_along_normal(along * axis_ - offset) || pair_.has(id)) return;
    pair_.emit(core_.line_feature(), make_point_feature(b_.vertices()[vertex]), id, 1, lowest);
  }

  void append_end_and_vertex(int vertex, double lowest) {
    for (int end = 0; end < core_.num_ends(); ++end) {
      const double distance = (ends_[end] - b_.vertices()[vertex]).norm();
      if (!(distance - core_.radius < pair_.smallest_gap() - pair_.tie)) continue;
      pair_.emit(core_.end_feature(end), make_point_feature(b_.vertices()[vertex]),
                 make_contact_id(core_.end_code(end), vertex_code(vertex)), 1, lowest);
    }
  }

  /// Of the axis and an edge, where it is nearer than what is known.
  void append_crossing(int e, double lowest) {
    const Polytope::Edge& edge = b_.edges()[e];
    const Vector3d& tail = b_.vertices()[edge.tail];
    const Vector3d offset = a_in_b_.position - tail;
    const Vector3d cross = axis_.cross(edge.direction);
    const double squared_sine = cross.squaredNorm();
    if (!(squared_sine > 1e-12)) return;
    const double s = edge.direction.cross(offset).dot(cross) / squared_sine;
    const double t = axis_.cross(offset).dot(cross) / squared_sine;
    const double length = (b_.vertices()[edge.head] - tail).norm();
    if (std::abs(s) > core_.half + pair_.snap) return;
    if (t < -pair_.snap || t > length + pair_.snap) return;
    const double side = cross.dot(normal_) >= 0 ? 1 : -1;
    const double gap = side * cross.dot(offset) / std::sqrt(squared_sine) - core_.radius;
    if (!(gap < pair_.smallest_gap() - pair_.tie) || gap < lowest) return;
    const std::uint64_t id = make_contact_id(edge_code(0), edge_code(e));
    pair_.drop(id);
    pair_.emit(core_.line_feature(), make_line_feature(tail, edge.direction), id, side);
  }

  void append_crossing_inside(int vertex) {
    if (core_.num_ends() == 1) return;
    int best = -1;
    double best_cosine = 1 - 1e-9;
    for (const int e : b_.edges_at(vertex)) {
      const Vector3d cross = axis_.cross(b_.edges()[e].direction);
      const double sine = cross.norm();
      const double cosine = sine > 1e-6 ? std::abs(cross.dot(normal_)) / sine : 0;
      if (cosine > best_cosine) {
        best_cosine = cosine;
        best = e;
      }
    }
    if (best >= 0) append_crossing(best, gap_ - pair_.tie);
  }

  /// Other faces as separating planes. What is furthest down may be beside the face yet.
  void append_alternatives(int first_face) {
    for (int f = 0; f < static_cast<int>(b_.faces().size()); ++f) {
      if (f == first_face) continue;
      const double separation = separation_of(f);
      if (separation < gap_ - 2 * pair_.options.reach) continue;
      const int first = static_cast<int>(pair_.out.candidates.size());
      append_over_face(f, -kInfinity, kAlternativeBit);
      if (static_cast<int>(pair_.out.candidates.size()) == first) append_beside(f);
      pair_.close_alternative(first, separation);
    }
  }

  /// Ends that are not over the face but may come there, and places of the axis next to its
  /// corners.
  void append_beside(int face) {
    const ConvexPolygon& polygon = lay_face(face);
    const double margin = pair_.options.reach;
    for (int end = 0; end < core_.num_ends(); ++end) {
      if (polygon.contains(places_[end], pair_.snap)) continue;
      if (polygon.distance_to(places_[end]) <= margin)
        append_end(face, end, -kInfinity, kAlternativeBit);
    }
    if (core_.num_ends() == 1 || polygon.clip(places_[0], places_[1], 0, pair_.snap).hits) return;
    polygon.visit_passed(places_[0], places_[1], margin, [&](int k, double t) {
      pair_.emit(ball_at(t), plane_of(face),
                 make_contact_id(edge_code(0), rim_code(b_, face, k)) | kAlternativeBit);
    });
  }

  static constexpr int kNone = -1;

  ContactPair& pair_;
  const RoundedCore& core_;
  const Polytope& b_;
  Pose a_in_b_;
  Vector3d axis_, ends_[2];  // of the core
  Vector2d places_[2];       // of the ends, in the plane of the face that was laid last
  Vector3d normal_;          // from b to a
  double gap_ = 0;
};

}  // namespace

void collect_rounded_polytope_contacts(ContactPair& pair, const RoundedCore& a) {
  RoundedOverPolytope(pair, a).collect();
}

}  // namespace stiction
