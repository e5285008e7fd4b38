// Every pair of convex kinds, and convex shapes over surfaces, against FCL: a second reference,
// written by others, for what tests/geometry/distance_reference_test.cc and
// surface_reference_test.cc ask of our own.
//
// FCL promises its signed distance to `distance_tolerance`, by GJK and, where shapes overlap, EPA.
// Flat shapes end at a feature: there both are exact. Round ones that are apart are followed until
// a step gains less than the tolerance δ, which leaves a few √δ where it converges slowly; but what
// it finds is the distance of two points, hence never less than ours. Configurations that FCL gives
// up on, and says so, are left out and counted. With δ = 1e-8 it aborts instead.
#include <fcl/geometry/bvh/BVH_model.h>
#include <fcl/narrowphase/distance.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bench/collision/fcl_geometry.h"
#include "stiction/geometry/collect_contacts.h"
#include "stiction/geometry/distance.h"
#include "tests/geometry/random_pairs.h"
#include "tests/geometry/random_surfaces.h"

namespace stiction {
namespace {

using bench::FclGeometry;
using bench::make_geometry;

fcl::Transform3d transform_of(const Pose& pose) {
  fcl::Transform3d transform = fcl::Transform3d::Identity();
  transform.linear() = pose.rotation;
  transform.translation() = pose.position;
  return transform;
}

constexpr double kDistanceTolerance = 1e-6;  // [m] asked of FCL
constexpr double kRounding = 1e-12;          // [m] of sizes and distances of about 1 m

std::optional<double> compute_gap_by_fcl(const PlacedPair& pair) {
  fcl::DistanceRequestd request(true, true);
  request.distance_tolerance = kDistanceTolerance;
  request.gjk_solver_type = fcl::GST_LIBCCD;
  fcl::DistanceResultd result;
  try {
    fcl::distance(make_geometry(pair.a).get(), transform_of(pair.pose_a),
                  make_geometry(pair.b).get(), transform_of(pair.pose_b), request, result);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return result.min_distance;
}

/// Sizes of about 1 m, where FCL's absolute tolerances mean something: apart by up to 1 m, or
/// overlapping.
PlacedPair random_placed_pair(Random& random, ShapeKind kind_a, ShapeKind kind_b) {
  PlacedPair pair{.a = random_shape(random, kind_a, 1, 0.1),
                  .b = random_shape(random, kind_b, 1, 0.1),
                  .pose_a = random_pose(random, 0.5),
                  .pose_b = random_pose(random, 0.5)};
  const CollisionShape a(pair.a), b(pair.b);
  const SignedDistance d = compute_distance(a, pair.pose_a, b, pair.pose_b);
  pair.pose_a.position += (random.uniform(-0.5, 1) - d.gap) * d.normal;
  return pair;
}

class FclDistance : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(FclDistance, Agrees) {
  const auto kind_a = static_cast<ShapeKind>(std::get<0>(GetParam()));
  const auto kind_b = static_cast<ShapeKind>(std::get<1>(GetParam()));
  const auto is_flat = [](ShapeKind kind) {
    return kind == ShapeKind::kBox || kind == ShapeKind::kConvex;
  };
  const bool are_flat = is_flat(kind_a) && is_flat(kind_b);
  constexpr int kNumPairs = 2800;  // of each of 36 kinds
  int num_given_up = 0;
  for (int seed = 0; seed < kNumPairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(1000003ull * seed + 10 * std::get<0>(GetParam()) + std::get<1>(GetParam()));
    const PlacedPair pair = random_placed_pair(random, kind_a, kind_b);
    const double ours =
        compute_distance(CollisionShape(pair.a), pair.pose_a, CollisionShape(pair.b), pair.pose_b)
            .gap;
    const std::optional<double> theirs = compute_gap_by_fcl(pair);
    if (!theirs) {
      ++num_given_up;
      continue;
    }
    const double excess = *theirs - ours;
    if (are_flat) {
      EXPECT_NEAR(excess, 0, kRounding);
    } else if (ours < 0) {
      EXPECT_NEAR(excess, 0, 2 * kDistanceTolerance);
    } else {
      // Theirs is the distance of two points at which the search ended: never too small, and too
      // large by 16 mm in one of 100,800 pairs.
      EXPECT_GE(excess, -kRounding);
      EXPECT_LE(excess, 20 * std::sqrt(kDistanceTolerance));
    }
  }
  EXPECT_LE(num_given_up, kNumPairs / 10);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FclDistance,
                         testing::Combine(testing::Range(0, 6), testing::Range(0, 6)));

/// Bent surfaces as bags of triangles.
FclGeometry make_triangles(const RandomSurface& surface) {
  auto model = std::make_shared<fcl::BVHModel<fcl::OBBRSSd>>();
  model->beginModel();
  for (const TriangleCorners& t : surface.triangles) model->addTriangle(t[0], t[1], t[2]);
  model->endModel();
  return model;
}

class FclSurfaceDistance : public testing::TestWithParam<std::tuple<int, int>> {};

/// A convex shape over an open sheet, a closed block, a height field: where FCL finds it apart from
/// all triangles, the smallest gap of our contacts is its distance.
TEST_P(FclSurfaceDistance, Agrees) {
  const auto kind = static_cast<ShapeKind>(std::get<0>(GetParam()));
  const auto surface_kind = static_cast<SurfaceKind>(std::get<1>(GetParam()));
  const bool is_flat = kind == ShapeKind::kBox || kind == ShapeKind::kConvex;
  constexpr int kNumCases = 5600;  // of each of 18 kinds
  constexpr double kReach = 0.5;   // [m]
  int num_compared = 0;
  for (int seed = 0; seed < kNumCases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(1000003ull * seed + 10 * std::get<0>(GetParam()) + std::get<1>(GetParam()));
    const RandomSurface surface = random_surface(random, surface_kind);
    const Shape shape = random_shape(random, kind, 0.5, 0.1);
    const CollisionShape a(shape), b(surface.surface);
    const Pose pose{
        .position = {random.uniform(-2, 2), random.uniform(-2, 2), random.uniform(0, 1)},
        .rotation = random_rotation(random)};
    fcl::DistanceRequestd request(true, false);
    request.distance_tolerance = kDistanceTolerance;
    request.gjk_solver_type = fcl::GST_LIBCCD;
    fcl::DistanceResultd result;
    try {
      fcl::distance(make_geometry(shape).get(), transform_of(pose), make_triangles(surface).get(),
                    fcl::Transform3d::Identity(), request, result);
    } catch (const std::exception&) {
      continue;
    }
    const double theirs = result.min_distance;
    if (!(theirs > 1e-5 && theirs < kReach)) continue;
    // In the ground, or where the rim of a height field may be nearest from below.
    const Eigen::Vector3d inside = pose * (a.polytope() ? a.polytope()->center() : a.center());
    if (surface_kind != SurfaceKind::kSheet && is_below(surface, inside)) continue;
    if (surface_kind == SurfaceKind::kHeightField &&
        inside.head<2>().cwiseAbs().maxCoeff() + 2 * a.bounding_radius() + kReach > 2) {
      continue;
    }
    ContactWorkspace workspace;
    ContactList list;
    collect_contacts(a, pose, b, {}, {.reach = kReach}, workspace, list);
    double ours = 2 * kReach;
    for (const ContactCandidate& candidate : list.candidates) ours = std::min(ours, candidate.gap);
    ++num_compared;
    EXPECT_GE(theirs - ours, -1e-9);
    EXPECT_LE(theirs - ours, is_flat ? 1e-6 : 20 * std::sqrt(kDistanceTolerance));
  }
  EXPECT_GT(num_compared, kNumCases / 50);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FclSurfaceDistance,
                         testing::Combine(testing::Range(0, 6), testing::Range(0, 3)));

}  // namespace
}  // namespace stiction
