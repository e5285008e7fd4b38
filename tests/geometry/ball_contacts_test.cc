// The short way to the contact of two spheres against the one that all shapes take.
#include "stiction/geometry/ball_contacts.h"

#include <gtest/gtest.h>

#include <Eigen/Core>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/geometry/collision_shape.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

void append_bits(const Vector3d& vector, std::vector<std::uint64_t>& bits) {
  for (const double x : vector) bits.push_back(std::bit_cast<std::uint64_t>(x));
}

void append_bits(const ContactFeature& feature, std::vector<std::uint64_t>& bits) {
  bits.push_back(static_cast<std::uint64_t>(feature.kind));
  append_bits(feature.point, bits);
  append_bits(feature.direction, bits);
  bits.push_back(std::bit_cast<std::uint64_t>(feature.radius));
}

/// All of a list, the signs of zeros too.
std::vector<std::uint64_t> bits_of(const ContactList& list) {
  std::vector<std::uint64_t> bits;
  for (const ContactCandidate& candidate : list.candidates) {
    append_bits(candidate.a, bits);
    append_bits(candidate.b, bits);
    append_bits(Vector3d(candidate.side, candidate.gap, 0), bits);
    append_bits(candidate.normal, bits);
    append_bits(candidate.point, bits);
    bits.push_back(candidate.id);
  }
  for (const ContactPatch& patch : list.patches) {
    bits.push_back(std::bit_cast<std::uint64_t>(patch.separation));
    for (const int number : {patch.first, patch.count, patch.group})
      bits.push_back(static_cast<std::uint64_t>(number));
  }
  bits.push_back(static_cast<std::uint64_t>(list.num_groups));
  bits.push_back(static_cast<std::uint64_t>(list.num_reduced));
  return bits;
}

struct Counts {
  int short_way = 0, long_way = 0, touching = 0;
};

/// One pair after the other into two lists.
Counts compare(const std::vector<Vector3d>& centers, double reach) {
  Random random(5);
  ContactWorkspace workspace;
  ContactList found, expected;
  Counts counts;
  for (std::size_t k = 0; k + 1 < centers.size(); k += 2) {
    const Pose pose_a{centers[k], random_rotation(random)};
    const Pose pose_b{centers[k + 1], random_rotation(random)};
    const double radius_a = random.uniform(0.3, 0.7), radius_b = random.uniform(0.3, 0.7);
    const CollisionShape a(Sphere{radius_a}), b(Sphere{radius_b});
    const ContactOptions options{.reach = reach};
    collect_contacts(a, pose_a, b, pose_b, options, workspace, expected);
    const bool is_done =
        try_collect_spheres({pose_a.position, radius_a}, {pose_b.position, radius_b}, reach, found);
    if (!is_done) collect_contacts(a, pose_a, b, pose_b, options, workspace, found);
    ++(is_done ? counts.short_way : counts.long_way);
  }
  EXPECT_EQ(bits_of(found), bits_of(expected));
  counts.touching = static_cast<int>(found.candidates.size());
  return counts;
}

TEST(BallContacts, HaveTheBitsOfCollectContacts) {
  Random random(6);
  std::vector<Vector3d> centers;
  for (int i = 0; i < 4000; ++i) centers.push_back(random_vector(random, -1, 1));
  const Counts counts = compare(centers, 0.02);
  EXPECT_EQ(counts.long_way, 0);
  EXPECT_GT(counts.touching, 500);
  EXPECT_LT(counts.touching, 1500);
}

/// Coordinates −½, −0, 0 and ½: pairs that have none, some or all of them in common.
TEST(BallContacts, LeaveCentersWithCommonCoordinatesToTheLongWay) {
  Random random(7);
  const double coordinates[] = {-0.5, -0.0, 0.0, 0.5};
  const auto pick = [&] { return coordinates[static_cast<int>(random.uniform(0, 4)) % 4]; };
  std::vector<Vector3d> centers;
  for (int i = 0; i < 4000; ++i) {
    const double x = pick(), y = pick();
    centers.emplace_back(x, y, pick());
  }
  const Counts counts = compare(centers, 0);
  EXPECT_GT(counts.long_way, 500);
  EXPECT_GT(counts.short_way, 200);
  EXPECT_GT(counts.touching, 500);
}

/// A gap that is the reach up to rounding is within it or not in both ways alike.
TEST(BallContacts, AgreeAtTheEndOfTheReach) {
  Random random(8);
  ContactWorkspace workspace;
  int touching = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const double radius = random.uniform(0.1, 1), reach = random.uniform(0, 0.1);
    const Vector3d center = random_vector(random, -10, 10);
    const Vector3d direction = random_vector(random, -1, 1).normalized();
    const Vector3d other = center + (2 * radius + reach) * direction;
    const CollisionShape ball(Sphere{radius});
    ContactList found, expected;
    collect_contacts(ball, {center}, ball, {other}, {.reach = reach}, workspace, expected);
    ASSERT_TRUE(try_collect_spheres({center, radius}, {other, radius}, reach, found));
    ASSERT_EQ(bits_of(found), bits_of(expected));
    touching += static_cast<int>(found.candidates.size());
  }
  EXPECT_GT(touching, 200);
  EXPECT_LT(touching, 800);
}

TEST(BallContacts, CentersThatAreNotNumbersTouchNothing) {
  const double nan = std::nan("");
  ContactList list;
  ASSERT_TRUE(try_collect_spheres({Vector3d(nan, nan, nan), 1}, {Vector3d(0, 0, 0), 1}, 0, list));
  EXPECT_TRUE(list.candidates.empty());
}

}  // namespace
}  // namespace stiction
