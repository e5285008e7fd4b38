// Impulses to start from: the multiple that leaves the least energy.
#include "stiction/solve/gauss_seidel_state.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

/// ½ xᵀW x + xᵀa, from velocities: a = u(0), W x = u(x) − u(0).
double energy_of(const StepProblem& problem, const std::vector<double>& r, double factor) {
  ContactBlocks blocks;
  EXPECT_TRUE(blocks.assemble(problem));
  StepSolution start;
  start.r = r;
  for (double& x : start.r) x *= factor;
  SweepState none, some;
  none.start(blocks, {}, false);
  some.start(blocks, start, true);
  double energy = 0;
  for (int i = 0; i < blocks.num_units(); ++i)
    for (int a = 0; a < blocks.unit(i).dim; ++a) {
      const int row = blocks.unit(i).row + a;
      double before = none.u()[row], after = some.u()[row];
      for (int e = blocks.unit(i).entry_begin; e < blocks.unit(i + 1).entry_begin; ++e)
        for (int k = 0; k < blocks.entry(e).columns; ++k) {
          const double J = blocks.entry(e).jacobian[a * blocks.entry(e).columns + k];
          before += J * none.w()[blocks.entry(e).dof + k];
          after += J * some.w()[blocks.entry(e).dof + k];
        }
      energy += some.x()[row] * 0.5 * (before + after);
    }
  return energy;
}

struct Shortened {
  std::vector<double> x;
  bool has_changed = false;
};

Shortened shorten(const StepProblem& problem, const std::vector<double>& r) {
  ContactBlocks blocks;
  EXPECT_TRUE(blocks.assemble(problem));
  SweepState state;
  StepSolution start;
  start.r = r;
  state.start(blocks, start, true);
  Shortened result;
  result.has_changed = state.shorten(problem, blocks);
  result.x.assign(state.x(), state.x() + blocks.num_rows());
  SweepState anew = state;  // velocities belong to the impulses: sums of ten terms of about one
  anew.refresh(blocks);
  for (int k = 0; k < blocks.num_dofs(); ++k) EXPECT_NEAR(anew.w()[k], state.w()[k], 1e-13);
  for (int row = 0; row < blocks.num_rows(); ++row) EXPECT_EQ(anew.u()[row], state.u()[row]);
  return result;
}

TEST(SweepState, ShortensImpulsesToTheLeastEnergy) {
  for (const double compliance : {0.0, 0.4}) {
    StepProblem problem = testing::sphere_grid();
    for (double& c : problem.contact_compliance) c = compliance;
    StepSolution answer;
    (void)NsgsSolver({.tolerance = 1e-6}).solve(problem, answer);
    std::vector<double> r = answer.r;
    for (double& x : r) x *= 3;
    const Shortened result = shorten(problem, r);
    ASSERT_TRUE(result.has_changed);
    const auto largest = std::max_element(r.begin(), r.end());
    const double share = result.x[largest - r.begin()] / *largest;
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 0.9);
    for (std::size_t row = 0; row < r.size(); ++row)
      EXPECT_NEAR(result.x[row], share * r[row], 1e-15 * *largest);
    const double least = energy_of(problem, r, share);
    // The energy is a parabola: at the minimum steps to both sides cost the same.
    const double up = energy_of(problem, r, share * 1.01) - least;
    const double down = energy_of(problem, r, share * 0.99) - least;
    EXPECT_GT(up, 0);
    EXPECT_NEAR(up, down, 1e-6 * up);
  }
}

TEST(SweepState, LeavesImpulsesThatAreNotTooLarge) {
  StepProblem problem = testing::sphere_grid();
  std::vector<double> r(problem.num_contact_rows(), 0.0);
  for (std::size_t row = 0; row < r.size(); row += 3) r[row] = 1e-3;
  const Shortened result = shorten(problem, r);
  EXPECT_FALSE(result.has_changed);
  EXPECT_EQ(result.x, r);
  EXPECT_FALSE(shorten(problem, std::vector<double>(r.size(), 0.0)).has_changed);
}

/// Nothing presses: all of the impulses are too much.
TEST(SweepState, DropsImpulsesThatOnlyCostEnergy) {
  StepProblem problem = testing::sphere_grid();
  for (double& p : problem.p) p = 0;
  std::vector<double> r(problem.num_contact_rows(), 0.0);
  r[0] = 1;
  const Shortened result = shorten(problem, r);
  EXPECT_TRUE(result.has_changed);
  EXPECT_EQ(result.x, std::vector<double>(r.size(), 0.0));
}

TEST(SweepState, LeavesImpulsesBesideJoints) {
  StepProblem problem = testing::sphere_grid();
  problem.add_bilateral_row({});
  problem.bilateral.add_entry(0, 6).setOnes();
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SweepState state;
  StepSolution start;
  start.lambda = {0.0};
  start.r.assign(problem.num_contact_rows(), 1.0);
  state.start(blocks, start, true);
  EXPECT_FALSE(state.shorten(problem, blocks));
}

}  // namespace
}  // namespace stiction
