// Rows of joints, couplings, motors and springs, and what joints exert on their bodies.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "stiction/base/check.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/model/rotation.h"

namespace stiction {

using Eigen::Vector3d;

namespace {

bool is_angle(JointCoordinate coordinate) {
  return coordinate == JointCoordinate::kAngle || coordinate == JointCoordinate::kAngleX ||
         coordinate == JointCoordinate::kAngleY;
}

/// A turn axis this near to across holds no turn about the joint's axis.
constexpr double kAcross = 1e-9;

/// What evaluate_coordinate makes of a turn by `angle` about an axis whose component along the
/// joint's axis is `along`, without jumps: a whole turn where it has done one, but in between more
/// or less than its share.
double compute_twist(double angle, double along) {
  using std::numbers::pi;
  const double turns = std::round(angle / (2 * pi)), rest = angle - 2 * pi * turns;
  const double whole = std::abs(along) < kAcross ? 0 : std::copysign(2 * pi, along);
  return turns * whole + 2 * std::atan2(along * std::sin(rest / 2), std::cos(rest / 2));
}

}  // namespace

double RigidBodySystem::joint_coordinate(double t, const ConstVectorRef& q, int joint,
                                         JointCoordinate coordinate) const {
  return coordinate_value(t, q, joint, coordinate);
}

double RigidBodySystem::coordinate_value(double t, const ConstVectorRef& q, int index,
                                         JointCoordinate coordinate) const {
  const Joint& joint = joints_[index];
  const Pose a = pose_of(t, q, joint.bodies[0]), b = pose_of(t, q, joint.bodies[1]);
  const double value = evaluate_coordinate(joint.geometry, coordinate, a, b);
  if (!is_angle(coordinate)) return value;
  const int place = joint.angle[coordinate == JointCoordinate::kAngleY ? 1 : 0];
  if (place < 0) return value;
  double near = q[place];
  // q counts the turns against where kinematic bodies stood at t = 0.
  const Vector3d axis = a.rotation * joint.geometry.frame_a.rotation.col(2);
  for (const int side : {0, 1}) {
    const int body = joint.bodies[side];
    if (body == kWorld || bodies_[body].motion < 0) continue;
    std::array<double, 8> now, start;
    motions_[bodies_[body].motion].evaluate(t, now.data());
    motions_[bodies_[body].motion].evaluate(0, start.data());
    const double turn =
        compute_twist(now[3] - start[3], axis.dot(description_.bodies[body].turn_axis));
    near += side == 0 ? -turn : turn;
  }
  return unwrap(value, near);
}

void RigidBodySystem::target_at(double t, int target, double& value, double& rate) const {
  std::array<double, 2> both;
  targets_[target].evaluate(t, both.data());
  value = both[0];
  rate = both[1];
}

/// Appends a row block of one row: free components of moving bodies as entries, one per body, and
/// the motion of kinematic ones as drift.
double RigidBodySystem::add_row(double t, std::span<const Share> shares, int first_block,
                                double drift, RowSet& out) const {
  out.rows.add_row_block(1);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const int index = shares[i].body;
    if (index == kWorld) continue;
    const Body& body = bodies_[index];
    if (body.motion >= 0) drift += shares[i].row.dot(velocity_of(t, VectorXd(), index));
    if (body.block < 0) continue;
    bool is_repeated = false;
    for (std::size_t k = 0; k < i; ++k) is_repeated = is_repeated || shares[k].body == index;
    if (is_repeated) continue;
    Vector6d row = shares[i].row;
    for (std::size_t k = i + 1; k < shares.size(); ++k)
      if (shares[k].body == index) row += shares[k].row;
    RowMatrixMap entry = out.rows.add_entry(first_block + body.block, body.num_dofs);
    project(body, row, entry.data());
  }
  out.drift.push_back(drift);
  return drift;
}

void RigidBodySystem::add_pair_row(double t, const std::array<int, 2>& bodies, const PairRow& row,
                                   int first_block, double drift, RowSet& out) const {
  const std::array<Share, 2> shares{Share{bodies[0], row.a}, Share{bodies[1], row.b}};
  add_row(t, shares, first_block, drift, out);
}

// Constraints: those of joints, couplings, position motors.

