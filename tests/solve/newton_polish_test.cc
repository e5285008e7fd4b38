// Known solutions are disturbed and polished again. What the polish may assume is that the statuses
// can be read off the disturbed impulses; the disturbances here leave them.
#include "stiction/solve/newton_polish.h"

#include <gtest/gtest.h>

#include "stiction/base/random.h"
#include "stiction/solve/newton_solver.h"
#include "tests/solve/disc_problem.h"

namespace stiction {
namespace {

/// The polish of one problem, with what it works on.
struct Workbench {
  explicit Workbench(const StepProblem& problem) {
    EXPECT_TRUE(blocks.assemble(problem, StoppingMeasure::kBoth));
  }
  double run(const PolishOptions& options, KeptVector& x) {
    return polish.run(blocks, lu, options, x);
  }

  FrictionBlocks blocks;
  SaddleLu lu;
  NewtonPolish polish;
};

/// Impulses of a solution, each wrong by up to `error` of the largest.
KeptVector disturbed_solution(const StepProblem& problem, const FrictionBlocks& blocks,
                              double error, Random& random) {
  StepSolution solution;
  NewtonSolver solver({.tolerance = 1e-12});
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  KeptVector x;
  blocks.read_solution(problem, solution, x);
  const double size = x.cwiseAbs().maxCoeff();
  for (double& impulse : x) impulse += error * size * random.uniform(-1, 1);
  return x;
}

/// Of a hundred problems with disturbed solutions those that are polished below `goal`.
int count_polished(const testing::CondensedOptions& problems, double error,
                   const PolishOptions& options, double goal) {
  Random random(1);
  int polished = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem = testing::condensed_problem(seed, problems);
    Workbench bench(problem);
    KeptVector x = disturbed_solution(problem, bench.blocks, error, random);
    if (bench.run(options, x) < goal) ++polished;
  }
  return polished;
}

// A status within a millionth of another may be read wrongly.
TEST(NewtonPolish, BringsRegularProblemsFromAMillionthToRounding) {
  EXPECT_GE(count_polished({.num_contacts = 8, .rank = 40, .mu_max = 0.5}, 1e-6, {}, 1e-14), 98);
}

// Redundant impulses often sit on the edge of their cones.
TEST(NewtonPolish, TakesRedundantContacts) {
  EXPECT_GE(count_polished({.num_contacts = 20, .rank = 12, .mu_max = 1}, 1e-8,
                           {.max_iterations = 10}, 1e-13),
            70);
}

TEST(NewtonPolish, LeavesImpulsesAloneThatItCannotImprove) {
  const StepProblem problem = testing::condensed_problem(1, {.num_contacts = 12, .rank = 15});
  Workbench bench(problem);
  Random random(3);
  KeptVector x;
  x.resize(bench.blocks.num_rows());
  for (double& impulse : x) impulse = 100 * random.normal();
  const VectorXd before = x;
  KeptVector u;
  bench.blocks.compute_velocity(x, u);
  const double residual = bench.blocks.residual(x, u);
  const double reached = bench.run({.max_iterations = 1}, x);
  EXPECT_TRUE(reached < 0.1 * residual || x == before);
}

TEST(NewtonPolish, DoesNothingWhereTheToleranceIsMet) {
  const StepProblem problem = testing::condensed_problem(1, {.num_contacts = 4, .rank = 15});
  Workbench bench(problem);
  Random random(4);
  KeptVector x = disturbed_solution(problem, bench.blocks, 0, random);
  (void)bench.run({.tolerance = 1e-6}, x);
  EXPECT_EQ(bench.polish.iterations(), 0);
}

}  // namespace
}  // namespace stiction
