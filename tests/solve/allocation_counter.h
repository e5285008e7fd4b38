// Counts the allocations of this test program, in which allocation_test.cc replaces malloc:
// operator new and Eigen both end there. Sanitizers bring a malloc of their own; tests that count
// are left out under them.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define ST_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ST_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef ST_COUNTS_ALLOCATIONS
#define ST_COUNTS_ALLOCATIONS 1
#endif

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <vector>

#include "stiction/problem/solver.h"

namespace stiction::testing {

long num_allocations();

/// Solves all problems from nothing, twice, and expects the second round to take no memory.
inline void expect_no_allocation_once_warm(Solver& solver,
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

}  // namespace stiction::testing

#endif
