// Bodies, springs and forces of scenes: every number must arrive in the description.
#include "stiction/scene/bodies_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/model/model.h"
#include "tests/scene/body_texts.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Motion = BodyDescription::Motion;
constexpr double kPi = std::numbers::pi;
/// Numbers of order one after a few operations.
constexpr double kRounding = 1e-14;

const std::string kUnitMass = R"("mass": 1, "inertia": [1, 1, 1])";

TEST(BodiesReader, TheExampleOfTheContractIsRead) {
  const RigidBodyDescription scene = described(R"j({ "stiction": 1, "name": "two carts",
    "simulate": {"scheme": "moreau", "solver": "lemke", "h": 0.01, "duration": 4},
    "gravity": [0, 0, -9.81],
    "materials": {"floor": {"mu": 0.05, "restitution": 0.3, "restitution_tangential": 0}},
    "bodies": [
      {"name": "cart", "mass": 1, "inertia": [1,1,1], "position": [0.1,0,0], "velocity": [-2,0,0],
       "free_axes": ["x"],
       "shapes": [{"type": "box", "size": [0.1,0.1,0.1], "material": "floor", "contact": false}]},
      {"name": "ground", "static": true, "shapes": [{"type": "plane", "normal": [0,0,1]}]}],
    "joints":  [{"type": "slider", "bodies": ["ground","cart"], "at": [0,0,1], "axis": [1,0,0],
                 "limits": [-1, 1], "motor": {"speed": 2, "max_effort": 50}, "friction": 0.1}],
    "springs": [{"between": [{"body": "cart", "point": [0,0,0]}, {"world": [0.2,0,0]}],
                 "stiffness": 100, "damping": 10, "rest_length": 0}],
    "forces":  [{"body": "cart", "force": ["20*cos(t)", 0, 0]}] })j");
  EXPECT_EQ(scene.gravity, Vector3d(0, 0, -9.81));
  ASSERT_EQ(scene.bodies.size(), 2u);
  EXPECT_EQ(scene.bodies[0].name, "cart");
  EXPECT_EQ(scene.bodies[0].motion, Motion::kDynamic);
  EXPECT_EQ(scene.bodies[0].mass, 1);
  EXPECT_EQ(scene.bodies[0].velocity, Vector3d(-2, 0, 0));
  EXPECT_EQ(scene.bodies[0].free_axes, (std::array{true, false, false, false, false, false}));
  EXPECT_EQ(scene.bodies[1].motion, Motion::kStatic);
  ASSERT_EQ(scene.joints.size(), 1u);
  EXPECT_EQ(scene.joints[0].type, JointType::kSlider);
  EXPECT_EQ(scene.joints[0].name, "slider 1");
  EXPECT_EQ(scene.joints[0].bodies, (std::array{1, 0}));
  ASSERT_EQ(scene.springs.size(), 1u);
  EXPECT_EQ(scene.springs[0].stiffness, std::vector{100.0});
  EXPECT_EQ(scene.springs[0].damping, std::vector{10.0});
  EXPECT_EQ(scene.springs[0].rest_length, 0);
  EXPECT_EQ(scene.springs[0].bodies, (std::array{0, kWorld}));
  EXPECT_EQ(scene.springs[0].frames[1].position, Vector3d(0.2, 0, 0));
  ASSERT_EQ(scene.forces.size(), 1u);
  EXPECT_EQ(symbols_of(scene.forces[0].force[0]), std::vector<std::string>{"t"});
}

