// Bad scenes with rigid bodies: every class of fault with its message, place and way out.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>

#include "tests/sanitizers.h"
#include "tests/scene/body_texts.h"

namespace stiction {
namespace {

const std::string kUnitMass = R"("mass": 1, "inertia": [1, 1, 1])";

/// A hinge from "p" to "q" with further entries, which begin at line 5, column 1.
std::string with_hinge(const std::string& entries) {
  return with_joints(
      R"({"type": "hinge", "name": "h", "bodies": ["p", "q"], "at": [0, 0, 0], "axis": [0, 0, 1],
)" + entries +
      "}");
}

// -------------------------------------------------------------------------------------------------
// The whole

TEST(BodiesFaults, ASceneNeedsBodiesOrGeneralized) {
  EXPECT_EQ(refusal("{\"stiction\": 1}"),
            "f:1:1: error: the scene has neither 'bodies' nor 'generalized'\n"
            "  help: describe rigid bodies under 'bodies', or a system in its own coordinates "
            "under 'generalized'\n");
  EXPECT_EQ(refusal("{\"stiction\": 1, \"generalized\": {\"coordinates\": {\"x\": {}}, \"mass\": "
                    "[[1]]},\n\"gravity\": [0, 0, -9.81]}"),
            "f:2:12: error: gravity: belongs to rigid bodies, but the scene has no 'bodies'\n"
            "  help: what a system in its own coordinates needs stands in 'generalized'\n");
}

TEST(BodiesFaults, ABodyIsLikeOneAboveIt) {
  for (const std::string name : {"q", "p", "world"}) {
    SCOPED_TRACE(name);
    const std::string text =
        refusal(scene_of("\"bodies\": [{\"name\": \"p\", \"like\": \"" + name + "\", " + kUnitMass +
                         "}, {\"name\": \"q\", " + kUnitMass + "}]"));
    EXPECT_EQ(text, "f:2:34: error: bodies[0].like: no body before this one is named '" + name +
                        "'\n  help: a body can be like one that stands above it\n");
  }
}

TEST(BodiesFaults, AFaultThatCopiesShareIsReportedOnceAndWhereItIsWritten) {
  EXPECT_EQ(refusal(scene_of(R"("bodies": [{"name": "p", "mass": "2*m", "inertia": [1, 1, 1]},
{"name": "q", "like": "p"}, {"like": "q"}])")),
            "f:2:37: error: bodies[0].mass: unknown symbol 'm'\n  help: did you mean 'a'? known: "
            "a, pi\n");
}

TEST(BodiesFaults, VectorsHaveThreeComponents) {
  EXPECT_EQ(refusal(one_body(kUnitMass + R"(, "position": [0, 1])")),
            "f:2:46: error: bodies[0].position: has 2 items, must have at least 3\n"
            "  help: position [m] of the body's frame at the start: three numbers or expressions; "
            "default [0, 0, 0]\n");
}

TEST(BodiesFaults, ExpressionsAreShownWhereTheyAreWrong) {
  EXPECT_EQ(refusal(one_body(kUnitMass + R"(, "velocity": [0, "2*b", 0])")),
            "f:2:53: error: bodies[0].velocity[1]: unknown symbol 'b'\n"
            "  help: did you mean 'a'? known: a, pi\n");
  EXPECT_EQ(refusal(two_bodies(R"j("forces": [{"body": "p", "force": ["sin(x)", 0, 0]}])j")),
            "f:4:42: error: forces[0].force[0]: unknown symbol 'x'\n"
            "  help: did you mean 't'? known: t, a, pi\n");
}

// -------------------------------------------------------------------------------------------------
// Bodies

TEST(BodiesFaults, MassMustBePositive) {
  for (const std::string mass : {"0", "-1"}) {
    EXPECT_EQ(
        refusal(one_body("\"mass\": " + mass + R"(, "inertia": [1, 1, 1])")),
        "f:2:9: error: bodies[0].mass: is " + mass +
            ", must be > 0\n  help: mass [kg], greater than 0, or an expression; default: from "
            "the shapes and \"density\"\n");
  }
  EXPECT_EQ(refusal(one_body(R"("mass": "a - 2", "inertia": [1, 1, 1])")),
            "f:2:9: error: bodies[0].mass: is 0, must be > 0\n");
}

TEST(BodiesFaults, BodiesNeedMassAndInertia) {
  const std::string ways =
      "  help: give \"mass\" and \"inertia\", or \"density\" and shapes that have a volume; "
      "\"static\": true if it does not move\n";
  EXPECT_EQ(refusal(one_body(R"("name": "b")")),
            "f:1:52: error: bodies[0]: body 'b' has no mass\n" + ways);
  EXPECT_EQ(refusal(one_body(R"("name": "b", "mass": 1)")),
            "f:2:22: error: bodies[0].mass: body 'b' has a mass but no inertia\n"
            "  help: give \"inertia\", or shapes that have a volume\n");
  EXPECT_EQ(refusal(one_body(R"("inertia": [1, 1, 1])")),
            "f:2:12: error: bodies[0].inertia: is given for a body without \"mass\"\n"
            "  help: give \"mass\" too, or leave out \"inertia\"\n");
  const std::string open_mesh = refusal(one_body(
      R"("density": 1, "shapes": [{"type": "mesh", "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
      "triangles": [[0, 1, 2]]}])"));
  EXPECT_NE(open_mesh.find("body 'body 1' has no mass ("), std::string::npos) << open_mesh;
}

