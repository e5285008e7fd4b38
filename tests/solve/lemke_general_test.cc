#include "stiction/solve/lemke_general.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/dense_algebra.h"

namespace stiction {
namespace {

/// w = M z + q as a step problem without bodies: the first `num_free` rows are equations.
StepProblem make_problem(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q,
                         int num_free = 0) {
  StepProblem problem;
  const int size = static_cast<int>(q.size());
  for (int i = 0; i < num_free; ++i) problem.add_bilateral_row({.bias = -q[i]});
  for (int i = num_free; i < size; ++i) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
    problem.contact_bias.back() = q[i];
  }
  for (int i = 0; i < size; ++i) {
    problem.coupling.add_row();
    for (int j = 0; j < size; ++j)
      if (matrix(i, j) != 0) problem.coupling.add_entry(j, matrix(i, j));
  }
  return problem;
}

Eigen::VectorXd unknowns(const StepSolution& solution) {
  std::vector<double> z = solution.lambda;
  z.insert(z.end(), solution.r.begin(), solution.r.end());
  return Eigen::Map<Eigen::VectorXd>(z.data(), static_cast<Eigen::Index>(z.size()));
}

/// The natural map min(z, M z + q), the equations themselves for free variables.
double residual(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q, const Eigen::VectorXd& z,
                int num_free) {
  const Eigen::VectorXd w = matrix * z + q;
  double worst = 0;
  for (int i = 0; i < q.size(); ++i)
    worst = std::max(worst, std::abs(i < num_free ? w[i] : std::min(z[i], w[i])));
  return worst;
}

Eigen::VectorXd expect_solved(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q,
                              int num_free = 0, double tolerance = 1e-12) {
  LemkeSolver solver;
  StepSolution solution;
  const StepProblem problem = make_problem(matrix, q, num_free);
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_TRUE(certify(problem, solution).meets(1e-10));
  EXPECT_LE(residual(matrix, q, unknowns(solution), num_free), tolerance);
  return unknowns(solution);
}

SolverStatus status_of(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q, int num_free = 0) {
  StepSolution solution;
  return LemkeSolver().solve(make_problem(matrix, q, num_free), solution).status;
}

// Every path of Lemke's method ends on a ray here, whatever the covering vector.
TEST(LemkeGeneral, FindsTheEquilibriumOfABimatrixGame) {
  Eigen::MatrixXd matrix(4, 4);
  matrix << 0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0;
  expect_solved(matrix, -Eigen::Vector4d::Ones());
}

TEST(LemkeGeneral, EnumerationFindsWhatPathsMiss) {
  Random random(3);
  int num_solved = 0;
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const int size = random.integer(2, 7);
    Eigen::MatrixXd matrix(size, size);
    for (double& x : matrix.reshaped()) x = random.normal();
    // Any matrix, and a right-hand side that is known to have a solution.
    Eigen::VectorXd z(size), w(size);
    for (int i = 0; i < size; ++i) {
      const bool is_basic = random.chance(0.5);
      z[i] = is_basic ? random.uniform(0.1, 1) : 0;
      w[i] = is_basic ? 0 : random.uniform(0.1, 1);
    }
    expect_solved(matrix, w - matrix * z, 0, 1e-10);
    ++num_solved;
  }
  EXPECT_EQ(num_solved, 200);
}

TEST(LemkeGeneral, SaysThatThereIsNoSolution) {
  EXPECT_EQ(status_of(-Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1, -1)),
            SolverStatus::kNoSolution);
  Eigen::Matrix2d contradiction;
  contradiction << 0, 0, 0, 1;
  EXPECT_EQ(status_of(contradiction, Eigen::Vector2d(1, -1), 1), SolverStatus::kNoSolution);
}

TEST(LemkeGeneral, EliminatesEquationsWithoutDiagonal) {
  Eigen::MatrixXd matrix(3, 3);
  matrix << 0, 2, 1, -3, 0, 1, 1, 1, 2;
  expect_solved(matrix, Eigen::Vector3d(1, -2, -1), 2);
}

// A bridge of four diodes in one step of a circuit simulation (the file diodeBridge_mlcp of
// Siconos' tests): the equations alone do not determine the free variables, only together with the
// diodes that conduct.
TEST(LemkeGeneral, SolvesEquationsThatNeedComplementaryVariables) {
  Eigen::MatrixXd matrix(7, 7);
  matrix << 0, -0.001, 0.001, 0, 1, 0, 1,  //
      0, 0.001, -0.001, -1, 0, -1, 0,      //
      -1.0025, 0, 0, 0, 0, 10, -10,        //
      0, 0, -1, 0, 0, 0, 0,                //
      0, 1, 0, 0, 0, 0, 0,                 //
      1, 0, -1, 0, 0, 0, 0,                //
      -1, 1, 0, 0, 0, 0, 0;
  ASSERT_LT(testing::rank_of(matrix.topLeftCorner(3, 3), 1e-12), 3);
  Eigen::VectorXd q = Eigen::VectorXd::Zero(7);
  for (const double voltage : {0.9975, -0.5, 1e-6}) {
    q[2] = voltage;
    expect_solved(matrix, q, 3);
  }
}

