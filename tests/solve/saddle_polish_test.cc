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

// A milligram on a rough floor that springs press down and push along it: friction is on the edge
// of its cone to rounding of 10¹³, beside which the velocity that says slip is nothing.
TEST(SaddlePolish, TakesFrictionOnTheEdgeForSlip) {
  const double m = 1e-6, C = 1e-13, mu = 0.3;
  StepProblem problem;
  problem.add_mass_block(2) << m, 0, 0, m;
  problem.p = {3e-6, -2e-6};
  for (const double bias : {1.0, -1.0}) {
    problem.add_bilateral_row({.compliance = C, .bias = bias});
    problem.bilateral.add_entry(0, 2) << (bias > 0), (bias < 0);
  }
  problem.add_contact({.num_tangents = 1, .mu = mu, .section = {}, .key = 0});
  problem.contacts.add_entry(0, 2) << 0, 1, 1, 0;
  StepSolution answer, polished;
  answer.w = {1 - mu + 1e-7, 0};
  answer.lambda = {mu / C, -1 / C};
  answer.r = {1 / C, -mu / C};
  ASSERT_TRUE(SaddlePolish().polish(problem, answer, 0, polished));
  EXPECT_NEAR(polished.w[0], 1 - mu, 1e-15);
  EXPECT_NEAR(polished.w[1], 0, 1e-18);
  EXPECT_LE(SaddlePolish::compute_miss(problem, polished).of_data, 1e-15);
}

TEST(SaddlePolish, EnumerationNeedsNoStart) {
  LemkeSolver lemke;
  SaddlePolish polish;
  int num_found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem =
        testing::random_problem(seed, {.max_contacts = 2, .max_bodies = 3, .max_bilateral = 3});
    StepSolution exact, found;
    if (lemke.solve(problem, exact).status != SolverStatus::kConverged) continue;
    if (!polish.enumerate(problem, kRounding, found)) continue;
    ++num_found;
    EXPECT_TRUE(certify(problem, found).meets(kRounding))
        << seed << " " << certify(problem, found).residual();
  }
  EXPECT_GT(num_found, 50);
}

TEST(SaddlePolish, EnumerationRefusesWhatHasTooManyStatuses) {
  SaddlePolish polish;
  StepSolution found;
  for (const FrictionSection& section : {FrictionSection::disc(), FrictionSection::polygon(64)}) {
    StepProblem problem;
    problem.add_mass_block(3).setIdentity();
    problem.p = {1, 2, 3};
    for (int j = 0; j < 2; ++j) {
      problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = section, .key = 0});
      problem.contacts.add_entry(0, 3).setIdentity();
    }
    EXPECT_FALSE(polish.enumerate(problem, kRounding, found)) << to_text(section);
  }
  EXPECT_FALSE(polish.enumerate({}, kRounding, found));
}

// An error of the data is one whatever else moves; rounding of them is none.
TEST(SaddlePolish, MissIsRelativeToTheDataOfTheWholeProblem) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  problem.add_mass_block(1)(0, 0) = 1;
  problem.p = {0, 2};
  for (int b = 0; b < 2; ++b) add_normal(problem, b, 1, 0);
  StepSolution answer;
  answer.w = {1e-6, 0};
  answer.r = {1e-6, 1};
  const SaddlePolish::Miss miss = SaddlePolish::compute_miss(problem, answer);
  EXPECT_NEAR(miss.of_data, 0.5e-6, 1e-12);
  EXPECT_NEAR(miss.of_motion, 1, 1e-12);
  EXPECT_TRUE((SaddlePolish::Miss{1e-17, 0.5} < SaddlePolish::Miss{1e-16, 0.6}));
  EXPECT_TRUE((SaddlePolish::Miss{1e-12, 0.6} < SaddlePolish::Miss{1e-9, 0.5}));
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