TEST(BodiesFaults, MassIsGivenOnce) {
  const std::string ball = R"(, "shapes": [{"type": "sphere", "radius": 1}])";
  EXPECT_EQ(refusal(one_body(R"("mass": 1, "density": 1)" + ball)),
            "f:2:23: error: bodies[0].density: is given for a body that has a mass\n"
            "  help: leave out \"density\" or \"mass\"\n");
  EXPECT_EQ(refusal(one_body(R"("mass": 1, "center_of_mass": [0, 0, 1])" + ball)),
            "f:2:30: error: bodies[0].center_of_mass: is given for a body whose mass comes from "
            "its shapes\n  help: give \"mass\" and \"inertia\" too, or leave it out\n");
}

TEST(BodiesFaults, InertiaMustBeThatOfABody) {
  const std::string triangle = refusal(one_body(R"("name": "b", "mass": 1, "inertia": [1, 1, 3])"));
  EXPECT_EQ(triangle.find("f:2:36: error: bodies[0].inertia: body 'b': "), 0u) << triangle;
  for (const std::string inertia :
       {"[0, 1, 1]", "[-1, 1, 1]", "[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]",
        "[[1, 2, 0], [2, 1, 0], [0, 0, 1]]"}) {
    const std::string text = refusal(one_body("\"mass\": 1, \"inertia\": " + inertia));
    EXPECT_EQ(text.find("f:2:23: error: bodies[0].inertia: "), 0u) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  }
}

TEST(BodiesFaults, NamesAreUniqueAndNotThatOfTheWorld) {
  EXPECT_EQ(refusal(scene_of(R"("bodies": [{"name": "b", "static": true},
{"name": "b", )" + kUnitMass +
                             R"(}, {"name": "world", "static": true}])")),
            "f:3:10: error: bodies[1].name: the name 'b' is already taken\n"
            "  help: every body needs a name of its own\n"
            "f:3:58: error: bodies[2].name: the name 'world' is that of the world\n"
            "  help: choose another name\n");
}

TEST(BodiesFaults, OfRotationsNoneOneOrAllAreFree) {
  const std::string text = refusal(one_body(kUnitMass + R"(, "free_axes": ["x", "rx", "ry"])"));
  EXPECT_EQ(text,
            "f:2:47: error: bodies[0].free_axes: free_axes of body 'body 1' has 2 rotations, must "
            "have none, one or all three\n");
  EXPECT_NE(refusal(one_body(kUnitMass + R"(, "free_axes": ["X"])")).find("did you mean \"x\"?"),
            std::string::npos);
  EXPECT_NE(refusal(one_body(kUnitMass + R"(, "free_axes": [])")).find("free_axes"),
            std::string::npos);
}

