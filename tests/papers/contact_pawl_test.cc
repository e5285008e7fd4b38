// The pawl of Potra, Anitescu, Gavrea and Trinkle (2006), §10.4 on a plate of fifty triangles in
// one plane: the corners of the pawl's face are all contacts that it needs. Pieces of the plate
// that do not know of each other, as their collision detection saw them, make the problems ten
// times larger and change nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/example_scene.h"
#include "tests/papers/mechanism_watch.h"
#include "tests/papers/scene_variant.h"

namespace stiction::testing {
namespace {

constexpr double kPawlLength = 2.3e-3, kPlateThickness = 0.2e-3;

/// A prism under every triangle instead of the mesh.
void cut_plate(nlohmann::ordered_json& document) {
  auto& shapes = document["bodies"][0]["shapes"];
  const nlohmann::ordered_json mesh = shapes[0];
  shapes.erase(0);
  for (const auto& triangle : mesh["triangles"]) {
    auto points = nlohmann::ordered_json::array();
    for (const double z : {0.0, -kPlateThickness})
      for (const auto& vertex : triangle) {
        auto point = mesh["vertices"][vertex.get<std::size_t>()];
        point[2] = z;
        points.push_back(point);
      }
    shapes.push_back({{"type", "convex"}, {"material", "oil"}, {"points", points}});
  }
}

struct PawlComparison {
  double difference = 0;                   // [m] of positions
  double turn = 0;                         // of the quaternion
  long long rows_whole = 0, rows_cut = 0;  // of all problems
};

/// The pawl on the mesh and on the pieces of it, after other changes to the scene.
template <class Edit>
PawlComparison compare_plates(const std::string& scheme, double duration, const Edit& edit) {
  const Scene whole = edited_scene("pawl", edit);
  const Scene cut = edited_scene("pawl", [&](nlohmann::ordered_json& document) {
    edit(document);
    cut_plate(document);
  });
  SimulationOptions options = options_of(whole, scheme, whole.simulate.h);
  options.collision.alternatives = false;  // the sides of pieces are inside of the plate
  Simulation on_whole(whole.model, options), on_cut(cut.model, options);
  PawlComparison found;
  while (on_whole.state().t < duration) {
    on_whole.step();
    on_cut.step();
    const VectorXd change = on_whole.state().q - on_cut.state().q;
    found.difference = std::max(found.difference, change.head<3>().lpNorm<Eigen::Infinity>());
    found.turn = std::max(found.turn, change.tail<4>().lpNorm<Eigen::Infinity>());
    found.rows_whole += on_whole.last_problem().num_contact_rows();
    found.rows_cut += on_cut.last_problem().num_contact_rows();
  }
  return found;
}

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
  while (reduced.state().t < 4e-3) {
    reduced.step();
    full.step();
    ASSERT_LE((reduced.state().q - full.state().q).head<3>().norm(), 1e-9 * kPawlLength);
  }
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
