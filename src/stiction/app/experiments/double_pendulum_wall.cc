// E6: the double pendulum beside a wall of Potra, Anitescu, Gavrea & Trinkle 2006, Table 10.1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/fitted_order.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/published.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"

namespace stiction::experiments {
namespace {

constexpr double kPendulumTime = 2.5;  // [s]

double upper_rod(const State& s) { return s.q.head<2>().squaredNorm() - 1; }
double lower_rod(const State& s) { return (s.q.head<2>() - s.q.tail<2>()).squaredNorm() - 1; }

/// The end of a run of which nothing else is kept.
State end_of_run(const std::string& scheme, double h, Monitor& monitor) {
  const Scene scene = example("double-pendulum-wall");
  Simulation simulation(scene.model, options_of(scene, scheme, h));
  run_reporting(simulation, kPendulumTime, monitor);
  return simulation.state();
}

void tabulate(Result& result, const VectorXd& exact) {
  Table table{.title = "Table 10.1: error of the positions at 2.5 s and of both rods",
              .columns = {{"h [s]"}, {"E_h", true}, {"|Θ₁|", true}, {"|Θ₂|", true}},
              .rows = {}};
  LogLogPlot::Series position{.label = "positions", .x = {}, .y = {}};
  LogLogPlot::Series upper{.label = "upper rod", .x = {}, .y = {}, .color = 1, .marker = 1};
  LogLogPlot::Series lower{.label = "lower rod", .x = {}, .y = {}, .color = 2, .marker = 2};
  Monitor silent(false);
  double sign = 1;
  for (const PendulumRow& row : kPendulumTable) {
    const double h = std::ldexp(1, -row.exponent);
    const State end = end_of_run("trapezoidal-2", h, silent);
    const double error = (end.q - exact).norm();
    table.rows.push_back({number(h, power_of_two(row.exponent)),
                          beside({.printed = row.position, .value = error}),
                          beside({.printed = row.upper_rod, .value = std::abs(upper_rod(end))}),
                          beside({.printed = row.lower_rod, .value = std::abs(lower_rod(end))})});
    sign = std::min({sign, upper_rod(end) > 0 ? 1.0 : -1.0, lower_rod(end) > 0 ? 1.0 : -1.0});
    for (auto [series, value] : {std::pair{&position, error},
                                 {&upper, std::abs(upper_rod(end))},
                                 {&lower, std::abs(lower_rod(end))}}) {
      series->x.push_back(h);
      series->y.push_back(value);
    }
  }
  result.statements.push_back(judge_table(
      "Errors of positions and rods, to one unit in the last printed digit", "Table 10.1", table));
  result.tables.push_back(std::move(table));
  result.statements.push_back(
      judge({.claim = "Columns E₁ and E₂ are Θ of the rods: their sign",
             .source = "Table 10.1",
             .printed = "negative",
             .value = sign,
             .measured = sign > 0 ? "positive in every row" : "not positive everywhere",
             .expected = Range::exactly(-1),
             .explanation = Explanation{"Erratum: the table shows 1 − |·|². The rods of scheme II "
                                        "drift by (h²/4)(|v⁺|² − |v|²) in every step, which is "
                                        "positive here.",
                                        Range::exactly(1)}}));
  const double order = fitted_order(position.x, position.y);
  result.statements.push_back(judge({.claim = "Halving h divides the error by about four",
                                     .source = "§10.1",
                                     .printed = "order 2",
                                     .value = order,
                                     .measured = fmt::format("order {:.3f}", order),
                                     .expected = Range::around(2, 0.1)}));
  const double rods = std::min(fitted_order(upper.x, upper.y), fitted_order(lower.x, lower.y));
  result.statements.push_back(judge({.claim = "The same behaviour is observed in the joints",
                                     .source = "§10.1",
                                     .printed = "order 2",
                                     .value = rods,
                                     .measured = fmt::format("order {:.3f}", rods),
                                     .expected = Range::around(2, 0.1)}));
  add_figure(result, "convergence", "Errors of Table 10.1 over the step.",
             LogLogPlot{"Double pendulum: errors at 2.5 s",
                        "h [s]",
                        "error",
                        {position, upper, lower, order_line(position, 2, 6)}});
}

void judge_collisions(Result& result) {
  const Scene scene = example("double-pendulum-wall");
  const TracedRun run(scene.model, options_of(scene, "trapezoidal-2", std::ldexp(1, -8)),
                      kPendulumTime);
  const auto collisions = run.trace.events_of(EventKind::kCollision);
  int alternating = 0;  // upper and lower bob in turn
  for (std::size_t i = 0; i < collisions.size(); ++i)
    if (collisions[i].contact == static_cast<int>(i % 2)) ++alternating;
  result.statements.push_back(judge(
      {.claim = "Both bobs hit the wall, five times in all",
       .source = "Figure 2",
       .printed = "5",
       .value = collisions.size() == 5 ? alternating : -1.0,
       .measured = fmt::format("{} collisions, {} of them in turn", collisions.size(), alternating),
       .expected = Range::exactly(5)}));
  std::vector<double> marks;
  marks.reserve(collisions.size());
  for (const StepEvent& collision : collisions) marks.push_back(collision.time);
  result.statements.push_back(
      judge({.claim = "The total energy falls at collisions and is constant "
                      "otherwise",
             .source = "Figure 2",
             .printed = "never rises",
             .value = run.trace.energy_max() - run.trace.samples[0].energy,
             .measured =
                 show(run.trace.energy_max() - run.trace.samples[0].energy, 2, "J above its start"),
             // Joint rows have a compliance of 1e-9 against redundancy.
             .expected = Range::at_most(1e-7)}));
  add_figure(result, "figure-2-a", "Figure 2 (a): x of both bobs; grey lines are collisions.",
             LinePlot{"Double pendulum: distance from the wall",
                      "t [s]",
                      "x [m]",
                      {curve_of("upper bob", run.trace, [](const State& s) { return s.q[0]; }),
                       curve_of("lower bob", run.trace, [](const State& s) { return s.q[2]; })},
                      marks});
  add_figure(
      result, "figure-2-b", "Figure 2 (b): total energy.",
      LinePlot{"Double pendulum: energy", "t [s]", "E [J]", {energy_of("", run.trace)}, marks});
}

/// Schemes of first order, and scheme I, which is of first order with nonlinear joints.
void compare_schemes(Result& result, const VectorXd& exact, Monitor& monitor) {
  Monitor silent(false);
  LogLogPlot plot{"Double pendulum: other schemes", "h [s]", "|q − q_ref| at 2.5 s", {}};
  Table table{.title = "Orders of other schemes on the same motion",
              .columns = {{"scheme"}, {"order"}},
              .rows = {}};
  double worst = 1;
  const int finest = monitor.is_full() ? 13 : 11;
  int color = 0;
  for (const char* scheme : {"anitescu-potra", "linearly-implicit-euler", "trapezoidal-1"}) {
    LogLogPlot::Series series{.label = scheme, .x = {}, .y = {}, .color = color, .marker = color};
    for (int exponent = 7; exponent <= finest; ++exponent) {
      const double h = std::ldexp(1, -exponent);
      double error = 0;  // where a collision falls within its step is noise
      for (int k = 0; k < 4; ++k)
        error += (end_of_run(scheme, h * (1 + 0.06 * k), silent).q - exact).norm() / 4;
      series.x.push_back(h);
      series.y.push_back(error);
    }
    const double order = fitted_order(series.x, series.y);
    if (std::abs(order - 1) > std::abs(worst - 1)) worst = order;
    table.rows.push_back({label(scheme), number(order, fmt::format("{:.2f}", order))});
    plot.series.push_back(std::move(series));
    monitor.report(++color / 3.0);
  }
  result.statements.push_back(
      judge({.claim = "Scheme I and the Euler schemes converge to the same motion with order one",
             .source = "§6, our reading",
             .printed = "1",
             .value = worst,
             .measured = fmt::format("{:.2f} at worst", worst),
             .expected = Range::around(1, monitor.is_full() ? 0.1 : 0.2)}));
  result.tables.push_back(std::move(table));
  add_figure(result, "other-schemes", "Error of other schemes over the step.", plot);
}

}  // namespace

Result run_double_pendulum_wall(Monitor& monitor) {
  Result result;
  // The paper's reference is 2⁻²⁰; at 2⁻¹⁷ its own error is 4⁻⁶ of the smallest one in the table.
  const int exponent = monitor.is_full() ? 20 : 17;
  monitor.enter(0, 0.6);
  const VectorXd exact = end_of_run("trapezoidal-2", std::ldexp(1, -exponent), monitor).q;
  result.notes.push_back(
      fmt::format("Reference: trapezoidal-2 at h = {}.", power_of_two(exponent)));
  tabulate(result, exact);
  judge_collisions(result);
  monitor.enter(0.65, 1);
  compare_schemes(result, exact, monitor);
  const Scene scene = example("double-pendulum-wall");
  keep_run(monitor, scene, options_of(scene, "trapezoidal-2", std::ldexp(1, -8)), kPendulumTime,
           "trapezoidal-2");
  return result;
}

}  // namespace stiction::experiments
