// One visit of a contact by an iteration that returns to it: what it does now is mostly what it did
// last time, and a step from there is a fraction of the work of solving from nothing. Steps work on
// the velocity that is left, so that their own rounding is corrected by the next visit.
#pragma once

#include <cmath>

#include "stiction/solve/one_contact.h"

namespace stiction {

/// r = old − W⁻¹u if that is in the cone; r is set in any case.
template <int kDim>
inline bool OneContact::try_stick_from(const double* u, const double* old, double* r) const {
  for (int a = 0; a < kDim; ++a) {
    double step = 0;
    for (int b = 0; b < kDim; ++b) step += inverse_[a * kDim + b] * u[b];
    r[a] = old[a] - step;
  }
  double square = 0;
  for (int a = 1; a < kDim; ++a) square += r[a] * r[a];
  return r[0] >= 0 && square <= mu_ * mu_ * r[0] * r[0];
}

/// In the plane, on the side where sticking would leave the cone, which `r` says.
inline bool OneContact::try_slide_interval(const double* q, double* r) const {
  const double friction = r[1] > 0 ? mu_ : -mu_;
  const double denominator = W_[0] + friction * W_[1];
  if (!(denominator > 0)) return false;
  r[0] = -q[0] / denominator;
  r[1] = friction * r[0];
  return (q[1] + W_[2] * r[0] + W_[3] * r[1]) * friction <= 0;
}

/// Newton's method for the angle at which the slip is opposed to friction, from a direction that
/// need not have length one: with β = μν d the normal gives ν, and what is sought is u_T·t = 0,
/// t across d. Ends after a turn so small that its square does not matter to the next visit.
inline bool OneContact::try_slide_from(const double* q, const double* direction, double* r) const {
  constexpr int kMaxTurns = 6;
  constexpr double kSmallTurn = 1e-3, kLargeTurn = 0.5;
  double d[2] = {direction[0], direction[1]}, turn = 0;
  for (int i = 0; i < kMaxTurns; ++i) {
    const double norm = std::sqrt(d[0] * d[0] + d[1] * d[1]);
    if (!(norm > 0)) return false;
    d[0] /= norm;
    d[1] /= norm;
    const double across = W_[0] + mu_ * (W_[1] * d[0] + W_[2] * d[1]);
    if (!(across > 0)) return false;
    const double nu = -q[0] / across;
    r[0] = nu;
    r[1] = mu_ * nu * d[0];
    r[2] = mu_ * nu * d[1];
    if (i > 0 && std::abs(turn) < kSmallTurn) return true;
    const double k[2] = {W_[3] + mu_ * (W_[4] * d[0] + W_[5] * d[1]),
                         W_[6] + mu_ * (W_[7] * d[0] + W_[8] * d[1])};
    const double u[2] = {q[1] + nu * k[0], q[2] + nu * k[1]};
    const double along = d[0] * u[0] + d[1] * u[1], wrong = d[0] * u[1] - d[1] * u[0];
    const double nu_slope = -nu * mu_ * (W_[2] * d[0] - W_[1] * d[1]) / across;
    const double slope =
        -along + nu_slope * (d[0] * k[1] - d[1] * k[0]) +
        nu * mu_ * (d[0] * (W_[8] * d[0] - W_[7] * d[1]) - d[1] * (W_[5] * d[0] - W_[4] * d[1]));
    turn = -wrong / slope;
    // Friction along the slip, or a guess too far from the answer: another solution may be meant.
    if (!(along < 0 && slope > 0 && std::abs(turn) < kLargeTurn)) return false;
    const double old = d[0];
    d[0] -= turn * d[1];
    d[1] += turn * old;
  }
  return false;
}

template <int kDim>
inline bool OneContact::visit(const double* u, double* r, double& hint) const {
  double q[kDim], old[kDim];
  for (int a = 0; a < kDim; ++a) {
    old[a] = r[a];
    q[a] = u[a];
    for (int b = 0; b < kDim; ++b) q[a] -= W_[a * kDim + b] * r[b];
  }
  if (q[0] >= 0) {
    for (int a = 0; a < kDim; ++a) r[a] = 0;
    return true;
  }
  if (!has_inverse_) return solve(q, r, hint);
  if (try_stick_from<kDim>(u, old, r)) return true;
  if constexpr (kDim == 2) {
    if (try_slide_interval(q, r)) return true;
  }
  if constexpr (kDim == 3) {
    // Where it slid before; coming from rest, where sticking would leave the cone.
    const bool has_slid = old[1] * old[1] + old[2] * old[2] > 0.99 * mu_ * mu_ * old[0] * old[0];
    const double direction[2] = {has_slid ? old[1] : r[1], has_slid ? old[2] : r[2]};
    if (try_slide_from(q, direction, r)) return true;
  }
  return solve(q, r, hint);
}

}  // namespace stiction
