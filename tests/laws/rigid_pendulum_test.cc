// Pendulums of rigid bodies on hinges and balls: the period with the complete elliptic integral, a
// steady cone, and what the joint bears, in the axes of both of its bodies.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/laws/rigid_rules.h"

namespace stiction::testing {
namespace {

using Eigen::AngleAxisd;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using std::numbers::pi;

/// A scheme with its order on a pendulum in six coordinates, without spin: moreau's rows are at the
/// middle of the step. trapezoidal-1 takes rows at a prediction of the end, where turning joints
/// cost it an order.
double order_of(const Rule& rule) {
  return rule.iterates || rule.scheme == "moreau" || rule.scheme == "trapezoidal-2" ? 2 : 1;
}

/// A bar of unequal inertias whose centre hangs `arm` below a pivot at the origin, turned by
/// `angle` about the y axis.
struct Bar {
  JointType joint = JointType::kHinge;
  double angle = 0;
  Vector3d angular_velocity = Vector3d::Zero();
  double mass = 1.7, arm = 0.6;
  Vector3d inertia{0.21, 0.17, 0.05};

  Model build() const {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -kGravity});
    const Quaterniond orientation(AngleAxisd(angle, Vector3d::UnitY()));
    const Vector3d center = orientation * Vector3d(0, 0, -arm);
    const BodyId bar = world.add_body({.name = "bar",
                                       .position = center,
                                       .orientation = orientation,
                                       .velocity = angular_velocity.cross(center),
                                       .angular_velocity = angular_velocity,
                                       .mass = mass,
                                       .inertia = inertia.asDiagonal()});
    world.add_joint({.name = "pivot", .type = joint, .bodies = {kWorld, bar}}, {.axis = {0, 1, 0}});
    return world.build_model();
  }
  double inertia_at_pivot() const { return inertia[1] + mass * arm * arm; }
};

/// From the place of the centre of mass.
double angle_of(const Simulation& simulation) {
  const VectorXd& q = simulation.state().q;
  return std::atan2(-q[0], -q[2]);
}

/// The complete elliptic integral of the first kind by the arithmetic-geometric mean.
double complete_elliptic_integral(double modulus) {
  double a = 1, b = std::sqrt(1 - modulus * modulus);
  while (std::abs(a - b) > 4 * std::numeric_limits<double>::epsilon()) {
    const double mean = 0.5 * (a + b);
    b = std::sqrt(a * b);
    a = mean;
  }
  return pi / (2 * a);
}

// A quarter of a period T = 4 K(sin(a/2)) √(J/mgl) after its release at the angle a the bar hangs
// straight, where it moves fastest and its angle shows all of the error.
TEST(Pendulum, HangsStraightAfterAQuarterOfTheEllipticPeriod) {
  const Bar bar{.angle = 2};
  const double period = 4 * complete_elliptic_integral(std::sin(bar.angle / 2)) *
                        std::sqrt(bar.inertia_at_pivot() / (bar.mass * kGravity * bar.arm));
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const int n : {100, 200, 400, 800}) {
      Simulation simulation(bar.build(), options_of(rule, period / 4 / n));
      simulation.run(period / 4);
      steps.push_back(period / 4 / n);
      errors.push_back(std::abs(angle_of(simulation)));
    }
    EXPECT_NEAR(fitted_order(steps, errors), order_of(rule), 0.15) << rule.name();
  }
}

// A body that turns as a whole about the vertical through its pivot, its axis of symmetry at the
// angle a to it, does so steadily if (A − C) Ω² cos a = m g l; A and C are its transverse and axial
// inertia at the pivot.
TEST(Pendulum, ConeOfABodyOnABallIsSteady) {
  Bar bar{.joint = JointType::kBall, .angle = 0.7, .inertia = {0.2, 0.2, 0.05}};
  const double rate = std::sqrt(bar.mass * kGravity * bar.arm /
                                ((bar.inertia_at_pivot() - 0.05) * std::cos(bar.angle)));
  bar.angular_velocity = {0, 0, rate};
  const double duration = 2 * pi / rate;
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const int n : {100, 200, 400, 800}) {
      Simulation simulation(bar.build(), options_of(rule, duration / n));
      const VectorXd start = simulation.state().q;
      simulation.run(duration);
      VectorXd move(6);
      simulation.model().displacement(start, simulation.state().q, move);
      steps.push_back(duration / n);
      errors.push_back(move.norm());
    }
    EXPECT_NEAR(fitted_order(steps, errors), order_of(rule), 0.15) << rule.name();
  }
}

std::vector<RigidBodySystem::Reaction> mean_reactions(const Simulation& simulation) {
  const std::vector<double>& impulses = simulation.joint_impulses();
  const VectorXd forces =
      Eigen::Map<const VectorXd>(impulses.data(), static_cast<Eigen::Index>(impulses.size())) /
      simulation.options().h;
  std::vector<RigidBodySystem::Reaction> reactions;
  const State& state = simulation.state();
  system_of(simulation).evaluate_reactions(state.t, state.q, forces, reactions);
  return reactions;
}

