// The interior point method against the certificate and against a solver that shares only the
// assembled blocks with it.
#include "stiction/solve/interior_point_solver.h"

#include <gtest/gtest.h>

#include "stiction/solve/newton_solver.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/edge_problems.h"
#include "tests/solve/law_check.h"

namespace stiction {
namespace {

struct Tally {
  int solved = 0;
  int silent_failures = 0;
};

template <class MakeProblem>
Tally solve_many(const InteriorPointOptions& options, int num_seeds, const MakeProblem& make) {
  InteriorPointSolver solver(options);
  Tally tally;
  for (int seed = 0; seed < num_seeds; ++seed) {
    const StepProblem problem = make(seed);
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    const bool is_solved = certify(problem, solution).meets(options.tolerance);
    tally.solved += is_solved ? 1 : 0;
    // A second judge, which shares nothing with the certificate; μ up to 10 multiplies errors.
    const bool is_lawful =
        testing::LawCheck(problem, solution).violation() <= 10 * options.tolerance;
    if (!(is_solved && is_lawful) && report.status == SolverStatus::kConverged)
      ++tally.silent_failures;
  }
  return tally;
}

TEST(InteriorPointSolver, SolvesRegularProblemsToRounding) {
  const Tally tally = solve_many({.tolerance = 1e-12}, 100, [](int seed) {
    return testing::condensed_problem(seed, {.num_contacts = 8, .rank = 40, .mu_max = 0.5});
  });
  EXPECT_EQ(tally.solved, 100);
}

// The share is what was measured, rounded down; admitted failures are no fault.
TEST(InteriorPointSolver, SolvesMostRankDeficientProblemsToRounding) {
  const Tally tally = solve_many({.tolerance = 1e-11}, 100, [](int seed) {
    return testing::condensed_problem(seed, {.num_contacts = 20, .rank = 12, .mu_max = 1});
  });
  EXPECT_GE(tally.solved, 97);
  EXPECT_EQ(tally.silent_failures, 0);
}

TEST(InteriorPointSolver, SolvesMostProblemsWithJointsAndBounds) {
  const testing::RandomProblemOptions moderate{.mass_ratio_max = 100, .allow_strange_units = false};
  const Tally tally = solve_many({.tolerance = 1e-9}, 200,
                                 [&](int seed) { return testing::disc_problem(seed, moderate); });
  EXPECT_GE(tally.solved, 180);
  EXPECT_EQ(tally.silent_failures, 0);
}

TEST(InteriorPointSolver, NeverCallsAWrongAnswerConvergedAtExtremeMassRatios) {
  const Tally tally = solve_many({.tolerance = 1e-9}, 200, [](int seed) {
    return testing::disc_problem(seed, {.mu_max = 10});
  });
  EXPECT_EQ(tally.silent_failures, 0);
}

// Small friction makes velocities unique, so that two methods must agree on them.
TEST(InteriorPointSolver, AgreesWithNewtonOnVelocities) {
  InteriorPointSolver interior({.tolerance = 1e-11});
  NewtonSolver newton({.tolerance = 1e-11});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 8, .rank = 40, .mu_max = 0.2});
    StepSolution a, b;
    ASSERT_EQ(interior.solve(problem, a).status, SolverStatus::kConverged) << seed;
    ASSERT_EQ(newton.solve(problem, b).status, SolverStatus::kConverged) << seed;
    for (std::size_t i = 0; i < a.r.size(); ++i) EXPECT_NEAR(a.r[i], b.r[i], 1e-7) << seed;
  }
}

TEST(InteriorPointSolver, ReturnsAWarmStartThatPasses) {
  InteriorPointSolver solver;
  const StepProblem problem = testing::condensed_problem(3, {.rank = 20});
  StepSolution solution;
  ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  const StepSolution first = solution;
  EXPECT_EQ(solver.solve(problem, solution).iterations, 0);
  EXPECT_EQ(solution.r, first.r);
}

TEST(InteriorPointSolver, AdmitsThatThereIsNoSolution) {
  StepSolution solution;
  EXPECT_EQ(InteriorPointSolver().solve(testing::squeezed_point(), solution).status,
            SolverStatus::kMaxIterations);
}

TEST(InteriorPointSolver, SpendsNoMoreThanItsBudgetOnAHopelessProblem) {
  const StepProblem problem = testing::crowded_body(60);
  const double flops = testing::iteration_flops(problem);
  constexpr int kPolishIterations = 6;
  for (const int budget : {0, 4, 10}) {
    StepSolution solution;
    InteriorPointSolver solver({.max_flops = 2.01 * budget * flops});
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kMaxIterations);
    EXPECT_LE(report.iterations, budget == 0 ? 0 : budget + kPolishIterations);
    EXPECT_TRUE(solution.is_finite());
  }
}

TEST(InteriorPointSolver, RefusesPolygonsInSpace) {
  StepSolution solution;
  EXPECT_EQ(InteriorPointSolver().solve(testing::square_section(), solution).status,
            SolverStatus::kUnsupported);
}

}  // namespace
}  // namespace stiction
