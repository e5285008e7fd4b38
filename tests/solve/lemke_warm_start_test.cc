// A warm start may save pivots but not change whether an answer is one.
#include <gtest/gtest.h>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_revised.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

using testing::random_problem;

TEST(LemkeWarmStart, RepeatedProblemTakesNoPivotAndTheSameBits) {
  LemkeSolver solver({.warm_start = true});
  StepSolution first, second;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const StepProblem problem = random_problem(seed, {.max_contacts = 15});
    const SolverReport cold = solver.solve(problem, first);
    const SolverReport warm = solver.solve(problem, second);
    ASSERT_EQ(warm.status, SolverStatus::kConverged);
    if (cold.stage > 0) continue;  // a later attempt kept another basis
    EXPECT_EQ(warm.iterations, 0);
    EXPECT_EQ(first.w, second.w);
    EXPECT_EQ(first.r, second.r);
    EXPECT_EQ(first.lambda, second.lambda);
  }
}

TEST(LemkeWarmStart, ChangedProblemIsSolvedAsWellAsCold) {
  LemkeSolver warm({.warm_start = true}), cold;
  StepSolution a, b;
  int warm_pivots = 0, cold_pivots = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    StepProblem problem = random_problem(seed, {.max_contacts = 15});
    Random random(seed);
    for (int step = 0; step < 5; ++step) {
      SCOPED_TRACE(seed);
      for (double& p : problem.p) p *= random.uniform(0.9, 1.1);
      const SolverReport report = warm.solve(problem, a);
      warm_pivots += report.iterations;
      cold_pivots += cold.solve(problem, b).iterations;
      ASSERT_EQ(report.status, SolverStatus::kConverged);
      EXPECT_LE(certify(problem, a).residual(), 1e-9);
    }
  }
  EXPECT_LT(warm_pivots, cold_pivots);
}

TEST(LemkeWarmStart, IsDeterministic) {
  StepSolution a, b;
  LemkeSolver one({.warm_start = true}), other({.warm_start = true});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const StepProblem problem = random_problem(seed % 10, {.max_contacts = 10});
    ASSERT_EQ(one.solve(problem, a).iterations, other.solve(problem, b).iterations);
    EXPECT_EQ(a.w, b.w);
    EXPECT_EQ(a.r, b.r);
  }
}

TEST(LemkeWarmStart, WorksForCondensedProblems) {
  StepProblem problem;
  for (int i = 0; i < 2; ++i) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
    problem.contact_bias[i] = i == 0 ? -5 : -6;
    problem.coupling.add_row();
    problem.coupling.add_entry(0, i == 0 ? 2 : 1);
    problem.coupling.add_entry(1, i == 0 ? 1 : 2);
  }
  LemkeSolver solver({.warm_start = true});
  StepSolution first, second;
  EXPECT_GT(solver.solve(problem, first).iterations, 0);
  EXPECT_EQ(solver.solve(problem, second).iterations, 0);
  EXPECT_EQ(first.r, second.r);
  problem.contact_bias = {5, -6};  // another basis
  ASSERT_EQ(solver.solve(problem, second).status, SolverStatus::kConverged);
  EXPECT_EQ(second.r, (std::vector<double>{0, 3}));
}

}  // namespace
}  // namespace stiction
