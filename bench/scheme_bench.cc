// Steps per second of the published experiments, each with the scheme of its scene, and what a
// scheme itself costs: `own` is the share of a step that is not spent in the solver (formulas,
// assembly, certificate, ledger, events).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "stiction/model/system_builder.h"
#include "stiction/scene/scene.h"
#include "stiction/scheme/scheme.h"
#include "stiction/sim/simulation.h"

namespace {

using stiction::Expression;
using stiction::Simulation;
using stiction::SimulationOptions;

stiction::Scene example(const std::string& name) {
  const std::string path = std::string(STICTION_EXAMPLES_DIR) + "/" + name + ".json";
  stiction::Diagnostics diagnostics(path);
  auto scene = stiction::read_scene_file(path, {}, diagnostics);
  if (!scene) std::fprintf(stderr, "%s", diagnostics.to_text().c_str());
  return std::move(scene).value();
}

/// Of solvers and certificates: what is not the scheme's own.
class SolverTime final : public stiction::StepObserver {
 public:
  void on_step(const stiction::StepRecord& record) override {
    total += record.times.solve + record.times.certify;
  }
  double total = 0;
};

/// Runs over and over; counts steps, the share that is not the solver's, and the worst residual.
void run(benchmark::State& state, const stiction::Model& model, const SimulationOptions& options,
         double duration) {
  double steps = 0, residual = 0, in_solver = 0, wall = 0;
  for (auto _ : state) {
    Simulation simulation(model, options);
    SolverTime solver;
    simulation.add_observer(solver);
    const auto start = std::chrono::steady_clock::now();
    simulation.run(duration);
    wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    in_solver += solver.total;
    steps += static_cast<double>(simulation.summary().steps);
    residual = std::max(residual, simulation.summary().residual_max);
  }
  state.counters["steps/s"] = steps / wall;
  state.counters["own"] = 1 - in_solver / wall;
  state.counters["residual_max"] = residual;
}

void BM_Experiment(benchmark::State& state, const std::string& name) {
  const stiction::Scene scene = example(name);
  run(state, scene.model,
      {.scheme = scene.simulate.scheme,
       .solver = scene.simulate.solver,
       .h = scene.simulate.h,
       .tolerance = scene.simulate.tolerance,
       .stepping = scene.simulate.stepping},
      scene.simulate.duration);
}
BENCHMARK_CAPTURE(BM_Experiment, woodpecker, "woodpecker");
BENCHMARK_CAPTURE(BM_Experiment, rod_and_table, "rod-and-table");
BENCHMARK_CAPTURE(BM_Experiment, damped_pair, "damped-pair");
BENCHMARK_CAPTURE(BM_Experiment, two_bars, "two-bars");
BENCHMARK_CAPTURE(BM_Experiment, double_pendulum_wall, "double-pendulum-wall");
BENCHMARK_CAPTURE(BM_Experiment, cosine_block, "cosine-block");
BENCHMARK_CAPTURE(BM_Experiment, two_carts, "two-carts");

/// A table with many feet that is pushed to and fro and rocks: twelve contacts on three
/// coordinates.
stiction::Model table(int num_feet) {
  stiction::SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0.5}), y = system.add_coordinate("y", {1, 0}),
                   a = system.add_coordinate("a", {0, 0});
  system.set_mass(x, x, 10.0);
  system.set_mass(y, y, 10.0);
  system.set_mass(a, a, 4.0);
  system.set_potential(98.1 * y);
  system.add_force(x, 60.0 * sin(4.0 * system.time()));
  for (int i = 0; i < num_feet; ++i) {
    const double s = -1 + 2.0 * i / (num_feet - 1);
    system.add_contact(
        {.gap = y + s * sin(a) - cos(a), .tangents = {{1.0, 0.0, cos(a) - s * sin(a)}}, .mu = 0.4});
  }
  return system.build_model();
}

void BM_Table(benchmark::State& state, const std::string& scheme) {
  run(state, table(static_cast<int>(state.range(0))),
      {.scheme = scheme, .solver = "lemke", .h = 1e-3}, 0.5);
}

void list_tables() {
  for (const std::string& scheme : stiction::scheme_names())
    benchmark::RegisterBenchmark(("BM_Table/" + scheme).c_str(),
                                 [scheme](benchmark::State& state) { BM_Table(state, scheme); })
        ->ArgName("feet")
        ->Arg(12)
        ->Arg(24)
        ->Unit(benchmark::kMillisecond);
}
const bool kListed = (list_tables(), true);

}  // namespace
