#include "stiction/geometry/collision_shape.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <utility>

#include "stiction/base/error.h"
#include "stiction/base/infinity.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

static_assert(std::is_same_v<std::variant_alternative_t<0, Shape>, Sphere> &&
              std::is_same_v<std::variant_alternative_t<6, Shape>, Plane> &&
              std::is_same_v<std::variant_alternative_t<8, Shape>, Mesh>);

/// The box around a shape, along the axes of its frame.
struct LocalBounds {
  Bounds operator()(const Sphere& s) const { return around(Vector3d::Constant(s.radius)); }
  Bounds operator()(const Capsule& c) const {
    return around({c.radius, c.radius, c.radius + c.length / 2});
  }
  Bounds operator()(const Box& box) const { return around(box.size / 2); }
  Bounds operator()(const Cylinder& c) const { return around({c.radius, c.radius, c.length / 2}); }
  Bounds operator()(const Ellipsoid& e) const { return around(e.radii); }
  Bounds operator()(const Convex& convex) const { return around_points(convex.points); }
  Bounds operator()(const Plane&) const { return around(Vector3d::Zero()); }
  Bounds operator()(const HeightField& field) const {
    return {{-field.size.x() / 2, -field.size.y() / 2, field.heights.minCoeff()},
            {field.size.x() / 2, field.size.y() / 2, field.heights.maxCoeff()}};
  }
  Bounds operator()(const Mesh& mesh) const {
    // Vertices that no triangle names are no part of the surface.
    Bounds bounds;
    for (const Triangle& triangle : mesh.triangles) {
      for (const int vertex : triangle) bounds.include(mesh.vertices[vertex]);
    }
    return bounds;
  }

 private:
  static Bounds around(const Vector3d& half) { return {-half, half}; }
  static Bounds around_points(std::span<const Vector3d> points) {
    Bounds bounds;
    for (const Vector3d& point : points) bounds.include(point);
    return bounds;
  }
};

double bounding_radius_of(const Shape& shape, const Vector3d& center, const Vector3d& half_extent) {
  if (std::holds_alternative<Plane>(shape)) return kInfinity;
  if (const auto* sphere = std::get_if<Sphere>(&shape)) return sphere->radius;
  if (const auto* capsule = std::get_if<Capsule>(&shape)) {
    return capsule->radius + capsule->length / 2;
  }
  if (const auto* cylinder = std::get_if<Cylinder>(&shape)) {
    return std::hypot(cylinder->radius, cylinder->length / 2);
  }
  if (const auto* ellipsoid = std::get_if<Ellipsoid>(&shape)) return ellipsoid->radii.maxCoeff();
  if (const auto* convex = std::get_if<Convex>(&shape)) {
    double radius = 0;
    for (const Vector3d& point : convex->points) radius = std::max(radius, (point - center).norm());
    return radius;
  }
  return half_extent.norm();
}

Vector3d half_of(const Shape& shape) {
  if (const auto* capsule = std::get_if<Capsule>(&shape)) return {0, 0, capsule->length / 2};
  if (const auto* box = std::get_if<Box>(&shape)) return box->size / 2;
  if (const auto* cylinder = std::get_if<Cylinder>(&shape)) {
    return {cylinder->radius, cylinder->radius, cylinder->length / 2};
  }
  if (const auto* ellipsoid = std::get_if<Ellipsoid>(&shape)) return ellipsoid->radii;
  return Vector3d::Zero();
}

/// Two spheres have no ties but that of one centre, which goes by their radii, and meet without
/// being asked for this (ball_contacts.h). Of others by weights that ordinary sizes do not make
/// equal: boxes of 1 × 2 × 3 and of 3 × 2 × 1 are told apart, and so are hulls of the same extents.
double precedence_of(const Shape& shape, const Vector3d& center, const Vector3d& half_extent) {
  if (std::holds_alternative<Sphere>(shape)) return 0;
  const Vector3d weights(1, std::numbers::inv_sqrt3, std::numbers::inv_pi);
  double sum = weights.dot(half_extent);
  const auto* convex = std::get_if<Convex>(&shape);
  if (convex == nullptr) return sum;
  double part = 1e-3;
  for (const Vector3d& point : convex->points) {
    sum += part * weights.dot(point - center);
    part *= 0.97;
  }
  return sum;
}

