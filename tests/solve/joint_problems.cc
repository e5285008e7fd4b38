#include "tests/solve/joint_problems.h"

#include <Eigen/Geometry>
#include <vector>

#include "tests/dense_algebra.h"

namespace stiction::testing {

void make_gyroscopic(StepProblem& problem, double share) {
  for (int b = 0; b < problem.num_blocks(); ++b) {
    if (problem.block_size(b) != 6) continue;
    RowMatrixMap block = problem.mass_block(b);
    const double size = share * block(3, 3);
    const double spin[3] = {size, -0.5 * size, 0.3 * size * (1 + b % 3)};
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      block(3 + j, 3 + k) -= spin[i];
      block(3 + k, 3 + j) += spin[i];
    }
  }
}

StepProblem make_ladder(int num_loops, double compliance) {
  MechanismMaker maker({.rows_per_joint = 5, .compliance = compliance});
  for (int i = 0; i < num_loops; ++i) {
    const double y = i;
    const int left = maker.add_body({0, y, 0}), right = maker.add_body({1, y, 0});
    maker.add_joint(left, i == 0 ? -1 : left - 2);
    maker.add_joint(right, i == 0 ? -1 : right - 2, {1, 0, 0});
    maker.add_joint(left, right);
  }
  return maker.problem();
}

StepProblem make_four_bars(int num_loops, double compliance) {
  using Vector = Eigen::Vector3d;
  StepProblem problem;
  std::vector<Vector> position;
  const auto add_bar = [&](const Vector& from, const Vector& to) {
    const double mass = 1 + 0.3 * static_cast<double>(position.size() % 4);
    const double square = (to - from).squaredNorm() / 12;
    RowMatrixMap block = problem.add_mass_block(6);
    block.diagonal() << mass, mass, mass, 0.01 * mass, mass * square, mass * square;
    problem.block_p(problem.num_blocks() - 1)[1] = -0.0981 * mass;
    problem.block_p(problem.num_blocks() - 1)[0] = 0.1 * mass;
    position.emplace_back((from + to) / 2);
    return static_cast<int>(position.size()) - 1;
  };
  const auto add_hinge = [&](int a, int b, const Vector& at) {
    for (int i = 0; i < 5; ++i) {  // the point, and turning about x and y
      problem.add_bilateral_row({.compliance = compliance});
      for (const int body : {a, b}) {
        if (body < 0) continue;
        const double sign = body == a ? 1 : -1;
        RowMatrixMap piece = problem.bilateral.add_entry(body, 6);
        const Vector axis = Vector::Unit(i % 3);
        if (i < 3)
          piece.row(0) << sign * axis.transpose(),
              sign * (at - position[body]).cross(axis).transpose();
        else
          piece.row(0).tail<3>() = sign * axis.transpose();
      }
    }
  };
  int last = -1;
  for (int k = 0; k < num_loops; ++k) {
    const Vector A(2.0 * k, 0, 0), B(2.0 * k + 0.3, 1, 0), C(2.0 * k + 2.1, 1.2, 0),
        D(2.0 * k + 2, 0, 0);
    const int crank = k == 0 ? add_bar(A, B) : last;
    const int coupler = add_bar(B, C), rocker = add_bar(C, D);
    if (k == 0) add_hinge(crank, -1, A);
    add_hinge(crank, coupler, k == 0 ? B : Vector(2.0 * k + 0.05, 0.6, 0));
    add_hinge(coupler, rocker, C);
    add_hinge(rocker, -1, D);
    last = rocker;
  }
  return problem;
}

DenseStep::DenseStep(const StepProblem& problem)
    : num_dofs(problem.num_dofs()), num_rows(problem.num_bilateral()) {
  A = Eigen::MatrixXd::Zero(num_dofs + num_rows, num_dofs + num_rows);
  b.resize(num_dofs + num_rows);
  for (int k = 0; k < problem.num_blocks(); ++k)
    A.block(problem.dof_start[k], problem.dof_start[k], problem.block_size(k),
            problem.block_size(k)) = problem.mass_block(k);
  for (int i = 0; i < num_rows; ++i) {
    const int row = num_dofs + i;
    for (int e = problem.bilateral.entry_start(i); e < problem.bilateral.entry_start(i + 1); ++e)
      for (int k = 0; k < problem.bilateral.entry_columns(e); ++k) {
        const int column = problem.dof_start[problem.bilateral.entry_block(e)] + k;
        A(row, column) = problem.bilateral.entry_values(e)[k];
        A(column, row) = -A(row, column);
      }
    A(row, row) = problem.compliance[i];
    b[row] = problem.bias[i];
  }
  for (int i = 0; i < num_dofs; ++i) b[i] = problem.p[i];
}

Eigen::VectorXd DenseStep::join(const StepSolution& solution) const {
  Eigen::VectorXd z(num_dofs + num_rows);
  for (int i = 0; i < num_dofs; ++i) z[i] = solution.w[i];
  for (int i = 0; i < num_rows; ++i) z[num_dofs + i] = solution.lambda[i];
  return z;
}

Eigen::MatrixXd DenseStep::inverse_mass_times(const Eigen::MatrixXd& f) const {
  return solve_dense(A.topLeftCorner(num_dofs, num_dofs), f);
}

Eigen::MatrixXd DenseStep::delassus() const {
  const Eigen::MatrixXd R = A.bottomLeftCorner(num_rows, num_dofs);
  return multiply(R, inverse_mass_times(R.transpose())) + A.bottomRightCorner(num_rows, num_rows);
}

Eigen::VectorXd DenseStep::free_rows() const {
  return b.tail(num_rows) -
         A.bottomLeftCorner(num_rows, num_dofs) * inverse_mass_times(b.head(num_dofs));
}

}  // namespace stiction::testing
