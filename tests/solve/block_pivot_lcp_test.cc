#include "stiction/solve/block_pivot_lcp.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "stiction/base/infinity.h"
#include "stiction/base/random.h"
#include "tests/dense_algebra.h"

namespace stiction {
namespace {

BoundedLcp make_lcp(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q) {
  BoundedLcp lcp;
  lcp.resize(static_cast<int>(q.size()));
  for (int i = 0; i < lcp.size; ++i) {
    lcp.vector[i] = q[i];
    lcp.lower[i] = 0;
    for (int j = 0; j < lcp.size; ++j) lcp.row(i)[j] = matrix(i, j);
  }
  return lcp;
}

LcpReport solve(const BoundedLcp& lcp, BlockPivotLcp& method,
                const BlockPivotOptions& options = {}) {
  method.reset(lcp);
  return method.solve(lcp, options);
}

/// The natural map |z − P(z − w)|, written here anew.
double residual(const BoundedLcp& lcp, const std::vector<double>& z) {
  double worst = 0;
  for (int i = 0; i < lcp.size; ++i) {
    double w = lcp.vector[i];
    for (int j = 0; j < lcp.size; ++j) w += lcp.row(i)[j] * z[j];
    worst = std::max(worst, std::abs(z[i] - std::clamp(z[i] - w, lcp.lower[i], lcp.upper[i])));
  }
  return worst;
}

Eigen::MatrixXd random_matrix(Random& random, int size) {
  Eigen::MatrixXd matrix(size, size);
  for (double& x : matrix.reshaped()) x = random.normal();
  return matrix;
}

/// Positive definite, not symmetric: a P matrix.
Eigen::MatrixXd random_p_matrix(Random& random, int size, double skewness = 1) {
  const Eigen::MatrixXd factor = random_matrix(random, size),
                        skew = skewness * random_matrix(random, size);
  return factor * factor.transpose() / size + 0.1 * Eigen::MatrixXd::Identity(size, size) + skew -
         skew.transpose();
}

void bound_randomly(Random& random, BoundedLcp& lcp) {
  for (int i = 0; i < lcp.size; ++i) {
    const double start = random.chance(0.5) ? 0 : random.normal();
    lcp.lower[i] = random.chance(0.3) ? -kInfinity : start - random.uniform();
    lcp.upper[i] = random.chance(0.3)   ? kInfinity
                   : random.chance(0.1) ? std::max(lcp.lower[i], -1e3)
                                        : start + random.uniform();
    if (random.chance(0.1)) lcp.lower[i] = lcp.upper[i] = start;
  }
}

/// All 3ⁿ states; the number of those that solve, and the last of their solutions.
int enumerate(const BoundedLcp& lcp, Eigen::VectorXd& solution) {
  const int n = lcp.size;
  int num_states = 1, num_found = 0;
  for (int i = 0; i < n; ++i) num_states *= 3;
  const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> matrix(lcp.matrix.data(),
                                                                                n, n);
  const Eigen::Map<const Eigen::VectorXd> q(lcp.vector.data(), n);
  for (int code = 0; code < num_states; ++code) {
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
    std::vector<int> between;
    for (int i = 0, rest = code; i < n; ++i, rest /= 3) {
      if (rest % 3 == 0) between.push_back(i);
      if (rest % 3 == 1) z[i] = lcp.lower[i];
      if (rest % 3 == 2) z[i] = lcp.upper[i];
    }
    if (!z.allFinite()) continue;
    const Eigen::VectorXd w0 = matrix * z + q;
    if (!between.empty()) {
      z(between) = testing::solve_dense(matrix(between, between), -w0(between));
    }
    if (residual(lcp, {z.data(), z.data() + n}) > 1e-9) continue;
    solution = z;
    ++num_found;
  }
  return num_found;
}

TEST(BlockPivotLcp, SolvesPositiveDefiniteProblemInClosedForm) {
  Eigen::MatrixXd matrix(2, 2);
  matrix << 2, 1, 1, 2;
  BlockPivotLcp method;
  ASSERT_EQ(solve(make_lcp(matrix, Eigen::Vector2d(-5, -6)), method).status, LcpStatus::kSolved);
  EXPECT_NEAR(method.z()[0], 4.0 / 3, 1e-15);
  EXPECT_NEAR(method.z()[1], 7.0 / 3, 1e-15);
}

TEST(BlockPivotLcp, NeedsOneRoundWhenTheStatesAreRight) {
  BlockPivotLcp method;
  const BoundedLcp lcp = make_lcp(Eigen::Matrix3d::Identity(), Eigen::Vector3d(-1, 2, -3));
  ASSERT_EQ(solve(lcp, method).status, LcpStatus::kSolved);
  const std::vector<double> first = method.z();
  const LcpReport again = method.solve(lcp, {});
  EXPECT_EQ(again.status, LcpStatus::kSolved);
  EXPECT_EQ(again.pivots, 1);
  EXPECT_EQ(method.z(), first);
}

TEST(BlockPivotLcp, SolvesRandomPMatrices) {
  Random random(1);
  BlockPivotLcp method;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    const int size = random.integer(1, 40);
    const Eigen::MatrixXd matrix = random_p_matrix(random, size);
    Eigen::VectorXd q(size);
    for (double& x : q) x = random.normal();
    const BoundedLcp lcp = make_lcp(matrix, q);
    ASSERT_EQ(solve(lcp, method).status, LcpStatus::kSolved);
    // The condition number is below 1e4; the sign tolerance is 1e-12 of the largest number.
    EXPECT_LE(residual(lcp, method.z()), 1e-10);
  }
}

TEST(BlockPivotLcp, AgreesWithEnumerationOnRandomBoundedProblems) {
  Random random(2);
  BlockPivotLcp method;
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(trial);
    const int size = trial < 20 ? random.integer(7, 8) : random.integer(1, 6);
    Eigen::VectorXd q(size);
    for (double& x : q) x = random.normal();
    BoundedLcp lcp = make_lcp(random_p_matrix(random, size), q);
    bound_randomly(random, lcp);
    ASSERT_EQ(solve(lcp, method).status, LcpStatus::kSolved);
    EXPECT_LE(residual(lcp, method.z()), 1e-10);
    Eigen::VectorXd expected;
    ASSERT_GE(enumerate(lcp, expected), 1);  // a P matrix: exactly one solution, perhaps degenerate
    for (int i = 0; i < size; ++i) EXPECT_NEAR(method.z()[i], expected[i], 1e-7);
  }
}

