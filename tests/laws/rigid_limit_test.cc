// Limits of joints are contacts without friction: a hinge and a slider that fall on theirs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/gravity.h"
#include "tests/laws/rigid_rules.h"

namespace stiction::testing {
namespace {

using Eigen::Vector3d;

/// A flap with its centre `kArm` from a level hinge, released level, that falls until the limit.
constexpr double kArm = 0.4, kMass = 1.5, kInertia = 0.1, kLimit = 0.6;

double inertia_at_hinge() { return kInertia + kMass * kArm * kArm; }

Model falling_flap(double restitution) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const BodyId flap = world.add_body({.name = "flap",
                                      .position = {kArm, 0, 0},
                                      .mass = kMass,
                                      .inertia = Vector3d(0.05, kInertia, 0.12).asDiagonal()});
  // Turning about +y takes x down.
  world.add_joint({.name = "hinge",
                   .type = JointType::kHinge,
                   .bodies = {kWorld, flap},
                   .limits = {{.lower = -1, .upper = kLimit, .restitution = restitution}}},
                  {.axis = {0, 1, 0}});
  return world.build_model();
}

double angle_of(const Simulation& simulation) {
  const State& s = simulation.state();
  return system_of(simulation).joint_coordinate(s.t, s.q, 0, JointCoordinate::kAngle);
}

constexpr double h = 1e-3;

/// How far the flap moves in a step, at most: it reaches ω² = 2 m g l sin b / J.
double largest_step() {
  return h * std::sqrt(2 * kMass * kGravity * kArm * std::sin(kLimit) / inertia_at_hinge());
}

TEST(JointLimit, StopsAHingeWithoutRestitution) {
  for (const Rule& rule : all_rules()) {
    Simulation simulation(falling_flap(0), options_of(rule, h));
    simulation.run(0.6);
    // moreau detects a limit behind the fact and stays where it stopped; spook comes back, and its
    // iteration goes on to breathe within what gravity does in a step.
    const bool is_late = rule.scheme == "moreau" || rule.scheme == "spook";
    EXPECT_GE(simulation.summary().gap_min, is_late ? -largest_step() : -1e-14) << rule.name();
    const double fall = h * kMass * kGravity * kArm / inertia_at_hinge();
    const double give = rule.iterates ? h * fall : 1e-12;
    EXPECT_NEAR(angle_of(simulation), kLimit, rule.scheme == "moreau" ? largest_step() : give)
        << rule.name();
    EXPECT_NEAR(simulation.state().v[4], 0, rule.iterates ? fall : 1e-12) << rule.name();
    double impulse = 0;
    for (int i = 0; i < 100; ++i) {
      simulation.step();
      for (const ContactOutcome& limit : simulation.contacts()) impulse += limit.impulse[0];
    }
    // The limit bears m g l cos b at the angle where the flap rests.
    EXPECT_NEAR(impulse / (100 * h), kMass * kGravity * kArm * std::cos(angle_of(simulation)),
                rule.iterates ? kMass * kGravity * kArm / 100 : 1e-9)
        << rule.name();
    // The impact takes what gravity gave, but for a step of it.
    const double energy = kMass * kGravity * kArm * std::sin(kLimit);
    EXPECT_NEAR(simulation.energy().impact, -energy, 3 * energy * largest_step()) << rule.name();
  }
}

// A rebound with e times the speed turns at e² of what it fell, in sin of the angle.
TEST(JointLimit, ReboundsWithItsRestitution) {
  constexpr double kRestitution = 0.7;
  for (const Rule& rule : all_rules()) {
    if (rule.scheme == "stewart-trinkle") continue;  // its impacts are inelastic
    Simulation simulation(falling_flap(kRestitution), options_of(rule, h));
    double last = 1;
    bool turns_back = false;
    for (int i = 0; i < 1000 && !turns_back; ++i) {
      simulation.step();
      turns_back = last < 0 && simulation.state().v[4] >= 0;
      last = simulation.state().v[4];
    }
    ASSERT_TRUE(turns_back) << rule.name();
    const double exact = std::sin(kLimit) * (1 - kRestitution * kRestitution);
    EXPECT_NEAR(std::sin(angle_of(simulation)), exact,
                rule.scheme == "trapezoidal-2" ? 10 * h * h : largest_step())
        << rule.name();
  }
}

// Both limits of a slider that is thrown to and fro: with e = 1 the speed stays, with the sign of
// the last wall, and the walls are where they were placed.
TEST(JointLimit, SliderBouncesBetweenItsLimits) {
  for (const Rule& rule : all_rules()) {
    if (rule.scheme == "stewart-trinkle") continue;
    RigidBodyBuilder world;
    const BodyId block = world.add_body({.name = "block",
                                         .velocity = {2, 0, 0},
                                         .mass = 3,
                                         .inertia = Vector3d(1, 1, 1).asDiagonal()});
    world.add_joint({.name = "slider",
                     .type = JointType::kSlider,
                     .bodies = {kWorld, block},
                     .limits = {{.coordinate = JointCoordinate::kSlide,
                                 .lower = -0.3,
                                 .upper = 0.5,
                                 .restitution = 1}}},
                    {.axis = {1, 0, 0}});
    Simulation simulation(world.build_model(), options_of(rule, h));
    double lowest = 0, highest = 0;
    for (int i = 0; i < 1500; ++i) {
      simulation.step();
      lowest = std::min(lowest, simulation.state().q[0]);
      highest = std::max(highest, simulation.state().q[0]);
    }
    // 3 m, in legs of 0.5, 0.8, 0.8, 0.8 and 0.1: on its way up again.
    EXPECT_NEAR(simulation.state().v[0], 2, 1e-7) << rule.name();
    EXPECT_NEAR(simulation.state().q[0], -0.2, 4 * 2 * 2 * h) << rule.name();
    EXPECT_NEAR(lowest, -0.3, 2 * h) << rule.name();
    EXPECT_NEAR(highest, 0.5, 2 * h) << rule.name();
    EXPECT_NEAR(simulation.energy().impact, 0, 1e-6) << rule.name();
  }
}

}  // namespace
}  // namespace stiction::testing
