// Wall time for reports. Nothing that is computed may depend on it, except under a budget.
#pragma once

#include <chrono>

namespace stiction {

/// Seconds since it was made or asked last. To look at the clock takes 20 ns and more, a share of a
/// step that takes microseconds: one that is off does not, and has no laps.
class Stopwatch {
 public:
  explicit Stopwatch(bool is_on = true)
      : is_on_(is_on), last_(is_on ? Clock::now() : Clock::time_point{}) {}
  double lap() {
    if (!is_on_) return 0;
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_on_;
  Clock::time_point last_;
};

}  // namespace stiction
