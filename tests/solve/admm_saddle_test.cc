// The two forms of the equations of motion are the same equations: solves, velocities and residuals
// agree, and what ADMM makes of them too.
#include "stiction/solve/admm_saddle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stiction/base/random.h"
#include "stiction/solve/admm_solver.h"
#include "tests/dense_algebra.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/saddle_ldlt_problems.h"

namespace stiction {
namespace {

bool is_symmetric(const StepProblem& problem) {
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (!problem.mass_block(b).isApprox(problem.mass_block(b).transpose(), 1e-12)) return false;
  return true;
}

/// n blocks with three contacts each on one plate that hangs on a hinge.
StepProblem loaded_plate(int num_blocks) {
  testing::MechanismMaker maker({.mu = 0.4});
  maker.add_body({0, 0, 0});
  maker.add_joint(0, -1);
  for (int i = 0; i < num_blocks; ++i) {
    const double x = i % 10, y = i / 10;
    const int block = maker.add_body({x, y, 1});
    maker.add_contact(block, 0, {x + 0.4, y, 0.5});
    maker.add_contact(block, 0, {x - 0.2, y + 0.3, 0.5});
    maker.add_contact(block, 0, {x - 0.2, y - 0.3, 0.5});
  }
  return maker.problem();
}

MatrixXd dense(const BlockMatrix& W) {
  MatrixXd result = MatrixXd::Zero(W.num_rows(), W.num_rows());
  for (int i = 0; i < W.num_blocks(); ++i)
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e) {
      const int j = W.entry_block[e];
      result.block(W.row_start[i], W.row_start[j], W.size(i), W.size(j)) = W.entry(i, e);
    }
  return result;
}

VectorXd random_vector(int size, std::uint64_t seed) {
  Random random(seed);
  VectorXd x(size);
  for (double& value : x) value = random.normal();
  return x;
}

/// Rows of both forms, and x ← (W + D)⁻¹x and u = W x + q against dense matrices.
void expect_same_equations(const StepProblem& problem, std::uint64_t seed) {
  FrictionBlocks blocks;
  AdmmSaddle saddle;
  ASSERT_TRUE(blocks.assemble(problem));
  ASSERT_TRUE(saddle.assemble(problem, StoppingMeasure::kCertificate));
  const FrictionBlocks& rows = saddle.rows();
  const int n = blocks.num_rows();
  ASSERT_EQ(rows.num_rows(), n);
  EXPECT_EQ(rows.kind, blocks.kind);
  for (int row = 0; row < n; ++row) EXPECT_NEAR(rows.scale[row] / blocks.scale[row], 1, 1e-12);
  EXPECT_LE((rows.q - blocks.q).norm(), 1e-12 * blocks.q.norm());
  const VectorXd x = random_vector(n, seed);
  KeptVector u, expected_u;
  saddle.compute_velocity(x, u);
  blocks.compute_velocity(x, expected_u);
  EXPECT_LE((u - expected_u).norm(), 1e-12 * (x.norm() + expected_u.norm()));
  const MatrixXd W = dense(blocks.W);
  for (const double rho : {1e-2, 1.0}) {
    std::vector<double> D(n, rho + 1e-6);
    for (int i = 0; i < problem.num_bilateral(); ++i)
      if (blocks.kind[i] == FrictionBlocks::Kind::kFree) D[i] = 1e-6;
    ASSERT_TRUE(saddle.factor(D));
    const MatrixXd S = W + MatrixXd(ConstVectorMap(D.data(), n).asDiagonal());
    const VectorXd expected = testing::solve_dense(S, x);
    VectorXd solved = x;
    saddle.solve(solved);
    // The condition is at most ‖W‖/1e-6 with joints and ‖W‖/ρ without; ‖W‖ is at most n here.
    EXPECT_LE((solved - expected).norm(), 1e-8 * expected.norm());
    solved = x;
    saddle.solve(solved);  // goes on from the last solution
    EXPECT_LE((S * solved - x).norm(), 1e-12 * (x.norm() + n * solved.norm()));
  }
}

TEST(AdmmSaddle, IsTheDelassusMatrixOnRandomProblems) {
  int num_taken = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StepProblem problem = testing::disc_problem(seed, {.allow_strange_units = false});
    if (!is_symmetric(problem)) continue;
    expect_same_equations(problem, seed);
    ++num_taken;
  }
  EXPECT_GT(num_taken, 80);
}

TEST(AdmmSaddle, IsTheDelassusMatrixOfMechanisms) {
  for (const double ratio : {1.0, 1e8}) {
    expect_same_equations(testing::make_chain(10, {.mass_ratio = ratio}), 1);
    expect_same_equations(testing::make_wall(3, 3, {.mass_ratio = ratio}), 2);
    expect_same_equations(testing::make_net(3, 3, {.mass_ratio = ratio, .compliance = 1e-3}), 3);
  }
  expect_same_equations(loaded_plate(8), 4);
}

