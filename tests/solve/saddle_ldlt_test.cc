#include "stiction/solve/saddle_ldlt.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "stiction/base/random.h"
#include "tests/dense_algebra.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/saddle_ldlt_problems.h"

namespace stiction {
namespace {

using testing::MechanismOptions;
using Status = SaddleLdlt::Status;

std::vector<char> all_rows(const StepProblem& problem) {
  return std::vector<char>(problem.num_rows(), 1);
}

/// R of all rows, dense.
MatrixXd dense_rows(const StepProblem& problem) {
  MatrixXd R = MatrixXd::Zero(problem.num_rows(), problem.num_dofs());
  for (int row = 0; row < problem.num_rows(); ++row) {
    const RowPlace place = ConstraintGraph::place_of_row(problem, row);
    for (int k = 0; k < place.num_entries(); ++k)
      for (int c = 0; c < place.columns(k); ++c)
        R(row, problem.dof_start[place.block(k)] + c) = place.values(k)[c];
  }
  return R;
}

double compliance(const StepProblem& problem, int row) {
  return row < problem.num_bilateral() ? problem.compliance[row]
                                       : problem.contact_compliance[row - problem.num_bilateral()];
}

/// [M̂ −Rᵀ; R C] with the rows that are off replaced by x = 0.
MatrixXd dense_saddle(const StepProblem& problem, const std::vector<char>& active) {
  const int n = problem.num_dofs(), m = problem.num_rows();
  MatrixXd K = MatrixXd::Zero(n + m, n + m);
  for (int b = 0; b < problem.num_blocks(); ++b)
    K.block(problem.dof_start[b], problem.dof_start[b], problem.block_size(b),
            problem.block_size(b)) = problem.mass_block(b);
  const MatrixXd R = dense_rows(problem);
  for (int i = 0; i < m; ++i) {
    K(n + i, n + i) = active[i] ? compliance(problem, i) : 1;
    if (!active[i]) continue;
    K.row(n + i).head(n) = R.row(i);
    K.col(n + i).head(n) = -R.row(i).transpose();
  }
  return K;
}

struct RightSide {
  std::vector<double> f, g;
};

/// Consistent also for dependent rows: g = R v + C y for some v and y.
RightSide consistent_right_side(const StepProblem& problem, std::uint64_t seed) {
  Random random(seed + 99);
  VectorXd v(problem.num_dofs()), f(problem.num_dofs()), y(problem.num_rows());
  for (double& a : v) a = random.normal();
  for (double& a : y) a = random.normal();
  for (int b = 0; b < problem.num_blocks(); ++b) {
    VectorXd a(problem.block_size(b));
    for (double& value : a) value = random.normal();
    f.segment(problem.dof_start[b], a.size()) = problem.mass_block(b) * a;
  }
  VectorXd g = dense_rows(problem) * v;
  for (int i = 0; i < problem.num_rows(); ++i) g[i] += compliance(problem, i) * y[i];
  return {{f.begin(), f.end()}, {g.begin(), g.end()}};
}

/// Largest residual of both equations, each block row relative to the sizes of its own terms.
double backward_error(const StepProblem& problem, const std::vector<char>& active,
                      const RightSide& side, const std::vector<double>& w,
                      const std::vector<double>& x) {
  const MatrixXd K = dense_saddle(problem, active);
  const auto n = static_cast<Eigen::Index>(w.size());
  VectorXd z(K.rows()), b(K.rows());
  for (Eigen::Index i = 0; i < n; ++i) {
    z[i] = w[i];
    b[i] = side.f[i];
  }
  for (Eigen::Index i = 0; i + n < K.rows(); ++i) {
    z[n + i] = x[i];
    b[n + i] = active[i] ? side.g[i] : 0;
  }
  const VectorXd residual = K * z - b;
  const VectorXd size = K.cwiseAbs() * z.cwiseAbs() + b.cwiseAbs();
  double worst = 0;
  for (Eigen::Index i = 0; i < K.rows(); ++i)
    if (size[i] > 0) worst = std::max(worst, std::abs(residual[i]) / size[i]);
  return worst;
}

/// Symmetric problems of random_problem.h only.
bool is_symmetric(const StepProblem& problem) {
  for (int b = 0; b < problem.num_blocks(); ++b)
    if ((problem.mass_block(b) - problem.mass_block(b).transpose()).cwiseAbs().maxCoeff() >
        1e-12 * problem.mass_block(b).cwiseAbs().maxCoeff())
      return false;
  return true;
}

/// Factors, solves and compares with dense LU; expects no dependent rows.
void expect_dense_answer(const StepProblem& problem, double tolerance) {
  SaddleLdlt ldlt;
  const std::vector<char> active = all_rows(problem);
  ASSERT_EQ(ldlt.factor(problem, active), Status::kFactored);
  EXPECT_TRUE(ldlt.redundant_rows().empty());
  const RightSide side = consistent_right_side(problem, 1);
  std::vector<double> w, x;
  ldlt.solve(side.f, side.g, w, x);
  EXPECT_LE(backward_error(problem, active, side, w, x), 1e-14);
  // In long double: with a mass ratio of 1e8 dense LU in double is worse than what it is to judge.
  using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix K = dense_saddle(problem, active).cast<long double>();
  Eigen::Matrix<long double, Eigen::Dynamic, 1> b(K.rows());
  std::copy(side.f.begin(), side.f.end(), b.begin());
  std::copy(side.g.begin(), side.g.end(), b.begin() + problem.num_dofs());
  const VectorXd z = K.partialPivLu().solve(b).cast<double>();
  const auto n = problem.num_dofs();
  const double size_w = z.head(n).cwiseAbs().maxCoeff();
  const double size_x = problem.num_rows() > 0 ? z.tail(K.rows() - n).cwiseAbs().maxCoeff() : 0;
  for (int i = 0; i < n; ++i) EXPECT_NEAR(w[i], z[i], tolerance * size_w);
  for (int i = 0; i < problem.num_rows(); ++i) EXPECT_NEAR(x[i], z[n + i], tolerance * size_x);
}

TEST(SaddleLdlt, AgreesWithDenseLuOnChainsTreesAndStars) {
  for (const int rows : {3, 5, 6}) {
    const MechanismOptions options{.rows_per_joint = rows};
    expect_dense_answer(testing::make_chain(20, options), 1e-10);
    expect_dense_answer(testing::make_tree(31, 2, options), 1e-10);
    expect_dense_answer(testing::make_tree(40, 3, options), 1e-10);
    expect_dense_answer(testing::make_star(20, options), 1e-10);
  }
}

TEST(SaddleLdlt, AgreesWithDenseLuOnNetsWithCompliance) {
  for (const int rows : {3, 5, 6})
    expect_dense_answer(testing::make_net(5, 4, {.rows_per_joint = rows, .compliance = 1e-3}),
                        1e-10);
  // Ball joints leave a net movable: no compliance is needed.
  expect_dense_answer(testing::make_net(4, 3, {.rows_per_joint = 2}), 1e-9);
}

// The condition number is about the mass ratio, hence 1e8 · 1e-16.
TEST(SaddleLdlt, AgreesWithDenseLuAtAMassRatioOfAHundredMillion) {
  for (const int rows : {3, 5, 6})
    for (const double ratio : {1e-8, 1e4, 1e8}) {
      const MechanismOptions options{.rows_per_joint = rows, .mass_ratio = ratio};
      expect_dense_answer(testing::make_chain(12, options), 1e-8);
      expect_dense_answer(testing::make_tree(15, 2, options), 1e-8);
    }
}

TEST(SaddleLdlt, SatisfiesItsEquationsOnRandomProblemsWithDependentRows) {
  int num_taken = 0, num_redundant = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StepProblem problem = testing::random_problem(seed, {.allow_strange_units = false});
    SaddleLdlt ldlt;
    const std::vector<char> active = all_rows(problem);
    const Status status = ldlt.factor(problem, active);
    if (!is_symmetric(problem)) {
      EXPECT_EQ(status, Status::kNonsymmetric);
      continue;
    }
    ASSERT_EQ(status, Status::kFactored);
    const RightSide side = consistent_right_side(problem, seed);
    std::vector<double> w, x;
    ldlt.solve(side.f, side.g, w, x);
    // Rows that nearly depend on each other, mass ratio 1e8: pivots down to 1e-12 of their scale.
    EXPECT_LE(backward_error(problem, active, side, w, x), 1e-10);
    ++num_taken;
    num_redundant += ldlt.redundant_rows().empty() ? 0 : 1;
    for (const int row : ldlt.redundant_rows()) EXPECT_EQ(x[row], 0);
  }
  EXPECT_GT(num_taken, 200);
  EXPECT_GT(num_redundant, 100);
}

/// Rank of the rows without compliance against the number of those not named, and their
/// independence.
void expect_exactly_the_dependent_rows_named(const StepProblem& problem) {
  SaddleLdlt ldlt;
  ASSERT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kFactored);
  const MatrixXd R = dense_rows(problem);
  const auto& named = ldlt.redundant_rows();
  EXPECT_TRUE(std::is_sorted(named.begin(), named.end()));
  MatrixXd kept(R.rows() - static_cast<Eigen::Index>(named.size()), R.cols());
  for (Eigen::Index i = 0, k = 0; i < R.rows(); ++i)
    if (!std::binary_search(named.begin(), named.end(), static_cast<int>(i)))
      kept.row(k++) = R.row(i).normalized();
  EXPECT_EQ(testing::rank_of(R, 1e-9), kept.rows());
  EXPECT_EQ(testing::rank_of(kept, 1e-9), kept.rows());
}

