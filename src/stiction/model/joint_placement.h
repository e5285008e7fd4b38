// The two frames of a joint in the world at the start, from what is known of them: points, and axes
// or whole rotations. Where only axes are given, the frames are turned about them such that the
// coordinates of the joint are zero at the start.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>

#include "stiction/geometry/pose.h"
#include "stiction/model/joint_geometry.h"

namespace stiction {

/// What is known of a frame.
struct PartialFrame {
  Eigen::Vector3d position = Eigen::Vector3d::Zero();  // [m]
  std::optional<Eigen::Matrix3d> rotation{};
  std::optional<Eigen::Vector3d> axis{};  // of length one, the `axis_column` of the rotation
};

using PartialFrames = std::array<PartialFrame, 2>;

/// The column of a frame that its axis is: z; of a universal joint x of the first and y of the
/// second, of a knife edge x.
int axis_column(JointType type, int side);

/// A direction across a unit vector, always the same for the same one: that of the world axis most
/// nearly across.
Eigen::Vector3d make_orthogonal(const Eigen::Vector3d& axis);

/// Gives the plane of a rolling ball or disc, frame 0, its normal and its place: where the body of
/// frame 1 touches it, whose centre and, if a disc, axis are set. A disc that lies flat on its
/// plane touches it nowhere: the plane goes through its centre.
void place_plane_below(const Eigen::Vector3d& normal, double radius, PartialFrames& frames);

/// Fills in the rotations that are not given.
std::array<Pose, 2> complete_frames(JointType type, const PartialFrames& known);

}  // namespace stiction
