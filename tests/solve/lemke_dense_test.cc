// The entry for dense problems: any matrix, every answer measured, none wrong without saying so.
#include "stiction/solve/lemke_dense.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "tests/dense_algebra.h"

namespace stiction {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Solved {
  LemkeDenseReport report;
  Eigen::VectorXd z;
};

Solved solve(const RowMatrix& matrix, const Eigen::VectorXd& q, double tolerance = 1e-12) {
  LemkeDense method({.tolerance = tolerance});
  Solved result{.report = {}, .z = Eigen::VectorXd::Constant(q.size(), 7)};
  result.report =
      method.solve(static_cast<int>(q.size()), matrix.data(), q.data(), result.z.data());
  return result;
}

/// The error of the public collection, written here anew.
double published_error(const RowMatrix& matrix, const Eigen::VectorXd& q,
                       const Eigen::VectorXd& z) {
  return z.cwiseMin(matrix * z + q).norm() / q.norm();
}

void expect_solved(const RowMatrix& matrix, const Eigen::VectorXd& q) {
  const Solved solved = solve(matrix, q);
  ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_LE(solved.report.error, 1e-12);
  // But for the rounding of another order of summation.
  EXPECT_LE(published_error(matrix, q, solved.z), solved.report.error + 1e-13);
}

RowMatrix random_matrix(Random& random, int size, bool is_integer) {
  RowMatrix matrix(size, size);
  for (double& x : matrix.reshaped()) x = is_integer ? random.integer(-2, 2) : random.normal();
  return matrix;
}

Eigen::VectorXd random_vector(Random& random, int size, bool is_integer) {
  Eigen::VectorXd q(size);
  for (double& x : q) x = is_integer ? random.integer(-1, 1) : random.normal();
  return q;
}

/// Whether a complementary basis that is safely nonsingular gives a solution.
bool has_basic_solution(const RowMatrix& matrix, const Eigen::VectorXd& q) {
  const int n = static_cast<int>(q.size());
  for (int set = 0; set < 1 << n; ++set) {
    std::vector<int> support;
    for (int i = 0; i < n; ++i)
      if (set >> i & 1) support.push_back(i);
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
    if (!support.empty()) {
      const auto part = testing::try_solve_dense(matrix(support, support), -q(support), 1e-8);
      if (!part) continue;
      z(support) = *part;
    }
    if (z.minCoeff() >= 0 && (matrix * z + q).minCoeff() >= -1e-12) return true;
  }
  return false;
}

TEST(LemkeDense, SolvesPositiveDefiniteProblemInClosedFormInEitherOrder) {
  const double row_major[] = {2, 0, 1, 2}, column_major[] = {2, 1, 0, 2}, q[] = {-4, -6};
  for (const MatrixOrder order : {MatrixOrder::kRowMajor, MatrixOrder::kColumnMajor}) {
    LemkeDense method;
    double z[2];
    const double* matrix = order == MatrixOrder::kRowMajor ? row_major : column_major;
    EXPECT_EQ(method.solve(2, matrix, q, z, order).status, LcpStatus::kSolved);
    EXPECT_EQ(z[0], 2);
    EXPECT_EQ(z[1], 2);
    EXPECT_EQ(method.w(), (std::vector<double>{0, 0}));
  }
}

TEST(LemkeDense, EmptyAndFeasibleProblemsTakeNoPivot) {
  LemkeDense method;
  EXPECT_EQ(method.solve(0, nullptr, nullptr, nullptr).status, LcpStatus::kSolved);
  const Solved solved = solve(RowMatrix::Identity(3, 3), Eigen::Vector3d(0, 1, 2));
  EXPECT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_EQ(solved.report.pivots, 0);
  EXPECT_EQ(solved.z, Eigen::VectorXd::Zero(3));
}

// On both sides of the size at which the method changes.
TEST(LemkeDense, SolvesRandomPMatricesOfAnySize) {
  Random random(1);
  for (int size = 1; size <= LemkeSmall::kMaxSize + 20; ++size) {
    SCOPED_TRACE(size);
    const RowMatrix factor = random_matrix(random, size, false),
                    skew = random_matrix(random, size, false);
    const RowMatrix matrix = factor * factor.transpose() / size +
                             0.1 * RowMatrix::Identity(size, size) + skew - skew.transpose();
    expect_solved(matrix, random_vector(random, size, false));
  }
}

TEST(LemkeDense, BothOrdersGiveTheSameAnswer) {
  Random random(2);
  LemkeDense method;
  for (const int size : {1, 2, 3, 4, 5, 12, 30, 61, 62, 63, 80}) {
    const RowMatrix factor = random_matrix(random, size, false);
    const RowMatrix matrix = factor * factor.transpose() / size + RowMatrix::Identity(size, size);
    const Eigen::MatrixXd transposed = matrix;
    const Eigen::VectorXd q = random_vector(random, size, false);
    Eigen::VectorXd a(size), b(size);
    ASSERT_EQ(method.solve(size, matrix.data(), q.data(), a.data()).status, LcpStatus::kSolved);
    ASSERT_EQ(
        method.solve(size, transposed.data(), q.data(), b.data(), MatrixOrder::kColumnMajor).status,
        LcpStatus::kSolved);
    EXPECT_EQ(a, b);
  }
}

// Every row ties with every other at the start and after each pivot.
TEST(LemkeDense, DoesNotCycleOnCompletelyDegenerateProblems) {
  for (int size = 2; size <= 70; ++size) {
    RowMatrix matrix = RowMatrix::Ones(size, size);
    for (int i = 0; i + 1 < size; i += 2) matrix(i, i + 1) = 2, matrix(i + 1, i) = 0;
    Eigen::VectorXd q = Eigen::VectorXd::Zero(size);
    q[size / 2] = -1;
    SCOPED_TRACE(size);
    expect_solved(matrix, q);
    expect_solved(matrix, -Eigen::VectorXd::Ones(size));
    expect_solved(RowMatrix::Identity(size, size), -Eigen::VectorXd::Ones(size));
  }
}

// Matrices of any kind: whatever enumeration finds is found, by pivoting or by enumeration.
TEST(LemkeDense, FindsASolutionWhereEnumerationHasOne) {
  Random random(3);
  int num_solved = 0;
  for (int trial = 0; trial < 600; ++trial) {
    SCOPED_TRACE(trial);
    const int size = random.integer(1, 8);
    const bool is_integer = random.chance(0.5);
    const RowMatrix matrix = random_matrix(random, size, is_integer);
    const Eigen::VectorXd q = random_vector(random, size, is_integer);
    const Solved solved = solve(matrix, q);
    if (has_basic_solution(matrix, q)) {
      EXPECT_EQ(solved.report.status, LcpStatus::kSolved);
    }
    if (solved.report.status != LcpStatus::kSolved) continue;
    ++num_solved;
    EXPECT_GE(solved.z.minCoeff(), 0);
    EXPECT_LE((solved.z.cwiseMin(matrix * solved.z + q)).norm(), 1e-11);
  }
  EXPECT_GT(num_solved, 200);
}

// Lemke's own path ends on a ray here.
TEST(LemkeDense, SolvesABimatrixGameByOtherMeans) {
  RowMatrix matrix(4, 4);
  matrix << 0, 0, 10, 30, 0, 0, 20, 15, 10, 30, 0, 0, 20, 15, 0, 0;
  const Solved solved = solve(matrix, -Eigen::Vector4d::Ones());
  EXPECT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_GT(solved.report.stage, 0);
}

TEST(LemkeDense, SaysSoWhenThereIsNoSolution) {
  for (const int size : {1, 2, 5, 30, 70}) {
    const Solved solved = solve(-RowMatrix::Identity(size, size), -Eigen::VectorXd::Ones(size));
    EXPECT_NE(solved.report.status, LcpStatus::kSolved);
    EXPECT_FALSE(solved.report.error <= 1e-3);
  }
}

TEST(LemkeDense, ToleranceThatCannotBeReachedIsNotCalledSolved) {
  Random random(4);
  const int size = 20;
  const RowMatrix factor = random_matrix(random, size, false);
  const RowMatrix matrix = factor * factor.transpose() + RowMatrix::Identity(size, size);
  const Eigen::VectorXd q = random_vector(random, size, false);
  const Solved solved = solve(matrix, q, 1e-300);
  EXPECT_EQ(solved.report.status, LcpStatus::kInaccurate);
  EXPECT_LE(published_error(matrix, q, solved.z), 1e-12);
}

TEST(LemkeDense, IsIndifferentToUnits) {
  Random random(5);
  for (const double scale : {1e-12, 1e-6, 1e6, 1e12})
    for (const int size : {2, 3, 7, 20, 70}) {
      SCOPED_TRACE(scale);
      const RowMatrix factor = random_matrix(random, size, false);
      const RowMatrix matrix =
          scale * (factor * factor.transpose() / size + RowMatrix::Identity(size, size));
      expect_solved(matrix, random_vector(random, size, false));
    }
}

// With M = 1e15 the collection's error of z = 1e-13, w = 99 would be 1e-13.
TEST(LemkeDense, ErrorDoesNotBelieveTinyImpulsesOfHugeMatrices) {
  const Solved solved = solve(RowMatrix::Constant(1, 1, 1e15), Eigen::VectorXd::Constant(1, -1));
  ASSERT_EQ(solved.report.status, LcpStatus::kSolved);
  EXPECT_NEAR(solved.z[0], 1e-15, 1e-27);
}

TEST(LemkeDense, RefusesWhatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity})
    for (const int size : {2, 3, 20, 70})
      for (const int place : {0, 1}) {
        RowMatrix matrix = RowMatrix::Identity(size, size);
        Eigen::VectorXd q = -Eigen::VectorXd::Ones(size);
        q[size - 1] = 1;
        EXPECT_NO_THROW((void)solve(matrix, q));
        if (place == 0) matrix(0, size - 1) = bad;
        if (place == 1) q[size - 1] = bad;
        EXPECT_THROW((void)solve(matrix, q), InputError);
      }
  EXPECT_THROW((void)LemkeDense().solve(-1, nullptr, nullptr, nullptr), InputError);
  EXPECT_THROW(LemkeDense({.tolerance = 0}), InputError);
}

TEST(LemkeDense, SameBitsWhateverWasSolvedBefore) {
  Random random(6);
  LemkeDense used;
  for (int trial = 0; trial < 100; ++trial) {
    const int size = random.integer(1, 75);
    const RowMatrix matrix =
        random_matrix(random, size, false) / size + RowMatrix::Identity(size, size);
    const Eigen::VectorXd q = random_vector(random, size, false);
    Eigen::VectorXd z(size);
    (void)used.solve(size, matrix.data(), q.data(), z.data());
    EXPECT_EQ(z, solve(matrix, q).z);
  }
}

}  // namespace
}  // namespace stiction
