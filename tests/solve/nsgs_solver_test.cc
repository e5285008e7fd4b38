// NSGS on small problems with known answers, its contract, and against Lemke's method.
#include "stiction/solve/nsgs_solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "stiction/base/error.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

constexpr double kTolerance = 1e-9;

StepSolution solved(const StepProblem& problem, const NsgsOptions& options = {}) {
  NsgsSolver solver(options);
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  if (options.measure != StoppingMeasure::kPublished) {
    EXPECT_LE(certify(problem, solution).residual(), options.tolerance);
  }
  return solution;
}

/// A unit mass in space above a floor, with momentum p.
StepProblem block_on_floor(const Eigen::Vector3d& p, double mu,
                           const FrictionSection& section = FrictionSection::disc()) {
  StepProblem problem;
  problem.add_mass_block(3) = RowMatrixXd::Identity(3, 3);
  problem.block_p(0) = p;
  problem.add_contact({.num_tangents = 2, .mu = mu, .section = section});
  problem.contacts.add_entry(0, 3) = RowMatrixXd::Identity(3, 3);
  return problem;
}

TEST(Nsgs, ABlockSlidesWithMuTimesTheNormalImpulse) {
  const StepSolution solution = solved(block_on_floor({-2, 3, 4}, 0.5));
  EXPECT_NEAR(solution.r[0], 2, 1e-14);
  EXPECT_NEAR(solution.w[1], 3 - 0.6, 1e-14);
  EXPECT_NEAR(solution.w[2], 4 - 0.8, 1e-14);
}

TEST(Nsgs, ABlockSticksBelowTheFrictionLimit) {
  const StepSolution solution = solved(block_on_floor({-2, 0.6, 0.7}, 0.5));
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(solution.w[i], 0, 1e-15);
}

TEST(Nsgs, AnEmptyProblemIsSolvedInZeroSweeps) {
  NsgsSolver solver;
  StepSolution solution;
  const SolverReport report = solver.solve(StepProblem(), solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_EQ(report.iterations, 0);
}

TEST(Nsgs, FreeBodiesKeepTheirVelocity) {
  const StepSolution solution = solved(block_on_floor({2, 3, 4}, 0.5));
  EXPECT_EQ(solution.w, (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(solution.r, (std::vector<double>{0, 0, 0}));
}

TEST(Nsgs, NoImpulsesAreTriedFirstWhereNothingApproaches) {
  // Two contacts in Delassus form; the second one parts, at rest or approaches.
  for (const double approach : {1.0, 0.0, -1e-12, -1.0}) {
    StepProblem problem;
    for (int j = 0; j < 2; ++j) {
      problem.add_contact({.num_tangents = 1, .mu = 0.5, .section = FrictionSection::disc()});
      for (int i = 0; i < 2; ++i) {
        problem.coupling.add_row();
        problem.coupling.add_entry(2 * j + i, 2);
      }
    }
    problem.contact_bias = {1, 0.5, approach, 0};
    NsgsSolver solver({.tolerance = 1e-8});
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged);
    EXPECT_EQ(report.iterations, approach > -0.5 ? 0 : 1);
    EXPECT_EQ(solution.r, (std::vector<double>{0, 0, approach > -0.5 ? 0 : 0.5, 0}));
    EXPECT_LE(certify(problem, solution).residual(), 1e-8);
  }
}

TEST(Nsgs, ItsOwnAnswerPassesAsAWarmStartWithoutASweep) {
  const StepProblem problem = testing::sphere_grid();
  NsgsSolver solver;
  StepSolution solution;
  ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  const StepSolution first = solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(solution.r, first.r);
  EXPECT_EQ(solution.w, first.w);
}

TEST(Nsgs, AWarmStartOfNonsenseDoesNotHarm) {
  const StepProblem problem = block_on_floor({-2, 3, 4}, 0.5);
  NsgsSolver solver;
  StepSolution solution;
  solution.r = {std::nan(""), 0, 0};
  ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_NEAR(solution.r[0], 2, 1e-14);
  solution.r = {-1e6, 1e6, 1e6};
  ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_NEAR(solution.r[0], 2, 1e-9);
}

TEST(Nsgs, RepeatsItsAnswerBitByBit) {
  const StepProblem problem = testing::sphere_grid({.seed = 4});
  NsgsSolver used, fresh;
  StepSolution a, b, other;
  (void)used.solve(testing::sphere_grid({.seed = 5}), other);
  (void)used.solve(problem, a);
  (void)fresh.solve(problem, b);
  EXPECT_EQ(a.r, b.r);
  EXPECT_EQ(a.w, b.w);
}

TEST(Nsgs, ReturnsTheBestIterateWhenSweepsRunOut) {
  const StepProblem problem = testing::sphere_grid();
  NsgsSolver solver({.tolerance = 1e-14, .max_iterations = 7});
  StepSolution solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kMaxIterations);
  EXPECT_EQ(report.iterations, 7);
  EXPECT_GT(solver.residual(), 1e-14);
  // Stopping at the same tolerance that the best iterate has would have called it converged.
  const double reached = std::max(solver.residual(), certify(problem, solution).residual());
  NsgsSolver lenient({.tolerance = 1.001 * reached, .max_iterations = 7});
  EXPECT_EQ(lenient.solve(problem, solution).status, SolverStatus::kConverged);
}

TEST(Nsgs, DoesNotCallAnUnsolvableProblemSolved) {
  // A floor that moves up and a ceiling that does not, with a block clamped in between.
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  for (const double sign : {1.0, -1.0}) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = FrictionSection::disc()});
    problem.contacts.add_entry(0, 1)(0, 0) = sign;
  }
  problem.contact_bias = {-1, 0};
  NsgsSolver solver;
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kMaxIterations);
}

