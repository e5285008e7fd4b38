#include "stiction/solve/admm_solver.h"

#include <algorithm>
#include <cmath>

namespace stiction {

bool AdmmIteration::factor(const FrictionBlocks& blocks, SaddleLu& lu) {
  B_.assign(9 * static_cast<std::size_t>(blocks.num_blocks()), 0);
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const double penalty = blocks.kind[i] == FrictionBlocks::Kind::kFree ? 0 : rho_;
    for (int k = 0; k < 3; ++k)
      B_[9 * static_cast<std::size_t>(i) + 4 * k] =
          (options_.proximal + penalty) * blocks.mobility[i];
  }
  since_balance_ = 0;
  return lu.factor(blocks.W, B_);
}

void AdmmIteration::solve_motion(const FrictionBlocks& blocks, SaddleLu& lu) {
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int start = blocks.W.row_start[i], rows = blocks.size(i);
    const bool is_free = blocks.kind[i] == FrictionBlocks::Kind::kFree;
    const double penalty = is_free ? 0 : rho_ * blocks.mobility[i];
    const double proximal = options_.proximal * blocks.mobility[i];
    double shifted[3] = {};
    blocks.shift(i, z_.data() + start, shifted);
    for (int k = 0; k < rows; ++k) {
      const int row = start + k;
      // z − (z + shift) = −shift, kept in one expression with the other velocities.
      x_[row] = proximal * x_[row] + penalty * y_[row] + 2 * z_[row] - shifted[k] - blocks.q[row];
    }
  }
  lu.solve(x_);
}

void AdmmIteration::project(const FrictionBlocks& blocks) {
  double primal = 0, dual = 0;
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int start = blocks.W.row_start[i], rows = blocks.size(i);
    const double omega = blocks.mobility[i];
    if (blocks.kind[i] == FrictionBlocks::Kind::kFree) {
      y_[start] = x_[start];
      continue;
    }
    double point[3] = {}, nearest[3] = {};
    for (int k = 0; k < rows; ++k)
      point[k] = options_.relaxation * x_[start + k] + (1 - options_.relaxation) * y_[start + k] -
                 z_[start + k] / (rho_ * omega);
    blocks.project(i, point, nearest);
    for (int k = 0; k < rows; ++k) {
      z_[start + k] = rho_ * omega * (nearest[k] - point[k]);
      primal += omega * (x_[start + k] - nearest[k]) * (x_[start + k] - nearest[k]);
      const double change = rho_ * (nearest[k] - y_[start + k]);
      dual += omega * change * change;
      y_[start + k] = nearest[k];
    }
  }
  primal_ = std::sqrt(primal);
  dual_ = std::sqrt(dual);
  ++since_balance_;
}

// True if ρ was changed to bring primal and dual residuals together.
bool AdmmIteration::balance() {
  if (since_balance_ < 20 || !(dual_ > 0)) return false;
  const double factor = std::sqrt(primal_ / dual_);
  if (factor < 3 && factor > 1.0 / 3) return false;
  rho_ *= std::clamp(factor, 0.2, 5.0);
  return true;
}

double AdmmIteration::run(const FrictionBlocks& blocks, SaddleLu& lu, const AdmmOptions& options,
                          VectorXd& x) {
  constexpr int kCheckInterval = 10;
  options_ = options;
  const Deadline deadline(options.max_seconds);
  rho_ = options.penalty;
  x_ = y_ = best_ = x;
  blocks.compute_velocity(x, u_);
  z_.setZero(x.size());
  if (x.squaredNorm() > 0) z_ = u_;
  double least = blocks.residual(x, u_);
  iterations_ = 0;
  if (least <= options.tolerance || !factor(blocks, lu)) return least;
  while (iterations_ < options.max_iterations) {
    solve_motion(blocks, lu);
    project(blocks);
    if (++iterations_ % kCheckInterval != 0) continue;
    blocks.compute_velocity(y_, u_);
    const double residual = blocks.residual(y_, u_);
    if (residual < least) {
      least = residual;
      best_ = y_;
    }
    if (least <= options.tolerance || !y_.allFinite() || deadline.has_passed()) break;
    if (balance() && !factor(blocks, lu)) break;
  }
  x = best_;
  return least;
}

SolverReport AdmmSolver::solve(const StepProblem& problem, StepSolution& solution) {
  if (!blocks_.assemble(problem)) {
    solution.resize(problem);
    return {SolverStatus::kUnsupported};
  }
  blocks_.read_solution(problem, solution, x_);
  const double residual = iteration_.run(blocks_, lu_, options_, x_);
  blocks_.write_solution(problem, x_, solution);
  SolverStatus status = SolverStatus::kMaxIterations;
  if (residual <= options_.tolerance) status = SolverStatus::kConverged;
  if (!std::isfinite(residual)) status = SolverStatus::kNonFinite;
  return {status, iteration_.iterations()};
}

}  // namespace stiction
