#include "stiction/scene/joint_drive_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <span>

#include "stiction/base/infinity.h"
#include "stiction/base/text.h"

namespace stiction {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

class DriveReader {
 public:
  DriveReader(const SceneValue& value, const std::string& what, const SpatialReader& reader,
              JointDescription& joint)
      : value_(value),
        what_(what),
        reader_(reader),
        joint_(joint),
        coordinates_(joint_coordinates(joint.type)) {}

  void read() const {
    if (coordinates_.empty()) return;
    read_limits();
    read_motors();
    read_friction();
  }

 private:
  std::string coordinate_list() const {
    std::vector<std::string> names;
    for (const JointCoordinate coordinate : coordinates_)
      names.emplace_back(coordinate_key(coordinate));
    return joined(names);
  }

  /// Calls read(coordinate, value) for every coordinate that an object gives a value.
  template <class Read>
  void read_each(const SceneValue& object, const Read& read) const {
    for (const JsonMember& member : object.node->members) {
      const auto found =
          std::find_if(coordinates_.begin(), coordinates_.end(),
                       [&](JointCoordinate c) { return coordinate_key(c) == member.key; });
      const SceneValue entry{&member.node, member_path(object.path, member.key)};
      if (found != coordinates_.end())
        read(*found, entry);
      else if (!reader_.is_faulty(object))
        reader_.diagnostics().error(
            member.key_position, entry.path,
            fmt::format("{} has no coordinate '{}'", what_, excerpt(member.key)),
            fmt::format("it has: {}", coordinate_list()));
    }
  }

  /// The only coordinate, for a value that names none.
  std::optional<JointCoordinate> only_coordinate(const SceneValue& value) const {
    if (coordinates_.size() == 1) return coordinates_.front();
    reader_.fault(value, fmt::format("{} has several coordinates: {}", what_, coordinate_list()),
                  fmt::format("write {{\"{}\": …}}", coordinate_key(coordinates_.front())));
    return std::nullopt;
  }

  void read_limits() const {
    const double restitution =
        reader_.read_number(value_["restitution"], 0, {.at_least = 0, .at_most = 1});
    for (const bool is_in_degrees : {false, true}) {
      const SceneValue limits = value_[is_in_degrees ? "limits_deg" : "limits"];
      const auto add = [&](JointCoordinate coordinate, const SceneValue& pair) {
        add_limit(coordinate, pair, is_in_degrees, restitution);
      };
      if (limits.is_object()) read_each(limits, add);
      if (!limits.is_array()) continue;
      if (const auto coordinate = only_coordinate(limits)) add(*coordinate, limits);
    }
    if (value_["restitution"] && joint_.limits.empty() && !reader_.is_faulty(value_))
      reader_.fault(value_["restitution"], "is given for a joint without limits",
                    "it is that of the limits");
  }

  void add_limit(JointCoordinate coordinate, const SceneValue& pair, bool is_in_degrees,
                 double restitution) const {
    if (!pair.is_array() || pair.node->items.size() != 2) return;
    if (is_in_degrees && !is_angle(coordinate))
      return reader_.fault(pair, "limits a length in degrees", "give it under \"limits\", in m");
    for (const JointLimit& other : joint_.limits)
      if (other.coordinate == coordinate)
        return reader_.fault(pair, "limits a coordinate that has limits already",
                             "give \"limits\" or \"limits_deg\"");
    const double unit = is_in_degrees ? kDegree : 1;
    JointLimit limit{.coordinate = coordinate, .restitution = restitution};
    const SceneValue lower = pair.item(0), upper = pair.item(1);
    limit.lower = lower.is_quantity() ? unit * reader_.read_number(lower, 0) : -kInfinity;
    limit.upper = upper.is_quantity() ? unit * reader_.read_number(upper, 0) : kInfinity;
    if (!reader_.is_faulty(pair)) joint_.limits.push_back(limit);
  }

  void read_motors() const {
    const SceneValue motor = value_["motor"];
    if (!motor.is_object()) return;
    if (!motor["speed"] && !motor["position"] && !motor["max_effort"]) {
      if (motor.node->members.empty()) return report_motor(motor);
      return read_each(motor, [&](JointCoordinate coordinate, const SceneValue& entry) {
        add_motor(coordinate, entry);
      });
    }
    if (const auto coordinate = only_coordinate(motor)) add_motor(*coordinate, motor);
  }

  void report_motor(const SceneValue& motor) const {
    reader_.fault(motor, "says neither how fast nor where to",
                  "give one of \"speed\" and \"position\"");
  }

  void add_motor(JointCoordinate coordinate, const SceneValue& value) const {
    if (!value.is_object() || reader_.is_faulty(value)) return;
    for (const JsonMember& member : value.node->members)
      if (member.key != "speed" && member.key != "position" && member.key != "max_effort")
        return reader_.diagnostics().error(
            member.key_position, value.path,
            fmt::format("'{}' stands beside the motor of the only coordinate", excerpt(member.key)),
            "write {\"speed\": …, \"max_effort\": …}");
    const SceneValue speed = value["speed"], position = value["position"];
    if (!speed && !position) return report_motor(value);
    if (speed && position)
      return reader_.fault(value, "has both a speed and a position",
                           "a motor drives at a speed or to a position");
    if (position && !has_value(coordinate))
      return reader_.fault(position, fmt::format("{} has no angles, only rates", what_),
                           "give \"speed\"");
    joint_.motors.push_back(
        {.coordinate = coordinate,
         .target = position ? JointMotor::Target::kPosition : JointMotor::Target::kSpeed,
         .value = reader_.read_function(position ? position : speed),
         .max_effort = reader_.read_number(value["max_effort"], kInfinity, {.at_least = 0})});
  }

  void read_friction() const {
    const SceneValue friction = value_["friction"];
    const auto add = [&](JointCoordinate coordinate, const SceneValue& effort) {
      joint_.friction.push_back({.coordinate = coordinate,
                                 .max_effort = reader_.read_number(effort, 0, {.at_least = 0})});
    };
    if (friction.is_object()) return read_each(friction, add);
    if (!friction.is_quantity()) return;
    // One number may stand for several coordinates of one kind.
    const bool is_of_one_kind =
        std::all_of(coordinates_.begin(), coordinates_.end(),
                    [](JointCoordinate c) { return c != JointCoordinate::kSlide; });
    if (!is_of_one_kind && !only_coordinate(friction)) return;
    for (const JointCoordinate coordinate : coordinates_) add(coordinate, friction);
  }

  const SceneValue& value_;
  const std::string& what_;
  const SpatialReader& reader_;
  JointDescription& joint_;
  std::span<const JointCoordinate> coordinates_;
};

}  // namespace

std::string coordinate_key(JointCoordinate coordinate) {
  std::string key(name_of(coordinate));
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

void read_joint_drives(const SceneValue& value, const std::string& what,
                       const SpatialReader& reader, JointDescription& joint) {
  DriveReader(value, what, reader, joint).read();
}

}  // namespace stiction
