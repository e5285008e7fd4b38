// Motors and friction in joints against closed forms: both are rows with a bounded effort, so that
// what is below the bound holds exactly and what is above runs with the rest.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/laws/rigid_rules.h"

namespace stiction::testing {
namespace {

using Eigen::Vector3d;
using Target = JointMotor::Target;

/// Whether the mean velocity moves bodies, or that of the end of a step.
bool moves_by_mean(const Rule& rule) {
  return rule.iterates || rule.scheme == "moreau" || rule.scheme.starts_with("trapezoidal");
}

constexpr double kInertia = 0.5, h = 0.01;

/// A wheel on a hinge with motors or friction, and a torque on it.
struct Wheel {
  std::vector<JointMotor> motors{};
  std::vector<JointFriction> friction{};
  double load = 0;
  double speed = 0;
};

Model build(const Wheel& wheel, RigidBodyBuilder world = {}) {
  const BodyId body = world.add_body({.name = "wheel",
                                      .angular_velocity = {0, 0, wheel.speed},
                                      .mass = 2,
                                      .inertia = Vector3d(0.3, 0.4, kInertia).asDiagonal()});
  world.add_joint({.name = "hinge",
                   .type = JointType::kHinge,
                   .bodies = {kWorld, body},
                   .motors = wheel.motors,
                   .friction = wheel.friction});
  world.add_force({.body = body, .torque = {0.0, 0.0, wheel.load}});
  return world.build_model();
}

double angle_of(const Simulation& simulation) {
  const State& s = simulation.state();
  return system_of(simulation).joint_coordinate(s.t, s.q, 0, JointCoordinate::kAngle);
}

double speed_of(const Simulation& simulation) { return simulation.state().v[5]; }

/// Of the drive's row, behind the five rows of the hinge.
double effort_of(const Simulation& simulation) { return simulation.joint_impulses()[5] / h; }

TEST(SpeedMotor, AcceleratesAtItsLimitAndThenHoldsItsSpeed) {
  for (const Rule& rule : all_rules()) {
    Simulation simulation(build({.motors = {{.value = 5.0, .max_effort = 2}}}),
                          options_of(rule, h));
    simulation.run(1);  // 4 rad/s² until 1.25 s
    EXPECT_NEAR(speed_of(simulation), 4, 1e-12) << rule.name();
    EXPECT_NEAR(effort_of(simulation), 2, 1e-12) << rule.name();
    EXPECT_NEAR(angle_of(simulation), 2 * (moves_by_mean(rule) ? 1 : 1 + h), 1e-12) << rule.name();
    simulation.run(1);
    EXPECT_NEAR(speed_of(simulation), 5, 1e-11) << rule.name();
    EXPECT_NEAR(effort_of(simulation), 0, 1e-9) << rule.name();
    // All energy is the motor's.
    EXPECT_NEAR(simulation.energy().motor, kInertia * 25 / 2, 1e-11) << rule.name();
    EXPECT_NEAR(simulation.energy().numerical, 0, 1e-11) << rule.name();
  }
}

// Against a load L the motor keeps its speed as long as L is within its effort; beyond that it runs
// backwards with (L − max_effort)/I.
TEST(SpeedMotor, StallsExactlyAtItsLimit) {
  constexpr double kEffort = 2;
  for (const Rule& rule : all_rules()) {
    for (const double load : {-0.999999 * kEffort, -kEffort}) {
      Simulation holds(build({.motors = {{.value = 0.0, .max_effort = kEffort}}, .load = load}),
                       options_of(rule, h));
      for (int i = 0; i < 1000; ++i) holds.step();
      EXPECT_LE(std::abs(speed_of(holds)), 1e-13) << rule.name() << load;
      EXPECT_LE(std::abs(angle_of(holds)), 1e-13) << rule.name() << load;
      EXPECT_NEAR(effort_of(holds), -load, 1e-12) << rule.name();
    }
    Simulation gives_way(
        build({.motors = {{.value = 1.0, .max_effort = kEffort}}, .load = -1.001 * kEffort}),
        options_of(rule, h));
    gives_way.run(1);
    EXPECT_NEAR(speed_of(gives_way), -0.001 * kEffort / kInertia, 1e-13) << rule.name();
    EXPECT_NEAR(effort_of(gives_way), kEffort, 1e-12) << rule.name();
  }
}

/// Where a bound ceases to act within a step the mean velocity of that step is right, and from then
/// on the velocities of these two oscillate about it.
bool oscillates(const Rule& rule) { return rule.iterates || rule.scheme == "trapezoidal-2"; }

TEST(PositionMotor, HoldsItsTargetAgainstALoad) {
  for (const Rule& rule : all_rules()) {
    Simulation simulation(
        build({.motors = {{.target = Target::kPosition, .value = 0.5, .max_effort = 40}},
               .load = -7}),
        options_of(rule, h));
    simulation.run(3);
    const double first_speed = speed_of(simulation), first_effort = effort_of(simulation);
    simulation.step();
    EXPECT_NEAR(angle_of(simulation), 0.5, 1e-12) << rule.name();
    EXPECT_NEAR((first_speed + speed_of(simulation)) / 2, 0, 1e-12) << rule.name();
    EXPECT_NEAR((first_effort + effort_of(simulation)) / 2, 7, 1e-9) << rule.name();
    if (!oscillates(rule)) {
      EXPECT_NEAR(first_speed, 0, 1e-12) << rule.name();
    }
  }
}

// The target is followed where its acceleration asks for less than the motor has: I θ'' + L.
TEST(PositionMotor, FollowsAMovingTarget) {
  for (const Rule& rule : all_rules()) {
    RigidBodyBuilder world;
    const Expression target = 0.3 * (1 - cos(2.0 * world.time()));
    Simulation simulation(
        build({.motors = {{.target = Target::kPosition, .value = target, .max_effort = 40}},
               .load = -7},
              world),
        options_of(rule, h));
    simulation.run(3);
    // The second and third derivative of θ are at most 1.2 and 2.4: the errors of a step, and of
    // forces and speeds that are of its middle or start.
    EXPECT_NEAR(angle_of(simulation), 0.3 * (1 - std::cos(6.0)), 2 * h * h * 1.2) << rule.name();
    EXPECT_NEAR(speed_of(simulation), 0.6 * std::sin(6.0), h * 1.2) << rule.name();
    EXPECT_NEAR(effort_of(simulation), 7 + kInertia * 1.2 * std::cos(6.0), kInertia * h * 2.4)
        << rule.name();
    const EnergyLedger& energy = simulation.energy();
    EXPECT_NEAR(energy.motor, energy.now.total() - energy.applied, 1e-12) << rule.name();
    EXPECT_NEAR(energy.applied, -7 * angle_of(simulation), h * 7) << rule.name();
  }
}

TEST(JointFriction, HoldsBelowItsBoundWithoutCreep) {
  for (const Rule& rule : all_rules()) {
    Simulation simulation(build({.friction = {{.max_effort = 2}}, .load = 1.999999}),
                          options_of(rule, h));
    for (int i = 0; i < 1000; ++i) simulation.step();
    EXPECT_LE(std::abs(angle_of(simulation)), 1e-15) << rule.name();
    EXPECT_LE(std::abs(speed_of(simulation)), 1e-15) << rule.name();
    EXPECT_NEAR(effort_of(simulation), -1.999999, 1e-12) << rule.name();
  }
}

TEST(JointFriction, SlipsAboveItsBoundWithWhatIsLeft) {
  for (const Rule& rule : all_rules()) {
    Simulation simulation(build({.friction = {{.max_effort = 2}}, .load = 2.5}),
                          options_of(rule, h));
    simulation.run(1);
    EXPECT_NEAR(speed_of(simulation), 1, 1e-12) << rule.name();  // (2.5 − 2)/I
    const double turned = (moves_by_mean(rule) ? 1 : 1 + h) / 2;
    EXPECT_NEAR(angle_of(simulation), turned, 1e-12) << rule.name();
    // Work of constant torques is by the mean velocity in all schemes.
    EXPECT_NEAR(simulation.energy().friction, -2 * 0.5, 1e-12) << rule.name();
    EXPECT_NEAR(simulation.energy().applied, 2.5 * 0.5, 1e-12) << rule.name();
  }
}

// A wheel that spins down stops after t = I ω/f, having turned by ω t/2, and stays.
TEST(JointFriction, BringsAWheelToRest) {
  constexpr double kSpeed = 4.03, kBound = 2, kTime = kInertia * kSpeed / kBound;  // 100.75 steps
  for (const Rule& rule : all_rules()) {
    Simulation simulation(build({.friction = {{.max_effort = kBound}}, .speed = kSpeed}),
                          options_of(rule, h));
    simulation.run(2);
    const double last_step = kBound / kInertia * h;  // [rad/s] what friction takes in a step
    EXPECT_LE(std::abs(speed_of(simulation)), rule.scheme == "trapezoidal-2" ? last_step : 1e-15)
        << rule.name();
    const double turned = kSpeed * kTime / 2 - (moves_by_mean(rule) ? 0 : h * kSpeed / 2);
    EXPECT_NEAR(angle_of(simulation), turned, h * last_step) << rule.name();
    EXPECT_NEAR(simulation.energy().friction,
                simulation.energy().now.kinetic - kInertia * kSpeed * kSpeed / 2, 1e-12)
        << rule.name();
    const double angle = angle_of(simulation);
    for (int i = 0; i < 100; ++i) simulation.step();
    EXPECT_NEAR(angle_of(simulation), angle, 1e-15) << rule.name();
  }
}

// On a slope the slider of mass m holds while m g sin α is below its friction f, and slides with
// g sin α − f/m beyond.
TEST(JointFriction, OfASliderHoldsAndSlidesOnASlope) {
  for (const Rule& rule : all_rules())
    for (const double bound : {9.0, 11.0}) {
      RigidBodyBuilder world;
      world.set_gravity({3, 0, -4});  // g sin α and g cos α
      const BodyId block = world.add_body(
          {.name = "block", .mass = 10.0 / 3, .inertia = Vector3d(1, 2, 3).asDiagonal()});
      world.add_joint({.name = "slider",
                       .type = JointType::kSlider,
                       .bodies = {kWorld, block},
                       .friction = {{.coordinate = JointCoordinate::kSlide, .max_effort = bound}}},
                      {.axis = {1, 0, 0}});
      Simulation simulation(world.build_model(), options_of(rule, h));
      for (int i = 0; i < 1000; ++i) simulation.step();
      const double a = bound < 10 ? 3 - bound * 0.3 : 0, t = 10;
      EXPECT_NEAR(simulation.state().v[0], a * t, 1e-14 + 1e-10 * a) << rule.name();
      EXPECT_NEAR(simulation.state().q[0], a * t * (moves_by_mean(rule) ? t : t + h) / 2,
                  1e-14 + 1e-9 * a)
          << rule.name();
    }
}

}  // namespace
}  // namespace stiction::testing
