// Methods that share a layout: each gives the answer that it gives alone, to the bit, and a layout
// that was forgotten is made anew.
#include "stiction/solve/sweep_workshop.h"

#include <gtest/gtest.h>

#include "stiction/solve/body_newton.h"
#include "stiction/solve/jointed_sweeps.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

StepProblem pile(std::uint64_t seed) {
  return testing::sphere_grid({.count = {5, 5, 4}, .seed = seed});
}

void expect_same(const StepSolution& a, const StepSolution& b) {
  EXPECT_EQ(a.w, b.w);
  EXPECT_EQ(a.lambda, b.lambda);
  EXPECT_EQ(a.r, b.r);
}

StepSolution solve_with(Solver& solver, const StepProblem& problem, StepSolution start = {}) {
  (void)solver.solve(problem, start);
  return start;
}

TEST(SweepWorkshop, MethodsThatShareOneAnswerAsIfAlone) {
  const auto workshop = std::make_shared<SweepWorkshop>();
  const NsgsOptions rough{.tolerance = 1e-3}, fine{.tolerance = 1e-6};
  NsgsSolver alone(rough), shared(rough, workshop);
  JointedSweeps jointed_alone(fine), jointed_shared(fine, workshop);
  BodyNewton newton_alone, newton_shared({}, workshop);
  StepProblem problem;
  for (const std::uint64_t seed : {1, 2}) {
    problem = pile(seed);  // at the same address
    workshop->forget();
    const StepSolution first = solve_with(shared, problem);
    expect_same(first, solve_with(alone, problem));
    const StepSolution second = solve_with(jointed_shared, problem, first);
    expect_same(second, solve_with(jointed_alone, problem, first));
    expect_same(solve_with(newton_shared, problem, second),
                solve_with(newton_alone, problem, second));
    expect_same(solve_with(shared, problem), first);
  }
}

TEST(SweepWorkshop, KnowsAProblemUntilItForgets) {
  SweepWorkshop workshop;
  StepProblem problem = pile(1);
  ASSERT_TRUE(workshop.lay_out(problem, StoppingMeasure::kCertificate, nullptr));
  const double free = workshop.blocks.free_velocity()[2];
  for (double& p : problem.p) p *= 2;
  ASSERT_TRUE(workshop.lay_out(problem, StoppingMeasure::kVelocities, nullptr));
  EXPECT_EQ(workshop.blocks.free_velocity()[2], free);
  workshop.forget();
  ASSERT_TRUE(workshop.lay_out(problem, StoppingMeasure::kVelocities, nullptr));
  EXPECT_EQ(workshop.blocks.free_velocity()[2], 2 * free);
}

/// Newton's method on bodies that does not begin leaves what it measured to the sweeps, which then
/// go the same way as by themselves.
TEST(SweepWorkshop, HandsOnStartsThatWereMeasured) {
  const auto workshop = std::make_shared<SweepWorkshop>();
  BodyNewton newton({.max_flops = 1}, workshop);
  NsgsSolver alone({.tolerance = 1e-3}), shared({.tolerance = 1e-3}, workshop);
  const StepProblem problem = pile(1);
  StepSolution start = solve_with(alone, problem);
  for (double& r : start.r) r *= 0.9;
  workshop->forget();
  (void)solve_with(newton, problem, start);
  EXPECT_TRUE(workshop->knows_start(start));
  StepSolution other = start;
  other.r[0] += 1e-9;
  EXPECT_FALSE(workshop->knows_start(other));
  expect_same(solve_with(shared, problem, start), solve_with(alone, problem, start));
  EXPECT_FALSE(workshop->knows_start(start));
}

TEST(SweepWorkshop, MakesALayoutThatFailedAnew) {
  SweepWorkshop workshop;
  StepProblem problem = pile(1);
  problem.mass_block(0).setZero();
  EXPECT_FALSE(workshop.lay_out(problem, StoppingMeasure::kCertificate, nullptr));
  problem = pile(1);
  EXPECT_TRUE(workshop.lay_out(problem, StoppingMeasure::kCertificate, nullptr));
}

}  // namespace
}  // namespace stiction
