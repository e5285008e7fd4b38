// The solvers' own measures against the certificate and the published errors, with which they share
// no code.
#include "stiction/solve/gauss_seidel_residual.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/problem/cone_projection.h"
#include "stiction/problem/published_error.h"
#include "stiction/solve/gauss_seidel_projection.h"
#include "stiction/solve/gauss_seidel_state.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

const FrictionSection kSections[] = {FrictionSection::disc(), FrictionSection::box(),
                                     FrictionSection::polygon(4), FrictionSection::polygon(6),
                                     FrictionSection::polygon(32)};

OneContact unit_contact(int dim, double mu, const PolygonTable* table) {
  double W[9] = {};
  for (int i = 0; i < dim; ++i) W[i * dim + i] = 1;
  OneContact contact;
  contact.prepare(W, dim, mu, table);
  return contact;
}

TEST(ProjectOnCone, AgreesWithTheProjectionOfTheCertificate) {
  Random random(5);
  for (const FrictionSection& section : kSections) {
    const bool is_disc = section.kind == FrictionSection::Kind::kDisc;
    const PolygonTable table(is_disc ? FrictionSection::box() : section);
    for (int trial = 0; trial < 5000; ++trial) {
      const int dim = random.integer(1, 3);
      const double mu = random.chance(0.1) ? 0 : random.uniform(0, 3);
      const OneContact contact = unit_contact(dim, mu, dim == 3 && !is_disc ? &table : nullptr);
      const FrictionCone cone{dim - 1, mu, section};
      Eigen::Vector3d z = Eigen::Vector3d::Zero(), projected = z;
      for (int i = 0; i < dim; ++i) z[i] = random.chance(0.1) ? 0 : random.normal();
      project_on_cone(contact, z.data(), projected.data());
      EXPECT_LE((projected - cone.project(z)).norm(), 1e-14 * (1 + z.norm()))
          << to_text(section) << " trial " << trial;
      EXPECT_NEAR(support_against(contact, z.data()), cone.support_against(z), 1e-14 * z.norm())
          << to_text(section) << " trial " << trial;
    }
  }
}

/// Random impulses, with velocities that belong to them.
StepSolution random_state(const StepProblem& problem, Random& random, ContactBlocks& blocks,
                          SweepState& state) {
  StepSolution solution;
  solution.resize(problem);
  for (double& x : solution.lambda) x = random.normal();
  for (double& x : solution.r) x = random.normal();
  EXPECT_TRUE(blocks.assemble(problem));
  state.start(blocks, solution, true);
  state.store(blocks, solution);
  return solution;
}

TEST(GaussSeidelResidual, IsAtLeastTheCertificateAndOfTheSameSize) {
  Random random(9);
  GaussSeidelResidual judge;
  ContactBlocks blocks;
  SweepState state;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const StepProblem problem = testing::random_problem(seed);
    const StepSolution solution = random_state(problem, random, blocks, state);
    judge.prepare(problem, blocks, StoppingMeasure::kCertificate);
    const double residual = judge.evaluate(blocks, state);
    const double impulses = judge.evaluate_impulses(blocks, state);
    const Certificate certificate = certify(problem, solution);
    const double expected = std::max(certificate.bilateral, certificate.cone);
    if (!std::isfinite(expected)) continue;  // a contact that nothing moves, with an impulse
    // Nonsymmetric mass makes 1/ω larger here, by up to 1 + (skew part)² of the mass; errors of the
    // motion are squared.
    EXPECT_GE(impulses, 0.5 * expected) << "seed " << seed;
    EXPECT_LE(impulses, 50 * expected) << "seed " << seed;
    EXPECT_GE(residual, 0.25 * certificate.residual()) << "seed " << seed;
    EXPECT_LE(residual, 2500 * certificate.residual()) << "seed " << seed;
    EXPECT_LE(certificate.momentum, 1e-11) << "seed " << seed;
  }
}

/// A problem without bodies: friction with tangents, otherwise an LCP, with equations an MLCP.
StepProblem condensed_problem(Random& random, bool has_tangents, bool has_equations) {
  StepProblem problem;
  for (int i = 0; has_equations && i < 3; ++i) problem.add_bilateral_row({.bias = random.normal()});
  for (int j = 0; j < 6; ++j)
    problem.add_contact({.num_tangents = has_tangents ? random.integer(1, 2) : 0,
                         .mu = has_tangents ? random.uniform(0, 1) : 0,
                         .section = kSections[random.integer(0, 4)]});
  for (double& b : problem.contact_bias) b = random.normal();
  for (int i = 0; i < problem.num_rows(); ++i) {
    problem.coupling.add_row();
    for (int j = 0; j < problem.num_rows(); ++j)
      problem.coupling.add_entry(j, random.normal() + (i == j ? 4 : 0));
  }
  return problem;
}

TEST(GaussSeidelResidual, IsThePublishedErrorOfEveryKindOfProblem) {
  Random random(10);
  GaussSeidelResidual judge;
  ContactBlocks blocks;
  SweepState state;
  const auto expect_same = [&](const StepProblem& problem) {
    const StepSolution solution = random_state(problem, random, blocks, state);
    judge.prepare(problem, blocks, StoppingMeasure::kPublished);
    const double expected = compute_published_error(collection_kind(problem), problem, solution);
    EXPECT_NEAR(judge.evaluate(blocks, state), expected, 1e-10 * expected);
  };
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    expect_same(testing::random_problem(seed, {.allow_strange_units = false}));
  for (const bool has_tangents : {true, false})
    for (const bool has_equations : {true, false})
      for (int trial = 0; trial < 50; ++trial)
        expect_same(condensed_problem(random, has_tangents, has_equations));
}

TEST(GaussSeidelResidual, OfBothMeasuresIsTheWorse) {
  Random random(11);
  ContactBlocks blocks;
  SweepState state;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const StepProblem problem = testing::random_problem(seed);
    (void)random_state(problem, random, blocks, state);
    const auto residual = [&](StoppingMeasure measure) {
      GaussSeidelResidual judge;
      judge.prepare(problem, blocks, measure);
      return judge.evaluate(blocks, state);
    };
    EXPECT_EQ(residual(StoppingMeasure::kBoth), std::max(residual(StoppingMeasure::kCertificate),
                                                         residual(StoppingMeasure::kPublished)));
  }
}

TEST(GaussSeidelResidual, OfNumbersThatAreNotIsInfinite) {
  const StepProblem problem = testing::random_problem(3);
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SweepState state;
  state.start(blocks, {}, false);
  state.x()[0] = std::nan("");
  EXPECT_FALSE(state.is_finite());
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth}) {
    GaussSeidelResidual judge;
    judge.prepare(problem, blocks, measure);
    EXPECT_TRUE(std::isinf(judge.evaluate(blocks, state)));
  }
}

}  // namespace
}  // namespace stiction
