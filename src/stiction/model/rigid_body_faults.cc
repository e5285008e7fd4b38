// find_body_faults: what is wrong with a description of rigid bodies in whatever state.
//
// A message names the part, what was found and what was expected. Where a number is not usable,
// checks that would build on it are left out, so that every fault is reported once.
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "stiction/base/text.h"
#include "stiction/geometry/mass_properties.h"
#include "stiction/model/rigid_body_description.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Motion = BodyDescription::Motion;
using SpringKind = BodySpringDescription::Kind;
using Where = BodyFault::Where;

/// For unit vectors and rotations that were computed, and velocities along locked axes.
constexpr double kRoundingTolerance = 1e-9;
constexpr std::array<std::string_view, 3> kAxisNames{"x", "y", "z"};

std::string vector_text(const Vector3d& vector) {
  return fmt::format("({}, {}, {})", to_text(vector.x()), to_text(vector.y()), to_text(vector.z()));
}

/// "body 'arm'", or "body 1" without a name.
std::string call_part(std::string_view kind, const std::string& name, std::size_t index) {
  if (name.empty()) return fmt::format("{} {}", kind, index + 1);
  return fmt::format("{} '{}'", kind, name);
}

// -------------------------------------------------------------------------------------------------
// Checks that parts have in common

/// One part of the description: what it is called, and where its faults go.
class Part {
 public:
  Part(Where where, std::size_t index, std::string name, const RigidBodyDescription& description,
       std::vector<BodyFault>& faults)
      : where_(where),
        index_(static_cast<int>(index)),
        name_(std::move(name)),
        description_(description),
        faults_(faults) {}

  const std::string& name() const { return name_; }

  void add(std::string_view key, std::string message) {
    faults_.push_back({where_, index_, std::string(key), std::move(message)});
  }

  /// Each returns whether all is well.
  bool demand(bool is_fulfilled, std::string_view key, double value, std::string_view rule) {
    if (is_fulfilled) return true;
    add(key, fmt::format("{} of {} is {}, must be {}", key, name_, to_text(value), rule));
    return false;
  }
  bool check_not_negative(std::string_view key, double value) {
    return demand(std::isfinite(value) && value >= 0, key, value, "finite and >= 0");
  }
  bool check_positive(std::string_view key, double value) {
    return demand(std::isfinite(value) && value > 0, key, value, "finite and > 0");
  }
  bool check_share(std::string_view key, double value) {
    return demand(value >= 0 && value <= 1, key, value, "in [0, 1]");
  }
  bool check_finite(std::string_view key, double value) {
    return demand(std::isfinite(value), key, value, "finite");
  }
  bool check_finite(std::string_view key, const Vector3d& vector) {
    if (vector.allFinite()) return true;
    add(key, fmt::format("{} of {} is {}, must be finite", key, name_, vector_text(vector)));
    return false;
  }
  void check_frame(std::string_view key, const Pose& frame);
  void check_frames(const std::array<Pose, 2>& frames) {
    for (const Pose& frame : frames) check_frame("frames", frame);
  }
  /// `what` may use t and nothing else.
  void check_formula(std::string_view key, std::string_view what, const Expression& formula);
  bool check_bodies(std::string_view key, const std::array<int, 2>& bodies);
  bool check_joint_index(std::string_view key, int joint);
  bool check_coordinate(std::string_view key, const JointDescription& joint,
                        JointCoordinate coordinate, bool needs_value);

 private:
  Where where_;
  int index_;
  std::string name_;
  const RigidBodyDescription& description_;
  std::vector<BodyFault>& faults_;
};

void Part::check_frame(std::string_view key, const Pose& frame) {
  if (!frame.position.allFinite() || !frame.rotation.allFinite()) {
    add(key, fmt::format("frame of {} has numbers that are not finite, must be finite", name_));
    return;
  }
  const double defect =
      (frame.rotation.transpose() * frame.rotation - Matrix3d::Identity()).cwiseAbs().maxCoeff();
  const double determinant = frame.rotation.determinant();
  if (defect <= kRoundingTolerance && determinant > 0) return;
  add(key, fmt::format("axes of a frame of {} miss orthonormality by {:.3g} and have determinant "
                       "{:.3g}, must be a rotation",
                       name_, defect, determinant));
}

