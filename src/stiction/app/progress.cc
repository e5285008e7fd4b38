#include "stiction/app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "stiction/app/console.h"

namespace stiction {

ProgressBar::ProgressBar(double start, double duration, bool is_wanted)
    : is_on_(is_wanted && duration > 0 && isatty(STDERR_FILENO) == 1),
      start_(start),
      duration_(duration),
      began_(Clock::now()),
      next_draw_(began_ + std::chrono::milliseconds(200)) {}

void ProgressBar::on_step(const StepRecord& record) {
  if (!is_on_) return;
  if (first_step_ < 0) first_step_ = record.step;
  if (record.step % 16 != 0) return;  // reading the clock costs as much as a small step
  if (const Clock::time_point now = Clock::now(); now >= next_draw_) {
    next_draw_ = now + std::chrono::milliseconds(100);
    draw(record.state.t, record.step);
  }
}

void ProgressBar::draw(double t, std::int64_t step) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - began_).count();
  const double share = std::clamp((t - start_) / duration_, 0.0, 1.0);
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(share * kWidth);
  const double left = share > 0 ? elapsed * (1 - share) / share : 0;
  print_message(fmt::format("\r\x1b[K[{}{}] {:3.0f} %  t = {:.4g} s  {:.3g} steps/s  {:.0f} s left",
                            std::string(filled, '#'), std::string(kWidth - filled, '.'),
                            100 * share, t, static_cast<double>(step - first_step_) / elapsed,
                            left));
  is_drawn_ = true;
}

void ProgressBar::clear() {
  if (!is_drawn_) return;
  print_message("\r\x1b[K");
  is_drawn_ = false;
}

}  // namespace stiction
