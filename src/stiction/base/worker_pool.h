// A few threads that share out numbered tasks. What a task computes may depend on its number only,
// and goes to a place of its own: then results do not depend on how many threads there are, nor on
// which of them took which task.
//
// A step of a simulation is a row of short loops. A thread that went to sleep after each of them
// would be late for the next: to wake it takes as long as many of the loops. Threads therefore look
// out for the next job for a while before they sleep; one thread alone never waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace stiction {

/// Above the cores of any machine at hand: threads that look out for jobs help only while each of
/// them has a core, and thousands of them bring a machine to a stop.
inline constexpr int kMaxThreads = 1024;

/// The thread that calls run() is worker 0 and works too; one thread means no others. run() is for
/// one caller at a time, not for tasks, and allocates nothing. Tasks must not throw.
class WorkerPool {
 public:
  /// Throws InputError unless 1 ≤ num_threads ≤ kMaxThreads, and where the system does not let this
  /// process have so many; those begun have ended then.
  explicit WorkerPool(int num_threads = 1);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  /// task(number, worker) for all numbers in [0, num_tasks), worker in [0, num_threads()); returns
  /// when all are done.
  template <typename Task>
  void run(int num_tasks, const Task& task) {
    if (threads_.empty() || num_tasks <= 1) {
      for (int number = 0; number < num_tasks; ++number) task(number, 0);
      return;
    }
    run_shared(num_tasks, {&task, [](const void* context, int number, int worker) {
                             (*static_cast<const Task*>(context))(number, worker);
                           }});
  }

 private:
  struct Job {
    const void* context = nullptr;
    void (*call)(const void* context, int number, int worker) = nullptr;
  };
  void end_threads();
  void run_shared(int num_tasks, Job job);
  void work(int worker);
  bool enter(std::uint64_t& last_round);
  void leave();
  void wait_for_job(std::uint64_t last_round);
  void wait_for_others();
  void take_tasks(int worker);
  int first_task(int worker) const {
    return static_cast<int>(std::int64_t{num_tasks_} * worker / num_threads());
  }

  Job job_;
  int num_tasks_ = 0;
  /// Of the share of a worker, which others help with when they are done with theirs: the next
  /// task. Shares are the same from loop to loop, so that what a worker left in its cache in one
  /// loop is what it needs in the next.
  struct alignas(64) Share {
    std::atomic<int> next = 0;
  };
  std::unique_ptr<Share[]> shares_;  // per worker
  /// The number of the job, whether threads may still join it, and how many of them are at it. Job,
  /// number of tasks and next task change only while nobody is.
  std::atomic<std::uint64_t> gate_ = 0;
  std::atomic<bool> stops_ = false;
  // Of those who have looked out for long enough.
  std::mutex mutex_;
  std::condition_variable job_posted_, others_left_;
  std::atomic<int> num_asleep_ = 0;
  std::atomic<bool> is_caller_asleep_ = false;
  std::vector<std::thread> threads_;
};

/// task(begin, end) over all blocks of `size` numbers of [0, count), by the workers if there are
/// any. The blocks are the same for any number of threads: sums per block, added up in their order,
/// have the same bits.
template <typename Task>
void run_blocks(WorkerPool* workers, int count, int size, const Task& task) {
  const int num_blocks = (count + size - 1) / size;
  const auto run_block = [&](int k, int) { task(k * size, std::min(count, (k + 1) * size)); };
  if (workers != nullptr)
    workers->run(num_blocks, run_block);
  else
    for (int k = 0; k < num_blocks; ++k) run_block(k, 0);
}

/// The same where every number has a result of its own: one thread takes all of them at once, also
/// where there are too few blocks for it to be worth while to wake others.
template <typename Task>
void run_numbers(WorkerPool* workers, int count, int size, const Task& task) {
  constexpr int kFewBlocks = 4;
  if (workers == nullptr || workers->num_threads() == 1 || count < kFewBlocks * size)
    task(0, count);
  else
    run_blocks(workers, count, size, task);
}

}  // namespace stiction
