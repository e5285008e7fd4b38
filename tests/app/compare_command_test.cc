// stiction compare: table, plot, JSON and CSV, bad input, failed runs.
#include "tests/app/program.h"

namespace stiction {
namespace {

using nlohmann::json;

class CompareCommand : public ProgramTest {
 protected:
  /// The bouncing ball with two steps, so that it is quick.
  SubprocessResult compare(std::vector<std::string> more, SubprocessOptions options = {}) const {
    std::vector<std::string> arguments = {"compare", example("bouncing-ball"), "--h", "0.01,0.02"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return stiction(arguments, options);
  }
};

/// Exit status 2, the message on stderr, nothing on stdout.
void expect_bad_input(const SubprocessResult& result, const std::string& message) {
  EXPECT_EQ(result.exit_code, 2) << message;
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find(message), std::string::npos) << message << "\n" << result.err;
}

/// The block that slides on a plane with a round section, which lemke does not take.
constexpr const char* kSpatialBlock = R"json({"stiction": 1, "name": "block",
    "simulate": {"friction": "disc", "duration": 0.1}, "generalized": {
      "coordinates": {"x": {"velocity": 1}, "y": {"velocity": 0.5}, "z": {}},
      "mass": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "potential": "9.81*z",
      "contacts": [{"gap": "z", "tangent": [[1, 0, 0], [0, 1, 0]], "mu": 0.3}]}})json";

