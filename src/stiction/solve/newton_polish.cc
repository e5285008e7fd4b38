#include "stiction/solve/newton_polish.h"

#include <algorithm>
#include <cmath>

namespace stiction {

using Kind = FrictionBlocks::Kind;

void NewtonPolish::linearise_row(const FrictionBlocks& blocks, int block, double* A, double* B) {
  const int row = blocks.W.row_start[block];
  const double z = x_[row] - u_[row];
  const bool is_bounded = blocks.kind[block] == Kind::kBounded;
  const bool is_low = is_bounded && z <= blocks.lower[block];
  const bool is_high = is_bounded && z >= blocks.upper[block];
  if (is_low || is_high) {
    defect_[row] = x_[row] - (is_low ? blocks.lower[block] : blocks.upper[block]);
    B[0] = 1;
  } else {
    defect_[row] = u_[row];
    A[0] = 1;
  }
}

void NewtonPolish::linearise_contact(const FrictionBlocks& blocks, int block, double* A,
                                     double* B) {
  const int row = blocks.W.row_start[block], rows = blocks.size(block);
  const double* x = x_.data() + row;
  const double* u = u_.data() + row;
  const double normal = x[0] - u[0];
  double square = 0;
  for (int k = 1; k < rows; ++k) square += (x[k] - u[k]) * (x[k] - u[k]);
  const bool is_open = normal <= 0;
  const bool is_stuck = !is_open && std::sqrt(square) <= blocks.mu[block] * normal;
  for (int k = 0; k < rows; ++k) {
    const bool is_velocity = !is_open && (k == 0 || is_stuck);
    defect_[row + k] = is_velocity ? u[k] : x[k];
    (is_velocity ? A : B)[4 * k] = 1;
  }
  if (!is_open && !is_stuck && blocks.mu[block] > 0) linearise_slip(blocks, block, A, B);
}

/// x_T + μ x_N t with t = u_T/‖u_T‖, and dt = (I − ttᵀ) du_T/‖u_T‖. Where the velocity is so small
/// that its direction is rounding, t is that of −x_T.
void NewtonPolish::linearise_slip(const FrictionBlocks& blocks, int block, double* A, double* B) {
  const int row = blocks.W.row_start[block], rows = blocks.size(block);
  const double* x = x_.data() + row;
  const double* u = u_.data() + row;
  double slip = 0, impulse = 0, t[3] = {};
  for (int k = 1; k < rows; ++k) slip += u[k] * u[k];
  for (int k = 1; k < rows; ++k) impulse += x[k] * x[k];
  slip = std::sqrt(slip);
  impulse = std::sqrt(impulse);
  constexpr double kRounding = 1e-13;
  const bool has_direction = slip > kRounding * impulse;
  const double mu = blocks.mu[block];
  for (int k = 1; k < rows; ++k)
    t[k] = has_direction ? u[k] / slip : impulse > 0 ? -x[k] / impulse : 0;
  for (int k = 1; k < rows; ++k) {
    defect_[row + k] = x[k] + mu * x[0] * t[k];
    B[3 * k] = mu * t[k];
    if (rows == 2 || !has_direction) continue;
    for (int l = 1; l < rows; ++l)
      A[3 * k + l] = mu * x[0] / slip * ((k == l ? 1 : 0) - t[k] * t[l]);
  }
}

void NewtonPolish::linearise(const FrictionBlocks& blocks, const PolishOptions& options) {
  A_.assign(9 * static_cast<std::size_t>(blocks.num_blocks()), 0);
  B_.assign(A_.size(), 0);
  defect_.resize(blocks.num_rows());
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    double* A = A_.data() + 9 * static_cast<std::size_t>(i);
    double* B = B_.data() + 9 * static_cast<std::size_t>(i);
    if (blocks.kind[i] == Kind::kContact)
      linearise_contact(blocks, i, A, B);
    else
      linearise_row(blocks, i, A, B);
    for (int k = 0; k < 9; ++k) B[k] += options.proximal * A[k];
  }
}

/// The step of the equations, refined once: their matrix may be as bad as the proximal term allows.
bool NewtonPolish::solve(const FrictionBlocks& blocks, SaddleLu& lu) {
  if (!lu.factor(blocks.W, A_, B_)) return false;
  step_ = -defect_;
  lu.solve(step_);
  remainder_.resize(step_.size());
  blocks.W.multiply(step_.data(), remainder_.data());
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int row = blocks.W.row_start[i], rows = blocks.size(i);
    const double* A = A_.data() + 9 * static_cast<std::size_t>(i);
    const double* B = B_.data() + 9 * static_cast<std::size_t>(i);
    double sum[3] = {};
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < rows; ++c)
        sum[r] += A[3 * r + c] * remainder_[row + c] + B[3 * r + c] * step_[row + c];
    for (int r = 0; r < rows; ++r) remainder_[row + r] = -defect_[row + r] - sum[r];
  }
  lu.solve(remainder_);
  step_ += remainder_;
  return step_.allFinite();
}

double NewtonPolish::run(const FrictionBlocks& blocks, SaddleLu& lu, const PolishOptions& options,
                         KeptVector& x) {
  constexpr int kPatience = 2;  // steps in a row that do not help
  x_ = x;
  blocks.compute_velocity(x_, u_);
  const double first = blocks.residual(x_, u_);
  double least = first;
  int useless = 0;
  for (iterations_ = 0; iterations_ < options.max_iterations; ++iterations_) {
    if (least <= options.tolerance || useless >= kPatience || options.deadline.has_passed()) break;
    linearise(blocks, options);
    if (!solve(blocks, lu)) break;
    x_ += step_;
    blocks.compute_velocity(x_, u_);
    const double residual = blocks.residual(x_, u_);
    useless = residual < 0.5 * least ? 0 : useless + 1;
    if (residual < least) {
      least = residual;
      best_ = x_;
    }
  }
  if (!(least <= options.tolerance || options.least_gain * least < first) || least == first)
    return first;
  x = best_;
  return least;
}

}  // namespace stiction
