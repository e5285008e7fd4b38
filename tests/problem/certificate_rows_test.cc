// Mass blocks of usual sizes have code of their own in the certificate. It must not matter which
// code a block takes.
#include "stiction/problem/certificate_rows.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>
#include <limits>
#include <string>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"

namespace stiction {
namespace {

struct Case {
  StepProblem problem;
  StepSolution solution;
};

MatrixXd random_matrix(Random& random, int rows, int columns) {
  MatrixXd matrix(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) matrix(i, j) = random.uniform(-1, 1);
  return matrix;
}

/// One body of `size` coordinates, of which the last ones have mass one and neither momentum nor
/// rows: they add nothing to any figure. The coordinates are rotated, so that they cannot be told
/// from the first `used`. A joint, a contact in the plane and one in space; a rough answer.
Case padded_case(int used, int size) {
  Random random(7);
  MatrixXd mass = MatrixXd::Identity(size, size), rows = MatrixXd::Zero(6, size);
  VectorXd p = VectorXd::Zero(size), w = VectorXd::Zero(size);
  const MatrixXd root = random_matrix(random, used, used);
  mass.topLeftCorner(used, used) =
      root * root.transpose() + 0.5 * MatrixXd::Identity(used, used) +
      0.2 * (random_matrix(random, used, used) - random_matrix(random, used, used).transpose());
  rows.leftCols(used) = random_matrix(random, 6, used);
  p.head(used) = random_matrix(random, used, 1);
  w.head(used) = random_matrix(random, used, 1);
  const VectorXd impulses = random_matrix(random, 6, 1);

  const MatrixXd rotation =
      Eigen::HouseholderQR<MatrixXd>(random_matrix(random, size, size)).householderQ();
  Case result;
  StepProblem& problem = result.problem;
  problem.add_mass_block(size) = rotation * mass * rotation.transpose();
  problem.block_p(0) = rotation * p;
  rows = rows * rotation.transpose();
  w = rotation * w;
  problem.add_bilateral_row({.compliance = 0.1, .bias = 0.3});
  problem.bilateral.add_entry(0, size) = rows.topRows(1);
  problem.add_contact({.num_tangents = 1, .mu = 0.4, .section = {}, .key = 0});
  problem.contacts.add_entry(0, size) = rows.middleRows(1, 2);
  problem.add_contact({.num_tangents = 2, .mu = 0.7, .section = {}, .key = 1});
  problem.contacts.add_entry(0, size) = rows.bottomRows(3);
  result.solution.w.assign(w.begin(), w.end());
  result.solution.lambda = {impulses[0]};
  result.solution.r.assign(impulses.begin() + 1, impulses.end());
  return result;
}

TEST(CertificateRows, FiguresDoNotDependOnTheSizeOfABlock) {
  for (const int used : {1, 2, 3}) {
    const Case plain = padded_case(used, used);
    const Certificate expected = certify(plain.problem, plain.solution);
    ASSERT_TRUE(std::isfinite(expected.residual()));
    for (int size = used; size <= 9; ++size) {
      SCOPED_TRACE(std::to_string(used) + " of " + std::to_string(size));
      const Case padded = padded_case(used, size);
      const Certificate found = certify(padded.problem, padded.solution);
      // Sums of up to nine products of numbers of about one, twice: below 1e-13.
      EXPECT_NEAR(found.momentum, expected.momentum, 1e-13 * expected.momentum);
      EXPECT_NEAR(found.bilateral, expected.bilateral, 1e-12 * expected.bilateral);
      EXPECT_NEAR(found.cone, expected.cone, 1e-12 * expected.cone);
      EXPECT_NEAR(found.motion, expected.motion, 1e-12 * expected.motion);
    }
  }
}

TEST(CertificateRows, ViewsAreWhatTheirNamesSay) {
  const Case given = padded_case(3, 3);
  const StepProblem& problem = given.problem;
  CertificateRows rows;
  ASSERT_TRUE(rows.gather(problem, given.solution));
  const MatrixXd mass = problem.mass_block(0);
  const MatrixXd inverse = (0.5 * (mass + mass.transpose())).inverse();
  const MatrixXd J = problem.contacts.entry_matrix(1, problem.contacts.entry_start(1));
  const MatrixXd W = J * inverse * J.transpose();
  const VectorXd u = J * given.solution.w_vector();
  const RowBlockView& view = rows.contacts()[1];
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(view.u[i], u[i], 1e-14);
    EXPECT_NEAR(view.delassus[i], W(i, i), 1e-12 * W(i, i));
    EXPECT_NEAR(view.arm[i], std::sqrt(W(i, i)), 1e-12 * W(i, i));
  }
  EXPECT_NEAR(view.cross, W(1, 2), 1e-12 * W.norm());
}

TEST(CertificateRows, BlocksThatAreNotPositiveDefiniteAreRefusedAtAnySize) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (int size = 1; size <= 8; ++size)
    for (const double bad : {0.0, -1.0, nan, infinity}) {
      Case broken = padded_case(1, size);
      const int last = size * size - 1;
      broken.problem.mass_values.assign(last + 1, 0.0);
      for (int i = 0; i < size; ++i) broken.problem.mass_values[i * (size + 1)] = 1;
      broken.problem.mass_values[last] = bad;
      CertificateRows rows;
      EXPECT_FALSE(rows.gather(broken.problem, broken.solution)) << size << " " << bad;
      if (size == 1 || bad <= 0) continue;
      broken.problem.mass_values[last] = 1;
      broken.problem.mass_values[last - 1] = bad;  // beside the diagonal
      EXPECT_FALSE(rows.gather(broken.problem, broken.solution)) << size << " " << bad;
    }
}

}  // namespace
}  // namespace stiction
