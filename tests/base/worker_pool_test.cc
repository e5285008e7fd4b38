// Every task is done once, whoever does it, also if threads have gone to sleep in between.
#include "stiction/base/worker_pool.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "stiction/base/error.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

TEST(WorkerPool, DoesEveryTaskOnce) {
  for (const int num_threads : {1, 2, 3, 5}) {
    WorkerPool pool(num_threads);
    EXPECT_EQ(pool.num_threads(), num_threads);
    for (const int num_tasks : {0, 1, 2, 3, 7, 1000}) {
      std::vector<int> counts(num_tasks, 0);
      std::atomic<int> strangers = 0;
      pool.run(num_tasks, [&](int number, int worker) {
        ++counts[number];
        if (worker < 0 || worker >= num_threads) ++strangers;
      });
      EXPECT_EQ(counts, std::vector<int>(num_tasks, 1));
      EXPECT_EQ(strangers, 0);
    }
  }
}

TEST(WorkerPool, TakesManyShortJobsOneAfterTheOther) {
  WorkerPool pool(3);
  std::vector<long> sums(4, 0);
  for (long job = 0; job < 20000; ++job) pool.run(4, [&](int number, int) { sums[number] += job; });
  EXPECT_EQ(sums, std::vector<long>(4, 19999L * 20000 / 2));
}

TEST(WorkerPool, WakesThreadsThatSleep) {
  WorkerPool pool(2);
  for (int job = 0; job < 5; ++job) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    // Both tasks wait for each other: neither ends unless two threads are at it.
    std::atomic<int> num_begun = 0;
    pool.run(2, [&](int, int) {
      ++num_begun;
      while (num_begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(num_begun, 2);
  }
}

/// Nobody ends a task before all have one: each of them has the first of its own share.
TEST(WorkerPool, WorkersBeginWithTheSameShareInEveryLoop) {
  constexpr int kThreads = 3, kTasksEach = 4;
  WorkerPool pool(kThreads);
  for (int job = 0; job < 20; ++job) {
    std::atomic<int> num_begun = 0;
    std::vector<int> first(kThreads, -1);
    pool.run(kThreads * kTasksEach, [&](int number, int worker) {
      if (first[worker] < 0) first[worker] = number;
      ++num_begun;
      while (num_begun < kThreads) std::this_thread::yield();
    });
    EXPECT_EQ(first, (std::vector<int>{0, kTasksEach, 2 * kTasksEach}));
  }
}

/// One worker is held up in its first task: the other does all the rest.
TEST(WorkerPool, WorkersHelpWithTheSharesOfOthers) {
  WorkerPool pool(2);
  std::atomic<int> num_done = 0;
  std::vector<int> who(10, -1);
  pool.run(10, [&](int number, int worker) {
    who[number] = worker;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (worker == 1 && num_done < 9 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    ++num_done;
  });
  EXPECT_EQ(num_done, 10);
  EXPECT_LE(std::count(who.begin(), who.end(), 1), 1);
}

TEST(WorkerPool, ItsCallerSleepsWhileOthersWork) {
  WorkerPool pool(2);
  std::atomic<int> num_begun = 0;
  int done = 0;
  pool.run(2, [&](int, int worker) {
    ++num_begun;
    while (num_begun < 2) std::this_thread::yield();
    if (worker == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    done = 1;
  });
  EXPECT_EQ(done, 1);
}

TEST(WorkerPool, BlocksDoNotDependOnTheNumberOfThreads) {
  std::vector<double> numbers(1003);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 1.0 / (1.0 + static_cast<double>(i));
  const auto sum_up = [&](WorkerPool* pool) {
    std::vector<double> sums(11, 0.0);
    run_blocks(pool, 1003, 100, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) sums[begin / 100] += numbers[i];
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  };
  const double expected = sum_up(nullptr);
  for (const int num_threads : {1, 2, 3}) {
    WorkerPool pool(num_threads);
    EXPECT_EQ(sum_up(&pool), expected) << num_threads;
  }
}

TEST(WorkerPool, RunNumbersCoversAllOfThem) {
  WorkerPool pool(2);
  for (const int count : {0, 1, 39, 40, 41, 1000})
    for (WorkerPool* workers : {static_cast<WorkerPool*>(nullptr), &pool}) {
      std::vector<int> counts(count, 0);
      run_numbers(workers, count, 10, [&](int begin, int end) {
        for (int i = begin; i < end; ++i) ++counts[i];
      });
      EXPECT_EQ(counts, std::vector<int>(count, 1));
    }
}

std::string message_of(int num_threads) {
  try {
    const WorkerPool pool(num_threads);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(WorkerPool, RefusesToHaveNoThreadOrFarTooMany) {
  for (const int num_threads : {0, -2, kMaxThreads + 1, 40000, 100000})
    EXPECT_EQ(message_of(num_threads), "num_threads is " + std::to_string(num_threads) +
                                           ", must be at least 1 and at most 1024");
}

/// Addresses for the stacks of a few threads more than there are. In a process of its own, which
/// ends with 0 if all is well.
[[noreturn]] void ask_for_too_many_threads() {
  constexpr int kThreads = 200;
  constexpr rlim_t kStacks = 10;
  pthread_attr_t attributes;
  std::size_t stack = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &stack);
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t used = static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  const rlimit limit{.rlim_cur = used + kStacks * stack, .rlim_max = RLIM_INFINITY};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
  const std::string message = message_of(kThreads);
  if (!message.starts_with("num_threads is 200, the system lets this process have ")) _exit(2);
  // Those that had begun have ended, and gave their stacks back.
  WorkerPool few(2);
  std::atomic<int> num_done = 0;
  few.run(10, [&](int, int) { ++num_done; });
  _exit(num_done == 10 ? 0 : 3);
}

TEST(WorkerPoolDeathTest, SaysSoWhereTheSystemRefusesAThread) {
  if (testing::kHasSanitizers) GTEST_SKIP() << "sanitizers take all addresses there are";
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(ask_for_too_many_threads(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stiction
