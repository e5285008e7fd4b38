// Things that stand on each other, and fall: a stack with the heaviest plate on top, a row of
// dominoes, houses of cards, and balls that run through a funnel.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "tests/example_scene.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

constexpr double kPileGravity = 9.81;

/// The largest rise of energy in any one step [J].
class StepEnergy {
 public:
  explicit StepEnergy(const Simulation& simulation)
      : simulation_(simulation), last_(simulation.energy().now.total()) {}
  void add() {
    const double now = simulation_.energy().now.total();
    rise = std::max(rise, now - last_);
    last_ = now;
  }
  double rise = 0;

 private:
  const Simulation& simulation_;
  double last_;
};

// -------------------------------------------------------------------------------------------------
// Heavy stack

/// Mean normal force of the last step between every body and the one below it [N].
std::vector<double> forces_of_levels(const Simulation& simulation) {
  std::vector<double> forces(10, 0.0);
  for (const ContactOutcome& contact : simulation.contacts())
    forces.at(std::min(contact.place.a, contact.place.b)) += contact.impulse[0];
  for (double& force : forces) force /= simulation.options().h;
  return forces;
}

TEST(ContactHeavyStack, EveryPlateBearsTheWeightAbove) {
  for (const double heaviest : {1e3, 1e4}) {
    const Scene scene = edited_scene("heavy-stack", [&](nlohmann::ordered_json& document) {
      document["parameters"]["M"] = heaviest;
    });
    for (const std::string& scheme : scheme_names()) {
      SCOPED_TRACE(scheme + " " + std::to_string(heaviest));
      SimulationOptions options = options_of(scene, scheme, scene.simulate.h);
      // The scene's solver takes symmetric masses only.
      options.stepping.gyroscopic = GyroscopicTerm::kExplicit;
      options.stepping.jacobians = ForceJacobians::kSpringsOnly;
      Simulation simulation(scene.model, options);
      const MechanismWatch watch(simulation);
      for (int n = 0; n < 100; ++n) simulation.step();
      const std::vector<double> forces = forces_of_levels(simulation);
      for (int level = 0; level < 10; ++level) {
        const double weight = kPileGravity * (heaviest + 9 - level);
        EXPECT_NEAR(forces[level], weight, options.tolerance * weight) << level;
      }
      EXPECT_EQ(simulation.contacts().size(), 40u);
      // A contact of spook gives way by its compliance, 1e-10 of the mobility at the corner of two
      // plates (13/kg), under a quarter of the weight: 3 nm, and more while it settles.
      const double sag = scheme == "spook"
                             ? 3e-10 * 13 * options.h * options.h * kPileGravity * heaviest / 4
                             : 1e-12;
      EXPECT_GE(simulation.summary().gap_min, -sag);
      EXPECT_NEAR(watch.pose("plate 10").position.z(), 0.95, 10 * sag);
      // What the tolerance leaves of the heaviest one's momentum may be with a plate of 1 kg.
      EXPECT_LE(simulation.state().v.lpNorm<Eigen::Infinity>(),
                options.tolerance * heaviest * kPileGravity * options.h);
    }
  }
}

// -------------------------------------------------------------------------------------------------
// Dominoes

/// How far a domino is from upright [rad].
double tilt_of(const MechanismWatch& watch, int number) {
  return std::acos(std::min(1.0, watch.pose("domino " + std::to_string(number)).rotation(2, 2)));
}

struct DominoRun {
  double speed = 0;  // [m/s] of the wave from the fifth domino to the last
  double rise = 0;   // [J] of energy in any one step
  double least_tilt = 0;
  double gap_min = 0;
};

