// Convex shapes against bent meshes, height fields and blocks. The judge knows no features of
// surfaces: the distance of a shape A from a surface is the smallest of its distances from the
// triangles T, and each of those lies between two numbers that prove themselves,
//
//   s(n) = min_{x ∈ A} n·x − max_{y ∈ T} n·y  ≤  distance  ≤  |x − y|,   x ∈ A, y ∈ T,
//
// for any unit vector n and any two points. Supports are written down for every kind of shape in
// long double (distance_reference.h). An iteration only proposes n, x and y.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/convex_hull.h"
#include "stiction/geometry/distance.h"
#include "stiction/geometry/gjk.h"
#include "tests/geometry/distance_reference.h"
#include "tests/geometry/random_pairs.h"
#include "tests/geometry/random_surfaces.h"
#include "tests/geometry/witness_checks.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using reference::Real;

constexpr ShapeKind kKinds[] = {ShapeKind::kSphere,   ShapeKind::kCapsule,   ShapeKind::kBox,
                                ShapeKind::kCylinder, ShapeKind::kEllipsoid, ShapeKind::kConvex};

/// What is certain of the distance of a shape from triangles.
struct Certainty {
  Real lower = std::numeric_limits<Real>::infinity();
  Real upper = std::numeric_limits<Real>::infinity();
  reference::Vector normal = reference::Vector::UnitZ();  // along which `upper` is
  bool overlaps = false;  // a triangle and the shape have more in common than a touch
};

Real separation(const reference::PlacedShape& a, const TriangleCorners& t,
                const reference::Vector& n) {
  Real highest = -std::numeric_limits<Real>::infinity();
  for (const Vector3d& corner : t)
    highest = std::max(highest, n.dot(corner.cast<Real>() - a.position()));
  return -a.height(-n, a.position()) - highest;
}

/// `size`: of the shape about its centre, 1 or a little less.
GjkResult iterate(const CollisionShape& a, const Pose& pose, const TriangleCorners& t, double size,
                  double beyond) {
  const auto support = [&](const Vector3d& v) {
    DifferencePoint point;
    const Vector3d in_a = pose.rotation.transpose() * Vector3d(-v.normalized());
    const Vector3d furthest = a.core_support(in_a) + a.core_radius() * in_a;
    point.a = pose * Vector3d(a.center() + size * (furthest - a.center()));
    point.b = *std::max_element(
        t.begin(), t.end(), [&](const Vector3d& p, const Vector3d& q) { return v.dot(p - q) < 0; });
    point.w = point.a - point.b;
    return point;
  };
  const Vector3d middle = (t[0] + t[1] + t[2]) / 3;
  return run_gjk(support, Vector3d(pose.position - middle + Vector3d(1e-9, 0, 0)),
                 {.relative = 1e-11, .reach = beyond, .max_iterations = 300});
}

void look_at(const reference::PlacedShape& placed, const CollisionShape& a, const Pose& pose,
             const TriangleCorners& t, double beyond, Certainty& all) {
  constexpr double kSmaller = 1 - 1e-4;
  const GjkResult gjk = iterate(a, pose, t, 1, beyond);
  const Vector3d n = gjk.touches ? gjk.best_direction : gjk.v;
  all.lower = std::min(all.lower, separation(placed, t, n.cast<Real>().normalized()));
  const Vector3d x = gjk.simplex.point_a(), y = gjk.simplex.point_b();
  const Real distance = (x.cast<Real>() - y.cast<Real>()).norm();
  if (distance < all.upper) {
    all.upper = distance;
    all.normal = n.cast<Real>().normalized();
  }
  if (!gjk.touches) return;
  all.overlaps = all.overlaps || iterate(a, pose, t, kSmaller, beyond).touches;
}

Certainty judge(const RandomSurface& scene, const Shape& shape, const CollisionShape& a,
                const Pose& pose, double beyond) {
  const reference::PlacedShape placed(shape, pose);
  Certainty certainty;
  for (const TriangleCorners& t : scene.triangles) {
    // What is further away than the ball around the shape reaches.
    const Vector3d center = pose * a.center();
    const Vector3d low = t[0].cwiseMin(t[1]).cwiseMin(t[2]),
                   high = t[0].cwiseMax(t[1]).cwiseMax(t[2]);
    const double far = (center - center.cwiseMax(low).cwiseMin(high)).norm() - a.bounding_radius();
    if (far > beyond) {
      certainty.lower = std::min<Real>(certainty.lower, far);
      continue;
    }
    look_at(placed, a, pose, t, beyond, certainty);
  }
  return certainty;
}

