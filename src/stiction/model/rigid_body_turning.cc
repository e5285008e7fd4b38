// What turning does to joint rows within a step: the stiffness of forces that turn with the bodies
// (T28), and rows whose mean over a step is exact (T31).
#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/model/joint_frames.h"
#include "stiction/model/rigid_body_poses.h"
#include "stiction/model/rotation.h"

namespace stiction {

using Eigen::Vector3d;

/// A force f at the arm p from the centre of mass that pulls outwards, f·p > 0, turns the body back
/// when it turns by δθ across p: by the torque −(f·p)(I − p̂p̂ᵀ) δθ. (The whole derivative of p × f
/// is −((f·p) I − f pᵀ) δθ; the rest of it is neither symmetric nor stiff.) (T28)
void RigidBodySystem::add_pull(int index, const Pose& pose, const Vector3d& force,
                               const Vector3d& arm, const TurningSum& sum) const {
  if (index == kWorld || bodies_[index].block < 0 || bodies_[index].num_angular == 0) return;
  const Body& body = bodies_[index];
  const double pull = force.dot(pose.rotation * arm);
  if (!(pull > 0)) return;
  // ‖p‖²I − ppᵀ as −[p]×[p]×, which is exactly zero along an arm that lies in an axis.
  const double factor = pull / arm.squaredNorm();
  const Vector3d square = arm.cwiseAbs2();
  const Vector3d diagonal =
      factor * Vector3d(square[1] + square[2], square[0] + square[2], square[0] + square[1]);
  const int n = body.num_dofs, start = body.v_offset + body.num_linear;
  const int at = body.mass_start + body.num_linear * (n + 1);
  if (body.num_angular == 1) {
    const double k = factor * arm.cross(body.axis).squaredNorm();
    if (sum.traces != nullptr) sum.traces[body.block] += k * body.inverse_inertia[0];
    if (sum.masses == nullptr) return;
    sum.masses[at] += sum.inertia * k;
    sum.momenta[start] += sum.momentum * k * sum.v[start];
    return;
  }
  if (sum.traces != nullptr) sum.traces[body.block] += diagonal.dot(body.inverse_inertia);
  if (sum.masses == nullptr) return;
  const double xy = -factor * arm.x() * arm.y(), xz = -factor * arm.x() * arm.z(),
               yz = -factor * arm.y() * arm.z();
  const double *v = sum.v + start, wx = v[0], wy = v[1], wz = v[2];
  double* momentum = sum.momenta + start;
  momentum[0] += sum.momentum * (diagonal.x() * wx + xy * wy + xz * wz);
  momentum[1] += sum.momentum * (xy * wx + diagonal.y() * wy + yz * wz);
  momentum[2] += sum.momentum * (xz * wx + yz * wy + diagonal.z() * wz);
  const auto add = [&](double* row, double a, double b, double c) {
    row[0] += sum.inertia * a;
    row[1] += sum.inertia * b;
    row[2] += sum.inertia * c;
  };
  add(sum.masses + at, diagonal.x(), xy, xz);
  add(sum.masses + at + n, xy, diagonal.y(), yz);
  add(sum.masses + at + 2 * n, xz, yz, diagonal.z());
}

void RigidBodySystem::add_joint_stiffness(double t, const ConstVectorRef& q,
                                          std::span<const double> joint_forces,
                                          const TurningSum& sum) const {
  std::array<PairRow, kMaxJointRows> rows;
  std::array<double, kMaxJointRows> values;
  PoseCache poses(*this, t, q);
  const auto pull = [&](const std::array<int, 2>& bodies, const Vector3d& arm_a,
                        const Vector3d& arm_b, const Vector3d& on_b) {
    add_pull(bodies[0], poses[bodies[0]], -on_b, arm_a, sum);
    add_pull(bodies[1], poses[bodies[1]], on_b, arm_b, sum);
  };
  // Of rows with forces on both bodies: at p_a and p_b along lines, else at p_b.
  const auto pull_by_rows = [&](const JointGeometry& geometry, const std::array<int, 2>& bodies,
                                std::span<const double> forces) {
    Vector3d on_b = Vector3d::Zero();
    for (std::size_t i = 0; i < forces.size(); ++i) on_b += forces[i] * rows[i].b.head<3>();
    Vector3d arm_a = geometry.frame_a.position;
    const Vector3d& arm_b = geometry.frame_b.position;
    if (geometry.type != JointType::kDistance && geometry.type != JointType::kBall) {
      const Pose &a = poses[bodies[0]], &b = poses[bodies[1]];
      arm_a = a.rotation.transpose() * (b.position - a.position + b.rotation * arm_b);
    }
    pull(bodies, arm_a, arm_b, on_b);
  };
  TautLine line;
  const auto stretch = [&](const JointGeometry& geometry, const std::array<int, 2>& bodies,
                           double force) {
    if (sum.traces != nullptr && find_taut_line(geometry, bodies, poses, force, line))
      add_line_traces(line, sum.traces);
  };
  for (const Joint& joint : joints_) {
    const int n = stiction::num_constraints(joint.geometry.type);
    if (n == 0) continue;
    const std::span<const double> forces = joint_forces.subspan(joint.constraint_start, n);
    const JointType type = joint.geometry.type;
    if (type == JointType::kDistance) stretch(joint.geometry, joint.bodies, forces[0]);
    if (holds_point(type)) {
      pull(joint.bodies, joint.geometry.frame_a.position, joint.geometry.frame_b.position,
           Vector3d(forces[0], forces[1], forces[2]));
    } else if (type != JointType::kRollingDisc && type != JointType::kRollingBall) {
      const Pose& a = poses[joint.bodies[0]];
      evaluate_constraint_rows(joint.geometry, a, poses[joint.bodies[1]], std::span(rows).first(n));
      pull_by_rows(joint.geometry, joint.bodies, forces);
    }
  }
  int row = num_constraints() + num_velocity_rows();
  for (const Spring& spring : body_springs_) {
    if (spring.kind != BodySpringDescription::Kind::kJoint) {
      evaluate_spring(t, q, spring, values.data(), rows.data());
      if (spring.geometry.type == JointType::kDistance)
        stretch(spring.geometry, spring.bodies, joint_forces[row]);
      pull_by_rows(spring.geometry, spring.bodies, joint_forces.subspan(row, spring.num_rows));
    }
    row += spring.num_rows;
  }
}

// -------------------------------------------------------------------------------------------------
// Between two bodies

/// A line under tension turns with its ends: across it, forces on them change like those of a
/// spring T/length. False if it pushes or has no length.
bool RigidBodySystem::find_taut_line(const JointGeometry& geometry,
                                     const std::array<int, 2>& bodies, PoseCache& poses,
                                     double force, TautLine& line) const {
  if (!(force < 0)) return false;  // on the second body, away from the first
  const Pose &a = poses[bodies[0]], &b = poses[bodies[1]];
  JointFrames frames;
  compute_joint_arms(geometry, a, b, frames);
  const double length = frames.gap.norm();
  if (!(length > 0)) return false;
  const Vector3d n = frames.gap / length, x = n.unitOrthogonal();
  line.bodies = bodies;
  line.stiffness = -force / length;
  set_point_row(a, b, frames.arm_a, frames.arm_b, x, line.across[0]);
  set_point_row(a, b, frames.arm_a, frames.arm_b, n.cross(x), line.across[1]);
  return true;
}

/// What a force along a row does to its velocity by one body, by the diagonal of its mass.
double RigidBodySystem::mobility_of(int index, const Vector6d& row) const {
  if (index == kWorld || bodies_[index].block < 0) return 0;
  const Body& body = bodies_[index];
  std::array<double, 6> free{};
  project(body, row, free.data());
  double mobility = 0;
  for (int i = 0; i < body.num_dofs; ++i)
    mobility += free[i] * free[i] *
                (i < body.num_linear ? 1 / body.mass : body.inverse_inertia[i - body.num_linear]);
  return mobility;
}

void RigidBodySystem::add_line_traces(const TautLine& line, double* traces) const {
  for (const int side : {0, 1}) {
    const int body = line.bodies[side];
    if (body == kWorld || bodies_[body].block < 0) continue;
    for (const PairRow& row : line.across)
      traces[bodies_[body].block] += line.stiffness * mobility_of(body, side == 0 ? row.a : row.b);
  }
}

/// Of two bodies about any of their axes; infinite if neither turns freely.
double RigidBodySystem::smallest_inertia(const std::array<int, 2>& bodies) const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const int body : bodies)
    if (body != kWorld && bodies_[body].block >= 0 && bodies_[body].num_angular == 3)
      smallest = std::min(smallest, 1 / bodies_[body].inverse_inertia.maxCoeff());
  return smallest;
}