TEST(Nsgs, GivesUpOnAContactThatNothingCanPushApart) {
  StepProblem problem;
  problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = FrictionSection::disc()});
  problem.contact_bias = {-1, 0, 0};
  NsgsSolver solver;
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kMaxIterations);
}

TEST(Nsgs, ReportsNumbersThatAreNot) {
  StepProblem problem = block_on_floor({-2, 3, 4}, 0.5);
  problem.contact_bias[1] = std::nan("");
  NsgsSolver solver;
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kNonFinite);
  problem = block_on_floor({-2, 3, 4}, 0.5);
  problem.mass_values[0] = 0;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kNonFinite);
}

TEST(Nsgs, RefusesOptionsOutsideTheirRanges) {
  EXPECT_THROW(NsgsSolver({.tolerance = 0}), InputError);
  EXPECT_THROW(NsgsSolver({.max_iterations = -1}), InputError);
  EXPECT_THROW(NsgsSolver({.depth = 0}), InputError);
  EXPECT_THROW(NsgsSolver({.relaxation = 2}), InputError);
}

TEST(Nsgs, ClampsBoundedRowsAndSolvesFreeOnes) {
  // Two coupled masses: a joint between them, a motor of limited impulse on the first.
  StepProblem problem;
  for (const double mass : {1.0, 3.0}) problem.add_mass_block(1)(0, 0) = mass;
  problem.p = {4, 0};
  problem.add_bilateral_row({});
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  problem.bilateral.add_entry(1, 1)(0, 0) = -1;
  problem.add_bilateral_row({.lower = -2, .upper = 2});
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  const StepSolution solution = solved(problem, {.tolerance = 1e-13});
  EXPECT_NEAR(solution.lambda[1], -2, 1e-12);  // the motor brakes with all it has
  EXPECT_NEAR(solution.w[0], 0.5, 1e-12);      // (4 − 2)/(1 + 3)
  EXPECT_NEAR(solution.w[1], 0.5, 1e-12);
}

TEST(Nsgs, BodiesAndCouplingGiveTheSameAnswer) {
  // The Delassus form of a pile, written as a problem without bodies.
  const StepProblem pile = testing::sphere_grid({.count = {3, 2, 2}});
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(pile));
  StepProblem condensed;
  const int n = pile.num_contact_rows();
  std::vector<double> x(n), u(n), w(pile.num_dofs());
  const auto row_velocity = [&](int row) {
    double sum = u[row];
    const int j = row / 3;
    for (int e = pile.contacts.entry_start(j); e < pile.contacts.entry_start(j + 1); ++e)
      for (int k = 0; k < 6; ++k)
        sum += pile.contacts.entry_values(e)[(row % 3) * 6 + k] *
               w[pile.dof_start[pile.contacts.entry_block(e)] + k];
    return sum;
  };
  blocks.compute_state(x.data(), u.data(), w.data());
  std::vector<double> q(n);
  for (int i = 0; i < n; ++i) q[i] = row_velocity(i);
  MatrixXd W(n, n);
  for (int j = 0; j < n; ++j) {
    x.assign(n, 0.0);
    x[j] = 1;
    blocks.compute_state(x.data(), u.data(), w.data());
    for (int i = 0; i < n; ++i) W(i, j) = row_velocity(i) - q[i];
  }
  for (int j = 0; j < pile.num_contacts(); ++j)
    condensed.add_contact({.num_tangents = 2, .mu = pile.mu[j], .section = pile.section[j]});
  condensed.contact_bias = q;
  for (int i = 0; i < n; ++i) {
    condensed.coupling.add_row();
    for (int j = 0; j < n; ++j)
      if (std::abs(W(i, j)) > 1e-14) condensed.coupling.add_entry(j, W(i, j));
  }
  const StepSolution a = solved(pile, {.tolerance = 1e-11});
  const StepSolution b = solved(condensed, {.tolerance = 1e-11});
  for (int i = 0; i < n; ++i) EXPECT_NEAR(a.r[i], b.r[i], 1e-8) << "row " << i;
}

class NsgsMode : public ::testing::TestWithParam<NsgsOptions> {};

