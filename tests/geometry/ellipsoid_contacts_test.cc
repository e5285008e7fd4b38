// Ellipsoids over flat sides of boxes, hulls and cylinders are held by the plane of the side.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/geometry/contact_checks.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Kind = ContactFeature::Kind;

/// Of 200 mm × 200 mm × `thickness`, about the origin, flat along z.
std::vector<Shape> plates(double thickness) {
  const Vector3d size(0.2, 0.2, thickness);
  return {Box{size}, Convex{box_corners(size)}, Cylinder{.radius = 0.1, .length = thickness}};
}

// A pebble of 10 mm at 1 m/s goes 17 mm in a step of 1/60 s: through a plate of 1 mm and beyond.
TEST(EllipsoidContacts, TheGapGoesOnFallingOnTheOtherSideOfAThinPlate) {
  const CollisionShape pebble(Ellipsoid{{0.004, 0.005, 0.006}});
  for (const Shape& shape : plates(1e-3)) {
    const CollisionShape plate(shape);
    for (unsigned seed = 0; seed < 200; ++seed) {
      Random random(seed);
      const double up = random.chance(0.5) ? 1 : -1;
      const Pose world{random_vector(random), random_rotation(random)};
      const Pose placed{{random.uniform(-0.05, 0.05), random.uniform(-0.05, 0.05), 0.01 * up},
                        random_rotation(random)};
      SCOPED_TRACE(std::string(name_of(shape)) + " seed " + std::to_string(seed));
      const ContactList list =
          contacts_of(pebble, world * placed, plate, world,
                      {.reach = 0.02, .wants_alternatives = random.chance(0.5)});
      const ContactCandidate candidate = list.candidates.at(0);
      for (const double way : {0.005, 0.01, 0.017, 0.03}) {
        Pose moved = placed;
        moved.position.z() -= up * way;
        const Touch touch = evaluate_touch(candidate, pebble, world * moved, plate, world);
        EXPECT_NEAR(touch.gap, candidate.gap - way, 1e-14);
        EXPECT_LE((touch.normal - up * world.rotation.col(2)).norm(), 1e-14);
        const Touch mirrored =
            evaluate_touch(swapped(candidate), plate, world, pebble, world * moved);
        // From the place of the other shape: rounding of places of size 1.
        EXPECT_NEAR(mirrored.gap, touch.gap, 1e-15);
        EXPECT_LE((mirrored.normal + touch.normal).norm(), 0);
        EXPECT_LE((mirrored.point - touch.point).norm(), 1e-15);
      }
    }
  }
}

// Normals of a side stand for those of the distance up to a tie of 1e-9 of the size, which turns
// them by no more than √(2·1e-9) or so; the places then move by that times the size.
TEST(EllipsoidContacts, SidesTakeNothingFromTheDistance) {
  int num_flat = 0, num_whole = 0;
  for (unsigned seed = 0; seed < 12000; ++seed) {
    Random random(seed);
    constexpr ShapeKind kOthers[] = {ShapeKind::kBox, ShapeKind::kConvex, ShapeKind::kCylinder};
    const CollisionShape a(random_shape(random, ShapeKind::kEllipsoid, 1, 0.1)),
        b(random_shape(random, kOthers[seed % 3], 1, 0.1));
    Pose pose_a = random_pose(random, 1);
    const Pose pose_b = random_pose(random, 1);
    const SignedDistance start = compute_distance(a, pose_a, b, pose_b);
    pose_a.position += (random.uniform(-0.02, 0.05) - start.gap) * start.normal;
    const SignedDistance d = compute_distance(a, pose_a, b, pose_b);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ContactList list = contacts_of(a, pose_a, b, pose_b, {.reach = 0.1});
    ASSERT_EQ(list.candidates.size(), 1u);
    const ContactCandidate& candidate = list.candidates[0];
    const double tie = tie_between(a, b);
    EXPECT_NEAR(candidate.gap, d.gap, 2 * tie);
    EXPECT_EQ(candidate.a.kind, Kind::kShape);
    if (candidate.b.kind == Kind::kShape) {
      ++num_whole;
      const Vector3d n = pose_b.rotation.transpose() * d.normal;
      const double steepest = seed % 3 == 0   ? n.cwiseAbs().maxCoeff()
                              : seed % 3 == 2 ? std::abs(n.z())
                                              : 0;  // of a hull there is no telling
      EXPECT_LE(steepest, 1 - 1e-12);
      continue;
    }
    ++num_flat;
    EXPECT_EQ(candidate.b.kind, Kind::kPlane);
    EXPECT_LE((candidate.normal - d.normal).norm(), 1e-3);
    EXPECT_LE((candidate.point - (d.point_a + d.point_b) / 2).norm(), 1e-3);
    // Both points between which the contact is are on their shapes: none is further along.
    const Vector3d on_a = candidate.point + candidate.gap / 2 * candidate.normal;
    const Vector3d on_b = candidate.point - candidate.gap / 2 * candidate.normal;
    const CollisionShape grain(Sphere{1e-6});
    EXPECT_NEAR(compute_distance(grain, {.position = on_a}, a, pose_a).gap, -1e-6, 1e-9);
    EXPECT_NEAR(compute_distance(grain, {.position = on_b}, b, pose_b).gap, -1e-6, 11 * tie + 1e-9);
  }
  EXPECT_GT(num_flat, 1000);
  EXPECT_GT(num_whole, 3000);
}

