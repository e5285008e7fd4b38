// How long a step takes by the clock on the wall, by the number of threads: the same scenes and
// steps again and again, numbers of threads in turn, since other work on the machine comes and
// goes; what counts is the least of each step. Ends with an error if the results differ in a bit.
//
//   stiction_bench_threads --scene wall --steps 120 --threads 1 --threads 2
//
// The box of spheres may have any number of them:
//
//   stiction_bench_threads --spheres 100000 --tol 1e-3 --steps 30 --repeats 1 --threads 1
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "bench/scenes/contender.h"
#include "bench/scenes/scenes.h"
#include "stiction/base/fnv_hash.h"

namespace stiction::bench {
namespace {

struct Options {
  std::string scene = "wall";
  double tolerance = 1e-6;
  int spheres = 0;  // instead of the scene
  int steps = 120, first = 20, repeats = 3;
  std::vector<int> threads{1, 2};
};

double read_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t hash_of(const std::vector<BodyState>& bodies) {
  FnvHash hash;
  for (const BodyState& body : bodies) {
    hash.add(body.p_WB.data(), 3 * sizeof(double));
    hash.add(body.v_WB.data(), 3 * sizeof(double));
    hash.add(body.w_WB.data(), 3 * sizeof(double));
  }
  return hash.value();
}

/// [MB] The most that the process has held.
double measure_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1e-3 * static_cast<double>(usage.ru_maxrss);
}

/// What a run ends with.
struct Ending {
  std::uint64_t hash = 0;
  double residual = 0;      // the largest
  int steps_above_tol = 0;  // that missed the tolerance
};

/// Steps through a scene; keeps the least time of every step.
Ending run(const SceneDescription& scene, const Options& options, int num_threads,
           std::vector<double>& seconds) {
  const std::unique_ptr<SceneWorld> world = make_our_world(scene, options.tolerance, num_threads);
  seconds.resize(options.steps, std::numeric_limits<double>::infinity());
  for (int k = 0; k < options.steps; ++k) {
    const double begin = read_clock();
    world->step();
    seconds[k] = std::min(seconds[k], read_clock() - begin);
  }
  std::vector<BodyState> bodies = make_start(scene);
  world->read(bodies);
  return {hash_of(bodies), world->residual_max(), world->steps_above_tolerance()};
}

SceneDescription find_scene(const Options& options) {
  const std::string& name = options.scene;
  if (options.spheres > 0) return make_scaling_case(options.spheres).description;
  for (const auto& list : {list_scene_cases(), {make_struck_wall()}, list_scaling_cases()})
    for (const SceneCase& scene : list)
      if (scene.description.name == name) return scene.description;
  throw CLI::ValidationError("--scene", "there is no scene '" + name + "'");
}

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Wall time per step by the number of threads");
  app.add_option("--scene", options.scene)->capture_default_str();
  app.add_option("--spheres", options.spheres, "a box of so many instead")
      ->check(CLI::PositiveNumber);
  app.add_option("--tol", options.tolerance)->capture_default_str();
  app.add_option("--steps", options.steps)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--first", options.first, "steps that are not counted")->capture_default_str();
  app.add_option("--repeats", options.repeats)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  SceneDescription scene;
  try {
    app.parse(argc, argv);
    scene = find_scene(options);
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
  std::vector<std::vector<double>> seconds(options.threads.size());
  std::vector<Ending> endings(options.threads.size());
  for (int repeat = 0; repeat < options.repeats; ++repeat)
    for (std::size_t k = 0; k < options.threads.size(); ++k)
      endings[k] = run(scene, options, options.threads[k], seconds[k]);
  double reference = 0;
  for (std::size_t k = 0; k < options.threads.size(); ++k) {
    double sum = 0;
    for (int step = options.first; step < options.steps; ++step) sum += seconds[k][step];
    const double mean = sum / std::max(1, options.steps - options.first);
    if (k == 0) reference = mean;
    fmt::print(
        "{}, tolerance {}, {} thread{}: {:.4g} ms a step, {:.2f} times faster, residual {:.1e}, "
        "{} steps above tolerance, state {:016x}\n",
        scene.name, options.tolerance, options.threads[k], options.threads[k] == 1 ? "" : "s",
        1e3 * mean, reference / mean, endings[k].residual, endings[k].steps_above_tol,
        endings[k].hash);
  }
  fmt::print("memory: {:.0f} MB\n", measure_memory());
  const bool is_same = std::all_of(endings.begin(), endings.end(), [&](const Ending& ending) {
    return ending.hash == endings.front().hash;
  });
  if (!is_same) fmt::print("results differ\n");
  return is_same ? 0 : 1;
}

}  // namespace
}  // namespace stiction::bench

int main(int argc, char** argv) { return stiction::bench::main(argc, argv); }
