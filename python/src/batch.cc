// Many runs at once: each of its own scene, on a thread of its own, without the interpreter's lock.
// What a run gives does not depend on how many threads there are.
#include "batch.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "arrays.h"
#include "model_handle.h"
#include "stiction/app/simulation_options.h"
#include "stiction/base/worker_pool.h"
#include "stiction/record/recording_memory.h"
#include "stiction/record/recording_observer.h"
#include "stiction/sim/simulation.h"

namespace stiction::python {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Job {
  std::vector<SceneOverride> overrides{};
  Recording recording{};
  std::exception_ptr error{};
};

struct BatchOptions {
  std::optional<double> duration{};
  int every = 1;
};

void run_job(const ModelHandle& model, const BatchOptions& options, const std::atomic<bool>& stop,
             Job& job) {
  try {
    const Scene scene = make_scene(vary_model(model, job.overrides), {});
    Simulation simulation(scene.model, to_simulation_options(scene.simulate));
    RecordingObserver memory(
        std::make_unique<RecordingMemory>(
            make_recording_layout(simulation, scene.name, scene.text, options.every),
            job.recording),
        simulation, options.every);
    simulation.add_observer(memory);
    std::string_view status = "complete";
    try {
      if (!simulation.run(options.duration.value_or(scene.simulate.duration),
                          [&] { return stop.load(std::memory_order_relaxed); }))
        status = "interrupted";
    } catch (const StepRejected&) {
      job.error = std::current_exception();
      status = "rejected";
    }
    if (status == "complete" && simulation.summary().steps_above_tolerance > 0)
      status = "above tolerance";
    memory.close(simulation, status);
  } catch (...) {
    job.error = std::current_exception();
  }
}

/// Works through all jobs; looks for interrupts of the user meanwhile.
void run_all(const ModelHandle& model, const BatchOptions& options, int num_threads,
             std::vector<Job>& jobs) {
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable ended;
  int num_running = num_threads;
  std::vector<std::thread> threads;
  const py::gil_scoped_release unlocked;
  for (int i = 0; i < num_threads; ++i)
    threads.emplace_back([&] {
      for (std::size_t k = next++; k < jobs.size() && !stop; k = next++)
        run_job(model, options, stop, jobs[k]);
      const std::lock_guard lock(mutex);
      --num_running;
      ended.notify_one();
    });
  bool is_interrupted = false;
  {
    std::unique_lock lock(mutex);
    while (
        !ended.wait_for(lock, std::chrono::milliseconds(100), [&] { return num_running == 0; })) {
      lock.unlock();
      const py::gil_scoped_acquire locked;
      if (!is_interrupted && PyErr_CheckSignals() != 0) stop = is_interrupted = true;
      lock.lock();
    }
  }
  for (std::thread& thread : threads) thread.join();
  const py::gil_scoped_acquire locked;
  if (is_interrupted) throw py::error_already_set();
}

/// The exception of a job as Python would see it, not raised.
py::object to_python_error(const std::exception_ptr& error) {
  if (!error) return py::none();
  const auto make = [](const char* name, const std::string& text) {
    return py::module_::import("stiction.errors").attr(name)(text);
  };
  try {
    std::rethrow_exception(error);
  } catch (const StepRejected& rejected) {
    return make("StepRejected", rejected.what());
  } catch (const SceneFault& fault) {
    return make("SceneError", fault.what());
  } catch (const InputError& input) {
    return make("InputError", input.what());
  } catch (const IoError& io) {
    return make("IoError", io.what());
  } catch (const std::exception& other) {
    return make("Error", other.what());
  }
}

py::list batch(const ModelHandle& model, const std::vector<Pairs>& variations,
               std::optional<double> duration, int every, int workers) {
  if (!model.is_scene())
    throw InputError("a batch varies the values of a scene: a model of Python functions has none");
  if (every < 1) throw InputError(fmt::format("every is {}, must be >= 1", every));
  if (workers < 1) throw InputError(fmt::format("workers is {}, must be >= 1", workers));
  std::vector<Job> jobs(variations.size());
  for (std::size_t i = 0; i < jobs.size(); ++i)
    for (const auto& [path, value] : variations[i]) jobs[i].overrides.push_back({path, value});
  const int num_threads =
      std::min({workers, kMaxThreads, std::max(1, static_cast<int>(jobs.size()))});
  run_all(model, {.duration = duration, .every = every}, num_threads, jobs);
  py::list results;
  for (Job& job : jobs) {
    const bool has_rows = !job.recording.time.empty();
    results.append(py::make_tuple(
        has_rows ? py::object(take_recording(std::move(job.recording))) : py::object(py::none()),
        to_python_error(job.error)));
  }
  return results;
}

}  // namespace

void bind_batch(py::module_& module) { module.def("batch", &batch); }

}  // namespace stiction::python
