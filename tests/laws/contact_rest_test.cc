// Bodies at rest stay at rest: a cube and a cylinder that stand on a plane have their whole patch
// of contacts from the first step on, and do not move, with any scheme and in any orientation of
// the world.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/scheme/scheme.h"
#include "stiction/sim/simulation.h"
#include "tests/gravity.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

using testing::fewer_sanitized;
using testing::kGravity;
constexpr double kHalfHeight = 0.5, kStep = 0.01;
/// [m/s] Rounding of a gap, a few 1e-16 m, over the step is 1e-14 m/s.
constexpr double kRest = 1e-12;

struct World {
  std::string name;
  Quaterniond turn;
};

Quaterniond turned(double angle, const Vector3d& axis) {
  return Quaterniond(Eigen::AngleAxisd(angle, axis.normalized()));
}

std::vector<World> worlds() {
  constexpr double kPi = std::numbers::pi;
  return {{"Upright", Quaterniond::Identity()},      {"YawedOnly", turned(0.3, {0, 0, 1})},
          {"OnItsSide", turned(kPi / 2, {0, 1, 0})}, {"UpsideDown", turned(kPi, {1, 0, 0})},
          {"Tilted", turned(0.7, {1, 2, -0.5})},     {"TiltedFar", turned(2.1, {-0.3, 1, 0.8})}};
}

/// A body of unit mass, `height` over the plane on which it would stand, with gravity, plane and
/// body turned together.
Model make_standing(const Shape& shape, const Quaterniond& turn, double height = 0) {
  RigidBodyBuilder world;
  world.set_gravity(turn * Vector3d(0, 0, -kGravity));
  const BodyId body = world.add_body({.name = "body",
                                      .position = turn * Vector3d(0, 0, kHalfHeight + height),
                                      .orientation = turn,
                                      .mass = 1,
                                      .inertia = Matrix3d::Identity() / 6});
  const MaterialId rough = world.add_material({.name = "rough", .mu = 0.5});
  world.add_shape({.body = body, .shape = shape, .material = rough});
  world.add_shape({.shape = Plane{.normal = turn * Vector3d::UnitZ()}});
  return world.build_model();
}

Shape cube() { return Box{.size = {1, 1, 1}}; }
Shape cylinder() { return Cylinder{.radius = 0.3, .length = 1}; }

struct Motion {
  double speed = 0;      // [m/s] the largest component of a velocity after settling
  int fewest = 1 << 30;  // contacts at hand in a step
};

/// The first `num_settling` steps may move. (Which of the contacts at hand take part is up to the
/// scheme; that of Stewart and Trinkle goes on with those that pressed in the last step.)
Motion watch(Model model, const std::string& scheme, int num_settling, int num_steps) {
  Simulation simulation(std::move(model), {.scheme = scheme, .h = kStep});
  Motion motion;
  for (int n = 0; n < num_steps; ++n) {
    simulation.step();
    motion.fewest = std::min(motion.fewest, simulation.model().num_contacts());
    if (n < num_settling) continue;
    motion.speed = std::max(motion.speed, simulation.state().v.lpNorm<Eigen::Infinity>());
  }
  return motion;
}

/// SPOOK's contacts yield by their relative compliance of 1e-10: h g 1e-10 = 1e-11 m/s in the first
/// step, a third of it in each that follows.
int settling_steps(const std::string& scheme) { return scheme == "spook" ? 10 : 0; }

std::vector<std::string> all_schemes() {
  return {"stewart-trinkle",         "moreau",        "spook",        "anitescu-potra",
          "linearly-implicit-euler", "trapezoidal-1", "trapezoidal-2"};
}

class Rest : public ::testing::TestWithParam<std::string> {};
class SlowRest : public Rest {};
const auto kSchemeName = [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
};
INSTANTIATE_TEST_SUITE_P(Schemes, Rest, ::testing::ValuesIn(all_schemes()), kSchemeName);
INSTANTIATE_TEST_SUITE_P(Schemes, SlowRest, ::testing::ValuesIn(all_schemes()), kSchemeName);

