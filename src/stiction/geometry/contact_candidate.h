// A pair of features of two shapes that may touch, and the gap between them at any poses.
//
// Features stay fixed in their shapes, so that the gap Φ(pose a, pose b) is a smooth function: a
// scheme may evaluate it, and its normal n, at poses other than those of detection. For every kind
// of pair
//   dΦ/dt = n · (velocity of a at the point − velocity of b at the point)
// holds exactly, also for features that slide along their shape (rims, lines, whole shapes), since
// the touching points are stationary points of the distance. The features are as large as their
// kind says (lines and planes do not end): which part of them matters is decided by detection.
#pragma once

#include <Eigen/Core>

#include <cstdint>

#include "stiction/base/infinity.h"
#include "stiction/geometry/pose.h"

namespace stiction {

class CollisionShape;

/// In the frame of its shape.
struct ContactFeature {
  enum class Kind : std::uint8_t {
    kPoint,   // ball of `radius` ≥ 0 about `point`: corners, points of faces and edges, ends of
              // capsules, balls
    kLine,    // cylinder of `radius` ≥ 0 about the infinite line: edges, axes, mantles
    kPlane,   // half-space with the outward normal `direction`
    kCircle,  // circle of `radius` about `point` with the axis `direction`: rim of a cylinder
    kShape,   // the whole convex shape: the gap is that of compute_distance, that of its lowest
              // point over a plane, or, of an ellipsoid, that of a point or line outside of it
  };
  Kind kind = Kind::kShape;
  Eigen::Vector3d point = Eigen::Vector3d::Zero();      // [m]
  Eigen::Vector3d direction = Eigen::Vector3d::Zero();  // unit length where the kind has one
  double radius = 0;                                    // [m]
};

[[nodiscard]] ContactFeature make_point_feature(const Eigen::Vector3d& point, double radius = 0);
[[nodiscard]] ContactFeature make_line_feature(const Eigen::Vector3d& point,
                                               const Eigen::Vector3d& direction, double radius = 0);
[[nodiscard]] ContactFeature make_plane_feature(const Eigen::Vector3d& point,
                                                const Eigen::Vector3d& normal);
[[nodiscard]] ContactFeature make_circle_feature(const Eigen::Vector3d& center,
                                                 const Eigen::Vector3d& axis, double radius);

/// What touches what at given poses, in the world. The normal points from b to a.
struct Touch {
  double gap = 0;                                     // [m] > 0 apart, < 0 overlapping
  Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  // unit
  Eigen::Vector3d point = Eigen::Vector3d::Zero();    // [m] half way between the surfaces
};

struct ContactCandidate {
  ContactFeature a{}, b{};
  /// ±1. Line–line: n = side (d_a × d_b)/‖·‖, so that the gap goes smoothly through lines that
  /// meet. Point–point and point–line: −1 says that a has passed through the axis of b.
  double side = 1;
  /// Of the pair of features within the pair of shapes: made from the features alone, so that it
  /// persists; unique within the pair. See make_contact_id.
  std::uint64_t id = 0;
  // As detected, in the world. The gap at other poses may go by them, too, see evaluate_touch.
  double gap = kInfinity;                             // [m] infinite before
  Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  // unit, from b to a
  Eigen::Vector3d point = Eigen::Vector3d::Zero();    // [m] half way between the surfaces
};

/// The gap, normal and point of a candidate at other poses. The shapes are asked only by kShape
/// features. Pairs are: point with all kinds; line with point, line and circle; plane with point,
/// circle and shape; shape with shape; points and lines with an ellipsoid as shape. The axis of a
/// circle is nearly parallel to a line it is paired with. Where a normal is not defined (coinciding
/// points, parallel lines, a circle parallel to a plane) some unit vector is chosen that depends on
/// the input alone.
///
/// A distance rises again on the other side of what is thin. Where something round has gone through
/// something else that is round (points and lines with radii) on the straight way since detection,
/// and not just grazed it, the gap is that of the plane that they were next to each other along
/// then. The normal is what it was in the world: if a line has turned since, rates are right to
/// that angle. Edges and corners have no radius: where they are thin, faces beside them are
/// alternatives.
[[nodiscard]] Touch evaluate_touch(const ContactCandidate& candidate, const CollisionShape& a,
                                   const Pose& pose_a, const CollisionShape& b, const Pose& pose_b);

/// Lines that are nearly parallel cross far away as soon as they turn a little, and their common
/// normal flips when they pass through parallel. Where `candidate` is a crossing of the axes of
/// such round things, the point of axis a that touches now takes the place of the line. The gap,
/// the normal and their rates of change are the same at these poses.
void fix_crossing(const Touch& touch, const Pose& pose_a, const Pose& pose_b,
                  ContactCandidate& candidate);

/// Names a feature of a shape: vertices, edges, faces by their index in the polytope, ...
struct FeatureCode {
  enum class Kind : std::uint8_t {
    kWhole,     // sphere, ellipsoid, plane, or a curved shape as a whole
    kVertex,    // of a polytope; end of a capsule
    kEdge,      // of a polytope; axis of a capsule, mantle of a cylinder
    kFace,      // of a polytope, of a mesh; end of a cylinder
    kRim,       // of a cylinder, at either end
    kRimPoint,  // one of the fixed points of a rim
    kOther,     // ends of a segment on a mantle, crossings of circles
  };
  Kind kind = Kind::kWhole;
  std::uint32_t index = 0;  // < 2^28
};
/// Set in ids of patches that are not the first of their group, where a pair of features may appear
/// once more.
constexpr std::uint64_t kAlternativeBit = std::uint64_t{1} << 63;
/// 32 bits for each feature; never two features with the same bits. Leaves kAlternativeBit free.
[[nodiscard]] std::uint64_t make_contact_id(FeatureCode a, FeatureCode b);
/// The id of the same pair of features seen from the other side: (b, a).
[[nodiscard]] std::uint64_t swapped_contact_id(std::uint64_t id);
/// The same touching, with a and b exchanged.
[[nodiscard]] ContactCandidate swapped(const ContactCandidate& candidate);

}  // namespace stiction
