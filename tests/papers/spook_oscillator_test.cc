// Lacoursière–Linde's small systems under SPOOK: the oscillator as a regularised constraint, beside
// implicit Euler; a pendulum released horizontally; a ball that bounces by the two-stage impact.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/app/experiments/spook_systems.h"
#include "stiction/model/rigid_body_builder.h"
#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

using namespace experiments;  // small systems and closed forms

SimulationOptions spook(double h, const SpookOptions& options = {}) {
  return {.scheme = "spook", .h = h, .stepping = {.spook = options}};
}

// -------------------------------------------------------------------------------------------------
// Oscillator

/// As a joint with the compliance ε = 1/(m ω²), along x.
Model joint_oscillator(double frequency) {
  RigidBodyBuilder world;
  const BodyId body = world.add_body({.name = "mass",
                                      .position = {1, 0, 0},
                                      .mass = kOscillatorMass,
                                      .inertia = Eigen::Matrix3d::Identity(),
                                      .free_axes = {true, false, false, false, false, false}});
  world.add_joint({.name = "soft",
                   .type = JointType::kBall,
                   .bodies = {kWorld, body},
                   .frames = {},
                   .compliance = 1 / (kOscillatorMass * frequency * frequency)});
  return world.build_model();
}

TEST(SpookOscillator, HasTheFrequencyOfTheMidpointRule) {
  // Undamped, φ = 1: every step turns by the angle 2 atan(ωh/2), at any stiffness, and keeps its
  // amplitude. x_n = cos(nα) + b sin(nα) has x_{n+1} + x_{n−1} = 2 cos α x_n.
  constexpr double h = 0.01;
  for (const double wh : {0.01, 0.3, 1.0, 3.0, 30.0, 1000.0}) {
    SCOPED_TRACE(wh);
    const double angle = 2 * std::atan(wh / 2);
    for (const bool is_joint : {false, true}) {
      const std::vector<double> x = positions_of(
          is_joint ? joint_oscillator(wh / h) : spring_oscillator(wh / h), spook(h), 2000);
      EXPECT_LE(recurrence_error(x, 2 * std::cos(angle), 1), 1e-12);
      // Up to 1/sin α, the amplitude of the motion with the velocity of a half step.
      const double amplitude = 1 / std::abs(std::cos(angle / 2)) + 1e-9;
      EXPECT_LE(std::abs(*std::max_element(x.begin(), x.end())), amplitude);
      // It does turn by that angle, and not by another with the same cosine at once: counted over
      // the run, half a turn per change of sign.
      int changes = 0;
      for (std::size_t n = 1; n < x.size(); ++n) changes += x[n] * x[n - 1] < 0 ? 1 : 0;
      EXPECT_NEAR(changes, 2000 * angle / std::numbers::pi, 1.5);
    }
  }
}

TEST(SpookOscillator, ImplicitEulerTurnsSlowerAndLosesItsAmplitude) {
  // z = 1/(1 ∓ iωh): turns by atan(ωh) and shrinks by 1/√(1 + (ωh)²).
  constexpr double h = 0.01;
  for (const double wh : {0.01, 0.3, 1.0, 3.0}) {
    SCOPED_TRACE(wh);
    const std::vector<double> x =
        positions_of(spring_oscillator(wh / h), {.scheme = "linearly-implicit-euler", .h = h}, 500);
    const double square = 1 / (1 + wh * wh);
    EXPECT_LE(recurrence_error(x, 2 * std::sqrt(square) * std::cos(std::atan(wh)), square), 1e-12);
    EXPECT_LT(std::atan(wh), 2 * std::atan(wh / 2));
  }
}

TEST(SpookOscillator, DampedByItsDamperAsTheRecurrenceSays) {
  // a = 1/(1 + 4ε φ m/h²), ε = 1/γ, τ = δ/γ: trace 2 − a(1 + 3φ), determinant 1 − a(1 − φ).
  constexpr double h = 0.01;
  for (const double wh : {0.1, 1.0, 50.0})
    for (const double relaxation : {0.1, 2.0, 20.0}) {
      SCOPED_TRACE(std::to_string(wh) + " " + std::to_string(relaxation));
      const double phi = 1 / (1 + 4 * relaxation), a = 1 / (1 + 4 * phi / (wh * wh));
      EXPECT_LE(
          recurrence_error(positions_of(spring_oscillator(wh / h, relaxation * h), spook(h), 300),
                           2 - a * (1 + 3 * phi), 1 - a * (1 - phi)),
          1e-12);
    }
}

// -------------------------------------------------------------------------------------------------
// Pendulum

/// A mass of 1 kg at a distance of 1 m from the origin, released horizontally.
Model pendulum(double compliance, double damping_time) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const BodyId body = world.add_body({.name = "bob",
                                      .position = {1, 0, 0},
                                      .mass = 1,
                                      .inertia = Eigen::Matrix3d::Identity(),
                                      .free_axes = {true, false, true, false, false, false}});
  world.add_distance({.name = "rod",
                      .bodies = {kWorld, body},
                      .compliance = compliance,
                      .damping_time = damping_time},
                     {.from = {0, 0, 0}, .to = {1, 0, 0}});
  return world.build_model();
}

struct Swing {
  double period = 0;       // mean of three
  double joint_error = 0;  // largest over the run
};

