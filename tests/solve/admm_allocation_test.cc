// ADMM takes no memory once it is warm, in both forms, changes of the penalty included.
#include "tests/solve/allocation_counter.h"

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stiction/solve/admm_solver.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

using testing::num_allocations;

void expect_no_allocation(const StepProblem& problem, AdmmForm form) {
  AdmmSolver solver({.tolerance = 1e-9, .max_iterations = 300, .form = form});
  StepSolution solution;
  (void)solver.solve(problem, solution);
  std::fill(solution.r.begin(), solution.r.end(), 0.0);
  std::fill(solution.lambda.begin(), solution.lambda.end(), 0.0);
  const long before = num_allocations();
  (void)solver.solve(problem, solution);
  EXPECT_EQ(num_allocations(), before);
}

TEST(AdmmSolver, AllocatesNothingOnTheSecondSolve) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StepProblem problem = testing::disc_problem(seed, {.allow_strange_units = false});
    expect_no_allocation(problem, AdmmForm::kSaddle);
    expect_no_allocation(problem, AdmmForm::kDelassus);
  }
  expect_no_allocation(testing::sphere_grid({.count = {5, 5, 5}}), AdmmForm::kSaddle);
}

}  // namespace
}  // namespace stiction

#endif
