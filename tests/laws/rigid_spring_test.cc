// Springs between bodies, on joints and in bushings, and joints with a compliance: frequencies and
// decays from closed forms, with the order of each scheme.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
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

bool is_second_order(const Rule& rule) {
  return rule.iterates || rule.scheme.starts_with("trapezoidal");
}

/// An oscillation x(t) of a model: x read off the state, and what it is after `duration`.
struct Oscillation {
  Model model;
  std::function<double(const Simulation&)> read;
  double exact = 0, duration = 1, amplitude = 1;
};

/// Checks that every scheme converges to the closed form with its order.
void expect_oscillation(const std::string& what, const Oscillation& oscillation) {
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const int n : {200, 400, 800}) {
      Simulation simulation(oscillation.model, options_of(rule, oscillation.duration / n));
      simulation.run(oscillation.duration);
      steps.push_back(oscillation.duration / n);
      errors.push_back(std::abs(oscillation.read(simulation) - oscillation.exact) /
                       oscillation.amplitude);
    }
    EXPECT_GE(fitted_order(steps, errors), is_second_order(rule) ? 1.9 : 0.85)
        << what << ", " << rule.name();
    EXPECT_LE(errors.back(), is_second_order(rule) ? 1e-3 : 0.1) << what << ", " << rule.name();
  }
}

double angle_of(const Simulation& simulation, JointId joint) {
  const State& s = simulation.state();
  return system_of(simulation).joint_coordinate(s.t, s.q, joint, JointCoordinate::kAngle);
}

/// x after t from rest at 1: m x'' + δ x' + γ x = 0.
double damped(double mass, double damping, double stiffness, double t) {
  const double decay = damping / (2 * mass), rate = std::sqrt(stiffness / mass - decay * decay);
  return std::exp(-decay * t) * (std::cos(rate * t) + decay / rate * std::sin(rate * t));
}

// Two bodies on a spring between them swing with γ(1/m₁ + 1/m₂).
TEST(BodySpring, LinearOneSwingsWithTheReducedMass) {
  constexpr double kStiffness = 50, kDamping = 0.4, kAmplitude = 0.2, kTime = 1.3;
  const double reduced = 1 / (1 / 2.0 + 1 / 3.0);
  RigidBodyBuilder world;
  const BodyId a =
      world.add_body({.name = "a", .mass = 2, .inertia = Vector3d(1, 1, 1).asDiagonal()});
  const BodyId b = world.add_body({.name = "b",
                                   .position = {1 + kAmplitude, 0, 0},
                                   .mass = 3,
                                   .inertia = Vector3d(1, 1, 1).asDiagonal()});
  world.add_spring({.name = "spring",
                    .bodies = {a, b},
                    .rest_length = 1,
                    .stiffness = {kStiffness},
                    .damping = {kDamping}},
                   {.from = {0, 0, 0}, .to = {1 + kAmplitude, 0, 0}});
  expect_oscillation(
      "two bodies",
      {.model = world.build_model(),
       .read = [](const Simulation& s) { return s.state().q[7] - s.state().q[0] - 1; },
       .exact = kAmplitude * damped(reduced, kDamping, kStiffness, kTime),
       .duration = kTime,
       .amplitude = kAmplitude});
}

// Without rest length a spring to a point is three springs: harmonic at √(γ/m) along every axis,
// through the point itself too.
TEST(BodySpring, WithoutRestLengthIsHarmonicInAllDirections) {
  constexpr double kStiffness = 20, kMass = 1.5, kTime = 1.7;
  const double rate = std::sqrt(kStiffness / kMass);
  const Vector3d start(0.3, -0.2, 0), velocity(0, 0.5, 0.7);
  const Vector3d exact = std::cos(rate * kTime) * start + std::sin(rate * kTime) / rate * velocity;
  RigidBodyBuilder world;
  const BodyId body = world.add_body({.name = "body",
                                      .position = start,
                                      .velocity = velocity,
                                      .mass = kMass,
                                      .inertia = Vector3d(1, 1, 1).asDiagonal()});
  world.add_spring({.name = "spring", .bodies = {kWorld, body}, .stiffness = {kStiffness}},
                   {.from = {0, 0, 0}, .to = start});
  expect_oscillation(
      "no rest length",
      {.model = world.build_model(),
       .read = [&](const Simulation& s) { return (s.state().q.head<3>() - exact).norm(); },
       .duration = kTime});
}

