#include <gtest/gtest.h>

#include <string>

#include "tests/geometry/contact_checks.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Nearly parallel axes and faces, in steps from rounding to visible.
void align(Random& random, PlacedPair& pair) {
  const Vector3d axis = random_vector(random).normalized();
  const double angle = random.chance(0.3) ? 0 : std::pow(10, random.uniform(-16, -1));
  pair.pose_a.rotation = pair.pose_b.rotation * Eigen::AngleAxisd(angle, axis).toRotationMatrix() *
                         random_pose(random, 1).rotation;
}

void try_configuration(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const auto kind_a = static_cast<ShapeKind>(random.integer(0, 6));
  const auto kind_b = static_cast<ShapeKind>(random.integer(0, 6));
  const bool is_harsh = random.chance(0.5);  // slabs and needles of 1e-4, sizes 1000 times apart
  PlacedPair pair =
      random_pair(random, kind_a, kind_b, is_harsh ? 1e-4 : 1e-2, is_harsh ? 1e-3 : 1e-1);
  if (kind_a == ShapeKind::kPlane && kind_b == ShapeKind::kPlane) return;
  const CollisionShape a(pair.a), b(pair.b);
  if (random.chance(0.3)) {
    align(random, pair);
    const SignedDistance d = compute_distance(a, pair.pose_a, b, pair.pose_b);
    const double wanted = std::pow(10, random.uniform(-12, -1)) * std::max(a.size(), b.size());
    pair.pose_a.position += ((random.chance(0.5) ? wanted : -wanted) - d.gap) * d.normal;
  }
  const SignedDistance distance = compute_distance(a, pair.pose_a, b, pair.pose_b);
  const double size = std::max(a.size(), b.size());
  const ContactOptions options{.reach = std::pow(10, random.uniform(-6, 0)) * size,
                               .reduces = random.chance(0.5),
                               .wants_alternatives = random.chance(0.3)};
  const ContactList list = contacts_of(a, pair.pose_a, b, pair.pose_b, options);
  SCOPED_TRACE(std::string(name_of(pair.a)) + " and " + std::string(name_of(pair.b)));
  expect_sound_candidates(list, a, pair.pose_a, b, pair.pose_b, options.reach);
  expect_sound_patches(list);
  expect_agrees_with_distance(list, distance, tie_between(a, b), options.reach,
                              pair.pose_a.position.norm() + pair.pose_b.position.norm());
}

constexpr std::uint64_t kNumSeeds = testing::fewer_sanitized(10000);

TEST(CollectContacts, AgreesWithTheDistanceForRandomPairs) {
  for (std::uint64_t seed = 0; seed < kNumSeeds && !::testing::Test::HasFailure(); ++seed) {
    try_configuration(seed);
  }
}

TEST(SlowCollectContacts, AgreesWithTheDistanceForManyRandomPairs) {
  for (std::uint64_t seed = 0; seed < 100000 && !::testing::Test::HasFailure(); ++seed) {
    try_configuration(1000000 + seed);
  }
}

}  // namespace
}  // namespace stiction
