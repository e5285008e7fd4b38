#include "stiction/audit/separation.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <variant>

#include "stiction/base/infinity.h"

namespace stiction {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Faces of hulls with more points than this are not looked for: it takes n⁴ operations.
constexpr std::size_t kMaxHullPoints = 64;
/// Shapes that are nearer than this share of their size are treated as overlapping: the direction
/// of a short vector is not known well.
constexpr double kNear = 0.02;
/// So many directions are improved, the best first.
constexpr std::size_t kMaxStarts = 8;

bool add_direction(std::vector<Vector3d>& list, const Vector3d& direction, bool is_signed) {
  const double norm = direction.norm();
  if (!(norm > 1e-12)) return false;
  const Vector3d unit = direction / norm;
  for (const Vector3d& other : list) {
    const double cosine = other.dot(unit);
    if ((is_signed ? cosine : std::abs(cosine)) > 1 - 1e-14) return false;
  }
  list.push_back(unit);
  return true;
}

/// Every plane through three points that has all others on one side.
void find_faces(const std::vector<Vector3d>& points, double size, std::vector<Vector3d>& faces,
                std::vector<Vector3d>& edges) {
  const std::size_t n = points.size();
  const double flat = 1e-12 * size;
  std::vector<std::pair<Vector3d, double>> planes;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      for (std::size_t k = j + 1; k < n; ++k) {
        const Vector3d normal = (points[j] - points[i]).cross(points[k] - points[i]);
        if (!(normal.norm() > 1e-14 * size * size)) continue;
        for (const double side : {1.0, -1.0}) {
          const Vector3d unit = side * normal.normalized();
          const double offset = unit.dot(points[i]);
          const bool is_face = std::all_of(points.begin(), points.end(), [&](const Vector3d& p) {
            return unit.dot(p) <= offset + flat;
          });
          if (is_face && add_direction(faces, unit, true)) planes.emplace_back(unit, offset);
        }
      }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      int count = 0;
      for (const auto& [unit, offset] : planes)
        if (unit.dot(points[i]) >= offset - flat && unit.dot(points[j]) >= offset - flat) ++count;
      if (count >= 2) add_direction(edges, points[j] - points[i], false);
    }
}

/// Files may have vertices that no triangle has, which are no part of the surface.
void drop_unused(std::vector<Vector3d>& points, std::vector<Triangle>& triangles) {
  std::vector<int> place(points.size(), -1);
  std::vector<Vector3d> used;
  for (Triangle& triangle : triangles)
    for (int& v : triangle) {
      if (place[v] < 0) {
        place[v] = static_cast<int>(used.size());
        used.push_back(points[v]);
      }
      v = place[v];
    }
  points = std::move(used);
}

}  // namespace

