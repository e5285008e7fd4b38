// Laws of mechanics that a simulation must obey whatever its step: closed forms, conservation,
// dissipation, orders of convergence.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"

namespace stiction::testing {
namespace {

// --- Bouncing ball
// ---------------------------------------------------------------------------------

Model ball(double height, double restitution) {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {height, 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(kGravity * y);
  system.add_contact({.name = "floor", .gap = y, .restitution = restitution});
  return system.build_model();
}

/// Height of a ball dropped from `height`: parabolas whose duration shrinks by e, then rest.
double exact_height(double t, double height, double e) {
  double begin = std::sqrt(2 * height / kGravity);
  if (t < begin) return height - kGravity * t * t / 2;
  for (double speed = e * kGravity * begin; speed > 1e-9; speed *= e) {
    const double flight = 2 * speed / kGravity;
    if (t < begin + flight) return speed * (t - begin) - kGravity * (t - begin) * (t - begin) / 2;
    begin += flight;
  }
  return 0;
}

/// ∫|y − exact| dt over [0, 1.6 s], past the Zeno point.
double ball_error(double height, double e, double h) {
  Simulation simulation(ball(height, e), {.h = h});
  double error = 0;
  while (simulation.state().t < 1.6) {
    simulation.step();
    error += h * std::abs(simulation.state().q[0] - exact_height(simulation.state().t, height, e));
  }
  return error;
}

TEST(BouncingBall, ConvergesWithOrderOneThroughTheZenoPoint) {
  // 16 drop heights, since where an impact falls inside a step is noise.
  std::vector<double> steps, errors;
  for (double h = 2e-2; h > 3e-4; h /= 2) {
    double error = 0;
    for (int k = 0; k < 16; ++k) error += ball_error(0.8 + 0.025 * k, 0.5, h) / 16;
    steps.push_back(h);
    errors.push_back(error);
  }
  EXPECT_NEAR(fitted_order(steps, errors), 1.0, 0.1);
}

TEST(BouncingBall, ExampleComesToRestAfterTheZenoPoint) {
  Simulation simulation(example_scene("bouncing-ball").model, {.h = 1e-3});
  const double zeno = 3 * std::sqrt(2 / kGravity);
  simulation.run(zeno + 0.05);
  const double y = simulation.state().q[0];
  EXPECT_EQ(simulation.state().v[0], 0);
  simulation.run(0.5);
  EXPECT_EQ(simulation.state().q[0], y);
  // It rests where the last midpoint was found below the floor: less than a step of the last
  // flights.
  EXPECT_LT(std::abs(y), kGravity * 1e-3 * 1e-3);
}

TEST(BouncingBall, NeverGainsMoreThanAContactTakenWhileSeparatingAllows) {
  // A step whose midpoint is below the floor while the ball already rises with γ ends with −eγ by
  // Newton's law; the impulse m(gh − (1 + e)γ) then does the work ½ν(1 − e)γ, at most m(gh)²/8·(1 −
  // e)/(1 + e) (T30). Beside it only rounding of the 10 J of the start may raise the energy.
  constexpr double h = 1e-2, kRounding = 1e-13;
  for (const double e : {0.0, 0.5, 0.9}) {
    const double bound = kGravity * h * kGravity * h / 8 * (1 - e) / (1 + e);
    Simulation simulation(ball(1, e), {.h = h});
    for (int k = 0; k < 400; ++k) {
      const double before = simulation.energy().now.total();
      simulation.step();
      ASSERT_LE(simulation.energy().now.total(), before + bound + kRounding) << k;
    }
  }
}

// --- Block on an incline
// -----------------------------------------------------------------------------

Model incline(double alpha, double mu, double velocity) {
  SystemBuilder system;
  const Expression s = system.add_coordinate("s", {0, velocity}), n = system.add_coordinate("n");
  system.set_mass(s, s, 2.0);
  system.set_mass(n, n, 2.0);
  system.set_potential(2.0 * kGravity * (s * std::sin(alpha) + n * std::cos(alpha)));
  system.add_contact({.name = "plane", .gap = n, .tangents = {{1.0, 0.0}}, .mu = mu});
  return system.build_model();
}

TEST(Incline, SticksExactlyWhereTheTangentIsBelowFriction) {
  for (const double mu : {0.1, 0.5, 1.0, 2.0}) {
    const double critical = std::atan(mu);
    for (const double share : {0.5, 0.999999, 1.000001, 1.3}) {
      SCOPED_TRACE("mu " + std::to_string(mu) + ", share of the critical angle " +
                   std::to_string(share));
      const double alpha = share * critical;
      Simulation simulation(incline(alpha, mu, 0), {.h = 1e-2});
      simulation.run(1);
      const double acceleration =
          share < 1 ? 0 : kGravity * (std::sin(alpha) - mu * std::cos(alpha));
      EXPECT_NEAR(simulation.state().v[0], -acceleration, 1e-12 * kGravity);
      if (share < 1) {
        EXPECT_EQ(simulation.contacts().at(0).status, ContactStatus::kStick);
        EXPECT_EQ(simulation.state().q[0], 0);
      }
    }
  }
}

TEST(Incline, ExampleStopsAfterTheClosedFormTimeAndDistance) {
  Simulation simulation(example_scene("incline").model, {.h = 1e-4});
  simulation.run(0.5);
  const double alpha = 25 * std::acos(-1.0) / 180;
  const double deceleration = kGravity * (std::sin(alpha) + 0.5 * std::cos(alpha));
  // Stopping within a step costs at most one step of the last velocity, deceleration·h²/2.
  EXPECT_NEAR(simulation.state().q[0], 1 / (2 * deceleration), deceleration * 1e-8);
  EXPECT_EQ(simulation.state().v[0], 0);
  EXPECT_EQ(simulation.contacts().at(0).status, ContactStatus::kStick);
  // Friction is at its bound all the way, but for the step that stops, deceleration·h² long at
  // most.
  const EnergyLedger& e = simulation.energy();
  const double friction = 2 * kGravity * std::cos(alpha) * 0.5;
  EXPECT_NEAR(e.friction, -friction * simulation.state().q[0], friction * deceleration * 1e-8);
  EXPECT_NEAR(e.numerical, 0, 1e-12);
}

// --- Conservation
// ------------------------------------------------------------------------------------

TEST(Collision, OfTwoFreeBodiesKeepsMomentumAndWithFullRestitutionEnergy) {
  for (const double ratio : {1.0, 1e3, 1e8}) {
    for (const double e : {0.0, 0.4, 1.0}) {
      SCOPED_TRACE("ratio " + std::to_string(ratio) + ", e " + std::to_string(e));
      SystemBuilder system;
      const Expression a = system.add_coordinate("a", {0, 2}),
                       b = system.add_coordinate("b", {1, -1});
      system.set_mass(a, a, 1.0);
      system.set_mass(b, b, ratio);
      system.add_contact({.name = "hit", .gap = b - a, .restitution = e});
      Simulation simulation(system.build_model(), {.h = 1e-2});
      simulation.run(1);
      const VectorXd& v = simulation.state().v;
      const double momentum = 2 - ratio;
      EXPECT_NEAR(v[0] + ratio * v[1], momentum, 4e-16 * (2 + ratio));
      EXPECT_NEAR(v[1] - v[0], e * 3, 1e-12);  // Newton's law
      const double reduced = ratio / (1 + ratio);
      EXPECT_NEAR(simulation.energy().impact, -0.5 * reduced * 9 * (1 - e * e),
                  1e-11 * (1 + ratio));
    }
  }
}

TEST(SmoothMotion, OfADoublePendulumInAnglesConvergesAndKeepsItsEnergy) {
  // Coordinate-dependent mass matrix: velocity terms are at work. Explicit in the
  // velocity-dependent forces, so first order.
  std::vector<double> steps, errors;
  for (double h = 4e-3; h > 2e-4; h /= 2) {
    SystemBuilder system;
    const Expression a = system.add_coordinate("a", {1.0, 0}),
                     b = system.add_coordinate("b", {0.5, 0});
    system.set_mass(a, a, 2.0);
    system.set_mass(b, b, 1.0);
    system.set_mass(a, b, cos(a - b));
    system.set_potential(-2.0 * kGravity * cos(a) - kGravity * cos(b));
    Simulation simulation(system.build_model(), {.h = h});
    simulation.run(2);
    steps.push_back(h);
    errors.push_back(std::abs(simulation.energy().numerical));
  }
  EXPECT_NEAR(fitted_order(steps, errors), 1.0, 0.25);
}

// --- Friction
// ----------------------------------------------------------------------------------------

TEST(Friction, StopsASlidingBlockAfterTheClosedFormDistance) {
  for (const double mu : {0.05, 0.3, 1.5}) {
    Simulation simulation(incline(0, mu, 1), {.h = 1e-4});
    simulation.run(1 / (mu * kGravity) + 0.01);
    EXPECT_NEAR(simulation.state().q[0], 1 / (2 * mu * kGravity), mu * kGravity * 1e-8);
    EXPECT_EQ(simulation.state().v[0], 0);
  }
}

// --- Sizes side by side

TEST(MassRatio, StackOfLightAndHeavyBodiesRests) {
  // Thirty bodies in a row, every second a million times heavier. Rounding may lift a body off the
  // one below by less than nothing; it must not fall.
  SystemBuilder system;
  std::vector<Expression> heights;
  Expression potential = 0;
  for (int i = 0; i < 30; ++i) {
    const double mass = i % 2 == 0 ? 1 : 1e6;
    heights.push_back(system.add_coordinate("y" + std::to_string(i)));
    system.set_mass(heights.back(), heights.back(), mass);
    potential += mass * kGravity * heights.back();
    system.add_contact({.name = "contact " + std::to_string(i),
                        .gap = i == 0 ? heights[0] : heights[i] - heights[i - 1]});
  }
  system.set_potential(potential);
  for (const double h : {1e-2, 1e-3}) {
    Simulation simulation(system.build_model(), {.h = h});
    for (int k = 0; k < 300; ++k) simulation.step();
    // A millionth of what one step of free fall would be, the band in which a contact counts as
    // touching.
    EXPECT_LT(simulation.state().q.lpNorm<Eigen::Infinity>(), 1e-6 * kGravity * h * h);
  }
}

TEST(MassRatio, GrainFallsBesideAFlywheelAndAnUnrelatedContact) {
  // One system, nothing in common: a flywheel of 5e10 J, a grain of 1e-9 kg in free fall, a mass at
  // rest.
  SystemBuilder system;
  const Expression a = system.add_coordinate("a", {0, 1e4});
  const Expression y = system.add_coordinate("y", {1, 0}), z = system.add_coordinate("z");
  system.set_mass(a, a, 1000.0);
  system.set_mass(y, y, 1e-9);
  system.set_mass(z, z, 1.0);
  system.set_potential(1e-9 * kGravity * y + kGravity * z);
  system.add_contact({.name = "floor", .gap = z});
  Simulation simulation(system.build_model(), {.h = 1e-6});
  simulation.run(1e-2);
  EXPECT_NEAR(simulation.state().q[1], 1 - kGravity * 1e-4 / 2, 1e-12);
  EXPECT_EQ(simulation.state().q[2], 0);
}

// --- Units
// -------------------------------------------------------------------------------------------

TEST(Units, MicrometresAndKilotonnesGiveTheSameMotion) {
  const auto rest_of = [](double length, double mass) {
    SystemBuilder system;
    const double g = kGravity * length;  // lengths scaled, times kept
    const Expression x = system.add_coordinate("x", {0, 1 * length}),
                     y = system.add_coordinate("y", {0.1 * length, 0});
    system.set_mass(x, x, mass);
    system.set_mass(y, y, mass);
    system.set_potential(mass * g * y);
    system.add_contact(
        {.name = "floor", .gap = y, .tangents = {{1.0, 0.0}}, .mu = 0.2, .restitution = 0.3});
    Simulation simulation(system.build_model(), {.h = 1e-3});
    simulation.run(1);
    return simulation.state().q[0] / length;
  };
  const double reference = rest_of(1, 1);
  for (const double length : {1e-9, 1e-6, 1e6})
    for (const double mass : {1e-12, 1e-3, 1e9})
      EXPECT_NEAR(rest_of(length, mass), reference, 1e-10) << length << " " << mass;
}

}  // namespace
}  // namespace stiction::testing
