#include "stiction/model/rigid_body_builder.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <set>
#include <string>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "tests/model/random_joints.h"

namespace stiction {
namespace {

using Eigen::AngleAxisd;
using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using Motion = BodyDescription::Motion;
using std::numbers::pi;
using testing::kJointTypes;
using testing::NamedJointType;
using testing::random_direction;
using testing::random_vector;

/// Rounding of a dozen operations on numbers up to 10.
constexpr double kRounding = 1e-13;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing thrown";
}

// -------------------------------------------------------------------------------------------------
// Places

struct TwoBodies {
  RigidBodyDescription description;
  std::array<Pose, 2> poses;  // of their frames at t = 0
};

/// A free body, and a kinematic one whose motion has not begun at its `position`.
TwoBodies make_two_bodies(Random& random) {
  TwoBodies two;
  two.description.pool = std::make_shared<ExpressionPool>();
  const Expression t = Expression::symbol(two.description.pool, "t");
  for (Pose& pose : two.poses) pose = testing::random_pose(random);
  // The quaternion of a body need not have length 1.
  const Quaterniond q(two.poses[0].rotation), turned(two.poses[1].rotation);
  two.description.bodies.push_back(
      {.name = "free",
       .position = two.poses[0].position,
       .orientation = Quaterniond(3 * q.w(), 3 * q.x(), 3 * q.y(), 3 * q.z()),
       .mass = 1,
       .center_of_mass = random_vector(random),
       .inertia = Matrix3d::Identity()});
  two.description.bodies.push_back({.name = "driven",
                                    .motion = Motion::kKinematic,
                                    .position = two.poses[1].position,
                                    .orientation = turned,
                                    .shift = {cos(t), 0.0, 2 + t},
                                    .turn_axis = random_direction(random),
                                    .angle = 0.7 - t});
  two.poses[1].position += Vector3d(1, 0, 2);
  two.poses[1].rotation =
      AngleAxisd(0.7, two.description.bodies[1].turn_axis) * two.poses[1].rotation;
  return two;
}

JointGeometry geometry_of(const JointDescription& joint) {
  return {.type = joint.type,
          .frame_a = joint.frames[0],
          .frame_b = joint.frames[1],
          .length = joint.length,
          .pitch = joint.pitch,
          .radius = joint.radius};
}

/// Origin and axes of one of the joint's frames in the world.
Pose in_world(const Pose& body, const Pose& frame) {
  return {body.position + body.rotation * frame.position, body.rotation * frame.rotation};
}

class PlaceJoint : public ::testing::TestWithParam<NamedJointType> {};

TEST_P(PlaceJoint, ConstraintsAndCoordinatesAreZeroAtTheStart) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const TwoBodies two = make_two_bodies(random);
    JointDescription joint{.name = "j",
                           .type = GetParam().type,
                           .bodies = {0, 1},
                           .pitch = 0.1,
                           .radius = random.uniform(0.5, 2)};
    const Vector3d at = random_vector(random), axis = 3 * random_vector(random);
    const Vector3d axis2 = random_vector(random).cross(axis);
    if (joint.type == JointType::kDistance)
      place_distance(two.description, joint, at - axis, at);
    else
      place_joint(two.description, joint, at, axis, axis2);

    const JointGeometry geometry = geometry_of(joint);
    const auto& [a, b] = two.poses;
    std::vector<double> theta(num_constraints(joint.type));
    evaluate_constraints(geometry, a, b, 0, theta);
    for (const double value : theta) EXPECT_NEAR(value, 0, kRounding);
    for (const JointCoordinate coordinate : joint_coordinates(joint.type)) {
      if (joint.type == JointType::kBall) continue;  // rates without a value
      EXPECT_NEAR(evaluate_coordinate(geometry, coordinate, a, b), 0, kRounding);
    }
    // Body b's frame is where the joint was placed.
    EXPECT_LE((in_world(b, joint.frames[1]).position - at).norm(), kRounding);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, PlaceJoint, ::testing::ValuesIn(kJointTypes),
                         testing::type_name);

