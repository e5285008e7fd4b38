#include "stiction/solve/lemke_lcp.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "stiction/base/random.h"
#include "tests/dense_algebra.h"

namespace stiction {
namespace {

MixedLcp<double> make_lcp(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q,
                          int num_free = 0) {
  MixedLcp<double> lcp;
  const int size = static_cast<int>(q.size());
  lcp.resize(num_free, size - num_free);
  for (int i = 0; i < size; ++i) {
    lcp.vector[i] = q[i];
    for (int j = 0; j < size; ++j) lcp.row(i)[j] = matrix(i, j);
  }
  return lcp;
}

struct Solved {
  LcpReport report;
  Eigen::VectorXd z;
};

Solved solve(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q, int num_free = 0) {
  LemkeLcp<double> lemke;
  Solved result{.report = lemke.solve(make_lcp(matrix, q, num_free), {}), .z = {}};
  if (result.report.status != LcpStatus::kSolved) return result;
  result.z.resize(q.size());
  for (Eigen::Index i = 0; i < q.size(); ++i) result.z[i] = static_cast<double>(lemke.z()[i]);
  return result;
}

/// The natural map min(z, A z + q); A z + q itself for the free variables.
double residual(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q, const Eigen::VectorXd& z,
                int num_free = 0) {
  const Eigen::VectorXd y = matrix * z + q;
  double worst = 0;
  for (int i = 0; i < q.size(); ++i)
    worst = std::max(worst, std::abs(i < num_free ? y[i] : std::min(z[i], y[i])));
  return worst;
}

void expect_solved(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q) {
  const Solved solved = solve(matrix, q);
  ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
  // Entries and solutions are below 100: a few roundings of 100 · 100.
  EXPECT_LE(residual(matrix, q, solved.z), 1e-12);
}

TEST(LemkeLcp, SolvesPositiveDefiniteProblemInClosedForm) {
  Eigen::MatrixXd matrix(2, 2);
  matrix << 2, 1, 1, 2;
  const Solved solved = solve(matrix, Eigen::Vector2d(-5, -6));
  ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_NEAR(solved.z[0], 4.0 / 3, 1e-15);
  EXPECT_NEAR(solved.z[1], 7.0 / 3, 1e-15);
}

TEST(LemkeLcp, NeedsNoPivotWhenZeroSolves) {
  const Solved solved = solve(Eigen::Matrix2d::Identity(), Eigen::Vector2d(0, 3));
  EXPECT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_EQ(solved.report.pivots, 0);
  EXPECT_EQ(solved.z, Eigen::VectorXd::Zero(2));
}

TEST(LemkeLcp, SolvesSingularProblemWithManySolutions) {
  expect_solved(Eigen::Matrix2d::Ones(), Eigen::Vector2d(-1, -1));
}

// A bimatrix game is outside the class for which a solution is guaranteed: it has one, but the
// method starts on a ray and says so.
TEST(LemkeLcp, ReportsTheRayOfABimatrixGame) {
  Eigen::MatrixXd matrix(4, 4);
  matrix << 0, 0, 10, 30, 0, 0, 20, 15, 10, 30, 0, 0, 20, 15, 0, 0;
  EXPECT_EQ(solve(matrix, Eigen::Vector4d(-1, -1, -1, -1)).report.status, LcpStatus::kRay);
}

TEST(LemkeLcp, SolvesConvexQuadraticProgram) {
  Eigen::MatrixXd matrix(4, 4);
  matrix << 11, 0, 10, -1, 0, 11, 10, -1, 10, 10, 21, -1, 1, 1, 1, 0;
  expect_solved(matrix, Eigen::Vector4d(50, 50, 10, -6));
}

TEST(LemkeLcp, SolvesMurtysProblem) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(6, 6);
  matrix.triangularView<Eigen::StrictlyLower>().setConstant(2);
  const Solved solved = solve(matrix, -Eigen::VectorXd::Ones(6));
  ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_LE((solved.z - Eigen::VectorXd::Unit(6, 0)).norm(), 1e-14);
}

TEST(LemkeLcp, EndsOnARayWhenThereIsNoSolution) {
  Eigen::MatrixXd matrix(2, 2);
  matrix << 0, -1, 1, 0;
  EXPECT_EQ(solve(-Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1, -1)).report.status,
            LcpStatus::kRay);
  EXPECT_EQ(solve(matrix, Eigen::Vector2d(-1, 0)).report.status, LcpStatus::kRay);
}

