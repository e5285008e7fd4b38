// E2: the rod of Stewart & Trinkle 1996, which lands in one of Painlevé's configurations.
#include "stiction/app/experiments/rod_and_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/fitted_order.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"

namespace stiction::experiments {
namespace {

constexpr double kRodInertia = 0.002, kRodFriction = 0.6, kRodGravity = 9.81;
constexpr double kRodStep = 0.0025;

TracedRun run_rod(double h, bool nonlinear = true, const std::string& scene_name = "rod-and-table",
                  double duration = 0.7) {
  const Scene scene = example(scene_name);
  SimulationOptions options = options_of(scene, "stewart-trinkle", h);
  options.stepping.nonlinear = nonlinear;
  return {scene.model, options, duration};
}

/// A printed time lies within the step that ends at `end`.
Claim contact_claim(std::string claim, const Printed& printed, double end) {
  return {.claim = std::move(claim),
          .source = "§4",
          .printed = fmt::format("t ≈ {} s", printed.text),
          .value = end,
          .measured = fmt::format("in the step that ends at {:.4f} s", end),
          .expected = {printed.value() - 1e-9, printed.value() + kRodStep + 1e-9}};
}

/// The largest difference between the rod in its own coordinates and as a capsule on a plane.
double difference_of_twins(double h) {
  const TracedRun rod = run_rod(h), capsule = run_rod(h, true, "rod-capsule");
  double difference = 0;
  for (std::size_t n = 0; n < rod.trace.samples.size(); ++n) {
    // x, y, angle; x, y, z, quaternion w, x, y, z with a turn by −angle about y.
    const State &a = rod.trace.samples[n].state, &b = capsule.trace.samples.at(n).state;
    const double turn = 2 * std::atan2(-b.q[5], b.q[3]) - a.q[2];
    difference = std::max({difference, std::abs(b.q[0] - a.q[0]), std::abs(b.q[2] - a.q[1]),
                           std::abs(std::remainder(turn, 2 * std::numbers::pi))});
  }
  return difference;
}

void judge_landing(Result& result, const TracedRun& run) {
  auto& statements = result.statements;
  const double first = first_contact_of(run.trace, kRearEnd);
  const double second = first_contact_of(run.trace, kFrontEnd);
  statements.push_back(judge(contact_claim("The rod collides with the table", {"0.383"}, first)));
  const double angle = std::numbers::pi / 6 + 4 * rod_landing_time();
  const double delassus = rod_sliding_delassus(angle, kRodRadius);
  statements.push_back(judge(
      {.claim = "The first impact has no solution for instantaneous methods: nᵀM⁻¹(n − μd) < 0 "
                "while the end slides",
       .source = "§4",
       .printed = "\"would result in failure\"",
       .value = delassus,
       .measured = fmt::format("{:.2f}", delassus),
       .expected = Range::at_most(0)}));
  const double misprinted = rod_sliding_delassus(angle, 0);
  statements.push_back(
      judge({.claim = "The same with the friction vector as printed, without the radius",
             .source = "§4",
             .printed = "< 0",
             .value = misprinted,
             .measured = fmt::format("{:+.2f}", misprinted),
             .expected = Range::at_most(0),
             .explanation = Explanation{"Erratum: the friction vector of the rod must be "
                                        "d = [1, 0, ρ − s (l/2) sin θ]; printed without ρ it makes "
                                        "no paradox, contrary to the text.",
                                        Range::at_least(0)}}));
  statements.push_back(judge(contact_claim("The other end hits the table", {"0.548"}, second)));
  const double sliding = end_of_sliding(run.trace, second) - second;
  statements.push_back(judge({.claim = "Then the rod slides left for a short time",
                              .source = "§4",
                              .printed = "0.02 s",
                              .value = sliding,
                              .measured = fmt::format("{:.4f} s", sliding),
                              .expected = Range::around(0.02, kRodStep + 1e-9)}));
  const double speed = run.end().v.cwiseAbs().maxCoeff();
  statements.push_back(judge({.claim = "and is at rest for the remainder",
                              .source = "§4",
                              .printed = "at rest",
                              .value = speed,
                              .measured = "velocities below " + show(std::max(speed, 1e-16), 1),
                              .expected = Range::at_most(1e-9)}));
}

void judge_variants(Result& result, const TracedRun& run) {
  auto& statements = result.statements;
  double gap = 0;
  for (const double h : {kRodStep, 0.01, 0.04})
    gap = std::min(gap, run_rod(h).simulation.summary().gap_min);
  statements.push_back(
      judge({.claim = "There is no interpenetration (nonlinear variant, h = 0.0025, "
                      "0.01 and 0.04)",
             .source = "abstract",
             .printed = "none",
             .value = gap,
             .measured = show(gap, 2, "m"),
             // Rounding, and the tolerance of the iteration.
             .expected = Range::at_least(-1e-12)}));
  const TracedRun coarse = run_rod(1.0 / 25, true, "rod-and-table", 0.72);
  const double missed = std::abs(coarse.end().q[0] - run.end().q[0]);
  const double way = std::abs(run.end().q[0]);
  statements.push_back(
      judge({.claim = "Steps of 1/25 s are not sufficient: the rod rests elsewhere",
             .source = "§4",
             .printed = "not sufficient",
             .value = missed / way,
             .measured = fmt::format("rests at x = {:.3f} m instead of {:.3f} m", coarse.end().q[0],
                                     run.end().q[0]),
             .expected = Range::at_least(0.5)}));
  const double twins = std::max(difference_of_twins(kRodStep), difference_of_twins(0.01));
  statements.push_back(judge({.claim = "A capsule on a plane does the same as the rod in its own "
                                       "coordinates",
                              .source = "our reading",
                              .printed = "equal",
                              .value = twins,
                              .measured = "within " + show(twins, 1),
                              .expected = Range::at_most(1e-10)}));
}

void measure_order(Result& result, Monitor& monitor) {
  const VectorXd exact = run_rod(monitor.is_full() ? 1e-5 : 2e-5).end().q;
  LogLogPlot::Series series{.label = "stewart-trinkle", .x = {}, .y = {}};
  for (int halvings = 0; halvings < 7; ++halvings) {
    const double h = std::ldexp(0.008, -halvings);
    // Where an impact falls within its step is noise of the size of the error: steps near h.
    const int phases = monitor.is_full() ? 8 : 4;
    double error = 0;
    for (int k = 0; k < phases; ++k)
      error += (run_rod(h * (1 + 0.24 / phases * k)).end().q - exact).norm() / phases;
    series.x.push_back(h);
    series.y.push_back(error);
    monitor.report(1e-4 / h);
  }
  const double order = fitted_order(series.x, series.y);
  result.statements.push_back(judge({.claim = "The method converges with order one",
                                     .source = "§4",
                                     .printed = "1",
                                     .value = order,
                                     .measured = fmt::format("{:.2f}", order),
                                     .expected = Range::around(1, 0.1)}));
  add_figure(result, "convergence", "Error of the place of rest over the step.",
             LogLogPlot{"Rod: error of the end position",
                        "h [s]",
                        "|q − q_ref| at 0.7 s",
                        {series, order_line(series, 1, 6)}});
}

void draw(Result& result) {
  struct Component {
    const char *name, *caption, *title, *axis;
    int index;
  };
  for (const Component& one : {Component{"figure-3", "Figure 3: vertical velocity of the rod.",
                                         "Rod: vertical velocity", "v_y [m/s]", 1},
                               {"figure-4", "Figure 4: angular velocity of the rod.",
                                "Rod: angular velocity", "ω [rad/s]", 2},
                               {"figure-5", "Figure 5: horizontal velocity of the rod.",
                                "Rod: horizontal velocity", "v_x [m/s]", 0}}) {
    LinePlot plot{one.title, "t [s]", one.axis, {}, {}};
    for (const double h : {0.04, 0.01, kRodStep})
      plot.curves.push_back(curve_of(fmt::format("h = {:g} s", h), run_rod(h).trace,
                                     [&](const State& state) { return state.v[one.index]; }));
    add_figure(result, one.name, one.caption, plot);
  }
  // Figure 2: the rod at every eighth step.
  LinePlot strobe{"Rod: every eighth step", "x [m]", "y [m]", {}, {}};
  const TracedRun run = run_rod(kRodStep);
  for (std::size_t n = 0; n < run.trace.samples.size(); n += 8) {
    const auto& q = run.trace.samples[n].state.q;
    const double dx = kRodHalf * std::cos(q[2]), dy = kRodHalf * std::sin(q[2]);
    strobe.curves.push_back({"", {q[0] - dx, q[0] + dx}, {q[1] - dy, q[1] + dy}});
  }
  add_figure(result, "figure-2", "Figure 2: the falling and spinning rod, h = 0.0025.", strobe);
}

}  // namespace

double first_contact_of(const Trace& trace, RodEnd end) {
  for (const Trace::Sample& sample : trace.samples)
    if (sample.contact(end).impulse[0] > 0) return sample.state.t;
  return -1;
}

double rod_landing_time() {
  const auto gap = [](double t) {
    return 1 - kRodGravity * t * t / 2 - kRodHalf * std::sin(std::numbers::pi / 6 + 4 * t) -
           kRodRadius;
  };
  double open = 0.3, closed = 0.45;  // the gap falls from 0.26 m to −0.24 m in between
  for (int i = 0; i < 100; ++i) {
    const double middle = (open + closed) / 2;
    (gap(middle) > 0 ? open : closed) = middle;
  }
  return open;
}

double rod_sliding_delassus(double angle, double radius) {
  const double n = -kRodHalf * std::cos(angle), d = radius + kRodHalf * std::sin(angle);
  return 1 + n * (n - kRodFriction * d) / kRodInertia;
}

double end_of_sliding(const Trace& trace, double from) {
  double end = from;
  for (std::size_t n = 0; n + 1 < trace.samples.size(); ++n)
    if (trace.samples[n].state.t > from + 1e-9 && trace.samples[n].state.v[0] < -1e-9)
      end = trace.samples[n + 1].state.t;
  return end;
}

Result run_rod_and_table(Monitor& monitor) {
  Result result;
  const TracedRun run = run_rod(kRodStep);
  judge_landing(result, run);
  judge_variants(result, run);
  measure_order(result, monitor);
  draw(result);
  for (const char* name : {"rod-and-table", "rod-capsule"}) {
    const Scene scene = example(name);
    keep_run(monitor, scene, options_of(scene, "stewart-trinkle", kRodStep), 0.7, name);
  }
  return result;
}

}  // namespace stiction::experiments
