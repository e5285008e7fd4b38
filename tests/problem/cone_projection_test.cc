#include "stiction/problem/cone_projection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/base/random.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

std::vector<FrictionCone> cones() {
  std::vector<FrictionCone> all;
  for (const double mu : {0.0, 1e-6, 0.3, 1.0, 5.0}) {
    all.push_back({0, mu, FrictionSection::disc()});
    all.push_back({1, mu, FrictionSection::disc()});
    all.push_back({2, mu, FrictionSection::disc()});
    all.push_back({2, mu, FrictionSection::box()});
    for (const int k : {4, 8, 18}) all.push_back({2, mu, FrictionSection::polygon(k)});
  }
  return all;
}

Vector3d random_vector(Random& random, int num_tangents) {
  Vector3d z = Vector3d::Zero();
  for (int i = 0; i <= num_tangents; ++i) z[i] = random.chance(0.1) ? 0 : random.normal();
  return z;
}

/// Generators of a cone, finely sampled for the disc.
std::vector<Vector3d> rays(const FrictionCone& cone) {
  if (cone.num_tangents == 0 || cone.mu == 0) return {Vector3d::UnitX()};
  if (cone.num_tangents == 1) return {{1, cone.mu, 0}, {1, -cone.mu, 0}};
  std::vector<Vector3d> result;
  const bool is_box = cone.section.kind == FrictionSection::Kind::kBox;
  const int n = is_box ? 4 : cone.section.num_sides > 0 ? cone.section.num_sides : 720;
  const double reach = is_box ? std::sqrt(2.0) : 1, turn = is_box ? 0.5 : 0;
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * (i + turn) / n;
    result.emplace_back(1, cone.mu * reach * std::cos(angle), cone.mu * reach * std::sin(angle));
  }
  return result;
}

// The projection is the point P of K with (z − P)ᵀP = 0 and (z − P)ᵀk ≤ 0 for every k of K; k runs
// over generators that the test makes itself.
TEST(ConeProjection, SatisfiesTheVariationalInequalityOfProjection) {
  Random random(1);
  for (const FrictionCone& cone : cones()) {
    const std::vector<Vector3d> generators = rays(cone);
    for (int i = 0; i < 300; ++i) {
      const Vector3d z = random_vector(random, cone.num_tangents);
      const Vector3d p = cone.project(z);
      const double size = 1 + z.squaredNorm() * (1 + cone.mu * cone.mu);
      ASSERT_NEAR((z - p).dot(p), 0, 1e-13 * size) << to_text(cone.section) << " mu " << cone.mu;
      for (const Vector3d& k : generators) ASSERT_LE((z - p).dot(k), 1e-13 * size);
      ASSERT_LT((cone.project(p) - p).norm(), 1e-13 * size);
    }
  }
}

TEST(ConeProjection, StaysInsideTheCone) {
  Random random(2);
  for (const FrictionCone& cone : cones()) {
    for (int i = 0; i < 300; ++i) {
      const Vector3d p = cone.project(random_vector(random, cone.num_tangents));
      ASSERT_GE(p[0], 0);
      if (cone.mu == 0) {
        ASSERT_EQ(p.tail<2>().norm(), 0);
      }
      // The gauge of every section is at least that of the box and at most that of its inner
      // square.
      ASSERT_LE(p.tail<2>().lpNorm<Eigen::Infinity>(), cone.mu * p[0] * (1 + 1e-12) + 1e-15);
    }
  }
}

TEST(ConeProjection, KeepsZeroAndWorksWithoutTangentialPart) {
  for (const FrictionCone& cone : cones()) {
    EXPECT_EQ(cone.project(Vector3d::Zero()), Vector3d::Zero());
    EXPECT_LT((cone.project({2, 0, 0}) - Vector3d(2, 0, 0)).norm(), 1e-15);
    EXPECT_LT(cone.project({-2, 0, 0}).norm(), 1e-15);
  }
}

TEST(ConeProjection, FindsShortProjectionsOfLongVectors) {
  for (const FrictionSection& section : {FrictionSection::polygon(8), FrictionSection::box()}) {
    const FrictionCone cone{2, 0.5, section};
    // An edge of the cone and the direction away from it within the plane of edge and axis.
    const Vector3d edge(1, 0.5, section == FrictionSection::box() ? 0.5 : 0);
    const Vector3d away(-edge.tail<2>().squaredNorm(), edge[1], edge[2]);
    // Rounding of z, 1e9 · 2e-16, is all that may remain.
    EXPECT_LT((cone.project(1e9 * away + edge) - edge).norm(), 1e-6) << to_text(section);
  }
}

