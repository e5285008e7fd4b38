// Every engine must hold the same scene: where steps are small and the ball is light, all of them
// follow the reference. A wrong inertia, anchor or unit shows here and not as a bad engine.
#include <gtest/gtest.h>

#include "bench/peers/chain.h"
#include "bench/peers/chain_reference.h"

namespace stiction::bench {
namespace {

TEST(ChainContenders, FollowTheReferenceInAnEasyScene) {
  // Thick rods and a light ball, so that a wrong inertia moves the path.
  const ChainScene scene{
      .links = 3, .link_radius = 0.08, .ball_mass = 0.5, .h = 2e-4, .duration = 0.5};
  const ReferencePath reference = compute_reference(scene, scene.duration);
  // Falling freely, Euler's method is off by g t h/2 after t, and all engines are of first order or
  // better; 8 times that leaves room for what the joints add (measured: up to 1.8 times, and 4.3
  // times where the turning of the joint forces is taken fully implicitly, which damps at first
  // order too). An inertia twice too large is off by 91 times.
  const double falling = kGravity * scene.duration * scene.h / 2;
  for (const ChainContender& contender : list_contenders()) {
    SCOPED_TRACE(contender.label.engine + ": " + contender.label.settings);
    const ChainResult result = contender.run(scene);
    EXPECT_TRUE(result.finite);
    EXPECT_LE(result.gap_max, falling);
    EXPECT_LE(compute_path_error(scene, result.path, reference) * scene.rope_length(), 8 * falling);
    EXPECT_EQ(result.engine, contender.label.engine);
  }
}

}  // namespace
}  // namespace stiction::bench
