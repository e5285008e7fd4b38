#include "stiction/app/experiments/runner.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "stiction/app/experiments/verified_runs.h"

namespace stiction::experiments {
namespace {

class Runner {
 public:
  Runner(const std::vector<const Experiment*>& experiments, const RunnerOptions& options,
         const RunnerListener& listener)
      : experiments_(experiments), options_(options), listener_(listener) {
    // The long ones first, so that none is left for one thread in the end.
    for (std::size_t i = 0; i < experiments.size(); ++i) order_.push_back(i);
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return experiments[a]->is_long && !experiments[b]->is_long;
    });
  }

  bool run() {
    const auto num_threads = std::clamp<std::size_t>(static_cast<std::size_t>(options_.threads), 1,
                                                     std::max<std::size_t>(order_.size(), 1));
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < num_threads; ++k) threads.emplace_back([this] { work(); });
    threads.clear();
    if (error_) std::rethrow_exception(error_);
    return num_done_ == experiments_.size();
  }

 private:
  bool should_stop() const {
    return must_stop_ || (options_.is_interrupted != nullptr && *options_.is_interrupted);
  }

  void work() {
    for (;;) {
      const std::size_t turn = next_++;
      if (turn >= order_.size() || should_stop()) return;
      try {
        run_one(order_[turn]);
      } catch (const Interrupted&) {
        return;
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!error_) error_ = std::current_exception();
        must_stop_ = true;
        return;
      }
    }
  }

  void run_one(std::size_t index) {
    Monitor monitor(options_.is_full, [&](double share) {
      if (should_stop()) throw Interrupted();
      if (!listener_.on_progress) return;
      const std::scoped_lock lock(mutex_);
      listener_.on_progress(index, share);
    });
    const auto began = std::chrono::steady_clock::now();
    if (options_.folder_of_runs)
      monitor.keep_runs_in(options_.folder_of_runs(experiments_[index]->name));
    monitor.report(0);
    Result result;
    try {
      result = experiments_[index]->run(monitor);
      if (monitor.keeps_runs()) add_verification(monitor, result);
    } catch (const std::exception& error) {
      result.failure = error.what();
    }
    result.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const std::scoped_lock lock(mutex_);
    ++num_done_;
    if (listener_.on_done) listener_.on_done(index, result);
  }

  const std::vector<const Experiment*>& experiments_;
  const RunnerOptions& options_;
  const RunnerListener& listener_;
  std::vector<std::size_t> order_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> must_stop_{false};
  std::mutex mutex_;  // of everything below and of the listener
  std::size_t num_done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

bool run_experiments(const std::vector<const Experiment*>& experiments,
                     const RunnerOptions& options, const RunnerListener& listener) {
  return Runner(experiments, options, listener).run();
}

}  // namespace stiction::experiments
