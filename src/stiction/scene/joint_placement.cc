#include "stiction/scene/joint_placement.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <optional>

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Cosine up to which axes written with a few digits count as orthogonal.
constexpr double kOrthogonal = 1e-6;
/// Sine below which a direction is too near to an axis to say how a frame is turned about it.
constexpr double kParallel = 1e-6;

/// What is known of a frame, in the world at the start.
struct PartialFrame {
  Vector3d position = Vector3d::Zero();
  std::optional<Matrix3d> rotation{};
  std::optional<Vector3d> axis{};
};

using PartialFrames = std::array<PartialFrame, 2>;

/// The column of a frame that its axis is.
int axis_column(JointType type, int side) {
  if (type == JointType::kUniversal) return side;
  return type == JointType::kKnifeEdge ? 0 : 2;
}

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

/// The column beside `column` that tells how a frame is turned about it.
int column_beside(int column) { return column == 0 ? 1 : 0; }

/// A frame with this axis whose next column is as near to `hint` as can be.
Matrix3d make_rotation(int column, const Vector3d& axis, const std::optional<Vector3d>& hint) {
  const int beside = column_beside(column), last = 3 - column - beside;
  Vector3d second = make_orthogonal(axis);
  if (hint)
    if (const Vector3d part = *hint - hint->dot(axis) * axis; part.norm() > kParallel)
      second = part.normalized();
  Matrix3d rotation;
  rotation.col(column) = axis;
  rotation.col(beside) = second;
  // Right-handed: e_i × e_j = e_k for (i, j, k) a rotation of (0, 1, 2).
  const bool is_cyclic = (column + 1) % 3 == beside;
  rotation.col(last) = is_cyclic ? axis.cross(second) : second.cross(axis);
  return rotation;
}

/// Fills in the rotations that are not given.
void complete(JointType type, PartialFrames& frames) {
  for (const int side : {0, 1}) {
    PartialFrame &frame = frames[side], &other = frames[1 - side];
    if (frame.rotation) continue;
    const int column = axis_column(type, side);
    if (!frame.axis) {
      if (other.rotation || !other.axis || side == 1)
        frame.rotation = other.rotation.value_or(Matrix3d::Identity());
      continue;  // else after the other frame
    }
    std::optional<Vector3d> hint;
    if (other.rotation)
      hint = other.rotation->col(column_beside(column));
    else if (type == JointType::kUniversal)
      hint = other.axis;
    frame.rotation = make_rotation(column, *frame.axis, hint);
  }
  if (!frames[0].rotation) frames[0].rotation = frames[1].rotation;
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
      case JointType::kRollingBall: {
        // The plane is where the body touches it: at the joint's height below the centre.
        const Vector3d normal = reader_.read_axis(value_["normal"], Vector3d::UnitZ());
        const double share = frames[1].axis ? normal.cross(*frames[1].axis).norm() : 1;
        frames[0].axis = normal;
        frames[0].position -= joint_.radius * share * normal;
        break;
      }
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
  PartialFrames frames = PlacementReader(value, joint, starts, reader).read();
  complete(joint.type, frames);
  std::array<Pose, 2> poses;
  for (const int side : {0, 1})
    poses[side] = relative_to(starts[side], {frames[side].position, *frames[side].rotation});
  return poses;
}

}  // namespace stiction
