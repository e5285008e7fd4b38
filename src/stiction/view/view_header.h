// The parts of a viewed recording that are JSON, and shapes as triangles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stiction/view/picture.h"

namespace stiction {

struct HeaderSeries {
  std::string name, unit, group;
};

struct HeaderFacts {
  std::int64_t rows = 0, rows_per_chunk = 1, stride = 1;
  std::vector<HeaderSeries> series{};
  std::vector<int> effort_columns{};  // of /joints/impulse
};

/// What does not change while a recording grows, but for the number of rows.
std::string make_view_header(const Recording& description, const Picture& picture,
                             const HeaderFacts& facts);

struct ExtentFacts {
  std::int64_t rows = 0;
  std::string status{};
  bool is_growing = false;
  std::int64_t worst_row = -1;
  std::string worst_law{};
  double worst_value = 0;
  std::int64_t num_above = 0;
};

/// What does.
std::string make_view_extent(const ExtentFacts& facts);

/// Whether a geometry is drawn by triangles that are sent, because the page cannot make them.
bool has_triangles(const PictureGeometry& geometry);

struct Triangles {
  std::vector<float> vertices{};         // x, y, z each
  std::vector<std::uint32_t> indices{};  // three per triangle, counterclockwise seen from outside
};

/// Of a convex hull, a height field or a mesh.
Triangles triangles_of(const Shape& shape);

}  // namespace stiction
