// Moreau's midpoint scheme step by step, against recurrences worked out by hand: far sharper than
// the limit of small steps. Agreement is to rounding, 1e-12 of the numbers involved.
#include "stiction/scheme/moreau.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

constexpr double kRounding = 1e-12;
constexpr double kGravity = 9.81;

Model ball(double height, double velocity, double restitution) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {height, velocity});
  system.set_mass(y, y, 2.0);
  system.set_potential(2.0 * kGravity * y);
  system.add_contact({.name = "floor", .gap = y, .restitution = restitution});
  return system.build_model();
}

TEST(Moreau, BouncingBallFollowsItsOwnRecurrence) {
  constexpr double h = 3e-3, e = 0.7;
  Simulation simulation(ball(0.3, 0.2, e), {.h = h});
  double q = 0.3, v = 0.2;
  for (int k = 0; k < 600; ++k) {
    const double q_mid = q + h / 2 * v;
    double v_end = v - kGravity * h;
    if (q_mid <= 0) v_end = std::max(v_end, -e * v);
    q = q_mid + h / 2 * v_end;
    v = v_end;
    simulation.step();
    ASSERT_NEAR(simulation.state().q[0], q, kRounding) << "step " << k;
    ASSERT_NEAR(simulation.state().v[0], v, kRounding) << "step " << k;
  }
}

TEST(Moreau, FreeFallIsExact) {
  Simulation simulation(ball(100, 3, 0), {.h = 1e-2});
  simulation.run(1);
  EXPECT_NEAR(simulation.state().q[0], 100 + 3 - kGravity / 2, 100 * kRounding);
  EXPECT_NEAR(simulation.state().v[0], 3 - kGravity, 100 * kRounding);
}

TEST(Moreau, ZeroStepIsThePureImpact) {
  Simulation simulation(ball(0, -2, 0.6), {.h = 1e-3});
  EXPECT_EQ(simulation.step(0), 0);
  EXPECT_NEAR(simulation.state().v[0], 1.2, kRounding);
  EXPECT_EQ(simulation.state().q[0], 0);
  EXPECT_EQ(simulation.state().t, 0);
  EXPECT_NEAR(simulation.contacts().at(0).impulse[0], 2 * (1.2 + 2), kRounding);
  EXPECT_NEAR(simulation.energy().impact, -0.5 * 2 * (4 - 1.44), kRounding);
}

TEST(Moreau, RefusesPoissonsLaw) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {1, 0});
  system.set_mass(y, y, 1.0);
  system.add_contact({.name = "floor", .gap = y, .impact = ImpactLaw::kPoisson});
  EXPECT_THROW(Simulation(system.build_model(), {.h = 1e-3}), InputError);
}

TEST(Moreau, ActiveSetIsTakenAtTheMidpoint) {
  constexpr double h = 0.1;
  // The midpoint is above the floor by less than nothing or more: 0.05 · 1 = 0.05.
  Simulation above(ball(0.0501, -1, 0), {.h = h});
  above.step();
  EXPECT_TRUE(above.contacts().empty());
  Simulation below(ball(0.0499, -1, 0), {.h = h});
  below.step();
  ASSERT_EQ(below.contacts().size(), 1u);
  EXPECT_NEAR(below.state().v[0], 0, kRounding);
}

/// A block with coordinates x and y on a floor that moves: height A sin(ω t), speed s.
struct Driven {
  double amplitude = 0, frequency = 0, belt = 0, mu = 0.4, e_t = 0;
  double x_velocity = 0, y_velocity = 0;
};

Model driven_block(const Driven& d) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, d.x_velocity});
  const Expression y = system.add_coordinate("y", {0, d.y_velocity});
  system.set_mass(x, x, 3.0);
  system.set_mass(y, y, 3.0);
  system.set_potential(3.0 * kGravity * y);
  system.add_contact({.name = "floor",
                      .gap = y - d.amplitude * sin(d.frequency * system.time()),
                      .tangents = {{1.0, 0.0}},
                      .surface_speeds = {Expression(d.belt)},
                      .mu = d.mu,
                      .restitution_tangential = d.e_t});
  return system.build_model();
}

