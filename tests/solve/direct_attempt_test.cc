#include "stiction/solve/direct_attempt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/solve/allocation_counter.h"
#include "tests/solve/joint_problems.h"

namespace stiction {
namespace {

using testing::make_gyroscopic;

/// What the attempt makes of a problem, from nothing.
struct Attempt {
  explicit Attempt(const StepProblem& problem) : Attempt(problem, StepSolution()) {}
  Attempt(const StepProblem& problem, const StepSolution& start) : solution(start) {
    Acceptance judge(1e-10);
    is_solved = attempt.try_solve(problem, judge, solution, report);
  }
  DirectAttempt attempt;
  StepSolution solution;
  SolverReport report;
  bool is_solved = false;
};

TEST(DirectAttempt, SolvesJointSystemsToRounding) {
  for (const bool is_symmetric : {true, false})
    for (StepProblem problem :
         {testing::make_chain(1, {.rows_per_joint = 3}), testing::make_chain(100),
          testing::make_chain(200, {.rows_per_joint = 3, .mass_ratio = 1e6}),
          testing::make_tree(50, 3), testing::make_ladder(10), testing::make_four_bar(),
          testing::make_four_bars(10), testing::make_four_bars(10, 1e-10),
          testing::make_four_bars(10, 1e-12)}) {
      if (!is_symmetric) make_gyroscopic(problem, 0.3);
      const Attempt made(problem);
      ASSERT_TRUE(made.is_solved);
      EXPECT_EQ(made.report.iterations, 1);
      EXPECT_LT(certify(problem, made.solution).residual(), 1e-12);
    }
}

TEST(DirectAttempt, AMillionToOneIsSolvedToRounding) {
  StepProblem problem = testing::make_chain(100, {.rows_per_joint = 3});
  const int last = problem.num_blocks() - 1;
  problem.mass_block(last) *= 1e6;
  problem.block_p(last) *= 1e6;
  make_gyroscopic(problem, 0.1);
  const Attempt made(problem);
  ASSERT_TRUE(made.is_solved);
  EXPECT_LT(certify(problem, made.solution).residual(), 1e-13);
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    double size = 0;
    for (int e = problem.bilateral.entry_start(i); e < problem.bilateral.entry_start(i + 1); ++e)
      for (int k = 0; k < 6; ++k)
        size += std::abs(problem.bilateral.entry_values(e)[k] *
                         made.solution.w[problem.dof_start[problem.bilateral.entry_block(e)] + k]);
    const double velocity =
        problem.bilateral.times(i, 0, problem.dof_start.data(), made.solution.w.data());
    EXPECT_LE(std::abs(velocity), 12 * 2.3e-16 * size);  // rounding of twelve terms
  }
}

/// The impulses of a loop do not depend on the order of its rows.
TEST(DirectAttempt, ReactionsOfRedundantRowsAreUnique) {
  const StepProblem problem = testing::make_four_bar();
  StepProblem reversed = problem;
  reversed.bilateral.clear();
  for (int i = problem.num_bilateral() - 1; i >= 0; --i) {
    reversed.bilateral.add_row_block(1);
    reversed.bilateral.add_entries_of(problem.bilateral, i);
  }
  const Attempt first(problem), second(reversed);
  ASSERT_TRUE(first.is_solved && second.is_solved);
  double largest = 0;
  for (const double x : first.solution.lambda) largest = std::max(largest, std::abs(x));
  for (int i = 0; i < problem.num_bilateral(); ++i)
    EXPECT_NEAR(first.solution.lambda[i], second.solution.lambda[problem.num_bilateral() - 1 - i],
                1e-7 * largest);  // rounding over the damping
}

StepProblem bounded_chain(int num_bodies, double bound) {
  StepProblem problem = testing::make_chain(num_bodies, {.rows_per_joint = 5});
  for (int i = 3; i < problem.num_bilateral(); i += 4) {
    problem.lower[i] = i % 3 == 0 ? 0 : -bound;
    problem.upper[i] = bound;
  }
  return problem;
}

TEST(DirectAttempt, BoundedRowsAgreeWithLemke) {
  for (const double bound : {1e3, 0.3, 0.05, 0.01, 0.0}) {
    const StepProblem problem = bounded_chain(8, bound);
    const Attempt made(problem);
    ASSERT_TRUE(made.is_solved) << bound;
    StepSolution expected;
    LemkeSolver lemke;
    ASSERT_EQ(lemke.solve(problem, expected).status, SolverStatus::kConverged);
    double speed = 0;
    for (const double w : expected.w) speed = std::max(speed, std::abs(w));
    for (int i = 0; i < problem.num_dofs(); ++i)
      EXPECT_NEAR(made.solution.w[i], expected.w[i], 1e-9 * speed) << bound;
  }
}

TEST(DirectAttempt, ManyBoundsOnALongChainTakeFewFactorisations) {
  const StepProblem problem = bounded_chain(100, 0.05);
  const Attempt made(problem);
  ASSERT_TRUE(made.is_solved);
  EXPECT_LE(made.report.iterations, 12);
  const Attempt again(problem, made.solution);
  ASSERT_TRUE(again.is_solved);
  EXPECT_EQ(again.report.iterations, 1);
  EXPECT_EQ(again.solution.w, made.solution.w);
  EXPECT_EQ(again.solution.lambda, made.solution.lambda);
}

/// A chain with a contact under every tenth link.
StepProblem chain_on_ground(double mu, int num_tangents) {
  testing::MechanismMaker maker({.rows_per_joint = 3, .mu = mu, .num_tangents = num_tangents});
  for (int i = 0; i < 60; ++i) {
    maker.add_body({static_cast<double>(i + 1), 0, 0});
    maker.add_joint(i, i - 1);
    if (i % 10 == 5) maker.add_contact(i, -1, {static_cast<double>(i + 1), 0.2, -0.3});
  }
  return maker.problem();
}

TEST(DirectAttempt, ContactsWithoutFrictionAgreeWithLemke) {
  for (const int num_tangents : {0, 2}) {
    const StepProblem problem = chain_on_ground(0, num_tangents);
    const Attempt made(problem);
    ASSERT_TRUE(made.is_solved);
    StepSolution expected;
    LemkeSolver lemke;
    ASSERT_EQ(lemke.solve(problem, expected).status, SolverStatus::kConverged);
    for (int i = 0; i < problem.num_dofs(); ++i)
      EXPECT_NEAR(made.solution.w[i], expected.w[i], 1e-9);
  }
}

TEST(DirectAttempt, ContactsThatStickAreSolvedAndOthersAreLeftAlone) {
  const StepProblem rough = chain_on_ground(50, 2);
  const Attempt made(rough);
  ASSERT_TRUE(made.is_solved);
  EXPECT_LT(certify(rough, made.solution).residual(), 1e-12);
  EXPECT_GT(*std::max_element(made.solution.r.begin(), made.solution.r.end()), 0);
  const StepProblem smooth = chain_on_ground(0.01, 2);
  const Attempt failed(smooth);
  EXPECT_FALSE(failed.is_solved);
  EXPECT_TRUE(failed.solution.w.empty());
  AutoSolver solver;
  StepSolution solution;
  EXPECT_EQ(solver.solve(smooth, solution).status, SolverStatus::kConverged);
}

TEST(DirectAttempt, ContradictionsAreNotAccepted) {
  StepProblem problem = testing::make_four_bar();
  problem.bias[2] = 1;  // out of the plane of the loop
  const Attempt made(problem);
  EXPECT_FALSE(made.is_solved);
  AutoSolver solver;
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kInfeasible);
}