TEST(EllipsoidContacts, IdsAreThoseOfTheSideWhateverTheJitter) {
  const CollisionShape pebble(Ellipsoid{{0.4, 0.5, 0.6}});
  for (const Shape& shape : plates(0.1)) {
    const CollisionShape plate(scaled(shape, 20));
    std::set<std::uint64_t> ids;
    for (unsigned seed = 0; seed < 100; ++seed) {
      Random random(seed);
      const Pose turned{Vector3d(0.3, 0.2, 1.4) + 1e-3 * random_vector(random),
                        Eigen::Matrix3d::Identity()};
      const ContactList list =
          contacts_of(pebble, turned, plate, Pose{}, {.reach = 1, .wants_alternatives = true});
      const ContactList mirrored =
          contacts_of(plate, Pose{}, pebble, turned, {.reach = 1, .wants_alternatives = true});
      ASSERT_EQ(list.candidates.size(), mirrored.candidates.size());
      for (std::size_t k = 0; k < list.candidates.size(); ++k)
        EXPECT_EQ(list.candidates[k].id, swapped(mirrored.candidates[k]).id);
      ids.insert(list.candidates.at(0).id);
    }
    EXPECT_EQ(ids.size(), 1u) << name_of(shape);
  }
}

// Near the rim of a table it may pass beside it within the step.
TEST(EllipsoidContacts, BesideTheRimTheOtherSideIsAnAlternative) {
  const CollisionShape pebble(Ellipsoid{{0.1, 0.12, 0.1}});
  for (const Shape& table : {Shape(Box{{2, 2, 2}}), Shape(Convex{box_corners({2, 2, 2})})}) {
    const CollisionShape b(table);
    const auto at = [](double x, double z) { return Pose{{x, 0, z}, Eigen::Matrix3d::Identity()}; };
    const ContactList list =
        contacts_of(pebble, at(0.98, 1.11), b, Pose{}, {.reach = 0.2, .wants_alternatives = true});
    ASSERT_EQ(list.patches.size(), 2u);
    EXPECT_EQ(list.num_groups, 1);
    EXPECT_NEAR(list.patches[0].separation, 0.01, 1e-9);
    EXPECT_NEAR(list.patches[1].separation, -0.12, 1e-9);
    EXPECT_NE(list.candidates[0].id, list.candidates[1].id);
    const Touch above = evaluate_touch(list.candidates[0], pebble, at(1.12, 1), b, Pose{});
    const Touch beside = evaluate_touch(list.candidates[1], pebble, at(1.12, 1), b, Pose{});
    EXPECT_NEAR(above.gap, -0.1, 1e-12);
    EXPECT_NEAR(beside.gap, 0.02, 1e-12);
    EXPECT_LE((beside.normal - Vector3d::UnitX()).norm(), 1e-15);
    const ContactList inside =
        contacts_of(pebble, at(0, 1.11), b, Pose{}, {.reach = 0.2, .wants_alternatives = true});
    EXPECT_EQ(inside.patches.size(), 1u);
  }
}

}  // namespace
}  // namespace stiction
