// Bodies: how they move, their masses and forces. Rows are in rigid_body_rows.cc, contacts in
// rigid_body_contacts.cc, the way from the description in rigid_body_building.cc.
#include "stiction/model/rigid_body_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/pair.h"
#include "stiction/base/worker_pool.h"
#include "stiction/model/derivative.h"
#include "stiction/model/rotation.h"

namespace stiction {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

TimeFunctions::TimeFunctions(std::span<const Expression> functions) {
  std::shared_ptr<ExpressionPool> pool;
  for (const Expression& function : functions)
    if (!function.is_constant()) pool = function.pool();
  std::vector<Expression> outputs(functions.begin(), functions.end());
  std::vector<Expression> inputs;
  if (pool) {
    const Expression t = Expression::symbol(pool, "t");
    inputs.push_back(t);
    for (const Expression& function : functions)
      outputs.push_back(function.is_constant() ? Expression(0) : differentiate(function, t));
  } else {
    outputs.resize(2 * functions.size(), Expression(0));
  }
  tape_ = Tape(outputs, inputs);
}

void TimeFunctions::evaluate(double t, double* values_and_rates) const {
  tape_.evaluate(std::span<const double>(&t, tape_.num_inputs()), values_and_rates);
}

namespace {

/// Bodies that one task takes.
constexpr int kBodyGrain = 64;

Quaterniond quaternion_at(const double* q) { return {q[0], q[1], q[2], q[3]}; }

void store(const Quaterniond& from, double* q) {
  q[0] = from.w();
  q[1] = from.x();
  q[2] = from.y();
  q[3] = from.z();
}

}  // namespace

/// The free components of a force (world force, body torque) or of a row.
template <class Six>
void RigidBodySystem::project(const Body& body, const Six& six, double* out) const {
  if (body.num_dofs == 6) {  // all of them, in their order
    for (int i = 0; i < 6; ++i) out[i] = six[i];
    return;
  }
  for (int i = 0; i < body.num_linear; ++i) out[i] = six[body.linear[i]];
  out += body.num_linear;
  if (body.num_angular == 3)
    for (int i = 0; i < 3; ++i) out[i] = six[3 + i];
  else if (body.num_angular == 1)
    out[0] = body.axis.dot(six.template tail<3>());
}
template void RigidBodySystem::project(const Body&, const Vector6d&, double*) const;

/// All six components of a velocity from the free ones.
Vector6d RigidBodySystem::expand(const Body& body, const double* v) const {
  Vector6d six = Vector6d::Zero();
  for (int i = 0; i < body.num_linear; ++i) six[body.linear[i]] = v[i];
  v += body.num_linear;
  if (body.num_angular == 3)
    six.tail<3>() = Eigen::Map<const Vector3d>(v);
  else if (body.num_angular == 1)
    six.tail<3>() = v[0] * body.axis;
  return six;
}

/// 6 × num_dofs: six = basis · free.
RigidBodySystem::Basis RigidBodySystem::basis_of(const Body& body) const {
  Basis basis = Basis::Zero(6, body.num_dofs);
  for (int i = 0; i < body.num_linear; ++i) basis(body.linear[i], i) = 1;
  if (body.num_angular == 3)
    basis.bottomRightCorner<3, 3>().setIdentity();
  else if (body.num_angular == 1)
    basis.block<3, 1>(3, body.num_linear) = body.axis;
  return basis;
}

Pose RigidBodySystem::pose_of(double t, const ConstVectorRef& q, int body) const {
  if (body == kWorld) return {};
  const Body& b = bodies_[body];
  if (b.block >= 0) {
    Pose pose;
    place_body(t, q, body, pose);
    return pose;
  }
  if (b.motion < 0) return b.start;
  const BodyDescription& description = description_.bodies[body];
  std::array<double, 8> motion;  // shift, angle, their rates
  motions_[b.motion].evaluate(t, motion.data());
  const Matrix3d rotation =
      Eigen::AngleAxisd(motion[3], description.turn_axis).toRotationMatrix() * b.start.rotation;
  const Vector3d origin = description.position + Eigen::Map<const Vector3d>(motion.data());
  return {origin + rotation * b.center, rotation};
}

/// Columns of the rotation are stored in pairs, as products load them: a load has to wait until a
/// store that it overlaps only in part has left the processor.
void RigidBodySystem::place_body(double t, const ConstVectorRef& q, int body, Pose& pose) const {
  if (body == kWorld || bodies_[body].block < 0) {
    pose = pose_of(t, q, body);
    return;
  }
  const double* at = q.data() + bodies_[body].q_offset;
  pose.position = Eigen::Map<const Vector3d>(at);
  const double w = at[3], x = at[4], y = at[5], z = at[6];
  const double xx = 2 * x * x, yy = 2 * y * y, zz = 2 * z * z;
  const double xy = 2 * y * x, xz = 2 * z * x, yz = 2 * z * y;
  const double wx = 2 * x * w, wy = 2 * y * w, wz = 2 * z * w;
  double* R = pose.rotation.data();
  store_pair(Pair{1 - (yy + zz), xy + wz}, R);
  R[2] = xz - wy;
  store_pair(Pair{xy - wz, 1 - (xx + zz)}, R + 3);
  R[5] = yz + wx;
  store_pair(Pair{xz + wy, yz - wx}, R + 6);
  R[8] = 1 - (xx + yy);
}

Vector6d RigidBodySystem::velocity_of(double t, const ConstVectorRef& v, int body) const {
  if (body == kWorld) return Vector6d::Zero();
  const Body& b = bodies_[body];
  if (b.block >= 0) return expand(b, v.data() + b.v_offset);
  if (b.motion < 0) return Vector6d::Zero();
  const BodyDescription& description = description_.bodies[body];
  std::array<double, 8> motion;
  motions_[b.motion].evaluate(t, motion.data());
  const Matrix3d rotation =
      Eigen::AngleAxisd(motion[3], description.turn_axis).toRotationMatrix() * b.start.rotation;
  const Vector3d angular = motion[7] * description.turn_axis;
  Vector6d six;
  six.head<3>() =
      Eigen::Map<const Vector3d>(motion.data() + 4) + angular.cross(rotation * b.center);
  six.tail<3>() = rotation.transpose() * angular;
  return six;
}

std::string RigidBodySystem::name_of_velocity(int i) const {
  static constexpr const char* kAxes[] = {"x", "y", "z", "rx", "ry", "rz"};
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    const int k = i - body.v_offset;
    if (k >= body.num_dofs) continue;
    const char* axis = "rotation";
    if (k < body.num_linear)
      axis = kAxes[body.linear[k]];
    else if (body.num_angular == 3)
      axis = kAxes[3 + k - body.num_linear];
    return fmt::format("{}.{}", description_.bodies[index].name, axis);
  }
  return {};
}

