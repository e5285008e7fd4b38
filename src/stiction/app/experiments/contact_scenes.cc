// E10: Lacoursière & Linde's contact scenes, section 17.3: sweeps stall, a solver does not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/app/experiments/brick_walls.h"
#include "stiction/app/experiments/certified_residual.h"
#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/mechanism_watch.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"
#include "stiction/app/relaxation.h"

namespace stiction::experiments {
namespace {

/// What a variant of Gauss–Seidel does with one problem.
struct SweepFigures {
  double last = 0;       // [-] residual after the last sweep
  double jump = 0;       // largest ratio of two residuals in a row, after the tenth sweep
  int num_changing = 0;  // sweeps in which a contact changed its state
  double last_change = 0;
};

SweepFigures figures_of(const Relaxation& relaxation) {
  SweepFigures found;
  found.last = relaxation.residual.back();
  for (std::size_t i = 1; i < relaxation.residual.size(); ++i) {
    if (i > 10 && relaxation.residual[i - 1] > 0)
      found.jump = std::max(found.jump, relaxation.residual[i] / relaxation.residual[i - 1]);
    if (!relaxation.state_changes.empty() && relaxation.state_changes[i] > 0) {
      ++found.num_changing;
      found.last_change = relaxation.sweep[i];
    }
  }
  return found;
}

/// The three variants, and beside them what a solver that does not stall reaches.
struct Stalling {
  double best = 1e9, worst = 0;  // residuals of the variants after all sweeps
  double jump = 0;
  int fewest_changes = 1 << 30;
  double solved = 1;  // residual of the solver, certified
};

Stalling study(Result& result, Table& table, const std::string& what, const StepProblem& problem,
               double tolerance) {
  Stalling found;
  const std::vector<Relaxation> all = compute_relaxations(problem, {.tolerance = 1e-9});
  for (const Relaxation& relaxation : all) {
    const SweepFigures figures = figures_of(relaxation);
    const bool is_variant = !relaxation.state_changes.empty();
    const std::size_t fifteen = std::min<std::size_t>(15, relaxation.residual.size() - 1);
    table.rows.push_back(
        {label(what), label(relaxation.method),
         number(relaxation.residual[fifteen],
                is_variant ? show(relaxation.residual[fifteen], 2) : "–"),
         number(figures.last, show(figures.last, 2)),
         number(relaxation.sweep.back(), fmt::format("{:g}", relaxation.sweep.back())),
         is_variant ? number(figures.num_changing, fmt::format("{}", figures.num_changing))
                    : label("–")});
    if (!is_variant) continue;
    found.best = std::min(found.best, figures.last);
    found.worst = std::max(found.worst, figures.last);
    found.jump = std::max(found.jump, figures.jump);
    found.fewest_changes = std::min(found.fewest_changes, figures.num_changing);
  }
  found.solved = 1;
  std::string solver = "auto";
  for (const char* one : {"auto", "direct-iterative"})
    if (const double residual = certified_residual(problem, one, tolerance);
        residual < found.solved) {
      found.solved = residual;
      solver = one;
    }
  table.rows.push_back({label(what), label(solver + ", solved"), label("–"),
                        number(found.solved, show(found.solved, 2)), label("–"), label("–")});
  add_figure(
      result, "residuals-" + what,
      fmt::format("Relative residual against sweeps, {}: the three variants, with grey lines "
                  "where a contact changes its state.",
                  what),
      make_relaxation_plot(what, all));
  return found;
}

Table make_table() {
  return {.title = "Relative residual of one step's problem after sweeps from no impulses",
          .columns = {{"problem"},
                      {"method"},
                      {"after 15"},
                      {"at the end"},
                      {"sweeps"},
                      {"sweeps with changes of state"}},
          .rows = {}};
}

void judge_stalling(Result& result, const std::string& source, const Stalling& found) {
  result.statements.push_back(
      judge({.claim = "No variant of projected Gauss–Seidel converges to 1e-9 within 1000 sweeps: "
                      "the best of them",
             .source = source,
             .printed = "fail to converge",
             .value = found.best,
             .measured = fmt::format("residual {}, the worst {}", show(found.best, 2),
                                     show(found.worst, 2)),
             .expected = Range::at_least(1e-9)}));
  result.statements.push_back(judge({.claim = "The same problem is solved to 1e-8 without stalling",
                                     .source = source,
                                     .printed = "≤ 1e-8",
                                     .value = found.solved,
                                     .measured = "residual " + show(found.solved, 2),
                                     .expected = Range::at_most(1e-8)}));
  result.statements.push_back(
      judge({.claim = "Contacts keep changing their state from sweep to sweep",
             .source = source,
             .printed = "grey lines",
             .value = static_cast<double>(found.fewest_changes),
             .measured = fmt::format("in {} of 1000 sweeps at least", found.fewest_changes),
             .expected = Range::at_least(20)}));
  result.statements.push_back(
      judge({.claim = "Residuals sometimes jump from one sweep to the next",
             .source = source,
             .printed = "sudden jumps",
             .value = found.jump,
             .measured = fmt::format("by a factor of {:.2f} at most", found.jump),
             .expected = Range::at_least(1.2),
             .explanation = Explanation{
                 "The paper gives neither the state of its steps nor its measure of the "
                 "residual. Here it is that of the certificate, the largest error of "
                 "any contact law, of one step.",
                 Range::at_most(1.2)}}));
}

}  // namespace

Result run_log_pile(Monitor& monitor) {
  Result result;
  const Scene scene = example("log-pile");
  Simulation simulation(scene.model, options_of(scene));
  const KeptRun kept(monitor, simulation, scene, "log-pile");
  const double start = simulation.energy().now.total();
  double before = start, gain = 0;
  LinePlot::Curve kinetic{"kinetic", {}, {}}, total{"kinetic + potential", {}, {}};
  const auto watch = [&] {
    const double now = simulation.energy().now.total();
    gain = std::max(gain, now - before);
    before = now;
    kinetic.x.push_back(simulation.state().t);
    kinetic.y.push_back(simulation.energy().now.kinetic);
    total.x.push_back(simulation.state().t);
    total.y.push_back(now);
  };
  monitor.enter(0, monitor.is_full() ? 0.1 : 0.4);
  run_reporting(simulation, 0.5, monitor, watch);
  Table table = make_table();
  const Stalling found = study(result, table, "log-pile", simulation.last_problem(), 1e-9);
  result.tables.push_back(std::move(table));
  judge_stalling(result, "§17.3, Figure 8", found);
  if (monitor.is_full()) {
    monitor.enter(0.15, 1);
    run_reporting(simulation, 3, monitor, watch);
    const double rest = simulation.energy().now.kinetic / start;
    result.statements.push_back(
        judge({.claim = "The logs come to rest between the guides",
               .source = "§17.3, Figure 7",
               .printed = "a pile",
               .value = rest,
               .measured = fmt::format("kinetic energy {} of all at 3.5 s", show(rest, 1)),
               .expected = Range::at_most(1e-5)}));
  } else {
    result.statements.push_back(not_checkable("The logs come to rest between the guides",
                                              "§17.3, Figure 7", "a pile",
                                              "Takes 2.5 s of the "
                                              "scene: run with --full."));
  }
  result.statements.push_back(
      judge({.claim = "No step adds energy beyond lifting one log out",
             .source = "our reading",
             .printed = "dissipates",
             .value = gain / start,
             .measured = fmt::format("{} of all at most", show(100 * gain / start, 1, "%")),
             .expected = Range::at_most(0.01)}));
  add_figure(result, "energy", "Energy of the logs.",
             LinePlot{"Log pile: energy", "t [s]", "E [J]", {total, kinetic}, {}});
  return result;
}

// -------------------------------------------------------------------------------------------------
// Walls

namespace {

/// Until the ball arrives; and the problem of its fifth step.
double rest_of_wall(const Wall& wall, StepProblem& problem) {
  const Scene scene = example(wall.name);
  SimulationOptions options = options_of(scene);
  options.solver = "direct-iterative";  // joints and normals to rounding: no sweep is needed
  options.tolerance = 1e-9;
  Simulation simulation(scene.model, options);
  const auto start = brick_positions(simulation, wall);
  for (int n = 0; simulation.state().t < 0.25; ++n) {
    simulation.step();
    if (n == 4) problem = simulation.last_problem();
  }
  return ways(start, brick_positions(simulation, wall)).front();
}

void knock_down(Result& result, const Wall& wall, Monitor& monitor) {
  const Scene scene = example(wall.name);
  SimulationOptions options = options_of(scene);
  options.solver = "nsgs";  // sweeps come near enough; the exact answer takes far longer
  options.on_failure = OnFailure::kAcceptAndFlag;
  Simulation simulation(scene.model, options);
  const KeptRun kept(monitor, simulation, scene, wall.name);
  EnergyTrack energy(simulation);
  const double start_energy = simulation.energy().now.total();
  const auto start = brick_positions(simulation, wall);
  run_reporting(simulation, 1.5, monitor, [&] { energy.add(); });
  const std::vector<double> way = ways(start, brick_positions(simulation, wall));
  const auto moved = std::count_if(way.begin(), way.end(), [](double w) { return w > 0.2; });
  result.statements.push_back(
      judge({.claim = fmt::format("A wrecking ball knocks the wall down ({})", wall.name),
             .source = "§17.3, Figures 7 and 9",
             .printed = "collapses",
             .value = static_cast<double>(moved),
             .measured = fmt::format("{} of {} bricks moved by more than 0.2 m, up to {:.1f} m",
                                     moved, wall.num_bricks, way.front()),
             .expected = Range::at_least(6)}));
  result.statements.push_back(
      judge({.claim = "and no energy comes from nowhere",
             .source = "our reading",
             .printed = "dissipates",
             .value = energy.gain / start_energy,
             .measured = fmt::format("at most {} above the start",
                                     show(100 * energy.gain / start_energy, 1, "%")),
             // The ball swings on a row that is linear within a step.
             .expected = Range::at_most(0.005)}));
}

}  // namespace

Result run_brick_wall(Monitor& monitor) {
  Result result;
  Table table = make_table();
  Stalling found[2];
  double moved = 0;
  for (int i = 0; i < 2; ++i) {
    StepProblem problem;
    moved = std::max(moved, rest_of_wall(kWalls[i], problem));
    found[i] = study(result, table, kWalls[i].name, problem, 1e-9);
    monitor.report(monitor.is_full() ? 0.1 * (i + 1) : 0.5 * (i + 1));
  }
  result.tables.push_back(std::move(table));
  Stalling both = found[0];
  both.best = std::min(both.best, found[1].best);
  both.jump = std::max(both.jump, found[1].jump);
  both.fewest_changes = std::min(both.fewest_changes, found[1].fewest_changes);
  both.solved = std::max(both.solved, found[1].solved);
  judge_stalling(result, "§17.3, Figure 9", both);
  const double harder = found[1].best / found[0].best;
  result.statements.push_back(
      judge({.claim = "Bricks of 4:1 are harder than nearly cubic ones",
             .source = "§17.3, Figure 9",
             .printed = "adversely affected",
             .value = harder,
             .measured = fmt::format("residual {} times as large", show(harder, 2)),
             .expected = Range::at_least(1)}));
  // With 10⁻⁸ of a row's mobility the load of six bricks yields by less than 2e-10 m.
  result.statements.push_back(
      judge({.claim = "Until the ball arrives the walls rest",
             .source = "Figure 9, first row",
             .printed = "at rest",
             .value = moved,
             .measured = "no brick moves by more than " + show(moved, 1, "m"),
             .expected = Range::at_most(1e-8)}));
  for (int i = 0; i < 2; ++i) {
    if (monitor.is_full()) {
      monitor.enter(0.2 + 0.4 * i, 0.6 + 0.4 * i);
      knock_down(result, kWalls[i], monitor);
    } else {
      result.statements.push_back(
          not_checkable(fmt::format("A wrecking ball knocks the wall down ({})", kWalls[i].name),
                        "§17.3, Figures 7 and 9", "collapses", "Run with --full."));
    }
  }
  return result;
}

// -------------------------------------------------------------------------------------------------
// Squeezed box

Result run_squeezed_box(Monitor& monitor) {
  Result result;
  // Pressed by 0.1 mm, contacts yield by 1e-6 m/N: 100 N each, pulled by one and a half times the
  // friction of eight, on 10 kg.
  constexpr double kLoad = 100, kMass = 10, kMu = 0.5;
  constexpr double kAcceleration = (1.5 - 1) * 8 * kMu * kLoad / kMass;
  const Scene scene = example("squeezed-box");
  Simulation simulation(scene.model, options_of(scene));
  const KeptRun kept(monitor, simulation, scene, "squeezed-box");
  double load = 0, speed = 0;
  LinePlot plot{"Squeezed box: normal forces", "t [s]", "force [N]", {}, {}};
  plot.curves.resize(8);
  StepProblem problem;
  for (int n = 1; n <= 60; ++n) {
    simulation.step();
    if (n == 3) problem = simulation.last_problem();
    const auto& contacts = simulation.contacts();
    if (contacts.size() != 8) load = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min<std::size_t>(contacts.size(), 8); ++i) {
      const double force = contacts[i].impulse[0] / simulation.options().h;
      load = std::max(load, std::abs(force / kLoad - 1));
      plot.curves[i].x.push_back(simulation.state().t);
      plot.curves[i].y.push_back(force);
    }
    speed =
        std::max(speed, std::abs(simulation.state().v[1] - kAcceleration * simulation.state().t));
  }
  monitor.report(0.5);
  Table table = make_table();
  const Stalling found = study(result, table, "squeezed-box", problem, 1e-10);
  result.tables.push_back(std::move(table));
  // A residual of 1e-9, mobilities of 4 m/s per N s against compliances of 1.6e-3, eight contacts.
  constexpr double kLoadError = 1e-9 * (4 / 1.6e-3) * 8;
  result.statements.push_back(
      judge({.claim = "Regularisation makes all contact forces constant and "
                      "equal",
             .source = "§17.3",
             .printed = "100 N each",
             .value = load,
             .measured = fmt::format("within {} in every step", show(load, 1, "of it")),
             .expected = Range::at_most(kLoadError)}));
  result.statements.push_back(
      judge({.claim = "and the box slides with the speed of the closed form",
             .source = "§17.3",
             .printed = "20 t m/s",
             .value = speed,
             .measured = "within " + show(speed, 1, "m/s"),
             .expected = Range::at_most(8 * kMu * kLoad * kLoadError / kMass)}));
  result.statements.push_back(
      judge({.claim = "The most devastating example: what the variants reach after 1000 sweeps",
             .source = "§17.3, Figure 10",
             .printed = "far from the answer",
             .value = found.best,
             .measured = fmt::format("{} to {}", show(found.best, 1), show(found.worst, 1)),
             .expected = Range::at_least(1e-4)}));
  result.statements.push_back(judge({.claim = "The same problem is solved to 1e-8 without stalling",
                                     .source = "§17.3",
                                     .printed = "≤ 1e-8",
                                     .value = found.solved,
                                     .measured = "residual " + show(found.solved, 2),
                                     .expected = Range::at_most(1e-8)}));
  add_figure(result, "forces", "Normal forces of the eight corners: one line.", plot);
  return result;
}

}  // namespace stiction::experiments
