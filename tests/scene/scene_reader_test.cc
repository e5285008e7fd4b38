// Every class of bad scene with its message, read in full: place, path, what was found, the way
// out. And good scenes, whose numbers must arrive in the model.
#include "stiction/scene/scene.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "stiction/base/random.h"
#include "stiction/model/generalized_system.h"
#include "tests/base/temporary_folder.h"
#include "tests/sanitizers.h"
#include "tests/scene/scene_texts.h"

namespace stiction {
namespace {

// ---------------------------------------------------------------------------------------------------
// Text and keys

TEST(SceneReader, BrokenJsonHasLineAndColumn) {
  EXPECT_EQ(refusal("{\"stiction\": 1,\n  \"name\": }"),
            "f:2:11: error: name: found '}', expected a value\n");
  EXPECT_EQ(refusal(""), "f:1:1: error: the text is empty, expected a JSON value\n");
}

TEST(SceneReader, UnknownKeyComesWithTheNearestKnownOne) {
  EXPECT_EQ(refusal(with_simulate("\"sceme\": \"moreau\"")),
            "f:2:1: error: simulate: unknown key 'sceme'\n  help: did you mean 'scheme'?\n");
}

TEST(SceneReader, WrongTypeSaysWhatWasFoundAndExpected) {
  EXPECT_EQ(
      refusal(scene_with("\"potential\": [1]")),
      "f:3:14: error: generalized.potential: is an array (1 item), expected a number or a string\n"
      "  help: potential energy V [J], a number or an expression in coordinates, parameters and t; "
      "its forces -dV/dq are derived; default 0\n");
}

TEST(SceneReader, AListOfBodiesMustNotBeEmpty) {
  EXPECT_EQ(refusal("{\"stiction\": 1,\n\"bodies\": []}")
                .find("f:2:11: error: bodies: has 0 items, must have at least 1\n"),
            0u);
}

// ---------------------------------------------------------------------------------------------------
// The block "simulate"

TEST(SceneReader, UnknownSchemeAndSolverComeWithTheList) {
  EXPECT_EQ(refusal(with_simulate("\"scheme\": \"moru\", \"solver\": \"x\"")),
            "f:2:11: error: simulate.scheme: unknown scheme 'moru'\n  help: known: moreau, spook\n"
            "f:2:29: error: simulate.solver: unknown solver 'x'\n  help: known: auto, lemke\n");
}

TEST(SceneReader, NegativeStepAndDurationAreRefusedAsNumberAndAsExpression) {
  EXPECT_EQ(refusal(with_simulate("\"h\": \"a - 3\", \"duration\": \"-a\"")),
            "f:2:6: error: simulate.h: is -1, must be > 0\n"
            "f:2:27: error: simulate.duration: is -2, must be >= 0\n");
  const std::string text = refusal(with_simulate("\"h\": 0, \"duration\": -1"));
  EXPECT_NE(text.find("f:2:6: error: simulate.h: is 0, must be > 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("f:2:21: error: simulate.duration: is -1, must be >= 0\n"), std::string::npos)
      << text;
}

TEST(SceneReader, UnknownFrictionSectionSaysWhatToWrite) {
  for (const std::string section :
       {"polygon:5", "polygon:2", "polygon:", "polygon:8x", "round", ""})
    EXPECT_EQ(refusal(with_simulate("\"friction\": \"" + section + "\"")),
              "f:2:13: error: simulate.friction: unknown friction section '" + section +
                  "'\n  help: write \"disc\", \"box\" or \"polygon:K\" with K even, 4 to 1024\n");
}

TEST(SceneReader, EverySettingIsRead) {
  const SimulateSettings s =
      accepted(with_simulate("\"scheme\": \"spook\", \"solver\": \"lemke\", \"h\": \"1/(10*a)\", "
                             "\"duration\": \"a\", \"tol\": 1e-7, \"friction\": \"disc\", "
                             "\"every\": 5, \"sleep\": true, "
                             "\"on_failure\": \"retry-smaller\", \"penetration_tolerance\": 0.25, "
                             "\"project_start\": true"))
          .simulate;
  EXPECT_EQ(s.scheme, "spook");
  EXPECT_EQ(s.solver, "lemke");
  EXPECT_EQ(s.h, 0.05);
  EXPECT_EQ(s.duration, 2);
  EXPECT_EQ(s.tolerance, 1e-7);
  EXPECT_EQ(to_text(s.friction), "disc");
  EXPECT_EQ(s.every, 5);
  EXPECT_TRUE(s.sleep);
  EXPECT_EQ(s.on_failure, "retry-smaller");
  EXPECT_EQ(s.penetration_tolerance, 0.25);
  EXPECT_TRUE(s.project_start);
}

// ---------------------------------------------------------------------------------------------------
// Expressions

TEST(SceneReader, UndefinedSymbolIsShownInItsExpression) {
  EXPECT_EQ(
      refusal(scene_with("\"potential\": \"2*x + gg*y\"")),
      "f:3:21: error: generalized.potential: unknown symbol 'gg'\n  help: known: x, y, t, pi\n");
}

TEST(SceneReader, ColumnsOfAnExpressionCountEscapesAsTheyStandInTheFile) {
  // "\u0078" is one letter of the expression and six columns of the file.
  EXPECT_EQ(
      refusal(scene_with("\"potential\": \"\\u0078 + q\"")),
      "f:3:24: error: generalized.potential: unknown symbol 'q'\n  help: did you mean 'x'? known: "
      "x, y, t, pi\n");
}

TEST(SceneReader, SyntaxErrorIsShownInItsExpression) {
  EXPECT_EQ(
      refusal(scene_with("\"contacts\": [{\"gap\": \"y +* 2\"}]")),
      "f:3:26: error: generalized.contacts[0].gap: expected a number, a name or '(', found '*'\n");
  EXPECT_EQ(refusal(scene_with("\"force\": {\"x\": \"(1 + t\"}")).substr(0, 31),
            "f:3:17: error: generalized.forc");
}

TEST(SceneReader, VelocitiesBelongInForcesOnly) {
  accepted(scene_with("\"force\": {\"x\": \"-v.x\"}"));
  EXPECT_EQ(refusal(scene_with("\"potential\": \"v.x\"")),
            "f:3:15: error: generalized.potential: unknown symbol 'v.x'\n  help: velocities cannot "
            "be used here\n");
}

TEST(SceneReader, CoefficientsDependOnParametersOnly) {
  EXPECT_EQ(
      refusal(scene_with("\"springs\": [{\"extension\": \"x\", \"stiffness\": \"3*y\"}]")),
      "f:3:48: error: generalized.springs[0].stiffness: unknown symbol 'y'\n  help: known: pi\n");
  EXPECT_EQ(refusal(scene_with("\"contacts\": [{\"gap\": \"y\", \"restitution\": \"1 + 1\"}]")),
            "f:3:42: error: generalized.contacts[0].restitution: is 2, must be <= 1\n");
}

// ---------------------------------------------------------------------------------------------------
// Mass matrix and sizes

TEST(SceneReader, IndefiniteMassMatrixIsRefusedWithItsEigenvalue) {
  EXPECT_EQ(
      refusal(scene_with("", {.mass = "\n[[1, 2], [2, 1]]"})),
      "f:3:1: error: generalized.mass: mass matrix is not positive definite at the start, its "
      "smallest eigenvalue is -1\n");
  // Definite elsewhere, not at the start.
  EXPECT_NE(refusal(scene_with("", {.mass = "[[\"x\", 0], [0, 1]]"})).find("not positive definite"),
            std::string::npos);
}

TEST(SceneReader, MassThatIsNotPositiveIsShownInTheMatrix) {
  EXPECT_EQ(refusal(scene_with("", {.mass = "\n[[1, 0], [0, \"1 - 1\"]]"})),
            "f:3:14: error: generalized.mass[1][1]: is 0, must be > 0\n"
            "  help: it is the mass of 'y', and the matrix must be positive definite\n");
}

TEST(SceneReader, AsymmetricMassIsShownInTheMatrix) {
  EXPECT_EQ(refusal(scene_with("", {.mass = "\n[[1, 0.1], [0, 1]]"})),
            "f:3:13: error: generalized.mass[1][0]: differs from its mirror image\n"
            "  help: the mass matrix must be symmetric: compare mass[0][1]\n");
}

TEST(SceneReader, WrongSizesNameTheCoordinates) {
  EXPECT_EQ(
      refusal(scene_with("", {.mass = "\n[[1, 0]]"})),
      "f:3:1: error: generalized.mass: has 1 rows, expected 2: one for each coordinate (x, y)\n");
  EXPECT_EQ(
      refusal(scene_with("", {.mass = "\n[[1, 0], [0, 1, 0]]"})),
      "f:3:10: error: generalized.mass[1]: has 3 entries, expected 2: one for each coordinate (x, "
      "y)\n");
  EXPECT_EQ(
      refusal(scene_with("\"contacts\": [{\"gap\": \"y\", \"tangent\": [1]}]")),
      "f:3:38: error: generalized.contacts[0].tangent: has 1 entries, expected 2: one for each "
      "coordinate (x, y)\n");
  EXPECT_EQ(
      refusal(scene_with("\"contacts\": [{\"gap\": \"y\", \"tangent\": [[1, 0], [0, 1, 2]]}]")),
      "f:3:47: error: generalized.contacts[0].tangent[1]: has 3 entries, expected 2: one for each "
      "coordinate (x, y)\n");
}

TEST(SceneReader, OneSurfaceSpeedForEachTangent) {
  EXPECT_EQ(
      refusal(scene_with("\"contacts\": [{\"gap\": \"y\", \"tangent\": [1, 0], \"surface_speed\": "
                         "[1, 2]}]")),
      "f:3:63: error: generalized.contacts[0].surface_speed: has 2 values, but the contact has 1 "
      "tangents\n  help: give one speed for each tangent\n");
}

// ---------------------------------------------------------------------------------------------------
// Numbers that are not finite

TEST(SceneReader, NumbersThatAreNotFiniteAreRefusedInTheText) {
  EXPECT_EQ(refusal(scene_with("\"potential\": NaN")),
            "f:3:14: error: generalized.potential: NaN is not a JSON number\n"
            "  help: numbers must be finite\n");
  EXPECT_EQ(refusal(scene_with("\"potential\": 1e999")),
            "f:3:14: error: generalized.potential: number out of range: 1e999\n"
            "  help: the largest double is about 1.8e308\n");
  EXPECT_EQ(refusal(scene_with("", {.start = "\n\"x\": {\"position\": \"2 + 1/0\"}, \"y\": {}"})),
            "f:3:25: error: generalized.coordinates.x.position: division by zero\n");
}

TEST(SceneReader, ConstantsThatAreNotFiniteAreRefusedInTheirExpression) {
  for (const std::string constant :
       {"exp(1e4)", "sqrt(-1)", "log(0)", "1e200*1e200", "1e999", "0/0"}) {
    SCOPED_TRACE(constant);
    const std::string text = refusal(with_simulate("\"h\": \"" + constant + "\""));
    EXPECT_EQ(text.find("f:2:"), 0u) << text;
    EXPECT_NE(text.find("error: simulate.h: "), std::string::npos) << text;
  }
}

TEST(SceneReader, FormulasThatAreNotFiniteAtTheStartAreRefused) {
  const std::string gap =
      refusal(scene_with("\"contacts\": [{\"name\": \"c\", \"gap\": \"log(x)\"}]"));
  EXPECT_EQ(
      gap.find("f:3:35: error: generalized.contacts[0].gap: gap of contact 'c' is -inf at the "
               "start, must be finite\n"),
      0u)
      << gap;
  const std::string root = refusal(scene_with("\"contacts\": [{\"gap\": \"sqrt(x - 1)\"}]"));
  EXPECT_EQ(root.find("f:3:22: error: generalized.contacts[0].gap: gap of contact 'contact 1' is "),
            0u)
      << root;
  EXPECT_EQ(
      refusal(scene_with("\"force\": {\"y\": \"log(x)\"}")),
      "f:3:16: error: generalized.force.y: force on 'y' is -inf at the start, must be finite\n");
  const std::string potential = refusal(scene_with("\"potential\": \"log(x)\""));
  EXPECT_EQ(potential.find("f:3:14: error: generalized.potential: force on 'x' is "), 0u)
      << potential;
  const std::string mass =
      refusal(scene_with("", {.mass = "\n[[\"1 + exp(1e4 + x)\", 0], [0, 1]]"}));
  EXPECT_NE(mass.find("generalized.mass"), std::string::npos) << mass;
}

// ---------------------------------------------------------------------------------------------------
// Names

TEST(SceneReader, FrictionNeedsATangent) {
  EXPECT_EQ(refusal(scene_with("\"contacts\": [{\"gap\": \"y\", \"mu\": 0.3}]")),
            "f:3:33: error: generalized.contacts[0].mu: is 0.3, but the contact has no tangent\n"
            "  help: give \"tangent\", the direction in which friction acts\n");
  accepted(scene_with("\"contacts\": [{\"gap\": \"y\", \"mu\": 0}]"));
}

TEST(SceneReader, NamesMayBeTakenOnce) {
  const std::string help = "  help: coordinates, parameters, t and pi share one set of names\n";
  const auto block = [](const std::string& parameters, const std::string& coordinates) {
    return "{\"stiction\": 1, \"parameters\": {\"g\": 9.81}, \"generalized\": {\"parameters\": "
           "{\n" +
           parameters + "}, \"coordinates\": {\n" + coordinates + "}, \"mass\": [[1]]}}";
  };
  EXPECT_EQ(refusal(block("\"x\": 1", "\"x\": {}")),
            "f:3:1: error: generalized.coordinates.x: the name 'x' is already taken\n" + help);
  EXPECT_EQ(refusal(block("\"g\": 1", "\"x\": {}")),
            "f:2:1: error: generalized.parameters.g: the name 'g' is already taken\n" + help);
  EXPECT_EQ(refusal(block("", "\"t\": {}")),
            "f:3:1: error: generalized.coordinates.t: the name 't' is already taken\n" + help);
  EXPECT_EQ(refusal(block("", "\"pi\": {}")),
            "f:3:1: error: generalized.coordinates.pi: the name 'pi' is already taken\n" + help);
  EXPECT_EQ(refusal(block("\"t\": 1", "\"x\": {}")),
            "f:2:1: error: generalized.parameters.t: the name 't' is already taken\n"
            "  help: t is the time\n");
}

TEST(SceneReader, ContactsConstraintsAndSpringsNeedDifferentNames) {
  EXPECT_EQ(refusal(scene_with("\"contacts\": [{\"name\": \"c\", \"gap\": \"y\"},\n"
                               "{\"name\": \"c\", \"gap\": \"x\"}]")),
            "f:4:10: error: generalized.contacts[1].name: the name 'c' is already taken\n"
            "  help: every contact needs a name of its own\n");
  EXPECT_EQ(refusal(scene_with("\"springs\": [{\"name\": \"spring 2\", \"extension\": \"y\", "
                               "\"stiffness\": 1},\n{\"extension\": \"x\", \"stiffness\": 1}]")),
            "f:4:1: error: generalized.springs[1].name: the name 'spring 2' is already taken\n"
            "  help: every spring needs a name of its own\n");
}

TEST(SceneReader, ForceOnAnUnknownCoordinateIsRefused) {
  EXPECT_EQ(
      refusal(scene_with("\"force\": {\"Y\": 1}")),
      "f:3:11: error: generalized.force.Y: unknown coordinate 'Y'\n  help: did you mean 'y'?\n");
}

TEST(SceneReader, CoordinatesMayBeNamedLikeFunctions) {
  const Scene scene = accepted(
      "{\"stiction\": 1, \"generalized\": {\"coordinates\": {\"sin\": {\"position\": 2}}, "
      "\"mass\": "
      "[[1]], \"contacts\": [{\"gap\": \"sin + sin(sin)\"}]}}");
  EXPECT_EQ(scene.model.q_names(), std::vector<std::string>{"sin"});
}

// ---------------------------------------------------------------------------------------------------
// All at once

TEST(SceneReader, AllFaultsAreReportedInTheOrderOfTheText) {
  const std::string text = refusal(
      "{\"stiction\": 1,\n"
      " \"generalized\": {\n"
      "  \"contacts\": [{\"gap\": \"z\", \"mu\": -1}],\n"
      "  \"coordinates\": {\"x\": {\"position\": \"q\", \"speed\": 1}},\n"
      "  \"force\": {\"y\": \"1 +\"},\n"
      "  \"mass\": [[1, 2]]},\n"
      " \"simulate\": {\"h\": true, \"scheme\": \"none\"}}");
  std::vector<std::string> places;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    if (text.compare(at, 2, "f:") == 0) places.push_back(text.substr(at, text.find(' ', at) - at));
  EXPECT_EQ(places, (std::vector<std::string>{"f:3:25:", "f:3:35:", "f:4:38:", "f:4:42:", "f:5:13:",
                                              "f:5:22:", "f:6:12:", "f:7:20:", "f:7:36:"}))
      << text;
}

TEST(SceneReader, AllFaultsOfTheStartAreReportedTogether) {
  const std::string text = refusal(
      scene_with("\"force\": {\"x\": \"log(x)\"},\n\"constraints\": [{\"equation\": \"x - 1\"}],\n"
                 "\"contacts\": [{\"gap\": \"y - 1\"}, {\"gap\": \"x - 1\"}]"));
  for (const std::string place : {"f:3:16:", "f:4:30:", "f:5:22:", "f:5:40:"})
    EXPECT_NE(text.find(place), std::string::npos) << place << "\n" << text;
}

// ---------------------------------------------------------------------------------------------------
// Good scenes

TEST(SceneReader, ParametersMayUseEarlierOnesAndThoseOfTheScene) {
  const Scene scene = accepted(
      "{\"stiction\": 1, \"name\": \"p\", \"parameters\": {\"a\": 2, \"b\": \"3*a\"}, "
      "\"generalized\": "
      "{\"parameters\": {\"c\": \"b + 1\", \"d\": \"c*a\"}, \"coordinates\": {\"x\": "
      "{\"position\": "
      "\"d\", \"velocity\": \"-pi\"}}, \"mass\": [[\"c\"]]}}");
  EXPECT_EQ(scene.name, "p");
  EXPECT_EQ(scene.model.initial_state().q[0], 14);
  EXPECT_EQ(scene.model.initial_state().v[0], -std::numbers::pi);
  EXPECT_EQ(refusal("{\"stiction\": 1, \"parameters\": {\"a\": \"b\", \"b\": 1}, \"generalized\": "
                    "{\"coordinates\": {\"x\": {}}, \"mass\": [[1]]}}"),
            "f:1:38: error: parameters.a: unknown symbol 'b'\n  help: known: pi\n");
}

TEST(SceneReader, ContactsSpringsAndConstraintsArriveInTheModel) {
  const Scene scene = accepted(scene_with(
      "\"constraints\": [{\"equation\": \"x - y\"}],\n"
      "\"springs\": [{\"name\": \"s\", \"extension\": \"x - 0.2*sin(t)\", \"stiffness\": 100, "
      "\"damping\": "
      "2}],\n"
      "\"contacts\": [{\"name\": \"belt\", \"gap\": \"y - 0.1*sin(t)\", \"tangent\": [1, 0], "
      "\"mu\": 0.5, "
      "\"surface_speed\": \"2*t\"},\n"
      "{\"name\": \"plate\", \"gap\": \"x\", \"tangent\": [[0, 1], [\"x\", \"t\"]], \"mu\": 0.25, "
      "\"restitution\": 0.5, \"restitution_tangential\": 1, \"surface_speed\": [1, \"t\"]}]"));
  const auto& system = dynamic_cast<const GeneralizedSystem&>(*scene.model.parts().front().system);
  ASSERT_EQ(system.num_constraints(), 1);
  EXPECT_EQ(system.layout().constraints[0], "constraint 1");
  ASSERT_EQ(system.num_springs(), 1);
  EXPECT_EQ(system.layout().springs[0].stiffness, 100);
  ASSERT_EQ(system.num_contacts(), 2);
  const auto& plate = system.layout().contacts[1];
  EXPECT_EQ(plate.name, "plate");
  EXPECT_EQ(plate.mu, 0.25);

  // Rows of "plate" at q = (3, 4), t = 2: gradient of the gap, then the tangents; drift −surface
  // speed.
  RowMatrixXd rows(3, 2);
  VectorXd drift(3);
  system.evaluate_contact_rows(2, Eigen::Vector2d(3, 4), 1, rows, drift);
  EXPECT_EQ(rows, (RowMatrixXd(3, 2) << 1, 0, 0, 1, 3, 2).finished());
  EXPECT_EQ(drift, Eigen::Vector3d(0, -1, -2));
  VectorXd gaps(2);
  system.evaluate_gaps(2, Eigen::Vector2d(3, 4), gaps);
  EXPECT_EQ(gaps[0], 4 - 0.1 * std::sin(2.0));
}

TEST(SceneReader, ReadsEveryExample) {
  int num_examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STICTION_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".json") continue;
    ++num_examples;
    Diagnostics diagnostics(entry.path().string());
    EXPECT_TRUE(read_scene_file(entry.path().string(), {}, diagnostics).has_value());
    EXPECT_EQ(diagnostics.to_text(), "");
  }
  EXPECT_GE(num_examples, 5);
}

TEST(SceneReader, FilesThatCannotBeReadAreReported) {
  const auto fault_of = [](const std::string& path) {
    Diagnostics diagnostics("f");
    EXPECT_FALSE(read_scene_file(path, kKnown, diagnostics).has_value());
    return diagnostics.to_text();
  };
  TemporaryFolder folder;
  EXPECT_EQ(fault_of(folder.file("none.json")),
            "f: error: cannot be read: No such file or directory\n");
  EXPECT_EQ(fault_of(folder.file("")), "f: error: is a folder, expected a scene file\n");
  // Opens, but reading fails.
  if (std::filesystem::exists("/proc/self/mem")) {
    EXPECT_EQ(fault_of("/proc/self/mem"), "f: error: cannot be read: Input/output error\n");
  }
}

TEST(SceneReader, NameDefaultsToThatOfTheFile) {
  TemporaryFolder folder;
  write_bytes(folder.file("my scene.v2.json"), scene_with(""));
  Diagnostics diagnostics("f");
  const auto scene = read_scene_file(folder.file("my scene.v2.json"), kKnown, diagnostics);
  ASSERT_TRUE(scene.has_value());
  EXPECT_EQ(scene->name, "my scene.v2");
}

// ---------------------------------------------------------------------------------------------------
// Large and hostile texts

TEST(SceneReader, LongExpressionsAreRead) {
  std::string sum = "x";
  while (sum.size() < (1u << 20)) sum += " + x*y";
  accepted(scene_with("\"contacts\": [{\"gap\": \"" + sum + "\"}]"));
  // Nested as deeply: a fault, and no exhausted stack.
  const std::string nested(1 << 20, '(');
  EXPECT_NE(refusal(scene_with("\"potential\": \"" + nested + "\"")).find("nested deeper"),
            std::string::npos);
}

TEST(SceneReader, ManyCoordinatesAndContactsAreRead) {
  constexpr int kNumCoordinates = 30, kNumContacts = 40;
  std::string coordinates, mass, contacts;
  for (int i = 0; i < kNumCoordinates; ++i) {
    coordinates += fmt::format("{}\"q{}\": {{\"position\": 1}}", i ? ", " : "", i);
    mass += i ? ", [" : "[";
    for (int j = 0; j < kNumCoordinates; ++j)
      mass += fmt::format("{}{}", j ? ", " : "", i == j ? 2 : 0);
    mass += "]";
  }
  for (int i = 0; i < kNumContacts; ++i)
    contacts += fmt::format("{}{{\"gap\": \"q{} + q{}\"}}", i ? ", " : "", i % kNumCoordinates,
                            (7 * i) % kNumCoordinates);
  const Scene scene =
      accepted("{\"stiction\": 1, \"generalized\": {\"coordinates\": {" + coordinates +
               "}, \"mass\": [" + mass + "], \"contacts\": [" + contacts + "]}}");
  EXPECT_EQ(scene.model.num_q(), kNumCoordinates);
  EXPECT_EQ(scene.model.num_fixed_contacts(), kNumContacts);
}

/// A text with a few random changes: pieces removed, doubled, or replaced by what scenes are made
/// of.
std::string mutated(std::string text, Random& random) {
  static const std::vector<std::string> kPieces = {
      "{",     "}",      "[",    "]",    ",",       ":",     "\"",    "0",    "-1",
      "1e999", "1e-320", "NaN",  "null", "true",    "\"x\"", "\"t\"", "\"\"", "[]",
      "{}",    "//",     "/*",   "\\",   "\\u0000", "\xff",  "μ",     "y",    "v.y",
      "^",     "(",      "sin(", "1/0",  "\"1/y\"", "name",  "\n",    "pi",   "1e308"};
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random.integer(0, static_cast<int>(n) - 1));
  };
  const std::size_t num_changes = 1 + below(3);
  for (std::size_t k = 0; k < num_changes && !text.empty(); ++k) {
    const std::size_t at = below(text.size());
    const std::size_t length = std::min(text.size() - at, 1 + below(below(2) == 0 ? 2 : 20));
    switch (below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(at, length));
        break;
      case 2:
        text.insert(at, kPieces[below(kPieces.size())]);
        break;
      default:
        text.replace(at, length, kPieces[below(kPieces.size())]);
        break;
    }
  }
  return text;
}

