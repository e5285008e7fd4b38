// No allocation in the stepping loop after warm-up. The counter replaces malloc in this test
// program; sanitizers bring their own, so the test is left out under them.
#include "tests/sanitizers.h"

#if !ST_HAS_SANITIZERS

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/sim/brick_wall.h"

namespace {
std::atomic<long> g_allocations{0};
}

// operator new and Eigen both end here.
extern "C" {
void* __libc_malloc(std::size_t size);  // NOLINT(bugprone-reserved-identifier)
void* malloc(std::size_t size) {
  ++g_allocations;
  return __libc_malloc(size);
}
}

namespace stiction {
namespace {

TEST(Allocation, NoneInTheStepAfterWarmUp) {
  for (const std::string& scheme : scheme_names())
    for (const char* name :
         {"woodpecker", "cosine-block", "incline", "bouncing-ball", "two-bars", "two-carts"}) {
      SCOPED_TRACE(scheme + ", " + name);
      Simulation simulation(testing::example_scene(name).model, {.scheme = scheme, .h = 1e-3});
      simulation.run(2);  // a few cycles: every kind of step has been seen
      const long before = g_allocations;
      for (int k = 0; k < 1000; ++k) simulation.step();
      EXPECT_EQ(g_allocations - before, 0);
      EXPECT_GT(before, 0);  // the counter counts
    }
}

TEST(Allocation, NoneInTheStepsOfAWallByAnyNumberOfThreads) {
  for (const int num_threads : {1, 2}) {
    SCOPED_TRACE(num_threads);
    Simulation simulation(testing::brick_wall(8, 9), {.scheme = "moreau",
                                                      .h = 1.0 / 60,
                                                      .tolerance = 1e-6,
                                                      .friction = FrictionSection::disc(),
                                                      .collision = {.num_threads = num_threads}});
    for (int k = 0; k < 20; ++k) simulation.step();
    const long before = g_allocations;
    for (int k = 0; k < 20; ++k) simulation.step();
    EXPECT_EQ(g_allocations - before, 0);
  }
}

/// A hinged arm with a motor and a spring on it, from which a chain of three balls hangs; a ball
/// rolls beside it on the floor.
Model mechanism() {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  const Eigen::Matrix3d inertia = Eigen::Vector3d(0.02, 0.03, 0.04).asDiagonal();
  const BodyId arm =
      world.add_body({.name = "arm", .position = {0.5, 0, 0}, .mass = 2, .inertia = inertia});
  JointDescription shoulder{.name = "shoulder", .type = JointType::kHinge, .bodies = {kWorld, arm}};
  shoulder.motors.push_back({.value = 0.5 * sin(world.time()), .max_effort = 20});
  shoulder.friction.push_back({.max_effort = 0.1});
  world.add_joint(shoulder, {.at = {0, 0, 0}, .axis = {0, 1, 0}});
  BodyId last = arm;
  for (int i = 0; i < 3; ++i) {
    const BodyId link = world.add_body({.name = "link " + std::to_string(i),
                                        .position = {1, 0, -0.1 - 0.2 * i},
                                        .mass = 1,
                                        .inertia = 0.1 * inertia});
    world.add_joint(
        {.name = "joint " + std::to_string(i), .type = JointType::kBall, .bodies = {last, link}},
        {.at = {1, 0, -0.2 * i}});
    last = link;
  }
  world.add_spring({.name = "spring",
                    .bodies = {kWorld, last},
                    .rest_length = 0.5,
                    .stiffness = {100.0},
                    .damping = {1.0}},
                   {.from = {0, 0, -0.6}, .to = {1, 0, -0.6}});
  const BodyId ball = world.add_body({.name = "ball",
                                      .position = {0, 2, 0.3},
                                      .velocity = {0.1, 0, 0},
                                      .mass = 1,
                                      .inertia = inertia});
  world.add_shape(
      {.body = ball,
       .shape = Sphere{0.1},
       .material = world.add_material({.name = "ball", .mu = 0.4, .restitution = 0.5})});
  world.add_shape({.body = kWorld, .shape = Plane{}});
  return world.build_model();
}

TEST(Allocation, NoneWithRigidBodiesAfterWarmUp) {
  for (const std::string& scheme : scheme_names())
    for (const bool iterates : {false, true}) {
      if (iterates && scheme != "spook") continue;
      SCOPED_TRACE(scheme + (iterates ? ", iterated" : ""));
      Simulation simulation(mechanism(), {.scheme = scheme,
                                          .h = 1e-3,
                                          .on_failure = OnFailure::kAcceptAndFlag,
                                          .stepping = {.spook = {.position_iteration = iterates}}});
      simulation.run(1.5);  // the ball has come to rest
      const long before = g_allocations;
      for (int k = 0; k < 500; ++k) simulation.step();
      EXPECT_EQ(g_allocations - before, 0);
    }
}

/// Masses on lines under a load that swings, so that lines are taut and slack by turns, and a load
/// on bushings: geometric stiffness in rows.
TEST(Allocation, NoneWhereRowsHoldAgainstTurning) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -9.81});
  const auto add = [&](const std::string& name, const Eigen::Vector3d& at, double mass) {
    return world.add_body({.name = name,
                           .position = at,
                           .mass = mass,
                           .inertia = 0.01 * mass * Eigen::Matrix3d::Identity()});
  };
  BodyId last = kWorld;
  for (int i = 0; i < 5; ++i) {
    const Eigen::Vector3d from(0.2 * i, 0, 0), to(0.2 * (i + 1), 0, 0);
    const BodyId next = add("mass " + std::to_string(i), to, i == 4 ? 1000 : 1);
    world.add_distance({.name = "line " + std::to_string(i), .bodies = {last, next}}, {from, to});
    last = next;
  }
  const BodyId link = add("link", {0.1, 3, 0}, 1), tip = add("tip", {0.2, 3.5, 0}, 100);
  world.add_bushing({.name = "root",
                     .bodies = {kWorld, link},
                     .stiffness = {1e7, 1e7, 1e7, 1e5, 1e5, 1e5},
                     .damping = {1e4, 1e4, 1e4, 0, 0, 0}},
                    {.at = {0, 3, 0}});
  world.add_joint({.name = "weld", .type = JointType::kFixed, .bodies = {link, tip}},
                  {.at = {0.2, 3, 0}});
  Simulation simulation(world.build_model(), {.scheme = "spook", .h = 1.0 / 60});
  simulation.run(10);
  const long before = g_allocations;
  for (int k = 0; k < 200; ++k) simulation.step();
  EXPECT_EQ(g_allocations - before, 0);
}

