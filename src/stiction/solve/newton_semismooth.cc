#include "stiction/solve/newton_semismooth.h"

#include <algorithm>
#include <cmath>

namespace stiction {

using Kind = FrictionBlocks::Kind;

void SemismoothNewton::compute_velocity(const FrictionBlocks& blocks, const ConstVectorRef& centre,
                                        const ConstVectorRef& x, KeptVector& u) const {
  blocks.compute_velocity(x, u);
  u += target_.alpha * (x - centre);
}

void SemismoothNewton::evaluate_bilateral(const FrictionBlocks& blocks, int block, double x,
                                          double u, double* phi, double* A, double* B) const {
  const double rho = target_.step_scale, z = x - rho * u;
  const bool is_bounded = blocks.kind[block] == Kind::kBounded;
  if (is_bounded && z <= blocks.lower[block]) {
    phi[0] = x - blocks.lower[block];
    B[0] = 1;
  } else if (is_bounded && z >= blocks.upper[block]) {
    phi[0] = x - blocks.upper[block];
    B[0] = 1;
  } else {
    phi[0] = rho * u;
    A[0] = rho;
  }
}

void SemismoothNewton::evaluate_contact(const FrictionBlocks& blocks, int block, const double* x,
                                        const double* u, double* phi, double* A, double* B) const {
  const int rows = blocks.size(block);
  const double rho = target_.step_scale, mu = blocks.mu[block];
  const double z_normal = x[0] - rho * u[0];
  if (z_normal <= 0) {  // open: Φ = x
    for (int k = 0; k < rows; ++k) {
      phi[k] = x[k];
      B[4 * k] = 1;
    }
    return;
  }
  phi[0] = rho * u[0];
  A[0] = rho;
  double z[3] = {z_normal, 0, 0};
  for (int k = 1; k < rows; ++k) z[k] = x[k] - rho * u[k];
  const double length = std::sqrt(z[1] * z[1] + z[2] * z[2]);
  if (length <= mu * z_normal) {  // stick: Φ_T = ρu_T
    for (int k = 1; k < rows; ++k) {
      phi[k] = rho * u[k];
      A[4 * k] = rho;
    }
    return;
  }
  // Slip: Φ_T = x_T − μ z_N t with t = z_T/‖z_T‖, and dt = (I − ttᵀ) dz_T/‖z_T‖.
  const double ratio = mu * z_normal / length;
  for (int k = 1; k < rows; ++k) {
    const double t = z[k] / length;
    phi[k] = x[k] - ratio * z[k];
    B[4 * k] += 1;
    B[3 * k] -= mu * t;
    A[3 * k] += rho * mu * t;
    if (rows == 2) continue;  // in the plane t does not turn
    for (int l = 1; l < rows; ++l) {
      const double turn = ratio * ((k == l ? 1 : 0) - t * z[l] / length);
      B[3 * k + l] -= turn;
      A[3 * k + l] += rho * turn;
    }
  }
}

double SemismoothNewton::evaluate(const FrictionBlocks& blocks, const ConstVectorRef& x,
                                  const ConstVectorRef& u, bool with_derivatives) {
  double merit = 0;
  phi_.resize(x.size());
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int start = blocks.W.row_start[i], rows = blocks.size(i);
    double A[9] = {}, B[9] = {};
    double* phi = phi_.data() + start;
    if (blocks.kind[i] == Kind::kContact)
      evaluate_contact(blocks, i, x.data() + start, u.data() + start, phi, A, B);
    else
      evaluate_bilateral(blocks, i, x[start], u[start], phi, A, B);
    for (int k = 0; k < rows; ++k) merit += phi[k] * phi[k];
    if (!with_derivatives) continue;
    const std::size_t at = 9 * static_cast<std::size_t>(i);
    for (int k = 0; k < 9; ++k) {
      A_[at + k] = A[k];
      B_[at + k] = B[k] + target_.alpha * A[k];  // u depends on x by α, too
    }
  }
  return merit;
}

bool SemismoothNewton::search_line(const FrictionBlocks& blocks, const ConstVectorRef& centre,
                                   KeptVector& x) {
  const double reference = *std::max_element(recent_merits_.begin(), recent_merits_.end());
  double length = 1;
  for (int attempt = 0; attempt < 12; ++attempt, length *= 0.5) {
    trial_ = x + length * step_;
    compute_velocity(blocks, centre, trial_, u_);
    const double merit = evaluate(blocks, trial_, u_, false);
    if (!(merit <= (1 - 1e-4 * length) * reference)) continue;
    x = trial_;
    merit_ = merit;
    return true;
  }
  return false;
}

SemismoothNewton::Outcome SemismoothNewton::solve(const FrictionBlocks& blocks, SaddleLu& lu,
                                                  const ConstVectorRef& centre,
                                                  const Target& target, KeptVector& x) {
  target_ = target;
  A_.resize(9 * static_cast<std::size_t>(blocks.num_blocks()));
  B_.resize(A_.size());
  compute_velocity(blocks, centre, x, u_);
  merit_ = evaluate(blocks, x, u_, true);
  recent_merits_.fill(merit_);
  const double goal = merit_ * target.reduction * target.reduction;
  for (iterations_ = 0; iterations_ < target.max_iterations;) {
    if (merit_ <= goal) return Outcome::kReached;
    if (target.deadline.has_passed()) return Outcome::kIterationLimit;
    if (!lu.factor(blocks.W, A_, B_)) return Outcome::kStalled;
    step_ = -phi_;
    lu.solve(step_);
    ++iterations_;
    if (!search_line(blocks, centre, x)) return Outcome::kStalled;
    evaluate(blocks, x, u_, true);
    recent_merits_[iterations_ % recent_merits_.size()] = merit_;
  }
  return merit_ <= goal ? Outcome::kReached : Outcome::kIterationLimit;
}

}  // namespace stiction
