#include "stiction/scene/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "stiction/base/error.h"
#include "stiction/base/random.h"
#include "tests/sanitizers.h"

namespace stiction {
namespace {

/// The messages about `text` under `schema`; empty where it is valid.
std::string messages(const SceneSchema& schema, std::string_view text) {
  Diagnostics diagnostics("s.json");
  const auto document = parse_json(text, diagnostics);
  EXPECT_TRUE(document.has_value()) << diagnostics.to_text();
  if (document) {
    const bool is_valid = schema.validate(*document, diagnostics);
    EXPECT_EQ(is_valid, !diagnostics.has_errors());
  }
  return diagnostics.to_text();
}

std::string scene_messages(std::string_view text) { return messages(SceneSchema(), text); }

/// A scene around one entry of `generalized`, which begins at line 2, column 1.
std::string generalized_messages(const std::string& entries) {
  return scene_messages(
      "{\"stiction\": 1, \"generalized\": {\"coordinates\": {\"y\": {}}, \"mass\": [[1]],\n" +
      entries + "}}");
}

std::string contact_messages(const std::string& entries) {
  return generalized_messages("\"contacts\": [{\"gap\": \"y\", " + entries + "}]");
}

const char* const kWoodpecker = R"({ "stiction": 1, "name": "woodpecker",
  "simulate": {"scheme": "moreau", "solver": "lemke", "h": 1e-4, "duration": 2},
  "generalized": {
    "parameters": {"m_S": 0.0045, "m_M": 3e-4, "l_M": 0.010, "l_G": 0.015, "l_S": 0.0201,
                   "r_O": 0.0025, "h_S": 0.02, "c": 0.0056, "g": 9.81},
    "coordinates": {"y": {"position": 0, "velocity": -0.3411}, "phi_M": {"position": -0.1036},
                    "phi_S": {"position": "-0.2788", "velocity": -7.4583}},
    "mass": [["m_S+m_M", "m_S*l_M", "m_S*l_G"],
             ["m_S*l_M", "5e-9 + m_S*l_M^2", "m_S*l_M*l_G"],
             ["m_S*l_G", "m_S*l_M*l_G", "7e-7 + m_S*l_G^2"]],      // may depend on the coordinates
    "potential": "(m_S+m_M)*g*y + c/2*(phi_M-phi_S)^2",            // forces −∂V/∂q
    "force": {"y": "-0.1*v.y"},                                    /* anything else */
    "constraints": [{"name": "rod 1", "equation": "x1^2 + y1^2 - 1"}],
    "springs": [{"extension": "x1 - 0.2", "stiffness": 100, "damping": 0}],
    "contacts": [{"name": "beak", "gap": "l_M+l_G-l_S-r_O - h_S*phi_S",
                  "tangent": ["1", "l_M", "l_G-l_S"],
                  "mu": 0.3, "restitution": 0.5, "restitution_tangential": 0}] } })";

TEST(SceneSchema, TheExampleOfTheContractIsValid) { EXPECT_EQ(scene_messages(kWoodpecker), ""); }

TEST(SceneSchema, EveryKeyOfSimulateIsAccepted) {
  EXPECT_EQ(scene_messages(R"({"$schema": "scene.schema.json", "stiction": 1, "name": "n",
    "description": "d", "parameters": {"a": 1, "b": "2*a"},
    "simulate": {"scheme": "moreau", "solver": "auto", "h": "1/1024", "duration": 0, "tol": 1e-9,
                 "friction": "polygon:8", "every": 1, "on_failure": "retry-smaller",
                 "penetration_tolerance": 0, "project_start": true, "nonlinear": false,
                 "jacobians": "springs-only", "projection": true,
                 "events": {"collisions": false, "transitions": true, "contact_tolerance": "1e-8",
                            "contact_growth": 0, "min_step": 1e-5, "time_tolerance": 1e-10,
                            "restitution_threshold": 0},
                 "error_control": {"tolerance": 0, "min_step": "1/1024"}},
    "generalized": {"coordinates": {"x": {}}, "mass": [[1]]}})"),
            "");
}

