// Impact laws, by `step(0)` and by located collisions, against what the laws give on paper.
#include "stiction/scheme/impact.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/base/random.h"
#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

constexpr double kRounding = 1e-13;

Model ball(double height, double velocity, double restitution,
           ImpactLaw law = ImpactLaw::kOfScheme) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {height, velocity});
  system.set_mass(y, y, 3.0);
  system.add_contact({.gap = y, .restitution = restitution, .impact = law});
  return system.build_model();
}

TEST(Impact, OfOneContactIsTheSameByNewtonAndPoisson) {
  for (const ImpactLaw law : {ImpactLaw::kOfScheme, ImpactLaw::kNewton, ImpactLaw::kPoisson}) {
    Simulation simulation(ball(0, -2, 0.6, law), {.scheme = "trapezoidal-2", .h = 1e-3});
    simulation.step(0);
    EXPECT_NEAR(simulation.state().v[0], 1.2, kRounding);
    EXPECT_NEAR(simulation.contacts().at(0).impulse[0], 3 * 3.2, kRounding);
    EXPECT_NEAR(simulation.energy().impact, -0.5 * 3 * (4 - 1.44), kRounding);
    EXPECT_NEAR(simulation.energy().numerical, 0, kRounding);
  }
}

TEST(Impact, EventCarriesTheChangeOfEnergy) {
  Simulation simulation(ball(0.5, -2, 0.6), {.scheme = "anitescu-potra", .h = 1});
  simulation.step();
  ASSERT_EQ(simulation.events().size(), 1u);
  const StepEvent& event = simulation.events()[0];
  EXPECT_EQ(event.kind, EventKind::kCollision);
  EXPECT_NEAR(event.time, 0.25, 1e-11);
  EXPECT_EQ(event.contact, 0);
  EXPECT_NEAR(event.energy_change, -0.5 * 3 * (4 - 1.44), 1e-11);
  EXPECT_NEAR(simulation.state().q[0], 0.75 * 1.2, 1e-11);
}

TEST(Impact, IsInelasticBelowTheThreshold) {
  SimulationOptions options{.scheme = "trapezoidal-1", .h = 1e-3};
  options.stepping.events.restitution_threshold = 2.1;
  Simulation slow(ball(0, -2, 0.6), options);
  slow.step(0);
  EXPECT_NEAR(slow.state().v[0], 0, kRounding);
  Simulation fast(ball(0, -2.2, 0.6), options);
  fast.step(0);
  EXPECT_NEAR(fast.state().v[0], 0.6 * 2.2, kRounding);
}

/// Three equal balls in a row that touch; the first one arrives with velocity 1.
Model cradle(double e1, double e2, ImpactLaw law1, ImpactLaw law2) {
  SystemBuilder system;
  const Expression a = system.add_coordinate("a", {0, 1}), b = system.add_coordinate("b", {1, 0}),
                   c = system.add_coordinate("c", {2, 0});
  for (const Expression& x : {a, b, c}) system.set_mass(x, x, 1.0);
  system.add_contact({.gap = b - a - 1.0, .restitution = e1, .impact = law1});
  system.add_contact({.gap = c - b - 1.0, .restitution = e2, .impact = law2});
  return system.build_model();
}

VectorXd after_impact(const Model& model) {
  Simulation simulation(model, {.scheme = "linearly-implicit-euler", .h = 1e-3});
  simulation.step(0);
  return simulation.state().v;
}

TEST(Impact, OfThreeBallsFollowsPoissonsTwoPhases) {
  constexpr ImpactLaw kPoisson = ImpactLaw::kPoisson;
  // Compression: all at 1/3, impulses 2/3 and 1/3. Decompression gives e of each back.
  const VectorXd elastic = after_impact(cradle(1, 1, kPoisson, kPoisson));
  EXPECT_NEAR(elastic[0], -1.0 / 3, kRounding);
  EXPECT_NEAR(elastic[1], 2.0 / 3, kRounding);
  EXPECT_NEAR(elastic[2], 2.0 / 3, kRounding);
  // e₁ = 0 alone would let the second ball run into the first: it needs 1/6 more to stay feasible.
  const VectorXd mixed = after_impact(cradle(0, 1, kPoisson, kPoisson));
  EXPECT_NEAR(mixed[0], 1.0 / 6, kRounding);
  EXPECT_NEAR(mixed[1], 1.0 / 6, kRounding);
  EXPECT_NEAR(mixed[2], 2.0 / 3, kRounding);
}

