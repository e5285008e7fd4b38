// Our shapes as FCL's.
#pragma once

#include <fcl/geometry/shape/box.h>
#include <fcl/geometry/shape/capsule.h>
#include <fcl/geometry/shape/convex.h>
#include <fcl/geometry/shape/cylinder.h>
#include <fcl/geometry/shape/ellipsoid.h>
#include <fcl/geometry/shape/sphere.h>

#include <memory>
#include <vector>

#include "stiction/geometry/convex_hull.h"

namespace stiction::bench {

using FclGeometry = std::shared_ptr<fcl::CollisionGeometryd>;

inline FclGeometry make_hull(const Convex& convex) {
  const std::vector<Triangle> triangles = compute_convex_hull(convex.points).value();
  const auto faces = std::make_shared<std::vector<int>>();
  for (const Triangle& triangle : triangles) {
    faces->push_back(3);
    faces->insert(faces->end(), triangle.begin(), triangle.end());
  }
  const auto vertices = std::make_shared<const std::vector<Eigen::Vector3d>>(convex.points);
  return std::make_shared<fcl::Convexd>(vertices, static_cast<int>(triangles.size()), faces);
}

/// Of a convex shape.
inline FclGeometry make_geometry(const Shape& shape) {
  if (const auto* sphere = std::get_if<Sphere>(&shape))
    return std::make_shared<fcl::Sphered>(sphere->radius);
  if (const auto* capsule = std::get_if<Capsule>(&shape))
    return std::make_shared<fcl::Capsuled>(capsule->radius, capsule->length);
  if (const auto* box = std::get_if<Box>(&shape)) return std::make_shared<fcl::Boxd>(box->size);
  if (const auto* cylinder = std::get_if<Cylinder>(&shape))
    return std::make_shared<fcl::Cylinderd>(cylinder->radius, cylinder->length);
  if (const auto* ellipsoid = std::get_if<Ellipsoid>(&shape))
    return std::make_shared<fcl::Ellipsoidd>(ellipsoid->radii);
  return make_hull(std::get<Convex>(shape));
}

}  // namespace stiction::bench
