// stiction run SCENE: simulate, record, report.
#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "stiction/app/commands.h"
#include "stiction/app/console.h"
#include "stiction/app/exit_status.h"
#include "stiction/app/live_command.h"
#include "stiction/app/progress.h"
#include "stiction/app/run_files.h"
#include "stiction/app/run_options.h"
#include "stiction/app/scene_loading.h"
#include "stiction/app/summary.h"
#include "stiction/base/atomic_file.h"
#include "stiction/problem/problem_file.h"
#include "stiction/record/recording_observer.h"

namespace stiction {
namespace {

/// Writes the problem of one step, so that a slow or failed step becomes a test case.
class ProblemDump final : public StepObserver {
 public:
  ProblemDump(const Simulation& simulation, std::int64_t step, std::string path)
      : simulation_(simulation),
        first_step_(simulation.summary().steps),
        step_(step),
        path_(std::move(path)) {}

  void on_step(const StepRecord& record) override {
    if (record.step != step_ || step_ == first_step_) return;  // a start has no problem
    write_problem(path_, simulation_.last_problem());
    is_written_ = true;
  }
  bool is_written() const { return is_written_; }

 private:
  const Simulation& simulation_;
  std::int64_t first_step_, step_;
  std::string path_;
  bool is_written_ = false;
};

struct Outcome {
  std::string status = "complete";
  int exit_status = kDone;
};

/// Steps to the end, to an interrupt or to a rejected step.
Outcome step_to_end(Simulation& simulation, const SimulateSettings& settings,
                    const RunOptions& options, ProgressBar& progress) {
  try {
    if (!simulation.run(settings.duration, was_interrupted)) return {"interrupted", kInterrupted};
  } catch (const StepRejected& rejected) {
    progress.clear();
    print_message(fmt::format("stiction: {}\n", rejected.what()));
    if (!options.dump.empty()) {
      write_problem(options.dump, simulation.rejected_problem());
      print_message(fmt::format("stiction: the problem of this step is in {}\n", options.dump));
    }
    return {"rejected", kAboveTolerance};
  }
  if (simulation.summary().steps_above_tolerance > 0) return {"above tolerance", kAboveTolerance};
  return {};
}

Outcome run_to_end(Simulation& simulation, const SimulateSettings& settings,
                   const RunOptions& options) {
  ProgressBar progress(simulation.state().t, settings.duration,
                       !options.is_quiet && !options.is_json);
  simulation.add_observer(progress);
  Outcome outcome = step_to_end(simulation, settings, options, progress);
  simulation.remove_observer(progress);
  return outcome;
}

/// What would otherwise come to light after the recording was begun or the time was spent.
void check_before_start(const Simulation& simulation, const SimulateSettings& settings,
                        const RunOptions& options) {
  simulation.check_duration(settings.duration);
  if (!options.save.empty()) PendingFile(options.save);
  if (!options.dump.empty()) PendingFile(options.dump);
}

int simulate(const RunOptions& options) {
  SceneOverrides overrides;
  if (options.projects_start) overrides.project_start = true;
  const std::optional<Scene> scene = load_scene(options.scene, overrides);
  if (!scene) return kBadInput;
  const SimulateSettings settings = merged_settings(scene->simulate, options);
  SimulationOptions simulation_options = to_simulation_options(settings);
  simulation_options.budget = 1e-3 * options.budget;
  Simulation simulation(scene->model, simulation_options);
  check_before_start(simulation, settings, options);
  if (!options.restore.empty()) simulation.restore(options.restore);

  RunReport report;
  report.scene = scene->name;
  report.recording = recording_path(options, scene->name);
  check_files_differ(options, report.recording);
  std::optional<RecordingObserver> recorder;
  if (!report.recording.empty()) {
    recorder.emplace(report.recording, simulation, scene->name, scene->text, settings.every);
    simulation.add_observer(*recorder);
  }
  std::optional<ProblemDump> dump;
  if (options.dump_step > 0) {
    dump.emplace(simulation, options.dump_step, options.dump);
    simulation.add_observer(*dump);
  }
  if (!options.is_quiet && !options.is_json) print_notes(simulation);
  listen_to_interrupts();
  const double start = simulation.state().t;
  const std::int64_t first_step = simulation.summary().steps;
  const auto began = std::chrono::steady_clock::now();
  const Outcome outcome = run_to_end(simulation, settings, options);
  if (recorder) recorder->close(simulation, outcome.status);
  report.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  report.simulated = simulation.state().t - start;
  report.steps = simulation.summary().steps - first_step;
  report.status = outcome.status;
  if (!options.save.empty()) simulation.save(options.save);
  if (dump && !dump->is_written() && outcome.status != "rejected")
    print_message(
        fmt::format("stiction: step {} was not among the steps of this run, {} was not written\n",
                    options.dump_step, options.dump));
  if (options.is_json)
    print_result(to_json(report, simulation));
  else if (!options.is_quiet)
    print_result(to_summary(report, simulation));
  return outcome.exit_status;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("run", "Simulate a scene and record it");
  auto options = std::make_shared<RunOptions>();
  add_run_options(*command, *options);
  command->callback([&action, options] {
    if (options->scene.empty() && options->replay.empty()) throw CLI::RequiredError("scene");
    action = [options] {
      if (!options->replay.empty()) return replay_run(*options);
      return options->is_live ? run_live(*options) : simulate(*options);
    };
  });
}

}  // namespace stiction
