#include "stiction/scene/body_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "stiction/base/error.h"
#include "stiction/geometry/mass_properties.h"
#include "stiction/model/rigid_body_system.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Motion = BodyDescription::Motion;

constexpr std::array<std::string_view, 6> kAxisNames = {"x", "y", "z", "rx", "ry", "rz"};

/// Mass properties of one shape in the frame of its body; none, with a reason, if it has no volume.
std::optional<MassProperties> find_mass(const SceneShape& shape, double density,
                                        std::string& reason) {
  try {
    const auto properties = compute_mass_properties(shape.shape, density);
    if (properties) return transformed(*properties, shape.frame.rotation, shape.frame.position);
    reason = find_mass_fault(shape.shape);
  } catch (const InputError& error) {
    reason = error.what();
  }
  return std::nullopt;
}

/// All shapes together. A shape without a density of its own has `density`; where there is none
/// either, it weighs nothing.
struct ShapeMass {
  std::vector<MassProperties> parts{};
  std::string reason{};  // why a shape with a density is not among them
};

ShapeMass find_masses(std::span<const SceneShape> shapes, std::optional<double> density) {
  ShapeMass found;
  for (const SceneShape& shape : shapes) {
    const std::optional<double> own = shape.density ? shape.density : density;
    if (!own) continue;
    if (const auto part = find_mass(shape, *own, found.reason)) found.parts.push_back(*part);
  }
  return found;
}

bool has_free_rotation(const BodyDescription& body) {
  return body.free_axes[3] || body.free_axes[4] || body.free_axes[5];
}

}  // namespace

Pose start_of(const RigidBodyDescription& description, int body) {
  if (body == kWorld) return {};
  const BodyDescription& given = description.bodies[body];
  return {given.position, given.orientation.normalized().toRotationMatrix()};
}

BodyDescription BodyReader::read(const SceneValue& value, std::string name, int index,
                                 std::vector<SceneShape>& shapes) const {
  BodyDescription body;
  body.name = std::move(name);
  const SceneValue kinematic = value["kinematic"];
  const bool is_static = value["static"].boolean_or(false);
  if (is_static && kinematic)
    reader_.fault(kinematic, "is given for a body that is static",
                  "leave out \"static\" or \"kinematic\"");
  body.motion = is_static ? Motion::kStatic : kinematic ? Motion::kKinematic : Motion::kDynamic;
  read_start(value, body);
  read_free_axes(value["free_axes"], body);
  if (body.motion == Motion::kKinematic) read_kinematic(value, body);
  const std::size_t first_shape = shapes.size();
  if (const SceneValue list = value["shapes"]; list.is_array())
    for (std::size_t i = 0; i < list.node->items.size(); ++i)
      if (auto shape = read_shape(list.item(i), materials_, reader_)) {
        shape->body = index;
        shape->index = static_cast<int>(i);
        shapes.push_back(std::move(*shape));
      }
  if (body.motion == Motion::kDynamic)
    read_mass(value, std::span(shapes).subspan(first_shape), body);
  return body;
}

void BodyReader::read_start(const SceneValue& value, BodyDescription& body) const {
  body.position = reader_.read_vector(value["position"]);
  body.orientation = reader_.read_orientation(value["orientation"]);
  body.velocity = reader_.read_vector(value["velocity"]);
  body.angular_velocity = reader_.read_vector(value["angular_velocity"]);
  if (body.motion == Motion::kDynamic) return;
  const bool is_static = body.motion == Motion::kStatic;
  for (const char* key : {"velocity", "angular_velocity", "free_axes"})
    if (const SceneValue given = value[key])
      reader_.fault(
          given, fmt::format("is given for a body that is {}", is_static ? "static" : "kinematic"),
          is_static ? "a static body never moves" : "its motion is what \"kinematic\" says");
  body.velocity.setZero();
  body.angular_velocity.setZero();
}

void BodyReader::read_free_axes(const SceneValue& value, BodyDescription& body) const {
  if (!value.is_array() || body.motion != Motion::kDynamic) return;
  body.free_axes.fill(false);
  for (const JsonNode& item : value.node->items) {
    const auto* found = std::find(kAxisNames.begin(), kAxisNames.end(), item.string);
    if (found != kAxisNames.end()) body.free_axes[found - kAxisNames.begin()] = true;
  }
}