class PlacedAxes : public ::testing::Test {
 protected:
  /// The axes of both frames in the world, columns x, y, z.
  void place(JointType type) {
    JointDescription joint{.name = "j", .type = type, .bodies = {0, 1}, .radius = 0.5};
    place_joint(two_.description, joint, at_, axis_, axis2_);
    for (const int side : {0, 1}) {
      frames_[side] = in_world(two_.poses[side], joint.frames[side]);
      EXPECT_LE((joint.frames[side].rotation.transpose() * joint.frames[side].rotation -
                 Matrix3d::Identity())
                    .norm(),
                kRounding);
      EXPECT_GT(joint.frames[side].rotation.determinant(), 0);
    }
  }
  void expect_column(int side, int column, const Vector3d& direction) const {
    EXPECT_LE((frames_[side].rotation.col(column) - direction.normalized()).norm(), kRounding);
  }

  Random random_{7};
  TwoBodies two_ = make_two_bodies(random_);
  Vector3d at_ = random_vector(random_), axis_ = random_vector(random_),
           axis2_ = random_vector(random_).cross(axis_);
  std::array<Pose, 2> frames_;
};

TEST_F(PlacedAxes, OfAHingeAreAlongItsAxis) {
  place(JointType::kHinge);
  expect_column(0, 2, axis_);
  expect_column(1, 2, axis_);
}

TEST_F(PlacedAxes, OfAUniversalJointAreItsTwo) {
  place(JointType::kUniversal);
  expect_column(0, 0, axis_);
  expect_column(1, 1, axis2_);
}

TEST_F(PlacedAxes, OfAKnifeEdgeAreAcrossTheBlade) {
  place(JointType::kKnifeEdge);
  expect_column(1, 0, axis_);
}

TEST_F(PlacedAxes, OfARollingBallHaveThePlaneARadiusBelow) {
  place(JointType::kRollingBall);
  expect_column(0, 2, axis_);
  EXPECT_LE((frames_[0].position - (at_ - 0.5 * axis_.normalized())).norm(), kRounding);
}

/// A disc that leans 30° has its lowest point there, and its centre cos 30° of the radius above.
TEST_F(PlacedAxes, OfARollingDiscHaveThePlaneAtItsLowestPoint) {
  const Vector3d level = axis_.normalized(), normal = axis2_.normalized();
  axis_ = std::cos(pi / 6) * level + std::sin(pi / 6) * normal;
  place(JointType::kRollingDisc);
  expect_column(0, 2, normal);
  expect_column(1, 2, axis_);
  EXPECT_NEAR((at_ - frames_[0].position).dot(normal), 0.5 * std::cos(pi / 6), kRounding);
  EXPECT_NEAR((at_ - frames_[0].position).norm(), 0.5, kRounding);
  axis2_.setZero();
  place(JointType::kRollingDisc);
  expect_column(0, 2, Vector3d::UnitZ());
}

TEST(Placement, AxesAreTheSameForTheSameDirection) {
  EXPECT_EQ(make_axes_along({0, 0, 4}), Matrix3d::Identity());
  EXPECT_EQ(make_axes_along({0, 1, 0}).col(0), Vector3d::UnitX());
  EXPECT_EQ(make_axes_along({1, 0, 0}).col(0), Vector3d::UnitY());
  // Lengths whose squares are no doubles.
  for (const double length : {1e-200, 1e200})
    EXPECT_LE((make_axes_along(Vector3d(3, -4, 12) * length) - make_axes_along({3, -4, 12})).norm(),
              kRounding);
}

TEST(Placement, DistanceHasTwoPlaces) {
  Random random(1);
  const TwoBodies two = make_two_bodies(random);
  const Vector3d from(1, 2, 3), to(1, 2, 5.5);
  JointDescription joint{.name = "j", .type = JointType::kDistance, .bodies = {0, kWorld}};
  place_distance(two.description, joint, from, to);
  EXPECT_DOUBLE_EQ(joint.length, 2.5);
  EXPECT_LE((in_world(two.poses[0], joint.frames[0]).position - from).norm(), kRounding);
  EXPECT_EQ(joint.frames[1].position, to);
  joint.length = 2;
  place_distance(two.description, joint, from, to);
  EXPECT_EQ(joint.length, 2);
}

