// Rolling and knife edges, whose rows bind velocities alone: a disc that rolls in a circle, a ball
// on an incline and on a turntable, a blade on an incline.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "stiction/model/rigid_body_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/laws/rigid_rules.h"

namespace stiction::testing {
namespace {

using Eigen::AngleAxisd;
using Eigen::Quaterniond;
using Eigen::Vector3d;
using std::numbers::pi;

/// The order at least: two for trapezoidal-2 and for the iteration of spook, which binds the mean
/// velocity of a step by the rows of its middle. Turning rows cost trapezoidal-1 an order.
void expect_order(const Rule& rule, const std::vector<double>& steps,
                  const std::vector<double>& errors) {
  const bool is_second_order = rule.iterates || rule.scheme == "trapezoidal-2";
  EXPECT_GE(fitted_order(steps, errors), is_second_order ? 1.9 : 0.85) << rule.name();
}

/// How far rolling without slip may be off at the end of a step, where the speed of slip changes by
/// `rate` in a second because rows are those of its start, middle or end, or of a prediction.
double slip_allowed(const Rule& rule, double rate, double h) {
  if (rule.scheme == "stewart-trinkle") return 1e-11;
  if (rule.scheme.starts_with("trapezoidal")) return h * h * 10 * rate;
  return 2 * h * rate;
}

/// Rolling rows at the state of the simulation, times its velocity.
double rolling_speed(const Simulation& simulation) {
  RowSet rows;
  const State& state = simulation.state();
  simulation.model().append_velocity_rows(state.t, state.q, rows);
  double largest = 0;
  for (int i = 0; i < rows.rows.num_row_blocks(); ++i)
    largest = std::max(
        largest, std::abs(rows.rows.times(i, 0, simulation.model().block_starts(), state.v.data()) +
                          rows.drift[i]));
  return largest;
}

/// A disc whose axis leans by `lean` from the vertical and precesses about it at `precession`.
/// With the spin ω₃ about its axis in all, and A and C its transverse and axial inertia, it rolls
/// steadily if
///   (C + m a²) ω₃ Ω sin θ − A Ω² sin θ cos θ + m g a cos θ = 0.
struct Disc {
  double mass = 1.2, radius = 0.3, lean = 1.2, precession = 2;
  double transverse() const { return mass * radius * radius / 4; }
  double axial() const { return 2 * transverse(); }
  double spin() const {
    return (transverse() * precession * std::cos(lean) -
            mass * kGravity * radius / (precession * std::tan(lean))) /
           (axial() + mass * radius * radius);
  }
  /// Of the path of its centre.
  double path_radius() const { return radius * std::abs(spin() / precession); }

  Model build() const {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -kGravity});
    // Leaning about x: the axis is in the y-z plane, the point of contact below along −e₂.
    const Quaterniond orientation(AngleAxisd(lean, Vector3d::UnitX()));
    const Vector3d e2 = orientation * Vector3d::UnitY(), e3 = orientation * Vector3d::UnitZ();
    const Vector3d omega = spin() * e3 + precession * std::sin(lean) * e2;
    const Vector3d center(0, 0, radius * std::sin(lean));
    const BodyId disc =
        world.add_body({.name = "disc",
                        .position = center,
                        .orientation = orientation,
                        .velocity = omega.cross(radius * e2),
                        .angular_velocity = omega,
                        .mass = mass,
                        .inertia = Vector3d(transverse(), transverse(), axial()).asDiagonal()});
    world.add_joint({.name = "rolls",
                     .type = JointType::kRollingDisc,
                     .bodies = {kWorld, disc},
                     .radius = radius},
                    {.at = center, .axis = e3, .axis2 = {0, 0, 1}});
    return world.build_model();
  }
};

