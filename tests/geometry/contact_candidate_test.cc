#include "stiction/geometry/contact_candidate.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Kind = ContactFeature::Kind;

struct Motion {
  Vector3d velocity, spin;
};

Pose moved(const Pose& pose, const Motion& motion, double time) {
  const double angle = motion.spin.norm() * time;
  const Eigen::Matrix3d turn =
      Eigen::AngleAxisd(angle, motion.spin.normalized()).toRotationMatrix();
  return {pose.position + time * motion.velocity, turn * pose.rotation};
}

Vector3d velocity_at(const Vector3d& point, const Pose& pose, const Motion& motion) {
  return motion.velocity + motion.spin.cross(point - pose.position);
}

ContactFeature random_feature(Random& random, Kind kind, double radius) {
  const Vector3d point = random_vector(random), direction = random_vector(random).normalized();
  switch (kind) {
    case Kind::kPoint:
      return make_point_feature(point, radius);
    case Kind::kLine:
      return make_line_feature(point, direction, radius);
    case Kind::kPlane:
      return make_plane_feature(point, direction);
    case Kind::kCircle:
      return make_circle_feature(point, direction, 0.5 + radius);
    default:
      return {};
  }
}

/// All pairs that evaluate_touch knows.
std::vector<std::pair<Kind, Kind>> all_pairs() {
  std::vector<std::pair<Kind, Kind>> pairs = {
      {Kind::kPoint, Kind::kPoint}, {Kind::kLine, Kind::kLine}, {Kind::kShape, Kind::kShape}};
  for (const auto& [x, y] : {std::pair{Kind::kPoint, Kind::kLine},
                             {Kind::kPoint, Kind::kPlane},
                             {Kind::kPoint, Kind::kCircle},
                             {Kind::kCircle, Kind::kPlane},
                             {Kind::kShape, Kind::kPlane},
                             {Kind::kShape, Kind::kPoint},
                             {Kind::kShape, Kind::kLine}}) {
    pairs.emplace_back(x, y);
    pairs.emplace_back(y, x);
  }
  return pairs;
}

class TouchOfKinds : public ::testing::TestWithParam<std::pair<Kind, Kind>> {};

// Central differences with step t = 1e-5 have an error of t² times third derivatives, which are of
// order 1/distance² ≤ 100 for features more than 0.1 apart, and rounding 1e-15/t: 1e-8 in all. The
// distance of ellipsoids is accurate to 1e-9 only: with t = 1e-3 the error is 1e-6 + 1e-4.
TEST_P(TouchOfKinds, GapChangesAsTheNormalVelocityAtThePoint) {
  const auto [kind_a, kind_b] = GetParam();
  const bool has_shape = kind_a == Kind::kShape || kind_b == Kind::kShape;
  const bool is_whole = kind_a == kind_b && has_shape;
  const CollisionShape a(Ellipsoid{{0.5, 0.3, 0.4}}), b(Ellipsoid{{0.2, 0.6, 0.3}});
  const double step = is_whole ? 1e-3 : 1e-5, tolerance = is_whole ? 3e-4 : 1e-6;
  int num_tried = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const double radius = seed % 2 == 0 ? 0 : 0.3;
    ContactCandidate candidate{.a = random_feature(random, kind_a, radius),
                               .b = random_feature(random, kind_b, radius),
                               .side = random.chance(0.5) ? 1.0 : -1.0};
    const Pose pose_a{random_vector(random), random_rotation(random)};
    const Pose pose_b{random_vector(random), random_rotation(random)};
    const Motion motion_a{random_vector(random), random_vector(random)};
    const Motion motion_b{random_vector(random), random_vector(random)};
    const Touch touch = evaluate_touch(candidate, a, pose_a, b, pose_b);
    EXPECT_NEAR(touch.normal.norm(), 1, 1e-14);
    const double way = touch.gap + candidate.a.radius + candidate.b.radius;
    if (kind_a != Kind::kPlane && kind_b != Kind::kPlane && std::abs(way) < 0.1) continue;
    if (has_shape && touch.gap < 0.1) continue;
    const auto gap_after = [&](double time) {
      return evaluate_touch(candidate, a, moved(pose_a, motion_a, time), b,
                            moved(pose_b, motion_b, time))
          .gap;
    };
    const double rate = (gap_after(step) - gap_after(-step)) / (2 * step);
    const Vector3d relative =
        velocity_at(touch.point, pose_a, motion_a) - velocity_at(touch.point, pose_b, motion_b);
    const Vector3d sum = motion_a.spin + motion_b.spin;
    EXPECT_NEAR(rate, touch.normal.dot(relative), tolerance * (1 + sum.squaredNorm()));
    ++num_tried;
  }
  EXPECT_GT(num_tried, 50);
}

