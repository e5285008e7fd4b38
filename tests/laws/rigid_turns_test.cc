// Turns are counted at any speed, and what cannot be is refused.
#include <gtest/gtest.h>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/record/recording_observer.h"
#include "stiction/record/recording_reader.h"
#include "stiction/sim/simulation.h"
#include "tests/base/temporary_folder.h"

namespace stiction::testing {
namespace {

BodyDescription make_wheel(const std::string& name, double x, double speed) {
  BodyDescription wheel;
  wheel.name = name;
  wheel.mass = 1;
  wheel.inertia = Eigen::Vector3d(0.1, 0.1, 0.2).asDiagonal();
  wheel.position = {x, 0, 0};
  wheel.angular_velocity = {0, 0, speed};
  return wheel;
}

JointDescription make_hinge(const std::string& name, int body) {
  JointDescription hinge;
  hinge.name = name;
  hinge.type = JointType::kHinge;
  hinge.bodies = {kWorld, body};
  return hinge;
}

TEST(Turns, AreCountedAboveHalfATurnPerStep) {
  constexpr double kSpeed = 250, kStep = 1.0 / 60;  // 4.2 rad per step
  RigidBodyBuilder world;
  const BodyId wheel = world.add_body(make_wheel("wheel", 0, kSpeed));
  const JointId hinge = world.add_joint(make_hinge("hinge", wheel), {});
  const auto system = world.build();
  for (const std::string& scheme : scheme_names()) {
    Simulation simulation(world.build_model(), {.scheme = scheme, .h = kStep});
    for (int k = 0; k < 60; ++k) simulation.step();
    EXPECT_NEAR(system->joint_coordinate(1, simulation.state().q, hinge, JointCoordinate::kAngle),
                kSpeed, 1e-9 * kSpeed)
        << scheme;
  }
}

TEST(Turns, OfAFastGearKeepTheirRatio) {
  constexpr double kRatio = 37, kStep = 1.0 / 60;
  RigidBodyBuilder world;
  const BodyId slow = world.add_body(make_wheel("slow", 0, 10)),
               fast = world.add_body(make_wheel("fast", 1, 10 * kRatio));
  const JointId first = world.add_joint(make_hinge("first", slow), {.at = {0, 0, 0}}),
                second = world.add_joint(make_hinge("second", fast), {.at = {1, 0, 0}});
  world.add_gear("gear", first, second, kRatio);
  const auto system = world.build();
  Simulation simulation(world.build_model(), {.scheme = "spook", .h = kStep});
  for (int k = 0; k < 120; ++k) simulation.step();
  const VectorXd& q = simulation.state().q;
  EXPECT_NEAR(system->joint_coordinate(2, q, second, JointCoordinate::kAngle),
              kRatio * system->joint_coordinate(2, q, first, JointCoordinate::kAngle), 1e-6);
}

TEST(Turns, OfAMotorAgainstALimitAreRefused) {
  RigidBodyBuilder world;
  const BodyId wheel = world.add_body(make_wheel("wheel", 0, 0));
  JointDescription hinge = make_hinge("hinge", wheel);
  hinge.limits.push_back({.lower = -0.1, .upper = 0.1});
  hinge.motors.push_back({.value = 1.0});
  world.add_joint(hinge, {});
  for (const std::string& scheme : scheme_names()) {
    Simulation simulation(world.build_model(), {.scheme = scheme, .h = 1.0 / 60});
    EXPECT_THROW(simulation.run(1), StepRejected) << scheme;
  }
}

TEST(Reactions, OfAKnifeEdgeAreRecorded) {
  RigidBodyBuilder world;
  BodyDescription blade = make_wheel("blade", 0, 1);
  blade.velocity = {0, 2, 0};
  const BodyId body = world.add_body(blade);
  JointDescription edge;
  edge.name = "edge";
  edge.type = JointType::kKnifeEdge;
  edge.bodies = {kWorld, body};
  world.add_joint(edge, {.axis = {1, 0, 0}});
  const TemporaryFolder folder;
  const std::string path = folder.file("edge.h5");
  {
    Simulation simulation(world.build_model(), {.scheme = "trapezoidal-2", .h = 1e-3});
    RecordingObserver observer(path, simulation, "edge", "", 1);
    simulation.add_observer(observer);
    for (int k = 0; k < 100; ++k) simulation.step();
    observer.close(simulation, "complete");
  }
  const Recording recording = read_recording(path);
  ASSERT_EQ(recording.reaction_names.size(), 12u);
  // Speed 2 on a circle at 1 rad/s: the side force is m v ω.
  EXPECT_NEAR(std::abs(recording.reactions(50, 6)), 2, 1e-3);
}

}  // namespace
}  // namespace stiction::testing
