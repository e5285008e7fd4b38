// From impulses that are nearly right Newton's method on the bodies ends in a few factorisations,
// at an answer that a judge confirms; where it does not, it says so.
#include "stiction/solve/body_newton.h"

#include <gtest/gtest.h>

#include <random>

#include "stiction/problem/certificate.h"
#include "stiction/solve/newton_solver.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/law_check.h"

namespace stiction {
namespace {

/// `height` blocks on each other, each with the corners of a square under it: eight contact rows
/// more than a block has degrees of freedom.
StepProblem make_tower(int height, double push) {
  constexpr double kWeight = 9.81 / 60;  // of 1 kg in a step
  StepProblem problem;
  problem.h = 1.0 / 60;
  for (int k = 0; k < height; ++k) {
    RowMatrixMap mass = problem.add_mass_block(6);
    mass.setZero();
    for (int i = 0; i < 6; ++i) mass(i, i) = i < 3 ? 1.0 : 1.0 / 6;
    problem.block_p(k)[2] = -kWeight;
  }
  problem.block_p(height - 1)[0] = push;
  for (int k = 0; k < height; ++k)
    for (const double x : {-0.5, 0.5})
      for (const double y : {-0.5, 0.5}) {
        problem.add_contact({.num_tangents = 2, .mu = 0.5, .section = {}});
        // Velocity v + ω × r at r = (x, y, z), rows z, x, y.
        const auto add = [&](int block, double z, double sign) {
          RowMatrixMap J = problem.contacts.add_entry(block, 6);
          J << 0, 0, 1, y, -x, 0,  //
              1, 0, 0, 0, z, -y,   //
              0, 1, 0, -z, 0, x;
          J *= sign;
        };
        add(k, -0.5, 1);
        if (k > 0) add(k - 1, 0.5, -1);
      }
  for (FrictionSection& section : problem.section) section.kind = FrictionSection::Kind::kDisc;
  return problem;
}

StepSolution disturbed(StepSolution solution, double share) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(-share, share);
  for (double& impulse : solution.r) impulse *= 1 + noise(random);
  return solution;
}

TEST(BodyNewton, BalancesATowerOfRedundantContactsFromDisturbedImpulses) {
  const StepProblem problem = make_tower(12, 0);
  StepSolution answer;
  ASSERT_EQ(NewtonSolver({.tolerance = 1e-12}).solve(problem, answer).status,
            SolverStatus::kConverged);
  BodyNewton solver({.tolerance = 1e-10, .goal = 1e-13, .measure = StoppingMeasure::kVelocities});
  for (const double share : {0.0, 1e-8, 1e-6}) {
    StepSolution solution = disturbed(answer, share);
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kConverged) << share;
    EXPECT_TRUE(certify(problem, solution).meets(1e-10)) << share;
    // What stands does not move: ten times the tolerance of the momentum of a block, at most.
    EXPECT_LE(solution.w_vector().lpNorm<Eigen::Infinity>(), 1e-9) << share;
  }
  // Beyond its reach it fails and says so.
  StepSolution far = disturbed(answer, 0.5);
  const bool has_converged = solver.solve(problem, far).status == SolverStatus::kConverged;
  EXPECT_TRUE(!has_converged || certify(problem, far).meets(1e-10));
}

TEST(BodyNewton, FindsFromNothingThatATowerStands) {
  const StepProblem problem = make_tower(12, 0);
  BodyNewton solver({.tolerance = 1e-10, .goal = 1e-13, .measure = StoppingMeasure::kVelocities});
  StepSolution solution;
  ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_TRUE(certify(problem, solution).meets(1e-10));
  EXPECT_LE(solution.w_vector().lpNorm<Eigen::Infinity>(), 1e-9);
  // Each of four corners bears a quarter of the weight above, for reasons of symmetry and since of
  // all impulses those nearest to equal ones are kept.
  const double weight = 9.81 / 60;
  for (int k = 0; k < 12; ++k)
    for (int corner = 0; corner < 4; ++corner)
      EXPECT_NEAR(solution.r[3 * (4 * k + corner)], 0.25 * (12 - k) * weight, 1e-8) << k;
}

TEST(BodyNewton, GivesUpFromNothingWhereThingsMove) {
  StepProblem problem = make_tower(3, 5.0);  // far beyond friction
  BodyNewton solver({.tolerance = 1e-10, .goal = 1e-13, .measure = StoppingMeasure::kVelocities});
  StepSolution solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kMaxIterations);
  EXPECT_FALSE(report.has_answer);
}

TEST(BodyNewton, PushesTheTopBlockOverTheOnesThatStick) {
  // Friction takes μ g h of what pushes, the rest moves the block.
  const double push = 0.5, weight = 9.81 / 60;
  const StepProblem problem = make_tower(3, push);
  StepSolution answer;
  ASSERT_EQ(NewtonSolver({.tolerance = 1e-12}).solve(problem, answer).status,
            SolverStatus::kConverged);
  StepSolution solution = disturbed(answer, 1e-4);
  BodyNewton solver({.tolerance = 1e-10, .goal = 1e-12, .measure = StoppingMeasure::kVelocities});
  ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_NEAR(solution.w[12], push - 0.5 * weight, 1e-10);
  EXPECT_NEAR(solution.w[0], 0, 1e-10);
}

TEST(BodyNewton, NeverCallsAWrongAnswerConverged) {
  BodyNewton solver({.tolerance = 1e-9, .goal = 1e-12});
  int num_solved = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem =
        testing::disc_problem(seed, {.mass_ratio_max = 100, .allow_strange_units = false});
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_TRUE(solution.is_finite()) << seed;
    if (report.status != SolverStatus::kConverged) continue;
    ++num_solved;
    EXPECT_LE(testing::LawCheck(problem, solution).violation(), 1e-8) << seed;
  }
  EXPECT_GT(num_solved, 20);  // of those whose statuses are found from nothing
}

TEST(BodyNewton, LeavesOtherProblemsToOthers) {
  StepProblem polygons = make_tower(2, 0);
  polygons.section[0] = {FrictionSection::Kind::kPolygon, 8};
  StepSolution solution;
  EXPECT_EQ(BodyNewton().solve(polygons, solution).status, SolverStatus::kUnsupported);
  EXPECT_EQ(solution.r.size(), 24u);
  const StepProblem without_bodies;
  EXPECT_EQ(BodyNewton().solve(without_bodies, solution).status, SolverStatus::kUnsupported);
  BodyNewton stingy({.max_flops = 1});
  EXPECT_EQ(stingy.solve(make_tower(2, 0), solution).status, SolverStatus::kMaxIterations);
}

}  // namespace
}  // namespace stiction
