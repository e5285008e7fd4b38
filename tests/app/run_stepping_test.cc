// stiction run and check: options that choose variants of the schemes, what the summary says of
// events, and what the recording keeps of them.
#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "stiction/record/recording_reader.h"
#include "tests/app/program.h"

namespace stiction {
namespace {

using Json = nlohmann::json;

class RunStepping : public ProgramTest {
 protected:
  /// A ball that is dropped from one metre onto the floor at y = 0.
  std::string ball(const std::string& simulate, const std::string& contact = "") const {
    return scene_file(fmt::format(
        "{{\"stiction\": 1, \"name\": \"ball\", \"simulate\": {{\"h\": 0.01, \"duration\": 2, {}}},"
        "\n\"generalized\": {{\"coordinates\": {{\"y\": {{\"position\": 1}}}}, \"mass\": [[1]], "
        "\"potential\": \"9.81*y\", \"contacts\": [{{\"name\": \"floor\", \"gap\": \"y\", "
        "\"restitution\": 0.5{}}}]}}}}",
        simulate, contact));
  }

  /// A mass with a rough foot that falls without turning: normal and tangential motion are coupled,
  /// W = M⁻¹ = (2, −1; −1, 2)/3 with M = (2, 1; 1, 2). At γ⁻ = (0, −1) the foot sticks in
  /// compression with c = (ct, cn) = (1, 2), within μ = 1. Decompression adds e cn = 2 in normal
  /// direction alone. The energy changes by ½(cn γn + ct γt) = −1 J in compression and by
  /// ½ e² cn² Wnn = 4/3 J in decompression.
  std::string rough_foot() const {
    return scene_file(
        R"({"stiction": 1, "name": "foot",
"simulate": {"scheme": "anitescu-potra", "h": 0.015625, "duration": 1},
"generalized": {"coordinates": {"x": {}, "y": {"position": 0.3, "velocity": -1}},
"mass": [[2, 1], [1, 2]],
"contacts": [{"gap": "y", "tangent": [1, 0], "mu": 1, "restitution": 1}]}})");
  }

  Json run_json(const std::string& scene, std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"run", scene, "--json"});
    const auto result = stiction(options);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out);
  }
};

TEST_F(RunStepping, EventsAreCountedByKindInSummaryAndJson) {
  const std::string scene = ball("\"scheme\": \"trapezoidal-2\"");
  const Json object = run_json(scene);
  const Json& events = object["events"];
  for (const char* kind : {"collision", "stick", "slip", "take-off", "floor"})
    EXPECT_TRUE(events.contains(kind)) << kind;
  const int collisions = events["collision"];
  EXPECT_GE(collisions, 5);
  EXPECT_EQ(events["slip"], 0);
  EXPECT_EQ(object["impact_gains"], 0);
  EXPECT_EQ(object["impact_gain_J"], 0);
  EXPECT_EQ(object["rejected_substeps"], 0);
  EXPECT_GT(object["substeps"], object["steps"]);
  EXPECT_EQ(object["notes"], Json::array());
  const std::string summary = stiction({"run", scene}).out;
  EXPECT_NE(summary.find(fmt::format("\n  events     collision {}", collisions)), std::string::npos)
      << summary;
  EXPECT_NE(summary.find("\n  substeps   "), std::string::npos) << summary;
  EXPECT_EQ(summary.find("warning"), std::string::npos) << summary;
}

TEST_F(RunStepping, RunsWithoutEventsHaveNoLinesAboutThem) {
  const std::string summary = stiction({"run", example("bouncing-ball")}).out;
  for (const char* word : {"  events", "  substeps", "  floor", "warning"})
    EXPECT_EQ(summary.find(word), std::string::npos) << word << "\n" << summary;
}

TEST_F(RunStepping, FloorSaysHowOftenItActed) {
  const std::string scene = ball(
      "\"scheme\": \"trapezoidal-2\", \"events\": {\"min_step\": 0.5, \"restitution_threshold\": "
      "0}");
  const int floors = run_json(scene)["events"]["floor"];
  EXPECT_GT(floors, 0);
  const std::string summary = stiction({"run", scene}).out;
  EXPECT_NE(summary.find(fmt::format("\n  floor      acted {} time", floors)), std::string::npos)
      << summary;
}

