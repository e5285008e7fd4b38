// Lemke against the enumeration of all index sets. The complementarity problem is written here
// anew, with dense matrices, so that nothing is shared with the solver.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "stiction/solve/lemke_solver.h"
#include "tests/dense_algebra.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

using testing::multiply;

MatrixXd dense_mass(const StepProblem& problem) {
  MatrixXd mass = MatrixXd::Zero(problem.num_dofs(), problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b)
    mass.block(problem.dof_start[b], problem.dof_start[b], problem.block_size(b),
               problem.block_size(b)) = problem.mass_block(b);
  return mass;
}

MatrixXd dense_contacts(const StepProblem& problem) {
  const BlockRows& rows = problem.contacts;
  MatrixXd result = MatrixXd::Zero(rows.num_rows(), problem.num_dofs());
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      result.block(rows.row_start(i), problem.dof_start[rows.entry_block(e)], rows.num_rows(i),
                   rows.entry_columns(e)) = rows.entry_matrix(i, e);
  return result;
}

/// Stewart–Trinkle's problem for planar contacts: unknowns ν, β₊, β₋, λ per contact, or ν alone.
struct PlanarLcp {
  explicit PlanarLcp(const StepProblem& problem) {
    int size = 0;
    for (int j = 0; j < problem.num_contacts(); ++j) size += has_friction(problem, j) ? 4 : 1;
    matrix = MatrixXd::Zero(size, size);
    directions = MatrixXd::Zero(problem.num_contact_rows(), size);
    for (int j = 0, i = 0; j < problem.num_contacts(); ++j) {
      const int row = problem.contacts.row_start(j);
      directions(row, i) = 1;
      if (has_friction(problem, j)) {
        directions(row + 1, i + 1) = 1;
        directions(row + 1, i + 2) = -1;
        matrix.block<2, 1>(i + 1, i + 3).setOnes();
        matrix.block<1, 3>(i + 3, i) << problem.mu[j], -1, -1;
      }
      i += has_friction(problem, j) ? 4 : 1;
    }
    jacobian = dense_contacts(problem);
    inverse_mass = testing::inverse_of(dense_mass(problem));
    p = Eigen::Map<const VectorXd>(problem.p.data(), problem.num_dofs());
    const ConstVectorMap compliance(problem.contact_compliance.data(), jacobian.rows());
    const ConstVectorMap bias(problem.contact_bias.data(), jacobian.rows());
    MatrixXd delassus = multiply(jacobian, multiply(inverse_mass, jacobian.transpose()));
    delassus.diagonal() += compliance;
    matrix += multiply(directions.transpose(), multiply(delassus, directions));
    q = multiply(directions.transpose(), multiply(jacobian, multiply(inverse_mass, p)) + bias);
  }
  static bool has_friction(const StepProblem& problem, int j) {
    return problem.mu[j] > 0 && problem.contacts.num_rows(j) == 2;
  }
  VectorXd velocity(const VectorXd& z) const {
    return multiply(inverse_mass, p + multiply(jacobian.transpose(), multiply(directions, z)));
  }
  MatrixXd matrix, directions, jacobian, inverse_mass;
  VectorXd q, p;
};

/// Velocities of all basic solutions.
std::vector<VectorXd> enumerate(const PlanarLcp& lcp) {
  std::vector<VectorXd> velocities;
  const int size = static_cast<int>(lcp.q.size());
  for (int set = 0; set < 1 << size; ++set) {
    std::vector<int> indices;
    for (int i = 0; i < size; ++i)
      if (set >> i & 1) indices.push_back(i);
    VectorXd z = VectorXd::Zero(size);
    if (!indices.empty()) {
      const auto part = testing::try_solve_dense(lcp.matrix(indices, indices), -lcp.q(indices));
      if (!part) continue;
      z(indices) = *part;
    }
    const VectorXd y = multiply(lcp.matrix, z) + lcp.q;
    if (z.minCoeff() > -1e-9 && y.minCoeff() > -1e-9) velocities.push_back(lcp.velocity(z));
  }
  return velocities;
}

TEST(Lemke, FindsOneOfTheSolutionsThatEnumerationFinds) {
  LemkeSolver solver;
  StepSolution solution;
  int num_compared = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const StepProblem problem = testing::random_problem(seed, {.max_contacts = 4,
                                                               .max_bodies = 3,
                                                               .max_bilateral = 0,
                                                               .mass_ratio_max = 10,
                                                               .allow_spatial = false,
                                                               .allow_strange_units = false});
    const PlanarLcp lcp(problem);
    if (lcp.q.size() > 8) continue;
    ASSERT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
    double nearest = std::numeric_limits<double>::infinity();
    for (const VectorXd& w : enumerate(lcp))
      nearest = std::min(nearest, (w - solution.w_vector()).lpNorm<Eigen::Infinity>());
    EXPECT_LE(nearest, 1e-9);
    ++num_compared;
  }
  EXPECT_GT(num_compared, 150);
}

}  // namespace
}  // namespace stiction
