// Located events against closed forms: times of impacts, of rest and of take-off, Zeno sequences,
// and substeps chosen by their error.
#include "stiction/scheme/event_scheme.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/base/error.h"
#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kGravity = 9.81;

Model ball(double height, double restitution) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {height, 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_contact({.gap = y, .restitution = restitution});
  return system.build_model();
}

std::vector<StepEvent> events_of(Simulation& simulation, double duration) {
  std::vector<StepEvent> events;
  const double end = simulation.state().t + duration;
  while (simulation.state().t < end - 1e-12) {
    simulation.step();
    events.insert(events.end(), simulation.events().begin(), simulation.events().end());
  }
  return events;
}

TEST(EventScheme, BounceTimesAreExactForTheTrapezoidalRule) {
  // Parabolas are exact, so every impact is located to rounding, whatever the step.
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2"})
    for (const double h : {0.01, 0.05}) {
      Simulation simulation(ball(1, 0.7), {.scheme = scheme, .h = h});
      const std::vector<StepEvent> events = events_of(simulation, 3);
      ASSERT_GE(events.size(), 5u);
      double time = std::sqrt(2 / kGravity), speed = kGravity * time;
      for (std::size_t k = 0; k < 5; ++k) {
        ASSERT_EQ(events[k].kind, EventKind::kCollision);
        EXPECT_NEAR(events[k].time, time, 1e-11);
        EXPECT_NEAR(events[k].energy_change, -0.5 * speed * speed * (1 - 0.49), 1e-10);
        speed *= 0.7;
        time += 2 * speed / kGravity;
      }
    }
}

TEST(EventScheme, EndsAZenoSequenceAtItsAccumulationPoint) {
  for (const char* scheme :
       {"anitescu-potra", "linearly-implicit-euler", "trapezoidal-1", "trapezoidal-2"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(ball(1, 0.5), {.scheme = scheme, .h = 0.01});
    const double first = std::sqrt(2 / kGravity), accumulation = first * (1 + 2 * 0.5 / 0.5);
    const std::vector<StepEvent> events = events_of(simulation, accumulation + 0.1);
    // The schemes of Euler type lose energy in flight, by g h/v of it in each step.
    const bool is_exact = std::string(scheme).starts_with("trapezoidal");
    EXPECT_NEAR(events.back().time, accumulation, is_exact ? 0.02 : 0.2);
    EXPECT_LT(events.size(), 60u);
    EXPECT_NEAR(simulation.state().q[0], 0, 1e-8);
    EXPECT_NEAR(simulation.state().v[0], 0, 1e-6);
    simulation.run(0.5);  // stays there, without further events
    EXPECT_NEAR(simulation.state().q[0], 0, 1e-8);
    EXPECT_LT(simulation.summary().count(EventKind::kCollision), 60);
  }
}

TEST(EventScheme, FloorSaysHowOftenItActed) {
  SimulationOptions options{.scheme = "trapezoidal-2", .h = 0.05};
  options.stepping.events.restitution_threshold = 0;
  Simulation simulation(ball(1, 0.9), options);
  simulation.run(12);
  EXPECT_EQ(simulation.summary().count(EventKind::kFloor), 1);
  EXPECT_NEAR(simulation.state().v[0], 0, 1e-12);
}

TEST(EventScheme, WithoutCollisionsAContactActsFromTheNextStep) {
  SimulationOptions options{.scheme = "anitescu-potra", .h = 0.1};
  options.stepping.events.collisions = false;
  options.stepping.projection = false;
  Simulation simulation(ball(0.15, 0), options);
  simulation.step();  // 0.15 − 0.0981
  simulation.step();  // − 0.1962 below
  EXPECT_NEAR(simulation.state().q[0], 0.15 - 3 * kGravity * 0.01, 1e-14);
  EXPECT_TRUE(simulation.events().empty());
  simulation.step();
  EXPECT_NEAR(simulation.state().v[0], 0, 1e-14);
}

TEST(EventScheme, WithoutCollisionsTheProjectionHidesNoContact) {
  // The gap is convex: Newton's step from below ends above, out of touch.
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {1, 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_contact({.gap = exp(y) - 1.0});
  SimulationOptions options{.scheme = "anitescu-potra", .h = 0.01};
  options.stepping.events.collisions = false;
  Simulation simulation(system.build_model(), options);
  simulation.run(2);
  EXPECT_NEAR(simulation.state().q[0], 0, 1e-3);
  EXPECT_NEAR(simulation.state().v[0], 0, 0.1);
}

Model sliding_block(double speed, double mu) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, speed}),
                   y = system.add_coordinate("y", {0, 0});
  system.set_mass(x, x, 2.0);
  system.set_mass(y, y, 2.0);
  system.set_potential(2.0 * kGravity * y);
  system.add_contact({.gap = y, .tangents = {{1.0, 0.0}}, .mu = mu});
  return system.build_model();
}

