// The certificate judges, as for every solver. Theorem 2.1 of Anitescu & Potra covers these
// problems for polygons and, by a limit, for the disc, so all of them have a solution.
#include "stiction/solve/newton_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/solve/disc_problem.h"

namespace stiction {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ST_HAS_SANITIZER 1
#endif
#endif
#ifdef ST_HAS_SANITIZER
constexpr std::uint64_t kNumSeeds = 40;
#else
constexpr std::uint64_t kNumSeeds = 400;
#endif

struct Tally {
  int solved = 0;
  int silent_failures = 0;  // the solver believed in an answer that the certificate rejects
  std::string unsolved;
};

Tally solve_random(const testing::RandomProblemOptions& options, double tolerance) {
  NewtonSolver solver({.tolerance = 1e-11, .max_iterations = 500});
  Tally tally;
  for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
    const StepProblem problem = testing::disc_problem(seed, options);
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    const bool is_solved = certify(problem, solution).meets(tolerance);
    if (is_solved) ++tally.solved;
    if (!is_solved && report.status == SolverStatus::kConverged) ++tally.silent_failures;
    if (!is_solved)
      tally.unsolved += " " + std::to_string(seed) + ":" +
                        std::to_string(static_cast<int>(report.status)) + "/" +
                        std::to_string(certify(problem, solution).residual());
  }
  return tally;
}

// A few degenerate problems converge slowly. The shares are what was measured, rounded down: a
// guard against getting worse and no theory. What counts is that unsolved ones are admitted.
void expect_few_unsolved(const Tally& tally, double share) {
  EXPECT_GE(tally.solved, share * static_cast<double>(kNumSeeds)) << tally.unsolved;
  EXPECT_EQ(tally.silent_failures, 0) << tally.unsolved;
}

TEST(NewtonSolver, SolvesRandomSpatialProblemsOfModerateScale) {
  expect_few_unsolved(solve_random({.mass_ratio_max = 100, .allow_strange_units = false}, 1e-9),
                      0.995);
}

TEST(NewtonSolver, SolvesRandomPlanarProblemsOfModerateScale) {
  const testing::RandomProblemOptions planar{
      .mass_ratio_max = 100, .allow_spatial = false, .allow_strange_units = false};
  expect_few_unsolved(solve_random(planar, 1e-9), 1);
}

TEST(NewtonSolver, SolvesRandomProblemsWithMassRatiosOfAHundredMillion) {
  expect_few_unsolved(solve_random({.mu_max = 10}, 1e-9), 0.985);
}

TEST(NewtonSolver, ReachesRoundingOnRegularProblems) {
  NewtonSolver solver({.tolerance = 1e-13});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 8, .rank = 40, .mu_max = 0.5});
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged) << seed;
    EXPECT_LT(certify(problem, solution).residual(), 1e-12) << seed;
  }
}

TEST(NewtonSolver, SolvesRankDeficientCondensedProblems) {
  NewtonSolver solver({.tolerance = 1e-11});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem =
        testing::condensed_problem(seed, {.num_contacts = 20, .rank = 12, .mu_max = 1});
    StepSolution solution;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged) << seed;
    EXPECT_LT(certify(problem, solution).residual(), 1e-9) << seed;
  }
}

TEST(NewtonSolver, SolvesNonsymmetricAndBadlyScaledProblems) {
  NewtonSolver solver({.tolerance = 1e-11});
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const StepProblem problem = testing::condensed_problem(
        seed, {.num_contacts = 12, .rank = 24, .mu_max = 0.7, .skew = 0.1, .scale_ratio = 100});
    StepSolution solution;
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged) << seed;
    EXPECT_LT(certify(problem, solution).residual(), 1e-9) << seed;
  }
}

// Without friction the velocity is unique, so two methods that share nothing must agree on it.
TEST(NewtonSolver, AgreesWithLemkeOnVelocitiesWithoutFriction) {
  NewtonSolver newton({.tolerance = 1e-12});
  LemkeSolver lemke;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const StepProblem problem = testing::random_problem(
        seed,
        {.mu_max = 0, .mass_ratio_max = 10, .allow_spatial = false, .allow_strange_units = false});
    if (*std::max_element(problem.mu.begin(), problem.mu.end()) > 0) continue;
    StepSolution a, b;
    ASSERT_EQ(newton.solve(problem, a).status, SolverStatus::kConverged) << seed;
    ASSERT_EQ(lemke.solve(problem, b).status, SolverStatus::kConverged) << seed;
    const double scale = 1 + b.w_vector().norm();
    EXPECT_LT((a.w_vector() - b.w_vector()).norm(), 1e-7 * scale) << seed;
  }
}

TEST(NewtonSolver, AnswersAtOnceFromItsOwnAnswer) {
  NewtonSolver solver({.tolerance = 1e-11});
  const StepProblem problem = testing::condensed_problem(3, {.rank = 20});
  StepSolution solution;
  (void)solver.solve(problem, solution);
  const StepSolution first = solution;
  const SolverReport again = solver.solve(problem, solution);
  EXPECT_EQ(again.iterations, 0);
  EXPECT_EQ(solution.r, first.r);
}

TEST(NewtonSolver, RepeatsItsAnswerBitByBit) {
  const StepProblem problem = testing::disc_problem(11);
  StepSolution a, b;
  NewtonSolver first, second;
  (void)first.solve(testing::disc_problem(12), b);
  b = {};
  (void)first.solve(problem, a);
  (void)second.solve(problem, b);
  EXPECT_EQ(a.r, b.r);
  EXPECT_EQ(a.w, b.w);
}

TEST(NewtonSolver, SaysThatItDidNotConverge) {
  // Two contacts press a point from both sides at once: no velocity can satisfy both.
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  for (const double side : {1.0, -1.0}) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.contacts.add_entry(0, 1)(0, 0) = side;
  }
  problem.contact_bias = {-1, -1};
  StepSolution solution;
  NewtonSolver solver({.tolerance = 1e-10, .max_iterations = 200});
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kMaxIterations);
}

TEST(NewtonSolver, RefusesPolygonsInSpace) {
  StepProblem problem;
  problem.add_mass_block(3).setIdentity();
  problem.add_contact(
      {.num_tangents = 2, .mu = 0.5, .section = FrictionSection::polygon(4), .key = 0});
  problem.contacts.add_entry(0, 3).setIdentity();
  StepSolution solution;
  EXPECT_EQ(NewtonSolver().solve(problem, solution).status, SolverStatus::kUnsupported);
}

TEST(NewtonSolver, SolvesTheEmptyProblemWithoutIterating) {
  StepProblem problem;
  StepSolution solution;
  const SolverReport report = NewtonSolver().solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_EQ(report.iterations, 0);
}

}  // namespace
}  // namespace stiction
