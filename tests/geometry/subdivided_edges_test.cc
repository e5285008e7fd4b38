// Shapes that stand flush on blocks and open sheets of which the edges are subdivided: triangles of
// a side that have only a vertex on such an edge touch what stands there, and nothing more. No
// contact is deeper than the shape is in the same block as one convex shape.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/contact_checks.h"
#include "tests/geometry/polyhedra.h"
#include "tests/geometry/random_surfaces.h"
#include "tests/geometry/witness_checks.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Vector3d;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDepths[] = {0, 1e-15, 1e-12, 1e-9, 1e-8, 1e-7, 2e-7, 3e-7, 5e-7, 7e-7, 1e-6};

double smallest_of_all(const ContactList& list) {
  double smallest = kInfinity;
  for (const ContactCandidate& candidate : list.candidates) {
    smallest = std::min(smallest, candidate.gap);
  }
  return smallest;
}

/// A top and one side of it, in two halves each.
Mesh make_angle() {
  return {
      .vertices = {{-0.5, -0.5, 0},
                   {-0.5, 0.5, 0},
                   {-0.5, -0.5, -0.4},
                   {0, -0.5, 0},
                   {0, 0.5, 0},
                   {0, -0.5, -0.4},
                   {0.5, -0.5, 0},
                   {0.5, 0.5, 0},
                   {0.5, -0.5, -0.4}},
      .triangles = {
          {0, 3, 1}, {3, 4, 1}, {0, 2, 3}, {2, 5, 3}, {3, 6, 7}, {3, 7, 4}, {3, 5, 8}, {3, 8, 6}}};
}

/// The two triangles of the side that have only the middle of the edge have no axis of their own.
TEST(SubdividedEdges, ACylinderThatStandsOverOneTouchesItsTopAlone) {
  const Mesh mesh = make_angle();
  const CollisionShape cylinder(Cylinder{.radius = 0.2, .length = 0.2}), angle{Shape(mesh)};
  for (const double depth : kDepths) {
    for (const double gap : {-depth * cylinder.size(), depth * cylinder.size()}) {
      const Pose pose{.position = {0.05, -0.42, 0.1 + gap}, .rotation = Matrix3d::Identity()};
      const ContactList list = contacts_of(cylinder, pose, angle, {}, {.reach = 1e-3});
      EXPECT_NEAR(smallest_of_all(list), gap, 1e-15) << gap;
      for (const ContactCandidate& touch : list.candidates) {
        EXPECT_GT(touch.normal.z(), 1 - 1e-12) << gap;
      }
    }
  }
}

/// Slightly tilted over two opposite edges, beyond both: of the edge that is higher nothing is
/// touched, least of all where the end is lowest, beyond the other one.
TEST(SubdividedEdges, ATiltedEndAcrossTwoOfThemHasNoContactBesideThem) {
  const HeightField field{.size = {0.6, 1.04}, .heights = Eigen::MatrixXd::Zero(4, 5)};
  const Mesh mesh = make_block(field, -0.76);
  const Cylinder shape{.radius = 0.44, .length = 0.18};
  const CollisionShape cylinder(shape), block{Shape(mesh)};
  for (const double angle : {1e-12, 1e-10, 2e-9, 1e-8, 5e-8, 1e-7, 1e-6, 1e-4}) {
    const AngleAxisd tilt(angle, Vector3d(0.03, 1, 0).normalized());
    const Pose pose{.position = {-0.098, 0.0134, 0.09 * std::cos(angle) + 0.44 * std::sin(angle)},
                    .rotation = tilt.toRotationMatrix()};
    const ContactList list = contacts_of(cylinder, pose, block, {}, {.reach = 1e-3});
    EXPECT_EQ(find_contact_beside(list, shape, pose, corners_of_triangles(mesh), 1e-8), "")
        << angle;
  }
}

/// Tilted by about what counts as flat, 1e-9, less than that across an edge: next to the direction
/// of the end the lowest point goes from one side of its rim to the other. Rounding of a direction
/// over that tilt, 1e-7 of the radius a unit, is how well its place is known.
TEST(SubdividedEdges, AnEndThatIsNearlyFlatHasNoContactBesideThem) {
  const HeightField field{.size = {0.2, 0.6}, .heights = Eigen::MatrixXd::Zero(4, 5)};
  const Mesh mesh = make_block(field, -0.76);
  const Cylinder shape{.radius = 0.44, .length = 0.18};
  const CollisionShape cylinder(shape), block{Shape(mesh)};
  Random random(4);
  for (int i = 0; i < testing::fewer_sanitized(1000); ++i) {
    const double towards = random.uniform(0, 6.3), angle = 1e-9 * random.uniform(0.9, 1.3);
    const AngleAxisd tilt(angle, Vector3d(std::cos(towards), std::sin(towards), 0));
    const Pose pose{.position = {random.uniform(-0.2, 0.2), random.uniform(-0.3, 0.3),
                                 0.09 + 1e-9 * random.uniform(-1, 1)},
                    .rotation = tilt.toRotationMatrix()};
    const ContactList list = contacts_of(cylinder, pose, block, {}, {.reach = 1e-3});
    ASSERT_EQ(find_contact_beside(list, shape, pose, corners_of_triangles(mesh), 1e-6), "")
        << "case " << i;
  }
}

