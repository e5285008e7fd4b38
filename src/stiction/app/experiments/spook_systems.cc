// E9: Lacoursière & Linde's small systems, sections 17.1 and 17.2 and figure 1.
#include "stiction/app/experiments/spook_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/app/experiments/example_scene.h"
#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/fitted_order.h"
#include "stiction/app/experiments/mechanism_watch.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"
#include "stiction/model/system_builder.h"

namespace stiction::experiments {
namespace {

constexpr double kSixtieth = 1.0 / 60, kEarth = 9.81;
constexpr double kPi = std::numbers::pi;

SimulationOptions with_scheme(const std::string& scheme, double h) {
  return {.scheme = scheme, .h = h};
}

LinePlot::Curve samples(const std::string& label, const std::vector<double>& x, double h) {
  LinePlot::Curve curve{label, {}, x};
  for (std::size_t n = 0; n < x.size(); ++n) curve.x.push_back(static_cast<double>(n) * h);
  return curve;
}

// -------------------------------------------------------------------------------------------------
// Oscillator

/// SPOOK turns by 2 atan(ωh/2) per step at any stiffness, as the midpoint rule does.
void judge_frequency(Result& result) {
  constexpr double h = 0.01;
  Table table{.title = "Turn per step, and factor of the amplitude",
              .columns = {{"ωh"},
                          {"2 atan(ωh/2)"},
                          {"spook: error of the recurrence"},
                          {"implicit Euler: turn"},
                          {"factor per step"}},
              .rows = {}};
  double worst = 0, worst_euler = 0, fastest = 0;
  for (const double wh : {0.01, 0.3, 1.0, 3.0, 30.0, 1000.0}) {
    const double angle = 2 * std::atan(wh / 2), square = 1 / (1 + wh * wh);
    const double error =
        recurrence_error(positions_of(spring_oscillator(wh / h), with_scheme("spook", h), 2000),
                         2 * std::cos(angle), 1);
    worst = std::max(worst, error);
    if (wh < 10)
      worst_euler =
          std::max(worst_euler,
                   recurrence_error(positions_of(spring_oscillator(wh / h),
                                                 with_scheme("linearly-implicit-euler", h), 500),
                                    2 * std::sqrt(square) * std::cos(std::atan(wh)), square));
    fastest = std::max(fastest, std::atan(wh) / angle);
    table.rows.push_back({number(wh, show(wh)), number(angle, fmt::format("{:.5f}", angle)),
                          number(error, show(error, 1)),
                          number(std::atan(wh), fmt::format("{:.5f}", std::atan(wh))),
                          number(std::sqrt(square), fmt::format("{:.4f}", std::sqrt(square)))});
  }
  result.tables.push_back(std::move(table));
  result.statements.push_back(
      judge({.claim = "SPOOK has the frequency of the implicit midpoint rule, 2 atan(ωh/2)/h, and "
                      "keeps the amplitude, for ωh from 0.01 to 1000",
             .source = "§17.1, Figure 4",
             .printed = "the midpoint rule's",
             .value = worst,
             .measured = "within " + show(worst, 1),
             .expected = Range::at_most(1e-12)}));
  result.statements.push_back(judge(
      {.claim = "Implicit Euler dissipates at a high rate and shifts the frequency: atan(ωh), "
                "1/√(1 + (ωh)²)",
       .source = "§17.1, Figure 4",
       .printed = "slower, damped",
       .value = fastest < 1 ? worst_euler : 1.0,
       .measured = "as this recurrence says, within " + show(worst_euler, 1),
       .expected = Range::at_most(1e-12)}));
}

/// Trace 2 − a(1 + 3φ), determinant 1 − a(1 − φ) with a = 1/(1 + 4φ/(ωh)²) over stiffness and
/// damping, and the spectral radius that follows.
void judge_stability(Result& result) {
  constexpr double h = 0.01;
  double worst = 0, radius = 0;
  for (const double wh : {0.1, 1.0, 50.0, 1e4})
    for (const double relaxation : {0.1, 0.5, 2.0, 20.0, 200.0}) {
      const double phi = 1 / (1 + 4 * relaxation), a = 1 / (1 + 4 * phi / (wh * wh));
      const double trace = 2 - a * (1 + 3 * phi), determinant = 1 - a * (1 - phi);
      worst =
          std::max(worst, recurrence_error(positions_of(spring_oscillator(wh / h, relaxation * h),
                                                        with_scheme("spook", h), 300),
                                           trace, determinant));
      const double root = trace * trace / 4 - determinant;
      radius = std::max(radius,
                        root < 0 ? std::sqrt(determinant) : std::abs(trace) / 2 + std::sqrt(root));
    }
  result.statements.push_back(judge({.claim = "The constraint recurrence is that of trace "
                                              "2 − a(1 + 3φ) and determinant 1 − a(1 − φ)",
                                     .source = "(66) to (70), corrected",
                                     .printed = "equal",
                                     .value = worst,
                                     .measured = "within " + show(worst, 1),
                                     .expected = Range::at_most(1e-12)}));
  result.statements.push_back(judge({.claim = "and is stable for every ε > 0, τ > 0",
                                     .source = "§10",
                                     .printed = "spectral radius < 1",
                                     .value = radius,
                                     .measured = fmt::format("{:.6f} at most on the grid", radius),
                                     .expected = Range::at_most(1)}));
}

/// The stiff mass of the scene, whose error must fall as fast as SPOOK can at τ = 2h.
void judge_relaxation(Result& result) {
  const Scene scene = example("spook-oscillator");
  Simulation simulation(scene.model, options_of(scene));
  double worst = 0, before = 1, factor = 0;
  for (int n = 1; n <= 20; ++n) {
    simulation.step();
    const double x = simulation.state().q[7];
    worst = std::max(worst, std::abs(x - (1 + 2.0 / 3 * n) * std::pow(3.0, -n)));
    if (n == 20) factor = x / before;
    before = x;
  }
  result.statements.push_back(
      judge({.claim = "At τ = 2h errors of stiff constraints fall by about a decade per step",
             .source = "§10",
             .printed = "1/9",
             .value = factor,
             .measured = fmt::format("{:.3f} per step (after 20 steps; a double root 1/3)", factor),
             .expected = Range::around(1.0 / 9, 0.02),
             .explanation = Explanation{"Erratum: (70) gives the eigenvalues of C, not of the "
                                        "recurrence. The true factor is 1/3, the fastest possible.",
                                        Range::around(1.0 / 3, 0.03)}}));
  result.statements.push_back(judge({.claim = "The error is (1 + 2n/3) 3⁻ⁿ from rest",
                                     .source = "(66), corrected",
                                     .printed = "equal",
                                     .value = worst,
                                     .measured = "within " + show(worst, 1),
                                     .expected = Range::at_most(1e-9)}));
}

void draw_oscillators(Result& result) {
  const auto plot = [](const char* title, double wh, double damping_time, int steps) {
    constexpr double h = 0.01;
    LinePlot plot{title, "t [s]", "x [m]", {}, {}};
    const auto add = [&](const char* label, const char* scheme) {
      plot.curves.push_back(samples(
          label,
          positions_of(spring_oscillator(wh / h, damping_time), with_scheme(scheme, h), steps), h));
    };
    add("SPOOK", "spook");
    add("midpoint", "trapezoidal-2");
    add("implicit Euler", "linearly-implicit-euler");
    return plot;
  };
  add_figure(result, "figure-4-low", "Figure 4: oscillator with ωh = 0.1.",
             plot("Oscillator, ωh = 0.1", 0.1, 0, 300));
  add_figure(result, "figure-4-high",
             "Figure 4: high frequency, ωh = 50; SPOOK with τ = 2h filters it out.",
             plot("Oscillator, ωh = 50, τ = 2h", 50, 0.02, 20));
}

}  // namespace

Model spring_oscillator(double frequency, double damping_time) {
  const double stiffness = kOscillatorMass * frequency * frequency;
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {1, 0});
  system.set_mass(x, x, kOscillatorMass);
  system.add_spring({.name = "spring",
                     .extension = x,
                     .stiffness = stiffness,
                     .damping = damping_time * stiffness});
  return system.build_model();
}

