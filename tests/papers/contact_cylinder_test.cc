// Cylinders on their rim: a thick coin that rolls in a circle, and Euler's disc.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

using Eigen::Vector3d;

constexpr double kPi = std::numbers::pi;
// Of examples/cylinder-rim.json.
constexpr double kRadius = 0.3, kHalf = 0.02;

/// The largest distance of the coin's centre from its circle, in the time that the scene lasts.
double roll(const std::string& scheme, double h) {
  const Scene scene = example_scene("cylinder-rim");
  Simulation simulation(scene.model, options_of(scene, scheme, h));
  const MechanismWatch watch(simulation);
  const Vector3d start = watch.pose("coin").position;
  double distance = 0;
  while (simulation.state().t < scene.simulate.duration - h / 2) {
    simulation.step();
    EXPECT_EQ(simulation.contacts().size(), 1u);
    const double angle = 1.6 * simulation.state().t;
    const Vector3d center(start.x() * std::cos(angle), start.x() * std::sin(angle), start.z());
    distance = std::max(distance, (watch.pose("coin").position - center).norm());
  }
  return distance;
}

// The scene starts in the steady motion of its closed form, around the circle at 1.6 rad/s.
TEST(CylinderRim, RollsInItsCircleWithErrorsOfTheOrderOfTheScheme) {
  struct Case {
    std::string scheme;
    double order;
  };
  for (const Case& c : {Case{"trapezoidal-2", 2}, Case{"trapezoidal-1", 1}, Case{"moreau", 1},
                        Case{"linearly-implicit-euler", 1}}) {
    SCOPED_TRACE(c.scheme);
    std::vector<double> steps, errors;
    for (const double h : {2e-3, 1e-3, 5e-4}) {
      steps.push_back(h);
      errors.push_back(roll(c.scheme, h));
    }
    EXPECT_NEAR(fitted_order(steps, errors), c.order, 0.1);
    if (c.order > 1) {
      EXPECT_LT(errors.back(), 1e-5);
    }
  }
}

TEST(CylinderRim, RollsWithoutLosses) {
  const Scene scene = example_scene("cylinder-rim");
  Simulation simulation(scene.model, options_of(scene));
  EnergyTrack energy(simulation);
  for (int n = 0; n < 4000; ++n) {
    simulation.step();
    energy.add();
  }
  // Rounding of 10 J in 4000 steps.
  EXPECT_LE(std::max(energy.gain, energy.loss), 4000 * 10 * 1e-15);
}

/// Euler's disc: a coin whose centre stays where it is while the contact goes round. With s r = −a
/// W in the condition of the scene, W² = m g a/((C a/r − (C − A) cos θ) sin θ).
Scene eulers_disc(double inclination) {
  const double along = kRadius * kRadius / 2, across = kRadius * kRadius / 4 + kHalf * kHalf / 3;
  const double a = kRadius * std::cos(inclination) - kHalf * std::sin(inclination);
  const double rate = std::sqrt(
      kGravity * a /
      ((along * a / kRadius - (along - across) * std::cos(inclination)) * std::sin(inclination)));
  return edited_scene("cylinder-rim", [&](nlohmann::ordered_json& document) {
    document.at("parameters").at("th") = inclination;
    document.at("parameters").at("W") = rate;
  });
}

// Steps on position level brake: the disc sinks, ever faster, but not a step adds energy.
TEST(EulersDisc, SinksWithoutGainingEnergy) {
  const Scene scene = eulers_disc(kPi / 12);
  Simulation simulation(scene.model, options_of(scene, "stewart-trinkle", 2e-3));
  const MechanismWatch watch(simulation);
  double energy = simulation.energy().now.total(), height = watch.pose("coin").position.z();
  const double start = height;
  for (int n = 1; n <= 700; ++n) {
    simulation.step();
    EXPECT_LE(simulation.energy().now.total(), energy + 1e-12);
    energy = simulation.energy().now.total();
    if (n % 100 != 0) continue;
    EXPECT_LT(watch.pose("coin").position.z(), height);
    height = watch.pose("coin").position.z();
  }
  EXPECT_LT(height - kHalf, 0.2 * (start - kHalf));
}

// A coin that falls on its rim, and from there flat on the table: in the step in which it lands any
// point of the rim may be the lowest, and none of them may be left out.
TEST(FallingCoin, LandsFlatWithoutLinearSteps) {
  for (const double inclination : {0.01, 0.02, 0.05, 0.1, 0.2}) {
    SCOPED_TRACE(inclination);
    const Scene scene = edited_scene("cylinder-rim", [&](nlohmann::ordered_json& document) {
      document.at("parameters").at("th") = inclination;
      nlohmann::ordered_json& coin = document.at("bodies").at(1);
      coin["position"] = {0, 0, 0.1};
      coin["orientation"] = {{"axis", {1, 0.3, 0}}, {"angle", "th"}};
      coin["velocity"] = {0.1, 0, 0};
      coin["angular_velocity"] = {0, 0, 1};
    });
    for (const double h : {1e-2, 4e-3, 2e-3}) {
      SCOPED_TRACE(h);
      Simulation simulation(scene.model, options_of(scene, "stewart-trinkle", h));
      const MechanismWatch watch(simulation);
      while (simulation.state().t < 0.8) simulation.step();
      EXPECT_EQ(simulation.summary().linear_steps, 0);
      EXPECT_NEAR(watch.pose("coin").position.z(), kHalf, 1e-9);
      EXPECT_NEAR(watch.pose("coin").rotation(2, 2), 1, 1e-9);
    }
  }
}

TEST(EulersDisc, GoesRoundAtTheRateOfItsInclination) {
  const Scene scene = eulers_disc(kPi / 8);
  Simulation simulation(scene.model, options_of(scene, "trapezoidal-2", 5e-4));
  const MechanismWatch watch(simulation);
  EnergyTrack energy(simulation);
  const Vector3d start = watch.pose("coin").position;
  EXPECT_NEAR(start.head<2>().norm(), 0, 1e-15);
  for (int n = 0; n < 2000; ++n) {
    simulation.step();
    energy.add();
    EXPECT_LE((watch.pose("coin").position - start).norm(), 1e-3);
  }
  // The rim itself rolls: no point of it that stands for a flat patch strikes the table.
  EXPECT_EQ(simulation.summary().count(EventKind::kCollision), 0);
  EXPECT_EQ(simulation.summary().contacts_max, 1);
  EXPECT_LE(energy.gain, 1e-9);
  EXPECT_LE(energy.loss, 1e-9);  // (W h)⁴ of 2 J is 1e-8
}

}  // namespace
}  // namespace stiction::testing
