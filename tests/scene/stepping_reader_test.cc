// The keys of "simulate" that choose variants of the schemes, and the impact law of a contact:
// every one arrives, and every bad one is refused at its place.
#include "stiction/scene/stepping_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "stiction/scene/schema.h"
#include "tests/scene/scene_texts.h"

namespace stiction {
namespace {

using Json = nlohmann::json;

SteppingOptions stepping_of(const std::string& entries) {
  return accepted(with_simulate(entries)).simulate.stepping;
}

void expect_defaults(const SteppingOptions& read) {
  const SteppingOptions made;
  EXPECT_EQ(read.nonlinear, made.nonlinear);
  EXPECT_EQ(read.jacobians, made.jacobians);
  EXPECT_EQ(read.projection, made.projection);
  EXPECT_EQ(read.events.collisions, made.events.collisions);
  EXPECT_EQ(read.events.transitions, made.events.transitions);
  EXPECT_EQ(read.events.contact_tolerance, made.events.contact_tolerance);
  EXPECT_EQ(read.events.contact_growth, made.events.contact_growth);
  EXPECT_EQ(read.events.min_step, made.events.min_step);
  EXPECT_EQ(read.events.time_tolerance, made.events.time_tolerance);
  EXPECT_EQ(read.events.restitution_threshold, made.events.restitution_threshold);
  EXPECT_EQ(read.error_control.tolerance, made.error_control.tolerance);
  EXPECT_EQ(read.error_control.min_step, made.error_control.min_step);
}

TEST(SteppingReader, DefaultsAreThoseOfTheLibrary) { expect_defaults(stepping_of("")); }

/// An object in which every key has the default that the schema documents.
Json documented_defaults(const Json& schema) {
  Json object = Json::object();
  for (const auto& [key, property] : schema["properties"].items()) {
    if (property.contains("default")) object[key] = property["default"];
    if (property.contains("properties")) object[key] = documented_defaults(property);
  }
  return object;
}

TEST(SteppingReader, DefaultsInTheSchemaAreThoseOfTheLibrary) {
  const Json schema = Json::parse(scene_schema_text());
  const Json defaults = documented_defaults(schema["properties"]["simulate"]);
  ASSERT_EQ(defaults["events"].size(), 7u);
  const std::string text = defaults.dump();
  const SimulateSettings read = accepted(with_simulate(text.substr(1, text.size() - 2))).simulate;
  expect_defaults(read.stepping);
  const SimulateSettings made;
  EXPECT_EQ(read.scheme, made.scheme);
  EXPECT_EQ(read.solver, made.solver);
  EXPECT_EQ(read.h, made.h);
  EXPECT_EQ(read.duration, made.duration);
  EXPECT_EQ(read.tolerance, made.tolerance);
  EXPECT_EQ(to_text(read.friction), to_text(made.friction));
  EXPECT_EQ(read.every, made.every);
  EXPECT_EQ(read.on_failure, made.on_failure);
  EXPECT_EQ(read.penetration_tolerance, made.penetration_tolerance);
  EXPECT_EQ(read.project_start, made.project_start);
}

TEST(SteppingReader, EveryKeyIsRead) {
  const SteppingOptions read = stepping_of(
      R"("nonlinear": false, "jacobians": "springs-only", "projection": false,
"events": {"collisions": false, "transitions": false, "contact_tolerance": 1e-7,
           "contact_growth": 0, "min_step": "1/512/a", "time_tolerance": 1e-3,
           "restitution_threshold": "a/4"},
"error_control": {"tolerance": "1e-3/a", "min_step": 0.25})");
  EXPECT_FALSE(read.nonlinear);
  EXPECT_EQ(read.jacobians, ForceJacobians::kSpringsOnly);
  EXPECT_EQ(read.projection, std::optional(false));
  EXPECT_FALSE(read.events.collisions);
  EXPECT_FALSE(read.events.transitions);
  EXPECT_EQ(read.events.contact_tolerance, 1e-7);
  EXPECT_EQ(read.events.contact_growth, 0);
  EXPECT_EQ(read.events.min_step, 1.0 / 1024);
  EXPECT_EQ(read.events.time_tolerance, 1e-3);
  EXPECT_EQ(read.events.restitution_threshold, 0.5);
  EXPECT_EQ(read.error_control.tolerance, 5e-4);
  EXPECT_EQ(read.error_control.min_step, 0.25);
  EXPECT_EQ(stepping_of(R"("projection": true)").projection, std::optional(true));
  EXPECT_EQ(stepping_of(R"("jacobians": "differences")").jacobians, ForceJacobians::kDifferences);
  EXPECT_EQ(stepping_of(R"("jacobians": "exact")").jacobians, ForceJacobians::kExact);
}

struct BadEntry {
  std::string entry;    // at line 2, column 1 of the text
  std::string message;  // its first line
};

TEST(SteppingReader, NumbersOutOfRangeAreRefusedAtTheirPlace) {
  const std::vector<BadEntry> cases = {
      {R"("events": {"contact_tolerance": 0})",
       "f:2:33: error: simulate.events.contact_tolerance: is 0, must be > 0"},
      {R"("events": {"contact_tolerance": "-a"})",
       "f:2:33: error: simulate.events.contact_tolerance: is -2, must be > 0"},
      {R"("events": {"contact_growth": -1})",
       "f:2:30: error: simulate.events.contact_growth: is -1, must be >= 0"},
      {R"("events": {"min_step": 0})",
       "f:2:24: error: simulate.events.min_step: is 0, must be > 0"},
      {R"("events": {"min_step": 1})",
       "f:2:24: error: simulate.events.min_step: is 1, must be < 1"},
      {R"("events": {"min_step": "a/2"})",
       "f:2:24: error: simulate.events.min_step: is 1, must be < 1"},
      {R"("events": {"time_tolerance": -1e-12})",
       "f:2:30: error: simulate.events.time_tolerance: is -1e-12, must be > 0"},
      {R"("events": {"time_tolerance": 2})",
       "f:2:30: error: simulate.events.time_tolerance: is 2, must be < 1"},
      {R"("events": {"restitution_threshold": -0.1})",
       "f:2:37: error: simulate.events.restitution_threshold: is -0.1, must be >= 0"},
      {R"("error_control": {"tolerance": -1e-6})",
       "f:2:32: error: simulate.error_control.tolerance: is -1e-6, must be >= 0"},
      {R"("error_control": {"min_step": 0})",
       "f:2:31: error: simulate.error_control.min_step: is 0, must be > 0"},
      {R"("error_control": {"min_step": "a"})",
       "f:2:31: error: simulate.error_control.min_step: is 2, must be < 1"},
  };
  for (const BadEntry& bad : cases) {
    SCOPED_TRACE(bad.entry);
    const std::string text = refusal(with_simulate(bad.entry));
    EXPECT_EQ(text.substr(0, text.find('\n')), bad.message);
  }
}

TEST(SteppingReader, WrongKindsAndUnknownWordsAreRefusedAtTheirPlace) {
  const std::vector<BadEntry> cases = {
      {R"("nonlinear": 1)",
       "f:2:14: error: simulate.nonlinear: is a number (1), expected a boolean"},
      {R"("projection": "on")",
       "f:2:15: error: simulate.projection: is a string (\"on\"), expected a boolean"},
      {R"("project_start": "yes")",
       "f:2:18: error: simulate.project_start: is a string (\"yes\"), expected a boolean"},
      {R"("events": false)",
       "f:2:11: error: simulate.events: is a boolean (false), expected an object"},
      {R"("events": {"collisions": 0})",
       "f:2:26: error: simulate.events.collisions: is a number (0), expected a boolean"},
      {R"("error_control": 1e-6)",
       "f:2:18: error: simulate.error_control: is a number (1e-6), expected an object"},
      {R"("jacobians": "numeric")",
       "f:2:14: error: simulate.jacobians: is \"numeric\", must be one of \"exact\", "
       "\"differences\", \"springs-only\""},
      {R"("on_failure": "stop")",
       "f:2:15: error: simulate.on_failure: is \"stop\", must be one of \"reject\", "
       "\"retry-smaller\", \"accept-and-flag\""},
  };
  for (const BadEntry& bad : cases) {
    SCOPED_TRACE(bad.entry);
    const std::string text = refusal(with_simulate(bad.entry));
    EXPECT_EQ(text.substr(0, text.find('\n')), bad.message);
    EXPECT_NE(text.find("\n  help: "), std::string::npos) << text;
  }
}

TEST(SteppingReader, UnknownKeysComeWithTheNearestKnownOne) {
  EXPECT_EQ(refusal(with_simulate(R"("events": {"colisions": false})")),
            "f:2:12: error: simulate.events: unknown key 'colisions'\n"
            "  help: did you mean 'collisions'?\n");
  EXPECT_EQ(refusal(with_simulate(R"("error_control": {"tol": 1})")),
            "f:2:19: error: simulate.error_control: unknown key 'tol'\n"
            "  help: known: tolerance, min_step\n");
  EXPECT_EQ(refusal(with_simulate(R"("jacobian": "exact")")),
            "f:2:1: error: simulate: unknown key 'jacobian'\n"
            "  help: did you mean 'jacobians'?\n");
}

TEST(SteppingReader, NamesOfJacobiansAreParsedInTheirOrder) {
  const std::vector<std::string> names = force_jacobians_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(try_parse_force_jacobians(names[i]), static_cast<ForceJacobians>(i));
  EXPECT_EQ(try_parse_force_jacobians("Exact"), std::nullopt);
}

TEST(SteppingReader, ImpactLawsOfContactsAreRead) {
  const Scene scene = accepted(
      scene_with("\"contacts\": [{\"gap\": \"y\"}, {\"gap\": \"x\", \"impact\": \"newton\"}, "
                 "{\"gap\": \"x + y\", \"impact\": \"poisson\"}]"));
  const auto& contacts = scene.model.parts().front().system->contacts();
  ASSERT_EQ(contacts.size(), 3u);
  EXPECT_EQ(contacts[0].impact, ImpactLaw::kOfScheme);
  EXPECT_EQ(contacts[1].impact, ImpactLaw::kNewton);
  EXPECT_EQ(contacts[2].impact, ImpactLaw::kPoisson);
  EXPECT_EQ(refusal(scene_with("\"contacts\": [{\"gap\": \"y\", \"impact\": \"poison\"}]")),
            "f:3:37: error: generalized.contacts[0].impact: is \"poison\", must be one of "
            "\"newton\", \"poisson\"\n  help: did you mean \"poisson\"?\n");
}

}  // namespace
}  // namespace stiction