void Part::check_formula(std::string_view key, std::string_view what, const Expression& formula) {
  if (formula.is_constant()) return;
  if (formula.pool() != description_.pool) {
    add(key, fmt::format("{} of {} uses symbols of another pool than its system", what, name_));
    return;
  }
  for (const std::string& symbol : symbols_of(formula))
    if (symbol != "t")
      add(key, fmt::format("{} of {} depends on '{}', may depend on t only", what, name_, symbol));
}

/// "the world", "body 'arm'", "static body 'wall'".
std::string call_body(const RigidBodyDescription& description, int index) {
  if (index == kWorld) return "the world";
  const BodyDescription& body = description.bodies[index];
  const std::string name = call_part("body", body.name, index);
  if (body.motion == Motion::kDynamic) return name;
  return (body.motion == Motion::kStatic ? "static " : "kinematic ") + name;
}

bool is_body(const RigidBodyDescription& description, int index) {
  return index >= 0 && index < static_cast<int>(description.bodies.size());
}

bool can_move(const RigidBodyDescription& description, int index) {
  return index != kWorld && description.bodies[index].motion == Motion::kDynamic;
}

bool Part::check_bodies(std::string_view key, const std::array<int, 2>& bodies) {
  bool is_known = true;
  for (const int body : bodies) {
    if (body == kWorld || is_body(description_, body)) continue;
    add(key, fmt::format("{} names body {}, must be {} (the world) or from 0 to {}", name_, body,
                         kWorld, static_cast<int>(description_.bodies.size()) - 1));
    is_known = false;
  }
  if (!is_known) return false;
  const std::string first = call_body(description_, bodies[0]);
  if (bodies[0] == bodies[1] && bodies[0] != kWorld) {
    add(key, fmt::format("{} is between {} and itself, must be between two bodies", name_, first));
    return false;
  }
  if (can_move(description_, bodies[0]) || can_move(description_, bodies[1])) return true;
  add(key, fmt::format("{} is between {} and {}, neither of which can move; one must be dynamic",
                       name_, first, call_body(description_, bodies[1])));
  return false;
}

bool Part::check_joint_index(std::string_view key, int joint) {
  const int num_joints = static_cast<int>(description_.joints.size());
  if (joint >= 0 && joint < num_joints) return true;
  add(key, num_joints == 0 ? fmt::format("{} names joint {}, but there are no joints", name_, joint)
                           : fmt::format("{} names joint {}, must be from 0 to {}", name_, joint,
                                         num_joints - 1));
  return false;
}

bool Part::check_coordinate(std::string_view key, const JointDescription& joint,
                            JointCoordinate coordinate, bool needs_value) {
  const auto known = joint_coordinates(joint.type);
  const bool exists = std::find(known.begin(), known.end(), coordinate) != known.end();
  if (exists && (has_value(coordinate) || !needs_value)) return true;
  std::vector<std::string> usable;
  for (const JointCoordinate candidate : known)
    if (has_value(candidate) || !needs_value) usable.emplace_back(name_of(candidate));
  const std::string found =
      where_ == Where::kJoint
          ? fmt::format("{} of {} given on {}", key, name_, name_of(coordinate))
          : fmt::format("{} given on {} of joint '{}'", name_, name_of(coordinate), joint.name);
  if (exists)
    add(key, fmt::format("{}, which has a speed but no position", found));
  else if (usable.empty())
    add(key, fmt::format("{}, a {} joint can have none", found, name_of(joint.type)));
  else
    add(key, fmt::format("{}, must be on {} for a {} joint", found, joined(usable),
                         name_of(joint.type)));
  return false;
}

// -------------------------------------------------------------------------------------------------
// Bodies

int count_free(const BodyDescription& body, int first) {
  return static_cast<int>(
      std::count(body.free_axes.begin() + first, body.free_axes.begin() + first + 3, true));
}

bool check_orientation(const BodyDescription& body, Part& part) {
  const auto& q = body.orientation;
  if (q.coeffs().allFinite() && std::isnormal(q.squaredNorm())) return true;
  part.add(
      "orientation",
      fmt::format("orientation of {} is the quaternion ({}, {}, {}, {}), must be finite and "
                  "longer than 0",
                  part.name(), to_text(q.w()), to_text(q.x()), to_text(q.y()), to_text(q.z())));
  return false;
}

