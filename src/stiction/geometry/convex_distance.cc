#include "stiction/geometry/convex_distance.h"

#include <algorithm>
#include <cmath>

#include "stiction/geometry/box_separation.h"
#include "stiction/geometry/expanding_polytope.h"
#include "stiction/geometry/inscribed_ball.h"
#include "stiction/geometry/separation_search.h"
#include "stiction/geometry/symmetric_directions.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// [m] A part of the size. Where one of both is much smaller, that part would count beside it: a
/// part of the smaller one then, but not less than what doubles leave of the larger.
double part_of_sizes(const ConvexPair& pair, double part) {
  const double smaller = std::min(pair.a().size(), pair.b().size());
  return std::min(part * pair.size(), 1e2 * part * smaller + 1e2 * kEpsilon * pair.size());
}

bool is_round(const CollisionShape& shape) {
  return shape.kind() == ShapeKind::kCylinder || shape.kind() == ShapeKind::kEllipsoid;
}

SignedDistance in_world(const ConvexPair& pair, const Pose& pose_a, const CoreDistance& core) {
  const double radius_a = pair.a().core_radius(), radius_b = pair.b().core_radius();
  return {.gap = core.gap - radius_a - radius_b,
          .normal = pose_a.rotation * core.normal,
          .point_a = pose_a * Vector3d(core.a - radius_a * core.normal),
          .point_b = pose_a * Vector3d(core.b + radius_b * core.normal)};
}

// --------------------------------------------------------------------------------------------------
// Overlapping cores

/// Flat differences (no volume to rounding): the best of the axes.
DirectedSeparation best_of_axes(ConvexPair& pair) {
  DirectedSeparation best{Vector3d::UnitX(), -std::numeric_limits<double>::infinity()};
  for (int i = 0; i < 6; ++i) {
    const Vector3d n = (i % 2 ? -1.0 : 1.0) * Vector3d::Unit(i / 2);
    const DirectedSeparation found = maximize_separation(pair, n, {.angle = 0.1});
    if (found.value > best.value) best = found;
  }
  return best;
}

DirectedSeparation separation_of(const ExpandingPolytope::Plane& plane) {
  return {-plane.normal, -plane.height};
}

/// Grows until the lowest face is a face of A − B.
DirectedSeparation find_depth_of_polytopes(ConvexPair& pair, ExpandingPolytope& polytope) {
  const double tolerance = 8 * kEpsilon * pair.size();
  double lowest = 0;
  while (true) {
    const int face = polytope.find_lowest_face();
    if (face < 0) break;
    lowest = polytope.offset_of(face);
    if (lowest >= polytope.best().height - tolerance) break;
    if (polytope.probe(pair, face) <= tolerance) break;
    if (!polytope.expand(face)) polytope.set_aside(face);
  }
  const DirectedSeparation found = separation_of(polytope.best());
  return maximize_separation(pair, found.normal, {.angle = 1e-7});
}

constexpr int kMaxStuckFaces = 40;

/// Round bodies have no face to arrive at, but a search from a face does: it gives the upper bound,
/// and the faces only have to rise to it to show that there is no other.
DirectedSeparation find_depth_of_round_bodies(ConvexPair& pair, ExpandingPolytope& polytope) {
  const double tolerance = part_of_sizes(pair, 1e-10);
  DirectedSeparation best = separation_of(polytope.best());
  const auto search_from = [&](const Vector3d& n) {
    const DirectedSeparation found = maximize_separation(pair, n, {.angle = 0.05});
    if (found.value > best.value) best = found;
    polytope.offer({-found.normal, -found.value});
  };
  search_from(best.normal);
  const auto find_low_face = [&] {
    const int face = polytope.find_lowest_face();
    return face >= 0 && polytope.offset_of(face) < polytope.best().height - tolerance ? face : -1;
  };
  int num_stuck = 0;
  for (int face = find_low_face(); face >= 0; face = find_low_face()) {
    const double before = polytope.best().height;
    polytope.probe(pair, face);
    if (polytope.best().height < before) search_from(-polytope.best().normal);
    if (polytope.expand(face)) continue;
    // Where all directions are nearly as good, the space for faces runs out before the proof is
    // complete (concentric spheroids); and rounding may forbid to add a point.
    if (++num_stuck > kMaxStuckFaces) break;
    search_from(-polytope.normal_of(face));
    polytope.set_aside(face);
  }
  if (num_stuck > 0) {
    const DirectedSeparation found = search_symmetric_directions(pair);
    if (found.value > best.value) best = found;
  }
  return best;
}

