#include "stiction/geometry/collect_contacts.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "tests/geometry/contact_checks.h"
#include "tests/geometry/random_pairs.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Kind = ContactFeature::Kind;

constexpr double kPi = std::numbers::pi;

Matrix3d turn_about(const Vector3d& axis, double angle) {
  return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix();
}

Pose at(double x, double y, double z) { return {{x, y, z}, Matrix3d::Identity()}; }

Pose jittered(Random& random, const Pose& pose, double size) {
  return {pose.position + size * random_vector(random),
          turn_about(random_vector(random), size * random.uniform()) * pose.rotation};
}

// ---- cubes -------------------------------------------------------------------------------------

TEST(CollectContacts, CubeOnPlaneHasItsFourCornersHoweverTheWorldIsTurned) {
  const CollisionShape cube(Box{{1, 1, 1}}), ground(Plane{});
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Pose world{100 * random_vector(random), random_rotation(random)};
    const Pose rest = at(0, 0, 0.5);
    std::set<std::uint64_t> ids;
    for (int k = 0; k < 20; ++k) {
      const Pose pose_a = world * (k == 0 ? rest : jittered(random, rest, 1e-9));
      const ContactList list = contacts_of(cube, pose_a, ground, world, {.reach = 1e-3});
      ASSERT_EQ(list.candidates.size(), 4u);
      for (const ContactCandidate& candidate : list.candidates) {
        EXPECT_NEAR(candidate.gap, 0, 1e-8);
        EXPECT_EQ(candidate.a.kind, Kind::kPoint);
        EXPECT_EQ(candidate.b.kind, Kind::kPlane);
      }
      if (k == 0) ids = ids_of(list);
      EXPECT_EQ(ids_of(list), ids);
    }
  }
}

/// The corners of the overlap of two convex polygons, one side after the other.
std::vector<Vector2d> overlap_of(std::vector<Vector2d> polygon, const std::vector<Vector2d>& by) {
  for (std::size_t k = 0; k < by.size(); ++k) {
    const Vector2d v = by[k], along = by[(k + 1) % by.size()] - v;
    const auto height = [&](const Vector2d& x) {
      return along.x() * (x - v).y() - along.y() * (x - v).x();  // > 0 inside
    };
    std::vector<Vector2d> kept;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Vector2d x = polygon[i], y = polygon[(i + 1) % polygon.size()];
      if (height(x) >= 0) kept.push_back(x);
      if ((height(x) > 0) != (height(y) > 0) && height(x) != 0 && height(y) != 0) {
        kept.push_back(x + height(x) / (height(x) - height(y)) * (y - x));
      }
    }
    polygon = kept;
  }
  return polygon;
}

std::vector<Vector2d> rectangle(const Vector3d& size, double x, double y, double angle) {
  std::vector<Vector2d> corners;
  const Eigen::Rotation2Dd turn(angle);
  for (const auto& [i, j] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
    corners.push_back(turn * Vector2d(i * size.x() / 2, j * size.y() / 2) + Vector2d(x, y));
  }
  return corners;
}

void expect_same_points(const ContactList& list, const std::vector<Vector2d>& expected,
                        double tolerance) {
  ASSERT_EQ(list.candidates.size(), expected.size());
  for (const ContactCandidate& candidate : list.candidates) {
    double nearest = 1e300;
    for (const Vector2d& point : expected) {
      nearest = std::min(nearest, (candidate.point.head<2>() - point).norm());
    }
    EXPECT_LE(nearest, tolerance);
  }
}

TEST(CollectContacts, CubeOnCubeHasTheCornersOfTheOverlap) {
  const CollisionShape cube(Box{{1, 1, 1}});
  EXPECT_EQ(contacts_of(cube, at(0, 0, 1), cube, Pose{}, {.reach = 1e-3}).candidates.size(), 4u);
  const Pose turned{{0, 0, 1}, turn_about({0, 0, 1}, kPi / 4)};
  EXPECT_EQ(contacts_of(cube, turned, cube, Pose{}, {.reach = 1e-3}).candidates.size(), 8u);
}

TEST(CollectContacts, BoxOnBoxHasTheCornersOfTheOverlapOfTheirFaces) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Vector3d size_a(random.uniform(0.2, 2), random.uniform(0.2, 2), 1);
    const Vector3d size_b(random.uniform(0.2, 2), random.uniform(0.2, 2), 1);
    const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
    const double angle = random.uniform(0, 2 * kPi), gap = random.uniform(-1e-2, 1e-2);
    const auto expected = overlap_of(rectangle(size_a, x, y, angle), rectangle(size_b, 0, 0, 0));
    if (expected.size() < 3) continue;
    const Pose pose{{x, y, 1 + gap}, turn_about({0, 0, 1}, angle)};
    for (const bool is_hull : {false, true}) {
      const CollisionShape a =
          is_hull ? CollisionShape(Convex{box_corners(size_a)}) : CollisionShape(Box{size_a});
      const CollisionShape b(Box{size_b});
      const ContactList list = contacts_of(a, pose, b, Pose{}, {.reach = 0.02});
      // Thin overlaps are deeper upwards than sideways.
      if (list.candidates.empty() || list.candidates[0].normal.z() < 0.99) continue;
      expect_same_points(list, expected, 1e-12);
      for (const ContactCandidate& candidate : list.candidates) {
        EXPECT_NEAR(candidate.gap, gap, 1e-14);
      }
    }
  }
}

TEST(CollectContacts, BoxesThatOverlapSidewaysBySixHundredthsOfAMillimetreTouchInThatSliver) {
  const CollisionShape cube(Box{{1, 1, 1}});
  const double overlap = 6e-5;
  const ContactList list =
      contacts_of(cube, at(1 - overlap, 0, 1 + 1e-6), cube, Pose{}, {.reach = 1e-3});
  ASSERT_EQ(list.candidates.size(), 4u);
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_NEAR(candidate.gap, 1e-6, 1e-15);
    EXPECT_EQ(candidate.normal, Vector3d(0, 0, 1));
    EXPECT_NEAR(std::abs(candidate.point.x() - (0.5 - overlap / 2)), overlap / 2, 1e-15);
    EXPECT_NEAR(std::abs(candidate.point.y()), 0.5, 1e-15);
  }
}

