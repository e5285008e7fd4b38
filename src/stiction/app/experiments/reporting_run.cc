#include "stiction/app/experiments/reporting_run.h"

#include <exception>

#include "stiction/record/recording_observer.h"

namespace stiction::experiments {

void run_reporting(Simulation& simulation, double duration, Monitor& monitor,
                   const std::function<void()>& after_step) {
  const double start = simulation.state().t;
  double next = 0;
  // Half a step of tolerance: times are multiples of h but for rounding.
  while (simulation.state().t - start < duration - simulation.options().h / 2) {
    if (const double share = (simulation.state().t - start) / duration; share >= next) {
      monitor.report(share);
      next = share + 0.01;
    }
    simulation.step();
    if (after_step) after_step();
  }
  monitor.report(1);
}

KeptRun::KeptRun(Monitor& monitor, Simulation& simulation, const Scene& scene,
                 const std::string& name)
    : simulation_(simulation) {
  const std::string path = monitor.path_of_recording(name);
  if (path.empty()) return;
  recorder_ = std::make_unique<RecordingObserver>(path, simulation, scene.name, scene.text, 1);
  simulation.add_observer(*recorder_);
}

KeptRun::~KeptRun() {
  if (!recorder_) return;
  simulation_.remove_observer(*recorder_);
  try {
    const bool is_above = simulation_.summary().steps_above_tolerance > 0;
    recorder_->close(simulation_, std::uncaught_exceptions() > 0 ? "interrupted"
                                  : is_above                     ? "above tolerance"
                                                                 : "complete");
  } catch (const std::exception&) {
    // What cannot be written is found when the recording is verified.
  }
}

void keep_run(Monitor& monitor, const Scene& scene, const SimulationOptions& options,
              double duration, const std::string& name) {
  if (!monitor.keeps_runs()) return;
  Simulation simulation(scene.model, options);
  const KeptRun kept(monitor, simulation, scene, name);
  simulation.run(duration);
}

}  // namespace stiction::experiments
