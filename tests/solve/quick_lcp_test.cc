#include "stiction/solve/quick_lcp.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/problem/published_error.h"
#include "stiction/solve/auto_solver.h"
#include "tests/solve/allocation_counter.h"

namespace stiction {
namespace {

/// A mixed LCP as a step problem from its matrix, equations first.
StepProblem mixed_lcp(int num_free, const MatrixXd& matrix, const VectorXd& q) {
  StepProblem problem;
  const int size = static_cast<int>(q.size());
  for (int i = 0; i < num_free; ++i) problem.add_bilateral_row({.bias = -q[i]});
  for (int i = num_free; i < size; ++i) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.contact_bias.back() = q[i];
  }
  for (int i = 0; i < size; ++i) {
    problem.coupling.add_row();
    for (int j = 0; j < size; ++j)
      if (matrix(i, j) != 0) problem.coupling.add_entry(j, matrix(i, j));
  }
  return problem;
}

/// Positive definite and not symmetric, so that there is exactly one answer.
StepProblem random_problem(Random& random, int num_free, int num_complementary) {
  const int size = num_free + num_complementary;
  MatrixXd matrix(size, size);
  VectorXd q(size);
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) matrix(i, j) = random.uniform(-1, 1);
    q[i] = random.normal();
  }
  const MatrixXd skew = matrix - matrix.transpose();
  matrix = matrix * matrix.transpose() + 0.3 * MatrixXd::Identity(size, size) + 0.5 * skew;
  return mixed_lcp(num_free, matrix, q);
}

bool try_solve(const StepProblem& problem, double tolerance, StepSolution& solution) {
  static QuickLcp quick;
  Acceptance judge(tolerance, StoppingMeasure::kPublished);
  SolverReport report;
  return quick.try_solve(problem, judge, solution, report);
}

TEST(QuickLcp, SolvesMixedProblemsOfEverySize) {
  Random random(1);
  for (int num_free = 0; num_free <= 8; ++num_free)
    for (int num_complementary = 0; num_complementary <= 8; ++num_complementary)
      for (int trial = 0; trial < 10; ++trial) {
        SCOPED_TRACE(::testing::Message() << num_free << " + " << num_complementary);
        const StepProblem problem = random_problem(random, num_free, num_complementary);
        StepSolution solution;
        if (problem.num_rows() == 0) continue;  // no coupling: no problem of this kind
        ASSERT_TRUE(try_solve(problem, 1e-11, solution));
        EXPECT_LE(compute_published_error(collection_kind(problem), problem, solution), 1e-11);
      }
}

TEST(QuickLcp, EquationsThatDoNotDetermineTheirVariablesAloneAreNoObstacle) {
  // The equations say z₀ = z₁ + 1 and nothing of their own variable, the voltage x: it is what the
  // complementary rows take from it. A diode bridge is of this kind.
  MatrixXd matrix(3, 3);
  matrix << 0, 1, -1, 1, 1, 0, -1, 0, 2;
  const VectorXd q = Eigen::Vector3d(-1, -3, 4);
  const StepProblem problem = mixed_lcp(1, matrix, q);
  StepSolution solution;
  ASSERT_TRUE(try_solve(problem, 1e-14, solution));
  // z₁ = 0, so z₀ = 1, and row 1 gives x = 2; row 2 is then −2 + 4 ≥ 0.
  EXPECT_NEAR(solution.r[0], 1, 1e-15);
  EXPECT_NEAR(solution.r[1], 0, 1e-15);
  EXPECT_NEAR(solution.lambda[0], 2, 1e-15);
}

TEST(QuickLcp, SingularBlocksOfEquationsAgreeWithTheGeneralMethod) {
  Random random(3);
  int num_solved = 0;
  for (int trial = 0; trial < 200; ++trial) {
    StepProblem dense = random_problem(random, 4, 6);
    MatrixXd matrix = MatrixXd::Zero(10, 10);
    for (int i = 0; i < 10; ++i)
      for (int e = dense.coupling.entry_start(i); e < dense.coupling.entry_start(i + 1); ++e)
        matrix(i, dense.coupling.column(e)) = dense.coupling.value(e);
    // Of the equations only the first two have a part in the free variables: rank two of four.
    matrix.topLeftCorner(4, 4).rightCols(2).setZero();
    matrix.topLeftCorner(4, 4).bottomRows(2).setZero();
    VectorXd q(10);
    for (int i = 0; i < 10; ++i) q[i] = random.normal();
    const StepProblem problem = mixed_lcp(4, matrix, q);
    StepSolution solution;
    if (!try_solve(problem, 1e-10, solution)) continue;  // some have no solution at all
    ++num_solved;
    EXPECT_LE(compute_published_error(ProblemKind::kMlcp, problem, solution), 1e-10) << trial;
  }
  EXPECT_GE(num_solved, 50);
}

