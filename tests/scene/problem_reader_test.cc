#include "stiction/scene/problem_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/problem/problem_file.h"
#include "tests/scene/problem_examples.h"

/// HDF5 itself loses memory when it meets a damaged file; asked for by the leak sanitizer.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace stiction {
namespace {

// Answers were chosen before the problems were computed from them, in sums of at most 24 terms of
// size one: their error is rounding.
constexpr double kRounding = 1e-14;

constexpr MatrixForm kForms[] = {MatrixForm::kTriplets, MatrixForm::kColumns, MatrixForm::kRows};

class ProblemReader : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { skip_hdf5_cleanup_at_exit(); }
  std::string path() const { return folder_.file("example.hdf5"); }
  double stored_error(const ProblemFile& file) const {
    return file.solution ? compute_published_error(file.kind, file.problem, *file.solution) : -1;
  }
  std::string complaint() const {
    return message_of<Error>([&] { read_problem_file(path()); });
  }
  TemporaryFolder folder_;
};

Eigen::MatrixXd dense_coupling(const StepProblem& problem) {
  const RowCoupling& coupling = problem.coupling;
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(problem.num_rows(), problem.num_rows());
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e)
      a(i, coupling.column(e)) = coupling.value(e);
  return a;
}

TEST_F(ProblemReader, LocalProblemsOfEveryFormAreTheSame) {
  for (const int dimension : {2, 3})
    for (const MatrixForm form : kForms) {
      const LocalExample example = make_local_example(dimension, 4, 1);
      write_local(path(), example, form);
      const ProblemFile file = read_problem_file(path());
      EXPECT_EQ(file.kind, ProblemKind::kLocalFriction);
      EXPECT_EQ(file.title, "an example");
      EXPECT_EQ(file.space_dimension, dimension);
      EXPECT_EQ(file.problem.num_contacts(), 4);
      EXPECT_EQ(file.problem.num_dofs(), 0);
      EXPECT_EQ(file.problem.contacts.num_rows(0), dimension);
      EXPECT_EQ(dense_coupling(file.problem), example.W);
      EXPECT_LT(stored_error(file), kRounding);
      EXPECT_GE(stored_error(file), 0);
    }
}

TEST_F(ProblemReader, GlobalProblemsOfEveryFormAreTheSame) {
  for (const int num_equations : {0, 2})
    for (const MatrixForm form : kForms) {
      const GlobalExample example = make_global_example(5, num_equations);
      write_global(path(), example, form);
      const ProblemFile file = read_problem_file(path());
      EXPECT_EQ(file.kind, ProblemKind::kGlobalFriction);
      EXPECT_EQ(file.title, "example");
      EXPECT_EQ(file.problem.num_blocks(), 4);  // unknowns 0 and 4, 1 and 5, …
      EXPECT_EQ(file.problem.num_bilateral(), num_equations);
      EXPECT_EQ(file.dof_index, (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7}));
      EXPECT_LT(stored_error(file), kRounding);
      EXPECT_GE(stored_error(file), 0);
      const std::vector<double> v = velocities_in_file_order(file, *file.solution);
      EXPECT_EQ(Eigen::Map<const Eigen::VectorXd>(v.data(), 8), example.v);
    }
}

TEST_F(ProblemReader, UnknownsOfOneBodyBecomeOneBlock) {
  GlobalExample example = make_global_example(5, 0);
  constexpr int kNumDofs = 12;
  example.M = Eigen::MatrixXd::Identity(kNumDofs, kNumDofs);
  example.M(7, 9) = example.M(9, 7) = 0.5;
  example.H = Eigen::MatrixXd::Ones(kNumDofs, 9);
  example.v = example.f = Eigen::VectorXd::Ones(kNumDofs);
  write_global(path(), example);
  EXPECT_EQ(read_problem_file(path()).problem.num_blocks(), 2);
  example.M(5, 6) = example.M(6, 5) = 0.5;  // across the border between bodies
  write_global(path(), example);
  EXPECT_EQ(read_problem_file(path()).problem.num_blocks(), 10);
}

