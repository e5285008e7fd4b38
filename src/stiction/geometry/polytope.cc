#include "stiction/geometry/polytope.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "stiction/base/check.h"
#include "stiction/geometry/convex_hull.h"
#include "stiction/geometry/triangle_merging.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Points = std::span<const Vector3d>;
using Loop = std::vector<int>;

double extent_of(Points points) {
  Vector3d lower = points[0], upper = points[0];
  for (const Vector3d& point : points) {
    lower = lower.cwiseMin(point);
    upper = upper.cwiseMax(point);
  }
  return (upper - lower).maxCoeff();
}

/// Below this many vertices, comparing all is faster than walking.
constexpr int kNoGraphBelow = 40;

}  // namespace

/// What a polytope is made of, while it is put together.
struct Polytope::Parts {
  std::vector<Vector3d> vertices{};
  std::vector<Face> faces{};
  std::vector<Edge> edges{};
  Loop face_vertices{}, face_edges{};
  std::vector<int> fan_start{}, vertex_neighbors{}, vertex_edges{};

  void add_face(std::span<const int> loop, const Vector3d& normal);
  void make_edges();
  void make_fans();
};

Polytope Polytope::make_box(const Vector3d& size) {
  Parts box;
  for (int i = 0; i < 8; ++i) {
    const Vector3d sign(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    box.vertices.push_back(sign.cwiseProduct(size) / 2);
  }
  constexpr int kLoops[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (int face = 0; face < 6; ++face) {
    box.add_face(kLoops[face], (face % 2 ? 1.0 : -1.0) * Vector3d::Unit(face / 2));
  }
  return Polytope(std::move(box));
}

void Polytope::resize_box(const Vector3d& half) {
  if (vertices_[7] == half) return;
  for (int i = 0; i < 8; ++i) {
    vertices_[i] = {i & 1 ? half.x() : -half.x(), i & 2 ? half.y() : -half.y(),
                    i & 4 ? half.z() : -half.z()};
  }
  for (int face = 0; face < 6; ++face) faces_[face].offset = half[face / 2];
  update_center();
  extent_ = 2 * half.maxCoeff();
  vertex_table_.replace(vertices_);
}

Polytope Polytope::make_triangle(const Vector3d& a, const Vector3d& b, const Vector3d& c) {
  Parts triangle;
  triangle.vertices = {a, b, c};
  const Vector3d normal = (b - a).cross(c - a).normalized();
  triangle.add_face(std::array{0, 1, 2}, normal);
  triangle.add_face(std::array{0, 2, 1}, -normal);
  return Polytope(std::move(triangle));
}

Polytope Polytope::make_hull(Points points) {
  const auto triangles = compute_convex_hull(points);
  ST_DEMAND(triangles.has_value());
  std::vector<Loop> loops =
      merge_coplanar_triangles(points, *triangles, kCoplanarity * extent_of(points));
  std::vector<int> index(points.size(), -1);
  for (const Loop& loop : loops) {
    for (const int vertex : loop) index[vertex] = 0;
  }
  Parts hull;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (index[i] < 0) continue;
    index[i] = static_cast<int>(hull.vertices.size());
    hull.vertices.push_back(points[i]);
  }
  for (Loop& loop : loops) {
    for (int& vertex : loop) vertex = index[vertex];
    hull.add_face(loop, compute_area_vector(hull.vertices, loop).stableNormalized());
  }
  return Polytope(std::move(hull));
}

/// Takes `count` items off the memory at `place`.
template <typename T>
std::span<T> Polytope::take(std::size_t count, std::byte*& place) {
  T* const first = reinterpret_cast<T*>(place);
  place += count * sizeof(T);
  return {first, count};
}

template <typename T>
std::span<T> Polytope::take_copy(const std::vector<T>& items, std::byte*& place) {
  const std::span<T> copy = take<T>(items.size(), place);
  std::uninitialized_copy(items.begin(), items.end(), copy.begin());
  return copy;
}

/// One after the other by falling alignment, what most queries read first.
Polytope::Polytope(Parts parts) {
  parts.make_edges();
  parts.make_fans();
  std::vector<Vector3d> normals;
  for (const Face& face : parts.faces) normals.push_back(face.normal);
  const auto size_of = [](const auto& items) { return items.size() * sizeof(items[0]); };
  const std::size_t num_vertex_numbers = VectorTable::count_numbers(parts.vertices.size());
  const std::size_t num_normal_numbers = VectorTable::count_numbers(normals.size());
  size_ = (num_vertex_numbers + num_normal_numbers) * sizeof(double) + size_of(parts.vertices) +
          size_of(parts.faces) + size_of(parts.edges) + size_of(parts.fan_start) +
          size_of(parts.vertex_edges) + size_of(parts.vertex_neighbors) +
          size_of(parts.face_vertices) + size_of(parts.face_edges);
  memory_.resize((size_ + sizeof(Line) - 1) / sizeof(Line));
  std::byte* place = reinterpret_cast<std::byte*>(memory_.data());
  vertex_table_ = VectorTable(parts.vertices, take<double>(num_vertex_numbers, place));
  vertices_ = take_copy(parts.vertices, place);
  normal_table_ = VectorTable(normals, take<double>(num_normal_numbers, place));
  edges_ = take_copy(parts.edges, place);
  faces_ = take_copy(parts.faces, place);
  fan_start_ = take_copy(parts.fan_start, place).data();
  vertex_edges_ = take_copy(parts.vertex_edges, place).data();
  vertex_neighbors_ = take_copy(parts.vertex_neighbors, place).data();
  face_vertices_ = take_copy(parts.face_vertices, place).data();
  face_edges_ = take_copy(parts.face_edges, place).data();
  update_center();
  extent_ = extent_of(vertices_);
}

void Polytope::update_center() {
  center_.setZero();
  for (const Vector3d& vertex : vertices_)
    center_ += vertex / static_cast<double>(vertices_.size());
}

void Polytope::Parts::add_face(std::span<const int> loop, const Vector3d& normal) {
  Face face{.normal = normal,
            .offset = normal.dot(vertices[loop[0]]),
            .first = static_cast<int>(face_vertices.size()),
            .count = static_cast<int>(loop.size())};
  for (const int vertex : loop) {
    face.offset = std::max(face.offset, normal.dot(vertices[vertex]));
    face_vertices.push_back(vertex);
  }
  faces.push_back(face);
}

void Polytope::Parts::make_edges() {
  std::vector<std::array<int, 3>> sides;  // lower vertex, higher vertex, place in the loops
  for (int face = 0; face < static_cast<int>(faces.size()); ++face) {
    const std::span<const int> loop(face_vertices.data() + faces[face].first, faces[face].count);
    for (int k = 0; k < static_cast<int>(loop.size()); ++k) {
      const auto [low, high] = std::minmax(loop[k], loop[(k + 1) % loop.size()]);
      sides.push_back({low, high, faces[face].first + k});
    }
  }
  std::sort(sides.begin(), sides.end());
  std::vector<int> face_at;
  for (int face = 0; face < static_cast<int>(faces.size()); ++face) {
    face_at.insert(face_at.end(), faces[face].count, face);
  }
  face_edges.resize(face_vertices.size());
  for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
    const auto& [low, high, place] = sides[i];
    const int other_place = sides[i + 1][2];
    ST_DEMAND(low == sides[i + 1][0] && high == sides[i + 1][1]);
    face_edges[place] = face_edges[other_place] = static_cast<int>(edges.size());
    Edge edge{.tail = face_vertices[place],
              .head = low,
              .left = face_at[place],
              .right = face_at[other_place],
              .direction = {}};
    if (edge.tail == low) edge.head = high;
    edge.direction = (vertices[edge.head] - vertices[edge.tail]).stableNormalized();
    edges.push_back(edge);
  }
}

