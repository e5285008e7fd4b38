#include "stiction/scene/joint_placement.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "stiction/model/joint_placement.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Cosine up to which axes written with a few digits count as orthogonal.
constexpr double kOrthogonal = 1e-6;

bool needs_axis(JointType type, int side) {
  switch (type) {
    case JointType::kBall:
    case JointType::kFixed:
    case JointType::kDistance:
      return false;
    case JointType::kRollingBall:
      return side == 0;
    case JointType::kKnifeEdge:
      return side == 1;
    default:
      return true;
  }
}

class PlacementReader {
 public:
  PlacementReader(const SceneValue& value, const JointDescription& joint, const BodyStarts& starts,
                  const SpatialReader& reader)
      : value_(value), joint_(joint), starts_(starts), reader_(reader) {}

  PartialFrames read() const {
    const SceneValue frames = value_["frames"], at = value_["at"];
    if (frames) {
      for (const char* key : {"at", "axis", "axis2", "normal"})
        if (const SceneValue given = value_[key])
          reader_.fault(given, "is given for a joint that has \"frames\"",
                        "give \"at\" and \"axis\" in the world at the start, or \"frames\" in the "
                        "two bodies");
      return read_frames(frames);
    }
    if (!at && joint_.type != JointType::kFixed)
      reader_.fault(value_, fmt::format("joint '{}' is nowhere", joint_.name),
                    "give \"at\", a point of the world at the start, or \"frames\" in the two "
                    "bodies");
    return read_in_world(at);
  }

 private:
  PartialFrames read_frames(const SceneValue& list) const {
    PartialFrames frames;
    if (!list.is_array() || list.node->items.size() != 2) return frames;
    for (const int side : {0, 1}) {
      const SceneValue value = list.item(static_cast<std::size_t>(side));
      const Pose& start = starts_[side];
      frames[side].position =
          start.position + start.rotation * reader_.read_vector(value["position"]);
      const SceneValue orientation = value["orientation"], axis = value["axis"];
      if (orientation && axis)
        reader_.fault(axis, "is given for a frame that has an orientation",
                      "give one of \"axis\" and \"orientation\"");
      if (orientation)
        frames[side].rotation =
            start.rotation * reader_.read_orientation(orientation).toRotationMatrix();
      else if (axis)
        frames[side].axis = start.rotation * reader_.read_axis(axis, default_axis(side));
      else if (value.is_object() && needs_axis(joint_.type, side))
        reader_.fault(value, "required key 'axis' is missing",
                      "give \"axis\" or \"orientation\" in the frame of the body");
    }
    return frames;
  }

  Vector3d default_axis(int side) const { return Vector3d::Unit(axis_column(joint_.type, side)); }

  /// The axis of the world under a key that the joint needs.
  Vector3d read_needed_axis(const char* key, const Vector3d& fallback) const {
    const SceneValue axis = value_[key];
    if (!axis)
      reader_.fault(value_,
                    fmt::format("required key '{}' of joint '{}' is missing", key, joint_.name),
                    fmt::format("\"{}\": [x, y, z], a direction of the world at the start", key));
    return reader_.read_axis(axis, fallback);
  }

  PartialFrames read_in_world(const SceneValue& at) const {
    PartialFrames frames;
    read_points(at, frames);
    switch (joint_.type) {
      case JointType::kDistance:
        break;
      case JointType::kFixed:
      case JointType::kBall:
        if (const SceneValue axis = value_["axis"])
          frames[0].axis = frames[1].axis = reader_.read_axis(axis, Vector3d::UnitZ());
        break;
      case JointType::kUniversal:
        read_universal_axes(frames);
        break;
      case JointType::kRollingDisc:
        frames[1].axis = read_needed_axis("axis", Vector3d::UnitX());
        [[fallthrough]];
      case JointType::kRollingBall:
        place_plane_below(reader_.read_axis(value_["normal"], Vector3d::UnitZ()), joint_.radius,
                          frames);
        break;
      case JointType::kKnifeEdge:
        frames[1].axis = read_needed_axis("axis", Vector3d::UnitX());
        break;
      default:
        frames[0].axis = frames[1].axis = read_needed_axis("axis", Vector3d::UnitZ());
    }
    return frames;
  }

  void read_points(const SceneValue& at, PartialFrames& frames) const {
    const bool has_two = at.is_array() && at.node->items.size() == 2;
    if (joint_.type == JointType::kDistance) {
      if (has_two)
        for (const int side : {0, 1})
          frames[side].position = reader_.read_vector(at.item(static_cast<std::size_t>(side)));
      else if (at.is_array())
        reader_.fault(at, "is one point, a distance needs two",
                      "\"at\": [[x, y, z], [x, y, z]], the first on the first body");
      return;
    }
    if (has_two && !reader_.is_faulty(at))
      reader_.fault(at, "is two points, expected one", "\"at\": [x, y, z]");
    frames[0].position = frames[1].position = reader_.read_vector(at, starts_[1].position);
  }

  void read_universal_axes(PartialFrames& frames) const {
    const Vector3d first = read_needed_axis("axis", Vector3d::UnitX());
    Vector3d second = read_needed_axis("axis2", make_orthogonal(first));
    const double cosine = first.dot(second);
    if (std::abs(cosine) > kOrthogonal) {
      if (const SceneValue axis2 = value_["axis2"];
          axis2 && !reader_.is_faulty(axis2) && !reader_.is_faulty(value_["axis"]))
        reader_.fault(axis2,
                      fmt::format("makes an angle of {:.4g} degrees with 'axis', must be 90",
                                  std::acos(cosine) * 180 / std::numbers::pi),
                      "the two axes of a universal joint are orthogonal at the start");
      second = make_orthogonal(first);
    }
    frames[0].axis = first;
    frames[1].axis = (second - first.dot(second) * first).normalized();
  }

  const SceneValue& value_;
  const JointDescription& joint_;
  const BodyStarts& starts_;
  const SpatialReader& reader_;
};

}  // namespace

std::array<Pose, 2> read_joint_frames(const SceneValue& value, const JointDescription& joint,
                                      const BodyStarts& starts, const SpatialReader& reader) {
  std::array<Pose, 2> frames =
      complete_frames(joint.type, PlacementReader(value, joint, starts, reader).read());
  for (const int side : {0, 1}) frames[side] = relative_to(starts[side], frames[side]);
  return frames;
}

}  // namespace stiction