namespace {

/// A torque τ that turns with two bodies couples their turns across it with at most |τ|. Explicit,
/// that is stable while h²|τ| is below four times the smallest inertia: half of that is left alone.
constexpr double kFreeTurning = 2;
/// A body between two lines feels four times T/length where its neighbours move against it: stable
/// up to one mass over h² each. Half of that is left alone.
constexpr double kFreeLine = 0.5;
/// Long waves of a chain of joints bend each of them little: they need more by the third root.
constexpr double kLongWaves = 18;

double stiffness_against(double torque, double inertia, double h) {
  const double rest = torque - kFreeTurning * inertia / (h * h);
  if (!(rest > 0)) return 0;
  return rest * std::max(1.0, std::cbrt(h * h * torque / inertia) / kLongWaves);
}

double norm_across(const Vector3d& torque, const Vector3d& axis) {
  return torque.cross(axis).norm() / axis.norm();
}

bool is_turn(const PairRow& row) { return row.b.head<3>().isZero(0); }

}  // namespace

/// Writes what rows of turns hold against the torque of all of them, which it returns in the axes
/// of the second body.
Vector3d RigidBodySystem::hold_turns(std::span<const PairRow> rows, std::span<const double> torques,
                                     const std::array<int, 2>& bodies, double h,
                                     double* held) const {
  Vector3d torque = Vector3d::Zero();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (is_turn(rows[i])) torque += torques[i] * rows[i].b.tail<3>();
  const double inertia = smallest_inertia(bodies);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (is_turn(rows[i]))
      held[i] = stiffness_against(norm_across(torque, rows[i].b.tail<3>()), inertia, h);
  return torque;
}

