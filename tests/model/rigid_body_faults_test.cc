#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stiction/base/infinity.h"
#include "stiction/model/rigid_body_description.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Motion = BodyDescription::Motion;
using SpringKind = BodySpringDescription::Kind;
using Where = BodyFault::Where;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Indices in the description below.
constexpr int kArm = 0, kHand = 1, kWall = 2, kBelt = 3;
constexpr int kHinge = 0, kSlider = 1, kBall = 2;

/// One of each, without a fault.
RigidBodyDescription make_description() {
  RigidBodyDescription d;
  d.pool = std::make_shared<ExpressionPool>();
  const Expression t = Expression::symbol(d.pool, "t");
  for (const char* name : {"arm", "hand"})
    d.bodies.push_back({.name = name, .mass = 1, .inertia = Matrix3d::Identity()});
  d.bodies.push_back({.name = "wall", .motion = Motion::kStatic});
  d.bodies.push_back({.name = "belt", .motion = Motion::kKinematic, .shift = {sin(t), 0.0, 0.0}});
  d.joints.push_back({.name = "hinge",
                      .type = JointType::kHinge,
                      .bodies = {kWorld, kArm},
                      .limits = {{.lower = -1, .upper = 1}},
                      .motors = {{.value = 2 * t, .max_effort = 5}},
                      .friction = {{.max_effort = 0.1}}});
  d.joints.push_back({.name = "slider", .type = JointType::kSlider, .bodies = {kWall, kHand}});
  d.joints.push_back({.name = "ball", .bodies = {kArm, kHand}});
  d.couplings.push_back(
      {.name = "rack",
       .sides = {CouplingDescription::Side{.joint = kHinge},
                 CouplingDescription::Side{
                     .joint = kSlider, .coordinate = JointCoordinate::kSlide, .factor = -0.1}}});
  d.springs.push_back({.name = "rope", .bodies = {kWorld, kHand}, .stiffness = {10}});
  d.springs.push_back({.name = "coil", .kind = SpringKind::kJoint, .joint = kHinge});
  d.springs.push_back({.name = "bush",
                       .kind = SpringKind::kBushing,
                       .bodies = {kArm, kHand},
                       .stiffness = {1, 2, 3, 4, 5, 6}});
  d.forces.push_back({.body = kArm, .force = {cos(t), 0.0, 0.0}});
  d.materials.push_back({.name = "steel", .mu = 0.5});
  d.materials.push_back({.name = "ice"});
  d.material_pairs.push_back({.materials = {0, 1}, .law = {.mu = 0.05}});
  d.shapes.push_back({.body = kArm, .shape = Sphere{.radius = 1}, .material = 0});
  d.shapes.push_back({.body = kWall, .shape = Plane{}});
  d.untouched_bodies.push_back({kWorld, kArm});
  return d;
}

using D = RigidBodyDescription&;

/// A description that gets one thing wrong, and all that should be said about it.
struct Case {
  std::function<void(D)> commit;
  Where where;
  int index;
  std::string key;
  std::string message;
};

void expect_faults(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    RigidBodyDescription d = make_description();
    c.commit(d);
    const std::vector<BodyFault> faults = find_body_faults(d);
    for (const BodyFault& fault : faults) {
      EXPECT_EQ(fault.message, c.message);
      EXPECT_EQ(fault.where, c.where);
      EXPECT_EQ(fault.index, c.index);
      EXPECT_EQ(fault.key, c.key);
    }
    EXPECT_EQ(faults.size(), 1u);
  }
}

void expect_no_faults(const std::vector<std::function<void(D)>>& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RigidBodyDescription d = make_description();
    changes[i](d);
    for (const BodyFault& fault : find_body_faults(d)) ADD_FAILURE() << i << ": " << fault.message;
  }
}

void set_free(BodyDescription& body, std::array<bool, 6> axes) { body.free_axes = axes; }