TEST(CollectContacts, IdsOfStackedCubesOutliveJitter) {
  const CollisionShape cube(Box{{1, 1, 1}}), plate(Box{{1.5, 0.7, 0.2}});
  for (const Pose& pose : {at(0, 0, 0.6), at(0.3, 0.1, 0.6), at(0.25, 0.15, 0.6)}) {
    const std::set<std::uint64_t> ids =
        ids_of(contacts_of(cube, pose, plate, Pose{}, {.reach = 1e-3}));
    EXPECT_EQ(ids.size(), 4u);
    for (unsigned seed = 0; seed < 50; ++seed) {
      Random random(seed);
      const Pose world{random_vector(random), random_rotation(random)};
      const ContactList list =
          contacts_of(cube, world * jittered(random, pose, 1e-9), plate, world, {.reach = 1e-3});
      EXPECT_EQ(ids_of(list), ids);
    }
  }
}

TEST(CollectContacts, CubesWithCrossingEdgesHaveOneContactOfLines) {
  const CollisionShape cube(Box{{1, 1, 1}});
  const Matrix3d on_edge = turn_about({0, 1, 0}, kPi / 4);
  const double half = std::sqrt(0.5);
  for (const double gap : {1e-3, 0.0, -1e-3}) {
    const Pose upper{{0.1, 0.2, 2 * half + gap}, turn_about({0, 0, 1}, kPi / 2) * on_edge};
    const ContactList list =
        contacts_of(cube, upper, cube, {Vector3d::Zero(), on_edge}, {.reach = 2e-3});
    ASSERT_EQ(list.candidates.size(), 1u);
    const ContactCandidate& candidate = list.candidates[0];
    EXPECT_EQ(candidate.a.kind, Kind::kLine);
    EXPECT_EQ(candidate.b.kind, Kind::kLine);
    EXPECT_NEAR(candidate.gap, gap, 1e-15);
    EXPECT_LE((candidate.normal - Vector3d(0, 0, 1)).norm(), 1e-14);
    EXPECT_LE((candidate.point - Vector3d(0, 0.2, half + gap / 2)).norm(), 1e-14);
  }
}

TEST(CollectContacts, ParallelEdgesHaveTheEndsOfTheirOverlap) {
  const CollisionShape cube(Box{{1, 1, 1}});
  const Matrix3d on_edge = turn_about({0, 1, 0}, kPi / 4);
  const Pose upper{{0, 0.3, std::sqrt(2.0) + 1e-3}, on_edge};
  const ContactList list =
      contacts_of(cube, upper, cube, {Vector3d::Zero(), on_edge}, {.reach = 2e-3});
  ASSERT_EQ(list.candidates.size(), 2u);
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_NEAR(candidate.gap, 1e-3, 1e-14);
    EXPECT_NEAR(std::abs(candidate.point.y() - 0.15), 0.35, 1e-14);
  }
}

// Corner to corner, no face involved: along the line between them, at their distance.
TEST(CollectContacts, CornersHaveTheDirectionBetweenThem) {
  const CollisionShape cube(Box{{1, 1, 1}});
  const ContactList list =
      contacts_of(cube, at(1.001, 1.002, 1.002), cube, Pose{}, {.reach = 0.01});
  ASSERT_EQ(list.candidates.size(), 1u);
  EXPECT_NEAR(list.candidates[0].gap, 0.003, 1e-14);
  EXPECT_LE((list.candidates[0].normal - Vector3d(1, 2, 2) / 3).norm(), 1e-11);
}

// A slightly tilted cube touches with an edge or corner first; the others follow within reach.
TEST(CollectContacts, TiltedCubeHasAllCornersWithinReach) {
  const CollisionShape cube(Box{{1, 1, 1}}), floor(Box{{4, 4, 1}});
  for (unsigned seed = 0; seed < 200; ++seed) {
    Random random(seed);
    Vector3d axis = random_vector(random);
    axis.z() = 0;
    const double angle = std::pow(10, random.uniform(-12, -3));
    const Pose pose{{0, 0, 1.001}, turn_about(axis, angle)};
    const ContactList list = contacts_of(cube, pose, floor, Pose{}, {.reach = 0.01});
    ASSERT_EQ(list.candidates.size(), 4u) << "seed " << seed;
    for (const ContactCandidate& candidate : list.candidates) {
      // Below a tilt of 1e-9 it is the cube's own face that the gaps are measured from.
      if (candidate.a.kind == Kind::kPlane) continue;
      EXPECT_NEAR(candidate.gap, (pose * candidate.a.point).z() - 0.5, 1e-15);
    }
  }
}

// ---- hulls -------------------------------------------------------------------------------------

TEST(CollectContacts, HullWithManyPointsPerFaceTouchesWithItsCorners) {
  Convex hull;
  for (int i = 0; i <= 5; ++i) {
    for (int j = 0; j <= 5; ++j) {
      for (const double z : {-0.5, 0.5}) hull.points.emplace_back(i / 5.0, j / 5.0, z);
    }
  }
  const CollisionShape a(hull);
  const Pose pose = at(0, 0, 0.5);
  EXPECT_EQ(
      contacts_of(a, pose, CollisionShape(Plane{}), Pose{}, {.reach = 1e-3}).candidates.size(), 4u);
  const CollisionShape floor(Box{{4, 4, 2}});
  EXPECT_EQ(contacts_of(a, pose, floor, at(0, 0, -1), {.reach = 1e-3}).candidates.size(), 4u);
}

Convex prism(int count, double radius, double angle) {
  Convex hull;
  for (int k = 0; k < count; ++k) {
    const double turn = 2 * kPi * k / count + angle;
    for (const double z : {-0.5, 0.5}) {
      hull.points.emplace_back(radius * std::cos(turn), radius * std::sin(turn), z);
    }
  }
  return hull;
}

