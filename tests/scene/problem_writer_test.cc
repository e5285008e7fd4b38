#include "stiction/scene/problem_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "stiction/base/error.h"
#include "stiction/problem/problem_file.h"
#include "tests/base/file_size_limit.h"
#include "tests/scene/problem_examples.h"

namespace stiction {
namespace {

class ProblemWriter : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.file(name); }

  /// What is read, written and read again is the same.
  void expect_round_trip(const std::string& name) const {
    const ProblemFile first = read_problem_file(file(name));
    write_problem_file(file("copy.hdf5"), first);
    const ProblemFile second = read_problem_file(file("copy.hdf5"));
    EXPECT_EQ(second.kind, first.kind);
    EXPECT_EQ(second.title, first.title);
    EXPECT_EQ(second.problem, first.problem);
    EXPECT_EQ(second.dof_index, first.dof_index);
    EXPECT_EQ(second.row_index, first.row_index);
    ASSERT_EQ(second.solution.has_value(), first.solution.has_value());
    if (first.solution) {
      EXPECT_EQ(second.solution->r, first.solution->r);
      EXPECT_EQ(second.solution->w, first.solution->w);
      EXPECT_EQ(second.solution->lambda, first.solution->lambda);
    }
  }

  TemporaryFolder folder_;
};

TEST_F(ProblemWriter, ProblemsOfEveryKindSurviveARoundTrip) {
  write_local(file("a.hdf5"), make_local_example(3, 4, 1));
  expect_round_trip("a.hdf5");
  write_local(file("a.hdf5"), make_local_example(2, 3, 2));
  expect_round_trip("a.hdf5");
  write_global(file("a.hdf5"), make_global_example(3, 0));
  expect_round_trip("a.hdf5");
  write_global(file("a.hdf5"), make_global_example(4, 2));
  expect_round_trip("a.hdf5");
  write_lcp(file("a.hdf5"), make_lcp_example({1, 1}, 5), "lcp");
  expect_round_trip("a.hdf5");
  write_lcp(file("a.hdf5"), make_lcp_example({1, 0, 0, 1}, 6), "mlcp");
  expect_round_trip("a.hdf5");
  write_local(file("a.hdf5"), make_local_example(3, 0, 7));
  expect_round_trip("a.hdf5");
}

TEST_F(ProblemWriter, GuessesSurviveARoundTrip) {
  write_local(file("a.hdf5"), make_local_example(3, 2, 1));
  ProblemFile problem = read_problem_file(file("a.hdf5"));
  problem.guesses = {*problem.solution, *problem.solution};
  problem.guesses[1].r[0] = 17;
  write_problem_file(file("b.hdf5"), problem);
  const ProblemFile copy = read_problem_file(file("b.hdf5"));
  ASSERT_EQ(copy.guesses.size(), 2u);
  EXPECT_EQ(copy.guesses[1].r, problem.guesses[1].r);
}

TEST_F(ProblemWriter, TermsWithoutPlaceInTheFormatAreRefused) {
  write_local(file("a.hdf5"), make_local_example(3, 2, 1));
  ProblemFile problem = read_problem_file(file("a.hdf5"));
  problem.problem.contact_compliance[0] = 1;
  EXPECT_NE(message_of<InputError>([&] {
              write_problem_file(file("b.hdf5"), problem);
            }).find("no compliance"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file("b.hdf5")));
}

TEST_F(ProblemWriter, SolutionIsAddedToACopyAndNothingElseChanges) {
  const GlobalExample example = make_global_example(4, 2);
  write_global(file("a.hdf5"), example);
  const ProblemFile problem = read_problem_file(file("a.hdf5"));
  StepSolution answer = *problem.solution;
  for (double& r : answer.r) r *= 2;
  for (double& w : answer.w) w += 1;
  write_solution(file("b.hdf5"), file("a.hdf5"), problem, answer);
  const ProblemFile copy = read_problem_file(file("b.hdf5"));
  EXPECT_EQ(copy.problem, problem.problem);
  EXPECT_EQ(copy.solution->r, answer.r);
  EXPECT_EQ(copy.solution->w, answer.w);
  EXPECT_EQ(copy.solution->lambda, answer.lambda);
  EXPECT_EQ(read_problem_file(file("a.hdf5")).solution->r, problem.solution->r);
  // u of the file is that of the answer: u = Hᵀv + w.
  const std::vector<double> u = Hdf5File::open(file("b.hdf5")).read<double>("solution/u");
  const Eigen::VectorXd expected =
      example.H.transpose() * (example.v + Eigen::VectorXd::Ones(8)) + example.w;
  EXPECT_LT((Eigen::Map<const Eigen::VectorXd>(u.data(), 9) - expected).norm(), 1e-13);
}

TEST_F(ProblemWriter, SolutionOfAMixedProblemIsInTheOrderOfTheFile) {
  const LcpExample example = make_lcp_example({1, 0, 1, 0}, 6);
  write_lcp(file("a.hdf5"), example, "mlcp");
  const ProblemFile problem = read_problem_file(file("a.hdf5"));
  write_solution(file("a.hdf5"), file("a.hdf5"), problem, *problem.solution);
  const Hdf5File raw = Hdf5File::open(file("a.hdf5"));
  const std::vector<double> z = raw.read<double>("solution/z");
  const std::vector<double> w = raw.read<double>("solution/w");
  EXPECT_EQ(Eigen::Map<const Eigen::VectorXd>(z.data(), 4), example.z);
  EXPECT_LT((Eigen::Map<const Eigen::VectorXd>(w.data(), 4) - example.w).norm(), 1e-13);
}

TEST_F(ProblemWriter, DumpsOfStepsTakeASolutionToo) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 2;
  problem.add_contact({0, 0.0, FrictionSection::disc(), 7});
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  write_problem(file("a.h5"), problem);
  const ProblemFile read = read_problem_file(file("a.h5"));
  write_solution(file("a.h5"), file("a.h5"), read, {.w = {0.5}, .lambda = {}, .r = {1.0}});
  EXPECT_EQ(read_problem_file(file("a.h5")).problem, problem);
  EXPECT_EQ(Hdf5File::open(file("a.h5")).read<double>("solution/r"), std::vector<double>{1.0});
}

TEST_F(ProblemWriter, FailureLeavesNoFileBehind) {
  write_local(file("a.hdf5"), make_local_example(3, 4, 1));
  const ProblemFile problem = read_problem_file(file("a.hdf5"));
  const std::string before = read_bytes(file("a.hdf5"));
  EXPECT_THROW(write_solution(file("none/b.hdf5"), file("a.hdf5"), problem, *problem.solution),
               IoError);
  const auto fails = [](const auto& write) {
    return run_with_file_size_limit(1000,
                                    [&] { return message_of<IoError>(write).empty() ? 1 : 0; });
  };
  EXPECT_EQ(fails([&] { write_problem_file(file("b.hdf5"), problem); }), 0);
  EXPECT_EQ(
      fails([&] { write_solution(file("a.hdf5"), file("a.hdf5"), problem, *problem.solution); }),
      0);
  EXPECT_EQ(folder_.file_names(), std::vector<std::string>{"a.hdf5"});
  EXPECT_EQ(read_bytes(file("a.hdf5")), before);
}

}  // namespace
}  // namespace stiction