TEST(RigidBodyFaults, ThereAreNoneInASoundDescription) {
  expect_no_faults({
      [](D) {},
      [](D d) {
        d.pool = nullptr, d.joints[0].motors.clear(), d.forces.clear(), d.bodies.pop_back();
      },
      // Without rotations no inertia is needed; with one, its moment alone.
      [](D d) {
        d.bodies[kArm].inertia.setZero();
        set_free(d.bodies[kArm], {true, false, true, false, false, false});
      },
      [](D d) {
        d.bodies[kArm].inertia = Vector3d(0, 1, 0).asDiagonal();
        set_free(d.bodies[kArm], {true, false, true, false, true, false});
      },
      // The free axis is one of the world: this orientation turns the body's x into its y.
      [](D d) {
        d.bodies[kArm].inertia = Vector3d(1, 0, 0).asDiagonal();
        d.bodies[kArm].orientation = Quaterniond(0.5, 0.5, 0.5, 0.5);
        set_free(d.bodies[kArm], {true, false, true, false, true, false});
      },
      [](D d) {
        set_free(d.bodies[kArm], {false, false, false, true, true, true});
      },
      [](D d) { d.bodies[kArm].orientation = Quaterniond(0, 0, 2, 0); },
      // The origin of the frame moves along a locked axis, the centre of mass does not.
      [](D d) {
        set_free(d.bodies[kArm], {false, false, false, false, false, true});
        d.bodies[kArm].center_of_mass = {0.3, 0, 0};
        d.bodies[kArm].angular_velocity = {0, 0, 2};
        d.bodies[kArm].velocity = {0, -0.6, 0};
      },
      [](D d) { d.joints[kHinge].limits[0] = {.lower = -kInfinity, .upper = 3}; },
      [](D d) { d.joints[kHinge].motors[0].max_effort = kInfinity; },
      [](D d) { d.joints[kHinge].motors[0].max_effort = 0; },
      [](D d) { d.joints[kHinge].damping_time = 0.1; },
      [](D d) { d.joints[kHinge].compliance = 1e-6; },
      [](D d) {
        d.joints[kBall].friction = {{JointCoordinate::kTurnX, 1}};
      },
      [](D d) { d.joints[kBall].motors = {{.coordinate = JointCoordinate::kTurnZ, .value = 1}}; },
      [](D d) { d.springs[0].name = d.springs[1].name = ""; },
      [](D d) { d.springs[2].stiffness = {7}; },
      [](D d) {
        d.shapes[0].shape = Ellipsoid{.radii = {1, 2, 3}};
      },
      [](D d) { d.shapes[1] = {.body = kWorld, .shape = Sphere{.radius = 2}}; },
  });
}

TEST(RigidBodyFaults, AllAreReportedAtOnce) {
  RigidBodyDescription d = make_description();
  d.gravity.x() = kNan;
  d.bodies[kArm].mass = 0;
  d.bodies[kArm].inertia.setZero();
  d.bodies[kHand].name = "arm";
  d.joints[kHinge].compliance = -1;
  d.couplings[0].sides[0].factor = 0;
  d.springs[0].stiffness = {-1};
  d.forces[0].body = kWorld;
  d.materials[0].mu = -1;
  std::vector<Where> where;
  for (const BodyFault& fault : find_body_faults(d)) where.push_back(fault.where);
  EXPECT_EQ(where,
            (std::vector{Where::kGravity, Where::kBody, Where::kBody, Where::kBody, Where::kJoint,
                         Where::kCoupling, Where::kSpring, Where::kForce, Where::kMaterial}));
}

TEST(RigidBodyFaults, SomethingMoves) {
  const BodyDescription wall{.name = "wall", .motion = Motion::kStatic};
  for (const RigidBodyDescription& d :
       {RigidBodyDescription{}, RigidBodyDescription{.bodies = {wall}}}) {
    const std::vector<BodyFault> faults = find_body_faults(d);
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].message, "none of the bodies is dynamic, at least one must be");
    EXPECT_EQ(faults[0].key, "bodies");
  }
}

TEST(RigidBodyFaults, NamesAreGivenAndUnique) {
  expect_faults({
      {[](D d) { d.bodies[kHand].name = ""; }, Where::kBody, kHand, "name",
       "name of body 2 is empty, must be given"},
      {[](D d) { d.joints[kBall].name = ""; }, Where::kJoint, kBall, "name",
       "name of joint 3 is empty, must be given"},
      {[](D d) { d.bodies[kHand].name = "arm"; }, Where::kBody, kHand, "name",
       "body name 'arm' occurs twice, must be unique"},
      {[](D d) { d.joints[kBall].name = "hinge"; }, Where::kJoint, kBall, "name",
       "joint name 'hinge' occurs twice, must be unique"},
      {[](D d) { d.springs[1].name = "rope"; }, Where::kSpring, 1, "name",
       "spring name 'rope' occurs twice, must be unique"},
      {[](D d) { d.couplings.push_back(d.couplings[0]); }, Where::kCoupling, 1, "name",
       "coupling name 'rack' occurs twice, must be unique"},
      {[](D d) { d.materials[1].name = "steel"; }, Where::kMaterial, 1, "name",
       "material name 'steel' occurs twice, must be unique"},
  });
}

