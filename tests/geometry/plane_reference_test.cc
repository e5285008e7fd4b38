// Half-spaces and flat meshes against closed forms in long double: the support of every convex
// shape along a direction n,
//
//   h(n) = max { n·x : x in the shape },   gap of a plane with normal n:  n·c − offset − h(−n),
//
// written down for each kind and not taken from the shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/random_pairs.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
using Long = long double;
using LongVector = Eigen::Matrix<Long, 3, 1>;

/// max n·x, x relative to the frame of the shape, n in that frame.
struct Support {
  LongVector n;
  Long operator()(const Sphere& s) const { return s.radius * n.norm(); }
  Long operator()(const Capsule& c) const {
    return c.radius * n.norm() + Long(c.length) / 2 * std::abs(n.z());
  }
  Long operator()(const Box& b) const {
    return b.size.cast<Long>().cwiseProduct(n.cwiseAbs()).sum() / 2;
  }
  Long operator()(const Cylinder& c) const {
    return c.radius * std::sqrt(n.x() * n.x() + n.y() * n.y()) +
           Long(c.length) / 2 * std::abs(n.z());
  }
  Long operator()(const Ellipsoid& e) const { return e.radii.cast<Long>().cwiseProduct(n).norm(); }
  Long operator()(const Convex& c) const {
    Long largest = -std::numeric_limits<Long>::infinity();
    for (const Vector3d& point : c.points) largest = std::max(largest, n.dot(point.cast<Long>()));
    return largest;
  }
  template <class Other>
  Long operator()(const Other&) const {
    ADD_FAILURE() << "not a convex solid";
    return 0;
  }
};

/// The gap of a shape over a plane of another frame.
Long gap_over(const Shape& shape, const Pose& pose, const Plane& plane, const Pose& pose_plane) {
  const LongVector n = pose_plane.rotation.cast<Long>() * plane.normal.cast<Long>().normalized();
  const LongVector centre = (pose.position.cast<Long>() - pose_plane.position.cast<Long>()).eval();
  const LongVector in_shape = pose.rotation.cast<Long>().transpose() * -n;
  return n.dot(centre) - plane.offset - std::visit(Support{in_shape}, shape);
}

constexpr ShapeKind kKinds[] = {ShapeKind::kSphere,   ShapeKind::kCapsule,   ShapeKind::kBox,
                                ShapeKind::kCylinder, ShapeKind::kEllipsoid, ShapeKind::kConvex};

/// 102,000 of them: deep, touching, apart, far away, slabs and needles, from 10 µm to 1 km, in both
/// orders. What is left is the rounding of positions, of sizes, and of rotations that are
/// orthogonal to 1e-15.
TEST(PlaneReference, GapsOfAllConvexShapesAreThoseOfTheirSupport) {
  for (const ShapeKind kind : kKinds) {
    Random random(100 + static_cast<int>(kind));
    for (int i = 0; i < testing::fewer_sanitized(17000); ++i) {
      const PlacedPair pair = random_pair(random, kind, ShapeKind::kPlane);
      const CollisionShape a(pair.a), b(pair.b);
      const auto& plane = std::get<Plane>(pair.b);
      const Long expected = gap_over(pair.a, pair.pose_a, plane, pair.pose_b);
      const double size = a.size() + std::abs(plane.offset) + pair.pose_a.position.norm() +
                          pair.pose_b.position.norm();
      const SignedDistance d = compute_distance(a, pair.pose_a, b, pair.pose_b);
      const SignedDistance swapped = compute_distance(b, pair.pose_b, a, pair.pose_a);
      ASSERT_NEAR(d.gap, static_cast<double>(expected), 1e-14 * size) << i;
      ASSERT_NEAR(swapped.gap, static_cast<double>(expected), 1e-14 * size) << i;
      ASSERT_LT((d.normal - pair.pose_b.rotation * plane.normal.normalized()).norm(), 1e-14) << i;
      ASSERT_LT((d.normal + swapped.normal).norm(), 1e-15) << i;
    }
  }
}

/// A sheet in the plane z = 0, of triangles of all sizes.
Mesh make_sheet(Random& random, double half) {
  Mesh mesh;
  constexpr int kCells = 4;
  double lines[2][kCells + 1];
  for (auto& line : lines) {
    for (double& x : line) x = random.uniform(-half, half);
    std::sort(line, line + kCells + 1);
    line[0] = -half;
    line[kCells] = half;
  }
  for (const double y : lines[1])
    for (const double x : lines[0]) mesh.vertices.push_back({x, y, 0});
  for (int j = 0; j < kCells; ++j)
    for (int i = 0; i < kCells; ++i) {
      const int at = j * (kCells + 1) + i;
      mesh.triangles.push_back({at, at + 1, at + kCells + 2});
      mesh.triangles.push_back({at, at + kCells + 2, at + kCells + 1});
    }
  return mesh;
}

/// Above a sheet that reaches further than the shape, the smallest gap of all contacts is that of
/// the plane of the sheet, and a sheet has contacts if and only if it is within reach.
TEST(PlaneReference, GapsOverFlatMeshesAreThoseOverTheirPlane) {
  for (const ShapeKind kind : kKinds) {
    Random random(200 + static_cast<int>(kind));
    for (int i = 0; i < testing::fewer_sanitized(2000); ++i) {
      const Shape shape = random_shape(random, kind, 1, 1e-2);
      const CollisionShape a(shape), mesh{Shape(make_sheet(random, 10))};
      Pose pose = random_pose(random, 1);
      const auto start = static_cast<double>(gap_over(shape, pose, Plane{}, {}));
      // The centre stays above: a sheet has two sides, and the centre says which one counts.
      const double deepest = -0.3 * (pose.position.z() - start);
      const double wanted =
          random.chance(0.3) ? random.uniform(deepest, 0) : random.uniform(0, 0.1) * a.size();
      pose.position.z() += wanted - start;
      const auto expected = static_cast<double>(gap_over(shape, pose, Plane{}, {}));
      ContactWorkspace workspace;
      ContactList list;
      const double reach = 0.05 * a.size();
      collect_contacts(a, pose, mesh, {}, {.reach = reach}, workspace, list);
      if (std::abs(expected - reach) < 1e-12) continue;
      ASSERT_EQ(list.candidates.empty(), expected > reach)
          << static_cast<int>(kind) << " " << i << " gap " << expected << " size " << a.size()
          << " at " << pose.position.transpose();
      double smallest = std::numeric_limits<double>::infinity();
      for (const ContactCandidate& candidate : list.candidates) {
        smallest = std::min(smallest, candidate.gap);
        ASSERT_LT((candidate.normal - Vector3d::UnitZ()).norm(), 1e-12) << i;
      }
      if (list.candidates.empty()) continue;
      ASSERT_NEAR(smallest, expected, 1e-12) << i;  // 1e-13 of the sheet
    }
  }
}

}  // namespace
}  // namespace stiction
