#include "stiction/base/worker_pool.h"

#include <fmt/format.h>

#include <chrono>
#include <system_error>

#include "stiction/base/error.h"
#include "stiction/base/flushed_denormals.h"

namespace stiction {
namespace {

/// Fields of the gate.
constexpr std::uint64_t kOthers = 0xffff;  // threads that have joined
constexpr std::uint64_t kIsOpen = 0x10000;
constexpr std::uint64_t kRound = 0x20000;

/// [µs] How long threads look out before they sleep: longer than what one thread does between two
/// loops of a step, since to wake others takes as long as many loops.
constexpr std::chrono::microseconds kLookout{1000};
/// Looks between two questions for the time.
constexpr int kLooks = 64;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Whether it came true while one looked. The processor is not given up meanwhile: on a machine
/// with other work it would not come back in time.
template <typename Condition>
bool look_out_for(const Condition& is_true) {
  const auto end = std::chrono::steady_clock::now() + kLookout;
  for (;;) {
    for (int k = 0; k < kLooks; ++k) {
      if (is_true()) return true;
      pause();
    }
    if (std::chrono::steady_clock::now() >= end) return false;
  }
}

}  // namespace

WorkerPool::WorkerPool(int num_threads) {
  static_assert(kMaxThreads <= static_cast<int>(kOthers), "the gate counts them");
  if (num_threads < 1 || num_threads > kMaxThreads)
    throw InputError(fmt::format("num_threads is {}, must be at least 1 and at most {}",
                                 num_threads, kMaxThreads));
  shares_ = std::make_unique<Share[]>(num_threads);
  threads_.reserve(static_cast<std::size_t>(num_threads) - 1);
  try {
    for (int worker = 1; worker < num_threads; ++worker)
      threads_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error& error) {
    const int num_begun = this->num_threads();
    end_threads();  // there is no destructor of what was not constructed
    throw InputError(fmt::format("num_threads is {}, the system lets this process have {}: {}",
                                 num_threads, num_begun, error.code().message()));
  }
}

WorkerPool::~WorkerPool() { end_threads(); }

void WorkerPool::end_threads() {
  stops_ = true;
  { const std::lock_guard lock(mutex_); }
  job_posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::take_tasks(int worker) {
  for (int k = 0; k < num_threads(); ++k) {
    const int owner = (worker + k) % num_threads(), end = first_task(owner + 1);
    std::atomic<int>& next = shares_[owner].next;
    for (int number = next.fetch_add(1); number < end; number = next.fetch_add(1))
      job_.call(job_.context, number, worker);
  }
}

/// Whoever changes something and then finds nobody asleep can be sure that those who go to sleep
/// afterwards see the change: all of these are in one order (seq_cst). Who is asleep holds the
/// mutex until it can be woken.
void WorkerPool::run_shared(int num_tasks, Job job) {
  // In the mode of the caller, whoever takes a task: results do not depend on it.
  struct ModedJob {
    Job job;
    DenormalMode mode;
  };
  const ModedJob moded{job, DenormalMode::of_this_thread()};
  job_ = {&moded, [](const void* context, int number, int worker) {
            const auto& [job, mode] = *static_cast<const ModedJob*>(context);
            mode.apply();
            job.call(job.context, number, worker);
          }};
  num_tasks_ = num_tasks;
  for (int worker = 0; worker < num_threads(); ++worker) shares_[worker].next = first_task(worker);
  gate_ = (gate_ + kRound) | kIsOpen;
  if (num_asleep_ > 0) {
    { const std::lock_guard lock(mutex_); }
    job_posted_.notify_all();
  }
  take_tasks(0);
  gate_.fetch_and(~kIsOpen);
  wait_for_others();
}

void WorkerPool::wait_for_others() {
  const auto have_left = [this] { return (gate_ & kOthers) == 0; };
  if (look_out_for(have_left)) return;
  std::unique_lock lock(mutex_);
  is_caller_asleep_ = true;
  others_left_.wait(lock, have_left);
  is_caller_asleep_ = false;
}

void WorkerPool::work(int worker) {
  std::uint64_t last_round = 0;
  while (!stops_) {
    if (enter(last_round)) {
      take_tasks(worker);
      leave();
    } else {
      wait_for_job(last_round);
    }
  }
}

/// Joins the job at hand, if there is one that this thread has not seen.
bool WorkerPool::enter(std::uint64_t& last_round) {
  std::uint64_t gate = gate_;
  while ((gate & kIsOpen) != 0 && gate / kRound != last_round)
    if (gate_.compare_exchange_weak(gate, gate + 1)) {
      last_round = gate / kRound;
      return true;
    }
  return false;
}

void WorkerPool::leave() {
  --gate_;
  if (!is_caller_asleep_) return;
  { const std::lock_guard lock(mutex_); }
  others_left_.notify_one();
}

void WorkerPool::wait_for_job(std::uint64_t last_round) {
  const auto is_due = [&] {
    const std::uint64_t gate = gate_;
    return stops_ || ((gate & kIsOpen) != 0 && gate / kRound != last_round);
  };
  if (look_out_for(is_due)) return;
  std::unique_lock lock(mutex_);
  ++num_asleep_;
  job_posted_.wait(lock, is_due);
  --num_asleep_;
}

}  // namespace stiction
