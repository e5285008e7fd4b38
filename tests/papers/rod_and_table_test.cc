// E2: Stewart and Trinkle's rod that falls on a table, section 4. Printed: first contact at about
// 0.383 s in one of Painlevé's configurations, second at about 0.548 s, sliding left for 0.02 s,
// then rest; steps of 1/25 s are too coarse.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

constexpr double kInertia = 0.002, kHalf = 0.25, kRadius = 0.05, kMu = 0.6;
constexpr double kStep = 0.0025;
enum End { kFront = 0, kRear = 1 };

TracedRun run_rod(double h, bool nonlinear = true, double duration = 0.7) {
  const Scene scene = example_scene("rod-and-table");
  SimulationOptions options = options_of(scene, "stewart-trinkle", h);
  options.stepping.nonlinear = nonlinear;
  return {scene.model, options, duration};
}

/// End of the first step in which the contact carries a force.
double first_contact(const Trace& trace, End end) {
  for (const Trace::Sample& sample : trace.samples)
    if (sample.contact(end).impulse[0] > 0) return sample.state.t;
  return -1;
}

/// Time at which the rear end of the freely falling rod reaches the table: root of the gap.
double landing_time() {
  const auto gap = [](double t) {
    return 1 - kGravity * t * t / 2 - kHalf * std::sin(std::numbers::pi / 6 + 4 * t) - kRadius;
  };
  double open = 0.3, closed = 0.45;  // the gap falls from 0.26 m to −0.24 m in between
  for (int i = 0; i < 100; ++i) {
    const double middle = (open + closed) / 2;
    (gap(middle) > 0 ? open : closed) = middle;
  }
  return open;
}

/// nᵀM⁻¹(n − μd) of the rear end for a contact point `radius` below the centre of the end.
double sliding_delassus(double angle, double radius) {
  const double n = -kHalf * std::cos(angle), d = radius + kHalf * std::sin(angle);
  return 1 + n * (n - kMu * d) / kInertia;
}

TEST(RodAndTable, BothEndsLandInThePublishedSteps) {
  const TracedRun run = run_rod(kStep);
  EXPECT_NEAR(first_contact(run.trace, kRear), 0.385, 1e-9);   // printed 0.383
  EXPECT_NEAR(first_contact(run.trace, kFront), 0.550, 1e-9);  // printed 0.548
}

TEST(RodAndTable, FirstImpactIsOneOfPainlevesConfigurations) {
  const double t = landing_time();
  const double angle = std::numbers::pi / 6 + 4 * t;
  // The end slides to the right, so friction acts against +d …
  EXPECT_GT(4 * (kRadius + kHalf * std::sin(angle)), 0);
  EXPECT_LT(sliding_delassus(angle, kRadius), 0);
  // … and with the friction vector as printed, without the radius, there would be no paradox.
  EXPECT_GT(sliding_delassus(angle, 0), 0);
  // The step that lands the rod is in it as well.
  const TracedRun run = run_rod(kStep, true, 0.385);
  EXPECT_LT(sliding_delassus(run.end().q[2], kRadius), 0);
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
  EXPECT_NEAR(run.end().q[1], kRadius, 1e-12);
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
  EXPECT_NEAR(first_contact(run.trace, kRear), 0.385, 1e-9);
  EXPECT_NEAR(first_contact(run.trace, kFront), 0.550, 1e-9);
  // The gap is linearised at q + h v and the angle ends h(ω⁺ − ω) away: an error of at most
  // ½ (l/2)(h Δω)², with |Δω| below 9 rad/s.
  EXPECT_LT(run.simulation.summary().gap_min, -1e-9);
  EXPECT_GT(run.simulation.summary().gap_min, -kHalf / 2 * std::pow(kStep * 9, 2));
}

TEST(RodAndTable, StepsOfOneTwentyFifthAreTooCoarse) {
  const TracedRun coarse = run_rod(1.0 / 25, true, 0.72), fine = run_rod(kStep);
  // It stops after a tenth of the way and lands flat 0.1 s too early.
  EXPECT_GT(coarse.end().q[0] - fine.end().q[0], 0.15);
  EXPECT_LT(first_contact(coarse.trace, kFront), 0.5);
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
