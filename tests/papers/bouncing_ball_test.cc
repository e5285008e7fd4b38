// The ball of examples/bouncing-ball.json under the schemes that locate collisions, against the
// closed form: first hit at T = √(2/g), every bounce half as long as the one before, all of them
// over at 3 T (the accumulation point).
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/gravity.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

const double kFall = std::sqrt(2 / kGravity);  // T: a fall from one metre
const double kRest = 3 * kFall;                // T + 2T (½ + ¼ + …)

/// Time of the n-th hit, n = 0, 1, …: T + 2T (½ + … + 2^−n) = T (3 − 2^(1−n)).
double hit_time(int n) { return kFall * (3 - std::ldexp(2, -n)); }

/// Height of the exact motion.
double height(double t) {
  if (t < kFall) return 1 - kGravity * t * t / 2;
  if (t >= kRest) return 0;
  int n = 0;
  while (n < 60 && hit_time(n + 1) <= t) ++n;
  const double flight = t - hit_time(n), speed = kGravity * kFall * std::ldexp(1, -n - 1);
  return speed * flight - kGravity * flight * flight / 2;
}

TracedRun run_ball(const std::string& scheme, double h, double duration = 2) {
  const Scene scene = example_scene("bouncing-ball");
  return {scene.model, options_of(scene, scheme, h), duration};
}

class BouncingBall : public ::testing::TestWithParam<const char*> {};

TEST_P(BouncingBall, TrapezoidalRuleIsExactInFlight) {
  // The rule integrates a constant force exactly and the interpolant of the gap is the parabola
  // itself: hits are found to rounding, whatever the step. Rounding of 1e-16 in a height becomes
  // 1e-16/speed in time, and the sequence halves speeds: twelve hits keep eleven digits.
  for (const double h : {1e-3, 0.013, 0.1}) {
    SCOPED_TRACE(h);
    const TracedRun run = run_ball(GetParam(), h);
    const auto hits = run.trace.events_of(EventKind::kCollision);
    ASSERT_GE(hits.size(), 12u);
    for (int n = 0; n < 12; ++n) {
      const StepEvent& hit = hits[static_cast<std::size_t>(n)];
      EXPECT_NEAR(hit.time, hit_time(n), 1e-11) << "hit " << n;
      // e = ½ leaves a quarter of the energy g 4^−n.
      EXPECT_NEAR(hit.energy_change, -0.75 * kGravity * std::ldexp(1, -2 * n), 1e-10);
    }
  }
}

TEST_P(BouncingBall, HeightsLieOnTheParabolas) {
  const TracedRun run = run_ball(GetParam(), 0.013);
  for (const Trace::Sample& sample : run.trace.samples)
    // Close to the accumulation point bounces below the contact tolerance, 1e-9 m, are cut off.
    ASSERT_NEAR(sample.state.q[0], height(sample.state.t), 1e-8) << "t = " << sample.state.t;
}

TEST_P(BouncingBall, PassesTheAccumulationPointAndRests) {
  for (const double h : {1e-3, 0.013, 0.1}) {
    SCOPED_TRACE(h);
    const TracedRun run = run_ball(GetParam(), h);
    const auto hits = run.trace.events_of(EventKind::kCollision);
    ASSERT_FALSE(hits.empty());
    // Bounces end where they are lower than the contact tolerance 1e-9 m, slower than the
    // restitution threshold or shorter than the floor: after less than forty halvings.
    EXPECT_LT(hits.size(), 40u);
    EXPECT_NEAR(hits.back().time, kRest, 1e-4);
    EXPECT_LE(run.simulation.summary().count(EventKind::kFloor), 1);
    EXPECT_NEAR(run.end().q[0], 0, 1e-9);
    EXPECT_NEAR(run.end().v[0], 0, 2e-4);  // the speed of a bounce of 1e-9 m
    EXPECT_GT(run.simulation.summary().gap_min, -1e-9);
    EXPECT_LE(run.simulation.energy().now.total(), 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Trapezoidal, BouncingBall,
                         ::testing::Values("trapezoidal-1", "trapezoidal-2"));

TEST(BouncingBallEuler, HitsComeEarlyByWhatTheRuleLoses) {
  // Semi-implicit Euler flies y = v t − g t²/2 − g h t/2: to first order in h a flight is shorter
  // by h and ends slower by g h than the parabola of its initial speed, the first fall is shorter
  // by h/2.
  for (const char* scheme : {"anitescu-potra", "linearly-implicit-euler"})
    for (const double h : {4e-3, 2e-3, 1e-3}) {
      SCOPED_TRACE(std::string(scheme) + " " + std::to_string(h));
      const TracedRun run = run_ball(scheme, h);
      const auto hits = run.trace.events_of(EventKind::kCollision);
      ASSERT_GE(hits.size(), 6u);
      double early = 0.5, slow = 0.25;  // in units of h and g h, at a hit and after it
      for (int n = 0; n < 6; ++n) {
        EXPECT_NEAR(hits[static_cast<std::size_t>(n)].time, hit_time(n) - early * h, 0.3 * h);
        early += 2 * slow + 1;
        slow = (slow + 1) / 2;
      }
      // Bounces end where the speed is lost within one step; all are over by the exact time.
      EXPECT_LT(hits.back().time, kRest);
      EXPECT_NEAR(run.end().q[0], 0, 1e-9);
      EXPECT_EQ(run.end().v[0], 0);
      EXPECT_LE(run.trace.energy_gain_max(), 1e-12);
    }
}

TEST(BouncingBallInelastic, StewartTrinkleTakesTheFirstHitAsTheLast) {
  const TracedRun run = run_ball("stewart-trinkle", 1e-3);
  EXPECT_FALSE(run.simulation.notes().empty());  // it has no restitution and says so
  EXPECT_NEAR(run.end().q[0], 0, 1e-12);
  EXPECT_GT(run.simulation.summary().gap_min, -1e-12);
  for (const Trace::Sample& sample : run.trace.samples)
    if (sample.state.t > kFall + 2e-3) {
      ASSERT_NEAR(sample.state.v[0], 0, 1e-9);
    }
}

}  // namespace
}  // namespace stiction::testing