/// Whether balls inside the bodies show that no direction is better, see inscribed_ball.h.
bool is_proven_best(const ConvexPair& pair, const CoreDistance& found) {
  if (found.misfit > 1e-13 * pair.size()) return false;
  if (found.gap >= 0) return true;
  const Eigen::Matrix3d& R = pair.rotation();
  const double radius_a = compute_inscribed_radius(pair.a(), found.a, -found.normal);
  if (-found.gap <= radius_a) return true;
  const double radius_b = compute_inscribed_radius(
      pair.b(), R.transpose() * (found.b - pair.position()), R.transpose() * found.normal);
  return -found.gap <= radius_a + radius_b;
}

/// A direction good to 1e-10 may still miss the edge that the best one is perpendicular to, if its
/// support point is not on that edge; from closer by the next search finds it.
CoreDistance find_fitting_witnesses(ConvexPair& pair, DirectedSeparation separation) {
  const double rounding = 1e-13 * pair.size();
  CoreDistance found = find_witnesses(pair, separation);
  for (const double angle : {1e-6, 1e-4, 1e-2, 1e-1}) {
    if (found.misfit <= rounding) break;
    const DirectedSeparation next = maximize_separation(pair, separation.normal, {.angle = angle});
    const CoreDistance fitting = find_witnesses(pair, next);
    if (next.value > separation.value) separation = next;
    const bool fits_better = fitting.misfit < found.misfit && fitting.gap >= found.gap - rounding;
    if (fits_better || fitting.gap > found.gap + rounding) found = fitting;
  }
  return found;
}

CoreDistance compute_depth(ConvexPair& pair, const Vector3d& guess) {
  const double length = guess.norm();
  if (length > 0) {
    const DirectedSeparation near = maximize_separation(pair, guess / length, {.angle = 0.2});
    CoreDistance found = find_witnesses(pair, near);
    if (is_proven_best(pair, found)) return found;
  }
  ExpandingPolytope polytope;
  if (!polytope.start(pair)) return find_witnesses(pair, best_of_axes(pair));
  const DirectedSeparation found = is_round(pair.a()) || is_round(pair.b())
                                       ? find_depth_of_round_bodies(pair, polytope)
                                       : find_depth_of_polytopes(pair, polytope);
  return find_fitting_witnesses(pair, found);
}

/// The tetrahedron in which GJK has found the origin is where the faces grow from: of polytopes
/// there is no closer start, and what the faces find is the depth and its proof at once.
CoreDistance compute_depth_of_polytopes(ConvexPair& pair, const GjkResult& gjk) {
  ExpandingPolytope polytope;
  if (!polytope.start(pair, gjk.simplex)) return compute_depth(pair, gjk.best_direction);
  return find_fitting_witnesses(pair, find_depth_of_polytopes(pair, polytope));
}

// --------------------------------------------------------------------------------------------------
// Cores apart

CoreDistance from_gjk(const GjkResult& gjk) {
  const double length = gjk.v.norm();
  return {.gap = length,
          .normal = gjk.v / length,
          .a = gjk.simplex.point_a(),
          .b = gjk.simplex.point_b(),
          .misfit = 0};
}

Vector3d guess_of(const ConvexPair& pair) {
  const Vector3d difference = pair.center_difference();
  return difference.squaredNorm() > 0 ? difference : Vector3d(Vector3d::UnitX());
}

