// Closed loops with redundant joints: slider-crank, four-bar, Bricard's mechanism (IFToMM A04) and
// a ladder of four-bars (IFToMM A02), against closed forms, and what their reactions are.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/app/experiments/spook_systems.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

using experiments::crank_speed;

using Eigen::Vector3d;

constexpr double kPi = std::numbers::pi;

// -------------------------------------------------------------------------------------------------
// Slider-crank

struct CrankRun {
  double branch = 0;  // largest deviation of the rod's angle from −θ [rad]
  double speed = 0;   // largest error of θ̇, relative
};

CrankRun run_crank(const Scene& scene, const SimulationOptions& options) {
  Simulation simulation(scene.model, options);
  const MechanismWatch watch(simulation);
  EnergyTrack energy(simulation);
  CrankRun run;
  while (simulation.state().t < 5 - options.h / 2) {
    simulation.step();
    energy.add();
    const double turned = watch.coordinate("pivot");
    run.branch = std::max(run.branch, std::abs(watch.coordinate("crank pin") + 2 * turned));
    const double exact = crank_speed(kPi / 4 + turned);
    run.speed = std::max(run.speed, std::abs(watch.angular_velocity("crank").z() / exact - 1));
  }
  EXPECT_GT(watch.coordinate("pivot"), 6 * kPi);  // six singular positions at least
  EXPECT_LE(energy.gain, 1e-9);
  return run;
}

TEST(MechanismSliderCrank, StaysOnItsBranchThroughTheSingularPositions) {
  const Scene scene = example_scene("slider-crank");
  for (const bool iterates : {true, false}) {
    SCOPED_TRACE(iterates ? "position iteration" : "linear");
    std::vector<double> steps, errors;
    for (const double h : {1.0 / 240, 1.0 / 480, 1.0 / 960}) {
      SimulationOptions options = options_of(scene, "spook", h);
      options.stepping.spook.position_iteration = iterates;
      const CrankRun run = run_crank(scene, options);
      // The other branch is a right angle away a quarter of a turn later; this one is exact but for
      // rounding that the singular positions magnify.
      EXPECT_LE(run.branch, 1e-6) << h;
      steps.push_back(h);
      errors.push_back(run.speed);
    }
    RecordProperty(iterates ? "iterated" : "linear", std::to_string(errors.back()));
    // θ̇ as a function of θ shows the energy. The projection of velocities at the end of an iterated
    // step takes away O(h²) of them across the motion, hence O(h⁴) of the energy, O(h³) in all
    // steps; the linear step damps by O(h).
    EXPECT_NEAR(fitted_order(steps, errors), iterates ? 3 : 1, 0.2);
    EXPECT_LT(errors.back(), iterates ? 1e-5 : 0.1);
  }
}

TEST(MechanismSliderCrank, HasThreeRedundantRowsAndAFourthWhereItIsSingular) {
  const Scene scene = example_scene("slider-crank");
  EXPECT_EQ(redundant_rows(scene.model).size(), 3U);
  const Scene upright = edited_scene("slider-crank", [](nlohmann::ordered_json& document) {
    document.at("parameters").at("th") = "pi/2";
  });
  EXPECT_EQ(redundant_rows(upright.model).size(), 4U);
}

// -------------------------------------------------------------------------------------------------
// Four-bar

/// The force that one of the pivots must exert on its crank, at the angle φ of a swing released at
/// φ₀ = 60°: half of what accelerates and carries all bodies.
Vector3d pivot_force(double phi) {
  constexpr double m = 1, M = 2, c = (m + M) * kGravity / (2 * m / 3 + M);
  const double rate2 = 2 * c * (std::cos(phi) - 0.5), bend = -c * std::sin(phi);
  const Vector3d seat(bend * std::cos(phi) - rate2 * std::sin(phi),
                      bend * std::sin(phi) + rate2 * std::cos(phi), 0);  // its acceleration
  return (m + M) / 2 * seat + Vector3d(0, (m + M / 2) * kGravity, 0);
}

struct SwingRun {
  double across = 0;     // largest force or torque that would hold the loop in its plane
  double asymmetry = 0;  // largest difference of the two pivots' forces [N]
  double error = 0;      // largest error of one [N]
};