TEST_P(TouchOfKinds, SwappingTurnsTheNormalOnly) {
  const auto [kind_a, kind_b] = GetParam();
  const CollisionShape a(Ellipsoid{{0.5, 0.3, 0.4}}), b(Ellipsoid{{0.2, 0.6, 0.3}});
  for (unsigned seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const ContactCandidate candidate{.a = random_feature(random, kind_a, 0.1),
                                     .b = random_feature(random, kind_b, 0.2),
                                     .side = random.chance(0.5) ? 1.0 : -1.0};
    const Pose pose_a{random_vector(random), random_rotation(random)};
    const Pose pose_b{random_vector(random), random_rotation(random)};
    const Touch touch = evaluate_touch(candidate, a, pose_a, b, pose_b);
    const Touch mirrored = evaluate_touch(swapped(candidate), b, pose_b, a, pose_a);
    EXPECT_NEAR(touch.gap, mirrored.gap, 1e-14);
    EXPECT_LE((touch.normal + mirrored.normal).norm(), 1e-13);
    EXPECT_LE((touch.point - mirrored.point).norm(), 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(AllKinds, TouchOfKinds, ::testing::ValuesIn(all_pairs()));

Touch touch_of(const ContactFeature& a, const ContactFeature& b, double side = 1) {
  const CollisionShape any(Sphere{1});
  return evaluate_touch({.a = a, .b = b, .side = side}, any, Pose{}, any, Pose{});
}

void expect_touch(const Touch& touch, double gap, const Vector3d& normal, const Vector3d& point) {
  EXPECT_NEAR(touch.gap, gap, 1e-15);
  EXPECT_LE((touch.normal - normal).norm(), 1e-15);
  EXPECT_LE((touch.point - point).norm(), 1e-15);
}

TEST(Touch, IsThatOfTheClosedForm) {
  const ContactFeature ball = make_point_feature({0, 0, 3}, 1);
  expect_touch(touch_of(ball, make_point_feature({0, 0, 0}, 1)), 1, {0, 0, 1}, {0, 0, 1.5});
  expect_touch(touch_of(ball, make_line_feature({7, 0, 0}, {1, 0, 0}, 0.5)), 1.5, {0, 0, 1},
               {0, 0, 1.25});
  expect_touch(touch_of(ball, make_plane_feature({5, 6, -1}, {0, 0, 1})), 3, {0, 0, 1},
               {0, 0, 0.5});
  expect_touch(touch_of(make_plane_feature({5, 6, -1}, {0, 0, 1}), ball), 3, {0, 0, -1},
               {0, 0, 0.5});
  // Edges that cross at right angles, 2 apart, a below b.
  expect_touch(touch_of(make_line_feature({9, 1, -1}, {1, 0, 0}),
                        make_line_feature({2, 9, 1}, {0, 1, 0}), -1),
               2, {0, 0, -1}, {2, 1, 0});
  // A rim that stands upright over the ground, lowest point at x = 1.
  expect_touch(touch_of(make_circle_feature({1, 0, 5}, {1, 0, 0}, 2),
                        make_plane_feature({0, 0, 1}, {0, 0, 1})),
               2, {0, 0, 1}, {1, 0, 2});
  expect_touch(
      touch_of(make_point_feature({5, 0, 4}, 1), make_circle_feature({0, 0, 0}, {0, 0, 1}, 2)), 4,
      Vector3d(0.6, 0, 0.8), Vector3d(3.2, 0, 1.6));
}

/// Of all directions ⟂ the line, or of all for a point, the one of largest separation, before and
/// after they meet: by definition, with directions all around and then ever closer.
TEST(Touch, OfAnEllipsoidWithPointsAndLinesIsTheLargestSeparation) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Vector3d radii(random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1));
    const CollisionShape ellipsoid(Ellipsoid{radii}), other(Sphere{1});
    const bool is_line = seed % 2 == 0;
    const ContactFeature feature =
        random_feature(random, is_line ? Kind::kLine : Kind::kPoint, seed % 3 == 0 ? 0.1 : 0);
    const Pose pose{0.5 * random_vector(random), random_rotation(random)};
    const Touch touch = evaluate_touch({.a = {}, .b = feature}, ellipsoid, pose, other, {});
    const auto separation = [&](const Vector3d& n) {
      return n.dot(pose.position - feature.point) -
             radii.cwiseProduct(pose.rotation.transpose() * n).norm() - feature.radius;
    };
    if (is_line) {
      EXPECT_NEAR(touch.normal.dot(feature.direction), 0, 1e-14);
    }
    EXPECT_NEAR(touch.gap, separation(touch.normal), 1e-13);
    for (const double width : {3.0, 1e-1, 1e-3, 1e-5}) {
      for (int i = 0; i < 300; ++i) {
        Vector3d n = touch.normal + width * random_vector(random);
        if (is_line) n -= n.dot(feature.direction) * feature.direction;
        EXPECT_LE(separation(n.normalized()), touch.gap + 1e-13);
      }
    }
  }
}

