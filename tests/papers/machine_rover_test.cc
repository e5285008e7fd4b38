// Potra, Anitescu, Gavrea & Trinkle (2006), §10.4: a rover with four driven wheels, rigid
// suspension loops and an arm on a height field. Friction drives it, the loop of balance beam and
// rods turns the rockers against each other, and so all wheels keep touching.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "stiction/app/experiments/machines.h"
#include "tests/example_scene.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

using experiments::kNumWheels;
using experiments::num_loaded_wheels;
using experiments::stiff_rover;

/// The share of steps in which all wheels carry something.
double share_of_full_support(const Scene& scene, double duration) {
  Simulation simulation(scene.model, options_of(scene));
  int full = 0, steps = 0;
  while (simulation.state().t < duration) {
    simulation.step();
    ++steps;
    if (num_loaded_wheels(simulation) == kNumWheels) ++full;
  }
  return static_cast<double>(full) / steps;
}

/// Rods of 0.3 m between points that move 1.3 mm sideways (beam, 0.35 m, 0.09 rad) and 2.3 mm down
/// (rocker, 0.2 m, 0.15 rad) turn the rockers by (1.3² + 2.3²) mm²/(2·0.3 m)/0.2 m = 6e-5 rad from
/// equal and opposite angles; joint errors of spook at this step add up to as much again.
constexpr double kUnequal = 3e-4;

TEST(Rover, CrossesRoughGroundByFrictionWithRockersThatTurnAgainstEachOther) {
  const Scene scene = example_scene("rover");
  Simulation simulation(scene.model, options_of(scene));
  const MechanismWatch watch(simulation);
  const double start = watch.pose("chassis").position.x();
  double largest_turn = 0;
  while (simulation.state().t < 6 - 1e-9) {
    simulation.step();
    const double left = watch.coordinate("left pivot"), right = watch.coordinate("right pivot");
    ASSERT_LE(std::abs(left + right), kUnequal) << simulation.state().t;
    largest_turn = std::max(largest_turn, std::abs(left));
    const double t = simulation.state().t;
    ASSERT_NEAR(watch.coordinate("shoulder"), 0.6 * (1 - std::cos(0.8 * t)), 1e-3) << t;
    ASSERT_NEAR(watch.coordinate("elbow"), -0.9 * (1 - std::cos(0.8 * t)), 1e-3) << t;
  }
  EXPECT_GE(largest_turn, 0.1);  // the ground is rough
  // Wheels of 0.2 m that turn by 4 rad/s from 0.5 s on would roll 4.6 m on a plane.
  const double way = watch.pose("chassis").position.x() - start;
  EXPECT_GE(way, 0.9 * 4.6);
  EXPECT_LE(way, 4.6);
  EXPECT_LE(simulation.summary().joint_error_max, 1e-3);
  EXPECT_GE(simulation.summary().gap_min, -5e-3);
}

TEST(Rover, BalanceBeamKeepsTheWheelsOnTheGround) {
  const double with_beam = share_of_full_support(example_scene("rover"), 4.5);
  const double without = share_of_full_support(stiff_rover(), 4.5);
  EXPECT_GE(with_beam, 0.9);
  EXPECT_LE(without, with_beam - 0.2);
}

}  // namespace
}  // namespace stiction::testing