TEST(RigidBodyFaults, NumbersOfBodiesAreFinite) {
  expect_faults({
      {[](D d) { d.gravity.z() = -kInfinity; }, Where::kGravity, 0, "gravity",
       "gravity of the world is (0, 0, -inf), must be finite"},
      {[](D d) { d.bodies[kArm].position.y() = kNan; }, Where::kBody, kArm, "position",
       "position of body 'arm' is (0, nan, 0), must be finite"},
      {[](D d) { d.bodies[kWall].position.x() = kInfinity; }, Where::kBody, kWall, "position",
       "position of body 'wall' is (inf, 0, 0), must be finite"},
      {[](D d) { d.bodies[kArm].velocity.y() = kNan; }, Where::kBody, kArm, "velocity",
       "velocity of body 'arm' is (0, nan, 0), must be finite"},
      {[](D d) { d.bodies[kArm].angular_velocity.y() = kNan; }, Where::kBody, kArm,
       "angular_velocity", "angular_velocity of body 'arm' is (0, nan, 0), must be finite"},
      {[](D d) { d.bodies[kArm].center_of_mass.y() = kNan; }, Where::kBody, kArm, "center_of_mass",
       "center_of_mass of body 'arm' is (0, nan, 0), must be finite"},
      {[](D d) { d.bodies[kBelt].center_of_mass.y() = kNan; }, Where::kBody, kBelt,
       "center_of_mass", "center_of_mass of body 'belt' is (0, nan, 0), must be finite"},
      {[](D d) { d.bodies[kWall].mass = kNan; }, Where::kBody, kWall, "mass",
       "mass of body 'wall' is nan, must be finite"},
      {[](D d) { d.bodies[kWall].inertia(1, 2) = kNan; }, Where::kBody, kWall, "inertia",
       "inertia of body 'wall' has entries that are not finite, must be finite"},
      {[](D d) {
         d.bodies[kArm].inertia(1, 2) = kNan;
         set_free(d.bodies[kArm], {true, true, true, false, false, false});
       },
       Where::kBody, kArm, "inertia",
       "inertia of body 'arm' has entries that are not finite, must be finite"},
  });
}

TEST(RigidBodyFaults, BodiesHaveMassInertiaAndOrientation) {
  expect_faults({
      {[](D d) { d.bodies[kArm].mass = 0; }, Where::kBody, kArm, "mass",
       "mass of body 'arm' is 0, must be finite and > 0"},
      {[](D d) { d.bodies[kArm].mass = kNan; }, Where::kBody, kArm, "mass",
       "mass of body 'arm' is nan, must be finite and > 0"},
      {[](D d) { d.bodies[kArm].inertia.setZero(); }, Where::kBody, kArm, "inertia",
       "body 'arm': inertia is not positive definite: principal moments 0, 0, 0, expected all > "
       "0"},
      {[](D d) { d.bodies[kArm].inertia = Vector3d(1, 1, 3).asDiagonal(); }, Where::kBody, kArm,
       "inertia",
       "body 'arm': inertia belongs to no rigid body: principal moments 1, 1, 3, expected none "
       "larger than the sum of the other two"},
      {[](D d) {
         d.bodies[kArm].inertia = Vector3d(1, 0, 1).asDiagonal();
         set_free(d.bodies[kArm], {true, false, true, false, true, false});
       },
       Where::kBody, kArm, "inertia",
       "inertia of body 'arm' about y, its free axis, is 0, must be > 0"},
      {[](D d) { d.bodies[kArm].orientation.coeffs().setZero(); }, Where::kBody, kArm,
       "orientation",
       "orientation of body 'arm' is the quaternion (0, 0, 0, 0), must be finite and longer than "
       "0"},
      {[](D d) { d.bodies[kWall].orientation.w() = kNan; }, Where::kBody, kWall, "orientation",
       "orientation of body 'wall' is the quaternion (nan, 0, 0, 0), must be finite and longer "
       "than 0"},
      // Squares of these numbers are no doubles.
      {[](D d) { d.bodies[kArm].orientation = Quaterniond(1e200, 0, 0, 0); }, Where::kBody, kArm,
       "orientation",
       "orientation of body 'arm' is the quaternion (1e+200, 0, 0, 0), must be finite and longer "
       "than 0"},
      {[](D d) { d.bodies[kArm].orientation = Quaterniond(1e-170, 0, 0, 0); }, Where::kBody, kArm,
       "orientation",
       "orientation of body 'arm' is the quaternion (1e-170, 0, 0, 0), must be finite and longer "
       "than 0"},
  });
}

