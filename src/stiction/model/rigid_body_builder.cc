#include "stiction/model/rigid_body_builder.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/geometry/mass_properties.h"
#include "stiction/model/joint_placement.h"
#include "stiction/model/tape.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// What the axes of a universal joint may miss perpendicularity by, and those of a disc and its
/// plane must miss parallelism by: the error of numbers written with seven digits.
constexpr double kAngleTolerance = 1e-6;

std::string vector_text(const Vector3d& vector) {
  return fmt::format("({}, {}, {})", to_text(vector.x()), to_text(vector.y()), to_text(vector.z()));
}

void check_finite(std::string_view what, const std::string& joint, const Vector3d& vector) {
  if (vector.allFinite()) return;
  throw InputError(
      fmt::format("{} of joint '{}' is {}, must be finite", what, joint, vector_text(vector)));
}

Vector3d unit_along(std::string_view what, const std::string& joint, const Vector3d& axis) {
  check_finite(what, joint, axis);
  if (axis.stableNorm() > 0) return axis.stableNormalized();
  throw InputError(fmt::format("{} of joint '{}' has length 0, must point somewhere", what, joint));
}

/// Shift and angle of a kinematic body at t = 0.
std::array<double, 4> compute_start_motion(const BodyDescription& body) {
  const std::array<Expression, 4> motion{body.shift[0], body.shift[1], body.shift[2], body.angle};
  std::vector<Expression> inputs;
  for (const Expression& function : motion)
    if (inputs.empty() && !function.is_constant())
      inputs.push_back(Expression::symbol(function.pool(), "t"));
  const std::vector<double> start(inputs.size(), 0.0);
  std::array<double, 4> values;
  Tape(motion, inputs).evaluate(start, values.data());
  return values;
}

void place(const RigidBodyDescription& description, const std::array<int, 2>& bodies,
           const std::array<Pose, 2>& in_world, std::array<Pose, 2>& frames) {
  for (const int side : {0, 1})
    frames[side] = compute_frame_in_body(description, bodies[side], in_world[side]);
}

void set_universal_axes(const std::string& joint, const Vector3d& axis, const Vector3d& axis2,
                        PartialFrames& frames) {
  const Vector3d x = unit_along("axis", joint, axis);
  const Vector3d y = unit_along("axis2", joint, axis2);
  const double cosine = x.dot(y);
  if (std::abs(cosine) > kAngleTolerance)
    throw InputError(fmt::format(
        "axis and axis2 of universal joint '{}' are {:.3g} rad apart, must be perpendicular", joint,
        std::acos(cosine)));
  frames[0].axis = x;
  frames[1].axis = (y - cosine * x).normalized();
}

void set_disc_axes(const JointDescription& joint, const Vector3d& axis, const Vector3d& axis2,
                   PartialFrames& frames) {
  const Vector3d spin = unit_along("axis", joint.name, axis);
  const Vector3d normal =
      axis2.isZero(0) ? Vector3d(Vector3d::UnitZ()) : unit_along("axis2", joint.name, axis2);
  if (!(normal.cross(spin).norm() > kAngleTolerance))
    throw InputError(
        fmt::format("axis and axis2 of rolling disc '{}' are parallel, the disc must "
                    "not lie flat on its plane",
                    joint.name));
  frames[1].axis = spin;
  place_plane_below(normal, joint.radius, frames);
}

template <class Item>
void name_item(std::string_view kind, Item& item, std::size_t num_before) {
  if (item.name.empty()) item.name = fmt::format("{} {}", kind, num_before + 1);
}

/// Appends and returns the index.
template <class Item>
int append(std::string_view kind, Item item, std::vector<Item>& items) {
  name_item(kind, item, items.size());
  items.push_back(std::move(item));
  return static_cast<int>(items.size()) - 1;
}