TEST(RollingDisc, RollsInItsClosedFormCircle) {
  const Disc disc;
  const double duration = 2 * pi / disc.precession / 2;  // to the other side
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    double speed = 0;
    for (const int n : {200, 400, 800}) {
      Simulation simulation(disc.build(), options_of(rule, duration / n));
      const Vector3d start = simulation.state().q.head<3>(),
                     velocity = simulation.state().v.head<3>();
      simulation.run(duration);
      const Vector3d opposite = start + 2 * Vector3d(0, 0, 1).cross(velocity) / disc.precession;
      steps.push_back(duration / n);
      errors.push_back((simulation.state().q.head<3>() - opposite).norm());
      speed = rolling_speed(simulation);
    }
    expect_order(rule, steps, errors);
    EXPECT_LE(errors.back(), disc.path_radius() / 4) << rule.name();
    EXPECT_LE(speed, slip_allowed(rule, disc.precession * disc.path_radius(), steps.back()))
        << rule.name();
  }
}

// A solid ball on an incline: 5/7 g sin α along it.
TEST(RollingBall, AcceleratesDownAnIncline) {
  constexpr double kAngle = 0.3, kRadius = 0.1, h = 0.01;
  for (const Rule& rule : all_rules()) {
    RigidBodyBuilder world;
    world.set_gravity({0, 0, -kGravity});
    const Vector3d normal(std::sin(kAngle), 0, std::cos(kAngle)),
        down(std::cos(kAngle), 0, -std::sin(kAngle));
    const BodyId ball =
        world.add_body({.name = "ball",
                        .position = kRadius * normal,
                        .mass = 3,
                        .inertia = 0.4 * 3 * kRadius * kRadius * Eigen::Matrix3d::Identity()});
    world.add_joint({.name = "rolls",
                     .type = JointType::kRollingBall,
                     .bodies = {kWorld, ball},
                     .radius = kRadius},
                    {.at = kRadius * normal, .axis = normal});
    Simulation simulation(world.build_model(), options_of(rule, h));
    simulation.run(1);
    const bool is_mean =
        rule.iterates || rule.scheme == "moreau" || rule.scheme.starts_with("trapezoidal");
    const double way = 5.0 / 7 * kGravity * std::sin(kAngle) * (is_mean ? 1 : 1 + h) / 2;
    EXPECT_LE((simulation.state().q.head<3>() - kRadius * normal - way * down).norm(), 1e-7 * way)
        << rule.name();
    EXPECT_LE(rolling_speed(simulation), 1e-8) << rule.name();
  }
}

// On a table that turns at Ω a solid ball goes in circles at 2/7 Ω, whatever its mass and radius.
TEST(RollingBall, CirclesOnATurntableAtTwoSeventhsOfItsRate) {
  constexpr double kRadius = 0.5, kRate = 7;
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    for (const int n : {200, 400, 800}) {
      const double duration = 0.75 * 2 * pi / (2 * kRate / 7), h = duration / n;
      RigidBodyBuilder world;
      world.set_gravity({0, 0, -kGravity});
      const BodyId table = world.add_body({.name = "table",
                                           .motion = BodyDescription::Motion::kKinematic,
                                           .angle = kRate * world.time()});
      // In the frame of the world the point of contact on the table at x moves with Ω ẑ × x; the
      // ball at x = 1 with velocity v has ω = (ẑ × (v − Ω ẑ × x))/r, and any spin about ẑ.
      const Vector3d place(1, 0, kRadius), velocity(0.4, 0.9, 0),
          slip = velocity - kRate * Vector3d::UnitZ().cross(Vector3d(1, 0, 0));
      const BodyId ball =
          world.add_body({.name = "ball",
                          .position = place,
                          .velocity = velocity,
                          .angular_velocity = Vector3d::UnitZ().cross(slip) / kRadius,
                          .mass = 3,
                          .inertia = 0.4 * 3 * kRadius * kRadius * Eigen::Matrix3d::Identity()});
      world.add_joint({.name = "rolls",
                       .type = JointType::kRollingBall,
                       .bodies = {table, ball},
                       .radius = kRadius},
                      {.at = place, .axis = {0, 0, 1}});
      Simulation simulation(world.build_model(), options_of(rule, h));
      simulation.run(duration);
      const Vector3d arm = Vector3d::UnitZ().cross(velocity) / (2 * kRate / 7);
      const Vector3d exact = place + arm - AngleAxisd(0.75 * 2 * pi, Vector3d::UnitZ()) * arm;
      steps.push_back(h);
      errors.push_back((simulation.state().q.head<3>() - exact).norm());
    }
    expect_order(rule, steps, errors);
    EXPECT_LE(errors.back(), 0.03) << rule.name();
  }
}