TEST(BodiesFaults, BodiesThatDoNotMoveHaveNoVelocity) {
  EXPECT_EQ(refusal(scene_of(R"("bodies": [{"static": true, "velocity": [1, 0, 0]},
{"kinematic": {"angle": "t"}, "free_axes": ["x"]}, {)" +
                             kUnitMass + "}]")),
            "f:2:41: error: bodies[0].velocity: is given for a body that is static\n"
            "  help: a static body never moves\n"
            "f:3:44: error: bodies[1].free_axes: is given for a body that is kinematic\n"
            "  help: its motion is what \"kinematic\" says\n");
}

TEST(BodiesFaults, KinematicMotion) {
  EXPECT_EQ(refusal(one_body(R"("position": [0, 0, 1], "kinematic": {"position": [0, 0, "t"]})")),
            "f:2:13: error: bodies[0].position: is given for a body with "
            "\"kinematic\".\"position\"\n"
            "  help: the position at the start is that of the function at t = 0\n");
  EXPECT_EQ(refusal(one_body(R"("static": true, "kinematic": {"angle": "t"})")),
            "f:2:30: error: bodies[0].kinematic: is given for a body that is static\n"
            "  help: leave out \"static\" or \"kinematic\"\n");
  EXPECT_EQ(refusal(one_body(R"j("kinematic": {"angle": "log(t)"})j")),
            "f:2:14: error: bodies[0].kinematic: is not finite at t = 0, or its rate is not\n");
  EXPECT_EQ(refusal(one_body(R"("kinematic": {"angle": "t", "axis": [0, 0, "a - 2"]})")),
            "f:2:37: error: bodies[0].kinematic.axis: is a vector of length zero, which has no "
            "direction\n  help: write for example [0, 0, 1]; the length does not matter\n");
}

TEST(BodiesFaults, Orientations) {
  EXPECT_EQ(refusal(one_body(kUnitMass + R"(, "orientation": [0, 0, 0, 0])")),
            "f:2:49: error: bodies[0].orientation: is a quaternion of length zero, which is no "
            "orientation\n  help: [w, x, y, z]; [1, 0, 0, 0] is no rotation\n");
  EXPECT_EQ(refusal(one_body(kUnitMass + R"(, "orientation": {"axis": [0, 0, 1]})")),
            "f:2:49: error: bodies[0].orientation: has no angle\n"
            "  help: give one of 'angle' [rad] and 'angle_deg'\n");
}

// -------------------------------------------------------------------------------------------------
// Shapes and materials

TEST(BodiesFaults, ShapesHaveTheKeysOfTheirType) {
  EXPECT_EQ(refusal(one_body(R"("density": 1, "shapes": [
{"type": "box", "radius": 1}])")),
            "f:3:1: error: bodies[0].shapes[0]: required key 'size' of a box is missing\n"
            "  help: a box has: size, type, position, orientation, material, density, contact, "
            "group, mask, surface_velocity, color\n"
            "f:3:17: error: bodies[0].shapes[0]: 'radius' does not belong to a box\n"
            "  help: a box has: size, type, position, orientation, material, density, contact, "
            "group, mask, surface_velocity, color\n");
  EXPECT_EQ(refusal(one_body(R"("density": 1, "shapes": [
{"type": "box", "size": [1, 2]}, {"type": "sphere", "radius": 0}])")),
            "f:3:25: error: bodies[0].shapes[0].size: has 2 items, must have 3\n"
            "f:3:63: error: bodies[0].shapes[1].radius: is 0, must be > 0\n"
            "  help: radius [m] of a sphere, capsule or cylinder, greater than 0, or an "
            "expression\n");
  EXPECT_EQ(refusal(one_body(R"("density": 1, "shapes": [
{"type": "convex", "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}])")),
            "f:3:1: error: bodies[0].shapes[0]: the 4 points of convex lie in one plane, expected "
            "a body with a volume\n");
}

TEST(BodiesFaults, UnknownMaterial) {
  EXPECT_EQ(refusal(scene_of(R"("materials": {"rubber": {}}, "bodies": [{"mass": 1, "shapes": [
{"type": "sphere", "radius": 1, "material": "ruber"}]}])")),
            "f:3:45: error: bodies[0].shapes[0].material: unknown material 'ruber'\n"
            "  help: did you mean 'rubber'?\n");
}