TEST(SceneReader, RandomChangesOfExamplesGiveASceneOrAFaultWithItsPlace) {
  std::vector<std::string> examples;
  for (const auto& entry : std::filesystem::directory_iterator(STICTION_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".json") examples.push_back(entry.path().string());
  std::sort(examples.begin(), examples.end());
  ASSERT_FALSE(examples.empty());
  for (std::string& example : examples) {
    // Comments would swallow most of the changes.
    const std::string text = read_bytes(example);
    example = text.substr(text.find("\n{"));
  }
  int num_accepted = 0;
  constexpr int kCases = testing::fewer_sanitized(3000);
  for (unsigned seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::string text = mutated(examples[seed % examples.size()], random);
    Diagnostics diagnostics("f");
    const bool is_accepted = read_scene(text, {}, diagnostics).has_value();
    num_accepted += is_accepted;
    ASSERT_NE(is_accepted, diagnostics.has_errors()) << text;
    for (const Diagnostic& d : diagnostics.all()) {
      ASSERT_GT(d.where.line, 0) << d.message << "\n" << text;
      ASSERT_GT(d.where.column, 0) << d.message << "\n" << text;
      ASSERT_FALSE(d.message.empty()) << text;
    }
  }
  EXPECT_GT(num_accepted, kCases / 100);    // some changes are harmless …
  EXPECT_LT(num_accepted, kCases * 2 / 3);  // … but not most
}

}  // namespace
}  // namespace stiction
