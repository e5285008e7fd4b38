// The one-contact solver against a natural map of this test's own, in long double: projection onto
// polygonal cones by trying every face. 100,000 random problems per section.
#include "stiction/solve/one_contact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/solve/one_contact_visit.h"

namespace stiction {
namespace {

using Real = long double;
using Vector = std::array<Real, 3>;
using Corners = std::vector<std::array<Real, 2>>;

/// Vertices in long double; none for a disc.
Corners corners_of(const FrictionSection& section) {
  if (section.kind == FrictionSection::Kind::kDisc) return {};
  if (section.kind == FrictionSection::Kind::kBox) return {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  Corners corners;
  for (int i = 0; i < section.num_sides; ++i) {
    const Real angle = 2 * std::numbers::pi_v<Real> * i / section.num_sides;
    corners.push_back({std::cos(angle), std::sin(angle)});
  }
  return corners;
}

Real distance(const Vector& a, const Vector& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

Vector project_on_disc(Real mu, const Vector& z) {
  const Real norm = std::hypot(z[1], z[2]);
  if (z[0] >= 0 && norm <= mu * z[0]) return z;
  if (z[0] + mu * norm <= 0) return {0, 0, 0};
  const Real nu = (z[0] + mu * norm) / (1 + mu * mu);
  return {nu, norm > 0 ? mu * nu * z[1] / norm : 0, norm > 0 ? mu * nu * z[2] / norm : 0};
}

/// The nearest of: the point itself, its projections on all facets and all rays, the apex.
Vector project_on_polygon(Real mu, const Corners& corners, const Vector& z) {
  Vector best{0, 0, 0};
  const std::size_t n = corners.size();
  bool is_inside = z[0] >= 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto &p = corners[i], &q = corners[(i + 1) % n];
    const Vector ray{1, mu * p[0], mu * p[1]}, next{1, mu * q[0], mu * q[1]};
    const Vector normal{ray[1] * next[2] - ray[2] * next[1], ray[2] * next[0] - ray[0] * next[2],
                        ray[0] * next[1] - ray[1] * next[0]};  // inwards
    const auto dot = [](const Vector& a, const Vector& b) {
      return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    };
    const Real height = dot(normal, z);
    is_inside = is_inside && height >= 0;
    const Real s = std::max(Real(0), dot(ray, z) / dot(ray, ray));
    const Vector on_ray{s * ray[0], s * ray[1], s * ray[2]};
    if (distance(on_ray, z) < distance(best, z)) best = on_ray;
    Vector on_plane = z;
    for (int k = 0; k < 3; ++k) on_plane[k] -= height / dot(normal, normal) * normal[k];
    // Inside the facet if it is a nonnegative combination of the two rays.
    const Real a = dot(ray, ray), b = dot(ray, next), c = dot(next, next);
    const Real x = dot(ray, on_plane), y = dot(next, on_plane);
    if (c * x - b * y < 0 || a * y - b * x < 0) continue;
    if (distance(on_plane, z) < distance(best, z)) best = on_plane;
  }
  return is_inside ? z : best;
}

struct Problem {
  int dim = 3;
  std::array<double, 9> W{};
  std::array<double, 3> q{};
  double mu = 0;
};

/// ‖r − P_K(r − û/ω)‖ over ‖r‖ + ‖q‖/ω, with ω the largest absolute entry of W.
Real natural_map(const Problem& problem, const FrictionSection& section, const double* r) {
  const int d = problem.dim;
  Vector u{}, z{}, impulse{};
  Real omega = 0, q_norm = 0;
  for (int i = 0; i < d; ++i) {
    u[i] = problem.q[i];
    impulse[i] = r[i];
    q_norm += std::abs(problem.q[i]);
    for (int j = 0; j < d; ++j) {
      u[i] += Real(problem.W[i * d + j]) * r[j];
      omega = std::max<Real>(omega, std::abs(problem.W[i * d + j]));
    }
  }
  if (omega == 0) return u[0] >= 0 ? 0 : 1;
  const Corners corners = d == 3 ? corners_of(section) : Corners{};
  Real support = std::hypot(u[1], u[2]);
  if (!corners.empty()) {
    support = 0;
    for (const auto& p : corners) support = std::max(support, -p[0] * u[1] - p[1] * u[2]);
  }
  u[0] += problem.mu * support;
  for (int i = 0; i < 3; ++i) z[i] = impulse[i] - u[i] / omega;
  const Vector projected = corners.empty() || problem.mu == 0
                               ? project_on_disc(problem.mu, z)
                               : project_on_polygon(problem.mu, corners, z);
  return distance(impulse, projected) /
         (distance(impulse, {}) + q_norm / omega + std::numeric_limits<double>::min());
}

/// Positive definite (with a skew part if asked), of condition up to about 1e6, at times singular.
Problem random_problem(Random& random, int dim, bool is_symmetric) {
  Problem problem{.dim = dim};
  const double unit = std::pow(10.0, random.uniform(-3, 3));
  double factor[3][3];
  for (auto& row : factor)
    for (double& x : row) x = random.normal();
  if (random.chance(0.2))
    for (double& x : factor[random.integer(0, dim - 1)]) x *= 1e-3;
  const int rank = random.chance(0.1) ? std::max(dim - 1, 1) : dim;
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < dim; ++j)
      for (int k = 0; k < rank; ++k) problem.W[i * dim + j] += unit * factor[i][k] * factor[j][k];
  if (!is_symmetric)
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < i; ++j) {
        const double skew = unit * random.normal();
        problem.W[i * dim + j] += skew;
        problem.W[j * dim + i] -= skew;
      }
  const double speed = std::pow(10.0, random.uniform(-6, 6));
  for (int i = 0; i < dim; ++i) problem.q[i] = speed * random.normal();
  if (random.chance(0.7)) problem.q[0] = -std::abs(problem.q[0]);
  if (random.chance(0.05)) problem.q[0] = 0;
  if (random.chance(0.05)) problem.q[1] = problem.q[2] = 0;
  problem.mu = random.chance(0.1) ? 0 : std::pow(10.0, random.uniform(-2, 1));
  return problem;
}

struct Family {
  const char* name;
  int dim;
  FrictionSection section;
  bool is_symmetric;
};

class OneContactFamily : public ::testing::TestWithParam<Family> {};

TEST_P(OneContactFamily, SolvesRandomProblemsToRounding) {
  const Family family = GetParam();
  const bool is_polygonal = family.dim == 3 && family.section.kind != FrictionSection::Kind::kDisc;
  const PolygonTable table(is_polygonal ? family.section : FrictionSection::box());
  Random random(7);
  OneContact contact;
  double hint = 0;
  for (int trial = 0; trial < 100000; ++trial) {
    const Problem problem = random_problem(random, family.dim, family.is_symmetric);
    contact.prepare(problem.W.data(), problem.dim, problem.mu, is_polygonal ? &table : nullptr);
    double r[3] = {};
    if (random.chance(0.5)) hint = 0;  // else that of another problem, which must not matter
    ASSERT_TRUE(contact.solve(problem.q.data(), r, hint)) << family.name << " trial " << trial;
    ASSERT_LE(natural_map(problem, family.section, r), 1e-13L) << family.name << " trial " << trial;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sections, OneContactFamily,
    ::testing::Values(Family{"normal", 1, FrictionSection::disc(), true},
                      Family{"interval", 2, FrictionSection::disc(), true},
                      Family{"interval_skew", 2, FrictionSection::box(), false},
                      Family{"disc", 3, FrictionSection::disc(), true},
                      Family{"disc_skew", 3, FrictionSection::disc(), false},
                      Family{"box", 3, FrictionSection::box(), true},
                      Family{"box_skew", 3, FrictionSection::box(), false},
                      Family{"square", 3, FrictionSection::polygon(4), true},
                      Family{"octagon", 3, FrictionSection::polygon(8), true},
                      Family{"octagon_skew", 3, FrictionSection::polygon(8), false}),
    [](const auto& info) { return std::string(info.param.name); });

OneContact prepared(const std::vector<double>& W, int dim, double mu) {
  OneContact contact;
  contact.prepare(W.data(), dim, mu, nullptr);
  return contact;
}

/// The answer of a contact in space is this one, to `tolerance`.
void expect_answer(const std::vector<double>& W, double mu, const std::array<double, 3>& q,
                   const std::array<double, 3>& expected, double tolerance) {
  double r[3], hint = 0;
  ASSERT_TRUE(prepared(W, 3, mu).solve(q.data(), r, hint));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(r[i], expected[i], tolerance) << "component " << i;
}

TEST(OneContact, SlidesWithTheFrictionOfABlockOnAnIncline) {
  // Unit mass, W = I: the impulse that stops the approach, and μ times it against the sliding.
  expect_answer({1, 0, 0, 0, 1, 0, 0, 0, 1}, 0.5, {-2, 3, 4}, {2, -0.6, -0.8}, 1e-15);
}

TEST(OneContact, WithoutFrictionHasNoTangentialImpulse) {
  expect_answer({2, 0.5, 0.1, 0.5, 1, 0, 0.1, 0, 1}, 0, {-1, 5, -7}, {0.5, 0, 0}, 0);
}

TEST(OneContact, HandlesTangentsThatNothingMoves) {
  // Only the normal yields: the slip stays, and friction is what the bound allows.
  expect_answer({1, 0, 0, 0, 0, 0, 0, 0, 0}, 0.5, {-1, 3, 4}, {1, -0.3, -0.4}, 1e-13);
}

TEST(OneContact, OpensWhereAJammedSolutionExistsToo) {
  // Strong coupling: r = −W⁻¹q lies in the cone although q_N > 0 (Painlevé). Open is the choice.
  const std::vector<double> W = {1, -0.9, -0.9, 1};
  const double q[] = {0.1, -1};
  double r[2], hint = 0;
  ASSERT_TRUE(prepared(W, 2, 5.0).solve(q, r, hint));
  EXPECT_EQ(r[0], 0);
  EXPECT_EQ(r[1], 0);
}

TEST(OneContact, PrefersStickingToSlidingInAnIndefiniteProblem) {
  // 1 − μ|g| < 0 in one direction: sliding would need a negative denominator there.
  const std::vector<double> W = {1, -1.2, -1.2, 2};
  const double q[] = {-1, 0.5};
  double r[2], hint = 0;
  ASSERT_TRUE(prepared(W, 2, 3.0).solve(q, r, hint));
  const double slip = W[2] * r[0] + W[3] * r[1] + q[1];
  EXPECT_NEAR(slip, 0, 1e-14);
  EXPECT_NEAR(r[0] - 1.2 * r[1] - 1, 0, 1e-14);
}

TEST(OneContact, ReportsThatNoImpulseCanPushApart) {
  const std::vector<double> zero(9, 0.0);
  double r[3], hint = 0;
  const double approaching[] = {-1, 0, 0}, parting[] = {1, 2, 3};
  EXPECT_FALSE(prepared(zero, 3, 0.5).solve(approaching, r, hint));
  EXPECT_TRUE(prepared(zero, 3, 0.5).solve(parting, r, hint));
  EXPECT_FALSE(prepared({-1}, 1, 0).solve(approaching, r, hint));
}

TEST(OneContact, FailsRatherThanInventsAnAnswerForIndefiniteMatrices) {
  Random random(3);
  int solved = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Problem problem{.dim = 3, .mu = random.uniform(0.1, 2)};
    for (double& x : problem.W) x = random.normal();
    for (double& x : problem.q) x = random.normal();
    OneContact contact;
    contact.prepare(problem.W.data(), 3, problem.mu, nullptr);
    double r[3], hint = 0;
    if (!contact.solve(problem.q.data(), r, hint)) continue;
    ++solved;
    ASSERT_LE(natural_map(problem, FrictionSection::disc(), r), 1e-11L) << "trial " << trial;
  }
  EXPECT_GT(solved, 10000);
}

TEST(OneContact, PolygonApproachesTheDisc) {
  Random random(11);
  for (int trial = 0; trial < 200; ++trial) {
    Problem problem = random_problem(random, 3, true);
    problem.mu = random.uniform(0.1, 0.5);
    double exact[3], hint = 0;
    OneContact contact;
    contact.prepare(problem.W.data(), 3, problem.mu, nullptr);
    ASSERT_TRUE(contact.solve(problem.q.data(), exact, hint));
    // The natural map of the disc at the answer of the k-gon vanishes like the angle between
    // corners.
    for (const int sides : {16, 64, 256, 1024}) {
      const PolygonTable table(FrictionSection::polygon(sides));
      contact.prepare(problem.W.data(), 3, problem.mu, &table);
      double r[3];
      hint = 0;
      ASSERT_TRUE(contact.solve(problem.q.data(), r, hint));
      EXPECT_LE(natural_map(problem, FrictionSection::disc(), r), 4 * std::numbers::pi / sides)
          << "trial " << trial << " sides " << sides;
    }
  }
}

/// Visits that start where the last one ended, as sweeps make them.
template <int kDim>
Real natural_map_after_visits(const Problem& problem, int num_visits, double* r) {
  OneContact contact;
  contact.prepare(problem.W.data(), kDim, problem.mu, nullptr);
  double hint = 0;
  for (int visit = 0; visit < num_visits; ++visit) {
    double u[kDim];
    for (int i = 0; i < kDim; ++i) {
      u[i] = problem.q[i];
      for (int j = 0; j < kDim; ++j) u[i] += problem.W[i * kDim + j] * r[j];
    }
    EXPECT_TRUE(contact.visit<kDim>(u, r, hint));
  }
  return natural_map(problem, FrictionSection::disc(), r);
}

TEST(OneContact, VisitsFromAnywhereEndAtASolution) {
  // From a random impulse, as other contacts would have left it. Condition numbers reach 1e6, and u
  // is rounded to 1e-16 of W r.
  Random random(12);
  int num_compared = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    const int dim = random.integer(2, 3);
    const Problem problem = random_problem(random, dim, trial % 2 == 0);
    double r[3];
    for (double& x : r) x = std::abs(problem.q[0] / problem.W[0]) * random.normal();
    const Real wrong = dim == 2 ? natural_map_after_visits<2>(problem, 4, r)
                                : natural_map_after_visits<3>(problem, 4, r);
    // A singular W may jam: impulses without bound that balance each other.
    const double speed = std::abs(problem.q[0]) + std::abs(problem.q[1]);
    if (problem.W[0] * std::abs(r[0]) > 1e12 * speed || (r[0] == 0 && problem.q[0] < 0)) continue;
    ++num_compared;
    EXPECT_LE(wrong, 1e-8);
  }
  EXPECT_GE(num_compared, 19500);
}

TEST(OneContact, AVisitLeavesASolutionWhereItIs) {
  Random random(13);
  for (int trial = 0; trial < 5000; ++trial) {
    Problem problem = random_problem(random, 3, true);
    for (int i = 0; i < 3; ++i) problem.W[4 * i] += problem.W[0] + problem.W[4] + problem.W[8];
    OneContact contact;
    contact.prepare(problem.W.data(), 3, problem.mu, nullptr);
    double r[3], hint = 0;
    ASSERT_TRUE(contact.solve(problem.q.data(), r, hint));
    const std::array<double, 3> before{r[0], r[1], r[2]};
    (void)natural_map_after_visits<3>(problem, 1, r);
    // W is well conditioned here: rounding of u, over W.
    const double size = std::abs(problem.q[0]) + std::abs(problem.q[1]) + std::abs(problem.q[2]);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(r[i], before[i], 1e-14 * size / problem.W[0]);
  }
}

}  // namespace
}  // namespace stiction