// -------------------------------------------------------------------------------------------------
// Joints

TEST(BodiesFaults, JointsNameTwoDifferentBodiesOneOfWhichMoves) {
  EXPECT_EQ(refusal(with_joints(R"({"type": "ball", "at": [0, 0, 0], "bodies": ["p", "qq"]})")),
            "f:4:63: error: joints[0].bodies[1]: unknown body 'qq'\n  help: did you mean 'q'?\n");
  EXPECT_EQ(refusal(with_joints(R"({"type": "ball", "at": [0, 0, 0], "bodies": ["p", "p"]})")),
            "f:4:57: error: joints[0].bodies: joint 'ball 1' is between body 'p' and itself, must "
            "be between two bodies\n");
  EXPECT_EQ(
      refusal(with_joints(R"({"type": "ball", "at": [0, 0, 0], "bodies": ["world", "world"]})")),
      "f:4:57: error: joints[0].bodies: joint 'ball 1' is between the world and the world, neither "
      "of which can move; one must be dynamic\n");
}

TEST(BodiesFaults, JointsNeedAPlaceAndAnAxis) {
  EXPECT_EQ(refusal(with_joints(R"({"type": "hinge", "bodies": ["p", "q"]})")),
            "f:4:13: error: joints[0]: joint 'hinge 1' is nowhere\n"
            "  help: give \"at\", a point of the world at the start, or \"frames\" in the two "
            "bodies\n"
            "f:4:13: error: joints[0]: required key 'axis' of joint 'hinge 1' is missing\n"
            "  help: \"axis\": [x, y, z], a direction of the world at the start\n");
  EXPECT_EQ(refusal(with_joints(
                R"({"type": "hinge", "bodies": ["p", "q"], "at": [0, 0, 0], "axis": [0, 0, 0]})")),
            "f:4:78: error: joints[0].axis: is a vector of length zero, which has no direction\n"
            "  help: write for example [0, 0, 1]; the length does not matter\n");
  EXPECT_EQ(refusal(with_hinge(R"("frames": [{"axis": [0, 0, 1]}, {"position": [0, 0, 0]}])")),
            "f:4:72: error: joints[0].at: is given for a joint that has \"frames\"\n"
            "  help: give \"at\" and \"axis\" in the world at the start, or \"frames\" in the two "
            "bodies\n"
            "f:4:91: error: joints[0].axis: is given for a joint that has \"frames\"\n"
            "  help: give \"at\" and \"axis\" in the world at the start, or \"frames\" in the two "
            "bodies\n"
            "f:5:33: error: joints[0].frames[1]: required key 'axis' is missing\n"
            "  help: give \"axis\" or \"orientation\" in the frame of the body\n");
}

TEST(BodiesFaults, AxesOfAUniversalJointAreOrthogonal) {
  EXPECT_EQ(refusal(with_joints(
                R"({"type": "universal", "bodies": ["p", "q"], "at": [0, 0, 0], "axis": [1, 0, 0],
"axis2": [1, 1, 0]})")),
            "f:5:10: error: joints[0].axis2: makes an angle of 45 degrees with 'axis', must be "
            "90\n  help: the two axes of a universal joint are orthogonal at the start\n");
}

TEST(BodiesFaults, DistancesHaveTwoPoints) {
  EXPECT_EQ(refusal(with_joints(R"({"type": "distance", "bodies": ["p", "q"], "at": [0, 0, 0]})")),
            "f:4:62: error: joints[0].at: is one point, a distance needs two\n"
            "  help: \"at\": [[x, y, z], [x, y, z]], the first on the first body\n");
  EXPECT_EQ(refusal(with_joints(
                R"({"type": "distance", "bodies": ["p", "q"], "at": [[0, 0, 0], [0, 0, 0]]})")),
            "f:4:13: error: joints[0]: the two points of 'distance 1' are the same at the start\n"
            "  help: a distance joint needs a length > 0; a ball joint holds points together\n");
}

