#include "stiction/geometry/analytic_distance.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"
#include "stiction/geometry/ball_contacts.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

struct WorldPlane {
  Vector3d normal;
  double offset = 0;  // [m]
  Vector3d foot() const { return offset * normal; }
};

/// Normals of planes may be off unit length by what find_fault allows.
WorldPlane world_plane(const CollisionShape& shape, const Pose& pose) {
  const auto& plane = std::get<Plane>(shape.shape());
  const double length = plane.normal.norm();
  const Vector3d normal = pose.rotation * plane.normal / length;
  return {normal, plane.offset / length + normal.dot(pose.position)};
}

/// Two balls of the given radii about points of the cores with a known direction between them.
SignedDistance between_balls(const Vector3d& center_a, double radius_a, const Vector3d& center_b,
                             double radius_b, const Vector3d& normal, double distance) {
  return {.gap = distance - radius_a - radius_b,
          .normal = normal,
          .point_a = center_a - radius_a * normal,
          .point_b = center_b + radius_b * normal};
}

struct Segment {
  Vector3d center, direction;
  double half = 0;  // [m]
  Vector3d at(double s) const { return center + s * direction; }
  double clamp(double s) const { return std::clamp(s, -half, half); }
};

/// Nearest points of two segments, as parameters.
struct SegmentPair {
  double s = 0, t = 0;
  double square = kInfinity;  // [m²]
  bool is_crossing = false;   // both inside their segments, which are not parallel
};

/// Segments closer to parallel than this are treated as parallel: over a length L their distance
/// then varies by less than 1e-12 L.
constexpr double kParallel = 1e-12;

/// Ends with what is nearest to them on the other segment.
template <typename Visit>
void visit_ends(const Segment& a, const Segment& b, const Visit& visit) {
  for (const double s : {-a.half, a.half}) visit(s, b.clamp(b.direction.dot(a.at(s) - b.center)));
  for (const double t : {-b.half, b.half}) visit(a.clamp(a.direction.dot(b.at(t) - a.center)), t);
}

SegmentPair nearest_on_segments(const Segment& a, const Segment& b, const Vector3d& normal) {
  const Vector3d c = a.center - b.center;
  SegmentPair best;
  const double sine_square = normal.squaredNorm();
  if (sine_square > kParallel * kParallel) {
    // Feet of the common perpendicular from triple products: 1 − (d_a·d_b)² instead of |d_a × d_b|²
    // would lose all digits at an angle of 1e-8.
    const double s = b.direction.cross(c).dot(normal) / sine_square;
    double t = a.direction.cross(c).dot(normal) / sine_square;
    // Where nearly parallel lines cross, rounding leaves unclear, but not that both feet are there.
    if (sine_square < 1e-6) t = b.direction.dot(a.at(s) - b.center);
    if (std::abs(s) <= a.half && std::abs(t) <= b.half) {
      return {.s = s, .t = t, .square = (a.at(s) - b.at(t)).squaredNorm(), .is_crossing = true};
    }
  }
  visit_ends(a, b, [&](double s, double t) {
    const double square = (a.at(s) - b.at(t)).squaredNorm();
    if (square < best.square) best = {.s = s, .t = t, .square = square, .is_crossing = false};
  });
  return best;
}

/// Unit vector along w, which is ⟂ the axis but for rounding, or ⟂ the axis at all if w is 0.
Vector3d normal_across(const Vector3d& axis, const Vector3d& w) {
  const Vector3d across = w - axis * axis.dot(w);
  const double length = across.norm();
  return length > 0 ? Vector3d(across / length) : Vector3d(axis.unitOrthogonal());
}

