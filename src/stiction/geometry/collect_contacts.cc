#include "stiction/geometry/collect_contacts.h"

#include <algorithm>
#include <limits>

#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/surface_contacts.h"

namespace stiction {
namespace {

/// Makers of candidates expect the shape of lower rank as a.
int rank_of(ShapeKind kind) {
  switch (kind) {
    case ShapeKind::kSphere:
      return 0;
    case ShapeKind::kCapsule:
      return 1;
    case ShapeKind::kCylinder:
      return 2;
    case ShapeKind::kBox:
    case ShapeKind::kConvex:
      return 3;
    case ShapeKind::kEllipsoid:
      return 4;
    case ShapeKind::kPlane:
      return 5;
    default:
      return 6;
  }
}

bool are_balls_apart(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                     const Pose& pose_b, double reach) {
  const double limit = a.bounding_radius() + b.bounding_radius() + reach;
  if (!(limit < std::numeric_limits<double>::infinity())) return false;
  const Eigen::Vector3d offset = (pose_a.position - pose_b.position) +
                                 (pose_a.rotation * a.center() - pose_b.rotation * b.center());
  return offset.squaredNorm() > limit * limit;
}

/// Distances of polytopes, spheres and capsules are known to 1e-12 of the larger size, those of
/// other curved shapes to 1e-9: that is promised. Of a shape that is much smaller such a tie would
/// be a part that counts, and nearly all distances are better: there it goes by the smaller shape,
/// but is not less than what the larger one leaves of doubles, or of a search that has ended with
/// points that fit.
double tie_of(const CollisionShape& a, const CollisionShape& b) {
  const double larger = std::max(a.size(), b.size());
  const double smaller = a.size() > 0 && b.size() > 0 ? std::min(a.size(), b.size()) : larger;
  const bool is_curved = a.kind() == ShapeKind::kCylinder || b.kind() == ShapeKind::kCylinder;
  if (is_curved) return std::min(4e-9 * larger, 4e-8 * smaller + 2e-14 * larger);
  return 1e-9 * smaller + std::min(4e-12 * larger, 4e-9 * smaller + 2e-14 * larger);
}

void collect_ordered(ContactPair& pair) {
  if (pair.a.kind() == ShapeKind::kEllipsoid || pair.b.kind() == ShapeKind::kEllipsoid) {
    collect_ellipsoid_contacts(pair);
  } else if (pair.a.kind() == ShapeKind::kSphere || pair.a.kind() == ShapeKind::kCapsule) {
    collect_rounded_contacts(pair);
  } else if (pair.a.kind() == ShapeKind::kCylinder) {
    collect_cylinder_contacts(pair);
  } else if (pair.b.kind() == ShapeKind::kPlane) {
    collect_polytope_plane_contacts(pair);
  } else {
    collect_polytope_contacts(pair);
  }
}

void collect_convex(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                    const Pose& pose_b, const ContactOptions& options, ContactWorkspace& workspace,
                    ContactList& out) {
  if (are_balls_apart(a, pose_a, b, pose_b, options.reach)) return;
  const double tie = tie_of(a, b);
  ContactPair pair{.a = a,
                   .pose_a = pose_a,
                   .b = b,
                   .pose_b = pose_b,
                   .options = options,
                   .workspace = workspace,
                   .out = out,
                   .tie = tie,
                   .snap = 10 * tie,
                   .first = static_cast<int>(out.candidates.size())};
  const std::size_t num_patches = out.patches.size();
  collect_ordered(pair);
  if (out.patches.size() > num_patches) ++out.num_groups;
}

}  // namespace

void ContactList::clear() {
  candidates.clear();
  patches.clear();
  num_reduced = 0;
  num_groups = 0;
}

void ContactWorkspace::reserve(int num_corners) {
  reference.reserve(num_corners);
  incident.reserve(num_corners);
  const auto size = static_cast<std::size_t>(num_corners);
  for (std::vector<Eigen::Vector3d>* items : {&places, &all_places}) items->reserve(size);
  for (std::vector<int>* items : {&order, &hull, &queue}) items->reserve(size);
  for (std::vector<std::uint8_t>* items : {&marks, &inside}) items->reserve(size);
}

void collect_contacts(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                      const Pose& pose_b, const ContactOptions& options,
                      ContactWorkspace& workspace, ContactList& out) {
  const bool has_surface = !a.is_convex() || !b.is_convex();
  if (a.kind() == ShapeKind::kPlane && b.kind() == ShapeKind::kPlane) return;
  if (!a.is_convex() && !b.is_convex()) return;
  const int rank_a = rank_of(a.kind()), rank_b = rank_of(b.kind());
  const bool swaps = rank_a > rank_b || (rank_a == rank_b && precedes(b, a));
  const std::size_t first = out.candidates.size();
  const auto collect = has_surface ? collect_surface_contacts : collect_convex;
  if (!swaps) {
    collect(a, pose_a, b, pose_b, options, workspace, out);
    return;
  }
  collect(b, pose_b, a, pose_a, options, workspace, out);
  for (std::size_t k = first; k < out.candidates.size(); ++k) {
    out.candidates[k] = swapped(out.candidates[k]);
  }
}

}  // namespace stiction
