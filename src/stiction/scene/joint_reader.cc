#include "stiction/scene/joint_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "stiction/scene/body_reader.h"
#include "stiction/scene/joint_drive_reader.h"
#include "stiction/scene/joint_placement.h"

namespace stiction {
namespace {

using Keys = std::vector<std::string_view>;

/// Points that differ by rounding alone, relative to the coordinates they were computed from.
constexpr double kSamePoint = 1e-14;

/// A type of entry: joints between bodies have a JointType, couplings of joints none.
struct EntryType {
  std::string_view name;
  std::string_view article;
  std::optional<JointType> type;
  Keys required;
  Keys optional;

  EntryType(JointType joint, std::string_view article, Keys required, Keys optional)
      : name(name_of(joint)),
        article(article),
        type(joint),
        required(std::move(required)),
        optional(std::move(optional)) {}
  EntryType(std::string_view coupling, std::string_view article, Keys required)
      : name(coupling), article(article), required(std::move(required)) {}
};

const std::vector<EntryType>& entry_types() {
  static const std::vector<EntryType> types = {
      {JointType::kBall, "a ball joint", {"bodies"}, {"at", "axis", "motor", "friction"}},
      {JointType::kHinge,
       "a hinge",
       {"bodies"},
       {"at", "axis", "limits", "limits_deg", "restitution", "motor", "friction"}},
      {JointType::kSlider,
       "a slider",
       {"bodies"},
       {"at", "axis", "limits", "restitution", "motor", "friction"}},
      {JointType::kCylindrical,
       "a cylindrical joint",
       {"bodies"},
       {"at", "axis", "limits", "limits_deg", "restitution", "motor", "friction"}},
      {JointType::kUniversal,
       "a universal joint",
       {"bodies"},
       {"at", "axis", "axis2", "limits", "limits_deg", "restitution", "motor", "friction"}},
      {JointType::kFixed, "a fixed joint", {"bodies"}, {"at"}},
      {JointType::kDistance, "a distance joint", {"bodies"}, {"at", "length"}},
      {JointType::kPlanar,
       "a planar joint",
       {"bodies"},
       {"at", "axis", "limits", "limits_deg", "restitution", "motor", "friction"}},
      {"gear", "a gear", {"joints", "ratio"}},
      {"rack", "a rack", {"joints", "radius"}},
      {JointType::kScrew,
       "a screw",
       {"bodies", "pitch"},
       {"at", "axis", "limits", "limits_deg", "restitution", "motor", "friction"}},
      {JointType::kRollingDisc, "a rolling disc", {"bodies", "radius"}, {"at", "axis", "normal"}},
      {JointType::kRollingBall, "a rolling ball", {"bodies", "radius"}, {"at", "normal"}},
      {JointType::kKnifeEdge, "a knife edge", {"bodies"}, {"at", "axis"}},
  };
  return types;
}

const EntryType* find_type(const SceneValue& value) {
  if (!value.is_string()) return nullptr;
  for (const EntryType& type : entry_types())
    if (type.name == value.node->string) return &type;
  return nullptr;
}

class JointsReader {
 public:
  JointsReader(const NameList& bodies, const SpatialReader& reader,
               RigidBodyDescription& description)
      : bodies_(bodies), reader_(reader), description_(description) {}

  SceneJoints read(const SceneValue& list) {
    if (!list.is_array()) return std::move(joints_);
    // All names first: a gear may stand before its joints.
    for (std::size_t i = 0; i < list.node->items.size(); ++i) add_name(list.item(i));
    for (std::size_t i = 0; i < list.node->items.size(); ++i)
      if (const EntryType* type = find_type(list.item(i)["type"]); type && type->type)
        read_joint(list.item(i), *type, static_cast<int>(i));
    for (std::size_t i = 0; i < list.node->items.size(); ++i)
      if (const EntryType* type = find_type(list.item(i)["type"]); type && !type->type)
        read_coupling(list.item(i), *type, joints_.names.names()[i]);
    return std::move(joints_);
  }

 private:
  void add_name(const SceneValue& item) {
    const EntryType* type = find_type(item["type"]);
    const std::string kind(type != nullptr ? type->name : "joint");
    joints_.names.add(item, fmt::format("{} {}", kind, ++counts_[kind]), reader_.diagnostics());
    joints_.index.push_back(type != nullptr ? SceneJoints::kCoupling : SceneJoints::kOfUnknownType);
  }

  void check_keys(const SceneValue& value, const EntryType& type) const {
    Keys optional = {"type", "name", "compliance", "damping_time"};
    if (type.type) optional.insert(optional.end(), {"frames", "collide"});
    optional.insert(optional.end(), type.optional.begin(), type.optional.end());
    reader_.check_keys(value, std::string(type.article), type.required, optional);
  }

  void read_joint(const SceneValue& value, const EntryType& type, int entry) {
    check_keys(value, type);
    JointDescription joint;
    joint.name = joints_.names.names()[entry];
    joint.type = *type.type;
    read_bodies(value, joint);
    joint.pitch = reader_.read_number(value["pitch"], 1);
    joint.radius = reader_.read_number(value["radius"], 1, {.above = 0});
    joint.compliance = reader_.read_number(value["compliance"], 0, {.at_least = 0});
    joint.damping_time = reader_.read_number(value["damping_time"], 0, {.at_least = 0});
    const BodyStarts starts{start_of(description_, joint.bodies[0]),
                            start_of(description_, joint.bodies[1])};
    joint.frames = read_joint_frames(value, joint, starts, reader_);
    if (joint.type == JointType::kDistance) read_length(value, starts, joint);
    read_joint_drives(value, std::string(type.article), reader_, joint);
    joints_.index[entry] = static_cast<int>(description_.joints.size());
    description_.joints.push_back(std::move(joint));
    joints_.places.push_back(value);
  }

