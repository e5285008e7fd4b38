// The contacts of the moment: which there are, that their rows are the derivatives of their gaps,
// and that they are known again in the next step.
#include "stiction/contact/contact_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "stiction/base/infinity.h"
#include "stiction/base/random.h"
#include "stiction/geometry/distance.h"
#include "stiction/model/rigid_body_builder.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

/// A body of unit mass and inertia.
BodyDescription make_body(std::string name, const Vector3d& position,
                          const Quaterniond& orientation = Quaterniond::Identity()) {
  return {.name = std::move(name),
          .position = position,
          .orientation = orientation,
          .mass = 1,
          .inertia = Matrix3d::Identity()};
}

/// Two bodies with a shape each; the second is the world's.
ContactModel make_pair(const Shape& shape, const Pose& pose, const Shape& other) {
  RigidBodyBuilder world;
  const BodyId body = world.add_body(make_body("body", pose.position, Quaterniond(pose.rotation)));
  const MaterialId rough = world.add_material({.name = "rough", .mu = 0.5});
  world.add_shape({.body = body, .shape = shape, .material = rough});
  world.add_shape({.body = kWorld, .shape = other});
  return world.build_model();
}

Pose at(const Vector3d& position, double angle = 0, const Vector3d& axis = Vector3d::UnitX()) {
  return {position, Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix()};
}

TEST(ContactModel, TellsWhatFlatRegionsLeaveOut) {
  const Mesh sheet{.vertices = {{-3, -3, 0}, {3, -3, 0}, {3, 3, 0}, {-3, 3, 0}},
                   .triangles = {{0, 1, 2}, {0, 2, 3}}};
  const Box box{Vector3d(1, 1, 1)};
  const ContactModel flat = make_pair(box, at({0, 0, 0.5}), sheet);
  ASSERT_EQ(flat.notes().size(), 1U);
  EXPECT_NE(flat.notes()[0].find("the 2 triangles of"), std::string::npos) << flat.notes()[0];
  EXPECT_NE(flat.notes()[0].find("lie in 1 flat region:"), std::string::npos) << flat.notes()[0];
  Mesh folded = sheet;
  folded.vertices[1].z() = 0.5;
  EXPECT_TRUE(make_pair(box, at({0, 0, 1}), folded).notes().empty());
  EXPECT_TRUE(ContactModel(flat, {.reduces = false}).notes().empty());
}

TEST(ContactModel, WhatHasNotMovedIsKnownAndWhatHasIsFoundAgain) {
  // Contacts are those of a model that has seen nothing before, whichever way the body came.
  ContactModel model = make_pair(Box{Vector3d(1, 1, 1)}, at({0, 0, 0.5}), Plane{});
  const State rest = model.initial_state();
  State tilted = rest, fast = rest;
  tilted.q.segment<4>(3) = Eigen::Vector4d(std::cos(0.1), std::sin(0.1), 0, 0);
  fast.v[2] = -1;
  ContactTouches touches;
  for (const State& state : {rest, rest, tilted, rest, fast, rest, tilted, tilted}) {
    model.detect(state, 1e-3);
    ContactModel fresh = make_pair(Box{Vector3d(1, 1, 1)}, at({0, 0, 0.5}), Plane{});
    fresh.detect(state, 1e-3);
    ASSERT_EQ(model.num_contacts(), fresh.num_contacts());
    VectorXd gaps(model.num_contacts()), expected(fresh.num_contacts());
    model.evaluate_gaps(0, state.q, gaps);
    fresh.evaluate_gaps(0, state.q, expected);
    EXPECT_EQ(gaps, expected);
    model.evaluate_touches(0, state.q, touches);
    for (int j = 0; j < model.num_contacts(); ++j) {
      EXPECT_EQ(model.contact_key(j), fresh.contact_key(j));
      EXPECT_EQ(touches.touches[j].gap, expected[j]);
    }
  }
}

TEST(ContactModel, TouchesOfDrivenShapesFollowTheTime) {
  RigidBodyBuilder world;
  world.add_shape({.body = world.add_body(make_body("ball", Vector3d(0, 0, 1))),
                   .shape = Sphere{.radius = 0.5}});
  const BodyId lift = world.add_body({.name = "lift",
                                      .motion = BodyDescription::Motion::kKinematic,
                                      .shift = {0.0, 0.0, world.time()}});
  world.add_shape({.body = lift, .shape = Sphere{.radius = 0.5}});
  ContactModel model = world.build_model();
  const State state = model.initial_state();
  model.detect(state, 1e-3);
  ASSERT_EQ(model.num_contacts(), 1);
  ContactTouches touches;
  for (const double t : {0.0, 0.125, 0.25}) {
    model.evaluate_touches(t, state.q, touches);
    EXPECT_EQ(touches.touches[0].gap, -t);  // all numbers are exact
  }
}

