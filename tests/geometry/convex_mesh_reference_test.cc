// Convex solids as meshes of triangles against the same solids as one convex shape: near a corner
// or an edge of the mesh the same distance, and the same places that touch. Pairs of convex shapes
// have references of their own (SlowDistanceReference, SlowCollectContacts).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/contact_checks.h"
#include "tests/geometry/polyhedra.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Vector3d;

const Vector3d kBlock(1, 0.8, 0.6);  // [m]

/// A solid in both ways.
struct Solid {
  CollisionShape mesh, convex;
  Vector3d corner;  // of it
};

Solid make_block() {
  return {CollisionShape{Shape(box_mesh(kBlock))}, CollisionShape{Shape(Box{kBlock})},
          Vector3d(-0.5, -0.4, 0.3)};
}

Solid make_pyramid() {
  Mesh mesh;
  mesh.vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0, 0, 0.3}};
  mesh.triangles = {{0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}, {0, 2, 1}, {0, 3, 2}};
  const Convex hull{.points = mesh.vertices};
  return {CollisionShape{Shape(mesh)}, CollisionShape{Shape(hull)}, mesh.vertices[4]};
}

/// Of all patches: each feature of a mesh has its own.
double smallest_of_all(const ContactList& list) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const ContactCandidate& candidate : list.candidates) {
    smallest = std::min(smallest, candidate.gap);
  }
  return smallest;
}

/// Slightly tilted, or turned in any way.
Eigen::Matrix3d random_tilt(Random& random, double angle) {
  if (random.chance(0.5)) return random_rotation(random);
  const double yaw = random.uniform(0, 6.3), towards = random.uniform(0, 6.3);
  return (AngleAxisd(random.uniform(0, angle), Vector3d(std::cos(towards), std::sin(towards), 0)) *
          AngleAxisd(yaw, Vector3d::UnitZ()))
      .toRotationMatrix();
}

/// Moved along the shortest way until they are `wanted` apart.
SignedDistance bring_to(double wanted, const CollisionShape& a, const CollisionShape& b,
                        Pose& pose) {
  const SignedDistance now = compute_distance(a, pose, b, {});
  pose.position -= (now.gap - wanted) * now.normal;
  return compute_distance(a, pose, b, {});
}

void compare_near_corner(const Solid& solid, const CollisionShape& a, int seed, int cases) {
  Random random(seed);
  int num_compared = 0;
  for (int i = 0; i < cases; ++i) {
    const double reach = std::pow(10, random.uniform(-4, -2));
    const bool is_apart = random.chance(0.5);
    const double wanted =
        is_apart ? random.uniform(0, 0.8) * reach : -std::pow(10, random.uniform(-6, -3));
    const double around = random.uniform(0, 6.3), away = random.uniform(0, 0.35);
    Pose pose{.position = solid.corner + Vector3d(away * std::cos(around), away * std::sin(around),
                                                  0.3 + 0.1 * random.uniform(-1, 1)),
              .rotation = random_tilt(random, 0.1)};
    const SignedDistance d = bring_to(wanted, a, solid.convex, pose);
    if (is_apart != (d.gap > 0)) continue;
    ++num_compared;
    // Apart the distance is that of points that are known to rounding. Where they overlap,
    // directions that differ in depth by 1e-7 of the size are taken for equally good.
    ASSERT_NEAR(smallest_of_all(contacts_of(a, pose, solid.mesh, {}, {.reach = reach})), d.gap,
                (is_apart ? 1e-9 : 1e-7) * (a.size() + solid.convex.size()))
        << "case " << i << ", reach " << reach;
  }
  EXPECT_GT(num_compared, cases / 2);
}

std::vector<Shape> shapes_near_corners() {
  return {Shape(Cylinder{.radius = 0.3, .length = 0.3}),
          Shape(Cylinder{.radius = 0.1, .length = 0.5}),
          Shape(Cylinder{.radius = 0.03, .length = 0.5}), Shape(Ellipsoid{{0.1, 0.2, 0.3}}),
          Shape(Capsule{.radius = 0.1, .length = 0.5})};
}

void compare_all_near_corners(int seed, int cases) {
  for (const Shape& shape : shapes_near_corners()) {
    SCOPED_TRACE(std::string(name_of(shape)));
    compare_near_corner(make_block(), CollisionShape(shape), seed, cases);
    compare_near_corner(make_pyramid(), CollisionShape(shape), seed, cases);
  }
}

TEST(ConvexMeshReference, TheSmallestGapNearACornerIsTheDistance) {
  compare_all_near_corners(1, testing::fewer_sanitized(2000));
}

TEST(SlowConvexMeshReference, TheSmallestGapNearACornerIsTheDistance) {
  compare_all_near_corners(2, testing::fewer_sanitized(60000));
}

/// A corner beyond the rim by 0.3 µm, at 87 µm from it: the end is nearly as good a direction, but
/// is not above the corner. A longer reach loses nothing.
TEST(ConvexMeshReference, ACornerJustBesideTheEndOfACylinderTouchesItsRim) {
  const CollisionShape cylinder(Cylinder{.radius = 0.3, .length = 0.3});
  const Pose pose{.position = {-0.799052090895782, -0.37346250035337225, 0.44963204228427339},
                  .rotation = Eigen::Quaterniond(0.88689540784055665, 0.01923383195362522,
                                                 0.0068915100273003035, -0.4615182578720543)
                                  .toRotationMatrix()};
  const Solid block = make_block();
  const Vector3d in_cylinder = pose.rotation.transpose() * (block.corner - pose.position);
  const double distance = std::hypot(std::abs(in_cylinder.z()) - 0.15,  // closed form
                                     std::max(0.0, in_cylinder.head<2>().norm() - 0.3));
  EXPECT_NEAR(distance, 8.6526e-5, 1e-9);
  for (const double reach : {1e-4, 1e-3, 5e-3, 2e-2}) {
    EXPECT_NEAR(smallest_of_all(contacts_of(cylinder, pose, block.mesh, {}, {.reach = reach})),
                distance, 1e-12)
        << reach;
  }
}

}  // namespace
}  // namespace stiction
