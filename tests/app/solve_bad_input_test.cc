// stiction solve and files that are no problems, or problems that are hard: what it says, what it
// writes and how it ends. A refusal is one line on standard error that names the file, exit 2, and
// no file is left behind. A missed tolerance is an answer with its certificate, exit 3.
#include <filesystem>
#include <limits>

#include "stiction/base/random.h"
#include "stiction/problem/problem_file.h"
#include "stiction/scene/problem_reader.h"
#include "stiction/solve/solvers.h"
#include "tests/app/program.h"
#include "tests/scene/problem_examples.h"

namespace stiction {
namespace {

class SolveBadInput : public ProgramTest {
 protected:
  /// The one line that refuses the file.
  std::string refusal_of(const std::string& name) const {
    const std::vector<std::string> before = files();
    const auto result = stiction({"solve", name, "--json", "--out", "out.hdf5"});
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(lines_of(result.err).size(), 1u) << result.err;
    EXPECT_EQ(files(), before) << "something was written";
    return result.err;
  }

  void expect_refusal(const std::string& name, const std::string& reason) const {
    const std::string refusal = refusal_of(name);
    EXPECT_NE(refusal.find(name), std::string::npos) << refusal;
    EXPECT_NE(refusal.find(reason), std::string::npos) << refusal;
  }