TEST_F(RunStepping, ImpactsThatRaiseTheEnergyAreAWarning) {
  const Json object = run_json(rough_foot());
  EXPECT_EQ(object["impact_gains"], 1);
  EXPECT_NEAR(object["impact_gain_J"], 1.0 / 3, 1e-12);
  const std::string summary = stiction({"run", rough_foot()}).out;
  EXPECT_NE(summary.find("\n  warning: 1 impact raised the energy, by 0.333 J together: Poisson's "
                         "law with friction can\n"),
            std::string::npos)
      << summary;
}

TEST_F(RunStepping, ImpactLawOfTheContactIsObeyed) {
  // Newton's law reverses γn = −1 to +1, friction holds the foot still in tangential direction.
  const std::string text = read_bytes(rough_foot());
  const std::string newton =
      scene_file(std::string(text).replace(text.find("\"mu\""), 0, "\"impact\": \"newton\", "));
  const Json object = run_json(newton);
  EXPECT_EQ(object["events"]["collision"], 1);
  EXPECT_NE(object["energy_ledger"]["kinetic"], run_json(rough_foot())["energy_ledger"]["kinetic"]);
}

TEST_F(RunStepping, NotesGoToStderrAndIntoTheJson) {
  const std::string note =
      "stewart-trinkle treats impacts as inelastic; restitution of contact 'floor' is not used";
  const std::string scene = ball("\"scheme\": \"stewart-trinkle\"");
  EXPECT_EQ(stiction({"run", scene}).err, "stiction: note: " + note + "\n");
  EXPECT_EQ(stiction({"check", scene}).err, "stiction: note: " + note + "\n");
  EXPECT_EQ(stiction({"run", scene, "--quiet"}).err, "");
  const auto json = stiction({"run", scene, "--json"});
  EXPECT_EQ(json.err, "");
  EXPECT_EQ(parse_json(json.out)["notes"], Json::array({note}));
}

TEST_F(RunStepping, OptionsOfTheCommandLineReachTheScheme) {
  // Without location a contact acts from the step after it closed, hence penetrates.
  const std::string scene = ball("\"scheme\": \"trapezoidal-2\", \"jacobians\": \"springs-only\"");
  EXPECT_GE(run_json(scene)["gap_min"], -1e-8);
  const Json without = run_json(scene, {"--no-events", "--jacobians", "exact"});
  EXPECT_LT(without["gap_min"], -1e-3);
  EXPECT_EQ(without["substeps"], without["steps"]);
  // Steps much too long for the pendulum are divided until their error is small enough.
  const std::vector<std::string> pendulum = {"--scheme", "trapezoidal-2", "--h", "0.25"};
  auto controlled = pendulum;
  controlled.insert(controlled.end(), {"--error-tol", "1e-6"});
  const Json coarse = run_json(example("spring-pendulum"), pendulum);
  const Json fine = run_json(example("spring-pendulum"), controlled);
  EXPECT_EQ(coarse["substeps"], coarse["steps"]);
  EXPECT_GT(fine["substeps"], 4 * fine["steps"].get<int>());
  EXPECT_GT(fine["rejected_substeps"], 0);
  const std::vector<std::string> options = {
      "run", example("spring-pendulum"), "--h", "0.25", "--scheme", "trapezoidal-2", "--error-tol",
      "1e-6"};
  EXPECT_NE(stiction(options).out.find("more rejected by error control\n"), std::string::npos);
}

TEST_F(RunStepping, ProjectionCanBeSwitched) {
  const auto drift = [&](const char* projection) {
    const Json object =
        run_json(example("double-pendulum-wall"),
                 {"--scheme", "linearly-implicit-euler", "--projection", projection});
    return object["joint_error_max"].get<double>();
  };
  EXPECT_LT(drift("on"), 1e-9);
  EXPECT_GT(drift("off"), 1e-4);
}

