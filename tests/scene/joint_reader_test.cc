// Joints of scenes: frames fit at the start wherever the bodies are, and limits, motors, friction
// and couplings arrive in the description.
#include "stiction/scene/joint_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "stiction/scene/schema.h"
#include "stiction/scene/shape_reader.h"
#include "tests/scene/body_texts.h"

namespace stiction {
namespace {

using Eigen::Vector3d;
constexpr double kPi = std::numbers::pi;
/// Of distances between bodies a few metres apart, after a few rotations.
constexpr double kRounding = 1e-13;

std::string placed(const std::string& type, const std::string& rest) {
  return R"({"type": ")" + type + R"(", "bodies": ["p", "q"], )" + rest + "}";
}

JointDescription joint_of(const std::string& joint) {
  return described(with_joints(joint)).joints.at(0);
}

/// The frames of the first joint in the world at the start.
std::array<Pose, 2> world_frames(const RigidBodyDescription& scene) {
  std::array<Pose, 2> frames;
  const JointDescription& joint = scene.joints.at(0);
  for (const int side : {0, 1}) {
    const BodyDescription& body = scene.bodies.at(joint.bodies[side]);
    frames[side] = Pose{body.position, body.orientation.toRotationMatrix()} * joint.frames[side];
  }
  return frames;
}

TEST(JointReader, TheSchemaKnowsTheSameTypesOfJointsAndShapes) {
  const nlohmann::json schema = nlohmann::json::parse(scene_schema_text());
  const auto types = [&](const nlohmann::json& items) {
    return items["properties"]["type"]["enum"].get<std::vector<std::string>>();
  };
  EXPECT_EQ(types(schema["properties"]["joints"]["items"]), joint_type_names());
  EXPECT_EQ(types(schema["properties"]["bodies"]["items"]["properties"]["shapes"]["items"]),
            shape_type_names());
}

// -------------------------------------------------------------------------------------------------
// Places

class EveryJoint : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryJoint, FitsAtTheStart) {
  const Scene scene = accepted(with_joints(GetParam()));
  const RigidBodySystem& system = bodies_of(scene);
  const VectorXd q = system.initial_q();
  VectorXd theta(system.num_constraints());
  system.evaluate_constraints(0, q, theta);
  EXPECT_LT(theta.norm(), kRounding);
  for (const JointCoordinate coordinate : joint_coordinates(system.description().joints[0].type)) {
    if (coordinate >= JointCoordinate::kTurnX) continue;
    EXPECT_NEAR(system.joint_coordinate(0, q, 0, coordinate), 0, kRounding);
  }
}

const std::string kPlace = R"("at": [0.5, -1, 2])";
const std::string kAxis = kPlace + R"(, "axis": [1, -2, 3])";

INSTANTIATE_TEST_SUITE_P(
    Joints, EveryJoint,
    ::testing::Values(placed("ball", kPlace), placed("ball", kAxis), placed("hinge", kAxis),
                      placed("slider", kAxis), placed("cylindrical", kAxis),
                      placed("planar", kAxis), placed("screw", kAxis + R"(, "pitch": 0.1)"),
                      placed("universal", kAxis + R"(, "axis2": [3, 0, -1])"),
                      placed("fixed", kPlace), R"({"type": "fixed", "bodies": ["p", "q"]})",
                      placed("distance", R"("at": [[1, 1, 1], [0, 0, 1]])"),
                      placed("rolling-ball", kPlace + R"(, "radius": 0.5)"),
                      placed("rolling-ball", kPlace + R"(, "radius": 0.5, "normal": [1, 1, 0])"),
                      placed("rolling-disc", kAxis + R"(, "radius": 0.5)"),
                      placed("knife-edge", kAxis)));

TEST(JointReader, AxisInTheWorldIsTheZAxisOfBothFrames) {
  const auto frames = world_frames(described(with_joints(placed("hinge", kAxis))));
  for (const Pose& frame : frames) {
    EXPECT_LT((frame.position - Vector3d(0.5, -1, 2)).norm(), kRounding);
    EXPECT_LT((frame.rotation.col(2) - Vector3d(1, -2, 3).normalized()).norm(), kRounding);
    EXPECT_NEAR(frame.rotation.determinant(), 1, kRounding);
  }
}

TEST(JointReader, UniversalJointHasTheFirstAxisInAAndTheSecondInB) {
  const auto frames =
      world_frames(described(with_joints(placed("universal", kAxis + R"(, "axis2": [3, 0, -1])"))));
  EXPECT_LT((frames[0].rotation.col(0) - Vector3d(1, -2, 3).normalized()).norm(), kRounding);
  EXPECT_LT((frames[1].rotation.col(1) - Vector3d(3, 0, -1).normalized()).norm(), kRounding);
}

TEST(JointReader, KnifeEdgeDoesNotMoveAlongItsAxis) {
  const auto frames = world_frames(described(with_joints(placed("knife-edge", kAxis))));
  EXPECT_LT((frames[1].rotation.col(0) - Vector3d(1, -2, 3).normalized()).norm(), kRounding);
}

TEST(JointReader, RollingBallTouchesItsPlaneBelowTheCentre) {
  const auto frames = world_frames(described(
      with_joints(placed("rolling-ball", kPlace + R"(, "radius": 0.5, "normal": [0, 2, 0])"))));
  EXPECT_LT((frames[0].position - Vector3d(0.5, -1.5, 2)).norm(), kRounding);
  EXPECT_LT((frames[0].rotation.col(2) - Vector3d::UnitY()).norm(), kRounding);
}

TEST(JointReader, TiltedDiscTouchesItsPlaneWithItsLowestPoint) {
  // The axis is tilted by 60° from the normal, so the centre is at r sin 60°.
  const auto frames = world_frames(described(with_joints(placed(
      "rolling-disc", kPlace + R"j(, "axis": ["sin(pi/3)", 0, "cos(pi/3)"], "radius": 0.5)j"))));
  EXPECT_NEAR(frames[1].position.z() - frames[0].position.z(), 0.5 * std::sqrt(0.75), kRounding);
}

TEST(JointReader, FramesMayBeGivenInTheBodies) {
  const auto scene = described(with_joints(
      R"({"type": "hinge", "bodies": ["world", "q"], "frames": [
      {"position": [-1, 0, 1.5], "axis": [0, 2, 0]}, {"position": [0, 0, 1], "axis": [0, 1, 0]}]})"));
  const JointDescription& joint = scene.joints.at(0);
  EXPECT_EQ(joint.frames[0].position, Vector3d(-1, 0, 1.5));
  EXPECT_LT((joint.frames[1].position - Vector3d(0, 0, 1)).norm(), kRounding);
  // "q" is not turned, so both frames are the same: the angle is zero at the start.
  EXPECT_LT((joint.frames[1].rotation - joint.frames[0].rotation).norm(), kRounding);
  EXPECT_LT((joint.frames[0].rotation.col(2) - Vector3d::UnitY()).norm(), kRounding);
}

