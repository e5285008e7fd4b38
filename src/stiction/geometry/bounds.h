// Boxes along the axes of a frame: what broad phases compare.
#pragma once

#include <Eigen/Core>

#include <limits>

namespace stiction {

/// All points between `lower` and `upper`; empty as constructed. Components may be infinite.
struct Bounds {
  Eigen::Vector3d lower =
      Eigen::Vector3d::Constant(std::numeric_limits<double>::infinity());  // [m]
  Eigen::Vector3d upper =
      Eigen::Vector3d::Constant(-std::numeric_limits<double>::infinity());  // [m]

  bool is_empty() const { return !(lower.array() <= upper.array()).all(); }

  void include(const Eigen::Vector3d& point) {
    lower = lower.cwiseMin(point);
    upper = upper.cwiseMax(point);
  }
  void include(const Bounds& other) {
    lower = lower.cwiseMin(other.lower);
    upper = upper.cwiseMax(other.upper);
  }
  /// Grows by `margin` on all sides.
  void widen(double margin) {
    lower.array() -= margin;
    upper.array() += margin;
  }
  bool contains(const Eigen::Vector3d& point) const {
    return (lower.array() <= point.array()).all() && (point.array() <= upper.array()).all();
  }
  bool contains(const Bounds& other) const {
    return (lower.array() <= other.lower.array()).all() &&
           (other.upper.array() <= upper.array()).all();
  }
  /// Boxes that only touch overlap.
  bool overlaps(const Bounds& other) const {
    return lower.x() <= other.upper.x() && other.lower.x() <= upper.x() &&
           lower.y() <= other.upper.y() && other.lower.y() <= upper.y() &&
           lower.z() <= other.upper.z() && other.lower.z() <= upper.z();
  }
};

}  // namespace stiction