TEST(RigidBodyFaults, FreeAxesAreThoseThatASystemKnows) {
  const auto with = [](std::array<bool, 6> axes) {
    return [axes](D d) { set_free(d.bodies[kArm], axes); };
  };
  expect_faults({
      {with({true, true, true, true, true, false}), Where::kBody, kArm, "free_axes",
       "free_axes of body 'arm' has 2 rotations, must have none, one or all three"},
      {with({false, false, false, false, false, false}), Where::kBody, kArm, "free_axes",
       "free_axes of body 'arm' is empty, must have an axis, or the body must be static"},
  });
}

TEST(RigidBodyFaults, VelocitiesAreAlongFreeAxes) {
  expect_faults({
      {[](D d) {
         set_free(d.bodies[kArm], {true, false, false, false, false, true});
         d.bodies[kArm].velocity = {1, 2, 3};
       },
       Where::kBody, kArm, "velocity",
       "velocity of the centre of mass of body 'arm' is (1, 2, 3), must be 0 along y, z, not in "
       "its free_axes"},
      {[](D d) {
         set_free(d.bodies[kArm], {true, true, true, false, false, true});
         d.bodies[kArm].angular_velocity = {1, 0, 3};
       },
       Where::kBody, kArm, "angular_velocity",
       "angular_velocity of body 'arm' is (1, 0, 3), must be 0 about x, not in its free_axes"},
      // The frame's origin rests, but the centre of mass, 0.5 beside the axis, does not.
      {[](D d) {
         set_free(d.bodies[kArm], {false, false, false, false, false, true});
         d.bodies[kArm].center_of_mass = {0.5, 0, 0};
         d.bodies[kArm].angular_velocity = {0, 0, 2};
       },
       Where::kBody, kArm, "velocity",
       "velocity of the centre of mass of body 'arm' is (0, 1, 0), must be 0 along y, not in its "
       "free_axes"},
      {[](D d) { d.bodies[kWall].velocity.x() = 1; }, Where::kBody, kWall, "velocity",
       "velocity of body 'wall' is (1, 0, 0), must be 0 since the body is not dynamic"},
      {[](D d) { d.bodies[kBelt].angular_velocity.x() = 1; }, Where::kBody, kBelt,
       "angular_velocity",
       "angular_velocity of body 'belt' is (1, 0, 0), must be 0 since the body is not dynamic"},
  });
}

TEST(RigidBodyFaults, MotionsAreFormulasInTimeOfKinematicBodies) {
  expect_faults({
      {[](D d) { d.bodies[kBelt].shift[1] = Expression::symbol(d.pool, "x"); }, Where::kBody, kBelt,
       "kinematic", "shift y of body 'belt' depends on 'x', may depend on t only"},
      {[](D d) {
         d.bodies[kBelt].angle = Expression::symbol(std::make_shared<ExpressionPool>(), "t");
       },
       Where::kBody, kBelt, "kinematic",
       "angle of body 'belt' uses symbols of another pool than its system"},
      {[](D d) {
         d.bodies[kBelt].turn_axis = {0, 0, 2};
       },
       Where::kBody, kBelt, "kinematic",
       "axis of body 'belt' is (0, 0, 2) with length 2, must have length 1"},
      {[](D d) { d.bodies[kBelt].turn_axis.x() = kNan; }, Where::kBody, kBelt, "kinematic",
       "axis of body 'belt' is (nan, 0, 1) with length nan, must have length 1"},
      {[](D d) { d.bodies[kArm].shift[2] = 1; }, Where::kBody, kArm, "kinematic",
       "shift z of body 'arm' is a motion, must be 0 since the body is not kinematic"},
      {[](D d) { d.bodies[kWall].angle = 1; }, Where::kBody, kWall, "kinematic",
       "angle of body 'wall' is a motion, must be 0 since the body is not kinematic"},
  });
}