/// A power of two changes no digit: no tolerance may be an absolute length.
void expect_the_same_in_other_units(const CollisionShape& a, Pose pose_a,
                                    const CollisionShape& surface, Pose pose_s, double reach,
                                    double factor) {
  const auto collect = [&](const CollisionShape& shape, const CollisionShape& other, double far) {
    ContactWorkspace workspace;
    ContactList list;
    collect_contacts(shape, pose_a, other, pose_s, {.reach = far}, workspace, list);
    return list;
  };
  const ContactList expected = collect(a, surface, reach);
  pose_a.position *= factor;
  pose_s.position *= factor;
  const ContactList found =
      collect(CollisionShape(scaled(a.shape(), factor)),
              CollisionShape(scaled(surface.shape(), factor)), factor * reach);
  ASSERT_EQ(found.candidates.size(), expected.candidates.size()) << factor;
  for (std::size_t i = 0; i < found.candidates.size(); ++i) {
    EXPECT_EQ(found.candidates[i].id, expected.candidates[i].id) << factor;
    EXPECT_EQ(found.candidates[i].gap, factor * expected.candidates[i].gap) << factor;
    EXPECT_EQ(found.candidates[i].normal, expected.candidates[i].normal) << factor;
  }
}

struct Counts {
  int num_apart = 0, num_overlapping = 0, num_far = 0, num_buried = 0, num_undecided = 0;
};

void compare(Random& random, ShapeKind kind, SurfaceKind surface_kind, int index, Counts& counts) {
  const RandomSurface scene = random_surface(random, surface_kind);
  const CollisionShape surface(scene.surface);
  const Shape shape = random_shape(random, kind, std::pow(10, random.uniform(-1.5, 0.3)), 1e-2);
  const CollisionShape a(shape);
  // Over the surface, or so that its border may be below anything of the shape.
  const double spread =
      surface_kind == SurfaceKind::kPrism ? 0.3 * surface.size() + 0.7 * a.bounding_radius() : 2.3;
  Pose pose{.position = {random.uniform(-spread, spread), random.uniform(-spread, spread), 3},
            .rotation = random_pose(random, 1).rotation};
  // Down until it is about to touch, a little apart or a little inside.
  constexpr double kFar = 100;
  const double reach = random.chance(0.1) ? 0 : std::pow(10, random.uniform(-3, -1)) * a.size();
  const double wanted = random.chance(0.1)   ? 0
                        : random.chance(0.3) ? -std::pow(10, random.uniform(-8, -1)) * a.size()
                                             : random.uniform(0, 1.3) * reach;
  pose.position.z() = 2 + a.bounding_radius();
  for (int i = 0; i < 60; ++i) {
    const Certainty now = judge(scene, shape, a, pose, kFar);
    const auto distance = static_cast<double>(now.lower);
    if (distance <= std::max(wanted, 0.0) + 1e-3 * std::max(reach, 1e-3 * a.size())) break;
    pose.position.z() -= distance - std::max(wanted, 0.0);
    if (pose.position.z() < -5) return;
  }
  if (wanted < 0) pose.position.z() += wanted;
  const Certainty truth = judge(scene, shape, a, pose, 2 * reach);

  // The same elsewhere, turned, and from the other side.
  const bool is_moved = random.chance(0.5), is_swapped = random.chance(0.5);
  const Pose world = is_moved ? random_pose(random, 1) : Pose{};
  const Pose pose_a = is_moved ? world * pose : pose;
  ContactWorkspace workspace;
  ContactList list;
  if (is_swapped) {
    collect_contacts(surface, world, a, pose_a, {.reach = reach}, workspace, list);
  } else {
    collect_contacts(a, pose_a, surface, world, {.reach = reach}, workspace, list);
  }
  if (random.chance(0.1)) {
    expect_the_same_in_other_units(a, pose_a, surface, world, reach,
                                   std::ldexp(1.0, random.integer(-20, 10)));
  }
  double smallest = std::numeric_limits<double>::infinity();
  for (const ContactCandidate& candidate : list.candidates) {
    ASSERT_TRUE(std::isfinite(candidate.gap));
    ASSERT_NEAR(candidate.normal.norm(), 1, 1e-12);
    smallest = std::min(smallest, candidate.gap);
  }
  const std::string where = std::string(name_of(shape)) + " on surface " +
                            std::to_string(static_cast<int>(surface_kind)) + ", case " +
                            std::to_string(index) + ", size " + std::to_string(a.size()) +
                            ", reach " + std::to_string(reach);
  const double tolerance = 1e-9 * std::max(a.size(), 4.0);
  if (is_swapped)
    for (ContactCandidate& candidate : list.candidates) candidate = swapped(candidate);
  EXPECT_EQ(find_contact_beside(list, shape, pose_a, moved(scene.triangles, world), tolerance), "")
      << where;
  // The ground under a height field is solid, but what has come in through its side is not held.
  if (surface_kind == SurfaceKind::kHeightField && truth.normal.z() < -1e-9L) return;
  const auto lower = static_cast<double>(truth.lower), upper = static_cast<double>(truth.upper);
  const Vector3d inside = pose * (a.polytope() ? a.polytope()->center() : a.center());
  const bool is_buried = surface_kind == SurfaceKind::kBlock   ? is_below(scene, inside)
                         : surface_kind == SurfaceKind::kPrism ? is_enclosed(scene, inside)
                                                               : false;
  if (lower > 0 && is_buried) {
    ++counts.num_buried;
    EXPECT_LT(smallest, 0) << where << ": is in the ground";
  } else if (lower > reach + tolerance) {
    ++counts.num_far;
    EXPECT_GT(smallest, reach) << where << ": found beyond reach, at least " << lower;
  } else if (lower > tolerance && upper < reach - tolerance && upper - lower < tolerance) {
    ++counts.num_apart;
    EXPECT_GE(smallest, lower - tolerance) << where;
    EXPECT_LE(smallest, upper + tolerance) << where;
  } else if (truth.overlaps) {
    ++counts.num_overlapping;
    EXPECT_LT(smallest, 0) << where << ": overlaps";
  } else if (upper < tolerance && reach > 2 * tolerance) {
    EXPECT_LE(smallest, tolerance) << where << ": touches";
  } else {
    ++counts.num_undecided;
  }
}

