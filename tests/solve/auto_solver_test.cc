#include "stiction/solve/auto_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stiction/problem/certificate.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/random_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

/// A point of unit mass that falls onto a wall, with friction in space.
void add_falling_point(StepProblem& problem, double speed) {
  const int block = problem.num_blocks();
  problem.add_mass_block(3).setIdentity();
  problem.block_p(block) = Eigen::Vector3d(-speed, 0.2 * speed, 0.1 * speed);
  problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = {}, .key = 0});
  problem.contacts.add_entry(block, 3).setIdentity();
}

void add_normal(StepProblem& problem, int block, double direction, double bias) {
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.contacts.add_entry(block, 1)(0, 0) = direction;
  problem.contact_bias.back() = bias;
}

TEST(AutoSolver, SolvesTheEmptyProblemWithoutIterating) {
  StepSolution solution;
  const SolverReport report = AutoSolver().solve({}, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_EQ(report.iterations, 0);
}

TEST(AutoSolver, GivesBodiesWithoutRowsTheirFreeVelocity) {
  StepProblem problem;
  problem.add_mass_block(2) << 2, 0, 0, 4;
  problem.p = {2, 2};
  add_falling_point(problem, 1);
  add_falling_point(problem, 3);
  StepSolution solution;
  EXPECT_EQ(AutoSolver().solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_DOUBLE_EQ(solution.w[0], 1);
  EXPECT_DOUBLE_EQ(solution.w[1], 0.5);
  // Both points stick, since 0.22 < μ: Coulomb's law by hand.
  for (int k = 2; k < 8; ++k) EXPECT_NEAR(solution.w[k], 0, 1e-9);
}

TEST(AutoSolver, TakesAStartThatPassesAsItIs) {
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth}) {
    AutoSolver solver({.tolerance = 1e-9, .measure = measure});
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const StepProblem problem = testing::disc_problem(seed, {.allow_strange_units = false});
      StepSolution solution;
      if (solver.solve(problem, solution).status != SolverStatus::kConverged) continue;
      const StepSolution first = solution;
      const SolverReport again = solver.solve(problem, solution);
      EXPECT_EQ(again.status, SolverStatus::kConverged);
      EXPECT_EQ(again.iterations, 0) << seed;
      EXPECT_EQ(solution.r, first.r);
      EXPECT_EQ(solution.w, first.w);
    }
  }
}

TEST(AutoSolver, NeedsNoImpulseWhereNothingPushes) {
  StepProblem problem;
  for (int j = 0; j < 3; ++j)
    problem.add_contact({.num_tangents = 1, .mu = 0.3, .section = {}, .key = 0});
  problem.contact_bias = {0, 1, 2, -1, 0.5, 0};
  for (int row = 0; row < 6; ++row) {
    problem.coupling.add_row();
    problem.coupling.add_entry(row, 1);
  }
  StepSolution solution;
  const SolverReport report = AutoSolver().solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(solution.r, std::vector<double>(6, 0.0));
  EXPECT_TRUE(certify(problem, solution).meets(0));
}

TEST(AutoSolver, SaysThatNoSolutionExistsAndSolvesTheOtherIslands) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  add_normal(problem, 0, 1, -1);
  add_normal(problem, 0, -1, -1);
  add_falling_point(problem, 2);
  StepSolution solution;
  const SolverReport report = AutoSolver().solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kInfeasible);
  for (int k = 1; k < 4; ++k) EXPECT_NEAR(solution.w[k], 0, 1e-8);
  Certifier certifier;
  (void)certifier.certify(problem, solution);
  const Offenders offenders = certifier.offenders(1e-8);
  EXPECT_FALSE(offenders.contacts.empty());
  EXPECT_EQ(std::count(offenders.contacts.begin(), offenders.contacts.end(), 2), 0);
}

struct Tally {
  int solved = 0, wrong = 0;
  std::string unsolved;
};

Tally solve_random(const testing::RandomProblemOptions& options, bool has_discs) {
  constexpr double kTolerance = 1e-9;
  AutoSolver solver({.tolerance = kTolerance});
  Tally tally;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const StepProblem problem =
        has_discs ? testing::disc_problem(seed, options) : testing::random_problem(seed, options);
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    const bool is_solved = certify(problem, solution).meets(kTolerance);
    tally.solved += is_solved ? 1 : 0;
    tally.wrong += !is_solved && report.status == SolverStatus::kConverged ? 1 : 0;
    if (!is_solved) tally.unsolved += " " + std::to_string(seed);
  }
  return tally;
}

