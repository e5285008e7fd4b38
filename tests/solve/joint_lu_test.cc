#include "stiction/solve/joint_lu.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stiction/base/random.h"
#include "tests/dense_algebra.h"
#include "tests/solve/joint_problems.h"

namespace stiction {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using testing::DenseStep;
using testing::make_gyroscopic;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Factors with all rows, solves and refines; the answer as a step solution.
StepSolution solve(JointLu& lu, const StepProblem& problem, int refinements = 2,
                   double damping = 0) {
  StepSolution solution;
  solution.set_zero(problem);
  const std::vector<char> all(problem.num_rows(), 1);
  EXPECT_TRUE(lu.analyse(problem));
  EXPECT_TRUE(lu.factor(problem, all, damping));
  lu.solve(problem.p.data(), problem.bias.data());
  for (int k = 0; k < refinements; ++k) (void)lu.refine();
  solution.w = lu.w();
  for (int i = 0; i < problem.num_bilateral(); ++i) solution.lambda[i] = lu.x(i);
  return solution;
}

/// What p alone would make of the bodies.
VectorXd free_velocity(const DenseStep& step) {
  return step.inverse_mass_times(step.b.head(step.num_dofs));
}

/// The largest defect of an equation. Momentum is relative to the largest terms at the same body,
/// rows to the largest velocities that they are made of, with or without impulses: where a motion
/// is prevented altogether, its own terms are rounding themselves.
double equation_error(const StepProblem& problem, const StepSolution& solution) {
  const DenseStep step(problem);
  const VectorXd z = step.join(solution);
  const VectorXd defect = (step.A * z - step.b).cwiseAbs();
  const VectorXd size = step.A.cwiseAbs() * z.cwiseAbs() + step.b.cwiseAbs();
  double worst = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int first = problem.dof_start[b], n = problem.block_size(b);
    worst =
        std::max(worst, defect.segment(first, n).maxCoeff() / size.segment(first, n).maxCoeff());
  }
  const MatrixXd R = step.A.bottomLeftCorner(step.num_rows, step.num_dofs);
  const VectorXd free = R.cwiseAbs() * free_velocity(step).cwiseAbs();
  return std::max(
      worst, defect.tail(step.num_rows).maxCoeff() / (size.tail(step.num_rows) + free).maxCoeff());
}

struct Chain {
  int num_bodies, rows_per_joint;
  bool is_symmetric;
  double compliance;
};

class JointLuChain : public ::testing::TestWithParam<Chain> {};

TEST_P(JointLuChain, AgreesWithADenseSolve) {
  const Chain& chain = GetParam();
  StepProblem problem = testing::make_chain(
      chain.num_bodies, {.rows_per_joint = chain.rows_per_joint, .compliance = chain.compliance});
  if (!chain.is_symmetric) make_gyroscopic(problem, 0.3);
  JointLu lu;
  const StepSolution solution = solve(lu, problem);
  EXPECT_TRUE(lu.redundant_rows().empty());
  // Rounding of a sum of at most 24 terms per equation.
  EXPECT_LT(equation_error(problem, solution), 24 * kEpsilon);
  if (chain.num_bodies > 60) return;
  const DenseStep step(problem);
  const VectorXd exact = testing::solve_dense(step.A, step.b);
  const VectorXd z = step.join(solution);
  // Forward errors: a chain of n links is n² as soft as a joint, times 10³ for the inertias of this
  // family; both solves have it.
  const double bound = 2e3 * chain.num_bodies * chain.num_bodies * kEpsilon;
  const int n = problem.num_dofs(), m = problem.num_rows();
  EXPECT_LT((z - exact).head(n).norm(), bound * free_velocity(step).norm());
  EXPECT_LT((z - exact).tail(m).norm(), bound * exact.tail(m).norm());
}

INSTANTIATE_TEST_SUITE_P(
    All, JointLuChain,
    ::testing::Values(Chain{1, 3, true, 0}, Chain{2, 3, true, 0}, Chain{3, 5, true, 0},
                      Chain{1, 3, false, 0}, Chain{2, 5, false, 0}, Chain{7, 6, true, 0},
                      Chain{7, 6, false, 1e-9}, Chain{20, 3, true, 1e-12}, Chain{20, 4, false, 0},
                      Chain{20, 5, false, 1e-8}, Chain{60, 3, true, 0}, Chain{60, 3, false, 0},
                      Chain{60, 1, false, 0}, Chain{100, 3, true, 0}, Chain{100, 3, false, 1e-12},
                      Chain{200, 3, true, 1e-8}, Chain{200, 3, false, 0}));