// A distance has a kink where lines meet, a signed gap has none.
TEST(Touch, OfLinesGoesThroughTheirMeeting) {
  const ContactFeature b = make_line_feature({0, 0, 0}, {0, 1, 0});
  for (const double height : {1e-3, 1e-9, 0.0, -1e-9, -1e-3}) {
    const Touch touch = touch_of(make_line_feature({0, 0, height}, {1, 0, 0}), b);
    EXPECT_DOUBLE_EQ(touch.gap, height);
    EXPECT_EQ(touch.normal, Vector3d(0, 0, 1));
  }
}

/// A rim and a mantle whose axes are up to 0.1 rad off parallel.
struct RimAndMantle {
  explicit RimAndMantle(unsigned seed) : random(seed) {
    const Vector3d axis = random_vector(random).normalized();
    const Vector3d other = (axis + 0.09 * random_vector(random).normalized()).normalized();
    rim = make_circle_feature(random_vector(random), axis, 0.4);
    mantle = make_line_feature(rim.point + 1.2 * axis.cross(random_vector(random)).normalized(),
                               other, 0.3);
  }
  Random random;
  ContactFeature rim, mantle;
};

// On a straight way past a rod or a ball, in the plane of x and z; z is up.
TEST(Touch, OfWhatHasGoneThroughIsThatOfThePlaneOfTheStart) {
  const CollisionShape ball(Sphere{0.5}), small(Sphere{0.1});
  const double reach = 0.6;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    const bool is_rod = random.chance(0.5);
    const Pose world{random_vector(random), random_rotation(random)};
    const auto at = [&](const Vector3d& place) {
      return world * Pose{place, random_rotation(random)};
    };
    const Vector3d start(random.uniform(-1, 1), 0, random.uniform(0.7, 2)),
        end(random.uniform(-2, 2), 0, random.uniform(-2, 1));
    ContactCandidate candidate{.a = make_point_feature(Vector3d::Zero(), 0.5),
                               .b = is_rod ? make_line_feature({0, 0.3, 0}, Vector3d::UnitY(), 0.1)
                                           : make_point_feature(Vector3d::Zero(), 0.1)};
    const Touch before = evaluate_touch(candidate, ball, at(start), small, world);
    EXPECT_NEAR(before.gap, start.norm() - reach, 1e-14);
    candidate.gap = before.gap;
    candidate.normal = before.normal;
    const Pose after = at(end);
    const Touch touch = evaluate_touch(candidate, ball, after, small, world);
    const Vector3d way = (end - start).normalized();
    const double passed_at = (start - start.dot(way) * way).norm();
    const bool is_through =
        passed_at < 0.9 * reach && start.dot(way) < 0 && end.dot(way) > 0;  // and not a graze
    const Vector3d normal = is_through ? start.normalized() : end.normalized();
    EXPECT_NEAR(touch.gap, normal.dot(end) - reach, 1e-13) << seed;
    EXPECT_LE((touch.normal - world.rotation * normal).norm(), 1e-13);
    // Half way between the two surfaces along that normal, from the middle of both.
    EXPECT_LE((touch.point - world * Vector3d(0.5 * (end - 0.4 * normal))).norm(), 1e-13);
    const Touch mirrored = evaluate_touch(swapped(candidate), small, world, ball, after);
    EXPECT_NEAR(mirrored.gap, touch.gap, 1e-14);
    EXPECT_LE((mirrored.normal + touch.normal).norm(), 1e-13);
    EXPECT_LE((mirrored.point - touch.point).norm(), 1e-14);
    // Nothing was known of where it came from.
    const ContactCandidate unknown{.a = candidate.a, .b = candidate.b};
    EXPECT_NEAR(evaluate_touch(unknown, ball, after, small, world).gap, end.norm() - reach, 1e-13);
  }
}