// All of these have a solution (random_problem.h). The shares guard against getting worse.
TEST(AutoSolver, SolvesRandomProblemsWithPolygons) {
  const Tally tally = solve_random({.mu_max = 10}, false);
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_GE(tally.solved, 299) << tally.unsolved;
}

TEST(AutoSolver, SolvesRandomProblemsWithDiscs) {
  const Tally tally = solve_random({.mu_max = 10}, true);
  EXPECT_EQ(tally.wrong, 0);
  EXPECT_GE(tally.solved, 290) << tally.unsolved;
}

/// One millionth of a millisecond: it has passed before anything is done.
constexpr double kNoTime = 1e-9;

AutoOptions step_options() { return {.tolerance = 1e-7, .acceptable = 1e-6}; }

TEST(AutoSolver, WithoutTimeAnswersAsFewSweepsDo) {
  // Sizes from one island that pivoting could take to one that Newton's method takes seconds for.
  for (const int size : {1, 2, 4, 8}) {
    SCOPED_TRACE(size);
    StepProblem problem = testing::sphere_grid({.count = {size, size, size}});
    problem.h = 1e-2;
    StepSolution start, few, answer;
    start.set_zero(problem);
    (void)NsgsSolver({.tolerance = 1e-7, .max_iterations = 5}).solve(problem, few);
    AutoSolver solver(step_options());
    solver.set_time_limit(kNoTime);
    const SolverReport report = solver.solve(problem, answer);
    EXPECT_TRUE(report.has_answer);
    EXPECT_LE(report.iterations, 30) << "sweeps of all its attempts";
    const double reached = certify(problem, answer).residual();
    EXPECT_LE(reached, certify(problem, start).residual());
    EXPECT_LE(reached, std::max(1e-6, certify(problem, few).residual()));
  }
}

TEST(AutoSolver, ATimeLimitThatIsNeverReachedCostsNoAnswer) {
  constexpr double kHour = 3600;
  AutoSolver solver(step_options());
  solver.set_time_limit(kHour);
  for (const int size : {2, 4, 6}) {
    StepProblem problem = testing::sphere_grid({.count = {size, size, size}});
    problem.h = 1e-2;
    StepSolution answer;
    EXPECT_EQ(solver.solve(problem, answer).status, SolverStatus::kConverged);
    EXPECT_LE(certify(problem, answer).residual(), 1e-6);
  }
}

TEST(AutoSolver, ATimeLimitThatIsTakenBackLeavesTheBitsOfOneThatNeverWas) {
  StepProblem problem = testing::sphere_grid({.count = {3, 3, 3}});
  problem.h = 1e-2;
  StepSolution with, without;
  AutoSolver limited(step_options()), free(step_options());
  limited.set_time_limit(kNoTime);
  (void)limited.solve(problem, with);
  limited.set_time_limit(0);
  with = {};
  (void)limited.solve(problem, with);
  (void)free.solve(problem, without);
  EXPECT_EQ(with.w, without.w);
  EXPECT_EQ(with.r, without.r);
}

TEST(AutoSolver, GivesTheSameBitsWhateverItSolvedBefore) {
  AutoSolver experienced;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const StepProblem problem = testing::disc_problem(seed);
    StepSolution a, b;
    (void)experienced.solve(problem, a);
    AutoSolver fresh;
    (void)fresh.solve(problem, b);
    EXPECT_EQ(a.r, b.r) << seed;
    EXPECT_EQ(a.lambda, b.lambda) << seed;
    EXPECT_EQ(a.w, b.w) << seed;
  }
}

