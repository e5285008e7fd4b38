#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

#include "stiction/geometry/cylinder_parts.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/rounded_core.h"

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

void collect_ball_over_cylinder(ContactPair& pair, const RoundedCore& core) {
  const CylinderParts parts(pair.b);
  const Vector3d center = pair.pose_b.rotation.transpose() * relative_position(pair);
  const double over_mantle = center.head<2>().norm() - parts.radius;
  const double over_end = std::abs(center.z()) - parts.half;
  const int end = center.z() >= 0 ? 1 : 0;
  const ContactFeature ball = core.end_feature(0);
  const bool is_over_rim = over_mantle > 0 && over_end > 0;
  if (is_over_rim && std::hypot(over_mantle, over_end) > pair.snap) {
    pair.emit(ball, parts.circle_at(CylinderParts::sign_of(end) * parts.half),
              make_contact_id(whole(), CylinderParts::rim_code(end)));
  } else if (over_end >= over_mantle - pair.tie) {
    pair.emit(ball, parts.end_feature(end), make_contact_id(whole(), face_code(end)));
  } else {
    pair.emit(ball, parts.mantle_feature(), make_contact_id(whole(), edge_code(0)));
  }
}

/// Capsule a over cylinder b. Everything in the frame of b.
class CapsuleOverCylinder {
 public:
  CapsuleOverCylinder(ContactPair& pair, const RoundedCore& core)
      : pair_(pair), core_(core), parts_(pair.b) {
    const Pose a_in_b = inverse(pair.pose_b) * pair.pose_a;
    center_ = a_in_b.position;
    axis_ = a_in_b.rotation.col(2);
    for (int end = 0; end < 2; ++end) ends_[end] = a_in_b * core.end_point(end);
  }

  void collect() {
    const SignedDistance distance = compute_distance(pair_.a, pair_.pose_a, pair_.b, pair_.pose_b);
    if (!(distance.gap <= pair_.options.reach)) return;
    normal_ = pair_.pose_b.rotation.transpose() * distance.normal;
    lowest_ = distance.gap - pair_.tie;
    if (std::abs(normal_.z()) > 0.5) append_over_end(normal_.z() > 0 ? 1 : 0);
    if (std::abs(normal_.z()) < 0.5) append_over_mantle();
    if (pair_.smallest_gap() > distance.gap + pair_.tie) append_ends_over_rim();
    if (pair_.smallest_gap() > distance.gap + pair_.tie) append_whole_shapes(pair_, distance);
  }

 private:
  void append_end_or_crossing(double t, const ContactFeature& feature, FeatureCode code,
                              int crossing) {
    if (t <= 0 || t >= 1) {
      const int end = t <= 0 ? 0 : 1;
      pair_.emit(core_.end_feature(end), feature, make_contact_id(core_.end_code(end), code), 1,
                 lowest_);
      return;
    }
    pair_.emit(make_point_feature({0, 0, (2 * t - 1) * core_.half}, core_.radius), feature,
               make_contact_id(other_code(crossing), code), 1, lowest_);
  }

  void append_over_end(int end) {
    const DiscChord chord =
        clip_to_disc(ends_[0].head<2>(), ends_[1].head<2>(), parts_.radius + pair_.snap);
    if (!chord.hits) return;
    append_end_or_crossing(chord.start, parts_.end_feature(end), face_code(end), 0);
    append_end_or_crossing(chord.end, parts_.end_feature(end), face_code(end), 1);
  }

  /// The part of the axis between the planes of the two ends of the cylinder.
  void append_over_mantle() {
    const double rise = ends_[1].z() - ends_[0].z(), limit = parts_.half + pair_.snap;
    double start = 0, end = 1;
    if (std::abs(rise) > pair_.snap) {
      const double low = (-limit - ends_[0].z()) / rise, high = (limit - ends_[0].z()) / rise;
      start = std::max(start, std::min(low, high));
      end = std::min(end, std::max(low, high));
    } else if (std::abs(center_.z()) > limit) {
      return;
    }
    if (start > end) return;
    append_end_or_crossing(start, parts_.mantle_feature(), edge_code(0), rise > 0 ? 0 : 1);
    append_end_or_crossing(end, parts_.mantle_feature(), edge_code(0), rise > 0 ? 1 : 0);
    append_crossing();
  }

  void append_crossing() {
    const Vector3d cross = axis_.cross(Vector3d::UnitZ());
    const double squared_sine = cross.squaredNorm();
    if (!(squared_sine > 1e-12)) return;
    const double s = Vector3d::UnitZ().cross(center_).dot(cross) / squared_sine;
    const double t = axis_.cross(center_).dot(cross) / squared_sine;
    if (std::abs(s) > core_.half || std::abs(t) > parts_.half) return;
    const double side = cross.dot(normal_) >= 0 ? 1 : -1;
    const double gap =
        side * cross.dot(center_) / std::sqrt(squared_sine) - core_.radius - parts_.radius;
    if (!(gap < pair_.smallest_gap() - pair_.tie)) return;
    pair_.emit(core_.line_feature(), parts_.mantle_feature(),
               make_contact_id(edge_code(0), edge_code(0)), side, lowest_);
  }

  void append_ends_over_rim() {
    for (int end = 0; end < 2; ++end) {
      const double z = CylinderParts::sign_of(ends_[end].z() >= 0 ? 1 : 0) * parts_.half;
      const Vector2d offset(ends_[end].head<2>().norm() - parts_.radius, ends_[end].z() - z);
      if (offset.x() < 0 || offset.y() * z < 0 || offset.norm() <= pair_.snap) continue;
      pair_.emit(core_.end_feature(end), parts_.circle_at(z),
                 make_contact_id(core_.end_code(end), CylinderParts::rim_code(z > 0 ? 1 : 0)), 1,
                 lowest_);
    }
  }

  ContactPair& pair_;
  const RoundedCore& core_;
  CylinderParts parts_;
  Vector3d center_, axis_, ends_[2];  // of the core
  Vector3d normal_;                   // from b to a
  double lowest_ = 0;
};

}  // namespace

DiscChord clip_to_disc(const Vector2d& p, const Vector2d& q, double radius) {
  const Vector2d along = q - p;
  const double a = along.squaredNorm(), b = p.dot(along);
  const double c = (p.norm() - radius) * (p.norm() + radius);
  if (!(a > 0)) return {.hits = c <= 0};
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return {};
  const double root = std::sqrt(discriminant);
  // The two roots without cancellation: their product is c/a.
  const double large = b > 0 ? -(b + root) : root - b;
  const double first = large / a, second = large != 0 ? c / large : 0;
  DiscChord chord{.start = std::max(0.0, std::min(first, second)),
                  .end = std::min(1.0, std::max(first, second))};
  chord.hits = chord.start <= chord.end;
  return chord;
}

void collect_rounded_cylinder_contacts(ContactPair& pair, const RoundedCore& a) {
  if (a.num_ends() == 1) {
    collect_ball_over_cylinder(pair, a);
  } else {
    CapsuleOverCylinder(pair, a).collect();
  }
}

}  // namespace stiction
