// Shapes as plain values, each in its own frame. A shape knows no body, material, mass or place.
//
// Solids of revolution have their axis along z and are centred at the origin, as are box and
// ellipsoid. All lengths in metres. A shape may be built with any numbers; find_fault says what is
// wrong with them, and every other function of this room refuses shapes that have a fault.
#pragma once

#include <Eigen/Core>

#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stiction {

/// Three indices of vertices, counterclockwise seen from outside.
using Triangle = std::array<int, 3>;

struct Sphere {
  double radius = 0;  // [m]
};

/// All points within `radius` of a segment along z. The whole is length + 2 radius long.
struct Capsule {
  double radius = 0;  // [m]
  double length = 0;  // [m] of the cylindrical part; 0 makes a sphere
};

struct Box {
  Eigen::Vector3d size = Eigen::Vector3d::Zero();  // [m] whole edges, not halves
};

struct Cylinder {
  double radius = 0;  // [m]
  double length = 0;  // [m] from end to end
};

struct Ellipsoid {
  Eigen::Vector3d radii = Eigen::Vector3d::Zero();  // [m] semi-axes
};

/// The convex hull of points; points inside it are allowed and do no harm.
struct Convex {
  std::vector<Eigen::Vector3d> points{};  // [m]
};

/// The half-space normal·x ≤ offset: solid below, free on the side the normal points to.
struct Plane {
  Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  // unit length
  double offset = 0;                                  // [m]
};

/// Solid ground below a surface z(x, y) over a rectangle centred at the origin. heights(i, j) is z
/// at x = (i/(rows − 1) − ½) size.x, y = (j/(cols − 1) − ½) size.y; each cell is two triangles, cut
/// along the diagonal from (i, j) to (i + 1, j + 1).
struct HeightField {
  Eigen::Vector2d size = Eigen::Vector2d::Zero();  // [m] along x and y
  Eigen::MatrixXd heights{};                       // [m] at least 2 × 2
};

/// A triangulated surface. It bounds a solid only if closed, see find_closure_fault.
struct Mesh {
  std::vector<Eigen::Vector3d> vertices{};  // [m]
  std::vector<Triangle> triangles{};
};

using Shape =
    std::variant<Sphere, Capsule, Box, Cylinder, Ellipsoid, Convex, Plane, HeightField, Mesh>;

/// "sphere", "capsule", "box", "cylinder", "ellipsoid", "convex", "plane", "height-field", "mesh".
std::string_view name_of(const Shape& shape);

/// What is wrong with the numbers of a shape and what was expected; empty if nothing is. A mesh
/// need not be closed. Linear in the size of the shape.
std::string find_fault(const Shape& shape);

/// Why a mesh without other faults does not bound a solid: some edge is not passed in both
/// directions equally often, so that the surface has a rim or its triangles disagree about which
/// side is outside. Vertices at exactly the same place count as one, since some file formats repeat
/// them. Empty if the mesh is closed. Self-intersections are not looked for. O(n log n).
std::string find_closure_fault(const Mesh& mesh);

}  // namespace stiction
