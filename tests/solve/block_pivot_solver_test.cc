#include "stiction/solve/block_pivot_solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "stiction/base/error.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

using testing::random_problem;

// A few roundings; the closed forms below have entries of about one.
constexpr double kTight = 1e-13;

StepSolution solve(const StepProblem& problem) {
  BlockPivotSolver solver;
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_TRUE(certify(problem, solution).meets(1e-10));
  return solution;
}

SolverStatus status_of(const StepProblem& problem) {
  StepSolution solution;
  return BlockPivotSolver().solve(problem, solution).status;
}

/// A particle on the plane: normal along y, tangent along x.
StepProblem particle(double mass, double px, double py, double mu) {
  StepProblem problem;
  problem.add_mass_block(2) = mass * Eigen::Matrix2d::Identity();
  problem.block_p(0) = Eigen::Vector2d(px, py);
  problem.add_contact({.num_tangents = 1, .mu = mu, .section = {}});
  problem.contacts.add_entry(0, 2) = Eigen::Matrix2d{{0, 1}, {1, 0}};
  return problem;
}

TEST(BlockPivot, EmptyProblemIsSolved) {
  StepProblem problem;
  EXPECT_EQ(status_of(problem), SolverStatus::kConverged);
}

TEST(BlockPivot, BlockOnInclineSticksUpToTheFrictionAngle) {
  const double mu = 0.5, mass = 2, gh = 0.3;
  for (int degrees = 1; degrees < 90; ++degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    const StepSolution s =
        solve(particle(mass, mass * gh * std::sin(angle), -mass * gh * std::cos(angle), mu));
    const double sliding = gh * (std::sin(angle) - mu * std::cos(angle));
    EXPECT_NEAR(s.w[0], std::tan(angle) <= mu ? 0 : sliding, kTight) << degrees;
    EXPECT_NEAR(s.w[1], 0, kTight);
  }
}

TEST(BlockPivot, BoundedRowGivesAtMostItsBound) {
  const double bound = 0.75, mass = 2;
  for (const double p : {-3.0, -0.75, -0.5, 0.0, 0.3, 0.75, 2.0}) {
    StepProblem problem;
    problem.add_mass_block(1)(0, 0) = mass;
    problem.p[0] = p;
    problem.add_bilateral_row({.lower = -bound, .upper = bound});
    problem.bilateral.add_entry(0, 1)(0, 0) = 1;
    const StepSolution s = solve(problem);
    EXPECT_NEAR(s.lambda[0], std::clamp(-p, -bound, bound), kTight);
  }
}

TEST(BlockPivot, RedundantRowsAreRegularisedAway) {
  StepProblem problem = particle(1, 0.1, -1, 0.5);
  for (int i = 0; i < 3; ++i) {
    problem.add_contact({.num_tangents = 1, .mu = 0.5, .section = {}});
    problem.contacts.add_entry(0, 2) = Eigen::Matrix2d{{0, 1}, {1, 0}};
  }
  const StepSolution s = solve(problem);
  EXPECT_NEAR(s.w[0], 0, 1e-10);
  EXPECT_NEAR(s.w[1], 0, 1e-10);
}

TEST(BlockPivot, RefusesPolygonsAndDiscsWithTwoTangents) {
  for (const FrictionSection section : {FrictionSection::disc(), FrictionSection::polygon(8)}) {
    StepProblem problem;
    problem.add_mass_block(3) = Eigen::Matrix3d::Identity();
    problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = section});
    problem.contacts.add_entry(0, 3) = Eigen::Matrix3d::Identity();
    EXPECT_EQ(status_of(problem), SolverStatus::kUnsupported);
    problem.section[0] = FrictionSection::box();
    EXPECT_EQ(status_of(problem), SolverStatus::kConverged);
  }
}

TEST(BlockPivot, RefusesWhatIsNotFinite) {
  StepProblem problem = particle(1, 0, -1, 0.5);
  problem.p[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(status_of(problem), SolverStatus::kNonFinite);
}

TEST(BlockPivot, BadOptionsAreInputErrors) {
  EXPECT_THROW(BlockPivotSolver({.max_outer = 0}), InputError);
  EXPECT_THROW(BlockPivotSolver({.tolerance = -1}), InputError);
}

StepProblem frictionless(std::uint64_t seed) {
  StepProblem problem = random_problem(seed, {.max_contacts = 15, .mass_ratio_max = 100});
  for (double& mu : problem.mu) mu = 0;
  return problem;
}

// Positive semidefinite: the method has to end, and the motion is unique.
TEST(BlockPivot, SolvesRandomFrictionlessProblemsLikeLemke) {
  LemkeSolver lemke;
  BlockPivotSolver pivot;
  StepSolution a, b;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const StepProblem problem = frictionless(seed);
    ASSERT_EQ(lemke.solve(problem, a).status, SolverStatus::kConverged);
    ASSERT_EQ(pivot.solve(problem, b).status, SolverStatus::kConverged);
    EXPECT_LE(certify(problem, b).residual(), 1e-9);
  }
}

// With friction nothing is promised but honesty: a converged answer is one.
TEST(BlockPivot, NeverCallsAWrongAnswerConverged) {
  BlockPivotSolver solver;
  StepSolution solution;
  int num_converged = 0, num_tried = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const StepProblem problem = random_problem(seed, {.max_contacts = 12,
                                                      .max_bilateral = 4,
                                                      .mu_max = 0.6,
                                                      .mass_ratio_max = 100,
                                                      .allow_spatial = false});
    ++num_tried;
    if (solver.solve(problem, solution).status != SolverStatus::kConverged) continue;
    ++num_converged;
    EXPECT_LE(certify(problem, solution).residual(), 1e-9);
  }
  RecordProperty("num_converged", num_converged);
  EXPECT_GT(num_converged, num_tried * 3 / 4);
}

}  // namespace
}  // namespace stiction
