// Mass blocks of usual sizes have code of their own in the certificate. It must not matter which
// code a block takes.
#include "stiction/problem/certificate_rows.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <string>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "tests/dense_algebra.h"

namespace stiction {
namespace {

using testing::multiply;

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
      multiply(root, root.transpose()) + 0.5 * MatrixXd::Identity(used, used) +
      0.2 * (random_matrix(random, used, used) - random_matrix(random, used, used).transpose());
  rows.leftCols(used) = random_matrix(random, 6, used);
  p.head(used) = random_matrix(random, used, 1);
  w.head(used) = random_matrix(random, used, 1);
  const VectorXd impulses = random_matrix(random, 6, 1);

  const MatrixXd rotation = testing::orthogonal_factor(random_matrix(random, size, size));
  Case result;
  StepProblem& problem = result.problem;
  problem.add_mass_block(size) = multiply(multiply(rotation, mass), rotation.transpose());
  problem.block_p(0) = multiply(rotation, p);
  rows = multiply(rows, rotation.transpose());
  w = multiply(rotation, w);
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
  const MatrixXd inverse = testing::inverse_of(0.5 * (mass + mass.transpose()));
  const MatrixXd J = problem.contacts.entry_matrix(1, problem.contacts.entry_start(1));
  const MatrixXd W = multiply(multiply(J, inverse), J.transpose());
  const VectorXd u = multiply(J, given.solution.w_vector());
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

/// Two free bodies with a joint row each way, a contact between them, and a rough answer. A
/// coupling of linear and angular velocities below anything that rounding sees takes the code for
/// any block.
Case two_bodies(double coupling) {
  Random random(11);
  Case result;
  StepProblem& problem = result.problem;
  for (int b = 0; b < 2; ++b) {
    RowMatrixMap mass = problem.add_mass_block(6);
    mass.setZero();
    const MatrixXd root = random_matrix(random, 3, 3);
    mass.diagonal().head(3).setConstant(2 + b);
    mass.bottomRightCorner(3, 3) =
        root * root.transpose() + 0.1 * MatrixXd::Identity(3, 3) +
        0.05 * (random_matrix(random, 3, 3) - random_matrix(random, 3, 3).transpose());
    mass(4, 1) = coupling;
    problem.block_p(b) = random_matrix(random, 6, 1);
  }
  for (int i = 0; i < 4; ++i) {
    problem.add_bilateral_row({.compliance = 0.01 * i, .bias = random.uniform(-1, 1)});
    for (int b = i == 3 ? 1 : 0; b < 2; ++b)
      problem.bilateral.add_entry(b, 6) = random_matrix(random, 1, 6);
  }
  problem.add_contact({.num_tangents = 2, .mu = 0.7, .section = {}, .key = 1});
  for (int b = 0; b < 2; ++b) problem.contacts.add_entry(b, 6) = random_matrix(random, 3, 6);
  for (int k = 0; k < 12; ++k) result.solution.w.push_back(random.uniform(-1, 1));
  for (int i = 0; i < 4; ++i) result.solution.lambda.push_back(random.uniform(-1, 1));
  for (int i = 0; i < 3; ++i) result.solution.r.push_back(random.uniform(0, 1));
  return result;
}

TEST(CertificateRows, FreeBodiesAreMeasuredLikeAnyOther) {
  const Case split = two_bodies(0), general = two_bodies(1e-200);
  CertificateRows a, b;
  ASSERT_TRUE(a.gather(split.problem, split.solution));
  ASSERT_TRUE(b.gather(general.problem, general.solution));
  constexpr double kRounding = 1e-13;  // of two dozen operations on numbers about one
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(a.blocks()[i].momentum, b.blocks()[i].momentum, kRounding);
    EXPECT_NEAR(a.blocks()[i].involved, b.blocks()[i].involved, kRounding * 10);
    EXPECT_NEAR(a.blocks()[i].defect, b.blocks()[i].defect, kRounding * 10);
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(a.bilateral()[i].u, b.bilateral()[i].u, kRounding);
    EXPECT_NEAR(a.bilateral()[i].arm, b.bilateral()[i].arm, kRounding * 10);
    EXPECT_NEAR(a.bilateral()[i].delassus, b.bilateral()[i].delassus, kRounding * 10);
    EXPECT_EQ(a.bilateral()[i].own, a.bilateral()[i].delassus);
  }
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(a.contacts()[0].u[k], b.contacts()[0].u[k], kRounding);
    EXPECT_NEAR(a.contacts()[0].arm[k], b.contacts()[0].arm[k], kRounding * 10);
    EXPECT_NEAR(a.contacts()[0].delassus[k], b.contacts()[0].delassus[k], kRounding * 10);
  }
  EXPECT_NEAR(a.contacts()[0].cross, b.contacts()[0].cross, kRounding * 10);
}

TEST(CertificateRows, AFreeBodyThatIsNotPositiveDefiniteIsFound) {
  for (const int k : {0, 1, 2, 3, 4, 5})
    for (const double bad : {-1.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()}) {
      Case body = two_bodies(0);
      body.problem.mass_block(1)(k, k) = bad;
      EXPECT_FALSE(CertificateRows().gather(body.problem, body.solution)) << k << ' ' << bad;
    }
}

}  // namespace
}  // namespace stiction
