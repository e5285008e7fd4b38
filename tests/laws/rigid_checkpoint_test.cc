// Bodies with everything on them: a run that is saved and restored goes on with the same bits, and
// the entries of the energy ledger add up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/laws/rigid_rules.h"

namespace stiction::testing {
namespace {

using Eigen::Vector3d;

/// An arm on a motor with a limit, a forearm with friction and a spring, a ball on a rope of
/// springs that a force pushes and that bounces on the floor, a gear and a kinematic lift.
Model machine() {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  const Eigen::Matrix3d inertia = Vector3d(0.02, 0.05, 0.06).asDiagonal();
  const BodyId lift = world.add_body({.name = "lift",
                                      .motion = BodyDescription::Motion::kKinematic,
                                      .shift = {0.0, 0.0, 0.1 * sin(2.0 * world.time())}});
  const BodyId arm = world.add_body({.name = "arm",
                                     .position = {0.3, 0, 1},
                                     .velocity = {0, 0, 0.2},
                                     .mass = 1,
                                     .inertia = inertia});
  const BodyId forearm = world.add_body({.name = "forearm",
                                         .position = {0.9, 0, 1},
                                         .velocity = {0, 0, 0.2},
                                         .mass = 0.8,
                                         .inertia = inertia});
  const BodyId ball = world.add_body({.name = "ball",
                                      .position = {1.4, 0, 0.3},
                                      .angular_velocity = {1, 2, 3},
                                      .mass = 0.5,
                                      .inertia = 0.002 * Eigen::Matrix3d::Identity()});
  const JointId shoulder =
      world.add_joint({.name = "shoulder",
                       .type = JointType::kHinge,
                       .bodies = {lift, arm},
                       .limits = {{.lower = -0.5, .upper = 0.4, .restitution = 0.3}},
                       .motors = {{.value = 0.8 * cos(3.0 * world.time()), .max_effort = 6}}},
                      {.at = {0, 0, 1}, .axis = {0, 1, 0}});
  const JointId elbow = world.add_joint({.name = "elbow",
                                         .type = JointType::kHinge,
                                         .bodies = {arm, forearm},
                                         .friction = {{.max_effort = 0.7}}},
                                        {.at = {0.6, 0, 1}, .axis = {0, 1, 0}});
  world.add_joint_spring(elbow, {.name = "tendon", .stiffness = {15}, .damping = {0.2}});
  world.add_spring({.name = "rope",
                    .bodies = {forearm, ball},
                    .rest_length = 0.6,
                    .stiffness = {30},
                    .damping = {0.1}},
                   {.from = {1.2, 0, 1}, .to = {1.4, 0, 0.35}});
  world.add_force({.body = ball, .force = {0.0, 0.4 * sin(5.0 * world.time()), 0.0}});
  const BodyId wheel =
      world.add_body({.name = "wheel", .position = {0, 1, 1}, .mass = 1, .inertia = inertia});
  const JointId axle =
      world.add_joint({.name = "axle", .type = JointType::kHinge, .bodies = {kWorld, wheel}},
                      {.at = {0, 1, 1}, .axis = {0, 1, 0}});
  world.add_gear("gear", shoulder, axle, -1.5);
  const MaterialId rubber = world.add_material({.name = "rubber", .mu = 0.4, .restitution = 0.5});
  world.add_shape({.body = ball, .shape = Sphere{.radius = 0.1}, .material = rubber});
  world.add_shape({.body = kWorld, .shape = Plane{}});
  return world.build_model();
}

bool has_same_bits(const VectorXd& a, const VectorXd& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), sizeof(double) * static_cast<std::size_t>(a.size())) == 0;
}

TEST(RigidCheckpoint, GoesOnWithTheSameBits) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("stiction_rigid_checkpoint_" + std::to_string(::getpid()) + ".h5"))
                               .string();
  for (const Rule& rule : all_rules()) {
    const SimulationOptions options = options_of(rule, 2e-3);
    Simulation whole(machine(), options);
    for (int i = 0; i < 60; ++i) whole.step();
    whole.save(path);
    for (int i = 0; i < 60; ++i) whole.step();
    Simulation continued(machine(), options);
    continued.restore(path);
    EXPECT_FALSE(has_same_bits(continued.state().q, whole.state().q)) << rule.name();
    for (int i = 0; i < 60; ++i) continued.step();
    EXPECT_EQ(continued.state().t, whole.state().t) << rule.name();
    EXPECT_TRUE(has_same_bits(continued.state().q, whole.state().q)) << rule.name();
    EXPECT_TRUE(has_same_bits(continued.state().v, whole.state().v)) << rule.name();
    EXPECT_EQ(continued.joint_impulses(), whole.joint_impulses()) << rule.name();
    EXPECT_EQ(continued.energy().now.total(), whole.energy().now.total()) << rule.name();
    EXPECT_EQ(continued.energy().motor, whole.energy().motor) << rule.name();
  }
  std::filesystem::remove(path);
}

// kinetic + potential + spring = start + applied + motor + friction + impact + numerical: the last
// entry, which no cause explains, goes with the order of the scheme.                          (T30)
TEST(RigidLedger, ExplainsTheEnergyUpToTheErrorOfTheScheme) {
  for (const Rule& rule : all_rules()) {
    std::vector<double> numerical;
    for (const double h : {2e-3, 1e-3}) {
      Simulation simulation(machine(), options_of(rule, h));
      simulation.run(0.6);
      const EnergyLedger& e = simulation.energy();
      const double sum = e.start + e.applied + e.motor + e.friction + e.impact + e.numerical;
      EXPECT_NEAR(e.now.kinetic + e.now.potential + e.now.spring, sum, 1e-11 * e.start)
          << rule.name();
      EXPECT_LT(e.friction, 0) << rule.name();
      EXPECT_LT(e.impact, 0) << rule.name();
      EXPECT_NE(e.motor, 0) << rule.name();
      EXPECT_NE(e.applied, 0) << rule.name();
      numerical.push_back(std::abs(e.numerical));
    }
    const bool is_second = rule.iterates || rule.scheme == "trapezoidal-2";
    EXPECT_LE(numerical[1], (is_second ? 0.45 : 0.65) * numerical[0]) << rule.name();
    EXPECT_LE(numerical[0], is_second ? 1e-3 : 0.2) << rule.name();
  }
}

}  // namespace
}  // namespace stiction::testing
