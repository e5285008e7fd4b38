// The inner loops that all Gauss–Seidel solvers share: velocity of a unit, change of its impulse.
// The number of rows of a unit is a template argument, so that small blocks are unrolled; pieces of
// rigid bodies (six columns) are computed two numbers at a time, those of bodies in the plane
// (three columns) have a loop of their own. No virtual call, no allocation. What was measured, and
// what was tried and rejected, is in docs/solvers/nsgs.md.
#pragma once

#include <cmath>
#include <cstddef>

#include "stiction/base/pair.h"
#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/gauss_seidel_state.h"

namespace stiction {

/// out += J w of a rigid body.
template <int kDim>
inline void add_body_velocity(const double* jacobian, const double* w, double* out) {
  const Pair w0 = load_pair(w), w1 = load_pair(w + 2), w2 = load_pair(w + 4);
  for (int a = 0; a < kDim; ++a, jacobian += 6) {
    const Pair sum =
        load_pair(jacobian) * w0 + load_pair(jacobian + 2) * w1 + load_pair(jacobian + 4) * w2;
    out[a] += sum[0] + sum[1];
  }
}

/// w += M̂⁻¹Jᵀ change of a rigid body. Stored as it will be loaded: a pair that is put together from
/// two stores would have to wait for both.
template <int kDim>
inline void add_body_change(const double* moved, const double* change, double* w) {
  Pair w0 = load_pair(w), w1 = load_pair(w + 2), w2 = load_pair(w + 4);
  for (int a = 0; a < kDim; ++a, moved += 6) {
    const Pair c = {change[a], change[a]};
    w0 += load_pair(moved) * c;
    w1 += load_pair(moved + 2) * c;
    w2 += load_pair(moved + 4) * c;
  }
  store_pair(w0, w);
  store_pair(w1, w + 2);
  store_pair(w2, w + 4);
}

/// The same from J and the reciprocals of a diagonal M̂, with the same bits.
template <int kDim>
inline void add_body_change(const double* jacobian, const double* reciprocals, const double* change,
                            double* w) {
  const Pair m0 = load_pair(reciprocals), m1 = load_pair(reciprocals + 2),
             m2 = load_pair(reciprocals + 4);
  Pair w0 = load_pair(w), w1 = load_pair(w + 2), w2 = load_pair(w + 4);
  for (int a = 0; a < kDim; ++a, jacobian += 6) {
    const Pair c = {change[a], change[a]};
    w0 += load_pair(jacobian) * m0 * c;
    w1 += load_pair(jacobian + 2) * m1 * c;
    w2 += load_pair(jacobian + 4) * m2 * c;
  }
  store_pair(w0, w);
  store_pair(w1, w + 2);
  store_pair(w2, w + 4);
}

/// The same for any number of columns; kColumns 0: known at run time only.
template <int kDim, int kColumns>
inline void add_piece_velocity(const double* jacobian, const double* w, int columns, double* out) {
  const int n = kColumns > 0 ? kColumns : columns;
  for (int a = 0; a < kDim; ++a) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += jacobian[a * n + k] * w[k];
    out[a] += sum;
  }
}

template <int kDim, int kColumns>
inline void add_piece_change(const double* moved, const double* change, int columns, double* w) {
  const int n = kColumns > 0 ? kColumns : columns;
  for (int k = 0; k < n; ++k) {
    double sum = 0;
    for (int a = 0; a < kDim; ++a) sum += moved[a * n + k] * change[a];
    w[k] += sum;
  }
}