TEST(SceneSchema, TangentAndSurfaceSpeedHaveTheirForms) {
  for (const char* entries :
       {R"("tangent": [1, "l"])", R"("tangent": [[1, "l"]])", R"("tangent": [[1, 0], [0, "1"]])",
        R"("surface_speed": 1)", R"("surface_speed": "2*t")", R"("surface_speed": [1, "t"])"})
    EXPECT_EQ(contact_messages(entries), "") << entries;
}

TEST(SceneSchema, MissingKeysAreNamedWithTheirMeaning) {
  EXPECT_EQ(scene_messages("\n {}"),
            "s.json:2:2: error: required key 'stiction' is missing\n"
            "  help: version of the scene format; write \"stiction\": 1\n");
  EXPECT_EQ(
      generalized_messages(R"("contacts": [{}])"),
      "s.json:2:14: error: generalized.contacts[0]: required key 'gap' is missing\n"
      "  help: distance [m], positive when apart: an expression in coordinates, parameters and "
      "t; the normal direction is its gradient\n");
}

TEST(SceneSchema, UnknownKeysComeWithASuggestion) {
  EXPECT_EQ(contact_messages("\"gapp\": 1"),
            "s.json:2:27: error: generalized.contacts[0]: unknown key 'gapp'\n"
            "  help: did you mean 'gap'?\n");
  EXPECT_EQ(generalized_messages(R"("springs": [{"extension": "y", "stiffness": 1, "zzzz": 1}])"),
            "s.json:2:48: error: generalized.springs[0]: unknown key 'zzzz'\n"
            "  help: known: name, extension, stiffness, damping\n");
}

TEST(SceneSchema, KeysOfLaterVersionsSayThatTheyAreNotAvailable) {
  const SceneSchema schema(R"({"properties": {"bodies": {}}, "additionalProperties": false,
    "x-unsupported": {"fluids": "fluids are not available in this version"}})");
  EXPECT_EQ(messages(schema, "{\"bodies\": 1,\n \"fluids\": []}"),
            "s.json:2:2: error: fluids: fluids are not available in this version\n");
}

TEST(SceneSchema, WrongTypesSayWhatWasFoundAndExpected) {
  EXPECT_EQ(
      contact_messages("\"mu\": true"),
      "s.json:2:33: error: generalized.contacts[0].mu: is a boolean (true), expected a number "
      "or a string\n"
      "  help: coefficient of friction, at least 0, a number or an expression in the "
      "parameters; default 0\n");
  EXPECT_EQ(
      generalized_messages("\"force\": [1]"),
      "s.json:2:10: error: generalized.force: is an array (1 item), expected an object\n"
      "  help: all other forces: an object that gives coordinates a number or an expression in "
      "coordinates, velocities (v.NAME), parameters and t\n");
  EXPECT_EQ(
      generalized_messages("\"constraints\": [{\"equation\": null}]"),
      "s.json:2:30: error: generalized.constraints[0].equation: is null, expected a number or "
      "a string\n"
      "  help: expression in coordinates, parameters and t that must stay zero, e.g. "
      "\"x^2 + y^2 - 1\"\n");
  EXPECT_EQ(
      scene_messages("[]"),
      "s.json:1:1: error: the document is an array (0 items), expected an object\n"
      "  help: a scene is one object: {\"stiction\": 1, \"bodies\": […]} or {\"stiction\": 1, "
      "\"generalized\": {…}}; SI units, radians; // and /* */ comments are allowed\n");
}

TEST(SceneSchema, MatrixEntriesArePointedAtOneByOne) {
  EXPECT_EQ(
      scene_messages("{\"stiction\": 1, \"generalized\": {\"coordinates\": {\"y\": {}},\n"
                     "\"mass\": [[1, {}], 2, []]}}"),
      "s.json:2:14: error: generalized.mass[0][1]: is an object (0 keys), expected a number or "
      "a string\n"
      "  help: a number, or a string holding an expression such as \"2*m*l^2\"\n"
      "s.json:2:19: error: generalized.mass[1]: is a number (2), expected an array\n"
      "  help: one row of the mass matrix: an array with a number or an expression for each "
      "coordinate\n"
      "s.json:2:22: error: generalized.mass[2]: has 0 items, must have at least 1\n"
      "  help: one row of the mass matrix: an array with a number or an expression for each "
      "coordinate\n");
}

