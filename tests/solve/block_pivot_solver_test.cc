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

// Two opposite joints on one coordinate may be tensed against each other without limit.
TEST(BlockPivot, RedundantJointsCarryNoSelfStress) {
  StepProblem problem;
  problem.add_mass_block(2) = Eigen::Matrix2d::Identity();
  problem.block_p(0) = Eigen::Vector2d(0.3, -0.1);
  for (const double sign : {1.0, -1.0, 1.0 / 3}) {
    problem.add_bilateral_row({});
    problem.bilateral.add_entry(0, 2) = sign * Eigen::RowVector2d(0.7, 0.1);
  }
  const StepSolution s = solve(problem);
  for (const double lambda : s.lambda) EXPECT_LE(std::abs(lambda), 1);
}

TEST(BlockPivot, ContradictingJointsAreNotSolved) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  for (const double bias : {0.0, 1.0}) {
    problem.add_bilateral_row({.bias = bias});
    problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  }
  EXPECT_NE(status_of(problem), SolverStatus::kConverged);
}

/// w = M z + q with 0 ≤ z ⊥ w ≥ 0.
StepProblem make_lcp(const Eigen::MatrixXd& matrix, const Eigen::VectorXd& q) {
  StepProblem problem;
  for (int i = 0; i < q.size(); ++i) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
    problem.contact_bias[i] = q[i];
    problem.coupling.add_row();
    for (int j = 0; j < q.size(); ++j) problem.coupling.add_entry(j, matrix(i, j));
  }
  return problem;
}

TEST(BlockPivot, JudgesByTheMeasureAskedFor) {
  const StepProblem problem = make_lcp(Eigen::Matrix2d{{2, 1}, {1, 2}}, Eigen::Vector2d(-5, -6));
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth}) {
    BlockPivotSolver solver({.tolerance = 1e-12, .measure = measure});
    StepSolution solution;
    ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
    EXPECT_LE(Acceptance(1e-12, measure).measure(problem, solution), 1e-12);
  }
}

// Outside the P matrices: a zero diagonal, a singular matrix with a segment of solutions, and one
// without any.
TEST(BlockPivot, SolvesGeneralLcpsOrSaysSo) {
  const StepSolution program = solve(
      make_lcp(Eigen::Matrix4d{{11, 0, 10, -1}, {0, 11, 10, -1}, {10, 10, 21, -1}, {1, 1, 1, 0}},
               Eigen::Vector4d(50, 50, 10, -6)));
  EXPECT_NEAR(program.r[0] + program.r[1] + program.r[2], 6, kTight * 10);
  const StepSolution segment = solve(make_lcp(Eigen::Matrix2d::Ones(), Eigen::Vector2d(-1, -1)));
  EXPECT_NEAR(segment.r[0] + segment.r[1], 1, kTight);
  EXPECT_NE(status_of(make_lcp(-Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1, -1))),
            SolverStatus::kConverged);
}

TEST(BlockPivot, ToleranceThatCannotBeReachedIsNotCalledConverged) {
  const StepProblem problem = random_problem(3, {.allow_spatial = false});
  BlockPivotSolver solver({.tolerance = 1e-300});
  StepSolution solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_NE(report.status, SolverStatus::kConverged);
  EXPECT_TRUE(report.has_answer);
  EXPECT_LE(certify(problem, solution).residual(), 1e-10);
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

struct Family {
  double mu_max;
  bool is_spatial;  // with boxes, else planar
};

// With friction nothing is promised but honesty: a converged answer is one.
TEST(BlockPivot, NeverCallsAWrongAnswerConverged) {
  BlockPivotSolver solver;
  StepSolution solution;
  for (const Family family : {Family{0.6, false}, Family{2, false}, Family{0.6, true}}) {
    int num_converged = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      SCOPED_TRACE(seed);
      StepProblem problem = random_problem(seed, {.max_contacts = 12,
                                                  .max_bilateral = 4,
                                                  .mu_max = family.mu_max,
                                                  .mass_ratio_max = 1e4,
                                                  .allow_spatial = family.is_spatial});
      for (FrictionSection& section : problem.section) section = FrictionSection::box();
      if (solver.solve(problem, solution).status != SolverStatus::kConverged) continue;
      ++num_converged;
      EXPECT_LE(certify(problem, solution).residual(), 1e-10);
    }
    EXPECT_GE(num_converged, 290);  // 300 when this was written
  }
}

TEST(BlockPivot, SameBitsWhateverWasSolvedBefore) {
  BlockPivotSolver used;
  StepSolution a, b;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem = random_problem(seed, {.max_contacts = 10, .allow_spatial = false});
    ASSERT_EQ(used.solve(problem, a).iterations, BlockPivotSolver().solve(problem, b).iterations);
    EXPECT_EQ(a.w, b.w);
    EXPECT_EQ(a.r, b.r);
    EXPECT_EQ(a.lambda, b.lambda);
  }
}

}  // namespace
}  // namespace stiction
