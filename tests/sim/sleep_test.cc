// What rests is left out of the steps, and nobody can tell: a group that sleeps has the bits that
// it would have awake, and wakes for whatever changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/base/temporary_folder.h"
#include "tests/gravity.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using testing::kGravity;

constexpr double kStep = 0.01;  // [s]
constexpr double kSide = 0.2;   // [m] of a box
constexpr double kMass = 8;     // [kg]

struct World {
  int boxes = 4;
  double gravity = kGravity;
  double mu = 0.6;
  bool has_ball = false;       // that flies against the stack
  double ball_distance = 3;    // [m]
  bool has_neighbour = false;  // a second stack, far away
  Vector3d belt = Vector3d::Zero();
  bool has_driven_floor = false;

  Model build() const {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -gravity});
    const MaterialId stone = world.add_material({.name = "stone", .mu = mu});
    BodyDescription floor{.name = "floor", .motion = BodyDescription::Motion::kStatic};
    if (has_driven_floor) {
      floor.motion = BodyDescription::Motion::kKinematic;
      floor.shift = {0.0, 0.0, 0.0 * world.time()};
    }
    const BodyId ground = world.add_body(floor);
    world.add_shape(
        {.body = ground, .shape = Plane{}, .material = stone, .surface_velocity = belt});
    const auto add_stack = [&](double x, const std::string& name) {
      for (int i = 0; i < boxes; ++i) {
        const BodyId box = world.add_body({.name = name + std::to_string(i),
                                           .position = {x, 0, kSide * (i + 0.5)},
                                           .mass = kMass},
                                          {{.shape = Box{.size = Vector3d::Constant(kSide)}}});
        world.add_shape(
            {.body = box, .shape = Box{.size = Vector3d::Constant(kSide)}, .material = stone});
      }
    };
    add_stack(0, "box");
    if (has_neighbour) add_stack(5, "far");
    if (has_ball) {
      const BodyId ball = world.add_body(
          {.name = "ball", .position = {-ball_distance, 0, 0.5}, .velocity = {6, 0, 2}, .mass = 20},
          {{.shape = Sphere{.radius = 0.1}}});
      world.add_shape({.body = ball, .shape = Sphere{.radius = 0.1}, .material = stone});
    }
    return world.build_model();
  }
};

SimulationOptions options_with(bool sleep, const std::string& scheme = "moreau") {
  return {.scheme = scheme,
          .h = kStep,
          .tolerance = 1e-8,
          .friction = FrictionSection::disc(),
          .sleep = sleep};
}

void take_steps(Simulation& simulation, int count) {
  for (int i = 0; i < count; ++i) simulation.step();
}

void expect_same_bits(const State& a, const State& b) {
  ASSERT_EQ(a.t, b.t);
  ASSERT_TRUE(a.q == b.q);
  ASSERT_TRUE(a.v == b.v);
}

class Sleep : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Sleep, ::testing::Values("moreau", "spook", "stewart-trinkle"),
                         [](const auto& info) {
                           return info.param == "stewart-trinkle" ? "StewartTrinkle" : info.param;
                         });

TEST_P(Sleep, AStackAtRestSleepsAndDoesNotMoveAtAll) {
  Simulation simulation(World().build(), options_with(true, GetParam()));
  take_steps(simulation, 60);
  ASSERT_EQ(simulation.num_asleep(), 4);
  const State before = simulation.state();
  EXPECT_TRUE(before.v.isZero(0));
  const double numerical = simulation.energy().numerical;
  take_steps(simulation, 100);
  EXPECT_TRUE(simulation.state().q == before.q);
  EXPECT_TRUE(simulation.state().v.isZero(0));
  EXPECT_EQ(simulation.energy().numerical, numerical);
  EXPECT_EQ(simulation.summary().asleep_max, 4);
  EXPECT_EQ(simulation.summary().wakes, 0);
}

TEST_P(Sleep, ContactsThatSleepHaveTheImpulsesThatCarryTheWeight) {
  Simulation simulation(World().build(), options_with(true, GetParam()));
  take_steps(simulation, 100);
  ASSERT_EQ(simulation.num_asleep(), 4);
  double on_floor = 0, between = 0;
  for (const ContactOutcome& contact : simulation.contacts()) {
    EXPECT_NE(contact.key, 0u);
    EXPECT_EQ(contact.slip[0], 0);
    (contact.place.a < 1 || contact.place.b < 1 ? on_floor : between) += contact.impulse[0];
  }
  // Each box carries those above it. Equilibrium holds to 1e-12.
  EXPECT_NEAR(on_floor, 4 * kMass * kGravity * kStep, 1e-11 * kMass);
  EXPECT_NEAR(between, (3 + 2 + 1) * kMass * kGravity * kStep, 1e-11 * kMass);
  EXPECT_LE(simulation.certificate().residual(), 1e-12);
  EXPECT_LT(std::abs(simulation.certificate().gap), 1e-8);
}