TEST(BodiesFaults, JointsHaveTheKeysOfTheirType) {
  EXPECT_EQ(refusal(with_joints(R"({"type": "fixed", "bodies": ["p", "q"], "limits": [0, 1]})")),
            "f:4:53: error: joints[0]: 'limits' does not belong to a fixed joint\n"
            "  help: a fixed joint has: bodies, type, name, compliance, damping_time, frames, "
            "collide, at\n");
  EXPECT_EQ(refusal(with_joints(R"({"type": "hnge", "bodies": ["p", "q"]})")).substr(0, 40),
            "f:4:22: error: joints[0].type: is \"hnge\"");
}

TEST(BodiesFaults, LimitsAreInOrder) {
  EXPECT_EQ(refusal(with_hinge(R"("limits": [1, -1])")),
            "f:5:11: error: joints[0].limits: limits of joint 'h' are 1 and -1, the lower must be "
            "less than the upper\n");
  const std::string degrees = refusal(with_hinge(R"("limits_deg": [1, "a - 1"])"));
  EXPECT_EQ(degrees.find("f:5:15: error: joints[0].limits_deg: limits of joint 'h' are "), 0u)
      << degrees;
  EXPECT_EQ(refusal(with_hinge(R"("restitution": 1)")),
            "f:5:16: error: joints[0].restitution: is given for a joint without limits\n"
            "  help: it is that of the limits\n");
  EXPECT_EQ(refusal(with_hinge(R"("limits": {"slide": [0, 1]})")),
            "f:5:12: error: joints[0].limits.slide: a hinge has no coordinate 'slide'\n"
            "  help: it has: angle\n");
}

TEST(BodiesFaults, SeveralCoordinatesAreNamed) {
  EXPECT_EQ(refusal(with_joints(
                R"({"type": "cylindrical", "bodies": ["p", "q"], "at": [0, 0, 0], "axis": [0, 0, 1],
"limits": [0, 1], "friction": 1, "motor": {"speed": 1}})")),
            "f:5:11: error: joints[0].limits: a cylindrical joint has several coordinates: angle, "
            "slide\n  help: write {\"angle\": …}\n"
            "f:5:31: error: joints[0].friction: a cylindrical joint has several coordinates: "
            "angle, slide\n  help: write {\"angle\": …}\n"
            "f:5:43: error: joints[0].motor: a cylindrical joint has several coordinates: angle, "
            "slide\n  help: write {\"angle\": …}\n");
}

TEST(BodiesFaults, MotorsAndFriction) {
  const std::string effort = refusal(with_hinge(R"("motor": {"speed": 1, "max_effort": -1})"));
  EXPECT_EQ(effort.find("f:5:37: error: joints[0].motor.max_effort: is -1, must be >= 0\n"), 0u)
      << effort;
  EXPECT_EQ(refusal(with_hinge(R"("motor": {"speed": 1, "max_effort": "-a"})")),
            "f:5:37: error: joints[0].motor.max_effort: is -2, must be >= 0\n");
  EXPECT_EQ(refusal(with_hinge(R"("motor": {"max_effort": 1})")),
            "f:5:10: error: joints[0].motor: says neither how fast nor where to\n"
            "  help: give one of \"speed\" and \"position\"\n");
  EXPECT_EQ(refusal(with_hinge(R"("motor": {"speed": 1, "position": 1})")),
            "f:5:10: error: joints[0].motor: has both a speed and a position\n"
            "  help: a motor drives at a speed or to a position\n");
  const std::string friction = refusal(with_hinge(R"("friction": -1)"));
  EXPECT_EQ(friction.find("f:5:13: error: joints[0].friction: is -1, must be >= 0\n"), 0u)
      << friction;
  EXPECT_EQ(refusal(with_joints(R"({"type": "ball", "bodies": ["p", "q"], "at": [0, 0, 0],
"motor": {"turn_x": {"position": 1}}})")),
            "f:5:34: error: joints[0].motor.turn_x.position: a ball joint has no angles, only "
            "rates\n  help: give \"speed\"\n");
}