std::vector<std::string> RigidBodySystem::recorded_q_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (bodies_[i].recorded >= 0)
      for (const char* axis : {"x", "y", "z", "qw", "qx", "qy", "qz"})
        names.push_back(fmt::format("{}.{}", description_.bodies[i].name, axis));
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    const bool has_two = joints_[i].angle[1] >= 0;
    if (joints_[i].angle[0] >= 0)
      names.push_back(fmt::format("{}.angle{}", description_.joints[i].name, has_two ? "_x" : ""));
    if (has_two) names.push_back(fmt::format("{}.angle_y", description_.joints[i].name));
  }
  return names;
}

std::vector<std::string> RigidBodySystem::recorded_v_names() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < bodies_.size(); ++i)
    if (bodies_[i].recorded >= 0)
      for (const char* axis : {"vx", "vy", "vz", "wx", "wy", "wz"})
        names.push_back(fmt::format("{}.{}", description_.bodies[i].name, axis));
  return names;
}

/// Frames of bodies, and their velocities in world axes.
void RigidBodySystem::record(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                             VectorRef recorded_q, VectorRef recorded_v) const {
  for (int i = 0; i < static_cast<int>(bodies_.size()); ++i) {
    const Body& body = bodies_[i];
    if (body.recorded < 0) continue;
    const Pose pose = pose_of(t, q, i);
    const Vector6d velocity = velocity_of(t, v, i);
    const Vector3d arm = pose.rotation * body.center;
    const Vector3d angular = pose.rotation * velocity.tail<3>();
    double* q_out = recorded_q.data() + 7 * static_cast<std::ptrdiff_t>(body.recorded);
    Eigen::Map<Vector3d> origin(q_out);
    origin = pose.position - arm;
    if (body.block >= 0)
      store(quaternion_at(q.data() + body.q_offset + 3), q_out + 3);
    else
      store(Quaterniond(pose.rotation), q_out + 3);
    recorded_v.segment<3>(6 * body.recorded) = velocity.head<3>() - angular.cross(arm);
    recorded_v.segment<3>(6 * body.recorded + 3) = angular;
  }
  for (int j = 0, k = 7 * num_recorded_; j < static_cast<int>(joints_.size()); ++j)
    for (const JointCoordinate coordinate : joint_coordinates(joints_[j].geometry.type))
      if (is_angle(coordinate)) recorded_q[k++] = coordinate_value(t, q, j, coordinate);
}