// A torsional spring on a hinge, at rest at an angle of its own.
TEST(BodySpring, TorsionalOneOnAHingeSwingsTheInertia) {
  constexpr double kStiffness = 8, kDamping = 0.05, kInertia = 0.3, kRest = 0.6, kTime = 1.1;
  RigidBodyBuilder world;
  const BodyId wheel = world.add_body(
      {.name = "wheel", .mass = 1, .inertia = Vector3d(0.2, 0.2, kInertia).asDiagonal()});
  const JointId hinge =
      world.add_joint({.name = "hinge", .type = JointType::kHinge, .bodies = {kWorld, wheel}});
  world.add_joint_spring(
      hinge, {.name = "spring", .rest = kRest, .stiffness = {kStiffness}, .damping = {kDamping}});
  expect_oscillation("torsion", {.model = world.build_model(),
                                 .read = [](const Simulation& s) { return angle_of(s, 0) - kRest; },
                                 .exact = -kRest * damped(kInertia, kDamping, kStiffness, kTime),
                                 .duration = kTime,
                                 .amplitude = kRest});
}

// A bushing at the centre of mass has six frequencies, √(γ/m) along and √(γ/I) about the axes of
// its frame. Turns are 2 vec q = 2 sin(θ/2), so that at θ = 1e-3 the frequency is off by 1e-7.
TEST(Bushing, HasSixFrequencies) {
  constexpr double kMass = 2, kSmall = 1e-3;
  const Vector3d inertia(0.2, 0.3, 0.4);
  const std::vector<double> stiffness{20, 35, 50, 4, 7, 12};
  const Eigen::Quaterniond turned(Eigen::AngleAxisd(0.8, Vector3d(2, -1, 1).normalized()));
  for (int axis = 0; axis < 6; ++axis) {
    const double rate = std::sqrt(stiffness[axis] / (axis < 3 ? kMass : inertia[axis - 3]));
    RigidBodyBuilder world;
    // The bushing's axes are the body's, which are turned in the world.
    Vector3d velocity = Vector3d::Zero(), angular = Vector3d::Zero();
    (axis < 3 ? velocity : angular) = kSmall * rate * (turned * Vector3d::Unit(axis % 3));
    const BodyId body = world.add_body({.name = "body",
                                        .orientation = turned,
                                        .velocity = velocity,
                                        .angular_velocity = angular,
                                        .mass = kMass,
                                        .inertia = inertia.asDiagonal()});
    world.add_spring({.name = "bushing",
                      .kind = BodySpringDescription::Kind::kBushing,
                      .bodies = {kWorld, body},
                      .frames = {Pose{.rotation = turned.toRotationMatrix()}, Pose{}},
                      .stiffness = stiffness,
                      .damping = {0.0}});
    const double period = 2 * pi / rate, h = period / 1000;
    Simulation simulation(world.build_model(), {.scheme = "trapezoidal-2", .h = h});
    const VectorXd start = simulation.state().v;
    simulation.run(period / 4);
    // At a quarter of the period the velocity is zero, the amplitude that of the closed form.
    // Phase error of the trapezoidal rule: (hω)²/12 of the phase.
    EXPECT_LE(simulation.state().v.norm(), 1e-5 * start.norm()) << axis;
    VectorXd way(6);
    simulation.model().displacement(simulation.model().initial_state().q, simulation.state().q,
                                    way);
    EXPECT_NEAR(way.norm(), kSmall, 1e-5 * kSmall) << axis;
    simulation.run(period / 4);
    EXPECT_LE((simulation.state().v + start).norm(), 1e-4 * start.norm()) << axis;
  }
}

// A joint of compliance ε and damping time τ is a spring of stiffness 1/ε and damping τ/ε.
TEST(CompliantJoint, IsASpringOfTheInverseStiffness) {
  constexpr double kCompliance = 0.02, kDampingTime = 0.01, kMass = 1.5, kTime = 0.9;
  constexpr double kGravity = 9.81;
  const double sag = kMass * kGravity * kCompliance;  // at rest
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const BodyId body = world.add_body({.name = "body",
                                      .position = {0, 0, -1},
                                      .mass = kMass,
                                      .inertia = Vector3d(1, 1, 1).asDiagonal()});
  world.add_distance({.name = "rod",
                      .bodies = {kWorld, body},
                      .compliance = kCompliance,
                      .damping_time = kDampingTime},
                     {.from = {0, 0, 0}, .to = {0, 0, -1}});
  expect_oscillation(
      "compliant distance",
      {.model = world.build_model(),
       .read = [](const Simulation& s) { return s.state().q[2]; },
       .exact = -1 - sag * (1 - damped(kMass, kDampingTime / kCompliance, 1 / kCompliance, kTime)),
       .duration = kTime,
       .amplitude = sag});
}

}  // namespace
}  // namespace stiction::testing