// Two regular polygons of n sides, turned against each other by half a side, cut off each other's
// corners: 2n crossings.
TEST(CollectContacts, PolygonsWithManyCornersGiveAllOfTheOverlap) {
  for (const int count : {5, 40, 600}) {
    const CollisionShape a(prism(count, 1, 0)), b(prism(count, 1, kPi / count));
    const ContactList list = contacts_of(a, at(0, 0, 1), b, Pose{}, {.reach = 1e-4});
    EXPECT_EQ(list.candidates.size(), 2u * count);
    const double inner = std::cos(kPi / count);
    for (const ContactCandidate& candidate : list.candidates) {
      EXPECT_GE(candidate.point.head<2>().norm(), inner - 1e-12);
      EXPECT_LE(candidate.point.head<2>().norm(), 1 + 1e-12);
      EXPECT_NEAR(candidate.gap, 0, 1e-12);
    }
    const CollisionShape same(prism(count, 1, 0));
    EXPECT_EQ(contacts_of(a, at(0, 0, 1), same, Pose{}, {.reach = 1e-4}).candidates.size(),
              static_cast<std::size_t>(count));
  }
}

TEST(CollectContacts, EveryCornerOfAHullWithinReachOfTheFaceBelowIsThere) {
  const CollisionShape floor(Box{{2, 2, 1}});
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Convex hull;
    const int count = random.integer(10, 80);
    for (int k = 0; k < count; ++k) hull.points.push_back(random_vector(random).normalized());
    const CollisionShape a(hull);
    Pose pose{{random.uniform(-0.9, 0.9), random.uniform(-0.9, 0.9), 2}, random_rotation(random)};
    const double reach = random.uniform(0, 0.4);
    pose.position.z() +=
        random.uniform(0, reach) -
        compute_distance(a, pose, CollisionShape(Plane{.offset = 0.5}), Pose{}).gap;
    const ContactList list = contacts_of(a, pose, floor, Pose{}, {.reach = reach});
    if (list.candidates.empty() || list.candidates[0].normal.z() < 1 - 1e-12) continue;
    std::size_t num_expected = 0;
    for (const Vector3d& vertex : a.polytope()->vertices()) {
      const Vector3d point = pose * vertex;
      if (point.z() - 0.5 > reach || point.head<2>().cwiseAbs().maxCoeff() > 1) continue;
      ++num_expected;
      const bool is_there = std::any_of(
          list.candidates.begin(), list.candidates.end(), [&](const ContactCandidate& candidate) {
            return candidate.a.kind == Kind::kPoint && (candidate.a.point - vertex).norm() == 0;
          });
      EXPECT_TRUE(is_there) << vertex.transpose();
    }
    EXPECT_GE(list.candidates.size(), num_expected);
  }
}

// ---- capsules ----------------------------------------------------------------------------------

TEST(CollectContacts, ParallelCapsulesHaveBothEndsOfTheirOverlap) {
  const CollisionShape a(Capsule{.radius = 0.1, .length = 1}),
      b(Capsule{.radius = 0.2, .length = 2});
  for (const double angle : {0.0, 1e-12, 1e-6, 1e-3}) {
    const Pose pose{{0.3 + 1e-3, 0, 1.2}, turn_about({1, 0, 0}, angle)};
    const ContactList list = contacts_of(a, pose, b, Pose{}, {.reach = 0.01});
    std::vector<double> heights;
    for (const ContactCandidate& candidate : list.candidates)
      heights.push_back(candidate.point.z());
    std::sort(heights.begin(), heights.end());
    ASSERT_GE(heights.size(), 2u) << angle;
    EXPECT_LE(heights.size(), 3u);
    EXPECT_NEAR(heights.front(), 0.7, 2 * angle + 1e-15);
    EXPECT_NEAR(heights.back(), 1.0, 2 * angle + 1e-15);
    EXPECT_NEAR(smallest_gap(list), 1e-3, 2 * angle * angle + 1e-15);
  }
}

TEST(CollectContacts, CrossingCapsulesHaveOneContact) {
  const CollisionShape a(Capsule{.radius = 0.1, .length = 1}),
      b(Capsule{.radius = 0.2, .length = 2});
  const Pose pose{{0.1, 0.301, 0.2}, turn_about({0, 1, 0}, kPi / 3)};
  const ContactList list = contacts_of(a, pose, b, Pose{}, {.reach = 0.01});
  ASSERT_EQ(list.candidates.size(), 1u);
  EXPECT_EQ(list.candidates[0].a.kind, Kind::kLine);
  EXPECT_NEAR(list.candidates[0].gap, 1e-3, 1e-15);
}

TEST(CollectContacts, CapsuleOnPlaneAndOnBoxHasBothEnds) {
  const CollisionShape capsule(Capsule{.radius = 0.1, .length = 1}), ground(Plane{});
  const Matrix3d lying = turn_about({0, 1, 0}, kPi / 2);
  EXPECT_EQ(
      contacts_of(capsule, {{0, 0, 0.1}, lying}, ground, Pose{}, {.reach = 1e-3}).candidates.size(),
      2u);
  // On a narrow box the ends are those of the part over it.
  const CollisionShape beam(Box{{0.4, 4, 1}});
  const ContactList list =
      contacts_of(capsule, {{0.5, 0, 0.601}, lying}, beam, Pose{}, {.reach = 0.01});
  ASSERT_EQ(list.candidates.size(), 2u);
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_NEAR(candidate.gap, 1e-3, 1e-15);
    EXPECT_NEAR(std::abs(candidate.point.x() - 0.1), 0.1, 1e-12);
  }
}

TEST(CollectContacts, CapsuleAlongAnEdgeHasBothEndsOfTheOverlap) {
  const CollisionShape capsule(Capsule{.radius = 0.1, .length = 1}), cube(Box{{1, 1, 1}});
  const double away = 0.5 + 0.11 / std::sqrt(2.0);
  const ContactList list = contacts_of(capsule, at(away, away, 0.3), cube, Pose{}, {.reach = 0.02});
  ASSERT_EQ(list.candidates.size(), 2u);
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_NEAR(candidate.gap, 0.01, 1e-14);
    EXPECT_NEAR(std::abs(candidate.point.z() - 0.15), 0.35, 1e-12);
  }
}

