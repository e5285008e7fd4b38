// The ball between closing walls of Potra, Anitescu, Gavrea and Trinkle 2006, section 7.1:
// infinitely many elastic hits in finite time with a speed beyond all bounds. It must end with the
// floor on the step, not with an endless loop, and follow the closed form as long as it can.
#include <gtest/gtest.h>

#include <cmath>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

constexpr double kWall = 1, kBall = 3;  // [m/s] u and v₀

// From a wall at −uτ with speed v the ball meets the other after s = 2uτ/(v + u), so that
// τ⁺ = τ (v − u)/(v + u) and v⁺ = v + 2u: (v − u) τ stays the same. The first hit, from x = 0 at
// τ = 1, is at v₀ (1 − τ) = uτ.
double speed_after(int n) { return kBall + 2 * kWall * n; }  // n hits
double time_left_at(int n) {                                 // hit n = 1, 2, …
  const double first = kBall / (kBall + kWall);
  return first * (kBall + kWall) / (speed_after(n) - kWall);
}

TracedRun run_walls(const std::string& scheme, double duration, double h = 0.01) {
  const Scene scene = example_scene("closing-walls");
  return {scene.model, options_of(scene, scheme, h), duration};
}

class ClosingWalls : public ::testing::TestWithParam<const char*> {};

TEST_P(ClosingWalls, FollowsTheClosedFormUntilTheStepOfTheStop) {
  const TracedRun run = run_walls(GetParam(), 0.89);
  const auto hits = run.trace.events_of(EventKind::kCollision);
  // τ = 0.11 is reached after the hits with 3/(2n + 2) > 0.11.
  ASSERT_EQ(hits.size(), 12u);
  for (int n = 1; n <= 12; ++n) {
    const StepEvent& hit = hits[static_cast<std::size_t>(n - 1)];
    EXPECT_NEAR(hit.time, 1 - time_left_at(n), 1e-10) << "hit " << n;
    EXPECT_EQ(hit.contact, n % 2);  // right wall first
  }
  EXPECT_NEAR(std::abs(run.end().v[0]), speed_after(12), 1e-9);
  EXPECT_EQ(run.simulation.summary().count(EventKind::kFloor), 0);
}

TEST_P(ClosingWalls, EndsWithTheFloorAndTheBallAtRest) {
  const TracedRun run = run_walls(GetParam(), 1.5);
  const RunSummary& summary = run.simulation.summary();
  EXPECT_GE(summary.count(EventKind::kFloor), 1);
  EXPECT_EQ(summary.steps, 150);
  EXPECT_NEAR(run.end().q[0], 0, 1e-6);
  EXPECT_NEAR(run.end().v[0], 0, 1e-6);
  EXPECT_GT(summary.gap_min, -1e-6);
  // The energy the walls put in is in the ledger, finite.
  EXPECT_TRUE(std::isfinite(run.simulation.energy().motor));
  EXPECT_GT(run.simulation.energy().motor, 0);
}

INSTANTIATE_TEST_SUITE_P(EventSchemes, ClosingWalls,
                         ::testing::Values("trapezoidal-1", "trapezoidal-2", "anitescu-potra",
                                           "linearly-implicit-euler"));

}  // namespace
}  // namespace stiction::testing