TEST_F(CompareCommand, PrintsATableAndDrawsAPlot) {
  const auto result = compare({"--solvers", "lemke,auto", "--phases", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 12u) << result.out;
  EXPECT_EQ(lines[0], "bouncing-ball: 2 s, tolerance 1e-09");
  EXPECT_EQ(lines[1].find("reference: moreau with lemke at h = 0.000625 s, 3200 steps in "), 0u);
  EXPECT_EQ(lines[2],
            "error: q-mean, |q - q_ref| in the mean over time; means of 2 runs at h (1 + 0.03 k)");
  for (const char* column : {"scheme", "solver", "h [s]", "error", "q-end", "v-mean", "time [s]",
                             "steps/s", "events", "residual", "order"})
    EXPECT_NE(lines[3].find(column), std::string::npos) << column;
  EXPECT_NE(lines[4].find("  moreau  lemke    0.02  "), std::string::npos) << lines[4];
  EXPECT_NE(lines[7].find("  moreau  auto     0.01  "), std::string::npos) << lines[7];
  EXPECT_EQ(lines[8], "fitted order over all steps:");
  EXPECT_EQ(lines[11], "plot: bouncing-ball.svg");
  EXPECT_EQ(files(), std::vector<std::string>{"bouncing-ball.svg"});
  const std::string svg = read_bytes(file("bouncing-ball.svg"));
  for (const char* part : {"<svg ", "</svg>\n", "moreau, lemke", "moreau, auto", "wall time [s]",
                           "error of q, mean over time", "<polyline", "<circle"})
    EXPECT_NE(svg.find(part), std::string::npos) << part;
}

TEST_F(CompareCommand, ByDefaultTakesSchemeSolverAndFiveStepsFromTheScene) {
  const auto result = stiction({"compare", example("bouncing-ball"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json object = parse_json(result.out);
  std::vector<double> steps;
  for (const json& run : object["runs"]) {
    EXPECT_EQ(run["scheme"], "moreau");
    EXPECT_EQ(run["solver"], "lemke");
    steps.push_back(run["h"]);
  }
  EXPECT_EQ(steps, (std::vector<double>{4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4}));
  EXPECT_EQ(object["reference"]["h"], 2.5e-4 / 16);
}

TEST_F(CompareCommand, ByDefaultTheReferenceIsOfSecondOrderIfOneIsCompared) {
  const auto result = compare({"--schemes", "anitescu-potra,trapezoidal-1", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(parse_json(result.out)["reference"]["scheme"], "trapezoidal-1");
}

TEST_F(CompareCommand, JsonIsOneObjectWithEveryRun) {
  const auto result = compare({"--json", "--out", "a.svg", "--csv", "a.csv", "--threads", "4",
                               "--error", "v-mean", "--reference-scheme", "stewart-trinkle",
                               "--reference-solver", "auto", "--reference-h", "1e-3"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const json object = parse_json(result.out);
  EXPECT_EQ(object["scene"], "bouncing-ball");
  EXPECT_EQ(object["duration_s"], 2);
  EXPECT_EQ(object["phases"], 1);
  EXPECT_EQ(object["error"], "v-mean");
  EXPECT_EQ(object["reference"]["scheme"], "stewart-trinkle");
  EXPECT_EQ(object["reference"]["solver"], "auto");
  EXPECT_EQ(object["reference"]["steps"], 2000);
  EXPECT_EQ(object["plot"], "a.svg");
  EXPECT_EQ(object["csv"], "a.csv");
  EXPECT_EQ(object["status"], "complete");
  ASSERT_EQ(object["notes"].size(), 1u);  // the inelastic reference
  ASSERT_EQ(object["runs"].size(), 2u);
  const json& run = object["runs"][1];
  EXPECT_EQ(run["h"], 0.01);
  EXPECT_EQ(run["status"], "complete");
  EXPECT_TRUE(run["reason"].is_null());
  EXPECT_EQ(run["error"], run["v_mean"]);
  EXPECT_EQ(run["steps"], 200);
  for (const char* key : {"q_mean", "q_end", "wall_s", "steps_per_s", "order"})
    EXPECT_TRUE(run[key].is_number()) << key;
  EXPECT_EQ(run["events_by_kind"].size(), 5u);
  EXPECT_TRUE(object["runs"][0]["order"].is_null());
  EXPECT_DOUBLE_EQ(object["orders"][0]["order"].get<double>(), run["order"].get<double>());
  EXPECT_EQ(files(), (std::vector<std::string>{"a.csv", "a.svg"}));
}

TEST_F(CompareCommand, CsvHasALinePerRun) {
  ASSERT_EQ(compare({"--no-plot", "--csv", "a.csv"}).exit_code, 0);
  const auto lines = lines_of(read_bytes(file("a.csv")));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "scheme,solver,h,status,q_mean,q_end,v_mean,wall_s,steps,steps_per_s,events,"
            "residual_max,order,reason");
  EXPECT_EQ(lines[1].find("moreau,lemke,0.02,complete,"), 0u) << lines[1];
  for (const std::string& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), ','), 13);
  EXPECT_EQ(files(), std::vector<std::string>{"a.csv"});
}

TEST_F(CompareCommand, SameNumbersAgainButForTimes) {
  const auto errors = [&] {
    json runs = parse_json(compare({"--json", "--no-plot"}).out)["runs"];
    for (json& run : runs)
      for (const char* time : {"wall_s", "steps_per_s"}) run.erase(time);
    return runs;
  };
  EXPECT_EQ(errors(), errors());
}

/// Friction of `pgs-separate` is that of a box, whatever the scene says: its steps are rejected.
TEST_F(CompareCommand, AFailedRunHasAReasonAndNoTime) {
  scene_file(kSpatialBlock);
  auto result = stiction(
      {"compare", "scene.json", "--solvers", "nsgs,pgs-separate", "--h", "0.02,0.01", "--json"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const json object = parse_json(result.out);
  EXPECT_EQ(object["status"], "failed");
  EXPECT_EQ(object["runs"][0]["status"], "complete");
  const json& failed = object["runs"][2];
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_NE(failed["reason"].get<std::string>().find("step from t = 0"), std::string::npos);
  for (const char* key : {"error", "wall_s", "steps_per_s", "events", "events_by_kind", "order"})
    EXPECT_TRUE(failed[key].is_null()) << key;
  EXPECT_NE(read_bytes(file("block.svg")).find("moreau, pgs-separate: no point"),
            std::string::npos);

  result = stiction({"compare", "scene.json", "--solvers", "nsgs,pgs-separate", "--h", "0.02,0.01",
                     "--csv", "a.csv"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.out.find("  moreau  pgs-separate   0.01     failed\n"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("failed: moreau with pgs-separate, h = 0.01 s: step from t = 0"),
            std::string::npos)
      << result.out;
  EXPECT_NE(
      read_bytes(file("a.csv")).find("moreau,pgs-separate,0.02,failed,,,,,,,,,,\"step from t = 0"),
      std::string::npos);
}

TEST_F(CompareCommand, AFailedReferenceLeavesNothingToCompare) {
  scene_file(kSpatialBlock);
  const std::vector<std::string> arguments = {
      "compare",      "scene.json", "--h",  "0.02", "--reference-solver",
      "pgs-separate", "--csv",      "a.csv"};
  auto result = stiction(arguments);
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_NE(
      result.out.find("reference: moreau with pgs-separate at h = 0.00125 s, failed: step from"),
      std::string::npos)
      << result.out;
  EXPECT_EQ(files(), std::vector<std::string>{"scene.json"});
}

TEST_F(CompareCommand, ASolverThatDoesNotTakeTheFrictionIsRefusedBeforeAnyRun) {
  scene_file(kSpatialBlock);
  const auto result = stiction({"compare", "scene.json", "--solvers", "nsgs,lemke", "--h", "0.02"});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_NE(
      result.err.find("moreau with lemke: solver 'lemke' does not take contacts in space with "
                      "friction 'disc'"),
      std::string::npos)
      << result.err;
}

TEST_F(CompareCommand, NamesTheUnknownAndTheNearest) {
  expect_bad_input(compare({"--schemes", "moreau,moreu,frog"}),
                   "--schemes: unknown name 'moreu', did you mean 'moreau'?; unknown name 'frog', "
                   "known: ");
  expect_bad_input(compare({"--solvers", "lempke"}),
                   "--solvers: unknown name 'lempke', did you mean 'lemke'?");
  expect_bad_input(compare({"--reference-scheme", "moreu"}), "did you mean 'moreau'?");
  expect_bad_input(compare({"--reference-solver", "x"}), "--reference-solver: unknown name 'x'");
  expect_bad_input(compare({"--error", "max"}), "q-end");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(CompareCommand, RefusesNumbersThatMakeNoSense) {
  const auto with_h = [&](const std::string& list) {
    return stiction({"compare", example("bouncing-ball"), "--h", list});
  };
  expect_bad_input(with_h("1e-3,0"), "--h: is '0', must be a finite number > 0");
  expect_bad_input(with_h("1e-3,-1"), "--h: is '-1', must be a finite number > 0");
  expect_bad_input(with_h("nan"), "--h: is 'nan', must be a finite number > 0");
  expect_bad_input(with_h("1e-3,x"), "--h: is 'x', must be a finite number > 0");
  expect_bad_input(with_h("1e-3,,2e-3"), "--h is '1e-3,,2e-3', expected a list such as A,B");
  expect_bad_input(with_h("3"), "h is 3 s, must not be longer than the duration, 2 s");
  expect_bad_input(compare({"--reference-h", "0.01"}),
                   "h of the reference is 0.01 s, must be > 0 and shorter than all compared steps");
  expect_bad_input(compare({"--reference-h", "-1"}), "is '-1', must be a finite number > 0");
  expect_bad_input(compare({"--duration", "0"}), "is '0', must be a finite number > 0");
  expect_bad_input(compare({"--tol", "nan"}), "is 'nan', must be a finite number > 0");
  expect_bad_input(compare({"--phases", "0"}), "--phases");
  expect_bad_input(compare({"--friction", "square"}), "expected disc, box or polygon:K");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(CompareCommand, KnowsBeforeTheTimeIsSpentThatAnOutputCannotBeWritten) {
  expect_bad_input(compare({"--out", "no/such/folder.svg"}), "no/such/folder.svg");
  expect_bad_input(compare({"--csv", "no/such/folder.csv"}), "no/such/folder.csv");
  expect_bad_input(compare({"--out", "a", "--csv", "./a"}), "would be overwritten");
  expect_bad_input(compare({"--out", example("bouncing-ball")}), "would be overwritten");
  expect_bad_input(stiction({"compare", "missing.json"}), "missing.json");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(CompareCommand, AFullDiskLeavesNoHalfFile) {
  const auto result = compare({}, {.file_size_limit = 100});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(CompareCommand, TellsOnATerminalWhatItIsRunning) {
  const auto result = compare({"--no-plot"}, {.has_terminal = true});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("[1/3] moreau with lemke, h = 0.000625 s"), std::string::npos)
      << result.err;
  EXPECT_EQ(compare({"--no-plot", "--json"}, {.has_terminal = true}).err, "");
}

}  // namespace
}  // namespace stiction