/// out = u + R w of one unit.
template <int kDim>
inline void compute_unit_velocity(const ContactBlocks& blocks, int unit, const double* u,
                                  const double* w, double* out) {
  const ContactBlocks::Unit& block = blocks.unit(unit);
  double sum[kDim];
  for (int a = 0; a < kDim; ++a) sum[a] = u[block.row + a];
  for (int e = block.entry_begin; e < blocks.unit(unit + 1).entry_begin; ++e) {
    const ContactBlocks::Entry& entry = blocks.entry(e);
    const double* jacobian = entry.jacobian;
    if (entry.columns == 6)
      add_body_velocity<kDim>(jacobian, w + entry.dof, sum);
    else if (entry.columns == 3)
      add_piece_velocity<kDim, 3>(jacobian, w + entry.dof, 3, sum);
    else
      add_piece_velocity<kDim, 0>(jacobian, w + entry.dof, entry.columns, sum);
  }
  for (int a = 0; a < kDim; ++a) out[a] = sum[a];
}

/// The same for a number of rows known at run time only.
inline void compute_unit_velocity(const ContactBlocks& blocks, int unit, const double* u,
                                  const double* w, double* out) {
  switch (blocks.unit(unit).dim) {
    case 1:
      return compute_unit_velocity<1>(blocks, unit, u, w, out);
    case 2:
      return compute_unit_velocity<2>(blocks, unit, u, w, out);
    default:
      return compute_unit_velocity<3>(blocks, unit, u, w, out);
  }
}

/// x += change in one unit, and what follows from it in u and w.
template <int kDim>
inline void apply_change(const ContactBlocks& blocks, int unit, const double* change,
                         SweepState& state) {
  const ContactBlocks::Unit& block = blocks.unit(unit);
  const ContactBlocks::Unit& next = blocks.unit(unit + 1);
  double* u = state.u();
  double* w = state.w();
  for (int a = 0; a < kDim; ++a) {
    state.x()[block.row + a] += change[a];
    u[block.row + a] += blocks.compliance(block.row + a) * change[a];
  }
  for (int e = block.entry_begin; e < next.entry_begin; ++e) {
    const ContactBlocks::Entry& entry = blocks.entry(e);
    if (!entry.has_moved()) {
      add_body_change<kDim>(entry.jacobian, blocks.reciprocals(entry), change, w + entry.dof);
      continue;
    }
    const double* moved = blocks.moved(entry);
    if (entry.columns == 6)
      add_body_change<kDim>(moved, change, w + entry.dof);
    else if (entry.columns == 3)
      add_piece_change<kDim, 3>(moved, change, 3, w + entry.dof);
    else
      add_piece_change<kDim, 0>(moved, change, entry.columns, w + entry.dof);
  }
  for (int k = block.coupling_begin; k < next.coupling_begin; ++k) {
    const ContactBlocks::Coupling& target = blocks.coupling(k);
    const double* values = blocks.coupling_values(k);
    double* row = u + target.row;
    if (target.num_rows == kDim) {
      double sum[kDim];  // all of them before the first is stored, which could change the values
      for (int i = 0; i < kDim; ++i) sum[i] = row[i];
      for (int a = 0; a < kDim; ++a)
        for (int i = 0; i < kDim; ++i) sum[i] += values[a * kDim + i] * change[a];
      for (int i = 0; i < kDim; ++i) row[i] = sum[i];
    } else {
      for (int a = 0; a < kDim; ++a)
        for (int i = 0; i < target.num_rows; ++i) row[i] += *values++ * change[a];
    }
  }
}

/// The impulse of a bilateral row that satisfies (T2) while the others keep theirs; `q` is its
/// slack without its own impulse. False where there is none.
inline bool solve_bilateral_row(double W, double q, double lower, double upper, double& x) {
  if (W > 0) {
    const double free = -q / W;
    x = free < lower ? lower : free > upper ? upper : free;
    return true;
  }
  // Not monotone, or nothing moves the row: take what holds, between the bounds first.
  const double free = -q / W;
  if (W < 0 && free >= lower && free <= upper) {
    x = free;
    return true;
  }
  if (W == 0 && q == 0) return true;
  if (std::isfinite(lower) && W * lower + q >= 0) {
    x = lower;
    return true;
  }
  if (std::isfinite(upper) && W * upper + q <= 0) {
    x = upper;
    return true;
  }
  return false;
}

}  // namespace stiction
