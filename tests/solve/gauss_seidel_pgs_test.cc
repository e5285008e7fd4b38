#include "stiction/solve/gauss_seidel_pgs.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

constexpr PgsVariant kVariants[] = {PgsVariant::kAllSeparate, PgsVariant::kBlockProjection,
                                    PgsVariant::kBlockTangents};

/// A particle above the floor: its contact sees W = I, for which the variants with a round section
/// are exact.
StepProblem particle(const FrictionSection& section) {
  StepProblem problem;
  problem.add_mass_block(3) = RowMatrixXd::Identity(3, 3);
  problem.block_p(0) << -2, 3, 4;
  problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = section});
  problem.contacts.add_entry(0, 3) = RowMatrixXd::Identity(3, 3);
  return problem;
}

TEST(Pgs, BlockVariantsSlideAParticleExactly) {
  for (const PgsVariant variant : {PgsVariant::kBlockProjection, PgsVariant::kBlockTangents}) {
    PgsSolver solver({.variant = variant});
    StepSolution solution;
    const SolverReport report = solver.solve(particle(FrictionSection::disc()), solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged);
    EXPECT_NEAR(solution.r[1], -0.6, 1e-14);
    EXPECT_NEAR(solution.r[2], -0.8, 1e-14);
  }
}

TEST(Pgs, SeparateRowsObeyTheBoxAndNotTheDisc) {
  PgsSolver solver({.max_iterations = 50, .variant = PgsVariant::kAllSeparate});
  StepSolution solution;
  EXPECT_EQ(solver.solve(particle(FrictionSection::box()), solution).status,
            SolverStatus::kConverged);
  EXPECT_EQ(solution.r, (std::vector<double>{2, -1, -1}));
  StepSolution other;
  EXPECT_EQ(solver.solve(particle(FrictionSection::disc()), other).status,
            SolverStatus::kMaxIterations);
  EXPECT_EQ(solver.history().change.back(), 0);  // at rest, at an answer to another question
}

/// One contact in Delassus form, with normal and tangents that move each other.
struct CoupledContact {
  double mu = 0.4;
  Eigen::Matrix3d W{{2, 0.5, -0.3}, {0.5, 1.5, 0.4}, {-0.3, 0.4, 1}};
  Eigen::Vector3d q{-2, 1.5, -1};

  StepProblem problem() const {
    StepProblem problem;
    problem.add_contact({.num_tangents = 2, .mu = mu, .section = FrictionSection::disc()});
    for (int i = 0; i < 3; ++i) {
      problem.contact_bias[i] = q[i];
      problem.coupling.add_row();
      for (int j = 0; j < 3; ++j) problem.coupling.add_entry(j, W(i, j));
    }
    return problem;
  }

  Eigen::Vector3d shortened(Eigen::Vector3d r) const {
    const double size = r.tail<2>().norm();
    if (size > mu * r[0]) r.tail<2>() *= mu * r[0] / size;
    return r;
  }
};

/// The impulse after one sweep from nothing, which must have been an improvement.
Eigen::Vector3d after_one_sweep(PgsVariant variant, const StepProblem& problem) {
  PgsSolver solver({.tolerance = 1e-14, .max_iterations = 1, .variant = variant});
  StepSolution solution;
  (void)solver.solve(problem, solution);
  EXPECT_LT(solver.history().residual[1], solver.history().residual[0]);
  return {solution.r[0], solution.r[1], solution.r[2]};
}

TEST(Pgs, SeparateRowsAreRelaxedOneByOneWithinTheBox) {
  const CoupledContact c;
  Eigen::Vector3d expected(-c.q[0] / c.W(0, 0), 0, 0);
  for (int i = 1; i < 3; ++i)
    expected[i] = std::clamp(-(c.q[i] + c.W.row(i).dot(expected)) / c.W(i, i), -c.mu * expected[0],
                             c.mu * expected[0]);
  const Eigen::Vector3d r = after_one_sweep(PgsVariant::kAllSeparate, c.problem());
  EXPECT_LE((r - expected).norm(), 1e-15);
  EXPECT_GT(r.tail<2>().norm(), c.mu * r[0]);  // in the box, outside the disc
}

TEST(Pgs, BlockProjectionSticksFirstAndShortensTheTangents) {
  const CoupledContact c;
  const Eigen::Vector3d stuck = -c.W.inverse() * c.q;
  ASSERT_GT(stuck.tail<2>().norm(), c.mu * stuck[0]);
  const Eigen::Vector3d r = after_one_sweep(PgsVariant::kBlockProjection, c.problem());
  EXPECT_LE((r - c.shortened(stuck)).norm(), 1e-14);
  EXPECT_NEAR(r[0], stuck[0], 1e-14) << "the normal impulse stays that of sticking";
}

TEST(Pgs, BlockTangentsTakesTheNormalFirst) {
  const CoupledContact c;
  Eigen::Vector3d expected(-c.q[0] / c.W(0, 0), 0, 0);
  const Eigen::Vector2d slip = c.q.tail<2>() + expected[0] * c.W.col(0).tail<2>();
  expected.tail<2>() = -c.W.bottomRightCorner<2, 2>().inverse() * slip;
  ASSERT_GT(expected.tail<2>().norm(), c.mu * expected[0]);
  const Eigen::Vector3d r = after_one_sweep(PgsVariant::kBlockTangents, c.problem());
  EXPECT_LE((r - c.shortened(expected)).norm(), 1e-14);
}

