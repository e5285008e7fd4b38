// What a scheme itself does to the energy, by its own formula: the entry `numerical` of the ledger
// is the rest that no law explains, and here that rest is worked out by hand, step by step.
//
// For a constant mass the work of every part of the impulse is that part times the mean velocity
// v̄ (T30). Schemes of Euler type move by h v⁺, so that
//
//   a constant force k    does h kᵀv̄ and takes h kᵀv⁺ out of its potential: −(h/2) kᵀ(v⁺ − v)
//   an explicit spring    does −hγφφ̇̄ and stores hγ(φ + hφ̇⁺/2)φ̇⁺:    (hγ/2)(φ(φ̇⁺ − φ̇) + hφ̇⁺²)
//   an implicit spring    does −hγφ⁺φ̇̄ and stores hγ(φ⁺ − hφ̇⁺/2)φ̇⁺:  (hγ/2)(φ⁺(φ̇⁺ − φ̇) − hφ̇⁺²)
//
// which are the differences between both sides of Stewart and Trinkle 1996, (24), and of Anitescu
// and Potra 2002, theorem 2.4, both without contacts. Moreau's midpoint moves by h v̄: nothing is
// left over for constant forces.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/gravity.h"

namespace stiction::testing {
namespace {

constexpr double kMass = 2, kStiffness = 800, kStep = 7e-3;
constexpr int kSteps = 400;

/// Slides along a floor with friction, after a fall if it starts above it, and is pulled back by a
/// spring in its x direction if there is one.
Model slider(double height, double stiffness) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0.1, 1.3});
  const Expression y = system.add_coordinate("y", {height, height > 0 ? -0.4 : 0});
  system.set_mass(x, x, kMass);
  system.set_mass(y, y, kMass);
  system.set_potential(kMass * kGravity * y);
  if (stiffness > 0) system.add_spring({.name = "spring", .extension = x, .stiffness = stiffness});
  system.add_contact({.name = "floor", .gap = y, .tangents = {{1.0, 0.0}}, .mu = 0.3});
  return system.build_model();
}

/// Rounding of a sum of kSteps energies.
double rounding_of(const Simulation& simulation) {
  return kSteps * 1e-15 * (simulation.energy().start + 1);
}

/// Where to start, so that none of the schemes has an impact of its own, whose work is another
/// entry.
struct Fall {
  std::string scheme;
  double height;
};

class EulerEnergy : public ::testing::TestWithParam<Fall> {};

TEST_P(EulerEnergy, OfAConstantForceIsItsFormula) {
  Simulation simulation(slider(GetParam().height, 0),
                        {.scheme = GetParam().scheme,
                         .h = kStep,
                         .stepping = {.events = {.collisions = false}, .projection = false}});
  double expected = 0;
  for (int k = 0; k < kSteps; ++k) {
    const double before = simulation.state().v[1];
    simulation.step();
    expected += kStep / 2 * kMass * kGravity * (simulation.state().v[1] - before);
  }
  EXPECT_NEAR(simulation.energy().numerical, expected, rounding_of(simulation));
  EXPECT_GT(std::abs(expected), 1e-3);  // there was something to see
}

INSTANTIATE_TEST_SUITE_P(Schemes, EulerEnergy,
                         ::testing::Values(Fall{"stewart-trinkle", 0.2},
                                           Fall{"anitescu-potra", 100},
                                           Fall{"linearly-implicit-euler", 100}));

TEST(SpringEnergy, OfAnExplicitOrImplicitSpringIsItsFormula) {
  for (const bool is_implicit : {false, true}) {
    Simulation simulation(slider(0, kStiffness),
                          {.scheme = is_implicit ? "linearly-implicit-euler" : "anitescu-potra",
                           .h = kStep,
                           .stepping = {.events = {.collisions = false}, .projection = false}});
    double force = 0, spring = 0;
    for (int k = 0; k < kSteps; ++k) {
      const State before = simulation.state();
      simulation.step();
      const State& after = simulation.state();
      const double extension = is_implicit ? after.q[0] : before.q[0], rate = after.v[0];
      force += kStep / 2 * kMass * kGravity * (after.v[1] - before.v[1]);
      spring += kStep * kStiffness / 2 *
                (extension * (rate - before.v[0]) + (is_implicit ? -1 : 1) * kStep * rate * rate);
    }
    EXPECT_NEAR(simulation.energy().numerical, force + spring, rounding_of(simulation))
        << is_implicit;
    // Anitescu and Potra 2002, theorem 2.4: the energy stays below that of the start.
    EXPECT_TRUE(!is_implicit || spring < -0.1) << spring;
  }
}

TEST(MidpointEnergy, OfAConstantForceIsNothing) {
  Simulation simulation(slider(0.2, 0), {.scheme = "moreau", .h = kStep});
  simulation.run(kSteps * kStep);
  EXPECT_NEAR(simulation.energy().numerical, 0, rounding_of(simulation));
}

}  // namespace
}  // namespace stiction::testing