Swing swing(Model model, const SimulationOptions& options) {
  Simulation simulation(std::move(model), options);
  const double exact = 4 * kPendulumQuarter / std::sqrt(kGravity);
  Swing result;
  double last = 0, first = -1, latest = 0;
  int passes = 0;
  while (simulation.state().t < 3.5 * exact) {
    const double t = simulation.state().t, h = simulation.step(), x = simulation.state().q[0];
    const double radius = std::hypot(x, simulation.state().q[2]);
    result.joint_error = std::max(result.joint_error, std::abs(radius - 1));
    // Through the lowest point to the left, once per period; x is smooth there, and the chord is
    // off by h² of its curvature, which vanishes at the lowest point.
    if (last > 0 && x <= 0) {
      latest = t + h * last / (last - x);
      if (passes++ == 0) first = latest;
    }
    last = x;
  }
  result.period = (latest - first) / (passes - 1);
  return result;
}

TEST(SpookPendulum, PeriodAndJointErrorsAreOfSecondOrder) {
  std::vector<double> steps, periods, joints;
  for (const double h : {8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4}) {
    const Swing at = swing(pendulum(0, 0), spook(h));
    steps.push_back(h);
    periods.push_back(std::abs(at.period - 4 * kPendulumQuarter / std::sqrt(kGravity)));
    joints.push_back(at.joint_error);
  }
  EXPECT_NEAR(fitted_order(steps, joints), 2, 0.1);
  EXPECT_NEAR(fitted_order(steps, periods), 2, 0.2);
}

TEST(SpookPendulum, JointErrorEndsAtTheComplianceTimesTheForce) {
  // At the lowest point v² = 2 g L and the rod pulls with 3 m g. A steady error there has
  // G v⁺ = −h v²/(2L), G v = h v²/(2L), since G turns with the rod; in the row (T29) that is
  // Θ = 3 m g ε + h² (1 + φ)/(8φ) v²/L: second order down to the plateau of the compliance.
  for (const double compliance : {1e-7, 1e-6, 1e-5, 1e-4})
    for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
      SCOPED_TRACE("compliance " + std::to_string(compliance) + ", h = " + std::to_string(h));
      constexpr double phi = 1.0 / 9;  // τ = 2h
      const double expected =
          3 * kGravity * compliance + h * h * (1 + phi) / (8 * phi) * 2 * kGravity;
      const Swing at = swing(pendulum(compliance, 2 * h), spook(h));
      EXPECT_NEAR(at.joint_error, expected, 5e-3 * expected);
    }
}

/// A bar of 1 kg whose centre of mass is 1 m from its ball joint at the origin.
Model bar() {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const BodyId body = world.add_body({.name = "bar",
                                      .position = {1, 0, 0},
                                      .mass = 1,
                                      .inertia = 0.2 * Eigen::Matrix3d::Identity()});
  world.add_joint({.name = "pivot", .type = JointType::kBall, .bodies = {kWorld, body}},
                  {.at = {0, 0, 0}});
  return world.build_model();
}

TEST(SpookPendulum, PositionIterationIsOfSecondOrderAndKeepsTheJoint) {
  // Reduced length 1 + 0.2/1 m.
  const double exact = 4 * kPendulumQuarter * std::sqrt(1.2 / kGravity);
  std::vector<double> steps, periods;
  for (const double h : {1.6e-2, 8e-3, 4e-3, 2e-3}) {
    const Swing at = swing(bar(), spook(h, {.position_iteration = true}));
    steps.push_back(h);
    periods.push_back(std::abs(at.period - exact));
    EXPECT_LE(at.joint_error, 1e-10) << h;
  }
  EXPECT_NEAR(fitted_order(steps, periods), 2, 0.1);
}

// -------------------------------------------------------------------------------------------------
// Bouncing ball

TEST(SpookBall, ImpactsAndTheWholeFlightOnlyLoseEnergy) {
  for (const double restitution : {0.0, 0.3, 0.5, 0.9, 1.0})
    for (const double h : {1e-3, 0.0037, 1.0 / 60}) {
      SCOPED_TRACE("e = " + std::to_string(restitution) + ", h = " + std::to_string(h));
      SystemBuilder system;
      const Expression y = system.add_coordinate("y", {1, 0});
      system.set_mass(y, y, 1.0);
      system.set_potential(kGravity * y);
      system.add_contact({.name = "floor", .gap = y, .restitution = restitution});
      const TracedRun run(system.build_model(), spook(h), 6);
      const double start = kGravity;
      EXPECT_LE(run.trace.energy_max(), start * (1 + 1e-12));
      const std::vector<StepEvent> hits = run.trace.events_of(EventKind::kCollision);
      ASSERT_FALSE(hits.empty());
      for (const StepEvent& hit : hits) EXPECT_LE(hit.energy_change, 1e-12 * start);
      // The first hit: the ball is inside by less than a step's travel, and leaves −e of its speed.
      const double speed = std::sqrt(2 * kGravity);
      EXPECT_NEAR(hits.front().time, speed / kGravity, 1.5 * h);
      EXPECT_NEAR(hits.front().energy_change, -(1 - restitution * restitution) * speed * speed / 2,
                  2 * (1 - restitution * restitution) * speed * kGravity * h + 1e-8);
      EXPECT_GT(run.simulation.summary().gap_min, -1.01 * h * (speed + kGravity * h));
      if (restitution < 0.6) {
        EXPECT_NEAR(run.end().q[0], 0, 1e-8);
        EXPECT_NEAR(run.end().v[0], 0, 1e-6);
      }
    }
}

}  // namespace
}  // namespace stiction::testing
