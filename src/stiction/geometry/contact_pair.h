// What the makers of contact candidates for two convex shapes share. Internal to this room.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/contact_candidate.h"

namespace stiction {

/// One call of collect_contacts.
struct ContactPair {
  const CollisionShape& a;
  const Pose& pose_a;
  const CollisionShape& b;
  const Pose& pose_b;
  const ContactOptions& options;
  ContactWorkspace& workspace;
  ContactList& out;
  double tie = 0;   // [m] separations that differ by less are equal
  double snap = 0;  // [m] places that differ by less are the same
  int first = 0;    // candidate of this pair

  /// Of shapes that have one. The vertices, edges and faces of one box among thousands have left
  /// the cache when it is met again, and are a hundred times the three numbers they follow from:
  /// boxes are laid out in the workspace, where the last one was.
  const Polytope& polytope_a() const { return polytope_of(a, workspace.box_a); }
  const Polytope& polytope_b() const { return polytope_of(b, workspace.box_b); }

  int num_candidates() const { return static_cast<int>(out.candidates.size()) - first; }
  void drop_candidates() { out.candidates.resize(first); }
  bool has(std::uint64_t id) const {
    return std::any_of(out.candidates.begin() + first, out.candidates.end(),
                       [id](const ContactCandidate& candidate) { return candidate.id == id; });
  }
  /// A crossing of lines replaces what stands for the same pair of features.
  void drop(std::uint64_t id) {
    const auto is_it = [id](const ContactCandidate& candidate) { return candidate.id == id; };
    out.candidates.erase(
        std::remove_if(out.candidates.begin() + first, out.candidates.end(), is_it),
        out.candidates.end());
  }
  /// For a flat side that does not part the shapes: a contact with it at the nearest place, on its
  /// border, has not the direction of the nearest points. It would let the shapes overlap, and
  /// brake what slides along.
  void drop_askew(const Eigen::Vector3d& nearest, const Eigen::Vector3d& normal) {
    constexpr double kSlightCosine = 0.9987;  // 3°: here the side serves for that direction
    const double apart = 2 * options.reach;
    const auto is_askew = [&](const ContactCandidate& candidate) {
      return candidate.normal.dot(normal) < kSlightCosine &&
             (candidate.point - nearest).squaredNorm() <= apart * apart;
    };
    out.candidates.erase(
        std::remove_if(out.candidates.begin() + first, out.candidates.end(), is_askew),
        out.candidates.end());
  }
  double smallest_gap() const {
    double smallest = std::numeric_limits<double>::infinity();
    for (std::size_t k = first; k < out.candidates.size(); ++k) {
      smallest = std::min(smallest, out.candidates[k].gap);
    }
    return smallest;
  }
  /// Evaluates the gap and appends the candidate if it is within reach and not below `lowest`.
  bool emit(const ContactFeature& feature_a, const ContactFeature& feature_b, std::uint64_t id,
            double side = 1, double lowest = -std::numeric_limits<double>::infinity()) {
    ContactCandidate candidate{.a = feature_a, .b = feature_b, .side = side, .id = id};
    const Touch touch = evaluate_touch(candidate, a, pose_a, b, pose_b);
    if (!(touch.gap <= options.reach) || touch.gap < lowest) return false;
    fix_crossing(touch, pose_a, pose_b, candidate);
    candidate.gap = touch.gap;
    candidate.normal = touch.normal;
    candidate.point = touch.point;
    out.candidates.push_back(candidate);
    return true;
  }
  /// The candidates from first on, if there are any, are the first patch of a group.
  void close_patch(double separation) {
    if (num_candidates() == 0) return;
    out.patches.push_back({first, num_candidates(), separation, out.num_groups});
  }
  /// The candidates from `start` on, if there are any, are another patch of that group.
  void close_alternative(int start, double separation) {
    const int count = static_cast<int>(out.candidates.size()) - start;
    if (count > 0) out.patches.push_back({start, count, separation, out.num_groups});
  }

 private:
  static const Polytope& polytope_of(const CollisionShape& shape, Polytope& box) {
    if (shape.kind() != ShapeKind::kBox) return *shape.polytope();
    box.resize_box(shape.half());
    return box;
  }
};

constexpr FeatureCode whole() { return {FeatureCode::Kind::kWhole, 0}; }
constexpr FeatureCode vertex_code(int index) {
  return {FeatureCode::Kind::kVertex, static_cast<std::uint32_t>(index)};
}
constexpr FeatureCode edge_code(int index) {
  return {FeatureCode::Kind::kEdge, static_cast<std::uint32_t>(index)};
}
constexpr FeatureCode face_code(int index) {
  return {FeatureCode::Kind::kFace, static_cast<std::uint32_t>(index)};
}
/// Side k or corner k of a face, told apart from the same edge or corner of a neighbour: of
/// alternatives, which may hold both faces.
inline FeatureCode rim_code(const Polytope& polytope, int face, int k) {
  return {FeatureCode::Kind::kOther, static_cast<std::uint32_t>(polytope.faces()[face].first + k)};
}

/// Box and convex against each other.
void collect_polytope_contacts(ContactPair& pair);
/// a has a polytope, b is a plane.
void collect_polytope_plane_contacts(ContactPair& pair);
/// a is a sphere or a capsule; b is anything convex but an ellipsoid.
void collect_rounded_contacts(ContactPair& pair);
/// a is a cylinder; b is a cylinder, a box, a convex or a plane.
void collect_cylinder_contacts(ContactPair& pair);
/// One of both is an ellipsoid: b, unless that is a plane.
void collect_ellipsoid_contacts(ContactPair& pair);

}  // namespace stiction
