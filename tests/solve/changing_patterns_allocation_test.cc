// Contacts come and go, and with them the pattern of every matrix: from step to step nothing is
// allocated for that once the largest of each array has been seen.
#include "tests/solve/allocation_counter.h"

#if ST_COUNTS_ALLOCATIONS

#include <gtest/gtest.h>

#include <vector>

#include "stiction/solve/auto_solver.h"
#include "stiction/solve/body_newton.h"
#include "stiction/solve/jointed_sweeps.h"
#include "stiction/solve/newton_solver.h"
#include "stiction/solve/saddle_lu.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

using testing::num_allocations;

/// Piles of 48 spheres of whose contacts others are missing in each problem, and smaller ones.
std::vector<StepProblem> make_piles() {
  std::vector<StepProblem> problems;
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    problems.push_back(testing::sphere_grid({.count = {4, 4, seed % 4 == 0 ? 2 : 3},
                                             .agitation = seed % 2 == 0 ? 0.1 : 1e-3,
                                             .touching = 0.75,
                                             .seed = seed}));
  return problems;
}

TEST(SaddleLu, AllocatesNothingForOtherPatternsOnceWarm) {
  std::vector<FrictionBlocks> piles;
  for (const StepProblem& problem : make_piles())
    ASSERT_TRUE(piles.emplace_back().assemble(problem));
  SaddleLu lu;
  std::vector<double> shift;
  KeptVector x;
  const auto factor_all = [&] {
    for (const FrictionBlocks& pile : piles) {
      shift.assign(9 * static_cast<std::size_t>(pile.num_blocks()), 0.0);
      for (std::size_t k = 0; k < shift.size(); k += 4) shift[k] = 1;
      EXPECT_TRUE(lu.factor(pile.W, shift));
      x = pile.q;
      lu.solve(x);
    }
  };
  factor_all();
  const long before = num_allocations();
  factor_all();
  EXPECT_EQ(num_allocations(), before);
}

TEST(FrictionBlocks, AllocateNothingForOtherSizesOnceWarm) {
  const std::vector<StepProblem> piles = make_piles();
  FrictionBlocks blocks;
  const auto assemble_all = [&] {
    for (const StepProblem& pile : piles) EXPECT_TRUE(blocks.assemble(pile));
  };
  assemble_all();
  const long before = num_allocations();
  assemble_all();
  EXPECT_EQ(num_allocations(), before);
}

TEST(NewtonSolver, AllocatesNothingForOtherPatternsOnceWarm) {
  NewtonSolver solver({.tolerance = 1e-9});
  testing::expect_no_allocation_once_warm(solver, make_piles());
}

TEST(BodyNewton, AllocatesNothingForOtherPatternsOnceWarm) {
  BodyNewton solver({.tolerance = 1e-9});
  testing::expect_no_allocation_once_warm(solver, make_piles());
}

TEST(AutoSolver, AllocatesNothingForOtherPatternsOnceWarm) {
  for (const double tolerance : {1e-3, 1e-8}) {
    AutoSolver solver({.tolerance = tolerance});
    testing::expect_no_allocation_once_warm(solver, make_piles());
  }
}

/// Ten bodies on the floor; six of them, from `first` on, are one machine.
StepProblem make_machine(int first) {
  StepProblem problem;
  for (int body = 0; body < 10; ++body) {
    problem.add_mass_block(1)(0, 0) = 1;
    problem.p.back() = -1;
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
    problem.contacts.add_entry(body, 1)(0, 0) = 1;
  }
  for (int body = first + 1; body < first + 6; ++body) {
    problem.add_bilateral_row({});
    problem.bilateral.add_entry(body - 1, 1)(0, 0) = 1;
    problem.bilateral.add_entry(body, 1)(0, 0) = -1;
  }
  return problem;
}

// The machine has another number in each problem.
TEST(JointedSweeps, AllocateNothingForOtherMachinesOnceWarm) {
  std::vector<StepProblem> problems;
  for (int first = 0; first < 5; ++first) problems.push_back(make_machine(first));
  JointedSweeps solver({.tolerance = 1e-8});
  StepSolution solution;
  EXPECT_EQ(solver.solve(problems[0], solution).status, SolverStatus::kConverged);
  const long before = num_allocations();
  for (const StepProblem& problem : problems) (void)solver.solve(problem, solution);
  EXPECT_EQ(num_allocations(), before);
}

}  // namespace
}  // namespace stiction

#endif
