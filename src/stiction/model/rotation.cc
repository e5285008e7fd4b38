#include "stiction/model/rotation.h"

#include <cmath>
#include <numbers>

namespace stiction {

namespace {

/// Up to here, x² of half an angle of 0.5 rad, series are as exact as roots, sines and cosines, and
/// take a fraction of their time: what is left out is below 1e-17 of the whole.
constexpr double kSeries = 0.0625;

/// sin(x)/x and cos x from x².
double sine_series(double x2) {
  return 1 - x2 * (1.0 / 6 - x2 * (1.0 / 120 - x2 * (1.0 / 5040 -
                                                     x2 * (1.0 / 362880 - x2 * (1.0 / 39916800)))));
}
double cosine_series(double x2) {
  constexpr double k10 = 3628800, k12 = 479001600;  // factorials
  return 1 -
         x2 * (0.5 - x2 * (1.0 / 24 - x2 * (1.0 / 720 -
                                            x2 * (1.0 / 40320 - x2 * (1 / k10 - x2 * (1 / k12))))));
}

/// Below this angle the logarithm takes three terms of its series; the first one left out is of
/// relative size 1e-20.
constexpr double kSmall = 1e-3;

}  // namespace

Eigen::Quaterniond exponential(const Eigen::Vector3d& rotation_vector) {
  // Where the square underflows it does no harm.
  const double square = rotation_vector.squaredNorm(), x2 = 0.25 * square;
  Eigen::Quaterniond q;
  if (x2 <= kSeries) {
    q.w() = cosine_series(x2);
    q.vec() = (0.5 * sine_series(x2)) * rotation_vector;
  } else {
    const double angle = std::sqrt(square);
    q.w() = std::cos(0.5 * angle);
    q.vec() = (std::sin(0.5 * angle) / angle) * rotation_vector;
  }
  return q;
}

Eigen::Quaterniond turned(const Eigen::Quaterniond& q, const Eigen::Vector3d& rotation_vector) {
  Eigen::Quaterniond product = q * exponential(rotation_vector);
  const double square = product.squaredNorm(), excess = square - 1;
  // 1/√(1 + e) = 1 − e/2 + 3/8 e² − …
  constexpr double kNearlyOne = 1e-9;
  product.coeffs() *= std::abs(excess) < kNearlyOne ? 1 - 0.5 * excess : 1 / std::sqrt(square);
  return product;
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
