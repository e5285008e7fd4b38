#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/cylinder_parts.h"
#include "stiction/geometry/cylinder_polytope_contacts.h"
#include "stiction/geometry/distance.h"

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

/// Steeper than 60° the mantle is what touches, and fixed points of the rim would come and go.
constexpr double kLeastCosineOfEnd = 0.5;

/// [m] of a point of a over a plane of b.
double height_over(const ContactPair& pair, const ContactFeature& plane, const Vector3d& point_a) {
  return (pair.pose_b.rotation * plane.direction)
      .dot((pair.pose_a.position - pair.pose_b.position) + pair.pose_a.rotation * point_a -
           pair.pose_b.rotation * plane.point);
}

void collect_over_plane(ContactPair& pair) {
  const CylinderParts parts(pair.a);
  const Plane& plane = std::get<Plane>(pair.b.shape());
  const ContactFeature ground = make_plane_feature(plane.offset * plane.normal, plane.normal);
  const Vector3d normal = pair.pose_b.rotation * plane.normal;
  const double cosine = pair.pose_a.rotation.col(2).dot(normal);
  const int low = cosine >= 0 ? 0 : 1;
  const Vector3d out = -(pair.pose_a.rotation.transpose() * normal);
  const bool has_fixed = std::abs(cosine) > kLeastCosineOfEnd;
  const LowestOfRim lowest(parts, low, out);
  const bool has_rim = !has_fixed || lowest.counts(pair.tie);
  const bool is_point =
      has_fixed && lowest.is_point(height_over(pair, ground, lowest.point), pair.options.reach);
  for (int k = 0; has_fixed && k < kNumRimPoints; ++k) {
    if (has_rim && !is_point && CylinderParts::is_next_to(out, k)) continue;
    pair.emit(make_point_feature(parts.rim_point(low, k)), ground,
              make_contact_id(CylinderParts::rim_point_code(low, k), whole()));
  }
  if (has_rim && !(is_point && lowest.is_at_fixed_point(pair.snap))) {
    pair.emit(lowest.feature(is_point), ground,
              make_contact_id(CylinderParts::rim_code(low), whole()));
  }
  pair.emit(parts.circle_at(-CylinderParts::sign_of(low) * parts.half), ground,
            make_contact_id(CylinderParts::rim_code(1 - low), whole()));
  pair.close_patch(pair.smallest_gap());
}

/// `own` is the cylinder whose end is looked at, the other one is over it. In the frame of own.
class CylinderOverEnd {
 public:
  CylinderOverEnd(ContactPair& pair, bool own_is_a, double lowest)
      : pair_(pair),
        own_(own_is_a ? pair.a : pair.b),
        other_(own_is_a ? pair.b : pair.a),
        other_in_own_(own_is_a ? inverse(pair.pose_a) * pair.pose_b
                               : inverse(pair.pose_b) * pair.pose_a),
        emit_{pair, own_is_a, lowest} {}

  /// [m] of the other cylinder over the end.
  double separation(int end) const {
    const double sign = CylinderParts::sign_of(end);
    return sign * other_in_own_.position.z() - own_.half -
           other_.extent_along(other_in_own_.rotation(2, 2));
  }

  void append(int end) {
    const double cosine = CylinderParts::sign_of(end) * other_in_own_.rotation(2, 2);
    if (std::abs(cosine) > kLeastCosineOfEnd) {
      append_disc(end, cosine >= 0 ? 0 : 1);
    } else {
      append_mantle(end);
    }
  }

 private:
  void emit_on(int end, const ContactFeature& other, FeatureCode other_code) {
    emit_(own_.end_feature(end), other, face_code(end), other_code);
  }

