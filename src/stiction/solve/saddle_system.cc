#include "stiction/solve/saddle_system.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace stiction {
namespace {

/// Pivots of the scaled matrix below this are rounding. As low as it can be, since stiff springs
/// differ from rigid joints by little more.
constexpr long double kNoPivot = 16 * std::numeric_limits<long double>::epsilon();

}  // namespace

void PivotedLu::resize(int size) {
  size_ = size;
  a_.resize(static_cast<std::size_t>(size) * size);
  row_of_.resize(size);
  column_of_.resize(size);
  scratch_.resize(size);
}

void PivotedLu::factor() {
  std::iota(row_of_.begin(), row_of_.end(), 0);
  std::iota(column_of_.begin(), column_of_.end(), 0);
  for (rank_ = 0; rank_ < size_ && move_pivot(rank_); ++rank_) {
    const Real* pivot = row(rank_);
    for (int i = rank_ + 1; i < size_; ++i) {
      Real* target = row(i);
      if (target[rank_] == 0) continue;
      const Real factor = target[rank_] /= pivot[rank_];
      for (int j = rank_ + 1; j < size_; ++j) target[j] -= factor * pivot[j];
    }
  }
}

void PivotedLu::solve(std::vector<Real>& x) {
  for (int i = 0; i < rank_; ++i) {
    scratch_[i] = x[row_of_[i]];
    for (int j = 0; j < i; ++j) scratch_[i] -= row(i)[j] * scratch_[j];
  }
  std::fill(x.begin(), x.end(), Real(0));
  for (int i = rank_ - 1; i >= 0; --i) {
    for (int j = i + 1; j < rank_; ++j) scratch_[i] -= row(i)[j] * scratch_[j];
    scratch_[i] /= row(i)[i];
    x[column_of_[i]] = scratch_[i];
  }
}

/// Brings the largest entry of what is left to (k, k); false if there is none.
bool PivotedLu::move_pivot(int k) {
  int best_row = k, best_column = k;
  Real best = kNoPivot;
  for (int i = k; i < size_; ++i)
    for (int j = k; j < size_; ++j)
      if (std::abs(row(i)[j]) > best) {
        best = std::abs(row(i)[j]);
        best_row = i;
        best_column = j;
      }
  if (!(best > kNoPivot)) return false;
  if (best_row != k) std::swap_ranges(row(k), row(k) + size_, row(best_row));
  for (int i = 0; i < size_ && best_column != k; ++i) std::swap(row(i)[k], row(i)[best_column]);
  std::swap(row_of_[k], row_of_[best_row]);
  std::swap(column_of_[k], column_of_[best_column]);
  return true;
}

bool SaddleSystem::load(const StepProblem& problem) {
  num_dofs = problem.num_dofs();
  num_bilateral = problem.num_bilateral();
  num_rows = problem.num_rows();
  size = num_dofs + num_rows;
  unit.resize(size);
  if (!scale_dofs(problem)) return false;
  scale_rows(problem);
  load_mass(problem);
  rows.assign(static_cast<std::size_t>(num_rows) * size, 0);
  load_rows(problem.bilateral, problem, 0);
  load_rows(problem.contacts, problem, num_bilateral);
  load_direct(problem);
  return true;
}

bool SaddleSystem::scale_dofs(const StepProblem& problem) {
  for (int b = 0; b < problem.num_blocks(); ++b)
    for (int i = 0; i < problem.block_size(b); ++i) {
      const double m = problem.mass_block(b)(i, i);
      if (!(m > 0)) return false;
      unit[problem.dof_start[b] + i] = std::sqrt(Real(m));
    }
  return true;
}