SwingRun run_swing(const Scene& scene, const SimulationOptions& options) {
  Simulation simulation(scene.model, options);
  const MechanismWatch watch(simulation);
  SwingRun run;
  double before = kPi / 3;
  for (int n = 0; simulation.state().t < 2; ++n) {
    simulation.step();
    const double phi = kPi / 3 + watch.coordinate("left pivot");
    const Eigen::AngleAxisd turn(phi, Vector3d::UnitZ());
    const Vector3d left = turn * watch.reaction("left pivot", 1)[0];
    const Vector3d right = turn * watch.reaction("right pivot", 0)[0];
    run.asymmetry = std::max(run.asymmetry, (left - right).norm());
    run.across = std::max({run.across, std::abs(left.z()), std::abs(right.z())});
    for (const char* joint : {"left pivot", "left pin", "right pin", "right pivot"})
      run.across = std::max(run.across, watch.reaction(joint, 1)[1].head<2>().norm());
    // Reactions are means over a step: those in its middle. The first steps of the linear scheme
    // relax.
    if (n > 5) run.error = std::max(run.error, (left - pivot_force((before + phi) / 2)).norm());
    before = phi;
  }
  return run;
}

TEST(MechanismFourBar, BothPivotsCarryHalfAndNothingAcrossThePlane) {
  const Scene scene = example_scene("four-bar");
  for (const bool iterates : {false, true}) {
    SCOPED_TRACE(iterates ? "position iteration" : "linear");
    std::vector<double> steps, errors;
    for (const double h : {1.0 / 240, 1.0 / 480, 1.0 / 960}) {
      SimulationOptions options = options_of(scene, "spook", h);
      options.stepping.spook.position_iteration = iterates;
      const SwingRun run = run_swing(scene, options);
      // Forces are of up to 36 N; the certificate of a step allows 1e-9 of it.
      EXPECT_LE(run.across, 1e-8) << h;
      EXPECT_LE(run.asymmetry, 1e-7) << h;
      steps.push_back(h);
      errors.push_back(run.error);
    }
    RecordProperty(iterates ? "iterated [N]" : "linear [N]", std::to_string(errors.back()));
    EXPECT_NEAR(fitted_order(steps, errors), iterates ? 2 : 1, 0.1);
  }
}

TEST(MechanismFourBar, TheThreeRedundantRowsAreOfThoseThatHoldThePlane) {
  const std::vector<std::string> rows = redundant_rows(example_scene("four-bar").model);
  EXPECT_EQ(rows.size(), 3U);
  for (const std::string& row : rows)
    EXPECT_TRUE(row.ends_with(".z") || row.ends_with(".tilt x") || row.ends_with(".tilt y")) << row;
}

// -------------------------------------------------------------------------------------------------
// Bricard's mechanism

TEST(MechanismBricard, MovesWithThirtyRowsOnThirtyVelocities) {
  const Scene scene = example_scene("bricard");
  EXPECT_EQ(scene.model.num_v(), 30);
  EXPECT_EQ(scene.model.num_constraints(), 30);
  EXPECT_EQ(redundant_rows(scene.model).size(), 1U);
}

TEST(MechanismBricard, KeepsItsEnergyForTenSeconds) {
  // The benchmark asks for constant energy.
  const Scene scene = example_scene("bricard");
  std::vector<double> steps, losses;
  for (const double h : {4e-3, 2e-3, 1e-3}) {
    Simulation simulation(scene.model, options_of(scene, "trapezoidal-2", h));
    EnergyTrack energy(simulation);
    while (simulation.state().t < 10 - h / 2) {
      simulation.step();
      energy.add();
    }
    EXPECT_LE(energy.gain, 1e-6) << h;
    EXPECT_LT(simulation.summary().joint_error_max, h * h) << h;
    steps.push_back(h);
    losses.push_back(energy.loss);
  }
  RecordProperty("loss [J]", std::to_string(losses.back()));
  EXPECT_GT(fitted_order(steps, losses), 1.9);
  EXPECT_LT(losses.back(), 1e-3 * 5 * kGravity);  // of the weight over a metre

  Simulation iterated(scene.model, options_of(scene));
  EnergyTrack energy(iterated);
  while (iterated.state().t < 10 - scene.simulate.h / 2) {
    iterated.step();
    energy.add();
  }
  EXPECT_LE(energy.gain, 1e-9);
  EXPECT_LT(energy.loss, 1e-6 * 5 * kGravity);
  EXPECT_LT(iterated.summary().joint_error_max, 1e-9);
}