TEST(Touch, BeforeDetectionIsThatOfTheDistance) {
  const CollisionShape ball(Sphere{0.5}), small(Sphere{0.1});
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    // Below each other, where the height along any first normal is the distance up to rounding.
    const Vector3d offset(1e-9 * random.uniform(-1, 1), 0, -random.uniform(0.1, 2));
    for (const bool is_rod : {false, true}) {
      const ContactCandidate candidate{
          .a = make_point_feature(Vector3d::Zero(), 0.5),
          .b = is_rod ? make_line_feature(Vector3d::Zero(), Vector3d::UnitY(), 0.1)
                      : make_point_feature(Vector3d::Zero(), 0.1)};
      const Touch touch =
          evaluate_touch(candidate, ball, {offset, Eigen::Matrix3d::Identity()}, small, Pose{});
      EXPECT_NEAR(touch.gap, offset.norm() - 0.6, 1e-15);
    }
  }
}

// Corners and edges have no radius: what has passed them may be beside their faces.
TEST(Touch, OfABallAndAnEdgeIsThatOfTheDistanceWhereverItGoes) {
  const CollisionShape ball(Sphere{0.5}), box(Box{{1, 1, 1}});
  ContactCandidate candidate{.a = make_point_feature(Vector3d::Zero(), 0.5),
                             .b = make_line_feature(Vector3d::Zero(), Vector3d::UnitY())};
  candidate.gap = 0.5;
  candidate.normal = Vector3d::UnitZ();
  const Touch touch =
      evaluate_touch(candidate, ball, {{0.1, 0, -1}, Eigen::Matrix3d::Identity()}, box, Pose{});
  EXPECT_NEAR(touch.gap, std::hypot(0.1, 1) - 0.5, 1e-15);
}

TEST(Touch, OfARimAndAMantleIsThatOfTheNearestPointOfTheRim) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RimAndMantle pair(seed);
    const Touch touch = touch_of(pair.rim, pair.mantle);
    const Vector3d on_rim = touch.point + 0.5 * touch.gap * touch.normal;
    EXPECT_NEAR((on_rim - pair.rim.point).norm(), pair.rim.radius, 1e-14);
    EXPECT_NEAR((on_rim - pair.rim.point).dot(pair.rim.direction), 0, 1e-14);
    const auto gap_of = [&](const Vector3d& point) {
      return pair.mantle.direction.cross(point - pair.mantle.point).norm() - pair.mantle.radius;
    };
    EXPECT_NEAR(gap_of(on_rim), touch.gap, 1e-14);
    const Vector3d u = (on_rim - pair.rim.point).normalized(), v = pair.rim.direction.cross(u);
    for (int k = 0; k < 1000; ++k) {
      const double angle = 2 * std::numbers::pi * k / 1000;
      EXPECT_GE(
          gap_of(pair.rim.point + pair.rim.radius * (std::cos(angle) * u + std::sin(angle) * v)),
          touch.gap - 1e-14);
    }
    const Touch mirrored = touch_of(pair.mantle, pair.rim);
    EXPECT_EQ(mirrored.gap, touch.gap);
    EXPECT_EQ(mirrored.normal, -touch.normal);
  }
}

