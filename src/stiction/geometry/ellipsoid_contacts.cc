// Ellipsoids: one contact with anything convex.
//
// Over a flat side of the other shape it is with the plane of that side, whose gap goes on falling
// when the ellipsoid has come to the other side: a distance rises again beyond the middle of what
// is thin, and would let it through. Elsewhere it is the distance.
#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/cylinder_parts.h"
#include "stiction/geometry/distance.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// The ellipsoid b over the flat sides of a. Everything in the frame of a.
class EllipsoidOverSides {
 public:
  explicit EllipsoidOverSides(ContactPair& pair)
      : pair_(pair), b_in_a_(inverse(pair.pose_a) * pair.pose_b) {}

  void collect(const SignedDistance& distance) {
    const Vector3d outward = -(pair_.pose_a.rotation.transpose() * distance.normal);
    if (pair_.a.kind() == ShapeKind::kCylinder) {
      collect_over_end(outward.z() > 0 ? 1 : 0, distance);
    } else {
      collect_over_faces(pair_.polytope_a(), outward, distance);
    }
  }

 private:
  Vector3d lowest_along(const Vector3d& normal) const {
    return b_in_a_ * pair_.b.core_support(-(b_in_a_.rotation.transpose() * normal));
  }

  void append(const ContactFeature& side, int index, std::uint64_t mark = 0) {
    pair_.emit(side, ContactFeature{}, make_contact_id(face_code(index), whole()) | mark);
  }

  void collect_over_end(int end, const SignedDistance& distance) {
    const CylinderParts parts(pair_.a);
    const Vector3d normal = parts.end_normal(end), lowest = lowest_along(normal);
    const double separation = normal.dot(lowest) - parts.half;
    if (separation >= distance.gap - pair_.tie && parts.end_contains(lowest, pair_.snap)) {
      append(parts.end_feature(end), end);
    } else {
      append_whole_shapes(pair_, distance);
    }
    pair_.close_patch(pair_.smallest_gap());
  }

  void collect_over_faces(const Polytope& a, const Vector3d& outward,
                          const SignedDistance& distance) {
    const int face = a.find_aligned_face(outward);
    const Vector3d lowest = lowest_along(a.faces()[face].normal);
    const bool is_over = a.height_over(face, lowest) >= distance.gap - pair_.tie &&
                         a.is_over(face, lowest, pair_.snap);
    if (is_over) {
      append(plane_of(a, face), face);
    } else {
      append_whole_shapes(pair_, distance);
    }
    pair_.close_patch(pair_.smallest_gap());
    if (is_over && pair_.options.wants_alternatives) append_alternatives(a, face, distance.gap);
  }

  /// Other faces as separating planes, if the ellipsoid is over them or may come there.
  void append_alternatives(const Polytope& a, int first_face, double gap) {
    for (int f = 0; f < static_cast<int>(a.faces().size()); ++f) {
      if (f == first_face) continue;
      const Vector3d lowest = lowest_along(a.faces()[f].normal);
      const double separation = a.height_over(f, lowest);
      if (separation < gap - 2 * pair_.options.reach) continue;
      if (!a.is_over(f, lowest, pair_.options.reach)) continue;
      const int first = static_cast<int>(pair_.out.candidates.size());
      append(plane_of(a, f), f, kAlternativeBit);
      pair_.close_alternative(first, separation);
    }
  }

  static ContactFeature plane_of(const Polytope& a, int face) {
    return make_plane_feature(a.vertices()[a.vertices_of(face)[0]], a.faces()[face].normal);
  }

  ContactPair& pair_;
  Pose b_in_a_;
};

}  // namespace

void collect_ellipsoid_contacts(ContactPair& pair) {
  const SignedDistance distance = compute_distance(pair.a, pair.pose_a, pair.b, pair.pose_b);
  if (!(distance.gap <= pair.options.reach)) return;
  if (pair.a.polytope() != nullptr || pair.a.kind() == ShapeKind::kCylinder) {
    EllipsoidOverSides(pair).collect(distance);
  } else {
    append_whole_shapes(pair, distance);
    pair.close_patch(distance.gap);
  }
}

}  // namespace stiction