/// Of axes with nearest points w apart. Across them both; their cross product knows that direction
/// to ε/sine, w to ε size/|w|.
Vector3d normal_of_axes(const Segment& a, const Segment& b, const SegmentPair& nearest,
                        const Vector3d& cross, const Vector3d& w) {
  const double distance = std::sqrt(nearest.square), size = std::max(a.half, b.half);
  if (nearest.is_crossing) {
    if (distance > cross.norm() * size) return normal_across(a.direction, w);
    return normal_across(a.direction, cross.dot(w) < 0 ? Vector3d(-cross) : cross);
  }
  if (std::abs(nearest.t) < b.half) return normal_across(b.direction, w);
  if (std::abs(nearest.s) < a.half || !(distance > 0)) return normal_across(a.direction, w);
  return w / distance;
}

/// Points of two axes and a direction.
struct AxisSeparation {
  SegmentPair points;
  Vector3d normal;
};

/// [m] How far points w apart are from being nearest to each other and that apart along n, as the
/// axes are.
double misfit_of(const Segment& a, const Segment& b, const Vector3d& w, const Vector3d& n) {
  const double separation = n.dot(a.center - b.center) - a.half * std::abs(n.dot(a.direction)) -
                            b.half * std::abs(n.dot(b.direction));
  return (w - separation * n).norm();
}

/// Several pairs of points can be nearest up to rounding: squares of lengths do not tell 1e-8 of
/// them apart where axes are nearly parallel. Their directions are not equally good.
[[gnu::noinline]] AxisSeparation find_best_fit(const Segment& a, const Segment& b,
                                               const Vector3d& cross, const AxisSeparation& start,
                                               double rounding) {
  AxisSeparation best = start;
  const double longest = std::sqrt(start.points.square) + rounding, sine = cross.norm();
  double least = misfit_of(a, b, a.at(start.points.s) - b.at(start.points.t), start.normal);
  visit_ends(a, b, [&](double s, double t) {
    const Vector3d w = a.at(s) - b.at(t);
    const SegmentPair points{s, t, w.squaredNorm(), false};
    if (std::sqrt(points.square) > longest) return;
    const auto try_normal = [&](const Vector3d& n) {
      const double misfit = misfit_of(a, b, w, n);
      if (!(misfit < least)) return;
      least = misfit;
      best = {points, n};
    };
    try_normal(normal_of_axes(a, b, points, cross, w));
    try_normal(normal_across(a.direction, w));
    try_normal(normal_across(b.direction, w));
    if (!(sine > 0)) return;
    try_normal(cross / sine);
    try_normal(-cross / sine);
  });
  return best;
}

SurfacePoint nearest_on_solid(const CollisionShape& shape, const Vector3d& p) {
  switch (shape.kind()) {
    case ShapeKind::kBox:
      return nearest_on_box(shape.half(), p);
    case ShapeKind::kCylinder:
      return nearest_on_cylinder(shape.half().x(), shape.half().z(), p);
    default:
      return nearest_on_ellipsoid(shape.half(), p);
  }
}

SignedDistance sphere_capsule(const CollisionShape& a, const Vector3d& center,
                              const CollisionShape& b, const Pose& pose_b) {
  const Vector3d axis = pose_b.rotation.col(2), c = center - pose_b.position;
  const double along = axis.dot(c), half = b.half().z();
  const Vector3d foot = std::clamp(along, -half, half) * axis;
  const Vector3d w = c - foot;
  const double distance = w.norm();
  // Beside the axis what is left of w along it is rounding.
  const bool is_beside = std::abs(along) < half || !(distance > 0);
  const Vector3d normal = is_beside ? normal_across(axis, w) : Vector3d(w / distance);
  return between_balls(center, a.core_radius(), pose_b.position + foot, b.core_radius(), normal,
                       normal.dot(w));
}

}  // namespace

SurfacePoint nearest_on_box(const Vector3d& half, const Vector3d& p) {
  const Vector3d clamped = p.cwiseMax(-half).cwiseMin(half);
  const Vector3d w = p - clamped;
  const double distance = w.norm();
  if (distance > 0) return {clamped, w / distance, distance};
  int axis = 0;
  const double height = (p.cwiseAbs() - half).maxCoeff(&axis);
  SurfacePoint nearest{p, Vector3d::Zero(), height};
  nearest.normal[axis] = std::copysign(1.0, p[axis]);
  nearest.point[axis] = std::copysign(half[axis], p[axis]);
  return nearest;
}

