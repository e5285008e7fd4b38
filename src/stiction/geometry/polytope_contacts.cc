#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/face_contacts.h"
#include "stiction/geometry/polytope_axes.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

struct EdgePair {
  int edge_a = -1, edge_b = -1;
};

Vector3d edge_vector(const Polytope& polytope, int edge) {
  const Polytope::Edge& e = polytope.edges()[edge];
  return polytope.vertices()[e.head] - polytope.vertices()[e.tail];
}

/// What is nearest to what along a known normal, of polytopes a and b. Everything in the frame of
/// b.
class NearestFeatures {
 public:
  NearestFeatures(ContactPair& pair, const Vector3d& normal_W)
      : pair_(pair),
        a_(pair.polytope_a()),
        b_(pair.polytope_b()),
        a_in_b_(inverse(pair.pose_b) * pair.pose_a),
        normal_(pair.pose_b.rotation.transpose() * normal_W),
        normal_a_(pair.pose_a.rotation.transpose() * normal_W),
        vertex_a_(a_.find_support(-normal_a_)),
        vertex_b_(b_.find_support(normal_)) {}

  /// The crossing of two edges whose common perpendicular is the normal.
  bool append_crossing() {
    EdgePair best;
    double best_cosine = 1 - 1e-9;
    for (const int i : a_.edges_at(vertex_a_)) {
      for (const int j : b_.edges_at(vertex_b_)) {
        const Vector3d cross = direction_of_a(i).cross(b_.edges()[j].direction);
        const double sine = cross.norm();
        if (!(sine > 1e-6)) continue;
        const double cosine = std::abs(cross.dot(normal_)) / sine;
        if (cosine > best_cosine && crosses(i, j)) {
          best_cosine = cosine;
          best = {i, j};
        }
      }
    }
    return best.edge_a >= 0 && append_crossing(best);
  }

  /// And the ends of what they have in common, where it may be anywhere along both in the step.
  bool append_crossing(const EdgePair& edges) {
    const Polytope::Edge &i = a_.edges()[edges.edge_a], &j = b_.edges()[edges.edge_b];
    const Vector3d cross = direction_of_a(edges.edge_a).cross(j.direction);
    const bool crosses =
        pair_.emit(make_line_feature(a_.vertices()[i.tail], i.direction),
                   make_line_feature(b_.vertices()[j.tail], j.direction),
                   make_contact_id(edge_code(edges.edge_a), edge_code(edges.edge_b)),
                   cross.dot(normal_) >= 0 ? 1 : -1);
    if (crosses && are_nearly_parallel(edges)) append_overlap(edges);
    return crosses;
  }

  /// Whether the feet of the common perpendicular lie on both edges.
  bool crosses(int edge_a, int edge_b) const {
    const Vector3d u = a_in_b_.rotation * edge_vector(a_, edge_a), v = edge_vector(b_, edge_b);
    const Vector3d offset =
        a_in_b_ * a_.vertices()[a_.edges()[edge_a].tail] - b_.vertices()[b_.edges()[edge_b].tail];
    const Vector3d cross = u.cross(v);
    const double squared = cross.squaredNorm();
    const double s = v.cross(offset).dot(cross), t = u.cross(offset).dot(cross);
    const double slack_s = pair_.snap / u.norm() * squared,
                 slack_t = pair_.snap / v.norm() * squared;
    return s >= -slack_s && s <= squared + slack_s && t >= -slack_t && t <= squared + slack_t;
  }

  /// Edges at the nearest corners that may come to lie along each other in the step.
  void append_overlap_of_parallels() {
    for (const int i : a_.edges_at(vertex_a_)) {
      for (const int j : b_.edges_at(vertex_b_)) {
        if (are_nearly_parallel({i, j})) append_overlap({i, j});
      }
    }
  }