void RigidBodySystem::evaluate_constraints(double t, const ConstVectorRef& q,
                                           VectorRef theta) const {
  double* out = theta.data();
  for (int i = 0; i < static_cast<int>(joints_.size()); ++i) {
    const Joint& joint = joints_[i];
    const int n = stiction::num_constraints(joint.geometry.type);
    const Pose a = pose_of(t, q, joint.bodies[0]), b = pose_of(t, q, joint.bodies[1]);
    const double angle = joint.geometry.type == JointType::kScrew
                             ? coordinate_value(t, q, i, JointCoordinate::kAngle)
                             : 0;
    stiction::evaluate_constraints(joint.geometry, a, b, angle, {out, static_cast<std::size_t>(n)});
    out += n;
  }
  for (const Coupling& coupling : couplings_) {
    *out = -coupling.offset;
    for (const CouplingDescription::Side& side : coupling.sides)
      *out += side.factor * coordinate_value(t, q, side.joint, side.coordinate);
    ++out;
  }
  for (const CoordinateRow& motor : position_motors_) {
    double target = 0, rate = 0;
    target_at(t, motor.target, target, rate);
    *out++ = coordinate_value(t, q, motor.joint, motor.coordinate) - target;
  }
}

void RigidBodySystem::append_constraint_rows(double t, const ConstVectorRef& q, int first_block,
                                             RowSet& out) const {
  std::array<PairRow, kMaxJointRows> rows;
  for (const Joint& joint : joints_) {
    const int n = stiction::num_constraints(joint.geometry.type);
    const Pose a = pose_of(t, q, joint.bodies[0]), b = pose_of(t, q, joint.bodies[1]);
    evaluate_constraint_rows(joint.geometry, a, b, std::span(rows).first(n));
    for (int i = 0; i < n; ++i) add_pair_row(t, joint.bodies, rows[i], first_block, 0, out);
  }
  for (const Coupling& coupling : couplings_) {
    std::array<Share, 4> shares;
    for (int k = 0; k < 2; ++k) {
      const CouplingDescription::Side& side = coupling.sides[k];
      const Joint& joint = joints_[side.joint];
      const PairRow row =
          evaluate_coordinate_row(joint.geometry, side.coordinate, pose_of(t, q, joint.bodies[0]),
                                  pose_of(t, q, joint.bodies[1]));
      shares[2 * k] = {joint.bodies[0], side.factor * row.a};
      shares[2 * k + 1] = {joint.bodies[1], side.factor * row.b};
    }
    add_row(t, shares, first_block, 0, out);
  }
  for (const CoordinateRow& motor : position_motors_) {
    double target = 0, rate = 0;
    target_at(t, motor.target, target, rate);
    const Joint& joint = joints_[motor.joint];
    add_pair_row(
        t, joint.bodies,
        evaluate_coordinate_row(joint.geometry, motor.coordinate, pose_of(t, q, joint.bodies[0]),
                                pose_of(t, q, joint.bodies[1])),
        first_block, -rate, out);
  }
}

// Velocity rows: nonholonomic ones of joints, then speed motors and friction.

void RigidBodySystem::append_velocity_rows(double t, const ConstVectorRef& q, int first_block,
                                           RowSet& out) const {
  std::array<PairRow, kMaxJointRows> rows;
  for (const int index : nonholonomic_joints_) {
    const Joint& joint = joints_[index];
    const int n = stiction::num_velocity_rows(joint.geometry.type);
    evaluate_velocity_rows(joint.geometry, pose_of(t, q, joint.bodies[0]),
                           pose_of(t, q, joint.bodies[1]), std::span(rows).first(n));
    for (int i = 0; i < n; ++i) add_pair_row(t, joint.bodies, rows[i], first_block, 0, out);
  }
  for (const CoordinateRow& row : velocity_rows_on_coordinates_) {
    double speed = 0, rate = 0;
    if (row.target >= 0) target_at(t, row.target, speed, rate);
    const Joint& joint = joints_[row.joint];
    add_pair_row(
        t, joint.bodies,
        evaluate_coordinate_row(joint.geometry, row.coordinate, pose_of(t, q, joint.bodies[0]),
                                pose_of(t, q, joint.bodies[1])),
        first_block, -speed, out);
  }
}

// Springs.

namespace {

/// Below this share of its rest length a spring between two points has no direction.
constexpr double kNoLength = 1e-300;

}  // namespace

