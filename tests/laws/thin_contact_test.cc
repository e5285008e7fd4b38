// What is thinner than the way of a step holds what falls on it, with schemes that look at the end
// of the step: there it would be on the other side.
#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/gravity.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using testing::kGravity;

struct ThinThing {
  Shape shape;
  Pose frame;
};

/// Of 1 mm or 2 mm, with the top at z = 0.
std::vector<ThinThing> plates() {
  const Vector3d half(0.1, 0.1, 5e-4), down(0, 0, -5e-4);
  Convex hull;
  for (int i = 0; i < 8; ++i)
    hull.points.push_back(
        half.cwiseProduct(Vector3d(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  const Pose below{.position = down, .rotation = Matrix3d::Identity()};
  return {{Box{.size = 2 * half}, below},
          {hull, below},
          {Cylinder{.radius = 0.1, .length = 1e-3}, below}};
}
ThinThing rod() {
  Matrix3d along_x;
  along_x << 0, 0, 1, 0, 1, 0, -1, 0, 0;
  return {Capsule{.radius = 1e-3, .length = 0.2}, {{0, 0, -1e-3}, along_x}};
}
ThinThing bead() { return {Sphere{.radius = 1e-3}, {{0, 0, -1e-3}, Matrix3d::Identity()}}; }

/// Lets a pebble fall on something from 30 mm at `speed`; the lowest z of its centre in half a
/// second. At 1 m/s a step of 1/60 s is 17 mm.
double lowest_of(const Shape& pebble, const ThinThing& thing, const std::string& scheme,
                 double x = 0) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const BodyId body = world.add_body({.name = "pebble",
                                      .position = {x, 0, 0.03},
                                      .velocity = {0, 0, -1},
                                      .mass = 5e-4,
                                      .inertia = 5e-9 * Matrix3d::Identity()});
  const MaterialId rough = world.add_material({.name = "rough", .mu = 0.3});
  world.add_shape({.body = body, .shape = pebble, .material = rough});
  world.add_shape({.shape = thing.shape, .frame = thing.frame, .material = rough});
  Simulation simulation(world.build_model(), {.scheme = scheme, .h = 1.0 / 60});
  double lowest = 1;
  for (int n = 0; n < 30; ++n) {
    simulation.step();
    lowest = std::min(lowest, simulation.state().q[2]);
  }
  return lowest;
}

class Thin : public ::testing::TestWithParam<std::string> {};
const auto kSchemeName = [](const auto& info) {
  return std::string(info.param == "stewart-trinkle" ? "StewartTrinkle" : "AnitescuPotra");
};
INSTANTIATE_TEST_SUITE_P(Schemes, Thin, ::testing::Values("stewart-trinkle", "anitescu-potra"),
                         kSchemeName);

TEST_P(Thin, PlatesHoldBallsAndEllipsoids) {
  for (const ThinThing& plate : plates()) {
    // The schemes open gaps to 1e-9 of the size and less.
    EXPECT_GE(lowest_of(Sphere{.radius = 0.005}, plate, GetParam()), 0.005 - 1e-9)
        << name_of(plate.shape);
    // The gap of an ellipsoid that turns is not linear; its least radius is 4 mm, and linear steps
    // leave a millimetre of it at most.
    EXPECT_GE(lowest_of(Ellipsoid{.radii = {0.004, 0.005, 0.006}}, plate, GetParam()), 0.003)
        << name_of(plate.shape);
  }
}

TEST_P(Thin, RodsAndBeadsHoldBalls) {
  EXPECT_GE(lowest_of(Sphere{.radius = 0.005}, rod(), GetParam()), 0.005 - 1e-9);
  EXPECT_GE(lowest_of(Sphere{.radius = 0.005}, bead(), GetParam()), 0.005 - 1e-9);
  EXPECT_GE(lowest_of(Capsule{.radius = 0.005, .length = 0.02}, bead(), GetParam()), 0.015 - 1e-9);
}

// Half a second of free fall, but for the error h g t/2 of a step: nothing is felt beside it.
TEST_P(Thin, NothingIsHeldBesideThem) {
  constexpr double kTime = 0.5, kFallen = 0.03 - kTime - kGravity * kTime * kTime / 2;
  for (const ThinThing& thing : {bead(), rod()}) {
    ThinThing turned = thing;
    std::swap(turned.frame.position.x(), turned.frame.position.y());
    Matrix3d quarter;
    quarter << 0, -1, 0, 1, 0, 0, 0, 0, 1;
    turned.frame.rotation = quarter * thing.frame.rotation;  // along y
    EXPECT_LE(lowest_of(Sphere{.radius = 0.005}, turned, GetParam(), 0.0061),
              kFallen + kGravity * kTime / 60);
  }
}

}  // namespace
}  // namespace stiction
