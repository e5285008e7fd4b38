#include "stiction/view/surface_mesh.h"

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <numbers>

#include "stiction/view/view_header.h"

namespace stiction {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::Vector3f;

constexpr int kSides = 32;

/// A point of the outline of a solid of revolution about z: (distance from the axis, z) and the
/// normal there in the same plane.
struct OutlinePoint {
  Vector2d at, normal;
};

/// Turns pieces of outline, each from top to bottom, about z.
SurfaceMesh revolve(const std::vector<std::vector<OutlinePoint>>& pieces) {
  SurfaceMesh mesh;
  for (const auto& piece : pieces) {
    const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
    for (const OutlinePoint& point : piece)
      for (int k = 0; k <= kSides; ++k) {
        const double angle = 2 * std::numbers::pi * k / kSides;
        const auto turned = [&](const Vector2d& p) -> Vector3f {
          return Vector3d(p[0] * std::cos(angle), p[0] * std::sin(angle), p[1]).cast<float>();
        };
        mesh.vertices.push_back(turned(point.at));
        mesh.normals.push_back(turned(point.normal));
      }
    for (std::uint32_t i = 0; i + 1 < piece.size(); ++i)
      for (std::uint32_t k = 0; k < kSides; ++k) {
        const std::uint32_t a = first + i * (kSides + 1) + k, b = a + kSides + 1;
        for (const std::uint32_t corner : {a, b, a + 1, a + 1, b, b + 1})
          mesh.indices.push_back(corner);
      }
  }
  return mesh;
}

/// An arc of 90 degrees or two around the centre (0, z).
void append_arc(std::vector<OutlinePoint>& piece, double radius, double z, double from, double to) {
  constexpr int kSteps = 10;
  for (int k = 0; k <= kSteps; ++k) {
    const double angle = from + (to - from) * k / kSteps;
    const Vector2d normal(std::sin(angle), std::cos(angle));
    piece.push_back({{radius * normal[0], z + radius * normal[1]}, normal});
  }
}

SurfaceMesh make_capsule(double radius, double length) {
  std::vector<OutlinePoint> outline;
  append_arc(outline, radius, length / 2, 0, std::numbers::pi / 2);
  append_arc(outline, radius, -length / 2, std::numbers::pi / 2, std::numbers::pi);
  return revolve({outline});
}

SurfaceMesh make_cylinder(double radius, double length) {
  const double z = length / 2;
  return revolve({{{{0, z}, {0, 1}}, {{radius, z}, {0, 1}}},
                  {{{radius, z}, {1, 0}}, {{radius, -z}, {1, 0}}},
                  {{{radius, -z}, {0, -1}}, {{0, -z}, {0, -1}}}});
}

void append_face(SurfaceMesh& mesh, const std::array<Vector3d, 4>& corners,
                 const Vector3d& normal) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  for (const Vector3d& corner : corners) {
    mesh.vertices.push_back(corner.cast<float>());
    mesh.normals.push_back(normal.cast<float>());
  }
  for (const std::uint32_t k : {0U, 1U, 2U, 0U, 2U, 3U}) mesh.indices.push_back(first + k);
}

SurfaceMesh make_box(const Vector3d& size) {
  SurfaceMesh mesh;
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {-1.0, 1.0}) {
      const Vector3d n = sign * Vector3d::Unit(axis);
      const Vector3d u = Vector3d::Unit((axis + 1) % 3), v = n.cross(u);
      std::array<Vector3d, 4> corners{n - u - v, n + u - v, n + u + v, n - u + v};
      for (Vector3d& corner : corners) corner = 0.5 * corner.cwiseProduct(size);
      append_face(mesh, corners, n);
    }
  return mesh;
}

SurfaceMesh make_plane(const Plane& plane, double size) {
  SurfaceMesh mesh;
  const Vector3d u = 0.5 * size * plane.normal.unitOrthogonal(), v = plane.normal.cross(u);
  const Vector3d middle = plane.offset * plane.normal;
  append_face(mesh, {middle - u - v, middle + u - v, middle + u + v, middle - u + v}, plane.normal);
  return mesh;
}