/// Options that are set anew wake everybody.
TEST_P(Sleep, CannotBeToldFromBeingAskedInEveryStep) {
  const World world{.has_ball = true};
  Simulation asleep(world.build(), options_with(true, GetParam())),
      awake(world.build(), options_with(true, GetParam()));
  int most_asleep = 0;
  for (int n = 0; n < 120; ++n) {
    asleep.step();
    awake.change_options(awake.options());
    awake.step();
    if (n < 40) most_asleep = std::max(most_asleep, asleep.num_asleep());
    expect_same_bits(asleep.state(), awake.state());
    ASSERT_EQ(asleep.certificate().residual(), awake.certificate().residual());
    ASSERT_EQ(asleep.contacts().size(), awake.contacts().size());
  }
  EXPECT_EQ(most_asleep, 4);
  EXPECT_GT(asleep.summary().wakes, 0);
  EXPECT_EQ(asleep.energy().impact, awake.energy().impact);
  EXPECT_EQ(asleep.energy().friction, awake.energy().friction);
}

// Pushed along the floor for a while, the stack comes to rest and keeps what it slid, asleep, woken
// and from a checkpoint.
TEST_P(Sleep, KeepsHowFarContactsHaveSlipped) {
  const World world{.boxes = 1};
  Simulation simulation(world.build(), options_with(true, GetParam()));
  State state = simulation.state();
  state.v[0] = 1;
  simulation.set_state(state);
  const auto slip_of = [](const Simulation& one) {
    double largest = 0;
    for (const ContactOutcome& contact : one.contacts())
      largest =
          std::max(largest, std::hypot(contact.accumulated_slip[0], contact.accumulated_slip[1]));
    return largest;
  };
  take_steps(simulation, 60);
  ASSERT_EQ(simulation.num_asleep(), 1);
  const double slid = slip_of(simulation);
  EXPECT_NEAR(slid, 1 / (2 * world.mu * kGravity), 0.01);  // v²/(2 μ g), to order h
  take_steps(simulation, 10);
  EXPECT_EQ(slip_of(simulation), slid);

  const TemporaryFolder folder;
  simulation.save(folder.file("c.h5"));
  Simulation later(world.build(), options_with(true, GetParam()));
  later.restore(folder.file("c.h5"));
  take_steps(later, 1);
  EXPECT_EQ(slip_of(later), slid);

  simulation.change_options(options_with(false, GetParam()));
  take_steps(simulation, 1);
  EXPECT_EQ(simulation.num_asleep(), 0);
  EXPECT_EQ(slip_of(simulation), slid);
}

TEST_P(Sleep, GoesOnFromACheckpointWithTheSameBits) {
  const TemporaryFolder folder;
  const World world{.has_ball = true, .has_neighbour = true};
  Simulation simulation(world.build(), options_with(true, GetParam()));
  take_steps(simulation, 35);
  ASSERT_EQ(simulation.num_asleep(), 8);
  simulation.save(folder.file("sleep.h5"));
  Simulation restored(world.build(), options_with(true, GetParam()));
  restored.restore(folder.file("sleep.h5"));
  for (int n = 0; n < 130; ++n) {
    simulation.step();
    restored.step();
    expect_same_bits(simulation.state(), restored.state());
    ASSERT_EQ(simulation.certificate().residual(), restored.certificate().residual());
  }
  EXPECT_EQ(simulation.num_asleep(), restored.num_asleep());
  EXPECT_EQ(simulation.summary().residual_max, restored.summary().residual_max);
}

/// Until the blow the two runs differ by what the solver is forgiven; a few steps later not much
/// more.
TEST_P(Sleep, ABallWakesTheStackThatItHitsAndNoOther) {
  const World world{.has_ball = true, .ball_distance = 2, .has_neighbour = true};
  Simulation on(world.build(), options_with(true, GetParam())),
      off(world.build(), options_with(false, GetParam()));
  int most_asleep = 0;
  for (int n = 0; n < 45; ++n) {
    on.step();
    off.step();
    most_asleep = std::max(most_asleep, on.num_asleep());
    ASSERT_LT((on.state().q - off.state().q).lpNorm<Eigen::Infinity>(), 1e-5) << n;
  }
  EXPECT_EQ(most_asleep, 8);
  EXPECT_EQ(on.num_asleep(), 4);
  EXPECT_GT(on.state().v.head(24).lpNorm<Eigen::Infinity>(), 0.05);
}

