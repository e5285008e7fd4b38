// Sleep is exact: what the laws of motion move, however slowly, is never put to sleep, and what
// they hold is.
#include <gtest/gtest.h>

#include <cmath>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/gravity.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using testing::kGravity;

SimulationOptions options_with(const std::string& scheme, double h, double tolerance,
                               bool sleep = true) {
  return {.scheme = scheme,
          .h = h,
          .tolerance = tolerance,
          .friction = FrictionSection::disc(),
          .sleep = sleep};
}

/// A box on a plane that is tilted by `angle`, seen along the plane: gravity is tilted.
Model make_incline(double angle, double mu) {
  RigidBodyBuilder world;
  world.set_gravity({kGravity * std::sin(angle), 0, -kGravity * std::cos(angle)});
  const MaterialId wood = world.add_material({.name = "wood", .mu = mu});
  const BodyId box = world.add_body({.name = "box", .position = {0, 0, 0.05}, .mass = 1},
                                    {{.shape = Box{.size = {0.4, 0.3, 0.1}}}});
  world.add_shape({.body = box, .shape = Box{.size = {0.4, 0.3, 0.1}}, .material = wood});
  world.add_shape({.shape = Plane{}, .material = wood});
  return world.build_model();
}

class SleepLaw : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Schemes, SleepLaw, ::testing::Values("moreau", "spook", "stewart-trinkle"),
                         [](const auto& info) {
                           return info.param == "stewart-trinkle" ? "StewartTrinkle" : info.param;
                         });

/// tan α = 1.0001 μ: the acceleration is 1e-4 μ g cos α, of which a step makes 6e-6 m/s. Also at a
/// tolerance at which a step is forgiven far more.
TEST_P(SleepLaw, ABoxJustAboveTheFrictionAngleKeepsAccelerating) {
  constexpr double kMu = 0.5, kStep = 1.0 / 60;
  for (const double excess : {1e-4, 1e-7})
    for (const double tolerance : {1e-3, 1e-8}) {
      SCOPED_TRACE(std::to_string(excess) + ", " + std::to_string(tolerance));
      const double angle = std::atan(kMu * (1 + excess));
      const double acceleration = kGravity * (std::sin(angle) - kMu * std::cos(angle));
      Simulation simulation(make_incline(angle, kMu), options_with(GetParam(), kStep, tolerance)),
          reference(make_incline(angle, kMu), options_with(GetParam(), kStep, tolerance, false));
      for (int n = 1; n <= 120; ++n) {
        simulation.step();
        reference.step();
        ASSERT_EQ(simulation.num_asleep(), 0) << n;
      }
      // Whatever the solver makes of the excess at this tolerance, sleep takes nothing of it.
      EXPECT_TRUE(simulation.state().v == reference.state().v);
      if (tolerance < 1e-3 && excess > 1e-5) {
        EXPECT_NEAR(simulation.state().v[0], 120 * kStep * acceleration, 1e-2 * acceleration);
      }
    }
}

TEST_P(SleepLaw, ABoxJustBelowTheFrictionAngleSleeps) {
  constexpr double kMu = 0.5;
  Simulation simulation(make_incline(std::atan(kMu * (1 - 1e-4)), kMu),
                        options_with(GetParam(), 1.0 / 60, 1e-8));
  for (int n = 0; n < 60; ++n) simulation.step();
  EXPECT_EQ(simulation.num_asleep(), 1);
  const double x = simulation.state().q[0];
  for (int n = 0; n < 600; ++n) simulation.step();
  EXPECT_EQ(simulation.state().q[0], x);
}

