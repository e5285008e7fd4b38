// The residual that drives the solvers has to say what the judges will say of the answer.
#include <gtest/gtest.h>

#include <cmath>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/friction_blocks.h"
#include "tests/solve/disc_problem.h"

namespace stiction {
namespace {

/// Compares residual and judge at impulses that are no solution, by the ratio of the two.
void expect_agreement(const StepProblem& problem, StoppingMeasure measure, double least,
                      double most, std::uint64_t seed) {
  FrictionBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem, measure));
  Random random(seed);
  VectorXd x(blocks.num_rows());
  KeptVector u;
  const double size = 0.1 + blocks.q.cwiseAbs().maxCoeff();
  for (double& impulse : x) impulse = size * random.normal();
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    double inside[3] = {};
    const int row = blocks.W.row_start[i];
    blocks.project(i, x.data() + row, inside);
    for (int k = 0; k < blocks.size(i); ++k) x[row + k] = inside[k];
  }
  blocks.compute_velocity(x, u);
  StepSolution solution;
  blocks.write_solution(problem, x, solution);
  // (T23) is left to the judge.
  const Certificate certificate = certify(problem, solution);
  const double judged = measure == StoppingMeasure::kCertificate
                            ? std::max(certificate.bilateral, certificate.cone)
                            : Acceptance(0, measure).measure(problem, solution);
  const double own = blocks.residual(x, u);
  if (!std::isfinite(judged)) return;
  EXPECT_GE(own, least * judged) << seed;
  EXPECT_LE(own, most * judged + 1e-13) << seed;
}

TEST(FrictionBlocksResidual, IsThePublishedErrorOfCondensedProblems) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    expect_agreement(testing::condensed_problem(
                         seed, {.num_contacts = 6, .rank = 10, .mu_max = 1, .scale_ratio = 100}),
                     StoppingMeasure::kPublished, 1 - 1e-9, 1 + 1e-9, seed);
}

// The background of (T22) is estimated from below where impulses cancel: at most the residual is
// too strict, by no more than a factor of two as long as impulses are not tiny.
TEST(FrictionBlocksResidual, IsTheCertificateOfCondensedProblems) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    expect_agreement(testing::condensed_problem(
                         seed, {.num_contacts = 6, .rank = 10, .mu_max = 1, .scale_ratio = 100}),
                     StoppingMeasure::kCertificate, 1 - 1e-9, 2, seed);
}

TEST(FrictionBlocksResidual, IsTheCertificateOfMechanicalProblemsWithSymmetricMass) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem =
        testing::disc_problem(seed, {.mass_ratio_max = 100, .allow_strange_units = false});
    bool is_symmetric = true;
    for (int b = 0; b < problem.num_blocks(); ++b)
      is_symmetric =
          is_symmetric && problem.mass_block(b).isApprox(problem.mass_block(b).transpose(), 1e-12);
    if (is_symmetric) expect_agreement(problem, StoppingMeasure::kCertificate, 0.99, 3, seed);
  }
}

TEST(FrictionBlocksResidual, IsTheLargerOfBothMeasures) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem = testing::condensed_problem(seed, {.num_contacts = 6, .rank = 10});
    VectorXd x;
    KeptVector u;
    double residual[3] = {};
    int k = 0;
    for (const auto measure :
         {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth}) {
      FrictionBlocks blocks;
      ASSERT_TRUE(blocks.assemble(problem, measure));
      x = VectorXd::Constant(blocks.num_rows(), 0.1);
      blocks.compute_velocity(x, u);
      residual[k++] = blocks.residual(x, u);
    }
    EXPECT_EQ(residual[2], std::max(residual[0], residual[1]));
  }
}

TEST(FrictionBlocksResidual, IsInfiniteForNumbersThatAreNot) {
  const StepProblem problem = testing::condensed_problem(1, {.num_contacts = 2, .rank = 6});
  FrictionBlocks blocks;
  for (const auto measure : {StoppingMeasure::kCertificate, StoppingMeasure::kPublished}) {
    ASSERT_TRUE(blocks.assemble(problem, measure));
    VectorXd x = VectorXd::Constant(blocks.num_rows(), std::nan("")), u = x;
    EXPECT_TRUE(std::isinf(blocks.residual(x, u)));
  }
}

TEST(FrictionBlocksResidual, SurvivesTheWayToTheUnitsOfTheProblemAndBack) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem = testing::disc_problem(seed);
    FrictionBlocks blocks;
    ASSERT_TRUE(blocks.assemble(problem));
    const VectorXd x = VectorXd::LinSpaced(blocks.num_rows(), 1, 2);
    StepSolution solution;
    blocks.write_solution(problem, x, solution);
    KeptVector again;
    blocks.read_solution(problem, solution, again);
    EXPECT_LE((again - x).cwiseAbs().maxCoeff(), 1e-14) << seed;
  }
}

}  // namespace
}  // namespace stiction