TEST(CollectContacts, SpheresHaveOneContactWithEverything) {
  const CollisionShape ball(Sphere{0.5});
  for (const Shape& shape :
       {Shape(Sphere{1}), Shape(Capsule{0.5, 1}), Shape(Box{{1, 1, 1}}), Shape(Cylinder{0.5, 1}),
        Shape(Ellipsoid{{1, 2, 3}}), Shape(Convex{box_corners({1, 1, 1})}), Shape(Plane{})}) {
    const CollisionShape b(shape);
    for (unsigned seed = 0; seed < 100; ++seed) {
      Random random(seed);
      const Pose pose{random_vector(random), random_rotation(random)};
      const SignedDistance distance = compute_distance(ball, pose, b, Pose{});
      const ContactList list = contacts_of(ball, pose, b, Pose{}, {.reach = distance.gap + 1e-3});
      ASSERT_EQ(list.candidates.size(), 1u) << name_of(shape) << seed;
      EXPECT_NEAR(list.candidates[0].gap, distance.gap, 1e-9);
      EXPECT_LE((list.candidates[0].normal - distance.normal).norm(), 1e-7);
    }
  }
}

// Beyond the rim by s the edge is nearer than the plane of the face by s²/(2 d) only, which is less
// than separations that count as equal: the place has to decide.
TEST(CollectContacts, BallJustBeyondARimTouchesTheEdge) {
  const CollisionShape ball(Sphere{0.14}), plate(Box{{1.2, 2.5, 0.06}});
  for (const double beyond : {-1e-6, 5e-6, 2e-5}) {
    const Vector3d centre(0.3, 1.25 + beyond, 0.03 + 0.1405);
    const ContactList list = contacts_of(ball, {.position = centre}, plate, {}, {.reach = 0.01});
    ASSERT_EQ(list.candidates.size(), 1u);
    const ContactCandidate& contact = list.candidates[0];
    const Vector3d nearest(0.3, std::min(centre.y(), 1.25), 0.03);
    EXPECT_NEAR(contact.gap, (centre - nearest).norm() - 0.14, 1e-15);
    EXPECT_LE((contact.point - 0.5 * contact.gap * contact.normal - nearest).norm(), 1e-9)
        << beyond;
  }
}

// ---- cylinders ---------------------------------------------------------------------------------

TEST(CollectContacts, StandingCylinderKeepsItsPatchUnderJitter) {
  const CollisionShape cylinder(Cylinder{.radius = 0.5, .length = 2});
  for (const Shape& shape : {Shape(Plane{}), Shape(Box{{3, 3, 2}}), Shape(Cylinder{2, 2})}) {
    const CollisionShape ground(shape);
    const double top = ground.kind() == ShapeKind::kPlane ? 0 : 1;
    const ContactList rest =
        contacts_of(cylinder, at(0.1, 0.2, 1 + top), ground, Pose{}, {.reach = 1e-3});
    EXPECT_EQ(rest.candidates.size(), 8u) << name_of(shape);
    Vector3d mean = Vector3d::Zero();
    for (const ContactCandidate& candidate : rest.candidates) mean += candidate.point / 8;
    EXPECT_LE((mean - Vector3d(0.1, 0.2, top)).norm(), 1e-14);
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const Pose pose = jittered(random, at(0.1, 0.2, 1 + top), 1e-10);
      EXPECT_EQ(ids_of(contacts_of(cylinder, pose, ground, Pose{}, {.reach = 1e-3})), ids_of(rest));
    }
  }
}

TEST(CollectContacts, LyingCylinderHasBothEndsOfItsLine) {
  const CollisionShape cylinder(Cylinder{.radius = 0.5, .length = 2});
  const Pose pose{{0, 0, 0.5}, turn_about({0, 1, 0}, kPi / 2)};
  for (const Shape& shape : {Shape(Plane{}), Shape(Box{{3, 3, 2}})}) {
    const CollisionShape ground(shape);
    const Pose below = at(0, 0, ground.kind() == ShapeKind::kPlane ? 0 : -1);
    const ContactList list = contacts_of(cylinder, pose, ground, below, {.reach = 1e-3});
    ASSERT_EQ(list.candidates.size(), 2u) << name_of(shape);
    for (const ContactCandidate& candidate : list.candidates) {
      EXPECT_NEAR(candidate.gap, 0, 1e-14);
      EXPECT_NEAR(std::abs(candidate.point.x()), 1, 1e-14);
    }
  }
}

TEST(CollectContacts, TiltedCylinderStandsOnItsRim) {
  const CollisionShape cylinder(Cylinder{.radius = 0.5, .length = 2}), ground(Plane{});
  for (const double angle : {1e-3, 0.1, 0.7, 1.2}) {
    const Vector3d axis(std::cos(0.2), std::sin(0.2), 0);
    const double height = std::cos(angle) + 0.5 * std::sin(angle);
    const Pose pose{{0, 0, height + 1e-5}, turn_about(axis, angle)};
    const ContactList list = contacts_of(cylinder, pose, ground, Pose{}, {.reach = 2e-5});
    ASSERT_FALSE(list.candidates.empty());
    EXPECT_NEAR(smallest_gap(list), 1e-5, 1e-14);
  }
}