TEST_P(Rest, ACubeStandsOnItsFourCornersWhateverIsUp) {
  for (const World& world : worlds()) {
    SCOPED_TRACE(world.name);
    const Motion motion = watch(make_standing(cube(), world.turn), GetParam(),
                                settling_steps(GetParam()), fewer_sanitized(2000));
    EXPECT_EQ(motion.fewest, 4);
    EXPECT_LE(motion.speed, kRest);
  }
}

TEST_P(Rest, ACylinderKeepsItsPatchWhateverIsUp) {
  for (const World& world : worlds()) {
    SCOPED_TRACE(world.name);
    const Motion motion = watch(make_standing(cylinder(), world.turn), GetParam(),
                                settling_steps(GetParam()), fewer_sanitized(1000));
    EXPECT_EQ(motion.fewest, 8);
    EXPECT_LE(motion.speed, kRest);
  }
}

// It falls for 14 steps; what SPOOK and Moreau's scheme let in is out again after 50.
TEST_P(Rest, WhatFellFlatRests) {
  for (const World& world : worlds()) {
    SCOPED_TRACE(world.name);
    for (const Shape& shape : {cube(), cylinder()})
      EXPECT_LE(
          watch(make_standing(shape, world.turn, 0.1), GetParam(), 100, fewer_sanitized(1000, 8))
              .speed,
          kRest);
  }
}

TEST_P(SlowRest, ACubeDoesNotMoveInAHundredThousandSteps) {
  for (const World& world : worlds()) {
    SCOPED_TRACE(world.name);
    Simulation simulation(make_standing(cube(), world.turn), {.scheme = GetParam(), .h = kStep});
    const VectorXd start = simulation.state().q;
    double speed = 0;
    for (int n = 0; n < 100000; ++n) {
      simulation.step();
      if (n >= settling_steps(GetParam()))
        speed = std::max(speed, simulation.state().v.lpNorm<Eigen::Infinity>());
    }
    EXPECT_LE(speed, kRest);
    EXPECT_EQ(simulation.model().num_contacts(), 4);
    // Were all of it in one direction.
    EXPECT_LE((simulation.state().q - start).lpNorm<Eigen::Infinity>(), 1e5 * kStep * kRest);
  }
}

std::vector<Quaterniond> random_turns(int count) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> number;
  std::vector<Quaterniond> turns;
  for (int k = 0; k < count; ++k)
    turns.push_back(
        Quaterniond(number(random), number(random), number(random), number(random)).normalized());
  return turns;
}

TEST_P(Rest, ACubeStandsHoweverTheWorldIsTurned) {
  for (const Quaterniond& turn : random_turns(fewer_sanitized(200)))
    EXPECT_LE(watch(make_standing(cube(), turn), GetParam(), settling_steps(GetParam()), 200).speed,
              kRest);
}

/// Cubes of this size on top of each other.
Model make_column(int num_cubes, double size, const Quaterniond& turn) {
  RigidBodyBuilder world;
  world.set_gravity(turn * Vector3d(0, 0, -kGravity));
  const MaterialId rough = world.add_material({.name = "rough", .mu = 0.5});
  const double mass = size * size * size;
  for (int k = 0; k < num_cubes; ++k) {
    const BodyId body = world.add_body({.name = "cube " + std::to_string(k),
                                        .position = turn * Vector3d(0, 0, (k + 0.5) * size),
                                        .orientation = turn,
                                        .mass = mass,
                                        .inertia = mass * size * size / 6 * Matrix3d::Identity()});
    world.add_shape(
        {.body = body, .shape = Box{.size = Vector3d::Constant(size)}, .material = rough});
  }
  world.add_shape({.shape = Plane{.normal = turn * Vector3d::UnitZ()}});
  return world.build_model();
}

TEST_P(Rest, TwoCubesStandHoweverTheWorldIsTurned) {
  for (const Quaterniond& turn : random_turns(fewer_sanitized(20)))
    EXPECT_LE(watch(make_column(2, 1, turn), GetParam(), settling_steps(GetParam()), 1000).speed,
              kRest);
}