TEST(EventScheme, LocatesWhereSlidingStops) {
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(sliding_block(1, 0.3), {.scheme = scheme, .h = 0.02});
    const std::vector<StepEvent> events = events_of(simulation, 0.6);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, EventKind::kStick);
    EXPECT_NEAR(events[0].time, 1 / (0.3 * kGravity), 1e-12);
    EXPECT_NEAR(simulation.state().q[0], 1 / (2 * 0.3 * kGravity), 1e-12);
    EXPECT_NEAR(simulation.state().v[0], 0, 1e-11);
  }
}

/// A block on a floor that goes down with growing acceleration c t.
Model sinking_floor(double c) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {0, 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  const Expression t = system.time();
  system.add_contact({.gap = y + (c / 6) * t * t * t});
  return system.build_model();
}

TEST(EventScheme, LocatesTakeOffWithinAStep) {
  constexpr double c = 20, h = 0.01;
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(sinking_floor(c), {.scheme = scheme, .h = h});
    const std::vector<StepEvent> events = events_of(simulation, 0.8);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].kind, EventKind::kTakeOff);
    EXPECT_NEAR(events[0].time, kGravity / c, h);
    // From there on it falls: velocity and position to second order.
    const double t = kGravity / c, rest = 0.8 - t;
    const double v = -0.5 * c * t * t, q = -c * t * t * t / 6;
    EXPECT_NEAR(simulation.state().v[0], v - kGravity * rest, c * h * h);
    EXPECT_NEAR(simulation.state().q[0], q + v * rest - kGravity * rest * rest / 2, c * h * h);
  }
}

Model oscillator() {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {1, 0});
  system.set_mass(x, x, 1.0);
  system.set_potential(0.25 * x * x * x * x);
  return system.build_model();
}

TEST(ErrorControl, MeetsItsToleranceInEverySubstep) {
  const auto run = [](const char* scheme, double h, double tolerance) {
    SimulationOptions options{.scheme = scheme, .h = h};
    options.stepping.error_control.tolerance = tolerance;
    Simulation simulation(oscillator(), options);
    simulation.run(6);
    return std::pair(simulation.state().q[0], simulation.summary());
  };
  const double exact = run("trapezoidal-2", 1e-4, 0).first;  // to h² = 1e-8
  double last_error = 1;
  for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7}) {
    const auto [q, summary] = run("trapezoidal-2", 1.0, tolerance);
    // Local errors add up, and an error of the phase grows with time.
    EXPECT_LT(std::abs(q - exact), 3 * tolerance * static_cast<double>(summary.substeps));
    EXPECT_LT(std::abs(q - exact), last_error);
    EXPECT_GT(summary.rejected_substeps, 0);
    EXPECT_EQ(summary.steps, 6);
    last_error = std::abs(q - exact);
  }
}

TEST(ErrorControl, LeavesEventsWhereTheyAre) {
  SimulationOptions options{.scheme = "trapezoidal-2", .h = 0.2};
  options.stepping.error_control.tolerance = 1e-6;
  Simulation simulation(ball(1, 0.7), options);
  const std::vector<StepEvent> events = events_of(simulation, 1.2);
  ASSERT_GE(events.size(), 2u);
  EXPECT_NEAR(events[0].time, std::sqrt(2 / kGravity), 1e-11);
  EXPECT_NEAR(events[1].time, std::sqrt(2 / kGravity) * (1 + 2 * 0.7), 1e-11);
}

TEST(ErrorControl, EndsWithAnImpossibleTolerance) {
  SimulationOptions options{.scheme = "anitescu-potra", .h = 0.1};
  options.stepping.error_control = {.tolerance = 1e-300, .min_step = 1e-2};
  Simulation simulation(oscillator(), options);
  simulation.run(1);
  EXPECT_LE(simulation.summary().substeps, 10 * 2 * 101);
}

TEST(EventScheme, BallOnAShakingTableIsNeverRejected) {
  for (const char* scheme : {"anitescu-potra", "linearly-implicit-euler", "trapezoidal-2"})
    for (const double frequency : {7.0, 20.0, 50.0})
      for (const double restitution : {0.0, 0.5, 0.9}) {
        SystemBuilder system;
        const Expression y = system.add_coordinate("y", {0.02, 0});
        system.set_mass(y, y, 1.0);
        system.set_potential(kGravity * y);
        system.add_contact(
            {.gap = y - 0.01 * sin(frequency * system.time()), .restitution = restitution});
        Simulation simulation(system.build_model(), {.scheme = scheme, .h = 0.01});
        EXPECT_NO_THROW(simulation.run(3)) << scheme << " " << frequency << " " << restitution;
        EXPECT_GT(simulation.summary().gap_min, -2e-3);
      }
}

