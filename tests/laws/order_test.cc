// Orders of convergence: the slope of log error over log h, fitted over six halvings. One for the
// schemes of Euler type, two for the trapezoidal ones, on smooth motions and through events. Where
// an event falls within a step is noise for a single run; errors are averaged over steps that
// differ by a few percent.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "stiction/model/system_builder.h"
#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"

namespace stiction::testing {
namespace {

/// A pendulum in its angle, with a cart: the mass matrix depends on the coordinates.
Model cart_and_pendulum() {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0.5}),
                   a = system.add_coordinate("a", {1.2, 0});
  system.set_mass(x, x, 3.0);
  system.set_mass(x, a, cos(a));
  system.set_mass(a, a, 1.0);
  system.set_potential(-9.81 * cos(a) + 2.0 * x * x);
  system.add_force(x, -0.3 * system.velocity(x) + sin(2.0 * system.time()));
  return system.build_model();
}

/// A mass on a spring that swings: the extension is curved.
Model spring_pendulum() {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {1, 0}), y = system.add_coordinate("y", {0, 0});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.set_potential(9.81 * y);
  system.add_spring({.extension = sqrt(x * x + y * y) - 1.0, .stiffness = 60, .damping = 0.5});
  return system.build_model();
}

/// A ball in a medium that drags and pulsates: flights are no parabolas.
Model dragged_ball() {
  SystemBuilder system;
  const Expression y = system.add_coordinate("y", {1, 0});
  system.set_mass(y, y, 1.0);
  system.set_potential(9.81 * y);
  system.add_force(y, -0.4 * system.velocity(y) + 2.0 * sin(5.0 * system.time()));
  system.add_contact({.gap = y, .restitution = 0.8});
  return system.build_model();
}

/// A block pushed to and fro that sticks in between, on a spring, in a medium that drags. (Without
/// drag the schemes of Euler type are of order two here: each slide of the symplectic Euler method
/// is one of Verlet's with positions shifted by h v/2, and begins and ends at v = 0.)
Model pushed_block() {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0}), y = system.add_coordinate("y", {0, 0});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.set_potential(9.81 * y);
  system.add_force(x, 6.0 * sin(2.0 * system.time()) - 3.0 * x - 0.8 * system.velocity(x));
  system.add_contact({.gap = y, .tangents = {{1.0, 0.0}}, .mu = 0.4});
  return system.build_model();
}

constexpr int kNumTimes = 8;

/// Positions at kNumTimes times spread over the duration, one column each.
MatrixXd positions(const Model& model, const SimulationOptions& options, double duration) {
  Simulation simulation(model, options);
  MatrixXd columns(model.num_q(), kNumTimes);
  for (int i = 0; i < kNumTimes; ++i) {
    simulation.run(duration / kNumTimes);
    columns.col(i) = simulation.state().q;
  }
  return columns;
}

struct Case {
  const char* name;
  Model (*model)();
  double duration, coarsest;
  int num_phases;
};

/// Of the mean error over the times and phases.
double measured_order(const Case& c, SimulationOptions options) {
  const double finest = c.coarsest * std::ldexp(1, -10);
  const MatrixXd exact =
      positions(c.model(), {.scheme = "trapezoidal-2", .solver = "lemke", .h = finest}, c.duration);
  std::vector<double> steps, errors;
  for (int k = 0; k <= 6; ++k) {
    const double h = c.coarsest * std::ldexp(1, -k);
    double error = 0;
    for (int phase = 0; phase < c.num_phases; ++phase) {
      options.h = h * (1 + 0.037 * phase);
      error += (positions(c.model(), options, c.duration) - exact).colwise().norm().mean() /
               c.num_phases;
    }
    steps.push_back(h);
    errors.push_back(error);
  }
  return fitted_order(steps, errors);
}

constexpr Case kCases[] = {{"cart and pendulum", cart_and_pendulum, 1.5, 0.02, 1},
                           {"spring pendulum", spring_pendulum, 1.5, 0.02, 1},
                           {"dragged ball", dragged_ball, 1.7, 0.02, 8},
                           {"pushed block", pushed_block, 4.0, 0.04, 8}};

TEST(Order, IsOneForTheSchemesOfEulerType) {
  for (const char* scheme : {"stewart-trinkle", "anitescu-potra", "linearly-implicit-euler"})
    for (const Case& c : kCases) {
      // Stewart and Trinkle's impacts are inelastic: another motion.
      if (scheme == std::string("stewart-trinkle") && c.name == std::string("dragged ball"))
        continue;
      EXPECT_NEAR(measured_order(c, {.scheme = scheme, .solver = "lemke"}), 1.0, 0.1)
          << scheme << ", " << c.name;
    }
}

TEST(Order, IsTwoForTheTrapezoidalSchemes) {
  for (const char* scheme : {"trapezoidal-1", "trapezoidal-2"})
    for (const Case& c : kCases)
      EXPECT_NEAR(measured_order(c, {.scheme = scheme, .solver = "lemke"}), 2.0, 0.1)
          << scheme << ", " << c.name;
}

TEST(Order, FallsToOneWithTheSpringsOnlyJacobians) {
  SimulationOptions options{.scheme = "trapezoidal-1", .solver = "lemke"};
  options.stepping.jacobians = ForceJacobians::kSpringsOnly;
  EXPECT_NEAR(measured_order(kCases[0], options), 1.0, 0.1);
  EXPECT_NEAR(measured_order(kCases[1], options), 2.0, 0.1);  // nothing but a spring
}

}  // namespace
}  // namespace stiction::testing
