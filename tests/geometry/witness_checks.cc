#include "tests/geometry/witness_checks.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <limits>
#include <sstream>

#include "tests/geometry/distance_reference.h"

namespace stiction {
namespace {

using reference::Real;
using reference::Vector;

Real distance_to_segment(const Vector& p, const Vector& from, const Vector& to) {
  const Vector way = to - from;
  const Real place = std::clamp<Real>(way.dot(p - from) / way.squaredNorm(), 0, 1);
  return (p - from - place * way).norm();
}

Real distance_to_triangle(const Vector& p, const TriangleCorners& corners) {
  const Vector t[3] = {corners[0].cast<Real>(), corners[1].cast<Real>(), corners[2].cast<Real>()};
  const Vector normal = (t[1] - t[0]).cross(t[2] - t[0]).normalized();
  bool is_over = true;
  Real nearest = std::numeric_limits<Real>::infinity();
  for (int k = 0; k < 3; ++k) {
    const Vector &from = t[k], &to = t[(k + 1) % 3];
    is_over = is_over && normal.cross(to - from).dot(p - from) >= 0;
    nearest = std::min(nearest, distance_to_segment(p, from, to));
  }
  return is_over ? std::abs(normal.dot(p - t[0])) : nearest;
}

/// A capsule that is tilted over a face touches it with the balls at both of its ends: the lowest
/// point of the upper one is a little inside of the mantle.
Real distance_from_surface(const Shape& shape, const reference::PlacedShape& placed,
                           const Vector& p) {
  Real distance = std::abs(placed.outside(p));
  if (const auto* capsule = std::get_if<Capsule>(&shape)) {
    for (const Real side : {-1, 1}) {
      const Vector end(0, 0, side * capsule->length / 2);
      distance = std::min(distance, std::abs((placed.to_local(p) - end).norm() - capsule->radius));
    }
  }
  return distance;
}

}  // namespace

std::string find_contact_beside(const ContactList& list, const Shape& shape, const Pose& pose,
                                const std::vector<TriangleCorners>& triangles, double tolerance) {
  const reference::PlacedShape placed(shape, pose);
  for (const ContactCandidate& contact : list.candidates) {
    const Eigen::Vector3d half = contact.gap / 2 * contact.normal;
    const Vector on_shape = (contact.point + half).cast<Real>(),
                 on_triangle = (contact.point - half).cast<Real>();
    const Real from_shape = distance_from_surface(shape, placed, on_shape);
    Real from_triangles = std::numeric_limits<Real>::infinity();
    for (const TriangleCorners& t : triangles) {
      from_triangles = std::min(from_triangles, distance_to_triangle(on_triangle, t));
    }
    // The end of a capsule that is all behind a face leaves through its plane.
    const auto* capsule = std::get_if<Capsule>(&shape);
    if (capsule != nullptr && contact.gap < -capsule->radius) from_triangles = 0;
    if (std::max(from_shape, from_triangles) <= tolerance) continue;
    std::ostringstream text;
    text << "contact " << std::hex << contact.id << std::dec << " with gap " << contact.gap
         << " and normal " << contact.normal.transpose() << " is " << from_shape
         << " m beside the shape and " << from_triangles << " m beside the triangles";
    return text.str();
  }
  return {};
}

std::vector<TriangleCorners> moved(std::vector<TriangleCorners> triangles, const Pose& pose) {
  for (TriangleCorners& t : triangles)
    for (Eigen::Vector3d& corner : t) corner = pose * corner;
  return triangles;
}

}  // namespace stiction
