#include "stiction/base/worker_pool.h"

#include <fmt/format.h>

#include <atomic>

#include "stiction/base/error.h"

namespace stiction {

WorkerPool::WorkerPool(int num_threads) {
  if (num_threads < 1)
    throw InputError(fmt::format("num_threads is {}, must be at least 1", num_threads));
  threads_.reserve(static_cast<std::size_t>(num_threads) - 1);
  for (int worker = 1; worker < num_threads; ++worker)
    threads_.emplace_back([this, worker] { wait_for_jobs(worker); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  job_posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::take_tasks(const Job& job, int num_tasks, int worker) {
  std::atomic_ref<int> next(next_task_);
  for (int number = next.fetch_add(1); number < num_tasks; number = next.fetch_add(1))
    job.call(job.context, number, worker);
}

void WorkerPool::run_shared(int num_tasks, Job job) {
  {
    const std::lock_guard lock(mutex_);
    job_ = job;
    num_tasks_ = num_tasks;
    next_task_ = 0;
    is_open_ = true;
    ++round_;
  }
  job_posted_.notify_all();
  take_tasks(job, num_tasks, 0);
  std::unique_lock lock(mutex_);
  is_open_ = false;
  workers_idle_.wait(lock, [this] { return num_busy_ == 0; });
}

void WorkerPool::wait_for_jobs(int worker) {
  std::uint64_t last_round = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    job_posted_.wait(lock, [&] { return stops_ || (is_open_ && round_ != last_round); });
    if (stops_) return;
    last_round = round_;
    const Job job = job_;
    const int num_tasks = num_tasks_;
    ++num_busy_;
    lock.unlock();
    take_tasks(job, num_tasks, worker);
    lock.lock();
    if (--num_busy_ == 0) workers_idle_.notify_one();
  }
}

}  // namespace stiction
