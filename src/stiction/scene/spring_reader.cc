#include "stiction/scene/spring_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "stiction/base/text.h"
#include "stiction/scene/body_reader.h"
#include "stiction/scene/joint_drive_reader.h"
#include "stiction/scene/joint_placement.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Kind = BodySpringDescription::Kind;

class SpringReader {
 public:
  SpringReader(const NameList& bodies, const SceneJoints& joints, const SpatialReader& reader,
               const RigidBodyDescription& description)
      : bodies_(bodies), joints_(joints), reader_(reader), description_(description) {}

  /// None after a fault.
  std::optional<BodySpringDescription> read(const SceneValue& value, std::string name) const {
    BodySpringDescription spring;
    spring.name = std::move(name);
    const int num_forms =
        int(bool(value["between"])) + int(bool(value["joint"])) + int(bool(value["bushing"]));
    if (num_forms != 1) {
      reader_.fault(value,
                    num_forms == 0 ? "does not say what the spring acts on"
                                   : "says more than once what the spring acts on",
                    "give one of \"between\" (two points), \"joint\" and \"bushing\"");
      return std::nullopt;
    }
    if (value["between"])
      read_between(value, spring);
    else if (value["joint"])
      read_on_joint(value, spring);
    else
      read_bushing(value, spring);
    spring.stiffness = read_constants(value["stiffness"], spring.kind);
    spring.damping = read_constants(value["damping"], spring.kind);
    if (reader_.is_faulty(value) || spring.joint < 0) return std::nullopt;
    return spring;
  }

 private:
  void check_keys(const SceneValue& value, const char* what,
                  std::initializer_list<std::string_view> own) const {
    static constexpr std::array<std::string_view, 1> kRequired = {"stiffness"};
    std::vector<std::string_view> optional = {"name", "damping"};
    optional.insert(optional.end(), own);
    reader_.check_keys(value, what, kRequired, optional);
  }

  Pose start(int body) const { return start_of(description_, body); }

  void read_between(const SceneValue& value, BodySpringDescription& spring) const {
    check_keys(value, "a spring between points", {"between", "rest_length"});
    spring.kind = Kind::kDistance;
    const SceneValue between = value["between"];
    if (!between.is_array() || between.node->items.size() != 2) return;
    std::array<Vector3d, 2> points;
    for (const int side : {0, 1}) {
      read_end(between.item(static_cast<std::size_t>(side)), side, spring);
      points[side] = (start(spring.bodies[side]) * spring.frames[side]).position;
    }
    spring.rest_length =
        reader_.read_number(value["rest_length"], (points[1] - points[0]).norm(), {.at_least = 0});
  }

  /// {"body": "a", "point": […]} or {"world": […]}.
  void read_end(const SceneValue& value, int side, BodySpringDescription& spring) const {
    if (!value.is_object() || reader_.is_faulty(value)) return;
    const SceneValue body = value["body"], world = value["world"], point = value["point"];
    if (bool(body) == bool(world) || (world && point))
      return reader_.fault(
          value, "is neither a point of a body nor one of the world",
          "write {\"body\": NAME, \"point\": [x, y, z]} or {\"world\": [x, y, z]}");
    if (body) spring.bodies[side] = find_body(body, bodies_, reader_).value_or(kWorld);
    spring.frames[side].position = reader_.read_vector(body ? point : world);
  }

  void read_on_joint(const SceneValue& value, BodySpringDescription& spring) const {
    check_keys(value, "a spring on a joint", {"joint", "coordinate", "rest"});
    spring.kind = Kind::kJoint;
    spring.rest = reader_.read_number(value["rest"], 0);
    const std::optional<int> entry = joints_.names.find(value["joint"], reader_.diagnostics());
    if (!entry) return;
    spring.joint = joints_.index[*entry];
    if (spring.joint == SceneJoints::kOfUnknownType) return;
    std::vector<std::string> names;
    std::vector<JointCoordinate> coordinates;
    if (spring.joint >= 0)
      for (const JointCoordinate c : joint_coordinates(description_.joints[spring.joint].type))
        if (has_value(c)) {
          coordinates.push_back(c);
          names.emplace_back(coordinate_key(c));
        }
    const SceneValue coordinate = value["coordinate"];
    if (coordinates.empty())
      return reader_.fault(
          value["joint"],
          fmt::format("joint '{}' has no coordinate for a spring", value["joint"].node->string),
          "a bushing holds two bodies in all directions");
    if (coordinate.is_string()) {
      const auto found = std::find(names.begin(), names.end(), coordinate.node->string);
      if (found == names.end())
        return reader_.fault(
            coordinate,
            fmt::format("joint '{}' has no coordinate '{}'", value["joint"].node->string,
                        excerpt(coordinate.node->string)),
            "it has: " + joined(names));
      spring.coordinate = coordinates[found - names.begin()];
    } else if (coordinates.size() > 1) {
      reader_.fault(value["joint"],
                    fmt::format("joint '{}' has several coordinates: {}",
                                value["joint"].node->string, joined(names)),
                    fmt::format("add \"coordinate\": \"{}\"", names.front()));
    } else {
      spring.coordinate = coordinates.front();
    }
  }