/// A slender box that a force at its top pushes harder and harder: it tips when the force's torque
/// about the far edge exceeds that of its weight, F a = m g b/2.
TEST_P(SleepLaw, ALoadThatGrowsSlowlyTipsABoxAtItsTime) {
  constexpr double kStep = 0.01, kHeight = 2, kWidth = 1, kRate = 0.5;  // [s], [m], [m], [N/s]
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const MaterialId wood = world.add_material({.name = "wood", .mu = 1});
  const Box shape{.size = {kWidth, kWidth, kHeight}};
  const BodyId box = world.add_body({.name = "box", .position = {0, 0, kHeight / 2}, .mass = 1},
                                    {{.shape = shape}});
  world.add_shape({.body = box, .shape = shape, .material = wood});
  world.add_shape({.shape = Plane{}, .material = wood});
  world.add_force({.body = box,
                   .force = {kRate * max(world.time() - 1.0, 0.0), 0.0, 0.0},
                   .point = {0, 0, kHeight / 2}});
  Simulation simulation(world.build_model(), options_with(GetParam(), kStep, 1e-8));
  const double tips_at = 1 + kGravity * kWidth / 2 / (kRate * kHeight);  // 5.9 s
  int most_asleep = 0;
  while (simulation.state().t < tips_at - 3 * kStep) {
    simulation.step();
    if (simulation.state().t < 1) most_asleep = std::max(most_asleep, simulation.num_asleep());
    ASSERT_LT(simulation.state().v.lpNorm<Eigen::Infinity>(), 1e-6) << simulation.state().t;
  }
  EXPECT_EQ(most_asleep, 1);
  // From there on ω̇ grows by rate·height/I per second: after 0.3 s it turns.
  while (simulation.state().t < tips_at + 0.3) simulation.step();
  EXPECT_GT(simulation.state().v[4], 1e-3);
  EXPECT_EQ(simulation.num_asleep(), 0);
}

/// A mass that a damper lets sink on its spring, (δ/γ) = 100 s: its speed falls to 1e-9 m/s and
/// below, and it is still on its way.
TEST_P(SleepLaw, ADamperThatCreepsIsNotAsleep) {
  constexpr double kStiffness = 100, kDamping = 1e4, kMass = 1;
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const BodyId mass = world.add_body({.name = "mass",
                                      .position = {0, 0, -1},
                                      .mass = kMass,
                                      .inertia = Eigen::Matrix3d::Identity(),
                                      .free_axes = {false, false, true, false, false, false}});
  // It starts 1e-7 m above where it would hang: v = 1e-7 m/100 s = 1e-9 m/s.
  world.add_spring({.name = "damper",
                    .bodies = {kWorld, mass},
                    .rest_length = 1 - kMass * kGravity / kStiffness - 1e-7,
                    .stiffness = {kStiffness},
                    .damping = {kDamping}},
                   {.from = {0, 0, 0}, .to = {0, 0, -1}});
  Simulation simulation(world.build_model(), options_with(GetParam(), 0.01, 1e-6));
  for (int n = 0; n < 1000; ++n) {
    simulation.step();
    ASSERT_EQ(simulation.num_asleep(), 0) << n;
  }
  EXPECT_NEAR(std::abs(simulation.state().v[0]), 1e-9 * std::exp(-0.1), 2e-11);
}

TEST_P(SleepLaw, AMotorThatTurnsANanoradianASecondIsNotAsleep) {
  RigidBodyBuilder world;
  const BodyId wheel =
      world.add_body({.name = "wheel", .mass = 1, .inertia = Eigen::Matrix3d::Identity()});
  JointDescription axle{.name = "axle", .type = JointType::kHinge, .bodies = {kWorld, wheel}};
  axle.motors.push_back({.value = 1e-9, .max_effort = 10});
  world.add_joint(axle, {.axis = {0, 0, 1}});
  Simulation simulation(world.build_model(), options_with(GetParam(), 0.01, 1e-6));
  for (int n = 0; n < 100; ++n) {
    simulation.step();
    ASSERT_EQ(simulation.num_asleep(), 0);
  }
  EXPECT_NEAR(simulation.state().v[5], 1e-9, 1e-12);
}

/// A pendulum that hangs, on joints and nothing else.
TEST_P(SleepLaw, AChainThatHangsSleeps) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  BodyId last = kWorld;
  for (int i = 0; i < 4; ++i) {
    const BodyId link = world.add_body({.name = "link " + std::to_string(i),
                                        .position = {0, 0, -0.5 - i},
                                        .mass = 1,
                                        .inertia = 0.1 * Eigen::Matrix3d::Identity()});
    world.add_joint(
        {.name = "joint " + std::to_string(i), .type = JointType::kBall, .bodies = {last, link}},
        {.at = {0, 0, -1.0 * i}});
    last = link;
  }
  Simulation simulation(world.build_model(), options_with(GetParam(), 0.01, 1e-8));
  for (int n = 0; n < 200; ++n) simulation.step();
  EXPECT_EQ(simulation.num_asleep(), 4);
  // The uppermost joint carries all four.
  double carried = 0;
  for (int i = 0; i < 3; ++i) carried = std::hypot(carried, simulation.joint_impulses()[i]);
  EXPECT_NEAR(carried, 4 * kGravity * 0.01, 1e-9);
}

}  // namespace
}  // namespace stiction
