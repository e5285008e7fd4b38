// The pawl of Potra, Anitescu, Gavrea and Trinkle (2006), §10.4 on a plate of fifty triangles in
// one plane: the corners of the pawl's face are all contacts that it needs. Pieces of the plate
// that do not know of each other, as their collision detection saw them, make the problems ten
// times larger and change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "stiction/app/experiments/machines.h"
#include "tests/example_scene.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

using experiments::compare_plates;
using experiments::kPawlLength;
using experiments::PawlComparison;

TEST(ContactPawl, NeedsATenthOfTheContactsAndMovesTheSame) {
  const PawlComparison found = compare_plates("moreau", 1e-3, [](nlohmann::ordered_json&) {});
  RecordProperty("rows",
                 std::to_string(found.rows_whole) + " of " + std::to_string(found.rows_cut));
  EXPECT_GE(found.rows_cut, 10 * found.rows_whole);
  EXPECT_LE(found.difference, 1e-9 * kPawlLength);
  EXPECT_LE(found.turn, 1e-9);
}

/// With friction on the plate too, straight ahead: where the forces act within the face is not
/// unique, but their sum and the centre of pressure are, and slip has one direction.
TEST(ContactPawl, MovesTheSameUnderFriction) {
  const PawlComparison found = compare_plates("moreau", 1e-3, [](nlohmann::ordered_json& document) {
    document["materials"]["oil"]["mu"] = 0.3;
    document["simulate"]["friction"] = "disc";
    document["bodies"][1]["position"] = {-0.2e-3, 0, 0.125e-3};
    document["bodies"][1].erase("orientation");
  });
  EXPECT_GE(found.rows_cut, 10 * found.rows_whole);
  EXPECT_LE(found.difference, 1e-9 * kPawlLength);
  EXPECT_LE(found.turn, 1e-9);
}

TEST(ContactPawl, ReductionIsExact) {
  const Scene scene = example_scene("pawl");
  SimulationOptions options = options_of(scene);
  Simulation reduced(scene.model, options);
  options.collision.reduces = false;
  Simulation full(scene.model, options);
  int most_reduced = 0, most_full = 0;
  while (reduced.state().t < 4e-3) {
    reduced.step();
    full.step();
    ASSERT_LE((reduced.state().q - full.state().q).head<3>().norm(), 1e-9 * kPawlLength);
    most_reduced = std::max(most_reduced, reduced.last_problem().num_contacts());
    most_full = std::max(most_full, full.last_problem().num_contacts());
  }
  // All crossings of the plate's edges with those of the pawl's face, and its vertices below.
  RecordProperty("contacts", std::to_string(most_reduced) + " of " + std::to_string(most_full));
  EXPECT_GE(most_full, 10 * most_reduced);
}

TEST(ContactPawl, SlidesBetweenTheCheeksToTheEndOfTheSlot) {
  const Scene scene = example_scene("pawl");
  for (const std::string scheme : {"stewart-trinkle", "moreau", "spook"}) {
    SCOPED_TRACE(scheme);
    Simulation simulation(scene.model, options_of(scene, scheme, scene.simulate.h));
    const MechanismWatch watch(simulation);
    EnergyTrack energy(simulation);
    while (simulation.state().t < scene.simulate.duration) {
      simulation.step();
      energy.add();
    }
    const Pose pawl = watch.pose("pawl");
    EXPECT_GT(watch.point("pawl", {1.1e-3, 0, 0}).x(), 3.5e-3);
    EXPECT_LE(std::abs(pawl.position.y()), 0.02e-3 + 1e-6);  // the play of the slot
    EXPECT_LE(std::abs(pawl.rotation(1, 0)), 0.04 / 1.9);    // over the length of its sides
    EXPECT_NEAR(pawl.position.z(), 0.125e-3, 1e-8);          // flat on the plate
    EXPECT_LE(energy.gain, 1e-9 * energy.loss);
    EXPECT_LE(simulation.state().v.head<3>().norm(), 5e-3);  // after 0.1 m/s on its way
  }
}

}  // namespace
}  // namespace stiction::testing