SurfacePoint nearest_on_cylinder(double radius, double half_length, const Vector3d& p) {
  const double radial = std::hypot(p.x(), p.y());
  const Vector3d outward =
      radial > 0 ? Vector3d(p.x() / radial, p.y() / radial, 0) : Vector3d(Vector3d::UnitX());
  const Vector3d up(0, 0, std::copysign(1.0, p.z()));
  const double beyond_mantle = radial - radius, beyond_end = std::abs(p.z()) - half_length;
  if (beyond_mantle > 0 && beyond_end > 0) {
    const double distance = std::hypot(beyond_mantle, beyond_end);
    return {radius * outward + half_length * up,
            (beyond_mantle * outward + beyond_end * up) / distance, distance};
  }
  if (beyond_mantle >= beyond_end) {
    return {radius * outward + Vector3d(0, 0, p.z()), outward, beyond_mantle};
  }
  return {Vector3d(p.x(), p.y(), half_length * up.z()), up, beyond_end};
}

/// The nearest point is x_i = e_i² p_i/(t + e_i²) with the largest root t of Σ (x_i/e_i)² = 1,
/// inside and outside alike. With the smallest radius e_0 and u = 1 + t/e_0² ≥ 0 the denominators
/// are e_0² (u + ρ_i), ρ_i = (e_i² − e_0²)/e_0² ≥ 0, without cancellation at any aspect. Newton's
/// method runs on 1/√Σ, which is almost linear in u, within a bracket.
SurfacePoint nearest_on_ellipsoid(const Vector3d& radii, const Vector3d& p) {
  int axis = 0;
  const double least = radii.minCoeff(&axis);
  const Vector3d rho = (radii.array() - least) * (radii.array() + least) / (least * least);
  const Vector3d c = radii.cwiseProduct(p).cwiseAbs() / (least * least);
  const auto unit_coordinates = [&](double u) -> Vector3d { return c.array() / (u + rho.array()); };
  double low = 0;  // Σ ≥ 1 here
  for (int i = 0; i < 3; ++i) low = std::max(low, c[i] - rho[i]);
  double high = std::max(c.norm(), low);
  Vector3d q;
  // On the plane through the centre ⟂ the shortest axis the point may be too close for any root.
  Vector3d rest = Vector3d::Zero();
  for (int i = 0; i < 3; ++i) {
    if (rho[i] > 0) rest[i] = c[i] / rho[i];
  }
  double u = low;
  bool has_tied_part = false;
  for (int i = 0; i < 3; ++i) has_tied_part = has_tied_part || (rho[i] == 0 && c[i] > 0);
  if (!has_tied_part && rest.squaredNorm() <= 1) {
    u = 0;
    q = rest;
    q[axis] = std::sqrt(std::max(0.0, 1 - rest.squaredNorm()));
  } else {
    if (!(u > 0)) u = 0.5 * high;
    for (int iteration = 0; iteration < 200; ++iteration) {
      q = unit_coordinates(u);
      const double sum = q.squaredNorm();
      (sum >= 1 ? low : high) = u;
      const double slope = -2 * (q.array().square() / (u + rho.array())).sum();
      double next = u + 2 * sum * (1 - std::sqrt(sum)) / slope;
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - u) <= 1e-16 * u || next == low || next == high) break;
      u = next;
    }
    q = unit_coordinates(u);
    q.normalize();
  }
  for (int i = 0; i < 3; ++i) q[i] = std::copysign(q[i], p[i]);
  const Vector3d point = radii.cwiseProduct(q);
  const Vector3d normal = q.cwiseQuotient(radii / least).normalized();
  return {point, normal, normal.dot(p - point)};
}

