// E11: the wheel loader of Lacoursière & Linde 2011, section 17.4.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/fitted_order.h"
#include "stiction/app/experiments/machines.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"

namespace stiction::experiments {
namespace {

constexpr double kLoaderTime = 10;  // [s]

void judge_size(Result& result) {
  const Scene scene = example("wheel-loader");
  const auto& bodies = dynamic_cast<const RigidBodySystem&>(*scene.model.parts()[0].system);
  const auto num_bodies = bodies.description().bodies.size();
  const auto num_shapes = bodies.description().shapes.size();
  result.statements.push_back(judge({.claim = "Bodies, the tractor and the rocks",
                                     .source = "§17.4",
                                     .printed = "164",
                                     .value = static_cast<double>(num_bodies),
                                     .measured = fmt::format("{}", num_bodies),
                                     .expected = Range::exactly(164)}));
  result.statements.push_back(judge({.claim = "Geometric objects, most of them spheres",
                                     .source = "§17.4",
                                     .printed = "nearly 800",
                                     .value = static_cast<double>(num_shapes),
                                     .measured = fmt::format("{}", num_shapes),
                                     .expected = Range::around(800, 40)}));
}

/// Figure 14.
void measure_order(Result& result, Monitor& monitor) {
  Table table{.title = "Root mean square over 7.5 s of the largest joint error, without rocks",
              .columns = {{"h [s]"}, {"compliance 1e-12"}, {"compliance 1e-8"}},
              .rows = {}};
  LogLogPlot::Series stiff{.label = "compliance 1e-12", .x = {}, .y = {}};
  LogLogPlot::Series scene{.label = "compliance 1e-8", .x = {}, .y = {}, .color = 1, .marker = 1};
  std::vector<double> rates = {15, 30, 60, 120};
  if (monitor.is_full()) rates.insert(rates.end(), {240, 480});
  for (const double rate : rates) {
    for (const bool is_stiff : {true, false}) {
      const double error = loader_joint_error(1 / rate, is_stiff ? 1e-12 : 1e-8);
      (is_stiff ? stiff : scene).x.push_back(1 / rate);
      (is_stiff ? stiff : scene).y.push_back(error);
    }
    table.rows.push_back({number(1 / rate, fmt::format("1/{:g}", rate)),
                          number(stiff.y.back(), show(stiff.y.back())),
                          number(scene.y.back(), show(scene.y.back()))});
    monitor.report(rate / rates.back());
  }
  const double order = fitted_order(stiff.x, stiff.y);
  result.statements.push_back(judge({.claim = "Constraint errors decay initially as O(h²)",
                                     .source = "§17.4, Figure 14",
                                     .printed = "2",
                                     .value = order,
                                     .measured = fmt::format("order {:.2f}", order),
                                     .expected = Range::around(2, 0.3)}));
  const double local = std::log2(scene.y[scene.y.size() - 2] / scene.y.back());
  result.statements.push_back(judge(
      {.claim = "There is a plateau near h = 1/60, since ‖g‖ = O(ε) in the end",
       .source = "§17.4, Figure 14",
       .printed = "flattens",
       .value = local,
       .measured = fmt::format("order {:.2f} between the two smallest steps", local),
       .expected = Range::at_most(0.5),
       .explanation = Explanation{"The paper's ε is a fixed compliance in m/N. Here rigid rows "
                                  "yield relative to the mobility of a row, and by less the "
                                  "smaller the step: errors go on falling as h².",
                                  Range::around(2, 0.3)}}));
  result.tables.push_back(std::move(table));
  add_figure(result, "figure-14", "Figure 14: joint error over the step.",
             LogLogPlot{"Wheel loader: joint error",
                        "h [s]",
                        "‖g‖ [m]",
                        {stiff, scene, order_line(stiff, 2, 6)}});
}

/// The whole ten seconds.
struct Drive {
  int carried = 0, kept = 0;  // rocks at 6.5 s and at the end
  double lifted = 0;          // [m] height of the bucket at 6.5 s
  double way = 0;             // [m]
  double joint_error = 0;     // largest
  double contacts = 0;        // largest number
  double wall_mean = 0;       // [s] of a step
  StepTimes times;            // of all steps
  LinePlot::Curve joints, residuals, bucket;
};

Drive drive(const std::string& solver, Monitor& monitor) {
  const Scene scene = example("wheel-loader");
  SimulationOptions options = options_of(scene);
  options.solver = solver;
  options.on_failure = OnFailure::kAcceptAndFlag;
  Simulation simulation(scene.model, options);
  const KeptRun kept(monitor, simulation, scene, solver);
  const MechanismWatch watch(simulation);
  const double start = watch.pose("rear").position.x();
  Drive found;
  found.joints.label = solver;
  found.residuals.label = solver;
  found.bucket.label = solver;
  run_reporting(simulation, kLoaderTime, monitor, [&] {
    const double t = simulation.state().t;
    found.joints.x.push_back(t);
    found.joints.y.push_back(simulation.certificate().joint);
    found.residuals.x.push_back(t);
    found.residuals.y.push_back(simulation.certificate().residual());
    found.bucket.x.push_back(t);
    found.bucket.y.push_back(watch.pose("bucket").position.z());
    if (found.carried == 0 && t >= 6.5) {
      found.carried = rocks_in_bucket(watch);
      found.lifted = watch.pose("bucket").position.z();
    }
  });
  found.kept = rocks_in_bucket(watch);
  found.way = watch.pose("rear").position.x() - start;
  found.joint_error = simulation.summary().joint_error_max;
  found.contacts = simulation.summary().contacts_max;
  const auto steps = static_cast<double>(simulation.summary().steps);
  found.times = simulation.summary().times;
  found.wall_mean = found.times.total() / steps;
  return found;
}

void judge_drive(Result& result, const Drive& found, const std::string& solver) {
  auto& statements = result.statements;
  statements.push_back(
      judge({.claim = fmt::format("The loader scoops a shovel of rocks ({})", solver),
             .source = "§17.4",
             .printed = "a shovel full",
             .value = static_cast<double>(found.carried),
             .measured = fmt::format("{} rocks at {:.1f} m", found.carried, found.lifted),
             .expected = Range::at_least(10)}));
  statements.push_back(judge(
      {.claim = "drives over the pile and keeps them",
       .source = "§17.4",
       .printed = "over the rock pile",
       .value = found.way > 8 ? static_cast<double>(found.kept - found.carried) : -1e9,
       .measured = fmt::format("{:.1f} m from its start with {} rocks", found.way, found.kept),
       .expected = Range::at_least(-2)}));
  statements.push_back(judge({.claim = "Constraint violation, largest over ten seconds",
                              .source = "§17.4, Figure 12",
                              .printed = "‖g‖ ≈ 1e-3",
                              .value = found.joint_error,
                              .measured = show(found.joint_error, 2),
                              .expected = Range::at_most(1e-3)}));
  statements.push_back(judge({.claim = "Constraints active at any time, largest number of contacts",
                              .source = "§17.4",
                              .printed = "approximately 350",
                              .value = found.contacts,
                              .measured = fmt::format("{:g} contacts at most", found.contacts),
                              // Between half and twice as many.
                              .expected = {175, 700}}));
  statements.push_back(
      judge({.claim = "Time of a step",
             .source = "§17.4",
             .printed = "8 to 22 ms, and 1.5 ms for collisions",
             .value = 1e3 * found.wall_mean,
             .measured = fmt::format("{:.0f} ms on average", 1e3 * found.wall_mean),
             .expected = Range::at_most(23.5),
             .explanation = Explanation{"Depends on the machine and on what runs beside it, and on "
                                        "the solver: auto solves every step to 1e-6, where the "
                                        "paper's splitting stops after fifteen sweeps.",
                                        Range::at_least(23.5)}}));
}

/// Parts of a step; of solvers that are no splitting, those of the solver are not known.
void add_times(Table& table, const std::string& solver, const StepTimes& times) {
  const auto share = [&](double part) {
    const double percent = 100 * part / times.total();
    return number(percent, fmt::format("{:.0f} %", percent));
  };
  const bool is_split = times.solve_direct > 0;
  table.rows.push_back({label(solver), share(times.detect), share(times.assemble),
                        share(times.solve), is_split ? share(times.solve_direct) : label("–"),
                        is_split ? share(times.solve_sweeps) : label("–"), share(times.certify),
                        share(times.other)});
}

}  // namespace

Scene bare_loader(double compliance) {
  return edited_example("wheel-loader", [&](nlohmann::ordered_json& document) {
    auto bodies = nlohmann::ordered_json::array();
    for (const auto& body : document["bodies"])
      if (!body["name"].get<std::string>().starts_with("rock")) bodies.push_back(body);
    document["bodies"] = bodies;
    document["simulate"]["spook"]["compliance"] = compliance;
  });
}

double loader_ramp(double t, double from, double to) {
  return (1 - std::cos(std::numbers::pi * std::clamp((t - from) / (to - from), 0.0, 1.0))) / 2;
}

int rocks_in_bucket(const MechanismWatch& watch) {
  const Pose bucket = watch.pose("bucket");
  int count = 0;
  for (int i = 1; i <= kNumRocks; ++i) {
    const Eigen::Vector3d rock =
        bucket.rotation.transpose() *
        (watch.pose("rock " + std::to_string(i)).position - bucket.position);
    // Between its plates, relative to its centre of mass.
    if (std::abs(rock.y()) < 1.25 && rock.x() > -0.5 && rock.x() < 0.9 && rock.z() > -0.3 &&
        rock.z() < 0.8)
      ++count;
  }
  return count;
}

double loader_joint_error(double h, double compliance) {
  const Scene scene = bare_loader(compliance);
  SimulationOptions options = options_of(scene);
  options.h = h;
  Simulation simulation(scene.model, options);
  double sum = 0;
  int steps = 0;
  while (simulation.state().t < 7.5 - 1e-9) {
    simulation.step();
    const double error = simulation.certificate().joint;
    sum += error * error;
    ++steps;
  }
  return std::sqrt(sum / steps);
}

Result run_wheel_loader(Monitor& monitor) {
  Result result;
  judge_size(result);
  // The paper's own splitting: direct, fifteen sweeps, direct.
  std::vector<std::string> solvers = {"direct-iterative-once"};
  if (monitor.is_full()) solvers.emplace_back("auto");
  monitor.enter(0, monitor.is_full() ? 0.15 : 0.3);
  measure_order(result, monitor);
  PanelPlot joints{.title = "Wheel loader: joint error",
                   .x_label = "t [s]",
                   .y_label = "‖g‖ [m]",
                   .panels = {{"largest joint error of a step", {}, {}}}};
  PanelPlot residuals{.title = "Wheel loader: residual",
                      .x_label = "t [s]",
                      .y_label = "residual [-]",
                      .panels = {{"residual of the certificate of a step", {}, {}}}};
  Table times{.title = "Where the time of a step goes",
              .columns = {{"solver"},
                          {"contacts"},
                          {"rows"},
                          {"solve"},
                          {"direct stages"},
                          {"sweeps"},
                          {"certificate"},
                          {"other"}},
              .rows = {}};
  LinePlot bucket{"Wheel loader: height of the bucket", "t [s]", "z [m]", {}, {}};
  for (const std::string& solver : solvers) {
    if (monitor.is_full())
      monitor.enter(solver == "auto" ? 0.35 : 0.15, solver == "auto" ? 1 : 0.35);
    else
      monitor.enter(0.3, 1);
    const Drive found = drive(solver, monitor);
    judge_drive(result, found, solver);
    joints.panels[0].curves.push_back({solver, found.joints.x, found.joints.y});
    residuals.panels[0].curves.push_back({solver, found.residuals.x, found.residuals.y});
    add_times(times, solver, found.times);
    bucket.curves.push_back(found.bucket);
  }
  if (!monitor.is_full())
    result.notes.emplace_back(
        "Quick: the drive with the paper's own splitting only; --full adds the exact solver.");
  result.tables.push_back(std::move(times));
  add_figure(result, "figure-12", "Figure 12: constraint violation over ten seconds.", joints);
  add_figure(result, "residual", "Residual of every step over ten seconds.", residuals);
  add_figure(result, "bucket", "Height of the bucket.", bucket);
  return result;
}

}  // namespace stiction::experiments
