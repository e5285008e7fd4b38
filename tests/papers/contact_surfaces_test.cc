// Balls on triangles: flat ones, where they must move as on a plane; folds, whose impacts have
// closed forms; hills of a height field.
//
// A ball that rolls into a fold by the angle ε keeps its angular momentum about the new point of
// contact, m R v cos ε + 2/5 m R v = 7/5 m R v⁺, if it neither bounces nor slips.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

#include "tests/example_scene.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

constexpr double kBallGravity = 9.81;

/// Of the energy 7/10 m v² of a rolling ball.
double loss_in_fold(double angle) { return 1 - std::pow((2 + 5 * std::cos(angle)) / 7, 2); }

Scene ball_on_mesh(double slope, bool is_plane = false) {
  return edited_scene("ball-on-mesh", [&](nlohmann::ordered_json& document) {
    document["parameters"]["f"] = slope;
    auto& ball = document["bodies"][1];
    if (slope == 0) {  // askew over the edges
      ball["velocity"] = {"v", "v/10", 0};
      ball["angular_velocity"] = {"-v/(10*r)", "v/r", 0};
    }
    if (is_plane) document["bodies"][0]["shapes"] = {{{"type", "plane"}, {"material", "rubber"}}};
  });
}

TEST(ContactBallOnMesh, FeelsNoEdgeOfFlatTriangles) {
  const Scene mesh = ball_on_mesh(0), plane = ball_on_mesh(0, true);
  for (const std::string& scheme : scheme_names()) {
    SCOPED_TRACE(scheme);
    Simulation on_mesh(mesh.model, options_of(mesh, scheme, 1e-3));
    Simulation on_plane(plane.model, options_of(plane, scheme, 1e-3));
    double difference = 0;
    std::size_t contacts = 0;
    for (int n = 0; n < 2800; ++n) {  // from one end of the mesh to the other
      on_mesh.step();
      on_plane.step();
      difference =
          std::max({difference, (on_mesh.state().q - on_plane.state().q).lpNorm<Eigen::Infinity>(),
                    (on_mesh.state().v - on_plane.state().v).lpNorm<Eigen::Infinity>()});
      contacts = std::max(contacts, on_mesh.contacts().size());
    }
    EXPECT_LE(difference, 1e-10);
    EXPECT_EQ(contacts, 1u);
  }
}

/// [J] A ball that rolls steadily keeps the impulses of the step before as long as they leave less
/// than 1e-9 of its speed (decision 0028): so much of its weight times its way may be gained.
double largest_gain(double way) { return 1e-9 * kBallGravity * way; }