TEST_P(NsgsMode, ReachesTheSameVelocity) {
  // Piles whose answer all modes agree on: W is positive definite on few contacts per sphere.
  const StepProblem pile = testing::sphere_grid({.count = {3, 3, 2}, .mu = 0.2});
  const StepSolution expected = solved(pile, {.tolerance = 1e-12});
  NsgsOptions options = GetParam();
  options.tolerance = 1e-11;
  const StepSolution solution = solved(pile, options);
  for (std::size_t i = 0; i < solution.w.size(); ++i)
    EXPECT_NEAR(solution.w[i], expected.w[i], 1e-7) << "dof " << i;
}

INSTANTIATE_TEST_SUITE_P(
    Modes, NsgsMode,
    ::testing::Values(NsgsOptions{.acceleration = Acceleration::kNone},
                      NsgsOptions{.acceleration = Acceleration::kNone, .alternates = true},
                      NsgsOptions{.acceleration = Acceleration::kNone, .freezes = false},
                      NsgsOptions{.acceleration = Acceleration::kNone, .relaxation = 1.3},
                      NsgsOptions{.acceleration = Acceleration::kNncg},
                      NsgsOptions{.acceleration = Acceleration::kAnderson, .depth = 5},
                      NsgsOptions{.acceleration = Acceleration::kMomentum},
                      NsgsOptions{.acceleration = Acceleration::kAnderson, .alternates = true},
                      NsgsOptions{.measure = StoppingMeasure::kPublished},
                      NsgsOptions{.measure = StoppingMeasure::kBoth}));

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(square);
}

TEST(Nsgs, PolygonsConvergeToTheDisc) {
  const testing::SphereGridOptions options{.count = {3, 3, 2}, .mu = 0.2};
  const StepSolution exact = solved(testing::sphere_grid(options), {.tolerance = 1e-11});
  const auto error = [&](const FrictionSection& section) {
    testing::SphereGridOptions polygonal = options;
    polygonal.section = section;
    return distance(solved(testing::sphere_grid(polygonal), {.tolerance = 1e-11}).w, exact.w);
  };
  double size = 0;
  for (const double w : exact.w) size += w * w;
  // The corners of a k-gon are at most an angle π/k away from where friction wants to point.
  for (const int sides : {8, 32, 128, 512})
    EXPECT_LE(error(FrictionSection::polygon(sides)),
              2 * std::numbers::pi / sides * std::sqrt(size))
        << sides << " sides";
  EXPECT_LE(error(FrictionSection::polygon(512)), 0.1 * error(FrictionSection::polygon(8)));
  EXPECT_GT(error(FrictionSection::box()), 1e-3);  // a different law
}

StepProblem with_friction(StepProblem problem, double mu) {
  for (double& value : problem.mu) value = mu;
  return problem;
}

TEST(Nsgs, AgreesWithLemkeWhereTheVelocityIsUnique) {
  // Without friction w is the solution of a strictly convex problem.
  NsgsSolver solver({.tolerance = 1e-11, .max_iterations = 100000});
  LemkeSolver lemke;
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StepProblem problem =
        with_friction(testing::random_problem(seed, {.max_contacts = 12,
                                                     .max_bodies = 12,
                                                     .mass_ratio_max = 10,
                                                     .allow_strange_units = false}),
                      0);
    StepSolution a, b;
    if (solver.solve(problem, a).status != SolverStatus::kConverged) continue;
    ASSERT_EQ(lemke.solve(problem, b).status, SolverStatus::kConverged);
    ++compared;
    EXPECT_LE(distance(a.w, b.w), 1e-6 * (1 + distance(b.w, std::vector<double>(b.w.size()))));
  }
  EXPECT_GE(compared, 190);
}

TEST(Nsgs, NeverCallsAWrongAnswerConverged) {
  NsgsSolver solver({.tolerance = kTolerance, .max_iterations = 3000});
  int converged = 0;
  constexpr int kNumSeeds = 600;
  for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    StepProblem problem = testing::random_problem(seed);
    if (seed % 2 == 1) problem.section.assign(problem.num_contacts(), FrictionSection::disc());
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    ASSERT_NE(report.status, SolverStatus::kNonFinite);
    if (report.status != SolverStatus::kConverged) continue;
    ++converged;
    EXPECT_LE(certify(problem, solution).residual(), kTolerance);
  }
  // The rest are redundant joints, mass ratios of 1e8 and problems without a solution.
  EXPECT_GE(converged, kNumSeeds * 7 / 10);
}

TEST(Nsgs, SolvesWellConditionedRandomProblems) {
  NsgsSolver solver({.tolerance = kTolerance, .max_iterations = 20000});
  for (const FrictionSection& section :
       {FrictionSection::disc(), FrictionSection::polygon(8), FrictionSection::box()})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const StepProblem pile = testing::sphere_grid({.count = {4, 3, 3},
                                                     .mu = 0.1 + 0.02 * static_cast<double>(seed),
                                                     .section = section,
                                                     .seed = seed});
      StepSolution solution;
      EXPECT_EQ(solver.solve(pile, solution).status, SolverStatus::kConverged) << "seed " << seed;
      EXPECT_LE(certify(pile, solution).residual(), kTolerance) << "seed " << seed;
    }
}

}  // namespace
}  // namespace stiction
