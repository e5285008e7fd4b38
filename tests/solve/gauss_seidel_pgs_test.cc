#include "stiction/solve/gauss_seidel_pgs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/base/error.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

constexpr PgsVariant kVariants[] = {PgsVariant::kAllSeparate, PgsVariant::kBlockProjection,
                                    PgsVariant::kBlockTangents};

/// Particles in a chain above a floor: their contacts see W = c I, for which all variants with a
/// round section are exact.
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
      EXPECT_LE(certify(problem, solution).residual(), 2e-8) << "seed " << seed;
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
