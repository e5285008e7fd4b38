// stiction solve, as its users call it.
#include <algorithm>

#include "stiction/problem/problem_file.h"
#include "stiction/scene/problem_reader.h"
#include "tests/app/program.h"
#include "tests/scene/problem_examples.h"

namespace stiction {
namespace {

class SolveCommand : public ProgramTest {
 protected:
  /// w = M z + q with M positive definite: z = (2, 0).
  void write_small_lcp() const {
    LcpExample example;
    example.M = Eigen::Matrix2d{{2, 1}, {1, 2}};
    example.q = Eigen::Vector2d(-4, 3);
    example.z = example.w = Eigen::Vector2d::Zero();
    example.flags = {1, 1};
    write_lcp(file("small.hdf5"), example, "lcp");
  }
};

TEST_F(SolveCommand, SolvesAnLcpAndSaysSoInJson) {
  write_small_lcp();
  const auto result = stiction({"solve", "small.hdf5", "--solver", "lemke", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto json = parse_json(result.out);
  EXPECT_EQ(json["problem"], "small");
  EXPECT_EQ(json["kind"], "lcp");
  EXPECT_EQ(json["size"], 2);
  EXPECT_EQ(json["contacts"], 2);
  EXPECT_EQ(json["solver"], "lemke");
  EXPECT_EQ(json["status"], "solved");
  EXPECT_LE(json["residual"].get<double>(), 1e-8);
  EXPECT_LE(json["error"].get<double>(), 1e-8);
  EXPECT_GE(json["iterations"].get<int>(), 1);
  EXPECT_GE(json["wall_s"].get<double>(), 0);
  EXPECT_EQ(json["certificate"].size(), 4u);
  ASSERT_EQ(json["r"].size(), 2u);
  EXPECT_NEAR(json["r"][0].get<double>(), 2, 1e-8);
  EXPECT_NEAR(json["r"][1].get<double>(), 0, 1e-8);
}

TEST_F(SolveCommand, TellsPeopleInAFewLines) {
  write_small_lcp();
  const auto result = stiction({"solve", "small.hdf5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LE(lines_of(result.out).size(), 4u);
  EXPECT_NE(result.out.find("solved by auto"), std::string::npos) << result.out;
}

TEST_F(SolveCommand, AnswerIsWrittenIntoACopy) {
  write_small_lcp();
  const std::string before = read_bytes(file("small.hdf5"));
  const auto result = stiction({"solve", "small.hdf5", "--out", "solved.hdf5", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(read_bytes(file("small.hdf5")), before);
  const ProblemFile solved = read_problem_file(file("solved.hdf5"));
  ASSERT_TRUE(solved.solution);
  EXPECT_NEAR(solved.solution->r[0], 2, 1e-8);
}

TEST_F(SolveCommand, DumpOfAStepIsSolved) {
  const auto run = stiction({"run", example("woodpecker"), "--duration", "0.001", "--no-recording",
                             "--quiet", "--dump", "step.h5", "--dump-step", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto result = stiction({"solve", "step.h5", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(parse_json(result.out)["kind"], "step");
}

TEST_F(SolveCommand, EmptyProblemIsSolvedInNoIterations) {
  write_local(file("empty.hdf5"), make_local_example(3, 0, 1));
  const auto result = stiction({"solve", "empty.hdf5", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = parse_json(result.out);
  EXPECT_EQ(json["iterations"], 0);
  EXPECT_EQ(json["r"], nlohmann::json::array());
}

TEST_F(SolveCommand, ProblemWithoutSolutionEndsAboveTolerance) {
  LcpExample example;  // w = −1 whatever z is
  example.M = Eigen::MatrixXd::Zero(1, 1);
  example.q = -Eigen::VectorXd::Ones(1);
  example.z = example.w = Eigen::VectorXd::Zero(1);
  example.flags = {1};
  write_lcp(file("none.hdf5"), example, "lcp");
  const auto result = stiction({"solve", "none.hdf5", "--json"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const auto json = parse_json(result.out);
  EXPECT_NE(json["status"], "solved");
  EXPECT_EQ(json["r"].size(), 1u);
  EXPECT_GE(json["error"].get<double>(), 1e-8);
}

TEST_F(SolveCommand, BadInputIsNamedAndNothingIsWritten) {
  LocalExample example = make_local_example(3, 2, 1);
  example.state.mu[0] = -1;
  write_local(file("bad.hdf5"), example);
  const auto result = stiction({"solve", "bad.hdf5", "--json", "--out", "out.hdf5"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_NE(result.err.find("'fclib_local/vectors/mu' is -1 at 0"), std::string::npos)
      << result.err;
  EXPECT_FALSE(has_file("out.hdf5"));
  write_small_lcp();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"solve"},
        {"solve", "missing.hdf5"},
        {"solve", "small.hdf5", "--solver", "oracle"},
        {"solve", "small.hdf5", "--tol", "nan"},
        {"solve", "small.hdf5", "--tol", "0"},
        {"solve", "small.hdf5", "--friction", "round"},
        {"solve", "small.hdf5", "--out", "no/folder.hdf5"}}) {
    const auto refused = stiction(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments.back();
    EXPECT_NE(refused.err, "") << arguments.back();
  }
}

TEST_F(SolveCommand, NamesRowsThatContradictEachOther) {
  LcpExample example;  // w₁ = −1 whatever z is
  example.M = Eigen::Matrix2d{{1, 0}, {0, 0}};
  example.q = Eigen::Vector2d(-2, -1);
  example.z = example.w = Eigen::Vector2d::Zero();
  example.flags = {1, 1};
  write_lcp(file("none.hdf5"), example, "lcp");
  const auto text = stiction({"solve", "none.hdf5"});
  EXPECT_EQ(text.exit_code, 3) << text.err;
  EXPECT_NE(text.out.find("not solved: no solution exists"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("contradict each other: contacts 1\n"), std::string::npos) << text.out;
  const auto json = parse_json(stiction({"solve", "none.hdf5", "--json"}).out);
  EXPECT_EQ(json["status"], "no solution exists");
  EXPECT_EQ(json["contradiction"]["contacts"], nlohmann::json::array({1}));
  EXPECT_EQ(json["above_tolerance"]["contacts"], nlohmann::json::array({1}));
}

/// Figure 10 of Lacoursière and Linde: a box between two plates, pulled sideways.
TEST_F(SolveCommand, HistoryOfTheSweepsIsATableOrAPicture) {
  ASSERT_EQ(stiction({"run", example("squeezed-box"), "--duration", "0.05", "--dump", "p.h5",
                      "--dump-step", "2", "--no-recording"})
                .exit_code,
            0);
  const auto result =
      stiction({"solve", "p.h5", "--tol", "1e-9", "--history", "p.csv", "--sweeps", "40"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<std::string> lines = lines_of(read_bytes(file("p.csv")));
  ASSERT_GT(lines.size(), 3 * 41u);
  EXPECT_EQ(lines[0], "method,sweep,residual,state_changes");
  const auto count = [&](const std::string& start) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.starts_with(start); });
  };
  EXPECT_EQ(count("all separate,"), 41);  // none of them gets there in 40 sweeps
  EXPECT_EQ(count("block projection,"), 41);
  EXPECT_EQ(count("block tangents,"), 41);
  EXPECT_GE(count("direct-iterative,"), 2);
  EXPECT_EQ(lines[1].substr(0, 15), "all separate,0,");

  ASSERT_EQ(stiction({"solve", "p.h5", "--tol", "1e-9", "--history", "p.svg"}).exit_code, 0);
  const std::string svg = read_bytes(file("p.svg"));
  EXPECT_TRUE(svg.starts_with("<svg"));
  for (const std::string text : {"block projection", "direct-iterative", "sweeps", "residual"})
    EXPECT_NE(svg.find(text), std::string::npos) << text;
  EXPECT_NE(svg.find("stroke='#bbb'"), std::string::npos);  // contacts that change their state
}

TEST_F(SolveCommand, HistoryThatCannotBeWrittenOrCountedIsRefused) {
  write_small_lcp();
  EXPECT_EQ(stiction({"solve", "small.hdf5", "--history", "nowhere/h.svg"}).exit_code, 2);
  EXPECT_EQ(stiction({"solve", "small.hdf5", "--history", "h.svg", "--sweeps", "0"}).exit_code, 2);
  EXPECT_FALSE(has_file("h.svg"));
}

}  // namespace
}  // namespace stiction
