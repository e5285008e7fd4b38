// Sweeps that take machines as one body each: the same answers as other solvers, in a number of
// sweeps that does not grow with how much heavier the parts are than what carries them.
#include "stiction/solve/jointed_sweeps.h"

#include <gtest/gtest.h>

#include "stiction/problem/certificate.h"
#include "stiction/solve/newton_solver.h"

namespace stiction {
namespace {

constexpr double kTolerance = 1e-7;

/// Velocity v + ω × r at r, rows along x, y, z.
void set_point_rows(RowMatrixMap J, const Eigen::Vector3d& r, double sign) {
  J << 1, 0, 0, 0, r.z(), -r.y(),  //
      0, 1, 0, -r.z(), 0, r.x(),   //
      0, 0, 1, r.y(), -r.x(), 0;
  J *= sign;
}

/// A frame on four wheels, each held by a hinge; wheels stand on the ground with two contacts each.
/// One hinge is driven by a motor with a limit. `compliance` is of the joints, 0: rigid.
StepProblem make_cart(double frame_mass, double compliance, double motor_limit) {
  constexpr double kGravity = 9.81 / 60, kRadius = 0.5;
  StepProblem problem;
  problem.h = 1.0 / 60;
  const auto add_body = [&](double mass) {
    RowMatrixMap block = problem.add_mass_block(6);
    block.setZero();
    for (int i = 0; i < 6; ++i) block(i, i) = i < 3 ? mass : 0.3 * mass;
    problem.block_p(problem.num_blocks() - 1)[2] = -kGravity * mass;
  };
  add_body(frame_mass);
  for (int wheel = 1; wheel <= 4; ++wheel) add_body(10);
  for (int wheel = 1; wheel <= 4; ++wheel) {
    const Eigen::Vector3d hub(wheel <= 2 ? 1.5 : -1.0, wheel % 2 == 0 ? 1 : -1, 0);
    Eigen::Matrix<double, 3, 6, Eigen::RowMajor> frame_rows, wheel_rows;
    set_point_rows({frame_rows.data(), 3, 6}, hub, 1);
    set_point_rows({wheel_rows.data(), 3, 6}, Eigen::Vector3d::Zero(), -1);
    for (int row = 0; row < 3; ++row) {
      problem.add_bilateral_row({.compliance = compliance});
      problem.bilateral.add_entry(0, 6) = frame_rows.row(row);
      problem.bilateral.add_entry(wheel, 6) = wheel_rows.row(row);
    }
    for (const int axis : {3, 5}) {
      problem.add_bilateral_row({.compliance = compliance});
      problem.bilateral.add_entry(0, 6)(0, axis) = 1;
      problem.bilateral.add_entry(wheel, 6)(0, axis) = -1;
    }
    for (const double y : {-0.1, 0.1}) {
      problem.add_contact({.num_tangents = 2, .mu = 0.6, .section = {}});
      problem.section.back().kind = FrictionSection::Kind::kDisc;
      Eigen::Matrix<double, 3, 6, Eigen::RowMajor> rows;
      set_point_rows({rows.data(), 3, 6}, Eigen::Vector3d(0, y, -kRadius), 1);
      RowMatrixMap J = problem.contacts.add_entry(wheel, 6);
      J.row(0) = rows.row(2);
      J.row(1) = rows.row(0);
      J.row(2) = rows.row(1);
    }
  }
  problem.add_bilateral_row({.bias = 3, .lower = -motor_limit, .upper = motor_limit});
  problem.bilateral.add_entry(0, 6)(0, 4) = -1;
  problem.bilateral.add_entry(1, 6)(0, 4) = 1;
  return problem;
}

TEST(JointedSweeps, WithoutTimeStillHoldJoints) {
  // The hinges of a cart that is accelerated hold to rounding whatever becomes of its contacts.
  const StepProblem problem = make_cart(10000, 0, 50);
  for (const int sweeps : {1, 3}) {
    JointedSweeps solver({.tolerance = kTolerance, .timeless_sweeps = sweeps});
    solver.set_time_limit(1e-9);
    StepSolution solution;
    const SolverReport report = solver.solve(problem, solution);
    EXPECT_EQ(report.status, SolverStatus::kMaxIterations);
    EXPECT_EQ(report.iterations, sweeps);
    for (int row = 0; row < problem.num_bilateral() - 1; ++row)  // the last one is the motor
      EXPECT_NEAR(problem.bilateral.times(row, 0, problem.dof_start.data(), solution.w.data()), 0,
                  1e-9);
  }
}

struct CartCase {
  double frame_mass, compliance, motor_limit;
};

class JointedSweepsOfACart : public ::testing::TestWithParam<CartCase> {};

TEST_P(JointedSweepsOfACart, AgreeWithNewtonsMethod) {
  const auto [frame_mass, compliance, motor_limit] = GetParam();
  const StepProblem problem = make_cart(frame_mass, compliance, motor_limit);
  StepSolution expected, solution;
  ASSERT_EQ(NewtonSolver({.tolerance = 1e-11}).solve(problem, expected).status,
            SolverStatus::kConverged);
  JointedSweeps solver({.tolerance = kTolerance});
  ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
  EXPECT_TRUE(certify(problem, solution).meets(kTolerance));
  // The certificate bounds errors in the energy, relative to that of what is at stake.
  double error = 0, scale = 0;
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int i = 0; i < 6; ++i) {
      const int k = 6 * b + i;
      const double mass = problem.mass_block(b)(i, i), change = solution.w[k] - expected.w[k];
      error += mass * change * change;
      scale += mass * expected.w[k] * expected.w[k] + problem.p[k] * problem.p[k] / mass;
    }
  EXPECT_LE(error, 10 * kTolerance * scale);
  // A start that is an answer is one after next to nothing.
  StepSolution again = solution;
  EXPECT_LE(solver.solve(problem, again).iterations, 5);
}

INSTANTIATE_TEST_SUITE_P(Carts, JointedSweepsOfACart,
                         ::testing::Values(CartCase{100, 0, 0.1}, CartCase{1e4, 0, 0.1},
                                           CartCase{1e4, 0, 20}, CartCase{1e4, 1e-10, 0.1},
                                           CartCase{1e4, 1e-5, 1}, CartCase{1, 1e-3, 1}));

TEST(JointedSweeps, DoNotCreepWhereHeavyPartsAreCarriedByLightOnes) {
  const StepProblem problem = make_cart(1e4, 0, 0.1);
  StepSolution solution;
  const SolverReport joined = JointedSweeps({.tolerance = kTolerance}).solve(problem, solution);
  StepSolution other;
  const SolverReport plain = NsgsSolver({.tolerance = kTolerance}).solve(problem, other);
  EXPECT_EQ(joined.status, SolverStatus::kConverged);
  EXPECT_LE(10 * joined.iterations, plain.iterations);
}

TEST(JointedSweeps, ArePlainSweepsWithoutJoints) {
  StepProblem problem = make_cart(100, 0, 0.1);
  StepProblem loose;
  loose.h = problem.h;
  for (int body = 0; body < problem.num_blocks(); ++body) {
    loose.add_mass_block(6) = problem.mass_block(body);
    loose.block_p(body) = problem.block_p(body);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    loose.add_contact({.num_tangents = 2, .mu = problem.mu[j], .section = problem.section[j]});
    loose.contacts.add_entries_of(problem.contacts, j);
  }
  StepSolution solution, other;
  const SolverReport joined = JointedSweeps({.tolerance = kTolerance}).solve(loose, solution);
  const SolverReport plain = NsgsSolver({.tolerance = kTolerance}).solve(loose, other);
  EXPECT_EQ(joined.iterations, plain.iterations);
  EXPECT_TRUE(solution.is_identical(other));
}

}  // namespace
}  // namespace stiction
