// E8: the two carts and a stopper of Potra, Anitescu, Gavrea and Trinkle 2006, section 10.3, with
// h = 0.01. Figures 6 and 7 show that the distance of the carts tends to 5 as the damper stiffens,
// the left cart to the rest of the spring as that does, and that the energy stays bounded.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "stiction/sim/simulation.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

struct Variant {
  double stiffness, damping, x0, v0, duration;
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << "stiffness " << variant.stiffness << ", damping " << variant.damping;
}

constexpr Variant with_damping(double damping) { return {100, damping, 0.1, -2, 4}; }
constexpr Variant with_stiffness(double stiffness) { return {stiffness, 10, 0.2, -3, 2}; }

/// The paper's own runs locate collisions but not stick–slip; both ways must give its results.
TracedRun run_carts(const Variant& variant, bool transitions = true) {
  const Scene scene = scene_variant("two-carts", {{"gamma", variant.stiffness},
                                                  {"delta", variant.damping},
                                                  {"x0", variant.x0},
                                                  {"v0", variant.v0}});
  SimulationOptions options = options_of(scene);
  options.stepping.events.transitions = transitions;
  return {scene.model, options, variant.duration};
}

double distance_error(const State& state) { return state.q[1] - state.q[0] - 5; }
double spring_extension(const State& state) { return state.q[0] - 0.2; }

class TwoCarts : public ::testing::TestWithParam<Variant> {};

TEST_P(TwoCarts, EnergyStaysBelowItsStart) {
  // With k̃ as misprinted in the paper, half of h k_q v, it grows to 2.5e5 J at γ = 1e6.
  const TracedRun run = run_carts(GetParam());
  const double start = run.trace.samples[0].energy;
  // Carts: 2 · v²/2; spring: γ (x0 − 0.2)²/2.
  const Variant& variant = GetParam();
  EXPECT_NEAR(start,
              variant.v0 * variant.v0 + variant.stiffness * std::pow(variant.x0 - 0.2, 2) / 2,
              1e-12);
  EXPECT_LE(run.trace.energy_max(), start);
  // All elements are linear here, so no step gains either, but for rounding.
  EXPECT_LT(run.trace.energy_gain_max(), 1e-12);
  EXPECT_LT(run_carts(variant, false).trace.energy_gain_max(), 1e-12);
}

TEST_P(TwoCarts, StopperAndFloorHold) {
  const TracedRun run = run_carts(GetParam());
  EXPECT_GT(run.simulation.summary().gap_min, -1e-12);
  EXPECT_EQ(run.simulation.summary().impact_gains, 0);
}

INSTANTIATE_TEST_SUITE_P(Paper, TwoCarts,
                         ::testing::Values(with_damping(1e2), with_damping(1e3), with_damping(1e6),
                                           with_stiffness(1e2), with_stiffness(1e4),
                                           with_stiffness(1e6)));

class TwoCartsLimits : public ::testing::TestWithParam<bool> {};

TEST_P(TwoCartsLimits, DistanceTendsToFiveAsTheDamperStiffens) {
  const double soft = run_carts(with_damping(1e2), GetParam()).trace.largest(distance_error);
  const double stiff = run_carts(with_damping(1e3), GetParam()).trace.largest(distance_error);
  const double rigid = run_carts(with_damping(1e6), GetParam()).trace.largest(distance_error);
  EXPECT_LT(rigid, 5e-6);
  EXPECT_LT(stiff, soft / 5);
  EXPECT_LT(rigid, stiff / 500);
}

TEST_P(TwoCartsLimits, LeftCartTendsToTheRestOfTheSpringAsThatStiffens) {
  const double soft = run_carts(with_stiffness(1e2), GetParam()).trace.largest(spring_extension);
  const double stiff = run_carts(with_stiffness(1e4), GetParam()).trace.largest(spring_extension);
  const double rigid = run_carts(with_stiffness(1e6), GetParam()).trace.largest(spring_extension);
  EXPECT_LT(rigid, 3e-3);
  // No more than all energy of both carts, 9 J, in the spring.
  EXPECT_LT(soft, std::sqrt(2 * 9 / 1e2));
  EXPECT_LT(stiff, std::sqrt(2 * 9 / 1e4));
  EXPECT_LT(stiff, soft);
  EXPECT_LT(rigid, stiff);
}

INSTANTIATE_TEST_SUITE_P(Transitions, TwoCartsLimits, ::testing::Values(true, false));

TEST(TwoCartsStopper, OnlyTheSoftestSpringLetsTheCartReachTheStopper) {
  // |v0|/√γ against 0.2: 0.3 at γ = 100, 0.03 at 1e4. The floor and the damper take some of it.
  EXPECT_GT(run_carts(with_stiffness(1e2)).simulation.summary().count(EventKind::kCollision), 0);
  EXPECT_EQ(run_carts(with_stiffness(1e4)).simulation.summary().count(EventKind::kCollision), 0);
  EXPECT_EQ(run_carts(with_stiffness(1e6)).simulation.summary().count(EventKind::kCollision), 0);
}

}  // namespace
}  // namespace stiction::testing
