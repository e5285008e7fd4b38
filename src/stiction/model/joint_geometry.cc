#include "stiction/model/joint_geometry.h"

#include <cstddef>
#include <numbers>

#include "stiction/base/check.h"
#include "stiction/model/joint_frames.h"

namespace stiction {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

// -------------------------------------------------------------------------------------------------
// Values. Each function writes its rows and moves `out` behind them.

void put_gap(const JointFrames& frames, double*& out) {
  for (int i = 0; i < 3; ++i) *out++ = frames.gap[i];
}

void put_gap_across_axis(const JointFrames& frames, double*& out) {
  *out++ = frames.gap.dot(frames.x_a());
  *out++ = frames.gap.dot(frames.y_a());
}

void put_tilt(const JointFrames& frames, double*& out) {
  *out++ = frames.z_b().dot(frames.x_a());
  *out++ = frames.z_b().dot(frames.y_a());
}

void put_turn(const JointFrames& frames, double*& out) {
  const Quaterniond q = compute_turn(frames);
  for (int i = 0; i < 3; ++i) *out++ = 2 * q.vec()[i];
}

double compute_height(const JointGeometry& joint, const JointFrames& frames) {
  const double lowest = joint.type == JointType::kRollingDisc
                            ? joint.radius * frames.z_a().cross(frames.z_b()).norm()
                            : joint.radius;
  return frames.gap.dot(frames.z_a()) - lowest;
}

double compute_advance(const JointGeometry& joint, const JointFrames& frames, double angle) {
  return frames.gap.dot(frames.z_a()) - joint.pitch * angle / (2 * std::numbers::pi);
}

// -------------------------------------------------------------------------------------------------
// Rows, in the same order.

/// Writes rows one after the other.
class RowWriter {
 public:
  RowWriter(const Pose& a, const Pose& b, const JointFrames& frames, PairRow* out)
      : a_(a), b_(b), frames_(frames), out_(out) {}

  /// set_point_row for the world's axes e, Rᵀ(e × R p) = Rᵀe × p: in the bodies' axes, which saves
  /// turning there and back.
  void put_gap(const JointGeometry& joint) {
    for (int i = 0; i < 3; ++i, ++out_) {
      const Vector3d e_a = a_.rotation.row(i), e_b = b_.rotation.row(i);
      out_->a.head<3>() = -Vector3d::Unit(i);
      out_->a.tail<3>() = e_a.cross(joint.frame_a.position);
      out_->b.head<3>() = Vector3d::Unit(i);
      out_->b.tail<3>() = joint.frame_b.position.cross(e_b);
    }
  }
  void put_gap_along(const Vector3d& axis_of_a) {
    put_point(frames_.arm_a_to_b(), frames_.arm_b, axis_of_a);
  }
  void put_gap_across_axis() {
    put_gap_along(frames_.x_a());
    put_gap_along(frames_.y_a());
  }
  void put_length() { put_point(frames_.arm_a, frames_.arm_b, compute_gap_direction(frames_)); }

  void put_tilt() {
    put_torque(frames_.z_b().cross(frames_.x_a()));
    put_torque(frames_.z_b().cross(frames_.y_a()));
  }
  void put_skew() { put_torque(frames_.y_b().cross(frames_.x_a())); }
  /// (2 vec q)' = w ω + ω × vec q in frame a, from q' = ½ ω ⊗ q.
  void put_turn() {
    const Quaterniond q = compute_turn(frames_);
    const Vector3d v = frames_.axes_a * q.vec();
    for (int i = 0; i < 3; ++i) {
      const Vector3d axis = frames_.axes_a.col(i);
      put_torque(q.w() * axis + v.cross(axis));
    }
  }

  void put_advance(double pitch) {
    PairRow& row = *out_;
    put_gap_along(frames_.z_a());
    const Vector3d g = (-pitch / (2 * std::numbers::pi)) * compute_angle_gradient(frames_);
    row.a.tail<3>().noalias() -= a_.rotation.transpose() * g;
    row.b.tail<3>().noalias() += b_.rotation.transpose() * g;
  }
  /// The velocity along `direction` of b's material point at p_b + offset relative to a's there.
  void put_slip(const Vector3d& offset, const Vector3d& direction) {
    put_point(frames_.arm_a_to_b() + offset, frames_.arm_b + offset, direction);
  }

 private:
  void put_point(const Vector3d& arm_a, const Vector3d& arm_b, const Vector3d& direction) {
    set_point_row(a_, b_, arm_a, arm_b, direction, *out_++);
  }
  void put_torque(const Vector3d& g) { set_turn_row(a_, b_, g, *out_++); }

  const Pose& a_;
  const Pose& b_;
  const JointFrames& frames_;
  PairRow* out_;
};

}  // namespace

