#include "stiction/base/flushed_denormals.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <limits>

#include "stiction/base/worker_pool.h"

namespace stiction {
namespace {

/// Volatile: the compiler would compute them in its own mode.
bool keeps_results() {
  volatile double small = std::numeric_limits<double>::min();
  small = small * 0.25;
  return small > 0;
}

bool keeps_operands() {
  volatile double denormal = std::numeric_limits<double>::denorm_min();
  volatile double scaled = denormal * 1e300;
  return scaled > 0;
}

bool is_known_processor() { return DenormalMode::flushed() != DenormalMode::of_this_thread(); }

TEST(FlushedDenormals, AreZeroWhileItLives) {
  if (!is_known_processor()) GTEST_SKIP();
  EXPECT_TRUE(keeps_results());
  EXPECT_TRUE(keeps_operands());
  {
    const FlushedDenormals flushed;
    EXPECT_FALSE(keeps_results());
    EXPECT_FALSE(keeps_operands());
    {
      const FlushedDenormals again;
      EXPECT_FALSE(keeps_results());
    }
    EXPECT_FALSE(keeps_results());  // as it was before `again`
  }
  EXPECT_TRUE(keeps_results());
  EXPECT_TRUE(keeps_operands());
}

TEST(FlushedDenormals, OfTheCallerAreThoseOfItsWorkers) {
  if (!is_known_processor()) GTEST_SKIP();
  constexpr int kTasks = 64;
  WorkerPool pool(3);
  std::array<std::atomic<bool>, 3> has_worked = {};
  const auto count_kept = [&] {
    std::atomic<int> kept = 0, at_work = 0;
    // Nobody goes on before all are there, so that each worker has a task.
    pool.run(kTasks, [&](int number, int worker) {
      has_worked[worker] = true;
      if (number < 3)
        for (++at_work; at_work < 3;) {
        }
      kept += keeps_results() && keeps_operands();
    });
    return kept.load();
  };
  EXPECT_EQ(count_kept(), kTasks);
  {
    const FlushedDenormals flushed;
    EXPECT_EQ(count_kept(), 0);
  }
  EXPECT_EQ(count_kept(), kTasks);
  for (const std::atomic<bool>& worked : has_worked) EXPECT_TRUE(worked);
}

}  // namespace
}  // namespace stiction