/// A box that sleeps, and a ball that rolls past it.
TEST(Allocation, NoneWhileOthersSleep) {
  for (const char* scheme : {"moreau", "spook", "stewart-trinkle"}) {
    SCOPED_TRACE(scheme);
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -9.81});
    const MaterialId stone = world.add_material({.name = "stone", .mu = 0.5});
    const BodyId box = world.add_body({.name = "box", .position = {0, 0, 0.5}, .mass = 1},
                                      {{.shape = Box{.size = {1, 1, 1}}}});
    world.add_shape({.body = box, .shape = Box{.size = {1, 1, 1}}, .material = stone});
    const BodyId ball =
        world.add_body({.name = "ball", .position = {0, 3, 0.5}, .velocity = {1, 0, 0}, .mass = 1},
                       {{.shape = Sphere{0.5}}});
    world.add_shape({.body = ball, .shape = Sphere{0.5}, .material = stone});
    world.add_shape({.body = kWorld, .shape = Plane{}, .material = stone});
    Simulation simulation(world.build_model(), {.scheme = scheme, .h = 1e-3, .sleep = true});
    simulation.run(0.5);
    ASSERT_EQ(simulation.num_asleep(), 1);
    const long before = g_allocations;
    for (int k = 0; k < 500; ++k) simulation.step();
    EXPECT_EQ(g_allocations - before, 0);
    EXPECT_EQ(simulation.num_asleep(), 1);
  }
}

}  // namespace
}  // namespace stiction

#endif
