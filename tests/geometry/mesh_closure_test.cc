#include <gtest/gtest.h>

#include "stiction/geometry/shape.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

TEST(MeshClosure, ABoxIsClosed) { EXPECT_EQ(find_closure_fault(box_mesh({1, 2, 3})), ""); }

TEST(MeshClosure, EachMissingTriangleIsFound) {
  for (int t = 0; t < 12; ++t) {
    Mesh mesh = box_mesh({1, 1, 1});
    mesh.triangles.erase(mesh.triangles.begin() + t);
    EXPECT_NE(find_closure_fault(mesh), "") << t;
  }
}

TEST(MeshClosure, TheMessageNamesTheEdge) {
  Mesh mesh = box_mesh({1, 1, 1});
  mesh.triangles.pop_back();  // {1, 7, 5}
  EXPECT_EQ(find_closure_fault(mesh),
            "mesh is not closed: the edge between vertices 1 and 5 (triangle 4) is passed by 1 "
            "triangle, 1 more in one direction than in the other; expected as many in both");
}

TEST(MeshClosure, ATurnedTriangleIsAFault) {
  Mesh mesh = box_mesh({1, 1, 1});
  std::swap(mesh.triangles[7][0], mesh.triangles[7][1]);
  EXPECT_NE(find_closure_fault(mesh), "");
}

TEST(MeshClosure, ARepeatedTriangleIsAFault) {
  Mesh mesh = box_mesh({1, 1, 1});
  mesh.triangles.push_back(mesh.triangles[0]);
  EXPECT_NE(find_closure_fault(mesh), "");
}

/// Every triangle with vertices of its own, as STL files have them.
Mesh unwelded(const Mesh& mesh) {
  Mesh result;
  for (const Triangle& triangle : mesh.triangles) {
    const int first = static_cast<int>(result.vertices.size());
    for (const int index : triangle) result.vertices.push_back(mesh.vertices[index]);
    result.triangles.push_back({first, first + 1, first + 2});
  }
  return result;
}

TEST(MeshClosure, VerticesAtTheSamePlaceCountAsOne) {
  Mesh mesh = unwelded(box_mesh({1, 1, 1}));
  EXPECT_EQ(find_closure_fault(mesh), "");
  mesh.vertices[20].x() += 1e-15;
  EXPECT_NE(find_closure_fault(mesh), "");
}

TEST(MeshClosure, BothZerosAreTheSamePlace) {
  Mesh mesh = unwelded(box_mesh({1, 1, 1}));
  double sign = 1;
  for (Eigen::Vector3d& vertex : mesh.vertices) {
    vertex.array() += 0.5;
    for (double& x : vertex) {
      if (x == 0) x = (sign = -sign) * 0.0;
    }
  }
  EXPECT_EQ(find_closure_fault(mesh), "");
}

TEST(MeshClosure, TwoBoxesTouchingAlongAnEdgeAreClosed) {
  Mesh mesh = box_mesh({1, 1, 1});
  const Mesh other = box_mesh({1, 1, 1});
  for (const Eigen::Vector3d& vertex : other.vertices) {
    mesh.vertices.push_back(vertex + Eigen::Vector3d(1, 1, 0));
  }
  for (const auto& [a, b, c] : other.triangles) mesh.triangles.push_back({a + 8, b + 8, c + 8});
  EXPECT_EQ(find_closure_fault(mesh), "");
}

}  // namespace
}  // namespace stiction
