// Shapes of a picture as triangles with normals, for files that other programs read.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "stiction/view/picture.h"

namespace stiction {

struct SurfaceMesh {
  std::vector<Eigen::Vector3f> vertices{};  // [m]
  std::vector<Eigen::Vector3f> normals{};   // unit length, one per vertex
  std::vector<std::uint32_t> indices{};     // three per triangle, counterclockwise from outside
};

/// Round shapes have 32 sides; a plane is a square of `plane_size`; rods and springs are one metre
/// long along z.
SurfaceMesh make_surface_mesh(const PictureGeometry& geometry, double plane_size);

/// Colour of a shape, red, green and blue from 0 to 1: its own, or one by its frame.
Eigen::Vector3f color_of(const PictureShape& shape, const PictureFrame& frame);

}  // namespace stiction
