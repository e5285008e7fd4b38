// The certificate that a step is booked with is of the problem and of the answer that came back,
// whoever computed it first.
#include <gtest/gtest.h>

#include <memory>

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