Bounds bounds_of_half_space(const Plane& plane, const Pose& pose) {
  Bounds bounds{Vector3d::Constant(-kInfinity), Vector3d::Constant(kInfinity)};
  const Vector3d normal = pose.rotation * plane.normal;
  const double offset = plane.offset + normal.dot(pose.position);
  for (int axis = 0; axis < 3; ++axis) {
    if (normal[(axis + 1) % 3] != 0 || normal[(axis + 2) % 3] != 0) continue;
    (normal[axis] > 0 ? bounds.upper : bounds.lower)[axis] = offset / normal[axis];
  }
  return bounds;
}

}  // namespace

CollisionShape::CollisionShape(Shape shape)
    : kind_(static_cast<ShapeKind>(shape.index())),
      shape_(std::make_shared<const Shape>(std::move(shape))) {
  const std::string fault = find_fault(*shape_);
  if (!fault.empty()) throw InputError(fault);
  const Bounds box = std::visit(LocalBounds{}, *shape_);
  center_ = box.lower + (box.upper - box.lower) / 2;
  half_extent_ = (box.upper - box.lower) / 2;
  size_ = 2 * half_extent_.maxCoeff();
  bounding_radius_ = bounding_radius_of(*shape_, center_, half_extent_);
  half_ = half_of(*shape_);
  if (const auto* sphere = std::get_if<Sphere>(shape_.get())) core_radius_ = sphere->radius;
  if (const auto* capsule = std::get_if<Capsule>(shape_.get())) core_radius_ = capsule->radius;
  if (const auto* solid = std::get_if<Box>(shape_.get())) {
    polytope_ = std::make_shared<const Polytope>(Polytope::make_box(solid->size));
  }
  if (const auto* convex = std::get_if<Convex>(shape_.get())) {
    polytope_ = std::make_shared<const Polytope>(Polytope::make_hull(convex->points));
  }
  precedence_ = precedence_of(*shape_, center_, half_extent_);
  if (!is_convex()) surface_ = make_triangle_surface(*shape_);
}

Bounds CollisionShape::bounds(const Pose& pose) const {
  const Matrix3d& R = pose.rotation;
  Vector3d half = half_extent_;
  switch (kind_) {
    case ShapeKind::kPlane:
      return bounds_of_half_space(std::get<Plane>(*shape_), pose);
    case ShapeKind::kConvex: {
      Bounds box;
      int hint = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const Vector3d direction = R.row(axis);
        box.upper[axis] = direction.dot(core_support(direction, hint));
        box.lower[axis] = direction.dot(core_support(-direction, hint));
      }
      return {box.lower + pose.position, box.upper + pose.position};
    }
    case ShapeKind::kSphere:
      break;
    case ShapeKind::kCapsule:
      half = R.col(2).cwiseAbs() * half_.z() + Vector3d::Constant(core_radius_);
      break;
    case ShapeKind::kCylinder:
      half = R.col(2).cwiseAbs() * half_.z() + R.leftCols<2>().rowwise().norm() * half_.x();
      break;
    case ShapeKind::kEllipsoid:
      half = (R * half_.asDiagonal()).rowwise().norm();
      break;
    case ShapeKind::kBox:
    case ShapeKind::kHeightField:
    case ShapeKind::kMesh:
      half = R.cwiseAbs() * half_extent_;
      break;
  }
  const Vector3d middle = pose.position + R * center_;
  return {middle - half, middle + half};
}

Vector3d CollisionShape::core_support(const Vector3d& direction, int& hint) const {
  switch (kind_) {
    case ShapeKind::kCapsule:
      return {0, 0, std::copysign(half_.z(), direction.z())};
    case ShapeKind::kBox:
      hint = (std::signbit(direction.x()) ? 0 : 1) + (std::signbit(direction.y()) ? 0 : 2) +
             (std::signbit(direction.z()) ? 0 : 4);
      return {std::copysign(half_.x(), direction.x()), std::copysign(half_.y(), direction.y()),
              std::copysign(half_.z(), direction.z())};
    case ShapeKind::kCylinder: {
      const double radial =
          std::sqrt(direction.x() * direction.x() + direction.y() * direction.y());
      const double scale = radial > 0 ? half_.x() / radial : 0;
      return {scale * direction.x(), scale * direction.y(),
              std::copysign(half_.z(), direction.z())};
    }
    case ShapeKind::kEllipsoid: {
      const Vector3d scaled = half_.cwiseProduct(direction);
      const double norm = scaled.norm();
      if (!(norm > 0)) return {half_.x(), 0, 0};
      return half_.cwiseProduct(scaled) / norm;
    }
    case ShapeKind::kConvex:
      hint = polytope_->find_support(direction, hint);
      return polytope_->vertices()[hint];
    default:
      return Vector3d::Zero();
  }
}

}  // namespace stiction
