#include "stiction/scene/mjcf_bodies.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "stiction/base/error.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Kind = ImportJoint::Kind;

}  // namespace

std::string MjcfBodyReader::unique_name(std::string wanted, std::set<std::string>& taken) {
  std::string name = wanted;
  for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{} {}", wanted, k);
  return name;
}

std::string MjcfBodyReader::childclass_of(XmlElement& element, const Context& context) {
  const XmlAttribute* given = element.take("childclass");
  if (given == nullptr) return context.childclass;
  if (settings_.has_class(given->value)) return given->value;
  report_.add(ImportFate::kError, given->place, element.title(),
              fmt::format("there is no default class '{}'", given->value));
  return context.childclass;
}

void MjcfBodyReader::read_world(XmlElement& worldbody) {
  worldbody.is_used = true;
  std::vector<MassProperties> unused;
  Context context{.geom_masses = &unused};
  context.childclass = childclass_of(worldbody, context);
  read_parts(worldbody, context);
  read_bodies(worldbody, context);
}

void MjcfBodyReader::read_parts(XmlElement& element, const Context& context) {
  const bool is_world = context.body == kImportWorld;
  for (XmlElement& child : element.children) {
    if (child.name == "geom") {
      if (const auto mass = geoms_.read(child, context.childclass, context.body, context.frame))
        context.geom_masses->push_back(*mass);
    } else if (child.name == "frame") {
      read_parts(child, enter_frame(child, context));
      report_.add(ImportFate::kTaken, child.place, child.title(), "a frame for what is inside");
    } else if (child.name == "inertial" && !is_world) {
      if (const auto mass = read_inertial(child, context)) inertials_[context.body] = *mass;
    } else if ((child.name == "joint" || child.name == "freejoint") && !is_world) {
      read_joint(child, context);
    } else if (child.name == "joint" || child.name == "freejoint" || child.name == "inertial") {
      child.is_used = true;
      report_.add(ImportFate::kError, child.place, child.title(),
                  "stands in the world, expected inside a body");
    }
  }
}

/// In the order of the file, frames or not: it is that of the coordinates.
void MjcfBodyReader::read_bodies(XmlElement& element, const Context& context) {
  for (XmlElement& child : element.children) {
    if (child.name == "body") read_body(child, context);
    if (child.name == "frame") read_bodies(child, enter_frame(child, context));
  }
}

MjcfBodyReader::Context MjcfBodyReader::enter_frame(XmlElement& element, const Context& context) {
  Context inner = context;
  inner.frame = context.frame * settings_.values(element, "").pose();
  inner.childclass = childclass_of(element, context);
  element.take("name");
  return inner;
}

void MjcfBodyReader::read_body(XmlElement& element, const Context& context) {
  const MjcfValues values = settings_.values(element, "");
  const int index = static_cast<int>(robot_.model.bodies.size());
  const std::string given = values.text("name");
  ImportBody body{.place = element.place, .parent = context.body};
  if (!given.empty() && (body_names_.contains(given) || given == "world"))
    values.error(given == "world" ? "the name 'world' is that of the world"
                                  : fmt::format("there is a body '{}' already", given));
  body.name = unique_name(given.empty() ? fmt::format("body {}", index + 1) : given, body_names_);
  body.frame = context.frame * values.pose();
  body.gravity_compensation = values.number("gravcomp", 0);
  const bool is_mocap = values.boolean("mocap", false);
  robot_.bodies[body.name] = index;
  robot_.model.bodies.push_back(std::move(body));
  std::vector<MassProperties> geom_masses;
  Context inner{.body = index, .geom_masses = &geom_masses};
  inner.childclass = childclass_of(element, context);
  read_parts(element, inner);
  check_joints(values, index, is_mocap);
  set_mass(element, index, geom_masses);
  const auto& mass = robot_.model.bodies[index].mass;
  values.note(
      ImportFate::kTaken,
      mass ? fmt::format("a body of {:.6g} kg{}", mass->mass,
                         robot_.model.bodies[index].joints.empty() ? ", fixed to its parent" : "")
           : "a frame without mass");
  read_bodies(element, inner);
}

void MjcfBodyReader::check_joints(const MjcfValues& values, int index, bool is_mocap) {
  const ImportBody& made = robot_.model.bodies[index];
  if (is_mocap && !made.joints.empty())
    values.error("a mocap body has no joints");
  else if (is_mocap)
    values.note(ImportFate::kApproximated, "mocap: it stays where it is");
  if (made.joints.size() > 1 &&
      std::any_of(made.joints.begin(), made.joints.end(),
                  [](const ImportJoint& joint) { return joint.kind == Kind::kFree; }))
    values.error("a free joint has other joints beside it");
  for (const ImportJoint& joint : made.joints)
    if (joint.kind == Kind::kFree && made.parent != kImportWorld)
      values.error("a free joint stands on a body inside another one");
}

