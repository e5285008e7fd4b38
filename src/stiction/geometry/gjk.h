// The point of a convex set C nearest to the origin, from a support function alone (Gilbert,
// Johnson, Keerthi 1988), for C = A − B.
//
// The current simplex is replaced by its face nearest to the origin and a new support point. For
// polytopes this ends at the nearest feature after finitely many steps; for round bodies it closes
// in on it, and stops where the bounds |v| and v·w/|v| on the distance agree as asked.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace stiction {

/// w = a − b, for a ∈ A and b ∈ B.
struct DifferencePoint {
  Eigen::Vector3d a, b, w;
};

/// At most four points with weights ≥ 0 of sum 1. Four hold the origin: then A and B have
/// point_a() = point_b() in common.
struct Simplex {
  std::array<DifferencePoint, 4> points;
  std::array<double, 4> weights;
  int count = 0;

  Eigen::Vector3d point_a() const {
    Eigen::Vector3d sum = weights[0] * points[0].a;
    for (int i = 1; i < count; ++i) sum += weights[i] * points[i].a;
    return sum;
  }
  Eigen::Vector3d point_b() const {
    Eigen::Vector3d sum = weights[0] * points[0].b;
    for (int i = 1; i < count; ++i) sum += weights[i] * points[i].b;
    return sum;
  }
};

struct GjkOptions {
  double relative = 0;  // stop when |v| − v·w/|v| ≤ relative |v|
  double touching = 0;  // [m] stop and say "touches" when |v| is at most this
  // [m] stop when it is certain that the distance exceeds this
  double reach = std::numeric_limits<double>::infinity();
  int max_iterations = 100;
};

struct GjkResult {
  Simplex simplex;
  Eigen::Vector3d v;  // [m] nearest point found
  double lower = 0;   // [m] separation along v: no point of C is nearer than this
  // Of all directions tried the one of largest separation, not of unit length; a start for the
  // search of the depth where the origin is in C.
  Eigen::Vector3d best_direction;
  double best_separation = -std::numeric_limits<double>::infinity();  // [m]
  bool touches = false;  // the origin is in C, or within `touching` of it
};

