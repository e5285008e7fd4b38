#include "stiction/solve/contact_blocks.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/dense_lu.h"

namespace stiction {

bool ContactBlocks::assemble(const StepProblem& problem) {
  num_bilateral_ = problem.num_bilateral();
  num_rows_ = problem.num_rows();
  num_dofs_ = problem.num_dofs();
  if (!factor_mass(problem)) return false;
  units_.clear();
  entries_.clear();
  entry_values_.clear();
  unit_of_row_.clear();
  append_units(problem, problem.bilateral, 0);
  append_units(problem, problem.contacts, num_bilateral_);
  units_.push_back({num_rows_, 0, static_cast<int>(entries_.size()), 0});
  compliance_.assign(problem.compliance.begin(), problem.compliance.end());
  compliance_.insert(compliance_.end(), problem.contact_compliance.begin(),
                     problem.contact_compliance.end());
  bias_.clear();
  for (const double b : problem.bias) bias_.push_back(-b);
  bias_.insert(bias_.end(), problem.contact_bias.begin(), problem.contact_bias.end());
  lower_ = problem.lower;
  upper_ = problem.upper;
  assemble_coupling(problem.coupling);
  return assemble_local(problem);
}

bool ContactBlocks::factor_mass(const StepProblem& problem) {
  mass_lu_.assign(problem.mass_values.begin(), problem.mass_values.end());
  mass_swap_.resize(num_dofs_);
  free_velocity_.assign(problem.p.begin(), problem.p.end());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    double* lu = mass_lu_.data() + problem.mass_start[b];
    int* swap = mass_swap_.data() + problem.dof_start[b];
    if (!factor_lu(lu, problem.block_size(b), swap)) return false;
    solve_lu(lu, problem.block_size(b), swap, free_velocity_.data() + problem.dof_start[b]);
  }
  return true;
}

void ContactBlocks::append_units(const StepProblem& problem, const BlockRows& rows, int first_row) {
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    const int dim = rows.num_rows(i);
    unit_of_row_.insert(unit_of_row_.end(), dim, static_cast<int>(units_.size()));
    units_.push_back({first_row + rows.row_start(i), dim, static_cast<int>(entries_.size()), 0});
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      append_entry(problem, rows, i, e);
  }
}

void ContactBlocks::append_entry(const StepProblem& problem, const BlockRows& rows, int row_block,
                                 int entry) {
  const int block = rows.entry_block(entry), columns = rows.entry_columns(entry);
  const int dim = rows.num_rows(row_block), size = dim * columns;
  const std::size_t start = entry_values_.size();
  entries_.push_back({problem.dof_start[block], columns, block, start});
  for (int copy = 0; copy < 2; ++copy)
    entry_values_.insert(entry_values_.end(), rows.entry_values(entry),
                         rows.entry_values(entry) + size);
  for (int i = 0; i < dim; ++i)
    solve_lu(mass_lu_.data() + problem.mass_start[block], columns,
             mass_swap_.data() + problem.dof_start[block],
             entry_values_.data() + start + size + static_cast<std::size_t>(i) * columns);
}

/// Compressed rows of numbers become compressed columns of dense blocks, in two passes: count and
/// place, then fill.
void ContactBlocks::assemble_coupling(const RowCoupling& coupling) {
  couplings_.clear();
  coupling_values_.clear();
  for (Unit& unit : units_) unit.coupling_begin = 0;
  if (coupling.is_empty()) return;
  count_coupling(coupling);
  couplings_.resize(units_.back().coupling_begin);
  last_seen_.assign(num_units(), -1);
  block_of_unit_.resize(num_units());  // next free block of a unit's columns
  for (int j = 0; j < num_units(); ++j) block_of_unit_[j] = units_[j].coupling_begin;
  std::size_t size = 0;
  for (int i = 0; i < num_units(); ++i)
    for (int row = units_[i].row; row < units_[i + 1].row; ++row)
      for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e) {
        const int j = unit_of_row_[coupling.column(e)];
        if (last_seen_[j] != i) {
          last_seen_[j] = i;
          couplings_[block_of_unit_[j]++] = {units_[i].row, units_[i].dim, 0};
        }
      }
  for (int j = 0; j < num_units(); ++j)
    for (int k = units_[j].coupling_begin; k < units_[j + 1].coupling_begin; ++k) {
      couplings_[k].values = size;
      size += static_cast<std::size_t>(couplings_[k].num_rows) * units_[j].dim;
    }
  coupling_values_.assign(size, 0.0);
  // Rows are met in the same order again, so that each column finds its blocks one after the other.
  last_seen_.assign(num_units(), -1);
  for (int j = 0; j < num_units(); ++j) block_of_unit_[j] = units_[j].coupling_begin - 1;
  for (int i = 0; i < num_units(); ++i)
    for (int row = units_[i].row; row < units_[i + 1].row; ++row)
      for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e) {
        const int column = coupling.column(e), j = unit_of_row_[column];
        if (last_seen_[j] != i) {
          last_seen_[j] = i;
          ++block_of_unit_[j];
        }
        const Coupling& block = couplings_[block_of_unit_[j]];
        const int place = (column - units_[j].row) * block.num_rows + row - block.row;
        coupling_values_[block.values + place] += coupling.value(e);
      }
}