TEST_F(ProblemReader, MixedProblemsPutEquationsFirstAndAnswersBack) {
  const LcpExample example = make_lcp_example({1, 0, 1, 1, 0}, 3);
  write_lcp(path(), example, "mlcp");
  const ProblemFile file = read_problem_file(path());
  EXPECT_EQ(file.kind, ProblemKind::kMlcp);
  EXPECT_EQ(file.row_index, (std::vector<int>{1, 4, 0, 2, 3}));
  EXPECT_EQ(file.problem.num_bilateral(), 2);
  EXPECT_EQ(file.problem.num_contacts(), 3);
  EXPECT_LT(stored_error(file), kRounding);
  EXPECT_GE(stored_error(file), 0);
  const std::vector<double> z = impulses_in_file_order(file, *file.solution);
  EXPECT_EQ(Eigen::Map<const Eigen::VectorXd>(z.data(), 5), example.z);
}

TEST_F(ProblemReader, PlainProblemsAreContactsWithoutFriction) {
  write_lcp(path(), make_lcp_example({1, 1, 1}, 3), "lcp");
  const ProblemFile file = read_problem_file(path());
  EXPECT_EQ(file.kind, ProblemKind::kLcp);
  EXPECT_EQ(file.problem.num_contacts(), 3);
  EXPECT_EQ(file.problem.num_contact_rows(), 3);
  EXPECT_LT(stored_error(file), kRounding);
  EXPECT_GE(stored_error(file), 0);
}

TEST_F(ProblemReader, DumpsOfStepsAreRead) {
  StepProblem problem;
  problem.h = 0.5;
  problem.add_mass_block(1)(0, 0) = 2;
  problem.add_contact({0, 0.0, FrictionSection::disc(), 7});
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  write_problem(path(), problem);
  const ProblemFile file = read_problem_file(path());
  EXPECT_EQ(file.kind, ProblemKind::kStepProblem);
  EXPECT_EQ(file.problem, problem);
}

TEST_F(ProblemReader, FrictionSectionCanBeReplaced) {
  write_local(path(), make_local_example(3, 2, 1));
  EXPECT_EQ(read_problem_file(path()).problem.section[1], FrictionSection::disc());
  EXPECT_EQ(read_problem_file(path(), FrictionSection::polygon(8)).problem.section[1],
            FrictionSection::polygon(8));
}

TEST_F(ProblemReader, EmptyProblemsAreValid) {
  write_local(path(), make_local_example(3, 0, 1));
  EXPECT_EQ(read_problem_file(path()).problem.num_contacts(), 0);
  GlobalExample global = make_global_example(1, 0);
  global.H = Eigen::MatrixXd::Zero(8, 0);
  global.w = global.state.mu = global.state.r = global.state.u = Eigen::VectorXd::Zero(0);
  global.f = global.M * global.v;
  write_global(path(), global);
  const ProblemFile file = read_problem_file(path());
  EXPECT_EQ(file.problem.num_contacts(), 0);
  EXPECT_LT(stored_error(file), kRounding);
  write_lcp(path(), make_lcp_example({}, 1), "lcp");
  EXPECT_EQ(read_problem_file(path()).problem.num_rows(), 0);
}

TEST_F(ProblemReader, GuessesAreRead) {
  const LocalExample example = make_local_example(2, 1, 1);
  RawFile file(path());
  file.group("fclib_local");
  file.integer("fclib_local/spacedim", 2);
  file.matrix("fclib_local/W", example.W, MatrixForm::kTriplets);
  file.group("fclib_local/vectors");
  file.vector("fclib_local/vectors/q", example.q);
  file.vector("fclib_local/vectors/mu", example.state.mu);
  file.group("guesses");
  file.integer("guesses/number_of_guesses", 2);
  for (const char* group : {"guesses/1", "guesses/2"}) {
    file.group(group);
    file.vector(std::string(group) + "/r", Eigen::VectorXd::Constant(2, 0.25));
    file.vector(std::string(group) + "/u", Eigen::VectorXd::Zero(2));
  }
  file.close();
  const ProblemFile problem = read_problem_file(path());
  EXPECT_FALSE(problem.solution);
  ASSERT_EQ(problem.guesses.size(), 2u);
  EXPECT_EQ(problem.guesses[1].r, (std::vector<double>{0.25, 0.25}));
}

// ------------------------------------------------------------------------------------ bad files

TEST_F(ProblemReader, MissingAndForeignFilesAreRefused) {
  EXPECT_NE(complaint().find("cannot open"), std::string::npos) << complaint();
  write_bytes(path(), "this is no HDF5 file, whatever its name says");
  EXPECT_NE(complaint().find("example.hdf5"), std::string::npos) << complaint();
  RawFile file(path());
  file.group("recording");
  file.close();
  EXPECT_NE(complaint().find("none of the groups"), std::string::npos) << complaint();
}

