// ADMM is a first-order method: it is asked for 1e-6 and judged by the certificate.
#include "stiction/solve/admm_solver.h"

#include <gtest/gtest.h>

#include "stiction/problem/certificate.h"
#include "tests/solve/disc_problem.h"

namespace stiction {
namespace {

TEST(AdmmSolver, SolvesRankDeficientProblemsToOneMillionth) {
  AdmmSolver solver;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 12, .rank = 15, .mu_max = 0.8});
    StepSolution solution;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged) << seed;
    EXPECT_LE(certify(problem, solution).residual(), 1e-6) << seed;
  }
}

TEST(AdmmSolver, NeverCallsAWrongAnswerConverged) {
  AdmmSolver solver({.tolerance = 1e-6, .max_iterations = 300});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem = testing::disc_problem(seed, {.mu_max = 10});
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    const bool is_solved = certify(problem, solution).meets(1e-6);
    EXPECT_EQ(report.status == SolverStatus::kConverged, is_solved) << seed;
  }
}

TEST(AdmmSolver, WarmStartSavesIterations) {
  AdmmSolver solver({.tolerance = 1e-8});
  const StepProblem problem = testing::condensed_problem(5, {.rank = 20});
  StepSolution solution;
  const SolverReport cold = solver.solve(problem, solution);
  const SolverReport warm = solver.solve(problem, solution);
  EXPECT_GT(cold.iterations, 0);
  EXPECT_EQ(warm.iterations, 0);
}

TEST(AdmmSolver, StopsAtItsIterationLimitAndSaysSo) {
  AdmmSolver solver({.tolerance = 1e-15, .max_iterations = 20});
  const StepProblem problem = testing::condensed_problem(1, {.rank = 12});
  StepSolution solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kMaxIterations);
  EXPECT_EQ(report.iterations, 20);
}

TEST(AdmmSolver, StopsAtItsTimeLimit) {
  AdmmSolver solver({.tolerance = 0, .max_iterations = 1 << 30, .max_seconds = 0.05});
  const StepProblem problem = testing::condensed_problem(1, {.rank = 12});
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kMaxIterations);
}

}  // namespace
}  // namespace stiction