/// coupling_begin of all units.
void ContactBlocks::count_coupling(const RowCoupling& coupling) {
  last_seen_.assign(num_units(), -1);
  for (int i = 0; i < num_units(); ++i)
    for (int row = units_[i].row; row < units_[i + 1].row; ++row)
      for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e) {
        const int j = unit_of_row_[coupling.column(e)];
        if (last_seen_[j] == i) continue;
        last_seen_[j] = i;
        ++units_[j + 1].coupling_begin;
      }
  for (int j = 0; j < num_units(); ++j) units_[j + 1].coupling_begin += units_[j].coupling_begin;
}

bool ContactBlocks::assemble_local(const StepProblem& problem) {
  contacts_.resize(problem.num_contacts());
  bilateral_W_.resize(num_bilateral_);
  omega_.resize(num_units());
  bool is_finite = true;
  for (int i = 0; i < num_units(); ++i) {
    double W[9];
    compute_local_matrix(i, problem.coupling, W);
    for (int k = 0; k < units_[i].dim * units_[i].dim; ++k)
      is_finite = is_finite && std::isfinite(W[k]);
    if (!is_finite) return false;
    if (i < num_bilateral_) {
      omega_[i] = bilateral_W_[i] = W[0];
      continue;
    }
    const int j = i - num_bilateral_;
    const bool is_polygonal =
        units_[i].dim == 3 && problem.section[j].kind != FrictionSection::Kind::kDisc;
    contacts_[j].prepare(W, units_[i].dim, problem.mu[j],
                         is_polygonal ? find_table(problem.section[j]) : nullptr);
    omega_[i] = contacts_[j].largest_eigenvalue();
  }
  assemble_omega(problem);
  return true;
}

void ContactBlocks::compute_local_matrix(int i, const RowCoupling& coupling, double* W) const {
  const Unit& unit = units_[i];
  const int dim = unit.dim;
  std::fill(W, W + dim * dim, 0.0);
  for (int e = unit.entry_begin; e < units_[i + 1].entry_begin; ++e) {
    const int columns = entries_[e].columns;
    const double* jacobian = entry_values(e);
    const double* moved = jacobian + static_cast<std::ptrdiff_t>(dim) * columns;
    for (int a = 0; a < dim; ++a)
      for (int b = 0; b < dim; ++b)
        for (int k = 0; k < columns; ++k)
          W[a * dim + b] += jacobian[a * columns + k] * moved[b * columns + k];
  }
  for (int a = 0; a < dim; ++a) W[a * dim + a] += compliance_[unit.row + a];
  if (coupling.is_empty()) return;
  for (int a = 0; a < dim; ++a)
    for (int e = coupling.entry_start(unit.row + a); e < coupling.entry_start(unit.row + a + 1);
         ++e) {
      const int b = coupling.column(e) - unit.row;
      if (b >= 0 && b < dim) W[a * dim + b] += coupling.value(e);
    }
}

void ContactBlocks::assemble_omega(const StepProblem& problem) {
  const RowCoupling& coupling = problem.coupling;
  for (int i = 0; i < num_units(); ++i) {
    if (omega_[i] > 0) continue;
    omega_[i] = 0;
    if (coupling.is_empty()) continue;
    for (int e = coupling.entry_start(units_[i].row); e < coupling.entry_start(units_[i + 1].row);
         ++e)
      omega_[i] = std::max(omega_[i], std::abs(coupling.value(e)));
  }
}

const PolygonTable* ContactBlocks::find_table(const FrictionSection& section) {
  for (const PolygonTable& table : tables_)
    if (table.section == section) return &table;
  return &tables_.emplace_back(section);
}

void ContactBlocks::compute_state(const double* x, double* u, double* w) const {
  for (int i = 0; i < num_rows_; ++i) u[i] = bias_[i] + compliance_[i] * x[i];
  std::copy(free_velocity_.begin(), free_velocity_.end(), w);
  for (int i = 0; i < num_units(); ++i) {
    const Unit& unit = units_[i];
    for (int a = 0; a < unit.dim; ++a) {
      const double impulse = x[unit.row + a];
      if (impulse == 0) continue;
      for (int e = unit.entry_begin; e < units_[i + 1].entry_begin; ++e) {
        const int columns = entries_[e].columns;
        const double* moved = entry_values(e) + static_cast<std::ptrdiff_t>(unit.dim + a) * columns;
        for (int k = 0; k < columns; ++k) w[entries_[e].dof + k] += moved[k] * impulse;
      }
      for (int k = unit.coupling_begin; k < units_[i + 1].coupling_begin; ++k) {
        const int num_rows = couplings_[k].num_rows;
        const double* column = coupling_values(k) + static_cast<std::ptrdiff_t>(a) * num_rows;
        for (int row = 0; row < num_rows; ++row)
          u[couplings_[k].row + row] += column[row] * impulse;
      }
    }
  }
}

}  // namespace stiction
