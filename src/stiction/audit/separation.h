// Signed distances of shapes, computed slowly and by other means than `geometry` does: shapes are
// their support functions s(d) = max {d·x : x in the shape}, and
//
//   gap(A, B) = max over unit vectors n of  −s_A(−n) − s_B(n),
//
// the distance where the shapes are apart and minus the depth of penetration where they overlap.
// Every n gives a lower bound. Apart, the best n is found by Wolfe's method for the point of least
// norm of A − B (1976), an active set method for a convex quadratic program. Overlapping, there is
// no convex problem: normals of faces, crosses of edges and what the caller knows are tried, and
// improved by moving the shapes apart along the best one so far.
//
// Surfaces (meshes, height fields) are the triangles near the other shape, one by one: a shape that
// is altogether below a surface touches none of them. A half-space is convex on its other side,
// too: it reaches the lowest vertex of a surface first, as that of its hull, and nothing has to be
// searched.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "stiction/geometry/pose.h"
#include "stiction/geometry/shape.h"

namespace stiction {

/// A shape prepared for many questions, in its own frame.
class AuditShape {
 public:
  explicit AuditShape(const Shape& shape);

  bool is_plane() const { return kind_ == Kind::kPlane; }
  bool is_surface() const { return kind_ == Kind::kSurface; }
  /// About the origin of the frame; infinite for planes.
  double radius() const { return radius_; }
  /// A bound on how far a contact's place may be from the true one, relative to curvature: the size
  /// of the shape.
  double size() const { return size_; }
  /// Of hulls and surfaces, in their own frame: what is around each of them is a ball of radius
  /// rounding(). Vertices that no triangle has are none of them.
  std::span<const Eigen::Vector3d> corners() const;
  double rounding() const { return rounding_; }
  bool is_ball() const { return kind_ == Kind::kHull && points_.size() == 1; }
  /// Whether there is a list of faces; planes have one.
  bool has_faces() const { return is_plane() || (kind_ == Kind::kHull && !faces_.empty()); }
  /// The outward unit normal of the face of a hull or plane that is nearest to a direction, own
  /// frame; zero if there are no faces.
  Eigen::Vector3d face_along(const Eigen::Vector3d& direction) const;
  /// How far a point is outside of all faces, own frame: negative inside, exact there.
  double outside_faces(const Eigen::Vector3d& point) const;

 private:
  friend class Separation;
  enum class Kind { kHull, kCylinder, kEllipsoid, kPlane, kSurface };
  Kind kind_ = Kind::kHull;
  std::vector<Eigen::Vector3d> points_;  // of hulls; vertices of surfaces
  std::vector<Eigen::Vector3d> faces_;   // unit normals of hulls
  std::vector<double> face_offsets_;     // how far out they are
  std::vector<Eigen::Vector3d> edges_;   // unit directions of hulls
  std::vector<Triangle> triangles_;
  Eigen::Vector3d axes_ = Eigen::Vector3d::Zero();  // radii; radius, half length of cylinders
  double rounding_ = 0;                             // radius of the ball around the core
  Plane plane_{};
  double radius_ = 0, size_ = 0;
};

class Separation {
 public:
  struct Placed {
    const AuditShape& shape;
    const Pose& pose;
  };
  struct Result {
    double gap = 0;                                     // [m]
    Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  // from b to a
    double error = 0;  // [m] bound on what the search has left open; 0 where it is exact
  };

  /// Gap of two shapes; beyond `reach` a lower bound on it. `hints` are normals to try.
  static Result measure(const Placed& a, const Placed& b, double reach,
                        std::span<const Eigen::Vector3d> hints = {});
  /// −s_A(−n) − s_B(n): how far n separates them. Of surfaces the triangles within `reach` of the
  /// other shape's bounding ball count; infinite where there are none.
  static double along(const Placed& a, const Placed& b, const Eigen::Vector3d& n);
  /// Signed distance of a point from a shape, negative inside; of a surface the distance from its
  /// nearest triangle.
  static double of_point(const Placed& shape, const Eigen::Vector3d& point);
  /// How far `n` is off the normals, of either side, of the triangles of a surface that `point` is
  /// on, up to `slack`: the sine of the angle. Infinite where there are none.
  static double off_normal(const Placed& surface, const Eigen::Vector3d& point,
                           const Eigen::Vector3d& n, double slack);
  /// [m] How far the triangles that the point is at reach beyond it along n; infinite if it is at
  /// none. Not positive where n is a normal of a face, or of a convex edge or corner.
  static double beyond_nearby(const Placed& surface, const Eigen::Vector3d& point,
                              const Eigen::Vector3d& n, double slack);
  /// The sine of the angle between two edges of hulls that have the common normal `n`, up to
  /// `tolerance`; the smallest if there are several, 1 if there are none.
  static double crossing_sine(const Placed& a, const Placed& b, const Eigen::Vector3d& n,
                              double tolerance);

 private:
  struct Body;
  template <class Visit>
  static void for_each_triangle_at(const Placed& surface, const Eigen::Vector3d& p, double slack,
                                   const Visit& visit);
  static Result measure_convex(const Body& a, const Body& b,
                               std::span<const Eigen::Vector3d> hints);
};

}  // namespace stiction