SignedDistance compute_plane_distance(const CollisionShape& a, const Pose& pose_a,
                                      const CollisionShape& b, const Pose& pose_b) {
  const WorldPlane plane = world_plane(b, pose_b);
  const Vector3d inward = -(pose_a.rotation.transpose() * plane.normal);
  const Vector3d lowest = pose_a * a.core_support(inward) - a.core_radius() * plane.normal;
  const double gap = plane.normal.dot(lowest) - plane.offset;
  return {.gap = gap,
          .normal = plane.normal,
          .point_a = lowest,
          .point_b = lowest - gap * plane.normal};
}

SignedDistance compute_plane_plane_distance(const CollisionShape& a, const Pose& pose_a,
                                            const CollisionShape& b, const Pose& pose_b) {
  const WorldPlane plane_a = world_plane(a, pose_a), plane_b = world_plane(b, pose_b);
  // Opposite up to the rounding of two rotated unit vectors.
  if ((plane_a.normal + plane_b.normal).norm() > 1e-14) {
    return {-kInfinity, plane_b.normal, plane_a.foot(), plane_b.foot()};
  }
  return {-plane_a.offset - plane_b.offset, plane_b.normal, -plane_a.offset * plane_b.normal,
          plane_b.foot()};
}

SignedDistance compute_sphere_distance(const CollisionShape& a, const Pose& pose_a,
                                       const CollisionShape& b, const Pose& pose_b) {
  const Vector3d& center = pose_a.position;
  const double radius = a.core_radius();
  if (b.kind() == ShapeKind::kSphere) {
    const Vector3d w = center - pose_b.position;
    const double distance = w.norm();
    const Vector3d normal =
        distance > 0 ? Vector3d(w / distance) : direction_of_concentric(radius, b.core_radius());
    return between_balls(center, radius, pose_b.position, b.core_radius(), normal, distance);
  }
  if (b.kind() == ShapeKind::kCapsule) return sphere_capsule(a, center, b, pose_b);
  const Vector3d local = pose_b.rotation.transpose() * (center - pose_b.position);
  const SurfacePoint nearest = nearest_on_solid(b, local);
  const Vector3d normal = pose_b.rotation * nearest.normal;
  return {.gap = nearest.distance - radius,
          .normal = normal,
          .point_a = center - radius * normal,
          .point_b = pose_b * nearest.point};
}

/// Flat: of all these sums of vectors some were called, for twice as many instructions.
[[gnu::flatten]] SignedDistance compute_capsule_distance(const CollisionShape& a,
                                                         const Pose& pose_a,
                                                         const CollisionShape& b,
                                                         const Pose& pose_b) {
  // About the centre of b: far from the origin of the world nothing is lost.
  const Segment axis_a{pose_a.position - pose_b.position, pose_a.rotation.col(2), a.half().z()};
  const Segment axis_b{Vector3d::Zero(), pose_b.rotation.col(2), b.half().z()};
  const Vector3d cross = axis_a.direction.cross(axis_b.direction);
  SegmentPair nearest = nearest_on_segments(axis_a, axis_b, cross);
  Vector3d w = axis_a.at(nearest.s) - axis_b.at(nearest.t);
  Vector3d normal = normal_of_axes(axis_a, axis_b, nearest, cross, w);
  const double rounding = 16 * std::numeric_limits<double>::epsilon() *
                          (axis_a.half + axis_b.half + std::sqrt(nearest.square));
  if (misfit_of(axis_a, axis_b, w, normal) > rounding) {
    const AxisSeparation best = find_best_fit(axis_a, axis_b, cross, {nearest, normal}, rounding);
    nearest = best.points;
    normal = best.normal;
    w = axis_a.at(nearest.s) - axis_b.at(nearest.t);
  }
  return between_balls(pose_a.position + nearest.s * axis_a.direction, a.core_radius(),
                       pose_b.position + nearest.t * axis_b.direction, b.core_radius(), normal,
                       normal.dot(w));
}

}  // namespace stiction
