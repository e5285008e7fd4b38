// Recorded contacts against the shapes they belong to.
#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "stiction/audit/geometry_laws.h"
#include "stiction/audit/rounding.h"
#include "stiction/base/infinity.h"

namespace stiction {

using Eigen::Vector2d;
using Eigen::Vector3d;

namespace {

constexpr double kPlace = 1e-9;  // as in geometry_laws.cc
/// Corners of faces that lie as near to each other as this are one: contacts are there up to that.
constexpr double kSnap = 1e-7;
/// Edges that cross over a face may have its normal nearly, but not to rounding.
constexpr double kSameNormal = 1e-12;
/// Along its normal the place of a contact is known up to the accuracy of distances.
constexpr double kAlong = 1e-8;

/// Whether a place is in the convex hull of others, up to `tolerance`: near one of their segments,
/// or no half-plane through it is free of them.
bool is_covered(const Vector2d& place, const std::vector<Vector2d>& by, double tolerance) {
  std::vector<double> angles;
  for (std::size_t i = 0; i < by.size(); ++i) {
    const Vector2d from = by[i] - place;
    if (from.norm() <= tolerance) return true;
    angles.push_back(std::atan2(from.y(), from.x()));
    for (std::size_t k = 0; k < i; ++k) {
      const Vector2d along = by[k] - by[i];
      const double share = std::clamp(-from.dot(along) / along.squaredNorm(), 0.0, 1.0);
      if ((from + share * along).norm() <= tolerance) return true;
    }
  }
  if (angles.size() < 3) return false;
  std::sort(angles.begin(), angles.end());
  double widest = angles.front() + 2 * M_PI - angles.back();
  for (std::size_t i = 1; i < angles.size(); ++i)
    widest = std::max(widest, angles[i] - angles[i - 1]);
  return widest < M_PI;
}

}  // namespace

/// Features of a contact are chosen where the step begins and stay what they are within it: faces
/// and edges go on beyond their ends. So a place may be off a shape by as far as the two have
/// moved, and a normal off those that support it by as far as they have turned; nothing else.
void GeometryLaws::check_contact(const AuditedContact& contact, When when, AuditReport& report) {
  const int a = contact.shape_a, b = contact.shape_b;
  const Travel of_a = travel(a, start_, end_), of_b = travel(b, start_, end_);
  const Pair pair = std::minmax(a, b);
  const double size = size_of(pair) + std::abs(contact.gap) + 1e-3 * extent_;
  const double slack =
      kSnap * size + 2 * (of_a.way + of_b.way) + (of_a.turn + of_b.turn) * size_of(pair);
  const Separation::Placed placed_a{shapes_[a], end_[a]}, placed_b{shapes_[b], end_[b]};
  const Vector3d& n = contact.normal;
  report.check(Law::kGaps, std::abs(n.norm() - 1), kPlace,
               [&] { return fmt::format("{}: length of the normal, minus 1", name_of(contact)); });
  const Vector3d on_a = contact.point + 0.5 * contact.gap * n,
                 on_b = contact.point - 0.5 * contact.gap * n;
  const bool has_hulls = is_convex(pair);
  // The normal is one of a's surface or of b's where they touch.
  const auto beyond = [&](const Separation::Placed& placed, const Vector3d& direction,
                          const Vector3d& point) {
    if (!has_hulls && placed.shape.is_surface()) return kInfinity;  // by which part is not known
    static const AuditShape dot{Shape{Sphere{0}}};
    const Pose pose{point, Eigen::Matrix3d::Identity()};
    return -Separation::along({dot, pose}, placed, direction);
  };
  const double beyond_a = beyond(placed_a, -n, on_a), beyond_b = beyond(placed_b, n, on_b);
  const std::string_view place = when == When::kAtTheEnd ? " at the end of the step" : "";
  // Both supporting planes are where the contact says, if not the point in them.
  const bool is_extended =
      when == When::kAtTheEnd && std::abs(beyond_a) <= slack && std::abs(beyond_b) <= slack;
  // Where two edges cross moves along them by 1/sin θ of their motion. A plane meets a surface at
  // vertices, which do not go on beyond anything.
  const bool is_at_vertex =
      has_hulls && (placed_a.shape.is_surface() || placed_b.shape.is_surface());
  const double place_slack = is_at_vertex ? kSnap * size
                             : has_hulls  ? slack / crossing_sine(contact)
                                          : slack;
  for (const auto& [placed, point, shape] :
       {std::tuple(placed_a, on_a, a), std::tuple(placed_b, on_b, b)}) {
    const int which = shape;
    if (!is_extended || is_at_vertex)
      report.check(Law::kGaps, std::abs(Separation::of_point(placed, point)), place_slack, [&] {
        return fmt::format("{}: distance of the touching point from {}{} [m]", name_of(contact),
                           surfaces_->name_of_object(which), place);
      });
  }
  if (has_hulls) check_along_normal(contact, beyond_a, beyond_b, of_a.turn + of_b.turn, report);
  if (has_hulls) check_stays(contact, when, report);
  if (has_hulls) directions_[pair] = a == pair.first ? n : Vector3d(-n);
  if (!has_hulls && when == When::kAtTheEnd) {
    const auto [at, is_new] = deepest_.try_emplace(pair, Deepest{.gap = kInfinity, .normal = n});
    if (contact.gap < at->second.gap) at->second = {contact.gap, a == pair.first ? n : -n};
  }
  double support = std::min(beyond_a, beyond_b);
  for (const auto& [placed, point, outward] :
       {std::tuple(placed_a, on_a, Vector3d(-n)), std::tuple(placed_b, on_b, n)})
    if (placed.shape.is_surface() && !(support <= slack))
      support = std::min({support, Separation::beyond_nearby(placed, point, outward, slack),
                          size_of(pair) * Separation::off_normal(placed, point, n, slack)});
  const double turned =
      has_hulls ? turn_of_normal(contact, of_a.turn + of_b.turn) * size_of(pair) : 0;
  report.check(Law::kGaps, support, slack + turned, [&] {
    return fmt::format("{}: how far shapes reach beyond the contact along its normal{} [m]",
                       name_of(contact), place);
  });
}

/// `beyond` is how far a touching point is from the outermost one of its shape along the normal. It
/// is in the shape, or in the plane of one of its faces, or on the line of one of its edges: not
/// negative. And the normal is that of a face, of a round surface, or of two edges: 0 for one of
/// the two shapes, wherever they have moved to; only edges cease to be outermost as they turn.
void GeometryLaws::check_along_normal(const AuditedContact& contact, double beyond_a,
                                      double beyond_b, double turn, AuditReport& report) const {
  const AuditShape &a = shapes_[contact.shape_a], &b = shapes_[contact.shape_b];
  const double size = size_of(std::minmax(contact.shape_a, contact.shape_b)),
               rounding = kAlong * (size + std::abs(contact.gap) + 1e-3 * extent_);
  for (const auto& [shape, beyond, index, side] :
       {std::tuple(&a, beyond_a, contact.shape_a, -1.0),
        std::tuple(&b, beyond_b, contact.shape_b, 1.0)}) {
    const int which = index;
    if (shape->is_plane()) {
      const Vector3d normal = end_[index].rotation * shape->face_along(Vector3d::Zero());
      report.check(Law::kGaps, (side * contact.normal - normal).norm(), kPlace, [&] {
        return fmt::format("{}: normal against that of {}", name_of(contact),
                           surfaces_->name_of_object(which));
      });
    }
    report.check(Law::kGaps, std::max(0.0, -beyond), rounding, [&] {
      return fmt::format("{}: gap that leaves {} behind [m]", name_of(contact),
                         surfaces_->name_of_object(which));
    });
  }
  const double slack = turn_of_normal(contact, turn) * size;
  report.check(Law::kGaps, std::min(std::abs(beyond_a), std::abs(beyond_b)), rounding + slack, [&] {
    return fmt::format("{}: gap against that of its shapes along the normal [m]", name_of(contact));
  });
}

/// How far the normal of two crossing edges may have turned, by ψ, while they turned by φ against
/// each other. Both normals n are perpendicular to one edge; of the other edge d, which crosses it
/// under θ now, the old one has |n·d| = sin ψ sin θ, and no more than φ, since it was 0.
double GeometryLaws::turn_of_normal(const AuditedContact& contact, double turn) const {
  if (!has_edge_normal(contact)) return 0;
  const double sine = crossing_sine(contact);
  return turn < sine ? std::asin(turn / sine) : M_PI / 2;
}

bool GeometryLaws::has_edge_normal(const AuditedContact& contact) const {
  return !has_face_normal(contact, kPlace) && shapes_[contact.shape_a].rounding() == 0 &&
         shapes_[contact.shape_b].rounding() == 0;
}

/// Of the edges whose crossing the contact is; 1 if it is none.
double GeometryLaws::crossing_sine(const AuditedContact& contact) const {
  if (!has_edge_normal(contact)) return 1;
  return Separation::crossing_sine({shapes_[contact.shape_a], end_[contact.shape_a]},
                                   {shapes_[contact.shape_b], end_[contact.shape_b]},
                                   contact.normal, kSnap);
}

bool GeometryLaws::has_face_normal(const AuditedContact& contact, double tolerance) const {
  const auto is_face_of = [&](int shape, const Vector3d& direction) {
    if (!shapes_[shape].has_faces()) return false;
    const Vector3d own = end_[shape].rotation.transpose() * direction;
    return (shapes_[shape].face_along(own) - own).norm() <= tolerance;
  };
  return is_face_of(contact.shape_a, -contact.normal) ||
         is_face_of(contact.shape_b, contact.normal);
}

/// A corner, end or middle over a face is fixed in its shape for the whole step: so is the point of
/// its core, which may be rounded by a ball.
void GeometryLaws::check_stays(const AuditedContact& contact, When when, AuditReport& report) {
  const AuditShape &a = shapes_[contact.shape_a], &b = shapes_[contact.shape_b];
  const Vector3d half = 0.5 * contact.gap * contact.normal;
  const auto core = [&](int shape, double side) {
    const Vector3d point =
        contact.point + side * (half + shapes_[shape].rounding() * contact.normal);
    return Vector3d(end_[shape].rotation.transpose() * (point - end_[shape].position));
  };
  const CorePlace now{core(contact.shape_a, 1), core(contact.shape_b, -1)};
  const double tolerance =
      kSnap * (size_of(std::minmax(contact.shape_a, contact.shape_b)) + 1e-3 * extent_);
  for (const auto& [shape, place, index] :
       {std::tuple(&a, now.a, contact.shape_a), std::tuple(&b, now.b, contact.shape_b)}) {
    if (!shape->is_ball()) continue;
    const int which = index;
    report.check(Law::kGaps, (place - shape->corners()[0]).norm(), tolerance, [&] {
      return fmt::format("{}: distance of the middle of {} from where the contact says [m]",
                         name_of(contact), surfaces_->name_of_object(which));
    });
  }
  if (when == When::kWhereRowsAre) {
    places_[contact.id] = now;
    return;
  }
  const auto before = places_.find(contact.id);
  const bool has_cores =
      (a.is_plane() || !a.corners().empty()) && (b.is_plane() || !b.corners().empty());
  if (before == places_.end() || !has_cores || !has_face_normal(contact, kSameNormal)) return;
  report.check(
      Law::kGaps, std::min((now.a - before->second.a).norm(), (now.b - before->second.b).norm()),
      tolerance, [&] {
        return fmt::format("{}: way of its place in the shape it belongs to [m]", name_of(contact));
      });
}

/// Corners of one shape below a face of the other, or no higher than what counts as touching, have
/// contacts, or lie within the hull of others: nothing else keeps them from moving in. Faces of
/// solids are those that the recorded normals say, and corners count that are inside.
void GeometryLaws::check_covered(const Pair& pair, std::span<const AuditedContact* const> contacts,
                                 double touching, AuditReport& report) const {
  const double turn =
      travel(pair.first, start_, end_).turn + travel(pair.second, start_, end_).turn;
  const double size = size_of(pair), snap = kSnap * (size + 1e-3 * extent_);
  for (const Pair& roles : {pair, Pair(pair.second, pair.first)}) {
    const int own = roles.first, other = roles.second;
    const AuditShape &corners = shapes_[own], &faces = shapes_[other];
    if (corners.corners().empty() || !faces.has_faces()) continue;
    // Vertices in a hollow of a mesh may be inside of a box that does not reach them from outside.
    if (corners.is_surface() && !faces.is_plane()) continue;
    // From the other shape outwards.
    const Vector3d n =
        contacts[0]->shape_b == other ? contacts[0]->normal : Vector3d(-contacts[0]->normal);
    const Vector3d own_n = end_[other].rotation.transpose() * n;
    if ((faces.face_along(own_n) - own_n).norm() > kPlace) continue;
    const double limit =
        faces.is_plane() ? touching - kUlps * (size + extent_) : -snap - turn * size;
    const Vector3d along = n.unitOrthogonal(), across = n.cross(along);
    const auto flat = [&](const Vector3d& point) {
      return Vector2d(along.dot(point), across.dot(point));
    };
    std::vector<Vector2d> places;
    for (const AuditedContact* contact : contacts) places.push_back(flat(contact->point));
    for (const Vector3d& corner : corners.corners()) {
      const Vector3d point = end_[own] * corner;
      const Vector3d in_other = end_[other].rotation.transpose() * (point - end_[other].position);
      const double height = faces.outside_faces(in_other) - corners.rounding();
      if (height > limit) continue;
      report.check(Law::kContactsFound, is_covered(flat(point), places, snap) ? 0 : 1, 0.5, [&] {
        return fmt::format(
            "{}: a corner of {} touches at a height of {:.3g} m and is not among the "
            "contacts of the pair, nor between them",
            name_of(pair), surfaces_->name_of_object(own), height);
      });
    }
  }
}

}  // namespace stiction
