#include "stiction/geometry/polytope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "stiction/base/same_bits.h"
#include "tests/geometry/polyhedra.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

/// Loops, edges, fans and planes tell the same story.
void expect_sound(const Polytope& polytope, double tolerance) {
  const auto vertices = polytope.vertices();
  const auto edges = polytope.edges();
  const auto faces = polytope.faces();
  EXPECT_EQ(vertices.size() + faces.size(), edges.size() + 2);  // Euler
  for (int f = 0; f < static_cast<int>(faces.size()); ++f) {
    const auto loop = polytope.vertices_of(f);
    const auto sides = polytope.edges_of(f);
    ASSERT_GE(loop.size(), 3u);
    ASSERT_EQ(loop.size(), sides.size());
    EXPECT_NEAR(faces[f].normal.norm(), 1, 1e-15);
    for (std::size_t k = 0; k < loop.size(); ++k) {
      const int from = loop[k], to = loop[(k + 1) % loop.size()];
      const Polytope::Edge& edge = edges[sides[k]];
      const bool is_left = edge.left == f;
      EXPECT_TRUE(is_left ? edge.tail == from && edge.head == to
                          : edge.right == f && edge.tail == to && edge.head == from);
      EXPECT_NEAR(faces[f].normal.dot(vertices[from]), faces[f].offset, tolerance);
      // Counterclockwise: the inside is on the left of every side.
      const Vector3d inward = faces[f].normal.cross(vertices[to] - vertices[from]).normalized();
      for (const int other : loop) {
        EXPECT_GE(inward.dot(vertices[other] - vertices[from]), -tolerance);
      }
    }
    for (const Vector3d& vertex : vertices) {
      EXPECT_LE(faces[f].normal.dot(vertex), faces[f].offset + tolerance);
    }
  }
  for (int v = 0; v < static_cast<int>(vertices.size()); ++v) {
    const auto neighbors = polytope.neighbors_of(v);
    const auto spokes = polytope.edges_at(v);
    ASSERT_EQ(neighbors.size(), spokes.size());
    for (std::size_t k = 0; k < spokes.size(); ++k) {
      const Polytope::Edge& edge = edges[spokes[k]];
      EXPECT_TRUE((edge.tail == v && edge.head == neighbors[k]) ||
                  (edge.head == v && edge.tail == neighbors[k]));
      EXPECT_LE((vertices[edge.tail] +
                 (vertices[edge.head] - vertices[edge.tail]).norm() * edge.direction -
                 vertices[edge.head])
                    .norm(),
                tolerance);
    }
  }
}

void expect_supports(const Polytope& polytope, Random& random, double tolerance) {
  int hint = 0;
  for (int i = 0; i < 200; ++i) {
    const Vector3d direction = random_vector(random).normalized();
    double highest = -1e300;
    for (const Vector3d& vertex : polytope.vertices()) {
      highest = std::max(highest, direction.dot(vertex));
    }
    hint = polytope.find_support(direction, hint);
    EXPECT_NEAR(direction.dot(polytope.vertices()[hint]), highest, tolerance);
  }
}

TEST(Polytope, BoxHasSixFacesTwelveEdgesEightVertices) {
  const Vector3d size(1, 2, 3);
  const Polytope box = Polytope::make_box(size);
  EXPECT_EQ(box.faces().size(), 6u);
  EXPECT_EQ(box.edges().size(), 12u);
  EXPECT_EQ(box.vertices().size(), 8u);
  expect_sound(box, 0);
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(box.faces()[2 * axis].normal, -Vector3d::Unit(axis));
    EXPECT_EQ(box.faces()[2 * axis + 1].normal, Vector3d::Unit(axis));
    EXPECT_EQ(box.faces()[2 * axis + 1].offset, size[axis] / 2);
  }
  EXPECT_EQ(box.vertices()[5], Vector3d(0.5, -1, 1.5));
}

/// All numbers of the vertices, faces and edges.
std::vector<double> numbers_of(const Polytope& polytope) {
  std::vector<double> numbers{polytope.extent()};
  const auto append = [&](const Vector3d& v) { numbers.insert(numbers.end(), v.begin(), v.end()); };
  append(polytope.center());
  for (const Vector3d& vertex : polytope.vertices()) append(vertex);
  for (const Polytope::Face& face : polytope.faces()) {
    append(face.normal);
    numbers.push_back(face.offset);
  }
  for (const Polytope::Edge& edge : polytope.edges()) append(edge.direction);
  return numbers;
}

