// Two parallelogram loops that move like one pendulum and pass the position in which all bars lie
// in one line, where the constraints lose rank (examples/linkage.json).
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

constexpr double kDuration = 2;

/// Angle of the cranks at t: θ″ = −(7/6) g cos θ from upright with 1 rad/s to the right, by
/// classical Runge–Kutta with steps of 1e-4 s.
double exact_angle(double t) {
  const auto a = [](double angle) { return -7.0 / 6 * kGravity * std::cos(angle); };
  double angle = std::numbers::pi / 2, rate = -1;
  const int num_steps = std::max(1, static_cast<int>(t / 1e-4));
  const double h = t / num_steps;
  for (int i = 0; i < num_steps; ++i) {
    const double a1 = a(angle), r2 = rate + h / 2 * a1;
    const double a2 = a(angle + h / 2 * rate), r3 = rate + h / 2 * a2;
    const double a3 = a(angle + h / 2 * r2), r4 = rate + h * a3;
    const double a4 = a(angle + h * r3);
    angle += h / 6 * (rate + 2 * r2 + 2 * r3 + r4);
    rate += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return angle;
}

TracedRun run_linkage(const std::string& scheme, double h) {
  const Scene scene = example_scene("linkage");
  return {scene.model, options_of(scene, scheme, h), kDuration};
}

/// How far the cranks are from being parallel.
double skew(const State& s) { return std::hypot(s.q[1] - s.q[3], s.q[1] - s.q[5]); }

TEST(Linkage, TurnsThroughItsSingularPositions) {
  // From π/2 downwards the exact motion crosses 0 and −π within 2 s.
  const double end = exact_angle(kDuration);
  ASSERT_LT(end, -std::numbers::pi);
  const TracedRun run = run_linkage("trapezoidal-2", 1e-3);
  int crossings = 0;
  const auto& samples = run.trace.samples;
  for (std::size_t i = 1; i < samples.size(); ++i)
    if (samples[i].state.q[1] * samples[i - 1].state.q[1] < 0) ++crossings;
  EXPECT_EQ(crossings, static_cast<int>(std::floor(-end / std::numbers::pi)) + 1);
}

TEST(Linkage, StaysOnTheParallelBranch) {
  // Symmetric data leave it there but for rounding, magnified by the loss of rank: a step passes
  // the singular position at a distance of about hθ′ = 5e-3, and the rows lose as many digits.
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2", "anitescu-potra",
                             "linearly-implicit-euler", "stewart-trinkle"}) {
    SCOPED_TRACE(scheme);
    EXPECT_LT(run_linkage(scheme, 1e-3).trace.largest(skew), 1e-6);
  }
}

TEST(Linkage, TrapezoidalTwoConservesEnergyAndDriftsAsTheRuleSays) {
  // Constraints hold the mean velocity and gravity is constant: no work at all, so the energy
  // changes by rounding only. The length of a crank follows Θ⁺ − Θ = (h²/4)(|v⁺|² − |v|²), which
  // adds up from |v| = 1.
  constexpr double kStep = 1e-3;
  const TracedRun run = run_linkage("trapezoidal-2", kStep);
  for (const Trace::Sample& sample : run.trace.samples) {
    const State& s = sample.state;
    ASSERT_NEAR(sample.energy, run.trace.samples[0].energy, 1e-8);
    const double drift = s.q.head<2>().squaredNorm() - 1;
    ASSERT_NEAR(drift, kStep * kStep / 4 * (s.v.head<2>().squaredNorm() - 1), 1e-10);
  }
}

TEST(Linkage, FollowsThePendulumWithOrderTwo) {
  // Down to 1e-3: the closer a step comes to the singular position, the larger the velocities
  // across the constraints that it leaves, and the scheme reflects these from step to step.
  const double angle = exact_angle(kDuration);
  std::vector<double> steps, errors;
  for (double h = 1.6e-2; h > 0.9e-3; h /= 2) {
    const State end = run_linkage("trapezoidal-2", h).end();
    steps.push_back(h);
    errors.push_back(std::hypot(end.q[0] - std::cos(angle), end.q[1] - std::sin(angle)));
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2.0, 0.1);
}

TEST(Linkage, EulerSchemesFollowThePendulumWithOrderOneAndHoldTheBars) {
  const double angle = exact_angle(kDuration);
  for (const char* scheme : {"anitescu-potra", "linearly-implicit-euler"}) {
    SCOPED_TRACE(scheme);
    std::vector<double> steps, errors;
    for (double h = 1e-3; h > 1e-4; h /= 2) {
      const TracedRun run = run_linkage(scheme, h);
      steps.push_back(h);
      errors.push_back(
          std::hypot(run.end().q[0] - std::cos(angle), run.end().q[1] - std::sin(angle)));
      EXPECT_LT(run.simulation.summary().joint_error_max, 1e-10);
    }
    EXPECT_NEAR(fitted_order(steps, errors), 1.0, 0.1);
  }
}

}  // namespace
}  // namespace stiction::testing
