// Wall time for reports. Nothing that is computed may depend on it, except under a budget.
#pragma once

#include <chrono>

namespace stiction {

/// Seconds since it was made or asked last.
class Stopwatch {
 public:
  double lap() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace stiction
