// What joints exert on their bodies.
#include <fmt/format.h>

#include "stiction/model/rigid_body_system.h"

namespace stiction {

using Eigen::Vector3d;

RigidBodySystem::Reaction RigidBodySystem::evaluate_reaction(double t, const ConstVectorRef& q,
                                                             const ConstVectorRef& joint_rows,
                                                             int index) const {
  std::array<PairRow, kMaxJointRows> rows;
  const Joint& joint = joints_[index];
  const int n = stiction::num_constraints(joint.geometry.type);
  const std::array<Pose, 2> poses{pose_of(t, q, joint.bodies[0]), pose_of(t, q, joint.bodies[1])};
  evaluate_constraint_rows(joint.geometry, poses[0], poses[1], std::span(rows).first(n));
  std::array<Vector6d, 2> wrench{Vector6d::Zero(), Vector6d::Zero()};
  for (int i = 0; i < n; ++i) {
    wrench[0] += joint_rows[joint.constraint_start + i] * rows[i].a;
    wrench[1] += joint_rows[joint.constraint_start + i] * rows[i].b;
  }
  const int num_velocity = stiction::num_velocity_rows(joint.geometry.type);
  evaluate_velocity_rows(joint.geometry, poses[0], poses[1], std::span(rows).first(num_velocity));
  for (int i = 0; i < num_velocity; ++i) {
    const double force = joint_rows[num_constraints() + joint.velocity_row_start + i];
    wrench[0] += force * rows[i].a;
    wrench[1] += force * rows[i].b;
  }
  Reaction reaction;
  for (const int side : {0, 1}) {
    const Vector3d arm = (side == 0 ? joint.geometry.frame_a : joint.geometry.frame_b).position;
    reaction.force[side] = poses[side].rotation.transpose() * wrench[side].head<3>();
    reaction.torque[side] = wrench[side].tail<3>() - arm.cross(reaction.force[side]);
  }
  return reaction;
}

void RigidBodySystem::evaluate_reactions(double t, const ConstVectorRef& q,
                                         const ConstVectorRef& joint_rows,
                                         VectorRef reactions) const {
  for (int j = 0; j < static_cast<int>(joints_.size()); ++j) {
    const Reaction reaction = evaluate_reaction(t, q, joint_rows, j);
    for (const int side : {0, 1}) {
      reactions.segment<3>(12 * j + 6 * side) = reaction.force[side];
      reactions.segment<3>(12 * j + 6 * side + 3) = reaction.torque[side];
    }
  }
}

void RigidBodySystem::evaluate_reactions(double t, const ConstVectorRef& q,
                                         const ConstVectorRef& joint_rows,
                                         std::vector<Reaction>& reactions) const {
  reactions.resize(joints_.size());
  for (int j = 0; j < static_cast<int>(joints_.size()); ++j)
    reactions[j] = evaluate_reaction(t, q, joint_rows, j);
}

std::vector<std::string> RigidBodySystem::reaction_names() const {
  std::vector<std::string> names;
  for (const JointDescription& joint : description_.joints)
    for (const char* side : {"a", "b"})
      for (const char* component : {"fx", "fy", "fz", "tx", "ty", "tz"})
        names.push_back(fmt::format("{}.{}.{}", joint.name, side, component));
  return names;
}

}  // namespace stiction
