// Counts allocations of this test program: a warm solver makes none.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "stiction/solve/lemke_solver.h"
#include "tests/solve/random_problem.h"

namespace {
std::atomic<long> num_allocations = 0;
}  // namespace

void* operator new(std::size_t size) {
  ++num_allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace stiction {
namespace {

TEST(Lemke, DoesNotAllocateOnceWarm) {
  std::vector<StepProblem> problems;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    problems.push_back(testing::random_problem(seed));
  LemkeSolver solver;
  StepSolution solution;
  const auto solve_all = [&] {
    int num_solved = 0;
    for (const StepProblem& problem : problems)
      num_solved += solver.solve(problem, solution).status == SolverStatus::kConverged ? 1 : 0;
    return num_solved;
  };
  ASSERT_EQ(solve_all(), 100);
  const long before = num_allocations;
  ASSERT_EQ(solve_all(), 100);
  EXPECT_EQ(num_allocations, before);
}

}  // namespace
}  // namespace stiction