AuditShape::AuditShape(const Shape& shape) {
  const auto visit = [&](const auto& s) {
    using T = std::decay_t<decltype(s)>;
    if constexpr (std::is_same_v<T, Sphere>) {
      points_ = {Vector3d::Zero()};
      rounding_ = s.radius;
    } else if constexpr (std::is_same_v<T, Capsule>) {
      points_ = {Vector3d(0, 0, 0.5 * s.length), Vector3d(0, 0, -0.5 * s.length)};
      edges_ = {Vector3d::UnitZ()};
      rounding_ = s.radius;
    } else if constexpr (std::is_same_v<T, Box>) {
      for (const double x : {-0.5, 0.5})
        for (const double y : {-0.5, 0.5})
          for (const double z : {-0.5, 0.5})
            points_.emplace_back(x * s.size.x(), y * s.size.y(), z * s.size.z());
      for (int i = 0; i < 3; ++i) {
        faces_.push_back(Vector3d::Unit(i));
        faces_.push_back(-Vector3d::Unit(i));
        edges_.push_back(Vector3d::Unit(i));
      }
    } else if constexpr (std::is_same_v<T, Convex>) {
      points_ = s.points;
    } else if constexpr (std::is_same_v<T, Cylinder>) {
      kind_ = Kind::kCylinder;
      axes_ = {s.radius, s.radius, 0.5 * s.length};
      faces_ = {Vector3d::UnitZ(), -Vector3d::UnitZ()};
      edges_ = {Vector3d::UnitZ()};
      radius_ = std::hypot(s.radius, 0.5 * s.length);
    } else if constexpr (std::is_same_v<T, Ellipsoid>) {
      kind_ = Kind::kEllipsoid;
      axes_ = s.radii;
      radius_ = s.radii.maxCoeff();
    } else if constexpr (std::is_same_v<T, Plane>) {
      kind_ = Kind::kPlane;
      plane_ = s;
      radius_ = kInfinity;
    } else if constexpr (std::is_same_v<T, HeightField>) {
      kind_ = Kind::kSurface;
      const auto nx = static_cast<int>(s.heights.rows()), ny = static_cast<int>(s.heights.cols());
      for (int i = 0; i < nx; ++i)
        for (int j = 0; j < ny; ++j)
          points_.emplace_back((i / (nx - 1.0) - 0.5) * s.size.x(),
                               (j / (ny - 1.0) - 0.5) * s.size.y(), s.heights(i, j));
      for (int i = 0; i + 1 < nx; ++i)
        for (int j = 0; j + 1 < ny; ++j) {
          const int a = i * ny + j, b = (i + 1) * ny + j, c = (i + 1) * ny + j + 1, d = a + 1;
          triangles_.push_back({a, b, c});
          triangles_.push_back({a, c, d});
        }
    } else {
      kind_ = Kind::kSurface;
      points_ = s.vertices;
      triangles_ = s.triangles;
      drop_unused(points_, triangles_);
    }
  };
  std::visit(visit, shape);
  for (const Vector3d& point : points_) radius_ = std::max(radius_, point.norm() + rounding_);
  if (std::holds_alternative<Convex>(shape) && points_.size() <= kMaxHullPoints)
    find_faces(points_, radius_, faces_, edges_);
  size_ = std::isfinite(radius_) ? radius_ : 0;
  for (const Vector3d& face : faces_) {
    double furthest = -kInfinity;
    for (const Vector3d& point : points_) furthest = std::max(furthest, face.dot(point));
    face_offsets_.push_back(furthest + rounding_);
  }
}

std::span<const Vector3d> AuditShape::corners() const { return points_; }

Vector3d AuditShape::face_along(const Vector3d& direction) const {
  if (is_plane()) return plane_.normal;
  Vector3d best = Vector3d::Zero();
  for (const Vector3d& face : faces_)
    if (face.dot(direction) > best.dot(direction)) best = face;
  return best;
}

double AuditShape::outside_faces(const Vector3d& point) const {
  if (is_plane()) return plane_.normal.dot(point) - plane_.offset;
  double furthest = -kInfinity;
  for (std::size_t i = 0; i < faces_.size(); ++i)
    furthest = std::max(furthest, faces_[i].dot(point) - face_offsets_[i]);
  return furthest;
}

/// A convex set in the world, or a triangle of a surface.
struct Separation::Body {
  AuditShape::Kind kind = AuditShape::Kind::kHull;
  std::span<const Vector3d> points;  // own frame, or those of a triangle in the same
  Vector3d axes = Vector3d::Zero();
  double rounding = 0;
  Matrix3d rotation = Matrix3d::Identity();
  Vector3d position = Vector3d::Zero();
  std::span<const Vector3d> faces{}, edges{};  // own frame
  double size = 0;

