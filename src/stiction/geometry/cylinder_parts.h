// Ends, rims and mantle of a cylinder as contact features. Internal to this room.
//
// The end of a cylinder that stands on something flat touches with a disc. It is represented by
// kNumRimPoints points fixed on its rim, evenly spread, and by the rim itself (kCircle), whose
// lowest point is exact for every tilt. While the end is so flat that between two fixed points the
// rim is nowhere lower than they are by more than a tie, the rim is left out: at rest only the
// fixed points are there, always the same ones. Otherwise it takes the place of the fixed points
// next to its lowest one. Neither changes when a cylinder rolls over one of them: its contact
// stays.
//
// Where all of the rim is within reach, the end may come to lie flat within the step. Then the
// lowest point of the circle runs around it faster than any iteration follows, and all fixed points
// are taken, with what is the lowest point now as one more (LowestOfRim::is_point).
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/geometry/contact_pair.h"
#include "stiction/geometry/distance.h"

namespace stiction {

constexpr int kNumRimPoints = 8;

struct CylinderParts {
  explicit CylinderParts(const CollisionShape& shape)
      : CylinderParts(shape.half().x(), shape.half().z()) {}
  CylinderParts(double given_radius, double given_half) : radius(given_radius), half(given_half) {}

  double radius = 0, half = 0;  // [m]

  // End 0 is that at −z. In the frame of the cylinder.
  static double sign_of(int end) { return end == 0 ? -1 : 1; }
  Eigen::Vector3d end_center(int end) const { return {0, 0, sign_of(end) * half}; }
  Eigen::Vector3d end_normal(int end) const { return {0, 0, sign_of(end)}; }
  Eigen::Vector3d rim_point(int end, int k) const {
    static constexpr double kDiagonal = 0.70710678118654752440;
    static constexpr std::array<double, kNumRimPoints> kCosines = {1,  kDiagonal,  0, -kDiagonal,
                                                                   -1, -kDiagonal, 0, kDiagonal};
    return {radius * kCosines[k], radius * kCosines[(k + kNumRimPoints - 2) % kNumRimPoints],
            sign_of(end) * half};
  }

  ContactFeature end_feature(int end) const {
    return make_plane_feature(end_center(end), end_normal(end));
  }
  ContactFeature circle_at(double z) const {
    return make_circle_feature({0, 0, z}, Eigen::Vector3d::UnitZ(), radius);
  }
  ContactFeature rim_feature(int end) const { return circle_at(sign_of(end) * half); }
  ContactFeature mantle_feature() const {
    return make_line_feature(Eigen::Vector3d::Zero(), Eigen::Vector3d::UnitZ(), radius);
  }
  static FeatureCode rim_code(int end) {
    return {FeatureCode::Kind::kRim, static_cast<std::uint32_t>(end)};
  }
  static FeatureCode rim_point_code(int end, int k) {
    return {FeatureCode::Kind::kRimPoint, static_cast<std::uint32_t>(end * kNumRimPoints + k)};
  }

  /// [m] of the cylinder along a direction with the cosine c to its axis, from the centre.
  double extent_along(double c) const {
    return half * std::abs(c) + radius * std::sqrt(std::max(0.0, 1 - c * c));
  }
  /// [m] at most, by which the rim of an end is below all of its fixed points, for the sine of the
  /// angle between axis and normal: midway between two of them.
  double rim_below_fixed_points(double sine) const {
    static constexpr double kSagitta = 0.07612046748871326;  // 1 − cos(π/8)
    return kSagitta * radius * sine;
  }
  /// Whether the rim stands for a fixed point, if its lowest point is in the direction `out` of the
  /// frame of the cylinder: within 60°.
  static bool is_next_to(const Eigen::Vector3d& out, int k) {
    const CylinderParts unit(1, 0);
    return unit.rim_point(0, k).head<2>().dot(out.head<2>()) > 0.5 * out.head<2>().norm();
  }
  bool end_contains(const Eigen::Vector3d& point, double margin) const {
    return point.head<2>().norm() <= radius + margin;
  }
};

/// How the lowest part of the rim of an end over something flat is represented.
struct LowestOfRim {
  /// `down` is the direction to the flat thing, in the frame of the cylinder.
  LowestOfRim(const CylinderParts& parts, int end, const Eigen::Vector3d& down)
      : point(parts.end_center(end)), end(end), sine_(down.head<2>().norm()), parts_(parts) {
    point.head<2>() = parts.radius / std::max(sine_, 1e-300) * down.head<2>();
  }
  /// Whether it is lower than the fixed points, by more than a tie.
  bool counts(double tie) const { return parts_.rim_below_fixed_points(sine_) > tie; }
  /// Whether a point is to stand for it, not the circle, if the gap at the point is `gap`.
  bool is_point(double gap, double reach) const { return gap + 2 * parts_.radius * sine_ <= reach; }
  ContactFeature feature(bool takes_point) const {
    return takes_point ? make_point_feature(point) : parts_.circle_at(point.z());
  }
  /// Whether a fixed point is at the same place.
  bool is_at_fixed_point(double snap) const {
    for (int k = 0; k < kNumRimPoints; ++k) {
      if ((parts_.rim_point(end, k) - point).norm() <= snap) return true;
    }
    return false;
  }

  Eigen::Vector3d point;  // of the rim, in the frame of the cylinder
  int end;

 private:
  double sine_;
  CylinderParts parts_;
};

/// Part of a segment inside a disc about the origin.
struct DiscChord {
  bool hits = false;
  double start = 0, end = 1;  // 0 and 1 where the ends are inside
};
DiscChord clip_to_disc(const Eigen::Vector2d& p, const Eigen::Vector2d& q, double radius);

constexpr FeatureCode other_code(int index) {
  return {FeatureCode::Kind::kOther, static_cast<std::uint32_t>(index)};
}

/// Appends candidates with the roles of the two shapes exchanged at will.
struct RoleEmitter {
  ContactPair& pair;
  bool own_is_a;  // `own` is shape a
  double lowest;  // [m] no gaps below

  void operator()(const ContactFeature& own, const ContactFeature& other, FeatureCode own_code,
                  FeatureCode other_code, double side = 1) const {
    if (own_is_a) {
      pair.emit(own, other, make_contact_id(own_code, other_code), side, lowest);
    } else {
      pair.emit(other, own, make_contact_id(other_code, own_code), side, lowest);
    }
  }
};

/// The whole shapes, whose distance is known: exact, but only the nearest points.
inline void append_whole_shapes(ContactPair& pair, const SignedDistance& distance) {
  if (!(distance.gap <= pair.options.reach)) return;
  pair.out.candidates.push_back({.id = make_contact_id(whole(), whole()),
                                 .gap = distance.gap,
                                 .normal = distance.normal,
                                 .point = (distance.point_a + distance.point_b) / 2});
}

}  // namespace stiction