TEST(SceneSchema, NamesOfCoordinatesAndParametersAreIdentifiers) {
  EXPECT_EQ(generalized_messages("\"parameters\": {\"2x\": 1, \"ok_2\": 2}"),
            "s.json:2:16: error: generalized.parameters: key '2x' is not a name that expressions "
            "can use\n"
            "  help: a name is a letter or '_', then letters, digits and '_'\n");
  EXPECT_EQ(scene_messages("{\"stiction\": 1, \"generalized\": {\"mass\": [[1]],\n"
                           "\"coordinates\": {}}}"),
            "s.json:2:16: error: generalized.coordinates: has 0 keys, must have at least 1\n"
            "  help: the coordinates q by name, in the order of the rows of \"mass\": "
            "{\"y\": {\"position\": 0, \"velocity\": 1}, …}\n");
}

TEST(SceneSchema, NumbersOutOfBoundsSayTheBound) {
  const auto first_line = [](const std::string& text) { return text.substr(0, text.find('\n')); };
  const auto simulate = [&](const std::string& entry) {
    return first_line(scene_messages(
        "{\"stiction\": 1, \"generalized\": {\"coordinates\": {\"y\": {}}, \"mass\": [[1]]},\n"
        "\"simulate\": {" +
        entry + "}}"));
  };
  EXPECT_EQ(simulate("\"h\": -0.1"), "s.json:2:19: error: simulate.h: is -0.1, must be > 0");
  EXPECT_EQ(simulate("\"h\": 0"), "s.json:2:19: error: simulate.h: is 0, must be > 0");
  EXPECT_EQ(simulate("\"tol\": 0"), "s.json:2:21: error: simulate.tol: is 0, must be > 0");
  EXPECT_EQ(simulate("\"duration\": -1"),
            "s.json:2:26: error: simulate.duration: is -1, must be >= 0");
  EXPECT_EQ(simulate("\"every\": 0"), "s.json:2:23: error: simulate.every: is 0, must be >= 1");
  EXPECT_EQ(simulate("\"every\": 1.5"),
            "s.json:2:23: error: simulate.every: is a number (1.5), expected an integer");
  EXPECT_EQ(simulate("\"penetration_tolerance\": -1e-9"),
            "s.json:2:39: error: simulate.penetration_tolerance: is -1e-9, must be >= 0");
  EXPECT_EQ(first_line(contact_messages("\"restitution\": 1.01")),
            "s.json:2:42: error: generalized.contacts[0].restitution: is 1.01, must be <= 1");
}

TEST(SceneSchema, ConstantsAndChoicesSayWhatIsAllowed) {
  EXPECT_EQ(scene_messages(R"({"stiction": 2,
"simulate": {"on_failure": "rejekt"}, "generalized": {"coordinates": {"y": {}}, "mass": [[1]]}})"),
            "s.json:1:14: error: stiction: is 2, must be 1\n"
            "  help: version of the scene format; write \"stiction\": 1\n"
            "s.json:2:28: error: simulate.on_failure: is \"rejekt\", must be one of \"reject\", "
            "\"retry-smaller\", \"accept-and-flag\"\n"
            "  help: did you mean \"reject\"?\n");
}