  /// Farthest point of the core in the direction d, world.
  Vector3d farthest(const Vector3d& direction) const {
    const Vector3d d = rotation.transpose() * direction;
    Vector3d best = Vector3d::Zero();
    if (kind == AuditShape::Kind::kHull) {
      double largest = -kInfinity;
      for (const Vector3d& point : points)
        if (const double along = d.dot(point); along > largest) {
          largest = along;
          best = point;
        }
    } else if (kind == AuditShape::Kind::kCylinder) {
      const double across = std::hypot(d.x(), d.y());
      if (across > 0) best.head<2>() = d.head<2>() * (axes.x() / across);
      best.z() = std::copysign(axes.z(), d.z());
    } else {
      const Vector3d scaled = axes.cwiseProduct(d);
      const double norm = scaled.norm();
      if (norm > 0) best = axes.cwiseProduct(scaled) / norm;
    }
    return position + rotation * best;
  }
  /// Of the whole, with its rounding.
  double support(const Vector3d& unit) const { return unit.dot(farthest(unit)) + rounding; }
};

namespace {

/// Wolfe's method: the point of least norm in the convex set whose least point along x is
/// `lowest(x)`. Stops when the distance is known to `precision`.
template <class Lowest>
Vector3d find_least_norm(const Lowest& lowest, const Vector3d& start, double precision) {
  std::vector<Vector3d> corral{start};
  std::vector<double> weights{1};
  Vector3d x = start;
  double last = kInfinity;
  for (int iteration = 0; iteration < 300; ++iteration) {
    const double norm = x.norm();
    if (!(norm > 0)) break;
    const Vector3d next = lowest(x);
    const bool is_known =
        std::any_of(corral.begin(), corral.end(), [&](const Vector3d& p) { return p == next; });
    if (is_known || norm - x.dot(next) / norm <= precision) break;
    if (iteration > 20 && !(norm < last)) break;  // rounding
    last = norm;
    corral.push_back(next);
    weights.push_back(0);
    while (true) {
      // Least norm on the affine hull: minimise |Σ λ_i s_i| with Σ λ_i = 1.
      const auto n = static_cast<Eigen::Index>(corral.size());
      Eigen::MatrixXd differences(3, n - 1);
      for (Eigen::Index i = 1; i < n; ++i) differences.col(i - 1) = corral[i] - corral[0];
      Eigen::VectorXd lambda(n);
      if (n > 1) {
        const Eigen::VectorXd rest = differences.colPivHouseholderQr().solve(-corral[0]);
        lambda.tail(n - 1) = rest;
        lambda[0] = 1 - rest.sum();
      } else {
        lambda[0] = 1;
      }
      if (lambda.minCoeff() > 1e-14 || n == 1) {
        for (Eigen::Index i = 0; i < n; ++i) weights[i] = lambda[i];
        break;
      }
      double share = 1;
      Eigen::Index drop = 0;
      for (Eigen::Index i = 0; i < n; ++i) {
        if (lambda[i] > 1e-14) continue;
        const double limit = weights[i] > lambda[i] ? weights[i] / (weights[i] - lambda[i]) : 0;
        if (limit <= share) {
          share = limit;
          drop = i;
        }
      }
      for (Eigen::Index i = 0; i < n; ++i) weights[i] += share * (lambda[i] - weights[i]);
      corral.erase(corral.begin() + drop);
      weights.erase(weights.begin() + drop);
    }
    x.setZero();
    for (std::size_t i = 0; i < corral.size(); ++i) x += weights[i] * corral[i];
  }
  return x;
}

}  // namespace