std::vector<double> positions_of(Model model, const SimulationOptions& options, int num_steps) {
  Simulation simulation(std::move(model), options);
  std::vector<double> x{simulation.state().q[0]};
  for (int n = 0; n < num_steps; ++n) {
    simulation.step();
    x.push_back(simulation.state().q[0]);
  }
  return x;
}

double recurrence_error(const std::vector<double>& x, double trace, double determinant) {
  double worst = 0;
  for (std::size_t n = 1; n + 1 < x.size(); ++n)
    worst = std::max(worst, std::abs(x[n + 1] - trace * x[n] + determinant * x[n - 1]));
  return worst;
}

Result run_spook_oscillator(Monitor& monitor) {
  Result result;
  judge_frequency(result);
  monitor.report(0.5);
  judge_stability(result);
  judge_relaxation(result);
  draw_oscillators(result);
  const Scene scene = example("spook-oscillator");
  keep_run(monitor, scene, options_of(scene), scene.simulate.duration, "spook-oscillator");
  return result;
}

// -------------------------------------------------------------------------------------------------
// Pendulum

PendulumSwing swing_pendulum(const Scene& scene, double h) {
  Simulation simulation(scene.model, options_of(scene, "spook", h));
  PendulumSwing result;
  std::vector<double> passes;  // of the lowest point, from the right
  double before = 1;
  while (simulation.state().t < 10 - h / 2) {
    simulation.step();
    const double x = simulation.state().q[0];
    result.rod = std::max(result.rod, std::abs(std::hypot(x, simulation.state().q[2]) - 1));
    if (before > 0 && x <= 0) passes.push_back(simulation.state().t - h * x / (x - before));
    before = x;
  }
  result.period = (passes.back() - passes.front()) / static_cast<double>(passes.size() - 1);
  return result;
}

