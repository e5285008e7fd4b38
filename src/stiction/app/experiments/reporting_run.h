// Runs that say how far they are, and those that are kept as recordings.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "stiction/app/experiments/experiment.h"
#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
class RecordingObserver;
}

namespace stiction::experiments {

/// Steps of options().h until `duration` has passed; the monitor hears of every hundredth of it.
void run_reporting(Simulation& simulation, double duration, Monitor& monitor,
                   const std::function<void()>& after_step = {});

/// Records a simulation of a scene from now on, as `name`.h5 beside the results of the experiment,
/// if the monitor wants recordings. Complete when this goes; the simulation outlives it.
class KeptRun {
 public:
  KeptRun(Monitor& monitor, Simulation& simulation, const Scene& scene, const std::string& name);
  KeptRun(const KeptRun&) = delete;
  KeptRun& operator=(const KeptRun&) = delete;
  ~KeptRun();

 private:
  Simulation& simulation_;
  std::unique_ptr<RecordingObserver> recorder_;
};

/// A run of its own that is kept, if the monitor wants recordings.
void keep_run(Monitor& monitor, const Scene& scene, const SimulationOptions& options,
              double duration, const std::string& name);

}  // namespace stiction::experiments
