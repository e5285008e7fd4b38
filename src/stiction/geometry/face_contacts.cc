#include "stiction/geometry/face_contacts.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "stiction/geometry/patch_reduction.h"
#include "stiction/geometry/polytope_axes.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

/// Faces that are turned further away than this from the reference face have corners that matter,
/// but no crossings: those would slide along steep edges.
constexpr double kSteepest = -0.5;  // cosine of 120°

class FaceCollector {
 public:
  FaceCollector(ContactPair& pair, const ReferenceFace& reference, const FaceOptions& options)
      : pair_(pair),
        reference_(reference),
        options_(options),
        workspace_(pair.workspace),
        held_(reference.is_on_a ? pair.polytope_a() : pair.polytope_b()),
        incident_(reference.is_on_a ? pair.polytope_b() : pair.polytope_a()) {
    const Pose& pose = reference.is_on_a ? pair.pose_a : pair.pose_b;
    const Pose& incident_pose = reference.is_on_a ? pair.pose_b : pair.pose_a;
    const Polytope::Face& face = held_.faces()[reference.face];
    const Vector3d along = face.normal.unitOrthogonal();
    axes_.row(0) = along;
    axes_.row(1) = face.normal.cross(along);
    axes_.row(2) = face.normal;
    origin_ = held_.vertices()[held_.vertices_of(reference.face)[0]];
    turn_W_ = pose.rotation * axes_.transpose();
    shift_W_ = pose * origin_;
    turn_ = turn_W_.transpose() * incident_pose.rotation;
    // Difference of positions first: both may be far from the origin of the world.
    shift_ = turn_W_.transpose() * (incident_pose.position - pose.position) - axes_ * origin_;
    normal_W_ = reference.is_on_a ? Vector3d(-turn_W_.col(2)) : Vector3d(turn_W_.col(2));
    lay_reference();
    place_vertices();
  }

  void collect() {
    append_vertices();
    append_faces();
    if (pair_.options.reduces && has_crossings_ && !options_.skips_known) {
      reduce_flat_patch(pair_.out, first_, 1e-3 * pair_.tie, workspace_);
    }
    if (options_.beside > 0 && static_cast<int>(pair_.out.candidates.size()) == first_)
      append_beside();
  }

 private:
  void lay_reference() {
    ConvexPolygon& polygon = workspace_.reference;
    polygon.clear();
    for (const int v : held_.vertices_of(reference_.face)) {
      polygon.add((axes_ * (held_.vertices()[v] - origin_)).head<2>());
    }
    polygon.finish();
  }

  Vector3d over_face(const Vector3d& point) const { return turn_ * point + shift_; }
  /// Every vertex of a box belongs to three edges and three faces: it is laid once.
  void place_vertices() {
    workspace_.all_places.clear();
    if (incident_.vertices().size() > kFewVertices) return;
    for (const Vector3d& vertex : incident_.vertices()) {
      workspace_.all_places.push_back(over_face(vertex));
    }
  }
  Vector3d place_of(int vertex) const {
    return workspace_.all_places.empty() ? over_face(incident_.vertices()[vertex])
                                         : workspace_.all_places[vertex];
  }
  double height_of(int vertex) const {
    return workspace_.all_places.empty()
               ? turn_.row(2).dot(incident_.vertices()[vertex]) + shift_.z()
               : workspace_.all_places[vertex].z();
  }
  bool is_near(double height) const {
    return height <= pair_.options.reach && height >= options_.lowest;
  }

  std::uint64_t id_of(FeatureCode incident, FeatureCode held) const {
    const std::uint64_t id =
        reference_.is_on_a ? make_contact_id(held, incident) : make_contact_id(incident, held);
    return options_.is_alternative ? id | kAlternativeBit : id;
  }

  /// `place` over the face is `point` of the incident polytope.
  void append(const Vector3d& place, const Vector3d& point, FeatureCode incident,
              FeatureCode held) {
    if (!is_near(place.z())) return;
    const std::uint64_t id = id_of(incident, held);
    if (options_.skips_known && pair_.has(id)) return;
    ContactCandidate& candidate = pair_.out.candidates.emplace_back();
    ContactFeature& corner = reference_.is_on_a ? candidate.b : candidate.a;
    ContactFeature& plane = reference_.is_on_a ? candidate.a : candidate.b;
    corner.kind = ContactFeature::Kind::kPoint;
    corner.point = point;
    plane.kind = ContactFeature::Kind::kPlane;
    plane.point = origin_;
    plane.direction = held_.faces()[reference_.face].normal;
    candidate.id = id;
    candidate.gap = place.z();
    candidate.normal = normal_W_;
    candidate.point = shift_W_ + turn_W_ * Vector3d(place.x(), place.y(), place.z() / 2);
  }

