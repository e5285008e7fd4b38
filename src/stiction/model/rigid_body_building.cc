// From the description to the system: places of bodies in q and v, rows and their names.
#include <fmt/format.h>

#include <cmath>

#include "stiction/base/error.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {

using Eigen::Vector3d;

namespace {

/// "elbow.motor", or "elbow.slide motor" where a joint has several coordinates.
std::string row_name(const JointDescription& joint, JointCoordinate coordinate,
                     std::string_view what) {
  if (joint_coordinates(joint.type).size() == 1) return fmt::format("{}.{}", joint.name, what);
  return fmt::format("{}.{} {}", joint.name, name_of(coordinate), what);
}

}  // namespace

RigidBodySystem::RigidBodySystem(RigidBodyDescription description)
    : description_(std::move(description)) {
  std::string faults;
  for (const BodyFault& fault : find_body_faults(description_))
    faults += (faults.empty() ? "" : "\n") + fault.message;
  if (!faults.empty()) throw InputError(faults);
  add_bodies();
  add_joints();
  add_couplings();
  for (int j = 0; j < static_cast<int>(joints_.size()); ++j) add_joint_rows(j);
  add_springs();
  add_forces();
  add_shapes();
  std::vector<int> sizes;
  for (const int index : block_body_) sizes.push_back(bodies_[index].num_dofs);
  set_sizes(angle_start_ + num_angles_, std::move(sizes));
  set_coupling_offsets();
}

/// Bit k: does not move along axis k of the world, and turns about it alone.
unsigned RigidBodySystem::find_planar_axes(const BodyDescription& body) {
  if (body.motion == BodyDescription::Motion::kStatic) return kAllAxes;
  if (body.motion == BodyDescription::Motion::kKinematic) return 0;
  unsigned axes = 0;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (!body.free_axes[axis] && !body.free_axes[3 + (axis + 1) % 3] &&
        !body.free_axes[3 + (axis + 2) % 3])
      axes |= 1u << axis;
  return axes;
}

void RigidBodySystem::add_bodies() {
  int q_offset = 0, v_offset = 0, mass_start = 0;
  for (const BodyDescription& description : description_.bodies) {
    Body body{.mass = description.mass,
              .inertia = description.inertia,
              .center = description.center_of_mass};
    body.start.rotation = description.orientation.normalized().toRotationMatrix();
    body.start.position = description.position + body.start.rotation * body.center;
    if (description.motion == BodyDescription::Motion::kKinematic) {
      body.motion = static_cast<int>(motions_.size());
      const std::array<Expression, 4> functions{description.shift[0], description.shift[1],
                                                description.shift[2], description.angle};
      motions_.emplace_back(functions);
      body.recorded = num_recorded_++;
    } else if (description.motion == BodyDescription::Motion::kDynamic) {
      for (int i = 0; i < 3; ++i)
        if (description.free_axes[i]) body.linear[body.num_linear++] = i;
      for (int i = 3; i < 6; ++i) {
        if (!description.free_axes[i]) continue;
        ++body.num_angular;
        body.axis = body.start.rotation.transpose() * Vector3d::Unit(i - 3);
      }
      body.num_dofs = body.num_linear + body.num_angular;
      if (body.num_angular == 3)
        body.inverse_inertia = body.inertia.diagonal().cwiseInverse();
      else if (body.num_angular == 1)
        body.inverse_inertia[0] = 1 / body.axis.dot(body.inertia * body.axis);
      body.block = static_cast<int>(block_body_.size());
      body.q_offset = q_offset;
      body.v_offset = v_offset;
      body.mass_start = mass_start;
      body.recorded = num_recorded_++;
      q_offset += 7;
      v_offset += body.num_dofs;
      mass_start += body.num_dofs * body.num_dofs;
      block_body_.push_back(static_cast<int>(bodies_.size()));
    }
    body.planar_axes = find_planar_axes(description);
    bodies_.push_back(body);
  }
  angle_start_ = q_offset;
}

