// What all functions of a joint's geometry begin with: its frames turned into the world, and the
// two kinds of rows. Positions enter only as differences, so that nothing is lost far from the
// origin.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "stiction/model/joint_geometry.h"

namespace stiction {

/// In world coordinates.
struct JointFrames {
  Eigen::Matrix3d axes_a, axes_b;  // columns x, y, z
  Eigen::Vector3d arm_a, arm_b;    // [m] from the centre of mass to the frame's origin
  Eigen::Vector3d gap;             // [m] d = p_b − p_a

  Eigen::Vector3d x_a() const { return axes_a.col(0); }
  Eigen::Vector3d y_a() const { return axes_a.col(1); }
  Eigen::Vector3d z_a() const { return axes_a.col(2); }
  Eigen::Vector3d x_b() const { return axes_b.col(0); }
  Eigen::Vector3d y_b() const { return axes_b.col(1); }
  Eigen::Vector3d z_b() const { return axes_b.col(2); }
  /// From the centre of mass of body a to p_b.
  Eigen::Vector3d arm_a_to_b() const { return arm_a + gap; }
};

/// Arms and gap alone, for joints without axes; the axes of `frames` are left as they are.
inline void compute_joint_arms(const JointGeometry& joint, const Pose& a, const Pose& b,
                               JointFrames& frames) {
  frames.arm_a.noalias() = a.rotation * joint.frame_a.position;
  frames.arm_b.noalias() = b.rotation * joint.frame_b.position;
  frames.gap = (b.position - a.position) + (frames.arm_b - frames.arm_a);
}

inline JointFrames compute_joint_frames(const JointGeometry& joint, const Pose& a, const Pose& b) {
  JointFrames frames;
  frames.axes_a.noalias() = a.rotation * joint.frame_a.rotation;
  frames.axes_b.noalias() = b.rotation * joint.frame_b.rotation;
  compute_joint_arms(joint, a, b, frames);
  return frames;
}

/// d/dt of −u·(point of a) + u·(point of b) for material points at `arm_a`, `arm_b` from the
/// centres of mass and a direction u at rest. Also of u·d for an axis u of body a, with both points
/// at p_b: the turning of u, d·(ω_a × u), is what moves a's point from p_a there.
inline void set_point_row(const Pose& a, const Pose& b, const Eigen::Vector3d& arm_a,
                          const Eigen::Vector3d& arm_b, const Eigen::Vector3d& u, PairRow& row) {
  row.a.head<3>() = -u;
  row.a.tail<3>().noalias() = a.rotation.transpose() * u.cross(arm_a);
  row.b.head<3>() = u;
  row.b.tail<3>().noalias() = b.rotation.transpose() * arm_b.cross(u);
}

/// g·(ω_b − ω_a). For axes fixed in the bodies (u_b·w_a)' is of this form with g = u_b × w_a.
inline void set_turn_row(const Pose& a, const Pose& b, const Eigen::Vector3d& g, PairRow& row) {
  row.a.head<3>().setZero();
  row.a.tail<3>().noalias() = -(a.rotation.transpose() * g);
  row.b.head<3>().setZero();
  row.b.tail<3>().noalias() = b.rotation.transpose() * g;
}

/// The gradient of the joint angle, angle' = g·(ω_b − ω_a), g = (z_a + z_b)/(1 + z_a·z_b). With the
/// quaternion q from frame a to b, angle = 2 atan2(q_z, q_w); q' = ½ ω ⊗ q gives in frame a
/// angle' = ω_z + (ω_x R₀₂ + ω_y R₁₂)/(1 + R₂₂), and (R₀₂, R₁₂, R₂₂) is z_b.
inline Eigen::Vector3d compute_angle_gradient(const JointFrames& frames) {
  const Eigen::Vector3d z_a = frames.z_a(), z_b = frames.z_b();
  return (z_a + z_b) / (1 + z_a.dot(z_b));
}

/// The rotation from frame a to frame b as a quaternion with w ≥ 0, its vector in frame a.
inline Eigen::Quaterniond compute_turn(const JointFrames& frames) {
  Eigen::Quaterniond q(frames.axes_a.transpose() * frames.axes_b);
  if (q.w() < 0) q.coeffs() *= -1;
  return q;
}

/// The unit vector along d; z_a where there is none.
inline Eigen::Vector3d compute_gap_direction(const JointFrames& frames) {
  const double length = frames.gap.norm();
  if (length > 0) return frames.gap / length;
  return frames.z_a();
}

/// How a disc stands on its plane with normal n = z_a. The contact is at p_b − radius·u.
struct DiscStance {
  Eigen::Vector3d u;  // steepest direction in the disc; its x axis when it lies flat
  double sine = 0;    // ‖n × z_b‖ = n·u, 1 when upright
};

inline DiscStance compute_disc_stance(const JointFrames& frames) {
  const Eigen::Vector3d z_b = frames.z_b(), level = frames.z_a().cross(z_b);
  const double sine = level.norm();
  if (sine > 0) return {.u = z_b.cross(level) / sine, .sine = sine};
  return {.u = frames.x_b(), .sine = 0};
}

/// From p_b to the contact of a rolling disc or ball.
inline Eigen::Vector3d compute_contact_offset(const JointGeometry& joint,
                                              const JointFrames& frames) {
  const bool is_disc = joint.type == JointType::kRollingDisc;
  return -joint.radius * (is_disc ? compute_disc_stance(frames).u : frames.z_a());
}

}  // namespace stiction