TEST(RigidBodyFaults, JointsAreBetweenTwoBodiesOfWhichOneMoves) {
  const auto with = [](int a, int b) { return [a, b](D d) { d.joints[kBall].bodies = {a, b}; }; };
  expect_faults({
      {with(kArm, kArm), Where::kJoint, kBall, "bodies",
       "joint 'ball' is between body 'arm' and itself, must be between two bodies"},
      {with(kArm, 4), Where::kJoint, kBall, "bodies",
       "joint 'ball' names body 4, must be -1 (the world) or from 0 to 3"},
      {with(-2, kArm), Where::kJoint, kBall, "bodies",
       "joint 'ball' names body -2, must be -1 (the world) or from 0 to 3"},
      {with(kWorld, kWorld), Where::kJoint, kBall, "bodies",
       "joint 'ball' is between the world and the world, neither of which can move; one must be "
       "dynamic"},
      {with(kBelt, kWall), Where::kJoint, kBall, "bodies",
       "joint 'ball' is between kinematic body 'belt' and static body 'wall', neither of which can "
       "move; one must be dynamic"},
      {[](D d) {
         d.springs[0].bodies = {kWall, kWorld};
       },
       Where::kSpring, 0, "between",
       "spring 'rope' is between static body 'wall' and the world, neither of which can move; one "
       "must be dynamic"},
      {[](D d) {
         d.springs[2].bodies = {kArm, 9};
       },
       Where::kSpring, 2, "bodies",
       "spring 'bush' names body 9, must be -1 (the world) or from 0 to 3"},
      {[](D d) { d.shapes[1].body = 9; }, Where::kShape, 1, "body",
       "shape 2 names body 9, must be from 0 to 3"},
      {[](D d) { d.untouched_bodies[0][1] = -2; }, Where::kUntouched, 0, "",
       "pair of bodies that pass 1 names body -2, must be from 0 to 3"},
  });
}

TEST(RigidBodyFaults, FramesAreRotations) {
  const auto turn_into = [](Matrix3d rotation) {
    return [rotation](D d) { d.joints[kHinge].frames[1].rotation = rotation; };
  };
  Matrix3d skew = Matrix3d::Identity();
  skew(0, 1) = 0.01;
  expect_faults({
      {turn_into(2 * Matrix3d::Identity()), Where::kJoint, kHinge, "frames",
       "axes of a frame of joint 'hinge' miss orthonormality by 3 and have determinant 8, must be "
       "a rotation"},
      {turn_into(-Matrix3d::Identity()), Where::kJoint, kHinge, "frames",
       "axes of a frame of joint 'hinge' miss orthonormality by 0 and have determinant -1, must be "
       "a rotation"},
      {turn_into(skew), Where::kJoint, kHinge, "frames",
       "axes of a frame of joint 'hinge' miss orthonormality by 0.01 and have determinant 1, must "
       "be a rotation"},
      {turn_into(Matrix3d::Constant(kNan)), Where::kJoint, kHinge, "frames",
       "frame of joint 'hinge' has numbers that are not finite, must be finite"},
      {[](D d) { d.springs[0].frames[0].position.x() = kInfinity; }, Where::kSpring, 0, "frames",
       "frame of spring 'rope' has numbers that are not finite, must be finite"},
      {[](D d) { d.shapes[1].frame.position.x() = kNan; }, Where::kShape, 1, "position",
       "frame of shape 2 has numbers that are not finite, must be finite"},
  });
  // A little more and a little less than the tolerance of 1e-9.
  skew(0, 1) = 2e-9;
  RigidBodyDescription d = make_description();
  turn_into(skew)(d);
  EXPECT_EQ(find_body_faults(d).size(), 1u);
  skew(0, 1) = 0.5e-9;
  expect_no_faults({turn_into(skew)});
}

TEST(RigidBodyFaults, SizesOfJointsAreUsable) {
  const auto with = [](JointType type, double JointDescription::*size, double value) {
    return [=](D d) {
      d.joints[kBall].type = type;
      d.joints[kBall].*size = value;
    };
  };
  expect_faults({
      {with(JointType::kDistance, &JointDescription::length, 0), Where::kJoint, kBall, "length",
       "length of joint 'ball' is 0, must be finite and > 0"},
      {with(JointType::kBall, &JointDescription::length, kNan), Where::kJoint, kBall, "length",
       "length of joint 'ball' is nan, must be finite"},
      {with(JointType::kScrew, &JointDescription::pitch, 0), Where::kJoint, kBall, "pitch",
       "pitch of joint 'ball' is 0, must be finite and not 0"},
      {with(JointType::kScrew, &JointDescription::pitch, kInfinity), Where::kJoint, kBall, "pitch",
       "pitch of joint 'ball' is inf, must be finite and not 0"},
      {with(JointType::kBall, &JointDescription::pitch, kNan), Where::kJoint, kBall, "pitch",
       "pitch of joint 'ball' is nan, must be finite"},
      {with(JointType::kRollingBall, &JointDescription::radius, 0), Where::kJoint, kBall, "radius",
       "radius of joint 'ball' is 0, must be finite and > 0"},
      {with(JointType::kRollingDisc, &JointDescription::radius, -1), Where::kJoint, kBall, "radius",
       "radius of joint 'ball' is -1, must be finite and > 0"},
      {with(JointType::kBall, &JointDescription::radius, kNan), Where::kJoint, kBall, "radius",
       "radius of joint 'ball' is nan, must be finite"},
      {with(JointType::kBall, &JointDescription::compliance, -1), Where::kJoint, kBall,
       "compliance", "compliance of joint 'ball' is -1, must be finite and >= 0"},
      {with(JointType::kBall, &JointDescription::damping_time, -1), Where::kJoint, kBall,
       "damping_time", "damping_time of joint 'ball' is -1, must be finite and >= 0"},
      {with(JointType::kBall, &JointDescription::compliance, kInfinity), Where::kJoint, kBall,
       "compliance", "compliance of joint 'ball' is inf, must be finite and >= 0"},
  });
  expect_no_faults({with(JointType::kScrew, &JointDescription::pitch, -0.01),
                    with(JointType::kDistance, &JointDescription::length, 1),
                    with(JointType::kRollingDisc, &JointDescription::radius, 0.5)});
}

