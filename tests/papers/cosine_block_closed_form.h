// The exact motion of the block under 8 cos t on a floor with friction (E7), for m = 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction::testing {

struct BlockMotion {
  double x = 3, v = 0;
};

inline constexpr double kBlockFriction = 0.8 * 9.81;  // [N] = [m/s²] for m = 1

/// Bisection for the sign change of f in (a, b).
template <class Function>
double sign_change(const Function& f, double a, double b) {
  const bool rises = f(b) > 0;
  for (int i = 0; i < 200; ++i) {
    const double m = 0.5 * (a + b);
    ((f(m) > 0) == rises ? b : a) = m;
  }
  return 0.5 * (a + b);
}

/// Slides from t₀ with direction s: v = 8 (sin t − sin t₀) − s F (t − t₀), until v returns to zero;
/// sticks until |8 cos t| reaches F again; and so on. The first slide starts at t = 0.
inline BlockMotion block_motion(double t_end) {
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

}  // namespace stiction::testing