/// Whatever the functions are at t = 0 becomes part of the start, so that position and orientation
/// of every body are those at the start.
void BodyReader::read_kinematic(const SceneValue& value, BodyDescription& body) const {
  const SceneValue kinematic = value["kinematic"], position = kinematic["position"];
  if (position && value["position"])
    reader_.fault(value["position"], "is given for a body with \"kinematic\".\"position\"",
                  "the position at the start is that of the function at t = 0");
  if (position) body.position.setZero();
  body.shift = reader_.read_functions(position);
  body.turn_axis = reader_.read_axis(kinematic["axis"], Vector3d::UnitZ());
  body.angle = reader_.read_function(kinematic["angle"]);
  std::array<double, 8> start{};  // shift, angle, their rates
  TimeFunctions(std::array{body.shift[0], body.shift[1], body.shift[2], body.angle})
      .evaluate(0, start.data());
  if (!std::all_of(start.begin(), start.end(), [](double x) { return std::isfinite(x); })) {
    reader_.fault(kinematic, "is not finite at t = 0, or its rate is not");
    body.shift = {0.0, 0.0, 0.0};
    body.angle = 0.0;
    return;
  }
  for (int i = 0; i < 3; ++i) {
    body.position[i] += start[i];
    body.shift[i] -= start[i];
  }
  body.orientation = Eigen::AngleAxisd(start[3], body.turn_axis) * body.orientation;
  body.angle -= start[3];
}

void BodyReader::read_given_inertia(const SceneValue& value, BodyDescription& body) const {
  const SceneValue inertia = value["inertia"];
  body.center_of_mass = reader_.read_vector(value["center_of_mass"]);
  body.inertia = Matrix3d::Identity();
  if (!inertia.is_array() || inertia.node->items.size() != 3) return;
  if (!inertia.node->items.front().is_array()) {
    body.inertia = reader_.read_vector(inertia, Vector3d::Ones()).asDiagonal();
    return;
  }
  for (std::size_t i = 0; i < 3; ++i)
    body.inertia.row(static_cast<Eigen::Index>(i)) =
        reader_.read_vector(inertia.item(i), Vector3d::Unit(static_cast<Eigen::Index>(i)));
}

void BodyReader::read_mass(const SceneValue& value, std::span<const SceneShape> shapes,
                           BodyDescription& body) const {
  if (!value.is_object()) return;
  const SceneValue mass = value["mass"], inertia = value["inertia"], density = value["density"];
  std::optional<double> common;
  if (density) common = reader_.read_number(density, 1, {.above = 0});
  body.mass = reader_.read_number(mass, 1, {.above = 0});
  body.inertia = Matrix3d::Identity();  // unless all goes well
  if (mass && density)
    return reader_.fault(density, "is given for a body that has a mass",
                         "leave out \"density\" or \"mass\"");
  if (inertia && !mass)
    return reader_.fault(inertia, "is given for a body without \"mass\"",
                         "give \"mass\" too, or leave out \"inertia\"");
  if (inertia) return read_given_inertia(value, body);
  if (reader_.is_faulty(value["shapes"])) return;

  const bool has_density = std::any_of(shapes.begin(), shapes.end(), [](const SceneShape& shape) {
    return shape.density.has_value();
  });
  if (mass && !has_density) common = 1;  // whatever it is, the mass decides
  const ShapeMass found = find_masses(shapes, common);
  if (!found.parts.empty()) {
    if (const SceneValue center = value["center_of_mass"])
      reader_.fault(center, "is given for a body whose mass comes from its shapes",
                    "give \"mass\" and \"inertia\" too, or leave it out");
    MassProperties whole = combined(found.parts);
    if (mass && body.mass > 0) whole = scaled_to_mass(whole, body.mass);
    body.mass = whole.mass;
    body.center_of_mass = whole.center;
    body.inertia = whole.inertia;
  } else if (mass && !has_free_rotation(body)) {
    body.center_of_mass = reader_.read_vector(value["center_of_mass"]);
  } else {
    const std::string reason = found.reason.empty() ? "" : fmt::format(" ({})", found.reason);
    if (mass)
      reader_.fault(mass, fmt::format("body '{}' has a mass but no inertia{}", body.name, reason),
                    "give \"inertia\", or shapes that have a volume");
    else
      reader_.fault(value, fmt::format("body '{}' has no mass{}", body.name, reason),
                    "give \"mass\" and \"inertia\", or \"density\" and shapes that have a volume; "
                    "\"static\": true if it does not move");
  }
}

}  // namespace stiction
