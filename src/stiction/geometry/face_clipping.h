// Convex polygons in a plane: which part of a segment lies in one, and which points do.
//
// Up to two dozen sides are tried one by one. Beyond that a segment costs O(log n), by bisection
// over the directions of the sides and over the two chains between the extreme vertices (Chazelle,
// Dobkin 1987), so that two polygons of n sides meet in O(n log n).
#pragma once

#include <Eigen/Core>

#include <vector>

namespace stiction {

/// p + t (q − p) with t from `start` to `end` is inside.
struct ClippedSegment {
  bool hits = false;
  double start = 0, end = 1;
  int start_side = -1, end_side = -1;  // crossed there; −1 where the end of the segment is inside
};

class ConvexPolygon {
 public:
  void clear();
  /// Room for so many vertices.
  void reserve(int count);
  /// Counterclockwise. Vertices must not repeat.
  void add(const Eigen::Vector2d& vertex) { vertices_.push_back(vertex); }
  /// To be called after the last vertex.
  void finish();

  int size() const { return static_cast<int>(vertices_.size()); }
  const Eigen::Vector2d& vertex(int k) const { return vertices_[k]; }
  int next(int k) const { return k + 1 == size() ? 0 : k + 1; }

  /// Points outside by up to `margin`, measured from the lines of the sides, are contained too.
  bool contains(const Eigen::Vector2d& point, double margin) const;
  /// [m] 0 inside.
  double distance_to(const Eigen::Vector2d& point) const;
  /// Calls visit(k, t) for vertices k that a segment passes within `margin`: t as below is the
  /// place next to the vertex, between the ends.
  template <typename Visit>
  void visit_passed(const Eigen::Vector2d& p, const Eigen::Vector2d& q, double margin,
                    const Visit& visit) const {
    const Eigen::Vector2d along = q - p;
    for (int k = 0; k < size(); ++k) {
      const double t = along.dot(vertices_[k] - p) / along.squaredNorm();
      if (t > 0 && t < 1 && (p + t * along - vertices_[k]).norm() <= margin) visit(k, t);
    }
  }
  /// For a point that is inside or near.
  bool has_vertex_near(const Eigen::Vector2d& point, double distance) const;
  /// Of the polygon with all sides moved outwards by `margin`. A side that the segment passes by no
  /// more than `slack` does not cut it, so that segments along a side are not cut at random places.
  /// With margin 0 and many sides the slack is ignored, and a segment that only touches the polygon
  /// may be reported as a miss.
  ClippedSegment clip(const Eigen::Vector2d& p, const Eigen::Vector2d& q, double margin,
                      double slack = 0) const;

 private:
  static constexpr int kManySides = 24;
  double height(int side, const Eigen::Vector2d& point) const {
    return normals_[side].dot(point) - offsets_[side];
  }
  int find_sector(const Eigen::Vector2d& point) const;
  int find_extreme(const Eigen::Vector2d& direction) const;
  int find_crossing(int from, int to, const Eigen::Vector2d& normal, double offset) const;
  ClippedSegment clip_by_chains(const Eigen::Vector2d& p, const Eigen::Vector2d& q) const;

  std::vector<Eigen::Vector2d> vertices_, normals_;  // side k runs from vertex k to the next
  std::vector<double> offsets_;
  // For many sides only: turns of vertices about the middle and of normals, from those of index 0.
  std::vector<double> vertex_turns_, normal_turns_;
  Eigen::Vector2d middle_ = Eigen::Vector2d::Zero();
};

}  // namespace stiction
