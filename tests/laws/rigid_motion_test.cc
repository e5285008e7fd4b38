// The same motion written in two ways: bodies with locked axes and bodies held by joints, a body
// driven by formulas and a model in its own coordinates; and a chain in every scheme.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/laws/rigid_rules.h"
#include "tests/sanitizers.h"

namespace stiction::testing {
namespace {

using Eigen::AngleAxisd;
using Eigen::Quaterniond;
using Eigen::Vector3d;

bool is_second_order(const Rule& rule) { return rule.iterates || rule.scheme == "trapezoidal-2"; }

Pose pose_of(const Simulation& simulation, BodyId body) {
  return system_of(simulation).pose_of(simulation.state().t, simulation.state().q, body);
}

/// A stick that swings on a spring in the x-z plane, with that plane as locked axes or as a joint.
Model swinging_stick(bool is_locked) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  BodyDescription stick{.name = "stick",
                        .position = {0.8, 0, 0.1},
                        .orientation = Quaterniond(AngleAxisd(0.5, Vector3d::UnitY())),
                        .velocity = {0.2, 0, -0.4},
                        .angular_velocity = {0, 1.5, 0},
                        .mass = 1.3,
                        .center_of_mass = {0.1, 0, 0.05},
                        .inertia = Vector3d(0.05, 0.2, 0.17).asDiagonal()};
  if (is_locked) stick.free_axes = {true, false, true, false, true, false};
  const BodyId body = world.add_body(stick);
  world.add_spring({.name = "spring",
                    .bodies = {kWorld, body},
                    .rest_length = 0.6,
                    .stiffness = {40},
                    .damping = {0.3}},
                   {.from = {0, 0, 0.5}, .to = {0.7, 0, 0.3}});
  if (!is_locked)
    world.add_joint({.name = "plane", .type = JointType::kPlanar, .bodies = {kWorld, body}},
                    {.at = stick.position, .axis = {0, 1, 0}});
  return world.build_model();
}

TEST(LockedAxes, PlanarBodyMovesLikeOneThatAJointHoldsInThePlane) {
  for (const Rule& rule : all_rules()) {
    Simulation locked(swinging_stick(true), options_of(rule, 2e-3)),
        held(swinging_stick(false), options_of(rule, 2e-3));
    EXPECT_EQ(locked.model().num_v(), 3);
    locked.run(1.5);
    held.run(1.5);
    const Pose a = pose_of(locked, 0), b = pose_of(held, 0);
    // Nothing pushes out of the plane: the joint's rows are idle, and only rounding differs.
    EXPECT_LE((a.position - b.position).norm(), 1e-9) << rule.name();
    EXPECT_LE((a.rotation - b.rotation).norm(), 1e-9) << rule.name();
    EXPECT_EQ(a.position[1], 0) << rule.name();
    EXPECT_NEAR(locked.energy().now.total(), held.energy().now.total(), 1e-8) << rule.name();
  }
}

TEST(LockedAxes, BodyWithOneAxisSlidesAlongIt) {
  for (const Rule& rule : all_rules()) {
    RigidBodyBuilder world;
    world.set_gravity({3, -5, -kGravity});
    const BodyId body = world.add_body({.name = "bead",
                                        .position = {1, 2, 3},
                                        .velocity = {0, 0.5, 0},
                                        .mass = 2,
                                        .inertia = Vector3d(1, 1, 1).asDiagonal(),
                                        .free_axes = {false, true, false, false, false, false}});
    world.add_force({.body = body, .force = {1.0, 4.0, 1.0}, .point = {0.3, 0.2, 0.1}});
    Simulation simulation(world.build_model(), options_of(rule, 0.01));
    simulation.run(1);
    const bool is_mean =
        rule.iterates || rule.scheme == "moreau" || rule.scheme.starts_with("trapezoidal");
    const Pose pose = pose_of(simulation, 0);
    EXPECT_EQ(simulation.model().num_v(), 1);
    EXPECT_NEAR(pose.position[1], 2 + 0.5 - 1.5 * (is_mean ? 1 : 1.01), 1e-13) << rule.name();
    EXPECT_EQ(pose.position[0], 1);
    EXPECT_EQ(pose.position[2], 3);
    EXPECT_EQ(pose.rotation, Eigen::Matrix3d::Identity());
  }
}

// The bob of a pendulum on a cart that is driven by x(t), against an angle in its own coordinate:
// J a'' = −m l (g sin a + x'' cos a).
TEST(KinematicBody, DrivesAPendulumLikeItsOwnCoordinateDoes) {
  constexpr double kArm = 0.5, kMass = 1.4, kInertia = 0.08, kDuration = 2;
  SystemBuilder own;
  const Expression a = own.add_coordinate("a", {.position = 0.4, .velocity = 0});
  own.set_mass(a, a, kInertia + kMass * kArm * kArm);
  own.set_potential(-kMass * kGravity * kArm * cos(a));
  // x = 0.3 sin 3t
  own.add_force(a, kMass * kArm * cos(a) * 2.7 * sin(3.0 * own.time()));
  Simulation reference(own.build_model(), {.scheme = "trapezoidal-2", .h = 1e-4});
  reference.run(kDuration);

  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const int n : {200, 400, 800}) {
      RigidBodyBuilder world;
      world.set_gravity({0, 0, -kGravity});
      const BodyId cart = world.add_body({.name = "cart",
                                          .motion = BodyDescription::Motion::kKinematic,
                                          .shift = {0.3 * sin(3.0 * world.time()), 0.0, 0.0}});
      // a turns the bob towards +x, about −y. The cart starts at 0.9 m/s, and so does the bob.
      const BodyId bob =
          world.add_body({.name = "bob",
                          .position = {kArm * std::sin(0.4), 0, -kArm * std::cos(0.4)},
                          .orientation = Quaterniond(AngleAxisd(0.4, -Vector3d::UnitY())),
                          .velocity = {0.9, 0, 0},
                          .mass = kMass,
                          .inertia = Vector3d(0.1, kInertia, 0.1).asDiagonal()});
      world.add_joint({.name = "hinge", .type = JointType::kHinge, .bodies = {cart, bob}},
                      {.axis = {0, -1, 0}});
      Simulation simulation(world.build_model(), options_of(rule, kDuration / n));
      simulation.run(kDuration);
      steps.push_back(kDuration / n);
      // The joint's angle is zero at the start.
      const State& s = simulation.state();
      errors.push_back(std::abs(
          0.4 + system_of(simulation).joint_coordinate(s.t, s.q, 0, JointCoordinate::kAngle) -
          reference.state().q[0]));
    }
    EXPECT_GE(fitted_order(steps, errors), is_second_order(rule) ? 1.9 : 0.85) << rule.name();
  }
}

