// Gears, racks, screws and a differential made of gears: constant accelerations from closed forms,
// and ratios that hold through many turns.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/laws/rigid_rules.h"

namespace stiction::testing {
namespace {

using Eigen::Vector3d;
using std::numbers::pi;

/// What a scheme makes of a constant acceleration: the end of the step's velocity moves it, or the
/// mean one.
double distance_at(const Rule& rule, double acceleration, double t, double h) {
  const bool is_mean =
      rule.iterates || rule.scheme == "moreau" || rule.scheme.starts_with("trapezoidal");
  return acceleration * t * (is_mean ? t : t + h) / 2;
}

/// Rigid rows yield by 1e-8 of a step's free motion at most.
constexpr double kYield = 1e-7;

double coordinate(const Simulation& simulation, JointId joint,
                  JointCoordinate which = JointCoordinate::kAngle) {
  const State& s = simulation.state();
  return system_of(simulation).joint_coordinate(s.t, s.q, joint, which);
}

BodyId add_wheel(RigidBodyBuilder& world, const std::string& name, double axial,
                 const Vector3d& angular_velocity = Vector3d::Zero(),
                 const Vector3d& at = Vector3d::Zero()) {
  return world.add_body({.name = name,
                         .position = at,
                         .angular_velocity = angular_velocity,
                         .mass = 1,
                         .inertia = Vector3d(0.6 * axial, 0.6 * axial, axial).asDiagonal()});
}

// A torque τ on the first of two wheels geared by θ₂ = n θ₁: θ₁'' = τ/(I₁ + n² I₂).
TEST(Gear, AcceleratesBothWheelsByTheirRatio) {
  constexpr double kFirst = 0.4, kSecond = 0.9, kRatio = -2.5, kTorque = 3, h = 0.01;
  for (const Rule& rule : all_rules()) {
    RigidBodyBuilder world;
    const BodyId first = add_wheel(world, "first", kFirst),
                 second = add_wheel(world, "second", kSecond, {0, 0, 0}, {1, 0, 0});
    const JointId a =
        world.add_joint({.name = "a", .type = JointType::kHinge, .bodies = {kWorld, first}});
    const JointId b = world.add_joint(
        {.name = "b", .type = JointType::kHinge, .bodies = {kWorld, second}}, {.at = {1, 0, 0}});
    world.add_gear("gear", a, b, kRatio);
    world.add_force({.body = first, .torque = {0.0, 0.0, kTorque}});
    Simulation simulation(world.build_model(), options_of(rule, h));
    simulation.run(2);
    const double turned = distance_at(rule, kTorque / (kFirst + kRatio * kRatio * kSecond), 2, h);
    EXPECT_NEAR(coordinate(simulation, a), turned, kYield * turned) << rule.name();
    EXPECT_NEAR(coordinate(simulation, b), kRatio * turned, kYield * turned) << rule.name();
  }
}

TEST(Gear, HoldsItsRatioThroughAHundredTurns) {
  constexpr double kRatio = 0.75, kSpeed = 40, h = 0.01;
  for (const Rule& rule : all_rules()) {
    RigidBodyBuilder world;
    const BodyId first = add_wheel(world, "first", 0.4, {0, 0, kSpeed}),
                 second = add_wheel(world, "second", 0.9, {0, 0, kRatio * kSpeed}, {1, 0, 0});
    const JointId a =
        world.add_joint({.name = "a", .type = JointType::kHinge, .bodies = {kWorld, first}});
    const JointId b = world.add_joint(
        {.name = "b", .type = JointType::kHinge, .bodies = {kWorld, second}}, {.at = {1, 0, 0}});
    world.add_gear("gear", a, b, kRatio);
    Simulation simulation(world.build_model(), options_of(rule, h));
    simulation.run(16);
    const double turned = 16 * kSpeed;  // 102 turns
    // Sums of 1,600 equal turns, whose rounding is relative to the whole.
    EXPECT_NEAR(coordinate(simulation, a), turned, 1e-10) << rule.name();
    EXPECT_NEAR(coordinate(simulation, b) - kRatio * coordinate(simulation, a), 0, 1e-11)
        << rule.name();
  }
}

// A force F on the slider of a rack whose pinion has radius r: x'' = F/(m + I/r²).
TEST(Rack, CarriesTheInertiaOfItsPinion) {
  constexpr double kInertia = 0.4, kRadius = 0.2, kForce = 5, h = 0.01;
  for (const Rule& rule : all_rules()) {
    RigidBodyBuilder world;
    const BodyId pinion = add_wheel(world, "pinion", kInertia);
    const BodyId bar = world.add_body({.name = "bar",
                                       .position = {0, kRadius, 0},
                                       .mass = 2,
                                       .inertia = Vector3d(1, 2, 3).asDiagonal()});
    const JointId hinge =
        world.add_joint({.name = "hinge", .type = JointType::kHinge, .bodies = {kWorld, pinion}});
    const JointId slider =
        world.add_joint({.name = "slider", .type = JointType::kSlider, .bodies = {kWorld, bar}},
                        {.at = {0, kRadius, 0}, .axis = {1, 0, 0}});
    world.add_rack("rack", hinge, slider, kRadius);
    world.add_force({.body = bar, .force = {kForce, 0.0, 0.0}});
    Simulation simulation(world.build_model(), options_of(rule, h));
    simulation.run(2);
    const double moved = distance_at(rule, kForce / (2 + kInertia / (kRadius * kRadius)), 2, h);
    EXPECT_NEAR(coordinate(simulation, slider, JointCoordinate::kSlide), moved, kYield * moved)
        << rule.name();
    EXPECT_NEAR(coordinate(simulation, hinge), moved / kRadius, kYield * moved / kRadius)
        << rule.name();
  }
}

// A nut that gravity drives down its spindle of pitch p: z'' = −g/(1 + I(2π/p)²/m). It turns more
// than thirty times, by up to 0.6 in a step.
TEST(Screw, NutDescendsByItsPitchPerTurn) {
  constexpr double kMass = 2, kInertia = 0.01, kGravity = 9.81, h = 0.005;
  for (const double pitch : {0.05, -0.08})
    for (const Rule& rule : all_rules()) {
      RigidBodyBuilder world;
      world.set_gravity({0, 0, -kGravity});
      const BodyId nut =
          world.add_body({.name = "nut",
                          .mass = kMass,
                          .inertia = Vector3d(kInertia, kInertia, kInertia).asDiagonal()});
      const JointId screw = world.add_joint(
          {.name = "screw", .type = JointType::kScrew, .bodies = {kWorld, nut}, .pitch = pitch});
      Simulation simulation(world.build_model(), options_of(rule, h));
      simulation.run(5);
      const double per_turn = 2 * pi / pitch;
      const double fallen =
          distance_at(rule, kGravity / (1 + kInertia * per_turn * per_turn / kMass), 5, h);
      EXPECT_GT(fallen, 30 * std::abs(pitch));
      EXPECT_NEAR(coordinate(simulation, screw, JointCoordinate::kSlide), -fallen, kYield * fallen)
          << rule.name();
      EXPECT_NEAR(coordinate(simulation, screw), -fallen * per_turn,
                  kYield * std::abs(fallen * per_turn))
          << rule.name();
      // No drift: z and the angle fit together.
      EXPECT_NEAR(coordinate(simulation, screw, JointCoordinate::kSlide) -
                      coordinate(simulation, screw) / per_turn,
                  0, kYield * std::abs(pitch))
          << rule.name();
    }
}

/// Side wheels on the axis of a carrier, and a planet across, with a torque on the left wheel.
struct Differential {
  double side = 0.2, carrier = 0.5, axial = 0.1, transverse = 0.06, torque = 1.5;
  JointId main = 0, on_left = 0, on_right = 0, cross = 0;

