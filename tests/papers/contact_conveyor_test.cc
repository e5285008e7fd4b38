// A box and a ball on a running belt, against closed forms: Coulomb friction gives both the
// acceleration μg while they slip; a box ends with the belt's speed V, a ball, whose surface gains
// 5/2 μg by rotation, rolls with 2V/7.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/example_scene.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

constexpr double kBeltSpeed = 2, kBallRadius = 0.1;
constexpr double kPush = 0.4 * 9.81;  // μg

/// Speeds along the belt, and the distance of the box.
struct BeltRiders {
  double box = 0, ball = 0, spin = 0, distance = 0;
};

BeltRiders riders_at(double t) {
  const double end = kBeltSpeed / kPush, box = std::min(kPush * t, kBeltSpeed);
  return {.box = box,
          .ball = std::min(kPush * t, 2 * kBeltSpeed / 7),
          .spin = std::min(2.5 * kPush * t, 5 * kBeltSpeed / 7) / kBallRadius,
          .distance = box * std::min(t, end) / 2 + box * std::max(t - end, 0.0)};
}

BeltRiders riders_of(const Simulation& simulation) {
  const MechanismWatch watch(simulation);
  const VectorXd& v = simulation.state().v;  // of the box, then of the ball
  return {.box = v[0],
          .ball = v[6],
          .spin = (watch.pose("ball").rotation * watch.angular_velocity("ball")).norm(),
          .distance = watch.pose("box").position.x()};
}

TEST(ContactConveyor, BoxAndBallGainSpeedAtTheRateOfFrictionUntilTheySlipNoMore) {
  const Scene scene = example_scene("conveyor");
  const double h = 1e-3;
  for (const std::string scheme :
       {"stewart-trinkle", "moreau", "linearly-implicit-euler", "spook", "trapezoidal-1"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(scene.model, options_of(scene, scheme, h));
    for (int n = 0; n < 800; ++n) {
      simulation.step();
      const double t = simulation.state().t;
      const BeltRiders found = riders_of(simulation), exact = riders_at(t);
      // Only the step in which slip ends may differ, by no more than it changes speeds.
      const bool is_switching = std::abs(t - kBeltSpeed / kPush) < 1.001 * h ||
                                std::abs(t - kBeltSpeed / (3.5 * kPush)) < 1.001 * h;
      const double allowed = is_switching ? kPush * h : 1e-8;
      ASSERT_NEAR(found.box, exact.box, allowed) << t;
      ASSERT_NEAR(found.ball, exact.ball, allowed) << t;
      ASSERT_NEAR(found.spin, exact.spin, 2.5 * allowed / kBallRadius) << t;
      // Speeds of the ends of steps are ahead by half a step of μg, but for trapezoidal rules.
      ASSERT_NEAR(found.distance, exact.distance, kPush * h * std::min(t, 0.51) / 2 + 1e-8) << t;
    }
    EXPECT_GE(simulation.summary().gap_min, -1e-9);
  }
}

TEST(ContactConveyor, TrapezoidalRuleFindsTheTimesWhenSlipEnds) {
  const Scene scene = example_scene("conveyor");
  Simulation simulation(scene.model, options_of(scene, "trapezoidal-1", 1e-3));
  std::vector<double> times;
  while (simulation.state().t < 0.6) {
    simulation.step();
    for (const StepEvent& event : simulation.events())
      if (event.kind == EventKind::kStick) times.push_back(event.time);
  }
  ASSERT_EQ(times.size(), 5u);  // the ball, and four corners of the box
  EXPECT_NEAR(times.front(), kBeltSpeed / (3.5 * kPush), 1e-9);
  for (std::size_t k = 1; k < times.size(); ++k)
    EXPECT_NEAR(times[k], kBeltSpeed / kPush, 1e-9) << k;
}

TEST(ContactConveyor, WorkOfTheBeltIsHeatAndMotion) {
  const Scene scene = example_scene("conveyor");
  Simulation simulation(scene.model, options_of(scene, "stewart-trinkle", 1e-3));
  while (simulation.state().t < 0.8) simulation.step();
  const EnergyLedger& energy = simulation.energy();
  // Momentum times V: of the box 3 kg · V, of the ball 1 kg · 2V/7. Half of it is heat.
  const double work = kBeltSpeed * kBeltSpeed * (3 + 2.0 / 7);
  EXPECT_NEAR(energy.motor, work, 1e-8 * work);
  EXPECT_NEAR(energy.now.kinetic, work / 2, 1e-8 * work);
  EXPECT_NEAR(energy.friction, -work / 2, 1e-8 * work);
}

}  // namespace
}  // namespace stiction::testing
