// Motions that the contacts of a step allow do not end in an overlap: manifolds are complete.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <string>

#include "stiction/base/random.h"
#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/random_pairs.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Of a shape, about its centre.
struct Motion {
  Vector3d way, turn;  // [m], [rad]
  double length(double radius) const { return way.norm() + turn.norm() * radius; }
};

Pose moved(const Pose& pose, const Vector3d& center, const Motion& motion) {
  const double angle = motion.turn.norm();
  const Vector3d axis = angle > 0 ? Vector3d(motion.turn / angle) : Vector3d::UnitX();
  const Matrix3d turn = AngleAxisd(angle, axis).toRotationMatrix();
  return {.position = center + turn * (pose.position - center) + motion.way,
          .rotation = turn * pose.rotation};
}

/// Changes a motion until all gaps, to first order, end ≥ 0. False if it is longer than the reach
/// then, or not found.
bool try_to_allow(const ContactList& list, const Vector3d& center, double radius, double reach,
                  Motion& motion) {
  const double rounding = 1e-9 * reach;
  for (int sweep = 0; sweep < 2000; ++sweep) {
    bool is_allowed = true;
    for (const ContactCandidate& touch : list.candidates) {
      const Vector3d arm = (touch.point - center).cross(touch.normal);
      const double gap = touch.gap + touch.normal.dot(motion.way) + arm.dot(motion.turn);
      if (gap >= -rounding) continue;
      is_allowed = false;
      const double push = (rounding - gap) / (1 + arm.squaredNorm() / (radius * radius));
      motion.way += push * touch.normal;
      motion.turn += push / (radius * radius) * arm;
    }
    if (is_allowed) return motion.length(radius) <= reach;
  }
  return false;
}

Motion random_motion(Random& random, double radius, double reach) {
  const double length = reach * random.uniform(0.2, 1);
  const double part = random.chance(0.3) ? 0 : random.chance(0.4) ? 1 : random.uniform();
  return {.way = part * length * random_vector(random).normalized(),
          .turn = (1 - part) * length / radius * random_vector(random).normalized()};
}

/// Nearly parallel to each other more often than not, just touching or apart by less than a reach.
struct NearPair {
  PlacedPair placed;
  double reach = 0;
};

NearPair random_near_pair(Random& random) {
  constexpr ShapeKind kKinds[] = {ShapeKind::kSphere, ShapeKind::kCapsule, ShapeKind::kBox,
                                  ShapeKind::kCylinder, ShapeKind::kConvex};
  NearPair pair{.placed = {.a = random_shape(random, kKinds[random.integer(0, 4)], 1, 0.1),
                           .b = random_shape(random, kKinds[random.integer(0, 4)], 1, 0.1),
                           .pose_a = random_pose(random, 1),
                           .pose_b = random_pose(random, 1)},
                .reach = std::pow(10, random.uniform(-4, -2))};
  auto& [a, b, pose_a, pose_b] = pair.placed;
  const auto any_axis = [&] { return Vector3d(Vector3d::Unit(random.integer(0, 2))); };
  if (random.chance(0.6)) {
    const double askew = random.chance(0.5) ? std::pow(10, random.uniform(-8, -1)) : 0;
    const double turned = random.chance(0.5) ? random.uniform(0, 7) : 0;
    pose_a.rotation =
        pose_b.rotation * AngleAxisd(random.integer(0, 3) * std::numbers::pi / 2, any_axis()) *
        AngleAxisd(turned, any_axis()) * AngleAxisd(askew, random_vector(random).normalized());
  }
  const double wanted = random.chance(0.3) ? 0 : random.uniform(0, 0.9) * pair.reach;
  for (int i = 0; i < 3; ++i) {
    const SignedDistance now =
        compute_distance(CollisionShape(a), pose_a, CollisionShape(b), pose_b);
    pose_a.position += (wanted - now.gap) * now.normal;
  }
  return pair;
}

struct Tally {
  int num_motions = 0, num_overlaps = 0;
};

