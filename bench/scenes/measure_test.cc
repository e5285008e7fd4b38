// The judge of all engines, against closed forms.
#include "bench/scenes/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace stiction::bench {
namespace {

/// Distances with a closed form are good to 1e-12 of the size of the shapes (distance.h).
constexpr double kRounding = 1e-12;

SceneDescription make_pair(const SceneBody& first, const SceneBody& second) {
  SceneDescription scene;
  scene.bodies = {first, second};
  return scene;
}

double measure_overlap(const SceneDescription& scene) {
  return PenetrationMeasure(scene).compute(make_start(scene));
}

TEST(PenetrationMeasure, IsTheOverlapOfTwoSpheres) {
  SceneBody first = make_solid("first", Sphere{0.3}, 1000), second = first;
  second.position = {0.3, 0.4, 0};  // half a metre apart, of 0.6
  EXPECT_NEAR(measure_overlap(make_pair(first, second)), 0.1, kRounding);
  second.position = {0.6, 0.8, 0};
  EXPECT_EQ(measure_overlap(make_pair(first, second)), 0);
}

TEST(PenetrationMeasure, SeesTheEdgeOfATurnedBox) {
  const SceneBody ground = make_static("ground", Box{{10, 10, 1}}, {0, 0, -0.5});
  SceneBody box = make_solid("box", Box{{1, 1, 1}}, 1000);
  box.orientation = Eigen::AngleAxisd(std::numbers::pi / 4, Eigen::Vector3d::UnitX());
  box.position = {0, 0, 0.7};  // its edge is √½ below the centre
  EXPECT_NEAR(measure_overlap(make_pair(ground, box)), std::sqrt(0.5) - 0.7, 10 * kRounding);
}

TEST(PenetrationMeasure, SeesTheSideOfALyingCapsule) {
  const SceneBody ground = make_static("ground", Box{{10, 10, 1}}, {0, 0, -0.5});
  SceneBody log = make_solid("log", Capsule{0.2, 2}, 600);
  log.orientation = Eigen::AngleAxisd(std::numbers::pi / 2, Eigen::Vector3d::UnitX());
  log.position = {1, 2, 0.15};
  EXPECT_NEAR(measure_overlap(make_pair(ground, log)), 0.05, 10 * kRounding);
}

TEST(PenetrationMeasure, LooksPastBodiesThatDoNotTouch) {
  SceneBody first = make_solid("first", Sphere{0.3}, 1000), second = first;
  SceneDescription scene = make_pair(first, second);
  scene.joints.push_back({.first = 0, .second = 1});
  EXPECT_EQ(measure_overlap(scene), 0);
  scene.joints.clear();
  EXPECT_NEAR(measure_overlap(scene), 0.6, kRounding);
  scene.bodies[1].touches = false;
  EXPECT_EQ(measure_overlap(scene), 0);
  EXPECT_EQ(
      measure_overlap(make_pair(make_static("a", Sphere{1}, {}), make_static("b", Sphere{1}, {}))),
      0);
}

TEST(PenetrationMeasure, IsInfiniteWhereANumberIsNone) {
  const SceneDescription scene =
      make_pair(make_solid("first", Sphere{0.3}, 1000), make_solid("second", Sphere{0.3}, 1000));
  std::vector<BodyState> bodies = make_start(scene);
  bodies[1].p_WB.x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(PenetrationMeasure(scene).compute(bodies)));
}

TEST(JointGap, IsTheDistanceOfThePointsHeldTogether) {
  SceneDescription scene;
  scene.bodies = {make_solid("rod", Cylinder{0.1, 2}, 1000)};
  scene.joints.push_back({.first = kGround, .second = 0, .at = {0, 0, 1}});
  std::vector<BodyState> bodies = make_start(scene);
  EXPECT_EQ(compute_joint_gap(scene, bodies), 0);
  bodies[0].p_WB = {0.3, 0, 0.4};
  EXPECT_NEAR(compute_joint_gap(scene, bodies), 0.5, kRounding);
  // Turned by a right angle about x, the end that was at z = 1 is at y = −1.
  bodies[0].p_WB = {0, 1, 1};
  bodies[0].R_WB = Eigen::AngleAxisd(std::numbers::pi / 2, Eigen::Vector3d::UnitX());
  EXPECT_NEAR(compute_joint_gap(scene, bodies), 0, kRounding);
}

TEST(JointGap, OfASliderIsTheDistanceFromItsAxis) {
  SceneDescription scene;
  scene.bodies = {make_solid("cart", Box{{1, 1, 1}}, 1000)};
  scene.joints.push_back({.kind = SceneJoint::Kind::kSlider, .axis = Eigen::Vector3d(3, 4, 0) / 5});
  std::vector<BodyState> bodies = make_start(scene);
  bodies[0].p_WB = Eigen::Vector3d(6, 8, 0.25);
  EXPECT_NEAR(compute_joint_gap(scene, bodies), 0.25, 10 * kRounding);
}

TEST(Energy, IsThatOfATurningBodyUnderGravityAndAForce) {
  SceneDescription scene;
  SceneBody rod = make_solid("rod", Cylinder{0.5, 2}, 1000);
  rod.force = {7, 0, 0};
  scene.bodies = {make_static("ground", Box{{1, 1, 1}}, {}), rod};
  EXPECT_NEAR(rod.mass, 1000 * std::numbers::pi * 0.25 * 2, 1e-9 * rod.mass);
  std::vector<BodyState> bodies = make_start(scene);
  bodies[1].p_WB = {2, 0, 3};
  bodies[1].v_WB = {1, 2, 2};
  // The axis of the rod points along x, about which it turns.
  bodies[1].R_WB = Eigen::AngleAxisd(std::numbers::pi / 2, Eigen::Vector3d::UnitY());
  bodies[1].w_WB = {4, 0, 0};
  const double kinetic = rod.mass * 9 / 2 + rod.mass * 0.25 / 2 * 16 / 2;
  EXPECT_NEAR(compute_kinetic_energy(scene, bodies), kinetic, 1e-12 * kinetic);
  const double energy = kinetic + rod.mass * kGravity * 3 - 7 * 2;
  EXPECT_NEAR(compute_energy(scene, bodies), energy, 1e-12 * energy);
}

TEST(Drift, IsTheFurthestWayOfABodyThatMoves) {
  SceneDescription scene =
      make_pair(make_static("ground", Box{{1, 1, 1}}, {}), make_solid("ball", Sphere{1}, 1000));
  std::vector<BodyState> bodies = make_start(scene);
  bodies[0].p_WB = {5, 0, 0};
  bodies[1].p_WB = {0, 3, 4};
  EXPECT_NEAR(compute_drift(scene, bodies), 5, kRounding);
}

}  // namespace
}  // namespace stiction::bench