TEST(BodiesReader, ABodyLikeAnotherHasAllThatItDoesNotWrite) {
  const RigidBodyDescription scene = described(scene_of(
      R"("materials": {"clay": {"mu": 0.5}}, "bodies": [
        {"name": "brick", "density": 2000, "position": [1, 2, 3], "velocity": [0, 0, -1],
         "shapes": [{"type": "box", "size": [0.4, 0.2, 0.1], "material": "clay"}]},
        {"name": "second", "like": "brick", "position": [4, 5, 6]},
        {"like": "second", "position": [7, 8, 9], "orientation": [0, 0, 0, 1], "density": 1000}])"));
  ASSERT_EQ(scene.bodies.size(), 3u);
  EXPECT_EQ(scene.bodies[1].name, "second");
  EXPECT_EQ(scene.bodies[1].position, Vector3d(4, 5, 6));
  EXPECT_EQ(scene.bodies[1].velocity, Vector3d(0, 0, -1));
  EXPECT_EQ(scene.bodies[1].mass, scene.bodies[0].mass);
  EXPECT_EQ(scene.bodies[1].inertia, scene.bodies[0].inertia);
  // A copy of a copy; names are never taken over.
  EXPECT_EQ(scene.bodies[2].name, "body 3");
  EXPECT_EQ(scene.bodies[2].position, Vector3d(7, 8, 9));
  EXPECT_EQ(scene.bodies[2].velocity, Vector3d(0, 0, -1));
  EXPECT_NEAR(scene.bodies[2].mass, 1000 * 0.4 * 0.2 * 0.1, kRounding);
  EXPECT_EQ(scene.bodies[0].orientation.w(), 1);
  EXPECT_EQ(scene.bodies[2].orientation.z(), 1);
  ASSERT_EQ(scene.shapes.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(scene.shapes[i].body, i);
    EXPECT_EQ(scene.shapes[i].material, 0);
  }
}

TEST(BodiesReader, WhatIsNotWrittenHasItsDefault) {
  const RigidBodyDescription scene = described(one_body(kUnitMass));
  EXPECT_EQ(scene.gravity, Vector3d::Zero());
  const BodyDescription& body = scene.bodies.at(0);
  EXPECT_EQ(body.name, "body 1");
  EXPECT_EQ(body.position, Vector3d::Zero());
  EXPECT_EQ(body.orientation.coeffs(), Eigen::Quaterniond::Identity().coeffs());
  EXPECT_EQ(body.velocity, Vector3d::Zero());
  EXPECT_EQ(body.angular_velocity, Vector3d::Zero());
  EXPECT_EQ(body.center_of_mass, Vector3d::Zero());
  EXPECT_EQ(body.free_axes, (std::array{true, true, true, true, true, true}));
}

TEST(BodiesReader, NumbersMayBeExpressionsInTheParameters) {
  const RigidBodyDescription scene = described(scene_of(
      R"("gravity": [0, "-a", 0], "bodies": [{"mass": "a^2", "inertia": ["a", 2, "1 + a"],
      "position": ["a", 0, "-a"], "center_of_mass": [0, "a/4", 0], "velocity": ["3*a", 0, 0],
      "angular_velocity": [0, 0, "pi"]}])"));
  EXPECT_EQ(scene.gravity, Vector3d(0, -2, 0));
  const BodyDescription& body = scene.bodies.at(0);
  EXPECT_EQ(body.mass, 4);
  EXPECT_EQ(body.inertia, Matrix3d(Vector3d(2, 2, 3).asDiagonal()));
  EXPECT_EQ(body.position, Vector3d(2, 0, -2));
  EXPECT_EQ(body.center_of_mass, Vector3d(0, 0.5, 0));
  EXPECT_EQ(body.velocity, Vector3d(6, 0, 0));
  EXPECT_EQ(body.angular_velocity, Vector3d(0, 0, kPi));
}

TEST(BodiesReader, OrientationsHaveThreeForms) {
  for (const std::string form : {R"({"axis": [0, 0, 3], "angle": "pi/2"})",
                                 R"({"axis": [0, 0, 1e-200], "angle_deg": 90})", "[2, 0, 0, 2]"}) {
    SCOPED_TRACE(form);
    const auto scene = described(one_body(kUnitMass + ", \"orientation\": " + form));
    const Vector3d turned = scene.bodies.at(0).orientation * Vector3d::UnitX();
    EXPECT_LT((turned - Vector3d::UnitY()).norm(), kRounding);
  }
}

TEST(BodiesReader, InertiaMayBeAMatrix) {
  const auto scene = described(
      one_body(R"("mass": 1, "inertia": [[2, "-0.1*a", 0], [-0.2, 3, 0.5], [0, 0.5, 4]])"));
  EXPECT_EQ(scene.bodies.at(0).inertia,
            (Matrix3d() << 2, -0.2, 0, -0.2, 3, 0.5, 0, 0.5, 4).finished());
}