TEST(Placement, RefusesAxesThatDoNotFit) {
  Random random(1);
  const RigidBodyDescription description = make_two_bodies(random).description;
  const auto refusal = [&](JointDescription joint, const Vector3d& at, const Vector3d& axis,
                           const Vector3d& axis2) {
    return message_of([&] { place_joint(description, joint, at, axis, axis2); });
  };
  const Vector3d zero = Vector3d::Zero(), x = Vector3d::UnitX(), z = Vector3d::UnitZ();
  const JointDescription hinge{.name = "h", .type = JointType::kHinge, .bodies = {kWorld, 0}};
  JointDescription universal = hinge, disc = hinge, distance = hinge, stray = hinge;
  universal.type = JointType::kUniversal;
  disc.type = JointType::kRollingDisc;
  distance.type = JointType::kDistance;
  stray.bodies[0] = 2;

  EXPECT_EQ(refusal(hinge, zero, zero, zero),
            "axis of joint 'h' has length 0, must point somewhere");
  EXPECT_EQ(refusal(hinge, zero, {0, kNan, 0}, zero),
            "axis of joint 'h' is (0, nan, 0), must be finite");
  EXPECT_EQ(refusal(hinge, {kNan, 0, 0}, z, zero),
            "at of joint 'h' is (nan, 0, 0), must be finite");
  EXPECT_EQ(refusal(stray, zero, z, zero),
            "argument body is 2, must be -1 (the world) or from 0 to 1");
  EXPECT_EQ(refusal(universal, zero, z, zero),
            "axis2 of joint 'h' has length 0, must point somewhere");
  EXPECT_EQ(refusal(universal, zero, z, {0, 0.5, 0.5}),
            "axis and axis2 of universal joint 'h' are 0.785 rad apart, must be perpendicular");
  EXPECT_EQ(refusal(disc, zero, z, 2 * z),
            "axis and axis2 of rolling disc 'h' are parallel, the disc must not lie flat on its "
            "plane");
  EXPECT_EQ(refusal(distance, zero, z, x), "distance joint 'h' has one place, must have two");
  EXPECT_EQ(refusal(universal, zero, z, x + 1e-7 * z), "nothing thrown");
}

// -------------------------------------------------------------------------------------------------
// The builder

struct Pendulum {
  RigidBodyBuilder world;
  BodyId link = 0;
  JointId hinge = 0;
};

/// A rod of 1 kg and 1 m that hangs from (0, 0, 1).
Pendulum make_pendulum() {
  Pendulum pendulum;
  RigidBodyBuilder& world = pendulum.world;
  world.set_gravity({0, 0, -9.81});
  pendulum.link = world.add_body({.name = "link",
                                  .position = {0, 0, 0.5},
                                  .angular_velocity = {0, 2, 0},
                                  .mass = 1,
                                  .inertia = Vector3d(1, 1, 0.01).asDiagonal()});
  pendulum.hinge = world.add_joint(
      {.name = "hinge", .type = JointType::kHinge, .bodies = {kWorld, pendulum.link}},
      {.at = {0, 0, 1}, .axis = {0, 1, 0}});
  return pendulum;
}

VectorXd constraints_at(const System& system, const VectorXd& q) {
  VectorXd theta(system.num_constraints());
  system.evaluate_constraints(0, q, theta);
  return theta;
}

TEST(RigidBodyBuilder, BuildsAPendulum) {
  const Model model = make_pendulum().world.build_model();
  EXPECT_EQ(model.num_q(), 7 + 1);  // and the angle of the hinge
  EXPECT_EQ(model.num_v(), 6);
  EXPECT_EQ(model.num_constraints(), 5);
  EXPECT_EQ(model.num_velocity_rows(), 0);
  EXPECT_EQ(model.num_springs(), 0);
  EXPECT_EQ(model.num_fixed_contacts(), 0);
  EXPECT_EQ(model.joint_row_names(), (std::vector<std::string>{"hinge.x", "hinge.y", "hinge.z",
                                                               "hinge.tilt x", "hinge.tilt y"}));
  EXPECT_EQ(model.q_names(),
            (std::vector<std::string>{"link.x", "link.y", "link.z", "link.qw", "link.qx", "link.qy",
                                      "link.qz", "hinge.angle"}));

  const State& start = model.initial_state();
  VectorXd expected_q(8), expected_v(6), theta(5), force(6);
  expected_q << 0, 0, 0.5, 1, 0, 0, 0, 0;
  expected_v << 0, 0, 0, 0, 2, 0;
  EXPECT_EQ(start.q, expected_q);
  EXPECT_EQ(start.v, expected_v);
  model.evaluate_constraints(0, start.q, theta);
  EXPECT_LE(theta.norm(), kRounding);
  model.evaluate_force(0, start.q, start.v, force);
  EXPECT_DOUBLE_EQ(force[2], -9.81);
}