TEST(Pgs, HistoryCountsTheContactsThatChangeWhatTheyDo) {
  // Two particles above the floor, one falling and sliding, one rising: only the first changes, at
  // the first sweep, from open to slip.
  StepProblem problem;
  for (const double rise : {-2.0, 2.0}) {
    const int block = problem.num_blocks();
    problem.add_mass_block(3) = RowMatrixXd::Identity(3, 3);
    problem.block_p(block) << rise, 3, 4;
    problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = FrictionSection::disc()});
    problem.contacts.add_entry(block, 3) = RowMatrixXd::Identity(3, 3);
  }
  for (const PgsVariant variant : {PgsVariant::kBlockProjection, PgsVariant::kBlockTangents}) {
    PgsSolver solver({.variant = variant});
    StepSolution solution;
    ASSERT_EQ(solver.solve(problem, solution).iterations, 1);
    const PgsSolver::History& history = solver.history();
    // A contact that approaches counts as closed before it has an impulse.
    EXPECT_EQ(history.num_state_changes, (std::vector<int>{1, 0}));
    EXPECT_EQ(history.change[0], 0);
    EXPECT_NEAR(history.change[1], std::sqrt(5.0 * std::sqrt(3.0)), 1e-14);  // |r| = √5, size √3
    EXPECT_GT(history.residual[0], 0.1);
    EXPECT_LE(history.residual[1], 1e-14);
  }
}

TEST(Pgs, StopsByTheMeasureAskedFor) {
  const StepProblem pile = testing::sphere_grid({.mu = 0.1});
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth}) {
    PgsSolver solver({.tolerance = 1e-3, .measure = measure});
    StepSolution solution;
    ASSERT_EQ(solver.solve(pile, solution).status, SolverStatus::kConverged);
    EXPECT_LE(Acceptance(1e-3, measure).measure(pile, solution), 1e-3);
  }
}

TEST(Pgs, AllVariantsSolveFrictionlessPiles) {
  const StepProblem pile = testing::sphere_grid({.count = {3, 3, 2}, .mu = 0});
  NsgsSolver nsgs({.tolerance = 1e-12});
  StepSolution expected;
  ASSERT_EQ(nsgs.solve(pile, expected).status, SolverStatus::kConverged);
  for (const PgsVariant variant : kVariants) {
    PgsSolver solver({.tolerance = 1e-11, .max_iterations = 5000, .variant = variant});
    StepSolution solution;
    // Projecting a block that does not stick is not the solution of its law: no claim about that.
    if (variant == PgsVariant::kBlockProjection) continue;
    ASSERT_EQ(solver.solve(pile, solution).status, SolverStatus::kConverged);
    for (std::size_t i = 0; i < solution.w.size(); ++i)
      EXPECT_NEAR(solution.w[i], expected.w[i], 1e-8);
  }
}

TEST(Pgs, KeepsAHistoryOfEverySweep) {
  const StepProblem pile = testing::sphere_grid();
  for (const PgsVariant variant : kVariants) {
    PgsSolver solver({.tolerance = 1e-12, .max_iterations = 40, .variant = variant});
    StepSolution solution;
    const SolverReport report = solver.solve(pile, solution);
    const PgsSolver::History& history = solver.history();
    const std::size_t expected = report.iterations + 1;
    EXPECT_EQ(history.residual.size(), expected);
    EXPECT_EQ(history.change.size(), expected);
    EXPECT_EQ(history.num_state_changes.size(), expected);
    EXPECT_GT(history.num_state_changes[1], 0);
    EXPECT_LT(history.residual.back(), history.residual.front());
  }
}

TEST(Pgs, NeverCallsAWrongAnswerConverged) {
  for (const PgsVariant variant : kVariants) {
    PgsSolver solver({.tolerance = 1e-8, .max_iterations = 300, .variant = variant});
    int converged = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const StepProblem problem = testing::random_problem(seed);
      StepSolution solution;
      if (solver.solve(problem, solution).status != SolverStatus::kConverged) continue;
      ++converged;
      EXPECT_LE(certify(problem, solution).residual(), 1e-8) << "seed " << seed;
    }
    EXPECT_GT(converged, 20);
  }
}

TEST(Pgs, StartsWarmAndRefusesBadOptions) {
  const StepProblem problem = particle(FrictionSection::disc());
  PgsSolver solver;
  StepSolution solution;
  (void)solver.solve(problem, solution);
  EXPECT_EQ(solver.solve(problem, solution).iterations, 0);
  EXPECT_THROW(PgsSolver({.tolerance = -1}), InputError);
  EXPECT_THROW(PgsSolver({.max_iterations = -1}), InputError);
}

TEST(Pgs, ReportsNumbersThatAreNot) {
  StepProblem problem = particle(FrictionSection::disc());
  problem.p[0] = std::nan("");
  StepSolution solution;
  EXPECT_EQ(PgsSolver().solve(problem, solution).status, SolverStatus::kNonFinite);
}

}  // namespace
}  // namespace stiction