  void append_disc(int end, int other_end) {
    const Vector3d center = other_in_own_ * other_.end_center(other_end);
    const Vector3d out = -(other_in_own_.rotation.transpose() * own_.end_normal(end));
    const LowestOfRim lowest(other_, other_end, out);
    const Vector3d lowest_in_own = other_in_own_ * lowest.point;
    const bool has_rim = lowest.counts(pair_.tie) && own_.end_contains(lowest_in_own, pair_.snap);
    const bool is_point = lowest.is_point(
        CylinderParts::sign_of(end) * lowest_in_own.z() - own_.half, pair_.options.reach);
    for (int k = 0; k < kNumRimPoints; ++k) {
      const Vector3d point = other_.rim_point(other_end, k);
      if (!own_.end_contains(other_in_own_ * point, pair_.snap)) continue;
      if (has_rim && !is_point && CylinderParts::is_next_to(out, k)) continue;
      emit_on(end, make_point_feature(point), CylinderParts::rim_point_code(other_end, k));
    }
    for (int k = 0; k < kNumRimPoints; ++k) {
      append_lifted(end, own_.rim_point(end, k), other_end, CylinderParts::rim_point_code(end, k),
                    face_code(other_end));
    }
    append_circle_crossings(end, other_end, center.head<2>());
    if (has_rim && !(is_point && lowest.is_at_fixed_point(pair_.snap)))
      emit_on(end, lowest.feature(is_point), CylinderParts::rim_code(other_end));
  }

  /// The point of the other end straight over a point of the own end, if there is one.
  void append_lifted(int end, const Vector3d& point, int other_end, FeatureCode own_code,
                     FeatureCode other_code) {
    const Vector3d from = inverse(other_in_own_) * point;
    const Vector3d up = other_in_own_.rotation.transpose() * own_.end_normal(end);
    const double height = (CylinderParts::sign_of(other_end) * other_.half - from.z()) / up.z();
    const Vector3d lifted = from + height * up;
    if (!other_.end_contains(lifted, -pair_.snap)) return;
    // Points of the two rims at one place are one.
    emit_(own_.end_feature(end), make_point_feature(lifted), own_code, other_code);
  }

  /// Where the rims cross, seen along the axis; between ends that are parallel to 8°.
  void append_circle_crossings(int end, int other_end, const Vector2d& center) {
    if (std::abs(other_in_own_.rotation(2, 2)) < 0.99) return;
    const double distance = center.norm();
    if (!(distance > pair_.snap)) return;
    const double along =
        (distance * distance + (own_.radius - other_.radius) * (own_.radius + other_.radius)) /
        (2 * distance);
    const double squared = (own_.radius - along) * (own_.radius + along);
    if (!(squared > 0)) return;
    const Vector2d u = center / distance, v(-u.y(), u.x());
    for (int k = 0; k < 2; ++k) {
      const Vector2d at = along * u + (k == 0 ? -1 : 1) * std::sqrt(squared) * v;
      const Vector3d point(at.x(), at.y(), CylinderParts::sign_of(end) * own_.half);
      const Vector3d from = inverse(other_in_own_) * point;
      const Vector3d up = other_in_own_.rotation.transpose() * own_.end_normal(end);
      const double height = (CylinderParts::sign_of(other_end) * other_.half - from.z()) / up.z();
      emit_(own_.end_feature(end), make_point_feature(from + height * up), other_code(2 * end + k),
            CylinderParts::rim_code(other_end));
    }
  }

  /// Ends of the lowest line of the mantle, as circles, so that it may roll.
  void append_mantle(int end) {
    const Vector3d axis = other_in_own_.rotation.col(2);
    Vector3d out(0, 0, -CylinderParts::sign_of(end));
    out = (out - out.dot(axis) * axis).normalized();
    const Vector3d middle = other_in_own_.position + other_.radius * out;
    const Vector3d tail = middle - other_.half * axis, head = middle + other_.half * axis;
    const DiscChord chord = clip_to_disc(tail.head<2>(), head.head<2>(), own_.radius + pair_.snap);
    if (!chord.hits) return;
    append_circle(end, chord.start, 0);
    append_circle(end, chord.end, 1);
  }

  void append_circle(int end, double t, int crossing) {
    const FeatureCode code =
        t > 0 && t < 1 ? other_code(crossing) : CylinderParts::rim_code(t <= 0 ? 0 : 1);
    emit_on(end, other_.circle_at((2 * t - 1) * other_.half), code);
  }

  ContactPair& pair_;
  CylinderParts own_, other_;
  Pose other_in_own_;
  RoleEmitter emit_;
};

