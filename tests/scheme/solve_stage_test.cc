// The certificate that a step is booked with is of the problem and of the answer that came back,
// whoever computed it first.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/scheme/scheme.h"
#include "stiction/solve/solvers.h"
#include "tests/solve/joint_problems.h"

namespace stiction {
namespace {

/// Solves like `auto`, then changes one number of the answer.
class Forger final : public Solver {
 public:
  explicit Forger(double change) : auto_(make_solver("auto", 1e-9)), change_(change) {}
  std::string_view name() const override { return "forger"; }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override {
    const SolverReport report = auto_->solve(problem, solution);
    solution.lambda[0] += change_;
    return report;
  }
  const Certifier* certifier() const override { return auto_->certifier(); }

 private:
  std::unique_ptr<Solver> auto_;
  double change_;
};

/// Notes how long it may take.
class Timed final : public Solver {
 public:
  std::string_view name() const override { return "timed"; }
  void set_time_limit(double seconds) override { limits.push_back(seconds); }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override {
    solution.set_zero(problem);
    return {};
  }
  std::vector<double> limits;
};

TEST(SolveStage, LeavesTimeForWhatFollowsInAStep) {
  constexpr double kHour = 3600;  // of which machines that are slow use next to nothing
  Timed solver;
  SolveStage stage(solver, 1e-8);
  StepProblem step = testing::make_four_bars(1), impact = step;
  step.h = 0.01;
  impact.h = 0;
  stage.begin_step(Deadline(kHour));
  (void)stage.solve(impact);
  (void)stage.solve(step);
  (void)stage.solve(step);
  stage.begin_step(Deadline(kHour));  // two problems that take time are expected now
  (void)stage.solve(impact);
  (void)stage.solve(step);
  (void)stage.solve(step);
  stage.begin_step(Deadline(1e-9));
  (void)stage.solve(step);
  const std::vector<double> shares = {1.0 / 2, 1, 1, 1.0 / 3, 1.0 / 2, 1};
  ASSERT_EQ(solver.limits.size(), shares.size() + 1);
  for (std::size_t k = 0; k < shares.size(); ++k)
    EXPECT_NEAR(solver.limits[k] / kHour, shares[k], 0.01) << k;
  EXPECT_GT(solver.limits.back(), 0) << "zero is no limit";
  EXPECT_LT(solver.limits.back(), 1);
}

TEST(SolveStage, BooksWhatTheCertificateOfTheAnswerIs) {
  const std::unique_ptr<Solver> solver = make_solver("auto", 1e-9);
  SolveStage stage(*solver, 1e-8);
  for (const StepProblem& problem : {testing::make_four_bars(3), testing::make_ladder(4, 1e-9)}) {
    stage.begin_step();
    const StepSolution answer = stage.solve(problem);
    ASSERT_NE(solver->certifier(), nullptr);
    EXPECT_TRUE(solver->certifier()->recall_last(problem, answer)) << "need not be computed twice";
    const Certificate expected = certify(problem, answer);
    EXPECT_EQ(stage.certificate().momentum, expected.momentum);
    EXPECT_EQ(stage.certificate().bilateral, expected.bilateral);
    EXPECT_EQ(stage.certificate().motion, expected.motion);
    EXPECT_LT(expected.residual(), 1e-9);
  }
}

TEST(SolveStage, AnAnswerThatWasChangedAfterwardsDoesNotKeepItsCertificate) {
  Forger forger(1e-3);
  SolveStage stage(forger, 1e-8);
  const StepProblem problem = testing::make_four_bars(3);
  stage.begin_step();
  const StepSolution answer = stage.solve(problem);
  EXPECT_FALSE(stage.certificate().meets(1e-8));
  EXPECT_EQ(stage.certificate().momentum, certify(problem, answer).momentum);
}

TEST(SolveStage, WhatWasNotAskedLastIsCertifiedAnew) {
  const std::unique_ptr<Solver> solver = make_solver("auto", 1e-9);
  SolveStage stage(*solver, 1e-8);
  const StepProblem problem = testing::make_four_bars(3), other = testing::make_ladder(4, 1e-9);
  StepProblem heavier = problem;
  heavier.p[0] += 0.1;
  SolverReport report;
  stage.begin_step();
  const StepSolution answer = stage.probe(problem, report);
  (void)stage.probe(other, report);
  stage.commit(problem, answer, report);
  EXPECT_EQ(stage.certificate().momentum, certify(problem, answer).momentum);
  EXPECT_TRUE(stage.certificate().meets(1e-8));

  stage.begin_step();
  (void)stage.probe(problem, report);
  stage.commit(heavier, answer, report);
  EXPECT_FALSE(stage.certificate().meets(1e-8));
  EXPECT_EQ(stage.certificate().momentum, certify(heavier, answer).momentum);
}

}  // namespace
}  // namespace stiction
