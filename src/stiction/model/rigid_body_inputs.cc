// What comes to rigid bodies from outside while they move: wrenches, efforts of joints, states.
#include <fmt/format.h>

#include <cmath>

#include "stiction/base/error.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/model/rotation.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

/// A velocity along a locked axis below this share of all is rounding.
constexpr double kLockedShare = 1e-9;

/// Quaternions that are further from unit length are mistakes, not rounding.
constexpr double kQuaternionTolerance = 1e-3;

}  // namespace

void RigidBodySystem::add_six(int body, const Vector6d& six, VectorRef force) const {
  if (body == kWorld || bodies_[body].block < 0) return;
  std::array<double, 6> free;
  project(bodies_[body], six, free.data());
  for (int i = 0; i < bodies_[body].num_dofs; ++i) force[bodies_[body].v_offset + i] += free[i];
}

void RigidBodySystem::add_wrench(double t, const ConstVectorRef& q, int body, const Wrench& wrench,
                                 VectorRef force) const {
  if (body == kWorld) return;
  const Matrix3d to_body = pose_of(t, q, body).rotation.transpose();
  const Vector3d arm = wrench.point - bodies_[body].center;
  Vector6d six;
  six << wrench.force, to_body * wrench.torque + arm.cross(to_body * wrench.force);
  add_six(body, six, force);
}

void RigidBodySystem::add_joint_effort(double t, const ConstVectorRef& q, int joint,
                                       JointCoordinate coordinate, double effort,
                                       VectorRef force) const {
  const Joint& at = joints_[joint];
  const PairRow row = evaluate_coordinate_row(at.geometry, coordinate, pose_of(t, q, at.bodies[0]),
                                              pose_of(t, q, at.bodies[1]));
  add_six(at.bodies[0], effort * row.a, force);
  add_six(at.bodies[1], effort * row.b, force);
}

void RigidBodySystem::adopt_recorded(double t, const ConstVectorRef& recorded_q,
                                     const ConstVectorRef& recorded_v, VectorRef q,
                                     VectorRef v) const {
  VectorXd unit = recorded_q;
  for (const int index : block_body_) {
    auto turn = unit.segment<4>(7 * bodies_[index].recorded + 3);
    if (!(std::abs(turn.norm() - 1) <= kQuaternionTolerance))
      throw InputError(fmt::format("quaternion of '{}' has length {}, must be 1",
                                   description_.bodies[index].name, turn.norm()));
    turn.normalize();
  }
  restore(unit, recorded_v, q, v);
  VectorXd shown_q(num_recorded_q()), shown_v(num_recorded_v());
  record(t, q, v, shown_q, shown_v);
  for (const int index : block_body_) {
    const auto wanted = recorded_v.segment<6>(6 * bodies_[index].recorded);
    const double missing = (shown_v.segment<6>(6 * bodies_[index].recorded) - wanted).norm();
    if (!(missing <= kLockedShare * wanted.norm()))
      throw InputError(
          fmt::format("velocity of '{}' has a component of {} along an axis that is not free",
                      description_.bodies[index].name, missing));
  }
  int recorded_angle = 7 * num_recorded_;
  for (const Joint& joint : joints_) {
    if (joint.angle[0] < 0) continue;
    const Pose a = pose_of(0, q, joint.bodies[0]), b = pose_of(0, q, joint.bodies[1]);
    for (int k = 0; k < 2 && joint.angle[k] >= 0; ++k)
      q[joint.angle[k]] = angle_of(joint, k, a, b, recorded_q[recorded_angle++]);
  }
}

}  // namespace stiction