TEST(ContactModel, FindsWhatIsStaticWhereAnExchangedModelHasIt) {
  const auto make = [](double x) {
    RigidBodyBuilder world;
    const BodyId ball =
        world.add_body(make_body("ball", Vector3d(0.01, 0.02, 0), Quaterniond::Identity()));
    world.add_shape({.body = ball, .shape = Sphere{.radius = 0.5}});
    world.add_shape({.body = kWorld, .shape = Sphere{.radius = 0.5}, .frame = at({x, 0.03, 0.04})});
    return world.build_model();
  };
  ContactModel model = make(5);
  const State state = model.initial_state();
  model.detect(state, 1e-3);
  EXPECT_EQ(model.num_contacts(), 0);
  model.exchange(make(1));
  model.detect(state, 1e-3);
  EXPECT_EQ(model.num_contacts(), 1);
  model.exchange(make(5));
  model.detect(state, 1e-3);
  EXPECT_EQ(model.num_contacts(), 0);
}

TEST(ContactModel, FindsNothingOutOfReachAndTheContactOfABallInReach) {
  ContactModel model = make_pair(Sphere{.radius = 0.5}, at({0, 0, 0.6}), Plane{});
  State state = model.initial_state();
  model.detect(state, 1e-3);
  EXPECT_EQ(model.num_contacts(), 0);
  state.v[2] = -200;  // 0.2 m in the step
  model.detect(state, 1e-3);
  ASSERT_EQ(model.num_contacts(), 1);
  VectorXd gaps(1);
  model.evaluate_gaps(0, state.q, gaps);
  EXPECT_NEAR(gaps[0], 0.1, 1e-15);
  EXPECT_EQ(model.contact_name(0), "body-world");
  EXPECT_EQ(model.contact(0).mu, 0.5);
  EXPECT_EQ(model.contact(0).num_tangents, 2);
  const System::ContactPlace place = model.locate_contact(state, 0);
  EXPECT_EQ(place.a, 0);
  EXPECT_EQ(place.b, kWorld);
  EXPECT_NEAR(place.normal[2], 1, 1e-15);
}

TEST(ContactModel, ACubeOnAPlaneHasItsFourCornersFromTheFirstStep) {
  ContactModel model = make_pair(Box{.size = {1, 1, 1}}, at({0, 0, 0.5}), Plane{});
  model.detect(model.initial_state(), 1e-3);
  EXPECT_EQ(model.num_contacts(), 4);
  VectorXd gaps(4);
  model.evaluate_gaps(0, model.initial_state().q, gaps);
  EXPECT_LE(gaps.lpNorm<Eigen::Infinity>(), 1e-15);
}

TEST(ContactModel, KeysStayWhereFeaturesDo) {
  ContactModel model = make_pair(Box{.size = {1, 1, 1}}, at({0, 0, 0.5}), Plane{});
  State state = model.initial_state();
  const auto keys = [&] {
    model.detect(state, 1e-3);
    std::set<std::uint64_t> all;
    for (int j = 0; j < model.num_contacts(); ++j) all.insert(model.contact_key(j));
    return all;
  };
  const std::set<std::uint64_t> first = keys();
  EXPECT_EQ(first.size(), 4u);
  Random random(3);
  for (int k = 0; k < 100; ++k) {
    VectorXd move(6);
    for (double& x : move) x = random.uniform(-1e-7, 1e-7);
    model.displace(model.initial_state().q, move, 1, state.q);
    EXPECT_EQ(keys(), first);
  }
  for (const std::uint64_t key : first) {
    EXPECT_GT(static_cast<std::int64_t>(key), 0);
    EXPECT_GE(key, std::uint64_t{1} << 62) << "never that of a named contact";
  }
}

struct PairCase {
  std::string name;
  Shape shape;
  Pose pose;
  Shape other;
};

