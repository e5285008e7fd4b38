// Where a frame is and how it is turned.
#pragma once

#include <Eigen/Core>

namespace stiction {

/// Of a frame F in a frame G: a point p of F is at position + rotation p in G.
struct Pose {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();      // [m]
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();  // orthonormal
};

/// Of F in H, for G in H and F in G.
inline Pose operator*(const Pose& outer, const Pose& inner) {
  return {outer.position + outer.rotation * inner.position, outer.rotation * inner.rotation};
}
/// Of G in F, for F in G.
inline Pose inverse(const Pose& pose) {
  return {-(pose.rotation.transpose() * pose.position), pose.rotation.transpose()};
}
inline Eigen::Vector3d operator*(const Pose& pose, const Eigen::Vector3d& point) {
  return pose.position + pose.rotation * point;
}

}  // namespace stiction
