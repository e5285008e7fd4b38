// Forces and torques that turn with the bodies they act on, beyond ball joints: cables of masses on
// lines, beams whose joints yield, drive shafts under torque; and those that need nothing: welded
// beams, hinges, motors and gears.                                                           (T28)
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/gravity.h"

namespace stiction::testing {
namespace {

using Eigen::Vector3d;

constexpr double kStep = 1.0 / 60, kLength = 0.2, kRadius = 0.02;

struct TurningRun {
  double gap = 0;    // [m] largest error of a joint
  double gain = 0;   // [J] largest energy above the start, work of applied forces taken off
  double loss = 0;   // [J] at the end
  double speed = 0;  // [rad/s] largest of a body
  double residual = 0;
  State end;
};

/// Ends early once `lost` [J] have been gained.
TurningRun run_turning(const Model& model, const SpookOptions& options, double duration,
                       double lost = std::numeric_limits<double>::infinity()) {
  Simulation simulation(model, {.scheme = "spook",
                                .h = kStep,
                                .tolerance = 1e-8,
                                .on_failure = OnFailure::kAcceptAndFlag,
                                .stepping = {.spook = options}});
  TurningRun run;
  const double start = simulation.energy().now.total();
  const int num_steps = static_cast<int>(std::lround(duration / kStep));
  for (int n = 0; n < num_steps; ++n) {
    simulation.step();
    run.loss = start + simulation.energy().applied - simulation.energy().now.total();
    run.gain = std::max(run.gain, -run.loss);
    for (Eigen::Index i = 3; i < simulation.state().v.size(); i += 6)
      run.speed = std::max(run.speed, simulation.state().v.segment<3>(i).norm());
    if (!(run.gain < lost)) break;
  }
  run.gap = simulation.summary().joint_error_max;
  run.residual = simulation.summary().residual_max;
  run.end = simulation.state();
  return run;
}

BodyDescription make_link(int i) {
  const double across = kLength * kLength / 12 + kRadius * kRadius / 4;
  return {.name = "link " + std::to_string(i),
          .position = {(i + 0.5) * kLength, 0, 0},
          .mass = 1,
          .inertia = Vector3d(kRadius * kRadius / 2, across, across).asDiagonal()};
}

BodyDescription make_load(double mass, const Vector3d& at) {
  return {.name = "load",
          .position = at,
          .mass = mass,
          .inertia = 0.4 * mass * 0.3 * 0.3 * Eigen::Matrix3d::Identity()};
}

// -------------------------------------------------------------------------------------------------
// Lines

/// Masses of 1 kg on lines of 0.2 m along +x, released horizontally, with a load at the end.
Model make_cable(int masses, double load, double stiffness = 0) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  for (int i = 0; i <= masses; ++i) {
    const Vector3d from(i * kLength, 0, 0), to((i + 1) * kLength, 0, 0);
    world.add_body(i < masses ? BodyDescription{.name = "mass " + std::to_string(i),
                                                .position = to,
                                                .mass = 1,
                                                .inertia = 1e-3 * Eigen::Matrix3d::Identity()}
                              : make_load(load, to));
    if (stiffness > 0)
      world.add_spring({.name = "spring " + std::to_string(i),
                        .bodies = {i - 1, i},
                        .rest_length = kLength,
                        .stiffness = {stiffness}},
                       {from, to});
    else
      world.add_distance({.name = "line " + std::to_string(i), .bodies = {i - 1, i}}, {from, to});
  }
  return world.build_model();
}

/// Where a pendulum is that was released horizontally; leapfrog, right to 1e-6.
Vector3d pendulum_at(double length, double time) {
  constexpr int kSteps = 10000;
  double angle = 0, rate = 0;
  for (int n = 0; n < kSteps; ++n) {
    rate -= time / kSteps / 2 * kGravity / length * std::cos(angle);
    angle += time / kSteps * rate;
    rate -= time / kSteps / 2 * kGravity / length * std::cos(angle);
  }
  return length * Vector3d(std::cos(angle), 0, std::sin(angle));
}

class HeavyCable : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Loads, HeavyCable, ::testing::Values(1e3, 1e6));

