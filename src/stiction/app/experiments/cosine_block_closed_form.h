// The exact motion of the block under 8 cos t on a floor with friction (E7), for m = 1.
#pragma once

namespace stiction::experiments {

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
BlockMotion block_motion(double t_end);

}  // namespace stiction::experiments
