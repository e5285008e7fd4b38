// The chains of examples/, which carry a heavy ball or end in a whip, and SPOOK's two small systems
// as scenes.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/app/experiments/spook_systems.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

using experiments::kPendulumQuarter;
using experiments::PendulumSwing;
using experiments::swing_pendulum;

using Eigen::Vector3d;

constexpr double kStep = 1.0 / 60;

struct ChainRun {
  double gap = 0;              // [m] largest error of a joint
  double gain = 0;             // largest E − E₀ [J]
  double loss = 0;             // E₀ − E at the end [J]
  double residual = 0;         // largest
  std::vector<Vector3d> path;  // of the last body, at every multiple of 1/60 s
};

ChainRun run_chain(const Scene& scene, bool iterates, double duration, int substeps = 1) {
  SimulationOptions options = options_of(scene, "spook", kStep / substeps);
  options.stepping.spook.position_iteration = iterates;
  Simulation simulation(scene.model, options);
  EnergyTrack energy(simulation);
  ChainRun run;
  const double start = simulation.energy().now.total();
  const Eigen::Index last = scene.model.num_q() - 7;
  const int num_steps = static_cast<int>(std::lround(duration / kStep));
  for (int n = 0; n < num_steps; ++n) {
    for (int k = 0; k < substeps; ++k) {
      simulation.step();
      energy.add();
    }
    run.path.push_back(simulation.state().q.segment<3>(last));
  }
  run.gap = simulation.summary().joint_error_max;
  run.gain = energy.gain;
  run.loss = start - simulation.energy().now.total();
  run.residual = simulation.summary().residual_max;
  return run;
}

double largest_distance(const std::vector<Vector3d>& a, const std::vector<Vector3d>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, (a[i] - b[i]).norm());
  return worst;
}

constexpr double kRope = 10;                        // [m] of heavy-chain and of chain-100
constexpr double kScale = 1000 * kGravity * kRope;  // [J] m g L of the ball

class MechanismChain : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, MechanismChain, ::testing::Values("heavy-chain", "chain-100"));

TEST_P(MechanismChain, HoldsThroughTheFirstSwing) {
  constexpr double kSwing = 1.5;
  const Scene scene = example_scene(GetParam());
  const ChainRun fine = run_chain(scene, true, kSwing, 8);
  for (const bool iterates : {false, true}) {
    SCOPED_TRACE(iterates ? "position iteration" : "linear");
    const ChainRun run = run_chain(scene, iterates, kSwing);
    EXPECT_LT(run.gap, iterates ? 1e-6 : 5e-3);
    EXPECT_LE(run.gain, 1e-9 * kScale);
    EXPECT_LT(run.loss, (iterates ? 1e-3 : 0.02) * kScale);
    EXPECT_LT(run.residual, 1e-8);
    EXPECT_LT(largest_distance(run.path, fine.path), (iterates ? 0.002 : 0.02) * kRope);
  }
}

class SlowMechanismChain : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, SlowMechanismChain, ::testing::Values("heavy-chain", "chain-100"));

TEST_P(SlowMechanismChain, HoldsForTenSeconds) {
  const ChainRun run = run_chain(example_scene(GetParam()), false, 10);
  EXPECT_LT(run.gap, 5e-3);
  EXPECT_LE(run.gain, 1e-9 * kScale);
  EXPECT_LT(run.loss, 0.13 * kScale);
  EXPECT_LT(run.residual, 1e-8);
}

TEST(SlowMechanismChainIterated, OfFiftyLinksIteratedHoldsForTenSeconds) {
  const ChainRun run = run_chain(example_scene("heavy-chain"), true, 10);
  EXPECT_LT(run.gap, 1e-6);
  EXPECT_LE(run.gain, 1e-9 * kScale);
  EXPECT_LT(run.loss, 0.04 * kScale);
  EXPECT_LT(run.residual, 1e-8);
}

TEST(MechanismWhip, LashesOutAndGainsNothing) {
  const Scene scene = example_scene("whiplash-chain");
  Simulation simulation(scene.model, options_of(scene));
  const MechanismWatch watch(simulation);
  EnergyTrack energy(simulation);
  double fastest = 0, at = 0;
  while (simulation.state().t < 5 - kStep / 2) {
    simulation.step();
    energy.add();
    const double speed = simulation.state().v.segment<3>(scene.model.num_v() - 6).norm();
    if (speed > fastest) {
      fastest = speed;
      at = simulation.state().t;
    }
  }
  // Faster than anything that falls over the length of the chain, and before it could.
  EXPECT_GT(fastest, std::sqrt(2 * kGravity * 4));
  EXPECT_LT(at, std::sqrt(2 * 4 / kGravity));
  EXPECT_LE(energy.gain, 1e-9 * 20 * kGravity * 4);
  EXPECT_LT(simulation.summary().joint_error_max, 1e-6);
  RecordProperty("fastest [m/s]", std::to_string(fastest));
}

// -------------------------------------------------------------------------------------------------

TEST(MechanismSpook, OscillatorTurnsAsTheMidpointRuleAndTheStopRelaxesByThirds) {
  const Scene scene = example_scene("spook-oscillator");
  Simulation simulation(scene.model, options_of(scene));
  const double turn = 2 * std::atan(std::numbers::pi * kStep);
  std::vector<double> x{1};
  for (int n = 1; n <= 240; ++n) {
    simulation.step();
    x.push_back(simulation.state().q[0]);
    // Trace 2/3 and determinant 1/9: a double root of 1/3.
    EXPECT_NEAR(simulation.state().q[7], (1 + 2.0 / 3 * n) * std::pow(3.0, -n), 1e-9) << n;
  }
  for (std::size_t n = 1; n + 1 < x.size(); ++n)
    EXPECT_NEAR(x[n + 1], 2 * std::cos(turn) * x[n] - x[n - 1], 1e-12) << n;
}

TEST(MechanismSpook, PendulumHasItsPeriodAndItsLengthToSecondOrder) {
  const Scene scene = example_scene("spook-pendulum");
  const double exact = 4 * kPendulumQuarter / std::sqrt(kGravity);
  std::vector<double> steps, periods, rods;
  for (int divisor = 2; divisor <= 32; divisor *= 2) {
    const PendulumSwing at = swing_pendulum(scene, kStep / divisor);
    steps.push_back(kStep / divisor);
    periods.push_back(std::abs(at.period - exact));
    rods.push_back(at.rod);
  }
  EXPECT_NEAR(fitted_order(steps, periods), 2, 0.3);
  EXPECT_NEAR(fitted_order(steps, rods), 2, 0.1);
  RecordProperty("at 1/120 s",
                 std::to_string(periods.front()) + " " + std::to_string(rods.front()));
}

}  // namespace
}  // namespace stiction::testing
