// Newton's cradle: successive impacts of balls that hang a little apart, and the simultaneous
// impact of balls that touch, each against its closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "tests/gravity.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

constexpr int kBalls = 5;
constexpr double kLength = 0.5, kAngle = std::numbers::pi / 4, kStep = 1e-3;
constexpr double kGap = 1e-4;
/// [J] of the lifted ball of 1 kg.
const double kEnergy = kGravity * kLength * (1 - std::cos(kAngle));
/// [m/s] of the first ball when it arrives.
const double kSpeed = std::sqrt(2 * kEnergy);

/// Balls of a radius whose multiples are exact, so that those that touch have gaps of 0.
Scene cradle(double gap, double restitution = 1) {
  return edited_scene("newtons-cradle", [&](nlohmann::ordered_json& document) {
    document.at("parameters").at("r") = 0.0625;
    document.at("parameters").at("gap") = gap;
    document.at("materials").at("steel").at("restitution") = restitution;
  });
}

SimulationOptions options_for(const Scene& scene, const std::string& scheme) {
  SimulationOptions options = options_of(scene, scheme, kStep);
  options.stepping.spook.position_iteration = true;
  return options;
}

/// Of a pendulum that is let go at kAngle, by the arithmetic–geometric mean.
double half_period() {
  double a = 1, b = std::cos(kAngle / 2);
  for (int i = 0; i < 10; ++i) {
    const double mean = (a + b) / 2;
    b = std::sqrt(a * b);
    a = mean;
  }
  return std::numbers::pi / a * std::sqrt(kLength / kGravity);
}

std::string ball(int index) { return "ball " + std::to_string(index + 1); }

TEST(NewtonsCradle, BallsApartHandOnTheVelocityOneByOne) {
  // Balls stop where they hit the next: gap further, and, without location of collisions, up to
  // two steps. Equal masses exchange velocities but for the tilt (gap/L)² of the line of centres.
  struct Case {
    std::string scheme;
    double way;     // [m] that the others may be off
    double energy;  // [J] that may be missing
  };
  // The energy of the second-order rules is off by the share (ωh)², ω² = g/L.
  const double second_order = kGravity / kLength * kStep * kStep * kEnergy;
  for (const Case& c : {Case{"trapezoidal-2", 2 * kGap, second_order},
                        Case{"spook", 2 * kGap + 2 * kStep * kSpeed, second_order},
                        Case{"moreau", 2 * kGap + 2 * kStep * kSpeed, 10 * second_order}}) {
    SCOPED_TRACE(c.scheme);
    const Scene scene = cradle(kGap);
    Simulation simulation(scene.model, options_for(scene, c.scheme));
    const MechanismWatch watch(simulation);
    EnergyTrack energy(simulation);
    const double period = 2 * half_period();
    double highest = 0, highest_at = 0, others = 0;
    while (simulation.state().t < 0.99 * period) {
      simulation.step();
      energy.add();
      const double t = simulation.state().t;
      if (t < 0.27 * period || t > 0.73 * period) continue;
      const double height = watch.pose(ball(kBalls - 1)).position.z();
      if (height > highest) {
        highest = height;
        highest_at = t;
      }
      for (int i = 0; i < kBalls - 1; ++i)
        others = std::max(others, std::abs(watch.pose(ball(i)).position.x() - i * (0.125 + kGap)));
    }
    const double top = kEnergy / kGravity;
    // The four others keep m g x²/2L each.
    EXPECT_NEAR(highest, top, c.energy / kGravity + 2 * others * others / kLength);
    // At the top it stays within g t²/2 for a while; the way through the gaps is the rest.
    EXPECT_NEAR(highest_at, half_period(), 5 * kStep);
    EXPECT_LE(others, c.way);
    EXPECT_LE(energy.gain, 1e-12);
    EXPECT_LE(energy.loss, c.energy);
    // And back: the first ball is where it was.
    EXPECT_NEAR(watch.pose(ball(0)).position.z(), top, 0.01 * top);
    if (c.scheme == "trapezoidal-2") {
      EXPECT_EQ(simulation.summary().count(EventKind::kCollision), 2 * (kBalls - 1));
    }
  }
}

/// Velocities of all balls along the row after the first impact, relative to that before.
std::array<double, kBalls> strike(const std::string& scheme, double restitution) {
  const Scene scene = cradle(0, restitution);
  Simulation simulation(scene.model, options_for(scene, scheme));
  std::array<double, kBalls> velocity{};
  double before = 0;
  while (true) {
    simulation.step();
    for (int i = 0; i < kBalls; ++i) velocity[i] = simulation.state().v[6 * i];
    if (velocity[1] > 0.01 || simulation.state().t > 1) break;
    before = velocity[0];
  }
  for (double& v : velocity) v /= before;
  return velocity;
}

// All four contacts act at once. Newton: γ₁⁺ = e v and γ_k⁺ = 0 for the others, whose approach is
// 0. Poisson: compression brings all balls to v/5 by the impulses (4, 3, 2, 1) v/5, which are given
// e times more. Both make it (1 − 4e)/5 for the first and (1 + e)/5 for all others.
TEST(NewtonsCradle, BallsThatTouchAnswerTogetherByBothLaws) {
  struct Case {
    std::string scheme;
    std::vector<double> restitutions;
  };
  // SPOOK pushes out what has got in before the impact, and so is right only where balls part fast.
  for (const Case& c : {Case{"trapezoidal-2", {0, 0.25, 0.6, 1}},
                        Case{"linearly-implicit-euler", {0, 0.25, 0.6, 1}},
                        Case{"moreau", {0, 0.25, 0.6, 1}}, Case{"spook", {1}}})
    for (const double e : c.restitutions) {
      SCOPED_TRACE(c.scheme + " " + std::to_string(e));
      const std::array<double, kBalls> v = strike(c.scheme, e);
      // Gravity changes velocities by g h (v h/L) within the step, and lines of centres are tilted
      // by v h/L: 3e-5 and 1e-5 of v.
      constexpr double kShare = 1e-4;
      EXPECT_NEAR(v[0], (1 - 4 * e) / 5, kShare);
      for (int i = 1; i < kBalls; ++i) EXPECT_NEAR(v[i], (1 + e) / 5, kShare) << i;
    }
}

TEST(NewtonsCradle, BallsThatTouchKeepTheirEnergy) {
  const Scene scene = cradle(0);
  for (const std::string scheme : {"trapezoidal-2", "spook"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(scene.model, options_for(scene, scheme));
    const MechanismWatch watch(simulation);
    EnergyTrack energy(simulation);
    std::array<double, kBalls> highest{};
    while (simulation.state().t < 1) {
      simulation.step();
      energy.add();
      if (simulation.state().t < 0.5) continue;  // the impact is at 0.37 s
      for (int i = 0; i < kBalls; ++i)
        highest[i] = std::max(highest[i], watch.pose(ball(i)).position.z());
    }
    const double top = kEnergy / kGravity;
    EXPECT_NEAR(highest[0], 0.36 * top, 1e-3 * top);
    for (int i = 1; i < kBalls; ++i) EXPECT_NEAR(highest[i], 0.16 * top, 1e-3 * top);
    EXPECT_LE(energy.gain, 1e-12);
    EXPECT_LE(energy.loss, kGravity / kLength * kStep * kStep * kEnergy);
    EXPECT_EQ(simulation.summary().impact_gains, 0);
  }
}

}  // namespace
}  // namespace stiction::testing
