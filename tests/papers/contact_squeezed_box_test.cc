// Lacoursière & Linde (2011), §17.3 and figure 10: a tall box between two plates, pressed by d from
// either side and pulled sideways without gravity. Contacts that yield by ε per newton carry d/ε
// each, constant and equal, while the box slides. Gauss–Seidel sweeps of the paper's three variants
// stall on the problem of one step; the solver gives the closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/example_scene.h"
#include "tests/papers/relaxation_checks.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

constexpr double kPressed = 1e-4, kYield = 1e-6, kMass = 10, kMu = 0.5;  // of the scene
constexpr double kLoad = kPressed / kYield;                              // [N] of a corner
constexpr double kAcceleration = (1.5 - 1) * 8 * kMu * kLoad / kMass;

/// The certificate bounds errors of velocities by 1e-9 of what the largest impulses could cause.
/// The eight contacts move each other by up to 8(1/m + r²/I) ≈ 4 m/s per N s, their compliance is
/// 4εφ/h² = 1.6e-3: an error of the loads may be 4/1.6e-3 times larger.
constexpr double kLoadError = 1e-9 * (4 / 1.6e-3) * 8 * kLoad;

TEST(SqueezedBox, AllCornersCarryTheSameConstantLoadWhileItSlides) {
  const Scene scene = example_scene("squeezed-box");
  for (const std::string solver : {"auto", "direct-iterative"}) {
    SCOPED_TRACE(solver);
    SimulationOptions options = options_of(scene);
    options.solver = solver;
    Simulation simulation(scene.model, options);
    for (int n = 1; n <= 60; ++n) {
      simulation.step();
      ASSERT_EQ(simulation.contacts().size(), 8u);
      for (const ContactOutcome& contact : simulation.contacts()) {
        ASSERT_NEAR(contact.impulse[0] / options.h, kLoad, kLoadError) << n;
        ASSERT_EQ(contact.status, ContactStatus::kSlip);
      }
      // v⁺ = v + h a, exactly.
      const double error = n * options.h * 8 * kMu * kLoadError / kMass;
      ASSERT_NEAR(simulation.state().v[1], kAcceleration * n * options.h, error);
    }
    EXPECT_LE(simulation.state().v.tail<3>().norm(), 1e-3);  // nothing turns it
  }
}

TEST(SqueezedBox, GaussSeidelSweepsStallWhereTheSolverConverges) {
  const Scene scene = example_scene("squeezed-box");
  Simulation simulation(scene.model, options_of(scene));
  for (int n = 0; n < 3; ++n) simulation.step();
  const StepProblem& problem = simulation.last_problem();
  for (const PgsVariant variant : kPgsVariants) {
    const Sweeps sweeps = sweep(problem, variant, 1000);
    EXPECT_FALSE(sweeps.has_converged);
    EXPECT_GE(sweeps.last(), 1e-4);  // measured: 2e-2, 8e-4, 2e-2 after a thousand sweeps
  }
  EXPECT_LE(certified_residual(problem, "auto", 1e-10), 1e-10);
}

}  // namespace
}  // namespace stiction::testing
