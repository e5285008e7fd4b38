// E1: the woodpecker toy of Glocker & Studer 2005.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/fitted_order.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"
#include "stiction/app/experiments/woodpecker_analysis.h"

namespace stiction::experiments {
namespace {

/// The first cycles are left out of means.
constexpr std::size_t kFirstHit = 3;
constexpr double kFine = 1e-5;
constexpr Printed kPeriod{"0.1460"}, kDescent{"19.4"};  // [s], [mm] as h → 0

struct Cycle {
  double period = 0, descent = 0;  // [s], [mm]
};

Cycle cycle_of(const WoodpeckerObserver& observer) {
  return {observer.mean_period(kFirstHit), 1e3 * observer.mean_descent(kFirstHit)};
}

Cycle run_cycle(const Scene& scene, const SimulationOptions& options, double duration,
                Monitor& monitor, WoodpeckerObserver& observer) {
  Simulation simulation(scene.model, options);
  simulation.add_observer(observer);
  run_reporting(simulation, duration, monitor);
  return cycle_of(observer);
}

Cycle run_cycle(const std::string& scheme, double h, double duration, Monitor& monitor) {
  const Scene scene = edited_example("woodpecker", [&](nlohmann::ordered_json& document) {
    if (scheme == "moreau") return;
    // Newton's law is the paper's; schemes that locate collisions take Poisson's by default.
    for (auto& contact : document["generalized"]["contacts"]) contact["impact"] = "newton";
  });
  SimulationOptions options = options_of(scene, scheme, h);
  options.project_start = scheme != "moreau";  // Table I starts with a penetration
  WoodpeckerObserver observer;
  return run_cycle(scene, options, duration, monitor, observer);
}

/// The largest deviation of one cycle's duration from the mean, relative.
double spread(const WoodpeckerObserver& observer) {
  const double mean = observer.mean_period(kFirstHit);
  double worst = 0;
  for (std::size_t i = kFirstHit; i + 1 < observer.beak_hits.size(); ++i)
    worst = std::max(worst,
                     std::abs((observer.beak_hits[i + 1].t - observer.beak_hits[i].t) / mean - 1));
  return worst;
}

void judge_cycle(Result& result, Monitor& monitor) {
  const Scene scene = example("woodpecker");
  WoodpeckerObserver fine, coarse;
  monitor.enter(0, 0.2);
  const Cycle limit = run_cycle(scene, options_of(scene, "moreau", kFine),
                                monitor.is_full() ? 4 : 2, monitor, fine);
  monitor.enter(0.2, 0.22);
  const Cycle at_scene_step =
      run_cycle(scene, options_of(scene, "moreau", 1e-4), 2, monitor, coarse);
  auto& statements = result.statements;
  statements.push_back(
      judge({.claim = "The motion ends in a stable limit cycle: all cycles take the same time",
             .source = "§4, Figure 6",
             .printed = "one closed curve",
             .value = spread(fine),
             .measured = fmt::format("{} cycles within {}", fine.beak_hits.size() - 1 - kFirstHit,
                                     show(100 * spread(fine), 2, "%")),
             // What the lines of the figure hide.
             .expected = Range::at_most(0.01)}));
  statements.push_back(judge({.claim = "Period of the limit cycle as h → 0",
                              .source = "Figures 4 to 6",
                              .printed = fmt::format("{} s", kPeriod.text),
                              .value = limit.period,
                              .measured = fmt::format("{:.4f} s at h = 1e-5", limit.period),
                              .expected = Range::around(kPeriod.value(), kPeriod.last_digit())}));
  statements.push_back(judge({.claim = "Descent per cycle as h → 0",
                              .source = "§4",
                              .printed = fmt::format("{} mm", kDescent.text),
                              .value = limit.descent,
                              .measured = fmt::format("{:.2f} mm at h = 1e-5", limit.descent),
                              .expected = Range::around(kDescent.value(), kDescent.last_digit())}));
  // Means of ten cycles, each with a scatter of about 4e-4 s and 0.3 mm by the phase of impacts
  // inside a step.
  statements.push_back(judge({.claim = "Period at the scene's step, h = 1e-4",
                              .source = "Figures 4 to 6",
                              .printed = "about 0.1463 s",
                              .value = at_scene_step.period,
                              .measured = fmt::format("{:.4f} s", at_scene_step.period),
                              .expected = Range::around(0.1463, 3e-4)}));
  statements.push_back(judge({.claim = "Descent at the scene's step, h = 1e-4",
                              .source = "§4",
                              .printed = "about 19.6 mm",
                              .value = at_scene_step.descent,
                              .measured = fmt::format("{:.2f} mm", at_scene_step.descent),
                              .expected = Range::around(19.6, 0.2)}));
  // The beak touches at φ_S = 0.0024/0.02, the sleeve at φ_M = ±0.0006/0.0058; contacts close when
  // the middle of a step is beyond, and the step goes on from there: by h times the angular
  // velocity at most.
  statements.push_back(judge({.claim = "Smallest angle of the bird",
                              .source = "Figure 4",
                              .printed = "−0.53 rad",
                              .value = fine.q_min[2],
                              .measured = fmt::format("{:.4f} rad", fine.q_min[2]),
                              .expected = Range::around(-0.53, 5e-3)}));
  statements.push_back(judge({.claim = "Largest angle of the bird: the beak",
                              .source = "Figure 4",
                              .printed = "0.12 rad",
                              .value = fine.q_max[2],
                              .measured = fmt::format("{:.5f} rad", fine.q_max[2]),
                              .expected = Range::around(0.12, kFine * fine.v_max[2])}));
  const double sleeve = std::max(std::abs(fine.q_max[1] - 0.0006 / 0.0058),
                                 std::abs(fine.q_min[1] + 0.0006 / 0.0058));
  statements.push_back(
      judge({.claim = "The sleeve swings between its contacts",
             .source = "Figure 5",
             .printed = "±0.1034 rad",
             .value = sleeve,
             .measured = fmt::format("{:.4f} to {:.4f} rad", fine.q_min[1], fine.q_max[1]),
             .expected = Range::at_most(kFine * fine.v_max[1])}));
  int all = 0, in_order = 0;
  for (std::size_t i = kFirstHit; i + 1 < fine.beak_hits.size(); ++i, ++all)
    if (event_words(fine, kFine, i) == woodpecker_cycle()) ++in_order;
  statements.push_back(
      judge({.claim = "Every cycle has nine events: beak taps, upper edge closes and lifts, lower "
                      "edge taps, closes, sticks, slips and lifts, upper edge taps",
             .source = "§4",
             .printed = "all cycles",
             .value = static_cast<double>(in_order),
             .measured = fmt::format("{} of {} cycles", in_order, all),
             .expected = {std::max(1.0, static_cast<double>(all)), static_cast<double>(all)}}));
}

void tabulate_schemes(Result& result, Monitor& monitor) {
  Table table{.title = "Period and descent of the cycle",
              .columns = {{"scheme"}, {"h [s]"}, {"period [s]", true}, {"descent [mm]", true}},
              .rows = {}};
  struct Line {
    const char* scheme;
    double h;
  };
  std::vector<Line> lines = {
      {"moreau", 1e-5}, {"anitescu-potra", 1e-5}, {"trapezoidal-1", 1e-4}, {"trapezoidal-2", 1e-4}};
  if (monitor.is_full()) lines.insert(lines.begin() + 1, {"moreau", 2e-6});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    monitor.enter(0.22 + 0.2 * static_cast<double>(i) / static_cast<double>(lines.size()),
                  0.22 + 0.2 * static_cast<double>(i + 1) / static_cast<double>(lines.size()));
    const Cycle cycle = run_cycle(lines[i].scheme, lines[i].h, 2, monitor);
    table.rows.push_back({label(lines[i].scheme), number(lines[i].h, show(lines[i].h)),
                          beside({.printed = kPeriod, .value = cycle.period}),
                          beside({.printed = kDescent, .value = cycle.descent})});
  }
  result.statements.push_back(
      judge_table("Four schemes have the same limit of small steps", "Figures 4 to 6", table));
  result.tables.push_back(std::move(table));
}

/// The phase of each impact inside its step is noise of the size of the error itself, so that the
/// error is averaged over the cycles of a run and over several steps near each h.
void measure_order(Result& result, Monitor& monitor) {
  const int phases = monitor.is_full() ? 8 : 4, num_steps = monitor.is_full() ? 7 : 6;
  const double duration = monitor.is_full() ? 3 : 2;
  monitor.enter(0.42, 0.6);
  const Cycle reference = run_cycle("moreau", monitor.is_full() ? 2e-6 : 5e-6, 1.5, monitor);
  monitor.enter(0.6, 0.98);
  LogLogPlot::Series series{.label = "moreau", .x = {}, .y = {}};
  Monitor silent(monitor.is_full());
  for (int i = 0; i < num_steps; ++i) {
    const double h = std::ldexp(1.6e-3, -i);
    double error = 0;
    for (int k = 0; k < phases; ++k) {
      const Cycle cycle =
          run_cycle("moreau", h * (1 + 0.32 / phases * (k - (phases - 1) / 2.0)), duration, silent);
      error += (std::abs(cycle.period / reference.period - 1) +
                std::abs(cycle.descent / reference.descent - 1)) /
               phases;
      // Work grows with 1/h: half of it is in the last step.
      monitor.report(std::ldexp(1.0, i - num_steps) * (1 + static_cast<double>(k + 1) / phases));
    }
    series.x.push_back(h);
    series.y.push_back(error);
  }
  const double order = fitted_order(series.x, series.y);
  result.statements.push_back(judge({.claim = "The scheme is of first order on average",
                                     .source = "§5",
                                     .printed = "1",
                                     .value = order,
                                     .measured = fmt::format("{:.2f}", order),
                                     // Averages still scatter by about 20 %.
                                     .expected = Range::around(1, monitor.is_full() ? 0.2 : 0.3)}));
  LogLogPlot plot{.title = "Woodpecker: error of the cycle over the step",
                  .x_label = "h [s]",
                  .y_label = "relative error of period and descent",
                  .series = {series, order_line(series, 1, 6)}};
  add_figure(result, "convergence", "Error of period and descent of the limit cycle, averaged.",
             plot);
}

void draw(Result& result) {
  const Scene scene = example("woodpecker");
  const TracedRun run(scene.model, options_of(scene, "moreau", 2e-5), 1);
  const auto angle = [](int i) { return [i](const State& state) { return state.q[i]; }; };
  const auto velocity = [](int i) { return [i](const State& state) { return state.v[i]; }; };
  constexpr int kSleeve = 1, kBird = 2;
  add_figure(result, "figure-4-angle", "Figure 4: angle of the bird over time.",
             LinePlot{"Woodpecker: angle of the bird",
                      "t [s]",
                      "φ_S [rad]",
                      {curve_of("", run.trace, angle(kBird))},
                      {}});
  add_figure(result, "figure-4-velocity", "Figure 4: angular velocity of the bird over time.",
             LinePlot{"Woodpecker: angular velocity of the bird",
                      "t [s]",
                      "dφ_S/dt [rad/s]",
                      {curve_of("", run.trace, velocity(kBird))},
                      {}});
  add_figure(result, "figure-5-angle", "Figure 5: angle of the sleeve over time.",
             LinePlot{"Woodpecker: angle of the sleeve",
                      "t [s]",
                      "φ_M [rad]",
                      {curve_of("", run.trace, angle(kSleeve))},
                      {}});
  add_figure(result, "figure-5-velocity", "Figure 5: angular velocity of the sleeve over time.",
             LinePlot{"Woodpecker: angular velocity of the sleeve",
                      "t [s]",
                      "dφ_M/dt [rad/s]",
                      {curve_of("", run.trace, velocity(kSleeve))},
                      {}});
  Trace settled;
  for (const Trace::Sample& sample : run.trace.samples)
    if (sample.state.t >= 0.5) settled.samples.push_back(sample);
  add_figure(result, "figure-6-bird", "Figure 6: limit cycle of the bird, from 0.5 s on.",
             LinePlot{"Woodpecker: limit cycle of the bird",
                      "φ_S [rad]",
                      "dφ_S/dt [rad/s]",
                      {path_of("", settled, angle(kBird), velocity(kBird))},
                      {}});
  add_figure(result, "figure-6-sleeve", "Figure 6: limit cycle of the sleeve, from 0.5 s on.",
             LinePlot{"Woodpecker: limit cycle of the sleeve",
                      "φ_M [rad]",
                      "dφ_M/dt [rad/s]",
                      {path_of("", settled, angle(kSleeve), velocity(kSleeve))},
                      {}});
  add_figure(result, "energy", "Energy: gravity pays for friction and impacts.",
             LinePlot{"Woodpecker: energy",
                      "t [s]",
                      "kinetic + potential + spring [J]",
                      {energy_of("", run.trace)},
                      {}});
}

}  // namespace

Result run_woodpecker(Monitor& monitor) {
  Result result;
  judge_cycle(result, monitor);
  tabulate_schemes(result, monitor);
  measure_order(result, monitor);
  draw(result);
  const Scene scene = example("woodpecker");
  keep_run(monitor, scene, options_of(scene, "moreau", 1e-4), 1, "moreau");
  return result;
}

}  // namespace stiction::experiments
