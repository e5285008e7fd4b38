// E5: the two hinged bars of Anitescu & Potra 2002, section 3.3.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/two_bars.h"
#include "stiction/app/experiments/verdict.h"

namespace stiction::experiments {
namespace {

struct Bars {
  double damping, mu;
};
constexpr Bars kBars[] = {{10, 0.15}, {1000, 0.15}, {1e8, 0.15}, {20, 0.05}, {20, 0.2}, {20, 0.5}};

Scene scene_of(const Bars& bars) {
  return edited_example("two-bars", with_parameters({{"delta", bars.damping}, {"mu", bars.mu}}));
}

TracedRun run_bars(const Bars& bars) {
  const Scene scene = scene_of(bars);
  return {scene.model, options_of(scene), 10};
}

/// Both bars at every 25th step.
LinePlot strobe(const Bars& bars, const Trace& trace) {
  LinePlot plot{fmt::format("Two bars: damping {}, μ = {:g}", show(bars.damping), bars.mu),
                "x [m]",
                "y [m]",
                {},
                {}};
  for (std::size_t n = 0; n < trace.samples.size(); n += 25) {
    const auto& q = trace.samples[n].state.q;
    const auto end = [&](int bar, double side) {
      return Eigen::Vector2d(q[3 * bar] + side * std::sin(q[3 * bar + 2]),
                             q[3 * bar + 1] - side * std::cos(q[3 * bar + 2]));
    };
    const Eigen::Vector2d a = end(0, 1), hinge = end(0, -1), b = end(1, 1);
    plot.curves.push_back({"", {a.x(), hinge.x(), b.x()}, {a.y(), hinge.y(), b.y()}});
    if (trace.samples[n].state.t > 3) break;  // then it stands
  }
  return plot;
}

}  // namespace

double bars_extension(const State& state) {
  return std::hypot(state.q[3] - state.q[0], state.q[4] - state.q[1]) - 1;
}

double first_foot_travel(const Trace& trace) {
  const auto foot = [](const State& state) { return state.q[0] + std::sin(state.q[2]); };
  double travel = 0;
  for (std::size_t i = 1; i < trace.samples.size(); ++i)
    travel += std::abs(foot(trace.samples[i].state) - foot(trace.samples[i - 1].state));
  return travel;
}

Result run_two_bars(Monitor& monitor) {
  Result result;
  Table table{.title = "Linearly implicit Euler, h = 0.01, 10 s, k = 100",
              .columns = {{"damping"},
                          {"μ"},
                          {"largest gain of energy in a step [J]"},
                          {"joint error"},
                          {"smallest gap [m]"},
                          {"distance of the centres within [m]"},
                          {"way of the first foot [m]"},
                          {"collisions"}},
              .rows = {}};
  double gain = -1e9, joint = 0, gap = 0;
  std::vector<double> extensions, ways;
  LinePlot energies{"Two bars: energy", "t [s]", "E [J]", {}, {}};
  for (std::size_t i = 0; i < std::size(kBars); ++i) {
    const Bars& bars = kBars[i];
    const TracedRun run = run_bars(bars);
    const Scene scene = scene_of(bars);
    keep_run(monitor, scene, options_of(scene), 10,
             fmt::format("damping-{:g}-mu-{:g}", bars.damping, bars.mu));
    const RunSummary& summary = run.simulation.summary();
    const double one_gain = run.trace.energy_gain_max();
    extensions.push_back(run.trace.largest(bars_extension));
    ways.push_back(first_foot_travel(run.trace));
    gain = std::max(gain, one_gain);
    joint = std::max(joint, summary.joint_error_max);
    gap = std::min(gap, summary.gap_min);
    table.rows.push_back({number(bars.damping, show(bars.damping)), number(bars.mu, show(bars.mu)),
                          number(one_gain, show(one_gain, 2)),
                          number(summary.joint_error_max, show(summary.joint_error_max, 2)),
                          number(summary.gap_min, show(summary.gap_min, 2)),
                          number(extensions.back(), show(extensions.back(), 3)),
                          number(ways.back(), show(ways.back())),
                          number(static_cast<double>(summary.count(EventKind::kCollision)),
                                 fmt::format("{}", summary.count(EventKind::kCollision)))});
    const std::string what = fmt::format("δ = {}, μ = {:g}", show(bars.damping), bars.mu);
    energies.curves.push_back(energy_of(what, run.trace));
    add_figure(result, fmt::format("figure-{}-{}", i < 3 ? 7 : 8, i % 3 + 1),
               fmt::format("Figure {}: the bars every 0.25 s, {}.", i < 3 ? 7 : 8, what),
               strobe(bars, run.trace));
    monitor.report(static_cast<double>(i + 1) / std::size(kBars));
  }
  add_figure(result, "energy", "Energy over time: it never increases.", energies);
  result.tables.push_back(std::move(table));
  auto& statements = result.statements;
  statements.push_back(judge({.claim = "Energy never increases (Theorem 2.4)",
                              .source = "§2.3",
                              .printed = "≤ 0 per step",
                              .value = gain,
                              .measured = "largest gain " + show(gain, 2, "J"),
                              // Rounding of 25 J, and what the projection lifts.
                              .expected = Range::at_most(1e-10)}));
  statements.push_back(judge({.claim = "Projection (46) keeps the hinge",
                              .source = "§2.4",
                              .printed = "below 1e-12",
                              .value = joint,
                              .measured = show(joint, 2, "m"),
                              .expected = Range::at_most(1e-12)}));
  statements.push_back(judge({.claim = "and the feet above the table",
                              .source = "§2.4",
                              .printed = "below 1e-12",
                              .value = gap,
                              .measured = show(gap, 2, "m"),
                              .expected = Range::at_least(-1e-12)}));
  statements.push_back(judge({.claim = "Damping 1e8 acts as a rod: the distance of the centres",
                              .source = "§3.4, Figure 7",
                              .printed = "within 1.1e-3 m",
                              .value = extensions[2],
                              .measured = "within " + show(extensions[2], 2, "m"),
                              .expected = Range::at_most(1.1e-3)}));
  const double falls = std::min(extensions[0] - extensions[1], extensions[1] - extensions[2]);
  statements.push_back(
      judge({.claim = "The stiffer the damper, the closer to a rigid joint",
             .source = "§3.4, Figure 7",
             .printed = "falls with δ",
             .value = falls,
             .measured = fmt::format("{}, {}, {}", show(extensions[0], 2), show(extensions[1], 2),
                                     show(extensions[2], 2, "m")),
             .expected = Range::at_least(0)}));
  const double stops = std::min(ways[3] / ways[4], ways[4] / ways[5]);
  statements.push_back(judge(
      {.claim = "Friction stops the mechanism earlier: the way of the foot "
                "for μ = 0.05, 0.2, 0.5",
       .source = "§3.4, Figure 8",
       .printed = "falls with μ",
       .value = stops,
       .measured = fmt::format("{}, {}, {}", show(ways[3]), show(ways[4]), show(ways[5], 3, "m")),
       .expected = Range::at_least(1.0)}));
  return result;
}

}  // namespace stiction::experiments