TEST(BodiesFaults, GearsCoupleCoordinatesOfJointsThatExist) {
  const std::string hinge = with_hinge("\"collide\": true");
  const auto gear = [&](const std::string& entries) {
    return hinge.substr(0, hinge.rfind(']')) + ",\n{\"type\": \"gear\", " + entries +
           R"(}, {"type": "ball", "bodies": ["p", "q"], "at": [0, 0, 0]}]})";
  };
  EXPECT_EQ(refusal(gear(R"("joints": ["h", "g"], "ratio": 1)")),
            "f:6:34: error: joints[1].joints[1]: unknown joint 'g'\n  help: did you mean 'h'?\n");
  EXPECT_EQ(refusal(gear(R"("joints": ["h", "ball 1"], "ratio": 1)")),
            "f:6:34: error: joints[1].joints[1]: joint 'ball 1' has no angle and no slide\n"
            "  help: expected a hinge, slider, cylindrical, planar or screw joint\n");
  EXPECT_EQ(refusal(gear(R"("joints": ["h", "h"], "ratio": 1)")).substr(0, 33),
            "f:6:28: error: joints[1].joints: ");
  EXPECT_EQ(refusal(gear(R"("joints": ["h", "gear 1"], "ratio": 1)")),
            "f:6:34: error: joints[1].joints[1]: joint 'gear 1' has no angle and no slide\n"
            "  help: expected a hinge, slider, cylindrical, planar or screw joint\n");
}

TEST(BodiesFaults, JointNamesAreUnique) {
  EXPECT_EQ(refusal(with_joints(R"({"type": "ball", "name": "ball 2", "bodies": ["p", "q"],
"at": [0, 0, 0]}, {"type": "ball", "bodies": ["world", "q"], "at": [0, 0, 0]})")),
            "f:5:19: error: joints[1].name: the name 'ball 2' is already taken\n"
            "  help: every joint needs a name of its own\n");
}

// -------------------------------------------------------------------------------------------------
// Springs and forces

TEST(BodiesFaults, SpringsActOnOneThing) {
  EXPECT_EQ(refusal(two_bodies(R"("springs": [{"stiffness": 1}])")),
            "f:4:14: error: springs[0]: does not say what the spring acts on\n"
            "  help: give one of \"between\" (two points), \"joint\" and \"bushing\"\n");
  EXPECT_EQ(
      refusal(two_bodies(
          R"("springs": [{"between": [{"body": "x"}, {"point": [0, 0, 0]}], "stiffness": 1}])")),
      "f:4:36: error: springs[0].between[0].body: unknown body 'x'\n"
      "  help: did you mean 'p'?\n"
      "f:4:42: error: springs[0].between[1]: is neither a point of a body nor one of the "
      "world\n  help: write {\"body\": NAME, \"point\": [x, y, z]} or {\"world\": [x, y, "
      "z]}\n");
  EXPECT_EQ(
      refusal(
          two_bodies(R"("springs": [{"between": [{"body": "p"}, {"body": "p"}], "stiffness": 1}])"))
          .substr(0, 38),
      "f:4:26: error: springs[0].between: spr");
  EXPECT_EQ(refusal(two_bodies(R"("springs": [{"between": [{"body": "p"}, {"body": "q"}],
"stiffness": [1, 1, 1, 1, 1, 1]}])")),
            "f:5:14: error: springs[0].stiffness: has 6 items, expected one number\n"
            "  help: only a bushing has six\n");
  EXPECT_EQ(refusal(two_bodies(R"("springs": [{"joint": "g", "stiffness": 1}])")),
            "f:4:24: error: springs[0].joint: unknown joint 'g'\n  help: the scene has no joint\n");
}