TEST(QuickLcp, LooksAtAllBasesWhereLemkeEndsOnARay) {
  // The equilibria of a game of two players; every one of them is a solution.
  MatrixXd matrix(4, 4);
  matrix << 0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0;
  const Eigen::Vector4d q(-1, -1, -1, -1);
  double z[4];
  LemkeSmall lemke;
  ASSERT_EQ(
      lemke
          .solve(
              {.size = 4, .matrix = matrix.data(), .q = q.data(), .row_step = 1, .column_step = 4},
              z)
          .status,
      LcpStatus::kRay);
  const StepProblem problem = mixed_lcp(0, matrix, q);
  StepSolution solution;
  ASSERT_TRUE(try_solve(problem, 1e-14, solution));
  EXPECT_LE(compute_published_error(ProblemKind::kLcp, problem, solution), 1e-14);
}

TEST(QuickLcp, LeavesNoImpulsesBehindWhereItFails) {
  const StepProblem impossible =
      mixed_lcp(0, -MatrixXd::Identity(3, 3), Eigen::Vector3d(-1, -1, -1));
  StepSolution solution;
  EXPECT_FALSE(try_solve(impossible, 1e-8, solution));
  EXPECT_EQ(solution.r, std::vector<double>(3, 0.0));
}

TEST(QuickLcp, LeavesOtherProblemsAlone) {
  Random random(5);
  StepProblem bounded = random_problem(random, 2, 2);
  bounded.upper[1] = 1;
  EXPECT_FALSE(QuickReduction::takes(bounded));
  StepProblem with_body = random_problem(random, 2, 2);
  with_body.add_mass_block(1)(0, 0) = 1;
  EXPECT_FALSE(QuickReduction::takes(with_body));
  StepSolution solution;
  EXPECT_FALSE(try_solve(bounded, 1e-8, solution));
  EXPECT_TRUE(solution.r.empty());
}

TEST(QuickLcp, NumbersThatAreNotFiniteAreNotSolved) {
  Random random(6);
  for (int trial = 0; trial < 20; ++trial) {
    StepProblem problem = random_problem(random, trial % 3, 3);
    problem.contact_bias[trial % 3] = std::numeric_limits<double>::quiet_NaN();
    StepSolution solution;
    EXPECT_FALSE(try_solve(problem, 1e-2, solution));
    EXPECT_TRUE(solution.is_finite());
  }
}

TEST(QuickReduction, RecoversWhatSatisfiesTheEquations) {
  // Whatever z the reduced problem is given, the equations of the whole one hold.
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const StepProblem problem = random_problem(random, 5, 4);
    QuickReduction reduction;
    ASSERT_TRUE(reduction.reduce(problem));
    std::vector<double> z(4);
    for (double& value : z) value = random.uniform();
    StepSolution solution;
    solution.set_zero(problem);
    reduction.recover(z.data(), solution);
    const RowVelocities rows = compute_row_velocities(problem, solution);
    for (const double s : rows.s) EXPECT_NEAR(s, 0, 1e-11);
    for (int i = 0; i < 4; ++i) {
      double y = reduction.q()[i];
      for (int j = 0; j < 4; ++j) y += reduction.matrix()[i * reduction.stride() + j] * z[j];
      EXPECT_NEAR(rows.u[i], y, 1e-11);
    }
  }
}

#if ST_COUNTS_ALLOCATIONS
TEST(QuickLcp, DoesNotAllocateOnceWarm) {
  Random random(4);
  std::vector<StepProblem> problems;
  for (int trial = 0; trial < 50; ++trial)
    problems.push_back(random_problem(random, random.integer(0, 6), random.integer(1, 6)));
  AutoSolver solver({.tolerance = 1e-8, .measure = StoppingMeasure::kPublished});
  testing::expect_no_allocation_once_warm(solver, problems);
}
#endif

}  // namespace
}  // namespace stiction
