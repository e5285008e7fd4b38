// stiction run: results, options, files.
#include <fmt/format.h>

#include <filesystem>

#include "stiction/problem/problem_file.h"
#include "stiction/record/recording_reader.h"
#include "tests/app/program.h"

namespace stiction {
namespace {

using RunCommand = ProgramTest;
using Json = nlohmann::json;

TEST_F(RunCommand, JsonIsOneObjectWithAllKeysAndNothingElse) {
  const auto result = stiction({"run", example("bouncing-ball"), "--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  const Json object = parse_json(result.out);  // throws if anything follows
  for (const char* key : {"scene", "scheme", "solver", "steps", "simulated_s", "wall_s",
                          "contacts_max", "contacts_left_out_max", "residual_max", "gap_min",
                          "joint_error_max", "energy_ledger", "status", "substeps",
                          "rejected_substeps", "events", "impact_gains", "impact_gain_J", "notes"})
    EXPECT_TRUE(object.contains(key)) << key;
  EXPECT_EQ(object["scene"], "bouncing-ball");
  EXPECT_EQ(object["steps"], 2000);
  EXPECT_EQ(object["simulated_s"], 2.0);
  EXPECT_EQ(object["status"], "complete");
  EXPECT_LE(object["residual_max"], 1e-9);
  const Json& ledger = object["energy_ledger"];
  for (const char* key :
       {"kinetic", "potential", "spring", "applied", "motor", "friction", "impact", "numerical"})
    EXPECT_TRUE(ledger.contains(key)) << key;
}

TEST_F(RunCommand, SummaryGoesToStdoutAndQuietIsSilent) {
  const auto result = stiction({"run", example("incline")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out.find("incline: complete (moreau, lemke)\n"), 0u) << result.out;
  EXPECT_NE(result.out.find("recording  incline.h5"), std::string::npos) << result.out;
  const auto quiet = stiction({"run", example("incline"), "--quiet"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST_F(RunCommand, RecordsUnderTheNameOfTheSceneInTheCurrentFolder) {
  EXPECT_EQ(stiction({"run", example("incline")}).exit_code, 0);
  EXPECT_EQ(files(), std::vector<std::string>{"incline.h5"});
  EXPECT_EQ(stiction({"run", example("incline"), "--out", "other.h5"}).exit_code, 0);
  EXPECT_TRUE(has_file("other.h5"));
  EXPECT_EQ(stiction({"run", example("cosine-block"), "--no-recording"}).exit_code, 0);
  EXPECT_FALSE(has_file("cosine-block.h5"));
}

TEST_F(RunCommand, NameOfASceneIsNoPath) {
  const std::string scene = scene_file(
      "{\"stiction\": 1, \"name\": \"../a/b\\u0000c\", \"generalized\": {\"coordinates\": {\"x\": "
      "{}}, "
      "\"mass\": [[1]]}}");
  EXPECT_EQ(stiction({"run", scene, "--duration", "0.01"}).exit_code, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{".._a_b_c.h5", "scene.json"}));
}

TEST_F(RunCommand, EveryKeepsTheFirstTheLastAndEachNthStep) {
  ASSERT_EQ(stiction({"run", example("bouncing-ball"), "--every", "7", "--out", "r.h5"}).exit_code,
            0);
  const Recording recording = read_recording(file("r.h5"));
  ASSERT_EQ(recording.num_rows(), 2000 / 7 + 2);  // 0, 7, …, 1995, and 2000
  EXPECT_EQ(recording.step.front(), 0);
  EXPECT_EQ(recording.step[1], 7);
  EXPECT_EQ(recording.step.back(), 2000);
  EXPECT_EQ(recording.time.back(), 2);
  EXPECT_EQ(recording.status, "complete");
}

TEST_F(RunCommand, OptionsOverrideTheScene) {
  const auto result =
      stiction({"run", example("bouncing-ball"), "--json", "--h", "0.01", "--duration", "0.095",
                "--solver", "auto", "--friction", "disc", "--threads", "2"});
  const Json object = parse_json(result.out);
  EXPECT_EQ(object["solver"], "auto");
  EXPECT_EQ(object["steps"], 10);  // nine and a half
  EXPECT_NEAR(object["simulated_s"], 0.095, 1e-15);
}

TEST_F(RunCommand, TwoRunsGiveTheSameBits) {
  for (const std::string name : {"a.h5", "b.h5"})
    ASSERT_EQ(
        stiction({"run", example("woodpecker"), "--duration", "0.2", "--out", name}).exit_code, 0);
  const Recording a = read_recording(file("a.h5")), b = read_recording(file("b.h5"));
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
  EXPECT_EQ(a.contacts.impulse, b.contacts.impulse);
}

// ---------------------------------------------------------------------------------------------------
// Bad input: exit status 2, a message, and nothing written

struct BadOption {
  std::vector<std::string> options;
  std::string message;
};

TEST_F(RunCommand, BadOptionsAreRefusedBeforeAnythingIsWritten) {
  const std::vector<BadOption> cases = {
      {{"--scheme", "moru"}, "--scheme: moru not in {stewart-trinkle,"},
      {{"--solver", "x"}, "--solver: x not in {auto,lemke"},
      {{"--friction", "polygon:5"}, "expected disc, box or polygon:K, K even"},
      {{"--h", "-1"}, "--h: is '-1', must be a finite number > 0\n"},
      {{"--h", "0"}, "--h: is '0', must be a finite number > 0\n"},
      {{"--h", "nan"}, "--h: is 'nan', must be a finite number > 0\n"},
      {{"--h", "fast"}, "--h: is 'fast', must be a finite number > 0\n"},
      {{"--duration", "inf"}, "--duration: is 'inf', must be a finite number >= 0\n"},
      {{"--duration", "1e300"}, "takes more than 1e+15 steps"},
      {{"--duration", "-0.1"}, "--duration: is '-0.1', must be a finite number >= 0\n"},
      {{"--tol", "0"}, "--tol: is '0', must be a finite number > 0\n"},
      {{"--tol", "inf"}, "--tol: is 'inf', must be a finite number > 0\n"},
      {{"--every", "0"}, "--every: is '0', must be an integer > 0\n"},
      {{"--every", "2.5"}, "--every: is '2.5', must be an integer > 0\n"},
      {{"--threads", "0"}, "--threads: is '0', must be an integer from 1 to 1024\n"},
      {{"--on-failure", "ignore"},
       "--on-failure: ignore not in {reject,retry-smaller,accept-and-flag}"},
      {{"--dump-step", "5"}, "--dump-step requires --dump"},
      {{"--no-recording", "--out", "x.h5"}, "--out excludes --no-recording"},
      {{"--frobnicate"}, "--frobnicate"},
      {{"--out", "none/x.h5"}, "none/x.h5': No such file or directory"},
      {{"--out", "."}, "Is a directory"},
      {{"--save", "none/x.h5"}, "none/x.h5': No such file or directory"},
      {{"--dump", "none/x.h5"}, "none/x.h5': No such file or directory"},
      {{"--restore", "none.h5"}, "none.h5"},
      {{"--out", "x.h5", "--save", "./x.h5"}, "the recording and --save are the same file"},
      {{"--out", example("incline")}, "the scene and the recording are the same file"},
  };
  for (const BadOption& bad : cases) {
    SCOPED_TRACE(bad.message);
    std::vector<std::string> arguments = {"run", example("incline")};
    arguments.insert(arguments.end(), bad.options.begin(), bad.options.end());
    const auto result = stiction(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err.find(bad.message), std::string::npos) << result.err;
    EXPECT_EQ(files(), std::vector<std::string>{});
  }
}

TEST_F(RunCommand, MissingSceneIsRefused) {
  auto result = stiction({"run"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("scene is required"), std::string::npos) << result.err;
  result = stiction({"run", "none.json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "none.json: error: cannot be read: No such file or directory\n");
  EXPECT_EQ(files(), std::vector<std::string>{});
}

TEST_F(RunCommand, FolderWithoutPermissionIsRefused) {
  using std::filesystem::perms;
  std::filesystem::create_directory(file("locked"));
  std::filesystem::permissions(file("locked"), perms::owner_read | perms::owner_exec);
  const auto result =
      stiction({"run", example("incline"), "--out", "locked/x.h5"}, {.obeys_permissions = true});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("locked/x.h5': Permission denied"), std::string::npos) << result.err;
}

TEST_F(RunCommand, BadSceneLeavesNoRecordingAndDestroysNone) {
  const std::string scene = scene_file("{\"stiction\": 1, \"name\": \"s\"}");
  auto result = stiction({"run", scene, "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("error: the scene has neither 'bodies' nor 'generalized'"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(files(), std::vector<std::string>{"scene.json"});

  ASSERT_EQ(stiction({"run", example("incline"), "--out", "s.h5"}).exit_code, 0);
  const std::string before = read_bytes(file("s.h5"));
  EXPECT_EQ(stiction({"run", scene}).exit_code, 2);
  EXPECT_EQ(stiction({"run", example("incline"), "--out", "s.h5", "--h", "nan"}).exit_code, 2);
  EXPECT_EQ(stiction({"run", example("incline"), "--out", "s.h5", "--duration", "1e300"}).exit_code,
            2);
  EXPECT_EQ(read_bytes(file("s.h5")), before);
}

TEST_F(RunCommand, LostOutputIsAnErrorAndLostMessagesAreNot) {
  auto result = stiction({"run", example("incline"), "--json"}, {.stdout_file = "/dev/full"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "stiction: cannot write to the standard output: No space left on device\n");
  result = stiction({"run", "none.json"}, {.stderr_file = "/dev/full"});
  EXPECT_EQ(result.exit_code, 2);
}

// ---------------------------------------------------------------------------------------------------
// Steps above tolerance

TEST_F(RunCommand, UnreachableToleranceStopsWithTheCertificate) {
  const auto result = stiction({"run", example("bouncing-ball"), "--tol", "1e-30", "--json"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(parse_json(result.out)["status"], "rejected");
  for (const char* part : {"stiction: step from t = ", "misses the tolerance 1e-30: residual ",
                           "(momentum ", ", bilateral ", ", cone ", "solver: "})
    EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << result.err;
  const Recording recording = read_recording(file("bouncing-ball.h5"));
  EXPECT_EQ(recording.status, "rejected");
  EXPECT_EQ(recording.num_rows(), parse_json(result.out)["steps"].get<int>() + 1);
}

TEST_F(RunCommand, AcceptedStepsAboveToleranceAreCounted) {
  const auto result = stiction({"run", example("woodpecker"), "--duration", "0.01", "--tol",
                                "1e-30", "--on-failure", "accept-and-flag", "--json"});
  EXPECT_EQ(result.exit_code, 3);
  const Json object = parse_json(result.out);
  EXPECT_EQ(object["status"], "above tolerance");
  EXPECT_EQ(object["steps"], 100);
  EXPECT_GT(object["steps_above_tolerance"], 0);
  EXPECT_LE(object["steps_above_tolerance"], 100);
}

TEST_F(RunCommand, RetriesEndAtTheSmallestStep) {
  const auto result = stiction({"run", example("woodpecker"), "--duration", "0.01", "--tol",
                                "1e-30", "--on-failure", "retry-smaller", "--json"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(parse_json(result.out)["status"], "rejected");
  EXPECT_GT(parse_json(result.out)["retries"], 0);
}

TEST_F(RunCommand, ProblemOfAStepCanBeDumped) {
  auto result = stiction({"run", example("incline"), "--dump", "p.h5", "--dump-step", "10"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_problem(file("p.h5")).num_contacts(), 1);
  // Without a number: that of a rejected step.
  result = stiction({"run", example("woodpecker"), "--tol", "1e-30", "--dump", "q.h5"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("the problem of this step is in q.h5"), std::string::npos)
      << result.err;
  EXPECT_GE(read_problem(file("q.h5")).num_contacts(), 1);
  result = stiction({"run", example("incline"), "--dump", "r.h5", "--dump-step", "100000"});
  EXPECT_NE(result.err.find("step 100000 was not among the steps of this run"), std::string::npos);
  EXPECT_FALSE(has_file("r.h5"));
}

// ---------------------------------------------------------------------------------------------------
// Checkpoints

TEST_F(RunCommand, ContinuedRunGivesTheSameBitsAsOneInOnePiece) {
  for (const auto& [name, half, whole] :
       {std::tuple{"bouncing-ball", "1", "2"}, {"woodpecker", "0.1", "0.2"}}) {
    SCOPED_TRACE(name);
    const std::vector<std::string> run = {"run", example(name), "--quiet", "--duration"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.begin(), run.begin(), run.end());
      const auto result = stiction(more);
      EXPECT_EQ(result.exit_code, 0) << result.err;
    };
    with({whole, "--out", "whole.h5"});
    with({half, "--out", "first.h5", "--save", "state.h5"});
    with({half, "--out", "second.h5", "--restore", "state.h5", "--save", "state.h5"});
    const auto expected = table("whole.h5"), first = table("first.h5"), second = table("second.h5");
    ASSERT_EQ(first.size() + second.size(), expected.size() + 2);  // header and middle are in both
    EXPECT_TRUE(std::equal(first.begin(), first.end(), expected.begin()));
    EXPECT_TRUE(std::equal(second.begin() + 1, second.end(), expected.end() - second.size() + 1));
  }
}

TEST_F(RunCommand, CheckpointOfAnotherSimulationIsRefused) {
  ASSERT_EQ(stiction({"run", example("incline"), "--save", "state.h5"}).exit_code, 0);
  auto result = stiction({"run", example("incline"), "--restore", "state.h5", "--solver", "auto"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "stiction: state.h5: checkpoint was made with the solver 'lemke', this "
            "simulation has 'auto'\n");
  result = stiction({"run", example("woodpecker"), "--restore", "state.h5"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "stiction: state.h5: checkpoint was made with the coordinates 's,n', this "
            "simulation has 'y,phi_M,phi_S'\n");
  EXPECT_FALSE(has_file("woodpecker.h5"));
}

TEST_F(RunCommand, DamagedCheckpointIsRefused) {
  ASSERT_EQ(stiction({"run", example("incline"), "--out", "r.h5", "--save", "state.h5"}).exit_code,
            0);
  const std::string good = read_bytes(file("state.h5"));
  const auto refusal = [&](const std::string& bytes) {
    write_bytes(file("bad.h5"), bytes);
    const auto result =
        stiction({"run", example("incline"), "--restore", "bad.h5", "--out", "x.h5"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("bad.h5"), std::string::npos) << result.err;
    EXPECT_FALSE(has_file("x.h5"));
    return result.err;
  };
  refusal("");
  refusal("no HDF5 at all");
  refusal(good.substr(0, good.size() / 2));
  EXPECT_EQ(refusal(read_bytes(file("r.h5"))), "stiction: bad.h5: is not a checkpoint\n");
}

}  // namespace
}  // namespace stiction
