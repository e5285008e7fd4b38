// The certificate judges, as for every solver. Theorem 2.1 of Anitescu & Potra covers these
// problems for polygons and, by a limit, for the disc, so all of them have a solution.
#include "stiction/solve/newton_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/sanitizers.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/edge_problems.h"
#include "tests/solve/law_check.h"

namespace stiction {
namespace {

constexpr std::uint64_t kNumSeeds = testing::kHasSanitizers ? 40 : 400;

struct Tally {
  int solved = 0;
  int silent_failures = 0;  // the solver believed in an answer that a judge rejects
  std::string unsolved;
};

Tally solve_random(const testing::RandomProblemOptions& options, double tolerance) {
  NewtonSolver solver({.tolerance = 1e-11, .max_iterations = 500});
  Tally tally;
  for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
    const StepProblem problem = testing::disc_problem(seed, options);
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    const bool is_solved = certify(problem, solution).meets(tolerance);
    if (is_solved) ++tally.solved;
    // A second judge, which shares nothing with the certificate; μ up to 10 multiplies errors.
    const bool is_lawful = testing::LawCheck(problem, solution).violation() <= 10 * tolerance;
    if (!(is_solved && is_lawful) && report.status == SolverStatus::kConverged)
      ++tally.silent_failures;
    if (!is_solved)
      tally.unsolved += " " + std::to_string(seed) + ":" +
                        std::to_string(static_cast<int>(report.status)) + "/" +
                        std::to_string(certify(problem, solution).residual());
  }
  return tally;
}

// A few degenerate problems converge slowly. The shares are what was measured, rounded down: a
// guard against getting worse and no theory. What counts is that unsolved ones are admitted.
void expect_few_unsolved(const Tally& tally, double share) {
  EXPECT_GE(tally.solved, share * static_cast<double>(kNumSeeds)) << tally.unsolved;
  EXPECT_EQ(tally.silent_failures, 0) << tally.unsolved;
}

TEST(NewtonSolver, SolvesRandomSpatialProblemsOfModerateScale) {
  expect_few_unsolved(solve_random({.mass_ratio_max = 100, .allow_strange_units = false}, 1e-9),
                      0.995);
}

TEST(NewtonSolver, SolvesRandomPlanarProblemsOfModerateScale) {
  const testing::RandomProblemOptions planar{
      .mass_ratio_max = 100, .allow_spatial = false, .allow_strange_units = false};
  expect_few_unsolved(solve_random(planar, 1e-9), 1);
}

TEST(NewtonSolver, SolvesRandomProblemsWithMassRatiosOfAHundredMillion) {
  expect_few_unsolved(solve_random({.mu_max = 10}, 1e-9), 0.985);
}

TEST(NewtonSolver, ReachesRoundingOnRegularProblems) {
  NewtonSolver solver({.tolerance = 1e-13});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 8, .rank = 40, .mu_max = 0.5});
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged) << seed;
    EXPECT_LT(certify(problem, solution).residual(), 1e-12) << seed;
  }
}

TEST(NewtonSolver, SolvesRankDeficientCondensedProblems) {
  NewtonSolver solver({.tolerance = 1e-11});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 20, .rank = 12, .mu_max = 1});
    StepSolution solution;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged) << seed;
    EXPECT_LT(certify(problem, solution).residual(), 1e-9) << seed;
  }
}

TEST(NewtonSolver, SolvesNonsymmetricAndBadlyScaledProblems) {
  NewtonSolver solver({.tolerance = 1e-11});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem = testing::condensed_problem(
        seed, {.num_contacts = 12, .rank = 24, .mu_max = 0.7, .skew = 0.1, .scale_ratio = 100});
    StepSolution solution;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged) << seed;
    EXPECT_LT(certify(problem, solution).residual(), 1e-9) << seed;
  }
}

