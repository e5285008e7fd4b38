#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/geometry/face_contacts.h"
#include "stiction/geometry/polytope_axes.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Directions closer than this (angle 4.5e-5) are one axis: parallel faces of a and b.
constexpr double kSameAxis = 1 - 1e-9;

class Alternatives {
 public:
  Alternatives(ContactPair& pair, double gap)
      : pair_(pair),
        a_(pair.polytope_a()),
        b_(pair.polytope_b()),
        b_in_a_(inverse(pair.pose_a) * pair.pose_b),
        least_(gap - 2 * pair.options.reach),
        first_patch_(pair.out.patches.size() - 1) {
    const ContactCandidate* nearest = &pair.out.candidates[pair.first];
    for (int k = 0; k < pair.num_candidates(); ++k) {
      const ContactCandidate& candidate = pair.out.candidates[pair.first + k];
      if (candidate.gap < nearest->gap) nearest = &candidate;
    }
    // A point that is at most this far from both shapes bounds the separation of every axis.
    slack_ = std::abs(nearest->gap);
    place_ = inverse(pair.pose_a) * nearest->point;
  }

  void append() {
    append_faces(true);
    append_faces(false);
    append_edges();
  }

 private:
  void append_faces(bool on_a) {
    const Polytope &own = on_a ? a_ : b_, &other = on_a ? b_ : a_;
    const Pose other_in_own = on_a ? b_in_a_ : inverse(b_in_a_);
    const Vector3d place = on_a ? place_ : inverse(b_in_a_) * place_;
    const Pose& pose = on_a ? pair_.pose_a : pair_.pose_b;
    for (int f = 0; f < static_cast<int>(own.faces().size()); ++f) {
      const Polytope::Face& face = own.faces()[f];
      if (face.normal.dot(place) - face.offset + slack_ < least_) continue;
      const Vector3d down = -(other_in_own.rotation.transpose() * face.normal);
      const Vector3d lowest = other_in_own * other.vertices()[other.find_support(down)];
      const double separation = face.normal.dot(lowest) - face.offset;
      const Vector3d out = pose.rotation * face.normal;
      if (separation < least_ || is_known(on_a ? Vector3d(-out) : out)) continue;
      const int start = static_cast<int>(pair_.out.candidates.size());
      // Clipped like the first patch. If nothing is over the face yet, it may be within the step;
      // what cannot be is no contact, however near it is to the plane.
      append_face_contacts(pair_, {on_a, f, separation},
                           {.is_alternative = true, .beside = pair_.options.reach});
      pair_.close_alternative(start, separation);
    }
  }

  /// Whether a patch of this group has the normal already.
  bool is_known(const Vector3d& normal) const {
    for (std::size_t k = first_patch_; k < pair_.out.patches.size(); ++k) {
      const ContactPatch& patch = pair_.out.patches[k];
      for (int c = patch.first; c < patch.first + patch.count; ++c) {
        if (pair_.out.candidates[c].normal.dot(normal) > kSameAxis) return true;
      }
    }
    return false;
  }

  struct EdgeWedge {
    Vector3d tail, direction;
    double length = 0;               // [m]
    Vector3d into_left, into_right;  // along the two faces, away from the edge
    double height = 0;  // [m] largest n·(place − edge) for n between the two normals
  };

  /// In the frame of a.
  static EdgeWedge make_wedge(const Polytope& polytope, int e, const Pose& pose,
                              const Vector3d& place) {
    const Polytope::Edge& edge = polytope.edges()[e];
    EdgeWedge wedge;
    wedge.tail = pose * polytope.vertices()[edge.tail];
    wedge.direction = pose.rotation * edge.direction;
    wedge.length =
        edge.direction.dot(polytope.vertices()[edge.head] - polytope.vertices()[edge.tail]);
    const Vector3d left = pose.rotation * polytope.faces()[edge.left].normal;
    const Vector3d right = pose.rotation * polytope.faces()[edge.right].normal;
    wedge.into_left = left.cross(wedge.direction);
    wedge.into_right = wedge.direction.cross(right);
    const Vector3d way = place - wedge.tail;
    if (wedge.into_left.dot(way) <= 0 && wedge.into_right.dot(way) <= 0) {
      wedge.height = wedge.direction.cross(way).norm();
    } else {
      wedge.height = std::max(left.dot(way), right.dot(way));
    }
    return wedge;
  }

  void append_edges() {
    std::vector<int>&edges_a = pair_.workspace.order, &edges_b = pair_.workspace.hull;
    collect_near_edges(a_, Pose{}, edges_a);
    collect_near_edges(b_, b_in_a_, edges_b);
    for (const int i : edges_a) {
      const EdgeWedge wedge_a = make_wedge(a_, i, Pose{}, place_);
      for (const int j : edges_b) {
        append_edge_pair(i, wedge_a, j, make_wedge(b_, j, b_in_a_, place_));
      }
    }
  }

  void collect_near_edges(const Polytope& polytope, const Pose& pose, std::vector<int>& edges) {
    edges.clear();
    for (int e = 0; e < static_cast<int>(polytope.edges().size()); ++e) {
      if (make_wedge(polytope, e, pose, place_).height + slack_ >= least_) edges.push_back(e);
    }
  }

  /// Whether two lines are nearest to each other within both edges, or no further beyond their ends
  /// than the reach. That place moves along them by 1/sin of their angle: where nearly parallel
  /// edges may cross is left to the next step.
  bool crosses_near(const EdgeWedge& a, const EdgeWedge& b, const Vector3d& cross,
                    double sine) const {
    const Vector3d way = b.tail - a.tail;
    const double along_a = way.cross(b.direction).dot(cross) / (sine * sine),
                 along_b = way.cross(a.direction).dot(cross) / (sine * sine);
    const double margin = pair_.options.reach;
    return along_a >= -margin && along_a <= a.length + margin && along_b >= -margin &&
           along_b <= b.length + margin;
  }

  /// The common perpendicular, where it is a normal of both edges and lies near both.
  void append_edge_pair(int i, const EdgeWedge& a, int j, const EdgeWedge& b) {
    const Vector3d cross = a.direction.cross(b.direction);
    const double sine = cross.norm();
    if (!(sine > 1e-6)) return;
    Vector3d out = cross / sine;  // of a
    if (a.into_left.dot(out) > 0) out = -out;
    if (a.into_left.dot(out) > 0 || a.into_right.dot(out) > 0) return;
    if (b.into_left.dot(out) < 0 || b.into_right.dot(out) < 0) return;
    if (!crosses_near(a, b, cross, sine)) return;
    const double separation = out.dot(b.tail - a.tail);
    if (separation < least_ || is_known(-(pair_.pose_a.rotation * out))) return;
    const Polytope::Edge &edge_a = a_.edges()[i], &edge_b = b_.edges()[j];
    const int start = static_cast<int>(pair_.out.candidates.size());
    pair_.emit(make_line_feature(a_.vertices()[edge_a.tail], edge_a.direction),
               make_line_feature(b_.vertices()[edge_b.tail], edge_b.direction),
               make_contact_id(edge_code(i), edge_code(j)) | kAlternativeBit,
               cross.dot(out) > 0 ? -1 : 1);
    pair_.close_alternative(start, separation);
  }

  ContactPair& pair_;
  const Polytope &a_, &b_;
  Pose b_in_a_;
  double least_;  // [m] separation of an axis that may win
  std::size_t first_patch_;
  double slack_ = 0;
  Vector3d place_;  // in the frame of a
};

}  // namespace

void append_polytope_alternatives(ContactPair& pair, double gap) {
  Alternatives(pair, gap).append();
}

}  // namespace stiction