  /// Whether a vertex is over the reference face; of few of them each is asked once.
  bool is_inside(int vertex, const Vector3d& place) {
    if (workspace_.all_places.empty())
      return workspace_.reference.contains(place.head<2>(), pair_.snap);
    Answer& known = inside_[vertex];
    if (known == Answer::kUnknown)
      known =
          workspace_.reference.contains(place.head<2>(), pair_.snap) ? Answer::kYes : Answer::kNo;
    return known == Answer::kYes;
  }

  void append_vertex(int vertex) {
    const Vector3d place = place_of(vertex);
    if (!is_near(place.z())) return;
    if (is_inside(vertex, place)) {
      append(place, incident_.vertices()[vertex], vertex_code(vertex), face_code(reference_.face));
    }
  }

  /// The vertices of a convex body below a height are connected by edges.
  void append_vertices() {
    const Vector3d down = -turn_.row(2).transpose();
    visit_connected_vertices(incident_, down, workspace_, [this](int vertex) {
      if (!(height_of(vertex) <= pair_.options.reach)) return false;
      append_vertex(vertex);
      return true;
    });
  }

  /// From the most parallel face on to neighbours over edges that come within reach.
  void append_faces() {
    std::vector<int>& queue = workspace_.queue;
    std::vector<std::uint8_t>& marks = workspace_.marks;  // 1: in the queue, 2: done
    marks.assign(incident_.faces().size(), 0);
    queue.assign(1, incident_.find_aligned_face(-turn_.row(2).transpose()));
    marks[queue[0]] = 1;
    const Vector3d up = turn_.row(2).transpose();
    for (std::size_t k = 0; k < queue.size(); ++k) {
      const int face = queue[k];
      append_face(face);
      marks[face] = 2;
      for (const int e : incident_.edges_of(face)) {
        const int other = incident_.other_face(e, face);
        if (marks[other] || up.dot(incident_.faces()[other].normal) > kSteepest) continue;
        const Polytope::Edge& edge = incident_.edges()[e];
        if (!(std::min(height_of(edge.tail), height_of(edge.head)) <= pair_.options.reach)) {
          continue;
        }
        marks[other] = 1;
        queue.push_back(other);
      }
    }
  }

