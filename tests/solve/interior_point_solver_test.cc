// The interior point method against the certificate and against a solver that shares only the
// assembled blocks with it.
#include "stiction/solve/interior_point_solver.h"

#include <gtest/gtest.h>

#include "stiction/solve/newton_solver.h"
#include "tests/solve/disc_problem.h"

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
    if (!is_solved && report.status == SolverStatus::kConverged) ++tally.silent_failures;
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
  // Two contacts press a point from both sides at once: no velocity can satisfy both.
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  for (const double side : {1.0, -1.0}) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.contacts.add_entry(0, 1)(0, 0) = side;
  }
  problem.contact_bias = {-1, -1};
  StepSolution solution;
  EXPECT_EQ(InteriorPointSolver().solve(problem, solution).status, SolverStatus::kMaxIterations);
}

TEST(InteriorPointSolver, RefusesPolygonsInSpace) {
  StepProblem problem;
  problem.add_mass_block(3).setIdentity();
  problem.add_contact(
      {.num_tangents = 2, .mu = 0.5, .section = FrictionSection::polygon(4), .key = 0});
  problem.contacts.add_entry(0, 3).setIdentity();
  StepSolution solution;
  EXPECT_EQ(InteriorPointSolver().solve(problem, solution).status, SolverStatus::kUnsupported);
}

}  // namespace
}  // namespace stiction