// If all of the rim is within reach the end may come to lie flat: then there is no circle, whose
// lowest point would run around, but points that stay, in all directions and with the lowest one.
TEST(CollectContacts, CylinderAboutToLandHasPointsAllAround) {
  const CollisionShape cylinder(Cylinder{.radius = 0.5, .length = 0.2});
  for (const Shape& shape : {Shape(Plane{}), Shape(Box{{3, 3, 2}}), Shape(Cylinder{2, 2})}) {
    const CollisionShape ground(shape);
    const double top = std::holds_alternative<Plane>(shape) ? 0 : 1;
    for (const double angle : {1e-6, 1e-3, 0.02}) {
      SCOPED_TRACE(::testing::Message() << "kind " << shape.index() << " angle " << angle);
      const double height = 0.1 * std::cos(angle) + 0.5 * std::sin(angle);
      const Pose pose{{0, 0, top + height + 1e-5},
                      turn_about(Vector3d(1, 0.3, 0).normalized(), angle)};
      const ContactList list = contacts_of(cylinder, pose, ground, Pose{}, {.reach = 0.05});
      EXPECT_EQ(list.candidates.size(), 9u);
      EXPECT_NEAR(smallest_gap(list), 1e-5, 1e-14);
      for (const ContactCandidate& candidate : list.candidates)
        EXPECT_EQ(candidate.a.kind, ContactFeature::Kind::kPoint);
      for (int k = 0; k < 64; ++k) {  // the fixed points are 45° apart
        const double azimuth = std::numbers::pi / 32 * k;
        double furthest = 0;
        for (const ContactCandidate& candidate : list.candidates) {
          furthest = std::max(furthest, std::cos(azimuth) * candidate.a.point.x() +
                                            std::sin(azimuth) * candidate.a.point.y());
        }
        EXPECT_GE(furthest, 0.5 * std::cos(std::numbers::pi / 8) - 1e-12);
      }
      // The far side is 2 r sin(angle) higher than the near one.
      const double below = 1e-5 + 0.9 * std::sin(angle);
      const ContactList rolling = contacts_of(cylinder, pose, ground, Pose{}, {.reach = below});
      EXPECT_TRUE(std::any_of(rolling.candidates.begin(), rolling.candidates.end(),
                              [](const ContactCandidate& candidate) {
                                return candidate.a.kind == ContactFeature::Kind::kCircle;
                              }));
    }
  }
}

TEST(CollectContacts, ParallelCylindersHaveBothEndsOfTheirOverlap) {
  const CollisionShape a(Cylinder{.radius = 0.5, .length = 2}),
      b(Cylinder{.radius = 0.3, .length = 3});
  for (const double angle : {0.0, 1e-12}) {
    const Pose pose{{0.801, 0, 1}, turn_about({1, 0, 0}, angle)};
    const ContactList list = contacts_of(a, pose, b, Pose{}, {.reach = 0.01});
    ASSERT_EQ(list.candidates.size(), 2u);
    for (const ContactCandidate& candidate : list.candidates) {
      EXPECT_NEAR(candidate.gap, 1e-3, 1e-12);
      EXPECT_NEAR(std::abs(candidate.point.z() - 0.75), 0.75, 1e-12);
    }
  }
}

/// [m] of a point from the surface of a cylinder about the axis z.
double off_cylinder(const Cylinder& cylinder, const Vector3d& point) {
  const double across = point.head<2>().norm() - cylinder.radius,
               along = std::abs(point.z()) - cylinder.length / 2;
  return across <= 0 && along <= 0 ? std::max(across, along)
                                   : std::hypot(std::max(across, 0.0), std::max(along, 0.0));
}

// Logs in a pile: a ball about the end of an axis would be off the mantle by r (angle)²/2.
TEST(CollectContacts, OfNearlyParallelCylindersLieOnBothSurfaces) {
  const Cylinder thick{.radius = 0.5, .length = 4}, thin{.radius = 0.3, .length = 3};
  const CollisionShape a(thick), b(thin);
  int num_contacts = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const double angle = std::pow(10.0, -1 - 6 * random.uniform(0, 1));
    const Vector3d about(random.uniform(-1, 1), random.uniform(-1, 1), 0);
    const Pose pose{{0.79, random.uniform(-0.05, 0.05), random.uniform(-2, 2)},
                    turn_about(about.normalized(), angle)};
    const ContactList list = contacts_of(a, pose, b, Pose{}, {.reach = 0.1});
    for (const ContactCandidate& candidate : list.candidates) {
      const Vector3d half = 0.5 * candidate.gap * candidate.normal;
      EXPECT_NEAR(off_cylinder(thick, inverse(pose) * Vector3d(candidate.point + half)), 0, 1e-8);
      EXPECT_NEAR(off_cylinder(thin, candidate.point - half), 0, 1e-8);
      ++num_contacts;
    }
  }
  EXPECT_GT(num_contacts, 200);
}

TEST(CollectContacts, CylinderOverTheBorderOfABoxHasTheOverlapOfDiscAndFace) {
  const CollisionShape cylinder(Cylinder{.radius = 0.5, .length = 2}), cube(Box{{2, 2, 2}});
  const ContactList list = contacts_of(cylinder, at(1, 0, 2), cube, Pose{}, {.reach = 1e-3});
  double smallest = 1e300, largest = -1e300;
  for (const ContactCandidate& candidate : list.candidates) {
    EXPECT_LE(candidate.point.x(), 1 + 1e-8);
    EXPECT_LE((candidate.point.head<2>() - Vector2d(1, 0)).norm(), 0.5 + 1e-8);
    smallest = std::min(smallest, candidate.point.y());
    largest = std::max(largest, candidate.point.y());
  }
  EXPECT_NEAR(smallest, -0.5, 1e-8);
  EXPECT_NEAR(largest, 0.5, 1e-8);
}

// ---- symmetries --------------------------------------------------------------------------------

struct Sorted {
  std::uint64_t id;
  double gap;
  Vector3d normal, point;
  Kind kind_a, kind_b;
};

std::vector<Sorted> sorted_of(const ContactList& list) {
  std::vector<Sorted> result;
  for (const ContactCandidate& c : list.candidates) {
    result.push_back({c.id, c.gap, c.normal, c.point, c.a.kind, c.b.kind});
  }
  std::sort(result.begin(), result.end(),
            [](const Sorted& x, const Sorted& y) { return x.id < y.id; });
  return result;
}

ShapeKind random_kind(Random& random) { return static_cast<ShapeKind>(random.integer(0, 6)); }

/// Bodies that touch at no special place, so that no ties are decided.
PlacedPair generic_pair(Random& random) {
  PlacedPair pair;
  const ShapeKind kind_a = random_kind(random);
  ShapeKind kind_b = random_kind(random);
  if (kind_a == ShapeKind::kPlane && kind_b == ShapeKind::kPlane) kind_b = ShapeKind::kBox;
  pair.a = random_shape(random, kind_a, 1, 1);
  pair.b = random_shape(random, kind_b, 1, 1);
  pair.pose_a = {random_vector(random), random_rotation(random)};
  pair.pose_b = {random_vector(random), random_rotation(random)};
  const SignedDistance d =
      compute_distance(CollisionShape(pair.a), pair.pose_a, CollisionShape(pair.b), pair.pose_b);
  pair.pose_a.position += (random.uniform(-0.05, 0.05) - d.gap) * d.normal;
  return pair;
}