TEST(AdmmSaddle, LeavesOutBodiesThatNoRowTouches) {
  StepProblem problem = testing::make_wall(2, 2);
  for (int i = 0; i < 5; ++i) {
    problem.add_mass_block(3) = RowMatrixXd::Identity(3, 3);
    problem.p.back() = 1;
  }
  expect_same_equations(problem, 1);
  AdmmSolver solver({.form = AdmmForm::kSaddle});
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_EQ(solution.w.back(), 1);
}

// It may be stricter, but not by much where the certificate decides.
TEST(AdmmSaddle, MeasuresWhatTheBlocksMeasure) {
  for (const StoppingMeasure measure : {StoppingMeasure::kCertificate, StoppingMeasure::kPublished})
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const StepProblem problem = testing::disc_problem(seed, {.allow_strange_units = false});
      if (!is_symmetric(problem)) continue;
      FrictionBlocks blocks;
      AdmmSaddle saddle;
      ASSERT_TRUE(blocks.assemble(problem, measure));
      ASSERT_TRUE(saddle.assemble(problem, measure));
      const VectorXd x = random_vector(blocks.num_rows(), seed);
      KeptVector u;
      blocks.compute_velocity(x, u);
      const double expected = blocks.residual(x, u), measured = saddle.measure(x);
      if (std::isinf(measured)) continue;  // a row that nothing moves and that does not hold
      EXPECT_LE(measured, 2 * expected) << seed;
      EXPECT_GE(measured, 0.5 * expected) << seed;
    }
}

TEST(AdmmSaddle, RefusesWhatOnlyTheDelassusMatrixCanSay) {
  AdmmSaddle saddle;
  EXPECT_FALSE(saddle.assemble(testing::condensed_problem(1, {}), StoppingMeasure::kCertificate));
  StepProblem problem = testing::make_wall(2, 2);
  problem.mass_values[1] += 0.1;
  EXPECT_FALSE(saddle.assemble(problem, StoppingMeasure::kCertificate));
  problem = testing::make_wall(2, 2);
  problem.section[3] = FrictionSection::polygon(4);
  EXPECT_FALSE(saddle.assemble(problem, StoppingMeasure::kCertificate));
}

TEST(AdmmSaddle, TakesBoxAndPolygonWithOneTangent) {
  StepProblem problem = testing::make_wall(3, 2, {.num_tangents = 1});
  problem.section[0] = FrictionSection::box();
  problem.section[1] = FrictionSection::polygon(6);
  AdmmSolver solver({.form = AdmmForm::kSaddle});
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_EQ(solver.form(), AdmmForm::kSaddle);
}

// Nothing moves the last contact, and it closes: no solution, but the others have their impulses.
TEST(AdmmSaddle, AdmitsThatAContactWhichNothingMovesCannotHold) {
  StepProblem problem = testing::make_wall(2, 2);
  problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = {}});
  problem.contact_bias[problem.num_contact_rows() - 3] = -1;
  for (const AdmmForm form : {AdmmForm::kSaddle, AdmmForm::kDelassus}) {
    AdmmSolver solver({.tolerance = 1e-4, .max_iterations = 200, .form = form});
    StepSolution solution;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kMaxIterations);
    EXPECT_GT(solution.r[0] + solution.r[3], 0);
  }
}

TEST(AdmmSaddle, SaysSoWhenANumberIsNotFinite) {
  for (const AdmmForm form : {AdmmForm::kSaddle, AdmmForm::kDelassus}) {
    StepProblem problem = testing::make_wall(2, 2);
    problem.contact_bias[4] = std::nan("");
    AdmmSolver solver({.max_iterations = 50, .form = form});
    StepSolution solution;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kNonFinite);
    EXPECT_TRUE(solution.is_finite());
  }
}

TEST(AdmmSaddle, NeedsMemoryLinearInTheContactsOfOneBody) {
  const auto num_numbers = [](int num_blocks) {
    const StepProblem problem = loaded_plate(num_blocks);
    AdmmSaddle saddle;
    EXPECT_TRUE(saddle.assemble(problem, StoppingMeasure::kCertificate));
    EXPECT_TRUE(saddle.factor(std::vector<double>(problem.num_rows(), 0.1)));
    return static_cast<double>(saddle.num_factor_entries());
  };
  EXPECT_NEAR(num_numbers(400) / num_numbers(200), 2, 0.05);
}

TEST(AdmmSaddle, IsChosenForLargeProblemsOfManyContactsPerBody) {
  AdmmSolver solver({.tolerance = 1e-3});
  const auto chosen = [&solver](const StepProblem& problem) {
    StepSolution solution;
    (void)solver.solve(problem, solution);
    return solver.form();
  };
  EXPECT_EQ(chosen(loaded_plate(60)), AdmmForm::kSaddle);
  EXPECT_EQ(chosen(testing::make_wall(6, 6)), AdmmForm::kSaddle);
  EXPECT_EQ(chosen(testing::make_wall(2, 2)), AdmmForm::kDelassus);
  EXPECT_EQ(chosen(testing::condensed_problem(1, {})), AdmmForm::kDelassus);
  StepProblem problem = loaded_plate(60);
  problem.mass_values[1] += 0.1;  // no longer symmetric
  EXPECT_EQ(chosen(problem), AdmmForm::kDelassus);
}

}  // namespace
}  // namespace stiction
