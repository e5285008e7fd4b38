// E7: the block under 8 cos t of Potra, Anitescu, Gavrea & Trinkle 2006, Tables 10.2 and 10.3.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/app/experiments/cosine_block_closed_form.h"
#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/published.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"

namespace stiction::experiments {
namespace {

TracedRun run_block(const std::string& scheme, double h, double duration, bool transitions) {
  const Scene scene = example("cosine-block");
  SimulationOptions options = options_of(scene, scheme, h);
  options.stepping.events.transitions = transitions;
  return {scene.model, options, duration};
}

double position_error(const State& state) { return std::abs(state.q[0] - block_motion(state.t).x); }

double error_at_2(const std::string& scheme, int exponent, bool transitions) {
  return position_error(run_block(scheme, std::ldexp(1, -exponent), 2, transitions).end());
}

void tabulate(Result& result, Monitor& monitor) {
  Table table{.title = "Error of the position at 2 s against the closed form",
              .columns = {{"h [s]"},
                          {"Table 10.2: scheme I, plain", true},
                          {"Table 10.3: scheme II, plain", true},
                          {"scheme I, with detection"},
                          {"ratio"},
                          {"scheme II, with detection"},
                          {"ratio"}},
              .rows = {}};
  LogLogPlot::Series plots[] = {
      {.label = "scheme I, plain", .x = {}, .y = {}},
      {.label = "scheme II, plain", .x = {}, .y = {}, .color = 1, .marker = 1},
      {.label = "scheme I, detection", .x = {}, .y = {}, .color = 2, .marker = 2},
      {.label = "scheme II, detection", .x = {}, .y = {}, .color = 3, .marker = 3}};
  double before_1 = 0, before_2 = 0, lowest = 1e9, highest = 0;
  for (const BlockRow& row : kBlockTables) {
    const bool is_last = &row == &kBlockTables.back();
    const double plain_1 = error_at_2("trapezoidal-1", row.exponent, false);
    const double plain_2 = error_at_2("trapezoidal-2", row.exponent, false);
    const double found_1 = error_at_2("trapezoidal-1", row.exponent, true);
    const double found_2 = error_at_2("trapezoidal-2", row.exponent, true);
    Beside first{.printed = row.scheme_1, .value = plain_1, .extra_digits = 0};
    if (is_last)
      first.explained_by = Range::around(kBlockErratum.value(), kBlockErratum.last_digit());
    const auto ratio = [&](double before, double now) {
      if (before == 0) return label("");
      lowest = std::min(lowest, before / now);
      highest = std::max(highest, before / now);
      return number(before / now, fmt::format("{:.2f}", before / now));
    };
    table.rows.push_back({number(std::ldexp(1, -row.exponent), power_of_two(row.exponent)),
                          beside(first),
                          beside({.printed = row.scheme_2, .value = plain_2, .extra_digits = 0}),
                          number(found_1, show(found_1, 4)), ratio(before_1, found_1),
                          number(found_2, show(found_2, 4)), ratio(before_2, found_2)});
    before_1 = found_1;
    before_2 = found_2;
    const double values[] = {plain_1, plain_2, found_1, found_2};
    for (int i = 0; i < 4; ++i) {
      plots[i].x.push_back(std::ldexp(1, -row.exponent));
      plots[i].y.push_back(values[i]);
    }
    monitor.report(std::ldexp(1.0, row.exponent - 10));
  }
  result.statements.push_back(
      judge_table("Errors of both schemes, to one unit in the last printed digit",
                  "Tables 10.2 and 10.3", table,
                  "Erratum: the last number of Table 10.2 is printed 3.959e-8; against the closed "
                  "form the error "
                  "of scheme I is 4.409e-8."));
  result.statements.push_back(
      judge({.claim = "The tables are obtained with stick–slip detection",
             .source = "§10.2",
             .printed = "with detection",
             .value = std::abs(plots[2].y[0] / kBlockTables[0].scheme_1.value() - 1),
             .measured = fmt::format("with detection {} at 2⁻⁵, without {}, printed {}",
                                     show(plots[2].y[0], 4), show(plots[0].y[0], 4),
                                     kBlockTables[0].scheme_1.text),
             .expected = Range::at_most(1e-3),
             .explanation = Explanation{"Erratum: the printed numbers are those of plain stepping.",
                                        Range::at_least(0.1)}}));
  result.statements.push_back(
      judge({.claim = "With detection halving h divides the error by four: smallest ratio",
             .source = "§10.2",
             .printed = "4",
             .value = lowest,
             .measured = fmt::format("{:.2f} to {:.2f}", lowest, highest),
             .expected = {3.9, 4.1}}));
  result.tables.push_back(std::move(table));
  add_figure(result, "convergence", "Error of the position at 2 s over the step.",
             LogLogPlot{"Block: error at 2 s",
                        "h [s]",
                        "|x − exact| [m]",
                        {plots[0], plots[1], plots[2], plots[3], order_line(plots[2], 2, 6)}});
}

void judge_behaviour(Result& result) {
  const Trace one = run_block("trapezoidal-1", 0.01, 10, false).trace;
  const Trace two = run_block("trapezoidal-2", 0.01, 10, false).trace;
  // The first slide ends at 0.34 s, the next begins at 2.95 s.
  double rest = 0, alternation = 0, amplitude = 0, creep = 0;
  for (std::size_t l = 40; l < 250; ++l) {
    rest = std::max(rest, std::abs(one.samples[l].state.v[0]));
    alternation =
        std::max(alternation, std::abs(two.samples[l + 1].state.v[0] + two.samples[l].state.v[0]));
    amplitude = std::max(amplitude, std::abs(two.samples[l].state.v[0]));
    creep = std::max(creep, std::abs(two.samples[l + 1].state.q[0] - two.samples[l].state.q[0]));
  }
  auto& statements = result.statements;
  statements.push_back(judge({.claim = "In stiction the velocity of scheme I is zero",
                              .source = "Figure 4",
                              .printed = "0",
                              .value = rest,
                              .measured = show(rest, 2, "m/s"),
                              .expected = Range::at_most(1e-12)}));
  statements.push_back(
      judge({.claim = "that of scheme II alternates in sign with constant amplitude",
             .source = "Figure 4",
             .printed = "alternates",
             .value = amplitude > 1e-6 ? alternation : 1.0,
             .measured = fmt::format("amplitude {}, constant within {}", show(amplitude, 2, "m/s"),
                                     show(alternation, 1)),
             .expected = Range::at_most(1e-12)}));
  statements.push_back(judge({.claim = "and the position does not move",
                              .source = "Figure 4",
                              .printed = "flat",
                              .value = creep,
                              .measured = show(creep, 1, "m per step"),
                              .expected = Range::at_most(1e-12)}));
  const double largest = std::max(one.largest(position_error), two.largest(position_error));
  statements.push_back(judge({.claim = "Both follow the motion for 10 s at h = 0.01",
                              .source = "Figure 4",
                              .printed = "the same curve",
                              .value = largest,
                              .measured = "within " + show(largest, 2, "m of the closed form"),
                              // Four slides, each with an error of the size of the tables at h.
                              .expected = Range::at_most(1e-4)}));
  LinePlot::Curve exact{"closed form", {}, {}};
  for (int k = 0; k <= 1000; ++k) {
    const double t = 0.01 * k;
    exact.x.push_back(t);
    exact.y.push_back(block_motion(t).x);
  }
  const auto x = [](const State& s) { return s.q[0]; };
  const auto v = [](const State& s) { return s.v[0]; };
  add_figure(result, "figure-4-positions", "Figure 4, upper row: positions.",
             LinePlot{"Block: positions, h = 0.01",
                      "t [s]",
                      "x [m]",
                      {curve_of("scheme I", one, x), curve_of("scheme II", two, x), exact},
                      {}});
  add_figure(result, "figure-4-velocities", "Figure 4, lower row: velocities, without detection.",
             LinePlot{"Block: velocities, h = 0.01",
                      "t [s]",
                      "v [m/s]",
                      {curve_of("scheme II", two, v), curve_of("scheme I", one, v)},
                      {}});
}

}  // namespace

Result run_cosine_block(Monitor& monitor) {
  Result result;
  tabulate(result, monitor);
  judge_behaviour(result);
  const Scene scene = example("cosine-block");
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2"})
    keep_run(monitor, scene, options_of(scene, scheme, std::ldexp(1, -8)), 2, scheme);
  return result;
}

}  // namespace stiction::experiments
