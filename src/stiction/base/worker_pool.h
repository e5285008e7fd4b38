// A few threads that share out numbered tasks. What a task computes may depend on its number only,
// and goes to a place of its own: then results do not depend on how many threads there are, nor on
// which of them took which task.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace stiction {

/// The thread that calls run() is worker 0 and works too; one thread means no others. run() is for
/// one caller at a time and allocates nothing. Tasks must not throw.
class WorkerPool {
 public:
  /// Throws InputError unless num_threads ≥ 1.
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
  void run_shared(int num_tasks, Job job);
  void wait_for_jobs(int worker);
  void take_tasks(const Job& job, int num_tasks, int worker);

  std::mutex mutex_;
  std::condition_variable job_posted_, workers_idle_;
  Job job_;
  int num_tasks_ = 0;
  int next_task_ = 0;        // changed atomically while a job is under way
  int num_busy_ = 0;         // threads that joined the job and have not finished
  std::uint64_t round_ = 0;  // number of jobs posted so far
  bool is_open_ = false;     // a job is under way; threads that wake later do not join
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace stiction
