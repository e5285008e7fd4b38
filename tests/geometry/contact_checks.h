// What every list of contacts must satisfy, whatever the shapes. Shares no code with detection but
// the distance and the evaluation of gaps, which have tests of their own.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/random_pairs.h"

namespace stiction {

inline ContactList contacts_of(const CollisionShape& a, const Pose& pose_a, const CollisionShape& b,
                               const Pose& pose_b, const ContactOptions& options) {
  ContactWorkspace workspace;
  ContactList list;
  collect_contacts(a, pose_a, b, pose_b, options, workspace, list);
  return list;
}

/// [m] Separations that differ by less are taken as equal by detection: 1e-9 of the smaller size
/// and the accuracy of the distance, which is 1e-12 of the larger one for flat and round shapes and
/// 1e-9 for cylinders; places count as the same within ten times that.
inline double tie_between(const CollisionShape& a, const CollisionShape& b) {
  const double larger = std::max(a.size(), b.size());
  const double smaller = a.size() > 0 && b.size() > 0 ? std::min(a.size(), b.size()) : larger;
  const bool is_curved = a.kind() == ShapeKind::kCylinder || b.kind() == ShapeKind::kCylinder;
  return is_curved ? 4e-9 * larger : 1e-9 * smaller + 4e-12 * larger;
}

inline double smallest_gap(const ContactList& list) {
  double smallest = std::numeric_limits<double>::infinity();
  if (list.patches.empty()) return smallest;
  for (int k = 0; k < list.patches[0].count; ++k) {
    smallest = std::min(smallest, list.candidates[list.patches[0].first + k].gap);
  }
  return smallest;
}

inline std::set<std::uint64_t> ids_of(const ContactList& list) {
  std::set<std::uint64_t> ids;
  for (const ContactCandidate& candidate : list.candidates) ids.insert(candidate.id);
  return ids;
}

inline void expect_sound_candidates(const ContactList& list, const CollisionShape& a,
                                    const Pose& pose_a, const CollisionShape& b, const Pose& pose_b,
                                    double reach) {
  const double far = (pose_a.position - pose_b.position).norm();
  const double rounding = 1e-13 * (a.size() + b.size() + far) +
                          4e-16 * (pose_a.position.norm() + pose_b.position.norm());
  for (const ContactCandidate& candidate : list.candidates) {
    ASSERT_TRUE(std::isfinite(candidate.gap) && candidate.normal.allFinite() &&
                candidate.point.allFinite());
    EXPECT_NEAR(candidate.normal.norm(), 1, 1e-12);
    EXPECT_LE(candidate.gap, reach);
    const Touch touch = evaluate_touch(candidate, a, pose_a, b, pose_b);
    EXPECT_NEAR(touch.gap, candidate.gap, 10 * rounding);
    // Directions between cores are as uncertain as rounding is large for the way between them.
    const auto ball_radius = [](const ContactFeature& feature) {
      return feature.kind == ContactFeature::Kind::kCircle ? 0 : feature.radius;
    };
    const double way =
        std::abs(candidate.gap + ball_radius(candidate.a) + ball_radius(candidate.b));
    const bool has_way = candidate.a.kind != ContactFeature::Kind::kPlane &&
                         candidate.b.kind != ContactFeature::Kind::kPlane;
    const double turn = has_way ? std::min(2.0, 10 * rounding / way) : 0;
    EXPECT_LE((touch.normal - candidate.normal).norm(), 1e-12 + turn);
    EXPECT_LE((touch.point - candidate.point).norm(),
              100 * rounding + turn * (a.size() + b.size()));
  }
  EXPECT_EQ(ids_of(list).size(), list.candidates.size()) << "ids repeat";
}

inline void expect_sound_patches(const ContactList& list) {
  int next = 0;
  for (const ContactPatch& patch : list.patches) {
    EXPECT_EQ(patch.first, next);
    EXPECT_GT(patch.count, 0);
    EXPECT_LT(patch.group, list.num_groups);
    next += patch.count;
  }
  EXPECT_EQ(next, static_cast<int>(list.candidates.size()));
}

/// There are candidates if and only if the gap is within reach, and the smallest is the gap. `far`
/// is the size of the coordinates.
inline void expect_agrees_with_distance(const ContactList& list, const SignedDistance& distance,
                                        double tie, double reach, double far) {
  // A corner that is beside a face by less than ten ties stands on it, which may make the gap
  // smaller by that; and coordinates have only 16 digits.
  const double tolerance = 11 * tie + 1e-14 * (std::abs(distance.gap) + far);
  if (std::abs(distance.gap - reach) > tolerance) {
    EXPECT_EQ(!list.candidates.empty(), distance.gap < reach) << "gap " << distance.gap;
  }
  if (list.candidates.empty()) return;
  EXPECT_GE(smallest_gap(list), distance.gap - tolerance);
  EXPECT_LE(smallest_gap(list), distance.gap + tolerance);
}

}  // namespace stiction