void RigidBodySystem::restore(const ConstVectorRef& recorded_q, const ConstVectorRef& recorded_v,
                              VectorRef q, VectorRef v) const {
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    const double* from = recorded_q.data() + 7 * static_cast<std::ptrdiff_t>(body.recorded);
    double* to = q.data() + body.q_offset;
    std::copy_n(from + 3, 4, to + 3);
    const Matrix3d rotation = quaternion_at(from + 3).toRotationMatrix();
    const Vector3d arm = rotation * body.center;
    Eigen::Map<Vector3d> center(to);
    center = Eigen::Map<const Vector3d>(from) + arm;
    const Vector3d angular = recorded_v.segment<3>(6 * body.recorded + 3);
    Vector6d six;
    six.head<3>() = recorded_v.segment<3>(6 * body.recorded) + angular.cross(arm);
    six.tail<3>() = rotation.transpose() * angular;
    project(body, six, v.data() + body.v_offset);
  }
  int next = 7 * num_recorded_;
  for (const Joint& joint : joints_)
    for (const int angle : joint.angle)
      if (angle >= 0) q[angle] = recorded_q[next++];
}

void RigidBodySystem::displace(const ConstVectorRef& q, const ConstVectorRef& v, double h,
                               VectorRef out, WorkerPool* workers) const {
  run_numbers(workers, num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const Body& body = bodies_[block_body_[b]];
      const Vector6d six = expand(body, v.data() + body.v_offset);
      const double* from = q.data() + body.q_offset;
      double* to = out.data() + body.q_offset;
      for (int i = 0; i < 3; ++i) to[i] = from[i] + h * six[i];
      // What rests keeps its pose to the bit: normalizing it once more could change it.
      if (body.num_angular == 0 || six.isZero(0))
        store(quaternion_at(from + 3), to + 3);
      else
        store(turned(quaternion_at(from + 3), h * six.tail<3>()), to + 3);
    }
  });
  if (num_angles_ > 0) update_angles(q, v, h, out);
}

/// Angles of joints at the poses in q, each within half a turn of where the displacement h v takes
/// it from `start`.
void RigidBodySystem::update_angles(const ConstVectorRef& start, const ConstVectorRef& v, double h,
                                    VectorRef q) const {
  for (const Joint& joint : joints_) {
    if (joint.angle[0] < 0) continue;
    // Joints with angles to kinematic bodies are evaluated where those stood at the start of the
    // run; the angle is only remembered for its whole turns and corrected where it is used.
    const Pose a = pose_of(0, q, joint.bodies[0]), b = pose_of(0, q, joint.bodies[1]);
    for (int k = 0; k < 2 && joint.angle[k] >= 0; ++k) {
      const double turn = h * compute_angular_rate(joint, start, v);
      q[joint.angle[k]] = angle_of(joint, k, a, b, start[joint.angle[k]] + (k == 0 ? turn : 0));
    }
  }
}

/// How fast the second body turns about the axis of a joint that has one; for a universal joint,
/// whose angles stay within half a turn per step in any machine, 0.
double RigidBodySystem::compute_angular_rate(const Joint& joint, const ConstVectorRef& q,
                                             const ConstVectorRef& v) const {
  if (joint.geometry.type == JointType::kUniversal) return 0;
  Vector3d rate = Vector3d::Zero();
  Vector3d axis = joint.geometry.frame_a.rotation.col(2);
  for (const int side : {0, 1}) {
    const int body = joint.bodies[side];
    if (body == kWorld || bodies_[body].block < 0) {
      if (side == 0) axis = pose_of(0, q, body).rotation * axis;
      continue;
    }
    const Pose pose = pose_of(0, q, body);
    const Vector3d omega =
        pose.rotation * expand(bodies_[body], v.data() + bodies_[body].v_offset).tail<3>();
    if (side == 0) axis = pose.rotation * axis;
    rate += side == 0 ? Vector3d(-omega) : omega;
  }
  return axis.dot(rate);
}

double RigidBodySystem::angle_of(const Joint& joint, int which, const Pose& a, const Pose& b,
                                 double near) const {
  const JointCoordinate coordinate = joint.geometry.type != JointType::kUniversal
                                         ? JointCoordinate::kAngle
                                     : which == 0 ? JointCoordinate::kAngleX
                                                  : JointCoordinate::kAngleY;
  return unwrap(evaluate_coordinate(joint.geometry, coordinate, a, b), near);
}