namespace gjk_internal {

using Eigen::Vector3d;

/// Nearest point of a face of the simplex.
struct Nearest {
  double square = std::numeric_limits<double>::infinity();  // [m²]
  Vector3d v;
  int count = 0;
  std::array<int, 3> index;
  std::array<double, 3> weight;
};

inline void keep_nearer(const Nearest& candidate, Nearest& best) {
  if (candidate.square < best.square) best = candidate;
}

inline Nearest nearest_on_segment(const Simplex& simplex, int i, int j) {
  const Vector3d &p = simplex.points[i].w, &q = simplex.points[j].w;
  const Vector3d d = q - p;
  const double length_square = d.squaredNorm(), along = -p.dot(d);
  Nearest nearest;
  if (!(along > 0)) {
    nearest.v = p;
    nearest.count = 1;
    nearest.index[0] = i;
    nearest.weight[0] = 1;
  } else if (along >= length_square) {
    nearest.v = q;
    nearest.count = 1;
    nearest.index[0] = j;
    nearest.weight[0] = 1;
  } else {
    const double t = along / length_square;
    nearest.v = p + t * d;
    nearest.count = 2;
    nearest.index = {i, j, 0};
    nearest.weight = {1 - t, t, 0};
  }
  nearest.square = nearest.v.squaredNorm();
  return nearest;
}

inline Nearest nearest_on_triangle(const Simplex& simplex, int i, int j, int k) {
  const Vector3d &p = simplex.points[i].w, &q = simplex.points[j].w, &r = simplex.points[k].w;
  const Vector3d pq = q - p, qr = r - q, rp = p - r;
  const Vector3d normal = pq.cross(-rp);
  // Areas opposite to p, q, r, from edges so that an origin far away costs no digits.
  const double at_p = normal.dot(q.cross(qr)), at_q = normal.dot(r.cross(rp)),
               at_r = normal.dot(p.cross(pq));
  Nearest nearest;
  if (at_p > 0 && at_q > 0 && at_r > 0) {
    const double sum = at_p + at_q + at_r;
    nearest.count = 3;
    nearest.index = {i, j, k};
    nearest.weight = {at_p / sum, at_q / sum, at_r / sum};
    nearest.v = p + nearest.weight[1] * pq - nearest.weight[2] * rp;
    nearest.square = nearest.v.squaredNorm();
    return nearest;
  }
  if (!(at_p > 0)) keep_nearer(nearest_on_segment(simplex, j, k), nearest);
  if (!(at_q > 0)) keep_nearer(nearest_on_segment(simplex, i, k), nearest);
  if (!(at_r > 0)) keep_nearer(nearest_on_segment(simplex, i, j), nearest);
  return nearest;
}

inline constexpr int kTetrahedronFaces[4][4] = {  // with the vertex opposite
    {1, 2, 3, 0},
    {0, 2, 3, 1},
    {0, 1, 3, 2},
    {0, 1, 2, 3}};

/// False if the tetrahedron seems to hold the origin. The signs of a flat one are those of rounding
/// and may say so of an origin anywhere over it, see `is_flat`.
inline bool find_nearest_on_tetrahedron(const Simplex& simplex, Nearest& nearest) {
  bool is_outside = false;
  for (const auto& [i, j, k, opposite] : kTetrahedronFaces) {
    const Vector3d& p = simplex.points[i].w;
    const Vector3d normal = (simplex.points[j].w - p).cross(simplex.points[k].w - p);
    if (normal.dot(p) * normal.dot(p - simplex.points[opposite].w) > 0) continue;
    is_outside = true;
    keep_nearer(nearest_on_triangle(simplex, i, j, k), nearest);
  }
  return is_outside;
}

/// The surface of a tetrahedron without volume is all of it, so that no signs are needed.
inline Nearest nearest_on_flat_tetrahedron(const Simplex& simplex) {
  Nearest nearest;
  for (const auto& face : kTetrahedronFaces) {
    keep_nearer(nearest_on_triangle(simplex, face[0], face[1], face[2]), nearest);
  }
  return nearest;
}

/// Whether the volume may be one of rounding, or too small to tell on which sides of its faces an
/// origin that far away lies.
inline bool is_flat(const Simplex& simplex) {
  const Vector3d& p = simplex.points[3].w;
  const Vector3d u = simplex.points[0].w - p, v = simplex.points[1].w - p,
                 w = simplex.points[2].w - p;
  const double length =
      std::sqrt(std::max({u.squaredNorm(), v.squaredNorm(), w.squaredNorm(), p.squaredNorm()}));
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
  return std::abs(u.cross(v).dot(w)) <= kRounding * length * length * length;
}

inline bool find_nearest(const Simplex& simplex, Nearest& nearest) {
  if (simplex.count == 4) return find_nearest_on_tetrahedron(simplex, nearest);
  nearest = simplex.count == 3 ? nearest_on_triangle(simplex, 0, 1, 2)
                               : nearest_on_segment(simplex, 0, 1);
  return true;
}

inline void reduce(Simplex& simplex, const Nearest& nearest) {
  std::array<DifferencePoint, 3> kept;
  for (int i = 0; i < nearest.count; ++i) kept[i] = simplex.points[nearest.index[i]];
  for (int i = 0; i < nearest.count; ++i) {
    simplex.points[i] = kept[i];
    simplex.weights[i] = nearest.weight[i];
  }
  simplex.count = nearest.count;
}

/// Weights of the origin in a tetrahedron that holds it and is not flat: the volumes opposite to
/// its points, of equal signs but for rounding.
inline void weigh_origin(Simplex& simplex) {
  double sum = 0;
  for (const auto& [i, j, k, opposite] : kTetrahedronFaces) {
    const Vector3d &p = simplex.points[i].w, &q = simplex.points[j].w, &r = simplex.points[k].w;
    simplex.weights[opposite] = std::abs(p.cross(q).dot(r));
    sum += simplex.weights[opposite];
  }
  for (double& weight : simplex.weights) weight /= sum;
}

inline bool contains(const Simplex& simplex, const Vector3d& w) {
  for (int i = 0; i < simplex.count; ++i) {
    if (simplex.points[i].w == w) return true;
  }
  return false;
}

}  // namespace gjk_internal

/// support(v) returns a point of A furthest along −v and one of B furthest along v. `guess` is a
/// direction from B to A.
template <class Support>
GjkResult run_gjk(Support&& support, const Eigen::Vector3d& guess, const GjkOptions& options) {
  using gjk_internal::Nearest;
  GjkResult result;
  Simplex& simplex = result.simplex;
  simplex.points[0] = support(guess);
  simplex.weights[0] = 1;
  simplex.count = 1;
  result.v = simplex.points[0].w;
  result.best_direction = guess;
  double square = result.v.squaredNorm();
  for (int iteration = 0; iteration < options.max_iterations; ++iteration) {
    const double length = std::sqrt(square);
    if (length <= options.touching) {
      result.touches = true;
      return result;
    }
    const DifferencePoint point = support(result.v);
    const double lower = result.v.dot(point.w) / length;
    result.lower = lower;
    if (lower > result.best_separation) {
      result.best_separation = lower;
      result.best_direction = result.v;
    }
    if (lower > options.reach) return result;
    if (length - lower <= options.relative * length) return result;
    if (gjk_internal::contains(simplex, point.w)) return result;
    const Simplex before = simplex;
    simplex.points[simplex.count++] = point;
    Nearest nearest;
    const bool holds_origin = !gjk_internal::find_nearest(simplex, nearest);
    // A plane that separates shows that the origin is not in C.
    if (holds_origin && !(lower > 0) && !gjk_internal::is_flat(simplex)) {
      gjk_internal::weigh_origin(simplex);
      result.touches = true;
      return result;
    }
    if (simplex.count == 4 && !(nearest.square < square)) {
      nearest = gjk_internal::nearest_on_flat_tetrahedron(simplex);
    }
    if (!(nearest.square < square)) {  // rounding has the last word
      simplex = before;
      result.touches = holds_origin && !(result.best_separation > 0);
      return result;
    }
    gjk_internal::reduce(simplex, nearest);
    result.v = nearest.v;
    square = nearest.square;
  }
  return result;
}

}  // namespace stiction
