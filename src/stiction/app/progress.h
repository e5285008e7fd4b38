// A progress bar on a terminal: simulated time, speed, time left. Silent where stderr is no
// terminal.
#pragma once

#include <chrono>
#include <cstdint>

#include "stiction/sim/simulation.h"

namespace stiction {

class ProgressBar final : public StepObserver {
 public:
  /// `is_wanted` false makes it silent on terminals too.
  ProgressBar(double start, double duration, bool is_wanted);
  ~ProgressBar() override { clear(); }

  void on_step(const StepRecord& record) override;
  /// Removes the bar, so that other text may follow.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double t, std::int64_t step);

  bool is_on_;
  bool is_drawn_ = false;
  double start_, duration_;
  std::int64_t first_step_ = -1;
  Clock::time_point began_, next_draw_;
};

}  // namespace stiction
