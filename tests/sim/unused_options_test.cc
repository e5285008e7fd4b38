// What notes say of options is true: what is called unused leaves every bit of the motion as it is,
// what is not changes it.
#include "stiction/scheme/unused_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "stiction/scene/scene.h"
#include "stiction/sim/simulation.h"

namespace stiction {
namespace {

/// Something for every option: a top without symmetry that swings on a ball joint, a ball that
/// falls askew and bounces, and one that slides until it rolls.
constexpr const char* kScene = R"({"stiction": 1, "gravity": [0, 0, -9.81],
"materials": {"rubber": {"mu": 0.3, "restitution": 0.5}},
"bodies": [
  {"name": "floor", "static": true, "shapes": [{"type": "plane", "material": "rubber"}]},
  {"name": "ball", "mass": 1, "position": [0, 5, 0.23], "velocity": [1, 0, -1],
   "shapes": [{"type": "sphere", "radius": 0.2, "material": "rubber"}]},
  {"name": "slider", "mass": 1, "position": [3, 5, 0.2], "velocity": [1, 0.3, 0],
   "shapes": [{"type": "sphere", "radius": 0.2, "material": "rubber"}]},
  {"name": "top", "mass": 1, "position": [0, 0, 2], "velocity": [-0.8, 1.2, 0],
   "angular_velocity": [3, 2, 9],
   "shapes": [{"type": "box", "size": [0.5, 0.2, 0.1], "contact": false}]}],
"joints": [{"type": "ball", "bodies": ["world", "top"], "at": [0, 0, 2.4]}]})";

State run(const std::string& scheme, const SteppingOptions& stepping) {
  Diagnostics diagnostics("scene");
  const auto scene = read_scene(kScene, {}, diagnostics);
  if (!scene) throw std::runtime_error(diagnostics.to_text());
  Simulation simulation(scene->model,
                        {.scheme = scheme, .h = 0.01, .tolerance = 1e-6, .stepping = stepping});
  simulation.run(0.3);
  return simulation.state();
}

struct Case {
  const char* option;
  std::function<void(SteppingOptions&)> ask;
};

std::vector<Case> cases() {
  return {
      {"projection", [](auto& o) { o.projection = true; }},
      {"jacobians", [](auto& o) { o.jacobians = ForceJacobians::kSpringsOnly; }},
      {"gyroscopic", [](auto& o) { o.gyroscopic = GyroscopicTerm::kExplicit; }},
      {"error_control.tolerance", [](auto& o) { o.error_control.tolerance = 1e-7; }},
      {"events.contact_growth", [](auto& o) { o.events.contact_growth = 1e4; }},
      {"events.min_step", [](auto& o) { o.events.min_step = 0.9; }},
      {"events.time_tolerance", [](auto& o) { o.events.time_tolerance = 0.3; }},
      {"events.restitution_threshold", [](auto& o) { o.events.restitution_threshold = 9; }},
      {"events.contact_tolerance", [](auto& o) { o.events.contact_tolerance = 0.02; }},
      {"spook.relaxation", [](auto& o) { o.spook.relaxation = 3; }},
      {"spook.compliance", [](auto& o) { o.spook.compliance = 1e-6; }},
      {"spook.geometric_stiffness", [](auto& o) { o.spook.geometric_stiffness = false; }},
      {"spook.stiffness_return", [](auto& o) { o.spook.stiffness_return = 0.5; }},
      {"spook.position_iteration", [](auto& o) { o.spook.position_iteration = true; }},
  };
}

bool has_same_bits(const State& a, const State& b) {
  return a.t == b.t && std::ranges::equal(a.q, b.q) && std::ranges::equal(a.v, b.v);
}

TEST(UnusedOptions, AreThoseThatChangeNothing) {
  for (const std::string& scheme : scheme_names()) {
    const State usual = run(scheme, {});
    for (const auto& [option, ask] : cases()) {
      SteppingOptions options;
      ask(options);
      const std::vector<std::string> notes = describe_unused_options(scheme, options);
      ASSERT_LE(notes.size(), 1u);
      const std::string beginning = std::string(option) + " does not change steps in " + scheme;
      EXPECT_TRUE(notes.empty() || notes[0].starts_with(beginning)) << notes[0];
      // On by default: to ask for it changes nothing either.
      const bool is_usual = option == std::string("projection") &&
                            (scheme == "anitescu-potra" || scheme == "linearly-implicit-euler");
      // Explicit by default.
      const bool is_granted =
          option == std::string("gyroscopic") &&
          (scheme == "moreau" || scheme == "stewart-trinkle" || scheme == "anitescu-potra");
      EXPECT_EQ(has_same_bits(run(scheme, options), usual),
                !notes.empty() || is_usual || is_granted)
          << scheme << " " << option;
    }
  }
}

TEST(UnusedOptions, AreNoneByDefaultNorWhereTheyAskForWhatIsDoneAnyway) {
  SteppingOptions granted;
  granted.projection = false;
  granted.events.collisions = granted.events.transitions = false;
  for (const std::string& scheme : scheme_names()) {
    EXPECT_TRUE(describe_unused_options(scheme, {}).empty()) << scheme;
    EXPECT_TRUE(describe_unused_options(scheme, granted).empty()) << scheme;
  }
}

TEST(UnusedOptions, AreAmongTheNotesOfASimulation) {
  Diagnostics diagnostics("scene");
  const auto scene = read_scene(kScene, {}, diagnostics);
  ASSERT_TRUE(scene) << diagnostics.to_text();
  const Simulation simulation(scene->model, {.stepping = {.projection = true}});
  EXPECT_EQ(simulation.notes(),
            (std::vector<std::string>{
                "projection does not change steps in moreau, only in anitescu-potra, "
                "linearly-implicit-euler, trapezoidal-1, trapezoidal-2"}));
}

}  // namespace
}  // namespace stiction
