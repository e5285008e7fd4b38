// E7: the block under 8 cos t of Potra, Anitescu, Gavrea and Trinkle 2006, section 10.2, against
// its closed form: Tables 10.2 and 10.3, which are what plain stepping gives, true second order
// with stick–slip detection, and Moreau's scheme on the same problem.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/app/experiments/cosine_block_closed_form.h"
#include "stiction/app/experiments/published.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

using namespace experiments;  // closed form and printed tables

TracedRun run_block(const std::string& scheme, double h, double duration, bool transitions) {
  const Scene scene = example_scene("cosine-block");
  SimulationOptions options = options_of(scene, scheme, h);
  options.stepping.events.transitions = transitions;
  return {scene.model, options, duration};
}

double position_error(const State& state) { return std::abs(state.q[0] - block_motion(state.t).x); }

TEST(CosineBlock, TablesWithoutDetection) {
  // One unit in the last printed digit. The tables compare with a run at h = 2^−18, whose own
  // error, 4^−8 of the smallest entry, does not show.
  for (const BlockRow& row : kBlockTables) {
    SCOPED_TRACE("h = 2^-" + std::to_string(row.exponent));
    const double h = std::ldexp(1, -row.exponent);
    const Printed scheme_1 = row.exponent == 10 ? kBlockErratum : row.scheme_1;
    EXPECT_NEAR(position_error(run_block("trapezoidal-1", h, 2, false).end()), scheme_1.value(),
                scheme_1.last_digit());
    EXPECT_NEAR(position_error(run_block("trapezoidal-2", h, 2, false).end()), row.scheme_2.value(),
                row.scheme_2.last_digit());
  }
}

class CosineBlockSchemes : public ::testing::TestWithParam<const char*> {};

TEST_P(CosineBlockSchemes, DetectionGivesCleanSecondOrder) {
  double coarser = 0;
  for (const BlockRow& row : kBlockTables) {
    SCOPED_TRACE("h = 2^-" + std::to_string(row.exponent));
    const TracedRun run = run_block(GetParam(), std::ldexp(1, -row.exponent), 2, true);
    const double error = position_error(run.end());
    if (coarser > 0) {
      EXPECT_GT(coarser / error, 3.9);
      EXPECT_LT(coarser / error, 4.1);
    }
    coarser = error;
    EXPECT_EQ(run.simulation.summary().count(EventKind::kStick), 1);
  }
}

TEST_P(CosineBlockSchemes, FollowsAllSlidesForTenSeconds) {
  // The paper's Figure 4: h = 0.01. Both schemes' positions lie on the exact curve; a slide of
  // 0.4 s ends up with an error of the size of the tables, 1e-5 at this step, and there are four.
  for (const bool transitions : {false, true}) {
    SCOPED_TRACE(transitions);
    const TracedRun run = run_block(GetParam(), 0.01, 10, transitions);
    EXPECT_LT(run.trace.largest(position_error), 1e-4);
    EXPECT_GT(run.simulation.summary().gap_min, -1e-12);
  }
}

TEST_P(CosineBlockSchemes, FindsTheTimesOfStickAndSlip) {
  constexpr double kStep = 0.01;
  const TracedRun run = run_block(GetParam(), kStep, 10, true);
  const auto sticks = run.trace.events_of(EventKind::kStick);
  const auto slips = run.trace.events_of(EventKind::kSlip);
  ASSERT_EQ(sticks.size(), 4u);
  ASSERT_EQ(slips.size(), 3u);
  for (std::size_t k = 0; k < slips.size(); ++k) {
    const double begin =
        static_cast<double>(k + 1) * std::numbers::pi - std::acos(kBlockFriction / 8);
    // The friction of a step is the mean over it, so that it holds for up to one step longer; the
    // velocity misses h² by that.
    EXPECT_GE(slips[k].time, begin - kStep * kStep);
    EXPECT_LE(slips[k].time, begin + kStep);
  }
  const auto first_stop =
      sign_change([](double t) { return 8 * std::sin(t) - kBlockFriction * t; }, 0.05, 1);
  EXPECT_NEAR(sticks[0].time, first_stop, kStep * kStep);
}

TEST_P(CosineBlockSchemes, OrderTwoThroughStickAndSlip) {
  // Over three slides, averaged over steps near h: where a transition falls within a step is noise.
  std::vector<double> steps, errors;
  for (int exponent = 4; exponent <= 10; ++exponent) {
    const double h = std::ldexp(1, -exponent);
    double error = 0;
    for (int k = 0; k < 8; ++k)
      error += position_error(run_block(GetParam(), h * (1 + 0.03 * k), 8, true).end()) / 8;
    steps.push_back(h);
    errors.push_back(error);
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2.0, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Trapezoidal, CosineBlockSchemes,
                         ::testing::Values("trapezoidal-1", "trapezoidal-2"));

TEST(CosineBlock, SchemeOneStandsStillInStictionAndSchemeTwoAlternates) {
  // Without detection: w = 0 means v⁺ = 0 in scheme I and v⁺ = −v in scheme II.
  const Trace one = run_block("trapezoidal-1", 0.01, 2.5, false).trace;
  const Trace two = run_block("trapezoidal-2", 0.01, 2.5, false).trace;
  for (std::size_t l = 40; l + 1 < one.samples.size(); ++l) {  // from 0.4 s; the slide ends at 0.34
    ASSERT_NEAR(one.samples[l].state.v[0], 0, 1e-12);
    ASSERT_NEAR(two.samples[l + 1].state.v[0], -two.samples[l].state.v[0], 1e-12);
    ASSERT_NEAR(two.samples[l + 1].state.q[0], two.samples[l].state.q[0], 1e-12);
  }
  EXPECT_GT(std::abs(two.samples[40].state.v[0]), 1e-6);
}

double moreau_error_at(double h, double t_end) {
  Simulation simulation(example_scene("cosine-block").model, {.h = h});
  simulation.run(t_end);
  const BlockMotion exact = block_motion(t_end);
  return std::abs(simulation.state().q[0] - exact.x) + std::abs(simulation.state().v[0] - exact.v);
}

TEST(CosineBlock, MoreauFollowsTheClosedFormWithOrderTwo) {
  // Forces are taken at mid-step and sticking ends a slide exactly, so on this problem the scheme
  // has order two: each transition costs O(h²) once.
  std::vector<double> steps, errors;
  for (double h = 1.0 / 32; h > 1.0 / 2048; h /= 2) {
    double error = 0;
    for (int k = 0; k < 8; ++k) error += moreau_error_at(h * (1 + 0.03 * k), 10) / 8;
    steps.push_back(h);
    errors.push_back(error);
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2.0, 0.3);
}

TEST(CosineBlock, SticksWithoutCreep) {
  Simulation simulation(example_scene("cosine-block").model, {.h = 1e-3});
  simulation.run(0.5);  // the first slide ends at 0.34 s
  const double x = simulation.state().q[0];
  simulation.run(2);  // the next begins at π − acos(0.981) = 2.946 s
  EXPECT_EQ(simulation.state().q[0], x);
  EXPECT_EQ(simulation.state().v[0], 0);
  ASSERT_EQ(simulation.contacts().size(), 1u);
  EXPECT_EQ(simulation.contacts()[0].status, ContactStatus::kStick);
}

}  // namespace
}  // namespace stiction::testing
