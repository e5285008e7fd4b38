#include "stiction/model/joint_placement.h"

#include <Eigen/Geometry>

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

/// Sine below which a direction is too near to an axis to say how a frame is turned about it.
constexpr double kParallel = 1e-6;

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

Matrix3d make_rotation(JointType type, int side, const PartialFrames& frames) {
  const PartialFrame &frame = frames[side], &other = frames[1 - side];
  const int column = axis_column(type, side);
  // The same frame to the bit: a hint would turn it by rounding.
  if (other.rotation && other.rotation->col(column) == *frame.axis) return *other.rotation;
  std::optional<Vector3d> hint;
  if (other.rotation)
    hint = other.rotation->col(column_beside(column));
  else if (type == JointType::kUniversal)
    hint = other.axis;
  return make_rotation(column, *frame.axis, hint);
}

}  // namespace

int axis_column(JointType type, int side) {
  if (type == JointType::kUniversal) return side;
  return type == JointType::kKnifeEdge ? 0 : 2;
}

Vector3d make_orthogonal(const Vector3d& axis) {
  int smallest = 0;
  axis.cwiseAbs().minCoeff(&smallest);
  return (Vector3d::Unit(smallest) - axis[smallest] * axis).normalized();
}

void place_plane_below(const Vector3d& normal, double radius, PartialFrames& frames) {
  Vector3d up = normal;
  if (frames[1].axis) {
    const Vector3d level = normal.cross(*frames[1].axis);
    up = frames[1].axis->cross(level.normalized());
  }
  frames[0].axis = normal;
  frames[0].position = frames[1].position - radius * up;
}

std::array<Pose, 2> complete_frames(JointType type, const PartialFrames& known) {
  PartialFrames frames = known;
  for (const int side : {0, 1}) {
    PartialFrame &frame = frames[side], &other = frames[1 - side];
    if (frame.rotation) continue;
    if (frame.axis)
      frame.rotation = make_rotation(type, side, frames);
    else if (other.rotation || !other.axis || side == 1)
      frame.rotation = other.rotation.value_or(Matrix3d::Identity());
    // else after the other frame
  }
  if (!frames[0].rotation) frames[0].rotation = frames[1].rotation;
  return {Pose{frames[0].position, *frames[0].rotation},
          Pose{frames[1].position, *frames[1].rotation}};
}

}  // namespace stiction
