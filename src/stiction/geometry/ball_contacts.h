// The contact of two balls, from their centres and radii alone. Internal to this room.
//
// A sphere looks the same however it is turned: what two of them need is 32 bytes each, where the
// shape and the pose of an object are five lines of the cache. Scenes of many spheres wait for
// memory, and for little else.
#pragma once

#include <Eigen/Core>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/contact_candidate.h"

namespace stiction {

/// From b to a, for balls about one point: the same way out of the larger one whichever is named
/// first.
inline Eigen::Vector3d direction_of_concentric(double radius_a, double radius_b) {
  return {0, 0, radius_a < radius_b ? -1.0 : 1.0};
}

/// Of a ball about x and one about y, from y to x; `fallback` where the centres coincide.
inline Touch touch_of_balls(const Eigen::Vector3d& x, double radius_x, const Eigen::Vector3d& y,
                            double radius_y, double side, const Eigen::Vector3d& fallback) {
  const Eigen::Vector3d offset = x - y;
  const double distance = offset.norm();
  const Eigen::Vector3d normal =
      distance > 0 ? Eigen::Vector3d(offset * (side / distance)) : fallback;
  const double gap = side * distance - radius_x - radius_y;
  return {gap, normal, (x + y + (radius_y - radius_x) * normal) / 2};
}

/// A sphere in the world.
struct PlacedSphere {
  const Eigen::Vector3d& center;  // [m] the position of its pose
  double radius = 0;              // [m]
};

/// What collect_contacts appends for two spheres, to the bit. False, with nothing done, where the
/// centres have a coordinate in common: which zero the difference is then hangs on the rotations.
[[nodiscard, gnu::always_inline]] inline bool try_collect_spheres(const PlacedSphere& a,
                                                                  const PlacedSphere& b,
                                                                  double reach, ContactList& out) {
  const Eigen::Vector3d offset = a.center - b.center;
  if (offset.x() == 0 || offset.y() == 0 || offset.z() == 0) return false;
  const double limit = a.radius + b.radius + reach;
  if (offset.squaredNorm() > limit * limit) return true;
  const Touch touch = touch_of_balls(offset, a.radius, Eigen::Vector3d::Zero(), b.radius, 1,
                                     Eigen::Vector3d::UnitZ());
  if (!(touch.gap <= reach)) return true;
  // The lower end of a segment without length (rounded_core.h), that is, the centre.
  const Eigen::Vector3d end(0, 0, -0.0);
  const int first = static_cast<int>(out.candidates.size());
  out.candidates.push_back({.a = {ContactFeature::Kind::kPoint, end, {0, 0, 0}, a.radius},
                            .b = {ContactFeature::Kind::kPoint, end, {0, 0, 0}, b.radius},
                            .side = 1,
                            .id = 0,  // of two whole shapes, see make_contact_id
                            .gap = touch.gap,
                            .normal = touch.normal,
                            .point = touch.point + b.center});
  out.patches.push_back({first, 1, touch.gap, out.num_groups++});
  return true;
}

}  // namespace stiction