/// A frame given in a body's frame, seen from its centre of mass.
Pose RigidBodySystem::from_center(int body, const Pose& in_body_frame) const {
  Pose pose = in_body_frame;
  if (body != kWorld) pose.position -= bodies_[body].center;
  return pose;
}

void RigidBodySystem::add_joints() {
  for (const JointDescription& description : description_.joints) {
    Joint joint{.geometry = {.type = description.type,
                             .frame_a = from_center(description.bodies[0], description.frames[0]),
                             .frame_b = from_center(description.bodies[1], description.frames[1]),
                             .length = description.length,
                             .pitch = description.pitch,
                             .radius = description.radius},
                .bodies = description.bodies,
                .constraint_start = static_cast<int>(constraints_.size()),
                .velocity_row_start = static_cast<int>(velocity_rows_.size())};
    for (const std::string_view name : constraint_row_names(description.type))
      constraints_.push_back({.name = fmt::format("{}.{}", description.name, name),
                              .compliance = description.compliance,
                              .damping_time = description.damping_time});
    int num_angles = 0;
    for (const JointCoordinate coordinate : joint_coordinates(description.type))
      if (is_angle(coordinate)) joint.angle[num_angles++] = angle_start_ + num_angles_++;
    if (stiction::num_velocity_rows(description.type) > 0) {
      nonholonomic_joints_.push_back(static_cast<int>(joints_.size()));
      for (const std::string_view name : velocity_row_names(description.type))
        velocity_rows_.push_back({.name = fmt::format("{}.{}", description.name, name)});
    }
    has_turning_rows_ =
        has_turning_rows_ || description.compliance > 0 || description.type == JointType::kDistance;
    joints_.push_back(joint);
  }
}

int RigidBodySystem::add_target(const Expression& value) {
  targets_.emplace_back(std::span(&value, 1));
  return static_cast<int>(targets_.size()) - 1;
}

/// Motors, friction and limits of a joint.
void RigidBodySystem::add_joint_rows(int index) {
  const JointDescription& joint = description_.joints[index];
  for (const JointMotor& motor : joint.motors) {
    const CoordinateRow row{
        .joint = index, .coordinate = motor.coordinate, .target = add_target(motor.value)};
    if (motor.target == JointMotor::Target::kPosition) {
      position_motors_.push_back(row);
      constraints_.push_back(
          {.name = row_name(joint, motor.coordinate, "motor"), .max_effort = motor.max_effort});
    } else {
      velocity_rows_on_coordinates_.push_back(row);
      velocity_rows_.push_back({.name = row_name(joint, motor.coordinate, "motor"),
                                .kind = VelocityRowInfo::Kind::kMotor,
                                .max_effort = motor.max_effort});
    }
  }
  for (const JointFriction& friction : joint.friction) {
    if (friction.max_effort == 0) continue;
    velocity_rows_on_coordinates_.push_back({.joint = index, .coordinate = friction.coordinate});
    velocity_rows_.push_back({.name = row_name(joint, friction.coordinate, "friction"),
                              .kind = VelocityRowInfo::Kind::kFriction,
                              .max_effort = friction.max_effort});
  }
  for (const JointLimit& limit : joint.limits)
    for (const double sign : {1.0, -1.0}) {
      const double bound = sign > 0 ? limit.lower : limit.upper;
      if (std::isinf(bound)) continue;
      limits_.push_back(
          {.joint = index, .coordinate = limit.coordinate, .sign = sign, .bound = bound});
      contacts_.push_back(
          {.name = row_name(joint, limit.coordinate, sign > 0 ? "lower limit" : "upper limit"),
           .restitution = limit.restitution});
    }
}

void RigidBodySystem::add_couplings() {
  for (const CouplingDescription& description : description_.couplings) {
    couplings_.push_back({.sides = description.sides});
    constraints_.push_back({.name = description.name,
                            .compliance = description.compliance,
                            .damping_time = description.damping_time});
  }
}