/// The joint's force on body b in the world at the state of the simulation; checks that what it
/// does to body a is the opposite.
Vector3d force_on_b(const Simulation& simulation, const RigidBodySystem::Reaction& reaction, int a,
                    int b) {
  const State& state = simulation.state();
  const auto in_world = [&](int body, const Vector3d& vector) {
    return Vector3d(system_of(simulation).pose_of(state.t, state.q, body).rotation * vector);
  };
  const Vector3d force = in_world(b, reaction.force[1]);
  EXPECT_LE((force + in_world(a, reaction.force[0])).norm(), 1e-13 * (1 + force.norm()));
  return force;
}

// Released level, the bar has the speed ω² = 2 m g l sin b / J when it has turned by b. The hinge
// then pulls with m (g sin b + l ω²) along it and bears m g cos b (1 − m l²/J) across. What is
// compared is the mean over the last step, at its end: an error of order h in every scheme.
TEST(Pendulum, HingeBearsTheClosedFormReactionOfASwingingBar) {
  const Bar bar{.angle = pi / 2};
  const double j = bar.inertia_at_pivot(), m = bar.mass, l = bar.arm;
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const int n : {50, 100, 200, 400}) {
      Simulation simulation(bar.build(), options_of(rule, 0.3 / n));
      simulation.run(0.3);
      const double b = pi / 2 - angle_of(simulation);
      const RigidBodySystem::Reaction pivot = mean_reactions(simulation)[0];
      // The body's x axis points down when it is level, its z axis to the pivot.
      const Vector3d exact(-m * kGravity * std::cos(b) * (1 - m * l * l / j), 0,
                           m * kGravity * std::sin(b) * (1 + 2 * m * l * l / j));
      steps.push_back(0.3 / n);
      errors.push_back((pivot.force[1] - exact).norm());
      force_on_b(simulation, pivot, kWorld, 0);
      // Nothing turns the bar out of its plane, and a hinge leaves its axis free.
      for (const int side : {0, 1})
        EXPECT_LE(pivot.torque[side].norm(), 1e-12 * exact.norm()) << rule.name();
    }
    EXPECT_NEAR(fitted_order(steps, errors), 1, 0.15) << rule.name();
    EXPECT_LE(errors.back(), 0.02 * m * kGravity) << rule.name();
  }
}

// Two bodies hang from each other at rest: the upper joint carries both, the lower one the lower. A
// weight off the axis of the fixed joint adds its moment.
TEST(Pendulum, JointsAtRestBearTheWeightBelowThem) {
  for (const Rule& rule : all_rules()) {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -kGravity});
    const Eigen::Matrix3d inertia = Vector3d(0.1, 0.2, 0.25).asDiagonal();
    const Quaterniond turned(AngleAxisd(0.6, Vector3d(1, -2, 0.5).normalized()));
    const BodyId upper = world.add_body({.name = "upper",
                                         .position = {0, 0, -0.5},
                                         .orientation = turned,
                                         .mass = 2,
                                         .inertia = inertia});
    const BodyId lower = world.add_body({.name = "lower",
                                         .position = {0.3, 0, -1},
                                         .orientation = turned.inverse(),
                                         .mass = 3,
                                         .inertia = inertia});
    world.add_joint({.name = "ceiling", .type = JointType::kFixed, .bodies = {kWorld, upper}},
                    {.at = {0, 0, 0}});
    world.add_joint({.name = "weld", .type = JointType::kFixed, .bodies = {upper, lower}},
                    {.at = {0, 0, -1}});
    Simulation simulation(world.build_model(), options_of(rule, 0.01));
    for (int i = 0; i < 20; ++i) simulation.step();
    // Rigid rows yield by up to 1e-8 of the velocity that gravity would give in a step, and take it
    // back later.
    constexpr double kYield = 1e-6;
    const std::vector<RigidBodySystem::Reaction> joints = mean_reactions(simulation);
    EXPECT_LE(
        (force_on_b(simulation, joints[0], kWorld, upper) - Vector3d(0, 0, 5 * kGravity)).norm(),
        kYield * 5 * kGravity)
        << rule.name();
    EXPECT_LE(
        (force_on_b(simulation, joints[1], upper, lower) - Vector3d(0, 0, 3 * kGravity)).norm(),
        kYield * 5 * kGravity)
        << rule.name();
    // The weight at x = 0.3 turns by 0.3 · 3g about +y; the ceiling's answer in its own axes, and
    // the weld's on the lower body in that body's.
    const Vector3d moment(0, -0.9 * kGravity, 0);
    EXPECT_LE((joints[0].torque[0] + moment).norm(), kYield * 5 * kGravity) << rule.name();
    EXPECT_LE((turned.inverse() * joints[1].torque[1] - moment).norm(), kYield * 5 * kGravity)
        << rule.name();
    EXPECT_LE((turned * joints[1].torque[0] + moment).norm(), kYield * 5 * kGravity) << rule.name();
  }
}

}  // namespace
}  // namespace stiction::testing