/// The mantle lies over the border of a side, apart from it, and crosses the edge further on, where
/// they overlap: the same pair of features, of which the one that touches counts.
TEST(SubdividedEdges, ACylinderAcrossOneTouchesItWhereTheyOverlap) {
  const Vector3d sides(8.711262623844377, 2.726803026248124, 5.9581755452688581);
  const CollisionShape cylinder(
      Cylinder{.radius = 17.009961730058095, .length = 23.327770246193743}),
      block(Box{sides});
  const Pose pose{.position = {-23.758529859491656, -0.59739402426439796, 2.0951118572740073},
                  .rotation = Eigen::Quaterniond(0.95866760193712475, -0.11169353011130657,
                                                 0.2114014114212458, -0.15424145868248987)
                                  .normalized()
                                  .toRotationMatrix()};
  const double gap = compute_distance(cylinder, pose, block, {}).gap;
  EXPECT_NEAR(gap, -0.024743, 1e-6);
  for (const int num_lines : {2, 5, 7, 9, 11}) {
    const HeightField field{.size = sides.head<2>(),
                            .heights = Eigen::MatrixXd::Constant(2, num_lines, sides.z() / 2)};
    const CollisionShape mesh{Shape(make_block(field, -sides.z() / 2))};
    EXPECT_NEAR(smallest_of_all(contacts_of(cylinder, pose, mesh, {}, {.reach = 0.07})), gap, 1e-9)
        << num_lines;
  }
}

/// A box lies on an edge that is subdivided, tilted by 1e-7 along it, and ends nearly where the
/// edge does: its end is a direction of triangles there, as deep as the block is long. What it
/// touches at the other end parts them sooner.
TEST(SubdividedEdges, ABoxAlongOneIsNotPushedAlongTheEdge) {
  const Vector3d sides(2.138, 0.5965, 1.887);
  const CollisionShape block(Box{sides}), box(Box{{5.159, 8.641, 8.389}});
  const HeightField field{.size = sides.head<2>(),
                          .heights = Eigen::MatrixXd::Constant(6, 2, sides.z() / 2)};
  const CollisionShape mesh{Shape(make_block(field, -sides.z() / 2))};
  Random random(3);
  for (int i = 0; i < testing::fewer_sanitized(4000); ++i) {
    const double tilt = std::pow(10, random.uniform(-9, -6)), depth = random.uniform(1e-4, 5e-3);
    Pose pose{.position = {0, -4, 5}, .rotation = {}};
    pose.rotation = AngleAxisd(tilt, random_vector(random).normalized()) *
                    AngleAxisd(random.uniform(0, 6.3), Vector3d::UnitX());
    const double end = std::pow(10, random.uniform(-6, -2));
    pose.position.x() = (random.chance(0.5) ? 1 : -1) * ((sides.x() - 5.159) / 2 - end);
    for (int k = 0; k < 3; ++k) {
      const SignedDistance d = compute_distance(box, pose, block, {});
      pose.position -= (d.gap + depth) * d.normal;
    }
    const double gap = compute_distance(box, pose, block, {}).gap;
    if (!(std::abs(gap + depth) < 1e-6)) continue;
    const ContactList list = contacts_of(box, pose, mesh, {}, {.reach = 1e-3});
    ASSERT_NEAR(smallest_of_all(list), gap, 0.1 * depth) << "case " << i;
  }
}

struct Ground {
  Mesh mesh;
  Vector3d sides;  // [m] of the block that it is, or is a part of; its top is at z = 0
  bool is_closed = true;
};

/// A block with a top of any number of cells, or some sides of it.
Ground random_ground(Random& random, double unit) {
  Ground ground{.mesh = {},
                .sides = unit * Vector3d(random.uniform(0.5, 1.5), random.uniform(0.5, 1.5),
                                         random.uniform(0.1, 1)),
                .is_closed = random.chance(0.5)};
  const HeightField field{
      .size = ground.sides.head<2>(),
      .heights = Eigen::MatrixXd::Zero(random.integer(2, 9), random.integer(2, 9))};
  ground.mesh = make_block(field, -ground.sides.z());
  if (ground.is_closed) return ground;
  const auto is_open = [](const std::vector<Vector3d>& open, const Vector3d& normal) {
    return std::any_of(open.begin(), open.end(),
                       [&](const Vector3d& n) { return n.dot(normal) > 0.5; });
  };
  std::vector<Vector3d> open{-Vector3d::UnitZ()};
  for (const int k : {0, 1})
    for (const double side : {1, -1})
      if (random.chance(0.4)) open.push_back(side * Vector3d::Unit(k));
  std::erase_if(ground.mesh.triangles, [&](const Triangle& t) {
    const std::vector<Vector3d>& v = ground.mesh.vertices;
    return is_open(open, (v[t[1]] - v[t[0]]).cross(v[t[2]] - v[t[0]]).normalized());
  });
  return ground;
}

