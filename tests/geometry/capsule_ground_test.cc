// Capsules on ground that is nearly flat and bent at every edge.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "stiction/base/random.h"
#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/collision_shape.h"
#include "tests/geometry/random_surfaces.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Vector3d;

double random_size(Random& random, double least, double most) {
  return std::pow(10, random.uniform(least, most));
}

HeightField random_ground(Random& random) {
  const int count = random.integer(2, 13);
  const double rough = random_size(random, -10, -3);
  HeightField field{.size = {6, 6}, .heights = Eigen::MatrixXd(count, count)};
  for (double& height : field.heights.reshaped()) height = rough * random.uniform(-1, 1);
  return field;
}

/// Sine of the angle of the steepest triangle.
double steepest_of(const Mesh& sheet) {
  double steepest = 0;
  for (const TriangleCorners& t : corners_of_triangles(sheet)) {
    const Vector3d normal = (t[1] - t[0]).cross(t[2] - t[0]).normalized();
    steepest = std::max(steepest, normal.head<2>().norm());
  }
  return steepest;
}

/// Anywhere, or nearly along an edge and over one of its ends; one end of the capsule lifted.
Pose random_place(Random& random, const Mesh& sheet, const Capsule& capsule) {
  const bool is_along_edge = random.chance(0.5);
  const double eighth = random.integer(0, 7) * std::numbers::pi / 4;
  const double yaw = is_along_edge ? eighth + random.uniform(-1, 1) * random_size(random, -10, -1)
                                   : random.uniform(0, 7);
  const double tilt = random.uniform(-1, 1) * random_size(random, -10, -3);
  Pose pose{.position = Vector3d(random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5), 0),
            .rotation = (AngleAxisd(yaw, Vector3d::UnitZ()) *
                         AngleAxisd(std::numbers::pi / 2 + tilt, Vector3d::UnitX()))
                            .toRotationMatrix()};
  if (is_along_edge) {
    const int last = static_cast<int>(sheet.vertices.size()) - 1;
    const Vector3d across(std::cos(eighth), std::sin(eighth), 0);
    pose.position = sheet.vertices[random.integer(0, last)] +
                    random.uniform(-0.5, 0.5) * capsule.length * pose.rotation.col(2) +
                    random.uniform(-1, 1) * random_size(random, -10, -1) * across;
  }
  pose.position.z() = capsule.radius + random.uniform(-1, 1) * random_size(random, -10, -3);
  return pose;
}

void expect_normals_of_ground(std::uint64_t seed, int cases) {
  Random random(seed);
  ContactWorkspace workspace;
  for (int i = 0; i < cases; ++i) {
    const HeightField field = random_ground(random);
    const Mesh sheet = make_bent_sheet(field);
    const Capsule capsule{.radius = random.uniform(0.05, 0.3), .length = random.uniform(0.3, 1.5)};
    const Pose pose = random_place(random, sheet, capsule);
    // Beyond the rim there is more than ground.
    if (!(pose.position.head<2>().cwiseAbs().maxCoeff() < 2)) continue;
    // Edges and corners push between the normals of their triangles; directions of contacts are
    // told by 1e-9 from those that are allowed.
    const double steepest = steepest_of(sheet) + 2e-9;
    for (const Shape& ground : {Shape(sheet), Shape(make_block(field, -4)), Shape(field)}) {
      ContactList list;
      collect_contacts(CollisionShape(capsule), pose, CollisionShape(ground), {}, {.reach = 1e-3},
                       workspace, list);
      for (const ContactCandidate& touch : list.candidates) {
        EXPECT_GT(touch.normal.z(), 0) << name_of(ground) << ", case " << i;
        EXPECT_LE(touch.normal.head<2>().norm(), steepest) << name_of(ground) << ", case " << i;
      }
    }
  }
}

/// One that is lifted by an angle is over edges that it does not touch: their common normal with
/// its axis is tilted as far as it is, and up to 3° where it is nearly along them.
TEST(CapsuleGround, CapsulesAreNowherePushedAlongMoreThanTheSlopeOfTheGround) {
  expect_normals_of_ground(1, testing::fewer_sanitized(500));
}

TEST(SlowCapsuleGround, CapsulesAreNowherePushedAlongMoreThanTheSlopeOfTheGround) {
  expect_normals_of_ground(2, testing::fewer_sanitized(30000));
}

}  // namespace
}  // namespace stiction