TEST_F(RunStepping, BadOptionsAreRefusedBeforeAnythingIsWritten) {
  const std::string scene = ball("\"scheme\": \"trapezoidal-2\"");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--projection", "maybe"}, "--projection: maybe not in {on,off}"},
      {{"--jacobians", "numeric"}, "--jacobians: numeric not in {exact,differences,springs-only}"},
      {{"--error-tol", "-1"}, "--error-tol: is '-1', must be a finite number >= 0\n"},
      {{"--error-tol", "nan"}, "--error-tol: is 'nan', must be a finite number >= 0\n"},
      {{"--on-failure", "stop"},
       "--on-failure: stop not in {reject,retry-smaller,accept-and-flag}"},
      {{"--threads", "0"}, "--threads: is '0', must be an integer from 1 to 1024\n"},
      {{"--threads", "40000"}, "--threads: is '40000', must be an integer from 1 to 1024\n"},
  };
  for (const auto& [options, message] : cases) {
    SCOPED_TRACE(message);
    std::vector<std::string> arguments = {"run", scene};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto result = stiction(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(files(), std::vector<std::string>{"scene.json"});
  }
}

TEST_F(RunStepping, BadToleranceOfEventsIsShownInTheScene) {
  const std::string scene = ball("\"events\": {\"contact_tolerance\": 0}");
  for (const char* command : {"run", "check"}) {
    const auto result = stiction({command, scene});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find("error: simulate.events.contact_tolerance: is 0, must be > 0\n"),
              std::string::npos)
        << result.err;
  }
}

TEST_F(RunStepping, SleepIsAsTheSceneSaysUnlessTheCommandLineSaysSo) {
  const auto sleeps = [&](const std::string& scene, std::vector<std::string> options = {}) {
    return run_json(scene, std::move(options))["sleep"]["is_on"].get<bool>();
  };
  const std::string on = ball("\"sleep\": true");
  EXPECT_TRUE(sleeps(on));
  EXPECT_TRUE(sleeps(on, {"--sleep"}));
  EXPECT_FALSE(sleeps(on, {"--no-sleep"}));
  const std::string off = ball("\"sleep\": false");
  EXPECT_FALSE(sleeps(off));
  EXPECT_TRUE(sleeps(off, {"--sleep"}));
  EXPECT_FALSE(sleeps(off, {"--no-sleep"}));
}

TEST_F(RunStepping, OptionsThatTheSchemeDoesNotReadAreNoted) {
  const std::string note =
      "projection does not change steps in moreau, only in anitescu-potra, "
      "linearly-implicit-euler, "
      "trapezoidal-1, trapezoidal-2";
  const std::string scene = ball("\"scheme\": \"moreau\"");
  EXPECT_EQ(stiction({"run", scene, "--projection", "on"}).err, "stiction: note: " + note + "\n");
  EXPECT_EQ(run_json(scene, {"--projection", "on"})["notes"], Json::array({note}));
  EXPECT_EQ(stiction({"run", scene, "--projection", "off"}).err, "");
  EXPECT_EQ(stiction({"check", ball("\"projection\": true")}).err,
            "stiction: note: " + note + "\n");
}

TEST_F(RunStepping, TimesTellDirectStagesFromSweepsWhereTheSolverHasThem) {
  // Logs that rub: normals and friction depend on each other.
  const std::vector<std::string> options = {"--duration", "0.1", "--on-failure", "accept-and-flag",
                                            "--no-recording"};
  const auto run_with = [&](const std::string& solver, const std::string& format) {
    std::vector<std::string> arguments = {"run", example("log-pile"), "--solver", solver};
    arguments.insert(arguments.end(), options.begin(), options.end());
    if (!format.empty()) arguments.push_back(format);
    return stiction(arguments).out;
  };
  const Json split = parse_json(run_with("direct-iterative-once", "--json"))["times"];
  EXPECT_GT(split["solve_direct_s"], 0);
  EXPECT_GT(split["solve_sweeps_s"], 0);
  EXPECT_LE(split["solve_direct_s"].get<double>() + split["solve_sweeps_s"].get<double>(),
            split["solve_s"].get<double>());
  const Json whole = parse_json(run_with("auto", "--json"))["times"];
  EXPECT_EQ(whole["solve_direct_s"], 0);
  EXPECT_EQ(whole["solve_sweeps_s"], 0);
  EXPECT_NE(run_with("direct-iterative-once", "").find(" % (direct "), std::string::npos);
  EXPECT_EQ(run_with("auto", "").find(" % (direct "), std::string::npos);
}

