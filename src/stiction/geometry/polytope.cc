#include "stiction/geometry/polytope.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <numeric>
#include <tuple>

#include "stiction/base/check.h"
#include "stiction/geometry/convex_hull.h"

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

/// Twice the area times the unit normal, taken about a vertex so that far origins cost no digits.
Vector3d area_vector(Points points, std::span<const int> loop) {
  const Vector3d& origin = points[loop[0]];
  Vector3d sum = Vector3d::Zero();
  for (std::size_t k = 1; k + 1 < loop.size(); ++k) {
    sum += (points[loop[k]] - origin).cross(points[loop[k + 1]] - origin);
  }
  return sum;
}

/// Joins triangles of a hull that lie in one plane to polygons.
class TriangleMerger {
 public:
  TriangleMerger(Points points, std::span<const Triangle> triangles)
      : points_(points),
        triangles_(triangles),
        tolerance_(Polytope::kCoplanarity * extent_of(points)),
        region_(triangles.size(), -1),
        next_(points.size(), -1) {
    find_neighbors();
    for (const Triangle& triangle : triangles) normals_.push_back(area_vector(points, triangle));
  }

  /// Loops of vertices, counterclockwise from outside, by falling area of their largest triangle.
  std::vector<Loop> merge() {
    // Large triangles first: they know their plane best. The slivers between them, which do not,
    // are then taken up by their neighbours.
    std::vector<int> order(triangles_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return normals_[a].squaredNorm() > normals_[b].squaredNorm();
    });
    for (const int seed : order) {
      if (region_[seed] < 0) grow(seed);
    }
    std::vector<Loop> loops;
    for (const std::vector<int>& members : members_) loops.push_back(trace_rim(members));
    drop_vertices_within_edges(loops);
    return loops;
  }

 private:
  void find_neighbors() {
    struct Side {
      int low, high, triangle, k;
    };
    std::vector<Side> sides;
    for (int t = 0; t < static_cast<int>(triangles_.size()); ++t) {
      for (int k = 0; k < 3; ++k) {
        const int from = triangles_[t][k], to = triangles_[t][(k + 1) % 3];
        sides.push_back({std::min(from, to), std::max(from, to), t, k});
      }
    }
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
      return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
    });
    neighbors_.resize(triangles_.size());
    for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
      ST_DEMAND(sides[i].low == sides[i + 1].low && sides[i].high == sides[i + 1].high);
      neighbors_[sides[i].triangle][sides[i].k] = sides[i + 1].triangle;
      neighbors_[sides[i + 1].triangle][sides[i + 1].k] = sides[i].triangle;
    }
  }

  bool lies_in(int triangle, const Vector3d& normal, const Vector3d& origin) const {
    return std::all_of(triangles_[triangle].begin(), triangles_[triangle].end(), [&](int vertex) {
      return std::abs(normal.dot(points_[vertex] - origin)) <= tolerance_;
    });
  }

  void grow(int seed) {
    std::vector<int> members{seed};
    const int region = static_cast<int>(members_.size());
    region_[seed] = region;
    const Vector3d normal = normals_[seed].normalized();
    const Vector3d& origin = points_[triangles_[seed][0]];
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (const int neighbor : neighbors_[members[i]]) {
        if (region_[neighbor] >= 0 || !lies_in(neighbor, normal, origin)) continue;
        region_[neighbor] = region;
        members.push_back(neighbor);
      }
    }
    if (members.size() == 1 || !trace_rim(members).empty()) {
      members_.push_back(std::move(members));
      return;
    }
    // A bump barely above the tolerance has left a hole: keep the triangles one by one.
    for (const int triangle : members) {
      region_[triangle] = static_cast<int>(members_.size());
      members_.push_back({triangle});
    }
  }

  /// The loop around triangles of one region, from its lowest vertex; empty if the rim is not one
  /// simple loop.
  Loop trace_rim(const std::vector<int>& members) {
    int num_sides = 0;
    int first = static_cast<int>(points_.size());
    bool is_simple = true;
    std::vector<int> starts;
    for (const int triangle : members) {
      for (int k = 0; k < 3; ++k) {
        if (region_[neighbors_[triangle][k]] == region_[triangle]) continue;
        const int from = triangles_[triangle][k];
        is_simple = is_simple && next_[from] < 0;
        next_[from] = triangles_[triangle][(k + 1) % 3];
        starts.push_back(from);
        first = std::min(first, from);
        ++num_sides;
      }
    }
    Loop loop;
    if (is_simple && num_sides > 0) {
      int vertex = first;
      do {
        loop.push_back(vertex);
        vertex = next_[vertex];
      } while (vertex != first && vertex >= 0 && static_cast<int>(loop.size()) <= num_sides);
      if (static_cast<int>(loop.size()) != num_sides) loop.clear();
    }
    for (const int start : starts) next_[start] = -1;
    return loop;
  }

  /// Where only two faces meet, on a straight line, there is no corner.
  void drop_vertices_within_edges(std::vector<Loop>& loops) const {
    std::vector<int> num_faces(points_.size(), 0);
    for (const Loop& loop : loops) {
      for (const int vertex : loop) ++num_faces[vertex];
    }
    const auto is_corner = [&](const Loop& loop, std::size_t k) {
      if (num_faces[loop[k]] > 2) return true;
      const Vector3d& before = points_[loop[(k + loop.size() - 1) % loop.size()]];
      const Vector3d& after = points_[loop[(k + 1) % loop.size()]];
      const Vector3d along = (after - before).normalized();
      return !(along.cross(points_[loop[k]] - before).norm() <= tolerance_);
    };
    std::vector<Loop> thinned(loops.size());
    for (std::size_t i = 0; i < loops.size(); ++i) {
      for (std::size_t k = 0; k < loops[i].size(); ++k) {
        if (is_corner(loops[i], k)) thinned[i].push_back(loops[i][k]);
      }
      // Only faces thinner than the tolerance have fewer than three corners; then all stay.
      if (thinned[i].size() < 3) return;
    }
    loops = std::move(thinned);
  }

  Points points_;
  std::span<const Triangle> triangles_;
  double tolerance_;
  std::vector<std::array<int, 3>> neighbors_;
  std::vector<Vector3d> normals_;
  std::vector<int> region_;  // of each triangle
  std::vector<std::vector<int>> members_;
  std::vector<int> next_;  // along the rim being traced
};