// Tolerance: as of TouchOfKinds.
TEST(Touch, OfARimAndAMantleChangesAsTheNormalVelocityAtThePoint) {
  const CollisionShape any(Sphere{1});
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RimAndMantle pair(seed);
    const ContactCandidate candidate{.a = pair.rim, .b = pair.mantle};
    const Motion motion_a{random_vector(pair.random), random_vector(pair.random)};
    const Motion motion_b{random_vector(pair.random), random_vector(pair.random)};
    const auto gap_after = [&](double time) {
      return evaluate_touch(candidate, any, moved(Pose{}, motion_a, time), any,
                            moved(Pose{}, motion_b, time))
          .gap;
    };
    const Touch touch = touch_of(pair.rim, pair.mantle);
    const Vector3d relative =
        velocity_at(touch.point, Pose{}, motion_a) - velocity_at(touch.point, Pose{}, motion_b);
    const double rate = (gap_after(1e-5) - gap_after(-1e-5)) / 2e-5;
    EXPECT_NEAR(rate, touch.normal.dot(relative), 1e-6);
  }
}

/// A rim that is inside of the other cylinder and goes through its axis.
TEST(Touch, OfARimGoesThroughTheAxisOfAMantle) {
  const ContactFeature mantle = make_line_feature({0, 0, 0}, {0, 0, 1}, 0.3);
  for (const double place : {0.41, 0.4 + 1e-9, 0.4, 0.4 - 1e-9, 0.39, 0.1}) {
    const Touch touch = touch_of(make_circle_feature({place, 0, 1}, {0, 0, 1}, 0.4), mantle);
    EXPECT_NEAR(touch.gap, place - 0.7, 1e-15);
    EXPECT_LE((touch.normal - Vector3d::UnitX()).norm(), 1e-15);
  }
}

TEST(Touch, IsFiniteWhereNoNormalIsDefined) {
  const ContactFeature point = make_point_feature({1, 2, 3});
  const ContactFeature line = make_line_feature({1, 2, 3}, {0, 0, 1});
  const ContactFeature circle = make_circle_feature({1, 2, 3}, {0, 0, 1}, 1);
  const ContactFeature plane = make_plane_feature({0, 0, 0}, {0, 0, 1});
  for (const auto& [x, y] : {std::pair{point, point},
                             {point, line},
                             {line, line},
                             {point, circle},
                             {circle, plane},
                             {line, circle}}) {
    const Touch touch = touch_of(x, y);
    EXPECT_TRUE(std::isfinite(touch.gap) && touch.point.allFinite());
    EXPECT_NEAR(touch.normal.norm(), 1, 1e-15);
  }
}

TEST(ContactId, IsDifferentForDifferentFeatures) {
  using CodeKind = FeatureCode::Kind;
  std::vector<FeatureCode> codes;
  for (const CodeKind kind : {CodeKind::kWhole, CodeKind::kVertex, CodeKind::kEdge, CodeKind::kFace,
                              CodeKind::kRim, CodeKind::kRimPoint, CodeKind::kOther}) {
    for (const unsigned index : {0u, 1u, 77u, (1u << 28) - 1}) codes.push_back({kind, index});
  }
  std::set<std::uint64_t> ids;
  for (const FeatureCode& a : codes) {
    for (const FeatureCode& b : codes) {
      const std::uint64_t id = make_contact_id(a, b);
      ids.insert(id);
      EXPECT_EQ(id & kAlternativeBit, 0u);
      EXPECT_EQ(swapped_contact_id(id), make_contact_id(b, a));
      EXPECT_EQ(swapped_contact_id(swapped_contact_id(id | kAlternativeBit)), id | kAlternativeBit);
    }
  }
  EXPECT_EQ(ids.size(), codes.size() * codes.size());
}

}  // namespace
}  // namespace stiction