TEST(SceneSchema, ThePlausibleFormOfAnAlternativeIsReported) {
  const std::string help =
      "  help: sliding velocity as a row of coefficients of the coordinate velocities, "
      "[\"1\", \"l\", …], or one or two such rows, [[…], […]]; without it there is no friction\n";
  EXPECT_EQ(contact_messages("\"tangent\": 1"),
            "s.json:2:38: error: generalized.contacts[0].tangent: is a number (1), expected an "
            "array\n" +
                help);
  EXPECT_EQ(contact_messages("\"tangent\": []"),
            "s.json:2:38: error: generalized.contacts[0].tangent: has 0 items, must have at least "
            "1\n" +
                help);
  EXPECT_EQ(
      contact_messages("\"tangent\": [[1], [2], [3]]"),
      "s.json:2:38: error: generalized.contacts[0].tangent: has 3 items, must have at most 2\n" +
          help);
  EXPECT_EQ(contact_messages("\"tangent\": [[1, true]]"),
            "s.json:2:43: error: generalized.contacts[0].tangent[0][1]: is a boolean (true), "
            "expected a number or a string\n"
            "  help: a number, or a string holding an expression such as \"2*m*l^2\"\n");
  EXPECT_EQ(contact_messages("\"tangent\": [1, null]"),
            "s.json:2:42: error: generalized.contacts[0].tangent[1]: is null, expected a number or "
            "a string\n"
            "  help: a number, or a string holding an expression such as \"2*m*l^2\"\n");
  EXPECT_EQ(
      contact_messages("\"surface_speed\": {}"),
      "s.json:2:44: error: generalized.contacts[0].surface_speed: is an object (0 keys), "
      "expected a number, a string or an array\n"
      "  help: speed [m/s] of the other surface along the tangent, as of a conveyor belt; the "
      "sliding velocity is tangent times velocity minus this speed: a number or an expression "
      "in parameters and t, or an array with one for each tangent; default 0\n");
}

TEST(SceneSchema, AllViolationsAreReportedInTheOrderOfTheText) {
  const std::string text = scene_messages(R"({"stiction": "1", "nam": "x",
 "simulate": {"h": 0, "duratoin": 1},
 "gravity": 3,
 "generalized": {"coordinates": {"y": {"position": []}}, "mass": 1}})");
  std::size_t from = 0;
  for (const char* place : {"1:14", "1:19", "2:20", "2:23", "3:13", "4:52", "4:66"}) {
    const std::size_t at = text.find("s.json:" + std::string(place) + ":", from);
    ASSERT_NE(at, std::string::npos) << place << " in\n" << text;
    from = at + 1;
  }
  EXPECT_EQ(text.find("s.json:", from), std::string::npos) << text;
}

TEST(SceneSchema, EveryKeyIsDescribed) {
  Diagnostics diagnostics("schema");
  const auto root = parse_json(scene_schema_text(), diagnostics);
  ASSERT_TRUE(root.has_value());
  int num_keys = 0;
  const std::function<void(const JsonNode&)> visit = [&](const JsonNode& node) {
    if (const JsonNode* properties = node.find("properties"))
      for (const JsonMember& member : properties->members) {
        EXPECT_NE(member.node.find("description"), nullptr) << member.key;
        ++num_keys;
      }
    for (const JsonMember& member : node.members) visit(member.node);
    for (const JsonNode& item : node.items) visit(item);
  };
  visit(*root);
  EXPECT_GT(num_keys, 35);
}

TEST(SceneSchema, MembersOfAnOpenObjectAreFree) {
  const SceneSchema schema(R"({"type": "object", "properties": {"a": {"type": "null"}}})");
  EXPECT_EQ(messages(schema, R"({"b": 1, "a": null})"), "");
  const SceneSchema closed(R"({"additionalProperties": false})");
  EXPECT_EQ(messages(closed, R"({"b": 1})"), "s.json:1:2: error: unknown key 'b'\n");
}

TEST(SceneSchema, OneOfIsExclusiveAndAnyOfIsNot) {
  EXPECT_EQ(messages(SceneSchema(R"({"oneOf": [{"type": "integer"}, {"type": "number"}]})"), "3"),
            "s.json:1:1: error: the document fits more than one of the allowed forms\n");
  const SceneSchema any(R"({"anyOf": [{"type": "integer"}, {"type": "number", "maximum": 1}]})");
  EXPECT_EQ(messages(any, "0"), "");
  EXPECT_EQ(messages(any, "1.5"), "s.json:1:1: error: the document is 1.5, must be <= 1\n");
}

TEST(SceneSchema, EqualityOfConstantsIsDeepAndIgnoresTheOrderOfKeys) {
  const SceneSchema schema(R"({"enum": [{"a": [1, true], "b": "x"}, null]})");
  EXPECT_EQ(messages(schema, R"({"b": "x", "a": [1.0, true]})"), "");
  EXPECT_EQ(messages(schema, "null"), "");
  EXPECT_EQ(messages(schema, R"({"b": "x", "a": [1, false]})"),
            "s.json:1:1: error: the document is an object (2 keys), must be one of an object (2 "
            "keys), null\n");
}

