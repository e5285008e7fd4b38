// What every engine of the comparisons is asked for: where its bodies are and how they move.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace stiction::bench {

inline constexpr double kGravity = 9.81;  // [m/s²] along −z

/// Of the centre of mass.
struct BodyState {
  Eigen::Vector3d p_WB = Eigen::Vector3d::Zero();
  Eigen::Quaterniond R_WB = Eigen::Quaterniond::Identity();
  Eigen::Vector3d v_WB = Eigen::Vector3d::Zero();
  Eigen::Vector3d w_WB = Eigen::Vector3d::Zero();  // in world axes
};

inline bool is_finite(const BodyState& body) {
  return body.p_WB.allFinite() && body.R_WB.coeffs().allFinite() && body.v_WB.allFinite() &&
         body.w_WB.allFinite();
}

}  // namespace stiction::bench