void RigidBodySystem::displacement(const ConstVectorRef& from, const ConstVectorRef& to,
                                   VectorRef out) const {
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    const double *a = from.data() + body.q_offset, *b = to.data() + body.q_offset;
    Vector6d six;
    for (int i = 0; i < 3; ++i) six[i] = b[i] - a[i];
    six.tail<3>() = body.num_angular == 0
                        ? Vector3d(Vector3d::Zero())
                        : logarithm(quaternion_at(a + 3).conjugate() * quaternion_at(b + 3));
    project(body, six, out.data() + body.v_offset);
  }
}

/// Places in metres; a rotation is never larger than about one radian.
void RigidBodySystem::measure_coordinates(const ConstVectorRef& q, VectorRef sizes) const {
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    Vector6d six = Vector6d::Ones();
    six.head<3>() = Eigen::Map<const Vector3d>(q.data() + body.q_offset).cwiseAbs();
    for (int i = 0; i < body.num_linear; ++i) sizes[body.v_offset + i] = six[body.linear[i]];
    for (int i = body.num_linear; i < body.num_dofs; ++i) sizes[body.v_offset + i] = 1;
  }
}

void RigidBodySystem::evaluate_block_mass(double, const ConstVectorRef&, int block,
                                          RowMatrixRef mass) const {
  const Body& body = bodies_[block_body_[block]];
  mass.setZero();
  for (int i = 0; i < body.num_linear; ++i) mass(i, i) = body.mass;
  if (body.num_angular == 3)
    mass.bottomRightCorner<3, 3>() = body.inertia;
  else if (body.num_angular == 1)
    mass(body.num_linear, body.num_linear) = body.axis.dot(body.inertia * body.axis);
}

void RigidBodySystem::evaluate_masses(double t, const ConstVectorRef& q, std::span<double> masses,
                                      WorkerPool* workers) const {
  run_numbers(workers, num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const Body& body = bodies_[block_body_[b]];
      const int n = body.num_dofs;
      double* mass = masses.data() + body.mass_start;
      std::fill_n(mass, n * n, 0.0);
      if (n != 6) {
        evaluate_block_mass(t, q, b, RowMatrixMap(mass, n, n));
        continue;
      }
      for (int i = 0; i < 3; ++i) {
        mass[7 * i] = body.mass;
        for (int j = 0; j < 3; ++j) mass[21 + 6 * i + j] = body.inertia(i, j);
      }
    }
  });
}

double RigidBodySystem::evaluate_kinetic_energy(double, const ConstVectorRef&,
                                                const ConstVectorRef& v,
                                                std::vector<double>&) const {
  double twice = 0;
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    const double* part = v.data() + body.v_offset;
    double square = 0;
    for (int i = 0; i < body.num_linear; ++i) square += part[i] * part[i];
    twice += body.mass * square;
    part += body.num_linear;
    if (body.num_angular == 3) {
      const Eigen::Map<const Vector3d> omega(part);
      twice += omega.dot(body.inertia * omega);
    } else if (body.num_angular == 1) {
      twice += part[0] * part[0] * body.axis.dot(body.inertia * body.axis);
    }
  }
  return 0.5 * twice;
}

void RigidBodySystem::evaluate_force(double t, const ConstVectorRef& q, const ConstVectorRef& v,
                                     VectorRef force) const {
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    double* out = force.data() + body.v_offset;
    for (int i = 0; i < body.num_linear; ++i)
      out[i] = body.mass * description_.gravity[body.linear[i]];
    out += body.num_linear;
    if (body.num_angular == 3) {
      const Eigen::Map<const Vector3d> omega(v.data() + body.v_offset + body.num_linear);
      Eigen::Map<Vector3d> torque(out);
      torque = (body.inertia * omega).cross(omega);
    } else if (body.num_angular == 1) {
      out[0] = 0;
    }
  }
  add_applied(t, q, force);
}

void RigidBodySystem::evaluate_applied_force(double t, const ConstVectorRef& q,
                                             const ConstVectorRef&, VectorRef force) const {
  force.setZero();
  add_applied(t, q, force);
}

void RigidBodySystem::add_applied(double t, const ConstVectorRef& q, VectorRef force) const {
  for (const Force& applied : forces_) {
    const Body& body = bodies_[applied.body];
    if (body.block < 0) continue;
    std::array<double, 12> values;  // force, torque, their rates
    applied.functions.evaluate(t, values.data());
    const Matrix3d rotation = pose_of(t, q, applied.body).rotation;
    const Eigen::Map<const Vector3d> f(values.data()), torque(values.data() + 3);
    Vector6d six;
    six.head<3>() = applied.is_body_fixed ? Vector3d(rotation * f) : Vector3d(f);
    six.tail<3>() =
        applied.is_body_fixed
            ? Vector3d(torque + applied.arm.cross(f))
            : Vector3d(rotation.transpose() * torque + applied.arm.cross(rotation.transpose() * f));
    std::array<double, 6> free;
    project(body, six, free.data());
    for (int i = 0; i < body.num_dofs; ++i) force[body.v_offset + i] += free[i];
  }
}