// -------------------------------------------------------------------------------------------------
// Mass

std::optional<MassProperties> MjcfBodyReader::read_inertial(XmlElement& element,
                                                            const Context& context) {
  const MjcfValues values = settings_.values(element, "");
  const Pose pose = context.frame * values.pose();
  const auto mass = values.numbers("mass", 1, 1);
  if (!mass) {
    if (element.find("mass") == nullptr) values.error("required attribute 'mass' is missing");
    return std::nullopt;
  }
  const auto diagonal = values.numbers("diaginertia", 3, 3);
  const auto full = values.numbers("fullinertia", 6, 6);
  MassProperties properties{.mass = mass->front()};
  if (diagonal) properties.inertia = Vector3d(diagonal->data()).asDiagonal();
  if (full) {
    const std::vector<double>& n = *full;
    properties.inertia << n[0], n[3], n[4], n[3], n[1], n[5], n[4], n[5], n[2];
  }
  const std::string body = robot_.model.bodies[context.body].name;
  if (diagonal && full) values.error("has diaginertia and fullinertia, expected one of them");
  if (properties.mass < 0) {
    values.error(
        fmt::format("mass of body '{}' is {}, must be >= 0", body, to_text(properties.mass)));
    return std::nullopt;
  }
  if (!properties.inertia.isZero(0) && !settings_.compiler().balances_inertia)
    if (const std::string fault = find_inertia_fault(properties.inertia); !fault.empty()) {
      values.error(fmt::format("body '{}': {}", body, fault),
                   "<compiler balanceinertia=\"true\"/> replaces such moments by their mean");
      return std::nullopt;
    }
  values.note(ImportFate::kTaken, fmt::format("mass and inertia of '{}'", body));
  return transformed(properties, pose.rotation, pose.position);
}

void MjcfBodyReader::set_mass(XmlElement& element, int body,
                              const std::vector<MassProperties>& geom_masses) {
  using From = MjcfCompiler::InertiaFromGeoms;
  const From from = settings_.compiler().inertia_from_geoms;
  ImportBody& made = robot_.model.bodies[body];
  const auto inertial = inertials_.find(body);
  if (inertial != inertials_.end() && from != From::kYes) {
    if (inertial->second.mass > 0) made.mass = inertial->second;
  } else if (from != From::kNo && !geom_masses.empty()) {
    made.mass = combined(geom_masses);
    if (inertial != inertials_.end())
      report_.add(ImportFate::kIgnored, element.place, element.title(),
                  "its inertial, since inertiafromgeom is \"true\"");
  }
}

void MjcfBodyReader::adjust_masses() {
  const MjcfCompiler& compiler = settings_.compiler();
  double total = 0;
  for (ImportBody& body : robot_.model.bodies) {
    if (!body.mass && compiler.min_mass > 0 && compiler.min_inertia > 0)
      body.mass = MassProperties{};
    if (!body.mass) continue;
    Eigen::SelfAdjointEigenSolver<Matrix3d> eigen(body.mass->inertia);
    Vector3d moments = eigen.eigenvalues();
    const Vector3d before = moments;
    if (compiler.balances_inertia &&
        moments.maxCoeff() * (1 + 1e-9) > moments.sum() - moments.maxCoeff() &&
        !find_inertia_fault(body.mass->inertia).empty()) {
      moments.setConstant(moments.mean());
      report_.add(ImportFate::kTaken, body.place, fmt::format("body '{}'", body.name),
                  "its moments of inertia are replaced by their mean, as balanceinertia asks");
    }
    moments = moments.cwiseMax(compiler.min_inertia);
    if (moments != before)
      body.mass->inertia =
          eigen.eigenvectors() * moments.asDiagonal() * eigen.eigenvectors().transpose();
    body.mass->mass = std::max(body.mass->mass, compiler.min_mass);
    total += body.mass->mass;
  }
  if (!(compiler.total_mass > 0) || !(total > 0)) return;
  for (ImportBody& body : robot_.model.bodies)
    if (body.mass)
      body.mass = scaled_to_mass(*body.mass, body.mass->mass * compiler.total_mass / total);
}

// -------------------------------------------------------------------------------------------------
// Joints