TEST(RigidBodyFaults, LimitsAreOrderedAndOnCoordinates) {
  expect_faults({
      {[](D d) { d.joints[kHinge].limits[0].lower = 1; }, Where::kJoint, kHinge, "limits",
       "limits of joint 'hinge' are 1 and 1, the lower must be less than the upper"},
      {[](D d) { d.joints[kHinge].limits[0].upper = kNan; }, Where::kJoint, kHinge, "limits",
       "limits of joint 'hinge' are -1 and nan, the lower must be less than the upper"},
      {[](D d) { d.joints[kHinge].limits[0].coordinate = JointCoordinate::kSlide; }, Where::kJoint,
       kHinge, "limits",
       "limits of joint 'hinge' given on slide, must be on angle for a hinge joint"},
      {[](D d) {
         d.joints[kBall].limits = {{JointCoordinate::kTurnY, -1, 1}};
       },
       Where::kJoint, kBall, "limits",
       "limits of joint 'ball' given on turn y, which has a speed but no position"},
      {[](D d) { d.joints[kHinge].limits[0].restitution = 1.5; }, Where::kJoint, kHinge,
       "restitution", "restitution of joint 'hinge' is 1.5, must be in [0, 1]"},
      {[](D d) { d.joints[kHinge].limits.push_back({.lower = 0}); }, Where::kJoint, kHinge,
       "limits", "limits of joint 'hinge' given twice for angle, must be given once"},
  });
}

TEST(RigidBodyFaults, MotorsAndFrictionActOnCoordinates) {
  using Target = JointMotor::Target;
  expect_faults({
      {[](D d) { d.joints[kSlider].motors = {{.coordinate = JointCoordinate::kAngle}}; },
       Where::kJoint, kSlider, "motor",
       "motor of joint 'slider' given on angle, must be on slide for a slider joint"},
      // A ball can be driven at a speed, but has no position to be driven to.
      {[](D d) {
         d.joints[kBall].motors = {
             {.coordinate = JointCoordinate::kTurnX, .target = Target::kPosition}};
       },
       Where::kJoint, kBall, "motor",
       "motor of joint 'ball' given on turn x, which has a speed but no position"},
      {[](D d) { d.joints[kBall].type = JointType::kFixed, d.joints[kBall].motors = {{}}; },
       Where::kJoint, kBall, "motor",
       "motor of joint 'ball' given on angle, a fixed joint can have none"},
      {[](D d) { d.joints[kHinge].motors[0].max_effort = -1; }, Where::kJoint, kHinge, "max_effort",
       "max_effort of joint 'hinge' is -1, must be >= 0"},
      {[](D d) { d.joints[kHinge].motors[0].max_effort = kNan; }, Where::kJoint, kHinge,
       "max_effort", "max_effort of joint 'hinge' is nan, must be >= 0"},
      {[](D d) { d.joints[kHinge].motors[0].value = Expression::symbol(d.pool, "phi"); },
       Where::kJoint, kHinge, "motor",
       "speed of the motor of joint 'hinge' depends on 'phi', may depend on t only"},
      {[](D d) {
         d.joints[kHinge].motors[0].target = Target::kPosition;
         d.joints[kHinge].motors[0].value = Expression::symbol(d.pool, "phi");
       },
       Where::kJoint, kHinge, "motor",
       "position of the motor of joint 'hinge' depends on 'phi', may depend on t only"},
      {[](D d) { d.joints[kHinge].motors.push_back({}); }, Where::kJoint, kHinge, "motor",
       "motor of joint 'hinge' given twice for angle, must be given once"},
      {[](D d) { d.joints[kHinge].friction[0].max_effort = -1; }, Where::kJoint, kHinge, "friction",
       "friction of joint 'hinge' is -1, must be finite and >= 0"},
      {[](D d) { d.joints[kHinge].friction[0].max_effort = kInfinity; }, Where::kJoint, kHinge,
       "friction", "friction of joint 'hinge' is inf, must be finite and >= 0"},
      {[](D d) {
         d.joints[kSlider].friction = {{JointCoordinate::kAngle, 1}};
       },
       Where::kJoint, kSlider, "friction",
       "friction of joint 'slider' given on angle, must be on slide for a slider joint"},
      {[](D d) {
         d.joints[kBall].friction = {{JointCoordinate::kAngle, 1}};
       },
       Where::kJoint, kBall, "friction",
       "friction of joint 'ball' given on angle, must be on turn x, turn y, turn z for a ball "
       "joint"},
      {[](D d) { d.joints[kHinge].friction.push_back({}); }, Where::kJoint, kHinge, "friction",
       "friction of joint 'hinge' given twice for angle, must be given once"},
  });
}