// Least-index pivoting alone visits 2ⁿ states of this P matrix (Murty 1988, §6.2: an upper triangle
// of twos); changing all violations at once does not.
TEST(BlockPivotLcp, DoesNotFollowMurtysExponentialPath) {
  for (int size = 2; size <= 40; ++size) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(size, size);
    matrix.triangularView<Eigen::StrictlyUpper>().setConstant(2);
    BlockPivotLcp method;
    const BoundedLcp lcp = make_lcp(matrix, -Eigen::VectorXd::Ones(size));
    const LcpReport report = solve(lcp, method);
    ASSERT_EQ(report.status, LcpStatus::kSolved) << size;
    EXPECT_LE(residual(lcp, method.z()), 1e-12);
    EXPECT_LE(report.pivots, 10 * size);
  }
}

// Fathi's positive definite variant: the product of Murty's triangle with its transpose.
TEST(BlockPivotLcp, DoesNotFollowFathisExponentialPath) {
  for (int size = 2; size <= 20; ++size) {
    Eigen::MatrixXd triangle = Eigen::MatrixXd::Identity(size, size);
    triangle.triangularView<Eigen::StrictlyLower>().setConstant(2);
    const Eigen::MatrixXd matrix = triangle * triangle.transpose();
    BlockPivotLcp method;
    const BoundedLcp lcp = make_lcp(matrix, -Eigen::VectorXd::Ones(size));
    const LcpReport report = solve(lcp, method);
    ASSERT_EQ(report.status, LcpStatus::kSolved) << size;
    EXPECT_LE(residual(lcp, method.z()), 1e-9);
    EXPECT_LE(report.pivots, 10 * size);
  }
}

// Single changes from the start: exponential, but they end.
TEST(BlockPivotLcp, MurtysRuleAloneEndsOnPMatrices) {
  for (int size = 2; size <= 10; ++size) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(size, size);
    matrix.triangularView<Eigen::StrictlyUpper>().setConstant(2);
    BlockPivotLcp method;
    const BoundedLcp lcp = make_lcp(matrix, -Eigen::VectorXd::Ones(size));
    const LcpReport report = solve(lcp, method, {.max_rounds = 1 << (size + 1), .block_rounds = 0});
    ASSERT_EQ(report.status, LcpStatus::kSolved) << size;
    EXPECT_LE(residual(lcp, method.z()), 1e-12);
  }
}

TEST(BlockPivotLcp, BothRulesEndOnRandomPMatricesOfAnySize) {
  Random random(7);
  BlockPivotLcp method;
  for (const int size : {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200}) {
    // The more skew, the more rounds: above 40 rows thousands, unless it stays below the rest.
    const Eigen::MatrixXd matrix = random_p_matrix(random, size, size > 40 ? 0.5 / size : 1);
    Eigen::VectorXd q(size);
    for (double& x : q) x = random.normal();
    const BoundedLcp lcp = make_lcp(matrix, q);
    for (const int block_rounds : {10, 0}) {
      if (block_rounds == 0 && size > 100) continue;  // single changes: a factorisation each
      SCOPED_TRACE(size);
      const LcpReport report =
          solve(lcp, method, {.max_rounds = 100000, .block_rounds = block_rounds});
      ASSERT_EQ(report.status, LcpStatus::kSolved);
      EXPECT_LE(residual(lcp, method.z()), 1e-9);  // sizes of z and w below 100, see above
    }
  }
}