// -------------------------------------------------------------------------------------------------
// Mass from shapes

TEST(BodiesReader, DensityAndShapesGiveMassAndInertia) {
  const auto scene =
      described(one_body(R"("density": 1000, "shapes": [{"type": "sphere", "radius": 0.5,
      "position": [0, 0, 2]}, {"type": "plane", "contact": false}])"));
  const BodyDescription& body = scene.bodies.at(0);
  const double mass = 1000 * 4 / 3.0 * kPi * 0.125;
  EXPECT_NEAR(body.mass, mass, mass * kRounding);
  EXPECT_LT((body.center_of_mass - Vector3d(0, 0, 2)).norm(), kRounding);
  EXPECT_LT((body.inertia - 0.4 * mass * 0.25 * Matrix3d::Identity()).norm(), mass * kRounding);
}

TEST(BodiesReader, MassScalesShapesOfOneDensity) {
  // Two cubes of edge 1 at x = ±1, 3 kg each: about y and z each adds 3·1².
  const auto scene = described(
      one_body(R"("mass": 6, "shapes": [{"type": "box", "size": [1, 1, 1], "position": [1, 0, 0]},
      {"type": "box", "size": [1, 1, 1], "position": [-1, 0, 0], "orientation": [0, 0, 1, 0]}])"));
  const BodyDescription& body = scene.bodies.at(0);
  EXPECT_NEAR(body.mass, 6, 6 * kRounding);
  EXPECT_LT(body.center_of_mass.norm(), kRounding);
  const Vector3d moments(1, 1 + 6, 1 + 6);
  EXPECT_LT((body.inertia - Matrix3d(moments.asDiagonal())).norm(), 10 * kRounding);
}

TEST(BodiesReader, DensitiesOfShapesWeighThemAgainstEachOther) {
  // Equal cubes with densities 3 : 1 and one of no density: centre at (3·1 − 1·1)/4.
  const std::string shapes =
      R"("shapes": [{"type": "box", "size": [1, 1, 1], "position": [1, 0, 0], "density": 3},
      {"type": "box", "size": [1, 1, 1], "position": [-1, 0, 0], "density": 1},
      {"type": "box", "size": [1, 1, 1], "position": [0, 9, 0]}])";
  for (const std::string mass : {"", R"("mass": 8, )"}) {
    const BodyDescription body = described(one_body(mass + shapes)).bodies.at(0);
    EXPECT_NEAR(body.mass, mass.empty() ? 4 : 8, 10 * kRounding);
    EXPECT_LT((body.center_of_mass - Vector3d(0.5, 0, 0)).norm(), kRounding);
  }
}

TEST(BodiesReader, GivenInertiaWinsOverShapes) {
  const auto scene = described(one_body(
      kUnitMass + R"(, "shapes": [{"type": "sphere", "radius": 3, "position": [1, 0, 0]}])"));
  EXPECT_EQ(scene.bodies.at(0).inertia, Matrix3d::Identity());
  EXPECT_EQ(scene.bodies.at(0).center_of_mass, Vector3d::Zero());
}

TEST(BodiesReader, BodiesThatCannotTurnNeedNoInertia) {
  const auto scene = described(one_body(R"("mass": 2, "free_axes": ["x", "z"])"));
  EXPECT_EQ(scene.bodies.at(0).mass, 2);
}

TEST(BodiesReader, EveryShapeIsRead) {
  const auto scene = described(one_body(R"("density": 1, "shapes": [
    {"type": "sphere", "radius": 1}, {"type": "capsule", "radius": 1, "length": 0},
    {"type": "box", "size": [1, "a", 3]}, {"type": "cylinder", "radius": 1, "length": 2},
    {"type": "ellipsoid", "radii": [1, 2, 3]},
    {"type": "convex", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, "a"]]},
    {"type": "plane", "normal": [0, 3, 4], "offset": 1},
    {"type": "heightfield", "size": [2, 3], "heights": [[0, 1, 0], [1, "a", 1]]},
    {"type": "mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
     "triangles": [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]}])"));
  // Planes and heightfields have no volume.
  const double volume =
      4 / 3.0 * kPi + 4 / 3.0 * kPi + 6 + 2 * kPi + 4 / 3.0 * kPi * 6 + 2 / 6.0 + 1 / 6.0;
  EXPECT_NEAR(scene.bodies.at(0).mass, volume, volume * kRounding);
}