constexpr std::array kSections = {FrictionSection{},
                                  FrictionSection{FrictionSection::Kind::kPolygon, 8}};

Simulation stand(Model model, const std::string& scheme, const FrictionSection& section,
                 double size = 1) {
  SimulationOptions options{.scheme = scheme, .h = kStep * std::sqrt(size)};
  options.friction = section;
  options.stepping.events.contact_tolerance *= size;
  return Simulation(std::move(model), options);
}

/// Largest speed of a corner of a cube after the first steps, in those that follow, as a share of
/// what weight makes of it in a step.
double gather(Simulation simulation, double size, int num_steps) {
  constexpr int kSettling = 10;
  double speed = 0;
  for (int n = 0; n < num_steps; ++n) {
    simulation.step();
    if (n < kSettling) continue;
    const VectorXd& v = simulation.state().v;
    for (Eigen::Index k = 0; k < v.size(); ++k)
      speed = std::max(speed, std::abs(v[k]) * (k % 6 < 3 ? 1 : size));
  }
  return speed / (kGravity * kStep * std::sqrt(size));
}

// Of a dozen rows each sum has some dozen terms of the size of what weight makes. Velocities that
// gathered would be a hundred of that after 1,000 steps.
constexpr double kOfOneStep = 64 * std::numeric_limits<double>::epsilon();

TEST(ContactRest, TrapezoidalVelocitiesAreRoundingOfOneStepWhateverTheSize) {
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2"})
    for (const FrictionSection& section : kSections)
      for (const double size : {1e-6, 1.0, 1e3})
        for (const int num_cubes : {1, 2})
          for (const Quaterniond& turn : random_turns(fewer_sanitized(10)))
            EXPECT_LE(gather(stand(make_column(num_cubes, size, turn), scheme, section, size), size,
                             1000),
                      kOfOneStep)
                << scheme << ", " << to_text(section) << ", " << num_cubes << " of " << size
                << " m";
}

TEST(ContactRest, TrapezoidalVelocitiesOfACylinderAreRoundingOfOneStep) {
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2"})
    for (const FrictionSection& section : kSections)
      for (const Quaterniond& turn : random_turns(fewer_sanitized(20)))
        EXPECT_LE(gather(stand(make_standing(cylinder(), turn), scheme, section), 1, 1000),
                  kOfOneStep)
            << scheme << ", " << to_text(section);
}

TEST(SlowContactRest, TrapezoidalVelocitiesAreRoundingOfOneStepAfterAHundredThousand) {
  for (const World& world : worlds())
    for (const FrictionSection& section : kSections)
      EXPECT_LE(gather(stand(make_column(2, 1, world.turn), "trapezoidal-2", section), 1, 100000),
                kOfOneStep)
          << world.name << ", " << to_text(section);
}

/// A wall of `courses` courses of bricks in bond, `apart` from their neighbours, each of which
/// overlaps what it stands on by `seat`; with discs of friction.
struct Joints {
  double apart = 1e-3, seat = 0;  // [m]
};
Model make_wall(int courses, int bricks, const Joints& joints = {}) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const MaterialId brick = world.add_material({.name = "brick", .mu = 0.5});
  world.add_shape({.shape = Plane{}, .material = brick});
  constexpr double kLength = 0.4, kHeight = 0.2;
  for (int course = 0; course < courses; ++course) {
    // Every other course begins and ends with half a brick.
    const bool is_shifted = course % 2 == 1;
    for (int k = 0; k < bricks + (is_shifted ? 1 : 0); ++k) {
      const bool is_half = is_shifted && (k == 0 || k == bricks);
      const double length = is_half ? kLength / 2 : kLength;
      double x = (k + (is_shifted ? 0.0 : 0.5)) * kLength;
      if (is_half) x += (k == 0 ? 0.25 : -0.25) * kLength;
      const Box shape{Vector3d(length - joints.apart, 0.2, kHeight)};
      const BodyId body = world.add_body(
          {.name = "brick " + std::to_string(course) + "." + std::to_string(k),
           .position = Vector3d(x, 0, (course + 0.5) * kHeight - (course + 1) * joints.seat)},
          {{.shape = shape}});
      world.add_shape({.body = body, .shape = shape, .material = brick});
    }
  }
  return world.build_model();
}