void Polytope::Parts::make_fans() {
  fan_start.assign(vertices.size() + 1, 0);
  for (const Edge& edge : edges) {
    ++fan_start[edge.tail + 1];
    ++fan_start[edge.head + 1];
  }
  std::partial_sum(fan_start.begin(), fan_start.end(), fan_start.begin());
  std::vector<int> place(fan_start.begin(), fan_start.end() - 1);
  vertex_neighbors.resize(fan_start.back());
  vertex_edges.resize(fan_start.back());
  for (int edge = 0; edge < static_cast<int>(edges.size()); ++edge) {
    for (const auto& [from, to] : {std::pair{edges[edge].tail, edges[edge].head},
                                   std::pair{edges[edge].head, edges[edge].tail}}) {
      vertex_neighbors[place[from]] = to;
      vertex_edges[place[from]++] = edge;
    }
  }
}

int Polytope::find_support(const Vector3d& direction, int start) const {
  const int num_vertices = static_cast<int>(vertices_.size());
  if (num_vertices <= kNoGraphBelow) {
    return vertex_table_.find_furthest(direction);
  }
  // No vertex of a convex body is higher than all its neighbours but the highest.
  int best = start;
  double highest = direction.dot(vertices_[best]);
  for (bool climbs = true; climbs;) {
    climbs = false;
    for (const int neighbor : neighbors_of(best)) {
      const double height = direction.dot(vertices_[neighbor]);
      if (height > highest) {
        highest = height;
        best = neighbor;
        climbs = true;
      }
    }
  }
  return best;
}

bool Polytope::is_over(int face, const Vector3d& point, double margin) const {
  const auto vertices = vertices_of(face);
  const int count = static_cast<int>(vertices.size());
  for (int k = 0; k < count; ++k) {
    const Vector3d& tail = vertices_[vertices[k]];
    const Vector3d side = vertices_[vertices[k + 1 < count ? k + 1 : 0]] - tail;
    if (side.cross(faces_[face].normal).dot(point - tail) > margin * side.norm()) return false;
  }
  return true;
}

}  // namespace stiction
