// Known solutions are disturbed and polished again. What the polish may assume is that the statuses
// can be read off the disturbed impulses; the disturbances here leave them.
#include "stiction/solve/newton_polish.h"

#include <gtest/gtest.h>

#include "stiction/base/random.h"
#include "stiction/solve/newton_solver.h"
#include "tests/solve/disc_problem.h"

namespace stiction {
namespace {

/// Impulses of a solution, each wrong by up to `error` of the largest.
VectorXd disturbed_solution(const StepProblem& problem, const FrictionBlocks& blocks, double error,
                            Random& random) {
  StepSolution solution;
  NewtonSolver solver({.tolerance = 1e-12});
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  VectorXd x;
  blocks.read_solution(problem, solution, x);
  const double size = x.cwiseAbs().maxCoeff();
  for (double& impulse : x) impulse += error * size * random.uniform(-1, 1);
  return x;
}

TEST(NewtonPolish, BringsRegularProblemsFromAMillionthToRounding) {
  Random random(1);
  int polished = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 8, .rank = 40, .mu_max = 0.5});
    FrictionBlocks blocks;
    ASSERT_TRUE(blocks.assemble(problem, StoppingMeasure::kBoth));
    SaddleLu lu;
    NewtonPolish polish;
    VectorXd x = disturbed_solution(problem, blocks, 1e-6, random);
    if (polish.run(blocks, lu, {}, x) < 1e-14) ++polished;
  }
  EXPECT_GE(polished, 98);  // a status within a millionth of another may be read wrongly
}

TEST(NewtonPolish, TakesRedundantContacts) {
  Random random(2);
  int polished = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 20, .rank = 12, .mu_max = 1});
    FrictionBlocks blocks;
    ASSERT_TRUE(blocks.assemble(problem, StoppingMeasure::kBoth));
    SaddleLu lu;
    NewtonPolish polish;
    VectorXd x = disturbed_solution(problem, blocks, 1e-8, random);
    if (polish.run(blocks, lu, {.max_iterations = 10}, x) < 1e-13) ++polished;
  }
  EXPECT_GE(polished, 70);  // redundant impulses often sit on the edge of their cones
}

TEST(NewtonPolish, LeavesImpulsesAloneThatItCannotImprove) {
  const StepProblem problem = testing::condensed_problem(1, {.num_contacts = 12, .rank = 15});
  FrictionBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SaddleLu lu;
  NewtonPolish polish;
  Random random(3);
  VectorXd x(blocks.num_rows());
  for (double& impulse : x) impulse = 100 * random.normal();
  const VectorXd before = x;
  VectorXd u;
  blocks.compute_velocity(x, u);
  const double residual = blocks.residual(x, u);
  const double reached = polish.run(blocks, lu, {.max_iterations = 1}, x);
  EXPECT_TRUE(reached < 0.1 * residual || x == before);
}

TEST(NewtonPolish, DoesNothingWhereTheToleranceIsMet) {
  const StepProblem problem = testing::condensed_problem(1, {.num_contacts = 4, .rank = 15});
  FrictionBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SaddleLu lu;
  NewtonPolish polish;
  Random random(4);
  VectorXd x = disturbed_solution(problem, blocks, 0, random);
  (void)polish.run(blocks, lu, {.tolerance = 1e-6}, x);
  EXPECT_EQ(polish.iterations(), 0);
}

}  // namespace
}  // namespace stiction