/// Where the velocity rows of a step are taken that ends here and began at `start`: schemes that
/// take them from the start of the step hold them there to rounding, whatever the step.
TEST(KnifeEdge, HoldsToRoundingWhereTheSchemeTakesIt) {
  constexpr double kTurn = 0.3;  // per step
  for (const char* scheme : {"anitescu-potra", "linearly-implicit-euler", "spook"}) {
    RigidBodyBuilder world;
    world.set_gravity({4, 0, 0});
    const BodyId blade = world.add_body({.name = "blade",
                                         .angular_velocity = {0, 0, 3},
                                         .mass = 2,
                                         .inertia = Vector3d(1, 2, 0.3).asDiagonal(),
                                         .free_axes = {true, true, false, false, false, true}});
    world.add_joint({.name = "edge", .type = JointType::kKnifeEdge, .bodies = {kWorld, blade}},
                    {.axis = {0, 1, 0}});
    Simulation simulation(world.build_model(), {.scheme = scheme, .h = kTurn / 3});
    for (int i = 0; i < 100; ++i) {
      RowSet rows;
      simulation.model().append_velocity_rows(simulation.state().t, simulation.state().q, rows);
      simulation.step();
      const VectorXd& v = simulation.state().v;
      // spook's rows yield by 1e-10 of what a step's impulse would give, h g.
      EXPECT_NEAR(rows.rows.times(0, 0, simulation.model().block_starts(), v.data()), 0,
                  1e-9 * (kTurn / 3) * 4)
          << scheme;
    }
  }
}

// A blade below its centre of mass on an incline, turning at ω: from rest it does not slide down
// for ever but runs along x = g sin α sin²(ωt)/2ω², y = g sin α (ωt − ½ sin 2ωt)/2ω².
TEST(KnifeEdge, RunsAcrossAnInclineInACycloid) {
  constexpr double kSlope = 4, kRate = 3, kDuration = 2;
  for (const Rule& rule : all_rules()) {
    std::vector<double> steps, errors;
    double speed = 0;
    for (const int n : {200, 400, 800}) {
      RigidBodyBuilder world;
      world.set_gravity({kSlope, 0, 0});
      const BodyId blade = world.add_body({.name = "blade",
                                           .angular_velocity = {0, 0, kRate},
                                           .mass = 2,
                                           .inertia = Vector3d(1, 2, 0.3).asDiagonal(),
                                           .free_axes = {true, true, false, false, false, true}});
      world.add_joint({.name = "edge", .type = JointType::kKnifeEdge, .bodies = {kWorld, blade}},
                      {.axis = {0, 1, 0}});
      Simulation simulation(world.build_model(), options_of(rule, kDuration / n));
      simulation.run(kDuration);
      const double turn = kRate * kDuration, size = kSlope / (2 * kRate * kRate);
      const Vector3d exact(size * std::sin(turn) * std::sin(turn),
                           size * (turn - std::sin(2 * turn) / 2), 0);
      steps.push_back(kDuration / n);
      errors.push_back((simulation.state().q.head<3>() - exact).norm());
      speed = rolling_speed(simulation);
    }
    expect_order(rule, steps, errors);
    EXPECT_LE(speed, slip_allowed(rule, kSlope / 2, steps.back())) << rule.name();
  }
}

}  // namespace
}  // namespace stiction::testing