TEST_P(HeavyCable, OfMassesOnLinesStaysTogether) {
  // The same figures as for a chain of links, which is the same machine (HeavyChain).
  const double scale = GetParam() * kGravity * 21 * kLength;
  const TurningRun run = run_turning(make_cable(20, GetParam()), {}, 3);
  EXPECT_LT(run.gap, 5e-3);
  EXPECT_LE(run.gain, 0);
  EXPECT_LT(run.loss, 0.05 * scale);
  EXPECT_LT(run.residual, 1e-8);
  // Loads so heavy that the cable weighs nothing beside them swing as a pendulum does.
  const TurningRun first = run_turning(make_cable(20, GetParam()), {}, 1);
  EXPECT_LT((first.end.q.segment<3>(7 * 20) - pendulum_at(21 * kLength, 1)).norm(),
            0.02 * 21 * kLength);
}

TEST_P(HeavyCable, ComesApartWithoutGeometricStiffness) {
  // h²T/(m l) is 14 and more: above 1 a mass between two lines is unstable.
  EXPECT_GT(run_turning(make_cable(20, GetParam()), {.geometric_stiffness = false}, 3).gap, 0.1);
}

TEST_P(HeavyCable, IsClosedByPositionIteration) {
  // As HeavyChain, whose links converge as fast.
  const double scale = GetParam() * kGravity * 21 * kLength;
  const TurningRun run = run_turning(make_cable(20, GetParam()), {.position_iteration = true}, 3);
  EXPECT_LT(run.gap, 1e-6);
  EXPECT_LE(run.gain, 1e-9 * scale);
  EXPECT_LT(run.loss, 0.002 * scale);
  EXPECT_LT(run.residual, 1e-8);
}

TEST(SpringCable, GainsNothing) {
  const Model cable = make_cable(20, 1e3, 1e6);
  const double scale = 1e3 * kGravity * 21 * kLength;
  const TurningRun run = run_turning(cable, {}, 3);
  EXPECT_LE(run.gain, 0);
  EXPECT_LT(run.loss, 0.05 * scale);
  EXPECT_GT(run_turning(cable, {.geometric_stiffness = false}, 3, scale).gain, 0);
}

TEST(TautLine, WithLittleTensionIsLeftAlone) {
  // h²T/(m l) = h²·3g/l = 0.01, far below ½: not a bit differs.
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  const BodyId bob = world.add_body(make_load(1, {1, 0, 0}));
  world.add_distance({.name = "rod", .bodies = {kWorld, bob}}, {{0, 0, 0}, {1, 0, 0}});
  const TurningRun with = run_turning(world.build_model(), {}, 2);
  const TurningRun without = run_turning(world.build_model(), {.geometric_stiffness = false}, 2);
  EXPECT_EQ((with.end.q - without.end.q).norm(), 0);
}

// -------------------------------------------------------------------------------------------------
// Torques through joints that yield

enum class Beam { kCompliant, kBushing };

/// A cantilever of links along +x whose joints yield without damping, under a load to the side.
Model make_beam(Beam kind, int links, double load, double stiffness) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  for (int i = 0; i < links; ++i) world.add_body(make_link(i));
  world.add_body(make_load(load, {links * kLength, 0.5, 0}));
  for (int i = 0; i <= links; ++i) {
    const JointPlacement place{.at = {i * kLength, 0, 0}, .axis = {1, 0, 0}};
    if (kind == Beam::kCompliant)
      world.add_joint({.name = "joint " + std::to_string(i),
                       .type = JointType::kFixed,
                       .bodies = {i - 1, i},
                       .compliance = 1 / stiffness},
                      place);
    else
      world.add_bushing({.name = "bushing " + std::to_string(i),
                         .bodies = {i - 1, i},
                         .stiffness = {1e8, 1e8, 1e8, stiffness, stiffness, stiffness},
                         .damping = {0, 0, 0, 0, 0, 0}},
                        place);
  }
  return world.build_model();
}

struct BeamCase {
  const char* name;
  Beam kind;
  double load, stiffness;
};

