// The free coordinates of joints and their gradients.
#include <array>
#include <cmath>
#include <numbers>

#include "stiction/base/check.h"
#include "stiction/model/joint_frames.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr std::array kAngleOnly{JointCoordinate::kAngle};
constexpr std::array kSlideOnly{JointCoordinate::kSlide};
constexpr std::array kAngleAndSlide{JointCoordinate::kAngle, JointCoordinate::kSlide};
constexpr std::array kAngles{JointCoordinate::kAngleX, JointCoordinate::kAngleY};
constexpr std::array kTurns{JointCoordinate::kTurnX, JointCoordinate::kTurnY,
                            JointCoordinate::kTurnZ};

/// In (−π, π]: atan2 gives −π for a sine that is negative by rounding or by the sign of a zero.
double compute_angle(double sine, double cosine) {
  const double angle = std::atan2(sine, cosine);
  return angle == -std::numbers::pi ? std::numbers::pi : angle;
}

/// g with rate = g·(ω_b − ω_a).
Vector3d compute_rate_axis(const JointFrames& frames, JointCoordinate coordinate) {
  switch (coordinate) {
    case JointCoordinate::kAngle:
      return compute_angle_gradient(frames);
    case JointCoordinate::kAngleX:
    case JointCoordinate::kAngleY: {
      // ω_b − ω_a = α' x_a + β' y_b + (…) x_a × y_b, so the gradients are the dual basis.
      const Vector3d x_a = frames.x_a(), y_b = frames.y_b();
      const double skew = x_a.dot(y_b);
      const Vector3d dual =
          coordinate == JointCoordinate::kAngleX ? x_a - skew * y_b : y_b - skew * x_a;
      return dual / (1 - skew * skew);
    }
    case JointCoordinate::kTurnX:
      return frames.x_a();
    case JointCoordinate::kTurnY:
      return frames.y_a();
    case JointCoordinate::kTurnZ:
      return frames.z_a();
    case JointCoordinate::kSlide:
      break;
  }
  demand_failed("a coordinate that turns", __FILE__, __LINE__);
}

}  // namespace

std::span<const JointCoordinate> joint_coordinates(JointType type) {
  switch (type) {
    case JointType::kBall:
      return kTurns;
    case JointType::kHinge:
    case JointType::kPlanar:
      return kAngleOnly;
    case JointType::kSlider:
      return kSlideOnly;
    case JointType::kCylindrical:
    case JointType::kScrew:
      return kAngleAndSlide;
    case JointType::kUniversal:
      return kAngles;
    default:
      return {};
  }
}

double evaluate_coordinate(const JointGeometry& joint, JointCoordinate coordinate, const Pose& a,
                           const Pose& b) {
  const JointFrames frames = compute_joint_frames(joint, a, b);
  const Vector3d x_a = frames.x_a(), y_a = frames.y_a(), x_b = frames.x_b(), y_b = frames.y_b();
  switch (coordinate) {
    case JointCoordinate::kAngle:
      // 2 atan2(q_z, q_w) of the quaternion from frame a to b. The simpler atan2(x_b·y_a, x_b·x_a)
      // would prefer the x axes: tilted joints would change their angle with where it points.
      return compute_angle(x_b.dot(y_a) - y_b.dot(x_a), x_b.dot(x_a) + y_b.dot(y_a));
    case JointCoordinate::kSlide:
      return frames.gap.dot(frames.z_a());
    case JointCoordinate::kAngleX:
      return compute_angle(y_b.dot(frames.z_a()), y_b.dot(y_a));
    case JointCoordinate::kAngleY:
      return compute_angle(x_a.dot(frames.z_b()), x_a.dot(x_b));
    default:
      demand_failed("a coordinate with a value", __FILE__, __LINE__);
  }
}

PairRow evaluate_coordinate_row(const JointGeometry& joint, JointCoordinate coordinate,
                                const Pose& a, const Pose& b) {
  const JointFrames frames = compute_joint_frames(joint, a, b);
  PairRow row;
  if (coordinate == JointCoordinate::kSlide) {
    set_point_row(a, b, frames.arm_a_to_b(), frames.arm_b, frames.z_a(), row);
  } else {
    set_turn_row(a, b, compute_rate_axis(frames, coordinate), row);
  }
  return row;
}

}  // namespace stiction