TEST(JointLu, TreesAndNetsHoldToRounding) {
  for (const bool is_symmetric : {true, false})
    for (StepProblem problem :
         {testing::make_tree(60, 3), testing::make_net(5, 6, {.rows_per_joint = 3}),
          testing::make_star(12),
          testing::make_net(4, 4, {.rows_per_joint = 3, .compliance = 1e-9})}) {
      if (!is_symmetric) make_gyroscopic(problem, 0.5);
      JointLu lu;
      EXPECT_LT(equation_error(problem, solve(lu, problem)), 100 * kEpsilon);
    }
}

TEST(JointLu, MassBlocksOfAnySizeAndRowsOfOneBody) {
  StepProblem problem;
  Random random(3);
  for (const int size : {1, 2, 3, 4, 9}) {
    RowMatrixMap block = problem.add_mass_block(size);
    const MatrixXd factor = MatrixXd::NullaryExpr(
        size, size, [&](Eigen::Index, Eigen::Index) { return random.normal(); });
    block = testing::multiply(factor, factor.transpose()) + MatrixXd::Identity(size, size);
    if (size > 1) {
      block(0, 1) += 0.7;
      block(1, 0) -= 0.7;
    }
    for (double& p : problem.block_p(problem.num_blocks() - 1)) p = random.normal();
  }
  const auto add_row = [&](std::vector<int> blocks) {
    problem.add_bilateral_row({.bias = random.normal()});
    for (const int b : blocks)
      for (double& x : problem.bilateral.add_entry(b, problem.block_size(b)).reshaped())
        x = random.normal();
  };
  add_row({0, 4});
  add_row({2});
  add_row({1, 2, 4});
  add_row({4, 2, 1});
  add_row({3, 2});
  add_row({3, 2});
  JointLu lu;
  EXPECT_LT(equation_error(problem, solve(lu, problem)), 100 * kEpsilon);
}

TEST(JointLu, AHeavyBallOnLightLinksIsAccurate) {
  StepProblem problem = testing::make_chain(100, {.rows_per_joint = 3});
  const int last = problem.num_blocks() - 1;
  problem.mass_block(last) *= 1e6;
  problem.block_p(last) *= 1e6;
  for (const bool is_symmetric : {true, false}) {
    if (!is_symmetric) make_gyroscopic(problem, 0.3);
    JointLu lu;
    EXPECT_LT(equation_error(problem, solve(lu, problem)), 24 * kEpsilon);
  }
}

TEST(JointLu, WorkAndMemoryOfChainsAreLinear) {
  std::vector<std::int64_t> work, entries;
  for (const int n : {100, 200, 400}) {
    JointLu lu;
    ASSERT_TRUE(lu.analyse(testing::make_chain(n, {.rows_per_joint = 3})));
    work.push_back(lu.work());
    entries.push_back(static_cast<std::int64_t>(lu.num_factor_entries()));
  }
  EXPECT_EQ(work[2] - work[1], 2 * (work[1] - work[0]));
  EXPECT_EQ(entries[2] - entries[1], 2 * (entries[1] - entries[0]));
}

TEST(JointLu, WorkOfTreesAndLaddersGrowsInProportion) {
  const auto work = [](const StepProblem& problem) {
    JointLu lu;
    EXPECT_TRUE(lu.analyse(problem));
    return static_cast<double>(lu.work());
  };
  EXPECT_LT(work(testing::make_tree(2000, 2)), 2.1 * work(testing::make_tree(1000, 2)));
  EXPECT_LT(work(testing::make_ladder(200)), 2.1 * work(testing::make_ladder(100)));
}

TEST(JointLu, RefusesBodiesWithVeryManyRows) {
  JointLu lu;
  EXPECT_FALSE(lu.analyse(testing::make_star(300)));
  EXPECT_FALSE(lu.analyse(testing::make_star(300)));
  EXPECT_TRUE(lu.analyse(testing::make_star(5)));
}