TEST(LemkeLcp, ReportsThePivotLimit) {
  LemkeLcp<double> lemke;
  const LcpReport report = lemke.solve(
      make_lcp(Eigen::Matrix3d::Identity(), Eigen::Vector3d(-1, -2, -3)), {.max_pivots = 2});
  EXPECT_EQ(report.status, LcpStatus::kPivotLimit);
  EXPECT_EQ(report.pivots, 2);
}

// Every row ties with every other at the start and after each pivot.
TEST(LemkeLcp, DoesNotCycleOnCompletelyDegenerateProblems) {
  for (int size = 2; size <= 30; ++size) {
    Eigen::MatrixXd matrix = Eigen::MatrixXd::Ones(size, size);
    for (int i = 0; i + 1 < size; i += 2) matrix(i, i + 1) = 2, matrix(i + 1, i) = 0;
    Eigen::VectorXd q = Eigen::VectorXd::Zero(size);
    q[size / 2] = -1;
    SCOPED_TRACE(size);
    expect_solved(matrix, q);
    expect_solved(matrix, -Eigen::VectorXd::Ones(size));
  }
}

TEST(LemkeLcp, SolvesFreeVariablesTogetherWithComplementaryOnes) {
  Eigen::MatrixXd matrix(3, 3);
  matrix << 2, 1, -1, 1, 2, 0.5, -1, 0.5, 3;
  const Eigen::Vector3d q(1, -2, -1);
  const Solved solved = solve(matrix, q, 1);
  ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_LE(residual(matrix, q, solved.z, 1), 1e-15);
}

TEST(LemkeLcp, SetsDependentFreeVariablesToZero) {
  Random random(5);
  Eigen::MatrixXd rows(5, 4);  // three free rows, the third a combination of the others
  for (double& x : rows.reshaped()) x = random.normal();
  rows.row(2) = rows.row(0) - 2 * rows.row(1);
  const Eigen::MatrixXd matrix = testing::multiply(rows, rows.transpose());
  const Eigen::VectorXd q = testing::multiply(rows, Eigen::Vector4d(1, -2, 0.5, -1));
  const Solved solved = solve(matrix, q, 3);
  ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_EQ((solved.z.head(3).array() == 0).count(), 1);
  EXPECT_LE(residual(matrix, q, solved.z, 3), 1e-13);
}

TEST(LemkeLcp, AgreesInDoubleAndLongDouble) {
  Random random(11);
  for (int trial = 0; trial < 50; ++trial) {
    const int size = random.integer(1, 20);
    Eigen::MatrixXd factor(size, size);
    for (double& x : factor.reshaped()) x = random.normal();
    const Eigen::MatrixXd matrix = testing::multiply(factor, factor.transpose()) / size +
                                   0.1 * Eigen::MatrixXd::Identity(size, size);
    Eigen::VectorXd q(size);
    for (double& x : q) x = random.normal();
    const Solved solved = solve(matrix, q);
    ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
    MixedLcp<long double> lcp;
    lcp.resize(0, size);
    const MixedLcp<double> source = make_lcp(matrix, q);
    lcp.matrix.assign(source.matrix.begin(), source.matrix.end());
    lcp.vector.assign(source.vector.begin(), source.vector.end());
    LemkeLcp<long double> lemke;
    ASSERT_EQ(lemke.solve(lcp, {.refresh_interval = 3, .cover_seed = 7}).status,
              LcpStatus::kSolved);
    // Positive definite: the solution is unique. The condition number is below 1e4.
    for (int i = 0; i < size; ++i)
      EXPECT_NEAR(solved.z[i], static_cast<double>(lemke.z()[i]), 1e-11);
  }
}

}  // namespace
}  // namespace stiction