TEST(Impact, OfThreeBallsMayMixBothLaws) {
  // Newton at the first contact with e = 1/2: v_b − v_a ≥ 1/2 in both phases. Compression: impulses
  // x and y with v_b − v_a = 2x − y − 1 = 1/2, v_c − v_b = 2y − x = 0, so x = 1, y = 1/2 and the
  // velocities 0, 1/2, 1/2. Decompression gives 1/2 back at the second contact: 0, 0, 1, where
  // Newton asks for 1/2 between the first two: another 1/4.
  const VectorXd v = after_impact(cradle(0.5, 1, ImpactLaw::kNewton, ImpactLaw::kPoisson));
  EXPECT_NEAR(v[0], -0.25, kRounding);
  EXPECT_NEAR(v[1], 0.25, kRounding);
  EXPECT_NEAR(v[2], 1, kRounding);
}

/// A slender rod that falls on its lower end without turning, at an angle, on a rough floor.
Model rod(double angle, double mu, double restitution) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0}),
                   y = system.add_coordinate("y", {std::sin(angle), -1}),
                   a = system.add_coordinate("a", {angle, 0});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.set_mass(a, a, 1.0 / 3);
  system.add_contact(
      {.gap = y - sin(a), .tangents = {{1.0, 0.0, sin(a)}}, .mu = mu, .restitution = restitution});
  return system.build_model();
}

TEST(Impact, EnergyChangeOfPoissonWithFrictionIsAlwaysReported) {
  // The compression sticks or slips, the restituted impulse carries no friction: v⁺ by hand from
  // the two problems, for the sticking case. With u = (contact velocity) and K the 2 × 2 inverse of
  // the effective mass, compression leaves u = 0, then e ν^c acts along the normal.
  constexpr double angle = 0.9, e = 0.5, J = 1.0 / 3;
  const double s = std::sin(angle), c = std::cos(angle);
  const double w_nn = 1 + c * c / J, w_nt = -c * s / J, w_tt = 1 + s * s / J;
  const double det = w_nn * w_tt - w_nt * w_nt, nu = w_tt / det, beta = -w_nt / det;
  Simulation simulation(rod(angle, 2, e), {.scheme = "trapezoidal-2", .h = 1e-3});
  ASSERT_LT(std::abs(beta), 2 * nu);  // sticks
  simulation.step(0);
  EXPECT_NEAR(simulation.state().v[1], -1 + (1 + e) * nu, kRounding);
  EXPECT_NEAR(simulation.state().v[0], beta, kRounding);
  const double kinetic_change = simulation.energy().now.kinetic - 0.5;
  EXPECT_NEAR(simulation.energy().impact + simulation.energy().friction, kinetic_change, kRounding);
}

TEST(Impact, OfSpooksStageNeverRaisesTheKineticEnergy) {
  // Lacoursière–Linde (72): Newton's law with compliance, for approaching contacts.
  const std::unique_ptr<Solver> solver = make_solver("lemke", 1e-12);
  Random random(1);
  for (int k = 0; k < 200; ++k) {
    const double e1 = random.uniform(), compliance = std::pow(10, random.uniform(-6, 1));
    const ContactModel model(cradle(e1, e1, ImpactLaw::kNewton, ImpactLaw::kNewton));
    State state = model.initial_state();
    state.v << random.uniform(0, 1), random.uniform(-1, 0), random.uniform(-2, -1);
    SolveStage stage(*solver, 1e-9);
    stage.begin_step();
    ImpactStage impact(FrictionSection{});
    OutcomeReader reader;
    StepResult result;
    reader.begin(model, result);
    const int contacts[] = {0, 1};
    const VectorXd before = state.v;
    const std::optional<double> change = impact.strike(
        model, contacts,
        {.law = ImpactLaw::kNewton, .contact_compliance = compliance, .joint_compliance = 0}, stage,
        state, reader, result);
    ASSERT_TRUE(change);
    EXPECT_LE(*change, 1e-14);
    EXPECT_NEAR(*change, 0.5 * (state.v.squaredNorm() - before.squaredNorm()), 1e-13);
    EXPECT_TRUE(stage.certificate().meets(1e-9));
  }
}

}  // namespace
}  // namespace stiction