double RigidBodySystem::evaluate_potential(double, const ConstVectorRef& q) const {
  double sum = 0;
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    sum -=
        body.mass * description_.gravity.dot(Eigen::Map<const Vector3d>(q.data() + body.q_offset));
  }
  return sum;
}

void RigidBodySystem::evaluate_block_jacobians(double t, const ConstVectorRef& q,
                                               const ConstVectorRef& v, int block, RowMatrixRef k_q,
                                               RowMatrixRef k_v) const {
  const int index = block_body_[block];
  const Body& body = bodies_[index];
  k_q.setZero();
  k_v.setZero();
  if (body.num_angular == 3) {
    const Vector3d omega = v.segment<3>(body.v_offset + body.num_linear);
    k_v.bottomRightCorner<3, 3>() =
        make_cross_matrix(body.inertia * omega) - make_cross_matrix(omega) * body.inertia;
  }
  for (const Force& applied : forces_) {
    if (applied.body != index || body.num_angular == 0) continue;
    std::array<double, 12> values;
    applied.functions.evaluate(t, values.data());
    const Eigen::Map<const Vector3d> f(values.data()), torque(values.data() + 3);
    const Matrix3d rotation = pose_of(t, q, index).rotation;
    Matrix6d slope = Matrix6d::Zero();  // turning the body by δφ turns Rᵀf by Rᵀf × δφ
    if (applied.is_body_fixed) {
      slope.topRightCorner<3, 3>() = -rotation * make_cross_matrix(f);
    } else {
      const Vector3d f_body = rotation.transpose() * f, torque_body = rotation.transpose() * torque;
      slope.bottomRightCorner<3, 3>() = make_cross_matrix(applied.arm) * make_cross_matrix(f_body) +
                                        make_cross_matrix(torque_body);
    }
    const Basis basis = basis_of(body);
    k_q += basis.transpose() * slope * basis;
  }
}

void RigidBodySystem::evaluate_block_gyroscopic(double, const ConstVectorRef&,
                                                const ConstVectorRef& v, int block,
                                                RowMatrixRef gyroscopic) const {
  const Body& body = bodies_[block_body_[block]];
  gyroscopic.setZero();
  if (body.num_angular != 3) return;
  const Vector3d omega = v.segment<3>(body.v_offset + body.num_linear);
  gyroscopic.bottomRightCorner<3, 3>() = -make_cross_matrix(body.inertia * omega);
}

void RigidBodySystem::add_gyroscopic(double, const ConstVectorRef&, const ConstVectorRef& v,
                                     double factor, std::span<double> masses, VectorRef momentum,
                                     std::vector<double>&) const {
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    if (body.num_angular != 3) continue;
    const int n = body.num_dofs, start = body.v_offset + body.num_linear;
    const Eigen::Map<const Vector3d> omega(v.data() + start);
    const Vector3d spin = factor * (body.inertia * omega);
    double* mass = masses.data() + body.mass_start + body.num_linear * (n + 1);
    mass[1] += spin.z();  // −[spin]×
    mass[2] -= spin.y();
    mass[n] -= spin.z();
    mass[n + 2] += spin.x();
    mass[2 * n] += spin.y();
    mass[2 * n + 1] -= spin.x();
    Eigen::Map<Vector3d>(momentum.data() + start) -= spin.cross(omega);
  }
}

VectorXd RigidBodySystem::initial_q() const {
  VectorXd q = VectorXd::Zero(num_q());
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    q.segment<3>(body.q_offset) = body.start.position;
    store(description_.bodies[index].orientation.normalized(), q.data() + body.q_offset + 3);
  }
  update_angles(q, VectorXd::Zero(num_v()), 0, q);
  return q;
}

VectorXd RigidBodySystem::initial_v() const {
  VectorXd v = VectorXd::Zero(num_v());
  for (const int index : block_body_) {
    const Body& body = bodies_[index];
    const BodyDescription& description = description_.bodies[index];
    Vector6d six;
    six.head<3>() = description.velocity +
                    description.angular_velocity.cross(body.start.rotation * body.center);
    six.tail<3>() = body.start.rotation.transpose() * description.angular_velocity;
    project(body, six, v.data() + body.v_offset);
  }
  return v;
}

}  // namespace stiction