/// Joints and springs that yield in turning hold against the torque that they transmit, springs on
/// the angle of a joint against that of the joint's rows. An effort along an angle of its own does
/// nothing: see the proof in the theory note. (T28)
void RigidBodySystem::append_turning_rows(double t, const ConstVectorRef& q,
                                          std::span<const double> joint_forces, int first_block,
                                          TurningRows& out) const {
  const std::size_t first = out.held.size();
  out.held.resize(first + num_joint_rows(), 0.0);
  if (!has_turning_rows_) return;
  double* held = out.held.data() + first;
  std::array<PairRow, kMaxJointRows> rows;
  std::array<double, kMaxJointRows> values;
  PoseCache poses(*this, t, q);
  TautLine line;
  const auto stretch = [&](const JointGeometry& geometry, const std::array<int, 2>& bodies,
                           double force) {
    if (!find_taut_line(geometry, bodies, poses, force, line)) return;
    for (const PairRow& row : line.across) {
      const double mobility =
          std::max(mobility_of(bodies[0], row.a), mobility_of(bodies[1], row.b));
      const double stiff = line.stiffness - kFreeLine / (out.h * out.h * mobility);
      if (!(stiff > 0)) continue;
      add_pair_row(t, bodies, row, first_block, 0, out.across);
      out.stiff.push_back(stiff);
    }
  };
  const auto hold = [&](const Joint& joint) {
    const int n = stiction::num_constraints(joint.geometry.type);
    evaluate_constraint_rows(joint.geometry, poses[joint.bodies[0]], poses[joint.bodies[1]],
                             std::span(rows).first(n));
    const auto forces = joint_forces.subspan(joint.constraint_start, n);
    return hold_turns(std::span(rows).first(n), forces, joint.bodies, out.h,
                      held + joint.constraint_start);
  };
  for (const Joint& joint : joints_) {
    if (joint.geometry.type == JointType::kDistance)
      stretch(joint.geometry, joint.bodies, joint_forces[joint.constraint_start]);
    else if (stiction::num_constraints(joint.geometry.type) > 0 &&
             constraints()[joint.constraint_start].is_compliant())
      hold(joint);
  }
  int row = num_constraints() + num_velocity_rows();
  for (const Spring& spring : body_springs_) {
    if (spring.geometry.type == JointType::kDistance &&
        spring.kind == BodySpringDescription::Kind::kDistance) {
      stretch(spring.geometry, spring.bodies, joint_forces[row]);
    } else if (spring.kind == BodySpringDescription::Kind::kBushing) {
      evaluate_spring(t, q, spring, values.data(), rows.data());
      const auto forces = joint_forces.subspan(row, spring.num_rows);
      hold_turns(std::span(rows).first(spring.num_rows), forces, spring.bodies, out.h, held + row);
    } else if (spring.kind == BodySpringDescription::Kind::kJoint && is_angle(spring.coordinate)) {
      const Joint& joint = joints_[spring.joint];
      const Vector3d torque = hold(joint);
      evaluate_spring(t, q, spring, values.data(), rows.data());
      held[row] = stiffness_against(norm_across(torque, rows[0].b.tail<3>()),
                                    smallest_inertia(joint.bodies), out.h);
    }
    row += spring.num_rows;
  }
}