TEST(Moreau, BeltDragsABlockToItsSpeedAndCarriesIt) {
  constexpr double h = 1e-3, belt = 0.5, mu = 0.4;
  Simulation simulation(driven_block({.belt = belt, .mu = mu}), {.h = h});
  for (int k = 1; k <= 300; ++k) {
    simulation.step();
    ASSERT_NEAR(simulation.state().v[0], std::min(k * h * mu * kGravity, belt), kRounding);
  }
  EXPECT_EQ(simulation.contacts().at(0).status, ContactStatus::kStick);
  EXPECT_NEAR(simulation.contacts()[0].slip[0], 0, kRounding);
  // The belt does twice the work that the block keeps; friction eats the other half.
  const EnergyLedger& e = simulation.energy();
  EXPECT_NEAR(e.motor, 3 * belt * belt, 1e-10);
  EXPECT_NEAR(e.friction, -0.5 * 3 * belt * belt, 1e-10);
  EXPECT_NEAR(e.now.kinetic, 0.5 * 3 * belt * belt, 1e-10);
  EXPECT_NEAR(e.numerical, 0, 1e-10);
}

TEST(Moreau, ShakingFloorCarriesABlockUntilItThrowsIt) {
  constexpr double h = 1e-4, amplitude = 0.01;
  // Aω² = 0.9 g: contact never opens; v⁺ is the floor's velocity at mid-step.
  const double slow = std::sqrt(0.9 * kGravity / amplitude);
  Simulation carried(
      driven_block({.amplitude = amplitude, .frequency = slow, .y_velocity = amplitude * slow}),
      {.h = h});
  int num_carried = 0;
  for (int k = 0; k < 5000; ++k) {
    const double t_mid = carried.state().t + h / 2;
    carried.step();
    if (carried.contacts().empty())
      continue;  // it may float for a step, within rounding of the floor
    ++num_carried;
    ASSERT_NEAR(carried.state().v[1], amplitude * slow * std::cos(slow * t_mid), 1e-9);
  }
  EXPECT_GT(num_carried, 2500);
  // Velocities lag by half a step, and so do positions: at most Aω·h/2, and as much again when
  // thrown off by a step.
  EXPECT_LT(std::abs(carried.state().q[1] - amplitude * std::sin(slow * carried.state().t)),
            amplitude * slow * h);
  // Aω² = 4 g: thrown.
  const double fast = std::sqrt(4 * kGravity / amplitude);
  Simulation thrown(
      driven_block({.amplitude = amplitude, .frequency = fast, .y_velocity = amplitude * fast}),
      {.h = h});
  double gap_max = 0;
  for (int k = 0; k < 2000; ++k) {
    thrown.step();
    gap_max =
        std::max(gap_max, thrown.state().q[1] - amplitude * std::sin(fast * thrown.state().t));
  }
  EXPECT_GT(gap_max, 5e-3);
}

TEST(Moreau, TangentialRestitutionReversesTheSlipOfASuperball) {
  // The normal impulse m·5 allows friction up to 0.4·m·5; reversing 0.8 m/s with e_T = 0.5 takes
  // m·1.2.
  Simulation simulation(driven_block({.mu = 0.4, .e_t = 0.5, .x_velocity = 0.8, .y_velocity = -5}),
                        {.h = 1e-3});
  simulation.step(0);
  EXPECT_NEAR(simulation.state().v[0], -0.4, kRounding);
  EXPECT_NEAR(simulation.state().v[1], 0, kRounding);
}