void MjcfBodyReader::read_range(const MjcfValues& values, ImportJoint& joint) {
  const bool is_angle = joint.kind == Kind::kHinge || joint.kind == Kind::kBall;
  const double unit = is_angle && settings_.compiler().is_degree ? std::numbers::pi / 180 : 1;
  const auto range = values.numbers("range", 2, 2);
  if (!values.is_limited("limited", "range")) return;
  if (!range) return values.error("is limited but has no range");
  if (joint.kind == Kind::kBall)
    return values.note(ImportFate::kIgnored, "range: a ball joint has no limits in scenes");
  if (joint.kind == Kind::kFree) return;
  joint.lower = (*range)[0] * unit;
  joint.upper = (*range)[1] * unit;
  if (!(joint.lower < joint.upper))
    values.error(fmt::format("range is {} and {}, the lower must be less than the upper",
                             to_text((*range)[0]), to_text((*range)[1])));
}

void MjcfBodyReader::read_joint_numbers(const MjcfValues& values, ImportJoint& joint) {
  const double unit =
      joint.kind == Kind::kHinge && settings_.compiler().is_degree ? std::numbers::pi / 180 : 1;
  joint.reference = values.number("ref", 0) * unit;
  joint.rest = values.number("springref", 0) * unit;
  joint.stiffness = values.number("stiffness", 0);
  joint.damping = values.number("damping", 0);
  joint.friction = values.number("frictionloss", 0);
  const double armature = values.number("armature", 0);
  for (const auto& [name, value] :
       {std::pair("stiffness", joint.stiffness), std::pair("damping", joint.damping),
        std::pair("frictionloss", joint.friction), std::pair("armature", armature)})
    if (value < 0) values.error(fmt::format("{} is {}, must be >= 0", name, to_text(value)));
  if (armature > 0)
    values.note(ImportFate::kIgnored,
                fmt::format("armature {}: scenes have no inertia of rotors", to_text(armature)));
  if (const XmlAttribute* given = values.take("springdamper"))
    if (given->value != "0 0")
      values.note(ImportFate::kIgnored,
                  fmt::format("springdamper=\"{}\": give stiffness and damping", given->value));
  for (const char* name : {"solreflimit", "solimplimit", "solreffriction", "solimpfriction"})
    if (const XmlAttribute* given = values.take(name);
        given != nullptr && robot_.told.insert(given).second)
      report_.add(ImportFate::kIgnored, given->place, values.element().title(),
                  fmt::format("{}=\"{}\": limits and friction are rigid", name, given->value));
  if (const auto margin = values.numbers("margin", 1, 1); margin && margin->front() != 0)
    values.note(ImportFate::kIgnored, "margin: limits act where they are");
}

void MjcfBodyReader::read_joint(XmlElement& element, const Context& context) {
  static const std::vector<std::string> types = {"hinge", "slide", "ball", "free"};
  const bool is_freejoint = element.name == "freejoint";
  const MjcfValues values = settings_.values(element, is_freejoint ? "" : context.childclass);
  const std::string type = is_freejoint ? "free" : values.text("type", "hinge");
  if (std::find(types.begin(), types.end(), type) == types.end())
    return values.error(fmt::format("type '{}' is no type of joint", type),
                        suggestion(type, types));
  ImportBody& body = robot_.model.bodies[context.body];
  const std::string given = values.text("name");
  if (!given.empty() && joint_names_.contains(given))
    values.error(fmt::format("there is a joint '{}' already", given));
  ImportJoint joint{.place = element.place};
  joint.kind = type == "hinge"   ? Kind::kHinge
               : type == "slide" ? Kind::kSlide
               : type == "ball"  ? Kind::kBall
                                 : Kind::kFree;
  joint.name = unique_name(given.empty() ? body.name + " joint" : given, joint_names_);
  joint.anchor = context.frame * values.vector("pos", Vector3d::Zero());
  const Vector3d axis = values.vector("axis", Vector3d::UnitZ());
  if (!(axis.norm() > 1e-14) || !(axis.norm() < 1e150))
    values.error("axis has no direction");
  else
    joint.axis = context.frame.rotation * axis.normalized();
  read_joint_numbers(values, joint);
  read_range(values, joint);
  if (joint.kind == Kind::kFree) {
    if (joint.damping > 0 || joint.stiffness > 0 || joint.friction > 0)
      values.note(ImportFate::kIgnored,
                  "damping, stiffness and friction against the world of a free joint");
    joint.damping = joint.stiffness = joint.friction = 0;
    joint.pose = body.frame;
  }
  if (joint.kind == Kind::kBall && joint.stiffness > 0)
    values.note(ImportFate::kApproximated,
                "stiffness of a ball joint acts about the axes of the parent, right for small "
                "angles");
  if (joint.kind == Kind::kBall && joint.friction > 0)
    values.note(ImportFate::kApproximated,
                "frictionloss of a ball joint acts about the axes of the parent");
  joint.position = joint.reference;
  robot_.joints[joint.name] = {context.body, static_cast<int>(body.joints.size())};
  values.note(ImportFate::kTaken, type == "free" ? "its body moves freely" : type);
  body.joints.push_back(std::move(joint));
}

}  // namespace stiction
