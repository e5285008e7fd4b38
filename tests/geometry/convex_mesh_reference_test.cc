// Convex solids as meshes of triangles against the same solids as one convex shape: near a corner
// or an edge of the mesh the same distance, and the same places that touch. Pairs of convex shapes
// have references of their own (SlowDistanceReference, SlowCollectContacts).
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
#include "tests/geometry/witness_checks.h"
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

Eigen::Matrix3d slight_tilt(Random& random, double angle) {
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

/// [m] How far points of contacts may be beside the surfaces: what is beside a face by no more than
/// a tie, 1e-9 of both sizes, stands on it.
double beside(const CollisionShape& a, const Solid& solid) {
  return 1e-9 * (a.size() + solid.convex.size());
}

void compare_near_corner(const Solid& solid, const CollisionShape& a, int seed, int cases) {
  Random random(seed);
  const auto triangles = corners_of_triangles(std::get<Mesh>(solid.mesh.shape()));
  int num_compared = 0;
  for (int i = 0; i < cases; ++i) {
    const double reach = std::pow(10, random.uniform(-4, -2));
    const bool is_apart = random.chance(0.5);
    const double wanted =
        is_apart ? random.uniform(0, 0.8) * reach : -std::pow(10, random.uniform(-6, -3));
    const double around = random.uniform(0, 6.3), away = random.uniform(0, 0.35);
    Pose pose{.position = solid.corner + Vector3d(away * std::cos(around), away * std::sin(around),
                                                  0.3 + 0.1 * random.uniform(-1, 1)),
              .rotation = random.chance(0.5) ? random_rotation(random) : slight_tilt(random, 0.1)};
    const SignedDistance d = bring_to(wanted, a, solid.convex, pose);
    if (is_apart != (d.gap > 0)) continue;
    ++num_compared;
    // Apart the distance is that of points that are known to rounding. Where they overlap,
    // directions that differ in depth by 1e-7 of the size are taken for equally good.
    const ContactList list = contacts_of(a, pose, solid.mesh, {}, {.reach = reach});
    ASSERT_NEAR(smallest_of_all(list), d.gap,
                (is_apart ? 1e-9 : 1e-7) * (a.size() + solid.convex.size()))
        << "case " << i << ", reach " << reach;
    ASSERT_EQ(find_contact_beside(list, a.shape(), pose, triangles, beside(a, solid)), "")
        << "case " << i << ", reach " << reach;
  }
  EXPECT_GT(num_compared, cases / 2);
}

std::vector<Shape> shapes_near_corners() {
  return {
      Shape(Cylinder{.radius = 0.3, .length = 0.3}),  Shape(Cylinder{.radius = 0.1, .length = 0.5}),
      Shape(Cylinder{.radius = 0.03, .length = 0.5}), Shape(Ellipsoid{{0.1, 0.2, 0.3}}),
      Shape(Capsule{.radius = 0.1, .length = 0.5}),   Shape(Box{{0.6, 0.5, 0.3}}),
      Shape(Cylinder{.radius = 5, .length = 2}),      Shape(Box{{10, 8, 2}})};  // wide ones too
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

/// A corner or an edge that touches one of the block may be beside a face of it by less than what
/// counts as the same place: the face is as good a direction, but is not under what touches.
TEST(ConvexMeshReference, WhatJustTouchesHasAContact) {
  const Solid block = make_block();
  const Convex tetrahedron{.points = {{0.3, 0, 0}, {-0.2, 0.3, 0}, {-0.2, -0.3, 0}, {0, 0, 0.4}}};
  const CollisionShape shapes[] = {CollisionShape(Box{{0.6, 0.5, 0.3}}),
                                   CollisionShape{Shape(tetrahedron)}};
  Random random(5);
  int num_compared = 0;
  for (int i = 0; i < testing::fewer_sanitized(40000); ++i) {
    const CollisionShape& a = shapes[i % 2];
    const double wanted = std::pow(10, random.uniform(-14, -9));
    Pose pose{.position = random_vector(random).normalized(), .rotation = random_rotation(random)};
    if (random.chance(0.7)) {  // an edge along one of the block
      pose.rotation = AngleAxisd(random.uniform(0, 6.3), Vector3d::Unit(random.integer(0, 2)));
    }
    SignedDistance d;
    for (int k = 0; k < 3; ++k) d = bring_to(wanted, a, block.convex, pose);
    if (!(std::abs(d.gap) < 2e-9)) continue;
    ++num_compared;
    const ContactList list = contacts_of(a, pose, block.mesh, {}, {.reach = 1e-3});
    ASSERT_FALSE(list.candidates.empty()) << "case " << i << ", gap " << d.gap;
    EXPECT_NEAR(smallest_of_all(list), d.gap, 1e-7) << "case " << i;
  }
  EXPECT_GT(num_compared, testing::fewer_sanitized(30000));
}

/// Edges that are parallel have no common perpendicular: they touch at both ends of what they have
/// in common, as they do on the box.
TEST(ConvexMeshReference, AnEdgeAlongAnEdgeTouchesAtBothEnds) {
  const Solid block = make_block();
  const Vector3d sides(0.7, 0.3, 0.2);
  const std::vector<Vector3d> corners = box_mesh(sides).vertices;
  const CollisionShape shapes[] = {CollisionShape(Box{sides}),
                                   CollisionShape{Shape(Convex{.points = corners})}};
  constexpr double kTie = 4e-9;  // [m] 1e-9 of both sizes
  Random random(6);
  for (int i = 0; i < 400; ++i) {
    const CollisionShape& a = shapes[i % 2];
    const double wanted = std::pow(10, random.uniform(-8, -4)), x = random.uniform(-0.6, 0.6);
    const AngleAxisd turn(random.uniform(0.1, 0.7), Vector3d::UnitX());
    Pose pose{.position = {}, .rotation = turn.toRotationMatrix()};
    // Its edge (−y, −z) over that of the block, along the direction between the faces of both.
    pose.position = Vector3d(x, 0.4, 0.3) + turn * Vector3d(0, 0.15, 0.1) +
                    wanted * Vector3d(0, 0.5, 0.5).normalized();
    const Pose world{.position = random_vector(random), .rotation = random_rotation(random)};
    const ContactList list =
        contacts_of(a, world * pose, block.mesh, world, {.reach = 1e-3, .reduces = false});
    double first = 1, last = -1;  // [m] along the edge
    for (const ContactCandidate& touch : list.candidates) {
      EXPECT_GE(touch.gap, wanted - kTie) << "case " << i;
      if (std::abs(touch.gap - wanted) > 1e-12) continue;  // of an edge beside it
      const double place = world.rotation.col(0).dot(touch.point - world.position);
      first = std::min(first, place);
      last = std::max(last, place);
    }
    EXPECT_NEAR(first, std::max(-0.5, x - 0.35), 1e-9) << "case " << i;
    EXPECT_NEAR(last, std::min(0.5, x + 0.35), 1e-9) << "case " << i;
  }
}

/// Nearly so, and nearly touching, the end that is nearest counts, however little they are askew.
TEST(ConvexMeshReference, AnEdgeNearlyAlongAnEdgeTouchesWhereItIsNearest) {
  const Solid block = make_block();
  const CollisionShape a(Box{{1.4, 0.8, 0.5}});
  constexpr double kTies = 1e-8;  // [m] two of 1e-9 of both sizes
  Random random(8);
  for (int i = 0; i < testing::fewer_sanitized(20000); ++i) {
    const AngleAxisd askew(std::pow(10, random.uniform(-10, -4)),
                           random_vector(random).normalized());
    const AngleAxisd turn(random.uniform(0, 6.3), Vector3d::UnitX());
    const double side = random.chance(0.5) ? 1 : -1, shift = std::pow(10, random.uniform(-9, -1));
    Pose pose{
        .position = {side * (0.2 + shift), random.uniform(0.4, 0.8), random.uniform(0.4, 0.8)},
        .rotation = (askew * turn).toRotationMatrix()};
    SignedDistance d;
    for (int k = 0; k < 4; ++k) {
      d = bring_to(std::pow(10, random.uniform(-11, -7)), a, block.convex, pose);
    }
    if (!(d.gap > 0)) continue;
    const ContactList list = contacts_of(a, pose, block.mesh, {}, {.reach = 1e-3});
    ASSERT_NEAR(smallest_of_all(list), d.gap, kTies) << "case " << i;
  }
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

/// Over one edge the depth has two minima that differ by 0.1 µm: a kink, where the mantle lies
/// across the edge, and a smooth one of the rim. The kink is the smaller.
TEST(ConvexMeshReference, ACylinderAcrossAnEdgeFindsTheKinkBesideAHill) {
  const CollisionShape cylinder(Cylinder{.radius = 0.1, .length = 0.5});
  const Pose pose{.position = {-0.29680120751026084, -0.49240611361513015, 0.55230346169307121},
                  .rotation = Eigen::Quaterniond(0.68970117963364908, -0.031658021043987676,
                                                 -0.010368349119529887, 0.72332741538812617)
                                  .toRotationMatrix()};
  const Vector3d axis = pose.rotation.col(2), n = axis.cross(Vector3d::UnitX()).normalized();
  const Vector3d outward = n.y() < 0 ? n : Vector3d(-n);
  const Solid block = make_block();
  EXPECT_NEAR(smallest_of_all(contacts_of(cylinder, pose, block.mesh, {}, {.reach = 3e-4})),
              outward.dot(pose.position - block.corner) - 0.1, 1e-9);  // closed form
}

/// A cube stands askew in the upper end of a wide cylinder, with its lower face. Uphill of the axis
/// of the cylinder the normals of its lower edges end at that of the face, where the lowest point
/// of the cylinder is at its rim, 0.76 m away: nothing of the edges touches there.
TEST(ConvexMeshReference, ACubeAskewInAWideCylinderTouchesItWithItsFaceAlone) {
  const Shape ground = Cylinder{.radius = 1, .length = 0.4};
  const Vector3d sides(0.2, 0.2, 0.2);
  const Mesh mesh = box_mesh(sides);
  const CollisionShape cylinder(ground), cube{Shape(mesh)}, box(Box{sides});
  const Pose pose_ground{.position = {0, 0, -0.2}, .rotation = Eigen::Matrix3d::Identity()};
  const Pose pose{.position = {0.060300460919895882, 0.13902965805232706, 0.099563940011856492},
                  .rotation = Eigen::Quaterniond(0.99873720263515831, -0.0023042507918801854,
                                                 0.0002141631218770941, 0.05018610001727928)
                                  .normalized()
                                  .toRotationMatrix()};
  const ContactList list = contacts_of(cylinder, pose_ground, cube, pose, {.reach = 1e-3});
  EXPECT_EQ(list.candidates.size(), 4u);
  EXPECT_NEAR(smallest_of_all(list), compute_distance(cylinder, pose_ground, box, pose).gap, 4e-9);
  EXPECT_EQ(find_contact_beside(list, ground, pose_ground, moved(corners_of_triangles(mesh), pose),
                                1e-12),
            "");
}

/// A corner beyond the border of a face by 0.3 µm or 0.7 µm: the face is as good a direction within
/// a tie, but is not above the corner, only above the edges that fall from it.
TEST(ConvexMeshReference, ACornerJustBesideAFaceOfABoxTouchesItsEdge) {
  const Vector3d sides(0.6, 0.5, 0.3);
  const CollisionShape box(Box{sides});
  const Pose poses[] = {
      {.position = {-0.39257280338943257, -0.5647756971163036, 0.58584463996561675},
       .rotation = Eigen::Quaterniond(-0.31283540490473932, 0.80893150786427126,
                                      0.18277747910097381, 0.46298619650699896)
                       .toRotationMatrix()},
      {.position = {-0.27691143312318572, -0.21546503802140859, 0.47579765452926914},
       .rotation = Eigen::Quaterniond(0.96510123363379596, 0.00044999391774462106,
                                      -0.046149218030386713, 0.25777830789106915)
                       .toRotationMatrix()}};
  const Solid block = make_block();
  for (const Pose& pose : poses) {
    const Vector3d in_box = pose.rotation.transpose() * (block.corner - pose.position);
    const Vector3d beyond = (in_box.cwiseAbs() - sides / 2).cwiseMax(0);
    EXPECT_GT(beyond.x(), 3e-7);
    EXPECT_LT(beyond.x(), 8e-7);
    EXPECT_EQ(beyond.y(), 0);
    for (const double reach : {1e-3, 5e-3, 2e-2}) {
      EXPECT_NEAR(smallest_of_all(contacts_of(box, pose, block.mesh, {}, {.reach = reach})),
                  beyond.norm(), 1e-12)
          << reach;
    }
  }
}

/// A shape that lies across an edge of the block touches there first. What else of it is over the
/// block, or has sunk in, has its contact on the mesh where it has one on the box. Places that are
/// `apart` [m] count as one.
void compare_across_edge(const CollisionShape& a, double apart, int seed, int cases) {
  SCOPED_TRACE(std::string(name_of(a.shape())));
  const Solid block = make_block();
  const auto triangles = corners_of_triangles(std::get<Mesh>(block.mesh.shape()));
  Random random(seed);
  int num_compared = 0;
  for (int i = 0; i < cases; ++i) {
    constexpr double kReach = 5e-3;
    const bool is_apart = random.chance(0.5);
    const double wanted =
        is_apart ? random.uniform(0, 0.8) * kReach : -std::pow(10, random.uniform(-7, -1.7));
    Pose pose{.position = {random.uniform(-0.7, 0.7), random.uniform(-0.6, 0.6), 0.45},
              .rotation = slight_tilt(random, 0.15)};
    const SignedDistance d = bring_to(wanted, a, block.convex, pose);
    constexpr double kSlightTilt = 0.98;  // cosine: what is steeper does not come down beside
    if (is_apart != (d.gap > 0) || !(d.normal.z() > kSlightTilt)) continue;
    const ContactList on_box = contacts_of(a, pose, block.convex, {}, {.reach = kReach}),
                      on_mesh = contacts_of(a, pose, block.mesh, {}, {.reach = kReach});
    ASSERT_EQ(find_contact_beside(on_mesh, a.shape(), pose, triangles, beside(a, block)), "")
        << "case " << i;
    for (const ContactCandidate& wanted_one : on_box.candidates) {
      if (wanted_one.gap > (is_apart ? 0.9 * kReach : 0)) continue;
      if (!(wanted_one.normal.z() > kSlightTilt)) continue;  // of a side
      ++num_compared;
      const auto is_same = [&](const ContactCandidate& other) {
        return (other.point - wanted_one.point).norm() < apart &&
               other.normal.dot(wanted_one.normal) > 0.95;
      };
      ASSERT_TRUE(std::any_of(on_mesh.candidates.begin(), on_mesh.candidates.end(), is_same))
          << "case " << i << ": no contact at " << wanted_one.point.transpose() << ", gap "
          << wanted_one.gap << ", depth " << -d.gap;
    }
  }
  EXPECT_GT(num_compared, cases);
}

void compare_all_across_edges(int seed, int cases) {
  Convex prism;
  for (int i = 0; i < 8; ++i) {
    const double angle = 0.1 + i * std::numbers::pi / 4;
    for (const double z : {-0.15, 0.15}) {
      prism.points.push_back({0.3 * std::cos(angle), 0.3 * std::sin(angle), z});
    }
  }
  // A fiftieth of the size of polytopes, a quarter of the radius of an end; as detected, half way
  // between surfaces that are up to 20 mm apart.
  compare_across_edge(CollisionShape(Box{{0.6, 0.5, 0.3}}), 0.04, seed, cases);
  compare_across_edge(CollisionShape{Shape(prism)}, 0.04, seed, cases);
  compare_across_edge(CollisionShape(Cylinder{.radius = 0.3, .length = 0.3}), 0.1, seed, cases);
}

TEST(ConvexMeshReference, WhatLiesAcrossAnEdgeTouchesWhereItDoesOnTheBox) {
  compare_all_across_edges(3, testing::fewer_sanitized(4000));
}

TEST(SlowConvexMeshReference, WhatLiesAcrossAnEdgeTouchesWhereItDoesOnTheBox) {
  compare_all_across_edges(4, testing::fewer_sanitized(60000));
}

/// Two edges touch, and a side of the box that is tilted over another edge is deeper there than
/// what touches: that place has the contact of the block's upper side, as on the box, and no deeper
/// one.
TEST(ConvexMeshReference, NoTiltedSideIsDeeperThanWhatTouches) {
  const CollisionShape box(Box{{0.6, 0.5, 0.3}});
  const Pose poses[] = {
      {.position = {0.45057277172724219, 0.064618123998323229, 0.48928339971380286},
       .rotation = Eigen::Quaterniond(-0.42889417673843178, 0.062522189657473873,
                                      0.029732018584701685, 0.90069793384418095)
                       .toRotationMatrix()},
      {.position = {-0.43930907192955077, 0.30619343853574077, 0.6192350478204216},
       .rotation = Eigen::Quaterniond(0.48504944678828227, 0.49330904299845696,
                                      -0.39584975611386658, 0.60388425451482042)
                       .toRotationMatrix()}};
  const Vector3d beside[] = {{0.47602, 0.4, 0.29965}, {-0.5, 0.38187, 0.29766}};
  const Solid block = make_block();
  for (int i = 0; i < 2; ++i) {
    const ContactList list = contacts_of(box, poses[i], block.mesh, {}, {.reach = 5e-3});
    EXPECT_NEAR(smallest_of_all(list), compute_distance(box, poses[i], block.convex, {}).gap, 1e-9);
    EXPECT_TRUE(std::any_of(list.candidates.begin(), list.candidates.end(), [&](const auto& touch) {
      return (touch.point - beside[i]).norm() < 1e-4 && touch.normal.z() > 1 - 1e-12;
    })) << i;
  }
}

/// A capsule across the rim of a sheet, or beside its corner: the contact is half way between the
/// rim and what of the capsule is nearest to it, which may be an end or the axis, not both. Along a
/// rim both ends count, also the one that is higher.
TEST(ConvexMeshReference, CapsulesTouchRimsWithWhatIsNearest) {
  Mesh sheet;
  sheet.vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  const CollisionShape surface{Shape(sheet)};
  Random random(5);
  int num_compared = 0;
  for (int i = 0; i < testing::fewer_sanitized(20000); ++i) {
    const double radius = 0.02, half = random.uniform(0.001, 0.05);
    const CollisionShape a(Capsule{.radius = radius, .length = 2 * half});
    const Pose pose{.position = {1 + random.uniform(-0.01, 0.04), 1.1 * random.uniform(),
                                 0.02 * random.uniform(-1, 1)},
                    .rotation = random_rotation(random)};
    const Vector3d axis = pose.rotation.col(2);
    if (std::abs(axis.x()) > 0.95 || std::abs(axis.y()) > 0.95) continue;  // along a rim
    for (const ContactCandidate& touch :
         contacts_of(a, pose, surface, {}, {.reach = 5e-3}).candidates) {
      if (std::abs(touch.normal.z()) > 1 - 1e-9) continue;  // of the face
      if (touch.gap < -0.5 * radius) continue;              // the axis may have passed the rim
      ++num_compared;
      const double place = std::clamp(axis.dot(touch.point - pose.position), -half, half);
      EXPECT_NEAR((touch.point - pose.position - place * axis).norm() - radius, touch.gap / 2,
                  1e-12)
          << "case " << i;
    }
  }
  EXPECT_GT(num_compared, testing::fewer_sanitized(1000));
}

}  // namespace
}  // namespace stiction