using Kinds = std::tuple<ShapeKind, SurfaceKind>;

void compare_many(const Kinds& kinds, int seed, int cases) {
  const auto [kind, surface_kind] = kinds;
  Random random(seed + 10 * static_cast<int>(kind) + static_cast<int>(surface_kind));
  Counts counts;
  for (int i = 0; i < cases; ++i) compare(random, kind, surface_kind, i, counts);
  // The comparison must not be empty; of few cases any kind may be rare.
  if (cases < 300) return;
  EXPECT_GT(counts.num_apart, cases / 3);
  EXPECT_GT(counts.num_overlapping, cases / 20);
  EXPECT_GT(counts.num_far, cases / 20);
  EXPECT_LT(counts.num_undecided, cases / 4);
}

const auto kAll = ::testing::Combine(
    ::testing::ValuesIn(kKinds), ::testing::Values(SurfaceKind::kSheet, SurfaceKind::kBlock,
                                                   SurfaceKind::kHeightField, SurfaceKind::kPrism));

class SurfaceReference : public ::testing::TestWithParam<Kinds> {};
TEST_P(SurfaceReference, TheSmallestGapIsTheDistance) {
  compare_many(GetParam(), 1000, testing::fewer_sanitized(400));
}
INSTANTIATE_TEST_SUITE_P(All, SurfaceReference, kAll);

class SlowSurfaceReference : public ::testing::TestWithParam<Kinds> {};
/// 144,000 configurations.
TEST_P(SlowSurfaceReference, TheSmallestGapIsTheDistance) {
  compare_many(GetParam(), 2000, testing::fewer_sanitized(6000));
}
INSTANTIATE_TEST_SUITE_P(All, SlowSurfaceReference, kAll);

/// A convex solid is one thing, as a hull or as a mesh of its surface: where a shape has sunk in a
/// little, the deepest contact is as deep and its normal parts them as soon. (Pairs of convex
/// shapes have a reference of their own, SlowDistanceReference.)
TEST(ConvexMeshReference, DepthIsThatInTheHull) {
  for (const ShapeKind kind : kKinds) {
    Random random(3000 + static_cast<int>(kind));
    int num_compared = 0;
    for (int i = 0; i < testing::fewer_sanitized(1000); ++i) {
      const Shape shape = random_shape(random, kind, std::pow(10, random.uniform(-1, 0.5)), 0.1);
      const Convex hull = std::get<Convex>(random_shape(random, ShapeKind::kConvex, 1, 0.1));
      const CollisionShape a(shape), solid{Shape(hull)},
          mesh{Shape(Mesh{hull.points, compute_convex_hull(hull.points).value()})};
      Pose pose{.position = random_vector(random), .rotation = random_rotation(random)};
      const double depth = std::pow(10, random.uniform(-8, -2.5)) * std::min(a.size(), 0.3);
      SignedDistance d = compute_distance(a, pose, solid, {});
      for (int k = 0; k < 3; ++k) {
        pose.position -= (d.gap + depth) * d.normal;
        d = compute_distance(a, pose, solid, {});
      }
      if (!(d.gap < 0 && d.gap > -2 * depth)) continue;
      ++num_compared;
      ContactWorkspace workspace;
      ContactList list;
      collect_contacts(a, pose, mesh, {}, {.reach = depth}, workspace, list);
      SCOPED_TRACE(std::string(name_of(shape)) + " " + std::to_string(i) + " depth " +
                   std::to_string(depth));
      ASSERT_FALSE(list.candidates.empty());
      // Directions that differ in depth by less than this are taken for equally good.
      const double tie = 1e-8 * (a.size() + solid.size());
      const ContactCandidate& deepest = *std::min_element(
          list.candidates.begin(), list.candidates.end(),
          [](const ContactCandidate& p, const ContactCandidate& q) { return p.gap < q.gap; });
      EXPECT_NEAR(deepest.gap, d.gap, tie);
      EXPECT_NEAR(separation_along(deepest.normal, a, pose, solid, {}), d.gap, tie);
    }
    EXPECT_GT(num_compared, testing::fewer_sanitized(800));
  }
}

}  // namespace
}  // namespace stiction