  void read_bushing(const SceneValue& value, BodySpringDescription& spring) const {
    check_keys(value, "a bushing", {"bushing"});
    spring.kind = Kind::kBushing;
    const SceneValue bushing = value["bushing"], names = bushing["bodies"];
    if (!bushing.is_object() || reader_.is_faulty(bushing)) return;
    JointDescription joint;  // whose frames are placed like those of a bushing
    joint.name = spring.name;
    joint.type = JointType::kFixed;
    for (const int side : {0, 1})
      joint.bodies[side] =
          find_body(names.item(static_cast<std::size_t>(side)), bodies_, reader_).value_or(kWorld);
    spring.bodies = joint.bodies;
    spring.frames = read_joint_frames(bushing, joint,
                                      {start(joint.bodies[0]), start(joint.bodies[1])}, reader_);
  }

  std::vector<double> read_constants(const SceneValue& value, Kind kind) const {
    if (!value.is_array()) return {reader_.read_number(value, 0, {.at_least = 0})};
    if (kind != Kind::kBushing) {
      reader_.fault(value,
                    fmt::format("has {} items, expected one number", value.node->items.size()),
                    "only a bushing has six");
      return {0.0};
    }
    std::vector<double> constants;
    for (std::size_t i = 0; i < value.node->items.size(); ++i)
      constants.push_back(reader_.read_number(value.item(i), 0, {.at_least = 0}));
    return constants;
  }

  const NameList& bodies_;
  const SceneJoints& joints_;
  const SpatialReader& reader_;
  const RigidBodyDescription& description_;
};

}  // namespace

void read_springs(const SceneValue& value, const NameList& bodies, const SceneJoints& joints,
                  const SpatialReader& reader, RigidBodyDescription& description,
                  std::vector<SceneValue>& places) {
  if (!value.is_array()) return;
  const SpringReader springs(bodies, joints, reader, description);
  NameList names("spring");
  for (std::size_t i = 0; i < value.node->items.size(); ++i) {
    const SceneValue item = value.item(i);
    if (!item.is_object()) continue;
    std::string name = names.add(item, fmt::format("spring {}", i + 1), reader.diagnostics());
    if (auto spring = springs.read(item, std::move(name))) {
      description.springs.push_back(std::move(*spring));
      places.push_back(item);
    }
  }
}

void read_forces(const SceneValue& value, const NameList& bodies, const SpatialReader& reader,
                 RigidBodyDescription& description, std::vector<SceneValue>& places) {
  if (!value.is_array()) return;
  for (std::size_t i = 0; i < value.node->items.size(); ++i) {
    const SceneValue item = value.item(i);
    if (!item.is_object()) continue;
    const SceneValue frame = item["frame"];
    BodyForceDescription force{.force = reader.read_functions(item["force"]),
                               .torque = reader.read_functions(item["torque"]),
                               .is_body_fixed = frame.is_string() && frame.node->string == "body"};
    const std::optional<int> body = bodies.find(item["body"], reader.diagnostics());
    if (!body) continue;
    force.body = *body;
    force.point = reader.read_vector(item["point"], description.bodies[*body].center_of_mass);
    if (!item["force"] && !item["torque"] && !reader.is_faulty(item))
      reader.fault(item, fmt::format("does nothing to '{}'", item["body"].node->string),
                   "give \"force\" or \"torque\"");
    description.forces.push_back(std::move(force));
    places.push_back(item);
  }
}

}  // namespace stiction
