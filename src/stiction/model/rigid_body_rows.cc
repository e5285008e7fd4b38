// Rows of joints, couplings, motors and springs.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/base/check.h"
#include "stiction/model/rigid_body_poses.h"
#include "stiction/model/rigid_body_system.h"
#include "stiction/model/rotation.h"

namespace stiction {

using Eigen::Vector3d;

namespace {

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
  if (coordinate != JointCoordinate::kAngle) {
    // The angles of a universal joint on a driven body do not follow from its turns alone.
    for (const int body : joint.bodies)
      if (body != kWorld && bodies_[body].motion >= 0) return value;
  }
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
void RigidBodySystem::add_row(double t, std::span<const Share> shares, int first_block,
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
}

/// The same for the two different bodies of a joint.
void RigidBodySystem::add_pair_row(double t, const std::array<int, 2>& bodies, const PairRow& row,
                                   int first_block, double drift, RowSet& out) const {
  out.rows.add_row_block(1);
  for (const int side : {0, 1}) {
    if (bodies[side] == kWorld) continue;
    const Body& body = bodies_[bodies[side]];
    const Vector6d& share = side == 0 ? row.a : row.b;
    if (body.motion >= 0) drift += share.dot(velocity_of(t, VectorXd(), bodies[side]));
    if (body.block < 0) continue;
    double* entry = out.rows.add_entry(first_block + body.block, body.num_dofs).data();
    if (body.num_dofs == 6)
      std::copy(share.begin(), share.end(), entry);
    else
      project(body, share, entry);
  }
  out.drift.push_back(drift);
}

/// The same for all rows of a joint that moves nothing by itself.
void RigidBodySystem::add_pair_rows(double t, const std::array<int, 2>& bodies,
                                    std::span<const PairRow> rows, int first_block,
                                    RowSet& out) const {
  static_assert(sizeof(PairRow) == 12 * sizeof(double));
  const auto is_free = [&](int body) { return body != kWorld && bodies_[body].num_dofs == 6; };
  if (!is_free(bodies[0]) || !is_free(bodies[1])) {
    for (const PairRow& row : rows) add_pair_row(t, bodies, row, first_block, 0, out);
    return;
  }
  out.rows.add_pair_rows(
      static_cast<int>(rows.size()),
      {first_block + bodies_[bodies[0]].block, first_block + bodies_[bodies[1]].block}, {6, 6},
      rows.data()->a.data());
  out.drift.resize(out.drift.size() + rows.size(), 0.0);
}

// Constraints: those of joints, couplings, position motors.

void RigidBodySystem::evaluate_constraints(double t, const ConstVectorRef& q,
                                           VectorRef theta) const {
  double* out = theta.data();
  PoseCache poses(*this, t, q);
  for (int i = 0; i < static_cast<int>(joints_.size()); ++i) {
    const Joint& joint = joints_[i];
    const int n = stiction::num_constraints(joint.geometry.type);
    const Pose &a = poses[joint.bodies[0]], &b = poses[joint.bodies[1]];
    const double angle = joint.geometry.type == JointType::kScrew
                             ? coordinate_value(t, q, i, JointCoordinate::kAngle)
                             : 0;
    stiction::evaluate_constraints(joint.geometry, a, b, angle, {out, static_cast<std::size_t>(n)});
    out += n;
  }
  evaluate_other_constraints(t, q, out);
}

/// Those of couplings and position motors.
void RigidBodySystem::evaluate_other_constraints(double t, const ConstVectorRef& q,
                                                 double* out) const {
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
  PoseCache poses(*this, t, q);
  for (const Joint& joint : joints_) {
    const int n = stiction::num_constraints(joint.geometry.type);
    const Pose &a = poses[joint.bodies[0]], &b = poses[joint.bodies[1]];
    evaluate_constraint_rows(joint.geometry, a, b, std::span(rows).first(n));
    add_pair_rows(t, joint.bodies, std::span(rows).first(n), first_block, out);
  }
  append_other_constraint_rows(t, q, first_block, out);
}

void RigidBodySystem::append_constraints(double t, const ConstVectorRef& q, int first_block,
                                         RowSet& out, VectorRef theta) const {
  std::array<PairRow, kMaxJointRows> rows;
  double* values = theta.data();
  PoseCache poses(*this, t, q);
  for (int i = 0; i < static_cast<int>(joints_.size()); ++i) {
    const Joint& joint = joints_[i];
    const int n = stiction::num_constraints(joint.geometry.type);
    const Pose &a = poses[joint.bodies[0]], &b = poses[joint.bodies[1]];
    const double angle = joint.geometry.type == JointType::kScrew
                             ? coordinate_value(t, q, i, JointCoordinate::kAngle)
                             : 0;
    evaluate_constraints_and_rows(joint.geometry, a, b, angle,
                                  {values, static_cast<std::size_t>(n)}, std::span(rows).first(n));
    add_pair_rows(t, joint.bodies, std::span(rows).first(n), first_block, out);
    values += n;
  }
  append_other_constraint_rows(t, q, first_block, out);
  evaluate_other_constraints(t, q, values);
}

/// Those of couplings and position motors.
void RigidBodySystem::append_other_constraint_rows(double t, const ConstVectorRef& q,
                                                   int first_block, RowSet& out) const {
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

/// [m] A spring between two points that are nearer than this has no direction.
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

}  // namespace stiction
