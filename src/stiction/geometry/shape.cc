#include "stiction/geometry/shape.h"

#include <fmt/format.h>

#include <cmath>

#include "stiction/base/text.h"
#include "stiction/geometry/convex_hull.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Normals of planes may be off unit length by this much; it is the relative error of a distance.
constexpr double kUnitLengthTolerance = 1e-9;

std::string vector_text(const Vector3d& vector) {
  return fmt::format("({}, {}, {})", to_text(vector.x()), to_text(vector.y()), to_text(vector.z()));
}

std::string find_length_fault(std::string_view what, double value) {
  if (std::isfinite(value) && value > 0) return {};
  return fmt::format("{} is {}, expected a finite length > 0", what, to_text(value));
}

std::string find_lengths_fault(std::string_view what, const Vector3d& lengths) {
  if (lengths.allFinite() && lengths.minCoeff() > 0) return {};
  return fmt::format("{} are {}, expected three finite lengths > 0", what, vector_text(lengths));
}

std::string find_points_fault(std::string_view point, std::string_view shape,
                              const std::vector<Vector3d>& points) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].allFinite()) {
      return fmt::format("{} {} of {} is {}, expected finite coordinates", point, i, shape,
                         vector_text(points[i]));
    }
  }
  return {};
}

struct FaultFinder {
  std::string operator()(const Sphere& sphere) const {
    return find_length_fault("radius of sphere", sphere.radius);
  }

  std::string operator()(const Capsule& capsule) const {
    if (std::isfinite(capsule.length) && capsule.length >= 0) {
      return find_length_fault("radius of capsule", capsule.radius);
    }
    return fmt::format("length of capsule is {}, expected a finite length >= 0",
                       to_text(capsule.length));
  }

  std::string operator()(const Box& box) const {
    return find_lengths_fault("edges of box", box.size);
  }

  std::string operator()(const Cylinder& cylinder) const {
    const std::string fault = find_length_fault("radius of cylinder", cylinder.radius);
    return fault.empty() ? find_length_fault("length of cylinder", cylinder.length) : fault;
  }

  std::string operator()(const Ellipsoid& ellipsoid) const {
    return find_lengths_fault("radii of ellipsoid", ellipsoid.radii);
  }

  std::string operator()(const Convex& convex) const {
    if (convex.points.size() < 4) {
      return fmt::format("convex has {} points, expected at least 4", convex.points.size());
    }
    std::string fault = find_points_fault("point", "convex", convex.points);
    if (!fault.empty() || find_spanning_tetrahedron(convex.points)) return fault;
    return fmt::format("the {} points of convex lie in one plane, expected a body with a volume",
                       convex.points.size());
  }

  std::string operator()(const Plane& plane) const {
    const double length = plane.normal.norm();
    if (!(std::abs(length - 1) <= kUnitLengthTolerance)) {
      return fmt::format("normal of plane is {} with length {}, expected length 1",
                         vector_text(plane.normal), to_text(length));
    }
    if (std::isfinite(plane.offset)) return {};
    return fmt::format("offset of plane is {}, expected a finite length", to_text(plane.offset));
  }

  std::string operator()(const HeightField& field) const {
    for (int axis = 0; axis < 2; ++axis) {
      std::string fault = find_length_fault(
          axis == 0 ? "x size of height-field" : "y size of height-field", field.size[axis]);
      if (!fault.empty()) return fault;
    }
    if (field.heights.rows() < 2 || field.heights.cols() < 2) {
      return fmt::format("height-field has {} x {} heights, expected at least 2 x 2",
                         field.heights.rows(), field.heights.cols());
    }
    for (Eigen::Index i = 0; i < field.heights.rows(); ++i) {
      for (Eigen::Index j = 0; j < field.heights.cols(); ++j) {
        if (std::isfinite(field.heights(i, j))) continue;
        return fmt::format("height ({}, {}) of height-field is {}, expected a finite length", i, j,
                           to_text(field.heights(i, j)));
      }
    }
    return {};
  }

  std::string operator()(const Mesh& mesh) const {
    if (mesh.triangles.empty()) return "mesh has 0 triangles, expected at least 1";
    std::string fault = find_points_fault("vertex", "mesh", mesh.vertices);
    if (!fault.empty()) return fault;
    const auto num_vertices = static_cast<int>(mesh.vertices.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const Triangle& triangle = mesh.triangles[t];
      for (const int index : triangle) {
        if (index >= 0 && index < num_vertices) continue;
        return fmt::format("triangle {} of mesh names vertex {}, expected 0 to {}", t, index,
                           num_vertices - 1);
      }
      if (triangle[0] == triangle[1] || triangle[1] == triangle[2] || triangle[2] == triangle[0]) {
        return fmt::format(
            "triangle {} of mesh has vertices {}, {}, {}, expected three different ones", t,
            triangle[0], triangle[1], triangle[2]);
      }
    }
    return {};
  }
};

struct Namer {
  std::string_view operator()(const Sphere&) const { return "sphere"; }
  std::string_view operator()(const Capsule&) const { return "capsule"; }
  std::string_view operator()(const Box&) const { return "box"; }
  std::string_view operator()(const Cylinder&) const { return "cylinder"; }
  std::string_view operator()(const Ellipsoid&) const { return "ellipsoid"; }
  std::string_view operator()(const Convex&) const { return "convex"; }
  std::string_view operator()(const Plane&) const { return "plane"; }
  std::string_view operator()(const HeightField&) const { return "height-field"; }
  std::string_view operator()(const Mesh&) const { return "mesh"; }
};

}  // namespace

std::string_view name_of(const Shape& shape) { return std::visit(Namer{}, shape); }

std::string find_fault(const Shape& shape) { return std::visit(FaultFinder{}, shape); }

}  // namespace stiction
