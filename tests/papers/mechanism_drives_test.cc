// Driven mechanisms: a differential gear and a robot arm with motors of limited torque.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

using Eigen::Vector2d;

// -------------------------------------------------------------------------------------------------
// Differential

TEST(MechanismDifferential, TheCarrierTurnsAtTheMeanOfTheWheels) {
  const Scene scene = example_scene("differential");
  constexpr double T = 6, brake = 2, r = 1.6, wheel = 0.8, pinion = 0.002;
  constexpr double carrier = 0.05 + pinion + 0.5 * 0.05 * 0.05;  // the pinion is carried round
  constexpr double on = wheel + carrier / 4 + pinion * r * r / 4;
  constexpr double off = carrier / 4 - pinion * r * r / 4;
  Eigen::Matrix2d mass;
  mass << on, off, off, on;
  const Vector2d gain = mass.inverse() * Vector2d(T / 2 - brake, T / 2);  // [rad/s²] left, right
  for (const bool iterates : {false, true}) {
    SCOPED_TRACE(iterates ? "position iteration" : "linear");
    SimulationOptions options = options_of(scene);
    options.stepping.spook.position_iteration = iterates;
    Simulation simulation(scene.model, options);
    const MechanismWatch watch(simulation);
    double mean = 0, error = 0;
    while (simulation.state().t < 5 - options.h / 2) {
      simulation.step();
      const double left = watch.angular_velocity("left wheel").x();
      const double right = watch.angular_velocity("right wheel").x();
      mean = std::max(mean, std::abs(left + right - 2 * watch.angular_velocity("carrier").x()));
      error = std::max(error, (Vector2d(left, right) - gain * simulation.state().t).norm());
    }
    // The speeds are linear in time, which both steps follow exactly on exact joints. The linear
    // step leaves joints open by O(h² ω²), which the carried pinion feels; the mean of the wheels
    // is a linear row and holds to the compliance.
    EXPECT_LE(mean, iterates ? 1e-10 : 1e-8);
    EXPECT_LE(error, (iterates ? 1e-5 : 2e-3) * 5 * gain.norm());
    RecordProperty(iterates ? "iterated [rad/s]" : "linear [rad/s]", std::to_string(error));
  }
}

// -------------------------------------------------------------------------------------------------
// Robot arm

constexpr const char* kJoints[] = {"turn", "shoulder", "elbow"};

TEST(MechanismRobotArm, FollowsItsTargetsWithinItsTorques) {
  const Scene scene = example_scene("robot-arm");
  constexpr double kLimits[] = {60, 200, 80};  // [N m]
  std::vector<double> steps, errors;
  for (const double h : {1.0 / 240, 1.0 / 480, 1.0 / 960}) {
    Simulation simulation(scene.model, options_of(scene, "spook", h));
    const MechanismWatch watch(simulation);
    double error = 0;
    while (simulation.state().t < 6 - h / 2) {
      simulation.step();
      const double t = simulation.state().t;
      const double targets[] = {1.2 * (1 - std::cos(2 * t)) / 2, 0.8 * (1 - std::cos(1.5 * t)) / 2,
                                -0.6 * (1 - std::cos(3 * t)) / 2};
      for (int i = 0; i < 3; ++i) {
        error = std::max(error, std::abs(watch.coordinate(kJoints[i]) - targets[i]));
        const double effort = watch.row_force(std::string(kJoints[i]) + ".motor");
        ASSERT_LT(std::abs(effort), kLimits[i]) << kJoints[i] << " at " << t;
      }
    }
    steps.push_back(h);
    errors.push_back(error);
  }
  RecordProperty("error [rad]", std::to_string(errors.front()));
  EXPECT_NEAR(fitted_order(steps, errors), 2, 0.1);
  EXPECT_LT(errors.front(), 1e-4);
}

TEST(MechanismRobotArm, HoldsItselfWithTheTorqueOfItsWeight) {
  const Scene scene = edited_scene("robot-arm", [](nlohmann::ordered_json& document) {
    for (auto& joint : document.at("joints")) {
      joint.erase("friction");
      if (joint.contains("motor")) joint.at("motor").at("position") = 0;
    }
  });
  Simulation simulation(scene.model, options_of(scene));
  const MechanismWatch watch(simulation);
  simulation.run(1);
  // Weights of upper arm, forearm and load, stretched out horizontally.
  constexpr double g = 9.81, shoulder = g * (8 * 0.3 + 5 * 0.85 + 5 * 1.1);
  constexpr double elbow = g * (5 * 0.25 + 5 * 0.5);
  EXPECT_NEAR(watch.row_force("shoulder.motor"), shoulder, 1e-6 * shoulder);
  EXPECT_NEAR(watch.row_force("elbow.motor"), elbow, 1e-6 * elbow);
  EXPECT_NEAR(watch.row_force("turn.motor"), 0, 1e-6);
  EXPECT_NEAR(watch.coordinate("shoulder"), 0, 1e-6);
}

TEST(MechanismRobotArm, SinksWhereTheShoulderIsTooWeakAndGivesAllItHas) {
  const Scene scene = edited_scene("robot-arm", [](nlohmann::ordered_json& document) {
    document.at("joints").at(1).at("motor").at("max_effort") = 100;
  });
  Simulation simulation(scene.model, options_of(scene));
  const MechanismWatch watch(simulation);
  double lowest = 0;
  while (simulation.state().t < 2) {
    simulation.step();
    EXPECT_NEAR(watch.row_force("shoulder.motor"), 100, 1e-6) << simulation.state().t;
    lowest = std::min(lowest, watch.coordinate("shoulder"));
  }
  // Down to the stop at −30°, which it passes by no more than the way of a step.
  EXPECT_NEAR(lowest, -std::numbers::pi / 6, 0.02);
}

}  // namespace
}  // namespace stiction::testing