TEST_F(ProblemReader, TruncatedFilesAreRefusedAtEveryLength) {
  write_local(path(), make_local_example(3, 2, 1));
  const std::string bytes = read_bytes(path());
  for (std::size_t size = 0; size + 1 < bytes.size(); size += bytes.size() / 40 + 1) {
    write_bytes(path(), bytes.substr(0, size));
    EXPECT_NE(complaint(), "") << size;
  }
}

TEST_F(ProblemReader, DamagedBytesNeverCrash) {
  write_global(path(), make_global_example(2, 1));
  const std::string bytes = read_bytes(path());
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    for (int k = 0; k < 4; ++k)
      damaged[static_cast<std::size_t>(random.uniform() * static_cast<double>(bytes.size()))] =
          static_cast<char>(random.integer(0, 255));
    write_bytes(path(), damaged);
    complaint();  // nothing or a complaint
  }
}

// R l + Vᵀr + s = 0 and u = W r + V l + q, the saddle form of FCLIB.
TEST_F(ProblemReader, EquationsOfALocalProblemBecomeBilateralRows) {
  const LocalExample example = make_local_example(2, 2, 1);
  const auto num_rows = example.W.rows();
  const Eigen::MatrixXd V = Eigen::MatrixXd::Constant(num_rows, 1, 2.0);
  {
    RawFile file(path());
    file.group("fclib_local");
    file.integer("fclib_local/spacedim", example.dimension);
    file.matrix("fclib_local/W", example.W, MatrixForm::kTriplets);
    file.matrix("fclib_local/V", V, MatrixForm::kTriplets);
    file.matrix("fclib_local/R", Eigen::MatrixXd::Constant(1, 1, 3.0), MatrixForm::kTriplets);
    file.group("fclib_local/vectors");
    file.vector("fclib_local/vectors/q", example.q);
    file.vector("fclib_local/vectors/s", Eigen::VectorXd::Constant(1, 0.5));
    file.vector("fclib_local/vectors/mu", example.state.mu);
    file.close();
  }
  const ProblemFile file = read_problem_file(path());
  ASSERT_EQ(file.problem.num_bilateral(), 1);
  EXPECT_EQ(file.problem.bias[0], -0.5);
  const Eigen::MatrixXd K = dense_coupling(file.problem);
  EXPECT_EQ(K(0, 0), 3);
  EXPECT_EQ(K.bottomLeftCorner(num_rows, 1), V);
  EXPECT_EQ(K.topRightCorner(1, num_rows), V.transpose());
  EXPECT_EQ(K.bottomRightCorner(num_rows, num_rows), example.W);
}

TEST_F(ProblemReader, RollingFrictionIsRefusedByName) {
  LocalExample example = make_local_example(2, 5, 1);
  example.dimension = 5;
  write_local(path(), example);
  EXPECT_NE(complaint().find("rolling friction is not supported"), std::string::npos);
  RawFile file(path());
  file.group("fclib_global_rolling");
  file.close();
  EXPECT_NE(complaint().find("rolling friction, which is not supported"), std::string::npos);
}

struct Fault {
  const char* name;
  std::function<void(LocalExample&)> spoil;
  const char* message;
};

class FaultyLocalProblem : public ProblemReader, public ::testing::WithParamInterface<Fault> {};

TEST_P(FaultyLocalProblem, IsRefusedNamingObjectAndValue) {
  LocalExample example = make_local_example(3, 2, 1);
  GetParam().spoil(example);
  write_local(path(), example);
  EXPECT_NE(complaint().find(GetParam().message), std::string::npos) << complaint();
  EXPECT_NE(complaint().find(path()), std::string::npos) << complaint();
}

