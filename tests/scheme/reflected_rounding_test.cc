// What rounding leaves in the velocity of a row is gone after a step of trapezoidal-2, and nothing
// else is: (T39).
#include "stiction/scheme/reflected_rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kGravity = 9.81, kStep = 0.01;
/// [m/s] What a step leaves in a velocity that its forces make: a few dozen roundings.
constexpr double kRounding =
    64 * std::numeric_limits<double>::epsilon() * kGravity * kStep;  // 1.4e-15

/// A block that sticks to the ground, with these velocities along and off it.
Simulation stuck(double along, double off) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, along});
  const Expression y = system.add_coordinate("y", {0, off});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_contact({.gap = y, .tangents = {{1.0, 0.0}}, .mu = 0.5});
  SimulationOptions options{.scheme = "trapezoidal-2", .h = kStep};
  options.stepping.events.transitions = false;
  return Simulation(system.build_model(), options);
}

// τ is 1e-11 of what weight does in half a step: 5e-13.
TEST(ReflectedRounding, IsGoneAfterAStepFromBothDirectionsOfAContact) {
  for (const double along : {0.0, 1e-13, -3e-13})
    for (const double off : {0.0, 1e-13, -3e-13}) {
      Simulation simulation = stuck(along, off);
      simulation.step();
      EXPECT_LE(simulation.state().v.lpNorm<Eigen::Infinity>(), kRounding) << along << " " << off;
    }
}

TEST(ReflectedRounding, LeavesMotionToTheSchemeHoweverSlow) {
  for (const double along : {1e-11, 1e-9, 1e-3}) {
    Simulation simulation = stuck(along, 0);
    constexpr int kNumSteps = 1000;
    for (int n = 1; n <= kNumSteps; ++n) {
      simulation.step();
      ASSERT_NEAR(simulation.state().v[0], n % 2 == 0 ? along : -along, n * kRounding);
    }
  }
}

// A load on a row that yields by 1e-9 of its mobility. One that is reflected is at rest after every
// other step, and moves twice as fast in between.
TEST(ReflectedRounding, LetsJointsYieldSteadily) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {0, 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_constraint("held", y);
  Simulation simulation(system.build_model(), {.scheme = "trapezoidal-2", .h = kStep});
  // C λ, where M̂ = 2 M: the share may differ, the sign may not.
  const double yield = 1e-9 / 2 * kGravity * kStep;
  simulation.run(5 * kStep);
  for (int n = 0; n < 1000; ++n) {
    const double before = simulation.state().v[0];
    simulation.step();
    ASSERT_NEAR(simulation.state().v[0], before, kRounding);
    ASSERT_NEAR(simulation.state().v[0], -yield, 1e-3 * yield);
  }
}

}  // namespace
}  // namespace stiction