TEST(RigidBodyBuilder, StartOfAPendulumHasNoFaults) {
  Pendulum pendulum = make_pendulum();
  // 0.5 m below the hinge and turning by 2 rad/s about y, the centre moves by −1 m/s along x.
  RigidBodyBuilder world;
  BodyDescription link = pendulum.world.description().bodies[0];
  link.velocity = {-1, 0, 0};
  world.add_body(link);
  world.add_joint(pendulum.world.description().joints[0]);
  EXPECT_TRUE(
      find_start_faults(world.build_model(), world.build_model().initial_state(), 1e-9).empty());
}

TEST(RigidBodyBuilder, GoesOnAfterBuilding) {
  Pendulum pendulum = make_pendulum();
  const auto before = pendulum.world.build();
  pendulum.world.add_joint_spring(pendulum.hinge, {.name = "spiral", .stiffness = {3}});
  const auto after = pendulum.world.build();
  EXPECT_EQ(before->num_springs(), 0);
  EXPECT_EQ(after->num_springs(), 1);
}

TEST(RigidBodyBuilder, NamesWhatHasNoName) {
  RigidBodyBuilder world;
  const BodyDescription body{.name = "", .mass = 1, .inertia = Matrix3d::Identity()};
  const BodyId first = world.add_body(body), second = world.add_body(body);
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
  world.add_joint({.name = "", .bodies = {kWorld, first}}, {});
  EXPECT_EQ(world.add_joint({.name = "", .bodies = {first, second}}, {}), 1);
  world.add_spring({.name = "", .bodies = {first, second}}, {.to = {1, 0, 0}});
  world.add_material({});
  const RigidBodyDescription& d = world.description();
  EXPECT_EQ(d.bodies[1].name, "body 2");
  EXPECT_EQ(d.joints[1].name, "joint 2");
  EXPECT_EQ(d.springs[0].name, "spring 1");
  EXPECT_EQ(d.materials[0].name, "material 1");
  EXPECT_TRUE(find_body_faults(d).empty());
}

TEST(RigidBodyBuilder, MaterialsThatDifferInNameOnlyShareTheirLaws) {
  RigidBodyBuilder world;
  const BodyId body = world.add_body({.name = "body", .mass = 1, .inertia = Matrix3d::Identity()});
  for (int i = 0; i < 3000; ++i) {  // pairs would be nine million
    const MaterialId material =
        world.add_material({.name = "m" + std::to_string(i), .mu = i % 2 == 0 ? 0.25 : 0.64});
    world.add_shape(
        {.body = i < 2 ? kWorld : body, .shape = Sphere{.radius = 1}, .material = material});
  }
  const auto system = world.build();
  EXPECT_EQ(system->laws().size(), 3);
  const auto mu_of = [&](int a, int b) { return system->law_of(a, b, Vector3d::UnitZ()).mu; };
  EXPECT_DOUBLE_EQ(mu_of(0, 2998), 0.25);
  EXPECT_DOUBLE_EQ(mu_of(1, 2999), 0.64);
  EXPECT_DOUBLE_EQ(mu_of(0, 2999), 0.4);
  EXPECT_DOUBLE_EQ(mu_of(1, 2998), 0.4);
}