// Every variable is on its bound and every w is zero: no sign is wrong.
TEST(BlockPivotLcp, ZeroVectorTakesOneRound) {
  Random random(8);
  BlockPivotLcp method;
  for (int size = 1; size <= 30; ++size) {
    const LcpReport report =
        solve(make_lcp(random_p_matrix(random, size), Eigen::VectorXd::Zero(size)), method);
    ASSERT_EQ(report.status, LcpStatus::kSolved);
    EXPECT_EQ(report.pivots, 1);
    EXPECT_EQ(method.z(), std::vector<double>(size, 0.0));
  }
}

// q = −H z with many zeros in z and w at once: degenerate rows may be in either state.
TEST(BlockPivotLcp, SolvesDegenerateProblems) {
  Random random(9);
  BlockPivotLcp method;
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const int size = random.integer(2, 40);
    const Eigen::MatrixXd matrix = random_p_matrix(random, size);
    Eigen::VectorXd z = Eigen::VectorXd::Zero(size);
    for (double& x : z)
      if (random.chance(0.3)) x = random.integer(1, 3);
    const BoundedLcp lcp = make_lcp(matrix, -matrix * z);
    ASSERT_EQ(solve(lcp, method).status, LcpStatus::kSolved);
    for (int i = 0; i < size; ++i) EXPECT_NEAR(method.z()[i], z[i], 1e-8);
  }
}

// A cyclic P matrix on which changing all violations at once goes round in circles.
TEST(BlockPivotLcp, BreaksTheCycleOfBlockChanges) {
  Eigen::Matrix3d matrix;
  matrix << 1, 2, 0, 0, 1, 2, 2, 0, 1;
  BlockPivotLcp method;
  const BoundedLcp lcp = make_lcp(matrix, -Eigen::Vector3d::Ones());
  ASSERT_EQ(solve(lcp, method).status, LcpStatus::kSolved);
  for (const double z : method.z()) EXPECT_NEAR(z, 1.0 / 3, 1e-15);
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    Eigen::Vector3d q;
    for (double& x : q) x = random.normal();
    const BoundedLcp other = make_lcp(matrix, q);
    ASSERT_EQ(solve(other, method).status, LcpStatus::kSolved) << trial;
    EXPECT_LE(residual(other, method.z()), 1e-12);
  }
}

TEST(BlockPivotLcp, SaysSoWhenThereIsNoSolution) {
  BlockPivotLcp method;
  EXPECT_NE(solve(make_lcp(-Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1, -1)), method).status,
            LcpStatus::kSolved);
  EXPECT_EQ(solve(make_lcp(Eigen::Matrix2d::Zero(), Eigen::Vector2d(-1, -1)), method).status,
            LcpStatus::kSingular);
}

// Two equal rows: a self-stress of any size solves the equations to rounding.
TEST(BlockPivotLcp, DependentRowsAreSingularAndNotHuge) {
  Random random(10);
  BlockPivotLcp method;
  for (int trial = 0; trial < 100; ++trial) {
    Eigen::MatrixXd rows(4, 6);
    for (double& x : rows.reshaped()) x = random.normal();
    rows.rowwise().normalize();
    Eigen::MatrixXd twice(8, 6);
    twice << rows, rows;
    Eigen::VectorXd q(8);
    q.head(4).setConstant(-1);
    q.tail(4).setConstant(-1);
    BoundedLcp lcp = make_lcp(twice * twice.transpose(), q);
    lcp.lower.assign(8, -kInfinity);
    EXPECT_EQ(solve(lcp, method).status, LcpStatus::kSingular);
    ASSERT_EQ(solve(lcp, method, {.regularization = 1e-9}).status, LcpStatus::kSolved);
    for (int i = 0; i < 4; ++i) EXPECT_NEAR(method.z()[i], method.z()[i + 4], 1e-5);
  }
}

TEST(BlockPivotLcp, RepeatedSolvesGiveTheSameBits) {
  Random random(6);
  const Eigen::MatrixXd matrix = random_p_matrix(random, 12);
  Eigen::VectorXd q(12);
  for (double& x : q) x = random.normal();
  BlockPivotLcp a, b;
  const BoundedLcp lcp = make_lcp(matrix, q);
  ASSERT_EQ(solve(lcp, a).status, LcpStatus::kSolved);
  ASSERT_EQ(solve(lcp, b).status, LcpStatus::kSolved);
  EXPECT_EQ(a.z(), b.z());
  ASSERT_EQ(a.solve(lcp, {}).status, LcpStatus::kSolved);
  EXPECT_EQ(a.z(), b.z());
}

}  // namespace
}  // namespace stiction