TEST(Polytope, AResizedBoxHasTheBitsOfANewOne) {
  Random random(6);
  Polytope resized = Polytope::make_box(Vector3d::Ones());
  for (int k = 0; k < 1000; ++k) {
    const Vector3d size = (8 * random_vector(random)).array().exp();
    const Polytope box = Polytope::make_box(size);
    resized.resize_box(size / 2);
    ASSERT_TRUE(is_same_bits(numbers_of(resized), numbers_of(box))) << size.transpose();
    const Vector3d direction = random_vector(random);
    EXPECT_EQ(resized.find_support(direction), box.find_support(direction));
    EXPECT_EQ(resized.find_aligned_face(direction), box.find_aligned_face(direction));
  }
}

TEST(Polytope, RotatedCubeStillHasSixFaces) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    // Rounding moves the corners off their planes by 1e-16: triangles must be merged all the same.
    const Eigen::Matrix3d R = random_rotation(random);
    const double scale = std::pow(10, random.uniform(-6, 3));
    std::vector<Vector3d> points;
    for (const Vector3d& corner : box_corners({1, 0.7, 0.2}))
      points.push_back(scale * (R * corner));
    // Points inside faces, edges and the body are no vertices.
    points.push_back(0.5 * (points[0] + points[1]));
    points.push_back(0.25 * (points[0] + points[1] + points[2] + points[3]));
    points.push_back(Vector3d::Zero());
    const Polytope hull = Polytope::make_hull(points);
    EXPECT_EQ(hull.faces().size(), 6u);
    EXPECT_EQ(hull.vertices().size(), 8u);
    expect_sound(hull, 1e-14 * scale);
  }
}

TEST(Polytope, PrismKeepsItsPolygons) {
  std::vector<Vector3d> points;
  constexpr int kSides = 60;
  for (int i = 0; i < kSides; ++i) {
    const double angle = 2 * std::numbers::pi * i / kSides;
    points.emplace_back(std::cos(angle), std::sin(angle), -0.5);
    points.emplace_back(std::cos(angle), std::sin(angle), 0.5);
  }
  const Polytope prism = Polytope::make_hull(points);
  EXPECT_EQ(prism.faces().size(), kSides + 2u);
  EXPECT_EQ(prism.edges().size(), 3u * kSides);
  expect_sound(prism, 1e-14);
  Random random(2);
  expect_supports(prism, random, 1e-15);
}

TEST(Polytope, RandomHullsAreSound) {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    std::vector<Vector3d> points;
    const int num_points = random.integer(4, 200);
    const Vector3d stretch(1, std::pow(10, random.uniform(-6, 0)),
                           std::pow(10, random.uniform(-6, 0)));
    for (int k = 0; k < num_points; ++k) {
      points.push_back(random_vector(random).normalized().cwiseProduct(stretch));
    }
    const Polytope hull = Polytope::make_hull(points);
    expect_sound(hull,
                 1e-11);  // kCoplanarity, and planes of needles lean by 1e-16 times their aspect
    expect_supports(hull, random, 1e-14);
  }
}

TEST(Polytope, IntegerLatticesMergeAllTheirTriangles) {
  Random random(4);
  for (int i = 0; i < 100; ++i) {
    std::vector<Vector3d> points;
    for (int k = 0; k < 60; ++k) {
      points.emplace_back(random.integer(0, 3), random.integer(0, 3), random.integer(0, 3));
    }
    const Polytope hull = Polytope::make_hull(points);
    expect_sound(hull, 1e-14);
    for (const Polytope::Edge& edge : hull.edges()) {
      const double cosine = hull.faces()[edge.left].normal.dot(hull.faces()[edge.right].normal);
      EXPECT_LT(cosine, 1 - 1e-3);  // lattice planes with such small indices are never that close
    }
  }
}

TEST(Polytope, SameInputGivesSameIndices) {
  Random random(5);
  std::vector<Vector3d> points;
  for (int k = 0; k < 40; ++k) points.push_back(random_vector(random));
  const Polytope first = Polytope::make_hull(points), second = Polytope::make_hull(points);
  ASSERT_EQ(first.faces().size(), second.faces().size());
  for (int f = 0; f < static_cast<int>(first.faces().size()); ++f) {
    const auto a = first.vertices_of(f), b = second.vertices_of(f);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

TEST(Polytope, TriangleHasTwoSides) {
  const Polytope triangle = Polytope::make_triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  EXPECT_EQ(triangle.faces().size(), 2u);
  EXPECT_EQ(triangle.edges().size(), 3u);
  expect_sound(triangle, 0);
  EXPECT_EQ(triangle.faces()[0].normal, Vector3d::UnitZ());
  EXPECT_EQ(triangle.faces()[1].normal, -Vector3d::UnitZ());
}

}  // namespace
}  // namespace stiction