// A law that nothing can meet by must not refuse a scene, nor be spoken of.
TEST(RigidBodyBuilder, LawsAreThoseOfMaterialsThatMayMeet) {
  const auto names = [](const auto& change) {
    RigidBodyBuilder world;
    const BodyDescription box{.name = "", .mass = 1, .inertia = Matrix3d::Identity()};
    const BodyId first = world.add_body(box), second = world.add_body(box);
    const MaterialId rubber = world.add_material({.name = "rubber", .mu = 0.5, .compliance = 1e-4}),
                     steel = world.add_material({.name = "steel", .mu = 0.2});
    BodyShapeDescription floor{.body = kWorld, .shape = Plane{}, .material = rubber},
        one{.body = first, .shape = Sphere{.radius = 1}, .material = steel},
        other{.body = second, .shape = Sphere{.radius = 1}, .material = steel};
    change(world, floor, one, other);
    for (const BodyShapeDescription& shape : {floor, one, other}) world.add_shape(shape);
    const auto system = world.build();
    std::set<std::string> all;
    for (const ContactInfo* law : system->laws()) all.insert(law->name);
    return all;
  };
  using Names = std::set<std::string>;
  using Builder = RigidBodyBuilder&;
  using Described = BodyShapeDescription&;
  const std::string both = "steel on rubber", steel = "steel on steel", rubber = "rubber on rubber";
  EXPECT_EQ(names([](Builder, Described, Described, Described) {}), (Names{both, steel}));
  EXPECT_EQ(
      names([](Builder, Described, Described one, Described other) { other.body = one.body; }),
      Names{both})
      << "of one body";
  EXPECT_EQ(names([](Builder w, Described, Described, Described) { w.let_pass(0, 1); }),
            Names{both});
  EXPECT_EQ(names([](Builder, Described floor, Described, Described) { floor.mask = 2; }),
            Names{steel});
  EXPECT_EQ(names([](Builder, Described, Described one, Described other) {
              one.group = other.group = 2;
              one.mask = other.mask = 1;
            }),
            Names{both});
  EXPECT_EQ(names([](Builder w, Described, Described, Described) {
              w.add_joint({.name = "j", .type = JointType::kBall, .bodies = {0, 1}}, {});
            }),
            Names{both});
  EXPECT_EQ(names([](Builder, Described floor, Described, Described other) {
              other.material = floor.material;
            }),
            (Names{both, rubber}));
  EXPECT_EQ(names([](Builder, Described floor, Described, Described other) {
              other.material = floor.material;
              other.shape = Plane{};
            }),
            Names{both})
      << "two planes";
}

TEST(RigidBodyBuilder, LawsAreNamedAfterMaterialsThatAreUsed) {
  RigidBodyBuilder world;
  const BodyId body = world.add_body({.name = "b", .mass = 1, .inertia = Matrix3d::Identity()});
  world.add_material({.name = "unused", .mu = 0.5});
  const MaterialId oak = world.add_material({.name = "oak", .mu = 0.5});
  world.add_shape({.body = body, .shape = Sphere{.radius = 1}, .material = oak});
  world.add_shape({.body = kWorld, .shape = Plane{}, .material = oak});
  const auto system = world.build();
  ASSERT_EQ(system->laws().size(), 1);
  EXPECT_EQ(system->laws()[0]->name, "oak on oak");
}

TEST(RigidBodyBuilder, TakesMassFromSolids) {
  // A dumbbell: balls of 0.1 m at ±1 along x, the second of three times the density.
  RigidBodyBuilder world;
  const Sphere ball{.radius = 0.1};
  const std::vector<SolidPart> balls{
      {.shape = ball, .frame = {.position = {-1, 0, 0}}},
      {.shape = ball, .frame = {.position = {1, 0, 0}}, .density = 3000}};
  world.add_body({.name = "as it is"}, balls);
  world.add_body({.name = "scaled", .mass = 8}, balls);
  const double m = 1000 * 4 * pi / 3 * 1e-3;  // of the lighter ball
  const BodyDescription& whole = world.description().bodies[0];
  EXPECT_NEAR(whole.mass, 4 * m, 1e-14 * m);
  EXPECT_LE((whole.center_of_mass - Vector3d(0.5, 0, 0)).norm(), kRounding);
  // About x both balls' own 2/5 m r²; across it also m₁m₂/(m₁ + m₂) d² = 3/4 m · 4.
  const double along = 4 * m * 0.4 * 0.01, across = along + 3 * m;
  const Matrix3d expected = Vector3d(along, across, across).asDiagonal();
  EXPECT_LE((whole.inertia - expected).norm(), kRounding * across);
  const BodyDescription& scaled = world.description().bodies[1];
  EXPECT_EQ(scaled.mass, 8);
  EXPECT_LE((scaled.inertia - expected * (2 / m)).norm(), kRounding * across * (2 / m));
  EXPECT_LE((scaled.center_of_mass - whole.center_of_mass).norm(), kRounding);
  EXPECT_TRUE(find_body_faults(world.description()).empty());
}