TEST(CollectContacts, SwappingTheShapesMirrorsTheContacts) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const PlacedPair pair = generic_pair(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::string(name_of(pair.a)) + " and " +
                 std::string(name_of(pair.b)));
    const CollisionShape a(pair.a), b(pair.b);
    ContactList mirrored = contacts_of(b, pair.pose_b, a, pair.pose_a, {.reach = 0.06});
    for (ContactCandidate& candidate : mirrored.candidates) candidate = swapped(candidate);
    const std::vector<Sorted> there =
        sorted_of(contacts_of(a, pair.pose_a, b, pair.pose_b, {.reach = 0.06}));
    const std::vector<Sorted> back = sorted_of(mirrored);
    ASSERT_EQ(there.size(), back.size());
    for (std::size_t k = 0; k < there.size(); ++k) {
      EXPECT_EQ(there[k].id, back[k].id);
      EXPECT_NEAR(there[k].gap, back[k].gap, 1e-8);
      EXPECT_LE((there[k].normal - back[k].normal).norm(), 1e-5);
      EXPECT_LE((there[k].point - back[k].point).norm(), 1e-5);
    }
  }
}

/// Two of one rank, along each other's axes: several directions are equally good, and faces lie on
/// faces of the same direction. Near touching, or up to a tenth of the size inside each other.
PlacedPair pair_with_ties(Random& random, ShapeKind kind_a, ShapeKind kind_b) {
  PlacedPair pair{.a = random_shape(random, kind_a, random.uniform(0.3, 1), 0.3),
                  .b = random_shape(random, kind_b, 1, 0.3),
                  .pose_a = {random_vector(random), random_rotation(random)},
                  .pose_b = {random_vector(random), random_rotation(random)}};
  const int turns = random.integer(0, 2);
  for (int axis = 0; axis < 3; ++axis) {
    pair.pose_a.rotation.col(axis) = pair.pose_b.rotation.col((axis + turns) % 3);
  }
  const SignedDistance d =
      compute_distance(CollisionShape(pair.a), pair.pose_a, CollisionShape(pair.b), pair.pose_b);
  pair.pose_a.position += (-random.chance(0.5) * random.uniform(0, 0.1) - d.gap) * d.normal;
  return pair;
}

// What is found is not nearly the same but the same: both calls are one, seen from either side.
TEST(CollectContacts, SwappingShapesOfOneRankDecidesNoTies) {
  constexpr ShapeKind kPairs[][2] = {
      {ShapeKind::kCapsule, ShapeKind::kCapsule},   {ShapeKind::kBox, ShapeKind::kBox},
      {ShapeKind::kBox, ShapeKind::kConvex},        {ShapeKind::kConvex, ShapeKind::kConvex},
      {ShapeKind::kCylinder, ShapeKind::kCylinder}, {ShapeKind::kEllipsoid, ShapeKind::kEllipsoid}};
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const auto& kinds = kPairs[seed % 6];
    const PlacedPair pair = pair_with_ties(random, kinds[0], kinds[1]);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const CollisionShape a(pair.a), b(pair.b);
    const ContactOptions options{.reach = 1e-2, .wants_alternatives = true};
    const ContactList list = contacts_of(a, pair.pose_a, b, pair.pose_b, options);
    const ContactList mirrored = contacts_of(b, pair.pose_b, a, pair.pose_a, options);
    ASSERT_EQ(list.candidates.size(), mirrored.candidates.size());
    for (std::size_t k = 0; k < list.candidates.size(); ++k) {
      const ContactCandidate other = swapped(mirrored.candidates[k]);
      ASSERT_EQ(list.candidates[k].id, other.id);
      ASSERT_EQ(list.candidates[k].gap, other.gap);
      ASSERT_EQ(list.candidates[k].normal, other.normal);
      ASSERT_EQ(list.candidates[k].point, other.point);
    }
    const SignedDistance one = compute_distance(a, pair.pose_a, b, pair.pose_b);
    const SignedDistance two = compute_distance(b, pair.pose_b, a, pair.pose_a);
    ASSERT_EQ(one.gap, two.gap);
    ASSERT_EQ(one.normal, -two.normal);
  }
}

TEST(CollectContacts, ConcentricSpheresPartTheSameWayWhicheverIsFirst) {
  const CollisionShape a(Sphere{1}), b(Sphere{2});
  const Pose pose{{0.1, 0.2, 0.3}, Eigen::Matrix3d::Identity()};
  const SignedDistance d = compute_distance(a, pose, b, pose);
  const SignedDistance e = compute_distance(b, pose, a, pose);
  EXPECT_EQ(d.gap, -3);
  EXPECT_EQ(e.gap, -3);
  EXPECT_EQ(d.normal, -e.normal);
  EXPECT_EQ(d.point_a, e.point_b);
  const ContactList list = contacts_of(a, pose, b, pose, {.reach = 0.1});
  const ContactList mirrored = contacts_of(b, pose, a, pose, {.reach = 0.1});
  ASSERT_EQ(list.candidates.size(), 1u);
  ASSERT_EQ(mirrored.candidates.size(), 1u);
  EXPECT_EQ(list.candidates[0].normal, d.normal);
  EXPECT_EQ(mirrored.candidates[0].normal, e.normal);
  EXPECT_EQ(list.candidates[0].point, mirrored.candidates[0].point);
}

TEST(CollectContacts, OrderOfShapesIsThatOfTheirMeasuresAtEveryScale) {
  // Alike in size and ball, told apart all the same; and a hull from its mirror image.
  const Shape long_box = Box{{3, 2, 1}}, other_box = Box{{1, 2, 3}};
  Convex hull{
      .points = {{1, 0, 0}, {-1, 0, 0}, {0.3, 1, 0}, {0.1, -1, 0.2}, {0, 0, 1}, {0, 0, -1}}};
  Convex mirrored = hull;
  for (Vector3d& point : mirrored.points) point.y() = -point.y();
  for (const double scale : {1e-3, 1.0, 7.0, 1e3}) {
    const CollisionShape a(scaled(long_box, scale)), b(scaled(other_box, scale));
    EXPECT_TRUE(precedes(a, b));
    EXPECT_FALSE(precedes(b, a));
    const CollisionShape c(scaled(Shape(hull), scale)), d(scaled(Shape(mirrored), scale));
    EXPECT_NE(precedes(c, d), precedes(d, c));
    EXPECT_EQ(precedes(c, d), precedes(CollisionShape(hull), CollisionShape(mirrored)));
    EXPECT_FALSE(precedes(c, CollisionShape(scaled(Shape(hull), scale))));
  }
}