TEST(BodiesFaults, ForcesActOnBodiesThatMove) {
  EXPECT_EQ(refusal(two_bodies(R"("forces": [{"body": "world", "force": [1, 0, 0]}])")),
            "f:4:22: error: forces[0].body: unknown body 'world'\n  help: known: p, q\n");
  EXPECT_EQ(refusal(two_bodies(R"("forces": [{"body": "p"}])")),
            "f:4:13: error: forces[0]: does nothing to 'p'\n"
            "  help: give \"force\" or \"torque\"\n");
}

// -------------------------------------------------------------------------------------------------
// The start

TEST(BodiesFaults, FramesApartAreShownAtTheirJoint) {
  const std::string text = refusal(with_joints(
      R"({"type": "ball", "name": "j", "bodies": ["world", "q"], "frames": [{}, {}]})"));
  EXPECT_EQ(text.find("f:4:13: error: joints[0]: constraint 'j.x' is -1 at the start, must be 0 "
                      "within 1e-06\n  help: change the start, set "
                      "simulate.penetration_tolerance, or set simulate.project_start to true\n"),
            0u)
      << text;
  EXPECT_NE(text.find("constraint 'j.z' is 0.5 at the start"), std::string::npos) << text;
}

TEST(BodiesFaults, VelocitiesThatDoNotFitAreShownAtTheirJoint) {
  const std::string text =
      refusal(scene_of(R"("bodies": [{"name": "b", "velocity": [0, 0, 1], )" + kUnitMass + R"(}],
"joints": [{"type": "slider", "bodies": ["world", "b"], "at": [0, 0, 0], "axis": [1, 0, 0]}])"));
  EXPECT_EQ(text.find("f:3:12: error: joints[0]: constraint 'slider 1."), 0u) << text;
}

TEST(BodiesFaults, PenetrationIsShownAtTheShape) {
  const std::string text = refusal(
      scene_of(R"("bodies": [{"name": "floor", "static": true, "shapes": [{"type": "plane"}]},
{"name": "ball", "mass": 1, "shapes": [{"type": "sphere", "radius": 0.5}]}])"));
  EXPECT_EQ(text.find("f:3:40: error: bodies[1].shapes[0]: 'ball' penetrates 'floor' by 0.5 m "
                      "at the start"),
            0u)
      << text;
}

TEST(BodiesFaults, StartsBeyondLimitsAreShownThere) {
  const std::string text = refusal(with_hinge(R"("limits": [0.5, 1])"));
  EXPECT_EQ(text.find("f:5:11: error: joints[0].limits: contact 'h.lower limit' penetrates by 0.5"),
            0u)
      << text;
}

TEST(BodiesFaults, ForcesThatAreNotFiniteAreShownThere) {
  const std::string text =
      refusal(two_bodies(R"j("forces": [{"body": "q", "force": [0, "log(t)", 0]}])j"));
  EXPECT_EQ(text.find("f:4:13: error: forces[0]: force on 'q"), 0u) << text;
}

// -------------------------------------------------------------------------------------------------
// All at once

TEST(BodiesFaults, AllAreReportedInTheOrderOfTheText) {
  const std::string text = refusal(R"({"stiction": 1, "bodies": [
{"name": "b", "mass": -1, "inertia": [1, 1, 1]},
{"name": "c", "mass": 1, "inertia": [1, 1, 9]},
{"name": "c", "mass": 1, "inertia": [1, 1, 1], "free_axes": ["rx", "ry"]}],
"joints": [{"type": "hinge", "bodies": ["b", "b"], "at": [0, 0, 0], "axis": [0, 0, 0]},
{"type": "hinge", "bodies": ["b", "d"], "at": [0, 0, 0], "axis": [0, 0, 1], "limits": [1, 0],
"motor": {"speed": 1, "max_effort": -5}}],
"generalized": {"coordinates": {"x": {}}, "mass": [["m"]]}})");
  std::vector<std::string> places;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    if (text.compare(at, 2, "f:") == 0) places.push_back(text.substr(at, text.find(' ', at) - at));
  EXPECT_EQ(places,
            (std::vector<std::string>{"f:2:23:", "f:3:37:", "f:4:10:", "f:4:61:", "f:5:40:",
                                      "f:5:77:", "f:6:35:", "f:6:87:", "f:7:37:", "f:8:54:"}))
      << text;
}

