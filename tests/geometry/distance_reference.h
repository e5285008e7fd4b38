// An independent judge of signed distances, in long double, from the definition
//   gap = max_n s(n),   s(n) = min_{x ∈ A} n·x − max_{y ∈ B} n·y.
// Every direction gives a lower bound of the gap; points of A and B give an upper bound where they
// are apart. The reference tries all directions at which s can have a kink (normals of faces, pairs
// of edges), maximises along all circles ⟂ an edge or axis, and searches the sphere from many
// starts. It shares no code with the library: hulls are all triples and pairs of points.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <variant>
#include <vector>

#include "stiction/geometry/pose.h"
#include "stiction/geometry/shape.h"

namespace stiction::reference {

using Real = long double;
using Vector = Eigen::Matrix<Real, 3, 1>;
using Matrix = Eigen::Matrix<Real, 3, 3>;

/// A convex shape at a place. Points with a radius, and for the round ones the radii.
class PlacedShape {
 public:
  PlacedShape(const Shape& shape, const Pose& pose)
      : shape_(shape), R_(pose.rotation.cast<Real>()), p_(pose.position.cast<Real>()) {
    if (const auto* sphere = std::get_if<Sphere>(&shape)) {
      points_ = {Vector::Zero()};
      radius_ = sphere->radius;
    } else if (const auto* capsule = std::get_if<Capsule>(&shape)) {
      points_ = {{0, 0, -capsule->length / 2}, {0, 0, capsule->length / 2}};
      radius_ = capsule->radius;
    } else if (const auto* box = std::get_if<Box>(&shape)) {
      for (int i = 0; i < 8; ++i) {
        points_.emplace_back((i & 1 ? 0.5L : -0.5L) * box->size.x(),
                             (i & 2 ? 0.5L : -0.5L) * box->size.y(),
                             (i & 4 ? 0.5L : -0.5L) * box->size.z());
      }
    } else if (const auto* convex = std::get_if<Convex>(&shape)) {
      for (const Eigen::Vector3d& point : convex->points) points_.push_back(point.cast<Real>());
    }
    collect_lines();
    collect_faces();
  }

  const Vector& position() const { return p_; }
  const std::vector<Vector>& faces() const { return faces_; }  // outward normals, world
  const std::vector<Vector>& lines() const { return lines_; }  // edges and axes, world
  Vector to_local(const Vector& world) const { return R_.transpose() * (world - p_); }

  /// max over the shape of n·x, less n·origin. Large coordinates of the world must not cost digits.
  Real height(const Vector& n, const Vector& origin) const {
    const Vector m = R_.transpose() * n;
    Real best = 0;
    if (const auto* cylinder = std::get_if<Cylinder>(&shape_)) {
      best = cylinder->radius * std::sqrt(m.x() * m.x() + m.y() * m.y()) +
             cylinder->length / 2 * std::abs(m.z());
    } else if (const auto* ellipsoid = std::get_if<Ellipsoid>(&shape_)) {
      best = ellipsoid->radii.cast<Real>().cwiseProduct(m).norm();
    } else {
      best = m.dot(points_[0]);
      for (const Vector& point : points_) best = std::max(best, m.dot(point));
    }
    return best + radius_ + n.dot(p_ - origin);
  }

  /// How far a point is from the surface, to first order: < 0 inside.
  Real outside(const Vector& world) const {
    const Vector x = to_local(world);
    if (const auto* cylinder = std::get_if<Cylinder>(&shape_)) {
      return std::max(std::hypot(x.x(), x.y()) - cylinder->radius,
                      std::abs(x.z()) - cylinder->length / 2);
    }
    if (const auto* ellipsoid = std::get_if<Ellipsoid>(&shape_)) {
      const Vector q = x.cwiseQuotient(ellipsoid->radii.cast<Real>());
      if (!(q.norm() > 0)) return -ellipsoid->radii.minCoeff();
      const Vector slope = q.cwiseQuotient(ellipsoid->radii.cast<Real>()) / q.norm();
      return (q.norm() - 1) / slope.norm();
    }
    if (points_.size() == 1) return x.norm() - radius_;
    if (points_.size() == 2) {
      const Real end = points_[1].z();
      return (x - Vector(0, 0, std::clamp(x.z(), -end, end))).norm() - radius_;
    }
    Real highest = -1e300L;
    for (const Vector& n : faces_) highest = std::max(highest, n.dot(world - p_) - height(n, p_));
    return highest;
  }

 private:
  void collect_lines() {
    if (std::holds_alternative<Cylinder>(shape_)) lines_.push_back(R_.col(2));
    if (std::holds_alternative<Box>(shape_)) {
      for (int i = 0; i < 3; ++i) lines_.push_back(R_.col(i));
      return;
    }
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Vector d = points_[i] - points_[j];
        if (d.norm() > 0) lines_.push_back(R_ * d.normalized());
      }
    }
  }

  void collect_faces() {
    if (std::holds_alternative<Cylinder>(shape_)) {
      faces_ = {R_.col(2), -R_.col(2)};
      return;
    }
    const auto size = static_cast<int>(points_.size());
    for (int i = 0; i < size; ++i) {
      for (int j = 0; j < i; ++j) {
        for (int k = 0; k < j; ++k) add_if_face(i, j, k);
      }
    }
  }

  void add_if_face(int i, int j, int k) {
    const Vector a = points_[j] - points_[i], b = points_[k] - points_[i];
    Vector n = a.cross(b);
    if (!(n.norm() > 1e-17L * a.norm() * b.norm())) return;
    n.normalize();
    Real low = 0, high = 0, extent = 0;
    for (const Vector& point : points_) {
      low = std::min(low, n.dot(point - points_[i]));
      high = std::max(high, n.dot(point - points_[i]));
      extent = std::max(extent, (point - points_[i]).norm());
    }
    if (high <= 1e-17L * extent) faces_.push_back(R_ * n);
    if (low >= -1e-17L * extent) faces_.push_back(-(R_ * n));
  }

  Shape shape_;
  Matrix R_;
  Vector p_;
  std::vector<Vector> points_;
  Real radius_ = 0;
  std::vector<Vector> faces_, lines_;
};

