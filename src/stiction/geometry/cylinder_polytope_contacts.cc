#include "stiction/geometry/cylinder_polytope_contacts.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <span>

#include "stiction/geometry/cylinder_parts.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/face_clipping.h"
#include "stiction/geometry/polytope.h"
#include "stiction/geometry/polytope_axes.h"

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kLeastCosineOfEnd = 0.5;

/// Sine of the angle between axis and edge up to which both ends of what they have in common count:
/// whichever is higher may come down in the step. And the cosine up to which a normal is that of a
/// mantle that lies along or across an edge.
constexpr double kNearlyParallel = 0.1, kAcross = 1e-6;

int find_aligned_face(const Polytope& polytope, const Vector3d& direction) {
  int best = 0;
  for (int f = 1; f < static_cast<int>(polytope.faces().size()); ++f) {
    if (polytope.faces()[f].normal.dot(direction) > polytope.faces()[best].normal.dot(direction)) {
      best = f;
    }
  }
  return best;
}

/// Cylinder a over polytope b. Vectors of a in the frame of a, of b in that of b, as named.
class CylinderOverPolytope {
 public:
  CylinderOverPolytope(ContactPair& pair, const SignedDistance& distance)
      : pair_(pair),
        a_(pair.a),
        b_(pair.polytope_b()),
        a_in_b_(inverse(pair.pose_b) * pair.pose_a),
        b_in_a_(inverse(a_in_b_)),
        normal_a_(pair.pose_a.rotation.transpose() * distance.normal),
        normal_b_(pair.pose_b.rotation.transpose() * distance.normal),
        distance_(distance),
        gap_(distance.gap),
        lowest_(distance.gap - pair.tie),
        end_(normal_a_.z() > 0 ? 0 : 1) {}

  void collect() {
    const int face = find_aligned_face(b_, normal_b_);
    const bool end_faces = std::abs(normal_a_.z()) > kLeastCosineOfEnd;
    const double separation = separation_of(face);
    if (!end_faces || separation >= separation_of_end() - pair_.tie) {
      append_over_face(face);
      if (separation < lowest_)
        pair_.drop_askew((distance_.point_a + distance_.point_b) / 2, distance_.normal);
    } else {
      append_under_end();
      if (separation_of_end() < lowest_)
        pair_.drop_askew((distance_.point_a + distance_.point_b) / 2, distance_.normal);
    }
    if (is_unfinished() && std::abs(normal_a_.z()) < kNearlyParallel) append_mantle_and_edges();
    if (is_unfinished()) append_whole_shapes(pair_, distance_);
  }

 private:
  bool is_unfinished() const { return pair_.smallest_gap() > gap_ + pair_.tie; }

  double separation_of(int face) const {
    const Polytope::Face& f = b_.faces()[face];
    return f.normal.dot(a_in_b_.position) - f.offset -
           a_.extent_along(f.normal.dot(a_in_b_.rotation.col(2)));
  }
  double separation_of_end() const {
    const Vector3d out = a_.end_normal(end_);
    const int v = b_.find_support(-(a_in_b_.rotation * out));
    return out.dot(b_in_a_ * b_.vertices()[v]) - a_.half;
  }

  // ---- over a face of the polytope -------------------------------------------------------------

  void append_over_face(int face) {
    face_ = face;
    up_ = b_.faces()[face].normal;
    u_ = up_.unitOrthogonal();
    v_ = up_.cross(u_);
    ConvexPolygon& polygon = pair_.workspace.reference;
    polygon.clear();
    for (const int k : b_.vertices_of(face)) polygon.add(flat(b_.vertices()[k]));
    polygon.finish();
    plane_ = make_plane_feature(b_.vertices()[b_.vertices_of(face)[0]], up_);
    const double cosine = up_.dot(a_in_b_.rotation.col(2));
    if (std::abs(cosine) > kLeastCosineOfEnd) {
      append_disc(cosine >= 0 ? 0 : 1);
    } else {
      append_line();
    }
  }

  Vector2d flat(const Vector3d& point_b) const { return {u_.dot(point_b), v_.dot(point_b)}; }
  bool is_over_face(const Vector3d& point_b) const {
    return pair_.workspace.reference.contains(flat(point_b), pair_.snap);
  }
  bool emit_on_face(const ContactFeature& feature, FeatureCode code_a, FeatureCode code_b) {
    return pair_.emit(feature, plane_, make_contact_id(code_a, code_b), 1, lowest_);
  }