std::vector<PairCase> pair_cases() {
  const Box box{.size = {1, 0.8, 0.6}};
  const Box slab{.size = {4, 4, 1}};
  return {
      {"SphereOnPlane", Sphere{.radius = 0.5}, at({0.1, 0.2, 0.5}, 0.3), Plane{}},
      {"SphereOnSphere", Sphere{.radius = 0.5}, at({0.6, 0.8, 0}, 0.3), Sphere{.radius = 0.5}},
      {"EllipsoidOnPlane", Ellipsoid{.radii = {0.5, 0.4, 0.3}}, at({0, 0, 0.35}, 0.4), Plane{}},
      {"CapsuleOnBox", Capsule{.radius = 0.2, .length = 1}, at({0, 0, 0.7}, 1.6), slab},
      {"BoxOnPlane", box, at({0, 0, 0.3}, 1e-3), Plane{}},
      {"BoxOnBox", box, at({0.3, 0.1, 0.8}, 1e-3), slab},
      {"EdgeOnEdge", box, at({0, 2, 0.9}, 0.7, {1, 0.2, 1}), slab},
      {"CylinderOnPlane", Cylinder{.radius = 0.3, .length = 1}, at({0, 0, 0.5}, 1e-3), Plane{}},
      {"CylinderTilted", Cylinder{.radius = 0.3, .length = 1}, at({0, 0, 0.6}, 0.4), Plane{}},
      {"BoxOnMesh", box, at({0.3, 0.2, 0.3}, 1e-3),
       Mesh{.vertices = {{-3, -3, 0}, {3, -3, 0}, {3, 3, 0}, {-3, 3, 0}},
            .triangles = {{0, 1, 2}, {0, 2, 3}}}},
      {"SphereOnHeightField", Sphere{.radius = 0.5}, at({0.3, 0.4, 0.5}, 0.1),
       HeightField{.size = {4, 4}, .heights = Eigen::MatrixXd::Zero(3, 3)}},
  };
}

class PairRows : public ::testing::TestWithParam<PairCase> {};
INSTANTIATE_TEST_SUITE_P(Shapes, PairRows, ::testing::ValuesIn(pair_cases()),
                         [](const auto& info) { return info.param.name; });

// Central differences of step d miss by d²/6 times the third derivative, and by rounding over d.
TEST_P(PairRows, AreTheDerivativesOfTheGaps) {
  const PairCase& c = GetParam();
  ContactModel model = make_pair(c.shape, c.pose, c.other);
  State state = model.initial_state();
  model.detect(state, 0.1);  // falls by 0 m, but reaches 1e-3 of its size
  Random random(1);
  VectorXd v(6);
  for (double& x : v) x = random.uniform(-1, 1);
  state.v = 10 * v;
  model.detect(state, 0.1);
  ASSERT_GT(model.num_contacts(), 0);
  VectorXd q(7), up(model.num_contacts()), down(model.num_contacts());
  constexpr double kStep = 1e-5;
  model.displace(state.q, v, kStep, q);
  model.evaluate_gaps(0, q, up);
  model.displace(state.q, v, -kStep, q);
  model.evaluate_gaps(0, q, down);
  state.v = v;
  ContactEvaluator evaluator;
  int num_finite = 0;
  for (int j = 0; j < model.num_contacts(); ++j) {
    if (std::isinf(up[j]) || std::isinf(down[j])) continue;
    ++num_finite;
    EXPECT_NEAR(evaluator.compute_gap_rate(model, state, j), (up[j] - down[j]) / (2 * kStep), 1e-7)
        << "contact " << j;
  }
  EXPECT_GT(num_finite, 0);
}

TEST(ContactModel, TangentsAreThoseOfTheRelativeVelocity) {
  ContactModel model = make_pair(Sphere{.radius = 0.5}, at({0, 0, 0.5}), Plane{});
  State state = model.initial_state();
  model.detect(state, 1e-3);
  ASSERT_EQ(model.num_contacts(), 1);
  // Rolls along x: the velocity at the contact vanishes. (Angular velocity about y.)
  state.v << 1, 0, 0, 0, 2, 0;
  ContactEvaluator evaluator;
  EXPECT_NEAR(evaluator.compute_slip_speed(model, state, 0), 0, 1e-15);
  state.v << 1, 0, 0, 0, -2, 0;
  EXPECT_NEAR(evaluator.compute_slip_speed(model, state, 0), 2, 1e-15);
}

