#include "stiction/geometry/box_separation.h"

#include <Eigen/Geometry>
#include <cmath>

namespace stiction {

using Eigen::Matrix3d;
using Eigen::Vector3d;

DirectedSeparation find_box_separation(const ConvexPair& pair) {
  const Matrix3d& R = pair.rotation();
  const Matrix3d size_of = R.cwiseAbs();
  const Vector3d &a = pair.a().half(), &b = pair.b().half();
  const Vector3d from_b = -pair.position();
  const double rounding = 8 * std::numeric_limits<double>::epsilon() * pair.size();
  DirectedSeparation best{Vector3d::UnitX(), -std::numeric_limits<double>::infinity()};
  const auto offer = [&](const Vector3d& n, double along, double value) {
    if (value > best.value + rounding) best = {along < 0 ? Vector3d(-n) : n, value};
  };
  for (int i = 0; i < 3; ++i) {
    const double along = from_b[i];
    offer(Vector3d::Unit(i), along, std::abs(along) - a[i] - size_of.row(i).dot(b));
  }
  for (int j = 0; j < 3; ++j) {
    const double along = R.col(j).dot(from_b);
    offer(R.col(j), along, std::abs(along) - b[j] - size_of.col(j).dot(a));
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const Vector3d cross = Vector3d::Unit(i).cross(R.col(j));
      const double sine = cross.norm();
      // What edges closer to parallel lose beside faces is rounding; others lose up to the sine.
      if (!(sine > 1e-15)) continue;
      // Projected with the rounded unit vector itself, so that this bounds the gap in any case.
      const Vector3d n = cross / sine;
      const double along = n.dot(from_b);
      offer(n, along,
            std::abs(along) - n.cwiseAbs().dot(a) - (R.transpose() * n).cwiseAbs().dot(b));
    }
  }
  return best;
}

}  // namespace stiction
