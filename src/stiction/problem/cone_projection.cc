#include "stiction/problem/cone_projection.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

/// Units in the last place by which a face may pass a point that is meant to be on it: of μ, of the
/// products that the point was computed by, and of sines and cosines.
constexpr double kUlps = 8 * std::numeric_limits<double>::epsilon();
/// Share of a step by which it may pass a face: where faces meet at small angles, rounding does.
constexpr double kSlack = 1e-10;
/// Steps shorter than this share of the friction see the disc as flat, to the same share.
constexpr double kFlat = 1e-4;

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

/// The faces that a short step can meet: two next to a corner, more where it is not short.
struct FrictionCone::Faces {
  std::array<Face, 3> list{};
  int count = 0;
  bool is_complete = true;

  void add(const Face& face, double reach) {
    if (face.room > reach) return;
    is_complete = count < static_cast<int>(list.size());
    if (is_complete) list[count++] = face;
  }
  bool allows(const Vector3d& step, double reach) const {
    for (int i = 0; i < count; ++i)
      if (list[i].outward.dot(step) > list[i].room + kSlack * reach) return false;
    return is_complete;
  }
};

/// Of the section's side with a middle in this direction.
FrictionCone::Face FrictionCone::face_at(const Vector3d& r, double apothem,
                                         const Vector2d& direction) const {
  const double slope = mu * apothem, norm = std::sqrt(1 + slope * slope);
  const double room = (slope * r[0] - direction.dot(r.tail<2>())) / norm;
  return {Vector3d(-slope, direction[0], direction[1]) / norm,
          std::abs(room) <= kUlps * r.norm() ? 0 : room};
}

FrictionCone::Faces FrictionCone::find_faces(const Vector3d& r, double reach) const {
  Faces faces;
  if (num_tangents == 1) {
    for (const double side : {1.0, -1.0}) faces.add(face_at(r, 1, {side, 0}), reach);
  } else if (section.kind == FrictionSection::Kind::kDisc) {
    const double friction = r.tail<2>().norm();
    if (reach <= kFlat * friction)
      faces.add(face_at(r, 1, r.tail<2>() / friction), reach);
    else
      faces.is_complete = friction + reach < mu * (r[0] - reach);  // or r is nowhere near the edge
  } else {
    const int n = num_vertices(section);
    for (int i = 0; i < n; ++i) {
      const Vector2d middle = 0.5 * (vertex(section, i) + vertex(section, i + 1));
      faces.add(face_at(r, middle.norm(), middle.normalized()), reach);
    }
  }
  return faces;
}

std::optional<Vector3d> FrictionCone::project_step(const Vector3d& r, const Vector3d& d) const {
  if (mu == 0 || num_tangents == 0) return Vector3d(std::max(d[0], -r[0]), -r[1], -r[2]);
  const double reach = d.norm();
  const Faces faces = find_faces(r, reach);
  if (faces.allows(d, reach)) return d;
  const auto beyond = [&](int i) { return faces.list[i].outward.dot(d) - faces.list[i].room; };
  for (int i = 0; i < faces.count; ++i) {
    const Vector3d on_face = d - beyond(i) * faces.list[i].outward;
    if (beyond(i) > 0 && faces.allows(on_face, reach)) return on_face;
  }
  // On the edge of two faces with d = x + a n_i + b n_j, a and b nonnegative.
  for (int i = 0; i < faces.count; ++i)
    for (int j = i + 1; j < faces.count; ++j) {
      const Vector3d &n_i = faces.list[i].outward, &n_j = faces.list[j].outward;
      const double c = n_i.dot(n_j), determinant = 1 - c * c;
      const double a = (beyond(i) - c * beyond(j)) / determinant,
                   b = (beyond(j) - c * beyond(i)) / determinant;
      const Vector3d on_edge = d - a * n_i - b * n_j;
      if (a >= 0 && b >= 0 && faces.allows(on_edge, reach)) return on_edge;
    }
  return std::nullopt;
}

double FrictionCone::support_of_polygon(const Vector3d& u) const {
  double support = 0;
  if (u[1] == 0 && u[2] == 0) return support;
  for (int i = 0; i < num_vertices(section); ++i)
    support = std::max(support, -vertex(section, i).dot(u.tail<2>()));
  return support;
}

}  // namespace stiction
