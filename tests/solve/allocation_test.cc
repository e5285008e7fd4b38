// A warm solver allocates nothing.
#include "tests/solve/allocation_counter.h"

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/solve/random_problem.h"

namespace {
std::atomic<long> num_mallocs = 0;
}  // namespace

// operator new and Eigen both end here.
extern "C" {
void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)
void* malloc(std::size_t size) {
  ++num_mallocs;
  return __libc_malloc(size);
}
}

namespace stiction {

long testing::num_allocations() { return num_mallocs; }

void testing::expect_no_allocation_once_warm(Solver& solver,
                                             const std::vector<StepProblem>& problems) {
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

namespace {

using testing::num_allocations;

/// Solves all problems twice, each from the answer before, and expects the second time to allocate
/// nothing.
void expect_no_allocation_from_answers(Solver& solver, const std::vector<StepProblem>& problems) {
  StepSolution solution;
  const auto solve_all = [&] {
    int num_solved = 0;
    for (const StepProblem& problem : problems)
      num_solved += solver.solve(problem, solution).status == SolverStatus::kConverged ? 1 : 0;
    return num_solved;
  };
  const int num_solved = solve_all();
  ASSERT_GE(num_solved, static_cast<int>(problems.size()) * 9 / 10);
  const long before = num_allocations();
  ASSERT_EQ(solve_all(), num_solved);
  EXPECT_EQ(num_allocations(), before);
}

TEST(Lemke, DoesNotAllocateOnceWarm) {
  std::vector<StepProblem> problems;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    problems.push_back(testing::random_problem(seed));
  LemkeSolver cold, warm({.warm_start = true});
  expect_no_allocation_from_answers(cold, problems);
  expect_no_allocation_from_answers(warm, problems);
}

/// LCPs of any size without bodies; one row in four is an equation.
std::vector<StepProblem> condensed_problems() {
  std::vector<StepProblem> problems;
  Random random(1);
  for (int size = 1; size <= 40; ++size) {
    StepProblem& problem = problems.emplace_back();
    const int num_free = size / 4;
    for (int i = 0; i < size; ++i) {
      if (i < num_free) {
        problem.add_bilateral_row({.bias = random.normal()});
      } else {
        problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
        problem.contact_bias.back() = random.normal();
      }
    }
    for (int i = 0; i < size; ++i) {
      problem.coupling.add_row();
      for (int j = 0; j < size; ++j)
        problem.coupling.add_entry(j, (i == j ? 2 : 0) + random.normal() / size);
    }
  }
  return problems;
}

TEST(Lemke, DoesNotAllocateOnCondensedProblemsOnceWarm) {
  LemkeSolver solver;
  expect_no_allocation_from_answers(solver, condensed_problems());
}

TEST(AutoSolver, DoesNotAllocateOnceWarm) {
  std::vector<StepProblem> problems;
  for (std::uint64_t seed = 0; seed < 60; ++seed) problems.push_back(testing::random_problem(seed));
  AutoSolver solver({.tolerance = 1e-8});
  testing::expect_no_allocation_once_warm(solver, problems);
}

}  // namespace
}  // namespace stiction

#endif
