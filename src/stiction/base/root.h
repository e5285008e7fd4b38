// The root of a function of one variable between two points where it has different signs.
#pragma once

#include <algorithm>
#include <cmath>

namespace stiction {

/// An interval that holds the root: f ≥ 0 at `low`, f < 0 at `high` (`high` may lie left of `low`).
struct RootBracket {
  double low = 0, high = 0;
};

/// Shrinks a bracket to |high − low| ≤ tolerance, given f(low) ≥ 0 > f(high). The secant is taken
/// where it makes progress, with the value of an end that stays halved (the Illinois rule), and the
/// middle otherwise, so that kinks and jumps of f cost no more than bisection by a factor of two.
/// `f` is called last at one of the two ends.
template <class Function>
RootBracket find_root(const Function& f, RootBracket bracket, double f_low, double f_high,
                      double tolerance) {
  auto& [a, b] = bracket;
  bool was_low = false;
  for (int i = 0; std::abs(b - a) > tolerance; ++i) {
    double x = f_low > 0 ? b - f_high * (b - a) / (f_high - f_low) : 0.5 * (a + b);
    // Every third step, and where the secant leaves the interval, the middle; never closer to an
    // end than the tolerance asks, so that the bracket closes from both sides.
    const double margin = 0.4 * tolerance;
    x = std::clamp(x, std::min(a, b) + margin, std::max(a, b) - margin);
    if (i % 3 == 2 || !std::isfinite(x) || x == a || x == b) x = 0.5 * (a + b);
    if (x == a || x == b) break;  // nothing between the two in floating-point numbers
    const double f_x = f(x);
    if (f_x >= 0) {
      a = x;
      f_low = f_x;
      if (was_low && i > 0) f_high /= 2;
      was_low = true;
    } else {
      b = x;
      f_high = f_x;
      if (!was_low && i > 0) f_low /= 2;
      was_low = false;
    }
  }
  return bracket;
}

}  // namespace stiction