/// Calls `visit` for every value below `node`, with the chance to change it.
void visit_all(nlohmann::json& node, const std::function<void(nlohmann::json&)>& visit) {
  visit(node);
  for (auto& child : node)
    if (node.is_structured()) visit_all(child, visit);
}

TEST(BodiesFaults, AnyValueMayBeOddWithoutHarm) {
  const nlohmann::json good = nlohmann::json::parse(R"({"stiction": 1, "gravity": [0, 0, -9.81],
    "materials": {"m": {"mu": 0.5}}, "bodies": [
    {"name": "floor", "static": true, "shapes": [{"type": "plane"}]},
    {"name": "ball", "mass": 1, "position": [0, 0, 1], "shapes": [{"type": "sphere", "radius": 0.5,
     "material": "m", "density": 2}]},
    {"name": "arm", "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "position": [3, 0, 1],
     "orientation": {"axis": [0, 0, 1], "angle": 1}, "free_axes": ["x", "y", "z", "rx", "ry", "rz"]},
    {"name": "cam", "kinematic": {"position": [0, 5, "t"], "axis": [0, 0, 1], "angle": "t"}}],
    "joints": [{"type": "hinge", "name": "h", "bodies": ["cam", "arm"], "at": [0, 0, 0],
     "axis": [0, 0, 1], "limits": [-1, 1], "motor": {"speed": 1}, "friction": 1},
    {"type": "cylindrical", "name": "c", "bodies": ["world", "ball"], "frames": [
     {"position": [0, 0, 1], "axis": [0, 0, 1]}, {"orientation": [1, 0, 0, 0]}],
     "limits_deg": {"angle": [-90, null]}, "motor": {"slide": {"speed": 0, "max_effort": 1}}},
    {"type": "rack", "joints": ["h", "c"], "radius": 1}],
    "springs": [{"between": [{"body": "arm", "point": [0, 0, 1]}, {"world": [0, 0, 0]}],
     "stiffness": 1}, {"joint": "h", "stiffness": 1}, {"bushing": {"bodies": ["arm", "ball"]},
     "stiffness": [1, 1, 1, 1, 1, 1]}],
    "forces": [{"body": "arm", "force": ["t", 0, 0], "frame": "body"}]})");
  const auto read = [](const nlohmann::json& scene) {
    Diagnostics diagnostics("f");
    // A velocity that does not fit is no fault of interest here.
    const bool is_read =
        read_scene(scene.dump(), {}, diagnostics, {.project_start = true}).has_value();
    EXPECT_NE(is_read, diagnostics.has_errors()) << scene.dump() << diagnostics.to_text();
    return is_read;
  };
  ASSERT_TRUE(read(good));
  const nlohmann::json odd = nlohmann::json::parse(
      R"([null, true, 0, -1, 1e308, 1e-308, "", "ball", "hinge", "t", "1/0", [], {}, [0, 0, 0],
      [[]], [1, 2], {"axis": []}, {"type": "mesh"}])");
  constexpr std::size_t kStride = testing::kHasSanitizers ? 12 : 1;  // every place, fewer values
  int num_values = 0, num_tried = 0, num_refused = 0;
  nlohmann::json count = good;
  visit_all(count, [&](nlohmann::json&) { ++num_values; });
  for (int target = 1; target < num_values; ++target)
    for (std::size_t k = static_cast<std::size_t>(target) % kStride; k < odd.size(); k += kStride) {
      nlohmann::json scene = good;
      int index = 0;
      bool is_done = false;
      visit_all(scene, [&](nlohmann::json& node) {
        if (!is_done && index++ == target) {
          node = odd[k];
          is_done = true;
        }
      });
      num_refused += read(scene) ? 0 : 1;
      ++num_tried;
    }
  EXPECT_GT(num_refused, num_tried / 2);
}

}  // namespace
}  // namespace stiction