TEST(ContactBallOnMesh, LosesInAFoldWhatAngularMomentumSays) {
  constexpr double kSlope = 0.3, h = 2e-4;
  const double angle = std::atan(kSlope), loss = 0.7 * loss_in_fold(angle);
  const Scene scene = ball_on_mesh(kSlope);
  for (const std::string scheme : {"stewart-trinkle", "moreau", "trapezoidal-2", "spook"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(scene.model, options_of(scene, scheme, h));
    const MechanismWatch watch(simulation);
    EnergyTrack energy(simulation);
    double before = 0;
    while (watch.pose("ball").position.x() < 1.55) {
      simulation.step();
      energy.add();
      if (watch.pose("ball").position.x() < 1.45) before = energy.loss;
    }
    EXPECT_LE(before, 1e-12);
    // Gravity within the step of the impact, and the O(h) of Euler's method on the slope: m g h v.
    EXPECT_NEAR(energy.loss, loss, kBallGravity * std::sin(angle) * h * 2);
    EXPECT_LE(energy.gain, largest_gain(1.55));
  }
}

TEST(ContactBallOnMesh, RollsOverGentleFoldsWithTheLossOfTheFirst) {
  constexpr double kSlope = 0.02, h = 2e-4;
  const Scene scene = ball_on_mesh(kSlope);
  const double loss = 0.7 * loss_in_fold(std::atan(kSlope));  // 2e-4 J
  for (const std::string scheme : {"stewart-trinkle", "trapezoidal-1", "trapezoidal-2"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(scene.model, options_of(scene, scheme, h));
    const MechanismWatch watch(simulation);
    EnergyTrack energy(simulation);
    while (watch.pose("ball").position.x() < 2.8) {
      simulation.step();
      energy.add();
    }
    EXPECT_NEAR(energy.loss, loss, kBallGravity * kSlope * h);
    EXPECT_LE(energy.gain, largest_gain(2.8));
    EXPECT_NEAR(watch.pose("ball").position.z(), 0.2 + kSlope, 1e-6);
    EXPECT_GE(simulation.summary().gap_min, -1e-6);
  }
}

// -------------------------------------------------------------------------------------------------
// Hills

/// The profile of ball-on-hills at its samples, 0.1 m apart from x = −2 m.
double hill(int i) {
  const double x = 0.1 * i - 2;
  return 0.05 * std::cos(std::numbers::pi * x) + 0.02 * x * x;
}

/// Angle by which the slope grows at a sample.
double fold_at(int i) {
  return std::atan((hill(i + 1) - hill(i)) / 0.1) - std::atan((hill(i) - hill(i - 1)) / 0.1);
}

/// Adds up what a rolling ball loses in the folds of valleys that it passes.
class FoldLosses {
 public:
  void pass(double from, double to, double speed) {
    for (int i = 1; i < 40; ++i) {
      const double x = 0.1 * i - 2;
      if ((from - x) * (to - x) < 0 && fold_at(i) > 0)
        total += 0.7 * speed * speed * loss_in_fold(fold_at(i));
    }
  }
  double total = 0;
};

TEST(ContactBallOnHills, LosesEnergyInTheFoldsOfValleysOnly) {
  const Scene scene = example_scene("ball-on-hills");
  Simulation simulation(scene.model, options_of(scene, "trapezoidal-2", 2.5e-4));
  EnergyTrack energy(simulation);
  FoldLosses losses;
  while (simulation.state().t < 3) {
    const double x = simulation.state().q[0];
    simulation.step();
    energy.add();
    losses.pass(x, simulation.state().q[0], simulation.state().v.head<3>().norm());
  }
  RecordProperty("loss", std::to_string(energy.loss) + " of " + std::to_string(losses.total));
  EXPECT_NEAR(energy.loss, losses.total, 0.05 * losses.total);
  EXPECT_LE(energy.gain, 1e-9);
  EXPECT_LE(simulation.summary().contacts_max, 2);
}

TEST(ContactBallOnHills, NeitherSinksInNorGainsEnergyOnAnEggBox) {
  const Scene scene = edited_scene("ball-on-hills", [](nlohmann::ordered_json& document) {
    auto& field = document["bodies"][0]["shapes"][0];
    field["size"] = {4, 4};
    field["heights"] = nlohmann::ordered_json::array();
    for (int i = 0; i <= 40; ++i) {
      field["heights"].push_back(nlohmann::ordered_json::array());
      for (int j = 0; j <= 40; ++j) field["heights"].back().push_back(hill(i) + hill(j) - 0.05);
    }
    document["bodies"][1]["velocity"] = {0.4, 0.25, 0};
    document["bodies"][1]["angular_velocity"] = {-0.25 / 0.2, 0.4 / 0.2, 0};
  });
  constexpr double h = 1e-3;
  Simulation simulation(scene.model, options_of(scene, "stewart-trinkle", h));
  EnergyTrack energy(simulation);
  double fall = 0;
  while (simulation.state().t < 3) {
    simulation.step();
    energy.add();
    fall = std::max(fall, std::abs(simulation.state().v[2]));
  }
  // Euler's method with velocities of the end keeps E ± m g h v_z/2.
  EXPECT_LE(energy.gain, kBallGravity * h * fall / 2);
  EXPECT_GE(simulation.summary().gap_min, -1e-9);
  EXPECT_LT(simulation.state().q.head<2>().lpNorm<Eigen::Infinity>(), 2);
}

}  // namespace
}  // namespace stiction::testing
