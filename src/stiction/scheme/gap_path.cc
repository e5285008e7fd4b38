#include "stiction/scheme/gap_path.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/base/root.h"

namespace stiction {

double GapPath::at(double time) const {
  const double x = time / length, y = 1 - x;
  // Hermite's cubic; exact at both ends.
  return y * y * ((1 + 2 * x) * start + x * length * start_rate) +
         x * x * ((1 + 2 * y) * end - y * length * end_rate);
}

std::optional<double> GapPath::find_closing() const {
  // The derivative in x = time/length is A x² + B x + C.
  const double m0 = length * start_rate, m1 = length * end_rate;
  const double A = 6 * (start - end) + 3 * (m0 + m1), B = -6 * (start - end) - 4 * m0 - 2 * m1,
               C = m0;
  // Between its ends and extrema the cubic is monotone.
  std::array<double, 4> x{0, 1, 1, 1};
  int n = 1;
  const double discriminant = B * B - 4 * A * C;
  if (discriminant >= 0) {
    const double q = -0.5 * (B + std::copysign(std::sqrt(discriminant), B));
    for (const double extremum : {q / A, C / q})
      if (extremum > 0 && extremum < 1) x[n++] = extremum;
    std::sort(x.begin() + 1, x.begin() + n);
  }
  x[n] = 1;
  for (int i = 0; i < n; ++i) {
    const double a = length * x[i], b = length * x[i + 1];
    const double gap_a = at(a), gap_b = at(b);
    if (!(gap_a > 0 && gap_b < 0)) continue;
    const RootBracket root =
        find_root([this](double t) { return at(t); }, {a, b}, gap_a, gap_b, 1e-16 * length);
    return root.low;
  }
  return std::nullopt;
}

}  // namespace stiction
