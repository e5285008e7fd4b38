// stiction check, list, --help, --version.
#include "stiction/base/version.h"
#include "tests/app/program.h"

namespace stiction {
namespace {

using CheckCommand = ProgramTest;
using ListCommand = ProgramTest;
using CommandLine = ProgramTest;

TEST_F(CheckCommand, SaysThatAGoodSceneIsValid) {
  const auto result = stiction({"check", example("woodpecker")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            example("woodpecker") +
                ": woodpecker is a valid scene: 3 coordinates, 0 constraints and springs, 3 "
                "contacts\n");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(CheckCommand, ReportsEveryFaultOfABadScene) {
  scene_file(
      "{\"stiction\": 1,\n\"simulate\": {\"h\": -1, \"scheme\": \"moru\"},\n\"generalized\": "
      "{\"coordinates\": {\"x\": {}}, \"mass\": [[\"m\"]]}}");
  const auto result = stiction({"check", "scene.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  for (const char* message :
       {"scene.json:2:19: error: simulate.h: is -1, must be > 0\n",
        "scene.json:2:33: error: simulate.scheme: unknown scheme 'moru'\n  help: ",
        "scene.json:3:54: error: generalized.mass[0][0]: unknown symbol 'm'\n"})
    EXPECT_NE(result.err.find(message), std::string::npos) << message << "\n" << result.err;
}

TEST_F(CheckCommand, PrintsTheSchema) {
  const auto result = stiction({"check", "--schema"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(parse_json(result.out)["title"], "Stiction scene");
  EXPECT_EQ(stiction({"check"}).exit_code, 2);
}

TEST_F(ListCommand, NamesWhatScenesAndOptionsMayUse) {
  const auto names = [&](const std::string& what) {
    const auto result = stiction({"list", what});
    EXPECT_EQ(result.exit_code, 0) << what;
    return lines_of(result.out);
  };
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const std::vector<std::string> schemes = names("schemes");
  for (const char* scheme : {"stewart-trinkle", "anitescu-potra", "linearly-implicit-euler",
                             "trapezoidal-1", "trapezoidal-2", "moreau"})
    EXPECT_TRUE(has(schemes, scheme)) << scheme;
  EXPECT_TRUE(has(names("solvers"), "auto"));
  EXPECT_TRUE(has(names("solvers"), "lemke"));
  EXPECT_TRUE(has(names("experiments"), "woodpecker"));
  names("joints");
  names("shapes");
  const auto result = stiction({"list", "frogs"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("schemes"), std::string::npos) << result.err;
}

TEST_F(CommandLine, VersionAndHelpGoToStdout) {
  auto result = stiction({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, std::string(version()) + "\n");
  result = stiction({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* command : {"run", "solve", "check", "list", "export"})
    EXPECT_NE(result.out.find(command), std::string::npos) << command;
  result = stiction({"run", "--help"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* option :
       {"--scheme", "--solver", "--friction", "--h", "--duration", "--tol", "--out", "--every",
        "--threads", "--quiet", "--json", "--on-failure", "--projection", "--jacobians",
        "--no-events", "--error-tol", "--project-start"})
    EXPECT_NE(result.out.find(option), std::string::npos) << option;
  EXPECT_EQ(stiction({"--help"}, {.stdout_file = "/dev/full"}).exit_code, 2);
}

TEST_F(CommandLine, MissingAndUnknownCommandsAreBadInput) {
  auto result = stiction({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("run, solve, compare, check, list, export or import is required"),
            std::string::npos)
      << result.err;
  result = stiction({"rnu", "x.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("rnu"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace stiction
