#include "stiction/app/experiments/cosine_block_closed_form.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction::experiments {

BlockMotion block_motion(double t_end) {
  BlockMotion motion;
  double t0 = 0;
  for (int slide = 0; t0 < t_end; ++slide) {
    const double s = slide % 2 == 0 ? 1 : -1;
    const auto v = [&](double t) {
      return 8 * (std::sin(t) - std::sin(t0)) - s * kBlockFriction * (t - t0);
    };
    const auto dx = [&](double t) {
      return 8 * (std::cos(t0) - std::cos(t)) - 8 * std::sin(t0) * (t - t0) -
             s * kBlockFriction * (t - t0) * (t - t0) / 2;
    };
    const double stop = sign_change(v, t0 + 0.05, t0 + 1);  // s·v: positive first, then negative
    const double until = std::min(stop, t_end);
    motion.x += dx(until);
    motion.v = until < stop ? v(until) : 0;
    // Next slide: the force reaches friction on the other side.
    const double half = slide + 1;
    t0 = half * std::numbers::pi - std::acos(kBlockFriction / 8);
  }
  return motion;
}

}  // namespace stiction::experiments
