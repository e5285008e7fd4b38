#include "stiction/geometry/shape.h"

#include <gtest/gtest.h>

#include <limits>

#include "stiction/base/infinity.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Shape, NamesAreThoseOfTheAlternatives) {
  const std::vector<std::pair<Shape, std::string_view>> cases = {
      {Sphere{}, "sphere"},     {Capsule{}, "capsule"},          {Box{}, "box"},
      {Cylinder{}, "cylinder"}, {Ellipsoid{}, "ellipsoid"},      {Convex{}, "convex"},
      {Plane{}, "plane"},       {HeightField{}, "height-field"}, {Mesh{}, "mesh"}};
  EXPECT_EQ(cases.size(), std::variant_size_v<Shape>);
  for (const auto& [shape, name] : cases) EXPECT_EQ(name_of(shape), name);
}

TEST(Shape, GoodShapesHaveNoFault) {
  Mesh open_mesh = box_mesh({1, 1, 1});
  open_mesh.triangles.pop_back();
  for (const Shape& shape : std::initializer_list<Shape>{
           Sphere{1}, Capsule{0.1, 0}, Capsule{0.1, 2}, Box{{1, 2, 3}}, Cylinder{1e-6, 1e6},
           Ellipsoid{{1, 2, 3}}, Convex{box_corners({1, 2, 3})}, Plane{{0, 0.6, -0.8}, -3},
           HeightField{{1, 2}, Eigen::MatrixXd::Zero(2, 3)}, box_mesh({1, 1, 1}), open_mesh}) {
    EXPECT_EQ(find_fault(shape), "") << name_of(shape);
  }
}

TEST(Shape, FaultsOfSizesNameTheSizeItsValueAndTheRule) {
  EXPECT_EQ(find_fault(Sphere{-1}), "radius of sphere is -1, expected a finite length > 0");
  EXPECT_EQ(find_fault(Sphere{}), "radius of sphere is 0, expected a finite length > 0");
  EXPECT_EQ(find_fault(Sphere{kNan}), "radius of sphere is nan, expected a finite length > 0");
  EXPECT_EQ(find_fault(Sphere{kInfinity}), "radius of sphere is inf, expected a finite length > 0");
  EXPECT_EQ(find_fault(Capsule{0, 1}), "radius of capsule is 0, expected a finite length > 0");
  EXPECT_EQ(find_fault(Capsule{1, -2}), "length of capsule is -2, expected a finite length >= 0");
  EXPECT_EQ(find_fault(Capsule{1, kNan}),
            "length of capsule is nan, expected a finite length >= 0");
  EXPECT_EQ(find_fault(Cylinder{-1, 1}), "radius of cylinder is -1, expected a finite length > 0");
  EXPECT_EQ(find_fault(Cylinder{1, 0}), "length of cylinder is 0, expected a finite length > 0");
  EXPECT_EQ(find_fault(Box{{1, 0, 2}}),
            "edges of box are (1, 0, 2), expected three finite lengths > 0");
  EXPECT_EQ(find_fault(Box{{1, kNan, 2}}),
            "edges of box are (1, nan, 2), expected three finite lengths > 0");
  EXPECT_EQ(find_fault(Ellipsoid{{-1, 1, 2}}),
            "radii of ellipsoid are (-1, 1, 2), expected three finite lengths > 0");
}

TEST(Shape, FaultsOfConvexAreTooFewFlatOrUnboundedPoints) {
  EXPECT_EQ(find_fault(Convex{}), "convex has 0 points, expected at least 4");
  EXPECT_EQ(find_fault(Convex{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}}),
            "convex has 3 points, expected at least 4");
  EXPECT_EQ(find_fault(Convex{{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}, {3, 2, 1}}}),
            "the 5 points of convex lie in one plane, expected a body with a volume");
  EXPECT_EQ(find_fault(Convex{{{0, 0, 1}, {1, 0, 1}, {0, kInfinity, 1}, {1, 1, 0}}}),
            "point 2 of convex is (0, inf, 1), expected finite coordinates");
}

TEST(Shape, FaultsOfPlanes) {
  EXPECT_EQ(find_fault(Plane{{0, 0, 2}, 0}),
            "normal of plane is (0, 0, 2) with length 2, expected length 1");
  EXPECT_EQ(find_fault(Plane{{0, 0, kNan}, 0}),
            "normal of plane is (0, 0, nan) with length nan, expected length 1");
  EXPECT_EQ(find_fault(Plane{{0, 0, 1}, kInfinity}),
            "offset of plane is inf, expected a finite length");
}

TEST(Shape, FaultsOfHeightFields) {
  HeightField field{{1, 2}, Eigen::MatrixXd::Zero(3, 4)};
  field.heights(2, 1) = kNan;
  EXPECT_EQ(find_fault(field), "height (2, 1) of height-field is nan, expected a finite length");
  field.heights.setZero(1, 4);
  EXPECT_EQ(find_fault(field), "height-field has 1 x 4 heights, expected at least 2 x 2");
  field.size.y() = -2;
  EXPECT_EQ(find_fault(field), "y size of height-field is -2, expected a finite length > 0");
  field.size.x() = 0;
  EXPECT_EQ(find_fault(field), "x size of height-field is 0, expected a finite length > 0");
}

TEST(Shape, FaultsOfMeshes) {
  EXPECT_EQ(find_fault(Mesh{}), "mesh has 0 triangles, expected at least 1");
  Mesh mesh = box_mesh({1, 1, 1});
  mesh.triangles[3][1] = 8;
  EXPECT_EQ(find_fault(mesh), "triangle 3 of mesh names vertex 8, expected 0 to 7");
  mesh.triangles[3][1] = -1;
  EXPECT_EQ(find_fault(mesh), "triangle 3 of mesh names vertex -1, expected 0 to 7");
  mesh.triangles[3] = {2, 5, 2};
  EXPECT_EQ(find_fault(mesh),
            "triangle 3 of mesh has vertices 2, 5, 2, expected three different ones");
  mesh.vertices[7].z() = kNan;
  EXPECT_EQ(find_fault(mesh), "vertex 7 of mesh is (0.5, 0.5, nan), expected finite coordinates");
}

}  // namespace
}  // namespace stiction
