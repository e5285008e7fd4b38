// Assembling blocks, and solving with them, allocates nothing for a problem that was solved before.
#include "tests/solve/allocation_counter.h"

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/newton_solver.h"
#include "tests/solve/disc_problem.h"

namespace stiction {
namespace {

using testing::num_allocations;

std::vector<StepProblem> make_problems(int num_contacts) {
  std::vector<StepProblem> problems;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    problems.push_back(testing::disc_problem(seed, {.allow_strange_units = false}));
    problems.push_back(testing::condensed_problem(
        seed, {.num_contacts = num_contacts, .rank = num_contacts, .mu_max = 0.5}));
  }
  return problems;
}

TEST(FrictionBlocks, AllocateNothingOnceWarm) {
  FrictionBlocks blocks;
  for (const StepProblem& problem : make_problems(40)) {
    ASSERT_TRUE(blocks.assemble(problem));
    const long before = num_allocations();
    ASSERT_TRUE(blocks.assemble(problem));
    EXPECT_EQ(num_allocations(), before);
  }
}

// Different numbers, the same size: small problems need no analysis of their pattern.
TEST(FrictionBlocks, AllocateNothingForOtherNumbersOfTheSameSize) {
  FrictionBlocks blocks;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 16, .rank = 12, .mu_max = 0.5});
    const long before = num_allocations();
    ASSERT_TRUE(blocks.assemble(problem));
    const long added = num_allocations() - before;
    EXPECT_TRUE(seed == 0 || added == 0) << added;
  }
}

TEST(NewtonSolver, AllocatesNothingOnceWarm) {
  NewtonSolver solver({.tolerance = 1e-9});
  StepSolution solution;
  for (const StepProblem& problem : make_problems(16)) {
    solution = {};
    (void)solver.solve(problem, solution);
    std::fill(solution.r.begin(), solution.r.end(), 0.0);
    std::fill(solution.lambda.begin(), solution.lambda.end(), 0.0);
    const long before = num_allocations();
    (void)solver.solve(problem, solution);
    EXPECT_EQ(num_allocations(), before);
  }
}

}  // namespace
}  // namespace stiction

#endif