DominoRun topple(const Scene& scene, double h) {
  Simulation simulation(scene.model, options_of(scene, scene.simulate.scheme, h));
  const MechanismWatch watch(simulation);
  StepEnergy energy(simulation);
  std::map<int, double> falls;
  while (simulation.state().t < scene.simulate.duration - h / 2) {
    const double before_5 = tilt_of(watch, 5), before_20 = tilt_of(watch, 20);
    simulation.step();
    energy.add();
    for (const auto& [number, before] : {std::pair(5, before_5), std::pair(20, before_20)}) {
      const double after = tilt_of(watch, number);
      // Beyond the corner over which it stands, at atan(T/H), it falls by itself.
      const double critical = std::atan(7.5 / 48);
      if (before < critical && after >= critical && !falls.contains(number))
        falls[number] = simulation.state().t - h * (after - critical) / (after - before);
    }
  }
  DominoRun run{.speed = 15 * 0.02 / (falls.at(20) - falls.at(5)),
                .rise = energy.rise,
                .least_tilt = 10,
                .gap_min = simulation.summary().gap_min};
  for (int k = 1; k <= 20; ++k) run.least_tilt = std::min(run.least_tilt, tilt_of(watch, k));
  return run;
}

// Side by side they lie at asin(T/s) to the table; feet that have slipped towards each other make
// it steeper.
const double kLeastTilt = std::numbers::pi / 2 - std::asin(7.5 / 12.5);

/// By how much one linear problem per step misses the path of a corner [m], (ωh)²H/2 at 20 rad/s.
double curvature_of_path(double h) { return std::pow(20 * h, 2) * 0.048 / 2; }
/// Energy that lifts a domino out of what it has sunk in by that [J].
double energy_of_lifting(double h) {
  return 700 * 0.048 * 0.024 * 0.0075 * kPileGravity * curvature_of_path(h);
}

TEST(ContactDominoes, AllFallInAWaveWhoseSpeedNumberingDoesNotChange) {
  const Scene scene = example_scene("dominoes");
  const Scene renumbered = edited_scene("dominoes", [](nlohmann::ordered_json& document) {
    std::reverse(document["bodies"].begin(), document["bodies"].end());
  });
  const DominoRun run = topple(scene, 1e-3), other = topple(renumbered, 1e-3);
  RecordProperty("speed", std::to_string(run.speed));
  for (const DominoRun* each : {&run, &other}) {
    EXPECT_GE(each->least_tilt, kLeastTilt);
    EXPECT_LE(each->rise, energy_of_lifting(1e-3));
    EXPECT_GE(each->gap_min, -curvature_of_path(1e-3));
  }
  EXPECT_NEAR(other.speed, run.speed, 1e-5 * run.speed);
}

TEST(SlowContactDominoes, WaveHasTheSameSpeedInSmallerSteps) {
  const Scene scene = example_scene("dominoes");
  const DominoRun run = topple(scene, 1e-3), fine = topple(scene, 5e-4);
  EXPECT_GE(fine.least_tilt, kLeastTilt);
  EXPECT_LE(fine.rise, energy_of_lifting(5e-4));
  EXPECT_NEAR(fine.speed, run.speed, 0.05 * run.speed);  // a domino takes some 20 steps
}

// -------------------------------------------------------------------------------------------------
// Cards

constexpr double kLean = 20 * std::numbers::pi / 180;

/// The two cards on the left, with factors of friction at the head and at the foot.
Scene pair_of_cards(double mu_head, double mu_foot) {
  return edited_scene("card-house", [&](nlohmann::ordered_json& document) {
    document["parameters"]["mu"] = mu_head;
    document["parameters"]["mu_table"] = mu_foot;
    document["bodies"].erase(document["bodies"].begin() + 3, document["bodies"].end());
  });
}

constexpr double kFallen = 1e-4;  // [m] what stands does not move by more than rounding

/// How far a body has come down at most [m]; stops where that is `kFallen`.
double fall_of(const Scene& scene, const std::string& scheme, double duration) {
  Simulation simulation(scene.model, options_of(scene, scheme, scene.simulate.h));
  const VectorXd start = simulation.state().q;
  double fall = 0;
  while (simulation.state().t < duration && fall < kFallen) {
    simulation.step();
    for (Eigen::Index i = 2; i < start.size(); i += 7)
      fall = std::max(fall, start[i] - simulation.state().q[i]);
  }
  return fall;
}