class UndampedBeam : public ::testing::TestWithParam<BeamCase> {};
INSTANTIATE_TEST_SUITE_P(Joints, UndampedBeam,
                         ::testing::Values(BeamCase{"compliant", Beam::kCompliant, 10, 1e5},
                                           BeamCase{"soft", Beam::kCompliant, 10, 1e4},
                                           BeamCase{"bushings", Beam::kBushing, 10, 1e5},
                                           BeamCase{"soft bushings", Beam::kBushing, 10, 1e4},
                                           BeamCase{"heavy", Beam::kBushing, 1e3, 1e7}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST_P(UndampedBeam, CarriesTorquesWithoutGainingEnergy) {
  // Joints carry m g L, h²τ/I is 30 … 3,000. An undamped oscillator keeps ½v² + ½ω²x² in the mean
  // only: of the beam's work in bending, some percent of m g L, as much may appear to be gained.
  const BeamCase& c = GetParam();
  const double scale = c.load * kGravity * 20 * kLength;
  const Model beam = make_beam(c.kind, 20, c.load, c.stiffness);
  const TurningRun run = run_turning(beam, {}, 3);
  EXPECT_LT(run.gain, 0.02 * scale);
  EXPECT_LT(run.loss, 0.03 * scale);
  EXPECT_LT(run.residual, 1e-8);
  EXPECT_GT(run_turning(beam, {.geometric_stiffness = false}, 3, 2 * scale).gain, scale);
  if (c.load > 100) return;  // iterated it takes minutes
  const TurningRun fine = run_turning(beam, {.position_iteration = true}, 1);
  const TurningRun first = run_turning(beam, {}, 1);
  EXPECT_LT((first.end.q.segment<3>(7 * 20) - fine.end.q.segment<3>(7 * 20)).norm(), 0.1);
}

/// A shaft along +x of links on universal joints, which bend against springs without damping; its
/// far end runs in a bearing and is turned by a torque, the other one is held.
Model make_shaft(double torque, double bending) {
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -0.1});
  constexpr int kLinks = 10;
  for (int i = 0; i < kLinks; ++i) world.add_body(make_link(i));
  const BodyId wheel = world.add_body(make_load(100, {kLinks * kLength, 0, 0}));
  for (int i = 0; i <= kLinks; ++i) {
    const JointId joint = world.add_joint(
        {.name = "joint " + std::to_string(i), .type = JointType::kUniversal, .bodies = {i - 1, i}},
        {.at = {i * kLength, 0, 0}, .axis = {0, 1, 0}, .axis2 = {0, 0, 1}});
    for (const JointCoordinate coordinate : {JointCoordinate::kAngleX, JointCoordinate::kAngleY})
      world.add_joint_spring(
          joint, {.name = "spring " + std::to_string(world.description().springs.size()),
                  .coordinate = coordinate,
                  .stiffness = {bending}});
  }
  world.add_joint({.name = "bearing", .type = JointType::kCylindrical, .bodies = {kWorld, wheel}},
                  {.at = {kLinks * kLength, 0, 0}, .axis = {1, 0, 0}});
  world.add_force({.body = wheel, .torque = {torque, 0.0, 0.0}});
  return world.build_model();
}

TEST(DriveShaft, StaysStraightBelowItsBucklingTorque) {
  // Bending springs of 10⁴ N m/rad hold up to about that torque. Links have I = 0.0034 kg m²:
  // h²τ/I is 8 and 80. It sags by less than 0.01 rad under a hundredth of gravity.
  for (const double torque : {100.0, 1000.0}) {
    SCOPED_TRACE(torque);
    const TurningRun run = run_turning(make_shaft(torque, 1e4), {}, 3);
    EXPECT_LT(run.speed, 0.01);
    EXPECT_LT(run.gap, 1e-5);
    EXPECT_LE(run.gain, 1e-6 * torque);
    EXPECT_GT(run_turning(make_shaft(torque, 1e4), {.geometric_stiffness = false}, 3).speed, 1);
  }
}

// -------------------------------------------------------------------------------------------------
// What needs nothing

TEST(WeldedBeam, OfLightLinksCarriesAHeavyLoadToTheSide) {
  // Rigid rows leave the links one rotation in common, for which their torques cancel.
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  constexpr int kLinks = 50;
  for (int i = 0; i < kLinks; ++i) world.add_body(make_link(i));
  world.add_body(make_load(1e6, {kLinks * kLength, 0.5, 0}));
  world.add_joint({.name = "hinge", .type = JointType::kHinge, .bodies = {kWorld, 0}},
                  {.at = {0, 0, 0}, .axis = {0, 1, 0}});
  for (int i = 1; i <= kLinks; ++i)
    world.add_joint(
        {.name = "weld " + std::to_string(i), .type = JointType::kFixed, .bodies = {i - 1, i}},
        {.at = {i * kLength, 0, 0}});
  const TurningRun run = run_turning(world.build_model(), {}, 3);
  EXPECT_LT(run.gap, 5e-3);
  EXPECT_LE(run.gain, 0);
  EXPECT_LT(run.loss, 0.01 * 1e6 * kGravity * kLinks * kLength);
}