TEST(Moreau, SpringRowIsTheLinearlyImplicitForce) {
  // (T14) for one mass: w = (v − hγφ/m) / (1 + (h²γ + hδ)/m), q⁺ = q + h (v + w)/2.
  constexpr double h = 0.05, mass = 2, stiffness = 300, damping = 4;
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {1, 0});
  system.set_mass(x, x, mass);
  system.add_spring(
      {.name = "spring", .extension = x - 0.25, .stiffness = stiffness, .damping = damping});
  Simulation simulation(system.build_model(), {.h = h});
  double q = 1, v = 0;
  for (int k = 0; k < 200; ++k) {
    const double w =
        (v - h * stiffness * (q - 0.25) / mass) / (1 + (h * h * stiffness + h * damping) / mass);
    const double impulse = mass * (w - v);
    q += h / 2 * (v + w);
    v = w;
    simulation.step();
    ASSERT_NEAR(simulation.state().q[0], q, kRounding) << k;
    ASSERT_NEAR(simulation.joint_impulses().at(0), impulse, 1e-10) << k;
  }
}

class StiffSpring : public ::testing::TestWithParam<double> {};

// One step maps (x, hv) linearly, with determinant (2 + a)/(2 + 2a) and trace (4 + a)/(2 + 2a),
// where a = h²γ/m (T14): stable for every a. Powers of the map are bounded: the velocity after a
// step is at most |v|/(1 + a) + ω²h|x|/(1 + a) ≤ |v| + |x|/h, and both decay. The spring energy may
// rise on the way: a stiff spring that is given a velocity at rest is first stretched by h v/2.
TEST_P(StiffSpring, DecaysWhateverTheStiffness) {
  constexpr double h = 1e-2;
  for (const auto& [x0, v0] : {std::pair{1.0, 0.0}, std::pair{0.0, 1.0}}) {
    SystemBuilder system;
    const Expression x = system.add_coordinate("x", {x0, v0});
    system.set_mass(x, x, 1.0);
    system.add_spring({.name = "spring", .extension = x, .stiffness = GetParam()});
    Simulation simulation(system.build_model(), {.h = h});
    double speed_max = 0;
    for (int k = 0; k < 4000; ++k) {
      simulation.step();
      speed_max = std::max(speed_max, std::abs(simulation.state().v[0]));
    }
    EXPECT_LE(speed_max, v0 + x0 / h);
    // The slowest decay of the cases is 1 − a/4 per step with a = 1e-4, over 4000 steps: e^−0.1,
    // squared.
    EXPECT_LT(simulation.energy().now.total(), 0.85 * simulation.energy().start);
  }
}
INSTANTIATE_TEST_SUITE_P(Moreau, StiffSpring, ::testing::Values(1.0, 1e3, 1e6, 1e12));

TEST(Moreau, ConstraintErrorDecaysByTheCriticalRate) {
  // Θ = x released from 1e-7 at rest: (T15), x⁺ = (1 − α/2) x − (α/2) x⁻ with x₋₁ such that v₀ = 0.
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {1e-7, 0});
  system.set_mass(x, x, 1.0);
  system.add_constraint("hold", x);
  Simulation simulation(system.build_model(), {.h = 1e-3});
  const double alpha = 6 - 4 * std::sqrt(2.0);
  double previous = 0, error = 1e-7;  // v₀ = −α x₋₁/h = 0
  for (int k = 0; k < 12; ++k) {
    const double next = (1 - alpha / 2) * error - alpha / 2 * previous;
    previous = error;
    error = next;
    simulation.step();
    // Constraint rows yield by 1e-8 of their impulses, in each of the twelve steps.
    ASSERT_NEAR(simulation.state().q[0], error, 12 * 1e-8 * 1e-7) << k;
  }
  EXPECT_LT(std::abs(error), 1e-7 * 12 * std::pow(std::sqrt(2.0) - 1, 11));
}

TEST(Moreau, PendulumInCartesianCoordinatesKeepsItsLength) {
  std::vector<double> errors;
  for (const double h : {4e-3, 2e-3, 1e-3}) {
    SystemBuilder system;
    const Expression x = system.add_coordinate("x", {1, 0}), y = system.add_coordinate("y", {0, 0});
    system.set_mass(x, x, 1.0);
    system.set_mass(y, y, 1.0);
    system.set_potential(kGravity * y);
    system.add_constraint("rod", x * x + y * y - 1.0);
    Simulation simulation(system.build_model(), {.h = h});
    simulation.run(20);
    errors.push_back(simulation.summary().joint_error_max);
  }
  // No drift: the error per step is O(h²) and is taken back at a fixed rate, so it scales with h².
  EXPECT_NEAR(errors[0] / errors[1], 4, 0.4);
  EXPECT_NEAR(errors[1] / errors[2], 4, 0.4);
  EXPECT_LT(errors[2], 1e-4);
}