TEST(DirectAttempt, IsFarOffOnlyForStartsThatFail) {
  const StepProblem problem = testing::make_chain(30);
  Attempt made(problem);
  ASSERT_TRUE(made.is_solved);
  EXPECT_FALSE(made.attempt.is_far_off(problem, made.solution));
  StepSolution moved = made.solution;
  for (double& w : moved.w) w += 1;
  EXPECT_TRUE(made.attempt.is_far_off(problem, moved));
}

TEST(DirectAttempt, AutoGivesTheSameBitsWhateverItSolvedBefore) {
  const std::vector<StepProblem> problems = {testing::make_chain(40), testing::make_four_bars(3),
                                             bounded_chain(20, 0.05), chain_on_ground(0.3, 2),
                                             testing::make_ladder(5, 1e-10)};
  AutoSolver used;
  for (int round = 0; round < 2; ++round)
    for (const StepProblem& problem : problems) {
      AutoSolver fresh;
      StepSolution expected, solution;
      ASSERT_EQ(fresh.solve(problem, expected).status, SolverStatus::kConverged);
      (void)used.solve(problem, solution);
      EXPECT_EQ(solution.w, expected.w);
      EXPECT_EQ(solution.lambda, expected.lambda);
      EXPECT_EQ(solution.r, expected.r);
    }
}

TEST(DirectAttempt, AutoSolvesJointSystemsBesideOthersIslandByIsland) {
  StepProblem problem = testing::make_chain(30, {.rows_per_joint = 3});
  // A sliding box of its own: contacts that slip spoil the attempt on the whole.
  problem.add_mass_block(6).setIdentity();
  problem.block_p(problem.num_blocks() - 1) << 1, 0, -0.1, 0, 0, 0;
  problem.add_contact({.num_tangents = 2, .mu = 0.1, .section = {}, .key = 1});
  RowMatrixMap piece = problem.contacts.add_entry(problem.num_blocks() - 1, 6);
  piece(0, 2) = piece(1, 0) = piece(2, 1) = 1;
  AutoSolver solver;
  StepSolution solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_LT(certify(problem, solution).residual(), 1e-10);
}

#if ST_COUNTS_ALLOCATIONS
TEST(DirectAttempt, DoesNotAllocateOnceWarm) {
  AutoSolver solver;
  testing::expect_no_allocation_once_warm(
      solver, {testing::make_chain(100), testing::make_chain(30), testing::make_four_bars(10),
               testing::make_tree(50, 2), bounded_chain(60, 0.05), chain_on_ground(50, 2)});
}
#endif

}  // namespace
}  // namespace stiction