/// Many blocks beside each other, all of which come to rest at the same time.
TEST(EventScheme, ContactsThatChangeTogetherAreNoZenoSequence) {
  SystemBuilder system;
  for (int i = 0; i < 20; ++i) {
    const Expression x = system.add_coordinate("x" + std::to_string(i), {0, 1}),
                     y = system.add_coordinate("y" + std::to_string(i), {0, 0});
    system.set_mass(x, x, 1.0);
    system.set_mass(y, y, 1.0);
    system.add_force(y, Expression(-kGravity));
    std::vector<Expression> tangent(40, Expression(0.0));
    tangent[2 * i] = 1.0;
    system.add_contact({.gap = y, .tangents = {tangent}, .mu = 0.3});
  }
  Simulation simulation(system.build_model(), {.scheme = "trapezoidal-2", .h = 0.02});
  simulation.run(0.6);
  EXPECT_EQ(simulation.summary().count(EventKind::kStick), 20);
  EXPECT_EQ(simulation.summary().count(EventKind::kFloor), 0);
}

TEST(EventScheme, ConstraintsThatContradictEachOtherAreNotIgnored) {
  for (const char* scheme : {"moreau", "trapezoidal-1", "trapezoidal-2", "anitescu-potra"}) {
    SystemBuilder system;
    const Expression y = system.add_coordinate("y", {1, 0});
    system.set_mass(y, y, 1.0);
    system.add_constraint("fixed", y - 1.0);
    system.add_constraint("driven", y - 1.0 - system.time() * system.time());
    Simulation simulation(system.build_model(), {.scheme = scheme, .h = 0.01});
    EXPECT_THROW(simulation.run(0.5), StepRejected) << scheme;
  }
}

/// A mass on a stiff spring about a pivot that hits an inelastic wall within a step.
TEST(EventScheme, StiffTurningSpringGainsNoEnergyAtACollision) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 3}), y = system.add_coordinate("y", {-1, 0});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.add_spring({.extension = sqrt(x * x + y * y) - 1.0, .stiffness = 1e6});
  system.add_contact({.gap = 0.3 - x});
  Simulation simulation(system.build_model(), {.scheme = "linearly-implicit-euler", .h = 0.05});
  double energy = simulation.energy().now.total();
  for (int k = 0; k < 20; ++k) {
    simulation.step();
    EXPECT_LE(simulation.energy().now.total(), energy * (1 + 1e-9));
    energy = simulation.energy().now.total();
  }
}

TEST(SteppingOptions, OutOfRangeAreRefusedByName) {
  const auto message = [](auto change) -> std::string {
    SimulationOptions options{.scheme = "trapezoidal-2", .h = 0.1};
    change(options.stepping);
    try {
      Simulation simulation(ball(1, 0), options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](SteppingOptions& o) { o.events.contact_tolerance = 0; }),
            "events.contact_tolerance is 0, must be > 0");
  EXPECT_EQ(message([](SteppingOptions& o) { o.events.time_tolerance = -1; }),
            "events.time_tolerance is -1, must be in (0, 1)");
  EXPECT_EQ(message([](SteppingOptions& o) { o.error_control.tolerance = NAN; }),
            "error_control.tolerance is nan, must be >= 0");
}

/// A system by hand, without derivatives.
class HandMade final : public GeneralizedSystem {
 public:
  HandMade()
      : GeneralizedSystem(
            {.coordinates = {"x"}, .constraints = {}, .springs = {}, .contacts = {}}) {}
  void evaluate_mass(double, const ConstVectorRef&, RowMatrixRef mass) const override {
    mass(0, 0) = 1;
  }
  void evaluate_force(double, const ConstVectorRef& q, const ConstVectorRef&,
                      VectorRef force) const override {
    force[0] = -q[0];
  }
};

TEST(Jacobians, ThatASystemLacksAreAskedFor) {
  ModelBuilder builder;
  builder.add_system(std::make_shared<HandMade>(), VectorXd::Ones(1), VectorXd::Zero(1));
  const Model model = builder.build();
  SimulationOptions options{.scheme = "trapezoidal-2", .h = 0.01};
  try {
    Simulation simulation(model, options);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("needs the derivatives of the force on 'x'"),
              std::string::npos);
  }
  options.stepping.jacobians = ForceJacobians::kDifferences;
  Simulation simulation(model, options);
  simulation.run(1);
  EXPECT_NEAR(simulation.state().q[0], std::cos(1.0), 1e-5);
}

}  // namespace
}  // namespace stiction