TEST(ContactCards, TwoLeanOnEachOtherAboveTheThresholdsOnly) {
  const double head = std::tan(kLean), foot = (std::tan(kLean) - 1e-3 / 0.09) / 2;
  for (const std::string scheme : {"stewart-trinkle", "moreau"}) {
    SCOPED_TRACE(scheme);
    EXPECT_LE(fall_of(pair_of_cards(0.5, 1.02 * foot), scheme, 0.5), 1e-9);
    EXPECT_GE(fall_of(pair_of_cards(0.5, 0.98 * foot), scheme, 0.5), kFallen);
    EXPECT_LE(fall_of(pair_of_cards(1.02 * head, 0.5), scheme, 0.5), 1e-9);
    EXPECT_GE(fall_of(pair_of_cards(0.98 * head, 0.5), scheme, 0.5), kFallen);
  }
}

TEST(ContactCards, HouseStandsAboveTheThresholdOnly) {
  for (const std::string scheme : {"stewart-trinkle", "moreau", "spook"}) {
    SCOPED_TRACE(scheme);
    EXPECT_LE(fall_of(example_scene("card-house"), scheme, 1), 1e-8);
  }
  const Scene slippery = edited_scene("card-house", [](nlohmann::ordered_json& document) {
    document["parameters"]["mu"] = 0.9 * std::tan(kLean);
  });
  EXPECT_GE(fall_of(slippery, "stewart-trinkle", 1), kFallen);
}

// -------------------------------------------------------------------------------------------------
// Funnel

constexpr double kBall = 0.02;

double distance_to_segment(const Eigen::Vector2d& p, const Eigen::Vector2d& from,
                           const Eigen::Vector2d& to) {
  const Eigen::Vector2d way = to - from;
  const double share = std::clamp((p - from).dot(way) / way.squaredNorm(), 0.0, 1.0);
  return (p - from - share * way).norm();
}

/// How deep a ball is in the wall of the funnel that is nearest to it [m]: its radius, and more,
/// once its centre has passed to the other side. Walls are upright up to 0.3 m and then rise by 0.2
/// over 0.15.
double depth_in_wall(const Eigen::Vector3d& p) {
  if (p.z() < 0.2) return -1;
  const Eigen::Vector2d place(p.head<2>().lpNorm<Eigen::Infinity>(), p.z());
  const Eigen::Vector2d outlet(0.05, 0.2), throat(0.05, 0.3), rim(0.2, 0.5);
  const double distance =
      std::min(distance_to_segment(place, outlet, throat), distance_to_segment(place, throat, rim));
  const bool is_inside = place.x() < 0.05 + std::max(0.0, 0.75 * (place.y() - 0.3));
  return kBall + (is_inside ? -distance : distance);
}

TEST(ContactFunnel, AllBallsRunThroughAndNoneThroughTheWalls) {
  const Scene scene = example_scene("funnel");
  for (const std::string scheme : {"stewart-trinkle", "spook"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(scene.model, options_of(scene, scheme, scene.simulate.h));
    const MechanismWatch watch(simulation);
    StepEnergy energy(simulation);
    double depth = -1;
    while (simulation.state().t < scene.simulate.duration) {
      simulation.step();
      energy.add();
      for (int k = 1; k <= 24; ++k)
        depth = std::max(depth, depth_in_wall(watch.pose("ball " + std::to_string(k)).position));
    }
    // Schemes on velocity level notice a ball when it has hit, up to a step late.
    const double speed = std::sqrt(2 * kPileGravity * 0.6);
    const double late = scheme == "spook" ? speed * scene.simulate.h : 1e-9;
    EXPECT_LE(depth, late);
    EXPECT_GE(simulation.summary().gap_min, -late);
    if (scheme != "spook") {
      EXPECT_LE(energy.rise, 1e-9);
    }
    for (int k = 1; k <= 24; ++k)
      EXPECT_LT(watch.pose("ball " + std::to_string(k)).position.z(), 0.2) << k;
  }
}

}  // namespace
}  // namespace stiction::testing