bool check_free_axes(const BodyDescription& body, Part& part) {
  const int num_rotations = count_free(body, 3);
  if (num_rotations == 2) {
    part.add("free_axes", fmt::format("free_axes of {} has 2 rotations, must have none, one or "
                                      "all three",
                                      part.name()));
    return false;
  }
  if (num_rotations + count_free(body, 0) > 0) return true;
  part.add("free_axes",
           fmt::format("free_axes of {} is empty, must have an axis, or the body must be static",
                       part.name()));
  return false;
}

/// Of an inertia only what moves is looked at: all of it, the moment about one axis, or nothing.
void check_inertia(const BodyDescription& body, Part& part) {
  if (!body.inertia.allFinite()) {
    part.add("inertia", fmt::format("inertia of {} has entries that are not finite, must be finite",
                                    part.name()));
  } else if (count_free(body, 3) == 3) {
    const std::string fault = find_inertia_fault(body.inertia);
    if (!fault.empty()) part.add("inertia", fmt::format("{}: {}", part.name(), fault));
  } else if (count_free(body, 3) == 1) {
    const auto free = std::find(body.free_axes.begin() + 3, body.free_axes.end(), true);
    const auto i = static_cast<int>(free - body.free_axes.begin()) - 3;
    const Vector3d axis = body.orientation.normalized().conjugate() * Vector3d::Unit(i);
    const double moment = axis.dot(body.inertia * axis);
    if (moment > 0) return;
    part.add("inertia", fmt::format("inertia of {} about {}, its free axis, is {}, must be > 0",
                                    part.name(), kAxisNames[i], to_text(moment)));
  }
}

/// Names of the axes along which `vector` has a component that is not free.
std::string find_locked_motion(const Vector3d& vector, std::span<const bool, 3> is_free,
                               double scale) {
  std::vector<std::string> axes;
  for (int i = 0; i < 3; ++i)
    if (!is_free[i] && std::abs(vector[i]) > kRoundingTolerance * scale)
      axes.emplace_back(kAxisNames[i]);
  return joined(axes);
}

/// A system would leave out what is not free without a word. What is free of a translation is that
/// of the centre of mass.
void check_velocities(const BodyDescription& body, Part& part) {
  const std::span<const bool, 6> is_free(body.free_axes);
  const Vector3d& omega = body.angular_velocity;
  const std::string turning = find_locked_motion(omega, is_free.last<3>(), omega.norm());
  if (!turning.empty())
    part.add("angular_velocity", fmt::format("angular_velocity of {} is {}, must be 0 about {}, "
                                             "not in its free_axes",
                                             part.name(), vector_text(omega), turning));
  const Vector3d arm = body.orientation.normalized() * body.center_of_mass;
  const Vector3d velocity = body.velocity + omega.cross(arm);
  const std::string moving = find_locked_motion(velocity, is_free.first<3>(),
                                                body.velocity.norm() + omega.norm() * arm.norm());
  if (!moving.empty())
    part.add("velocity", fmt::format("velocity of the centre of mass of {} is {}, must be 0 along "
                                     "{}, not in its free_axes",
                                     part.name(), vector_text(velocity), moving));
}

void check_dynamic(const BodyDescription& body, Part& part) {
  const bool is_oriented = check_orientation(body, part);
  bool is_finite = part.check_finite("center_of_mass", body.center_of_mass);
  is_finite = part.check_finite("velocity", body.velocity) && is_finite;
  is_finite = part.check_finite("angular_velocity", body.angular_velocity) && is_finite;
  part.check_positive("mass", body.mass);
  if (!check_free_axes(body, part) || !is_oriented) return;
  check_inertia(body, part);
  if (is_finite) check_velocities(body, part);
}

/// Numbers that nothing uses are still to be numbers.
void check_immovable(const BodyDescription& body, Part& part) {
  check_orientation(body, part);
  part.check_finite("center_of_mass", body.center_of_mass);
  part.check_finite("mass", body.mass);
  if (!body.inertia.allFinite()) check_inertia(body, part);
  for (const auto& [key, vector] : {std::pair{"velocity", &body.velocity},
                                    std::pair{"angular_velocity", &body.angular_velocity}})
    if (part.check_finite(key, *vector) && !vector->isZero(0))
      part.add(key, fmt::format("{} of {} is {}, must be 0 since the body is not dynamic", key,
                                part.name(), vector_text(*vector)));
}

