#include "stiction/solve/admm_solver.h"

#include <algorithm>
#include <cmath>

namespace stiction {

bool AdmmIteration::factor(const FrictionBlocks& blocks, SaddleLu& lu) {
  B_.assign(9 * static_cast<std::size_t>(blocks.num_blocks()), 0);
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const double penalty = blocks.kind[i] == FrictionBlocks::Kind::kFree ? 0 : rho_;
    for (int k = 0; k < 3; ++k)
      B_[9 * static_cast<std::size_t>(i) + 4 * k] = options_.proximal + penalty;
  }
  since_balance_ = 0;
  return lu.factor(blocks.W, B_);
}

void AdmmIteration::solve_motion(const FrictionBlocks& blocks, SaddleLu& lu) {
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int start = blocks.W.row_start[i], rows = blocks.size(i);
    const bool is_free = blocks.kind[i] == FrictionBlocks::Kind::kFree;
    const double penalty = is_free ? 0 : rho_;
    double shifted[3] = {};
    blocks.shift(i, z_.data() + start, shifted);
    for (int k = 0; k < rows; ++k) {
      const int row = start + k;
      // z − (z + shift) = −shift, kept in one expression with the other velocities.
      x_[row] = options_.proximal * x_[row] + penalty * y_[row] + 2 * z_[row] - shifted[k] -
                blocks.q[row];
    }
  }
  lu.solve(x_);
}

void AdmmIteration::project(const FrictionBlocks& blocks) {
  double primal = 0, dual = 0;
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int start = blocks.W.row_start[i], rows = blocks.size(i);
    if (blocks.kind[i] == FrictionBlocks::Kind::kFree) {
      y_[start] = x_[start];
      continue;
    }
    double point[3] = {}, nearest[3] = {};
    for (int k = 0; k < rows; ++k)
      point[k] = options_.relaxation * x_[start + k] + (1 - options_.relaxation) * y_[start + k] -
                 z_[start + k] / rho_;
    blocks.project(i, point, nearest);
    for (int k = 0; k < rows; ++k) {
      z_[start + k] = rho_ * (nearest[k] - point[k]);
      primal += (x_[start + k] - nearest[k]) * (x_[start + k] - nearest[k]);
      const double change = rho_ * (nearest[k] - y_[start + k]);
      dual += change * change;
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

void AdmmIteration::start(const FrictionBlocks& blocks, const AdmmOptions& options,
                          const VectorXd& x) {
  options_ = options;
  rho_ = options.penalty;
  x_ = y_ = best_ = x;
  blocks.compute_velocity(x, u_);
  z_.setZero(x.size());
  if (x.squaredNorm() > 0) z_ = u_;
  least_ = blocks.residual(x, u_);
  iterations_ = 0;
}

void AdmmIteration::check(const FrictionBlocks& blocks) {
  blocks.compute_velocity(y_, u_);
  const double residual = blocks.residual(y_, u_);
  if (!(residual < least_)) return;
  least_ = residual;
  best_ = y_;
}

double AdmmIteration::go_on(const FrictionBlocks& blocks, SaddleLu& lu, const Limit& limit,
                            VectorXd& x) {
  constexpr int kCheckInterval = 10;
  if (least_ > limit.tolerance && factor(blocks, lu)) {
    while (iterations_ < limit.max_iterations) {
      solve_motion(blocks, lu);
      project(blocks);
      if (++iterations_ % kCheckInterval != 0) continue;
      check(blocks);
      if (least_ <= limit.tolerance || !y_.allFinite() || limit.deadline.has_passed()) break;
      if (balance() && !factor(blocks, lu)) break;
    }
  }
  x = best_;
  return least_;
}

AdmmSolver::AdmmSolver(const AdmmOptions& options)
    : options_(options), acceptance_(options.tolerance, options.measure) {}

SolverReport AdmmSolver::solve(const StepProblem& problem, StepSolution& solution) {
  constexpr double kTighter = 0.1;  // of the own goal after a refusal
  if (!blocks_.assemble(problem, options_.measure)) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kUnsupported, .has_answer = false};
  }
  blocks_.read_solution(problem, solution, x_);
  iteration_.start(blocks_, options_, x_);
  if (iteration_.residual() <= options_.tolerance && acceptance_.accepts(problem, solution))
    return {};
  AdmmIteration::Limit limit{.tolerance = options_.tolerance,
                             .max_iterations = options_.max_iterations,
                             .deadline = Deadline(options_.max_seconds)};
  bool is_accepted = false;
  while (true) {
    const double residual = iteration_.go_on(blocks_, lu_, limit, x_);
    blocks_.write_solution(problem, x_, solution);
    is_accepted = acceptance_.accepts(problem, solution);
    if (is_accepted || !(residual <= limit.tolerance) || residual == 0) break;
    limit.tolerance = kTighter * residual;
  }
  SolverStatus status = is_accepted ? SolverStatus::kConverged : SolverStatus::kMaxIterations;
  if (!std::isfinite(iteration_.residual()) || !solution.is_finite()) {
    status = SolverStatus::kNonFinite;
    solution.set_zero(problem);
  }
  return {status, iteration_.iterations()};
}

}  // namespace stiction
