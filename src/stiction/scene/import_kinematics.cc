#include "stiction/scene/import_kinematics.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Kind = ImportJoint::Kind;

/// The same rigid body seen from another of its frames.
MovingFrame moved(const MovingFrame& frame, const Pose& inner) {
  MovingFrame result = frame;
  result.pose = frame.pose * inner;
  result.velocity +=
      frame.angular_velocity.cross(Vector3d(result.pose.position - frame.pose.position));
  return result;
}

/// Turned by `turn` (body axes) about a point of both, with the relative angular velocity `rate`
/// along the turned body's axes.
MovingFrame turned(const MovingFrame& before, const Vector3d& anchor, const Matrix3d& turn,
                   const Vector3d& rate) {
  const MovingFrame pivot = moved(before, {anchor, turn});
  MovingFrame after = pivot;
  after.angular_velocity += pivot.pose.rotation * rate;
  return moved(after, {-anchor, Matrix3d::Identity()});
}

MovingFrame after_joint(const MovingFrame& before, const ImportJoint& joint) {
  const double shift = joint.position - joint.reference;
  switch (joint.kind) {
    case Kind::kHinge:
      return turned(before, joint.anchor, Eigen::AngleAxisd(shift, joint.axis).toRotationMatrix(),
                    joint.axis * joint.velocity);
    case Kind::kSlide: {
      MovingFrame after = moved(before, {joint.axis * shift, Matrix3d::Identity()});
      after.velocity += after.pose.rotation * joint.axis * joint.velocity;
      return after;
    }
    case Kind::kBall:
      return turned(before, joint.anchor, joint.turn.normalized().toRotationMatrix(),
                    joint.angular_velocity);
    case Kind::kFree:
      return {joint.pose, joint.linear_velocity, joint.pose.rotation * joint.angular_velocity};
    case Kind::kPlanar:
      break;
  }
  return before;
}

}  // namespace

ImportKinematics compute_kinematics(const ImportModel& model) {
  ImportKinematics result;
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const ImportBody& body = model.bodies[i];
    const bool has_parent = body.parent != kImportWorld;
    if (!body.joints.empty())
      result.carriers.push_back({static_cast<int>(i), {}});
    else if (has_parent)
      result.carriers.push_back(
          {result.carriers[body.parent].body, result.carriers[body.parent].frame * body.frame});
    else
      result.carriers.push_back({kImportWorld, body.frame});
    MovingFrame frame = moved(has_parent ? result.frames[body.parent] : MovingFrame{}, body.frame);
    result.stages.emplace_back();
    for (const ImportJoint& joint : body.joints) {
      frame = after_joint(frame, joint);
      result.stages.back().push_back(frame);
    }
    result.frames.push_back(frame);
  }
  return result;
}

std::vector<Pose> compute_reference_poses(const ImportModel& model) {
  std::vector<Pose> poses;
  for (const ImportBody& body : model.bodies)
    poses.push_back(body.parent == kImportWorld ? body.frame : poses[body.parent] * body.frame);
  return poses;
}

}  // namespace stiction