void check_motion(const BodyDescription& body, Part& part) {
  const bool is_kinematic = body.motion == Motion::kKinematic;
  for (std::size_t i = 0; i < 4; ++i) {
    const Expression& formula = i < 3 ? body.shift[i] : body.angle;
    const std::string what = i < 3 ? fmt::format("shift {}", kAxisNames[i]) : "angle";
    if (is_kinematic)
      part.check_formula("kinematic", what, formula);
    else if (!formula.is_constant(0))
      part.add("kinematic", fmt::format("{} of {} is a motion, must be 0 since the body is not "
                                        "kinematic",
                                        what, part.name()));
  }
  const double length = body.turn_axis.norm();
  if (is_kinematic && !(std::abs(length - 1) <= kRoundingTolerance))
    part.add("kinematic", fmt::format("axis of {} is {} with length {}, must have length 1",
                                      part.name(), vector_text(body.turn_axis), to_text(length)));
}

void check_body(const BodyDescription& body, Part& part) {
  part.check_finite("position", body.position);
  if (body.motion == Motion::kDynamic)
    check_dynamic(body, part);
  else
    check_immovable(body, part);
  check_motion(body, part);
}

// -------------------------------------------------------------------------------------------------
// Joints and couplings

void check_softness(double compliance, double damping_time, Part& part) {
  part.check_not_negative("compliance", compliance);
  part.check_not_negative("damping_time", damping_time);
}

void check_sizes(const JointDescription& joint, Part& part) {
  const JointType type = joint.type;
  if (type == JointType::kDistance)
    part.check_positive("length", joint.length);
  else
    part.check_finite("length", joint.length);
  if (type == JointType::kRollingDisc || type == JointType::kRollingBall)
    part.check_positive("radius", joint.radius);
  else
    part.check_finite("radius", joint.radius);
  part.demand(std::isfinite(joint.pitch) && (type != JointType::kScrew || joint.pitch != 0),
              "pitch", joint.pitch, type == JointType::kScrew ? "finite and not 0" : "finite");
}

/// Two motors on one coordinate, or two pairs of limits, would share their names.
template <class Items>
void check_repetition(std::string_view key, const Items& items, Part& part) {
  std::set<JointCoordinate> seen;
  for (const auto& item : items)
    if (!seen.insert(item.coordinate).second)
      part.add(key, fmt::format("{} of {} given twice for {}, must be given once", key, part.name(),
                                name_of(item.coordinate)));
}

void check_limits(const JointDescription& joint, Part& part) {
  check_repetition("limits", joint.limits, part);
  for (const JointLimit& limit : joint.limits) {
    part.check_coordinate("limits", joint, limit.coordinate, true);
    if (!(limit.lower < limit.upper))
      part.add("limits",
               fmt::format("limits of {} are {} and {}, the lower must be less than the upper",
                           part.name(), to_text(limit.lower), to_text(limit.upper)));
    part.check_share("restitution", limit.restitution);
  }
}

void check_motors(const JointDescription& joint, Part& part) {
  check_repetition("motor", joint.motors, part);
  for (const JointMotor& motor : joint.motors) {
    const bool is_servo = motor.target == JointMotor::Target::kPosition;
    part.check_coordinate("motor", joint, motor.coordinate, is_servo);
    part.check_formula("motor", is_servo ? "position of the motor" : "speed of the motor",
                       motor.value);
    part.demand(motor.max_effort >= 0, "max_effort", motor.max_effort, ">= 0");
  }
}

void check_joint(const JointDescription& joint, Part& part) {
  part.check_bodies("bodies", joint.bodies);
  part.check_frames(joint.frames);
  check_sizes(joint, part);
  check_softness(joint.compliance, joint.damping_time, part);
  check_limits(joint, part);
  check_motors(joint, part);
  check_repetition("friction", joint.friction, part);
  for (const JointFriction& friction : joint.friction) {
    part.check_coordinate("friction", joint, friction.coordinate, false);
    part.check_not_negative("friction", friction.max_effort);
  }
}

