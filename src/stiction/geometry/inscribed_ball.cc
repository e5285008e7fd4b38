#include "stiction/geometry/inscribed_ball.h"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

using Eigen::Vector3d;

/// The ball about x − ρm stays behind the plane n·y = offset while ρ (1 − n·m) ≤ offset − n·x.
void restrict_radius(const Vector3d& n, double offset, const Vector3d& x, const Vector3d& m,
                     double& radius) {
  const double lean = 1 - n.dot(m);
  if (lean <= 1e-12) return;  // the face that x lies on
  radius = std::min(radius, std::max(0.0, offset - n.dot(x)) / lean);
}

double radius_in_box(const Vector3d& half, const Vector3d& x, const Vector3d& m) {
  double radius = half.minCoeff();
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      const double lean = 1 - sign * m[axis];
      if (lean <= 1e-12) continue;
      radius = std::min(radius, std::max(0.0, half[axis] - sign * x[axis]) / lean);
    }
  }
  return radius;
}

double radius_in_cylinder(double r, double half_length, const Vector3d& x, const Vector3d& m) {
  const double radial = std::hypot(x.x(), x.y());
  if (std::abs(m.z()) <= 1e-12) return std::clamp(half_length - std::abs(x.z()), 0.0, r);
  if (std::abs(m.z()) >= 1 - 1e-12) return std::clamp(r - radial, 0.0, half_length);
  return 0;
}

}  // namespace

double compute_inscribed_radius(const CollisionShape& shape, const Vector3d& x, const Vector3d& m) {
  switch (shape.kind()) {
    case ShapeKind::kBox:
      return radius_in_box(shape.half(), x, m);
    case ShapeKind::kCylinder:
      return radius_in_cylinder(shape.half().x(), shape.half().z(), x, m);
    case ShapeKind::kEllipsoid: {
      // The least radius of curvature (Blaschke's rolling theorem).
      const double least = shape.half().minCoeff();
      return least * (least / shape.half().maxCoeff());
    }
    case ShapeKind::kConvex: {
      double radius = shape.size();
      for (const Polytope::Face& face : shape.polytope()->faces()) {
        restrict_radius(face.normal, face.offset, x, m, radius);
      }
      return radius;
    }
    default:
      return 0;
  }
}

}  // namespace stiction
