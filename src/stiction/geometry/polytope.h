// A convex body with flat faces: vertices, edges, polygonal faces, and who meets whom.
//
// Triangles of the hull that lie in one plane are merged, so that a cube has six faces, and
// vertices inside faces or edges are left out. Indices depend on the input alone, not on addresses
// or rounding modes: features can be named by them for as long as the body exists.
#pragma once

#include <Eigen/Core>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "stiction/base/prefetch.h"
#include "stiction/geometry/vector_table.h"

namespace stiction {

class Polytope {
 public:
  /// Lies in normal·x = offset, the body in normal·x ≤ offset.
  struct Face {
    Eigen::Vector3d normal;  // outward, unit length
    double offset = 0;       // [m]
    int first = 0;           // into the loops of vertices and edges
    int count = 0;           // of vertices, and of edges
  };
  /// Runs from `tail` to `head` with `left` on its left, seen from outside.
  struct Edge {
    int tail = 0, head = 0;
    int left = 0, right = 0;    // faces
    Eigen::Vector3d direction;  // unit, tail to head
  };

  /// Vertices of a face off its plane by less than this part of the extent are merged into it: far
  /// above the rounding of rotated input, far below what anyone means.
  static constexpr double kCoplanarity = 1e-12;

  /// Moved, not copied: the parts point into its memory.
  Polytope(Polytope&&) = default;
  Polytope& operator=(Polytope&&) = default;

  /// Corner i has the sign + on axis k where bit k of i is set; faces −x, +x, −y, +y, −z, +z.
  static Polytope make_box(const Eigen::Vector3d& size);
  /// Of one made by make_box: that of another box. All boxes have the same normals, directions and
  /// neighbours, so that only places change. Has the same bits as make_box(2 half); allocates
  /// nothing.
  void resize_box(const Eigen::Vector3d& half);
  /// Of points that span a volume (see convex_hull.h). Vertices keep the order of the points.
  static Polytope make_hull(std::span<const Eigen::Vector3d> points);
  /// Both sides of a triangle with an area: face 0 sees a, b, c counterclockwise, face 1 clockwise.
  static Polytope make_triangle(const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                                const Eigen::Vector3d& c);

  std::span<const Eigen::Vector3d> vertices() const { return vertices_; }
  std::span<const Face> faces() const { return faces_; }
  std::span<const Edge> edges() const { return edges_; }

  /// Counterclockwise from outside.
  std::span<const int> vertices_of(int face) const { return loop_of(face_vertices_, face); }
  /// Edge k of the face joins its vertices k and k + 1.
  std::span<const int> edges_of(int face) const { return loop_of(face_edges_, face); }
  std::span<const int> neighbors_of(int vertex) const { return fan_of(vertex_neighbors_, vertex); }
  /// Edge k leads to neighbour k.
  std::span<const int> edges_at(int vertex) const { return fan_of(vertex_edges_, vertex); }
  int other_face(int edge, int face) const {
    return edges_[edge].left == face ? edges_[edge].right : edges_[edge].left;
  }

  /// A vertex furthest along `direction`, which may have any length (for length 0 any vertex).
  /// Climbs from `start` where there are many vertices, else compares all.
  int find_support(const Eigen::Vector3d& direction, int start = 0) const;
  /// The face that looks along `direction` most, of equals the first.
  int find_aligned_face(const Eigen::Vector3d& direction) const {
    return normal_table_.find_furthest(direction);
  }

  /// [m] of a point over the plane of a face.
  double height_over(int face, const Eigen::Vector3d& point) const {
    return faces_[face].normal.dot(point) - faces_[face].offset;
  }
  /// Whether the foot of a point on the plane of a face is in the face. Feet outside by up to
  /// `margin` [m], measured from the lines of its edges, are taken for in it, too.
  bool is_over(int face, const Eigen::Vector3d& point, double margin) const;

  /// Asks for all its memory ahead of time. Inlined, see prefetch.h.
  [[gnu::always_inline]] void prefetch_all() const { prefetch(memory_.data(), size_); }

  /// Mean of the vertices: inside.
  const Eigen::Vector3d& center() const { return center_; }
  /// [m] largest side of the box along the axes around it.
  double extent() const { return extent_; }

 private:
  struct Parts;
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  explicit Polytope(Parts parts);
  template <typename T>
  static std::span<T> take(std::size_t count, std::byte*& place);
  template <typename T>
  static std::span<T> take_copy(const std::vector<T>& items, std::byte*& place);
  std::span<const int> loop_of(const int* items, int face) const {
    return {items + faces_[face].first, static_cast<std::size_t>(faces_[face].count)};
  }
  std::span<const int> fan_of(const int* items, int vertex) const {
    return {items + fan_start_[vertex],
            static_cast<std::size_t>(fan_start_[vertex + 1] - fan_start_[vertex])};
  }
  void update_center();

  // One piece of memory holds all: a hull among thousands is brought into the cache line by line,
  // and each array of its own would begin and end within lines, and lie in a page of its own.
  std::vector<Line> memory_;
  std::size_t size_ = 0;  // [bytes] of memory_ that are used
  std::span<Eigen::Vector3d> vertices_;
  std::span<Face> faces_;
  std::span<Edge> edges_;
  VectorTable vertex_table_, normal_table_;
  const int *face_vertices_ = nullptr, *face_edges_ = nullptr;  // loops of all faces, in turn
  const int* fan_start_ = nullptr;                              // num_vertices + 1
  const int *vertex_neighbors_ = nullptr, *vertex_edges_ = nullptr;
  Eigen::Vector3d center_ = Eigen::Vector3d::Zero();
  double extent_ = 0;
};

}  // namespace stiction