/// A tenth of the motion is far above what the second order leaves: its reach of 1e-2 of the size.
void try_motions(std::uint64_t seed, Tally& tally) {
  Random random(seed);
  const NearPair pair = random_near_pair(random);
  const auto& [shape_a, shape_b, pose_a, pose_b] = pair.placed;
  const CollisionShape a(shape_a), b(shape_b);
  const SignedDistance start = compute_distance(a, pose_a, b, pose_b);
  if (start.gap < -1e-9 || start.gap > pair.reach) return;
  ContactWorkspace workspace;
  ContactList list;
  collect_contacts(a, pose_a, b, pose_b, {.reach = pair.reach}, workspace, list);
  const Vector3d center = pose_a * a.center();
  for (int i = 0; i < 10; ++i) {
    Motion motion = random_motion(random, a.bounding_radius(), pair.reach);
    if (random.chance(0.5)) motion.way -= random.uniform() * pair.reach * start.normal;
    if (!try_to_allow(list, center, a.bounding_radius(), pair.reach, motion)) continue;
    ++tally.num_motions;
    const double end = compute_distance(a, moved(pose_a, center, motion), b, pose_b).gap;
    if (end < -0.1 * motion.length(a.bounding_radius())) ++tally.num_overlaps;
  }
}

TEST(AllowedMotion, WhatContactsAllowDoesNotOverlap) {
  Tally tally;
  const std::uint64_t cases = testing::fewer_sanitized(4000);
  for (std::uint64_t i = 0; i < cases; ++i) try_motions(i, tally);
  EXPECT_GT(tally.num_motions, static_cast<int>(8 * cases));
  EXPECT_EQ(tally.num_overlaps, 0);
}

/// Edges that cross at a little more than the reach may meet beside where they cross.
TEST(SlowAllowedMotion, WhatContactsAllowHardlyEverOverlaps) {
  Tally tally;
  const std::uint64_t cases = testing::fewer_sanitized(100000);
  for (std::uint64_t i = 0; i < cases; ++i) try_motions(1000000 + i, tally);
  EXPECT_GT(tally.num_motions, static_cast<int>(8 * cases));
  EXPECT_LE(tally.num_overlaps, tally.num_motions / 50000);
}

ContactList contacts_over(const Shape& a, const Pose& pose_a, const Shape& b, double reach) {
  ContactWorkspace workspace;
  ContactList list;
  collect_contacts(CollisionShape(a), pose_a, CollisionShape(b), {}, {.reach = reach}, workspace,
                   list);
  return list;
}

/// It leans by 25° and touches the edge with its mantle, or by 25° the other way with its rim.
/// Along the face beside the edge the place has the same gap, and no face parts the shapes.
TEST(AllowedMotion, WhatLeansOverAnEdgeIsPushedAlongItsOwnNormal) {
  const double lean = 25 * std::numbers::pi / 180;
  const Matrix3d turn = AngleAxisd(-lean, Vector3d::UnitX()).toRotationMatrix();
  const Vector3d out = -turn.col(1);  // of the mantle, across the edge at y = −1, z = 1
  for (const double gap : {0.0, 1e-3}) {
    for (const Shape& leaning : {Shape(Cylinder{.radius = 0.3, .length = 2}),
                                 Shape(Capsule{.radius = 0.3, .length = 2})}) {
      const Vector3d center = Vector3d(0, -1, 1) + (0.3 + gap) * out + 0.1 * turn.col(2);
      const ContactList list =
          contacts_over(leaning, {.position = center, .rotation = turn}, Box{{2, 2, 2}}, 2e-3);
      ASSERT_FALSE(list.candidates.empty());
      for (const ContactCandidate& touch : list.candidates) {
        EXPECT_NEAR(touch.gap, gap, 1e-8);
        EXPECT_LE((touch.normal - out).norm(), 1e-6) << name_of(leaning);
      }
    }
  }
}

/// Boxes edge to edge, askew by less than what the step can turn: both ends may touch first.
TEST(AllowedMotion, NearlyParallelEdgesTouchAtBothEnds) {
  const Matrix3d on_edge = AngleAxisd(std::numbers::pi / 4, Vector3d::UnitY()).toRotationMatrix();
  Convex lower{.points = box_corners(Vector3d(1, 2, 1))};
  for (Vector3d& point : lower.points) point = on_edge * point;
  for (const double askew : {0.0, 1e-9, 1e-7, 1e-5, 1e-4}) {
    const Pose pose{.position = {0, 0.3, std::sqrt(2.0) + 1e-5},
                    .rotation = AngleAxisd(askew, Vector3d::UnitZ()) * on_edge};
    const ContactList list = contacts_over(Box{{1, 2, 1}}, pose, Shape(lower), 1e-3);
    double first = 1, last = -1;
    for (const ContactCandidate& touch : list.candidates) {
      EXPECT_GE(touch.gap, 1e-5 - 1e-9);
      first = std::min(first, touch.point.y());
      last = std::max(last, touch.point.y());
    }
    EXPECT_NEAR(first, -0.7, 1e-3) << askew;
    EXPECT_NEAR(last, 1, 1e-3) << askew;
  }
}

}  // namespace
}  // namespace stiction
