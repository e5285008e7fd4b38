#include "stiction/problem/cone_projection.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

int num_vertices(const FrictionSection& section) {
  return section.kind == FrictionSection::Kind::kBox ? 4 : section.num_sides;
}

/// Vertices of a polygonal section, counter-clockwise.
Vector2d vertex(const FrictionSection& section, int i) {
  if (section.kind == FrictionSection::Kind::kBox) {
    i %= 4;
    return {i == 0 || i == 3 ? 1.0 : -1.0, i < 2 ? 1.0 : -1.0};
  }
  const double angle = 2 * std::numbers::pi * (i % section.num_sides) / section.num_sides;
  return {std::cos(angle), std::sin(angle)};
}

}  // namespace

/// Nearest point of a polyhedral cone: z itself, its projection onto a face that z lies beyond if
/// that falls into the face, else onto the edge where it is longest, else the apex. Distances are
/// not compared: they agree to rounding between points that are 1e-8 of their length apart.
Vector3d FrictionCone::project_onto_polyhedron(const Vector3d& z) const {
  // Most contacts stick or are open, and are told from others without looking at vertices: every
  // section contains the disc of radius cos(π/4), and vertices of a polygon have length one.
  const double tangential = z.tail<2>().norm();
  const double reach = section.kind == FrictionSection::Kind::kBox ? 1.5 : 1;
  if (tangential <= 0.7 * mu * z[0]) return z;
  if (reach * mu * tangential <= -z[0]) return Vector3d::Zero();
  const int n = num_vertices(section);
  const auto ray = [&](int i) {
    const Vector2d d = vertex(section, i);
    return Vector3d(1, mu * d[0], mu * d[1]);
  };
  bool is_inside = true;
  Vector3d on_edge = Vector3d::Zero();
  Vector3d a = ray(0);
  for (int i = 0; i < n; ++i) {
    const Vector3d b = ray(i + 1);
    const Vector3d inward = a.cross(b);  // counter-clockwise rays: points into the cone
    const double height = inward.dot(z);
    if (height < 0) {
      is_inside = false;
      Vector3d on_plane = z - height / inward.squaredNorm() * inward;
      // The outward normal supports the cone there, so this point is the projection.
      if (a.cross(on_plane).dot(inward) >= 0 && on_plane.cross(b).dot(inward) >= 0) return on_plane;
    }
    const Vector3d candidate = std::max(0.0, z.dot(a) / a.squaredNorm()) * a;
    if (candidate.squaredNorm() > on_edge.squaredNorm()) on_edge = candidate;
    a = b;
  }
  return is_inside ? z : on_edge;
}

double FrictionCone::support_of_polygon(const Vector3d& u) const {
  double support = 0;
  if (u[1] == 0 && u[2] == 0) return support;
  for (int i = 0; i < num_vertices(section); ++i)
    support = std::max(support, -vertex(section, i).dot(u.tail<2>()));
  return support;
}

}  // namespace stiction
