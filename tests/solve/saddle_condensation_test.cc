#include "stiction/solve/saddle_condensation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/saddle_polish.h"
#include "tests/solve/edge_problems.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

TEST(PivotedLu, SolvesAsFarAsTheRankGoes) {
  PivotedLu lu;
  lu.resize(3);
  const double matrix[3][3] = {{1, 2, 3}, {2, 4, 6}, {0, 1, 1}};  // row 2 is twice row 1
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) lu.row(i)[j] = matrix[i][j];
  lu.factor();
  EXPECT_EQ(lu.rank(), 2);
  std::vector<long double> x = {6, 12, 2};
  lu.solve(x);
  for (int i = 0; i < 3; ++i) {
    long double sum = 0;
    for (int j = 0; j < 3; ++j) sum += matrix[i][j] * x[j];
    EXPECT_NEAR(static_cast<double>(sum), i == 0 ? 6 : i == 1 ? 12 : 2, 1e-15);
  }
}

// What is left of a body on a spring, pressed on a wall: u = ν/(m + 1/C) + w₀.
TEST(SaddleCondensation, OfASpringIsItsStiffnessBesideTheMass) {
  StepProblem problem, condensed;
  problem.add_mass_block(1)(0, 0) = 2;
  problem.p = {-3};
  problem.add_bilateral_row({.compliance = 0.25, .bias = 1});
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  testing::add_normal(problem, 0, 1, 0.5);
  SaddleCondensation condensation;
  ASSERT_TRUE(condensation.condense(problem, condensed));
  EXPECT_EQ(condensed.num_blocks(), 0);
  EXPECT_EQ(condensed.num_bilateral(), 0);
  ASSERT_EQ(condensed.coupling.num_entries(), 1);
  // 2w = −3 + λ + ν and w + λ/4 = 1: w = (1 + ν)/6
  EXPECT_NEAR(condensed.coupling.value(0), 1.0 / 6, 1e-16);
  EXPECT_NEAR(condensed.contact_bias[0], 1.0 / 6 + 0.5, 1e-16);
  StepSolution answer, solution;
  answer.set_zero(condensed);
  answer.r = {5};
  condensation.expand(problem, answer, solution);
  EXPECT_NEAR(solution.w[0], 1, 1e-15);
  EXPECT_NEAR(solution.lambda[0], 0, 1e-15);
  EXPECT_EQ(solution.r[0], 5);
}

TEST(SaddleCondensation, SolvedByLemkeSolvesTheProblemItself) {
  SaddleCondensation condensation;
  LemkeSolver lemke;
  StepProblem condensed;
  StepSolution answer, solution;
  int num_solved = 0, num_tried = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem = testing::random_problem(
        seed, {.max_contacts = 8, .max_bodies = 5, .max_bilateral = 4, .mass_ratio_max = 1e4});
    if (!condensation.condense(problem, condensed)) continue;
    ++num_tried;
    if (lemke.solve(condensed, answer).status != SolverStatus::kConverged) continue;
    condensation.expand(problem, answer, solution);
    num_solved += certify(problem, solution).meets(1e-8);
  }
  EXPECT_GT(num_tried, 150);
  EXPECT_GE(num_solved, 0.95 * num_tried);
}

/// Up to three springs of compliance from 1e-9 to 1e-6 on masses from 1e-4 to 1e4 kg, and contacts
/// with friction that they press on.
StepProblem stiff_problem(std::uint64_t seed) {
  Random random(seed);
  StepProblem problem;
  const int n = random.integer(2, 5);
  RowMatrixMap mass = problem.add_mass_block(n);
  mass.setZero();
  for (int i = 0; i < n; ++i) mass(i, i) = std::pow(10, random.uniform(-4, 4));
  for (int i = 0; i < n; ++i) problem.p[i] = mass(i, i) * random.normal();
  const auto fill = [&](RowMatrixMap rows) {
    for (int i = 0; i < rows.size(); ++i) rows.data()[i] = random.uniform(-1, 1);
  };
  for (int i = 0; i < random.integer(1, std::min(3, n)); ++i) {
    problem.add_bilateral_row(
        {.compliance = std::pow(10, random.uniform(-9, -6)), .bias = random.uniform(-1, 1)});
    fill(problem.bilateral.add_entry(0, n));
  }
  for (int j = 0; j < random.integer(1, 4); ++j) {
    const int num_tangents = random.integer(1, 2);
    problem.add_contact({.num_tangents = num_tangents,
                         .mu = random.uniform(0, 1.5),
                         .section = FrictionSection::polygon(8),
                         .key = 0});
    fill(problem.contacts.add_entry(0, n));
  }
  return problem;
}

// All of these have a solution (theorem 2.2 of Anitescu & Potra 2002). Rows hold to rounding of the
// velocities at them and momentum to rounding of the impulses, however much these cancel: some
// 2e-16 of them, which beyond the cap count 1e5 times (T20).
TEST(SaddleCondensation, MakesLemkeSolveStepsOfStiffSprings) {
  LemkeSolver lemke;
  int num_converged = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const StepProblem problem = stiff_problem(seed);
    StepSolution answer;
    if (lemke.solve(problem, answer).status != SolverStatus::kConverged) continue;
    ++num_converged;
    EXPECT_LE(certify(problem, answer).momentum, 1e-10) << seed;
    EXPECT_LE(SaddlePolish::compute_drift(problem, answer), 1e-6) << seed;
  }
  EXPECT_EQ(num_converged, 500);
}

TEST(SaddleCondensation, RefusesWhatHasNothingToCondense) {
  SaddleCondensation condensation;
  StepProblem problem, condensed;
  EXPECT_FALSE(condensation.condense(problem, condensed));
  problem.add_mass_block(1)(0, 0) = 1;
  problem.add_bilateral_row({});
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  EXPECT_FALSE(condensation.condense(problem, condensed));
  testing::add_normal(problem, 0, 1, 0);
  EXPECT_TRUE(condensation.condense(problem, condensed));
  EXPECT_FALSE(condensation.condense(condensed, problem));  // has direct coupling already
}

}  // namespace
}  // namespace stiction
