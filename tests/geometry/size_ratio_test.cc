// Small things near a corner, an edge or a face of ground that is up to ten thousand million times
// larger: the same contacts as with ground of twenty times their size that has its corner at the
// same place. The corner is the origin of the world, so that poses of small things are exact;
// ground coordinates are not, to ε of the size of the ground.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tests/geometry/contact_checks.h"
#include "tests/geometry/polyhedra.h"
#include "tests/geometry/random_pairs.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

enum class GroundKind { kBox, kMesh, kMeshFromCorner, kHeightField, kCylinder };

struct PlacedGround {
  CollisionShape shape;
  Pose pose;
};

PlacedGround make_sized_ground(GroundKind kind, double size) {
  const Vector3d sides = Vector3d::Constant(size), to_corner = -sides / 2;
  switch (kind) {
    case GroundKind::kBox:
      return {CollisionShape(Box{sides}), {.position = to_corner}};
    case GroundKind::kMesh:
      return {CollisionShape(Shape(box_mesh(sides))), {.position = to_corner}};
    case GroundKind::kMeshFromCorner: {
      Mesh mesh = box_mesh(sides);
      for (Vector3d& vertex : mesh.vertices) vertex += to_corner;
      return {CollisionShape(Shape(mesh)), {}};
    }
    case GroundKind::kHeightField:
      return {CollisionShape(
                  Shape(HeightField{.size = {size, size}, .heights = Eigen::MatrixXd::Zero(5, 6)})),
              {}};
    default:
      return {CollisionShape(Cylinder{.radius = size / 2, .length = size}),
              {.position = {0, 0, -size / 2}}};
  }
}

/// Of about unit size, up to a hundredth of it above or below ground of size 20.
struct SmallThing {
  Shape shape;
  Pose pose;
  double gap = 0;
};

SmallThing make_thing(Random& random, ShapeKind kind, bool has_top_only) {
  SmallThing thing{.shape = random_shape(random, kind, 1, 0.5), .pose = {}};
  Pose& pose = thing.pose;
  if (random.chance(0.7)) {
    const double angle = random.chance(0.3) ? std::pow(10, random.uniform(-9, -1)) : 3;
    pose.rotation = Eigen::AngleAxisd(angle, random_vector(random).normalized()).toRotationMatrix();
  }
  // Near the corner, the edge along x, or the top.
  const int place = has_top_only ? 2 : random.integer(0, 2);
  const double above = random.uniform();
  for (int axis = 0; axis < 3; ++axis) {
    const bool is_over = axis < place;
    pose.position[axis] = is_over ? -random.uniform(0, 4) : above * random.uniform(0.1, 1);
  }
  PlacedGround ground = make_sized_ground(GroundKind::kBox, 20);
  if (has_top_only) ground.pose.position = {0, 0, -10};
  const CollisionShape shape(thing.shape);
  const double wanted = 0.01 * random.uniform(-1, 1);
  for (int k = 0; k < 4; ++k) {
    const SignedDistance d = compute_distance(shape, pose, ground.shape, ground.pose);
    pose.position -= (d.gap - wanted) * d.normal;
  }
  thing.gap = compute_distance(shape, pose, ground.shape, ground.pose).gap;
  return thing;
}

/// Surfaces take for equal what differs by 1e-7 of the thing, with the normals of round ones by as
/// much again, or by 256 ε of the ground; gaps are right to two of these, and distances to which
/// they are held as well. Convex shapes take 4e-8 of the thing and 2e-14 of the ground, and places
/// that differ by ten times as much for one.
double tolerance_over(GroundKind ground, double size, double ratio) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const bool is_surface = ground != GroundKind::kBox && ground != GroundKind::kCylinder;
  if (is_surface) return 4 * std::max(2e-7 * size, 256 * kEpsilon * 20 * ratio);
  return 10 * (4e-8 * size + 2e-14 * 20 * ratio);
}

class SizeRatio : public ::testing::TestWithParam<GroundKind> {};

TEST_P(SizeRatio, SmallThingsHaveTheGapsOfTheGroundNearThem) {
  const GroundKind ground = GetParam();
  const bool has_top_only = ground == GroundKind::kHeightField || ground == GroundKind::kCylinder;
  for (const ShapeKind kind : {ShapeKind::kSphere, ShapeKind::kBox, ShapeKind::kCylinder,
                               ShapeKind::kEllipsoid, ShapeKind::kConvex}) {
    for (unsigned seed = 0; seed < 900; ++seed) {
      Random random(seed);
      const double ratio = std::pow(10, seed % 9);
      SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + " seed " +
                   std::to_string(seed));
      const SmallThing thing = make_thing(random, kind, has_top_only);
      if (!(std::abs(thing.gap) < 0.011)) continue;  // between two features
      const CollisionShape shape(thing.shape);
      const PlacedGround large = make_sized_ground(ground, 20 * ratio);
      const ContactList list =
          contacts_of(shape, thing.pose, large.shape, large.pose, {.reach = 0.02});
      ASSERT_FALSE(list.candidates.empty());
      double smallest = std::numeric_limits<double>::infinity();
      for (const ContactCandidate& c : list.candidates) smallest = std::min(smallest, c.gap);
      ASSERT_NEAR(smallest, thing.gap, tolerance_over(ground, shape.size(), ratio));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Grounds, SizeRatio,
                         ::testing::Values(GroundKind::kBox, GroundKind::kMesh,
                                           GroundKind::kMeshFromCorner, GroundKind::kHeightField,
                                           GroundKind::kCylinder));

}  // namespace
}  // namespace stiction