namespace {

/// Balls have no axes, and are what long chains are made of.
JointFrames compute_frames_for_rows(const JointGeometry& joint, const Pose& a, const Pose& b) {
  if (joint.type != JointType::kBall) return compute_joint_frames(joint, a, b);
  JointFrames frames;
  compute_joint_arms(joint, a, b, frames);
  return frames;
}

void write_values(const JointGeometry& joint, const JointFrames& frames, double angle,
                  std::span<double> values) {
  double* out = values.data();
  switch (joint.type) {
    case JointType::kBall:
      return put_gap(frames, out);
    case JointType::kHinge:
      put_gap(frames, out);
      return put_tilt(frames, out);
    case JointType::kSlider:
      put_gap_across_axis(frames, out);
      return put_turn(frames, out);
    case JointType::kScrew:
      values.back() = compute_advance(joint, frames, angle);
      [[fallthrough]];
    case JointType::kCylindrical:
      put_gap_across_axis(frames, out);
      return put_tilt(frames, out);
    case JointType::kUniversal:
      put_gap(frames, out);
      *out = frames.x_a().dot(frames.y_b());
      return;
    case JointType::kFixed:
      put_gap(frames, out);
      return put_turn(frames, out);
    case JointType::kDistance:
      *out = frames.gap.norm() - joint.length;
      return;
    case JointType::kPlanar:
      *out++ = frames.gap.dot(frames.z_a());
      return put_tilt(frames, out);
    case JointType::kRollingDisc:
    case JointType::kRollingBall:
      *out = compute_height(joint, frames);
      return;
    case JointType::kKnifeEdge:
      return;
  }
}

void write_rows(const JointGeometry& joint, const Pose& a, const Pose& b, const JointFrames& frames,
                std::span<PairRow> rows) {
  RowWriter writer(a, b, frames, rows.data());
  switch (joint.type) {
    case JointType::kBall:
      return writer.put_gap(joint);
    case JointType::kHinge:
      writer.put_gap(joint);
      return writer.put_tilt();
    case JointType::kSlider:
      writer.put_gap_across_axis();
      return writer.put_turn();
    case JointType::kCylindrical:
      writer.put_gap_across_axis();
      return writer.put_tilt();
    case JointType::kScrew:
      writer.put_gap_across_axis();
      writer.put_tilt();
      return writer.put_advance(joint.pitch);
    case JointType::kUniversal:
      writer.put_gap(joint);
      return writer.put_skew();
    case JointType::kFixed:
      writer.put_gap(joint);
      return writer.put_turn();
    case JointType::kDistance:
      return writer.put_length();
    case JointType::kPlanar:
      writer.put_gap_along(frames.z_a());
      return writer.put_tilt();
    case JointType::kRollingDisc:
    case JointType::kRollingBall:
      // The force acts at the contact: the rim's lowest point is where n·u is stationary, so that
      // the way it moves around the rim does not count.
      return writer.put_slip(compute_contact_offset(joint, frames), frames.z_a());
    case JointType::kKnifeEdge:
      return;
  }
}

}  // namespace

void evaluate_constraints(const JointGeometry& joint, const Pose& a, const Pose& b, double angle,
                          std::span<double> values) {
  ST_DEMAND(values.size() == static_cast<std::size_t>(num_constraints(joint.type)));
  write_values(joint, compute_frames_for_rows(joint, a, b), angle, values);
}

void evaluate_constraint_rows(const JointGeometry& joint, const Pose& a, const Pose& b,
                              std::span<PairRow> rows) {
  ST_DEMAND(rows.size() == static_cast<std::size_t>(num_constraints(joint.type)));
  write_rows(joint, a, b, compute_frames_for_rows(joint, a, b), rows);
}

void evaluate_constraints_and_rows(const JointGeometry& joint, const Pose& a, const Pose& b,
                                   double angle, std::span<double> values,
                                   std::span<PairRow> rows) {
  ST_DEMAND(values.size() == static_cast<std::size_t>(num_constraints(joint.type)) &&
            rows.size() == values.size());
  const JointFrames frames = compute_frames_for_rows(joint, a, b);
  write_values(joint, frames, angle, values);
  write_rows(joint, a, b, frames, rows);
}

void evaluate_velocity_rows(const JointGeometry& joint, const Pose& a, const Pose& b,
                            std::span<PairRow> rows) {
  ST_DEMAND(rows.size() == static_cast<std::size_t>(num_velocity_rows(joint.type)));
  if (rows.empty()) return;
  const JointFrames frames = compute_joint_frames(joint, a, b);
  RowWriter writer(a, b, frames, rows.data());
  if (joint.type == JointType::kKnifeEdge) {
    writer.put_slip(Vector3d::Zero(), frames.x_b());
  } else {
    const Vector3d offset = compute_contact_offset(joint, frames);
    writer.put_slip(offset, frames.x_a());
    writer.put_slip(offset, frames.y_a());
  }
}

}  // namespace stiction