// A wheel on a kinematic body that turns many times, held by a torsional spring: whatever the axis
// of that turn, the spring sees the angle of the hinge alone. With equal inertias across the hinge
// it is harmonic, I θ'' = −γ θ.
TEST(KinematicBody, HingeOnATurningBodyCountsItsOwnTurns) {
  constexpr double kRate = 6, kStiffness = 20, kInertia = 0.3, kSpeed = 2;
  const double amplitude = kSpeed / std::sqrt(kStiffness / kInertia);
  std::vector<Vector3d> axes = {{0, 0.8, -0.6}, {0.6, 0, 0.8}, {0, 0, 1}, {1, 0, 0}};
  axes.resize(fewer_sanitized(4, 4));
  for (const Vector3d& axis : axes)
    for (const Rule& rule : all_rules()) {
      RigidBodyBuilder world;
      const BodyId arm = world.add_body({.name = "arm",
                                         .motion = BodyDescription::Motion::kKinematic,
                                         .turn_axis = axis,
                                         .angle = kRate * world.time()});
      const BodyId wheel =
          world.add_body({.name = "wheel",
                          .angular_velocity = kRate * axis + Vector3d(0, 0, kSpeed),
                          .mass = 1,
                          .inertia = Vector3d(0.2, 0.2, kInertia).asDiagonal()});
      const JointId hinge =
          world.add_joint({.name = "hinge", .type = JointType::kHinge, .bodies = {arm, wheel}});
      world.add_joint_spring(hinge, {.name = "spring", .stiffness = {kStiffness}});
      Simulation simulation(world.build_model(), options_of(rule, 5e-3));
      double largest = 0;
      for (int i = 0; i < 700; ++i) {  // three turns and a third
        simulation.step();
        const State& s = simulation.state();
        largest = std::max(
            largest,
            std::abs(
                system_of(simulation).joint_coordinate(s.t, s.q, hinge, JointCoordinate::kAngle)));
      }
      // hω/2 is 2 %: the error of the first swing in schemes of order one.
      EXPECT_NEAR(largest, amplitude, 0.06 * amplitude) << rule.name() << " " << axis.transpose();
    }
}

/// Three links of unequal inertia, the first on a hinge, the others on balls, thrown out of plane.
Model three_links() {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  BodyId last = kWorld;
  for (int i = 0; i < 3; ++i) {
    // Velocities that fit the hinge: all turn about the y axis through the origin.
    const Vector3d center(0.4 * i + 0.2, 0, 0), omega(0, 0.7, 0);
    const BodyId link = world.add_body({.name = "link " + std::to_string(i + 1),
                                        .position = center,
                                        .velocity = omega.cross(center),
                                        .angular_velocity = omega + Vector3d(i > 0 ? 1.0 : 0, 0, 0),
                                        .mass = 1 + 0.3 * i,
                                        .inertia = Vector3d(0.01, 0.03, 0.035).asDiagonal()});
    world.add_joint({.name = "joint " + std::to_string(i + 1),
                     .type = i == 0 ? JointType::kHinge : JointType::kBall,
                     .bodies = {last, link}},
                    {.at = {0.4 * i, 0, 0}, .axis = {0, 1, 0}});
    last = link;
  }
  world.add_force({.body = last, .force = {0.0, 3.0, 0.0}, .point = {0.2, 0, 0}});
  return world.build_model();
}

TEST(Chain, ConvergesInEverySchemeWithItsOrder) {
  constexpr double kDuration = 0.5;
  Simulation reference(three_links(), {.scheme = "trapezoidal-2", .h = kDuration / 8000});
  reference.run(kDuration);
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const int n : {100, 200, 400}) {
      Simulation simulation(three_links(), options_of(rule, kDuration / n));
      simulation.run(kDuration);
      VectorXd difference(simulation.model().num_v());
      simulation.model().displacement(reference.state().q, simulation.state().q, difference);
      steps.push_back(kDuration / n);
      errors.push_back(difference.norm());
    }
    EXPECT_GE(fitted_order(steps, errors), is_second_order(rule) ? 1.9 : 0.85) << rule.name();
  }
}

}  // namespace
}  // namespace stiction::testing