  /// Corners of the overlap of the end with the face: fixed points of the rim over the face, points
  /// over corners of the face, and crossings of the rim with its sides.
  void append_disc(int end) {
    const Vector3d down = -(b_in_a_.rotation * up_);
    const LowestOfRim lowest(a_, end, down);
    const Vector3d lowest_in_b = a_in_b_ * lowest.point;
    const bool has_rim = lowest.counts(pair_.tie) && is_over_face(lowest_in_b);
    const bool is_point =
        lowest.is_point(plane_.direction.dot(lowest_in_b - plane_.point), pair_.options.reach);
    for (int k = 0; k < kNumRimPoints; ++k) {
      const Vector3d point = a_.rim_point(end, k);
      if (!is_over_face(a_in_b_ * point)) continue;
      if (has_rim && !is_point && CylinderParts::is_next_to(down, k)) continue;
      emit_on_face(make_point_feature(point), CylinderParts::rim_point_code(end, k),
                   face_code(face_));
    }
    const std::span<const int> loop = b_.vertices_of(face_), edges = b_.edges_of(face_);
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const Vector3d tail = lifted(b_.vertices()[loop[k]], end);
      const Vector3d head = lifted(b_.vertices()[loop[k + 1 == loop.size() ? 0 : k + 1]], end);
      if (a_.end_contains(tail, 0)) {
        emit_on_face(make_point_feature(tail), face_code(end), vertex_code(loop[k]));
      }
      const DiscChord chord = clip_to_disc(tail.head<2>(), head.head<2>(), a_.radius);
      if (!chord.hits) continue;
      const FeatureCode edge = edge_code(edges[k]);
      const Vector3d along = head - tail;
      const double least = pair_.snap;  // a side that only grazes the rim has one crossing
      if (chord.start > 0) {
        emit_on_face(make_point_feature(tail + chord.start * along), CylinderParts::rim_code(end),
                     edge);
      }
      if (chord.end < 1 && (chord.end - chord.start) * along.norm() > least) {
        emit_on_face(make_point_feature(tail + chord.end * along), other_code(end), edge);
      }
    }
    if (has_rim && !(is_point && lowest.is_at_fixed_point(pair_.snap)))
      emit_on_face(lowest.feature(is_point), CylinderParts::rim_code(end), face_code(face_));
  }

  /// The point of the plane of an end straight over a point of b, in the frame of a.
  Vector3d lifted(const Vector3d& point_b, int end) const {
    const Vector3d from = b_in_a_ * point_b, up = b_in_a_.rotation * up_;
    return from + (CylinderParts::sign_of(end) * a_.half - from.z()) / up.z() * up;
  }

  /// Ends of the part of the lowest line of the mantle that is over the face, as circles, so that
  /// it may roll.
  void append_line() {
    const Vector3d axis = a_in_b_.rotation.col(2);
    const Vector3d out = -(up_ - up_.dot(axis) * axis).normalized();
    const Vector3d middle = a_in_b_.position + a_.radius * out;
    const Vector3d ends[2] = {middle - a_.half * axis, middle + a_.half * axis};
    bool inside[2];
    for (int end = 0; end < 2; ++end) {
      inside[end] = is_over_face(ends[end]);
      if (!inside[end]) continue;
      emit_on_face(a_.circle_at(CylinderParts::sign_of(end) * a_.half),
                   CylinderParts::rim_code(end), face_code(face_));
    }
    if (inside[0] && inside[1]) return;
    const ClippedSegment part =
        pair_.workspace.reference.clip(flat(ends[0]), flat(ends[1]), 0, pair_.snap);
    if (!part.hits) return;
    const auto append = [&](double t, int side) {
      emit_on_face(a_.circle_at((2 * t - 1) * a_.half), edge_code(0),
                   edge_code(b_.edges_of(face_)[side]));
    };
    if (!inside[0] && part.start_side >= 0) append(part.start, part.start_side);
    if (!inside[1] && part.end_side >= 0 && part.end_side != part.start_side) {
      append(part.end, part.end_side);
    }
  }

  // ---- under an end of the cylinder ------------------------------------------------------------

  bool emit_under_end(const Vector3d& point_b, FeatureCode code_a, FeatureCode code_b) {
    return pair_.emit(a_.end_feature(end_), make_point_feature(point_b),
                      make_contact_id(code_a, code_b), 1, lowest_);
  }

  void append_under_end() {
    const Vector3d out = a_in_b_.rotation * a_.end_normal(end_);
    const Vector3d center = a_in_b_ * a_.end_center(end_);
    visit_connected_vertices(b_, -out, pair_.workspace, [&](int v) {
      if (!(out.dot(b_.vertices()[v] - center) <= pair_.options.reach)) return false;
      if (a_.end_contains(b_in_a_ * b_.vertices()[v], pair_.snap)) {
        emit_under_end(b_.vertices()[v], face_code(end_), vertex_code(v));
      }
      return true;
    });
    const int face = find_aligned_face(b_, -out);
    append_crossings_of_rim(face);
    append_under_rim_points(face, out);
  }

  void append_crossings_of_rim(int face) {
    for (const int e : b_.edges_of(face)) {
      const Vector3d &tail = b_.vertices()[b_.edges()[e].tail],
                     &head = b_.vertices()[b_.edges()[e].head];
      const DiscChord chord = clip_to_disc((b_in_a_ * tail).head<2>(), (b_in_a_ * head).head<2>(),
                                           a_.radius + pair_.snap);
      if (!chord.hits) continue;
      if (chord.start > 0) {
        emit_under_end(tail + chord.start * (head - tail), CylinderParts::rim_code(end_),
                       edge_code(e));
      }
      if (chord.end < 1 && (chord.end - chord.start) * (head - tail).norm() > pair_.snap) {
        emit_under_end(tail + chord.end * (head - tail), other_code(end_), edge_code(e));
      }
    }
  }

  void append_under_rim_points(int face, const Vector3d& out) {
    const Polytope::Face& f = b_.faces()[face];
    const double slope = f.normal.dot(out);
    if (!(slope < -kLeastCosineOfEnd)) return;
    u_ = f.normal.unitOrthogonal();
    v_ = f.normal.cross(u_);
    ConvexPolygon& polygon = pair_.workspace.reference;
    polygon.clear();
    for (const int k : b_.vertices_of(face)) polygon.add(flat(b_.vertices()[k]));
    polygon.finish();
    for (int k = 0; k < kNumRimPoints; ++k) {
      const Vector3d from = a_in_b_ * a_.rim_point(end_, k);
      const Vector3d point = from + (f.offset - f.normal.dot(from)) / slope * out;
      if (!polygon.contains(flat(point), -pair_.snap)) continue;
      emit_under_end(point, CylinderParts::rim_point_code(end_, k), face_code(face));
    }
  }

  // ---- mantle on edges -------------------------------------------------------------------------

  void append_mantle_and_edges() {
    const int vertex = b_.find_support(normal_b_);
    for (const int e : b_.edges_at(vertex)) append_mantle_and_edge(e);
  }

  /// Whether the way from a point beside the axis to it is one that contact could take.
  bool is_along_normal(const Vector3d& point_a) const {
    const Vector2d way = -point_a.head<2>();
    return way.dot(normal_a_.head<2>()) >= 0.9 * way.norm();
  }

  void append_mantle_and_edge(int e) {
    const Polytope::Edge& edge = b_.edges()[e];
    const Vector3d ends[2] = {b_in_a_ * b_.vertices()[edge.tail],
                              b_in_a_ * b_.vertices()[edge.head]};
    const Vector3d along = ends[1] - ends[0];
    if (along.head<2>().norm() <= kNearlyParallel * along.norm()) {
      append_parallel_edge(e, ends);
    } else if (std::abs(normal_a_.z()) < kAcross) {
      append_edge_across(e, ends);
    } else {
      return;
    }
    append_crossing(e, ends[0], along);
  }

  /// Rims over the edge, corners beside the mantle. Rims roll along with the cylinder: the end of a
  /// line that turns a little against another one is where it was, while what both have nearest to
  /// each other runs from one end to the other.
  void append_parallel_edge(int e, const Vector3d (&ends)[2]) {
    const Polytope::Edge& edge = b_.edges()[e];
    const Vector3d along = ends[1] - ends[0];
    const double margin = pair_.snap / along.norm();
    const ContactFeature line = make_line_feature(b_.vertices()[edge.tail], edge.direction);
    for (int end = 0; end < 2; ++end) {
      const double t = (a_.end_center(end).z() - ends[0].z()) / along.z();
      if (t < -margin || t > 1 + margin || !is_along_normal(ends[0] + t * along)) continue;
      pair_.emit(a_.rim_feature(end), line,
                 make_contact_id(CylinderParts::rim_code(end), edge_code(e)), 1, lowest_);
    }
    for (int k = 0; k < 2; ++k) {
      const int v = k == 0 ? edge.tail : edge.head;
      const std::uint64_t id = make_contact_id(edge_code(0), vertex_code(v));
      const bool is_beside = std::abs(ends[k].z()) < a_.half - pair_.snap;
      if (!is_beside || !is_along_normal(ends[k]) || pair_.has(id)) continue;
      pair_.emit(a_.mantle_feature(), make_point_feature(b_.vertices()[v]), id, 1, lowest_);
    }
  }

  /// Ends of the part of the edge that is beside the mantle.
  void append_edge_across(int e, const Vector3d (&ends)[2]) {
    const Polytope::Edge& edge = b_.edges()[e];
    const Vector3d along = ends[1] - ends[0];
    double t[2] = {0, 1};
    const double limit = a_.half + pair_.snap;
    if (std::abs(along.z()) > pair_.snap) {
      const double low = (-limit - ends[0].z()) / along.z();
      const double high = (limit - ends[0].z()) / along.z();
      t[0] = std::max(0.0, std::min(low, high));
      t[1] = std::min(1.0, std::max(low, high));
    } else if (std::abs(ends[0].z()) > limit) {
      return;
    }
    if (t[0] > t[1]) return;
    for (int k = 0; k < 2; ++k) {
      const Vector3d point = ends[0] + t[k] * along;
      if (!is_along_normal(point)) continue;
      const bool is_corner = t[k] <= 0 || t[k] >= 1;
      const int v = k == 0 ? edge.tail : edge.head;
      const std::uint64_t id = is_corner ? make_contact_id(edge_code(0), vertex_code(v))
                                         : make_contact_id(other_code(k), edge_code(e));
      if (pair_.has(id)) continue;
      pair_.emit(a_.mantle_feature(),
                 make_point_feature(is_corner ? b_.vertices()[v] : a_in_b_ * point), id, 1,
                 lowest_);
    }
  }

  /// Of edge and axis, where they are nearer than what is known.
  void append_crossing(int e, const Vector3d& tail, const Vector3d& along) {
    const Vector3d direction = along.normalized();
    const Vector3d cross = Vector3d::UnitZ().cross(direction);
    const double squared_sine = cross.squaredNorm();
    if (!(squared_sine > 1e-12)) return;
    const double s = direction.cross(-tail).dot(cross) / squared_sine;
    const double t = Vector3d::UnitZ().cross(-tail).dot(cross) / squared_sine;
    if (std::abs(s) > a_.half || t < 0 || t > along.norm()) return;
    const double side = cross.dot(normal_a_) >= 0 ? 1 : -1;
    const double gap = side * cross.dot(-tail) / std::sqrt(squared_sine) - a_.radius;
    if (!(gap < pair_.smallest_gap() - pair_.tie) || gap < lowest_) return;
    const Polytope::Edge& edge = b_.edges()[e];
    const std::uint64_t id = make_contact_id(edge_code(0), edge_code(e));
    pair_.drop(id);
    pair_.emit(a_.mantle_feature(), make_line_feature(b_.vertices()[edge.tail], edge.direction), id,
               side);
  }

  ContactPair& pair_;
  CylinderParts a_;
  const Polytope& b_;
  Pose a_in_b_, b_in_a_;
  Vector3d normal_a_, normal_b_;  // from b to a, in the frames of a and b
  const SignedDistance& distance_;
  double gap_, lowest_;
  int end_;  // of the cylinder, towards b
  int face_ = 0;
  Vector3d up_, u_, v_;  // of the face, in the frame of b
  ContactFeature plane_{};
};

}  // namespace

void collect_cylinder_polytope_contacts(ContactPair& pair) {
  const SignedDistance distance = compute_distance(pair.a, pair.pose_a, pair.b, pair.pose_b);
  if (!(distance.gap <= pair.options.reach)) return;
  CylinderOverPolytope(pair, distance).collect();
  pair.close_patch(distance.gap);
}

}  // namespace stiction
