#include "stiction/solve/saddle_polish.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/newton_solver.h"
#include "tests/solve/edge_problems.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

using testing::add_normal;

/// Residuals of an answer that has only its rounding: some roundings of impulses (2e-16 each), of
/// which 1e-4 are the scale of contacts without any (T22).
constexpr double kRounding = 1e-11;

void add_row(StepProblem& problem, const StepProblem::BilateralRow& row, double direction) {
  problem.add_bilateral_row(row);
  problem.bilateral.add_entry(0, 1)(0, 0) = direction;
}

/// Velocities off by a share of the largest: what elimination loses.
StepSolution disturb(const StepSolution& answer, double share, std::uint64_t seed) {
  Random random(seed);
  StepSolution result = answer;
  double largest = 0;
  for (const double w : answer.w) largest = std::max(largest, std::abs(w));
  for (double& w : result.w) w += share * largest * random.normal();
  return result;
}

// A milligram that springs of 1e12 N/m press against a wall: w = 0 by the wall and λ = b/C by the
// springs, ν the sum of them. Elimination gives w the rounding of λ over m, here some 1e3 m/s.
TEST(SaddlePolish, HoldsALightBodyBetweenStiffSpringsAndAWall) {
  const double m = 1e-6, C = 1e-13;
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = m;
  problem.p = {3e-6};
  add_row(problem, {.compliance = C, .bias = -1}, 1);
  add_row(problem, {.compliance = C, .bias = 0.75}, 1);
  add_normal(problem, 0, 1, 0);
  StepSolution answer;
  answer.lambda = {-1 / C, 0.75 / C};
  answer.r = {0.25 / C};
  answer.w = {(problem.p[0] + answer.lambda[0] + answer.lambda[1] + answer.r[0] + 2e-3) / m};
  ASSERT_GT(std::abs(answer.w[0]), 1e2);
  StepSolution polished;
  constexpr double kAnything = std::numeric_limits<double>::infinity();  // rows decide
  ASSERT_TRUE(SaddlePolish().polish(problem, answer, kAnything, polished));
  EXPECT_LE(std::abs(polished.w[0]), 1e-18);
  EXPECT_NEAR(polished.lambda[0], -1 / C, 1e-2);  // four roundings
  EXPECT_NEAR(polished.r[0], 0.25 / C, 1e-2);
  EXPECT_LE(SaddlePolish::compute_drift(problem, polished), 1e-15);
}

TEST(SaddlePolish, BringsRandomProblemsWithFlatSectionsBackToRounding) {
  LemkeSolver lemke;
  SaddlePolish polish;
  int num_tried = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem =
        testing::random_problem(seed, {.max_contacts = 8, .max_bodies = 5, .max_bilateral = 4});
    if (problem.num_dofs() + problem.num_rows() > SaddlePolish::kMaxSize) continue;
    StepSolution exact, polished;
    if (lemke.solve(problem, exact).status != SolverStatus::kConverged) continue;
    const StepSolution start = disturb(exact, 1e-7, seed);
    if (certify(problem, start).meets(kRounding)) continue;
    ++num_tried;
    EXPECT_TRUE(polish.polish(problem, start, 0, polished)) << seed;
    EXPECT_TRUE(certify(problem, polished).meets(kRounding))
        << seed << " " << certify(problem, polished).residual();
  }
  EXPECT_GT(num_tried, 100);
}

TEST(SaddlePolish, BringsDiscsBackToRoundingByNewtonSteps) {
  NewtonSolver newton({.tolerance = 1e-9});
  SaddlePolish polish;
  int num_tried = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    StepProblem problem =
        testing::random_problem(seed, {.max_contacts = 5, .max_bodies = 5, .max_bilateral = 2});
    for (FrictionSection& section : problem.section) section = FrictionSection::disc();
    StepSolution answer, polished;
    if (newton.solve(problem, answer).status != SolverStatus::kConverged) continue;
    const StepSolution start = disturb(answer, 1e-7, seed);
    if (certify(problem, start).meets(kRounding)) continue;
    ++num_tried;
    EXPECT_TRUE(polish.polish(problem, start, 0, polished)) << seed;
    EXPECT_TRUE(certify(problem, polished).meets(kRounding))
        << seed << " " << certify(problem, polished).residual();
  }
  EXPECT_GT(num_tried, 20);
}

