#include "stiction/scene/import_joints.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "stiction/model/joint_placement.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Kind = ImportJoint::Kind;

/// Axes that are written with a few digits, and anchors that come from them, are orthogonal, or the
/// same, up to this. What is left of it is error of the joint, well below the tolerance of a start.
constexpr double kSame = 1e-9;

/// Scenes count angles from (−π, π] at the start: whole turns are taken off.
double whole_turns(const ImportJoint& joint) {
  if (joint.kind != Kind::kHinge) return 0;
  return 2 * std::numbers::pi * std::round(joint.position / (2 * std::numbers::pi));
}

/// Columns x, y, z with z along the axis.
Matrix3d frame_about(const Vector3d& axis) {
  Matrix3d frame;
  frame.col(2) = axis;
  frame.col(0) = make_orthogonal(axis);
  frame.col(1) = axis.cross(Vector3d(frame.col(0)));
  return frame;
}

Matrix3d turn_about(int axis, double angle) {
  return AngleAxisd(angle, Vector3d::Unit(axis)).toRotationMatrix();
}

/// What the coordinate is where the joint's motion is the identity.
double value_at_reference(const ImportJoint& joint) { return joint.reference - whole_turns(joint); }

ImportedJoint make_single(const ImportJoint& joint, int index) {
  const Matrix3d rotation = frame_about(joint.axis);
  ImportedJoint made{.type = "ball",
                     .coordinates = {{index, "", whole_turns(joint)}},
                     .frames = {Pose{joint.anchor, rotation}, Pose{joint.anchor, rotation}}};
  if (joint.kind == Kind::kBall) {
    made.frames = {Pose{joint.anchor, Matrix3d::Identity()},
                   Pose{joint.anchor, Matrix3d::Identity()}};
  } else if (joint.kind == Kind::kHinge) {
    made.type = "hinge";
    made.coordinates[0].key = "angle";
    made.frames[0].rotation *= turn_about(2, -value_at_reference(joint));
  } else if (joint.kind == Kind::kSlide) {
    made.type = "slider";
    made.coordinates[0].key = "slide";
    made.frames[0].position -= joint.axis * joint.reference;
  } else if (joint.kind == Kind::kPlanar) {
    made.type = "planar";
    made.coordinates[0].key = "angle";
  }
  return made;
}

bool is_one(const std::vector<ImportJoint>& joints) {
  return std::none_of(joints.begin(), joints.end(), [](const ImportJoint& joint) {
    return joint.stands_alone || joint.kind == Kind::kBall || joint.kind == Kind::kPlanar;
  });
}

std::optional<ImportedJoint> try_universal(const std::vector<ImportJoint>& joints) {
  if (joints.size() != 2 || joints[0].kind != Kind::kHinge || joints[1].kind != Kind::kHinge)
    return std::nullopt;
  const ImportJoint &first = joints[0], &second = joints[1];
  // The second axis cannot reach the first one's direction: a universal joint is singular there.
  if (std::abs(first.axis.dot(second.axis)) > kSame ||
      (first.anchor - second.anchor).norm() > kSame)
    return std::nullopt;
  Matrix3d rotation;
  rotation.col(0) = first.axis;
  rotation.col(1) = (second.axis - first.axis * first.axis.dot(second.axis)).normalized();
  rotation.col(2) = first.axis.cross(Vector3d(rotation.col(1)));
  return ImportedJoint{
      .type = "universal",
      .coordinates = {{0, "angle_x", whole_turns(first)}, {1, "angle_y", whole_turns(second)}},
      .frames = {Pose{first.anchor, rotation * turn_about(0, -value_at_reference(first))},
                 Pose{first.anchor, rotation * turn_about(1, value_at_reference(second))}}};
}

std::optional<ImportedJoint> try_cylindrical(const std::vector<ImportJoint>& joints) {
  if (joints.size() != 2) return std::nullopt;
  const int turning = joints[0].kind == Kind::kHinge ? 0 : 1;
  const ImportJoint &hinge = joints[turning], &slide = joints[1 - turning];
  if (hinge.kind != Kind::kHinge || slide.kind != Kind::kSlide ||
      (hinge.axis - slide.axis).norm() > kSame)
    return std::nullopt;
  const Matrix3d rotation = frame_about(hinge.axis);
  return ImportedJoint{
      .type = "cylindrical",
      .coordinates = {{turning, "angle", whole_turns(hinge)}, {1 - turning, "slide", 0}},
      .frames = {Pose{hinge.anchor - hinge.axis * slide.reference,
                      rotation * turn_about(2, -value_at_reference(hinge))},
                 Pose{hinge.anchor, rotation}}};
}

/// Nothing acts on the coordinate but what comes with the other two.
bool is_bare(const ImportJoint& joint) {
  return std::isinf(joint.lower) && std::isinf(joint.upper) && joint.friction == 0 &&
         joint.damping == 0 && joint.stiffness == 0;
}

/// Slides before the hinge: their directions stay those of the parent.
std::optional<ImportedJoint> try_planar(const std::vector<ImportJoint>& joints) {
  if (joints.size() != 3 || joints[2].kind != Kind::kHinge) return std::nullopt;
  const ImportJoint& hinge = joints[2];
  for (const int k : {0, 1})
    if (joints[k].kind != Kind::kSlide || !is_bare(joints[k]) ||
        std::abs(joints[k].axis.dot(hinge.axis)) > kSame)
      return std::nullopt;
  if (joints[0].axis.cross(joints[1].axis).norm() < 1e-3) return std::nullopt;
  const Matrix3d rotation = frame_about(hinge.axis);
  return ImportedJoint{
      .type = "planar",
      .coordinates = {{0, "", 0}, {1, "", 0}, {2, "angle", whole_turns(hinge)}},
      .frames = {Pose{hinge.anchor, rotation * turn_about(2, -value_at_reference(hinge))},
                 Pose{hinge.anchor, rotation}}};
}

}  // namespace

std::vector<ImportedJoint> make_joints(const ImportBody& body) {
  const std::vector<ImportJoint>& joints = body.joints;
  if (joints.empty() || joints[0].kind == Kind::kFree) return {};
  if (joints.size() > 1 && is_one(joints))
    for (const auto& attempt : {try_universal, try_cylindrical, try_planar})
      if (auto whole = attempt(joints)) return {*whole};
  std::vector<ImportedJoint> chain;
  for (std::size_t k = 0; k < joints.size(); ++k)
    chain.push_back(make_single(joints[k], static_cast<int>(k)));
  return chain;
}

}  // namespace stiction
