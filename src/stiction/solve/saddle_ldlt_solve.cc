// Solving with the factors of SaddleLdlt, and iterative refinement.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/solve/saddle_ldlt.h"
#include "stiction/solve/saddle_ldlt_kernel.h"

namespace stiction {
namespace {

constexpr int kMaxRefinements = 4;
constexpr double kRoundingError = 4e-16;  // of an equation, relative to its terms

}  // namespace

void SaddleLdlt::solve(const std::vector<double>& f, const std::vector<double>& g,
                       std::vector<double>& w, std::vector<double>& x, Refinement refinement) {
  const int num_dofs = graph_.num_dofs();
  std::copy(f.begin(), f.end(), right_side_.begin());
  for (int slot = 0; slot < graph_.num_slots(); ++slot)
    right_side_[num_dofs + slot] = active_slot_[slot] ? g[graph_.slot_row(slot)] : 0;
  if (refinement == Refinement::kContinued) {
    (void)compute_residual();
    add_correction();
  } else {
    residual_ = right_side_;
    solve_once();
    unknown_ = gather_;
  }
  if (refinement == Refinement::kFull) refine();
  w.assign(unknown_.begin(), unknown_.begin() + num_dofs);
  x.assign(graph_.num_rows(), 0.0);
  for (int slot = 0; slot < graph_.num_slots(); ++slot)
    if (active_slot_[slot]) x[graph_.slot_row(slot)] = -unknown_[num_dofs + slot];
}

/// Corrects unknown_ until every equation holds to rounding relative to its own terms.
void SaddleLdlt::refine() {
  double last_error = std::numeric_limits<double>::infinity();
  for (int pass = 0;; ++pass) {
    const double error = compute_residual();
    if (error <= kRoundingError || pass == kMaxRefinements) return;
    if (!(error < 0.5 * last_error)) return;  // more passes would only stir
    last_error = error;
    add_correction();
  }
}

/// unknown_ += K⁻¹ residual_.
void SaddleLdlt::add_correction() {
  solve_once();
  for (std::size_t i = 0; i < unknown_.size(); ++i) unknown_[i] += gather_[i];
}

/// gather_ = K⁻¹ residual_ by the factors.
void SaddleLdlt::solve_once() {
  for (std::size_t i = 0; i < permuted_.size(); ++i) permuted_[i] = residual_[natural_[i]];
  for (const Front& front : fronts_) {
    const int rest = front.num_rows - front.num_pivots;
    const int* rows = rest_.data() + front.rest_begin;
    for (int i = 0; i < rest; ++i) gather_[i] = permuted_[rows[i]];
    solve_lower(panel_of(front), permuted_.data() + front.first_pivot, gather_.data());
    for (int i = 0; i < rest; ++i) permuted_[rows[i]] = gather_[i];
  }
  for (std::size_t i = 0; i < permuted_.size(); ++i) permuted_[i] *= inverse_[i];
  for (std::size_t f = fronts_.size(); f-- > 0;) {
    const Front& front = fronts_[f];
    const int rest = front.num_rows - front.num_pivots;
    const int* rows = rest_.data() + front.rest_begin;
    for (int i = 0; i < rest; ++i) gather_[i] = permuted_[rows[i]];
    solve_upper(panel_of(front), permuted_.data() + front.first_pivot, gather_.data());
  }
  for (std::size_t i = 0; i < permuted_.size(); ++i) gather_[natural_[i]] = permuted_[i];
}

/// residual_ = right_side_ − K unknown_, from the numbers of the matrix. Returns the largest
/// component relative to the sizes of its own terms, dependent rows left out.
double SaddleLdlt::compute_residual() {
  residual_ = right_side_;
  for (std::size_t i = 0; i < size_.size(); ++i) size_[i] = std::abs(right_side_[i]);
  for (int b = 0; b < graph_.num_bodies(); ++b) {
    const int n = graph_.body_size(b), at = graph_.dof_start(b);
    const double* block = values_.data() + value_start_[b];
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double term = *block++ * unknown_[at + j];
        residual_[at + i] -= term;
        size_[at + i] += std::abs(term);
      }
  }
  double worst = 0;
  for (int g = 0; g < graph_.num_groups(); ++g) worst = std::max(worst, subtract_group(g));
  for (int i = 0; i < graph_.num_dofs(); ++i)
    if (std::abs(residual_[i]) > worst * size_[i]) worst = std::abs(residual_[i]) / size_[i];
  return worst;
}

/// The part of compute_residual of one group; its own equations are complete then.
double SaddleLdlt::subtract_group(int g) {
  const ConstraintGraph::Group& group = graph_.group(g);
  const int node = graph_.num_bodies() + g, start = start_[position_[node]];
  const double* values = values_.data() + value_start_[node];
  const double* compliance = values + static_cast<std::ptrdiff_t>(group.num_slots) * group.width;
  double worst = 0;
  for (int i = 0; i < group.num_slots; ++i) {
    const int at = graph_.num_dofs() + group.slot_begin + i;
    const double own = compliance[i] * unknown_[at];
    double sum = right_side_[at] + own, size = std::abs(right_side_[at]) + std::abs(own);
    for (int e = 0; e < group.num_bodies; ++e) {
      const int body = graph_.body(group.body_begin + e), dof = graph_.dof_start(body);
      for (int k = 0; k < graph_.body_size(body); ++k) {
        const double term = *values * unknown_[dof + k], back = *values++ * unknown_[at];
        sum -= term;
        size += std::abs(term);
        residual_[dof + k] -= back;
        size_[dof + k] += std::abs(back);
      }
    }
    residual_[at] = sum;
    if (inverse_[start + i] != 0 && size > 0) worst = std::max(worst, std::abs(sum) / size);
  }
  return worst;
}

}  // namespace stiction
