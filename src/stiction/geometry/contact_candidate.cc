#include "stiction/geometry/contact_candidate.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/base/check.h"
#include "stiction/base/pair.h"
#include "stiction/geometry/analytic_distance.h"
#include "stiction/geometry/ball_contacts.h"
#include "stiction/geometry/collision_shape.h"
#include "stiction/geometry/distance.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Kind = ContactFeature::Kind;

/// A feature in the world but for its point, which is relative to the position of shape b: far from
/// the origin of the world positions have lost the digits that gaps are made of.
struct PlacedFeature {
  Vector3d point, direction;
  double radius;
};

/// Three numbers that stay in registers, for the pairs that most contacts are: every step evaluates
/// each of them twice.
struct Triple {
  double x, y, z;
};
inline Triple triple(const Vector3d& v) { return {v.x(), v.y(), v.z()}; }
/// In pieces in which it is copied afterwards: a load that needs two stores has to wait for both.
inline void store(const Triple& v, Vector3d& out) {
  store_pair(Pair{v.x, v.y}, out.data());
  out.z() = v.z;
}
inline Triple operator+(const Triple& a, const Triple& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Triple operator-(const Triple& a, const Triple& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Triple operator*(double factor, const Triple& a) {
  return {factor * a.x, factor * a.y, factor * a.z};
}
inline double dot(const Triple& a, const Triple& b) { return a.x * b.x + (a.y * b.y + a.z * b.z); }
inline Triple turned(const Eigen::Matrix3d& rotation, const Vector3d& v) {
  const double* r = rotation.data();
  return {r[0] * v.x() + (r[3] * v.y() + r[6] * v.z()),
          r[1] * v.x() + (r[4] * v.y() + r[7] * v.z()),
          r[2] * v.x() + (r[5] * v.y() + r[8] * v.z())};
}

/// Of the sum of two radii: as near to the axis has to come what goes through it. What rolls over a
/// rod by less than 50° in a step, whose chord is further out, has its distance.
constexpr double kGrazing = 0.9;

/// Whether something round has gone through something else that is round since it was detected at
/// the distance `start` of their axes, along a unit normal: it is at the distance √`square` now, of
/// which `height` is along that normal, and leaves the axis on a straight way that has come nearer
/// to it than kGrazing times `reach`, the sum of both radii. What was deep inside at the start may
/// leave where it likes. (That it is below the axis would not do as a criterion: what is beside it
/// has a gap above zero there, and searches for the time of a collision would end at the jump.)
/// Hardly ever asked: inlined it would cost all others their registers.
[[gnu::noinline]] bool has_gone_through(const ContactCandidate& candidate, double height,
                                        double square) {
  const double reach = candidate.a.radius + candidate.b.radius, start = candidate.gap + reach;
  if (!(candidate.side > 0 && candidate.a.radius > 0 && candidate.b.radius > 0)) return false;
  if (!(start > reach / 2 && start < kInfinity)) return false;
  if (!(start > height && square > start * height)) return false;
  const double way = start * (start - 2 * height) + square, nearest = std::min(start, reach);
  return start * start * (square - height * height) < kGrazing * kGrazing * nearest * nearest * way;
}

/// A point of shape a and a line of shape b, as touch_of_point_and_line, but for what has gone
/// through the line since detection (see evaluate_touch). False, with nothing done, where the point
/// is on the axis of the line. `turns` is −1 where the point is of shape b.
inline bool try_point_and_line(const ContactFeature& point, const Pose& pose,
                               const ContactFeature& line, const Pose& pose_line,
                               const ContactCandidate& candidate, double turns, Touch& touch) {
  const double side = candidate.side;
  const Triple origin = triple(pose_line.position);
  const Triple x = triple(pose.position) - origin + turned(pose.rotation, point.point);
  const Triple y = turned(pose_line.rotation, line.point),
               direction = turned(pose_line.rotation, line.direction);
  const Triple foot = y + dot(direction, x - y) * direction, across = x - foot;
  const double distance = std::sqrt(dot(across, across));
  if (!(distance > 0)) return false;
  Triple normal = (side / distance) * across;
  touch.gap = side * distance - point.radius - line.radius;
  const double height = turns * dot(triple(candidate.normal), across);
  if (height < kGrazing * distance && has_gone_through(candidate, height, distance * distance)) {
    normal = turns * triple(candidate.normal);
    touch.gap = height - point.radius - line.radius;
  }
  store(normal, touch.normal);
  store(origin + 0.5 * (x + foot + (line.radius - point.radius) * normal), touch.point);
  return true;
}

/// The same for two points, whose touch as they are now is known.
inline void keep_behind(const ContactCandidate& candidate, const Vector3d& offset, Touch& touch) {
  const double reach = candidate.a.radius + candidate.b.radius, distance = touch.gap + reach;
  const double height = candidate.normal.dot(offset);
  if (!(height < kGrazing * distance) || !has_gone_through(candidate, height, distance * distance))
    return;
  touch.gap = height - reach;
  touch.point += (candidate.b.radius - candidate.a.radius) / 2 * (candidate.normal - touch.normal);
  touch.normal = candidate.normal;
}

/// Three numbers of which the first two are computed at once, with sums in the order that products
/// and dot products of matrices have.
struct PairAndOne {
  Pair xy;
  double z;
};
inline PairAndOne pair_and_one(const Vector3d& v) { return {load_pair(v.data()), v.z()}; }
inline PairAndOne operator+(const PairAndOne& a, const PairAndOne& b) {
  return {a.xy + b.xy, a.z + b.z};
}
inline PairAndOne operator-(const PairAndOne& a, const PairAndOne& b) {
  return {a.xy - b.xy, a.z - b.z};
}
inline PairAndOne operator*(double factor, const PairAndOne& a) {
  return {factor * a.xy, factor * a.z};
}
inline double dot(const PairAndOne& a, const PairAndOne& b) {
  return sum_of(a.xy * b.xy) + a.z * b.z;
}
inline PairAndOne product(const Eigen::Matrix3d& rotation, const Vector3d& v) {
  const double* r = rotation.data();
  return {load_pair(r) * v.x() + load_pair(r + 3) * v.y() + load_pair(r + 6) * v.z(),
          r[2] * v.x() + (r[5] * v.y() + r[8] * v.z())};
}
inline void store(const PairAndOne& a, Vector3d& out) {
  store_pair(a.xy, out.data());
  out.z() = a.z;
}

/// A point and a plane, as touch_of_point_and_plane: what most contacts of boxes are. The normal
/// points to the point.
inline void touch_point_and_plane(const ContactFeature& point, const Pose& pose,
                                  const ContactFeature& plane, const Pose& pose_plane,
                                  const Vector3d& origin, Touch& touch) {
  const PairAndOne o = pair_and_one(origin);
  const PairAndOne x = pair_and_one(pose.position) - o + product(pose.rotation, point.point);
  const PairAndOne y =
      pair_and_one(pose_plane.position) - o + product(pose_plane.rotation, plane.point);
  const PairAndOne normal = product(pose_plane.rotation, plane.direction);
  touch.gap = dot(normal, x - y) - point.radius;
  store(normal, touch.normal);
  store(x - (point.radius + touch.gap / 2) * normal + o, touch.point);
}

/// Points have no direction, and nobody asks for it.
inline void place(const ContactFeature& feature, const Pose& pose, const Vector3d& origin,
                  PlacedFeature& placed) {
  placed.point = (pose.position - origin) + pose.rotation * feature.point;
  if (feature.kind != Kind::kPoint) placed.direction = pose.rotation * feature.direction;
  placed.radius = feature.radius;
}

/// Some unit vector orthogonal to a unit vector, the same for the same input.
Vector3d any_normal_to(const Vector3d& direction) {
  int smallest = 0;
  direction.cwiseAbs().minCoeff(&smallest);
  return direction.cross(Vector3d::Unit(smallest)).normalized();
}

Touch touch_of_points(const PlacedFeature& a, const PlacedFeature& b, double side) {
  return touch_of_balls(a.point, a.radius, b.point, b.radius, side,
                        direction_of_concentric(a.radius, b.radius));
}

Touch touch_of_point_and_line(const PlacedFeature& a, const PlacedFeature& b, double side) {
  const Vector3d foot = b.point + b.direction.dot(a.point - b.point) * b.direction;
  const bool is_on_line = !((a.point - foot).norm() > 0);
  return touch_of_balls(a.point, a.radius, foot, b.radius, side,
                        is_on_line ? any_normal_to(b.direction) : Vector3d::UnitZ());
}

/// gap = side (x_a − x_b)·(d_a × d_b)/‖d_a × d_b‖ − r_a − r_b: signed, hence smooth where the lines
/// meet, which a distance is not.
Touch touch_of_lines(const PlacedFeature& a, const PlacedFeature& b, double side) {
  const Vector3d cross = a.direction.cross(b.direction);
  const double squared_sine = cross.squaredNorm();
  if (!(squared_sine > 1e-24)) return touch_of_point_and_line(a, b, 1);
  const Vector3d normal = cross * (side / std::sqrt(squared_sine));
  const Vector3d offset = a.point - b.point;
  // Feet of the common perpendicular, from offset + s d_a − t d_b ∥ cross.
  const double s = b.direction.cross(offset).dot(cross) / squared_sine;
  const double t = a.direction.cross(offset).dot(cross) / squared_sine;
  const Vector3d foot_a = a.point + s * a.direction;
  const Vector3d foot_b = b.point + t * b.direction;
  return {normal.dot(offset) - a.radius - b.radius, normal,
          (foot_a + foot_b + (b.radius - a.radius) * normal) / 2};
}

Touch touch_of_point_and_plane(const PlacedFeature& a, const PlacedFeature& b) {
  const double gap = b.direction.dot(a.point - b.point) - a.radius;
  return {gap, b.direction, a.point - (a.radius + gap / 2) * b.direction};
}

/// The lowest point of a convex shape over a plane feature of another.
Touch touch_of_shape_and_plane(const CollisionShape& shape, const Pose& pose,
                               const ContactFeature& plane, const Pose& pose_plane) {
  const Vector3d n = pose_plane.rotation * plane.direction;
  const Vector3d lowest = pose.rotation * shape.core_support(-(pose.rotation.transpose() * n)) -
                          shape.core_radius() * n + (pose.position - pose_plane.position);
  const double gap = n.dot(lowest - pose_plane.rotation * plane.point);
  return {gap, n, pose_plane.position + lowest - gap / 2 * n};
}

/// A corner, or an edge without end, of another shape and an ellipsoid. Along an edge the ellipsoid
/// looks like an ellipse: the rows of its projection, turned until they are orthogonal, are as long
/// as its radii. The third radius is any that is longer, so that nothing leaves the plane.
Touch touch_of_ellipsoid(const CollisionShape& ellipsoid, const Pose& pose,
                         const ContactFeature& other, const Pose& pose_other) {
  const Vector3d origin = pose_other.rotation * other.point;
  const Vector3d offset = origin - (pose.position - pose_other.position);
  Vector3d normal;  // out of the ellipsoid
  double gap = 0;
  if (other.kind == Kind::kPoint) {
    const SurfacePoint nearest =
        nearest_on_ellipsoid(ellipsoid.half(), pose.rotation.transpose() * offset);
    normal = pose.rotation * nearest.normal;
    gap = nearest.distance - other.radius;
  } else {
    const Vector3d along = pose_other.rotation * other.direction;
    Vector3d e0 = any_normal_to(along), e1 = along.cross(e0);
    for (int pass = 0; pass < 2; ++pass) {
      const Vector3d row0 = ellipsoid.half().cwiseProduct(pose.rotation.transpose() * e0);
      const Vector3d row1 = ellipsoid.half().cwiseProduct(pose.rotation.transpose() * e1);
      const double angle =
          std::atan2(2 * row0.dot(row1), row0.squaredNorm() - row1.squaredNorm()) / 2;
      const Vector3d turned = std::cos(angle) * e0 + std::sin(angle) * e1;
      e1 = std::cos(angle) * e1 - std::sin(angle) * e0;
      e0 = turned;
    }
    const double radius0 = ellipsoid.half().cwiseProduct(pose.rotation.transpose() * e0).norm();
    const double radius1 = ellipsoid.half().cwiseProduct(pose.rotation.transpose() * e1).norm();
    const SurfacePoint nearest = nearest_on_ellipsoid(
        {radius0, radius1, 2 * std::max(radius0, radius1)}, {e0.dot(offset), e1.dot(offset), 0});
    normal = nearest.normal.x() * e0 + nearest.normal.y() * e1;
    gap = nearest.distance - other.radius;
  }
  const Vector3d lowest = pose * ellipsoid.core_support(pose.rotation.transpose() * normal);
  return {gap, -normal, lowest + gap / 2 * normal};
}

/// The direction from the axis of a circle that is furthest along `direction`. As a product of
/// products it is orthogonal to the axis up to rounding even where that is nearly parallel to the
/// direction: an error along the axis would go into the gap.
Vector3d outermost_of_circle(const PlacedFeature& circle, const Vector3d& direction) {
  const Vector3d radial = circle.direction.cross(direction).cross(circle.direction);
  const double length = radial.norm();
  return length > 0 ? Vector3d(radial / length) : any_normal_to(circle.direction);
}

/// The lowest point of the circle over the plane.
Touch touch_of_circle_and_plane(const PlacedFeature& a, const PlacedFeature& b) {
  const Vector3d lowest = a.point + a.radius * outermost_of_circle(a, -b.direction);
  return touch_of_point_and_plane({lowest, Vector3d::Zero(), 0}, b);
}

/// The point of the circle next to the centre of the ball. With side −1 the centre is inside of the
/// solid that the circle bounds.
Touch touch_of_point_and_circle(const PlacedFeature& a, const PlacedFeature& b, double side) {
  const Vector3d nearest = b.point + b.radius * outermost_of_circle(b, a.point - b.point);
  return touch_of_balls(a.point, a.radius, nearest, 0, side, b.direction);
}

/// A mantle (line) and a rim (circle) whose axes are nearly parallel. The point c + R e of the rim
/// that is next to the line has, with o the part of c − x orthogonal to the line's direction l,
///   f = o·e' − R (l·e)(l·e') = 0,   f' = −o·e + R ((l·e)² − (l·e')²),
/// the derivative of ½‖o + R (e − l (l·e))‖²/R by the angle of e. Newton's method starts from the
/// point towards the line, where f is of the order of the squared angle between the axes. There the
/// normal is orthogonal to l and to the tangent e' of the rim; it points away from the axis on the
/// side of c, so that the gap goes smoothly through rims that pass the axis.
Touch touch_of_line_and_circle(const PlacedFeature& line, const PlacedFeature& circle) {
  const Vector3d& l = line.direction;
  const Vector3d offset = circle.point - line.point, o = offset - l.dot(offset) * l;
  Vector3d e = outermost_of_circle(circle, -o), tangent = circle.direction.cross(e);
  for (int i = 0; i < 8; ++i) {
    const double along = l.dot(e), along_tangent = l.dot(tangent);
    const double f = o.dot(tangent) - circle.radius * along * along_tangent;
    const double slope =
        -o.dot(e) + circle.radius * (along * along - along_tangent * along_tangent);
    if (!(slope > 0)) break;  // the axes meet: any point of the rim will do
    const double turn = std::clamp(-f / slope, -0.5, 0.5);
    e = (std::cos(turn) * e + std::sin(turn) * tangent).normalized();
    tangent = circle.direction.cross(e);
    if (std::abs(turn) < 1e-16) break;
  }
  const Vector3d on_circle = circle.point + circle.radius * e;
  Vector3d outward = l.cross(tangent).normalized();
  if (outward.dot(o) < 0) outward = -outward;
  const double gap = outward.dot(on_circle - line.point) - line.radius;
  return {gap, -outward, on_circle - gap / 2 * outward};
}

/// For pairs whose first kind is not after the second in the order point, line, circle, plane.
Touch touch_of_ordered(Kind kind_a, const PlacedFeature& a, Kind kind_b, const PlacedFeature& b,
                       double side) {
  if (kind_a == Kind::kPoint && kind_b == Kind::kPlane) return touch_of_point_and_plane(a, b);
  if (kind_a == Kind::kPoint && kind_b == Kind::kPoint) return touch_of_points(a, b, side);
  if (kind_a == Kind::kPoint && kind_b == Kind::kLine) return touch_of_point_and_line(a, b, side);
  if (kind_a == Kind::kLine && kind_b == Kind::kLine) return touch_of_lines(a, b, side);
  if (kind_a == Kind::kLine && kind_b == Kind::kCircle) return touch_of_line_and_circle(a, b);
  if (kind_a == Kind::kCircle && kind_b == Kind::kPlane) return touch_of_circle_and_plane(a, b);
  ST_DEMAND(kind_a == Kind::kPoint && kind_b == Kind::kCircle);
  return touch_of_point_and_circle(a, b, side);
}

int rank_of(Kind kind) {
  switch (kind) {
    case Kind::kPoint:
      return 0;
    case Kind::kLine:
      return 1;
    case Kind::kCircle:
      return 2;
    default:
      return 3;
  }
}

std::uint64_t bits_of(FeatureCode code) {
  return (static_cast<std::uint64_t>(code.kind) << 28) | (code.index & 0x0fffffffu);
}

}  // namespace

void fix_crossing(const Touch& touch, const Pose& pose_a, const Pose& pose_b,
                  ContactCandidate& candidate) {
  constexpr double kNearlyParallel = 0.1;  // sine: 6°, more than anything should turn in a step
  ContactFeature &a = candidate.a, &b = candidate.b;
  if (a.kind != Kind::kLine || b.kind != Kind::kLine || !(a.radius + b.radius > 0)) return;
  const Vector3d along_a = pose_a.rotation * a.direction, along_b = pose_b.rotation * b.direction;
  if (along_a.cross(along_b).squaredNorm() > kNearlyParallel * kNearlyParallel) return;
  const Vector3d axis_a = touch.point + (touch.gap / 2 + a.radius) * touch.normal;
  a = make_point_feature(inverse(pose_a) * axis_a, a.radius);
  candidate.side = touch.gap + a.radius + b.radius >= 0 ? 1 : -1;
}

ContactFeature make_point_feature(const Vector3d& point, double radius) {
  return {Kind::kPoint, point, Vector3d::Zero(), radius};
}
ContactFeature make_line_feature(const Vector3d& point, const Vector3d& direction, double radius) {
  return {Kind::kLine, point, direction, radius};
}
ContactFeature make_plane_feature(const Vector3d& point, const Vector3d& normal) {
  return {Kind::kPlane, point, normal, 0};
}
ContactFeature make_circle_feature(const Vector3d& center, const Vector3d& axis, double radius) {
  return {Kind::kCircle, center, axis, radius};
}

Touch evaluate_touch(const ContactCandidate& candidate, const CollisionShape& a, const Pose& pose_a,
                     const CollisionShape& b, const Pose& pose_b) {
  const Kind kind_a = candidate.a.kind, kind_b = candidate.b.kind;
  Touch touch;
  if (kind_a == Kind::kPoint && kind_b == Kind::kPlane) {
    touch_point_and_plane(candidate.a, pose_a, candidate.b, pose_b, pose_b.position, touch);
    return touch;
  }
  if (kind_a == Kind::kPlane && kind_b == Kind::kPoint) {
    touch_point_and_plane(candidate.b, pose_b, candidate.a, pose_a, pose_b.position, touch);
    touch.normal = -touch.normal;
    return touch;
  }
  if (kind_a == Kind::kPoint && kind_b == Kind::kLine &&
      try_point_and_line(candidate.a, pose_a, candidate.b, pose_b, candidate, 1, touch))
    return touch;
  if (kind_a == Kind::kLine && kind_b == Kind::kPoint &&
      try_point_and_line(candidate.b, pose_b, candidate.a, pose_a, candidate, -1, touch)) {
    touch.normal = -touch.normal;
    return touch;
  }
  if (kind_a == Kind::kShape && kind_b == Kind::kPlane)
    return touch_of_shape_and_plane(a, pose_a, candidate.b, pose_b);
  if (kind_a == Kind::kPlane && kind_b == Kind::kShape) {
    touch = touch_of_shape_and_plane(b, pose_b, candidate.a, pose_a);
    touch.normal = -touch.normal;
    return touch;
  }
  if (kind_a == Kind::kShape && kind_b != Kind::kShape)
    return touch_of_ellipsoid(a, pose_a, candidate.b, pose_b);
  if (kind_b == Kind::kShape && kind_a != Kind::kShape) {
    touch = touch_of_ellipsoid(b, pose_b, candidate.a, pose_a);
    touch.normal = -touch.normal;
    return touch;
  }
  if (kind_a == Kind::kShape) {
    const SignedDistance d = compute_distance(a, pose_a, b, pose_b);
    return {d.gap, d.normal, (d.point_a + d.point_b) / 2};
  }
  const Vector3d& origin = pose_b.position;
  PlacedFeature at_a, at_b;
  place(candidate.a, pose_a, origin, at_a);
  place(candidate.b, pose_b, origin, at_b);
  if (kind_a == Kind::kPoint && kind_b == Kind::kPoint) {
    touch = touch_of_points(at_a, at_b, candidate.side);
    keep_behind(candidate, at_a.point - at_b.point, touch);
  } else if (rank_of(kind_a) <= rank_of(kind_b)) {
    touch = touch_of_ordered(kind_a, at_a, kind_b, at_b, candidate.side);
  } else {
    touch = touch_of_ordered(kind_b, at_b, kind_a, at_a, candidate.side);
    touch.normal = -touch.normal;
  }
  touch.point += origin;
  return touch;
}

std::uint64_t make_contact_id(FeatureCode a, FeatureCode b) {
  return (bits_of(a) << 32) | bits_of(b);
}

std::uint64_t swapped_contact_id(std::uint64_t id) {
  const std::uint64_t features = id & ~kAlternativeBit;
  return (id & kAlternativeBit) | (features << 32 & ~kAlternativeBit) | (features >> 32);
}

ContactCandidate swapped(const ContactCandidate& candidate) {
  ContactCandidate result = candidate;
  std::swap(result.a, result.b);
  result.normal = -candidate.normal;
  result.id = swapped_contact_id(candidate.id);
  // The side of lines stays: d_b × d_a and the direction of the normal both change sign.
  return result;
}

}  // namespace stiction