/// Extensions of a spring, and their gradients if wanted.
void RigidBodySystem::evaluate_spring(double t, const ConstVectorRef& q, const Spring& spring,
                                      double* values, PairRow* rows) const {
  using Kind = BodySpringDescription::Kind;
  if (spring.kind == Kind::kJoint) {
    const Joint& joint = joints_[spring.joint];
    values[0] = coordinate_value(t, q, spring.joint, spring.coordinate) - spring.rest;
    if (rows != nullptr)
      rows[0] =
          evaluate_coordinate_row(joint.geometry, spring.coordinate, pose_of(t, q, joint.bodies[0]),
                                  pose_of(t, q, joint.bodies[1]));
    return;
  }
  const Pose a = pose_of(t, q, spring.bodies[0]), b = pose_of(t, q, spring.bodies[1]);
  if (spring.kind == Kind::kDistance && spring.num_rows == 3) {
    // Without rest length the three components are springs of their own: ½γ‖d‖² is their sum.
    stiction::evaluate_constraints(spring.geometry, a, b, 0, {values, 3});
    if (rows != nullptr) evaluate_constraint_rows(spring.geometry, a, b, {rows, 3});
    return;
  }
  if (spring.kind == Kind::kDistance) {
    stiction::evaluate_constraints(spring.geometry, a, b, 0, {values, 1});
    if (rows == nullptr) return;
    evaluate_constraint_rows(spring.geometry, a, b, {rows, 1});
    if (!(values[0] + spring.geometry.length > kNoLength)) rows[0] = {};
    return;
  }
  // Bushing: along x_a and y_a and the three turns as in a slider, and along z_a.
  std::array<double, 5> slider;
  stiction::evaluate_constraints(spring.geometry, a, b, 0, slider);
  values[0] = slider[0];
  values[1] = slider[1];
  values[2] = evaluate_coordinate(spring.geometry, JointCoordinate::kSlide, a, b);
  for (int i = 0; i < 3; ++i) values[3 + i] = slider[2 + i];
  if (rows == nullptr) return;
  std::array<PairRow, 5> slider_rows;
  evaluate_constraint_rows(spring.geometry, a, b, slider_rows);
  rows[0] = slider_rows[0];
  rows[1] = slider_rows[1];
  rows[2] = evaluate_coordinate_row(spring.geometry, JointCoordinate::kSlide, a, b);
  for (int i = 0; i < 3; ++i) rows[3 + i] = slider_rows[2 + i];
}

void RigidBodySystem::evaluate_springs(double t, const ConstVectorRef& q,
                                       VectorRef extension) const {
  double* out = extension.data();
  for (const Spring& spring : body_springs_) {
    evaluate_spring(t, q, spring, out, nullptr);
    out += spring.num_rows;
  }
}

void RigidBodySystem::append_spring_rows(double t, const ConstVectorRef& q, int first_block,
                                         RowSet& out) const {
  std::array<double, 6> values;
  std::array<PairRow, 6> rows;
  for (const Spring& spring : body_springs_) {
    evaluate_spring(t, q, spring, values.data(), rows.data());
    const auto& bodies = spring.kind == BodySpringDescription::Kind::kJoint
                             ? joints_[spring.joint].bodies
                             : spring.bodies;
    for (int i = 0; i < spring.num_rows; ++i) add_pair_row(t, bodies, rows[i], first_block, 0, out);
  }
}

/// A force f at the arm p from the centre of mass that pulls outwards, f·p > 0, turns the body back
/// when it turns by δθ across p: by the torque −(f·p)(I − p̂p̂ᵀ) δθ. (The whole derivative of p × f
/// is −((f·p) I − f pᵀ) δθ; the rest of it is neither symmetric nor stiff.) (T28)
void RigidBodySystem::add_pull(int index, const Pose& pose, const Vector3d& force,
                               const Vector3d& arm, std::span<double> stiffness) const {
  if (index == kWorld || bodies_[index].block < 0 || bodies_[index].num_angular == 0) return;
  const Body& body = bodies_[index];
  const double pull = (pose.rotation.transpose() * force).dot(arm), square = arm.squaredNorm();
  if (!(pull > 0)) return;
  const Eigen::Matrix3d k = pull * (Eigen::Matrix3d::Identity() - arm * arm.transpose() / square);
  RowMatrixMap block(stiffness.data() + body.stiffness_start, body.num_dofs, body.num_dofs);
  if (body.num_angular == 3)
    block.bottomRightCorner<3, 3>() += k;
  else
    block(body.num_linear, body.num_linear) += body.axis.dot(k * body.axis);
}