TEST(ContactModel, BeltsDriveWhatLiesOnThem) {
  RigidBodyBuilder world;
  const BodyId ball = world.add_body(make_body("ball", {0, 0, 0.5}));
  const MaterialId rough = world.add_material({.name = "rough", .mu = 0.5});
  world.add_shape({.body = ball, .shape = Sphere{.radius = 0.5}, .material = rough});
  world.add_shape({.name = "belt",
                   .body = kWorld,
                   .shape = Plane{},
                   .frame = at({0, 0, 0}, std::numbers::pi / 2, Vector3d::UnitZ()),
                   .surface_velocity = {3, 0, 0.7}});
  ContactModel model = world.build_model();
  State state = model.initial_state();
  model.detect(state, 1e-3);
  ASSERT_EQ(model.num_contacts(), 1);
  // The belt's x is the world's y; across the surface it does not move.
  state.v << 0, 3, 0, 0, 0, 0;
  ContactEvaluator evaluator;
  EXPECT_NEAR(evaluator.compute_slip_speed(model, state, 0), 0, 1e-14);
  EXPECT_NEAR(evaluator.compute_gap_rate(model, state, 0), 0, 1e-15);
}

TEST(ContactModel, MaterialsCombine) {
  RigidBodyBuilder world;
  const BodyId ball = world.add_body(make_body("ball", {0, 0, 0.5}));
  const MaterialId a = world.add_material(
      {.name = "a", .mu = 0.2, .restitution = 0.9, .restitution_tangential = 0.1, .compliance = 1});
  const MaterialId b = world.add_material(
      {.name = "b", .mu = 0.8, .restitution = 0.3, .restitution_tangential = 0.4, .compliance = 2});
  const MaterialId c = world.add_material({.name = "c", .mu = 1});
  world.set_material_pair(c, a, {.mu = 0.07, .restitution = 0.6});
  const int ball_shape =
      world.add_shape({.body = ball, .shape = Sphere{.radius = 0.5}, .material = a});
  const int of_b = world.add_shape({.shape = Plane{}, .material = b});
  const int of_c = world.add_shape({.shape = Plane{}, .material = c});
  const int of_none = world.add_shape({.shape = Plane{}});
  const auto system = world.build();
  const auto law = [&](int other) { return system->law_of(ball_shape, other, Vector3d::UnitZ()); };
  EXPECT_NEAR(law(of_b).mu, 0.4, 1e-15);
  EXPECT_EQ(law(of_b).restitution, 0.3);
  EXPECT_EQ(law(of_b).restitution_tangential, 0.1);
  EXPECT_EQ(law(of_b).compliance, 3);
  EXPECT_EQ(law(of_c).mu, 0.07);
  EXPECT_EQ(law(of_c).restitution, 0.6);
  EXPECT_EQ(law(of_none).mu, 0.2);
}

TEST(ContactModel, FiltersLetBodiesPass) {
  const auto count = [](const auto& change) {
    RigidBodyBuilder world;
    const BodyId a = world.add_body(make_body("a", {0, 0, 0})),
                 b = world.add_body(make_body("b", {0, 0, 1}));
    BodyShapeDescription first{.body = a, .shape = Sphere{.radius = 0.5}},
        second{.body = b, .shape = Sphere{.radius = 0.5}};
    change(world, first, second);
    world.add_shape(first);
    world.add_shape(second);
    ContactModel model = world.build_model();
    model.detect(model.initial_state(), 1e-3);
    return model.num_contacts();
  };
  using Builder = RigidBodyBuilder&;
  using Described = BodyShapeDescription&;
  EXPECT_EQ(count([](Builder, Described, Described) {}), 1);
  EXPECT_EQ(count([](Builder, Described, Described s) { s.body = 0; }), 0) << "the same body";
  EXPECT_EQ(count([](Builder w, Described, Described) { w.let_pass(1, 0); }), 0);
  EXPECT_EQ(count([](Builder, Described s, Described) { s.mask = 2; }), 0);
  EXPECT_EQ(count([](Builder, Described s, Described o) {
              s.mask = 2;
              o.group = 2;
            }),
            1);
  EXPECT_EQ(count([](Builder w, Described, Described) {
              w.add_joint({.name = "j", .type = JointType::kBall, .bodies = {0, 1}}, {});
            }),
            0);
  EXPECT_EQ(count([](Builder w, Described, Described) {
              w.add_joint(
                  {.name = "j", .type = JointType::kBall, .bodies = {0, 1}, .bodies_touch = true},
                  {});
            }),
            1);
  EXPECT_EQ(count([](Builder w, Described, Described) {
              w.let_pass(0, 1);
              w.add_joint(
                  {.name = "j", .type = JointType::kBall, .bodies = {0, 1}, .bodies_touch = true},
                  {});
            }),
            0)
      << "joints do not overrule what is said of the bodies themselves";
}

