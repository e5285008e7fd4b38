// Heaps of jacks, whose corners meet edges and corners: the case on which Potra et al. (2006),
// §10.4 failed. They come to rest, with sharp bars and with round ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "stiction/audit/separation.h"
#include "stiction/base/random.h"
#include "tests/example_scene.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

Scene round_jacks() {
  return edited_scene("jacks", [](nlohmann::ordered_json& document) {
    for (std::size_t k = 1; k < document["bodies"].size(); ++k) {
      auto shapes = nlohmann::ordered_json::array();
      for (const int axis : {0, 1, 2}) {
        nlohmann::ordered_json bar{
            {"type", "capsule"}, {"radius", "d/2"}, {"length", "l - d"}, {"material", "tin"}};
        if (axis < 2) bar["orientation"] = {{"axis", {axis, 1 - axis, 0}}, {"angle_deg", 90}};
        shapes.push_back(bar);
      }
      document["bodies"][k]["shapes"] = shapes;
    }
  });
}

/// [J] Of a jack, three bars of 2,700 kg/m³, at the speed that it gains in a step. Contacts of
/// `spook` that open within a step act from the next one on, so that one may rock below that speed.
double energy_of_a_step(double h) {
  constexpr double kMass = 3 * 2700 * 0.1 * 0.02 * 0.02, kGravity = 9.81;
  return 0.5 * kMass * (kGravity * h) * (kGravity * h);
}

/// Falls for `duration`; kinetic energy must then be below 1e-6 of what it could have been, or
/// below `least`, and stay there.
void expect_rest(const Scene& scene, const SimulationOptions& options, double duration,
                 double least = 0) {
  Simulation simulation(scene.model, options);
  EnergyTrack energy(simulation);
  const double start = simulation.energy().now.total();
  while (simulation.state().t < duration - options.h / 2) {
    simulation.step();
    energy.add();
  }
  EXPECT_LE(energy.gain, 1e-9 * start);
  double kinetic = 0;
  for (int n = 0; n < 100; ++n) {
    simulation.step();
    kinetic = std::max(kinetic, simulation.energy().now.kinetic);
  }
  EXPECT_LE(kinetic, std::max(1e-6 * start, least));
  EXPECT_GE(simulation.summary().contacts_max, 16);  // three points for nearly every jack
  const MechanismWatch watch(simulation);
  double highest = 0;
  for (int k = 1; k <= 8; ++k) {
    const double z = watch.pose("jack " + std::to_string(k)).position.z();
    EXPECT_GT(z, 0.01) << k;  // half a bar
    highest = std::max(highest, z);
  }
  EXPECT_LT(highest, 0.2);
}

TEST(ContactJacks, SharpOnesComeToRest) {
  const Scene scene = example_scene("jacks");
  {
    SCOPED_TRACE("stewart-trinkle, linear");
    SimulationOptions options = options_of(scene, "stewart-trinkle", 1e-3);
    options.stepping.nonlinear = false;
    expect_rest(scene, options, 4);
  }
  SCOPED_TRACE("spook");
  expect_rest(scene, options_of(scene, "spook", 1e-3), 4, energy_of_a_step(1e-3));
}

TEST(SlowContactJacks, SharpOnesComeToRestInNonlinearSteps) {
  const Scene scene = example_scene("jacks");
  expect_rest(scene, options_of(scene, "stewart-trinkle", 1e-3), 5);
}

/// Which of several directions parts two bars is chosen such that nothing is pushed apart.
TEST(ContactJacks, NoStepAddsEnergy) {
  const Scene scene = example_scene("jacks");
  Simulation simulation(scene.model, options_of(scene, "stewart-trinkle", 1e-3));
  double before = simulation.energy().now.total();
  const double start = before;
  while (simulation.state().t < 0.55) {
    simulation.step();
    const double now = simulation.energy().now.total();
    ASSERT_LE(now - before, 1e-9 * start) << simulation.state().t;
    before = now;
  }
  EXPECT_LT(before, 0.5 * start);
}

/// The smallest distance of bars of different bodies, by the shapes alone and by code that the
/// engine does not use; larger ones than 1 cm are not told apart.
double smallest_distance(const MechanismWatch& watch, const std::vector<std::string>& bodies,
                         const std::vector<AuditShape>& bars) {
  double smallest = 0.01;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const Pose pose_a = watch.pose(bodies[i]), pose_b = watch.pose(bodies[k]);
      for (const AuditShape& a : bars)
        for (const AuditShape& b : bars)
          smallest =
              std::min(smallest, Separation::measure({a, pose_a}, {b, pose_b}, smallest).gap);
    }
  return smallest;
}