namespace {

double sinc(double x) { return std::abs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }

/// A step that turns by less than this changes rows by less than rounding does to the correction.
constexpr double kSmallestTurn = 1e-5;

}  // namespace

/// Over a step with constant velocities a point p of a body moves by h v + 2 sin(x) R_mid (n × p),
/// x = h|ω|/2: the row at the middle of the step with its turning part times sin(x)/x is exact. For
/// the length of d = p_b − p_a it is that along d + d⁺, since ‖d⁺‖² − ‖d‖² = (d⁺ − d)·(d⁺ + d).
/// Other rows are corrected along the turning velocities (Gonzalez 1996). What kinematic bodies and
/// motors do is known, not constant: of their rows the rest of the change is drift.
void RigidBodySystem::append_mean_constraint_rows(double t, double h, const ConstVectorRef& q,
                                                  const ConstVectorRef& v,
                                                  const ConstVectorRef& change, int first_block,
                                                  RowSet& out) const {
  const int first = out.rows.num_row_blocks();
  const std::size_t first_drift = out.drift.size();
  append_constraint_rows(t, q, first_block, out);
  const auto body_of = [&](int e) -> const Body& {
    return bodies_[block_body_[out.rows.entry_block(e) - first_block]];
  };
  int row = 0;
  enum class Form { kPoint, kLength, kOther };
  const auto correct = [&](Form form, const Joint* joint, bool is_driven) {
    const int r = first + row;
    if (form == Form::kLength) set_mean_direction(t, h, q, v, *joint, r, out);
    double square = 0, rate = out.drift[first_drift + row];
    for (int e = out.rows.entry_start(r); e < out.rows.entry_start(r + 1); ++e) {
      const Body& body = body_of(e);
      double* turning = out.rows.entry_values(e) + body.num_linear;
      const auto omega = v.segment(body.v_offset + body.num_linear, body.num_angular);
      if (form != Form::kOther)
        for (int k = 0; k < body.num_angular; ++k) turning[k] *= sinc(0.5 * h * omega.norm());
      square += omega.squaredNorm();
      for (int k = 0; k < body.num_dofs; ++k)
        rate += out.rows.entry_values(e)[k] * v[body.v_offset + k];
    }
    const double defect = change[row] / h - rate;
    if (is_driven) {
      out.drift[first_drift + row] += defect;
    } else if (form == Form::kOther && h * std::sqrt(square) > kSmallestTurn) {
      for (int e = out.rows.entry_start(r); e < out.rows.entry_start(r + 1); ++e) {
        const Body& body = body_of(e);
        double* turning = out.rows.entry_values(e) + body.num_linear;
        for (int k = 0; k < body.num_angular; ++k)
          turning[k] += defect / square * v[body.v_offset + body.num_linear + k];
      }
    }
    ++row;
  };
  for (const Joint& joint : joints_)
    for (int i = 0; i < stiction::num_constraints(joint.geometry.type); ++i)
      correct(holds_point(joint.geometry.type) && i < 3     ? Form::kPoint
              : joint.geometry.type == JointType::kDistance ? Form::kLength
                                                            : Form::kOther,
              &joint, joint_moves_by_itself(joint));
  for (std::size_t i = 0; i < couplings_.size(); ++i) correct(Form::kOther, nullptr, false);
  for (std::size_t i = 0; i < position_motors_.size(); ++i) correct(Form::kOther, nullptr, true);
}