Result run_spook_pendulum(Monitor& monitor) {
  Result result;
  const Scene scene = example("spook-pendulum");
  const double exact = 4 * kPendulumQuarter / std::sqrt(kEarth);
  Table table{.title = fmt::format("Released horizontally; exact period {:.6f} s", exact),
              .columns = {{"h [s]"}, {"period [s]"}, {"error [s]"}, {"error of the rod [m]"}},
              .rows = {}};
  LogLogPlot::Series period{.label = "period [s]", .x = {}, .y = {}};
  LogLogPlot::Series rod{.label = "rod [m]", .x = {}, .y = {}, .color = 1, .marker = 1};
  const int finest = monitor.is_full() ? 64 : 32;
  for (int divisor = 2; divisor <= finest; divisor *= 2) {
    const double h = kSixtieth / divisor;
    const PendulumSwing swing = swing_pendulum(scene, h);
    table.rows.push_back({number(h, fmt::format("1/{}", 60 * divisor)),
                          number(swing.period, fmt::format("{:.6f}", swing.period)),
                          number(swing.period - exact, show(swing.period - exact)),
                          number(swing.rod, show(swing.rod))});
    for (auto [series, value] :
         {std::pair{&period, std::abs(swing.period - exact)}, {&rod, swing.rod}}) {
      series->x.push_back(h);
      series->y.push_back(value);
    }
    monitor.report(static_cast<double>(divisor) / finest);
  }
  const double order = fitted_order(period.x, period.y);
  const double rod_order = fitted_order(rod.x, rod.y);
  result.statements.push_back(judge({.claim = "SPOOK is faithful: the period's error is O(h²)",
                                     .source = "§17.1, Figure 5",
                                     .printed = "O(h²)",
                                     .value = order,
                                     .measured = fmt::format("order {:.2f}", order),
                                     // Passes of the lowest point lie anywhere in their step.
                                     .expected = Range::around(2, 0.3)}));
  result.statements.push_back(judge({.claim = "and stable: the length of the rod, ε = 0, is O(h²)",
                                     .source = "§17.1",
                                     .printed = "O(h²)",
                                     .value = rod_order,
                                     .measured = fmt::format("order {:.2f}", rod_order),
                                     .expected = Range::around(2, 0.1)}));
  result.statements.push_back(
      not_checkable("Linearised midpoint with a penalty spring can go unstable; implicit Euler "
                    "with one loses all "
                    "physics",
                    "Figure 5", "pictures",
                    "The paper does not print the stiffness, the step or the time of these runs."));
  result.tables.push_back(std::move(table));
  add_figure(
      result, "convergence", "Errors of the period and of the rod over the step.",
      LogLogPlot{
          "Pendulum: errors of SPOOK", "h [s]", "error", {period, rod, order_line(period, 2, 6)}});
  const TracedRun run(scene.model, options_of(scene, "spook", kSixtieth), 10);
  add_figure(result, "figure-5", "Figure 5: path of the pendulum over 10 s, SPOOK at h = 1/60.",
             LinePlot{"Pendulum: path",
                      "x [m]",
                      "z [m]",
                      {path_of(
                          "", run.trace, [](const State& s) { return s.q[0]; },
                          [](const State& s) { return s.q[2]; })},
                      {}});
  return result;
}

// -------------------------------------------------------------------------------------------------
// Bouncing ball

namespace {

TracedRun bounce(const std::string& scheme, double restitution, double h, double duration) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {1, 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(kEarth * y);
  system.add_contact({.name = "floor", .gap = y, .restitution = restitution});
  return {system.build_model(), with_scheme(scheme, h), duration};
}

}  // namespace