void check_coupling(const CouplingDescription& coupling, const RigidBodyDescription& description,
                    Part& part) {
  const auto& [first, second] = coupling.sides;
  const bool has_slide =
      first.coordinate == JointCoordinate::kSlide || second.coordinate == JointCoordinate::kSlide;
  const std::string_view factor = has_slide ? "radius" : "ratio";
  bool is_known = true;
  for (const CouplingDescription::Side& side : coupling.sides) {
    const bool has_joint = part.check_joint_index("joints", side.joint);
    is_known = is_known && has_joint;
    if (has_joint)
      part.check_coordinate("joints", description.joints[side.joint], side.coordinate, true);
    if (!std::isfinite(side.factor) || side.factor == 0)
      part.add(factor, fmt::format("factor of {} is {}, must be finite and not 0", part.name(),
                                   to_text(side.factor)));
  }
  if (is_known && first.joint == second.joint && first.coordinate == second.coordinate)
    part.add(
        "joints",
        fmt::format("{} couples {} of joint '{}' with itself, must couple two coordinates",
                    part.name(), name_of(first.coordinate), description.joints[first.joint].name));
  check_softness(coupling.compliance, coupling.damping_time, part);
}

// -------------------------------------------------------------------------------------------------
// Springs, forces, shapes

void check_constants(std::string_view key, const std::vector<double>& values, bool is_bushing,
                     Part& part) {
  if (values.size() != 1 && !(is_bushing && values.size() == 6)) {
    part.add(key, fmt::format("{} of {} has {} entries, must have {}", key, part.name(),
                              values.size(), is_bushing ? "1 or 6" : "1"));
    return;
  }
  for (const double value : values)
    if (!part.check_not_negative(key, value)) return;
}

void check_spring(const BodySpringDescription& spring, const RigidBodyDescription& description,
                  Part& part) {
  const bool is_bushing = spring.kind == SpringKind::kBushing;
  check_constants("stiffness", spring.stiffness, is_bushing, part);
  check_constants("damping", spring.damping, is_bushing, part);
  if (spring.kind == SpringKind::kJoint) {
    part.check_finite("rest", spring.rest);
    if (part.check_joint_index("joint", spring.joint))
      part.check_coordinate("coordinate", description.joints[spring.joint], spring.coordinate,
                            true);
    return;
  }
  part.check_bodies(is_bushing ? "bodies" : "between", spring.bodies);
  part.check_frames(spring.frames);
  if (!is_bushing) part.check_not_negative("rest_length", spring.rest_length);
}

void check_force(const BodyForceDescription& force, const RigidBodyDescription& description,
                 Part& part) {
  if (force.body != kWorld && !is_body(description, force.body))
    part.add("body", fmt::format("{} names body {}, must be from 0 to {}", part.name(), force.body,
                                 static_cast<int>(description.bodies.size()) - 1));
  else if (!can_move(description, force.body))
    part.add("body", fmt::format("{} acts on {}, which it cannot move; must act on a dynamic body",
                                 part.name(), call_body(description, force.body)));
  for (std::size_t i = 0; i < 3; ++i) {
    part.check_formula("force", fmt::format("{} component", kAxisNames[i]), force.force[i]);
    part.check_formula("torque", fmt::format("{} component of the torque", kAxisNames[i]),
                       force.torque[i]);
  }
  part.check_finite("point", force.point);
}

void check_law(const MaterialDescription& law, Part& part) {
  part.check_not_negative("mu", law.mu);
  part.check_share("restitution", law.restitution);
  part.check_share("restitution_tangential", law.restitution_tangential);
  part.check_not_negative("compliance", law.compliance);
}

void check_material_pair(const MaterialPairDescription& pair, int num_materials, Part& part) {
  for (const int material : pair.materials)
    if (material < 0 || material >= num_materials)
      part.add("between", fmt::format("{} names material {}, must be from 0 to {}", part.name(),
                                      material, num_materials - 1));
  check_law(pair.law, part);
}

void check_shape(const BodyShapeDescription& shape, const RigidBodyDescription& description,
                 Part& part) {
  const int num_materials = static_cast<int>(description.materials.size());
  if (shape.body != kWorld && !is_body(description, shape.body))
    part.add("body", fmt::format("{} names body {}, must be from 0 to {}", part.name(), shape.body,
                                 static_cast<int>(description.bodies.size()) - 1));
  if (shape.material < kNoMaterial || shape.material >= num_materials)
    part.add("material", fmt::format("{} names material {}, must be from 0 to {}", part.name(),
                                     shape.material, num_materials - 1));
  part.check_frame("position", shape.frame);
  part.check_finite("surface_velocity", shape.surface_velocity);
  if (const std::string fault = find_fault(shape.shape); !fault.empty())
    part.add("", fmt::format("{}: {}", part.name(), fault));
}

