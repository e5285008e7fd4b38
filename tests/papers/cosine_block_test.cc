// E7's block under 8 cos t (Potra et al. 2006, §10.2) with Moreau's scheme, against the closed
// form.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/fitted_slope.h"

namespace stiction::testing {
namespace {

constexpr double kFriction = 0.8 * 9.81;  // [N] = [m/s²] for m = 1

struct Motion {
  double x = 3, v = 0;
};

/// Bisection for the sign change of f in (a, b).
template <class Function>
double root(const Function& f, double a, double b) {
  const bool rises = f(b) > 0;
  for (int i = 0; i < 200; ++i) {
    const double m = 0.5 * (a + b);
    ((f(m) > 0) == rises ? b : a) = m;
  }
  return 0.5 * (a + b);
}

/// Slides from t₀ with direction s: v = 8 (sin t − sin t₀) − s F (t − t₀), until v returns to zero;
/// sticks until |8 cos t| reaches F again; and so on. The first slide starts at t = 0.
Motion closed_form(double t_end) {
  Motion motion;
  double t0 = 0;
  for (int slide = 0; t0 < t_end; ++slide) {
    const double s = slide % 2 == 0 ? 1 : -1;
    const auto v = [&](double t) {
      return 8 * (std::sin(t) - std::sin(t0)) - s * kFriction * (t - t0);
    };
    const auto dx = [&](double t) {
      return 8 * (std::cos(t0) - std::cos(t)) - 8 * std::sin(t0) * (t - t0) -
             s * kFriction * (t - t0) * (t - t0) / 2;
    };
    const double stop = root(v, t0 + 0.05, t0 + 1);  // s·v is positive at first, negative later
    const double until = std::min(stop, t_end);
    motion.x += dx(until);
    motion.v = until < stop ? v(until) : 0;
    // Next slide: the force reaches friction on the other side.
    const double half = slide + 1;
    t0 = half * std::numbers::pi - std::acos(kFriction / 8);
  }
  return motion;
}

double error_at(double h, double t_end) {
  Simulation simulation(example_scene("cosine-block").model, {.h = h});
  simulation.run(t_end);
  const Motion exact = closed_form(t_end);
  return std::abs(simulation.state().q[0] - exact.x) + std::abs(simulation.state().v[0] - exact.v);
}

TEST(CosineBlock, FollowsTheClosedFormWithOrderTwo) {
  // Forces are taken at mid-step and sticking ends a slide exactly, so on this problem the scheme
  // has order two: each transition costs O(h²) once.
  std::vector<double> steps, errors;
  for (double h = 1.0 / 32; h > 1.0 / 2048; h /= 2) {
    double error = 0;
    for (int k = 0; k < 8; ++k) error += error_at(h * (1 + 0.03 * k), 10) / 8;
    steps.push_back(h);
    errors.push_back(error);
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2.0, 0.3);
}

TEST(CosineBlock, SticksWithoutCreep) {
  Simulation simulation(example_scene("cosine-block").model, {.h = 1e-3});
  simulation.run(0.5);  // the first slide ends at 0.34 s
  const double x = simulation.state().q[0];
  simulation.run(2);  // the next begins at π − acos(0.981) = 2.946 s
  EXPECT_EQ(simulation.state().q[0], x);
  EXPECT_EQ(simulation.state().v[0], 0);
  ASSERT_EQ(simulation.contacts().size(), 1u);
  EXPECT_EQ(simulation.contacts()[0].status, ContactStatus::kStick);
}

}  // namespace
}  // namespace stiction::testing