TEST(RigidBodyFaults, CouplingsJoinTwoCoordinates) {
  expect_faults({
      {[](D d) { d.couplings[0].sides[0].joint = 3; }, Where::kCoupling, 0, "joints",
       "coupling 'rack' names joint 3, must be from 0 to 2"},
      {[](D d) { d.couplings[0].sides[1].joint = -1; }, Where::kCoupling, 0, "joints",
       "coupling 'rack' names joint -1, must be from 0 to 2"},
      {[](D d) { d.couplings[0].sides[1].joint = kHinge; }, Where::kCoupling, 0, "joints",
       "coupling 'rack' given on slide of joint 'hinge', must be on angle for a hinge joint"},
      {[](D d) {
         d.couplings[0].sides[0] = {kBall, JointCoordinate::kTurnX, 1};
       },
       Where::kCoupling, 0, "joints",
       "coupling 'rack' given on turn x of joint 'ball', which has a speed but no position"},
      {[](D d) { d.couplings[0].sides[1] = d.couplings[0].sides[0]; }, Where::kCoupling, 0,
       "joints",
       "coupling 'rack' couples angle of joint 'hinge' with itself, must couple two coordinates"},
      {[](D d) { d.couplings[0].sides[1].factor = 0; }, Where::kCoupling, 0, "radius",
       "factor of coupling 'rack' is 0, must be finite and not 0"},
      {[](D d) {
         d.joints[kSlider].type = JointType::kHinge;
         d.couplings[0].sides[1] = {kSlider, JointCoordinate::kAngle, kNan};
       },
       Where::kCoupling, 0, "ratio", "factor of coupling 'rack' is nan, must be finite and not 0"},
      {[](D d) { d.couplings[0].compliance = -1; }, Where::kCoupling, 0, "compliance",
       "compliance of coupling 'rack' is -1, must be finite and >= 0"},
      {[](D d) { d.couplings[0].damping_time = kNan; }, Where::kCoupling, 0, "damping_time",
       "damping_time of coupling 'rack' is nan, must be finite and >= 0"},
  });
}

TEST(RigidBodyFaults, SpringsHaveConstantsAndPlaces) {
  expect_faults({
      {[](D d) { d.springs[0].stiffness = {}; }, Where::kSpring, 0, "stiffness",
       "stiffness of spring 'rope' has 0 entries, must have 1"},
      {[](D d) { d.springs[1].damping = {1, 2, 3, 4, 5, 6}; }, Where::kSpring, 1, "damping",
       "damping of spring 'coil' has 6 entries, must have 1"},
      {[](D d) {
         d.springs[2].stiffness = {1, 2, 3};
       },
       Where::kSpring, 2, "stiffness",
       "stiffness of spring 'bush' has 3 entries, must have 1 or 6"},
      {[](D d) { d.springs[2].stiffness[4] = -5; }, Where::kSpring, 2, "stiffness",
       "stiffness of spring 'bush' is -5, must be finite and >= 0"},
      {[](D d) { d.springs[0].damping = {kInfinity}; }, Where::kSpring, 0, "damping",
       "damping of spring 'rope' is inf, must be finite and >= 0"},
      {[](D d) { d.springs[0].rest_length = -1; }, Where::kSpring, 0, "rest_length",
       "rest_length of spring 'rope' is -1, must be finite and >= 0"},
      {[](D d) { d.springs[1].rest = kNan; }, Where::kSpring, 1, "rest",
       "rest of spring 'coil' is nan, must be finite"},
      {[](D d) { d.springs[1].joint = 7; }, Where::kSpring, 1, "joint",
       "spring 'coil' names joint 7, must be from 0 to 2"},
      {[](D d) { d.springs[1].joint = kBall; }, Where::kSpring, 1, "coordinate",
       "spring 'coil' given on angle of joint 'ball', a ball joint can have none"},
      {[](D d) { d.joints.clear(), d.couplings.clear(); }, Where::kSpring, 1, "joint",
       "spring 'coil' names joint 0, but there are no joints"},
  });
}