// At a loose tolerance as well: errors that a step is forgiven must not add up, nor grow from step
// to step as those of a column that stands on constant forces.
TEST(ContactRest, AWallDoesNotMoveAtALooseTolerance) {
  for (const char* scheme : {"moreau", "spook", "stewart-trinkle"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(make_wall(6, 5), {.scheme = scheme,
                                            .h = 1.0 / 60,
                                            .tolerance = 1e-6,
                                            .friction = {FrictionSection::Kind::kDisc, 0}});
    const VectorXd start = simulation.state().q;
    for (int n = 0; n < fewer_sanitized(120); ++n) simulation.step();
    EXPECT_LE((simulation.state().q - start).lpNorm<Eigen::Infinity>(), 1e-6);
    EXPECT_GE(simulation.summary().gap_min, -1e-6);
  }
}

// Neighbours side by side touch, or miss each other by rounding, or by less than bricks may move:
// whether these contacts are there must not change from step to step, or the wall has to find its
// rest anew every time. What rests is asked for 1e-10 of the velocity of a step of free fall.
TEST(ContactRest, AWallOfBricksThatTouchSideBySideDoesNotMove) {
  const double h = 1.0 / 60, speed = 1e-10 * kGravity * h;
  const int num_steps = fewer_sanitized(60);
  for (const double apart : {0.0, 1e-16, -1e-9, 1e-9, 1e-8, 1e-5}) {
    SCOPED_TRACE(apart);
    Simulation simulation(make_wall(6, 6, {.apart = apart, .seat = 1e-9}),
                          {.h = h, .tolerance = 1e-6, .friction = FrictionSection::disc()});
    const VectorXd start = simulation.state().q;
    for (int n = 0; n < num_steps; ++n) simulation.step();
    EXPECT_GE(simulation.summary().contacts_max, 200);
    // The first answer is not yet that of what rests: a few steps' worth.
    EXPECT_LE((simulation.state().q - start).lpNorm<Eigen::Infinity>(), 10 * num_steps * h * speed);
    EXPECT_LE(simulation.state().v.lpNorm<Eigen::Infinity>(), speed);
  }
}

// Light bodies under a heavy one: errors that are small beside what is carried rock what carries.
TEST(ContactRest, AStackWithTheWeightOnTopDoesNotMoveAtALooseTolerance) {
  constexpr double kSize = 0.5, kSeat = 1e-9;  // [m]
  constexpr int kNumCubes = 10;
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const MaterialId material = world.add_material({.name = "stone", .mu = 0.5});
  world.add_shape({.shape = Plane{}, .material = material});
  for (int i = 0; i < kNumCubes; ++i) {
    const Box shape{Vector3d::Constant(kSize)};
    const double density = i + 1 < kNumCubes ? 1e3 : 1e6;
    const BodyId body = world.add_body({.name = "cube " + std::to_string(i),
                                        .position = {0, 0, (i + 0.5) * kSize - (i + 1) * kSeat}},
                                       {{.shape = shape, .density = density}});
    world.add_shape({.body = body, .shape = shape, .material = material});
  }
  for (const char* scheme : {"moreau", "spook"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(world.build_model(), {.scheme = scheme,
                                                .h = 1.0 / 60,
                                                .tolerance = 1e-6,
                                                .friction = {FrictionSection::Kind::kDisc, 0}});
    const VectorXd start = simulation.state().q;
    for (int n = 0; n < fewer_sanitized(300); ++n) simulation.step();
    // What the seats give way, and no more.
    EXPECT_LE((simulation.state().q - start).lpNorm<Eigen::Infinity>(), 2 * kNumCubes * kSeat);
    EXPECT_GE(simulation.summary().gap_min, -2 * kSeat);
  }
}

}  // namespace
}  // namespace stiction