TEST(SaddleLdlt, NamesTheRowsOfADuplicatedJoint) {
  for (const int rows : {3, 5, 6}) {
    testing::MechanismMaker maker({.rows_per_joint = rows, .jitter = 0});
    for (int i = 0; i < 6; ++i) {
      maker.add_body({static_cast<double>(i + 1), 0, 0});
      maker.add_joint(i, i - 1);
    }
    maker.add_joint(3, 2);
    const StepProblem& problem = maker.problem();
    SaddleLdlt ldlt;
    ASSERT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kFactored);
    std::vector<int> expected;  // the later ones of each pair
    for (int i = 0; i < rows; ++i) expected.push_back(6 * rows + i);
    EXPECT_EQ(ldlt.redundant_rows(), expected);
    expect_exactly_the_dependent_rows_named(problem);
  }
}

// Four hinges with parallel axes in space: 3 bodies, 18 − 20 + 3 = 1 freedom, so three rows depend.
TEST(SaddleLdlt, NamesThreeRowsOfAFourBarLinkage) {
  testing::MechanismMaker maker({.rows_per_joint = 5, .jitter = 0});
  maker.add_body({0, 1, 0});
  maker.add_body({1, 2, 0});
  maker.add_body({2.2, 1, 0});
  maker.add_joint(0, -1, {0, -1, 0});
  maker.add_joint(0, 1);
  maker.add_joint(1, 2);
  maker.add_joint(2, -1, {2.4, -1, 0});
  SaddleLdlt ldlt;
  ASSERT_EQ(ldlt.factor(maker.problem(), all_rows(maker.problem())), Status::kFactored);
  EXPECT_EQ(ldlt.redundant_rows().size(), 3u);
  expect_exactly_the_dependent_rows_named(maker.problem());
}

