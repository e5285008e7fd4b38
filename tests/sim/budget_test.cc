// Steps under a budget of wall time. How much is done in it depends on the machine, so that nothing
// is measured here in seconds: what has to hold holds however little that is.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stiction/app/simulation_options.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"

namespace stiction {
namespace {

struct Worst {
  double joint = 0, residual = 0, energy = 0;  // [m], [-], relative to that of the start
  std::int64_t overruns = 0;
};

Worst run_loader(double budget, double duration) {
  const Scene scene = testing::example_scene("wheel-loader");
  SimulationOptions options = to_simulation_options(scene.simulate);
  options.budget = budget;
  Simulation simulation(scene.model, options);
  const double start = simulation.energy().now.total();
  Worst worst;
  while (simulation.state().t < duration - 1e-9) {
    simulation.step();
    worst.energy = std::max(worst.energy, simulation.energy().now.total() / start);
  }
  worst.joint = simulation.summary().joint_error_max;
  worst.residual = simulation.summary().residual_max;
  worst.overruns = simulation.summary().overruns;
  return worst;
}

/// Motors of the loader add about a fifth of the energy at the start in three seconds, which
/// impacts and friction take away again; what explodes has gained orders of magnitude.
constexpr double kMostEnergy = 1.25;

TEST(Budget, AMachineHoldsTogetherHoweverLittleTimeThereIs) {
  // Until the wheels have reached the heap. A microsecond is over before contacts are found.
  const Worst worst = run_loader(1e-6, 1.5);
  EXPECT_GT(worst.overruns, 0);
  EXPECT_LT(worst.joint, 1e-3);
  EXPECT_LT(worst.energy, kMostEnergy);
  EXPECT_LT(worst.residual, 1);
}

TEST(SlowBudget, AMachineHoldsTogetherWhateverTheTime) {
  for (const double budget : {5e-4, 2e-3, 4e-3, 8e-3, 1.0 / 60, 3.3e-2}) {
    SCOPED_TRACE(budget);
    const Worst worst = run_loader(budget, 3);
    EXPECT_LT(worst.joint, 1e-3);
    EXPECT_LT(worst.energy, kMostEnergy);
    EXPECT_LT(worst.residual, 1);
  }
}

TEST(Budget, TimeThatIsNeverUsedUpIsNoReasonToMissATolerance) {
  const Worst worst = run_loader(3600, 0.25);
  EXPECT_EQ(worst.overruns, 0);
  EXPECT_LE(worst.residual, 1e-6);
}

}  // namespace
}  // namespace stiction