TEST_F(RunStepping, ContradictoryStartIsRefusedOrProjected) {
  // A pendulum of length 1 at (1.1, 0), pulled outwards.
  const std::string scene = scene_file(
      R"({"stiction": 1, "name": "rod", "simulate": {"h": 0.01, "duration": 0.1},
"generalized": {"coordinates": {"x": {"position": 1.1, "velocity": 0.5}, "y": {}},
"mass": [[1, 0], [0, 1]], "constraints": [{"name": "rod", "equation": "x^2 + y^2 - 1"}]}})");
  const auto refused = stiction({"run", scene});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("or set simulate.project_start to true"), std::string::npos)
      << refused.err;
  EXPECT_EQ(files(), std::vector<std::string>{"scene.json"});

  const auto projected = stiction({"run", scene, "--project-start", "--out", "r.h5"});
  ASSERT_EQ(projected.exit_code, 0) << projected.err;
  const Recording recording = read_recording(file("r.h5"));
  EXPECT_NEAR(recording.q(0, 0), 1, 1e-6);
  EXPECT_NEAR(recording.v(0, 0), 0, 1e-6);
}

// ---------------------------------------------------------------------------------------------------
// The recording

TEST_F(RunStepping, RecordingKeepsEveryEventWhateverIsRecorded) {
  const std::string scene = ball("\"scheme\": \"trapezoidal-2\"");
  const Json object = run_json(scene, {"--out", "all.h5"});
  run_json(scene, {"--out", "few.h5", "--every", "50"});
  const Recording all = read_recording(file("all.h5")), few = read_recording(file("few.h5"));
  EXPECT_LT(few.num_rows(), 10);
  int num_events = 0;
  for (const auto& count : object["events"]) num_events += count.get<int>();
  ASSERT_EQ(all.events.size(), num_events);
  EXPECT_EQ(few.events.step, all.events.step);
  EXPECT_EQ(few.events.time, all.events.time);
  EXPECT_EQ(few.events.energy, all.events.energy);
  // The first impact: √(2/9.81) s after the start, with 9.81 J of which a quarter is left.
  ASSERT_GT(num_events, 0);
  EXPECT_EQ(all.events.kinds[all.events.kind[0]], "collision");
  EXPECT_EQ(all.events.contact[0], 0);
  EXPECT_NEAR(all.events.time[0], std::sqrt(2 / 9.81), 1e-6);
  EXPECT_NEAR(all.events.energy[0], -0.75 * 9.81, 1e-4);
  // An event lies within its step.
  const double t = all.events.time[0];
  const std::int64_t step = all.events.step[0];
  EXPECT_LE(all.time[step - 1], t);
  EXPECT_GE(all.time[step], t);
}

TEST_F(RunStepping, RecordingFlagsStepsAboveTolerance) {
  for (const char* every : {"1", "30"}) {
    const auto result =
        stiction({"run", example("woodpecker"), "--duration", "0.01", "--tol", "1e-30",
                  "--on-failure", "accept-and-flag", "--every", every, "--json", "--out", "r.h5"});
    EXPECT_EQ(result.exit_code, 3);
    const Recording recording = read_recording(file("r.h5"));
    EXPECT_EQ(recording.status, "above tolerance");
    EXPECT_EQ(std::accumulate(recording.flagged.begin(), recording.flagged.end(), 0),
              parse_json(result.out)["steps_above_tolerance"]);
  }
}

}  // namespace
}  // namespace stiction
