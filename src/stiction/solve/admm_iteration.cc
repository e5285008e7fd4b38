#include "stiction/solve/admm_iteration.h"

#include <algorithm>
#include <cmath>

namespace stiction {

bool AdmmIteration::factor(AdmmSystem& system) {
  const FrictionBlocks& rows = system.rows();
  D_.assign(rows.num_rows(), options_.proximal + rho_);
  for (int i = 0; i < rows.num_blocks(); ++i)
    if (rows.kind[i] == FrictionBlocks::Kind::kFree) D_[rows.W.row_start[i]] = options_.proximal;
  since_balance_ = 0;
  ++factorisations_;
  return is_finite_ = system.factor(D_);
}

void AdmmIteration::solve_motion(AdmmSystem& system) {
  const FrictionBlocks& blocks = system.rows();
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
  system.solve(x_);
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

void AdmmIteration::start(AdmmSystem& system, const AdmmOptions& options, const ConstVectorRef& x) {
  options_ = options;
  rho_ = options.penalty;
  x_ = y_ = best_ = x;
  z_.setZero(x.size());
  if (x.squaredNorm() > 0) system.compute_velocity(x, z_);
  least_ = system.measure(x);
  iterations_ = factorisations_ = 0;
  is_finite_ = true;
}

void AdmmIteration::check(AdmmSystem& system) {
  const double residual = system.measure(y_);
  is_finite_ = y_.allFinite();
  const bool is_first = std::isinf(least_) && is_finite_;  // better than the start in other rows
  if (!(residual < least_) && !is_first) return;
  least_ = residual;
  best_ = y_;
}

double AdmmIteration::go_on(AdmmSystem& system, const Limit& limit, KeptVector& x) {
  constexpr int kCheckInterval = 10;
  if (least_ > limit.tolerance && factor(system)) {
    while (iterations_ < limit.max_iterations) {
      solve_motion(system);
      project(system.rows());
      if (++iterations_ % kCheckInterval != 0) continue;
      check(system);
      if (least_ <= limit.tolerance || !is_finite_ || limit.deadline.has_passed()) break;
      if (balance() && !factor(system)) break;
    }
  }
  x = best_;
  return least_;
}

void AdmmIteration::start(const FrictionBlocks& blocks, const AdmmOptions& options,
                          const ConstVectorRef& x) {
  delassus_.bind(blocks, nullptr);
  start(delassus_, options, x);
}

double AdmmIteration::go_on(const FrictionBlocks& blocks, SaddleLu& lu, const Limit& limit,
                            KeptVector& x) {
  delassus_.bind(blocks, &lu);
  return go_on(delassus_, limit, x);
}

}  // namespace stiction
