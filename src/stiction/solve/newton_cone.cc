#include "stiction/solve/newton_cone.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction::lorentz {

double determinant(const Vector& x) {
  const double tail = x.tail<2>().norm();
  return (x[0] - tail) * (x[0] + tail);
}

Vector product(const Vector& x, const Vector& y) {
  Vector out;
  out[0] = x.dot(y);
  out.tail<2>() = x[0] * y.tail<2>() + y[0] * x.tail<2>();
  return out;
}

Vector divide(const Vector& y, const Vector& x) {
  Vector out;
  out[0] = (x[0] * y[0] - x.tail<2>().dot(y.tail<2>())) / determinant(x);
  out.tail<2>() = (y.tail<2>() - out[0] * x.tail<2>()) / x[0];
  return out;
}

Scaling make_scaling(const Vector& x, const Vector& y) {
  const double x_size = std::sqrt(determinant(x)), y_size = std::sqrt(determinant(y));
  const Vector a = x / x_size, b = y / y_size;
  const double gamma = 2 * std::sqrt((1 + a.dot(b)) / 2);
  const double w0 = (a[0] + b[0]) / gamma;
  const Eigen::Vector2d w = (a.tail<2>() - b.tail<2>()) / gamma;
  Scaling out;
  out.F(0, 0) = w0;
  out.F.block<1, 2>(0, 1) = w.transpose();
  out.F.block<2, 1>(1, 0) = w;
  out.F.block<2, 2>(1, 1) = Eigen::Matrix2d::Identity() + w * w.transpose() / (1 + w0);
  out.inverse = out.F;
  out.inverse.block<1, 2>(0, 1) *= -1;
  out.inverse.block<2, 1>(1, 0) *= -1;
  const double eta = std::sqrt(x_size / y_size);
  out.F *= eta;
  out.inverse /= eta;
  return out;
}

double step_to_boundary(const Vector& x, const Vector& d) {
  const double a = d[0] * d[0] - d.tail<2>().squaredNorm();
  const double b = 2 * (x[0] * d[0] - x.tail<2>().dot(d.tail<2>()));
  const double c = determinant(x);
  double step = d[0] < 0 ? -x[0] / d[0] : std::numeric_limits<double>::max();
  const auto consider = [&step](double t) {
    if (t > 0) step = std::min(step, t);
  };
  const double discriminant = b * b - 4 * a * c;
  if (discriminant < 0) return step;
  const double root = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  if (a != 0) consider(root / a);
  if (root != 0) consider(c / root);
  return step;
}

}  // namespace stiction::lorentz