void RigidBodySystem::add_geometric_stiffness(double t, const ConstVectorRef& q,
                                              std::span<const double> joint_forces,
                                              std::span<const double> contact_forces,
                                              std::span<double> stiffness) const {
  std::array<PairRow, kMaxJointRows> rows;
  std::array<double, kMaxJointRows> values;
  const auto add = [&](const JointGeometry& geometry, const std::array<int, 2>& bodies,
                       int num_rows, std::span<const double> forces) {
    Vector3d on_b = Vector3d::Zero();
    for (int i = 0; i < num_rows; ++i) on_b += forces[i] * rows[i].b.head<3>();
    add_pull(bodies[0], pose_of(t, q, bodies[0]), -on_b, geometry.frame_a.position, stiffness);
    add_pull(bodies[1], pose_of(t, q, bodies[1]), on_b, geometry.frame_b.position, stiffness);
  };
  for (const Joint& joint : joints_) {
    const int n = stiction::num_constraints(joint.geometry.type);
    if (n == 0) continue;
    evaluate_constraint_rows(joint.geometry, pose_of(t, q, joint.bodies[0]),
                             pose_of(t, q, joint.bodies[1]), std::span(rows).first(n));
    add(joint.geometry, joint.bodies, n, joint_forces.subspan(joint.constraint_start, n));
  }
  int row = num_constraints() + num_velocity_rows();
  for (const Spring& spring : body_springs_) {
    if (spring.kind != BodySpringDescription::Kind::kJoint) {
      evaluate_spring(t, q, spring, values.data(), rows.data());
      add(spring.geometry, spring.bodies, spring.num_rows,
          joint_forces.subspan(row, spring.num_rows));
    }
    row += spring.num_rows;
  }
  for (std::size_t j = limits_.size(); j < contacts().size(); ++j) {
    const double* force = contact_forces.data() + 3 * j;
    if (!(force[0] > 0)) continue;
    const Contact& contact = contact_pairs_[j - limits_.size()];
    const Pose a = pose_of(t, q, contact.bodies[0]), b = pose_of(t, q, contact.bodies[1]);
    const Touch at = touch(contact, a, b);
    std::array<PairRow, 3> contact_rows;
    const int n = 1 + contacts()[j].num_tangents;
    fill_contact_rows(contact, at, a, b, contact_rows.data(), n);
    Vector3d on_a = Vector3d::Zero();
    for (int i = 0; i < n; ++i) on_a += force[i] * contact_rows[i].a.head<3>();
    add_pull(contact.bodies[0], a, on_a, a.rotation.transpose() * (at.point - a.position),
             stiffness);
    add_pull(contact.bodies[1], b, -on_a, b.rotation.transpose() * (at.point - b.position),
             stiffness);
  }
}

namespace {

/// Rows that hold a point with world components: their mean over a step has a closed form.
bool holds_point(JointType type) {
  return type == JointType::kBall || type == JointType::kHinge || type == JointType::kUniversal ||
         type == JointType::kFixed;
}

double sinc(double x) { return std::abs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }

/// A step that turns by less than this changes rows by less than rounding does to the correction.
constexpr double kSmallestTurn = 1e-5;

}  // namespace

/// Over a step with constant velocities a point p of a body moves by h v + 2 sin(x) R_mid (n × p),
/// x = h|ω|/2: the row at the middle of the step with its turning part times sin(x)/x is exact.
/// Other rows are corrected along the turning velocities (Gonzalez 1996).
void RigidBodySystem::append_mean_constraint_rows(double t, double h, const ConstVectorRef& q,
                                                  const ConstVectorRef& v,
                                                  const ConstVectorRef& change, int first_block,
                                                  RowSet& out) const {
  const int first = out.rows.num_row_blocks();
  const std::size_t first_drift = out.drift.size();
  append_constraint_rows(t, q, first_block, out);
  int row = 0;
  const auto correct = [&](bool is_point) {
    const int r = first + row;
    double square = 0, rate = out.drift[first_drift + row];
    for (int e = out.rows.entry_start(r); e < out.rows.entry_start(r + 1); ++e) {
      const Body& body = bodies_[block_body_[out.rows.entry_block(e) - first_block]];
      double* turning = out.rows.entry_values(e) + body.num_linear;
      const auto omega = v.segment(body.v_offset + body.num_linear, body.num_angular);
      if (is_point)
        for (int k = 0; k < body.num_angular; ++k) turning[k] *= sinc(0.5 * h * omega.norm());
      square += omega.squaredNorm();
      for (int k = 0; k < body.num_dofs; ++k)
        rate += out.rows.entry_values(e)[k] * v[body.v_offset + k];
    }
    if (!is_point && h * std::sqrt(square) > kSmallestTurn) {
      const double defect = change[row] / h - rate;
      for (int e = out.rows.entry_start(r); e < out.rows.entry_start(r + 1); ++e) {
        const Body& body = bodies_[block_body_[out.rows.entry_block(e) - first_block]];
        double* turning = out.rows.entry_values(e) + body.num_linear;
        for (int k = 0; k < body.num_angular; ++k)
          turning[k] += defect / square * v[body.v_offset + body.num_linear + k];
      }
    }
    ++row;
  };
  for (const Joint& joint : joints_)
    for (int i = 0; i < stiction::num_constraints(joint.geometry.type); ++i)
      correct(holds_point(joint.geometry.type) && i < 3);
  while (row < num_constraints()) correct(false);
}

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