Shape random_standing(Random& random, int kind, double unit) {
  const auto length = [&] { return unit * random.uniform(0.05, 0.5); };
  if (kind == 0) return Cylinder{.radius = length(), .length = length()};
  if (kind == 1) return Box{{length(), length(), length()}};
  if (kind == 2) return Capsule{.radius = length(), .length = length()};
  if (kind == 3) return Ellipsoid{{length(), length(), length()}};
  Convex prism;
  const int num_sides = random.integer(3, 12);
  const double radius = length(), half = length() / 2;
  for (int i = 0; i < num_sides; ++i) {
    const double angle = 2 * std::numbers::pi * i / num_sides;
    for (const double z : {-half, half}) {
      prism.points.push_back({radius * std::cos(angle), radius * std::sin(angle), z});
    }
  }
  return prism;
}

/// Upright, lying or slightly tilted.
Matrix3d random_stand(Random& random) {
  const Matrix3d yaw = AngleAxisd(random.uniform(0, 6.3), Vector3d::UnitZ()).toRotationMatrix();
  if (random.chance(0.5)) return random.chance(0.5) ? Matrix3d::Identity() : yaw;
  const double angle =
      random.chance(0.5) ? std::numbers::pi / 2 : std::pow(10, random.uniform(-12, -3));
  return yaw * AngleAxisd(angle, Vector3d::UnitX()) *
         AngleAxisd(random.uniform(0, 6.3), Vector3d::UnitZ());
}

void compare_standing(int kind, double unit, int seed, int cases) {
  Random random(seed);
  int num_compared = 0;
  for (int i = 0; i < cases; ++i) {
    const Ground ground = random_ground(random, unit);
    const Shape shape = random_standing(random, kind, unit);
    SCOPED_TRACE(std::string(name_of(shape)) + ", case " + std::to_string(i));
    const CollisionShape a(shape), mesh{Shape(ground.mesh)}, block(Box{ground.sides});
    const double size = a.size() + block.size();
    const double wanted = (random.chance(0.5) ? 1 : -1) * size *
                          (random.chance(0.5) ? kDepths[random.integer(0, std::size(kDepths) - 1)]
                                              : std::pow(10, random.uniform(-15, -6)));
    Pose pose{.position = {}, .rotation = random_stand(random)};
    const Vector3d down = -Vector3d::UnitZ();
    const double below =
        (pose.rotation * a.core_support(pose.rotation.transpose() * down)).dot(down) +
        a.core_radius();
    pose.position = {random.uniform(-0.5, 0.5) * ground.sides.x(),
                     random.uniform(-0.5, 0.5) * ground.sides.y(), below + wanted};
    Pose pose_ground{.position = Vector3d::Zero(), .rotation = Matrix3d::Identity()};
    if (random.chance(0.5)) {
      pose_ground = {.position = unit * random_vector(random), .rotation = random_rotation(random)};
    }
    const Pose pose_a = pose_ground * pose;
    const Pose pose_block = pose_ground * Pose{.position = {0, 0, -ground.sides.z() / 2},
                                               .rotation = Matrix3d::Identity()};
    const double reach = 1e-3 * unit;
    const ContactList list = contacts_of(a, pose_a, mesh, pose_ground, {.reach = reach});
    // Directions that differ in depth by 1e-7 of the size are taken for equally good.
    const double tie = 1e-7 * size;
    const double gap = compute_distance(a, pose_a, block, pose_block).gap;
    if (gap > 0.9 * reach) continue;  // tilted, and its lowest point is beside the block
    ++num_compared;
    ASSERT_NEAR(smallest_of_all(list), gap, tie)
        << "closed: " << ground.is_closed << ", wanted " << wanted;
    ASSERT_EQ(find_contact_beside(list, shape, pose_a,
                                  moved(corners_of_triangles(ground.mesh), pose_ground), tie),
              "");
  }
  EXPECT_GT(num_compared, cases / 2);
}

