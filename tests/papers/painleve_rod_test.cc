// Painlevé's sliding rod: impact without collision where sliding has no solution.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string_view>

#include "stiction/sim/simulation.h"
#include "tests/example_scene.h"
#include "tests/papers/scene_variant.h"
#include "tests/papers/trace.h"

namespace stiction::testing {
namespace {

constexpr double kMu = 2, kAngle = 1.2, kSpeed = -4;

/// N M⁻¹(N + μT)ᵀ of sliding to the left for m = l = 1, J = 1/3: the normal acceleration per normal
/// force.
double sliding_delassus(double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return 1 + 3 * c * (c - kMu * s);
}

TEST(PainleveRod, StartsWhereSlidingHasNoSolution) { EXPECT_LT(sliding_delassus(kAngle), 0); }

TEST(PainleveRod, EndStopsWithinOneStepByAnImpactWithoutCollision) {
  constexpr double kStep = 1e-6;
  Simulation simulation(example_scene("painleve-rod").model, {.h = kStep});
  simulation.step();
  // Stick impact: W (ν, β) = (0, 4) with W = [1+3c², −3sc; −3sc, 1+3s²], det W = 4.
  const double c = std::cos(kAngle), s = std::sin(kAngle);
  const double normal = 3 * s * c * -kSpeed / 4, friction = (1 + 3 * c * c) * -kSpeed / 4;
  ASSERT_LT(friction, kMu * normal);  // inside the cone: it sticks
  ASSERT_EQ(simulation.contacts().size(), 1u);
  const ContactOutcome& contact = simulation.contacts()[0];
  EXPECT_EQ(contact.status, ContactStatus::kStick);
  // Gravity and the change of the angle within a step are of order h.
  EXPECT_NEAR(contact.impulse[0], normal, 20 * kStep);
  EXPECT_NEAR(contact.impulse[1], friction, 20 * kStep);
  EXPECT_NEAR(simulation.state().v[0], kSpeed + friction, 20 * kStep);
  EXPECT_NEAR(simulation.state().v[1], normal, 20 * kStep);
  EXPECT_NEAR(simulation.state().v[2], 3 * (-c * normal + s * friction), 60 * kStep);
}

TEST(PainleveRod, SlidesByTheEquationsOfMotionOutsideTheParadox) {
  // At 1.5 rad sliding to the left has a unique solution; one step against it, friction at its
  // bound.
  constexpr double kStep = 1e-5, kSteep = 1.5;
  ASSERT_GT(sliding_delassus(kSteep), 0);
  const Scene scene = example_scene("painleve-rod");
  ModelBuilder builder;
  builder.add_system(scene.model.parts()[0].system, Eigen::Vector3d(0, std::sin(kSteep), kSteep),
                     Eigen::Vector3d(kSpeed, 0, 0));
  Simulation simulation(builder.build(), {.h = kStep});
  simulation.step();
  const double force = 9.81 / sliding_delassus(kSteep);  // N'' = −g + A ν/h = 0
  // The rows are taken h/2 later, at the same angle since the rod does not turn at the start:
  // exact.
  EXPECT_NEAR(simulation.contacts().at(0).impulse[0] / kStep, force, 1e-9 * force);
  EXPECT_NEAR(simulation.contacts().at(0).impulse[1] / kStep, kMu * force, 1e-9 * force);
  EXPECT_EQ(simulation.contacts()[0].status, ContactStatus::kSlip);
}

TEST(PainleveRod, EveryStepHasASolutionAndTheRodIsThrownOverItsEnd) {
  Simulation simulation(example_scene("painleve-rod").model, {.h = 1e-4});
  double energy = simulation.energy().now.total();
  bool is_below = true;
  struct : StepObserver {
    void on_step(const StepRecord& record) override {
      angle_max = std::max(angle_max, record.state.q[2]);
    }
    double angle_max = 0;
  } observer;
  simulation.add_observer(observer);
  for (int k = 0; k < 10000; ++k) {
    simulation.step();
    // A step that closes a contact already moving apart may keep m(gh)²/8 and the like: rounding
    // beside the 17 J of the start.
    is_below = is_below && simulation.energy().now.total() <= energy + 1e-6;
    energy = simulation.energy().now.total();
  }
  EXPECT_TRUE(is_below);
  EXPECT_GT(observer.angle_max, std::numbers::pi / 2 + 0.5);
  EXPECT_LT(simulation.summary().residual_max, 1e-9);
}

class PainleveRodSchemes : public ::testing::TestWithParam<const char*> {};

TEST_P(PainleveRodSchemes, EndStopsWithinOneStepByTheImpulseOfSticking) {
  constexpr double kStep = 1e-6;
  const Scene scene = example_scene("painleve-rod");
  Simulation simulation(scene.model, options_of(scene, GetParam(), kStep));
  simulation.step();
  // As above. In trapezoidal-2 it is the mean velocity that sticks: twice the impulse, and the end
  // comes out of the step as fast as it went in.
  const double factor = std::string_view(GetParam()) == "trapezoidal-2" ? 2 : 1;
  const double c = std::cos(kAngle), s = std::sin(kAngle);
  const double normal = factor * 3 * s * c * -kSpeed / 4;
  const double friction = factor * (1 + 3 * c * c) * -kSpeed / 4;
  ASSERT_EQ(simulation.contacts().size(), 1u);
  EXPECT_EQ(simulation.contacts()[0].status, ContactStatus::kStick);
  EXPECT_NEAR(simulation.contacts()[0].impulse[0], normal, 40 * kStep);
  EXPECT_NEAR(simulation.contacts()[0].impulse[1], friction, 40 * kStep);
  const double slip = simulation.state().v[0] + s * simulation.state().v[2];
  EXPECT_NEAR(slip, (1 - factor) * kSpeed, 200 * kStep);
}

TEST_P(PainleveRodSchemes, EveryStepHasASolutionAndNoneGainsMuchEnergy) {
  const Scene scene = example_scene("painleve-rod");
  const TracedRun run(scene.model, options_of(scene, GetParam(), 1e-3), 1);
  EXPECT_LT(run.simulation.summary().residual_max, 1e-9);
  EXPECT_EQ(run.simulation.summary().steps, 1000);
  // Impulses take energy away for the rows they act along; rows turn by hθ′, below 1 %, in a step.
  EXPECT_LT(run.trace.energy_max(), run.trace.samples[0].energy * (1 + 1e-3));
  EXPECT_LT(run.trace.samples.back().energy, 0.5 * run.trace.samples[0].energy);
}

INSTANTIATE_TEST_SUITE_P(All, PainleveRodSchemes,
                         ::testing::Values("stewart-trinkle", "anitescu-potra",
                                           "linearly-implicit-euler", "trapezoidal-1",
                                           "trapezoidal-2", "moreau"));

}  // namespace
}  // namespace stiction::testing
