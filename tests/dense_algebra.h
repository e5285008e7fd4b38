// Dense linear algebra for the references of tests: plain matrices in, plain matrices out. One home
// for Eigen's decompositions, each of which takes seconds of compilation wherever it is named.
#pragma once

#include <Eigen/Core>
#include <optional>

namespace stiction::testing {

/// A·B
Eigen::MatrixXd multiply(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

/// B with A B = C, by LU with full pivoting. A is regular.
Eigen::MatrixXd solve_dense(const Eigen::MatrixXd& A, const Eigen::MatrixXd& C);

/// As above; nothing where A is singular to rounding or its reciprocal condition number is smaller
/// than `rcond_min`.
std::optional<Eigen::VectorXd> try_solve_dense(const Eigen::MatrixXd& A, const Eigen::VectorXd& c,
                                               double rcond_min = 0);

Eigen::MatrixXd inverse_of(const Eigen::MatrixXd& A);

/// By QR with column pivoting; pivots below `threshold` times the largest count as zero.
int rank_of(const Eigen::MatrixXd& A, double threshold);

/// Of all x that minimize ‖A x − c‖ the shortest, pivots as above.
Eigen::VectorXd solve_least_norm(const Eigen::MatrixXd& A, const Eigen::VectorXd& c,
                                 double threshold = 1e-12);

double smallest_singular_value(const Eigen::MatrixXd& A);

/// Q of A = Q R.
Eigen::MatrixXd orthogonal_factor(const Eigen::MatrixXd& A);

/// A Y = B Y Λ with YᵀB Y = I for symmetric A and positive definite B.
struct Modes {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
Modes find_modes(const Eigen::MatrixXd& A, const Eigen::MatrixXd& B);

}  // namespace stiction::testing