Result run_bouncing_ball(Monitor& monitor) {
  Result result;
  constexpr double kStart = kEarth;  // [J] 1 kg, 1 m
  double stage = -1e9, total = -1e9, first = 0;
  Table table{.title = "Two-stage impact over 6 s, h = 1/60",
              .columns = {{"restitution ψ"}, {"hits"}, {"energy at the end [J]"}},
              .rows = {}};
  LinePlot heights{"Ball: height, ψ = 1", "t [s]", "y [m]", {}, {}};
  LinePlot energies{"Ball: energy, h = 1/60", "t [s]", "E [J]", {}, {}};
  for (const double restitution : {0.0, 0.3, 0.5, 0.9, 1.0}) {
    for (const double h : {1e-3, 0.0037, kSixtieth}) {
      const TracedRun run = bounce("spook", restitution, h, 6);
      const auto hits = run.trace.events_of(EventKind::kCollision);
      for (const StepEvent& hit : hits) stage = std::max(stage, hit.energy_change / kStart);
      total = std::max(total, run.trace.energy_max() / kStart - 1);
      const double speed = std::sqrt(2 * kEarth);
      if (!hits.empty()) first = std::max(first, std::abs(hits.front().time - speed / kEarth) / h);
      if (h != kSixtieth) continue;
      table.rows.push_back(
          {number(restitution, show(restitution)),
           number(static_cast<double>(hits.size()), fmt::format("{}", hits.size())),
           number(run.trace.samples.back().energy, show(run.trace.samples.back().energy))});
      energies.curves.push_back(energy_of(fmt::format("ψ = {:g}", restitution), run.trace));
    }
    monitor.report(restitution);
  }
  const auto height = [](const State& s) { return s.q[0]; };
  heights.curves.push_back(curve_of("SPOOK", bounce("spook", 1, kSixtieth, 6).trace, height));
  heights.curves.push_back(
      curve_of("located impacts", bounce("trapezoidal-2", 1, kSixtieth, 6).trace, height));
  auto& statements = result.statements;
  statements.push_back(
      judge({.claim = "The impact stage never raises kinetic energy, ψ from 0 to 1",
             .source = "§11, (72)",
             .printed = "≤ 0",
             .value = stage,
             .measured = fmt::format("largest change {} of the start", show(stage, 2)),
             .expected = Range::at_most(1e-12)}));
  statements.push_back(judge({.claim = "The energy never exceeds its start",
                              .source = "§17.2, Figure 6",
                              .printed = "dissipates",
                              .value = total,
                              .measured = show(std::max(total, 0.0), 1, "above it"),
                              .expected = Range::at_most(1e-12)}));
  const double elastic = bounce("spook", 1, kSixtieth, 6).trace.samples.back().energy;
  statements.push_back(judge(
      {.claim = "Some energy is lost even for purely elastic impacts",
       .source = "§17.2",
       .printed = "some",
       .value = 1 - elastic / kStart,
       .measured = fmt::format("{} in 6 s at h = 1/60", show(100 * (1 - elastic / kStart), 2, "%")),
       .expected = {1e-6, 0.9}}));
  statements.push_back(judge({.claim = "The impact is found after the fact, within a step or two",
                              .source = "§11",
                              .printed = "post facto",
                              .value = first,
                              .measured = fmt::format("{:.2f} h off at most", first),
                              .expected = Range::at_most(1.5)}));
  result.tables.push_back(std::move(table));
  add_figure(result, "figure-6", "Figure 6: elastic ball beside one with located impacts.",
             heights);
  add_figure(result, "energy", "Energy of the ball for several restitutions.", energies);
  return result;
}

// -------------------------------------------------------------------------------------------------
// Slider-crank

double crank_speed(double theta) {
  constexpr double m = 1, ms = 0.5, I = 1.0 / 12, start = kPi / 4, w = 4;
  const auto inertia = [&](double at) {
    const double s = std::sin(at);
    return 2 * I + m / 2 + (2 * m + 4 * ms) * s * s;
  };
  const double energy = inertia(start) * w * w / 2 + m * kEarth * std::sin(start);
  return std::sqrt(2 * (energy - m * kEarth * std::sin(theta)) / inertia(theta));
}

