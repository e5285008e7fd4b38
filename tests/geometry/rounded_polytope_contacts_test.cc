// Boxes below spheres and capsules are asked by their faces alone where all of the core is above
// one of them; a hull of the same corners is asked by its distance.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/geometry/contact_checks.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

std::vector<Vector3d> corners_of(const Vector3d& size) {
  std::vector<Vector3d> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back(0.5 *
                      size.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  return corners;
}

std::vector<double> gaps_of(const ContactList& list) {
  std::vector<double> gaps;
  for (const ContactCandidate& candidate : list.candidates) gaps.push_back(candidate.gap);
  std::sort(gaps.begin(), gaps.end());
  return gaps;
}

/// Everything is of size one, and distances are known to 1e-12 of it.
void expect_same(const ContactList& box, const ContactList& hull) {
  const std::vector<double> gaps = gaps_of(box), others = gaps_of(hull);
  ASSERT_EQ(gaps.size(), others.size());
  for (std::size_t k = 0; k < gaps.size(); ++k) EXPECT_NEAR(gaps[k], others[k], 1e-11);
  ASSERT_EQ(box.patches.size(), hull.patches.size());
  for (std::size_t k = 0; k < box.patches.size(); ++k)
    EXPECT_NEAR(box.patches[k].separation, hull.patches[k].separation, 1e-11);
}

TEST(RoundedPolytopeContacts, ABoxHasTheContactsOfAHullOfItsCorners) {
  const Vector3d size(1.5, 1, 0.8);
  const CollisionShape box(Box{size}), hull(Convex{corners_of(size)});
  const CollisionShape capsule(Capsule{0.1, 0.6}), sphere(Sphere{0.1});
  int num_touching = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    const CollisionShape& a = seed % 4 == 0 ? sphere : capsule;
    const Pose world{random_vector(random), random_rotation(random)};
    const Pose pose_a =
        world * Pose{0.9 * random_vector(random).cwiseProduct(size), random_rotation(random)};
    const ContactList of_box = contacts_of(a, pose_a, box, world, {.reach = 0.1});
    expect_same(of_box, contacts_of(a, pose_a, hull, world, {.reach = 0.1}));
    num_touching += of_box.candidates.empty() ? 0 : 1;
  }
  EXPECT_GT(num_touching, 2000);
}

TEST(RoundedPolytopeContacts, ACapsuleThatLiesOnABoxTouchesWithBothEnds) {
  const CollisionShape box(Box{{2, 2, 2}}), capsule(Capsule{0.1, 1});
  Eigen::Matrix3d lying;  // z along x
  lying << 0, 0, 1, 0, 1, 0, -1, 0, 0;
  // The last one is over the rim by its half, where the face ends.
  for (const double x : {0.0, 0.3, 0.5, 0.9}) {
    const ContactList list =
        contacts_of(capsule, Pose{{x, 0, 1.1 - 1e-3}, lying}, box,
                    Pose{Vector3d::Zero(), Eigen::Matrix3d::Identity()}, {.reach = 0.01});
    ASSERT_EQ(list.candidates.size(), 2u);
    double furthest = 0;
    for (const ContactCandidate& candidate : list.candidates) {
      EXPECT_NEAR(candidate.gap, -1e-3, 1e-12);
      EXPECT_NEAR(candidate.normal.z(), 1, 1e-12);
      furthest = std::max(furthest, candidate.point.x());
    }
    EXPECT_NEAR(furthest, std::min(x + 0.5, 1.0), 1e-9);
  }
}

}  // namespace
}  // namespace stiction