// -------------------------------------------------------------------------------------------------
// Motion that is given

TEST(BodiesReader, KinematicBodiesFollowTheirFunctions) {
  const Scene scene = accepted(scene_of(
      R"j("bodies": [{"name": "crank", "orientation": {"axis": [1, 0, 0], "angle": 0.3},
      "kinematic": {"position": ["1 + t", "a*cos(t)", 0], "axis": [0, 0, 2], "angle": "0.5 + 3*t"}},
      {"mass": 1, "inertia": [1, 1, 1]}])j"));
  const RigidBodySystem& system = bodies_of(scene);
  const VectorXd q = system.initial_q();
  for (const double t : {0.0, 0.25, 2.0}) {
    const Pose pose = system.pose_of(t, q, 0);
    EXPECT_LT((pose.position - Vector3d(1 + t, 2 * std::cos(t), 0)).norm(), kRounding);
    const Matrix3d rotation = (Eigen::AngleAxisd(0.5 + 3 * t, Vector3d::UnitZ()) *
                               Eigen::AngleAxisd(0.3, Vector3d::UnitX()))
                                  .toRotationMatrix();
    EXPECT_LT((pose.rotation - rotation).norm(), kRounding);
  }
  // The start is where the functions are at t = 0.
  const BodyDescription& crank = system.description().bodies[0];
  EXPECT_EQ(crank.motion, Motion::kKinematic);
  EXPECT_EQ(crank.position, Vector3d(1, 2, 0));
}

TEST(BodiesReader, KinematicBodiesMayStartWhereTheyStand) {
  const auto scene = described(scene_of(R"("bodies": [{"position": [1, 2, 3],
      "kinematic": {"angle": "t"}}, {"mass": 1, "inertia": [1, 1, 1]}])"));
  EXPECT_EQ(scene.bodies.at(0).position, Vector3d(1, 2, 3));
  EXPECT_EQ(scene.bodies.at(0).turn_axis, Vector3d::UnitZ());
}

// -------------------------------------------------------------------------------------------------
// Springs and forces

TEST(BodiesReader, SpringsBetweenPointsRestAtTheirLengthAtTheStart) {
  const auto scene = described(two_bodies(R"("springs": [{"name": "s",
      "between": [{"body": "q", "point": [0, 0, 0.5]}, {"world": [2, 4, 1]}], "stiffness": "a"}])"));
  const BodySpringDescription& spring = scene.springs.at(0);
  EXPECT_EQ(spring.name, "s");
  EXPECT_EQ(spring.kind, BodySpringDescription::Kind::kDistance);
  EXPECT_EQ(spring.bodies, (std::array{1, kWorld}));
  EXPECT_EQ(spring.stiffness, std::vector{2.0});
  EXPECT_EQ(spring.damping, std::vector{0.0});
  EXPECT_NEAR(spring.rest_length, 5, 5 * kRounding);  // from (−1, 0, 1) to (2, 4, 1)
}

TEST(BodiesReader, SpringsActOnCoordinatesOfJoints) {
  const auto scene = described(two_bodies(
      R"("joints": [{"type": "hinge", "bodies": ["world", "p"], "at": [0, 0, 0], "axis": [0, 0, 1]},
      {"type": "cylindrical", "bodies": ["p", "q"], "at": [0, 0, 0], "axis": [0, 0, 1]}],
      "springs": [{"joint": "hinge 1", "stiffness": 3, "damping": 1, "rest": 0.5},
      {"joint": "cylindrical 1", "coordinate": "slide", "stiffness": 4}])"));
  ASSERT_EQ(scene.springs.size(), 2u);
  EXPECT_EQ(scene.springs[0].kind, BodySpringDescription::Kind::kJoint);
  EXPECT_EQ(scene.springs[0].joint, 0);
  EXPECT_EQ(scene.springs[0].coordinate, JointCoordinate::kAngle);
  EXPECT_EQ(scene.springs[0].rest, 0.5);
  EXPECT_EQ(scene.springs[1].joint, 1);
  EXPECT_EQ(scene.springs[1].coordinate, JointCoordinate::kSlide);
  EXPECT_EQ(scene.springs[1].name, "spring 2");
}

