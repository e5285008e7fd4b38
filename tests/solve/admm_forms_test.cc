// ADMM by the saddle matrix and by the Delassus matrix: same answers, same honesty, on all kinds of
// problems that both take.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stiction/problem/certificate.h"
#include "stiction/solve/admm_solver.h"
#include "tests/dense_algebra.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/saddle_ldlt_problems.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

struct Answer {
  SolverReport report;
  StepSolution solution;
  AdmmForm form = AdmmForm::kAuto;
  bool is_converged() const { return report.status == SolverStatus::kConverged; }
};

Answer solved(const StepProblem& problem, AdmmForm form, double tolerance) {
  AdmmSolver solver({.tolerance = tolerance, .form = form});
  Answer answer;
  answer.report = solver.solve(problem, answer.solution);
  answer.form = solver.form();
  EXPECT_EQ(answer.is_converged(), certify(problem, answer.solution).meets(tolerance));
  return answer;
}

/// ‖a − b‖ over ‖p‖ in the norm of the kinetic energy.
double relative_difference(const StepProblem& problem, const StepSolution& a,
                           const StepSolution& b) {
  double difference = 0, size = 0;
  for (int k = 0; k < problem.num_blocks(); ++k) {
    const int start = problem.dof_start[k], n = problem.block_size(k);
    const VectorXd change = (a.w_vector() - b.w_vector()).segment(start, n);
    const VectorXd velocity = a.w_vector().segment(start, n);
    const VectorXd p = ConstVectorMap(problem.p.data() + start, n);
    const MatrixXd mass = problem.mass_block(k);
    difference += change.dot(mass * change);
    size += velocity.dot(mass * velocity) + p.dot(testing::solve_dense(mass, p).col(0));
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

/// By which two accepted answers may differ: (T23) is the square of an error relative to the
/// momenta at hand. The iterates are the same up to rounding, so that this holds even where there
/// are other solutions.
double allowed_difference(double tolerance) { return 2 * std::sqrt(tolerance); }

TEST(AdmmForms, GiveTheSameAnswerToRandomProblems) {
  int num_compared = 0, num_delassus = 0, num_saddle = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const StepProblem problem = testing::disc_problem(seed, {.allow_strange_units = false});
    const Answer saddle = solved(problem, AdmmForm::kSaddle, 1e-8);
    if (saddle.form != AdmmForm::kSaddle) continue;
    const Answer delassus = solved(problem, AdmmForm::kDelassus, 1e-8);
    num_delassus += delassus.is_converged() ? 1 : 0;
    num_saddle += saddle.is_converged() ? 1 : 0;
    if (!delassus.is_converged() || !saddle.is_converged()) continue;
    EXPECT_LE(relative_difference(problem, saddle.solution, delassus.solution),
              allowed_difference(1e-8));
    ++num_compared;
  }
  EXPECT_GT(num_compared, 60);
  EXPECT_GE(num_saddle, num_delassus - 2);
}

void expect_same_answer(const StepProblem& problem, double tolerance) {
  const Answer saddle = solved(problem, AdmmForm::kSaddle, tolerance);
  const Answer delassus = solved(problem, AdmmForm::kDelassus, tolerance);
  EXPECT_EQ(saddle.form, AdmmForm::kSaddle);
  EXPECT_EQ(delassus.form, AdmmForm::kDelassus);
  EXPECT_TRUE(saddle.is_converged());
  EXPECT_TRUE(delassus.is_converged());
  EXPECT_LE(relative_difference(problem, saddle.solution, delassus.solution),
            allowed_difference(tolerance));
}

TEST(AdmmForms, GiveTheSameAnswerToDuplicateContacts) {
  testing::MechanismMaker maker({});
  for (int i = 0; i < 4; ++i) {
    const double z = 0.5 + i;
    const int brick = maker.add_body({0, 0, z});
    for (int copy = 0; copy < 3; ++copy)
      for (const double x : {-0.4, 0.4})
        for (const double y : {-0.4, 0.4}) maker.add_contact(brick, brick - 1, {x, y, z - 0.5});
  }
  expect_same_answer(maker.problem(), 1e-7);
}

TEST(AdmmForms, GiveTheSameAnswerWithoutFriction) {
  expect_same_answer(testing::make_wall(4, 3, {.mu = 0}), 1e-7);
}

TEST(AdmmForms, GiveTheSameAnswerToSpheres) {
  expect_same_answer(testing::sphere_grid({.count = {5, 5, 5}}), 1e-7);
}

TEST(AdmmForms, GiveTheSameAnswerAtAMassRatioOfAHundredMillion) {
  expect_same_answer(testing::make_wall(2, 2, {.mass_ratio = 1e8}), 1e-6);
}

TEST(AdmmForms, GiveTheSameAnswerToCompliantContactsAndBoundedRows) {
  StepProblem problem = testing::make_wall(3, 3);
  for (double& compliance : problem.contact_compliance) compliance = 1e-3;
  for (int brick = 0; brick < 9; ++brick) {  // a motor that pushes each brick, up to a limit
    problem.add_bilateral_row({.bias = 1, .lower = -0.01, .upper = 0.02});
    problem.bilateral.add_entry(brick, 6)(0, brick % 2) = 1;
  }
  expect_same_answer(problem, 1e-5);
}

TEST(AdmmForms, TheSaddleMatrixGivesTheSameBitsWhateverWasSolvedBefore) {
  AdmmSolver experienced({.form = AdmmForm::kSaddle});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const StepProblem problem = testing::disc_problem(seed);
    AdmmSolver fresh({.form = AdmmForm::kSaddle});
    StepSolution expected, solution;
    const SolverReport report = fresh.solve(problem, expected);
    EXPECT_EQ(experienced.solve(problem, solution).iterations, report.iterations) << seed;
    EXPECT_EQ(solution.w, expected.w) << seed;
    EXPECT_EQ(solution.lambda, expected.lambda) << seed;
    EXPECT_EQ(solution.r, expected.r) << seed;
  }
}

TEST(AdmmForms, TheSaddleMatrixTakesAnAnswerBackWithoutWork) {
  const StepProblem problem = testing::sphere_grid({.count = {4, 4, 4}});
  AdmmSolver solver({.form = AdmmForm::kSaddle});
  StepSolution solution;
  EXPECT_GT(solver.solve(problem, solution).iterations, 0);
  const StepSolution first = solution;
  EXPECT_EQ(solver.solve(problem, solution).iterations, 0);
  EXPECT_EQ(solution.r, first.r);
}

TEST(AdmmForms, APackingOfTwoThousandContactsNeedsFewFactorisations) {
  const StepProblem problem = testing::sphere_grid({.count = {9, 9, 9}});
  ASSERT_GT(problem.num_contacts(), 2000);
  AdmmSolver solver({.tolerance = 1e-6});
  StepSolution solution;
  EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_EQ(solver.form(), AdmmForm::kSaddle);
  EXPECT_LE(solver.factorisations(), 6);
}

}  // namespace
}  // namespace stiction