MassProperties compute_mass_properties(const BodyDescription& body,
                                       const std::vector<SolidPart>& solids) {
  std::vector<MassProperties> parts;
  for (const SolidPart& solid : solids) {
    const auto properties = stiction::compute_mass_properties(solid.shape, solid.density);
    if (!properties)
      throw InputError(
          fmt::format("solid of body '{}': {}", body.name, find_mass_fault(solid.shape)));
    parts.push_back(transformed(*properties, solid.frame.rotation, solid.frame.position));
  }
  if (parts.empty())
    throw InputError(fmt::format("body '{}' has 0 solids, must have at least 1", body.name));
  const MassProperties whole = combined(parts);
  return body.mass == 0 ? whole : scaled_to_mass(whole, body.mass);
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Places

Pose compute_start_pose(const RigidBodyDescription& description, int body) {
  if (body == kWorld) return {};
  const int num_bodies = static_cast<int>(description.bodies.size());
  if (body < 0 || body >= num_bodies)
    throw InputError(fmt::format("argument body is {}, must be {} (the world) or from 0 to {}",
                                 body, kWorld, num_bodies - 1));
  const BodyDescription& at = description.bodies[body];
  Pose pose{at.position, at.orientation.normalized().toRotationMatrix()};
  if (at.motion != BodyDescription::Motion::kKinematic) return pose;
  const std::array<double, 4> motion = compute_start_motion(at);
  pose.position += Eigen::Map<const Vector3d>(motion.data());
  pose.rotation = Eigen::AngleAxisd(motion[3], at.turn_axis).toRotationMatrix() * pose.rotation;
  return pose;
}

Pose compute_frame_in_body(const RigidBodyDescription& description, int body,
                           const Pose& in_world) {
  const Pose start = compute_start_pose(description, body);
  return {start.rotation.transpose() * (in_world.position - start.position),
          start.rotation.transpose() * in_world.rotation};
}

Matrix3d make_axes_along(const Vector3d& axis) {
  if (!axis.allFinite() || !(axis.stableNorm() > 0))
    throw InputError(
        fmt::format("argument axis is {}, must be finite and longer than 0", vector_text(axis)));
  Matrix3d axes;
  axes.col(2) = axis.stableNormalized();
  axes.col(0) = make_orthogonal(axes.col(2));
  axes.col(1) = axes.col(2).cross(axes.col(0));
  return axes;
}

void place_joint(const RigidBodyDescription& description, JointDescription& joint,
                 const Vector3d& at, const Vector3d& axis, const Vector3d& axis2) {
  check_finite("at", joint.name, at);
  PartialFrames frames;
  frames[0].position = frames[1].position = at;
  switch (joint.type) {
    case JointType::kDistance:
      throw InputError(fmt::format("distance joint '{}' has one place, must have two", joint.name));
    case JointType::kUniversal:
      set_universal_axes(joint.name, axis, axis2, frames);
      break;
    case JointType::kRollingDisc:
      set_disc_axes(joint, axis, axis2, frames);
      break;
    case JointType::kRollingBall:
      place_plane_below(unit_along("axis", joint.name, axis), joint.radius, frames);
      break;
    default:
      frames[0].axis = frames[1].axis = unit_along("axis", joint.name, axis);
  }
  place(description, joint.bodies, complete_frames(joint.type, frames), joint.frames);
}

void place_distance(const RigidBodyDescription& description, JointDescription& joint,
                    const Vector3d& at_a, const Vector3d& at_b) {
  check_finite("at", joint.name, at_a);
  check_finite("at", joint.name, at_b);
  if (joint.length == 0) joint.length = (at_b - at_a).norm();
  place(description, joint.bodies, {Pose{.position = at_a}, Pose{.position = at_b}}, joint.frames);
}

// -------------------------------------------------------------------------------------------------
// The builder

RigidBodyBuilder::RigidBodyBuilder() { description_.pool = std::make_shared<ExpressionPool>(); }

BodyId RigidBodyBuilder::add_body(BodyDescription body) {
  return append("body", std::move(body), description_.bodies);
}

BodyId RigidBodyBuilder::add_body(BodyDescription body, const std::vector<SolidPart>& solids) {
  name_item("body", body, description_.bodies.size());
  if (!body.inertia.isZero(0) || !body.center_of_mass.isZero(0))
    throw InputError(fmt::format(
        "body '{}' has solids and an inertia or center_of_mass of its own, must have one of them",
        body.name));
  const MassProperties properties = compute_mass_properties(body, solids);
  body.mass = properties.mass;
  body.center_of_mass = properties.center;
  body.inertia = properties.inertia;
  return add_body(std::move(body));
}

JointId RigidBodyBuilder::add_joint(JointDescription joint) {
  return append("joint", std::move(joint), description_.joints);
}

JointId RigidBodyBuilder::add_joint(JointDescription joint, const JointPlacement& placement) {
  name_item("joint", joint, description_.joints.size());
  place_joint(description_, joint, placement.at, placement.axis, placement.axis2);
  return add_joint(std::move(joint));
}

JointId RigidBodyBuilder::add_distance(JointDescription joint, const EndPoints& ends) {
  name_item("joint", joint, description_.joints.size());
  joint.type = JointType::kDistance;
  place_distance(description_, joint, ends.from, ends.to);
  return add_joint(std::move(joint));
}

void RigidBodyBuilder::add_gear(const std::string& name, JointId first, JointId second,
                                double ratio) {
  add_coupling({.name = name,
                .sides = {CouplingDescription::Side{.joint = first, .factor = ratio},
                          CouplingDescription::Side{.joint = second, .factor = -1}}});
}

void RigidBodyBuilder::add_rack(const std::string& name, JointId hinge, JointId slider,
                                double radius) {
  add_coupling(
      {.name = name,
       .sides = {CouplingDescription::Side{.joint = hinge, .factor = radius},
                 CouplingDescription::Side{
                     .joint = slider, .coordinate = JointCoordinate::kSlide, .factor = -1}}});
}

void RigidBodyBuilder::add_coupling(CouplingDescription coupling) {
  append("coupling", std::move(coupling), description_.couplings);
}

void RigidBodyBuilder::add_spring(BodySpringDescription spring) {
  append("spring", std::move(spring), description_.springs);
}

void RigidBodyBuilder::add_spring(BodySpringDescription spring, const EndPoints& ends) {
  spring.kind = BodySpringDescription::Kind::kDistance;
  place(description_, spring.bodies, {Pose{.position = ends.from}, Pose{.position = ends.to}},
        spring.frames);
  add_spring(std::move(spring));
}

void RigidBodyBuilder::add_bushing(BodySpringDescription spring, const JointPlacement& placement) {
  spring.kind = BodySpringDescription::Kind::kBushing;
  const Pose shared{placement.at, make_axes_along(placement.axis)};
  place(description_, spring.bodies, {shared, shared}, spring.frames);
  add_spring(std::move(spring));
}

void RigidBodyBuilder::add_joint_spring(JointId joint, BodySpringDescription spring) {
  spring.kind = BodySpringDescription::Kind::kJoint;
  spring.joint = joint;
  add_spring(std::move(spring));
}

void RigidBodyBuilder::add_force(BodyForceDescription force) {
  description_.forces.push_back(std::move(force));
}

MaterialId RigidBodyBuilder::add_material(MaterialDescription material) {
  append("material", std::move(material), description_.materials);
  return static_cast<MaterialId>(description_.materials.size()) - 1;
}

void RigidBodyBuilder::set_material_pair(MaterialId first, MaterialId second,
                                         const MaterialDescription& law) {
  description_.material_pairs.push_back({.materials = {first, second}, .law = law});
}

int RigidBodyBuilder::add_shape(BodyShapeDescription shape) {
  description_.shapes.push_back(std::move(shape));
  return static_cast<int>(description_.shapes.size()) - 1;
}

void RigidBodyBuilder::let_pass(BodyId first, BodyId second) {
  description_.untouched_bodies.push_back({first, second});
}

std::shared_ptr<const RigidBodySystem> RigidBodyBuilder::build() const {
  return std::make_shared<RigidBodySystem>(description_);
}

Model RigidBodyBuilder::build_model() const {
  const auto system = build();
  ModelBuilder builder;
  builder.add_system(system, system->initial_q(), system->initial_v());
  return builder.build();
}

}  // namespace stiction