  Model build() {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -9.81});  // along the axis: borne by the hinges
    const BodyId frame = add_wheel(world, "carrier", carrier);
    const BodyId left = add_wheel(world, "left", side), right = add_wheel(world, "right", side);
    const BodyId planet =
        world.add_body({.name = "planet",
                        .mass = 1,
                        .inertia = Vector3d(axial, transverse, transverse).asDiagonal()});
    const auto hinge = [&](const char* name, BodyId a, BodyId b, const Vector3d& axis) {
      return world.add_joint({.name = name, .type = JointType::kHinge, .bodies = {a, b}},
                             {.axis = axis});
    };
    main = hinge("main", kWorld, frame, {0, 0, 1});
    on_left = hinge("on left", frame, left, {0, 0, 1});
    on_right = hinge("on right", frame, right, {0, 0, 1});
    cross = hinge("cross", frame, planet, {1, 0, 0});
    world.add_gear("left gear", cross, on_left, 1);
    world.add_gear("right gear", cross, on_right, -1);
    world.add_force({.body = left, .torque = {0.0, 0.0, torque}});
    return world.build_model();
  }
};

// θ_left = c + p, θ_right = c − p with the turns c of the carrier and p of the planet in it. The
// torque τ gives c'' = τ/(2I + I_c + I_t) and p'' = τ/(2I + I_p), I_t and I_p the planet's
// transverse and axial inertia: its gyroscopic torque is borne by its hinge.
TEST(Differential, SharesATorqueBetweenCarrierAndPlanet) {
  Differential d;
  const double c = d.torque / (2 * d.side + d.carrier + d.transverse) / 2,
               p = d.torque / (2 * d.side + d.axial) / 2;  // after one second
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const double h : {0.02, 0.01, 0.005}) {
      Simulation simulation(d.build(), options_of(rule, h));
      simulation.run(1);
      steps.push_back(h);
      errors.push_back(
          std::hypot(coordinate(simulation, d.main) - c, coordinate(simulation, d.cross) - p,
                     coordinate(simulation, d.on_left) + coordinate(simulation, d.on_right)));
    }
    const bool is_second = rule.iterates || rule.scheme == "trapezoidal-2";
    EXPECT_GE(fitted_order(steps, errors), is_second ? 1.8 : 0.8) << rule.name();
    EXPECT_LE(errors.back(), is_second ? 1e-4 : 1e-2) << rule.name();
  }
}

}  // namespace
}  // namespace stiction::testing