/// Below this many vertices, comparing all is faster than walking.
constexpr int kNoGraphBelow = 40;

}  // namespace

Polytope Polytope::make_box(const Vector3d& size) {
  Polytope box;
  for (int i = 0; i < 8; ++i) {
    const Vector3d sign(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    box.vertices_.push_back(sign.cwiseProduct(size) / 2);
  }
  constexpr int kLoops[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  for (int face = 0; face < 6; ++face) {
    box.add_face(kLoops[face], (face % 2 ? 1.0 : -1.0) * Vector3d::Unit(face / 2));
  }
  box.finish();
  return box;
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
  Polytope triangle;
  triangle.vertices_ = {a, b, c};
  const Vector3d normal = (b - a).cross(c - a).normalized();
  triangle.add_face(std::array{0, 1, 2}, normal);
  triangle.add_face(std::array{0, 2, 1}, -normal);
  triangle.finish();
  return triangle;
}

Polytope Polytope::make_hull(Points points) {
  const auto triangles = compute_convex_hull(points);
  ST_DEMAND(triangles.has_value());
  std::vector<Loop> loops = TriangleMerger(points, *triangles).merge();
  std::vector<int> index(points.size(), -1);
  for (const Loop& loop : loops) {
    for (const int vertex : loop) index[vertex] = 0;
  }
  Polytope hull;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (index[i] < 0) continue;
    index[i] = static_cast<int>(hull.vertices_.size());
    hull.vertices_.push_back(points[i]);
  }
  for (Loop& loop : loops) {
    for (int& vertex : loop) vertex = index[vertex];
    hull.add_face(loop, area_vector(hull.vertices_, loop).stableNormalized());
  }
  hull.finish();
  return hull;
}

void Polytope::add_face(std::span<const int> loop, const Vector3d& normal) {
  Face face{.normal = normal,
            .offset = normal.dot(vertices_[loop[0]]),
            .first = static_cast<int>(face_vertices_.size()),
            .count = static_cast<int>(loop.size())};
  for (const int vertex : loop) {
    face.offset = std::max(face.offset, normal.dot(vertices_[vertex]));
    face_vertices_.push_back(vertex);
  }
  faces_.push_back(face);
}

void Polytope::update_center() {
  center_.setZero();
  for (const Vector3d& vertex : vertices_)
    center_ += vertex / static_cast<double>(vertices_.size());
}

void Polytope::finish() {
  update_center();
  extent_ = extent_of(vertices_);
  make_edges();
  make_fans();
  for (const Vector3d& vertex : vertices_) vertex_table_.add(vertex);
  for (const Face& face : faces_) normal_table_.add(face.normal);
  vertex_table_.finish();
  normal_table_.finish();
}

void Polytope::make_edges() {
  std::vector<std::array<int, 3>> sides;  // lower vertex, higher vertex, place in the loops
  for (int face = 0; face < static_cast<int>(faces_.size()); ++face) {
    const std::span<const int> loop = vertices_of(face);
    for (int k = 0; k < static_cast<int>(loop.size()); ++k) {
      const auto [low, high] = std::minmax(loop[k], loop[(k + 1) % loop.size()]);
      sides.push_back({low, high, faces_[face].first + k});
    }
  }
  std::sort(sides.begin(), sides.end());
  std::vector<int> face_at;
  for (int face = 0; face < static_cast<int>(faces_.size()); ++face) {
    face_at.insert(face_at.end(), faces_[face].count, face);
  }
  face_edges_.resize(face_vertices_.size());
  for (std::size_t i = 0; i + 1 < sides.size(); i += 2) {
    const auto& [low, high, place] = sides[i];
    const int other_place = sides[i + 1][2];
    ST_DEMAND(low == sides[i + 1][0] && high == sides[i + 1][1]);
    face_edges_[place] = face_edges_[other_place] = static_cast<int>(edges_.size());
    Edge edge{.tail = face_vertices_[place],
              .head = low,
              .left = face_at[place],
              .right = face_at[other_place],
              .direction = {}};
    if (edge.tail == low) edge.head = high;
    edge.direction = (vertices_[edge.head] - vertices_[edge.tail]).stableNormalized();
    edges_.push_back(edge);
  }
}

void Polytope::make_fans() {
  fan_start_.assign(vertices_.size() + 1, 0);
  for (const Edge& edge : edges_) {
    ++fan_start_[edge.tail + 1];
    ++fan_start_[edge.head + 1];
  }
  std::partial_sum(fan_start_.begin(), fan_start_.end(), fan_start_.begin());
  std::vector<int> place(fan_start_.begin(), fan_start_.end() - 1);
  vertex_neighbors_.resize(fan_start_.back());
  vertex_edges_.resize(fan_start_.back());
  for (int edge = 0; edge < static_cast<int>(edges_.size()); ++edge) {
    for (const auto& [from, to] : {std::pair{edges_[edge].tail, edges_[edge].head},
                                   std::pair{edges_[edge].head, edges_[edge].tail}}) {
      vertex_neighbors_[place[from]] = to;
      vertex_edges_[place[from]++] = edge;
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

}  // namespace stiction