/// A point on a face or an edge of the cone, of friction in this direction.
Vector3d on_edge(const FrictionCone& cone, double angle) {
  const Vector3d beyond(1, 10 * cone.mu * std::cos(angle),
                        cone.num_tangents > 1 ? 10 * cone.mu * std::sin(angle) : 0);
  return cone.project(beyond);
}

// Far from the apex the cone is what its faces near a point are, at any length of that point. Short
// vectors are compared with the projection itself, at 10³ times their length, where cancellation
// leaves twelve digits and a disc is flat to three.
TEST(ConeProjection, OfAShortStepDoesNotSufferFromALongStart) {
  Random random(7);
  for (const FrictionCone& cone : cones()) {
    if (cone.mu > 0 && cone.mu < 0.1) continue;  // no step is short beside so little friction
    for (int trial = 0; trial < 200; ++trial) {
      const Vector3d r = trial % 4 == 0 ? Vector3d(1, 0, 0)
                                        : on_edge(cone, trial % 4 == 1 ? std::numbers::pi / 4
                                                                       : random.uniform(0, 6.28));
      Vector3d d(random.normal(), random.normal(), random.normal());
      if (cone.num_tangents < 2) d[2] = 0;
      if (cone.num_tangents < 1) d[1] = 0;
      const double length = 1e3 * d.norm() / r.norm();
      const Vector3d expected = cone.project(1e2 * length * r + d) - 1e2 * length * r;
      for (const double factor : {1e3, 1e9, 1e13, 1e15}) {
        const std::optional<Vector3d> step = cone.project_step(factor * length * r, d);
        ASSERT_TRUE(step) << to_text(cone.section) << " " << cone.mu << " " << trial;
        ASSERT_LT((*step - expected).norm(), 1e-3 * d.norm())
            << to_text(cone.section) << " " << cone.mu << " " << trial << " " << factor;
      }
    }
  }
}

TEST(ConeProjection, OfAStepSeesWhatIsOutsideByMoreThanRounding) {
  const FrictionCone cone{1, 0.5, FrictionSection::disc()};
  const Vector3d outside(1e13, 0.5e13 * (1 + 1e-12), 0);
  const std::optional<Vector3d> step = cone.project_step(outside, Vector3d::Zero());
  ASSERT_TRUE(step);
  EXPECT_NEAR(step->norm(), 5 / std::sqrt(1.25), 1e-2);
  EXPECT_EQ(cone.project_step({1e13, 0.5e13 * (1 + 4e-16), 0}, Vector3d::Zero()), Vector3d::Zero());
}

TEST(SupportFunction, IsTheLargestDissipationOfTheSection) {
  const Vector3d u(0, 3, 4);
  EXPECT_DOUBLE_EQ((FrictionCone{2, 1, FrictionSection::disc()}).support_against(u), 5);
  EXPECT_DOUBLE_EQ((FrictionCone{2, 1, FrictionSection::box()}).support_against(u), 7);
  EXPECT_DOUBLE_EQ((FrictionCone{2, 1, FrictionSection::polygon(4)}).support_against(u), 4);
  EXPECT_DOUBLE_EQ((FrictionCone{1, 1, FrictionSection::polygon(8)}).support_against({0, -3, 0}),
                   3);
}

TEST(FrictionSection, ReadsItsText) {
  EXPECT_EQ(try_parse_friction_section("disc"), FrictionSection::disc());
  EXPECT_EQ(try_parse_friction_section("box"), FrictionSection::box());
  EXPECT_EQ(try_parse_friction_section("polygon:12"), FrictionSection::polygon(12));
  for (const char* text : {"", "polygon", "polygon:", "polygon:7", "polygon:2", "polygon:8x",
                           "Disc", "polygon:99999999999"})
    EXPECT_FALSE(try_parse_friction_section(text)) << text;
  for (const char* text : {"disc", "box", "polygon:6"})
    EXPECT_EQ(to_text(*try_parse_friction_section(text)), text);
}

}  // namespace
}  // namespace stiction
