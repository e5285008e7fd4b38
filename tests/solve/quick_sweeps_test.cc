#include "stiction/solve/quick_sweeps.h"

#include <gtest/gtest.h>

#include <vector>

#include "stiction/base/random.h"
#include "stiction/problem/published_error.h"
#include "stiction/solve/one_contact.h"

namespace stiction {
namespace {

/// Planar contacts with positive definite blocks; `interaction` is the size of the others.
StepProblem planar_problem(std::uint64_t seed, int num_contacts, double interaction) {
  Random random(seed);
  StepProblem problem;
  for (int j = 0; j < num_contacts; ++j)
    problem.add_contact({.num_tangents = 1, .mu = random.uniform(0, 1.5), .section = {}, .key = 0});
  for (double& bias : problem.contact_bias) bias = random.normal() - 0.3;
  const int n = 2 * num_contacts;
  for (int i = 0; i < n; ++i) {
    problem.coupling.add_row();
    for (int j = 0; j < n; ++j) {
      const bool is_own = i / 2 == j / 2;
      if (is_own || interaction > 0)
        problem.coupling.add_entry(j, i == j
                                          ? random.uniform(1, 2)
                                          : random.uniform(-1, 1) * (is_own ? 0.7 : interaction));
    }
  }
  return problem;
}

double error_of(const StepProblem& problem, const std::vector<double>& r) {
  StepSolution solution;
  solution.r = r;
  return compute_published_error(ProblemKind::kLocalFriction, problem, solution);
}

TEST(QuickSweeps, OneSweepSolvesContactsThatDoNotInteract) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem = planar_problem(seed, 5, 0);
    QuickSweeps sweeps(problem);
    std::vector<double> r(10, 0.0);
    ASSERT_TRUE(sweeps.sweep(r.data())) << seed;
    EXPECT_LE(error_of(problem, r), 1e-14) << seed;
  }
}

TEST(QuickSweeps, AContactIsSolvedAsBySweepsOfTheGeneralSolver) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem = planar_problem(seed, 1, 0);
    double W[4], expected[2], hint = 0;
    for (int e = 0; e < 4; ++e) W[e] = problem.coupling.value(e);
    OneContact contact;
    contact.prepare(W, 2, problem.mu[0], nullptr);
    ASSERT_TRUE(contact.solve(problem.contact_bias.data(), expected, hint));
    QuickSweeps sweeps(problem);
    double r[2] = {0, 0};
    ASSERT_TRUE(sweeps.sweep(r));
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(r[i], expected[i], 1e-12) << seed;
  }
}

TEST(QuickSweeps, ConvergeWhereContactsHardlyInteract) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem = planar_problem(seed, 6, 0.01);
    QuickSweeps sweeps(problem);
    std::vector<double> r(12, 0.0);
    ASSERT_TRUE(sweeps.sweep_until(1e-14, r.data())) << seed;
    EXPECT_LE(error_of(problem, r), 1e-13) << seed;
    EXPECT_LE(sweeps.num_sweeps(), 12) << seed;
  }
}

TEST(QuickSweeps, GiveUpEarlyWhereConvergenceIsSlow) {
  // Two frictionless contacts that share nearly all of their mass: errors fall by 2% per sweep.
  StepProblem problem;
  for (int j = 0; j < 2; ++j) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.coupling.add_row();
    problem.coupling.add_entry(j, 1);
    problem.coupling.add_entry(1 - j, 0.99);
  }
  problem.contact_bias = {-1, -1};
  QuickSweeps sweeps(problem);
  double r[2] = {0, 0};
  EXPECT_FALSE(sweeps.sweep_until(1e-10, r));
  EXPECT_LE(sweeps.num_sweeps(), 5);
}

TEST(QuickSweeps, SayWhenAContactHasNoSolution) {
  StepProblem problem;
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.coupling.add_row();
  problem.coupling.add_entry(0, -1);  // an impulse that pulls
  problem.contact_bias = {-1};
  QuickSweeps sweeps(problem);
  double r[1] = {0};
  EXPECT_FALSE(sweeps.sweep(r));
}

TEST(QuickSweeps, LeaveEverythingElseAlone) {
  EXPECT_TRUE(QuickSweeps::takes(planar_problem(0, 2, 0.1)));
  StepProblem spatial = planar_problem(0, 2, 0);
  spatial.add_contact({.num_tangents = 2, .mu = 0, .section = {}, .key = 0});
  EXPECT_FALSE(QuickSweeps::takes(spatial));
  StepProblem with_joint = planar_problem(0, 2, 0);
  with_joint.add_bilateral_row({});
  EXPECT_FALSE(QuickSweeps::takes(with_joint));
  StepProblem with_body = planar_problem(0, 2, 0);
  with_body.add_mass_block(1)(0, 0) = 1;
  EXPECT_FALSE(QuickSweeps::takes(with_body));
}

}  // namespace
}  // namespace stiction
