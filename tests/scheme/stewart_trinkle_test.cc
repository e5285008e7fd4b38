#include "stiction/scheme/stewart_trinkle.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kGravity = 9.81;

TEST(StewartTrinkle, BallLandsExactlyAtTheEndOfTheStep) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {0.3, 0});
  system.set_mass(y, y, 2.0);
  system.set_potential(2.0 * kGravity * y);
  system.add_contact({.gap = y, .restitution = 0.5});
  constexpr double h = 7e-3;
  Simulation simulation(system.build_model(), {.scheme = "stewart-trinkle", .h = h});
  double q = 0.3, v = 0;
  for (int k = 0; k < 60; ++k) {
    v = std::max(v - kGravity * h, -q / h);
    q += h * v;
    simulation.step();
    ASSERT_NEAR(simulation.state().q[0], q, 1e-14) << "step " << k;
    ASSERT_NEAR(simulation.state().v[0], v, 1e-12) << "step " << k;
  }
  EXPECT_EQ(simulation.state().q[0], 0);
  ASSERT_EQ(simulation.notes().size(), 1u);
  EXPECT_NE(simulation.notes()[0].find("restitution of contact 'contact 1' is not used"),
            std::string::npos);
}

/// A particle that slides up and down in a round bowl. (On the outside of a circle the linearised
/// gap is never larger than the gap itself.)
Model particle_in_bowl() {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 1}), y = system.add_coordinate("y", {-1, 0});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_contact({.gap = 1.0 - sqrt(x * x + y * y), .tangents = {{y, -x}}, .mu = 0.1});
  return system.build_model();
}

double deepest(bool nonlinear, double h) {
  SimulationOptions options{.scheme = "stewart-trinkle", .h = h};
  options.stepping.nonlinear = nonlinear;
  Simulation simulation(particle_in_bowl(), options);
  simulation.run(0.3);
  return -simulation.summary().gap_min;
}

TEST(StewartTrinkle, DoesNotPenetrateWhenNonlinear) {
  for (const double h : {2e-2, 5e-3, 1e-3}) EXPECT_LE(deepest(true, h), 4e-16) << h;
}

TEST(StewartTrinkle, PenetratesInSecondOrderWhenLinear) {
  // Curvature 1/r: the linearised gap misses by up to (h a)²h²/2-like terms; halving h quarters it
  // at least.
  const double coarse = deepest(false, 2e-2), fine = deepest(false, 1e-2);
  EXPECT_GT(coarse, 1e-12);
  EXPECT_LT(fine, coarse / 3.5);
}

TEST(StewartTrinkle, HoldsConstraintsAtTheEndOfTheStep) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {1, 0}), y = system.add_coordinate("y", {0, 0});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_constraint("rod", x * x + y * y - 1.0);
  Simulation simulation(system.build_model(), {.scheme = "stewart-trinkle", .h = 5e-3});
  simulation.run(2);
  EXPECT_LE(simulation.summary().joint_error_max, 1e-11);
}

TEST(StewartTrinkle, StartsFromTheOriginAtRest) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {}), y = system.add_coordinate("y", {});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_contact(
      {.gap = y - 0.5 * x * x + 0.3 * x * x * x + 0.1 * x, .tangents = {{1.0, 0.0}}});
  Simulation simulation(system.build_model(), {.scheme = "stewart-trinkle", .h = 1e-2});
  simulation.run(0.5);
  EXPECT_GE(simulation.summary().gap_min, -1e-15);
  EXPECT_GE(simulation.summary().scheme_iterations, simulation.summary().steps);
}

TEST(StewartTrinkle, ZeroStepIsAnInelasticImpact) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {0, -2});
  system.set_mass(y, y, 1.0);
  system.add_contact({.gap = y, .restitution = 0.9});
  Simulation simulation(system.build_model(), {.scheme = "stewart-trinkle", .h = 1e-2});
  simulation.step(0);
  EXPECT_NEAR(simulation.state().v[0], 0, 1e-14);
  EXPECT_NEAR(simulation.contacts().at(0).impulse[0], 2, 1e-14);
}

}  // namespace
}  // namespace stiction