TEST(SaddleLdlt, NamesExactlyTheDependentRowsOfNetsAndWalls) {
  expect_exactly_the_dependent_rows_named(testing::make_net(3, 3, {.jitter = 0.2}));
  expect_exactly_the_dependent_rows_named(testing::make_net(4, 3, {.rows_per_joint = 6}));
  expect_exactly_the_dependent_rows_named(testing::make_net(4, 3, {.rows_per_joint = 3}));
  expect_exactly_the_dependent_rows_named(testing::make_wall(3, 3));
  expect_exactly_the_dependent_rows_named(testing::make_wall(4, 4, {.num_tangents = 0}));
  expect_exactly_the_dependent_rows_named(testing::make_wall(3, 4, {.jitter = 0}));
}

TEST(SaddleLdlt, FactorsChainsTreesAndStarsWithLinearWork) {
  const auto work = [](const StepProblem& problem) {
    SaddleLdlt ldlt;
    EXPECT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kFactored);
    return static_cast<double>(ldlt.flops());
  };
  for (const int n : {100, 400, 1600}) {
    EXPECT_NEAR(work(testing::make_chain(2 * n)) / work(testing::make_chain(n)), 2, 0.1);
    EXPECT_NEAR(work(testing::make_tree(2 * n, 3)) / work(testing::make_tree(n, 3)), 2, 0.1);
    EXPECT_NEAR(work(testing::make_star(2 * n)) / work(testing::make_star(n)), 2, 0.1);
  }
  // About 17²·11/2 multiplications for a hinge and its body.
  EXPECT_LT(work(testing::make_chain(1000)), 1000 * 5000);
}

