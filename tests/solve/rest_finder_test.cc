// Whether a step problem has the answer w = 0 is decided to rounding.
#include "stiction/solve/rest_finder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/problem/certificate.h"

namespace stiction {
namespace {

constexpr double kPrecision = 1e-12;

/// A mass of two coordinates, x along the ground and z up, with momentum (px, pz), on `feet`
/// contacts in the plane.
StepProblem on_feet(double px, double pz, int feet, double mu) {
  StepProblem problem;
  problem.h = 0.01;
  problem.add_mass_block(2).setIdentity();
  problem.p = {px, pz};
  for (int j = 0; j < feet; ++j) {
    problem.add_contact(
        {.num_tangents = 1, .mu = mu, .section = {}, .key = static_cast<std::uint64_t>(j)});
    RowMatrixMap rows = problem.contacts.add_entry(0, 2);
    rows << 0, 1, 1, 0;
  }
  return problem;
}

StepSolution start(const StepProblem& problem, double normal, double tangent) {
  StepSolution solution;
  solution.set_zero(problem);
  for (int j = 0; j < problem.num_contacts(); ++j) {
    solution.r[2 * j] = normal;
    solution.r[2 * j + 1] = tangent;
  }
  return solution;
}

TEST(RestFinder, LeavesImpulsesThatBalanceAsTheyAre) {
  const StepProblem problem = on_feet(-0.25, -1, 2, 0.6);
  StepSolution solution = start(problem, 0.5, 0.125);
  EXPECT_EQ(RestFinder(kPrecision).find(problem, solution), 0);
  EXPECT_EQ(solution.r, (std::vector<double>{0.5, 0.125, 0.5, 0.125}));
  EXPECT_EQ(solution.w, (std::vector<double>{0, 0}));
}

TEST(RestFinder, CorrectsThoseThatNearlyDo) {
  const StepProblem problem = on_feet(-0.25, -1, 3, 0.6);
  StepSolution solution = start(problem, 0.3333, 0.0834);
  EXPECT_GT(RestFinder(kPrecision).find(problem, solution), 0);
  EXPECT_LE(certify(problem, solution).residual(), kPrecision);
  EXPECT_NEAR(solution.r[0] + solution.r[2] + solution.r[4], 1, 1e-15);
  // And as they are then, they need no more.
  const StepSolution before = solution;
  EXPECT_EQ(RestFinder(kPrecision).find(problem, solution), 0);
  EXPECT_TRUE(solution.is_identical(before));
}

/// Friction can hold μ times the weight and not a billionth more.
TEST(RestFinder, KnowsTheFrictionAngleToNineDigits) {
  for (const double excess : {1e-3, 1e-6, 1e-9}) {
    const StepProblem over = on_feet(-0.6 * (1 + excess), -1, 2, 0.6);
    StepSolution solution = start(over, 0.5, 0.3);
    EXPECT_EQ(RestFinder(kPrecision).find(over, solution), -1) << excess;
    const StepProblem under = on_feet(-0.6 * (1 - excess), -1, 2, 0.6);
    solution = start(under, 0.5, 0.3 * (1 - excess) * (1 - 1e-3 * excess));
    EXPECT_GE(RestFinder(kPrecision).find(under, solution), 0) << excess;
  }
}

TEST(RestFinder, RefusesWhatFliesRollsOrIsDriven) {
  const StepProblem lifted = on_feet(0, 1e-9, 2, 0.6);
  StepSolution solution = start(lifted, 0, 0);
  EXPECT_EQ(RestFinder(kPrecision).find(lifted, solution), -1);
  // A third coordinate that no contact holds.
  StepProblem rolling;
  rolling.h = 0.01;
  rolling.add_mass_block(2).setIdentity();
  rolling.p = {1e-9, -1};
  rolling.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
  rolling.contacts.add_entry(0, 2) << 0, 1;
  solution.set_zero(rolling);
  solution.r = {1};
  EXPECT_EQ(RestFinder(kPrecision).find(rolling, solution), -1);
  rolling.p[0] = 0;
  solution.r = {1};
  EXPECT_EQ(RestFinder(kPrecision).find(rolling, solution), 0);
  // A motor that wants 1e-9 m/s.
  StepProblem driven = on_feet(0, -1, 2, 0);
  driven.add_bilateral_row({.bias = 1e-9, .lower = -1, .upper = 1});
  driven.bilateral.add_entry(0, 2) << 1, 0;
  solution = start(driven, 0.5, 0);
  EXPECT_EQ(RestFinder(kPrecision).find(driven, solution), -1);
}

TEST(RestFinder, TakesTheForceOfASpringAsItIs) {
  StepProblem problem = on_feet(0, -1, 1, 0.5);
  // λ = b/C = 0.4 lifts, the ground carries the rest.
  problem.add_bilateral_row({.compliance = 100, .bias = 40});
  problem.bilateral.add_entry(0, 2) << 0, 1;
  StepSolution solution = start(problem, 0.6001, 0);
  solution.lambda = {0.3};
  EXPECT_GE(RestFinder(kPrecision).find(problem, solution), 0);
  EXPECT_EQ(solution.lambda[0], 0.4);
  EXPECT_NEAR(solution.r[0], 0.6, 1e-15);
}

/// Impulses are kept as forces from step to step.
TEST(RestFinder, AnswersSurviveTheWayThroughForces) {
  for (const double h : {0.01, 1.0 / 60, 0.3, 1e-7 / 3}) {
    StepProblem problem = on_feet(-0.1234567 * h, -9.87654321 * h, 7, 0.6);
    problem.h = h;
    StepSolution solution = start(problem, 1.411 * h, 0.0176 * h);
    ASSERT_GE(RestFinder(kPrecision).find(problem, solution), 0);
    for (const double r : solution.r) EXPECT_EQ(h * (r / h), r);
  }
}

}  // namespace
}  // namespace stiction