/// A coupling holds at the start, whatever the angles are there.
void RigidBodySystem::set_coupling_offsets() {
  const VectorXd q = initial_q();
  for (Coupling& coupling : couplings_)
    for (const CouplingDescription::Side& side : coupling.sides)
      coupling.offset += side.factor * coordinate_value(0, q, side.joint, side.coordinate);
}

void RigidBodySystem::add_springs() {
  using Kind = BodySpringDescription::Kind;
  static constexpr const char* kAxes[] = {"x", "y", "z", "turn x", "turn y", "turn z"};
  for (const BodySpringDescription& description : description_.springs) {
    Spring spring{.kind = description.kind,
                  .geometry = {.frame_a = from_center(description.bodies[0], description.frames[0]),
                               .frame_b = from_center(description.bodies[1], description.frames[1]),
                               .length = description.rest_length},
                  .bodies = description.bodies,
                  .rest = description.rest,
                  .joint = description.joint,
                  .coordinate = description.coordinate};
    if (description.kind == Kind::kDistance) {
      spring.geometry.type = description.rest_length > 0 ? JointType::kDistance : JointType::kBall;
      spring.num_rows = description.rest_length > 0 ? 1 : 3;
    } else if (description.kind == Kind::kBushing) {
      spring.geometry.type = JointType::kSlider;
      spring.num_rows = 6;
    }
    for (int i = 0; i < spring.num_rows; ++i) {
      const auto at = [&](const std::vector<double>& values) {
        return values.size() == 1 ? values[0] : values[i];
      };
      springs_.push_back({.name = spring.num_rows == 1
                                      ? description.name
                                      : fmt::format("{}.{}", description.name, kAxes[i]),
                          .stiffness = at(description.stiffness),
                          .damping = at(description.damping)});
    }
    has_turning_rows_ = has_turning_rows_ || spring.num_rows != 3;
    body_springs_.push_back(spring);
  }
}

void RigidBodySystem::add_forces() {
  for (const BodyForceDescription& description : description_.forces) {
    std::vector<Expression> functions(description.force.begin(), description.force.end());
    functions.insert(functions.end(), description.torque.begin(), description.torque.end());
    forces_.push_back({.body = description.body,
                       .arm = description.point - bodies_[description.body].center,
                       .is_body_fixed = description.is_body_fixed,
                       .functions = TimeFunctions(functions)});
  }
}

std::shared_ptr<const RigidBodySystem> RigidBodySystem::with_spring(
    int spring, const BodySpringDescription& changed) const {
  using Kind = BodySpringDescription::Kind;
  const auto is_body = [&](int body) {
    return body == kWorld || (body >= 0 && body < static_cast<int>(bodies_.size()));
  };
  const auto is_good = [](double x) { return std::isfinite(x) && x >= 0; };
  if (spring < 0 || spring >= static_cast<int>(body_springs_.size()))
    throw InputError(fmt::format("spring is {}, there are {}", spring, body_springs_.size()));
  const BodySpringDescription& old = description_.springs[spring];
  if (old.kind != Kind::kDistance || changed.kind != Kind::kDistance ||
      old.rest_length != changed.rest_length || changed.bodies[0] == changed.bodies[1] ||
      !is_body(changed.bodies[0]) || !is_body(changed.bodies[1]) || changed.stiffness.size() != 1 ||
      changed.damping.size() != 1 || !is_good(changed.stiffness[0]) ||
      !is_good(changed.damping[0]) || !changed.frames[0].position.allFinite() ||
      !changed.frames[1].position.allFinite())
    throw InputError(
        fmt::format("spring '{}' cannot take the place of '{}'", changed.name, old.name));
  auto copy = std::make_shared<RigidBodySystem>(*this);
  copy->description_.springs[spring] = changed;
  copy->springs_.clear();
  copy->body_springs_.clear();
  copy->add_springs();
  return copy;
}

}  // namespace stiction