/// Triangles that share no vertices, so that faces look flat.
SurfaceMesh make_flat(const Triangles& triangles) {
  SurfaceMesh mesh;
  for (std::size_t i = 0; i + 2 < triangles.indices.size(); i += 3) {
    std::array<Vector3f, 3> corners;
    for (std::size_t k = 0; k < 3; ++k)
      corners[k] = Eigen::Map<const Vector3f>(&triangles.vertices[3 * triangles.indices[i + k]]);
    Vector3f normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    normal = normal.norm() > 0 ? normal.normalized() : Vector3f::UnitZ();
    for (const Vector3f& corner : corners) {
      mesh.indices.push_back(static_cast<std::uint32_t>(mesh.vertices.size()));
      mesh.vertices.push_back(corner);
      mesh.normals.push_back(normal);
    }
  }
  return mesh;
}

/// A coil of nine turns as a thin tube of six sides.
SurfaceMesh make_coil(double radius) {
  constexpr int kTurns = 9, kSteps = 180, kTube = 6;
  const double wire = 0.12 * radius;
  SurfaceMesh mesh;
  for (int i = 0; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    const double angle = 2 * std::numbers::pi * kTurns * share;
    const Vector3d out(std::cos(angle), std::sin(angle), 0);
    const Vector3d middle = radius * out + (share - 0.5) * Vector3d::UnitZ();
    for (int k = 0; k <= kTube; ++k) {
      const double around = 2 * std::numbers::pi * k / kTube;
      const Vector3d normal = std::cos(around) * out + std::sin(around) * Vector3d::UnitZ();
      mesh.vertices.push_back((middle + wire * normal).cast<float>());
      mesh.normals.push_back(normal.cast<float>());
    }
  }
  for (std::uint32_t i = 0; i < kSteps; ++i)
    for (std::uint32_t k = 0; k < kTube; ++k) {
      const std::uint32_t a = i * (kTube + 1) + k, b = a + kTube + 1;
      for (const std::uint32_t corner : {a, b, a + 1, a + 1, b, b + 1})
        mesh.indices.push_back(corner);
    }
  return mesh;
}

SurfaceMesh make_ellipsoid(const Vector3d& radii) {
  SurfaceMesh mesh = make_capsule(1, 0);
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    mesh.vertices[i] = mesh.vertices[i].cwiseProduct(radii.cast<float>());
    mesh.normals[i] = mesh.normals[i].cwiseQuotient(radii.cast<float>()).normalized();
  }
  return mesh;
}

}  // namespace

SurfaceMesh make_surface_mesh(const PictureGeometry& geometry, double plane_size) {
  if (geometry.kind == PictureGeometry::Kind::kRod) return make_cylinder(geometry.radius, 1);
  if (geometry.kind == PictureGeometry::Kind::kSpring) return make_coil(geometry.radius);
  const Shape& shape = geometry.shape;
  if (const auto* sphere = std::get_if<Sphere>(&shape)) return make_capsule(sphere->radius, 0);
  if (const auto* capsule = std::get_if<Capsule>(&shape))
    return make_capsule(capsule->radius, capsule->length);
  if (const auto* box = std::get_if<Box>(&shape)) return make_box(box->size);
  if (const auto* cylinder = std::get_if<Cylinder>(&shape))
    return make_cylinder(cylinder->radius, cylinder->length);
  if (const auto* ellipsoid = std::get_if<Ellipsoid>(&shape))
    return make_ellipsoid(ellipsoid->radii);
  if (const auto* plane = std::get_if<Plane>(&shape)) return make_plane(*plane, plane_size);
  return make_flat(triangles_of(shape));
}

Vector3f color_of(const PictureShape& shape, const PictureFrame& frame) {
  // The colours of the page (viewer/src/palette.ts).
  constexpr std::array<std::uint32_t, 10> kColors = {0x7b9fd4, 0xe0a36a, 0x84b88a, 0xc98bb9,
                                                     0xd4c071, 0x79b8bd, 0xb39ddb, 0xd98880,
                                                     0xa3b86c, 0x8fa3b8};
  std::uint32_t color = frame.kind == PictureFrame::Kind::kStatic
                            ? 0xb9bec6
                            : kColors[static_cast<std::size_t>(shape.frame) % kColors.size()];
  if (shape.color.size() == 7)
    color = static_cast<std::uint32_t>(std::stoul(shape.color.substr(1), nullptr, 16));
  return Vector3f(static_cast<float>(color >> 16 & 255U), static_cast<float>(color >> 8 & 255U),
                  static_cast<float>(color & 255U)) /
         255;
}

}  // namespace stiction