TEST(JointReader, OrientationsOfFramesAreKept) {
  // Frame b is turned by 30° about the common axis: that is the angle at the start.
  const Scene scene = accepted(with_joints(
      R"({"type": "hinge", "bodies": ["world", "q"], "frames": [{"position": [-1, 0, 0.5],
      "orientation": [1, 0, 0, 0]}, {"orientation": {"axis": [0, 0, 1], "angle_deg": 30}}]})"));
  const RigidBodySystem& system = bodies_of(scene);
  EXPECT_NEAR(system.joint_coordinate(0, system.initial_q(), 0, JointCoordinate::kAngle), kPi / 6,
              kRounding);
}

TEST(JointReader, AxesGivenInTwoBodiesOfWhichOneIsTurnedFitToo) {
  // The direction (1, −2, 3) of the world, seen from the turned body and from the other.
  const Eigen::AngleAxisd turn(0.7, Vector3d(1, 2, 2).normalized());
  const Vector3d axis = turn.inverse() * Vector3d(1, -2, 3);
  const Vector3d point = turn.inverse() * Vector3d(-2, -2, -2.5);  // the origin of "q"
  for (const std::string type : {"hinge", "slider", "cylindrical"}) {
    const Scene scene = accepted(with_joints(fmt::format(
        R"({{"type": "{}", "bodies": ["p", "q"], "frames": [
        {{"position": [{}, {}, {}], "axis": [{}, {}, {}]}}, {{"axis": [1, -2, 3]}}]}})",
        type, point.x(), point.y(), point.z(), axis.x(), axis.y(), axis.z())));
    const RigidBodySystem& system = bodies_of(scene);
    VectorXd theta(system.num_constraints());
    system.evaluate_constraints(0, system.initial_q(), theta);
    EXPECT_LT(theta.norm(), kRounding) << type;
  }
}

