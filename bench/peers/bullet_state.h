// Vectors of Bullet as ours, and states of its bodies.
#pragma once

#include <btBulletDynamicsCommon.h>

#include "bench/peers/body_state.h"

namespace stiction::bench {

inline btVector3 to_bullet(const Eigen::Vector3d& v) { return {v.x(), v.y(), v.z()}; }
inline btQuaternion to_bullet(const Eigen::Quaterniond& q) { return {q.x(), q.y(), q.z(), q.w()}; }
inline Eigen::Vector3d to_eigen(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
inline Eigen::Quaterniond to_eigen(const btQuaternion& q) { return {q.w(), q.x(), q.y(), q.z()}; }

inline BodyState read_state(const btRigidBody& body) {
  const btTransform& X_WB = body.getWorldTransform();
  return {to_eigen(X_WB.getOrigin()), to_eigen(X_WB.getRotation()),
          to_eigen(body.getLinearVelocity()), to_eigen(body.getAngularVelocity())};
}

}  // namespace stiction::bench