void check_untouched(const std::array<int, 2>& bodies, const RigidBodyDescription& description,
                     Part& part) {
  for (const int body : bodies)
    if (body != kWorld && !is_body(description, body))
      part.add("", fmt::format("{} names body {}, must be from 0 to {}", part.name(), body,
                               static_cast<int>(description.bodies.size()) - 1));
}

// -------------------------------------------------------------------------------------------------
// The whole

class FaultFinder {
 public:
  explicit FaultFinder(const RigidBodyDescription& description) : d_(description) {}

  std::vector<BodyFault> run() && {
    check_world();
    check_all(Where::kBody, "body", d_.bodies, true,
              [](const BodyDescription& body, Part& part) { check_body(body, part); });
    check_all(Where::kJoint, "joint", d_.joints, true,
              [](const JointDescription& joint, Part& part) { check_joint(joint, part); });
    check_all(Where::kCoupling, "coupling", d_.couplings, false,
              [this](const CouplingDescription& coupling, Part& part) {
                check_coupling(coupling, d_, part);
              });
    check_all(Where::kSpring, "spring", d_.springs, false,
              [this](const BodySpringDescription& spring, Part& part) {
                check_spring(spring, d_, part);
              });
    for (std::size_t i = 0; i < d_.forces.size(); ++i) {
      Part part = make_part(Where::kForce, i, call_part("force", "", i));
      check_force(d_.forces[i], d_, part);
    }
    check_all(Where::kMaterial, "material", d_.materials, true,
              [](const MaterialDescription& material, Part& part) { check_law(material, part); });
    check_all(
        Where::kShape, "shape", d_.shapes, false,
        [this](const BodyShapeDescription& shape, Part& part) { check_shape(shape, d_, part); });
    check_material_pairs();
    for (std::size_t i = 0; i < d_.untouched_bodies.size(); ++i) {
      Part part = make_part(Where::kUntouched, i, call_part("pair of bodies that pass", "", i));
      check_untouched(d_.untouched_bodies[i], d_, part);
    }
    return std::move(faults_);
  }

 private:
  void check_material_pairs() {
    std::map<std::pair<int, int>, std::size_t> first;  // with these materials
    for (std::size_t i = 0; i < d_.material_pairs.size(); ++i) {
      const MaterialPairDescription& pair = d_.material_pairs[i];
      Part part = make_part(Where::kMaterialPair, i, call_part("material pair", "", i));
      check_material_pair(pair, static_cast<int>(d_.materials.size()), part);
      const auto [other, is_new] =
          first.emplace(std::minmax(pair.materials[0], pair.materials[1]), i);
      if (!is_new)
        part.add("between",
                 fmt::format("{} is between the same materials as {}, one of them must go",
                             part.name(), call_part("material pair", "", other->second)));
    }
  }

  /// What belongs to no single part goes with gravity.
  void check_world() {
    Part world = make_part(Where::kGravity, 0, "the world");
    world.check_finite("gravity", d_.gravity);
    for (const BodyDescription& body : d_.bodies)
      if (body.motion == Motion::kDynamic) return;
    world.add("bodies", "none of the bodies is dynamic, at least one must be");
  }

  Part make_part(Where where, std::size_t index, std::string name) {
    return {where, index, std::move(name), d_, faults_};
  }

  /// Names of one kind differ, since rows and recordings tell parts apart by them.
  template <class Item, class Check>
  void check_all(Where where, std::string_view kind, const std::vector<Item>& items,
                 bool needs_name, const Check& check) {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < items.size(); ++i) {
      Part part = make_part(where, i, call_part(kind, items[i].name, i));
      if (items[i].name.empty() ? needs_name : !names.insert(items[i].name).second)
        part.add("name", items[i].name.empty()
                             ? fmt::format("name of {} is empty, must be given", part.name())
                             : fmt::format("{} name '{}' occurs twice, must be unique", kind,
                                           items[i].name));
      check(items[i], part);
    }
  }

  const RigidBodyDescription& d_;
  std::vector<BodyFault> faults_;
};

}  // namespace

std::vector<BodyFault> find_body_faults(const RigidBodyDescription& description) {
  return FaultFinder(description).run();
}

}  // namespace stiction