  void append_face(int face) {
    const std::span<const int> loop = incident_.vertices_of(face);
    std::vector<Vector3d>& places = workspace_.places;
    std::vector<std::uint8_t>& inside = workspace_.inside;
    places.clear();
    double lowest = std::numeric_limits<double>::infinity();
    for (const int v : loop) {
      places.push_back(place_of(v));
      lowest = std::min(lowest, places.back().z());
    }
    if (!(lowest <= pair_.options.reach)) return;
    inside.clear();
    bool are_inside = true;
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const bool is = is_inside(loop[k], places[k]);
      inside.push_back(is);
      are_inside = are_inside && is;
    }
    // Then no corner of the reference face is within, unless at the same place as one of these.
    if (are_inside) return;
    append_crossings(face);
    append_held_corners(face);
  }

  void append_crossings(int face) {
    const std::span<const int> edges = incident_.edges_of(face);
    const int count = static_cast<int>(edges.size());
    const std::vector<Vector3d>& places = workspace_.places;
    for (int k = 0; k < count; ++k) {
      const int next = k + 1 == count ? 0 : k + 1;
      if (workspace_.inside[k] && workspace_.inside[next]) continue;
      if (!(std::min(places[k].z(), places[next].z()) <= pair_.options.reach)) continue;
      if (workspace_.marks[incident_.other_face(edges[k], face)] == 2) continue;
      const ClippedSegment part =
          workspace_.reference.clip(places[k].head<2>(), places[next].head<2>(), 0, pair_.snap);
      if (!part.hits) continue;
      const double length = (places[next] - places[k]).head<2>().norm();
      // A crossing next to a corner that is inside, or to another crossing, is the same place.
      const double least = pair_.snap / std::max(length, pair_.snap);
      const bool has_start = !workspace_.inside[k] && part.start_side >= 0 &&
                             !(workspace_.inside[next] && part.start >= 1 - least);
      const bool has_end = !workspace_.inside[next] && part.end_side >= 0 &&
                           !(workspace_.inside[k] && part.end <= least) &&
                           !(has_start && part.end - part.start <= least);
      if (has_start) append_crossing(face, k, next, part.start, part.start_side);
      if (has_end) append_crossing(face, k, next, part.end, part.end_side);
    }
  }

  void append_crossing(int face, int k, int next, double t, int side) {
    const ConvexPolygon& polygon = workspace_.reference;
    const Vector3d& from = workspace_.places[k];
    const Vector3d place = from + t * (workspace_.places[next] - from);
    if (!is_near(place.z())) return;
    if (is_close(place, polygon.vertex(side)) ||
        is_close(place, polygon.vertex(polygon.next(side)))) {
      return;  // the corner of the reference face stands for it
    }
    const std::span<const int> loop = incident_.vertices_of(face);
    const Vector3d &tail = incident_.vertices()[loop[k]], &head = incident_.vertices()[loop[next]];
    has_crossings_ = true;
    append(place, tail + t * (head - tail), edge_code(incident_.edges_of(face)[k]),
           options_.is_alternative ? rim_code(held_, reference_.face, side)
                                   : edge_code(held_.edges_of(reference_.face)[side]));
  }

  bool is_close(const Vector3d& place, const Vector2d& corner) const {
    return (place.head<2>() - corner).squaredNorm() <= pair_.snap * pair_.snap;
  }

  /// The face in workspace_.places as a polygon; seen through, it runs the other way round.
  void lay_incident() {
    const std::vector<Vector3d>& places = workspace_.places;
    for (std::size_t k = places.size(); k-- > 0;) {
      workspace_.incident.add(places[k].head<2>());
    }
    workspace_.incident.finish();
  }

  void append_held_corners(int face) {
    ConvexPolygon& polygon = workspace_.incident;
    polygon.clear();
    const std::vector<Vector3d>& places = workspace_.places;
    const Vector3d normal = turn_ * incident_.faces()[face].normal;
    const std::span<const int> corners = held_.vertices_of(reference_.face);
    for (int k = 0; k < workspace_.reference.size(); ++k) {
      const Vector2d& corner = workspace_.reference.vertex(k);
      const double height =
          places[0].z() - normal.head<2>().dot(corner - places[0].head<2>()) / normal.z();
      if (!is_near(height)) continue;  // most corners, before anything is laid out
      if (polygon.size() == 0) lay_incident();
      if (!polygon.contains(corner, pair_.snap * (1 + 1e-9))) continue;
      if (polygon.has_vertex_near(corner, pair_.snap)) continue;  // and that is over the face
      const Vector3d place(corner.x(), corner.y(), height);
      has_crossings_ = true;
      append(
          place, turn_.transpose() * (place - shift_), face_code(face),
          options_.is_alternative ? rim_code(held_, reference_.face, k) : vertex_code(corners[k]));
    }
  }

  /// Vertices that are not over the face but near, and of edges that pass by the places next to its
  /// corners.
  void append_beside() {
    const ConvexPolygon& polygon = workspace_.reference;
    visit_connected_vertices(incident_, -turn_.row(2).transpose(), workspace_, [&](int vertex) {
      const Vector3d place = place_of(vertex);
      if (!(place.z() <= pair_.options.reach)) return false;
      if (!is_inside(vertex, place) && polygon.distance_to(place.head<2>()) <= options_.beside)
        append(place, incident_.vertices()[vertex], vertex_code(vertex),
               face_code(reference_.face));
      return true;
    });
    for (int e = 0; e < static_cast<int>(incident_.edges().size()); ++e) append_edge_beside(e);
  }

  void append_edge_beside(int e) {
    const ConvexPolygon& polygon = workspace_.reference;
    const Polytope::Edge& edge = incident_.edges()[e];
    const Vector3d from = place_of(edge.tail), to = place_of(edge.head);
    if (!(std::min(from.z(), to.z()) <= pair_.options.reach)) return;
    const Vector2d p = from.head<2>(), q = to.head<2>();
    if (polygon.clip(p, q, 0, pair_.snap).hits) return;
    const Vector3d &tail = incident_.vertices()[edge.tail], &head = incident_.vertices()[edge.head];
    polygon.visit_passed(p, q, options_.beside, [&](int k, double t) {
      append(from + t * (to - from), tail + t * (head - tail), edge_code(e),
             rim_code(held_, reference_.face, k));
    });
  }

  enum class Answer : char { kUnknown, kNo, kYes };

  ContactPair& pair_;
  const ReferenceFace& reference_;
  const FaceOptions& options_;
  ContactWorkspace& workspace_;
  const Polytope &held_, &incident_;  // that of the reference face, and the other
  Matrix3d axes_, turn_, turn_W_;     // face axes in the frame of held_; from incident_ and to W
  Vector3d origin_, shift_, shift_W_, normal_W_;
  int first_ = static_cast<int>(pair_.out.candidates.size());
  bool has_crossings_ = false;
  std::array<Answer, kFewVertices> inside_ = {};  // by vertex, where all are placed
};

}  // namespace

void append_face_contacts(ContactPair& pair, const ReferenceFace& reference,
                          const FaceOptions& options) {
  FaceCollector(pair, reference, options).collect();
}

}  // namespace stiction
