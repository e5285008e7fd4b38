// A warm Gauss–Seidel solver takes no memory.
#include "tests/solve/allocation_counter.h"

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <vector>

#include "stiction/solve/gauss_seidel_pgs.h"
#include "stiction/solve/jointed_sweeps.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

using testing::expect_no_allocation_once_warm;

/// On bodies and condensed, in the plane and in space, with every section, all in one list: a
/// solver has to keep the storage of the largest.
std::vector<StepProblem> many_problems() {
  std::vector<StepProblem> problems;
  for (std::uint64_t seed = 0; seed < 60; ++seed) problems.push_back(testing::random_problem(seed));
  for (const FrictionSection& section :
       {FrictionSection::disc(), FrictionSection::box(), FrictionSection::polygon(8)})
    problems.push_back(testing::sphere_grid({.count = {3, 3, 3}, .section = section}));
  problems.push_back(testing::sphere_grid({.count = {5, 5, 4}, .mu = 0.8}));  // in packs
  for (const int num_tangents : {0, 1, 2})
    problems.push_back(testing::condensed_problem(
        5, {.num_contacts = 12, .num_tangents = num_tangents, .rank = 20, .skew = 0.1}));
  return problems;
}

TEST(Nsgs, DoesNotAllocateOnceWarm) {
  const std::vector<StepProblem> problems = many_problems();
  for (const Acceleration acceleration :
       {Acceleration::kNone, Acceleration::kNncg, Acceleration::kAnderson, Acceleration::kMomentum,
        Acceleration::kHybrid}) {
    NsgsSolver solver({.max_iterations = 300, .acceleration = acceleration});
    expect_no_allocation_once_warm(solver, problems);
  }
}

TEST(Nsgs, DoesNotAllocateOnceWarmWhateverItsOptions) {
  const std::vector<StepProblem> problems = many_problems();
  for (const NsgsOptions& options :
       {NsgsOptions{.measure = StoppingMeasure::kPublished, .max_iterations = 100},
        NsgsOptions{.measure = StoppingMeasure::kBoth, .max_iterations = 100},
        NsgsOptions{.tolerance = 1e-3, .max_iterations = 100, .shortens_start = true},
        NsgsOptions{.tolerance = 1e-7, .max_iterations = 600},
        NsgsOptions{.max_iterations = 100, .relaxation = 1.2, .alternates = true}}) {
    NsgsSolver solver(options);
    expect_no_allocation_once_warm(solver, problems);
  }
}

TEST(JointedSweeps, DoNotAllocateOnceWarm) {
  JointedSweeps solver({.max_iterations = 100});
  expect_no_allocation_once_warm(solver, many_problems());
}

TEST(Pgs, DoesNotAllocateOnceWarm) {
  const std::vector<StepProblem> problems = many_problems();
  for (const PgsVariant variant :
       {PgsVariant::kAllSeparate, PgsVariant::kBlockProjection, PgsVariant::kBlockTangents}) {
    PgsSolver solver({.max_iterations = 200, .variant = variant});
    expect_no_allocation_once_warm(solver, problems);
  }
}

}  // namespace
}  // namespace stiction

#endif
