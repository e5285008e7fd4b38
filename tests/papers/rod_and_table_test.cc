// E2: Stewart and Trinkle's rod that falls on a table, section 4. Printed: first contact at about
// 0.383 s in one of Painlevé's configurations, second at about 0.548 s, sliding left for 0.02 s,
// then rest; steps of 1/25 s are too coarse.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/app/experiments/rod_and_table.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

using namespace experiments;  // the closed form of the fall

constexpr double kStep = 0.0025;

TracedRun run_rod(double h, bool nonlinear = true, double duration = 0.7) {
  const Scene scene = example_scene("rod-and-table");
  SimulationOptions options = options_of(scene, "stewart-trinkle", h);
  options.stepping.nonlinear = nonlinear;
  return {scene.model, options, duration};
}

TEST(RodAndTable, BothEndsLandInThePublishedSteps) {
  const TracedRun run = run_rod(kStep);
  EXPECT_NEAR(first_contact_of(run.trace, kRearEnd), 0.385, 1e-9);   // printed 0.383
  EXPECT_NEAR(first_contact_of(run.trace, kFrontEnd), 0.550, 1e-9);  // printed 0.548
}

TEST(RodAndTable, FirstImpactIsOneOfPainlevesConfigurations) {
  const double t = rod_landing_time();
  const double angle = std::numbers::pi / 6 + 4 * t;
  // The end slides to the right, so friction acts against +d …
  EXPECT_GT(4 * (kRodRadius + kRodHalf * std::sin(angle)), 0);
  EXPECT_LT(rod_sliding_delassus(angle, kRodRadius), 0);
  // … and with the friction vector as printed, without the radius, there would be no paradox.
  EXPECT_GT(rod_sliding_delassus(angle, 0), 0);
  // The step that lands the rod is in it as well.
  const TracedRun run = run_rod(kStep, true, 0.385);
  EXPECT_LT(rod_sliding_delassus(run.end().q[2], kRodRadius), 0);
  EXPECT_EQ(run.simulation.contacts().at(0).status, ContactStatus::kStick);
}

TEST(RodAndTable, SlidesLeftForAFiftiethOfASecondAndRests) {
  const TracedRun run = run_rod(kStep);
  double first_at_rest = 0;
  for (const Trace::Sample& sample : run.trace.samples) {
    const double t = sample.state.t;
    if (t > 0.5501 && sample.state.v[0] < -1e-9) first_at_rest = t + kStep;
  }
  // Flat on the table from 0.55 s on it slides; friction μg takes away the 0.14 m/s that are left.
  EXPECT_NEAR(first_at_rest - 0.55, 0.02, kStep + 1e-9);
  EXPECT_LT(run.end().v.cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_NEAR(run.end().q[1], kRodRadius, 1e-12);
  EXPECT_NEAR(run.end().q[2], std::numbers::pi, 1e-12);
  EXPECT_LT(run.end().q[0], -0.2);
}

TEST(RodAndTable, NonlinearVariantDoesNotPenetrate) {
  // One unit of rounding is 1e-16 m here; the rows are iterated until the end of the step stands.
  for (const double h : {kStep, 0.01, 0.04}) {
    SCOPED_TRACE(h);
    EXPECT_GT(run_rod(h).simulation.summary().gap_min, -1e-12);
  }
}

TEST(RodAndTable, LinearVariantPenetratesByTheCurvatureOfTheGapAlone) {
  const TracedRun run = run_rod(kStep, false);
  EXPECT_NEAR(first_contact_of(run.trace, kRearEnd), 0.385, 1e-9);
  EXPECT_NEAR(first_contact_of(run.trace, kFrontEnd), 0.550, 1e-9);
  // The gap is linearised at q + h v and the angle ends h(ω⁺ − ω) away: an error of at most
  // ½ (l/2)(h Δω)², with |Δω| below 9 rad/s.
  EXPECT_LT(run.simulation.summary().gap_min, -1e-9);
  EXPECT_GT(run.simulation.summary().gap_min, -kRodHalf / 2 * std::pow(kStep * 9, 2));
}

TEST(RodAndTable, StepsOfOneTwentyFifthAreTooCoarse) {
  const TracedRun coarse = run_rod(1.0 / 25, true, 0.72), fine = run_rod(kStep);
  // It stops after a tenth of the way and lands flat 0.1 s too early.
  EXPECT_GT(coarse.end().q[0] - fine.end().q[0], 0.15);
  EXPECT_LT(first_contact_of(coarse.trace, kFrontEnd), 0.5);
}

TEST(RodAndTable, ConvergesWithOrderOne) {
  const VectorXd exact = run_rod(2e-5).end().q;
  std::vector<double> steps, errors;
  for (double h = 0.008; h > 1e-4; h /= 2) {
    // Where an impact falls within its step is noise of the size of the error: four steps near h.
    double error = 0;
    for (int k = 0; k < 4; ++k) error += (run_rod(h * (1 + 0.06 * k)).end().q - exact).norm() / 4;
    steps.push_back(h);
    errors.push_back(error);
  }
  EXPECT_NEAR(fitted_order(steps, errors), 1.0, 0.1);
}

}  // namespace
}  // namespace stiction::testing