TEST(SaddlePolish, IsNeverWorseThanWhatItStartsFrom) {
  SaddlePolish polish;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::random_problem(seed, {.max_contacts = 6, .max_bodies = 4, .max_bilateral = 4});
    StepSolution start, polished;
    start.set_zero(problem);
    Random random(seed);
    for (std::vector<double>* values : {&start.w, &start.lambda, &start.r})
      for (double& x : *values) x = random.normal();
    if (!polish.polish(problem, start, 0, polished)) continue;
    EXPECT_LT(certify(problem, polished).residual(), certify(problem, start).residual()) << seed;
  }
}

// Four equal joints and four equal contacts: infinitely many impulses do, and those that were there
// are as good as any.
TEST(SaddlePolish, LeavesRedundantRowsTheirImpulses) {
  StepProblem problem;
  problem.add_mass_block(2) << 2, 0, 0, 3;
  problem.p = {1, -1};
  for (int i = 0; i < 4; ++i) {
    problem.add_bilateral_row({});
    problem.bilateral.add_entry(0, 2) << 1, 0;
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.contacts.add_entry(0, 2) << 0, 1;
  }
  StepSolution answer, polished;
  answer.w = {1e-3, 1e-3};
  answer.lambda.assign(4, -0.25);
  answer.r.assign(4, 0.25);
  ASSERT_TRUE(SaddlePolish().polish(problem, answer, 0, polished));
  EXPECT_TRUE(certify(problem, polished).meets(1e-15));
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(polished.lambda[i], -0.25, 1e-2);
    EXPECT_NEAR(polished.r[i], 0.25, 1e-2);
  }
}

TEST(SaddlePolish, FindsBoundsAndContactsThatWereMissed) {
  StepProblem problem;  // a motor of at most 1 N s against a wall
  problem.add_mass_block(1)(0, 0) = 1;
  problem.p = {0};
  add_row(problem, {.compliance = 0, .bias = -5, .lower = -1, .upper = 1}, 1);
  add_normal(problem, 0, 1, 0);
  StepSolution answer, polished;
  answer.w = {-5};
  answer.lambda = {-5};
  answer.r = {0};
  ASSERT_TRUE(SaddlePolish().polish(problem, answer, 0, polished));
  EXPECT_EQ(polished.w[0], 0);
  EXPECT_EQ(polished.lambda[0], -1);
  EXPECT_EQ(polished.r[0], 1);
}

TEST(SaddlePolish, RefusesProblemsWithoutRowsAndLargeOnes) {
  StepProblem problem;
  StepSolution answer, polished;
  EXPECT_FALSE(SaddlePolish().polish(problem, answer, 0, polished));
  for (int b = 0; b < SaddlePolish::kMaxSize; ++b) problem.add_mass_block(1)(0, 0) = 1;
  add_normal(problem, 0, 1, -1);
  answer.set_zero(problem);
  EXPECT_FALSE(SaddlePolish().polish(problem, answer, 0, polished));
}

// Drift is what rows miss of their own velocities; rounding of a body at rest under gravity is
// none.
TEST(SaddlePolish, DriftIsRelativeToTheMotionAtHand) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 2;
  add_normal(problem, 0, 1, 0);
  problem.p = {-2e-2};
  StepSolution answer;
  answer.w = {1e-18};
  answer.r = {2e-2};
  EXPECT_LE(SaddlePolish::compute_drift(problem, answer), 1e-15);
  problem.p = {0};
  EXPECT_EQ(SaddlePolish::compute_drift(problem, answer), 1);
  answer.r = {0};  // an open contact may move
  EXPECT_EQ(SaddlePolish::compute_drift(problem, answer), 0);
}

}  // namespace
}  // namespace stiction