const Fault kFaults[] = {
    {"Dimension", [](LocalExample& e) { e.dimension = 4; },
     "'fclib_local/spacedim' is 4, expected 2 or 3"},
    {"NegativeFriction", [](LocalExample& e) { e.state.mu[1] = -0.5; },
     "'fclib_local/vectors/mu' is -0.5 at 1, expected a friction coefficient >= 0"},
    {"NotANumber", [](LocalExample& e) { e.q[2] = std::nan(""); },
     "'fclib_local/vectors/q' has the entry nan at 2, expected finite numbers"},
    {"InfiniteMatrix", [](LocalExample& e) { e.W(0, 0) = std::numeric_limits<double>::infinity(); },
     "'fclib_local/W/x' has the entry inf at 0, expected finite numbers"},
    {"ShortMatrix", [](LocalExample& e) { e.W.conservativeResize(5, 6); },
     "'fclib_local/W' is 5 × 6, expected 6 × 6"},
    {"RowsThatAreNoContacts", [](LocalExample& e) { e.q.conservativeResize(5); },
     "'fclib_local/vectors/q' has 5 entries, expected a multiple of spacedim = 3"},
    {"TooFewCoefficients", [](LocalExample& e) { e.state.mu.conservativeResize(1); },
     "'fclib_local/vectors/mu' has 1 entries, expected 2"},
    {"WrongSolution", [](LocalExample& e) { e.state.r.conservativeResize(3); },
     "'solution/r' has 3 entries, expected 6"},
};

INSTANTIATE_TEST_SUITE_P(Faults, FaultyLocalProblem, ::testing::ValuesIn(kFaults),
                         [](const auto& fault) { return std::string(fault.param.name); });

/// A matrix written by hand, in the place of W of one planar contact.
std::string matrix_complaint(const std::string& path, int nz, const std::vector<int>& p,
                             const std::vector<int>& i) {
  RawFile file(path);
  file.group("fclib_local");
  file.integer("fclib_local/spacedim", 2);
  file.group("fclib_local/vectors");
  file.vector("fclib_local/vectors/q", Eigen::VectorXd::Ones(2));
  file.vector("fclib_local/vectors/mu", Eigen::VectorXd::Ones(1));
  file.group("fclib_local/W");
  for (const char* name : {"m", "n"}) file.integer(std::string("fclib_local/W/") + name, 2);
  file.integer("fclib_local/W/nz", nz);
  file.integers("fclib_local/W/p", p);
  file.integers("fclib_local/W/i", i);
  file.vector("fclib_local/W/x", Eigen::VectorXd::Ones(2));
  file.close();
  return message_of<Error>([&] { read_problem_file(path); });
}

TEST_F(ProblemReader, BadIndicesAreRefused) {
  const auto expect = [&](int nz, const std::vector<int>& p, const std::vector<int>& i,
                          const std::string& message) {
    const std::string complaint = matrix_complaint(path(), nz, p, i);
    EXPECT_NE(complaint.find(message), std::string::npos) << complaint;
  };
  EXPECT_EQ(matrix_complaint(path(), 2, {0, 1}, {0, 1}), "");
  EXPECT_EQ(matrix_complaint(path(), -1, {0, 1, 2}, {0, 1}), "");
  expect(2, {0, 2}, {0, 1}, "'fclib_local/W/p' has the index 2 at 1, expected 0 <= index < 2");
  expect(2, {0, 1}, {-1, 1}, "'fclib_local/W/i' has the index -1 at 0");
  expect(3, {0, 1, 1}, {0, 1, 0}, "'fclib_local/W/x' has 2 entries, expected 3");
  expect(3, {0, 1}, {0, 1}, "'fclib_local/W/i' has 2 entries, expected 3");
  expect(-1, {0, 1}, {0, 1}, "'fclib_local/W/p' has 2 entries, expected 3");
  expect(-2, {1, 1, 2}, {0, 1}, "'fclib_local/W/p' starts with 1, expected 0");
  expect(-2, {0, 2, 1}, {0, 1}, "'fclib_local/W/p' falls from 2 to 1 at 2");
  expect(-3, {0, 1, 2}, {0, 1}, "'fclib_local/W/nz' is -3");
}

TEST_F(ProblemReader, IndefiniteMassIsRefused) {
  GlobalExample example = make_global_example(1, 0);
  example.M(6, 6) = -1;
  write_global(path(), example);
  EXPECT_NE(complaint().find("'fclib_global/M' is not positive definite in the part of 2 unknowns "
                             "that holds row 2"),
            std::string::npos)
      << complaint();
}

TEST_F(ProblemReader, BadFlagsAreRefused) {
  write_lcp(path(), make_lcp_example({1, 2}, 1), "mlcp");
  EXPECT_NE(complaint().find("'mlcp/complementarity' is 2 at 1, expected 0 or 1"),
            std::string::npos)
      << complaint();
  write_lcp(path(), make_lcp_example({1, 0}, 1), "lcp");
  EXPECT_NE(complaint().find("'lcp/complementarity' is 0 at 1, expected 1"), std::string::npos)
      << complaint();
}

}  // namespace
}  // namespace stiction
