// A simulation whose model or options change between steps goes on from where it is.
#include <cmath>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kStep = 1e-2;  // [s]

/// A ball above a floor, and a spring that can take hold of it.
struct World {
  double gravity = 9.81;
  double mu = 0.5;
  double mass = 1;
  BodySpringDescription spring{.name = "hand", .bodies = {0, kWorld}, .stiffness = {0.0}};

  std::shared_ptr<const RigidBodySystem> build() const {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -gravity});
    const MaterialId rubber = world.add_material({.name = "rubber", .mu = mu});
    const BodyId ball = world.add_body({.name = "ball",
                                        .position = {0, 0, 0.4},
                                        .velocity = {1, 0, 0},
                                        .mass = mass,
                                        .inertia = mass * 0.004 * Eigen::Matrix3d::Identity()});
    const BodyId floor =
        world.add_body({.name = "floor", .motion = BodyDescription::Motion::kStatic});
    world.add_shape({.body = ball, .shape = Sphere{.radius = 0.1}, .material = rubber});
    world.add_shape({.body = floor, .shape = Plane{}, .material = rubber});
    world.add_spring(spring);
    return world.build();
  }
  Model model() const {
    const auto system = build();
    ModelBuilder builder;
    builder.add_system(system, system->initial_q(), system->initial_v());
    return builder.build();
  }
};

void take_steps(Simulation& simulation, int count) {
  for (int i = 0; i < count; ++i) simulation.step();
}

void expect_same_bits(const State& a, const State& b) {
  EXPECT_EQ(a.t, b.t);
  EXPECT_TRUE(a.q == b.q);
  EXPECT_TRUE(a.v == b.v);
}

TEST(Steering, GravityChangesInFlightAndItsEnergyIsBooked) {
  Simulation simulation(World().model(), {.h = kStep});
  take_steps(simulation, 10);
  const State before = simulation.state();
  const double numerical = simulation.energy().numerical;
  simulation.exchange_model(World{.gravity = -3}.model());
  expect_same_bits(simulation.state(), before);
  // Nothing but the potential has changed: m Δg z, all of it by whoever turned gravity.
  EXPECT_NEAR(simulation.energy().applied, (-3 - 9.81) * before.q[2], 1e-13);
  EXPECT_NEAR(simulation.energy().numerical, numerical, 1e-13);
  simulation.step();
  EXPECT_NEAR(simulation.state().v[2] - before.v[2], 3 * kStep, 1e-14);
  EXPECT_NEAR(simulation.state().t, 11 * kStep, 1e-14);
  EXPECT_EQ(simulation.summary().steps, 11);
}

TEST(Steering, FrictionChangesWhileTheBallSlides) {
  Simulation simulation(World{.mu = 0}.model(), {.h = kStep});
  take_steps(simulation, 60);  // it has landed by then
  EXPECT_NEAR(simulation.state().v[0], 1, 1e-12);
  simulation.exchange_model(World().model());
  take_steps(simulation, 1);
  // μ g h of a sliding contact.
  EXPECT_NEAR(simulation.state().v[0], 1 - 0.5 * 9.81 * kStep, 1e-9);
}

TEST(Steering, TheSameOptionsOnceMoreChangeNothing) {
  Simulation steered(World().model(), {.h = kStep}), plain(World().model(), {.h = kStep});
  for (int i = 0; i < 80; ++i) {
    if (i % 7 == 3) steered.change_options(steered.options());
    if (i % 11 == 5) steered.exchange_model(World().model());
    steered.step();
    plain.step();
  }
  expect_same_bits(steered.state(), plain.state());
}

TEST(Steering, AnotherSchemeSolverAndStepGoOnFromTheSameState) {
  Simulation simulation(World().model(), {.h = kStep});
  take_steps(simulation, 30);
  for (const std::string& scheme : scheme_names()) {
    SimulationOptions options = simulation.options();
    options.scheme = scheme;
    options.solver = options.solver == "lemke" ? "auto" : "lemke";
    options.h = options.h / 2;
    const State before = simulation.state();
    simulation.change_options(options);
    expect_same_bits(simulation.state(), before);
    simulation.step();
    EXPECT_NEAR(simulation.state().t - before.t, options.h, 1e-15) << scheme;
    EXPECT_LE((simulation.state().q - before.q).norm(), 20 * options.h) << scheme;
  }
}

TEST(Steering, WhatDoesNotFitIsRefusedAndNothingChanges) {
  Simulation simulation(World().model(), {.h = kStep}), plain(World().model(), {.h = kStep});
  take_steps(simulation, 5);
  take_steps(plain, 5);
  RigidBodyBuilder other;
  other.add_body({.name = "lonely", .mass = 1, .inertia = Eigen::Matrix3d::Identity()});
  EXPECT_THROW(simulation.exchange_model(other.build_model()), InputError);
  SimulationOptions options = simulation.options();
  options.h = -1;
  EXPECT_THROW(simulation.change_options(options), InputError);
  options = simulation.options();
  options.scheme = "leapfrog";
  EXPECT_THROW(simulation.change_options(options), InputError);
  take_steps(simulation, 5);
  take_steps(plain, 5);
  expect_same_bits(simulation.state(), plain.state());
}

TEST(Steering, ASpringTakesHoldWithoutANewSystem) {
  BodySpringDescription hand = World().spring;
  hand.frames[1].position = {0, 0, 2};
  hand.stiffness = {250.0};
  hand.damping = {30.0};
  World whole;
  whole.spring = hand;
  const auto quick = World().build()->with_spring(0, hand);
  ModelBuilder builder;
  builder.add_system(quick, quick->initial_q(), quick->initial_v());
  Simulation a(World().model(), {.h = kStep}), b(World().model(), {.h = kStep});
  a.exchange_model(builder.build());
  b.exchange_model(whole.model());
  take_steps(a, 50);
  take_steps(b, 50);
  expect_same_bits(a.state(), b.state());
  EXPECT_GT(a.state().q[2], 1.0);
  hand.stiffness = {std::nan("")};
  EXPECT_THROW((void)World().build()->with_spring(0, hand), InputError);
  hand = World().spring;
  hand.rest_length = 1;  // one row instead of three
  EXPECT_THROW((void)World().build()->with_spring(0, hand), InputError);
  EXPECT_THROW((void)World().build()->with_spring(1, World().spring), InputError);
}

class PullBySchemes : public ::testing::TestWithParam<std::string> {};

/// h²γ/m = 1e8: an explicit force would throw the ball out of the world in two steps.
TEST_P(PullBySchemes, IsStableHoweverStiffTheSpringAndLightTheBody) {
  World world{.gravity = 0, .mass = 1e-6};
  Simulation simulation(world.model(), {.scheme = GetParam(), .h = kStep});
  take_steps(simulation, 3);
  world.spring.frames[1].position = {0, 0, 1};
  world.spring.stiffness = {1e6};
  world.spring.damping = {1e4};
  simulation.exchange_model(world.model());
  const Vector3d target(0, 0, 1);
  const double start = (simulation.state().q.head<3>() - target).norm();
  for (int i = 0; i < 200; ++i) {
    simulation.step();
    ASSERT_LE((simulation.state().q.head<3>() - target).norm(), 3 * start) << "step " << i;
  }
  EXPECT_LE((simulation.state().q.head<3>() - target).norm(), 0.01 * start);
}

std::vector<std::string> implicit_schemes() {
  std::vector<std::string> names = scheme_names();
  std::erase(names, "anitescu-potra");  // springs act as at the start of a step there
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, PullBySchemes, ::testing::ValuesIn(implicit_schemes()));

}  // namespace
}  // namespace stiction
