// E12: the applications of Potra, Anitescu, Gavrea & Trinkle 2006, section 10.4: rover, pawl,
// jacks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "stiction/app/experiments/experiments.h"
#include "stiction/app/experiments/machines.h"
#include "stiction/app/experiments/number_text.h"
#include "stiction/app/experiments/reporting_run.h"
#include "stiction/app/experiments/trace_plot.h"
#include "stiction/app/experiments/verdict.h"

namespace stiction::experiments {
namespace {

/// Share of steps in which all wheels carry something.
double share_of_full_support(const Scene& scene, double duration, Monitor& monitor) {
  Simulation simulation(scene.model, options_of(scene));
  int full = 0, steps = 0;
  run_reporting(simulation, duration, monitor, [&] {
    ++steps;
    if (num_loaded_wheels(simulation) == kNumWheels) ++full;
  });
  return static_cast<double>(full) / steps;
}

/// A prism under every triangle instead of the mesh.
void cut_plate(nlohmann::ordered_json& document) {
  constexpr double kPlateThickness = 0.2e-3;
  auto& shapes = document["bodies"][0]["shapes"];
  const nlohmann::ordered_json mesh = shapes[0];
  shapes.erase(0);
  for (const auto& triangle : mesh["triangles"]) {
    auto points = nlohmann::ordered_json::array();
    for (const double z : {0.0, -kPlateThickness})
      for (const auto& vertex : triangle) {
        auto point = mesh["vertices"][vertex.get<std::size_t>()];
        point[2] = z;
        points.push_back(point);
      }
    shapes.push_back({{"type", "convex"}, {"material", "oil"}, {"points", points}});
  }
}

/// [m] between the pawl with its contacts reduced to the extreme ones and with all candidates.
double difference_without_reduction(double duration) {
  const Scene scene = example("pawl");
  SimulationOptions options = options_of(scene);
  Simulation reduced(scene.model, options);
  options.collision.reduces = false;
  Simulation full(scene.model, options);
  double difference = 0;
  while (reduced.state().t < duration) {
    reduced.step();
    full.step();
    difference = std::max(difference, (reduced.state().q - full.state().q).head<3>().norm());
  }
  return difference;
}

}  // namespace

int num_loaded_wheels(const Simulation& simulation) {
  constexpr int kFirstWheel = 4;  // place in the scene
  std::array<bool, kNumWheels> is_loaded{};
  for (const ContactOutcome& contact : simulation.contacts()) {
    const auto place = simulation.model().locate_contact(simulation.state(), contact.contact);
    const int wheel = std::max(place.a, place.b) - kFirstWheel;
    if (contact.impulse[0] > 0 && wheel >= 0 && wheel < kNumWheels)
      is_loaded[static_cast<std::size_t>(wheel)] = true;
  }
  return static_cast<int>(std::count(is_loaded.begin(), is_loaded.end(), true));
}

Scene stiff_rover() {
  return edited_example("rover", [](nlohmann::ordered_json& document) {
    for (auto& joint : document["joints"])
      if (joint["name"] == "left pivot" || joint["name"] == "right pivot") {
        joint["type"] = "fixed";
        joint.erase("axis");
      }
  });
}

Result run_rover(Monitor& monitor) {
  Result result;
  const Scene scene = example("rover");
  Simulation simulation(scene.model, options_of(scene));
  const KeptRun kept(monitor, simulation, scene, "rover");
  const MechanismWatch watch(simulation);
  const double start = watch.pose("chassis").position.x();
  double unequal = 0, turn = 0;
  int full = 0, steps = 0;
  LinePlot::Curve left{"left rocker", {}, {}}, right{"right rocker", {}, {}};
  LinePlot::Curve path{"", {}, {}};
  monitor.enter(0, 0.5);
  run_reporting(simulation, 6, monitor, [&] {
    const double a = watch.coordinate("left pivot"), b = watch.coordinate("right pivot");
    unequal = std::max(unequal, std::abs(a + b));
    turn = std::max(turn, std::abs(a));
    ++steps;
    if (num_loaded_wheels(simulation) == kNumWheels) ++full;
    for (auto [curve, value] : {std::pair{&left, a}, {&right, b}}) {
      curve->x.push_back(simulation.state().t);
      curve->y.push_back(value);
    }
    path.x.push_back(watch.pose("chassis").position.x());
    path.y.push_back(watch.pose("chassis").position.z());
  });
  auto& statements = result.statements;
  const double way = watch.pose("chassis").position.x() - start;
  // Wheels of 0.2 m that turn by 4 rad/s from 0.5 s on would roll 4.6 m on a plane.
  statements.push_back(judge({.claim = "A rover with four wheels crosses a terrain by friction",
                              .source = "§10.4, Figure 8",
                              .printed = "crosses",
                              .value = way,
                              .measured = fmt::format("{:.2f} m in 6 s, 4.6 m on a plane", way),
                              .expected = {0.9 * 4.6, 4.6}}));
  statements.push_back(judge({.claim = "Its suspension is a rigid loop: the rockers turn equal and "
                                       "opposite",
                              .source = "§10.4",
                              .printed = "0 rad",
                              .value = unequal,
                              .measured = fmt::format("{} of {:.2f} rad", show(unequal, 2), turn),
                              // Geometry of the rods, and joint errors of the scheme.
                              .expected = Range::at_most(3e-4)}));
  const double joint = simulation.summary().joint_error_max;
  statements.push_back(judge({.claim = "Joints hold",
                              .source = "§10.4",
                              .printed = "small",
                              .value = joint,
                              .measured = "within " + show(joint, 1, "m"),
                              .expected = Range::at_most(1e-3)}));
  const double share = static_cast<double>(full) / steps;
  statements.push_back(judge({.claim = "All four wheels press on the ground",
                              .source = "our reading",
                              .printed = "most of the time",
                              .value = share,
                              .measured = fmt::format("in {:.0f} % of the steps", 100 * share),
                              .expected = Range::at_least(0.9)}));
  monitor.enter(0.5, 1);
  const double stiff = share_of_full_support(stiff_rover(), 4.5, monitor);
  statements.push_back(judge({.claim = "which they do not with rockers fixed to the chassis",
                              .source = "our reading",
                              .printed = "fewer",
                              .value = stiff,
                              .measured = fmt::format("in {:.0f} % of the steps", 100 * stiff),
                              .expected = Range::at_most(share - 0.2)}));
  add_figure(result, "rockers", "Angles of the rockers.",
             LinePlot{"Rover: rockers", "t [s]", "angle [rad]", {left, right}, {}});
  add_figure(result, "path", "Path of the chassis from the side.",
             LinePlot{"Rover: path", "x [m]", "z [m]", {path}, {}});
  return result;
}

PawlComparison compare_plates(const std::string& scheme, double duration, const SceneEdit& edit) {
  const Scene whole = edited_example("pawl", edit);
  const Scene cut = edited_example("pawl", [&](nlohmann::ordered_json& document) {
    edit(document);
    cut_plate(document);
  });
  SimulationOptions options = options_of(whole, scheme, whole.simulate.h);
  options.collision.alternatives = false;  // the sides of pieces are inside of the plate
  Simulation on_whole(whole.model, options), on_cut(cut.model, options);
  PawlComparison found;
  while (on_whole.state().t < duration) {
    on_whole.step();
    on_cut.step();
    const VectorXd change = on_whole.state().q - on_cut.state().q;
    found.difference = std::max(found.difference, change.head<3>().lpNorm<Eigen::Infinity>());
    found.turn = std::max(found.turn, change.tail<4>().lpNorm<Eigen::Infinity>());
    found.rows_whole += on_whole.last_problem().num_contact_rows();
    found.rows_cut += on_cut.last_problem().num_contact_rows();
  }
  return found;
}

Result run_pawl(Monitor& monitor) {
  Result result;
  auto& statements = result.statements;
  const PawlComparison found = compare_plates("moreau", 1e-3, [](nlohmann::ordered_json&) {});
  monitor.report(0.4);
  const double reduction =
      static_cast<double>(found.rows_cut) / static_cast<double>(found.rows_whole);
  statements.push_back(
      judge({.claim = "Fifty coplanar triangles: keeping only the extreme contacts reduces the "
                      "problems by an order of magnitude",
             .source = "§10.4",
             .printed = "an order of magnitude",
             .value = reduction,
             .measured = fmt::format("{:.1f} times fewer rows", reduction),
             .expected = Range::at_least(10)}));
  const double without = difference_without_reduction(monitor.is_full() ? 8e-3 : 4e-3);
  const double changed = std::max(found.difference, without) / kPawlLength;
  statements.push_back(judge(
      {.claim = "without changing the motion",
       .source = "§10.4",
       .printed = "redundant",
       .value = changed,
       .measured = fmt::format("{} of the pawl's length, against a plate in pieces and against "
                               "all candidates",
                               show(changed, 1)),
       .expected = Range::at_most(1e-9)}));
  statements.push_back(not_checkable("Simulation times were reduced by three orders of magnitude",
                                     "§10.4", "1000",
                                     "Depends on their solver before the reduction, which is not "
                                     "described."));
  const Scene scene = example("pawl");
  LinePlot plot{"Pawl: its nose on the way into the hole", "t [ms]", "x [mm]", {}, {}};
  double reached = 1e9, sideways = 0, lifted = 0, gained = 0, speed = 0;
  for (const char* scheme : {"stewart-trinkle", "moreau", "spook"}) {
    Simulation simulation(scene.model, options_of(scene, scheme, scene.simulate.h));
    const KeptRun kept(monitor, simulation, scene, scheme);
    const MechanismWatch watch(simulation);
    EnergyTrack energy(simulation);
    LinePlot::Curve curve{scheme, {}, {}};
    const auto nose = [&] { return watch.point("pawl", {1.1e-3, 0, 0}).x(); };
    run_reporting(simulation, scene.simulate.duration, monitor, [&] {
      energy.add();
      curve.x.push_back(1e3 * simulation.state().t);
      curve.y.push_back(1e3 * nose());
    });
    const Pose pawl = watch.pose("pawl");
    reached = std::min(reached, nose());
    sideways = std::max(sideways, std::abs(pawl.position.y()));
    lifted = std::max(lifted, std::abs(pawl.position.z() - 0.125e-3));
    gained = std::max(gained, energy.gain / energy.loss);
    speed = std::max(speed, simulation.state().v.head<3>().norm());
    plot.curves.push_back(std::move(curve));
  }
  statements.push_back(judge({.claim = "The pawl of 2.3 mm is pushed into the hole, with three "
                                       "schemes",
                              .source = "§10.4, Figure 8",
                              .printed = "inserted",
                              .value = reached,
                              .measured = fmt::format("nose at {:.2f} mm", 1e3 * reached),
                              .expected = Range::at_least(3.5e-3)}));
  statements.push_back(judge({.claim = "within the play of the slot",
                              .source = "§10.4",
                              .printed = "0.02 mm",
                              .value = sideways,
                              .measured = show(1e3 * sideways, 2, "mm"),
                              .expected = Range::at_most(0.02e-3 + 1e-6)}));
  statements.push_back(judge({.claim = "flat on the plate",
                              .source = "§10.4",
                              .printed = "0 mm",
                              .value = lifted,
                              .measured = show(1e3 * lifted, 1, "mm"),
                              .expected = Range::at_most(1e-8)}));
  statements.push_back(judge({.claim = "and comes to rest without gaining energy",
                              .source = "§10.4",
                              .printed = "at rest",
                              .value = gained <= 1e-9 ? speed : 1e9,
                              .measured = show(speed, 1, "m/s"),
                              .expected = Range::at_most(5e-3)}));
  add_figure(result, "nose", "Way of the pawl.", plot);
  return result;
}

/// [J] Of a jack, three bars of 2,700 kg/m³, at the speed that it gains in a step.
double jack_energy_of_a_step(double h) {
  constexpr double kMass = 3 * 2700 * 0.1 * 0.02 * 0.02, kGravity = 9.81;
  return 0.5 * kMass * (kGravity * h) * (kGravity * h);
}

Result run_jacks(Monitor& monitor) {
  Result result;
  const Scene scene = example("jacks");
  LinePlot plot{"Jacks: kinetic energy", "t [s]", "T [J]", {}, {}};
  double kinetic = 0, rocking = 0, gain = 0, lowest = 1e9;
  int contacts = 1 << 30;
  struct Variant {
    const char *label, *scheme;
    bool nonlinear;
  };
  std::vector<Variant> variants = {{"stewart-trinkle, linear", "stewart-trinkle", false},
                                   {"spook", "spook", false}};
  if (monitor.is_full()) variants.push_back({"stewart-trinkle", "stewart-trinkle", true});
  for (std::size_t i = 0; i < variants.size(); ++i) {
    SimulationOptions options = options_of(scene, variants[i].scheme, 1e-3);
    options.stepping.nonlinear = variants[i].nonlinear;
    options.on_failure = OnFailure::kAcceptAndFlag;
    Simulation simulation(scene.model, options);
    const KeptRun kept(monitor, simulation, scene, fmt::format("variant-{}", i + 1));
    EnergyTrack energy(simulation);
    const double start = simulation.energy().now.total();
    const double duration = variants[i].nonlinear ? 5 : 4;
    LinePlot::Curve curve{variants[i].label, {}, {}};
    double last = 0;
    monitor.enter(static_cast<double>(i) / static_cast<double>(variants.size()),
                  static_cast<double>(i + 1) / static_cast<double>(variants.size()));
    run_reporting(simulation, duration + 0.1, monitor, [&] {
      const double t = simulation.state().t;
      if (t <= duration) energy.add();
      if (t > duration) last = std::max(last, simulation.energy().now.kinetic);
      curve.x.push_back(t);
      curve.y.push_back(simulation.energy().now.kinetic);
    });
    const RunSummary& summary = simulation.summary();
    if (summary.steps_above_tolerance > 0)
      result.notes.push_back(fmt::format(
          "{}: {} of {} steps miss the scene's tolerance of {}, the worst with a residual of {}.",
          variants[i].label, summary.steps_above_tolerance, summary.steps, show(options.tolerance),
          show(summary.residual_max)));
    const bool is_spook = variants[i].scheme == std::string_view("spook");
    if (is_spook)
      rocking = last / jack_energy_of_a_step(options.h);
    else
      kinetic = std::max(kinetic, last / start);
    gain = std::max(gain, energy.gain / start);
    contacts = std::min(contacts, simulation.summary().contacts_max);
    const MechanismWatch watch(simulation);
    for (int k = 1; k <= 8; ++k)
      lowest = std::min(lowest, watch.pose("jack " + std::to_string(k)).position.z());
    plot.curves.push_back(std::move(curve));
  }
  auto& statements = result.statements;
  statements.push_back(judge(
      {.claim = "A pile of jacks, vertices near edges: the case that failed in the paper. They "
                "come to rest",
       .source = "§10.4",
       .printed = "failed",
       .value = kinetic,
       .measured = fmt::format("kinetic energy {} of all", show(kinetic, 1)),
       .expected = Range::at_most(1e-6)}));
  statements.push_back(judge(
      {.claim = "In SPOOK, where a contact that opens within a step acts from the next one "
                "on, one may go on rocking, no faster than it falls in a step",
       .source = "§10.4",
       .printed = "failed",
       .value = rocking,
       .measured = fmt::format("{} of the energy of one jack at that speed", show(rocking, 1)),
       .expected = Range::at_most(1)}));
  statements.push_back(judge({.claim = "without gaining energy",
                              .source = "§10.4",
                              .printed = "≤ 0",
                              .value = gain,
                              .measured = show(gain, 1, "of all"),
                              .expected = Range::at_most(1e-9)}));
  statements.push_back(judge({.claim = "on the ground, not in it: height of the lowest centre",
                              .source = "§10.4",
                              .printed = "> 0.01 m",
                              .value = lowest,
                              .measured = show(lowest, 2, "m"),
                              .expected = Range::at_least(0.01)}));
  statements.push_back(judge({.claim = "with three points for nearly every jack",
                              .source = "§10.4",
                              .printed = "≥ 16",
                              .value = static_cast<double>(contacts),
                              .measured = fmt::format("{} contacts", contacts),
                              .expected = Range::at_least(16)}));
  if (!monitor.is_full())
    result.notes.emplace_back("Quick: without the nonlinear variant of stewart-trinkle.");
  add_figure(result, "energy", "Kinetic energy of the heap.", plot);
  return result;
}

}  // namespace stiction::experiments