  /// The same of the edges at a place on the border of a face.
  void append_overlap_at(const ReferenceFace& reference, const Vector3d& place_W) {
    const Vector3d place_a = inverse(pair_.pose_a) * place_W,
                   place_b = inverse(pair_.pose_b) * place_W;
    const Polytope& held = reference.is_on_a ? a_ : b_;
    const Polytope& incident = reference.is_on_a ? b_ : a_;
    for (const int i : held.edges_of(reference.face)) {
      if (!passes(held, i, reference.is_on_a ? place_a : place_b)) continue;
      for (int j = 0; j < static_cast<int>(incident.edges().size()); ++j) {
        if (!passes(incident, j, reference.is_on_a ? place_b : place_a)) continue;
        const EdgePair edges = reference.is_on_a ? EdgePair{i, j} : EdgePair{j, i};
        if (are_nearly_parallel(edges)) append_overlap(edges);
      }
    }
  }

  /// Corners and parallel edges; `point_a` and `point_b` are the nearest points, in the world.
  void append_others(const Vector3d& point_a, const Vector3d& point_b, double gap) {
    append_overlap_of_parallels();
    if (pair_.smallest_gap() <= gap + pair_.tie) return;
    const int edge_a = find_level_edge(a_, vertex_a_, normal_a_);
    const int edge_b = find_level_edge(b_, vertex_b_, normal_);
    const Vector3d at_a = inverse(pair_.pose_a) * point_a, at_b = inverse(pair_.pose_b) * point_b;
    const FeatureCode code_a = edge_a >= 0 ? edge_code(edge_a) : vertex_code(vertex_a_);
    const FeatureCode code_b = edge_b >= 0 ? edge_code(edge_b) : vertex_code(vertex_b_);
    const std::uint64_t id = make_contact_id(code_a, code_b);
    const bool holds_plane_in_a = edge_a >= 0 && edge_b < 0;
    if (holds_plane_in_a) {
      pair_.emit(make_plane_feature(at_a, -normal_a_), make_point_feature(at_b), id);
    } else {
      pair_.emit(make_point_feature(at_a), make_plane_feature(at_b, normal_), id);
    }
  }

 private:
  Vector3d direction_of_a(int edge) const { return a_in_b_.rotation * a_.edges()[edge].direction; }

  /// An edge at the vertex that is orthogonal to the normal.
  int find_level_edge(const Polytope& polytope, int vertex, const Vector3d& normal) const {
    int best = -1;
    double lowest = 4 * pair_.tie;
    for (const int e : polytope.edges_at(vertex)) {
      const double rise = std::abs(edge_vector(polytope, e).dot(normal));
      if (rise < lowest) {
        lowest = rise;
        best = e;
      }
    }
    return best;
  }

  double shorter_of(const EdgePair& edges) const {
    return std::min(edge_vector(a_, edges.edge_a).norm(), edge_vector(b_, edges.edge_b).norm());
  }

  /// [m] By which edges that are nearly parallel may be beside each other, seen along the normal,
  /// and still be touched in the step.
  double most_beside(const EdgePair& edges) const {
    return std::max(pair_.snap, std::min(pair_.options.reach, 0.1 * shorter_of(edges)));
  }

  bool are_nearly_parallel(const EdgePair& edges) const {
    const Vector3d cross = direction_of_a(edges.edge_a).cross(b_.edges()[edges.edge_b].direction);
    return cross.norm() * shorter_of(edges) <= most_beside(edges);
  }

  /// An edge passes a place by no more than the reach.
  bool passes(const Polytope& polytope, int edge, const Vector3d& place) const {
    const Polytope::Edge& e = polytope.edges()[edge];
    const Vector3d &tail = polytope.vertices()[e.tail], &head = polytope.vertices()[e.head];
    const Vector3d way = place - tail;
    const double along = e.direction.dot(way), reach = std::max(pair_.snap, pair_.options.reach);
    return along >= -reach && along <= e.direction.dot(head - tail) + reach &&
           (way - along * e.direction).squaredNorm() <= reach * reach;
  }