TEST(SaddleLdlt, RefactorsAPathWhenARowOfAChainIsSwitched) {
  const StepProblem problem = testing::make_chain(1000);
  std::vector<char> active = all_rows(problem);
  SaddleLdlt ldlt;
  ASSERT_EQ(ldlt.factor(problem, active), Status::kFactored);
  EXPECT_EQ(ldlt.fronts_refactored(), ldlt.num_fronts());
  ASSERT_EQ(ldlt.factor(problem, active), Status::kFactored);
  EXPECT_EQ(ldlt.fronts_refactored(), 0);
  const RightSide side = consistent_right_side(problem, 3);
  int total = 0;
  for (const int row : {0, 17, 1200, 2500, 2503, 4000, 4999}) {
    active[row] = 0;
    ASSERT_EQ(ldlt.factor(problem, active), Status::kFactored);
    EXPECT_GT(ldlt.fronts_refactored(), 0);
    total += ldlt.fronts_refactored();
    SaddleLdlt fresh;
    fresh.analyse(problem, all_rows(problem));
    ASSERT_EQ(fresh.factor(problem, active), Status::kFactored);
    std::vector<double> w, x, expected_w, expected_x;
    ldlt.solve(side.f, side.g, w, x);
    fresh.solve(side.f, side.g, expected_w, expected_x);
    EXPECT_EQ(w, expected_w);
    EXPECT_EQ(x, expected_x);
    EXPECT_EQ(x[row], 0);
  }
  EXPECT_LT(total, 7 * ldlt.num_fronts() * 6 / 10);
  EXPECT_EQ(ldlt.num_analyses(), 1);
}

TEST(SaddleLdlt, PartialFactorsAreThoseFromScratchOnRandomProblems) {
  int num_partial = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StepProblem problem = testing::random_problem(seed, {.allow_strange_units = false});
    if (!is_symmetric(problem)) continue;
    Random random(seed);
    std::vector<char> active = all_rows(problem);
    SaddleLdlt ldlt;
    ASSERT_EQ(ldlt.factor(problem, active), Status::kFactored);
    const RightSide side = consistent_right_side(problem, seed);
    for (int round = 0; round < 5; ++round) {
      for (int k = 0; k < 2; ++k) active[random.integer(0, problem.num_rows() - 1)] ^= 1;
      if (round == 3) problem.mass_values[problem.mass_start[0]] *= 1.5;
      ASSERT_EQ(ldlt.factor(problem, active), Status::kFactored);
      num_partial += ldlt.fronts_refactored() < ldlt.num_fronts() ? 1 : 0;
      SaddleLdlt fresh;
      fresh.analyse(problem, all_rows(problem));
      ASSERT_EQ(fresh.factor(problem, active), Status::kFactored);
      EXPECT_EQ(ldlt.redundant_rows(), fresh.redundant_rows());
      std::vector<double> w, x, expected_w, expected_x;
      ldlt.solve(side.f, side.g, w, x);
      fresh.solve(side.f, side.g, expected_w, expected_x);
      EXPECT_EQ(w, expected_w);
      EXPECT_EQ(x, expected_x);
    }
  }
  EXPECT_GT(num_partial, 100);
}

/// Three particles in a row, two rows at each pair. The rows of the first pair are the same on
/// particle `blurred`, if that is 0 or 1, and differ on the other.
StepProblem particles(int blurred) {
  StepProblem problem;
  for (int b = 0; b < 3; ++b) problem.add_mass_block(3) = RowMatrixXd::Identity(3, 3) * (b + 1);
  for (int pair = 0; pair < 2; ++pair)
    for (int i = 0; i < 2; ++i) {
      problem.add_bilateral_row({});
      for (int b = pair; b < pair + 2; ++b)
        problem.bilateral.add_entry(b, 3)(0, pair == 0 && b == blurred ? 0 : i) =
            b == pair ? 1 : -1;
    }
  return problem;
}

