// Runs experiments, several at once: each is one thread's work from beginning to end, so that
// results do not depend on how many there are.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "stiction/app/experiments/experiment.h"

namespace stiction::experiments {

struct RunnerOptions {
  bool is_full = false;
  int threads = 1;
  /// Where an experiment keeps its runs, by its name; empty: nowhere.
  std::function<std::string(const std::string& experiment)> folder_of_runs{};
  const std::atomic<bool>* is_interrupted = nullptr;  // asked whenever an experiment reports
};

/// Told by the threads of the runner, never by two at once. `index` counts in the list given.
struct RunnerListener {
  std::function<void(std::size_t index, double share)> on_progress;
  std::function<void(std::size_t index, const Result& result)> on_done;
};

/// Whether all were done. An experiment that throws is done, with a failure; one that was
/// interrupted is not. Exceptions of the listener end the run and are thrown on.
bool run_experiments(const std::vector<const Experiment*>& experiments,
                     const RunnerOptions& options, const RunnerListener& listener);

}  // namespace stiction::experiments