TEST(JointReader, LengthOfADistanceIsThatAtTheStart) {
  EXPECT_NEAR(joint_of(placed("distance", R"("at": [[1, 1, 1], [1, 4, 5]])")).length, 5, kRounding);
  EXPECT_EQ(joint_of(placed("distance", R"("at": [[0, 0, 0], [0, 0, "a"]], "length": "a")")).length,
            2);
}

TEST(JointReader, JointsOfKinematicBodiesFitAtTheStart) {
  accepted(scene_of(R"("bodies": [{"name": "crank", "kinematic": {"position": [0, 0, "1 + t^2"],
      "axis": [1, 0, 0], "angle": "1 + t^2"}}, {"name": "rod", "mass": 1, "inertia": [1, 1, 1]}],
      "joints": [{"type": "hinge", "bodies": ["crank", "rod"], "at": [0, 1, 1], "axis": [1, 0, 0]}])"));
}

// -------------------------------------------------------------------------------------------------
// Limits, motors, friction

TEST(JointReader, LimitsOfOneCoordinate) {
  const auto joint =
      joint_of(placed("hinge", kAxis + R"(, "limits": ["-a", 1], "restitution": 0.5)"));
  ASSERT_EQ(joint.limits.size(), 1u);
  EXPECT_EQ(joint.limits[0].coordinate, JointCoordinate::kAngle);
  EXPECT_EQ(joint.limits[0].lower, -2);
  EXPECT_EQ(joint.limits[0].upper, 1);
  EXPECT_EQ(joint.limits[0].restitution, 0.5);
  EXPECT_EQ(joint_of(placed("slider", kAxis + R"(, "limits": [0, 1])")).limits.at(0).coordinate,
            JointCoordinate::kSlide);
}

