// A time budget that iterations look at between two of their steps.
#pragma once

#include <algorithm>
#include <chrono>

namespace stiction {

class Deadline {
 public:
  /// Zero or less: no limit.
  explicit Deadline(double seconds = 0)
      : is_limited_(seconds > 0),
        seconds_(seconds > 0 ? seconds : 0),
        end_(seconds > 0 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(seconds))
                         : Clock::time_point()) {}

  bool is_limited() const { return is_limited_; }
  /// [s] From when it was made; zero without limit.
  double seconds() const { return seconds_; }
  bool has_passed() const { return is_limited_ && Clock::now() >= end_; }
  /// [s] What is left, for a method that takes zero for no limit: a nanosecond at least when
  /// limited, zero otherwise.
  double time_limit() const {
    constexpr double kShortest = 1e-9;
    return is_limited_ ? std::max(remaining(), kShortest) : 0;
  }
  /// [s] Zero or less when it has passed; a large number without limit.
  double remaining() const {
    return is_limited_ ? std::chrono::duration<double>(end_ - Clock::now()).count() : 1e300;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_limited_;
  double seconds_;
  Clock::time_point end_;
};

}  // namespace stiction
