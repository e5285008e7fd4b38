// A mass on a spring that swings (examples/spring-pendulum.json): a spring whose direction turns,
// so that its force is not linear in the coordinates. Against a Runge–Kutta solution of the
// equations of motion, written out here.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/sim/simulation.h"
#include "tests/fitted_slope.h"
#include "tests/gravity.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

constexpr double kLength = 0.75, kStiffness = 39.24;
using Vector2 = Eigen::Vector2d;

Vector2 acceleration(const Vector2& q) {
  const double r = q.norm();
  return Vector2(0, -kGravity) - kStiffness * (r - kLength) / r * q;
}

/// Classical Runge–Kutta with steps of about 1e-4 s: error about 1e-13.
Vector2 exact_position(double t_end) {
  Vector2 q(0.1, -1.2), v(0, 0);
  const int num_steps = static_cast<int>(t_end / 1e-4);
  const double h = t_end / num_steps;
  for (int i = 0; i < num_steps; ++i) {
    const Vector2 a1 = acceleration(q), v2 = v + h / 2 * a1;
    const Vector2 a2 = acceleration(q + h / 2 * v), v3 = v + h / 2 * a2;
    const Vector2 a3 = acceleration(q + h / 2 * v2), v4 = v + h * a3;
    const Vector2 a4 = acceleration(q + h * v3);
    q += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return q;
}

TracedRun run_pendulum(const std::string& scheme, double h, double duration,
                       const std::map<std::string, double>& values = {}) {
  const Scene scene = scene_variant("spring-pendulum", values);
  return {scene.model, options_of(scene, scheme, h), duration};
}

double fitted_order_of(const std::string& scheme, int first, int last) {
  const Vector2 exact = exact_position(2);
  std::vector<double> steps, errors;
  for (int exponent = first; exponent <= last; ++exponent) {
    const double h = std::ldexp(1, -exponent);
    steps.push_back(h);
    errors.push_back((run_pendulum(scheme, h, 2).end().q - exact).norm());
  }
  return fitted_order(steps, errors);
}

TEST(SpringPendulum, TrapezoidalSchemesAreOfOrderTwo) {
  // Although the rows leave out γφ∇²φ: taken at the predicted midpoint they have the direction of
  // the force there to second order.
  EXPECT_NEAR(fitted_order_of("trapezoidal-1", 5, 11), 2.0, 0.1);
  EXPECT_NEAR(fitted_order_of("trapezoidal-2", 5, 11), 2.0, 0.1);
}

TEST(SpringPendulum, EulerSchemesAreOfOrderOne) {
  EXPECT_NEAR(fitted_order_of("linearly-implicit-euler", 8, 14), 1.0, 0.1);
  EXPECT_NEAR(fitted_order_of("anitescu-potra", 8, 14), 1.0, 0.1);
}

TEST(SpringPendulum, ImplicitEulerNeverGainsEnergyWithoutGravity) {
  // The projection gives the spring the extension that the step meant (46), which makes
  // E⁺ ≤ E a theorem (47) although the spring turns: for any step, however coarse. Gravity is left
  // out, since moving the mass onto that extension lifts or lowers it.
  for (const double h : {1e-3, 1e-2, 0.1, 0.5}) {
    const TracedRun run =
        run_pendulum("linearly-implicit-euler", h, 10, {{"g", 0}, {"v0", 2}, {"gamma", 100}});
    EXPECT_LT(run.trace.energy_gain_max(), 1e-9) << h;
  }
}

TEST(SpringPendulum, TrapezoidalEnergyErrorFallsWithTheSquareOfTheStep) {
  const auto error = [](double h) {
    const Trace trace = run_pendulum("trapezoidal-2", h, 10).trace;
    double worst = 0;
    for (const Trace::Sample& sample : trace.samples)
      worst = std::max(worst, std::abs(sample.energy - trace.samples[0].energy));
    return worst;
  };
  EXPECT_NEAR(error(0.01) / error(0.005), 4, 0.4);
}

TEST(SpringPendulum, StiffSpringIsAPendulumOnARod) {
  // Released at rest length 60° from the vertical. A quarter of the period of the pendulum is
  // √(l/g) K(sin 30°), by the complete elliptic integral, and there x = 0. The spring gives by
  // 2mg/γ = 2e-6 m at most; the implicit Euler scheme is late or early by order h.
  const double quarter = std::sqrt(kLength / kGravity) * std::comp_ellint_1(0.5);
  const std::map<std::string, double> stiff = {{"gamma", 1e7},
                                               {"x0", kLength * std::sin(std::numbers::pi / 3)},
                                               {"y0", -kLength * std::cos(std::numbers::pi / 3)}};
  const double speed = std::sqrt(kGravity * kLength);  // at the bottom, from the height l/2
  for (const double h : {1e-3, 1e-4}) {
    SCOPED_TRACE(h);
    const TracedRun run = run_pendulum("linearly-implicit-euler", h, quarter, stiff);
    EXPECT_NEAR(run.end().q[0], 0, 2 * speed * h);
    EXPECT_NEAR(run.trace.largest([](const State& s) { return s.q.norm() - kLength; }), 0, 1e-5);
  }
}

}  // namespace
}  // namespace stiction::testing