TEST(RigidBodyFaults, ForcesActOnBodiesThatMove) {
  expect_faults({
      {[](D d) { d.forces[0].body = 4; }, Where::kForce, 0, "body",
       "force 1 names body 4, must be from 0 to 3"},
      {[](D d) { d.forces[0].body = kWorld; }, Where::kForce, 0, "body",
       "force 1 acts on the world, which it cannot move; must act on a dynamic body"},
      {[](D d) { d.forces[0].body = kWall; }, Where::kForce, 0, "body",
       "force 1 acts on static body 'wall', which it cannot move; must act on a dynamic body"},
      {[](D d) { d.forces[0].force[2] = Expression::symbol(d.pool, "z"); }, Where::kForce, 0,
       "force", "z component of force 1 depends on 'z', may depend on t only"},
      {[](D d) { d.forces[0].torque[0] = Expression::symbol(d.pool, "w"); }, Where::kForce, 0,
       "torque", "x component of the torque of force 1 depends on 'w', may depend on t only"},
      {[](D d) { d.forces[0].point.z() = kNan; }, Where::kForce, 0, "point",
       "point of force 1 is (0, 0, nan), must be finite"},
  });
}

TEST(RigidBodyFaults, ShapesHaveNoFaults) {
  expect_faults({
      {[](D d) { d.shapes[0].shape = Sphere{.radius = -1}; }, Where::kShape, 0, "",
       "shape 1: radius of sphere is -1, expected a finite length > 0"},
      {[](D d) {
         d.shapes[1].shape = Plane{.normal = {0, 0, 2}};
       },
       Where::kShape, 1, "",
       "shape 2: normal of plane is (0, 0, 2) with length 2, expected length 1"},
      {[](D d) { d.shapes[0].material = 2; }, Where::kShape, 0, "material",
       "shape 1 names material 2, must be from 0 to 1"},
      {[](D d) { d.shapes[0].surface_velocity.x() = kNan; }, Where::kShape, 0, "surface_velocity",
       "surface_velocity of shape 1 is (nan, 0, 0), must be finite"},
  });
}

TEST(RigidBodyFaults, ContactLawsAreInRange) {
  expect_faults({
      {[](D d) { d.materials[0].mu = -0.3; }, Where::kMaterial, 0, "mu",
       "mu of material 'steel' is -0.3, must be finite and >= 0"},
      {[](D d) { d.materials[0].mu = kInfinity; }, Where::kMaterial, 0, "mu",
       "mu of material 'steel' is inf, must be finite and >= 0"},
      {[](D d) { d.materials[1].restitution = 1.1; }, Where::kMaterial, 1, "restitution",
       "restitution of material 'ice' is 1.1, must be in [0, 1]"},
      {[](D d) { d.materials[1].compliance = -1; }, Where::kMaterial, 1, "compliance",
       "compliance of material 'ice' is -1, must be finite and >= 0"},
      {[](D d) { d.material_pairs[0].law.restitution_tangential = kNan; }, Where::kMaterialPair, 0,
       "restitution_tangential",
       "restitution_tangential of material pair 1 is nan, must be in [0, 1]"},
      {[](D d) { d.material_pairs[0].materials[1] = 2; }, Where::kMaterialPair, 0, "between",
       "material pair 1 names material 2, must be from 0 to 1"},
      {[](D d) {
         d.material_pairs.push_back({.materials = {1, 0}, .law = {.mu = 0.4}});
       },
       Where::kMaterialPair, 1, "between",
       "material pair 2 is between the same materials as material pair 1, one of them must go"},
  });
}

}  // namespace
}  // namespace stiction
