// Heaps of jacks, whose corners meet edges and corners: the case on which Potra et al. (2006),
// §10.4 failed. They come to rest, with sharp bars and with round ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

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

/// Falls for `duration`; kinetic energy must then be below 1e-6 of what it could have been, and
/// stay there.
void expect_rest(const Scene& scene, const SimulationOptions& options, double duration) {
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
  EXPECT_LE(kinetic, 1e-6 * start);
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
  expect_rest(scene, options_of(scene, "spook", 1e-3), 4);
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

TEST(ContactJacks, RoundOnesComeToRest) {
  const Scene scene = round_jacks();
  for (const std::string scheme : {"stewart-trinkle", "spook"}) {
    SCOPED_TRACE(scheme);
    expect_rest(scene, options_of(scene, scheme, 1e-3), 2);
  }
}

}  // namespace
}  // namespace stiction::testing