TEST(JointLu, RefusesMassesThatAreNotPositiveDefinite) {
  StepProblem problem = testing::make_chain(3);
  const std::vector<char> all(problem.num_rows(), 1);
  JointLu lu;
  ASSERT_TRUE(lu.analyse(problem));
  EXPECT_TRUE(lu.factor(problem, all));
  StepProblem negative = problem, invalid = problem;
  negative.mass_block(1)(4, 4) = -1;
  EXPECT_FALSE(lu.factor(negative, all));
  invalid.mass_block(2)(0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(lu.factor(invalid, all));
}

TEST(JointLu, RowsThatAreSwitchedOffDoNothing) {
  StepProblem problem = testing::make_chain(12, {.rows_per_joint = 5});
  std::vector<char> active(problem.num_rows(), 1);
  StepProblem fewer = testing::make_chain(12, {.rows_per_joint = 5});
  JointLu lu;
  for (int i = 0; i < problem.num_rows(); i += 7) active[i] = 0;
  ASSERT_TRUE(lu.analyse(problem));
  ASSERT_TRUE(lu.factor(problem, active));
  lu.solve(problem.p.data(), problem.bias.data());
  (void)lu.refine();
  // The same as rows so soft that they carry nothing.
  for (int i = 0; i < problem.num_rows(); i += 7) fewer.compliance[i] = 1e20;
  JointLu other;
  const StepSolution expected = solve(other, fewer);
  for (int i = 0; i < problem.num_dofs(); ++i) EXPECT_NEAR(lu.w()[i], expected.w[i], 1e-10);
  for (int i = 0; i < problem.num_rows(); i += 7) EXPECT_EQ(lu.x(i), 0);
}

TEST(JointLu, HistoryDoesNotMatter) {
  const StepProblem problem = testing::make_net(4, 5, {.rows_per_joint = 3});
  StepProblem changed = problem;
  for (double& m : changed.mass_values) m *= 3;
  JointLu fresh, used;
  const StepSolution expected = solve(fresh, problem);
  (void)solve(used, changed);
  EXPECT_EQ(solve(used, problem).w, expected.w);
  EXPECT_EQ(used.num_analyses(), 1);
  (void)solve(used, testing::make_chain(30));
  (void)solve(used, testing::make_ladder(4), 2, 1e-8);
  const StepSolution again = solve(used, problem);
  EXPECT_EQ(again.w, expected.w);
  EXPECT_EQ(again.lambda, expected.lambda);
  EXPECT_EQ(used.num_analyses(), 4);
}

TEST(JointLu, DependentRowsShareTheLoadInTheNormOfTheirMobility) {
  for (const bool is_symmetric : {true, false}) {
    StepProblem problem = testing::make_four_bar();
    if (!is_symmetric) make_gyroscopic(problem, 0.2);
    JointLu lu;
    const StepSolution plain = solve(lu, problem);
    EXPECT_EQ(lu.redundant_rows().size(), 3u);  // of any planar loop of hinges
    const StepSolution shared = solve(lu, problem, 8, 1e-8);
    EXPECT_LT(equation_error(problem, shared), 100 * kEpsilon);
    // x = D^(-1/2) y with y of minimal norm among all solutions.
    const DenseStep step(problem);
    const MatrixXd S = step.delassus();
    const VectorXd root = S.diagonal().cwiseSqrt();
    const MatrixXd scaled = root.cwiseInverse().asDiagonal() * S * root.cwiseInverse().asDiagonal();
    ASSERT_EQ(testing::rank_of(scaled, 1e-10), problem.num_rows() - 3);
    const VectorXd right = root.cwiseInverse().asDiagonal() * step.free_rows();
    const VectorXd x =
        root.cwiseInverse().asDiagonal() * testing::solve_least_norm(scaled, right, 1e-10);
    const Eigen::Map<const VectorXd> lambda(shared.lambda.data(), problem.num_rows());
    // Rounding over the damping.
    EXPECT_LT((lambda - x).norm(), 1e-7 * x.norm());
    const Eigen::Map<const VectorXd> w(shared.w.data(), problem.num_dofs());
    const Eigen::Map<const VectorXd> w_plain(plain.w.data(), problem.num_dofs());
    EXPECT_LT((w - w_plain).norm(), 1e-12 * w.norm());
  }
}

}  // namespace
}  // namespace stiction
