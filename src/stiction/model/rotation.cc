#include "stiction/model/rotation.h"

#include <cmath>
#include <numbers>

namespace stiction {

// Below this angle both functions take three terms of their series. The first term left out is of
// relative size 1e-20, and a norm that underflows does no harm.
constexpr double kSmall = 1e-3;

Eigen::Quaterniond exponential(const Eigen::Vector3d& rotation_vector) {
  const double angle = rotation_vector.norm();
  const double x2 = 0.25 * angle * angle;
  const double factor = angle < kSmall ? 0.5 * (1 - x2 / 6 * (1 - x2 / 20))  // sin(x)/2x, x = ‖φ‖/2
                                       : std::sin(0.5 * angle) / angle;
  Eigen::Quaterniond q;
  q.w() = std::cos(0.5 * angle);
  q.vec() = factor * rotation_vector;
  return q;
}

Eigen::Vector3d logarithm(const Eigen::Quaterniond& q) {
  const double sign = q.w() < 0 ? -1 : 1;
  const double w = sign * q.w(), sine = q.vec().norm();
  if (sine < kSmall * w) {
    const double x2 = sine * sine / (w * w);
    return sign * 2 / w * (1 - x2 * (1.0 / 3 - x2 / 5)) * q.vec();  // 2 atan(x)/x, x = ‖vec q‖/w
  }
  // The arcus tangent has no bad place, unlike the arcus cosine near 0 and the arcus sine near π.
  return sign * 2 * std::atan2(sine, w) / sine * q.vec();
}

double unwrap(double angle, double near) {
  constexpr double kTurn = 2 * std::numbers::pi;
  return angle + kTurn * std::round((near - angle) / kTurn);
}

}  // namespace stiction