TEST(RigidBodyBuilder, RefusesSolidsWithoutMass) {
  RigidBodyBuilder world;
  EXPECT_EQ(message_of([&] { world.add_body({.name = "b"}, {{.shape = Plane{}}}); }),
            "solid of body 'b': plane is unbounded, expected a shape with a volume");
  EXPECT_EQ(message_of([&] { world.add_body({.name = "b"}, std::vector<SolidPart>{}); }),
            "body 'b' has 0 solids, must have at least 1");
  EXPECT_EQ(message_of([&] {
              world.add_body({.name = "b", .inertia = Matrix3d::Identity()},
                             {{.shape = Sphere{.radius = 1}}});
            }),
            "body 'b' has solids and an inertia or center_of_mass of its own, must have one of "
            "them");
  EXPECT_TRUE(world.description().bodies.empty());
}

/// A hinge about z at x = 0, a hinge about z at x = 1 and a slider along y at x = 2.
struct GearBox {
  RigidBodyBuilder world;
  std::array<JointId, 3> joints{};
};

GearBox make_gear_box() {
  GearBox box;
  const BodyDescription wheel{.name = "", .mass = 1, .inertia = Matrix3d::Identity()};
  for (const int i : {0, 1, 2}) {
    BodyDescription body = wheel;
    body.position.x() = i;
    const BodyId id = box.world.add_body(body);
    box.joints[i] = box.world.add_joint(
        {.name = "",
         .type = i < 2 ? JointType::kHinge : JointType::kSlider,
         .bodies = {kWorld, id}},
        {.at = body.position, .axis = i < 2 ? Vector3d::UnitZ() : Vector3d::UnitY()});
  }
  return box;
}

/// Constraints after the wheels have turned and the slider has moved.
VectorXd constraints_after(const RigidBodyBuilder& world, double turn_1, double turn_2,
                           double slide) {
  const auto system = world.build();
  VectorXd v = VectorXd::Zero(18), q(system->num_q());
  v[5] = turn_1;
  v[11] = turn_2;
  v[13] = slide;
  system->displace(system->initial_q(), v, 1, q, nullptr);
  return constraints_at(*system, q);
}

TEST(RigidBodyBuilder, GearsTurnTheSecondByTheRatio) {
  GearBox box = make_gear_box();
  box.world.add_gear("gear", box.joints[0], box.joints[1], -2);
  EXPECT_EQ(box.world.build()->constraints().back().name, "gear");
  EXPECT_LE(constraints_after(box.world, 0.3, -0.6, 0).norm(), kRounding);
  // ratio · angle₁ − angle₂
  EXPECT_NEAR(constraints_after(box.world, 0.3, 0.6, 0)[15], -1.2, kRounding);
}

TEST(RigidBodyBuilder, RacksSlideByRadiusTimesAngle) {
  GearBox box = make_gear_box();
  box.world.add_rack("rack", box.joints[1], box.joints[2], 0.25);
  EXPECT_EQ(box.world.build()->constraints().back().name, "rack");
  EXPECT_LE(constraints_after(box.world, 0, 0.8, 0.2).norm(), kRounding);
  EXPECT_NEAR(constraints_after(box.world, 0, 0.8, 0)[15], 0.2, kRounding);
}