TEST(CollectContacts, TurningAndScalingTheWorldChangesNoIds) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    PlacedPair pair = generic_pair(random);
    if (std::holds_alternative<Plane>(pair.a) || std::holds_alternative<Plane>(pair.b)) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::string(name_of(pair.a)) + " and " +
                 std::string(name_of(pair.b)));
    const auto expected = sorted_of(contacts_of(
        CollisionShape(pair.a), pair.pose_a, CollisionShape(pair.b), pair.pose_b, {.reach = 0.06}));
    // A power of two, from 1e-6 to 1e3: others round the points of a hull, which may number its
    // faces anew.
    const double scale = std::ldexp(1.0, random.integer(-20, 10));
    const Pose world{random_vector(random), random_rotation(random)};
    const auto place = [&](const Pose& pose) {
      Pose moved = world * pose;
      moved.position *= scale;
      return moved;
    };
    const auto found = sorted_of(contacts_of(
        CollisionShape(scaled(pair.a, scale)), place(pair.pose_a),
        CollisionShape(scaled(pair.b, scale)), place(pair.pose_b), {.reach = 0.06 * scale}));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].id, expected[k].id);
      EXPECT_NEAR(found[k].gap / scale, expected[k].gap, 1e-8);
    }
  }
}

TEST(CollectContacts, AppendsAndNumbersGroups) {
  const CollisionShape cube(Box{{1, 1, 1}}), ground(Plane{});
  ContactWorkspace workspace;
  ContactList list;
  const ContactOptions options{.reach = 1e-3};
  collect_contacts(cube, at(0, 0, 0.5), ground, Pose{}, options, workspace, list);
  collect_contacts(cube, at(0, 0, 9), ground, Pose{}, options, workspace, list);
  collect_contacts(ground, Pose{}, cube, at(0, 0, 0.5), options, workspace, list);
  collect_contacts(ground, Pose{}, ground, Pose{}, options, workspace, list);
  ASSERT_EQ(list.patches.size(), 2u);
  EXPECT_EQ(list.candidates.size(), 8u);
  EXPECT_EQ(list.patches[1].first, 4);
  EXPECT_EQ(list.patches[1].group, 1);
  EXPECT_EQ(list.num_groups, 2);
  EXPECT_EQ(list.candidates[7].normal, Vector3d(0, 0, -1));
  list.clear();
  EXPECT_TRUE(list.candidates.empty() && list.patches.empty());
  EXPECT_EQ(list.num_groups, 0);
}

// ---- alternatives ------------------------------------------------------------------------------

TEST(CollectContacts, BoxBesideACornerMayPassOnEitherSide) {
  const CollisionShape cube(Box{{1, 1, 1}});
  // 0.06 mm beside and 1 mm above: it may land or slip past.
  const ContactList list = contacts_of(cube, at(1 + 6e-5, 0, 1.001), cube, Pose{},
                                       {.reach = 0.01, .wants_alternatives = true});
  ASSERT_GE(list.patches.size(), 3u);
  bool has_side = false, has_top = false;
  for (const ContactPatch& patch : list.patches) {
    EXPECT_EQ(patch.group, 0);
    EXPECT_LE(patch.separation, list.patches[0].separation);
    const Vector3d& normal = list.candidates[patch.first].normal;
    has_side |= normal.x() > 1 - 1e-12 && std::abs(patch.separation - 6e-5) < 1e-15;
    has_top |= normal.z() > 1 - 1e-12 && std::abs(patch.separation - 1e-3) < 1e-15;
  }
  EXPECT_TRUE(has_side && has_top);
}

TEST(CollectContacts, CubeThatRestsHasNoAlternatives) {
  const CollisionShape cube(Box{{1, 1, 1}});
  const ContactList list =
      contacts_of(cube, at(0.2, 0.1, 1), cube, Pose{}, {.reach = 0.01, .wants_alternatives = true});
  EXPECT_EQ(list.patches.size(), 1u);
}

/// [m] How far a point is outside of a convex shape.
double distance_from(const CollisionShape& shape, const Pose& pose, const Vector3d& point) {
  static const CollisionShape dot(Sphere{1e-12});
  const Pose place{point, Matrix3d::Identity()};
  return std::max(0.0, compute_distance(shape, pose, dot, place).gap + 1e-12);
}

void expect_points_on_shapes(const ContactList& list, const CollisionShape& a, const Pose& pose_a,
                             const CollisionShape& b, const Pose& pose_b, double reach) {
  const double snap = 11 * tie_between(a, b);  // places that are this near count as the same
  for (const ContactPatch& patch : list.patches)
    for (int k = patch.first; k < patch.first + patch.count; ++k) {
      const ContactCandidate& candidate = list.candidates[k];
      const double most = std::abs(candidate.gap) + reach + snap;
      EXPECT_LE(distance_from(a, pose_a, candidate.point), most) << "patch of " << patch.first;
      EXPECT_LE(distance_from(b, pose_b, candidate.point), most) << "patch of " << patch.first;
    }
}