void SaddleSystem::scale_rows(const StepProblem& problem) {
  Real* omega = unit.data() + num_dofs;
  std::copy(problem.compliance.begin(), problem.compliance.end(), omega);
  std::copy(problem.contact_compliance.begin(), problem.contact_compliance.end(),
            omega + num_bilateral);
  add_mobilities(problem.bilateral, problem, 0);
  add_mobilities(problem.contacts, problem, num_bilateral);
  for (int i = 0; i < num_rows && !problem.coupling.is_empty(); ++i)
    for (int e = problem.coupling.entry_start(i); e < problem.coupling.entry_start(i + 1); ++e)
      if (problem.coupling.column(e) == i) omega[i] += std::abs(problem.coupling.value(e));
  // Both tangents share a unit, so that sections keep their shape.
  for (int j = 0; j < problem.num_contacts(); ++j) {
    Real* own = omega + num_bilateral + problem.contacts.row_start(j);
    if (problem.contacts.num_rows(j) == 3) own[1] = own[2] = std::max(own[1], own[2]);
  }
  for (int i = 0; i < num_rows; ++i) omega[i] = omega[i] > 0 ? std::sqrt(omega[i]) : 1;
}

/// By the diagonal of the mass matrix.
void SaddleSystem::add_mobilities(const BlockRows& blocks, const StepProblem& problem,
                                  int first_row) {
  for (int k = 0; k < blocks.num_row_blocks(); ++k)
    for (int e = blocks.entry_start(k); e < blocks.entry_start(k + 1); ++e) {
      const ConstRowMatrixMap entry = blocks.entry_matrix(k, e);
      const Real* m = unit.data() + problem.dof_start[blocks.entry_block(e)];
      for (int i = 0; i < entry.rows(); ++i)
        for (int j = 0; j < entry.cols(); ++j) {
          const Real scaled = entry(i, j) / m[j];
          unit[num_dofs + first_row + blocks.row_start(k) + i] += scaled * scaled;
        }
    }
}

void SaddleSystem::load_mass(const StepProblem& problem) {
  mass.assign(static_cast<std::size_t>(num_dofs) * num_dofs, 0);
  momentum.resize(num_dofs);
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b];
    for (int i = 0; i < problem.block_size(b); ++i)
      for (int j = 0; j < problem.block_size(b); ++j)
        mass_row(start + i)[start + j] =
            problem.mass_block(b)(i, j) / (unit[start + i] * unit[start + j]);
  }
  for (int i = 0; i < num_dofs; ++i) momentum[i] = problem.p[i] / unit[i];
}

void SaddleSystem::load_rows(const BlockRows& blocks, const StepProblem& problem, int first_row) {
  for (int k = 0; k < blocks.num_row_blocks(); ++k)
    for (int e = blocks.entry_start(k); e < blocks.entry_start(k + 1); ++e) {
      const ConstRowMatrixMap entry = blocks.entry_matrix(k, e);
      const int start = problem.dof_start[blocks.entry_block(e)];
      for (int i = 0; i < entry.rows(); ++i) {
        const int row = first_row + blocks.row_start(k) + i;
        for (int j = 0; j < entry.cols(); ++j)
          u_row(row)[start + j] = entry(i, j) / (unit[start + j] * unit[num_dofs + row]);
      }
    }
}

/// Compliances, direct couplings and biases.
void SaddleSystem::load_direct(const StepProblem& problem) {
  bias.resize(num_rows);
  for (int i = 0; i < num_rows; ++i) {
    const int contact_row = i - num_bilateral;
    const bool is_contact = contact_row >= 0;
    const Real own = unit[num_dofs + i];
    bias[i] = (is_contact ? problem.contact_bias[contact_row] : -problem.bias[i]) / own;
    u_row(i)[num_dofs + i] =
        (is_contact ? problem.contact_compliance[contact_row] : problem.compliance[i]) /
        (own * own);
    if (problem.coupling.is_empty()) continue;
    for (int e = problem.coupling.entry_start(i); e < problem.coupling.entry_start(i + 1); ++e) {
      const int column = num_dofs + problem.coupling.column(e);
      u_row(i)[column] += problem.coupling.value(e) / (own * unit[column]);
    }
  }
}

void SaddleSystem::copy_balance(int i, Real* target) const {
  std::copy_n(mass_row(i), num_dofs, target);
  for (int j = 0; j < num_rows; ++j) target[num_dofs + j] = -u_row(j)[i];
}

}  // namespace stiction
