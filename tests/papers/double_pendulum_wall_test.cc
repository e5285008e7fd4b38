// E6: the double pendulum beside a wall of Potra, Anitescu, Gavrea and Trinkle 2006, Table 10.1:
// error of the positions at 2.5 s against a fine step, and drift of both rods. The table prints
// 1 − |·|² for the drifts, whose sign is opposite to that of the constraints.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stiction/app/experiments/published.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

using experiments::kPendulumTable;
using experiments::PendulumRow;
using experiments::Printed;

constexpr double kDuration = 2.5;

TracedRun run_pendulum(const std::string& scheme, double h, double duration = kDuration) {
  const Scene scene = example_scene("double-pendulum-wall");
  return {scene.model, options_of(scene, scheme, h), duration};
}

TracedRun run_pendulum(int exponent, double duration = kDuration) {
  return run_pendulum("trapezoidal-2", std::ldexp(1, -exponent), duration);
}

double upper_rod(const State& s) { return s.q.head<2>().squaredNorm() - 1; }
double lower_rod(const State& s) { return (s.q.head<2>() - s.q.tail<2>()).squaredNorm() - 1; }

/// To one unit in the last printed digit.
void expect_row(const PendulumRow& printed, const VectorXd& exact) {
  SCOPED_TRACE("h = 2^-" + std::to_string(printed.exponent));
  const State end = run_pendulum(printed.exponent).end();
  const auto expect = [](double value, const Printed& number) {
    EXPECT_NEAR(value, number.value(), number.last_digit());
  };
  expect((end.q - exact).norm(), printed.position);
  expect(upper_rod(end), printed.upper_rod);
  expect(lower_rod(end), printed.lower_rod);
}

TEST(DoublePendulumWall, CoarseRowsOfTable101) {
  // The error of the reference, 4^−6 of the smallest one here, is far below the last digit.
  const VectorXd exact = run_pendulum(14).end().q;
  for (const PendulumRow& row : kPendulumTable)
    if (row.exponent <= 8) expect_row(row, exact);
}

TEST(SlowDoublePendulumWall, AllRowsOfTable101) {
  const VectorXd exact = run_pendulum(16).end().q;
  for (const PendulumRow& row : kPendulumTable) expect_row(row, exact);
}

TEST(DoublePendulumWall, BothBobsHitTheWallFiveTimesInAll) {
  const TracedRun run = run_pendulum(8);
  const auto collisions = run.trace.events_of(EventKind::kCollision);
  ASSERT_EQ(collisions.size(), 5u);
  std::vector<int> bobs;
  for (const StepEvent& collision : collisions) {
    bobs.push_back(collision.contact);
    EXPECT_LT(collision.energy_change, 0);  // restitution 0.1, no friction
  }
  EXPECT_EQ(bobs, (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(run.simulation.summary().count(EventKind::kFloor), 0);
  EXPECT_EQ(run.simulation.summary().impact_gains, 0);
}

TEST(DoublePendulumWall, RodsDriftAsTheRuleSays) {
  // Before the first collision, exactly: Θ⁺ − Θ = (h²/4)(|v⁺|² − |v|²) in every step, which adds
  // up; for the upper rod with the velocity of its bob, for the lower with that between the bobs.
  // And constraints whose rows hold the mean velocity do no work at all. What redundant rows would
  // need, a compliance of 1e-9, leaves as much of that, and its share of the 9 J moved.
  const TracedRun run = run_pendulum(6, 0.5);
  ASSERT_TRUE(run.trace.events.empty());
  const double quarter = std::ldexp(0.25, -12);  // h²/4
  for (const Trace::Sample& sample : run.trace.samples) {
    const State& s = sample.state;
    EXPECT_NEAR(upper_rod(s), quarter * s.v.head<2>().squaredNorm(), 1e-9);
    EXPECT_NEAR(lower_rod(s), quarter * (s.v.head<2>() - s.v.tail<2>()).squaredNorm(), 1e-9);
    EXPECT_NEAR(sample.energy, run.trace.samples[0].energy, 1e-8);
  }
}

TEST(DoublePendulumWall, ConvergesWithOrderTwoThroughCollisions) {
  const VectorXd exact = run_pendulum(14).end().q;
  std::vector<double> steps, errors;
  for (int exponent = 4; exponent <= 10; ++exponent) {
    steps.push_back(std::ldexp(1, -exponent));
    errors.push_back((run_pendulum(exponent).end().q - exact).norm());
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2.0, 0.1);
}

class DoublePendulumWallSchemes : public ::testing::TestWithParam<const char*> {};

TEST_P(DoublePendulumWallSchemes, ConvergesToTheSameMotionWithOrderOne) {
  // The Euler schemes by nature; scheme I because the impulses of the rods act along their rows at
  // the predicted end of a step and not in its middle, a turn of O(h).
  const VectorXd exact = run_pendulum(14).end().q;
  std::vector<double> steps, errors;
  for (int exponent = 7; exponent <= 13; ++exponent) {
    const double h = std::ldexp(1, -exponent);
    double error = 0;  // where a collision falls within its step is noise
    for (int k = 0; k < 4; ++k)
      error += (run_pendulum(GetParam(), h * (1 + 0.06 * k)).end().q - exact).norm() / 4;
    steps.push_back(h);
    errors.push_back(error);
  }
  EXPECT_NEAR(fitted_order(steps, errors), 1.0, 0.1);
}

INSTANTIATE_TEST_SUITE_P(FirstOrder, DoublePendulumWallSchemes,
                         ::testing::Values("anitescu-potra", "linearly-implicit-euler",
                                           "trapezoidal-1"));

}  // namespace
}  // namespace stiction::testing