  /// A corner of one over an edge of the other, where no contact is yet.
  void append_end(const ContactFeature& on_a, const ContactFeature& on_b, std::uint64_t id,
                  double beside) {
    const Vector3d way = a_in_b_ * on_a.point - on_b.point;
    if ((way - way.dot(normal_) * normal_).norm() > beside) return;
    const Vector3d place = pair_.pose_b * Vector3d(on_b.point + way / 2);
    const double same = pair_.snap;
    const auto begin = pair_.out.candidates.begin() + pair_.first;
    const bool is_known =
        std::any_of(begin, pair_.out.candidates.end(), [&](const ContactCandidate& item) {
          return item.id == id || (item.point - place).squaredNorm() <= same * same;
        });
    if (!is_known) pair_.emit(on_a, on_b, id);
  }

  /// Both ends of what parallel edges have in common, each at a corner of one of them.
  void append_overlap(const EdgePair& edges) {
    const Polytope::Edge &i = a_.edges()[edges.edge_a], &j = b_.edges()[edges.edge_b];
    const Vector3d tail_a = a_in_b_ * a_.vertices()[i.tail], tail_b = b_.vertices()[j.tail];
    const double length_a = edge_vector(a_, edges.edge_a).norm();
    const double length_b = edge_vector(b_, edges.edge_b).norm();
    const double beside = most_beside(edges);
    for (const int v : {i.tail, i.head}) {
      const double along = j.direction.dot(a_in_b_ * a_.vertices()[v] - tail_b);
      if (along < -pair_.snap || along > length_b + pair_.snap) continue;
      append_end(make_point_feature(a_.vertices()[v]),
                 make_plane_feature(tail_b + along * j.direction, normal_),
                 make_contact_id(vertex_code(v), edge_code(edges.edge_b)), beside);
    }
    const Vector3d direction = direction_of_a(edges.edge_a);
    for (const int v : {j.tail, j.head}) {
      const double along = direction.dot(b_.vertices()[v] - tail_a);
      if (along <= pair_.snap || along >= length_a - pair_.snap) continue;
      const Vector3d foot = a_.vertices()[i.tail] + along * i.direction;
      append_end(make_plane_feature(foot, -normal_a_), make_point_feature(b_.vertices()[v]),
                 make_contact_id(edge_code(edges.edge_a), vertex_code(v)), beside);
    }
  }

  ContactPair& pair_;
  const Polytope &a_, &b_;
  Pose a_in_b_;
  Vector3d normal_, normal_a_;  // in the frames of b and a
  int vertex_a_, vertex_b_;     // furthest towards the other
};

/// A corner over the border of a face, and nothing else: what runs along the border from there may
/// be beside it by less than the reach.
void append_beside_border(ContactPair& pair, const ReferenceFace& reference) {
  const auto begin = pair.out.candidates.begin() + pair.first;
  const Vector3d place = begin->point, normal = begin->normal;
  const bool is_one_place = std::all_of(begin, pair.out.candidates.end(), [&](const auto& item) {
    return (item.point - place).squaredNorm() <= pair.snap * pair.snap;
  });
  if (!is_one_place) return;
  NearestFeatures(pair, normal).append_overlap_at(reference, place);
}

/// From the nearest points: a face if one of them has the separation, else corners and edges, and
/// with these the points of the nearest face that are not below them.
double collect_from_distance(ContactPair& pair) {
  const SignedDistance distance =
      compute_distance_within(pair.a, pair.pose_a, pair.b, pair.pose_b, pair.options.reach);
  if (!(distance.gap <= pair.options.reach)) return distance.gap;
  const ReferenceFace reference = find_reference_face(pair, distance);
  FaceOptions options{.lowest = distance.gap - pair.tie};
  if (reference.separation >= distance.gap - pair.tie) {
    append_face_contacts(pair, reference, options);
    if (pair.smallest_gap() <= distance.gap + pair.snap) {
      append_beside_border(pair, reference);
      return distance.gap;
    }
    pair.drop_candidates();
  }
  NearestFeatures nearest(pair, distance.normal);
  if (!nearest.append_crossing())
    nearest.append_others(distance.point_a, distance.point_b, distance.gap);
  options.skips_known = true;
  append_face_contacts(pair, reference, options);
  return distance.gap;
}