TEST(SaddleLdlt, AnalysesAnewWhenABodyNoLongerTellsItsRowsApart) {
  const StepProblem sharp = particles(-1);
  int num_analyses = 0;
  for (const int blurred : {0, 1}) {
    SaddleLdlt ldlt;
    ASSERT_EQ(ldlt.factor(sharp, all_rows(sharp)), Status::kFactored);
    const StepProblem problem = particles(blurred);
    ASSERT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kFactored);
    EXPECT_TRUE(ldlt.redundant_rows().empty());
    num_analyses += ldlt.num_analyses();
    const RightSide side = consistent_right_side(problem, 2);
    std::vector<double> w, x;
    ldlt.solve(side.f, side.g, w, x);
    EXPECT_LE(backward_error(problem, all_rows(problem), side, w, x), 1e-14);
  }
  EXPECT_GT(num_analyses, 2);  // at least one of the two had been eliminated early
}

TEST(SaddleLdlt, AnalysesAnewWhenComplianceIsGone) {
  const StepProblem soft = testing::make_net(4, 4, {.compliance = 0.1});
  const StepProblem rigid = testing::make_net(4, 4);
  SaddleLdlt ldlt;
  ASSERT_EQ(ldlt.factor(soft, all_rows(soft)), Status::kFactored);
  EXPECT_TRUE(ldlt.redundant_rows().empty());
  ASSERT_EQ(ldlt.factor(rigid, all_rows(rigid)), Status::kFactored);
  EXPECT_EQ(ldlt.num_analyses(), 2);
  SaddleLdlt fresh;
  ASSERT_EQ(fresh.factor(rigid, all_rows(rigid)), Status::kFactored);
  EXPECT_EQ(ldlt.redundant_rows(), fresh.redundant_rows());
}

// Rows with little compliance go first and leave numbers of size 1/C behind: refinement has to
// cope.
TEST(SaddleLdlt, KeepsItsAccuracyAtAnyCompliance) {
  for (const double compliance : {1.0, 1e-3, 1e-5, 1e-7, 1e-8, 1e-9}) {
    StepProblem wall = testing::make_wall(4, 4);
    std::fill(wall.contact_compliance.begin(), wall.contact_compliance.end(), compliance);
    SaddleLdlt ldlt;
    ASSERT_EQ(ldlt.factor(wall, all_rows(wall)), Status::kFactored);
    const RightSide side = consistent_right_side(wall, 4);
    std::vector<double> w, x;
    ldlt.solve(side.f, side.g, w, x);
    EXPECT_LE(backward_error(wall, all_rows(wall), side, w, x), 1e-14) << compliance;
  }
}

TEST(SaddleLdlt, LeanFactorsAreTheSameBits) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    StepProblem problem = testing::random_problem(seed, {.allow_strange_units = false});
    if (!is_symmetric(problem)) continue;
    SaddleLdlt partial, lean(SaddleLdlt::Memory::kLean);
    const RightSide side = consistent_right_side(problem, seed);
    for (int round = 0; round < 3; ++round) {
      problem.contact_compliance[0] += 1;
      ASSERT_EQ(partial.factor(problem, all_rows(problem)), Status::kFactored);
      ASSERT_EQ(lean.factor(problem, all_rows(problem)), Status::kFactored);
      EXPECT_EQ(lean.fronts_refactored(), lean.num_fronts());
      std::vector<double> w, x, expected_w, expected_x;
      partial.solve(side.f, side.g, expected_w, expected_x);
      lean.solve(side.f, side.g, w, x);
      EXPECT_EQ(w, expected_w);
      EXPECT_EQ(x, expected_x);
    }
    ASSERT_EQ(lean.factor(problem, all_rows(problem)), Status::kFactored);
    EXPECT_EQ(lean.fronts_refactored(), 0);  // nothing has changed
  }
}

// Without refinement the digits of 1/C are lost; a continued solution gets them back.
TEST(SaddleLdlt, ContinuedSolutionsReachRounding) {
  StepProblem wall = testing::make_wall(4, 4);
  std::fill(wall.contact_compliance.begin(), wall.contact_compliance.end(), 1e-6);
  SaddleLdlt ldlt;
  ASSERT_EQ(ldlt.factor(wall, all_rows(wall)), Status::kFactored);
  const RightSide side = consistent_right_side(wall, 4);
  std::vector<double> w, x;
  ldlt.solve(side.f, side.g, w, x, SaddleLdlt::Refinement::kNone);
  EXPECT_LE(backward_error(wall, all_rows(wall), side, w, x), 1e-8);
  for (int i = 0; i < 3; ++i) ldlt.solve(side.f, side.g, w, x, SaddleLdlt::Refinement::kContinued);
  EXPECT_LE(backward_error(wall, all_rows(wall), side, w, x), 1e-14);
}

