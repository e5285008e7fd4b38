// Steps per second on the woodpecker: three coordinates, at most two contacts, Lemke. What is timed
// is the whole step: formulas, assembly, solve, certificate, energy ledger; with and without a
// recording.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "stiction/record/recording_observer.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace {

stiction::Scene woodpecker() {
  stiction::Diagnostics diagnostics("woodpecker.json");
  auto scene = stiction::read_scene_file(STICTION_EXAMPLES_DIR "/woodpecker.json", {}, diagnostics);
  if (!scene) std::fprintf(stderr, "%s", diagnostics.to_text().c_str());
  return std::move(scene).value();
}

constexpr double kDuration = 2;

void BM_WoodpeckerSteps(benchmark::State& state) {
  const stiction::Scene scene = woodpecker();
  const bool records = state.range(0) != 0;
  const std::string path =
      (std::filesystem::temp_directory_path() / "stiction_bench_woodpecker.h5").string();
  double steps = 0, residual = 0;
  for (auto _ : state) {
    stiction::Simulation simulation(scene.model, {.solver = "lemke", .h = scene.simulate.h});
    std::unique_ptr<stiction::RecordingObserver> recorder;
    if (records) {
      recorder = std::make_unique<stiction::RecordingObserver>(path, simulation, scene.name,
                                                               scene.text, 1);
      simulation.add_observer(*recorder);
    }
    simulation.run(kDuration);
    if (recorder) recorder->close(simulation, "complete");
    steps += static_cast<double>(simulation.summary().steps);
    residual = std::max(residual, simulation.summary().residual_max);
  }
  std::filesystem::remove(path);
  state.counters["steps/s"] = benchmark::Counter(steps, benchmark::Counter::kIsRate);
  state.counters["residual_max"] = residual;
}
BENCHMARK(BM_WoodpeckerSteps)->ArgName("records")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