// Two bars of a heap that touch at a corner, in the plane of a face of one in which an edge of the
// other runs on: its far end is 20 mm beside the face.
TEST(CollectContacts, ThePlaneOfAFaceEndsWithItInAlternativesToo) {
  const CollisionShape bar(Box{{0.1, 0.02, 0.02}});
  Pose a, b;
  a.position = {0.049409230127967968, 0.065028555954096623, 0.042744044810714706};
  a.rotation << 0.93535109812420192, 0.27175726974658576, -0.22642064741920293,  //
      0.35205826652255379, -0.65324929119393138, 0.67031361356290642,            //
      0.034253470057558091, -0.70669183516898548, -0.70669183516898526;
  b.position = {0.0041620917316404632, 0.045964698328519189, 0.071267386504734132};
  b.rotation << 0.9226014376573648, -0.27377832926008761, 0.27175726974658593,  //
      -0.032059525244493237, -0.75646384605989248, -0.6532492911939316,         //
      0.38442004900064891, 0.59397632615436069, -0.70669183516898526;
  for (const double reach : {1e-6, 1e-5, 1e-4, 1e-3}) {
    SCOPED_TRACE("reach " + std::to_string(reach));
    const ContactList list =
        contacts_of(bar, a, bar, b, {.reach = reach, .wants_alternatives = true});
    EXPECT_GE(list.patches.size(), 2u);
    expect_points_on_shapes(list, bar, a, bar, b, reach);
  }
}

/// Shapes that touch, overlap a little or nearly touch, often with features of one in the plane or
/// along an edge of the other.
PlacedPair nearly_touching_pair(Random& random, double reach) {
  const auto shape = [&] {
    const ShapeKind kind = random.chance(0.5)    ? ShapeKind::kBox
                           : random.chance(0.6)  ? ShapeKind::kConvex
                           : random.chance(0.75) ? ShapeKind::kCapsule
                                                 : ShapeKind::kSphere;
    return random_shape(random, kind, 1, 0.1);
  };
  PlacedPair pair{.a = shape(), .b = shape(), .pose_a = {}, .pose_b = {}};
  pair.pose_b = {random_vector(random), random_rotation(random)};
  pair.pose_a = {random_vector(random), random_rotation(random)};
  if (random.chance(0.5)) {  // an axis in common
    const double angle = random.chance(0.5) ? random.uniform(0, 1) : 0;
    pair.pose_a.rotation = pair.pose_b.rotation *
                           turn_about(Vector3d::Unit(random.integer(0, 2)), angle) *
                           turn_about(random_vector(random), random.chance(0.3) ? 1e-5 : 0);
  }
  const SignedDistance d =
      compute_distance(CollisionShape(pair.a), pair.pose_a, CollisionShape(pair.b), pair.pose_b);
  const double gap = random.chance(0.5) ? 0 : random.uniform(-reach, reach);
  pair.pose_a.position += (gap - d.gap) * d.normal;
  return pair;
}

TEST(CollectContacts, PointsOfAlternativesAreOnBothShapesUpToTheReach) {
  int num_alternatives = 0;
  for (unsigned seed = 0; seed < 5000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const double reach = std::pow(10, random.uniform(-6, -1));
    const PlacedPair pair = nearly_touching_pair(random, reach);
    const CollisionShape a(pair.a), b(pair.b);
    const ContactList list =
        contacts_of(a, pair.pose_a, b, pair.pose_b, {.reach = reach, .wants_alternatives = true});
    expect_sound_candidates(list, a, pair.pose_a, b, pair.pose_b, reach);
    expect_points_on_shapes(list, a, pair.pose_a, b, pair.pose_b, reach);
    num_alternatives += static_cast<int>(list.patches.size()) - list.num_groups;
  }
  EXPECT_GT(num_alternatives, 500);
}

/// The smallest gap of a patch at other poses, with its normal there.
Touch nearest_of(const ContactList& list, const ContactPatch& patch, const CollisionShape& a,
                 const Pose& pose_a, const CollisionShape& b, const Pose& pose_b) {
  Touch nearest{.gap = 1e300};
  for (int k = patch.first; k < patch.first + patch.count; ++k) {
    const Touch touch = evaluate_touch(list.candidates[k], a, pose_a, b, pose_b);
    if (touch.gap < nearest.gap) nearest = touch;
  }
  return nearest;
}

// After any motion of both by at most half the reach: a patch whose gaps are all ≥ 0 separates the
// shapes, if none of them reaches further along its normal than its contacts say (what comes down
// beside its face does not touch there); and of shapes that are apart a patch nearly always says
// so.
TEST(CollectContacts, OneAlternativeWithoutOverlapIsEnough) {
  int num_certified = 0, num_apart = 0, num_told = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto polytope = [&] {
      return CollisionShape(random.chance(0.5) ? random_shape(random, ShapeKind::kBox, 1, 1)
                                               : random_shape(random, ShapeKind::kConvex, 1, 1));
    };
    const CollisionShape a = polytope(), b = polytope();
    Pose pose_a{random_vector(random), random_rotation(random)};
    const Pose pose_b{random_vector(random), random_rotation(random)};
    const SignedDistance d = compute_distance(a, pose_a, b, pose_b);
    pose_a.position += (random.uniform(-0.05, 0.05) - d.gap) * d.normal;
    const double reach = 0.1;
    const ContactList list =
        contacts_of(a, pose_a, b, pose_b, {.reach = reach, .wants_alternatives = true});
    const Pose moved_a = {pose_a.position + 0.2 * reach * random_vector(random).normalized(),
                          turn_about(random_vector(random), 0.05) * pose_a.rotation};
    const double gap = compute_distance(a, moved_a, b, pose_b).gap;
    bool is_told = false;
    for (const ContactPatch& patch : list.patches) {
      const Touch nearest = nearest_of(list, patch, a, moved_a, b, pose_b);
      if (nearest.gap < 0) continue;
      const double separation = separation_along(nearest.normal, a, moved_a, b, pose_b);
      is_told = is_told || separation >= 0;
      // Lines cross at a single point, which certifies to first order only.
      if (list.candidates[patch.first].a.kind == Kind::kLine) continue;
      if (separation < nearest.gap - 1e-12) continue;
      EXPECT_GE(gap, -1e-9);
      if (&patch != list.patches.data()) ++num_certified;
    }
    num_apart += gap > 0 && !list.patches.empty() ? 1 : 0;
    num_told += gap > 0 && is_told ? 1 : 0;
  }
  EXPECT_GT(num_certified, 100);
  EXPECT_GT(num_apart, 1000);
  EXPECT_GT(num_told, 0.95 * num_apart);
}

}  // namespace
}  // namespace stiction