Separation::Result Separation::measure_convex(const Body& a, const Body& b,
                                              std::span<const Vector3d> hints) {
  const double size = std::max({a.size, b.size, 1e-300}),
               smaller = std::max(std::min(a.size > 0 ? a.size : size, b.size > 0 ? b.size : size),
                                  1e-300);
  const double rounding = a.rounding + b.rounding;
  Result best{.gap = -kInfinity};
  std::vector<Result> tried;
  const auto try_normal = [&](const Vector3d& n) {
    const double gap = -a.support(-n) - b.support(n);
    tried.push_back({.gap = gap, .normal = n});
    if (gap > best.gap) {
      best.gap = gap;
      best.normal = n;
    }
  };
  /// The vector from b to a that is shortest, with a moved by `shift`.
  const auto shortest = [&](const Vector3d& shift) {
    const auto lowest = [&](const Vector3d& x) {
      return Vector3d(a.farthest(-x) - b.farthest(x) + shift);
    };
    return find_least_norm(lowest, lowest(a.position - b.position + shift), 1e-14 * size);
  };
  const Vector3d x = shortest(Vector3d::Zero());
  const double distance = x.norm();
  if (distance > 1e-13 * size) try_normal(x / distance);
  best.error = std::max(0.0, distance - rounding - best.gap);
  // What the direction found is certain to separate is the distance: nothing is left to look for.
  if (distance > 1e-9 * smaller && best.error <= 1e-12 * size) return best;
  for (const Vector3d& hint : hints) try_normal(hint);
  // From the axis or the middle of a curved shape towards the other.
  const auto try_outward = [&](const Body& round, const Body& other, double side) {
    if (round.kind == AuditShape::Kind::kHull) return;
    Vector3d p = round.rotation.transpose() * (other.position - round.position);
    if (round.kind == AuditShape::Kind::kCylinder)
      p.z() = 0;
    else
      p = p.cwiseQuotient(round.axes.cwiseAbs2());
    if (p.norm() > 0) try_normal(side * (round.rotation * p.normalized()));
  };
  try_outward(b, a, 1);
  try_outward(a, b, -1);
  for (const Vector3d& face : a.faces) try_normal(-(a.rotation * face));
  for (const Vector3d& face : b.faces) try_normal(b.rotation * face);
  for (const Vector3d& edge_a : a.edges)
    for (const Vector3d& edge_b : b.edges) {
      const Vector3d cross = (a.rotation * edge_a).cross(b.rotation * edge_b);
      if (!(cross.norm() > 1e-9)) continue;
      try_normal(cross.normalized());
      try_normal(-cross.normalized());
    }
  if (!std::isfinite(best.gap)) {
    const Vector3d apart = a.position - b.position;
    try_normal(apart.norm() > 0 ? Vector3d(apart.normalized()) : Vector3d(Vector3d::UnitZ()));
    for (int i = 0; i < 3; ++i) {
      try_normal(Vector3d::Unit(i));
      try_normal(-Vector3d::Unit(i));
    }
  }
  // Of two polytopes one of these is the best. Of others: moved apart along a good normal, the
  // shapes have a nearest point again, whose direction is better: the error of a normal shrinks by
  // (way)/(radius of curvature + way). There may be several that are best among their neighbours.
  const bool is_polyhedral = !a.faces.empty() && !b.faces.empty() &&
                             a.kind == AuditShape::Kind::kHull && b.kind == AuditShape::Kind::kHull;
  if (!is_polyhedral) {
    std::sort(tried.begin(), tried.end(),
              [](const auto& x, const auto& y) { return x.gap > y.gap; });
    if (tried.size() > kMaxStarts) tried.resize(kMaxStarts);
    const double way = kNear * smaller;
    for (Result from : std::vector<Result>(tried)) {
      for (int i = 0; i < 40; ++i) {
        const Vector3d shift = (std::max(0.0, -(from.gap + rounding)) + way) * from.normal;
        const Vector3d apart = shortest(shift);
        if (!(apart.norm() > 0.1 * way)) break;
        const Vector3d n = apart.normalized();
        const double gap = -a.support(-n) - b.support(n), gain = gap - from.gap;
        from.gap = std::max(gap, from.gap);
        from.normal = n;
        if (gap > best.gap) {
          best.gap = gap;
          best.normal = n;
        }
        if (!(gain > 1e-15 * size)) break;
      }
    }
  }
  best.error = distance > 0 ? std::max(0.0, distance - rounding - best.gap) : 0;
  return best;
}

