#include "stiction/solve/saddle_lu.h"

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "stiction/base/random.h"
#include "stiction/solve/delassus.h"
#include "tests/dense_algebra.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

MatrixXd to_dense(const BlockMatrix& W) {
  MatrixXd dense = MatrixXd::Zero(W.num_rows(), W.num_rows());
  for (int i = 0; i < W.num_blocks(); ++i)
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e)
      dense.block(W.row_start[i], W.row_start[W.entry_block[e]], W.size(i),
                  W.size(W.entry_block[e])) = W.entry(i, e);
  return dense;
}

MatrixXd to_dense(const BlockMatrix& W, const std::vector<double>& blocks) {
  MatrixXd dense = MatrixXd::Zero(W.num_rows(), W.num_rows());
  for (int i = 0; i < W.num_blocks(); ++i)
    for (int r = 0; r < W.size(i); ++r)
      for (int c = 0; c < W.size(i); ++c)
        dense(W.row_start[i] + r, W.row_start[i] + c) = blocks[9 * i + 3 * r + c];
  return dense;
}

std::vector<double> random_blocks(Random& random, int num_blocks, double diagonal) {
  std::vector<double> blocks(9 * num_blocks);
  for (int i = 0; i < num_blocks; ++i)
    for (int k = 0; k < 9; ++k)
      blocks[9 * i + k] = 0.1 * random.normal() + (k % 4 == 0 ? diagonal : 0);
  return blocks;
}

TEST(SaddleLu, SolvesWhatADenseFactorisationSolves) {
  SaddleLu lu;
  Random random(7);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::disc_problem(seed, {.mass_ratio_max = 10, .allow_strange_units = false});
    FrictionBlocks blocks;
    ASSERT_TRUE(blocks.assemble(problem));
    const std::vector<double> A = random_blocks(random, blocks.num_blocks(), 1);
    const std::vector<double> B = random_blocks(random, blocks.num_blocks(), 5);
    const MatrixXd S =
        testing::multiply(to_dense(blocks.W, A), to_dense(blocks.W)) + to_dense(blocks.W, B);
    ASSERT_TRUE(lu.factor(blocks.W, A, B));
    const VectorXd b = VectorXd::LinSpaced(blocks.num_rows(), -1, 1);
    VectorXd x = b;
    lu.solve(x);
    // Pivots are searched inside fronts only, hence some growth beyond rounding.
    EXPECT_LT((S * x - b).norm(), 1e-8 * b.norm()) << seed;
  }
}

TEST(SaddleLu, LeavesFactorsThatCostTooMuch) {
  FrictionBlocks blocks;
  ASSERT_TRUE(blocks.assemble(testing::sphere_grid({.count = {5, 5, 5}})));
  const double num_rows = blocks.W.num_rows();
  SaddleLu unlimited;
  ASSERT_TRUE(unlimited.analyse(blocks.W));
  const auto entries = static_cast<double>(unlimited.num_factor_entries());
  const double flops = entries * entries / num_rows;
  SaddleLu lu;
  // Of zeros in the fronts the first count knows nothing: within their share the second decides.
  for (const double share : {1e-3, 0.5, 0.999}) {
    EXPECT_FALSE(lu.analyse(blocks.W, share * flops)) << share;
    EXPECT_FALSE(lu.analyse(blocks.W, share * flops)) << "asked again at " << share;
  }
  EXPECT_TRUE(lu.analyse(blocks.W, 1.001 * flops));
  EXPECT_FALSE(lu.analyse(blocks.W, 0.999 * flops));
  Random random(3);
  const std::vector<double> shift = random_blocks(random, blocks.num_blocks(), 5);
  ASSERT_TRUE(lu.factor(blocks.W, shift));
  ASSERT_TRUE(unlimited.factor(blocks.W, shift));
  VectorXd x = VectorXd::LinSpaced(blocks.num_rows(), -1, 1), y = x;
  lu.solve(x);
  unlimited.solve(y);
  EXPECT_EQ(x, y);
}

TEST(SaddleLu, NamesRowsThatDependOnOthers) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  for (int i = 0; i < 3; ++i) {
    problem.add_bilateral_row({});
    problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  }
  FrictionBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SaddleLu lu;
  ASSERT_TRUE(lu.factor(blocks.W, std::vector<double>(27, 0.0)));
  EXPECT_EQ(lu.replaced_rows().size(), 2u);
  for (const int row : lu.replaced_rows()) EXPECT_TRUE(row >= 0 && row < 3);
}

TEST(SaddleLu, RefusesNumbersThatAreNotFinite) {
  const StepProblem problem = testing::condensed_problem(1, {.num_contacts = 2, .rank = 6});
  FrictionBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SaddleLu lu;
  EXPECT_FALSE(lu.factor(blocks.W, std::vector<double>(18, std::nan(""))));
}

TEST(FrictionBlocks, AssemblesTheScaledDelassusMatrix) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem = testing::disc_problem(seed, {.allow_strange_units = false});
    FrictionBlocks blocks;
    ASSERT_TRUE(blocks.assemble(problem));
    Delassus<double> delassus;
    ASSERT_TRUE(delassus.factor_mass(problem));
    delassus.assemble(problem);
    const MatrixXd W = to_dense(blocks.W);
    for (int i = 0; i < W.rows(); ++i)
      for (int k = 0; k < W.cols(); ++k)
        EXPECT_NEAR(W(i, k), blocks.scale[i] * delassus.row(i)[k] * blocks.scale[k],
                    1e-12 * (1 + W.cwiseAbs().maxCoeff()))
            << seed;
  }
}

TEST(FrictionBlocks, ProjectsOntoTheConeAtRightAngles) {
  Random random(3);
  for (const double mu : {0.0, 0.3, 1.0, 10.0})
    for (int tangents = 0; tangents <= 2; ++tangents) {
      StepProblem problem;
      problem.add_contact({.num_tangents = tangents, .mu = mu, .section = {}, .key = 0});
      FrictionBlocks blocks;
      ASSERT_TRUE(blocks.assemble(problem));
      for (int trial = 0; trial < 200; ++trial) {
        double z[3] = {}, p[3] = {}, again[3] = {};
        for (int k = 0; k <= tangents; ++k) z[k] = random.chance(0.1) ? 0 : random.normal();
        blocks.project(0, z, p);
        blocks.project(0, p, again);
        const double tangent = std::hypot(p[1], p[2]);
        EXPECT_GE(p[0], 0);
        EXPECT_LE(tangent, mu * p[0] + 1e-14 * (1 + mu));
        double product = 0;
        for (int k = 0; k < 3; ++k) {
          product += (z[k] - p[k]) * p[k];
          EXPECT_NEAR(again[k], p[k], 1e-14 * (1 + mu));
        }
        EXPECT_NEAR(product, 0, 1e-13 * (1 + mu));
      }
    }
}

}  // namespace
}  // namespace stiction
