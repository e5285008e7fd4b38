// Starts that a simulation refuses: each fault at its place in the scene, with the ways out; and
// with project_start those that moving the start repairs are passed over.
#include "stiction/scene/start_faults.h"

#include <gtest/gtest.h>

#include "tests/scene/scene_texts.h"

namespace stiction {
namespace {

const std::string kWaysOut =
    "  help: change the start, set simulate.penetration_tolerance, or set simulate.project_start "
    "to "
    "true\n";
const std::string kProject = "\"project_start\": true";
const std::string kPenetrating = "\"contacts\": [{\"name\": \"floor\", \"gap\": \"y - 0.001\"}]";
const std::string kRod = "\"constraints\": [{\"name\": \"rod\", \"equation\": \"x^2 + y^2 - 1\"}]";
const std::string kOnTheRod = "\"x\": {\"position\": 1, \"velocity\": 0.5}, \"y\": {}";

TEST(StartFaults, PenetrationIsRefusedBeyondItsTolerance) {
  EXPECT_EQ(
      refusal(scene_with(kPenetrating)),
      "f:3:39: error: generalized.contacts[0].gap: contact 'floor' penetrates by 0.001 m at the "
      "start, 1e-06 m is allowed\n" +
          kWaysOut);
  accepted(scene_with(kPenetrating, {.simulate = "\"penetration_tolerance\": 0.0011"}));
  accepted(scene_with("\"contacts\": [{\"gap\": \"y - 9e-7\"}]"));
}

TEST(StartFaults, ViolatedConstraintIsRefused) {
  EXPECT_EQ(refusal(scene_with(kRod)),
            "f:3:45: error: generalized.constraints[0].equation: constraint 'rod' is -1 at the "
            "start, must be 0 within 1e-06\n" +
                kWaysOut);
}

TEST(StartFaults, VelocitiesThatDoNotFitAConstraintAreRefused) {
  // Θ' = 2x·v.x = 1; a larger tolerance would not help.
  EXPECT_EQ(refusal(scene_with(kRod, {.start = kOnTheRod})),
            "f:3:45: error: generalized.constraints[0].equation: constraint 'rod' changes by 1 per "
            "second at the start, must be 0: the velocities do not fit it\n"
            "  help: change the start, or set simulate.project_start to true\n");
}

TEST(StartFaults, WhatProjectionRepairsIsNoFaultWithProjectStart) {
  EXPECT_TRUE(accepted(scene_with(kPenetrating, {.simulate = kProject})).simulate.project_start);
  accepted(
      scene_with(kRod, {.simulate = kProject, .start = "\"x\": {\"position\": 2}, \"y\": {}"}));
  accepted(scene_with(kRod, {.simulate = kProject, .start = kOnTheRod}));
  refusal(scene_with(kPenetrating, {.simulate = "\"project_start\": false"}));
}

TEST(StartFaults, CallersMayAskForTheProjectionThemselves) {
  const std::string text = scene_with(kPenetrating), asks = scene_with("", {.simulate = kProject});
  Diagnostics diagnostics("f");
  const auto scene = read_scene(text, kKnown, diagnostics, {.project_start = true});
  ASSERT_TRUE(scene.has_value()) << diagnostics.to_text();
  EXPECT_TRUE(scene->simulate.project_start);
  const auto other = read_scene(asks, kKnown, diagnostics, {.project_start = false});
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(other->simulate.project_start);
}

TEST(StartFaults, WhatProjectionCannotRepairIsRefusedEvenSo) {
  const SceneParts asks{.simulate = kProject};
  const std::string message = refusal(scene_with("\"contacts\": [{\"gap\": \"log(x)\"}]", asks));
  EXPECT_NE(message.find("gap of contact 'contact 1' is -inf at the start, must be finite\n"),
            std::string::npos)
      << message;
  EXPECT_EQ(message.find("project_start"), std::string::npos) << message;
  for (const std::string equation : {"log(x)", "1/y", "sqrt(x)"}) {
    SCOPED_TRACE(equation);
    refusal(scene_with("\"constraints\": [{\"equation\": \"" + equation + "\"}]", asks));
  }
  refusal(scene_with("\"force\": {\"x\": \"log(x)\"}", asks));
  refusal(scene_with("", {.simulate = kProject, .mass = "[[\"x\", 0], [0, 1]]"}));
}

}  // namespace
}  // namespace stiction