  /// min(z, z − 1) of one row: z = 1.
  LcpExample one_row() const {
    LcpExample example;
    example.M = Eigen::MatrixXd::Ones(1, 1);
    example.q = -Eigen::VectorXd::Ones(1);
    example.z = example.w = Eigen::VectorXd::Zero(1);
    example.flags = {1};
    return example;
  }
};

TEST_F(SolveBadInput, ThingsThatAreNoProblemFiles) {
  write_bytes(file("empty.hdf5"), "");
  write_bytes(file("text.hdf5"), "mu = 0.5\n");
  std::filesystem::create_directory(file("folder.hdf5"));
  RawFile foreign(file("foreign.hdf5"));
  foreign.group("measurement");
  foreign.close();
  expect_refusal("missing.hdf5", "No such file");
  expect_refusal("empty.hdf5", "not an HDF5 file");
  expect_refusal("text.hdf5", "not an HDF5 file");
  expect_refusal("folder.hdf5", "Is a directory");
  expect_refusal("foreign.hdf5", "none of the groups");
}

TEST_F(SolveBadInput, TruncatedFiles) {
  write_local(file("whole.hdf5"), make_local_example(3, 2, 1));
  const std::string bytes = read_bytes(file("whole.hdf5"));
  for (const double share : {0.01, 0.3, 0.6, 0.9}) {
    write_bytes(
        file("part.hdf5"),
        bytes.substr(0, static_cast<std::size_t>(share * static_cast<double>(bytes.size()))));
    expect_refusal("part.hdf5", "part.hdf5");
  }
}

TEST_F(SolveBadInput, NumbersThatCannotBe) {
  LocalExample local = make_local_example(3, 2, 1);
  local.state.mu[1] = -0.25;
  write_local(file("friction.hdf5"), local);
  expect_refusal("friction.hdf5", "'fclib_local/vectors/mu' is -0.25 at 1");
  local = make_local_example(3, 2, 1);
  local.q[4] = std::numeric_limits<double>::quiet_NaN();
  write_local(file("nan.hdf5"), local);
  expect_refusal("nan.hdf5", "'fclib_local/vectors/q' has the entry nan at 4");
  local = make_local_example(3, 2, 1);
  local.W.conservativeResize(6, 5);
  write_local(file("sizes.hdf5"), local);
  expect_refusal("sizes.hdf5", "'fclib_local/W' is 6 × 5, expected 6 × 6");
  GlobalExample global = make_global_example(1, 0);
  global.M(3, 3) = -1;
  write_global(file("mass.hdf5"), global);
  expect_refusal("mass.hdf5", "'fclib_global/M' is not positive definite");
}

TEST_F(SolveBadInput, IndexOutOfRange) {
  RawFile raw(file("index.hdf5"));
  raw.group("lcp");
  raw.vector("lcp/q", Eigen::VectorXd::Ones(2));
  raw.group("lcp/M");
  for (const char* name : {"m", "n", "nz"}) raw.integer(std::string("lcp/M/") + name, 2);
  raw.integers("lcp/M/p", {0, 1});
  raw.integers("lcp/M/i", {0, 2});
  raw.vector("lcp/M/x", Eigen::VectorXd::Ones(2));
  raw.close();
  expect_refusal("index.hdf5", "'lcp/M/i' has the index 2 at 1");
}

TEST_F(SolveBadInput, RollingFriction) {
  LocalExample example = make_local_example(2, 5, 1);
  example.dimension = 5;
  write_local(file("rolling.hdf5"), example);
  expect_refusal("rolling.hdf5", "rolling friction is not supported");
  RawFile raw(file("rolling2.hdf5"));
  raw.group("fclib_local_rolling");
  raw.close();
  expect_refusal("rolling2.hdf5", "rolling friction, which is not supported");
}

TEST_F(SolveBadInput, EmptyProblemsAreSolvedInZeroIterationsByEverySolver) {
  write_local(file("local.hdf5"), make_local_example(3, 0, 1));
  write_lcp(file("lcp.hdf5"), make_lcp_example({}, 1), "lcp");
  write_problem(file("dump.hdf5"), StepProblem());
  for (const std::string& solver : solver_names())
    for (const char* name : {"local.hdf5", "lcp.hdf5", "dump.hdf5"}) {
      const auto result = stiction({"solve", name, "--solver", solver, "--json"});
      ASSERT_EQ(result.exit_code, 0) << solver << " " << name << ": " << result.out << result.err;
      const auto json = parse_json(result.out);
      EXPECT_EQ(json["iterations"], 0) << solver << " " << name;
      EXPECT_EQ(json["status"], "solved");
      EXPECT_TRUE(json["r"].empty());
    }
}

TEST_F(SolveBadInput, MissedToleranceIsReportedWithTheBestIterateAndItsCertificate) {
  LcpExample example = one_row();
  example.M(0, 0) = -1;  // w = −z − 1 is never positive
  write_lcp(file("none.hdf5"), example, "lcp");
  for (const std::string& solver : solver_names()) {
    SCOPED_TRACE(solver);
    const auto result =
        stiction({"solve", "none.hdf5", "--solver", solver, "--json", "--out", "out.hdf5"});
    EXPECT_EQ(result.exit_code, 3) << result.out << result.err;
    const auto json = parse_json(result.out);
    EXPECT_NE(json["status"], "solved");
    ASSERT_EQ(json["r"].size(), 1u);
    EXPECT_TRUE(json["r"][0].is_number());
    EXPECT_EQ(json["certificate"].size(), 4u);
    ASSERT_TRUE(json["error"].is_number());
    EXPECT_GT(json["error"].get<double>(), 1e-8);
    const ProblemFile written = read_problem_file(file("out.hdf5"));  // the iterate is kept
    ASSERT_TRUE(written.solution);
    EXPECT_EQ(written.solution->r[0], json["r"][0].get<double>());
  }
}

TEST_F(SolveBadInput, ToleranceBelowRoundingIsAdmittedAsMissed) {
  Random random(3);
  const Eigen::MatrixXd A = make_random_matrix(6, 6, random);
  LocalExample example = make_local_example(3, 2, 1);
  example.W = A * A.transpose() + Eigen::MatrixXd::Identity(6, 6);
  example.q = Eigen::VectorXd::LinSpaced(6, -1.0 / 3, 1.0 / 7);
  write_local(file("local.hdf5"), example);
  const auto result = stiction({"solve", "local.hdf5", "--tol", "1e-300", "--json"});
  ASSERT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.err;
  const auto json = parse_json(result.out);
  // Either it really is exact or it is said that it is not; and the answer is good all the same.
  EXPECT_EQ(result.exit_code == 0, json["status"] == "solved");
  EXPECT_EQ(result.exit_code == 0, json["error"].get<double>() <= 1e-300);
  EXPECT_LE(json["error"].get<double>(), 1e-10);
}

TEST_F(SolveBadInput, SectionThatASolverRefusesIsNotSolvedAsAnother) {
  write_local(file("local.hdf5"), make_local_example(3, 2, 1));
  const auto result = stiction({"solve", "local.hdf5", "--solver", "lemke", "--json"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_EQ(parse_json(result.out)["status"], "problem not supported by this solver");
}

}  // namespace
}  // namespace stiction