/// What is asked for, and rounding of distances (1e-9), of the length of the bars.
double overlap_tolerance(const SimulationOptions& options) {
  return 2 * (options.tolerance + 1e-9) * 0.1;
}

/// Stewart–Trinkle 1996, §3: gaps are those at the end of the step, of the shapes themselves and
/// not only of features that faced each other at its start.
TEST(ContactJacks, NoBarsOverlapAtTheEndOfANonlinearStep) {
  const Scene scene = example_scene("jacks");
  const SimulationOptions options = options_of(scene, "stewart-trinkle", 1e-3);
  Simulation simulation(scene.model, options);
  const MechanismWatch watch(simulation);
  std::vector<std::string> bodies;
  for (int k = 1; k <= 8; ++k) bodies.push_back("jack " + std::to_string(k));
  const std::vector<AuditShape> bars{AuditShape(Box{{0.1, 0.02, 0.02}}),
                                     AuditShape(Box{{0.02, 0.1, 0.02}}),
                                     AuditShape(Box{{0.02, 0.02, 0.1}})};
  while (simulation.state().t < 0.3) {
    simulation.step();
    ASSERT_GE(smallest_distance(watch, bodies, bars), -overlap_tolerance(options))
        << simulation.state().t;
  }
  EXPECT_GE(simulation.summary().gap_min, -overlap_tolerance(options));
  EXPECT_EQ(simulation.summary().linear_steps, 0);
}

/// Two bars that fly at each other, turning by up to half a radian in a step.
Scene two_bars(const nlohmann::ordered_json& shape, Random& random) {
  return edited_scene("jacks", [&](nlohmann::ordered_json& document) {
    document["gravity"] = {0, 0, 0};
    auto bodies = nlohmann::ordered_json::array();
    const auto vector = [&](double size) {
      return nlohmann::ordered_json{random.uniform(-size, size), random.uniform(-size, size),
                                    random.uniform(-size, size)};
    };
    for (const double side : {-1.0, 1.0}) {
      nlohmann::ordered_json body{{"name", side < 0 ? "left" : "right"},
                                  {"density", 2700},
                                  {"position", {0.06 * side, 0, 0}},
                                  {"velocity", {-3 * side, 0, 0}}};
      body["orientation"] = vector(1);
      body["orientation"].push_back(random.uniform(-1, 1));
      body["angular_velocity"] = vector(300);
      body["shapes"] = {shape};
      bodies.push_back(body);
    }
    document["bodies"] = bodies;
  });
}

TEST(ContactJacks, BarsThatStrikeEachOtherWhileTheyTurnFastDoNotOverlap) {
  const std::array<nlohmann::ordered_json, 2> shapes{
      nlohmann::ordered_json{{"type", "box"}, {"size", {0.1, 0.02, 0.02}}, {"material", "tin"}},
      nlohmann::ordered_json{
          {"type", "cylinder"}, {"radius", 0.01}, {"length", 0.1}, {"material", "tin"}}};
  const std::array bars{std::vector{AuditShape(Box{{0.1, 0.02, 0.02}})},
                        std::vector{AuditShape(Cylinder{0.01, 0.1})}};
  Random random(7);
  for (std::size_t kind = 0; kind < shapes.size(); ++kind) {
    int num_linear = 0, num_struck = 0;
    for (int n = 0; n < 200; ++n) {
      const Scene scene = two_bars(shapes[kind], random);
      const SimulationOptions options = options_of(scene, "stewart-trinkle", 1e-3);
      Simulation simulation(scene.model, options);
      const MechanismWatch watch(simulation);
      for (int k = 0; k < 40; ++k) {
        const auto linear = simulation.summary().linear_steps;
        simulation.step();
        const double distance = smallest_distance(watch, {"left", "right"}, bars[kind]);
        const double told = std::min(simulation.certificate().gap, 0.0);
        ASSERT_LE(told, std::min(distance, 0.0) + overlap_tolerance(options));
        if (simulation.summary().linear_steps > linear) break;  // overlaps are pushed out later
        ASSERT_GE(distance, -overlap_tolerance(options)) << kind << ' ' << n << ' ' << k;
      }
      num_linear += simulation.summary().linear_steps > 0 ? 1 : 0;
      num_struck += simulation.summary().contacts_max > 0 ? 1 : 0;
    }
    EXPECT_GE(num_struck, 60);
    EXPECT_LE(num_linear, num_struck / 10);
  }
}

TEST(ContactJacks, RoundOnesComeToRest) {
  const Scene scene = round_jacks();
  for (const std::string scheme : {"stewart-trinkle", "spook"}) {
    SCOPED_TRACE(scheme);
    expect_rest(scene, options_of(scene, scheme, 1e-3), 2);
  }
}

}  // namespace
}  // namespace stiction::testing