TEST(SceneSchema, ExclusiveMaximumAndIntegersAreUnderstood) {
  const SceneSchema schema(R"({"type": "integer", "exclusiveMaximum": 4})");
  EXPECT_EQ(messages(schema, "3.0"), "");
  EXPECT_EQ(messages(schema, "4"), "s.json:1:1: error: the document is 4, must be < 4\n");
}

TEST(SceneSchema, SchemasOutsideTheSubsetAreRefused) {
  const auto refusal = [](std::string_view text) -> std::string {
    try {
      const SceneSchema schema(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal(R"({"properties": {"a": {"minimun": 1}}})"),
            "schema: #.properties.a.minimun: keyword is not supported");
  EXPECT_EQ(refusal(R"({"items": {"minimum": "1"}})"),
            "schema: #.items.minimum: a string (\"1\") does not fit");
  EXPECT_NE(refusal(R"({"type": "float"})"), "accepted");
  EXPECT_NE(refusal(R"({"type": ["number", 1]})"), "accepted");
  EXPECT_NE(refusal(R"({"$ref": "#/$defs/a"})"), "accepted");
  EXPECT_NE(refusal(R"({"oneOf": []})"), "accepted");
  EXPECT_NE(refusal(R"({"oneOf": [1]})"), "accepted");
  EXPECT_NE(refusal(R"({"required": "a"})"), "accepted");
  EXPECT_NE(refusal(R"({"propertyNames": {"pattern": "a*"}})"), "accepted");
  EXPECT_NE(refusal("[]"), "accepted");
  EXPECT_NE(refusal("{").find("schema:1:2: error: "), std::string::npos);
}

/// One to five random edits with bytes that matter to JSON, with any byte, or with a piece copied
/// from elsewhere in the text.
std::string mutated(std::string text, Random& random) {
  constexpr std::string_view kBytes = "{}[]:,\"\\/*-+.0123456789eE \n";
  const int num_edits = random.integer(1, 5);
  for (int i = 0; i < num_edits && !text.empty(); ++i) {
    const auto place = [&] {
      return static_cast<std::size_t>(random.integer(0, static_cast<int>(text.size()) - 1));
    };
    const std::size_t at = place();
    switch (random.integer(0, 4)) {
      case 0:
        text[at] = kBytes[static_cast<std::size_t>(random.integer(0, kBytes.size() - 1))];
        break;
      case 1:
        text[at] = static_cast<char>(random.integer(0, 255));
        break;
      case 2:
        text.erase(at, static_cast<std::size_t>(random.integer(1, 20)));
        break;
      case 3:
        text.insert(at, text.substr(place(), static_cast<std::size_t>(random.integer(1, 30))));
        break;
      default:
        text.resize(text.size() - (random.chance(0.1) ? at / 2 : 0));
    }
  }
  return text;
}

TEST(SceneSchema, MutatedScenesAreReportedWithinTheTextAndNeverCrash) {
  const SceneSchema schema;
  Random random(2024);
  constexpr int kCases = testing::fewer_sanitized(20000, 4);
  int num_documents = 0;
  for (int i = 0; i < kCases; ++i) {
    const std::string text = mutated(kWoodpecker, random);
    Diagnostics diagnostics("s.json");
    const auto document = parse_json(text, diagnostics);
    ASSERT_TRUE(document.has_value() || diagnostics.has_errors()) << text;
    if (document) {
      ++num_documents;
      schema.validate(*document, diagnostics);
    }
    const auto num_lines = 1 + std::count(text.begin(), text.end(), '\n');
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      ASSERT_GE(diagnostic.where.line, 1) << text;
      ASSERT_LE(diagnostic.where.line, num_lines) << text;
      ASSERT_GE(diagnostic.where.column, 1) << text;
      ASSERT_FALSE(diagnostic.message.empty());
    }
  }
  EXPECT_GT(num_documents, kCases / 20);  // the validator has seen its share
}

}  // namespace
}  // namespace stiction