TEST(LemkeGeneral, RowsAndColumnsOfAnyScaleAreEquilibrated) {
  Random random(8);
  for (int trial = 0; trial < 50; ++trial) {
    SCOPED_TRACE(trial);
    const int size = random.integer(2, 12);
    Eigen::MatrixXd factor(size, size);
    for (double& x : factor.reshaped()) x = random.normal();
    Eigen::MatrixXd matrix =
        factor * factor.transpose() + 0.5 * Eigen::MatrixXd::Identity(size, size);
    Eigen::VectorXd q(size);
    for (double& x : q) x = random.normal();
    const int num_free = random.integer(0, size / 2);
    const Eigen::VectorXd expected = expect_solved(matrix, q, num_free, 1e-10);
    Eigen::VectorXd rows(size), columns(size);
    for (int i = 0; i < size; ++i) {
      rows[i] = std::exp2(random.integer(-20, 20));
      columns[i] = std::exp2(random.integer(-20, 20));
    }
    matrix = rows.asDiagonal() * matrix * columns.asDiagonal();
    q = rows.asDiagonal() * q;
    StepSolution solution;
    ASSERT_EQ(LemkeSolver().solve(make_problem(matrix, q, num_free), solution).status,
              SolverStatus::kConverged);
    const Eigen::VectorXd z = columns.asDiagonal() * unknowns(solution);
    EXPECT_LE((z - expected).lpNorm<Eigen::Infinity>(),
              1e-9 * std::max(1.0, expected.lpNorm<Eigen::Infinity>()));
  }
}

// Without equations and friction there is a short cut; its answers are judged like any other.
TEST(LemkeGeneral, PlainProblemsOfAnySizeAndUnitHaveACertificate) {
  Random random(9);
  LemkeSolver solver;
  StepSolution solution;
  for (int size = 1; size <= 70; ++size) {
    SCOPED_TRACE(size);
    Eigen::MatrixXd factor(size, size);
    for (double& x : factor.reshaped()) x = random.normal();
    Eigen::VectorXd q(size), units(size);
    for (double& x : q) x = random.normal();
    for (double& x : units) x = std::exp2(random.integer(-10, 10));
    const Eigen::MatrixXd matrix =
        units.asDiagonal() *
        (factor * factor.transpose() / size + 0.1 * Eigen::MatrixXd::Identity(size, size)) *
        units.asDiagonal();
    StepProblem problem = make_problem(matrix, units.asDiagonal() * q, 0);
    ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
    EXPECT_LE(certify(problem, solution).residual(), 1e-11);
    problem.contact_bias[size - 1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kNonFinite);
  }
}

TEST(LemkeReduction, ExchangesAPairWhereTheBlockOfEquationsIsSingular) {
  MixedLcp<double> lcp;
  lcp.resize(1, 1);
  lcp.row(0)[1] = 1;  // 0 = z_1 − 2
  lcp.row(1)[0] = 1;  // y = z_0 + z_1 − 3
  lcp.row(1)[1] = 1;
  lcp.vector = {-2, -3};
  LemkeReduction<double> reduction;
  reduction.scale(lcp);
  reduction.reduce();
  EXPECT_TRUE(reduction.is_swapped(0));
  EXPECT_EQ(reduction.equations().size(), 1u);
  // With y nonbasic and zero: z_1 = 2, independent of y.
  EXPECT_EQ(reduction.reduced().vector[0], 2);
  EXPECT_EQ(reduction.reduced().row(0)[0], 0);
}

// [Fathi 1979]: Lemke's method takes 2ⁿ pivots. It may be slow, but it has to be right.
TEST(LemkeGeneral, SolvesTheExponentialExamples) {
  for (int size = 2; size <= 12; ++size) {
    Eigen::MatrixXd triangle = Eigen::MatrixXd::Identity(size, size);
    triangle.triangularView<Eigen::StrictlyLower>().setConstant(2);
    const Eigen::VectorXd q = -Eigen::VectorXd::Ones(size);
    expect_solved(triangle, q);
    expect_solved(triangle.transpose(), q);
    expect_solved(triangle * triangle.transpose(), q, 0, 1e-10);
  }
}

}  // namespace
}  // namespace stiction