/// √(Σ ‖displacement of the rod's first end‖² + ‖change of its unit quaternion‖²) at 1 s.
double bricard_displacement(const Scene& scene, double h) {
  SimulationOptions options = options_of(scene, "spook", h);
  Simulation simulation(scene.model, options);
  const MechanismWatch watch(simulation);
  const Vector3d arms[] = {{-0.5, 0, 0}, {0, 0.5, 0}, {0, 0, -0.5}, {0.5, 0, 0}, {0, -0.5, 0}};
  const auto first_end = [&](int rod) {
    return watch.point("rod " + std::to_string(rod + 1), arms[rod]);
  };
  std::vector<Vector3d> starts;
  for (int rod = 0; rod < 5; ++rod) starts.push_back(first_end(rod));
  EnergyTrack energy(simulation);
  while (simulation.state().t < 1 - h / 2) {
    simulation.step();
    energy.add();
  }
  EXPECT_LE(energy.gain, 1e-9);
  EXPECT_LE(energy.loss, 1e-6 * 5 * kGravity);
  double sum = 0;
  for (int rod = 0; rod < 5; ++rod) {
    const Eigen::AngleAxisd turn(watch.pose("rod " + std::to_string(rod + 1)).rotation);
    // ‖q − 1‖² of the unit quaternion of a turn by α is 2 − 2 cos(α/2).
    sum += (first_end(rod) - starts[static_cast<std::size_t>(rod)]).squaredNorm() + 2 -
           2 * std::cos(turn.angle() / 2);
  }
  return std::sqrt(sum);
}

TEST(MechanismBricard, MovesAsInAnotherProgram) {
  // The public test suite of EXUDYN (Gerstmayr, TestModels/bricardMechanism.py) has the same rods
  // and 1,000 steps for 1 s; its reference 4.172189649307425 is the norm of all displacement
  // coordinates, which is this one, plus 1 for the degree of freedom, 1 for the redundant
  // constraint and a lowest eigenvalue of 0. Both are of second order; 5e-6 is the size of a
  // second-order error at that step.
  const Scene scene = example_scene("bricard");
  const double coarse = bricard_displacement(scene, 2e-3), fine = bricard_displacement(scene, 1e-3);
  const double limit = fine + (fine - coarse) / 3;
  RecordProperty("displacement", std::to_string(limit));
  EXPECT_NEAR(fine, limit, 2e-6);
  EXPECT_NEAR(limit, 2.172189649307425, 5e-6);
}

// -------------------------------------------------------------------------------------------------
// Ladder of four-bars

/// All cranks turn alike, at the speed of the one pendulum that the ladder is.
void expect_ladder(double duration) {
  const Scene scene = example_scene("four-bar-ladder");
  constexpr double N = 10, inertia = (N + 1) / 3 + N, weight = kGravity * ((N + 1) / 2 + N);
  Simulation simulation(scene.model, options_of(scene));
  const MechanismWatch watch(simulation);
  EnergyTrack energy(simulation);
  double apart = 0, speed = 0;
  while (simulation.state().t < duration - scene.simulate.h / 2) {
    simulation.step();
    energy.add();
    const double turned = watch.coordinate("A0");
    for (int i = 1; i <= 10; ++i)
      apart = std::max(apart, std::abs(watch.coordinate("A" + std::to_string(i)) - turned));
    const double exact = std::sqrt(1 + 2 * weight / inertia * (1 - std::sin(kPi / 2 + turned)));
    speed = std::max(speed, std::abs(watch.angular_velocity("crank 0").z() / exact + 1));
  }
  EXPECT_LT(watch.coordinate("A0"), -kPi * duration);  // about half a turn per second
  // The cranks part by what rounding becomes in a singular position; on another branch by angles of
  // order one.
  EXPECT_LE(apart, 1e-6);
  EXPECT_LT(speed, 1e-3);
  EXPECT_LE(energy.gain, 1e-9);
  EXPECT_LT(energy.loss, 1e-4 * weight);
}

TEST(MechanismLadder, PassesItsSingularPositionsAsOnePendulum) { expect_ladder(3); }
TEST(SlowMechanismLadder, PassesItsSingularPositionsForTenSeconds) { expect_ladder(10); }

TEST(MechanismLadder, EveryLoopHoldsThreeThingsTwice) {
  EXPECT_EQ(redundant_rows(example_scene("four-bar-ladder").model).size(), 30U);
}

}  // namespace
}  // namespace stiction::testing