CoreDistance compute_core_distance_of_polytopes(ConvexPair& pair, double reach) {
  const double size = pair.size();
  // A gap of just `reach` must not be lost to the rounding of its lower bound.
  reach += 16 * kEpsilon * (size + pair.center_difference().norm());
  const GjkResult gjk = run_gjk([&](const Vector3d& v) { return pair.support(v); }, guess_of(pair),
                                {.relative = kEpsilon, .touching = 1e-14 * size, .reach = reach});
  if (gjk.touches) return compute_depth_of_polytopes(pair, gjk);
  CoreDistance apart = from_gjk(gjk);
  if (gjk.lower > reach) {
    apart.gap = gjk.lower;
    return apart;
  }
  // The direction of v is known to size ε/|v| only; the separation along it tells whether that is
  // good enough. Close to touching, features know it better.
  const double rounding = 4 * kEpsilon * (size + apart.gap);
  if (apart.gap - gjk.lower <= rounding) return apart;
  const DirectedSeparation found =
      maximize_separation(pair, apart.normal, {.angle = 1e-2, .upper = apart.gap});
  CoreDistance refined = find_witnesses(pair, found);
  if (found.value >= apart.gap - part_of_sizes(pair, 1e-12) || found.value > 1e-6 * size) {
    return refined;
  }
  const CoreDistance other = compute_depth(pair, gjk.best_direction);
  return other.gap > refined.gap ? other : refined;
}

CoreDistance compute_core_distance_of_round_bodies(ConvexPair& pair) {
  const double size = pair.size();
  Vector3d direction = guess_of(pair);
  CoreDistance best, apart;  // of largest separation; the nearest points of the finest search
  best.gap = -std::numeric_limits<double>::infinity();
  // A coarse solution is good enough as a start almost always; what misfits gets a finer one.
  for (const double relative : {1e-4, 1e-8, 1e-13}) {
    const GjkResult gjk =
        run_gjk([&](const Vector3d& v) { return pair.support(v); }, guess_of(pair),
                {.relative = relative, .touching = part_of_sizes(pair, 1e-10)});
    direction = gjk.best_direction;
    if (gjk.touches) break;
    apart = from_gjk(gjk);
    const DirectedSeparation found = maximize_separation(
        pair, apart.normal, {.angle = 3 * std::sqrt(relative), .upper = apart.gap});
    if (!(found.value > 0)) break;
    CoreDistance refined = find_witnesses(pair, found);
    // Points of both bodies that far apart along a direction that separates them by as much.
    if (refined.misfit <= 1e-13 * size + 4 * kEpsilon * apart.gap) return refined;
    if (refined.gap > best.gap) best = refined;
    direction = found.normal;
  }
  // Where a segment and the end of a cylinder, say, are askew by 1e-12, they are neither flat on
  // each other to rounding nor are their points told apart by it: points of which a distance is
  // known that no direction beats by more than is promised are nearest ones.
  if (best.gap >= apart.gap - part_of_sizes(pair, 1e-10)) {
    apart.misfit = (apart.a - apart.b - best.gap * best.normal).norm();
    if (best.misfit <= apart.misfit) return best;
    return {best.gap, best.normal, apart.a, apart.b, apart.misfit};
  }
  const CoreDistance other = compute_depth(pair, direction);
  return other.gap > best.gap ? other : best;
}

/// The best axis of two boxes is the answer where they overlap, and where faces or edges face each
/// other; apart with corners, it is not.
bool try_boxes(ConvexPair& pair, CoreDistance& found) {
  if (pair.a().kind() != ShapeKind::kBox || pair.b().kind() != ShapeKind::kBox) return false;
  const DirectedSeparation separation = find_box_separation(pair);
  if (separation.value > 0.1 * pair.size()) return false;
  found = find_witnesses(pair, separation);
  return separation.value <= 0 || found.misfit <= 1e-14 * pair.size();
}

}  // namespace

SignedDistance compute_convex_distance(const CollisionShape& a, const Pose& pose_a,
                                       const CollisionShape& b, const Pose& pose_b, double reach) {
  ConvexPair pair(a, pose_a, b, pose_b);
  CoreDistance core;
  if (!try_boxes(pair, core)) {
    core = is_round(a) || is_round(b) ? compute_core_distance_of_round_bodies(pair)
                                      : compute_core_distance_of_polytopes(
                                            pair, reach + a.core_radius() + b.core_radius());
  }
  return in_world(pair, pose_a, find_fitting_points(pair, core, 1e-13 * pair.size()));
}

}  // namespace stiction