Result run_slider_crank(Monitor& monitor) {
  Result result;
  const Scene scene = example("slider-crank");
  Table table{.title = "Equal lengths, 5 s: the branch and the speed",
              .columns = {{"variant"},
                          {"h [s]"},
                          {"rod against crank [rad]"},
                          {"speed, relative"},
                          {"singular positions passed"}},
              .rows = {}};
  double branch = 0, fewest = 1e9;
  LinePlot plot{
      "Slider-crank: speed of the crank over its angle", "θ [rad]", "dθ/dt [rad/s]", {}, {}};
  for (const bool iterates : {true, false})
    for (const double rate : {240.0, 480.0, 960.0}) {
      SimulationOptions options = options_of(scene, "spook", 1 / rate);
      options.stepping.spook.position_iteration = iterates;
      Simulation simulation(scene.model, options);
      const KeptRun kept(monitor, simulation, scene,
                         fmt::format("{}-{:g}", iterates ? "iterated" : "linear", rate));
      const MechanismWatch watch(simulation);
      double one_branch = 0, speed = 0;
      LinePlot::Curve curve{iterates ? "SPOOK, iterated" : "SPOOK, linear", {}, {}};
      run_reporting(simulation, 5, monitor, [&] {
        const double turned = watch.coordinate("pivot");
        const double measured = watch.angular_velocity("crank").z();
        one_branch = std::max(one_branch, std::abs(watch.coordinate("crank pin") + 2 * turned));
        speed = std::max(speed, std::abs(measured / crank_speed(kPi / 4 + turned) - 1));
        curve.x.push_back(kPi / 4 + turned);
        curve.y.push_back(measured);
      });
      const double passed = std::floor((kPi / 4 + watch.coordinate("pivot")) / kPi + 0.5);
      branch = std::max(branch, one_branch);
      fewest = std::min(fewest, passed);
      table.rows.push_back({label(iterates ? "iterated" : "linear"),
                            number(1 / rate, fmt::format("1/{:g}", rate)),
                            number(one_branch, show(one_branch, 2)), number(speed, show(speed, 2)),
                            number(passed, fmt::format("{:g}", passed))});
      if (rate == 240) plot.curves.push_back(std::move(curve));
    }
  result.statements.push_back(judge(
      {.claim = "The slider-crank passes its singular positions, where its Jacobian loses rank",
       .source = "Figure 1",
       .printed = "passes",
       .value = fewest,
       .measured = fmt::format("{:g} of them in every run", fewest),
       .expected = Range::at_least(6)}));
  result.statements.push_back(
      judge({.claim = "and stays on the regular branch, rod angle = −crank angle",
             .source = "Figure 1",
             .printed = "0 rad",
             .value = branch,
             .measured = "within " + show(branch, 1, "rad"),
             // Rounding that singular positions magnify; the other branch is a right angle away.
             .expected = Range::at_most(1e-6)}));
  result.tables.push_back(std::move(table));
  add_figure(result, "speed", "Speed of the crank over its angle, h = 1/240.", plot);
  return result;
}

// -------------------------------------------------------------------------------------------------
// Whiplash chain

Result run_whiplash_chain(Monitor& monitor) {
  Result result;
  const Scene scene = example("whiplash-chain");
  Simulation simulation(scene.model, options_of(scene));
  const KeptRun kept(monitor, simulation, scene, "whiplash-chain");
  EnergyTrack energy(simulation);
  double fastest = 0, at = 0;
  LinePlot::Curve curve{"", {}, {}};
  run_reporting(simulation, 5, monitor, [&] {
    energy.add();
    const double speed = simulation.state().v.segment<3>(scene.model.num_v() - 6).norm();
    curve.x.push_back(simulation.state().t);
    curve.y.push_back(speed);
    if (speed > fastest) {
      fastest = speed;
      at = simulation.state().t;
    }
  });
  constexpr double kLength = 4, kLinks = 20;  // [m]
  const double fall = std::sqrt(2 * kEarth * kLength);
  result.statements.push_back(judge(
      {.claim = "A chain released horizontally lashes out: its end becomes faster than a fall "
                "over its length",
       .source = "§1",
       .printed = fmt::format("> {:.2f} m/s", fall),
       .value = fastest,
       .measured = fmt::format("{:.1f} m/s at {:.2f} s", fastest, at),
       .expected = Range::at_least(fall)}));
  result.statements.push_back(
      judge({.claim = "Energy never exceeds its start",
             .source = "§1",
             .printed = "≤ 0",
             .value = energy.gain,
             .measured = show(energy.gain, 1, "J gained"),
             .expected = Range::at_most(1e-9 * kLinks * kEarth * kLength)}));
  const double joints = simulation.summary().joint_error_max;
  result.statements.push_back(judge({.claim = "and the joints hold",
                                     .source = "§1",
                                     .printed = "recovers gracefully",
                                     .value = joints,
                                     .measured = "within " + show(joints, 1, "m"),
                                     .expected = Range::at_most(1e-6)}));
  add_figure(result, "speed", "Speed of the last link.",
             LinePlot{"Chain: speed of its end", "t [s]", "|v| [m/s]", {curve}, {}});
  return result;
}

}  // namespace stiction::experiments