/// The rim of an end of one cylinder, which is a or b, over the mantle of the other one. False if
/// the other ends before.
bool append_rim_over_mantle(ContactPair& pair, bool rim_is_a, int end, double lowest) {
  const CylinderParts a(pair.a), b(pair.b);
  const ContactFeature feature_a = rim_is_a ? a.rim_feature(end) : a.mantle_feature();
  const ContactFeature feature_b = rim_is_a ? b.mantle_feature() : b.rim_feature(end);
  const Touch touch =
      evaluate_touch({.a = feature_a, .b = feature_b}, pair.a, pair.pose_a, pair.b, pair.pose_b);
  const Pose& other = rim_is_a ? pair.pose_b : pair.pose_a;
  const double along = other.rotation.col(2).dot(touch.point - other.position);
  if (std::abs(along) > (rim_is_a ? b.half : a.half) + pair.snap) return false;
  const FeatureCode rim = CylinderParts::rim_code(end);
  pair.emit(feature_a, feature_b,
            rim_is_a ? make_contact_id(rim, edge_code(0)) : make_contact_id(edge_code(0), rim), 1,
            lowest);
  return true;
}

/// Mantles: ends of the overlap of nearly parallel ones, else the crossing.
void append_mantles(ContactPair& pair, const Vector3d& normal, double lowest) {
  const CylinderParts a(pair.a), b(pair.b);
  const Pose a_in_b = inverse(pair.pose_b) * pair.pose_a;
  const Vector3d axis = a_in_b.rotation.col(2), center = a_in_b.position;
  const Vector3d cross = axis.cross(Vector3d::UnitZ());
  const double squared_sine = cross.squaredNorm();
  if (squared_sine < 0.01) {  // nearly parallel
    for (int end_b = 0; end_b < 2; ++end_b) {
      const int end_a = axis.z() >= 0 ? end_b : 1 - end_b;
      if (!append_rim_over_mantle(pair, true, end_a, lowest))
        append_rim_over_mantle(pair, false, end_b, lowest);
    }
  }
  if (!(squared_sine > 1e-12)) return;
  const double s = Vector3d::UnitZ().cross(center).dot(cross) / squared_sine;
  const double t = axis.cross(center).dot(cross) / squared_sine;
  if (std::abs(s) > a.half || std::abs(t) > b.half) return;
  const double side = cross.dot(normal) >= 0 ? 1 : -1;
  const double gap = side * cross.dot(center) / std::sqrt(squared_sine) - a.radius - b.radius;
  if (!(gap < pair.smallest_gap() - pair.tie)) return;
  pair.emit(a.mantle_feature(), b.mantle_feature(), make_contact_id(edge_code(0), edge_code(0)),
            side, lowest);
}

void collect_cylinder_pair(ContactPair& pair) {
  const SignedDistance distance = compute_distance(pair.a, pair.pose_a, pair.b, pair.pose_b);
  if (!(distance.gap <= pair.options.reach)) return;
  const double lowest = distance.gap - pair.tie;
  const Vector3d normal_a = pair.pose_a.rotation.transpose() * distance.normal;
  const Vector3d normal_b = pair.pose_b.rotation.transpose() * distance.normal;
  const int end_a = normal_a.z() > 0 ? 0 : 1, end_b = normal_b.z() > 0 ? 1 : 0;
  CylinderOverEnd over_a(pair, true, lowest), over_b(pair, false, lowest);
  const bool a_faces = std::abs(normal_a.z()) > kLeastCosineOfEnd;
  const bool b_faces = std::abs(normal_b.z()) > kLeastCosineOfEnd;
  const double separation_a = over_a.separation(end_a), separation_b = over_b.separation(end_b);
  const bool is_over_a = a_faces && (!b_faces || separation_a >= separation_b - pair.tie);
  if (is_over_a) {
    over_a.append(end_a);
  } else if (b_faces) {
    over_b.append(end_b);
  }
  if ((is_over_a ? separation_a : separation_b) < lowest)
    pair.drop_askew((distance.point_a + distance.point_b) / 2, distance.normal);
  if (!a_faces && !b_faces) append_mantles(pair, normal_b, lowest);
  if (pair.smallest_gap() > distance.gap + pair.tie) append_whole_shapes(pair, distance);
  pair.close_patch(distance.gap);
}

}  // namespace

void collect_cylinder_contacts(ContactPair& pair) {
  if (pair.b.kind() == ShapeKind::kPlane) {
    collect_over_plane(pair);
  } else if (pair.b.kind() == ShapeKind::kCylinder) {
    collect_cylinder_pair(pair);
  } else {
    collect_cylinder_polytope_contacts(pair);
  }
}

}  // namespace stiction
