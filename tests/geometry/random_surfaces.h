// Surfaces at random that are bent at every edge: open sheets, closed blocks, height fields; and
// blocks, wedges and angles with flat sides.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/geometry/shape.h"

namespace stiction {

using TriangleCorners = std::array<Eigen::Vector3d, 3>;

/// A sheet over a square of half side 2 that is bent at every line, gently or wildly.
inline Eigen::MatrixXd random_heights(Random& random) {
  const int rows = random.integer(2, 7), cols = random.integer(2, 7);
  Eigen::MatrixXd heights(rows, cols);
  const double amplitude = std::pow(10, random.uniform(-4, 0));
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) heights(i, j) = amplitude * random.uniform(-1, 1);
  if (random.chance(0.2)) heights.col(random.integer(0, cols - 1)).setConstant(amplitude);
  if (random.chance(0.2)) heights = heights.rowwise().mean().replicate(1, cols).eval();  // folds
  return heights;
}

inline Mesh make_bent_sheet(const HeightField& field) {
  Mesh mesh;
  const auto rows = static_cast<int>(field.heights.rows()),
             cols = static_cast<int>(field.heights.cols());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      mesh.vertices.push_back({(i / (rows - 1.0) - 0.5) * field.size.x(),
                               (j / (cols - 1.0) - 0.5) * field.size.y(), field.heights(i, j)});
  for (int i = 0; i + 1 < rows; ++i)
    for (int j = 0; j + 1 < cols; ++j) {
      const int at = i * cols + j;
      mesh.triangles.push_back({at, at + cols, at + cols + 1});
      mesh.triangles.push_back({at, at + cols + 1, at + 1});
    }
  return mesh;
}

/// The sheet with walls and a floor below: closed, and not convex.
inline Mesh make_block(const HeightField& field, double floor) {
  Mesh mesh = make_bent_sheet(field);
  const auto rows = static_cast<int>(field.heights.rows()),
             cols = static_cast<int>(field.heights.cols());
  const auto num = static_cast<int>(mesh.vertices.size());
  const std::size_t num_triangles = mesh.triangles.size();
  for (int v = 0; v < num; ++v) {
    Eigen::Vector3d below = mesh.vertices[v];
    below.z() = floor;
    mesh.vertices.push_back(below);
  }
  for (std::size_t t = 0; t < num_triangles; ++t) {
    const Triangle up = mesh.triangles[t];
    mesh.triangles.push_back({up[0] + num, up[2] + num, up[1] + num});
  }
  const auto wall = [&](int from, int to) {
    mesh.triangles.push_back({to, from, from + num});
    mesh.triangles.push_back({to, from + num, to + num});
  };
  for (int i = 0; i + 1 < rows; ++i) {
    wall(i * cols, (i + 1) * cols);
    wall((i + 1) * cols + cols - 1, i * cols + cols - 1);
  }
  for (int j = 0; j + 1 < cols; ++j) {
    wall(j + 1, j);
    wall((rows - 1) * cols + j, (rows - 1) * cols + j + 1);
  }
  return mesh;
}

/// Upright, over a polygon of which the first corner sees all others.
inline Mesh make_prism(const std::vector<Eigen::Vector2d>& polygon, double height) {
  Mesh mesh;
  const auto num = static_cast<int>(polygon.size());
  for (const double z : {-height / 2, height / 2})
    for (const Eigen::Vector2d& corner : polygon)
      mesh.vertices.push_back({corner.x(), corner.y(), z});
  for (int i = 1; i + 1 < num; ++i) {
    mesh.triangles.push_back({0, i + 1, i});
    mesh.triangles.push_back({num, num + i, num + i + 1});
  }
  for (int i = 0; i < num; ++i) {
    const int next = (i + 1) % num;
    mesh.triangles.push_back({i, next, num + next});
    mesh.triangles.push_back({i, num + next, num + i});
  }
  return mesh;
}

/// A block, a wedge or an angle, upright or turned, up to 4 across.
inline Mesh random_prism(Random& random) {
  const std::vector<Eigen::Vector2d> outlines[] = {
      {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
      {{-1, -1}, {1, -1}, {-1, random.uniform(-0.9, 1)}},
      {{0, 0}, {0, 1}, {-1, 1}, {-1, -1}, {1, -1}, {1, 0}}};
  Mesh mesh = make_prism(outlines[random.integer(0, 2)], random.uniform(0.2, 2));
  const double size = std::pow(10, random.uniform(-1, 0.1));
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
  if (random.chance(0.7)) {
    const Eigen::Vector4d q(random.normal(), random.normal(), random.normal(), random.normal());
    turn = Eigen::Quaterniond(q.normalized()).toRotationMatrix();
  }
  for (Eigen::Vector3d& vertex : mesh.vertices) vertex = size * turn * vertex;
  return mesh;
}

enum class SurfaceKind { kSheet, kBlock, kHeightField, kPrism };

struct RandomSurface {
  Shape surface;
  std::vector<TriangleCorners> triangles;
};

inline std::vector<TriangleCorners> corners_of_triangles(const Mesh& mesh) {
  std::vector<TriangleCorners> triangles;
  for (const Triangle& t : mesh.triangles)
    triangles.push_back({mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]});
  return triangles;
}

inline RandomSurface random_surface(Random& random, SurfaceKind kind) {
  if (kind == SurfaceKind::kPrism) {
    const Mesh mesh = random_prism(random);
    return {.surface = mesh, .triangles = corners_of_triangles(mesh)};
  }
  const HeightField field{.size = {4, 4}, .heights = random_heights(random)};
  const Mesh mesh = kind == SurfaceKind::kBlock ? make_block(field, -4) : make_bent_sheet(field);
  return {.surface = kind == SurfaceKind::kHeightField ? Shape(field) : Shape(mesh),
          .triangles = corners_of_triangles(mesh)};
}

/// A point is in the ground: below the sheet, which comes first among the triangles.
inline bool is_below(const RandomSurface& scene, const Eigen::Vector3d& p) {
  for (const TriangleCorners& t : scene.triangles) {
    const Eigen::Vector3d normal = (t[1] - t[0]).cross(t[2] - t[0]);
    bool is_over = normal.z() > 0;
    for (int k = 0; k < 3; ++k) {
      const Eigen::Vector3d along = t[(k + 1) % 3] - t[k], from = p - t[k];
      is_over = is_over && along.x() * from.y() - along.y() * from.x() >= 0;
    }
    if (is_over) return normal.dot(p - t[0]) < 0;
  }
  return false;
}

/// A point is inside of closed triangles: they fill all of the sphere around it. The solid angle of
/// each is that of van Oosterom and Strackee.
inline bool is_enclosed(const RandomSurface& scene, const Eigen::Vector3d& p) {
  double sum = 0;
  for (const TriangleCorners& t : scene.triangles) {
    const Eigen::Vector3d a = t[0] - p, b = t[1] - p, c = t[2] - p;
    sum += 2 * std::atan2(a.dot(b.cross(c)), a.norm() * b.norm() * c.norm() + a.dot(b) * c.norm() +
                                                 b.dot(c) * a.norm() + c.dot(a) * b.norm());
  }
  return sum > 2 * std::numbers::pi;
}

}  // namespace stiction
