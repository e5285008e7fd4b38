#include "tests/dense_algebra.h"

#include <Eigen/Dense>

namespace stiction::testing {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd multiply(const MatrixXd& A, const MatrixXd& B) { return A * B; }

MatrixXd solve_dense(const MatrixXd& A, const MatrixXd& C) { return A.fullPivLu().solve(C); }

std::optional<VectorXd> try_solve_dense(const MatrixXd& A, const VectorXd& c, double rcond_min) {
  const Eigen::FullPivLU<MatrixXd> lu(A);
  if (!lu.isInvertible() || (rcond_min > 0 && lu.rcond() < rcond_min)) return std::nullopt;
  return lu.solve(c);
}

MatrixXd inverse_of(const MatrixXd& A) {
  return A.fullPivLu().solve(MatrixXd::Identity(A.rows(), A.cols()));
}

int rank_of(const MatrixXd& A, double threshold) {
  Eigen::ColPivHouseholderQR<MatrixXd> qr(A);
  qr.setThreshold(threshold);
  return static_cast<int>(qr.rank());
}

VectorXd solve_least_norm(const MatrixXd& A, const VectorXd& c, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposition;
  decomposition.setThreshold(threshold);
  decomposition.compute(A);
  return decomposition.solve(c);
}

double smallest_singular_value(const MatrixXd& A) {
  return A.jacobiSvd().singularValues().minCoeff();
}

MatrixXd orthogonal_factor(const MatrixXd& A) { return A.householderQr().householderQ(); }

Modes find_modes(const MatrixXd& A, const MatrixXd& B) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> solver(A, B);
  return {.values = solver.eigenvalues(), .vectors = solver.eigenvectors()};
}

}  // namespace stiction::testing
