// Threads share out all stages of a step; what comes out has the same bits.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "stiction/sim/simulation.h"
#include "tests/sanitizers.h"
#include "tests/sim/brick_wall.h"

namespace stiction {
namespace {

/// Steps a wall into whose upper part a brick of its own has been given a push.
State run_wall(const std::string& scheme, double tolerance, int num_threads, RunSummary& summary) {
  Simulation simulation(testing::brick_wall(8, 9), {.scheme = scheme,
                                                    .h = 1.0 / 60,
                                                    .tolerance = tolerance,
                                                    .friction = FrictionSection::disc(),
                                                    .on_failure = OnFailure::kAcceptAndFlag,
                                                    .collision = {.num_threads = num_threads}});
  State start = simulation.state();
  start.v[6 * 58] = 2;
  simulation.set_state(start);
  // The second one starts from the impulses of the first one, as all that follow.
  for (int step = 0; step < testing::fewer_sanitized(4, 2); ++step) simulation.step();
  summary = simulation.summary();
  return simulation.state();
}

TEST(Threads, StepsHaveTheSameBits) {
  // Loose tolerances are met by sweeps, tight ones by Newton's method.
  for (const auto& [scheme, tolerance] : {std::pair("spook", 1e-3), std::pair("moreau", 1e-6)}) {
    SCOPED_TRACE(scheme);
    RunSummary expected_summary;
    const State expected = run_wall(scheme, tolerance, 1, expected_summary);
    EXPECT_GE(expected_summary.contacts_max, 400) << "too few for threads to be of use";
    for (const int num_threads : {2, 3}) {
      if (testing::kHasSanitizers && num_threads > 2) continue;  // runs the same lines
      RunSummary summary;
      const State state = run_wall(scheme, tolerance, num_threads, summary);
      EXPECT_EQ(state.q, expected.q) << num_threads << " threads";
      EXPECT_EQ(state.v, expected.v) << num_threads << " threads";
      EXPECT_EQ(summary.residual_max, expected_summary.residual_max);
      EXPECT_EQ(summary.gap_min, expected_summary.gap_min);
    }
  }
}

}  // namespace
}  // namespace stiction