/// Askew by less than 1e-4 and touching at one end, at both, or between them: both ends of what
/// axis and edge have in common may be touched within the step, wherever the edge is cut.
TEST(SubdividedEdges, WhatLiesAlongOneHasContactsAtBothEndsOfTheOverlap) {
  const HeightField field{.size = {2, 1.6}, .heights = Eigen::MatrixXd::Zero(5, 6)};
  const CollisionShape mesh{Shape(make_block(field, -0.76))}, block(Box{{2, 1.6, 0.76}});
  const Pose pose_block{.position = {0, 0, -0.38}, .rotation = Matrix3d::Identity()};
  constexpr double kRadius = 0.2, kLength = 0.7;
  const CollisionShape things[] = {CollisionShape(Cylinder{.radius = kRadius, .length = kLength}),
                                   CollisionShape(Capsule{.radius = kRadius, .length = kLength})};
  const Matrix3d along_y = AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()).toRotationMatrix();
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    const CollisionShape& thing = things[i % 2];
    const double towards = random.chance(0.3) ? 0 : random.uniform(0.1, 1.4);
    const double middle = random.uniform(-1, 1);
    const double low = std::max(middle - kLength / 2, -0.8);
    const double high = std::min(middle + kLength / 2, 0.8);
    if (!(high - low > 0.1)) continue;
    // A capsule that crosses the border of a face touches the face with its ball there.
    if (i % 2 == 1 && towards == 0) continue;
    Pose pose{.position = {1 + kRadius * std::sin(towards), middle, kRadius * std::cos(towards)},
              .rotation = {}};
    const double tilt = std::pow(10, random.uniform(-8, -4));
    pose.rotation = AngleAxisd(tilt, random_vector(random).normalized()) * along_y;
    const double wanted = 1e-5 * random.uniform(-1, 1);
    for (int k = 0; k < 3; ++k) {
      const SignedDistance d = compute_distance(thing, pose, block, pose_block);
      pose.position += (wanted - d.gap) * d.normal;
    }
    const ContactList list = contacts_of(thing, pose, mesh, {}, {.reach = 1e-3});
    for (const double end : {low, high}) {
      double nearest = kInfinity;
      for (const ContactCandidate& touch : list.candidates) {
        nearest = std::min(nearest, (touch.point - Vector3d(1, end, 0)).norm());
      }
      // Up to the tilt of the thing and what its sides recede along its radius.
      EXPECT_LE(nearest, 1e-3) << end;
    }
    EXPECT_NEAR(smallest_of_all(list), wanted, 1e-7);
  }
}

/// The end is much wider than the edge is long: its corners are near each other, and both are
/// needed.
TEST(SubdividedEdges, AWideEndOverAShortEdgeHasContactsAtBothCorners) {
  const Vector3d sides(0.3, 0.4, 0.35);
  const CollisionShape mesh{Shape(box_mesh(sides))}, block(Box{sides});
  const CollisionShape cylinder(Cylinder{.radius = 2, .length = 0.5});
  const Vector3d corner = sides / 2;
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    // The axis leans from above over the edge along x, and off it by up to 1e-6.
    const double lean = random.uniform(0.2, 1.3), off = std::pow(10, random.uniform(-9, -6));
    Pose pose{.position = {}, .rotation = {}};
    pose.rotation =
        AngleAxisd(off, random_vector(random).normalized()) * AngleAxisd(-lean, Vector3d::UnitX());
    pose.position = Vector3d(0, corner.y(), corner.z()) + 0.25 * pose.rotation.col(2) +
                    random.uniform(-1, 1) * Vector3d::UnitX();
    for (int k = 0; k < 3; ++k) {
      const SignedDistance d = compute_distance(cylinder, pose, block, {});
      pose.position += (-1e-5 - d.gap) * d.normal;
    }
    const ContactList list = contacts_of(cylinder, pose, mesh, {}, {.reach = 1e-3});
    for (const double x : {-corner.x(), corner.x()}) {
      EXPECT_TRUE(std::any_of(list.candidates.begin(), list.candidates.end(),
                              [&](const ContactCandidate& touch) {
                                return (touch.point - Vector3d(x, corner.y(), corner.z())).norm() <
                                       1e-4;
                              }))
          << x;
    }
  }
}

void compare_all_standing(int seed, int cases) {
  for (const double unit : {1e-3, 1.0, 1e3}) {
    SCOPED_TRACE(unit);
    for (int kind = 0; kind < 5; ++kind) {
      compare_standing(kind, unit, seed, kind == 0 ? 4 * cases : cases);
    }
  }
}

TEST(SubdividedEdges, WhatStandsOverThemIsNoDeeperThanInTheBlock) {
  compare_all_standing(1, testing::fewer_sanitized(500));
}

TEST(SlowSubdividedEdges, WhatStandsOverThemIsNoDeeperThanInTheBlock) {
  compare_all_standing(2, testing::fewer_sanitized(20000));
}

}  // namespace
}  // namespace stiction