TEST(SleepWakes, WhenAForceChanges) {
  Simulation simulation(World{.has_neighbour = true}.build(), options_with(true)),
      reference(World{.has_neighbour = true}.build(), options_with(false));
  take_steps(simulation, 50);
  take_steps(reference, 50);
  ASSERT_EQ(simulation.num_asleep(), 8);
  VectorXd force = VectorXd::Zero(48);
  force[18] = 200;  // [N] along x, on the uppermost box: more than friction holds
  simulation.set_held_force(force);
  simulation.step();
  reference.set_held_force(force);
  reference.step();
  EXPECT_EQ(simulation.num_asleep(), 4);
  EXPECT_GT(simulation.state().v[18], 0.15);
  // The root of the tolerance of what forces would do, (T23).
  EXPECT_NEAR(simulation.state().v[18], reference.state().v[18], 1e-4 * 0.25);
  simulation.set_held_force(VectorXd());
  take_steps(simulation, 300);
  EXPECT_EQ(simulation.num_asleep(), 8);
}

TEST(SleepWakes, WhenTheModelChanges) {
  Simulation simulation(World().build(), options_with(true));
  take_steps(simulation, 50);
  ASSERT_EQ(simulation.num_asleep(), 4);
  simulation.exchange_model(World{.gravity = -1}.build());
  EXPECT_EQ(simulation.num_asleep(), 0);
  simulation.step();
  EXPECT_NEAR(simulation.state().v[2], 1 * kStep, 1e-9);
}

TEST(SleepWakes, WhenTheStepChanges) {
  Simulation simulation(World().build(), options_with(true));
  take_steps(simulation, 50);
  ASSERT_EQ(simulation.num_asleep(), 4);
  simulation.step(0.5 * kStep);
  double total = 0;
  for (const ContactOutcome& contact : simulation.contacts()) total += contact.impulse[0];
  EXPECT_NEAR(total, (4 + 3 + 2 + 1) * kMass * kGravity * 0.5 * kStep, 1e-10 * kMass);
  EXPECT_TRUE(simulation.state().v.isZero(0));
}

TEST(SleepWakes, WhenAStateIsSet) {
  Simulation simulation(World().build(), options_with(true));
  take_steps(simulation, 50);
  State state = simulation.state();
  state.v[0] = 1;
  simulation.set_state(state);
  EXPECT_EQ(simulation.num_asleep(), 0);
  simulation.step();
  EXPECT_GT(simulation.state().v[0], 0.1);
}

TEST(SleepRefuses, WhatTouchesADrivenBody) {
  Simulation simulation(World{.has_driven_floor = true}.build(), options_with(true));
  take_steps(simulation, 100);
  EXPECT_EQ(simulation.num_asleep(), 0);
  EXPECT_LT(simulation.state().v.lpNorm<Eigen::Infinity>(), 1e-6);
}

TEST(SleepRefuses, WhatABeltDrives) {
  Simulation simulation(World{.boxes = 1, .belt = {0.1, 0, 0}}.build(), options_with(true));
  take_steps(simulation, 100);
  EXPECT_EQ(simulation.num_asleep(), 0);
  EXPECT_NEAR(simulation.state().v[0], 0.1, 1e-9);
}

TEST(SleepRefuses, SchemesThatCannotAndSaysSo) {
  for (const std::string& scheme : scheme_names()) {
    Simulation simulation(World().build(), options_with(true, scheme));
    const auto notes = simulation.notes();
    const bool says_no = std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
      return note.starts_with("nothing sleeps: ");
    });
    const bool can = scheme == "moreau" || scheme == "spook" || scheme == "stewart-trinkle";
    EXPECT_EQ(says_no, !can) << scheme;
  }
  SimulationOptions iterated = options_with(true, "spook");
  iterated.stepping.spook.position_iteration = true;
  EXPECT_EQ(Simulation(World().build(), iterated).notes().size(), 1u);
}

TEST(SleepIsOff, UnlessAskedFor) {
  Simulation simulation(World().build(), {.h = kStep});
  take_steps(simulation, 100);
  EXPECT_EQ(simulation.num_asleep(), 0);
}

TEST(SleepIsTheSame, ForAnyNumberOfThreads) {
  const World world{.has_ball = true, .ball_distance = 2, .has_neighbour = true};
  SimulationOptions two = options_with(true);
  two.collision.num_threads = 2;
  Simulation a(world.build(), options_with(true)), b(world.build(), two);
  for (int n = 0; n < 100; ++n) {
    a.step();
    b.step();
    expect_same_bits(a.state(), b.state());
  }
}

}  // namespace
}  // namespace stiction
