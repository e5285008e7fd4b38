// The layout for sweeps against the dense Delassus matrix, which is assembled by other code.
#include "stiction/solve/contact_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/solve/delassus.h"
#include "stiction/solve/gauss_seidel_state.h"
#include "stiction/solve/gauss_seidel_sweep.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

/// A random problem with a sparse coupling K on top of its bodies.
StepProblem coupled_problem(std::uint64_t seed) {
  StepProblem problem = testing::random_problem(seed, {.allow_strange_units = false});
  Random random(seed);
  if (random.chance(0.3)) return problem;
  const int n = problem.num_rows();
  for (int i = 0; i < n; ++i) {
    problem.coupling.add_row();
    for (int j = 0; j < n; ++j)
      if (random.chance(0.2)) problem.coupling.add_entry(j, random.normal());
  }
  return problem;
}

std::vector<double> row_velocities(const StepProblem& problem, const ContactBlocks& blocks,
                                   SweepState& state) {
  std::vector<double> out(problem.num_rows());
  for (int i = 0; i < blocks.num_units(); ++i) {
    double* target = out.data() + blocks.unit(i).row;
    switch (blocks.unit(i).dim) {
      case 1:
        compute_unit_velocity<1>(blocks, i, state.u(), state.w(), target);
        break;
      case 2:
        compute_unit_velocity<2>(blocks, i, state.u(), state.w(), target);
        break;
      default:
        compute_unit_velocity<3>(blocks, i, state.u(), state.w(), target);
    }
  }
  return out;
}

class ContactBlocksTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    problem_ = coupled_problem(GetParam());
    ASSERT_TRUE(blocks_.assemble(problem_));
    ASSERT_TRUE(delassus_.factor_mass(problem_));
    delassus_.assemble(problem_);
    Random random(GetParam() + 1000);
    StepSolution start;
    start.resize(problem_);
    for (double& x : start.lambda) x = random.normal();
    for (double& x : start.r) x = random.normal();
    state_.start(blocks_, start, true);
  }

  StepProblem problem_;
  ContactBlocks blocks_;
  Delassus<double> delassus_;
  SweepState state_;
};

TEST_P(ContactBlocksTest, GivesTheVelocitiesOfTheDelassusMatrix) {
  const int n = problem_.num_rows();
  std::vector<double> at_rest, magnitude;
  std::vector<long double> zero(n, 0.0L), w;
  delassus_.compute_velocity(problem_, zero, w);
  delassus_.compute_row_velocity(problem_, zero, w, at_rest, magnitude);
  const std::vector<double> u = row_velocities(problem_, blocks_, state_);
  for (int i = 0; i < n; ++i) {
    double expected = at_rest[i], size = std::abs(at_rest[i]);
    for (int j = 0; j < n; ++j) {
      expected += delassus_.row(i)[j] * state_.x()[j];
      size += std::abs(delassus_.row(i)[j] * state_.x()[j]);
    }
    EXPECT_NEAR(u[i], expected, 1e-12 * (1 + size)) << "row " << i;
  }
}

TEST_P(ContactBlocksTest, HoldsTheDiagonalBlocks) {
  for (int i = 0; i < blocks_.num_units(); ++i) {
    const int row = blocks_.unit(i).row;
    if (i < blocks_.num_bilateral()) {
      EXPECT_NEAR(blocks_.bilateral_W(i), delassus_.row(row)[row],
                  1e-12 * std::abs(delassus_.row(row)[row]) + 1e-14);
      continue;
    }
    const OneContact& law = blocks_.contact(i - blocks_.num_bilateral());
    for (int a = 0; a < law.dim(); ++a)
      for (int b = 0; b < law.dim(); ++b)
        EXPECT_NEAR(law.W(a, b), delassus_.row(row + a)[row + b], 1e-12 * (1 + blocks_.omega(i)));
  }
}

TEST_P(ContactBlocksTest, AChangeUpdatesTheStateAsIfComputedFromScratch) {
  Random random(GetParam());
  double size = 1;
  for (int i = 0; i < blocks_.num_units(); ++i) {
    const double change[3] = {random.normal(), random.normal(), random.normal()};
    switch (blocks_.unit(i).dim) {
      case 1:
        apply_change<1>(blocks_, i, change, state_);
        break;
      case 2:
        apply_change<2>(blocks_, i, change, state_);
        break;
      default:
        apply_change<3>(blocks_, i, change, state_);
    }
    size += blocks_.omega(i);
  }
  const std::vector<double> u = row_velocities(problem_, blocks_, state_);
  blocks_.compute_state(state_.x(), state_.u(), state_.w());
  const std::vector<double> expected = row_velocities(problem_, blocks_, state_);
  for (int i = 0; i < problem_.num_rows(); ++i)
    EXPECT_NEAR(u[i], expected[i], 1e-12 * size) << "row " << i;
}

INSTANTIATE_TEST_SUITE_P(Seeds, ContactBlocksTest, ::testing::Range(0, 60));

TEST(ContactBlocks, RefusesASingularMassBlock) {
  StepProblem problem;
  problem.add_mass_block(2);
  ContactBlocks blocks;
  EXPECT_FALSE(blocks.assemble(problem));
}

TEST(ContactBlocks, NeedsMemoryForItsOwnNeighboursOnly) {
  // Many contacts at one body: pairs of contacts that meet there are never formed.
  StepProblem problem;
  problem.add_mass_block(6) = RowMatrixXd::Identity(6, 6);
  for (int j = 0; j < 1000; ++j) {
    problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = FrictionSection::disc()});
    problem.contacts.add_entry(0, 6).setConstant(0.1 * j);
  }
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  EXPECT_FALSE(blocks.has_coupling());
  EXPECT_EQ(blocks.unit(blocks.num_units()).entry_begin, 1000);
}

}  // namespace
}  // namespace stiction
