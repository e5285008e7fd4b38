// Sweeps over what is still wrong: fewer over everything, the same laws at the end, the same bits
// for any number of threads, and an end in time.
#include "stiction/solve/sweep_focus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

constexpr double kTolerance = 1e-4;

/// Its contacts are swept in packs.
const StepProblem& large_pile() {
  static const StepProblem problem = testing::sphere_grid({.count = {16, 16, 9}});
  return problem;
}

/// One body has a mass that is not symmetric, hence contacts are visited one by one.
const StepProblem& large_turning_pile() {
  static const StepProblem problem = [] {
    StepProblem pile = large_pile();
    pile.mass_block(7)(3, 4) += 0.01;
    pile.mass_block(7)(4, 3) -= 0.01;
    return pile;
  }();
  return problem;
}

NsgsOptions options_with(bool focuses, WorkerPool* workers = nullptr) {
  return {.tolerance = kTolerance, .focuses = focuses, .workers = workers};
}

TEST(SweepFocus, SavesSweepsOverEverything) {
  StepSolution solution, plain;
  const StepProblem& pile = large_turning_pile();
  const SolverReport focused = NsgsSolver(options_with(true)).solve(pile, solution);
  const SolverReport all = NsgsSolver(options_with(false)).solve(pile, plain);
  ASSERT_EQ(focused.status, SolverStatus::kConverged);
  ASSERT_EQ(all.status, SolverStatus::kConverged);
  EXPECT_TRUE(certify(pile, solution).meets(kTolerance));
  EXPECT_LT(focused.iterations, 0.8 * all.iterations);
}

TEST(SweepFocus, HasTheSameBitsForAnyNumberOfThreads) {
  for (const StepProblem* pile : {&large_pile(), &large_turning_pile()}) {
    StepSolution one, three;
    WorkerPool workers(3);
    (void)NsgsSolver(options_with(true)).solve(*pile, one);
    (void)NsgsSolver(options_with(true, &workers)).solve(*pile, three);
    EXPECT_EQ(one.r, three.r);
    EXPECT_EQ(one.w, three.w);
  }
}

TEST(SweepFocus, IsForLargePilesAfterSomeSweeps) {
  ContactBlocks large, small;
  ASSERT_TRUE(large.assemble(large_pile()));
  ASSERT_TRUE(small.assemble(testing::sphere_grid()));
  EXPECT_TRUE(SweepFocus::is_for(large, 100, StoppingMeasure::kCertificate));
  EXPECT_FALSE(SweepFocus::is_for(large, 1, StoppingMeasure::kCertificate));
  EXPECT_FALSE(SweepFocus::is_for(large, 100, StoppingMeasure::kPublished));
  EXPECT_FALSE(SweepFocus::is_for(small, 100, StoppingMeasure::kCertificate));
}

TEST(SweepFocus, EndsInTime) {
  NsgsSolver solver({.tolerance = 1e-13, .stall_sweeps = 0, .focuses = true});
  solver.set_time_limit(0.2);
  StepSolution solution;
  const Deadline enough(5);  // sanitizers are slow
  EXPECT_EQ(solver.solve(large_turning_pile(), solution).status, SolverStatus::kMaxIterations);
  EXPECT_FALSE(enough.has_passed());
}

TEST(SweepOrder, SelectsUnitsInTheirOrder) {
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(large_pile()));
  SweepOrder whole, part;
  whole.find(blocks);
  std::vector<char> is_in(blocks.num_units());
  for (int i = 0; i < blocks.num_units(); ++i) is_in[i] = i % 7 == 0 ? 1 : 0;
  part.select(whole, is_in);
  ASSERT_EQ(part.num_phases(), whole.num_phases());
  int num_selected = 0;
  for (int phase = 0; phase < whole.num_phases(); ++phase) {
    ASSERT_EQ(part.num_tasks(phase), whole.num_tasks(phase));
    for (int task = 0; task < whole.num_tasks(phase); ++task) {
      std::vector<int> expected;
      for (const int unit : whole.task(phase, task))
        if (is_in[unit]) expected.push_back(unit);
      const std::span<const int> selected = part.task(phase, task);
      EXPECT_EQ(std::vector<int>(selected.begin(), selected.end()), expected);
      num_selected += static_cast<int>(expected.size());
    }
  }
  EXPECT_EQ(num_selected, static_cast<int>(part.units().size()));
}

}  // namespace
}  // namespace stiction