TEST(Moreau, RedundantNonlinearConstraintsDoNotLock) {
  // A point on the unit circle, held twice: by its angle and by its distance. The rows are taken at
  // mid-step, off the circle, where they depend on each other only up to O(h³).
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    SystemBuilder system;
    const Expression p = system.add_coordinate("p", {0.5, 1});
    const Expression x = system.add_coordinate("x", {std::cos(0.5), -std::sin(0.5)});
    const Expression y = system.add_coordinate("y", {std::sin(0.5), std::cos(0.5)});
    for (const Expression& c : {p, x, y}) system.set_mass(c, c, 1.0);
    system.add_constraint("cosine", x - cos(p));
    system.add_constraint("sine", y - sin(p));
    system.add_constraint("circle", x * x + y * y - 1.0);
    Simulation simulation(system.build_model(), {.h = h});
    simulation.run(0.1);
    EXPECT_NEAR(simulation.state().q[0], 0.6, h) << h;  // first order
  }
}

TEST(Moreau, DrivenConstraintFollowsItsDriveAndTheDriveDoesTheWork) {
  constexpr double h = 1e-3;
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0.3});
  system.set_mass(x, x, 2.0);
  system.add_constraint("drive", x - 0.1 * sin(3.0 * system.time()));
  Simulation simulation(system.build_model(), {.h = h});
  simulation.run(1.3);
  EXPECT_NEAR(simulation.state().q[0], 0.1 * std::sin(3 * 1.3), 1e-5);
  EXPECT_NEAR(simulation.energy().motor,
              simulation.energy().now.kinetic - simulation.energy().start, 1e-3);
}

TEST(Moreau, SeveralSystemsStepSideBySideAsIfAlone) {
  ModelBuilder both;
  const Model first = ball(0.4, 0, 0.5), second = driven_block({.belt = 0.5});
  for (const Model* model : {&first, &second})
    both.add_system(model->parts()[0].system, model->initial_state().q, model->initial_state().v);
  Simulation together(both.build(), {.h = 1e-3});
  Simulation alone_1(first, {.h = 1e-3}), alone_2(second, {.h = 1e-3});
  together.run(0.7);
  alone_1.run(0.7);
  alone_2.run(0.7);
  EXPECT_NEAR(together.state().q[0], alone_1.state().q[0], kRounding);
  EXPECT_NEAR(together.state().q[1], alone_2.state().q[0], kRounding);
  EXPECT_NEAR(together.state().v[0], alone_1.state().v[0], kRounding);
}

TEST(Moreau, SpatialContactSlipsAgainstItsVelocityWithinThePolygon) {
  // Two tangents, octagon: sliding along a vertex direction meets friction μ exactly.
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 1}), y = system.add_coordinate("y", {0, 1});
  const Expression z = system.add_coordinate("z", {0, 0});
  for (const Expression& c : {x, y, z}) system.set_mass(c, c, 1.0);
  system.set_potential(kGravity * z);
  system.add_contact(
      {.name = "floor", .gap = z, .tangents = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, .mu = 0.5});
  Simulation simulation(system.build_model(), {.h = 1e-3});
  simulation.run(0.1);
  const double speed = std::sqrt(2.0) - 0.5 * kGravity * 0.1;
  EXPECT_NEAR(simulation.state().v[0], speed / std::sqrt(2.0), 1e-11);
  EXPECT_NEAR(simulation.state().v[1], speed / std::sqrt(2.0), 1e-11);
  EXPECT_EQ(simulation.contacts().at(0).status, ContactStatus::kSlip);
}

}  // namespace
}  // namespace stiction