bool RigidBodySystem::joint_moves_by_itself(const Joint& joint) const {
  for (const int body : joint.bodies)
    if (body != kWorld && bodies_[body].motion >= 0) return true;
  return false;
}

/// Overwrites row block r, the length of `joint` at the middle of the step, by the one along the
/// mean of the directions at its ends.
void RigidBodySystem::set_mean_direction(double t, double h, const ConstVectorRef& q,
                                         const ConstVectorRef& v, const Joint& joint, int r,
                                         RowSet& out) const {
  const std::array<Vector3d, 2> arms{joint.geometry.frame_a.position,
                                     joint.geometry.frame_b.position};
  std::array<Pose, 2> middle;
  std::array<Vector3d, 2> ends{Vector3d::Zero(), Vector3d::Zero()};  // d at t − h/2, t + h/2
  for (const int side : {0, 1}) {
    const int body = joint.bodies[side];
    middle[side] = pose_of(t, q, body);
    const bool is_moving = body != kWorld && bodies_[body].block >= 0;
    for (const int end : {0, 1}) {
      const double ahead = end == 0 ? -0.5 * h : 0.5 * h;
      Vector3d point;
      if (is_moving) {
        const Vector6d velocity = velocity_of(t, v, body);
        point = middle[side].position + ahead * velocity.head<3>() +
                middle[side].rotation * (exponential(ahead * velocity.tail<3>()) * arms[side]);
      } else {
        const Pose pose = pose_of(t + ahead, q, body);
        point = pose.position + pose.rotation * arms[side];
      }
      ends[end] += side == 0 ? Vector3d(-point) : point;
    }
  }
  const double length = ends[0].norm() + ends[1].norm();
  if (!(length > 0)) return;
  const Vector3d n = (ends[0] + ends[1]) / length;
  for (int e = out.rows.entry_start(r), side = 0; side < 2; ++side) {
    const int body = joint.bodies[side];
    if (body == kWorld || bodies_[body].block < 0) continue;
    Vector6d row;
    row.head<3>() = side == 0 ? Vector3d(-n) : n;
    row.tail<3>() = arms[side].cross(middle[side].rotation.transpose() * row.head<3>());
    project(bodies_[body], row, out.rows.entry_values(e++));
  }
}

}  // namespace stiction
