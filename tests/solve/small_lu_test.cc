// Factors of a few coupled blocks solve what a dense factorisation solves, whatever their graph.
#include "stiction/solve/small_lu.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "stiction/base/linear_algebra.h"

namespace stiction {
namespace {

constexpr int kSize = SmallLu::kSize;
using Block = Eigen::Matrix<double, kSize, kSize, Eigen::RowMajor>;
using Pairs = std::vector<std::pair<int, int>>;

/// Random blocks where pairs are coupled, of both sides; diagonally dominant.
MatrixXd make_matrix(int num_blocks, const Pairs& pairs, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  const int n = num_blocks * kSize;
  MatrixXd A = MatrixXd::Zero(n, n);
  for (const auto& [i, j] : pairs)
    A.block(i * kSize, j * kSize, kSize, kSize) =
        Block::NullaryExpr([&] { return number(random); });
  A += 0.5 * MatrixXd(A.transpose());  // not symmetric
  A.diagonal() = A.cwiseAbs().rowwise().sum();
  A.diagonal().array() += 1;
  return A;
}

void fill(const MatrixXd& A, int num_blocks, const Pairs& pairs, SmallLu& factors) {
  factors.begin(num_blocks);
  for (const auto& [i, j] : pairs)
    if (i != j) factors.couple(i, j);
  factors.analyse();
  factors.clear();
  const auto add = [&](int i, int j) {
    Eigen::Map<Block>(factors.block(i, j)) += A.block(i * kSize, j * kSize, kSize, kSize);
  };
  for (int i = 0; i < num_blocks; ++i) add(i, i);
  for (const auto& [i, j] : pairs)
    for (const auto& [row, column] : Pairs{{i, j}, {j, i}}) add(row, column);
}

void expect_solved(int num_blocks, const Pairs& pairs, unsigned seed) {
  SCOPED_TRACE(seed);
  const MatrixXd A = make_matrix(num_blocks, pairs, seed);
  SmallLu factors;
  fill(A, num_blocks, pairs, factors);
  ASSERT_TRUE(factors.factor());
  const VectorXd expected = VectorXd::LinSpaced(A.rows(), -1, 2);
  VectorXd x = A * expected;
  factors.solve(x.data());
  // Without growth of pivots, which a dominant matrix has not: n² roundings, and its condition is
  // below 2‖A‖, since its diagonal exceeds the rest of a row by 1.
  const double n = static_cast<double>(A.rows());
  EXPECT_LE((x - expected).norm(), n * n * 2.2e-16 * 2 * A.norm() * expected.norm());
}

TEST(SmallLu, SolvesOneBlock) { expect_solved(1, {}, 1); }

TEST(SmallLu, SolvesAnArrow) {
  Pairs pairs;
  for (int i = 1; i < 11; ++i) pairs.emplace_back(0, i);
  expect_solved(11, pairs, 2);
}

TEST(SmallLu, SolvesALoopThatFillsIn) {
  Pairs pairs;
  for (int i = 0; i < 16; ++i) pairs.emplace_back(i, (i + 1) % 16);
  expect_solved(16, pairs, 3);
}

TEST(SmallLu, SolvesRandomGraphs) {
  std::mt19937 random(5);
  for (unsigned seed = 0; seed < 200; ++seed) {
    const int num_blocks = 1 + static_cast<int>(random() % SmallLu::kMaxBlocks);
    Pairs pairs;
    for (int i = 0; i < num_blocks; ++i)
      for (int j = 0; j < i; ++j)
        if (random() % 4 == 0) pairs.emplace_back(i, j);
    expect_solved(num_blocks, pairs, seed);
  }
}

TEST(SmallLu, RefusesPivotsThatAreNone) {
  for (const double value : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
    MatrixXd A = make_matrix(3, {{0, 1}, {1, 2}}, 4);
    A.row(9) *= value;
    SmallLu factors;
    fill(A, 3, {{0, 1}, {1, 2}}, factors);
    EXPECT_FALSE(factors.factor()) << value;
  }
}

}  // namespace
}  // namespace stiction
