#include "stiction/geometry/triangle_merging.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "stiction/base/check.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Points = std::span<const Vector3d>;
using Loop = std::vector<int>;

/// Joins triangles of a hull that lie in one plane to polygons.
class TriangleMerger {
 public:
  TriangleMerger(Points points, std::span<const Triangle> triangles, double tolerance)
      : points_(points),
        triangles_(triangles),
        tolerance_(tolerance),
        region_(triangles.size(), -1),
        next_(points.size(), -1) {
    find_neighbors();
    for (const Triangle& triangle : triangles)
      normals_.push_back(compute_area_vector(points, triangle));
  }

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

}  // namespace

std::vector<Loop> merge_coplanar_triangles(Points points, std::span<const Triangle> triangles,
                                           double tolerance) {
  return TriangleMerger(points, triangles, tolerance).merge();
}

Vector3d compute_area_vector(Points points, std::span<const int> loop) {
  const Vector3d& origin = points[loop[0]];
  Vector3d sum = Vector3d::Zero();
  for (std::size_t k = 1; k + 1 < loop.size(); ++k) {
    sum += (points[loop[k]] - origin).cross(points[loop[k + 1]] - origin);
  }
  return sum;
}

}  // namespace stiction