Separation::Result Separation::measure(const Placed& a, const Placed& b, double reach,
                                       std::span<const Vector3d> hints) {
  const auto body_of = [](const Placed& placed) {
    const AuditShape& s = placed.shape;
    return Body{.kind = s.kind_,
                .points = s.points_,
                .axes = s.axes_,
                .rounding = s.rounding_,
                .rotation = placed.pose.rotation,
                .position = placed.pose.position,
                .faces = s.faces_,
                .edges = s.edges_,
                .size = s.size_};
  };
  if (b.shape.is_plane() && a.shape.is_plane()) return {.gap = kInfinity};
  if (a.shape.is_plane() || (a.shape.is_surface() && !b.shape.is_plane())) {
    std::vector<Vector3d> turned(hints.begin(), hints.end());
    for (Vector3d& hint : turned) hint = -hint;
    if (!a.shape.is_plane() && b.shape.is_surface()) return {.gap = kInfinity};
    Result result = measure(b, a, reach, turned);
    result.normal = -result.normal;
    return result;
  }
  if (b.shape.is_plane()) {
    const Vector3d n = b.pose.rotation * b.shape.plane_.normal;
    const double offset = b.shape.plane_.offset + n.dot(b.pose.position);
    if (!a.shape.is_surface()) return {.gap = -body_of(a).support(-n) - offset, .normal = n};
    double lowest = kInfinity;
    for (const Vector3d& point : a.shape.points_)
      lowest = std::min(lowest, n.dot(a.pose * point) - offset);
    return {.gap = lowest, .normal = n};
  }
  if (!b.shape.is_surface()) {
    const double apart =
        (a.pose.position - b.pose.position).norm() - a.shape.radius_ - b.shape.radius_;
    if (apart > reach) return {.gap = apart};
    return measure_convex(body_of(a), body_of(b), hints);
  }
  // A surface: the triangles that the ball around `a` reaches.
  const Vector3d center = b.pose.rotation.transpose() * (a.pose.position - b.pose.position);
  const double far = a.shape.radius_ + std::max(reach, 0.0);
  Result best{.gap = far - a.shape.radius_};
  for (const Triangle& triangle : b.shape.triangles_) {
    const std::array<Vector3d, 3> corners = {
        b.shape.points_[triangle[0]], b.shape.points_[triangle[1]], b.shape.points_[triangle[2]]};
    const Vector3d low = corners[0].cwiseMin(corners[1]).cwiseMin(corners[2]),
                   high = corners[0].cwiseMax(corners[1]).cwiseMax(corners[2]);
    if ((center.cwiseMax(low).cwiseMin(high) - center).norm() > far) continue;
    const Vector3d cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    const std::array<Vector3d, 2> faces = {cross.normalized(), -cross.normalized()};
    const std::array<Vector3d, 3> edges = {(corners[1] - corners[0]).normalized(),
                                           (corners[2] - corners[1]).normalized(),
                                           (corners[0] - corners[2]).normalized()};
    const Body body{.points = corners,
                    .rotation = b.pose.rotation,
                    .position = b.pose.position,
                    .faces = faces,
                    .edges = edges,
                    .size = (high - low).norm()};
    const Result result = measure_convex(body_of(a), body, hints);
    if (result.gap < best.gap) best = result;
  }
  return best;
}

double Separation::along(const Placed& a, const Placed& b, const Vector3d& n) {
  const auto support = [](const Placed& placed, const Vector3d& d) {
    const AuditShape& s = placed.shape;
    if (s.is_plane()) {
      const Vector3d normal = placed.pose.rotation * s.plane_.normal;
      return normal.dot(d) > 1 - 1e-12 ? s.plane_.offset + normal.dot(placed.pose.position)
                                       : kInfinity;
    }
    const Body body{
        .kind = s.kind_ == AuditShape::Kind::kSurface ? AuditShape::Kind::kHull : s.kind_,
        .points = s.points_,
        .axes = s.axes_,
        .rounding = s.rounding_,
        .rotation = placed.pose.rotation,
        .position = placed.pose.position};
    return body.support(d);
  };
  return -support(a, -n) - support(b, n);
}