TEST(RigidBodyBuilder, SpringsAreWhereTheyWerePut) {
  Pendulum pendulum = make_pendulum();
  RigidBodyBuilder& world = pendulum.world;
  world.add_spring({.name = "rope",
                    .bodies = {kWorld, pendulum.link},
                    .rest_length = 1,
                    .stiffness = {10},
                    .damping = {0.5}},
                   {.from = {3, 0, 0}, .to = {0, 0, 4}});
  world.add_bushing({.name = "bush",
                     .bodies = {kWorld, pendulum.link},
                     .stiffness = {1, 2, 3, 4, 5, 6},
                     .damping = {0.1}},
                    {.at = {1, 2, 3}, .axis = {1, 1, 0}});
  world.add_joint_spring(pendulum.hinge, {.name = "spiral", .rest = 0.25, .stiffness = {7}});
  const auto system = world.build();
  ASSERT_EQ(system->num_springs(), 1 + 6 + 1);
  VectorXd extension(8), expected(8);
  system->evaluate_springs(0, system->initial_q(), extension);
  expected << 5 - 1, 0, 0, 0, 0, 0, 0, -0.25;
  EXPECT_LE((extension - expected).norm(), kRounding);
  EXPECT_EQ(system->springs()[0].name, "rope");
  EXPECT_EQ(system->springs()[0].damping, 0.5);
  EXPECT_EQ(system->springs()[6].stiffness, 6);
  EXPECT_EQ(system->springs()[6].damping, 0.1);
  EXPECT_EQ(system->springs()[7].name, "spiral");
}

TEST(RigidBodyBuilder, ForcesShapesAndMotionsReachTheSystem) {
  RigidBodyBuilder world;
  const Expression t = world.time();
  const BodyId ball =
      world.add_body({.name = "ball", .position = {0, 0, 3}}, {{.shape = Sphere{.radius = 1}}});
  const BodyId lift = world.add_body(
      {.name = "lift", .motion = Motion::kKinematic, .shift = {0.0, 0.0, 0.5 + 2 * t}});
  world.add_force({.body = ball, .force = {cos(t), 0.0, 0.0}});
  const MaterialId rubber = world.add_material({.name = "rubber", .mu = 0.3, .restitution = 0.5});
  world.add_shape({.body = ball, .shape = Sphere{.radius = 1}, .material = rubber});
  world.add_shape({.body = lift, .shape = Plane{}});
  world.add_distance({.name = "rope", .bodies = {lift, ball}},
                     {.from = {0, 0, 0.5}, .to = {0, 0, 3}});
  const auto system = world.build();
  const VectorXd q = system->initial_q();
  VectorXd force(6);
  std::array<Pose, 2> poses;
  system->place_objects(0.25, q, poses, nullptr);
  EXPECT_NEAR(poses[0].position.z(), 3, kRounding);
  EXPECT_NEAR(poses[1].position.z(), 1, kRounding);
  system->evaluate_applied_force(0, q, system->initial_v(), force);
  EXPECT_EQ(force[0], 1);
  EXPECT_EQ(system->name_of_object(0), "ball");
  EXPECT_EQ(system->law_of(0, 1, Vector3d::UnitZ()).num_tangents, 2);
  EXPECT_EQ(system->law_of(0, 1, Vector3d::UnitZ()).restitution, 0.5);
  EXPECT_EQ(world.description().joints[0].length, 2.5);
  EXPECT_LE(constraints_at(*system, q).norm(), kRounding);
}

TEST(RigidBodyBuilder, BuildThrowsAllFaultsALineEach) {
  EXPECT_EQ(message_of([] { (void)RigidBodyBuilder().build(); }),
            "none of the bodies is dynamic, at least one must be");
  RigidBodyBuilder world;
  const BodyId link = world.add_body({.name = "link", .inertia = Matrix3d::Identity()});
  world.add_joint({.name = "hinge", .bodies = {link, link}, .compliance = -1});
  const std::string expected =
      "mass of body 'link' is 0, must be finite and > 0\n"
      "joint 'hinge' is between body 'link' and itself, must be between two bodies\n"
      "compliance of joint 'hinge' is -1, must be finite and >= 0";
  EXPECT_EQ(message_of([&] { (void)world.build(); }), expected);
  EXPECT_EQ(message_of([&] { (void)world.build_model(); }), expected);
}

}  // namespace
}  // namespace stiction
