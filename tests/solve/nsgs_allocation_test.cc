// A warm Gauss–Seidel solver takes no memory.
#include "tests/solve/allocation_counter.h"

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <vector>

#include "stiction/solve/gauss_seidel_pgs.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

using testing::num_allocations;

/// Solves all problems from nothing, twice, and expects the second round to take no memory.
void expect_no_allocation_once_warm(Solver& solver, const std::vector<StepProblem>& problems) {
  StepSolution solution;
  const auto solve_all = [&] {
    for (const StepProblem& problem : problems) {
      solution.w.clear();
      solution.lambda.clear();
      solution.r.clear();
      (void)solver.solve(problem, solution);
    }
  };
  solve_all();
  const long before = num_allocations();
  solve_all();
  EXPECT_EQ(num_allocations(), before) << solver.name();
}

std::vector<StepProblem> many_problems() {
  std::vector<StepProblem> problems;
  for (std::uint64_t seed = 0; seed < 60; ++seed) problems.push_back(testing::random_problem(seed));
  problems.push_back(testing::sphere_grid({.count = {3, 3, 3}}));
  return problems;
}

TEST(Nsgs, DoesNotAllocateOnceWarm) {
  const std::vector<StepProblem> problems = many_problems();
  for (const Acceleration acceleration :
       {Acceleration::kNone, Acceleration::kNncg, Acceleration::kAnderson, Acceleration::kHybrid}) {
    NsgsSolver solver({.max_iterations = 300, .acceleration = acceleration});
    expect_no_allocation_once_warm(solver, problems);
  }
}

TEST(Pgs, DoesNotAllocateOnceWarm) {
  PgsSolver solver({.max_iterations = 200});
  expect_no_allocation_once_warm(solver, many_problems());
}

}  // namespace
}  // namespace stiction

#endif
