// A shape made ready for collision detection: hulls computed, sizes at hand, support functions
// fast.
#pragma once

#include <Eigen/Core>

#include <cstdint>
#include <memory>

#include "stiction/geometry/bounds.h"
#include "stiction/geometry/polytope.h"
#include "stiction/geometry/pose.h"
#include "stiction/geometry/shape.h"

namespace stiction {

class TriangleSurface;

/// In the order of the alternatives of Shape.
enum class ShapeKind : std::uint8_t {
  kSphere,
  kCapsule,
  kBox,
  kCylinder,
  kEllipsoid,
  kConvex,
  kPlane,
  kHeightField,
  kMesh
};

/// Immutable; copies are cheap and share what is big, between threads too.
///
/// Every convex shape is a core with a radius: all points within core_radius() of the core, which
/// is a point for a sphere, a segment for a capsule, and the shape itself, with radius 0, for the
/// others.
class CollisionShape {
 public:
  /// Throws InputError if find_fault(shape) says so.
  explicit CollisionShape(Shape shape);

  const Shape& shape() const { return *shape_; }
  ShapeKind kind() const { return kind_; }
  /// All but height-field and mesh. A plane is convex and unbounded.
  bool is_convex() const { return kind_ < ShapeKind::kHeightField; }
  /// Of box and convex; null for others.
  const Polytope* polytope() const { return polytope_.get(); }
  /// Of mesh and height-field; null for others.
  const TriangleSurface* surface() const { return surface_.get(); }

  /// [m] largest side of the box around the shape, along its own axes: the unit of tolerances; 0
  /// for planes.
  double size() const { return size_; }
  /// Middle of that box, in the frame of the shape; the origin for all that have a centre there.
  const Eigen::Vector3d& center() const { return center_; }
  /// [m] of a ball about center() that holds the shape; infinite for planes.
  double bounding_radius() const { return bounding_radius_; }
  /// [m] Tells shapes apart by their measures alone and scales with them. Where two shapes are of
  /// one rank, that of the larger number is a, whichever was named first: else ties between
  /// directions are broken otherwise for (a, b) than for (b, a). A choice by poses would change
  /// from step to step.
  double precedence() const { return precedence_; }
  /// [m] half sides, for boxes; (r, r, half length) for cylinders, radii for ellipsoids; (0, 0,
  /// half length) for capsules; 0 for others.
  const Eigen::Vector3d& half() const { return half_; }

  /// Box along the axes of the world. Tight, but for meshes and height-fields, where it is around
  /// the turned box of the shape; infinite for planes (half-infinite where their normal is an
  /// axis).
  Bounds bounds(const Pose& pose) const;

  /// A point of the core furthest along `direction` (any length), both in the frame of the shape.
  /// Not for planes, meshes and height-fields.
  Eigen::Vector3d core_support(const Eigen::Vector3d& direction) const {
    int hint = 0;
    return core_support(direction, hint);
  }
  /// Starts at vertex `hint` of a polytope and leaves there the vertex found.
  Eigen::Vector3d core_support(const Eigen::Vector3d& direction, int& hint) const;
  /// [m]
  double core_radius() const { return core_radius_; }

 private:
  // What every pair reads comes first, so that it shares two lines of the cache.
  ShapeKind kind_ = ShapeKind::kSphere;
  double size_ = 0, bounding_radius_ = 0, core_radius_ = 0, precedence_ = 0;
  Eigen::Vector3d center_ = Eigen::Vector3d::Zero();
  Eigen::Vector3d half_ = Eigen::Vector3d::Zero();
  Eigen::Vector3d half_extent_ = Eigen::Vector3d::Zero();  // [m] of the box around the shape
  std::shared_ptr<const Polytope> polytope_;
  std::shared_ptr<const TriangleSurface> surface_;
  std::shared_ptr<const Shape> shape_;
};

/// Whether b is to be taken as a, where nothing else orders them.
inline bool precedes(const CollisionShape& b, const CollisionShape& a) {
  return b.precedence() > a.precedence();
}

/// Defined with TriangleSurface. For height-field and mesh without fault.
std::shared_ptr<const TriangleSurface> make_triangle_surface(const Shape& shape);

}  // namespace stiction