TEST(SaddleLdlt, GivesNewContactsTheFreePlacesOfOldOnes) {
  const StepProblem wall = testing::make_wall(4, 4);
  SaddleLdlt ldlt;
  ASSERT_EQ(ldlt.factor(wall, all_rows(wall)), Status::kFactored);
  // The next problem lacks a brick's last contact and later has it again.
  const StepProblem less = testing::make_wall(4, 3);
  StepProblem fewer = testing::make_wall(4, 4);
  fewer.contacts.clear();
  fewer.contact_compliance.clear();
  fewer.contact_bias.clear();
  fewer.mu.clear();
  fewer.section.clear();
  fewer.key.clear();
  for (int j = 0; j < wall.num_contacts(); ++j) {
    if (j == 20) continue;
    fewer.add_contact({.num_tangents = 2, .mu = 0.5, .section = {}});
    for (int e = wall.contacts.entry_start(j); e < wall.contacts.entry_start(j + 1); ++e)
      fewer.contacts.add_entry(wall.contacts.entry_block(e), 6) = wall.contacts.entry_matrix(j, e);
  }
  ASSERT_EQ(ldlt.factor(fewer, all_rows(fewer)), Status::kFactored);
  EXPECT_EQ(ldlt.num_analyses(), 1);
  EXPECT_LT(ldlt.fronts_refactored(), ldlt.num_fronts());
  const RightSide side = consistent_right_side(fewer, 5);
  std::vector<double> w, x;
  ldlt.solve(side.f, side.g, w, x);
  EXPECT_LE(backward_error(fewer, all_rows(fewer), side, w, x), 1e-12);
  ASSERT_EQ(ldlt.factor(wall, all_rows(wall)), Status::kFactored);
  EXPECT_EQ(ldlt.num_analyses(), 1);
  // Fewer bodies: everything is new.
  ASSERT_EQ(ldlt.factor(less, all_rows(less)), Status::kFactored);
  EXPECT_EQ(ldlt.num_analyses(), 2);
}

TEST(SaddleLdlt, TakesEmptyAndDisconnectedProblems) {
  SaddleLdlt ldlt;
  std::vector<double> w, x;
  const StepProblem nothing;
  ASSERT_EQ(ldlt.factor(nothing, {}), Status::kFactored);
  ldlt.solve({}, {}, w, x);
  EXPECT_TRUE(w.empty() && x.empty());
  testing::MechanismMaker maker({});
  for (int i = 0; i < 4; ++i) maker.add_body({0, 0, static_cast<double>(i)});
  maker.add_joint(1, 3);
  maker.problem().add_bilateral_row({.compliance = 2});  // a row without bodies
  maker.problem().add_bilateral_row({});                 // and without anything
  const StepProblem& problem = maker.problem();
  ASSERT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kFactored);
  EXPECT_EQ(ldlt.redundant_rows(), std::vector<int>{6});
  RightSide side = consistent_right_side(problem, 8);
  ldlt.solve(side.f, side.g, w, x);
  EXPECT_LE(backward_error(problem, all_rows(problem), side, w, x), 1e-13);
  EXPECT_NEAR(x[5], side.g[5] / 2, 1e-15);
}

TEST(SaddleLdlt, RefusesMassBlocksItCannotFactor) {
  StepProblem problem = testing::make_chain(3);
  SaddleLdlt ldlt;
  problem.mass_values[1] += 0.1;
  EXPECT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kNonsymmetric);
  problem.mass_values[6] += 0.1;
  EXPECT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kFactored);
  problem.mass_values[14] = -1;
  EXPECT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kIndefinite);
  problem.mass_values[14] = std::nan("");
  EXPECT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kIndefinite);
  problem.mass_values[14] = 1;
  EXPECT_EQ(ldlt.factor(problem, all_rows(problem)), Status::kFactored);
}

}  // namespace
}  // namespace stiction
