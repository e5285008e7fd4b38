// The solver's own measure against the certificate, with which it shares no code.
#include "stiction/solve/gauss_seidel_residual.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/problem/cone_projection.h"
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

TEST(GaussSeidelResidual, IsAtLeastTheCertificateAndOfTheSameSize) {
  Random random(9);
  GaussSeidelResidual judge;
  ContactBlocks blocks;
  SweepState state;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const StepProblem problem = testing::random_problem(seed);
    StepSolution solution;
    solution.resize(problem);
    for (double& x : solution.lambda) x = random.normal();
    for (double& x : solution.r) x = random.normal();
    ASSERT_TRUE(blocks.assemble(problem));
    state.start(blocks, solution, true);
    judge.prepare(problem, blocks);
    const Residual residual = judge.evaluate(blocks, state.x(), state.u(), state.w());
    const std::vector<double> x(state.x(), state.x() + problem.num_rows());
    state.store(blocks, x, solution);
    const Certificate certificate = certify(problem, solution);
    const double expected = std::max(certificate.bilateral, certificate.cone);
    // Nonsymmetric mass makes 1/ω larger here, by up to 1 + (skew part)² of the mass.
    EXPECT_GE(residual.relative, 0.5 * expected) << "seed " << seed;
    if (std::isfinite(expected)) {
      EXPECT_LE(residual.relative, 50 * expected) << "seed " << seed;
    }
    EXPECT_LE(certificate.momentum, 1e-11) << "seed " << seed;
  }
}

TEST(GaussSeidelResidual, OfNumbersThatAreNotIsInfinite) {
  const StepProblem problem = testing::random_problem(3);
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SweepState state;
  state.start(blocks, {}, false);
  GaussSeidelResidual judge;
  judge.prepare(problem, blocks);
  state.x()[0] = std::nan("");
  const Residual residual = judge.evaluate(blocks, state.x(), state.u(), state.w());
  EXPECT_TRUE(std::isinf(residual.relative) && std::isinf(residual.unit));
}

}  // namespace
}  // namespace stiction