  void read_bodies(const SceneValue& value, JointDescription& joint) {
    const SceneValue names = value["bodies"];
    if (!names.is_array() || names.node->items.size() != 2) return;
    for (const int side : {0, 1})
      joint.bodies[side] =
          find_body(names.item(static_cast<std::size_t>(side)), bodies_, reader_).value_or(kWorld);
    joint.bodies_touch = value["collide"].boolean_or(false);
  }

  void read_length(const SceneValue& value, const BodyStarts& starts, JointDescription& joint) {
    std::array<Eigen::Vector3d, 2> points;
    double scale = 0;
    for (const int side : {0, 1}) {
      points[side] = (starts[side] * joint.frames[side]).position;
      scale += points[side].norm() + starts[side].position.norm();
    }
    const double at_start = (points[1] - points[0]).norm();
    const SceneValue length = value["length"];
    joint.length = reader_.read_number(length, at_start, {.above = 0});
    if (length || at_start > kSamePoint * scale || reader_.is_faulty(value)) return;
    reader_.fault(value,
                  fmt::format("the two points of '{}' are the same at the start", joint.name),
                  "a distance joint needs a length > 0; a ball joint holds points together");
    joint.length = 1;
  }

  /// gear: ratio·x₁ − x₂ is constant; rack: radius·angle − slide.
  void read_coupling(const SceneValue& value, const EntryType& type, const std::string& name) {
    check_keys(value, type);
    const bool is_rack = type.name == "rack";
    CouplingDescription coupling;
    coupling.name = name;
    coupling.compliance = reader_.read_number(value["compliance"], 0, {.at_least = 0});
    coupling.damping_time = reader_.read_number(value["damping_time"], 0, {.at_least = 0});
    const double factor = reader_.read_number(value[is_rack ? "radius" : "ratio"], 1);
    const SceneValue names = value["joints"];
    if (!names.is_array() || names.node->items.size() != 2) return;
    bool is_complete = true;
    for (const int side : {0, 1}) {
      const SceneValue joint = names.item(static_cast<std::size_t>(side));
      const auto coordinates = is_rack && side == 1 ? std::vector{JointCoordinate::kSlide}
                               : is_rack
                                   ? std::vector{JointCoordinate::kAngle}
                                   : std::vector{JointCoordinate::kAngle, JointCoordinate::kSlide};
      coupling.sides[side].factor = side == 0 ? factor : -1;
      is_complete = find_coordinate(joint, coordinates, coupling.sides[side]) && is_complete;
    }
    if (!is_complete) return;
    description_.couplings.push_back(std::move(coupling));
    joints_.coupling_places.push_back(value);
  }

  /// The joint that a coupling names, with the first of the coordinates that it has.
  bool find_coordinate(const SceneValue& value, const std::vector<JointCoordinate>& wanted,
                       CouplingDescription::Side& side) {
    const std::optional<int> entry = joints_.names.find(value, reader_.diagnostics());
    if (!entry) return false;
    const int index = joints_.index[*entry];
    if (index == SceneJoints::kOfUnknownType) return false;
    if (index != SceneJoints::kCoupling) {
      const auto known = joint_coordinates(description_.joints[index].type);
      for (const JointCoordinate coordinate : wanted)
        if (std::find(known.begin(), known.end(), coordinate) != known.end()) {
          side.joint = index;
          side.coordinate = coordinate;
          return true;
        }
    }
    std::string keys;
    for (const JointCoordinate coordinate : wanted)
      keys += (keys.empty() ? "" : " and no ") + coordinate_key(coordinate);
    reader_.fault(value, fmt::format("joint '{}' has no {}", value.node->string, keys),
                  wanted.size() > 1 ? "expected a hinge, slider, cylindrical, planar or screw joint"
                  : wanted.front() == JointCoordinate::kAngle
                      ? "expected a hinge, cylindrical, planar or screw joint"
                      : "expected a slider, cylindrical or screw joint");
    return false;
  }

  const NameList& bodies_;
  const SpatialReader& reader_;
  RigidBodyDescription& description_;
  SceneJoints joints_;
  std::map<std::string, int> counts_;  // of entries by type
};

}  // namespace

std::vector<std::string> joint_type_names() {
  std::vector<std::string> names;
  for (const EntryType& type : entry_types()) names.emplace_back(type.name);
  return names;
}

std::optional<int> find_body(const SceneValue& value, const NameList& bodies,
                             const SpatialReader& reader) {
  if (value.is_string() && value.node->string == kWorldName) return kWorld;
  return bodies.find(value, reader.diagnostics());
}

SceneJoints read_joints(const SceneValue& value, const NameList& bodies,
                        const SpatialReader& reader, RigidBodyDescription& description) {
  return JointsReader(bodies, reader, description).read(value);
}

}  // namespace stiction
