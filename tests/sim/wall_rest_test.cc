// A wall that nothing touches comes to rest, and stays as it is.
#include <gtest/gtest.h>

#include <string>

#include "stiction/sim/simulation.h"
#include "tests/sanitizers.h"
#include "tests/sim/brick_wall.h"

namespace stiction {
namespace {

TEST(Wall, ComesToRestToTheBit) {
  // Small velocities are not taken back by pushes that the next step has to take back in turn.
  for (const std::string scheme : {"moreau", "spook"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(testing::brick_wall(8, 9), {.scheme = scheme,
                                                      .h = 1.0 / 60,
                                                      .tolerance = 1e-6,
                                                      .friction = FrictionSection::disc(),
                                                      .sleep = false});
    const VectorXd start = simulation.state().q;
    for (int step = 0; step < testing::fewer_sanitized(120, 40); ++step) simulation.step();
    if (scheme == "moreau") {
      EXPECT_EQ(simulation.state().v, VectorXd::Zero(simulation.state().v.size()));
    }
    // As far as spook parts what overlaps by a nanometre per brick.
    EXPECT_LE((simulation.state().q - start).cwiseAbs().maxCoeff(), 2e-8);
  }
}

}  // namespace
}  // namespace stiction