/// Beside what is there, with nothing in common.
void append(const StepProblem& from, StepProblem& to) {
  const int first = to.num_blocks();
  const auto copy_entries = [&](const BlockRows& rows, int i, BlockRows& target) {
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      target.add_entry(first + rows.entry_block(e), rows.entry_columns(e)) =
          rows.entry_matrix(i, e);
  };
  for (int b = 0; b < from.num_blocks(); ++b) {
    to.add_mass_block(from.block_size(b)) = from.mass_block(b);
    to.block_p(first + b) = ConstVectorMap(from.p.data() + from.dof_start[b], from.block_size(b));
  }
  for (int i = 0; i < from.num_bilateral(); ++i) {
    to.add_bilateral_row({from.compliance[i], from.bias[i], from.lower[i], from.upper[i]});
    copy_entries(from.bilateral, i, to.bilateral);
  }
  for (int j = 0; j < from.num_contacts(); ++j) {
    to.add_contact({from.contacts.num_rows(j) - 1, from.mu[j], from.section[j], from.key[j]});
    copy_entries(from.contacts, j, to.contacts);
    for (int k = 0; k < from.contacts.num_rows(j); ++k) {
      const int old = from.contacts.row_start(j) + k;
      const int row = to.num_contact_rows() - from.contacts.num_rows(j) + k;
      to.contact_bias[row] = from.contact_bias[old];
      to.contact_compliance[row] = from.contact_compliance[old];
    }
  }
}

TEST(AutoSolver, GivesTheSameBitsForAnyNumberOfThreads) {
  StepProblem problem;
  problem.h = 0.01;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    append(testing::disc_problem(seed, {.allow_strange_units = false}), problem);
  for (const double acceptable : {0.0, 1e-8}) {
    StepSolution expected;
    const SolverReport first = AutoSolver({.acceptable = acceptable}).solve(problem, expected);
    for (const int num_threads : {2, 5}) {
      AutoSolver solver({.acceptable = acceptable, .num_threads = num_threads});
      for (int repetition = 0; repetition < 3; ++repetition) {
        StepSolution solution;
        const SolverReport report = solver.solve(problem, solution);
        EXPECT_TRUE(solution.is_identical(expected)) << num_threads;
        EXPECT_EQ(report.status, first.status);
        EXPECT_EQ(report.iterations, first.iterations);
        EXPECT_EQ(report.stage, first.stage);
      }
    }
  }
}

/// Two contacts that push a point from both sides: no velocity satisfies both.
void add_wedge(StepProblem& problem, int num_tangents) {
  const int block = problem.num_blocks();
  problem.add_mass_block(3).setIdentity();
  for (const double side : {1.0, -1.0}) {
    problem.add_contact({.num_tangents = num_tangents, .mu = 0.3, .section = {}, .key = 0});
    problem.contacts.add_entry(block, 3) =
        Eigen::Matrix3d(Eigen::Vector3d(side, 1, 1).asDiagonal()).topRows(num_tangents + 1);
    problem.contact_bias[problem.contacts.row_start(problem.num_contacts() - 1)] = -1;
  }
}

TEST(AutoSolver, GoesOnToTheEndOfTheLongerChainWhereTwoIslandsFail) {
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth}) {
    StepProblem problem;
    add_wedge(problem, 2);
    add_wedge(problem, 1);
    StepSolution solution;
    AutoSolver solver({.tolerance = 1e-9, .measure = measure});
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kInfeasible);
    EXPECT_TRUE(solution.is_finite());
  }
}

// w₁ + w₂ = −2 whatever z is. Impulses that grow make any error small that is relative to them.
TEST(AutoSolver, IsNotFooledByImpulsesThatGrowAgainstAContradiction) {
  for (const StoppingMeasure measure :
       {StoppingMeasure::kCertificate, StoppingMeasure::kPublished, StoppingMeasure::kBoth})
    for (const int num_tangents : {0, 1}) {
      StepProblem problem;
      for (int j = 0; j < 2; ++j)
        problem.add_contact({.num_tangents = num_tangents, .mu = 0.3, .section = {}, .key = 0});
      const int stride = 1 + num_tangents;
      for (int row = 0; row < 2 * stride; ++row) {
        problem.coupling.add_row();
        for (int column = 0; column < 2 * stride; ++column)
          if (row % stride == column % stride)
            problem.coupling.add_entry(column, row == column ? 1 : -1);
        problem.contact_bias[row] = row % stride == 0 ? -1 : 0.2;
      }
      StepSolution solution;
      AutoSolver solver({.tolerance = 1e-8, .measure = measure});
      EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kInfeasible) << num_tangents;
    }
}

}  // namespace
}  // namespace stiction