inline Real separation(const PlacedShape& a, const PlacedShape& b, const Vector& n) {
  const Vector& origin = b.position();
  return -a.height(-n, origin) - b.height(n, origin);
}

struct Best {
  Real value = -1e300L;
  Vector normal = Vector::UnitX();
  void offer(Real s, const Vector& n) {
    if (s > value) {
      value = s;
      normal = n;
    }
  }
};

/// Compass search: tries steps across n and halves them where none helps.
inline void climb_sphere(const PlacedShape& a, const PlacedShape& b, Vector n, Real step,
                         Best& best) {
  Real s = separation(a, b, n);
  for (int trial = 0; trial < 400 && step > 1e-11L; ++trial) {
    const Vector t1 = n.unitOrthogonal(), t2 = n.cross(t1);
    bool climbs = false;
    for (int k = 0; k < 6 && !climbs; ++k) {
      const Real angle = std::numbers::pi_v<Real> / 3 * k + trial;
      const Vector next = (n + step * (std::cos(angle) * t1 + std::sin(angle) * t2)).normalized();
      const Real value = separation(a, b, next);
      if (value > s) {
        s = value;
        n = next;
        climbs = true;
      }
    }
    step *= climbs ? 1.2L : 0.5L;
  }
  best.offer(s, n);
}

/// Golden section around the best of many samples on the circle ⟂ d.
inline void climb_circle(const PlacedShape& a, const PlacedShape& b, const Vector& d, int samples,
                         Best& best) {
  const Vector t1 = d.unitOrthogonal(), t2 = d.cross(t1);
  const auto at = [&](Real angle) {
    return Vector((std::cos(angle) * t1 + std::sin(angle) * t2).normalized());
  };
  const Real width = 2 * std::numbers::pi_v<Real> / samples;
  std::vector<Real> values(samples);
  for (int i = 0; i < samples; ++i) values[i] = separation(a, b, at(i * width));
  const Real highest = *std::max_element(values.begin(), values.end());
  for (int i = 0; i < samples; ++i) {
    const Real left = values[(i + samples - 1) % samples], right = values[(i + 1) % samples];
    // A local maximum that could beat the rest: s changes by at most its spread per sample.
    if (values[i] < left || values[i] < right) continue;
    if (values[i] + 2 * std::max(values[i] - left, values[i] - right) < highest) continue;
    Real low = (i - 1) * width, high = (i + 1) * width;
    const Real golden = std::numbers::phi_v<Real> - 1;
    Real x1 = high - golden * (high - low), x2 = low + golden * (high - low);
    Real s1 = separation(a, b, at(x1)), s2 = separation(a, b, at(x2));
    while (high - low > 1e-11L) {
      if (s1 > s2) {
        high = x2;
        x2 = x1;
        s2 = s1;
        x1 = high - golden * (high - low);
        s1 = separation(a, b, at(x1));
      } else {
        low = x1;
        x1 = x2;
        s1 = s2;
        x2 = low + golden * (high - low);
        s2 = separation(a, b, at(x2));
      }
    }
    best.offer(std::max(s1, s2), at(s1 > s2 ? x1 : x2));
  }
}

struct Effort {
  int sphere_samples = 1000, circle_samples = 90, num_climbs = 6;
};

inline Best find_gap(const PlacedShape& a, const PlacedShape& b, const Effort& effort = {}) {
  Best best;
  const auto try_both = [&](const Vector& n) {
    best.offer(separation(a, b, n), n);
    best.offer(separation(a, b, -n), -n);
  };
  for (const Vector& n : a.faces()) try_both(n);
  for (const Vector& n : b.faces()) try_both(n);
  for (const Vector& d : a.lines()) {
    for (const Vector& e : b.lines()) {
      const Vector n = d.cross(e);
      if (n.norm() > 1e-9L) try_both(n.normalized());
    }
  }
  for (const Vector& d : a.lines()) climb_circle(a, b, d, effort.circle_samples, best);
  for (const Vector& d : b.lines()) climb_circle(a, b, d, effort.circle_samples, best);
  std::vector<std::pair<Real, Vector>> starts;
  for (int i = 0; i < effort.sphere_samples; ++i) {  // Fibonacci's spiral
    const Real z = 1 - (2 * i + 1.0L) / effort.sphere_samples;
    const Real angle = 2 * std::numbers::pi_v<Real> * i / std::numbers::phi_v<Real>;
    const Real r = std::sqrt(1 - z * z);
    const Vector n(r * std::cos(angle), r * std::sin(angle), z);
    starts.emplace_back(separation(a, b, n), n);
  }
  std::sort(starts.begin(), starts.end(),
            [](const auto& x, const auto& y) { return x.first > y.first; });
  std::vector<Vector> used;
  const Real spacing = 4 / std::sqrt(static_cast<Real>(effort.sphere_samples));
  for (const auto& start : starts) {
    const Vector& n = start.second;
    if (static_cast<int>(used.size()) == effort.num_climbs) break;
    const bool is_new = std::all_of(used.begin(), used.end(), [&](const Vector& other) {
      return (other - n).norm() > spacing;
    });
    if (!is_new) continue;
    used.push_back(n);
    climb_sphere(a, b, n, spacing / 2, best);
  }
  climb_sphere(a, b, best.normal, 1e-4L, best);
  return best;
}

}  // namespace stiction::reference