/// Twenty links along x that carry 1,000 kg `aside` of the line, with joints about y. Alternating,
/// every second joint has its bodies the other way round.
Model make_chain(JointType type, double aside, bool alternates) {
  constexpr int kLinks = 20;
  RigidBodyBuilder world;
  world.set_gravity({0, 0, -kGravity});
  for (int i = 0; i < kLinks; ++i) world.add_body(make_link(i));
  world.add_body(make_load(1000, {kLinks * kLength, aside, 0}));
  for (int i = 0; i <= kLinks; ++i) {
    std::array<int, 2> bodies{i - 1, i};
    if (alternates && i % 2 == 1) std::swap(bodies[0], bodies[1]);
    world.add_joint({.name = "joint " + std::to_string(i), .type = type, .bodies = bodies},
                    {.at = {i * kLength, 0, 0}, .axis = {0, 1, 0}});
  }
  return world.build_model();
}

TEST(HingeChain, MovesAsIfALoadToTheSideWereInItsPlane) {
  // The rows that keep axes parallel carry 1,000 kg at 0.5 m; torques across an axis do no work
  // for turns about it. h²τ/I is 400.
  const TurningRun aside = run_turning(make_chain(JointType::kHinge, 0.5, false), {}, 3),
                   within = run_turning(make_chain(JointType::kHinge, 0, false), {}, 3);
  EXPECT_LT(aside.gap, 5e-3);
  EXPECT_LE(aside.gain, 0);
  const Vector3d shift = aside.end.q.segment<3>(7 * 20) - within.end.q.segment<3>(7 * 20);
  // Rows yield to 10⁻¹⁰ of their load; the chain multiplies that by its lengths over 180 steps.
  EXPECT_LT((shift - Vector3d(0, 0.5, 0)).norm(), 1e-4);
}

TEST(CylindricalChain, DoesNotCareWhichBodyOfAJointIsTheFirst) {
  // Forces along axes of the first body pull at it as at the second. Links that are the first body
  // of both of their joints had no stiffness at all.
  const TurningRun same = run_turning(make_chain(JointType::kCylindrical, 0, false), {}, 3),
                   alternating = run_turning(make_chain(JointType::kCylindrical, 0, true), {}, 3);
  EXPECT_LT(same.gap, 5e-3);
  EXPECT_LT(alternating.gap, 5e-3);
  EXPECT_LE(alternating.gain, 0);
  // Joints open by less than a millimetre along other axes.
  EXPECT_LT((same.end.q.segment<3>(7 * 20) - alternating.end.q.segment<3>(7 * 20)).norm(), 0.05);
}

TEST(StrongMotor, AndGearsOnLightShaftsNeedNothing) {
  // Efforts along angles are constant in joint coordinates: τ t/(I + n²I_wheel) to rounding, for
  // h²τ/I of 3·10⁵ about shafts of 10⁻³ kg m².
  constexpr double kTorque = 1e6, kRatio = -3, kLight = 1e-3, kHeavy = 1e4;
  for (const bool is_on : {true, false}) {
    SCOPED_TRACE(is_on ? "with geometric stiffness" : "without");
    RigidBodyBuilder world;
    const Eigen::Matrix3d light = kLight * Eigen::Matrix3d::Identity();
    const BodyId shaft = world.add_body({.name = "shaft", .mass = 1, .inertia = light}),
                 wheel = world.add_body({.name = "wheel",
                                         .position = {1, 0, 0},
                                         .mass = 1e4,
                                         .inertia = kHeavy * Eigen::Matrix3d::Identity()});
    const JointId first = world.add_joint({.name = "first",
                                           .type = JointType::kHinge,
                                           .bodies = {kWorld, shaft},
                                           .motors = {{.value = 1e9, .max_effort = kTorque}}});
    const JointId second =
        world.add_joint({.name = "second", .type = JointType::kHinge, .bodies = {kWorld, wheel}},
                        {.at = {1, 0, 0}});
    world.add_gear("gear", first, second, kRatio);
    Simulation simulation(
        world.build_model(),
        {.scheme = "spook", .h = kStep, .stepping = {.spook = {.geometric_stiffness = is_on}}});
    for (int n = 0; n < 60; ++n) simulation.step();
    const double speed = kTorque / (kLight + kRatio * kRatio * kHeavy);
    EXPECT_NEAR(simulation.state().v[5], speed, 1e-7 * speed);
    EXPECT_NEAR(simulation.state().v[11], kRatio * speed, 1e-7 * speed);
  }
}

}  // namespace
}  // namespace stiction::testing
