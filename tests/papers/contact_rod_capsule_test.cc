// E2 with shapes: the rod as a capsule over a plane does what the generalised system does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

TracedRun run_scene(const std::string& name, double h) {
  const Scene scene = example_scene(name);
  return {scene.model, options_of(scene, "stewart-trinkle", h), scene.simulate.duration};
}

// In the nonlinear variant contact points lie on both surfaces at the end of the step, so that it
// does not matter that rows of shapes act in the middle of the gap. In the plane a turn of the
// quaternion is a sum of angles. What is left is rounding and the tolerance of the fixed point.
TEST(RodCapsule, MovesAsTheGeneralisedRodDoes) {
  for (const double h : {0.0025, 0.001, 0.01, 0.04}) {
    SCOPED_TRACE(h);
    const TracedRun rod = run_scene("rod-and-table", h), capsule = run_scene("rod-capsule", h);
    ASSERT_EQ(rod.trace.samples.size(), capsule.trace.samples.size());
    double position = 0, velocity = 0;
    for (std::size_t n = 0; n < rod.trace.samples.size(); ++n) {
      // x, y, angle; x, y, z, quaternion w, x, y, z with a turn by −angle about y.
      const State &a = rod.trace.samples[n].state, &b = capsule.trace.samples[n].state;
      const double turn = 2 * std::atan2(-b.q[5], b.q[3]) - a.q[2];
      position = std::max({position, std::abs(b.q[0] - a.q[0]), std::abs(b.q[2] - a.q[1]),
                           std::abs(std::remainder(turn, 2 * std::numbers::pi))});
      velocity = std::max({velocity, std::abs(b.v[0] - a.v[0]), std::abs(b.v[1] - a.v[1]),
                           std::abs(b.v[2] + a.v[2])});
    }
    EXPECT_LE(position, 1e-10);
    EXPECT_LE(velocity, 1e-10);
  }
}

TEST(RodCapsule, LiesOnBothEndsAndRests) {
  const TracedRun run = run_scene("rod-capsule", 0.0025);
  EXPECT_EQ(run.simulation.contacts().size(), 2u);
  EXPECT_LE(run.end().v.lpNorm<Eigen::Infinity>(), 1e-9);
  EXPECT_NEAR(run.end().q[2], 0.05, 1e-12);
  EXPECT_GT(run.simulation.summary().gap_min, -1e-12);
}

}  // namespace
}  // namespace stiction::testing