/// −1 if none of the edges at a corner of a box runs along the axis.
int box_edge_along(const Polytope& box, int vertex, int axis) {
  for (const int e : box.edges_at(vertex)) {
    if (std::abs(box.edges()[e].direction[axis]) > 0.5) return e;
  }
  return -1;
}

int box_corner_towards(const Vector3d& direction) {
  return (direction.x() > 0 ? 1 : 0) + (direction.y() > 0 ? 2 : 0) + (direction.z() > 0 ? 4 : 0);
}

/// By the fifteen axes; falls back to the distance where none of them is that of the nearest
/// points.
double collect_box_contacts(ContactPair& pair) {
  const BoxSeparation best = separate_boxes(pair);
  if (!(best.separation <= pair.options.reach)) return best.separation;
  FaceOptions options{.lowest = best.separation - pair.tie};
  if (best.edge_axis_a < 0) {
    append_face_contacts(pair, best.face, options);
    if (pair.smallest_gap() <= best.separation + pair.tie) {
      append_beside_border(pair, best.face);
      return best.separation;
    }
  } else {
    const Vector3d towards_a = pair.pose_b.rotation.transpose() * best.normal;
    const Vector3d towards_b = -(pair.pose_a.rotation.transpose() * best.normal);
    const EdgePair edges{
        box_edge_along(pair.polytope_a(), box_corner_towards(towards_b), best.edge_axis_a),
        box_edge_along(pair.polytope_b(), box_corner_towards(towards_a), best.edge_axis_b)};
    NearestFeatures nearest(pair, best.normal);
    if (nearest.crosses(edges.edge_a, edges.edge_b) && nearest.append_crossing(edges)) {
      options.skips_known = true;
      append_face_contacts(pair, best.face, options);
      return best.separation;
    }
  }
  pair.drop_candidates();
  return collect_from_distance(pair);
}

}  // namespace

void collect_polytope_contacts(ContactPair& pair) {
  const bool are_boxes = pair.a.kind() == ShapeKind::kBox && pair.b.kind() == ShapeKind::kBox;
  if (!are_boxes &&
      are_farther_apart(pair.a, pair.pose_a, pair.b, pair.pose_b, pair.options.reach)) {
    return;
  }
  const double gap = are_boxes ? collect_box_contacts(pair) : collect_from_distance(pair);
  if (pair.num_candidates() == 0) return;
  pair.close_patch(gap);
  if (pair.options.wants_alternatives) append_polytope_alternatives(pair, gap);
}

/// All vertices within reach. They are corners of a convex body, so that none is in the hull of the
/// others and there is nothing to reduce.
void collect_polytope_plane_contacts(ContactPair& pair) {
  const Polytope& polytope = pair.polytope_a();
  const Plane& plane = std::get<Plane>(pair.b.shape());
  const ContactFeature ground = make_plane_feature(plane.offset * plane.normal, plane.normal);
  const Vector3d normal_W = pair.pose_b.rotation * plane.normal;
  const Vector3d up = pair.pose_a.rotation.transpose() * normal_W;
  const double shift = normal_W.dot(pair.pose_a.position - pair.pose_b.position) - plane.offset;
  const auto append = [&](int v) {
    const Vector3d& vertex = polytope.vertices()[v];
    const double gap = up.dot(vertex) + shift;
    if (!(gap <= pair.options.reach)) return false;
    pair.out.candidates.push_back({.a = make_point_feature(vertex),
                                   .b = ground,
                                   .id = make_contact_id(vertex_code(v), whole()),
                                   .gap = gap,
                                   .normal = normal_W,
                                   .point = pair.pose_a * vertex - (gap / 2) * normal_W});
    return true;
  };
  visit_connected_vertices(polytope, -up, pair.workspace, append);
  pair.close_patch(pair.smallest_gap());
}

}  // namespace stiction