// Without friction the velocity is unique, so two methods that share nothing must agree on it.
TEST(NewtonSolver, AgreesWithLemkeOnVelocitiesWithoutFriction) {
  NewtonSolver newton({.tolerance = 1e-12});
  LemkeSolver lemke;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const StepProblem problem = testing::random_problem(
        seed,
        {.mu_max = 0, .mass_ratio_max = 10, .allow_spatial = false, .allow_strange_units = false});
    if (*std::max_element(problem.mu.begin(), problem.mu.end()) > 0) continue;
    StepSolution a, b;
    ASSERT_EQ(newton.solve(problem, a).status, SolverStatus::kConverged) << seed;
    ASSERT_EQ(lemke.solve(problem, b).status, SolverStatus::kConverged) << seed;
    const double scale = 1 + b.w_vector().norm();
    EXPECT_LT((a.w_vector() - b.w_vector()).norm(), 1e-7 * scale) << seed;
  }
}

TEST(NewtonSolver, AnswersAtOnceFromItsOwnAnswer) {
  NewtonSolver solver({.tolerance = 1e-11});
  const StepProblem problem = testing::condensed_problem(3, {.rank = 20});
  StepSolution solution;
  (void)solver.solve(problem, solution);
  const StepSolution first = solution;
  const SolverReport again = solver.solve(problem, solution);
  EXPECT_EQ(again.iterations, 0);
  EXPECT_EQ(solution.r, first.r);
}

TEST(NewtonSolver, RepeatsItsAnswerBitByBit) {
  const StepProblem problem = testing::disc_problem(11);
  StepSolution a, b;
  NewtonSolver first, second;
  (void)first.solve(testing::disc_problem(12), b);
  b = {};
  (void)first.solve(problem, a);
  (void)second.solve(problem, b);
  EXPECT_EQ(a.r, b.r);
  EXPECT_EQ(a.w, b.w);
}

TEST(NewtonSolver, SaysThatItDidNotConverge) {
  StepSolution solution;
  NewtonSolver solver({.tolerance = 1e-10, .max_iterations = 200});
  EXPECT_EQ(solver.solve(testing::squeezed_point(), solution).status, SolverStatus::kMaxIterations);
}

// Operations and not seconds, so that the answer does not depend on the machine.
TEST(NewtonSolver, SpendsNoMoreThanItsBudgetOnAHopelessProblem) {
  const StepProblem problem = testing::crowded_body(60);
  const double flops = testing::iteration_flops(problem);
  const double dense = 2.0 / 3 * 180 * 180 * 180;  // of an LU factorisation of all rows
  EXPECT_GT(flops, 0.7 * dense);
  EXPECT_LT(flops, 1.1 * dense);
  int least = 0;
  for (const double budget : {0.5, 20.0, 100.0}) {
    StepSolution solution;
    NewtonSolver solver({.max_flops = budget * flops});
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kMaxIterations);
    EXPECT_LE(report.iterations, budget);
    EXPECT_GE(report.iterations, least);
    EXPECT_TRUE(solution.is_finite());
    least = report.iterations;
  }
  EXPECT_GE(least, 50);  // and what it has is used
}

TEST(NewtonSolver, RefusesABodyWhoseContactsFillTheMemory) {
  StepSolution solution;
  const SolverReport report = NewtonSolver().solve(testing::crowded_body(3400), solution);
  EXPECT_EQ(report.status, SolverStatus::kUnsupported);  // 10,200² > FrictionBlocks::kMostNumbers
}

TEST(NewtonSolver, RefusesPolygonsInSpace) {
  StepSolution solution;
  EXPECT_EQ(NewtonSolver().solve(testing::square_section(), solution).status,
            SolverStatus::kUnsupported);
}

TEST(NewtonSolver, SolvesTheEmptyProblemWithoutIterating) {
  StepProblem problem;
  StepSolution solution;
  const SolverReport report = NewtonSolver().solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_EQ(report.iterations, 0);
}

}  // namespace
}  // namespace stiction