TEST(ContactModel, LooksFurtherForWhatMovedFurther) {
  ContactModel model = make_pair(Sphere{.radius = 0.5}, at({0, 0, 5}), Plane{});
  State state = model.initial_state(), end = state;
  model.detect(state, 1e-3);
  EXPECT_FALSE(model.detect_further(state, 1e-3, end));
  EXPECT_EQ(model.num_contacts(), 0);
  end.q[2] = -1;  // hit by something
  EXPECT_TRUE(model.detect_further(state, 1e-3, end));
  EXPECT_EQ(model.num_contacts(), 1);
  EXPECT_FALSE(model.detect_further(state, 1e-3, end));
}

// The corner of one box beside the edge of another: a motion up or sideways parts them, and either
// is good enough.
// The ball is 5 m from where the body of the plane is, and 0.2 m over the plane.
TEST(ContactModel, PlanesReachAsFarAsTheyTurn) {
  ContactModel model = make_pair(Plane{}, at({5, 0, -0.7}), Sphere{.radius = 0.5});
  State state = model.initial_state();
  model.detect(state, 1e-2);
  EXPECT_EQ(model.num_contacts(), 0);
  state.v[4] = 5;  // 0.25 m at the ball within the step
  model.detect(state, 1e-2);
  EXPECT_EQ(model.num_contacts(), 1);

  state.v.setZero();
  model.detect(state, 1e-2);
  State end = state;
  VectorXd turn = VectorXd::Zero(6);
  turn[4] = 0.05;
  model.displace(state.q, turn, 1, end.q);
  EXPECT_TRUE(model.detect_further(state, 1e-2, end));
  EXPECT_EQ(model.num_contacts(), 1);
}

TEST(ContactModel, OfAlternativesTheOneWithTheLargestSeparationCounts) {
  ContactModel model =
      make_pair(Box{.size = {1, 1, 1}}, at({0.99, 0, 0.98}), Box{.size = {1, 1, 1}});
  State state = model.initial_state();
  state.v << -10, 0, -10, 0, 0, 0;
  model.detect(state, 1e-2);
  EXPECT_FALSE(model.has_alternatives()) << "unless one wants them";
  model.detect(state, 1e-2, true);
  const auto finite_smallest = [&](const Vector3d& position) {
    VectorXd q = state.q, gaps(model.num_contacts());
    q.head<3>() = position;
    model.evaluate_gaps(0, q, gaps);
    double smallest = 1e300;
    bool has_infinite = false;
    for (const double gap : gaps) {
      has_infinite = has_infinite || std::isinf(gap);
      smallest = std::min(smallest, gap);
    }
    EXPECT_TRUE(has_infinite);
    return smallest;
  };
  // Overlaps by 0.01 along x and by 0.02 along z.
  EXPECT_NEAR(finite_smallest({0.99, 0, 0.98}), -0.01, 1e-12);
  EXPECT_NEAR(finite_smallest({0.96, 0, 0.98}), -0.02, 1e-12);
  EXPECT_NEAR(finite_smallest({0.96, 0, 1.03}), 0.03, 1e-12);
  EXPECT_NEAR(finite_smallest({1.05, 0, 0.9}), 0.05, 1e-12);
}

// The gap of two edges, as lines without ends, may open while the boxes meet: their common normal
// turns fast where they are nearly parallel, and parts nothing any more. What is left are turns
// after which the features of no patch face each other.
TEST(ContactModel, AlternativesDoNotHideOverlaps) {
  Random random(41);
  int num_overlaps = 0, num_hidden = 0;
  const int num_cases = testing::fewer_sanitized(20000, 100);
  for (int k = 0; k < num_cases; ++k) {
    const Box box{.size = {0.1, 0.02, 0.02}};
    const auto draw = [&] { return random.normal(); };
    Pose pose{0.04 * Vector3d::NullaryExpr(draw),
              Quaterniond(Eigen::Vector4d::NullaryExpr(draw)).normalized().toRotationMatrix()};
    const CollisionShape shape{box};
    const SignedDistance start = compute_distance(shape, pose, shape, Pose{});
    pose.position -= (start.gap - random.uniform(0, 1e-3)) * start.normal;
    ContactModel model = make_pair(box, pose, box);
    State state = model.initial_state();
    state.v = VectorXd::NullaryExpr(6, [&] { return random.uniform(-1, 1); });
    state.v.tail<3>() *= 20;
    const double h = 2e-3;
    model.detect(state, h, true);
    VectorXd q(state.q.size()), gaps(model.num_contacts());
    model.displace(state.q, state.v, h, q);
    const Pose end{q.head<3>(), Quaterniond(q[3], q[4], q[5], q[6]).toRotationMatrix()};
    const double depth = -compute_distance(shape, end, shape, Pose{}).gap;
    if (depth < 1e-6) continue;
    ++num_overlaps;
    model.evaluate_gaps(state.t + h, q, gaps);
    ASSERT_GT(gaps.size(), 0) << k;
    if (!(gaps.minCoeff() < 0)) ++num_hidden;
  }
  EXPECT_GT(num_overlaps, num_cases / 4);
  EXPECT_LT(num_hidden, 0.002 * num_overlaps);
}

