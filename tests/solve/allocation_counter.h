// Counts the allocations of this test program, in which allocation_test.cc replaces malloc:
// operator new and Eigen both end there. Sanitizers bring a malloc of their own; tests that count
// are left out under them.
#pragma once

#include "tests/sanitizers.h"

#define ST_COUNTS_ALLOCATIONS !ST_HAS_SANITIZERS

#if ST_COUNTS_ALLOCATIONS

#include <vector>

#include "stiction/problem/solver.h"

namespace stiction::testing {

long num_allocations();

/// Solves all problems from nothing, twice, and expects the second round to take no memory.
void expect_no_allocation_once_warm(Solver& solver, const std::vector<StepProblem>& problems);

}  // namespace stiction::testing

#endif
