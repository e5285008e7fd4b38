// Rotations in space by rotation vectors φ (axis times angle, [rad]): q(φ) = (cos ‖φ‖/2,
// sin(‖φ‖/2) φ/‖φ‖). An orientation with body angular velocity ω moves over a step of length h to
// q ⊗ q(h ω); with world angular velocity the factor stands on the left. Accurate to rounding from
// denormal to half-turn rotations.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace stiction {

/// The matrix [u]× with [u]× v = u × v.
inline Eigen::Matrix3d make_cross_matrix(const Eigen::Vector3d& u) {
  Eigen::Matrix3d matrix;
  matrix << 0, -u.z(), u.y(), u.z(), 0, -u.x(), -u.y(), u.x(), 0;
  return matrix;
}

/// The unit quaternion of a rotation vector of any length.
Eigen::Quaterniond exponential(const Eigen::Vector3d& rotation_vector);

/// q ⊗ q(φ), normalised: rounding does not add up over many turns.
Eigen::Quaterniond turned(const Eigen::Quaterniond& q, const Eigen::Vector3d& rotation_vector);

/// The shortest rotation vector of q, ‖φ‖ ≤ π; q and −q give the same. Of the two for a half turn
/// it takes the one along vec q. The length of q does not matter, as long as it is not zero.
Eigen::Vector3d logarithm(const Eigen::Quaterniond& q);

/// The angle that differs from `angle` by whole turns and lies within half a turn of `near`.
double unwrap(double angle, double near);

}  // namespace stiction