// Whatever turns away in a step: who looks at the end of it sees the overlap of the shapes, and the
// contacts that they get then show it.
TEST(ContactModel, OverlapsThatNoContactShowsGetTheContactsOfTheEnd) {
  const std::vector<Shape> shapes{
      Box{.size = {0.1, 0.02, 0.02}}, Cylinder{.radius = 0.01, .length = 0.1},
      Capsule{.radius = 0.01, .length = 0.08}, Ellipsoid{.radii = {0.05, 0.02, 0.01}}, Plane{}};
  Random random(43);
  int num_overlaps = 0;
  const int num_cases = testing::fewer_sanitized(5000, 20);
  for (int k = 0; k < num_cases; ++k) {
    const auto draw = [&] { return random.normal(); };
    const Shape &a = shapes[k % 4], &b = shapes[k / 4 % 5];
    const CollisionShape shape_a{a}, shape_b{b};
    Pose pose{0.04 * Vector3d::NullaryExpr(draw),
              Quaterniond(Eigen::Vector4d::NullaryExpr(draw)).normalized().toRotationMatrix()};
    const SignedDistance start = compute_distance(shape_a, pose, shape_b, Pose{});
    pose.position -= (start.gap - random.uniform(0, 1e-3)) * start.normal;
    ContactModel model = make_pair(a, pose, b);
    State state = model.initial_state();
    state.v = VectorXd::NullaryExpr(6, [&] { return random.uniform(-1, 1); });
    state.v.tail<3>() *= 100;
    State end = state;
    end.t = 2e-3;
    model.displace(state.q, state.v, end.t, end.q);
    model.detect(state, end.t, true);
    const Pose pose_end{end.q.head<3>(),
                        Quaterniond(end.q[3], end.q[4], end.q[5], end.q[6]).toRotationMatrix()};
    const double distance = compute_distance(shape_a, pose_end, shape_b, Pose{}).gap;
    const bool overlaps = distance < -1e-8;
    if (!overlaps && distance < 1e-8) continue;  // either answer is right

    std::vector<char> is_asked(model.num_contacts(), 0);
    const double hidden = model.find_hidden_overlaps(end, is_asked, 0);
    ASSERT_EQ(hidden, overlaps ? distance : kInfinity) << k;
    ASSERT_EQ(model.detect_hidden(state, end.t, end), overlaps) << k;
    if (!overlaps) continue;
    ++num_overlaps;
    VectorXd gaps(model.num_contacts());
    model.evaluate_all_gaps(end.t, end.q, gaps);
    EXPECT_NEAR(gaps.minCoeff(), distance, 1e-9) << k;
    std::set<std::uint64_t> keys;
    for (int j = 0; j < model.num_contacts(); ++j) keys.insert(model.contact_key(j));
    EXPECT_EQ(static_cast<int>(keys.size()), model.num_contacts()) << k;
    is_asked.assign(model.num_contacts(), 1);
    EXPECT_EQ(model.find_hidden_overlaps(end, is_asked, 0), kInfinity) << k;
  }
  EXPECT_GT(num_overlaps, num_cases / 4);
}

TEST(ContactModel, InThePlaneThereIsOneTangent) {
  RigidBodyBuilder world;
  BodyDescription disc = make_body("disc", {0, 0, 0.5});
  disc.free_axes = {true, false, true, false, true, false};
  const MaterialId rough = world.add_material({.name = "rough", .mu = 0.5});
  world.add_shape(
      {.body = world.add_body(disc), .shape = Sphere{.radius = 0.5}, .material = rough});
  world.add_shape({.shape = Plane{}});
  ContactModel model = world.build_model();
  model.detect(model.initial_state(), 1e-3);
  ASSERT_EQ(model.num_contacts(), 1);
  EXPECT_EQ(model.contact(0).num_tangents, 1);
}

}  // namespace
}  // namespace stiction