TEST(BodiesReader, BushingsStartAtRest) {
  for (const std::string place :
       {"", R"(, "at": [1, 1, 1])", R"(, "at": [1, 1, 1], "axis": [1, 2, 0])",
        R"(, "frames": [{"position": [-3, 0, 1]}, {"orientation": [1, 1, 0, 0]}])"}) {
    SCOPED_TRACE(place);
    const Scene scene = accepted(two_bodies(R"("springs": [{"bushing": {"bodies": ["p", "q"])" +
                                            place + R"(}, "stiffness": [1, 2, 3, 4, 5, 6],
        "damping": 1}])"));
    const RigidBodySystem& system = bodies_of(scene);
    ASSERT_EQ(system.num_springs(), 6);
    EXPECT_EQ(system.springs()[5].stiffness, 6);
    EXPECT_EQ(system.springs()[5].damping, 1);
    VectorXd extension(6);
    system.evaluate_springs(0, system.initial_q(), extension);
    // Frames that are given may be apart; all turn as little as they can.
    EXPECT_LT(extension.tail<3>().norm(), kRounding);
    if (place.find("frames") == std::string::npos) {
      EXPECT_LT(extension.norm(), kRounding);
    }
  }
}

TEST(BodiesReader, ForcesActAtTheCentreOfMassUnlessSaidOtherwise) {
  const auto scene = described(scene_of(R"j("bodies": [{"name": "b", "mass": 1,
      "inertia": [1, 1, 1], "center_of_mass": [1, 0, 0]}],
      "forces": [{"body": "b", "force": [0, 0, "sin(a*t)"]},
      {"body": "b", "torque": [1, 2, 3], "force": [4, 5, 6], "point": [0, 0, 7],
       "frame": "body"}])j"));
  ASSERT_EQ(scene.forces.size(), 2u);
  EXPECT_EQ(scene.forces[0].point, Vector3d(1, 0, 0));
  EXPECT_FALSE(scene.forces[0].is_body_fixed);
  EXPECT_EQ(scene.forces[1].point, Vector3d(0, 0, 7));
  EXPECT_TRUE(scene.forces[1].is_body_fixed);
  EXPECT_TRUE(scene.forces[1].torque[2].is_constant(3));
  EXPECT_TRUE(scene.forces[1].force[0].is_constant(4));
}

// -------------------------------------------------------------------------------------------------
// Together with a system in its own coordinates

TEST(BodiesReader, BodiesAndGeneralizedAreTwoSystemsInOneModel) {
  const Scene scene = accepted(scene_of(R"("bodies": [{"mass": 1, "inertia": [1, 1, 1],
      "velocity": [1, 2, 3]}], "generalized": {"parameters": {"m": "3*a"},
      "coordinates": {"x": {"position": 5, "velocity": 6}}, "mass": [["m"]]})"));
  ASSERT_EQ(scene.model.parts().size(), 2u);
  EXPECT_EQ(bodies_of(scene).num_v(), 6);
  const State& start = scene.model.initial_state();
  ASSERT_EQ(start.v.size(), 7);
  EXPECT_EQ(start.v.head<3>(), Vector3d(1, 2, 3));
  EXPECT_EQ(start.v[6], 6);
  EXPECT_EQ(start.q[start.q.size() - 1], 5);
  EXPECT_NEAR(ModelEvaluator().compute_energy(scene.model, start).kinetic, 0.5 * 14 + 0.5 * 6 * 36,
              1e-12);
}

}  // namespace
}  // namespace stiction