TEST(JointReader, LimitsOfSeveralCoordinatesInTheirUnits) {
  const auto joint = joint_of(
      placed("cylindrical",
             kAxis + R"(, "limits": {"slide": [null, 1]}, "limits_deg": {"angle": [-90, 180]})"));
  ASSERT_EQ(joint.limits.size(), 2u);
  EXPECT_EQ(joint.limits[0].coordinate, JointCoordinate::kSlide);
  EXPECT_EQ(joint.limits[0].lower, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(joint.limits[0].upper, 1);
  EXPECT_EQ(joint.limits[1].coordinate, JointCoordinate::kAngle);
  EXPECT_DOUBLE_EQ(joint.limits[1].lower, -kPi / 2);
  EXPECT_DOUBLE_EQ(joint.limits[1].upper, kPi);
  EXPECT_EQ(joint_of(placed("universal", kAxis + R"(, "axis2": [2, 1, 0], "limits_deg":
      {"angle_y": [-5, 5]})"))
                .limits.at(0)
                .coordinate,
            JointCoordinate::kAngleY);
}

TEST(JointReader, Motors) {
  const auto speed =
      joint_of(placed("hinge", kAxis + R"(, "motor": {"speed": "a*t", "max_effort": 50})"));
  ASSERT_EQ(speed.motors.size(), 1u);
  EXPECT_EQ(speed.motors[0].target, JointMotor::Target::kSpeed);
  EXPECT_EQ(speed.motors[0].max_effort, 50);
  EXPECT_EQ(symbols_of(speed.motors[0].value), std::vector<std::string>{"t"});

  const auto both = joint_of(placed(
      "cylindrical", kAxis + R"(, "motor": {"slide": {"position": 0}, "angle": {"speed": 1}})"));
  ASSERT_EQ(both.motors.size(), 2u);
  EXPECT_EQ(both.motors[0].coordinate, JointCoordinate::kSlide);
  EXPECT_EQ(both.motors[0].target, JointMotor::Target::kPosition);
  EXPECT_EQ(both.motors[0].max_effort, std::numeric_limits<double>::infinity());
  EXPECT_EQ(both.motors[1].coordinate, JointCoordinate::kAngle);

  EXPECT_EQ(joint_of(placed("ball", kPlace + R"(, "motor": {"turn_y": {"speed": 1}})"))
                .motors.at(0)
                .coordinate,
            JointCoordinate::kTurnY);
}

TEST(JointReader, FrictionOfOneOrAllCoordinates) {
  const auto efforts = [](const std::string& joint) {
    std::vector<std::pair<JointCoordinate, double>> all;
    for (const JointFriction& friction : joint_of(joint).friction)
      all.emplace_back(friction.coordinate, friction.max_effort);
    return all;
  };
  using C = JointCoordinate;
  using Efforts = std::vector<std::pair<C, double>>;
  EXPECT_EQ(efforts(placed("hinge", kAxis + R"(, "friction": "0.1*a")")),
            (Efforts{{C::kAngle, 0.2}}));
  EXPECT_EQ(efforts(placed("ball", kPlace + R"(, "friction": 3)")),
            (Efforts{{C::kTurnX, 3}, {C::kTurnY, 3}, {C::kTurnZ, 3}}));
  EXPECT_EQ(efforts(placed("cylindrical", kAxis + R"(, "friction": {"angle": 1, "slide": 2})")),
            (Efforts{{C::kAngle, 1}, {C::kSlide, 2}}));
}

TEST(JointReader, ComplianceAndDampingTime) {
  const auto joint =
      joint_of(placed("hinge", kAxis + R"(, "compliance": 1e-6, "damping_time": 0.01)"));
  EXPECT_EQ(joint.compliance, 1e-6);
  EXPECT_EQ(joint.damping_time, 0.01);
}

// -------------------------------------------------------------------------------------------------
// Couplings and names

TEST(JointReader, GearsAndRacksMayStandBeforeTheirJoints) {
  const auto scene = described(with_joints(
      R"({"type": "gear", "joints": ["h1", "h2"], "ratio": "-1/a", "compliance": 1e-9},
      {"type": "rack", "name": "r", "joints": ["h1", "s"], "radius": 0.25},
      {"type": "hinge", "name": "h1", "bodies": ["world", "p"], "at": [1, 2, 3], "axis": [0, 0, 1]},
      {"type": "slider", "name": "s", "bodies": ["world", "q"], "at": [0, 0, 0], "axis": [0, 0, 1]},
      {"type": "cylindrical", "name": "h2", "bodies": ["p", "q"], "at": [0, 0, 0], "axis": [0, 0, 1]})"));
  ASSERT_EQ(scene.joints.size(), 3u);
  ASSERT_EQ(scene.couplings.size(), 2u);
  const auto& gear = scene.couplings[0];  // angle₂ = ratio · angle₁
  EXPECT_EQ(gear.name, "gear 1");
  EXPECT_EQ(gear.sides[0].joint, 0);
  EXPECT_EQ(gear.sides[0].factor, -0.5);
  EXPECT_EQ(gear.sides[1].joint, 2);
  EXPECT_EQ(gear.sides[1].factor, -1);
  EXPECT_EQ(gear.sides[1].coordinate, JointCoordinate::kAngle);
  EXPECT_EQ(gear.compliance, 1e-9);
  const auto& rack = scene.couplings[1];  // slide = radius · angle
  EXPECT_EQ(rack.name, "r");
  EXPECT_EQ(rack.sides[0].factor, 0.25);
  EXPECT_EQ(rack.sides[1].joint, 1);
  EXPECT_EQ(rack.sides[1].coordinate, JointCoordinate::kSlide);
  EXPECT_EQ(rack.sides[1].factor, -1);
}

TEST(JointReader, GearsCoupleSlidesOfJointsWithoutAngle) {
  const auto scene = described(with_joints(
      R"({"type": "gear", "joints": ["s", "h"], "ratio": 20},
      {"type": "hinge", "name": "h", "bodies": ["world", "p"], "at": [1, 2, 3], "axis": [0, 0, 1]},
      {"type": "slider", "name": "s", "bodies": ["world", "q"], "at": [0, 0, 0], "axis": [0, 0, 1]})"));
  ASSERT_EQ(scene.couplings.size(), 1u);
  EXPECT_EQ(scene.couplings[0].sides[0].coordinate, JointCoordinate::kSlide);
  EXPECT_EQ(scene.couplings[0].sides[0].factor, 20);
  EXPECT_EQ(scene.couplings[0].sides[1].coordinate, JointCoordinate::kAngle);
}

TEST(JointReader, NamesCountJointsOfTheSameType) {
  const auto scene = described(with_joints(placed("ball", kPlace) + "," + placed("hinge", kAxis) +
                                           "," + placed("ball", kPlace)));
  ASSERT_EQ(scene.joints.size(), 3u);
  EXPECT_EQ(scene.joints[0].name, "ball 1");
  EXPECT_EQ(scene.joints[1].name, "hinge 1");
  EXPECT_EQ(scene.joints[2].name, "ball 2");
}

}  // namespace
}  // namespace stiction