/// Calls visit(corners) for the triangles that a point of a surface is at, in its frame.
template <class Visit>
void Separation::for_each_triangle_at(const Placed& surface, const Vector3d& p, double slack,
                                      const Visit& visit) {
  static const AuditShape dot{Shape{Sphere{0}}};
  const Body at{.points = dot.points_, .position = p};
  for (const Triangle& triangle : surface.shape.triangles_) {
    const std::array<Vector3d, 3> corners = {surface.shape.points_[triangle[0]],
                                             surface.shape.points_[triangle[1]],
                                             surface.shape.points_[triangle[2]]};
    const Vector3d low = corners[0].cwiseMin(corners[1]).cwiseMin(corners[2]),
                   high = corners[0].cwiseMax(corners[1]).cwiseMax(corners[2]);
    if ((p.cwiseMax(low).cwiseMin(high) - p).norm() > slack) continue;
    const Vector3d cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
    const std::array<Vector3d, 2> faces = {cross, -cross};
    const Body body{.points = corners, .faces = faces, .size = (high - low).norm()};
    if (measure_convex(at, body, {}).gap <= slack) visit(corners);
  }
}

double Separation::off_normal(const Placed& surface, const Vector3d& point, const Vector3d& n,
                              double slack) {
  const Vector3d p = surface.pose.rotation.transpose() * (point - surface.pose.position),
                 m = surface.pose.rotation.transpose() * n;
  double smallest = kInfinity;
  for_each_triangle_at(surface, p, slack, [&](const std::array<Vector3d, 3>& corners) {
    const Vector3d cross = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalized();
    smallest = std::min(smallest, m.cross(cross).norm());
  });
  return smallest;
}

double Separation::beyond_nearby(const Placed& surface, const Vector3d& point, const Vector3d& n,
                                 double slack) {
  const Vector3d p = surface.pose.rotation.transpose() * (point - surface.pose.position),
                 m = surface.pose.rotation.transpose() * n;
  double furthest = -kInfinity;
  for_each_triangle_at(surface, p, slack, [&](const std::array<Vector3d, 3>& corners) {
    for (const Vector3d& corner : corners) furthest = std::max(furthest, m.dot(corner - p));
  });
  return furthest == -kInfinity ? kInfinity : furthest;
}

double Separation::crossing_sine(const Placed& a, const Placed& b, const Vector3d& n,
                                 double tolerance) {
  double smallest = 1;
  for (const Vector3d& own_a : a.shape.edges_) {
    const Vector3d edge_a = a.pose.rotation * own_a;
    if (std::abs(edge_a.dot(n)) > tolerance) continue;
    for (const Vector3d& own_b : b.shape.edges_) {
      const Vector3d edge_b = b.pose.rotation * own_b;
      const double sine = edge_a.cross(edge_b).norm();
      // Parallel edges have no common normal.
      if (std::abs(edge_b.dot(n)) <= tolerance && sine > tolerance)
        smallest = std::min(smallest, sine);
    }
  }
  return smallest;
}

double Separation::of_point(const Placed& placed, const Vector3d& point) {
  if (placed.shape.kind_ == AuditShape::Kind::kCylinder) {
    const Vector3d p = placed.pose.rotation.transpose() * (point - placed.pose.position);
    const double across = std::hypot(p.x(), p.y()) - placed.shape.axes_.x(),
                 along = std::abs(p.z()) - placed.shape.axes_.z();
    return std::max(across, along) <= 0 ? std::max(across, along)
                                        : std::hypot(std::max(across, 0.0), std::max(along, 0.0));
  }
  if (placed.shape.has_faces()) {
    const Vector3d p = placed.pose.rotation.transpose() * (point - placed.pose.position);
    // Inside the nearest face is the nearest place; on it up to rounding, too.
    const double outside = placed.shape.outside_faces(p);
    if (outside <= 1e-12 * placed.shape.size_ || placed.shape.is_plane()) return outside;
  }
  static const AuditShape dot{Shape{Sphere{0}}};
  const Pose pose{point, Matrix3d::Identity()};
  return measure({dot, pose}, placed, kInfinity).gap;
}

}  // namespace stiction
