#include "stiction/solve/contact_blocks.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>

#include "stiction/base/known_size.h"
#include "stiction/base/pair.h"
#include "stiction/base/prefetch.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

/// Up to this size all of M̂⁻¹ is computed: bodies, not machines.
constexpr int kSmallBlock = 6;

/// Units and bodies that one task takes: some ten microseconds.
constexpr int kUnitGrain = 64, kBodyGrain = 32, kRowGrain = 2048, kPlaceGrain = 512;

bool is_polygonal(const StepProblem& problem, int contact) {
  return problem.contacts.num_rows(contact) == 3 &&
         problem.section[contact].kind != FrictionSection::Kind::kDisc;
}

/// out += factor column; kSize 0: the size is known at run time only.
template <int kSize>
void add_column(double factor, const double* column, int size, double* out) {
  const int n = kSize > 0 ? kSize : size;
  for (int k = 0; k < n; ++k) out[k] += factor * column[k];
}

/// The same of three columns of six numbers, one after the other.
void add_three_columns(const double* factor, const double* columns, Pair* out) {
  const Pair x{factor[0], factor[0]}, y{factor[1], factor[1]}, z{factor[2], factor[2]};
  for (int k = 0; k < 3; ++k) {
    Pair sum = out[k] + x * load_pair(columns + 2 * k);
    sum += y * load_pair(columns + 6 + 2 * k);
    out[k] = sum + z * load_pair(columns + 12 + 2 * k);
  }
}

/// The same of rows of J, for a body whose M̂ is diagonal.
void add_three_rows(const double* factor, const double* jacobian, const Pair* reciprocals,
                    Pair* out) {
  const Pair x{factor[0], factor[0]}, y{factor[1], factor[1]}, z{factor[2], factor[2]};
  for (int k = 0; k < 3; ++k) {
    Pair sum = out[k] + x * (load_pair(jacobian + 2 * k) * reciprocals[k]);
    sum += y * (load_pair(jacobian + 6 + 2 * k) * reciprocals[k]);
    out[k] = sum + z * (load_pair(jacobian + 12 + 2 * k) * reciprocals[k]);
  }
}

/// W += J (M̂⁻¹Jᵀ) of a contact of a body whose M̂ is diagonal: one half, and its mirror image.
void add_symmetric_products(const double* jacobian, const double* reciprocals, double* W) {
  Pair sums[6] = {};
  for (int k = 0; k < 6; k += 2) {
    const Pair a = load_pair(jacobian + k), b = load_pair(jacobian + 6 + k),
               c = load_pair(jacobian + 12 + k), factor = load_pair(reciprocals + k);
    const Pair x = a * factor, y = b * factor, z = c * factor;
    sums[0] += a * x;
    sums[1] += a * y;
    sums[2] += a * z;
    sums[3] += b * y;
    sums[4] += b * z;
    sums[5] += c * z;
  }
  double sum[6];
  for (int k = 0; k < 6; ++k) sum[k] = sum_of(sums[k]);
  constexpr int kPlace[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
  for (int k = 0; k < 9; ++k) W[k] += sum[kPlace[k]];
}

/// The diagonal of that alone; returns its sum.
double find_diagonal_squares(const double* jacobian, const double* reciprocals, double* squares) {
  const Pair factor[3] = {load_pair(reciprocals), load_pair(reciprocals + 2),
                          load_pair(reciprocals + 4)};
  const auto square_of = [&](const double* row) {
    Pair sum{};
    for (int k = 0; k < 3; ++k) {
      const Pair entry = load_pair(row + 2 * k);
      sum += entry * (entry * factor[k]);
    }
    return sum_of(sum);
  };
  const double a = square_of(jacobian), b = square_of(jacobian + 6), c = square_of(jacobian + 12);
  squares[0] = a;
  squares[1] = b;
  squares[2] = c;
  return a + b + c;
}

/// The diagonal of J (M̂⁻¹Jᵀ).
void find_squares(const double* jacobian, const double* moved, int dim, int columns,
                  double* squares) {
  for (int a = 0; a < dim; ++a, jacobian += columns, moved += columns) {
    squares[a] = 0;
    for (int k = 0; k < columns; ++k) squares[a] += jacobian[k] * moved[k];
  }
}

double sum_of_sizes(const double* values, int size) {
  double sum = 0;
  for (int k = 0; k < size; ++k) sum += std::abs(values[k]);
  return sum;
}

/// W += J (M̂⁻¹Jᵀ), with sizes known to the compiler where they are not 0.
template <int kDim, int kColumns>
void add_products(const double* jacobian, const double* moved, int dim, int columns, double* W) {
  const int m = kDim > 0 ? kDim : dim, n = kColumns > 0 ? kColumns : columns;
  for (int k = 0; k < n; ++k)
    for (int a = 0; a < m; ++a)
      for (int b = 0; b < m; ++b) W[a * m + b] += jacobian[a * n + k] * moved[b * n + k];
}

}  // namespace

bool ContactBlocks::assemble(const StepProblem& problem, WorkerPool* workers) {
  if (!assemble_rows(problem, workers)) return false;
  assemble_local();
  return true;
}

bool ContactBlocks::assemble_rows(const StepProblem& problem, WorkerPool* workers) {
  problem_ = &problem;
  num_bilateral_ = problem.num_bilateral();
  num_rows_ = problem.num_rows();
  num_dofs_ = problem.num_dofs();
  workers_ = workers;
  find_diagonal_blocks(problem);
  lay_out(problem);
  if (!factor_mass(problem)) return false;
  fill_entries(problem, problem.bilateral, 0);
  fill_entries(problem, problem.contacts, num_bilateral_);
  compliance_.resize(num_rows_);
  std::copy(problem.compliance.begin(), problem.compliance.end(), compliance_.begin());
  std::copy(problem.contact_compliance.begin(), problem.contact_compliance.end(),
            compliance_.begin() + num_bilateral_);
  bias_.resize(num_rows_);
  std::transform(problem.bias.begin(), problem.bias.end(), bias_.begin(), std::negate<>());
  std::copy(problem.contact_bias.begin(), problem.contact_bias.end(),
            bias_.begin() + num_bilateral_);
  lower_ = problem.lower;
  upper_ = problem.upper;
  assemble_coupling(problem.coupling);
  contacts_.resize(problem.num_contacts());
  bilateral_W_.resize(num_bilateral_);
  omega_.resize(num_units());
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (is_polygonal(problem, j) && find_table(problem.section[j]) == nullptr)
      tables_.emplace_back(problem.section[j]);
  return assemble_squares();
}

void ContactBlocks::find_diagonal_blocks(const StepProblem& problem) {
  has_other_sizes_ = false;
  for (int b = 0; b < problem.num_blocks(); ++b)
    has_other_sizes_ = has_other_sizes_ || problem.block_size(b) != 6;
  is_diagonal_.resize(problem.num_blocks());
  reciprocals_.resize(num_dofs_);
  run_numbers(workers_, problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const int n = problem.block_size(b);
      const double* mass = problem.mass_values.data() + problem.mass_start[b];
      double* reciprocals = reciprocals_.data() + problem.dof_start[b];
      is_diagonal_[b] = n > kSmallBlock ? 0 : with_known_size<6>(n, [&]<int kSize>() -> char {
        const int size = known<kSize>(n);
        if (!is_diagonal_matrix(mass, size)) return 0;
        double sum = 0;
        for (int i = 0; i < size; ++i) sum += reciprocals[i] = 1 / mass[i * size + i];
        return std::isfinite(sum) ? 1 : 0;
      });
    }
  });
}

/// Where everything goes; no number of a row is read.
void ContactBlocks::lay_out(const StepProblem& problem) {
  const int num_units = problem.bilateral.num_row_blocks() + problem.contacts.num_row_blocks();
  units_.resize(num_units + 1);
  unit_of_row_.resize(num_rows_);
  entries_.resize(problem.bilateral.num_entries() + problem.contacts.num_entries());
  place_units(problem, problem.bilateral, 0, 0);
  place_units(problem, problem.contacts, num_bilateral_, problem.bilateral.num_entries());
  units_.back() = {num_rows_, 0, static_cast<int>(entries_.size()), 0};
  place_moved();
  list_meetings(problem.num_blocks());
}

/// Joints have as many units as rows: `first` counts either.
void ContactBlocks::place_units(const StepProblem& problem, const BlockRows& rows, int first,
                                int first_entry) {
  run_numbers(workers_, rows.num_row_blocks(), kPlaceGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const int row = first + rows.row_start(i), dim = rows.num_rows(i);
      std::fill_n(unit_of_row_.begin() + row, dim, first + i);
      units_[first + i] = {row, dim, first_entry + rows.entry_start(i), 0};
      for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e) {
        const int block = rows.entry_block(e), columns = rows.entry_columns(e);
        const bool has_moved = columns != 6 || is_diagonal_[block] == 0;
        entries_[first_entry + e] = {problem.dof_start[block], columns, block, rows.entry_values(e),
                                     has_moved ? 0 : kNowhere};
      }
    }
  });
}

/// Where M̂⁻¹Jᵀ goes, of entries that have it.
void ContactBlocks::place_moved() {
  num_moved_ = 0;
  const bool are_all_free = std::all_of(is_diagonal_.begin(), is_diagonal_.end(),
                                        [](char is_diagonal) { return is_diagonal != 0; });
  if (!are_all_free || has_other_sizes_)
    for (int i = 0; i < num_units(); ++i)
      for (int e = units_[i].entry_begin; e < units_[i + 1].entry_begin; ++e) {
        if (!entries_[e].has_moved()) continue;
        entries_[e].moved = num_moved_;
        num_moved_ += static_cast<std::size_t>(units_[i].dim) * entries_[e].columns;
      }
  moved_.resize(num_moved_);
}

/// Counts, then places; starts move to the ends meanwhile.
void ContactBlocks::list_meetings(int num_blocks) {
  meeting_start_.assign(num_blocks + 1, 0);
  for (const Entry& entry : entries_) ++meeting_start_[entry.block + 1];
  for (int b = 0; b < num_blocks; ++b) meeting_start_[b + 1] += meeting_start_[b];
  meetings_.resize(entries_.size());
  for (int i = 0; i < num_units(); ++i) {
    const int begin = units_[i].entry_begin, end = units_[i + 1].entry_begin;
    for (int e = begin; e < end; ++e) {
      const int other = end - begin == 1   ? kNobody
                        : end - begin == 2 ? entries_[begin + end - 1 - e].block
                                           : kSeveral;
      meetings_[meeting_start_[entries_[e].block]++] = {i, e, other};
    }
  }
  for (int b = num_blocks; b > 0; --b) meeting_start_[b] = meeting_start_[b - 1];
  meeting_start_[0] = 0;
}

bool ContactBlocks::factor_mass(const StepProblem& problem) {
  mass_lu_.resize(problem.mass_values.size());
  mass_swap_.resize(num_dofs_);
  free_velocity_.assign(problem.p.begin(), problem.p.end());
  mass_inverse_.resize(mass_lu_.size());
  has_column_.assign(num_dofs_, 0);
  has_large_blocks_ = false;
  for (int b = 0; b < num_blocks(); ++b)
    has_large_blocks_ = has_large_blocks_ || problem.block_size(b) > kSmallBlock;
  std::atomic<bool> is_regular = true;
  run_numbers(workers_, num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b)
      if (!factor_block(problem, b)) is_regular = false;
  });
  return is_regular;
}

/// Factors and M̂⁻¹p; all of M̂⁻¹ for a small block that is touched.
bool ContactBlocks::factor_block(const StepProblem& problem, int block) {
  const int n = problem.block_size(block);
  if (is_diagonal_[block] != 0) {
    divide_by_diagonal(problem, block);
    return true;
  }
  double* lu = mass_lu_.data() + problem.mass_start[block];
  int* swap = mass_swap_.data() + problem.dof_start[block];
  std::copy_n(problem.mass_values.data() + problem.mass_start[block],
              static_cast<std::ptrdiff_t>(n) * n, lu);
  if (!factor_lu(lu, n, swap)) return false;
  solve_lu(lu, n, swap, free_velocity_.data() + problem.dof_start[block]);
  if (n <= kSmallBlock && !meetings(block).empty())
    for (int i = 0; i < n; ++i) compute_inverse_column(problem, block, i);
  return true;
}

/// The same for a block that is diagonal, with the same bits.
void ContactBlocks::divide_by_diagonal(const StepProblem& problem, int block) {
  const int n = problem.block_size(block), first = problem.dof_start[block];
  for (int i = 0; i < n; ++i) free_velocity_[first + i] *= reciprocals_[first + i];
  if (n == 6) return;
  double* inverse = mass_inverse_.data() + problem.mass_start[block];
  std::fill_n(inverse, n * n, 0.0);
  for (int i = 0; i < n; ++i) inverse[i * (n + 1)] = reciprocals_[first + i];
}

void ContactBlocks::compute_inverse_column(const StepProblem& problem, int block, int i) {
  const int n = problem.block_size(block);
  double* column =
      mass_inverse_.data() + problem.mass_start[block] + static_cast<std::ptrdiff_t>(i) * n;
  std::fill_n(column, n, 0.0);
  column[i] = 1;
  solve_lu(mass_lu_.data() + problem.mass_start[block], n,
           mass_swap_.data() + problem.dof_start[block], column);
}

/// Columns of M̂⁻¹ of large blocks that rows ask for: contacts of a machine touch few of its parts.
void ContactBlocks::prepare_large_columns(const StepProblem& problem, const BlockRows& rows,
                                          int first_unit) {
  if (!has_large_blocks_) return;
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    const Unit& unit = units_[first_unit + i];
    for (int e = unit.entry_begin; e < units_[first_unit + i + 1].entry_begin; ++e) {
      const Entry& entry = entries_[e];
      if (entry.columns <= kSmallBlock) continue;
      const double* J = entry.jacobian;
      for (int a = 0; a < unit.dim; ++a)
        for (int k = 0; k < entry.columns; ++k) {
          char& has_column = has_column_[entry.dof + k];
          if (J[a * entry.columns + k] == 0 || has_column) continue;
          has_column = 1;
          compute_inverse_column(problem, entry.block, k);
        }
    }
  }
}

void ContactBlocks::fill_entries(const StepProblem& problem, const BlockRows& rows,
                                 int first_unit) {
  if (num_moved_ == 0) return;
  prepare_large_columns(problem, rows, first_unit);
  run_numbers(workers_, rows.num_row_blocks(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const Unit& unit = units_[first_unit + i];
      for (int e = unit.entry_begin; e < units_[first_unit + i + 1].entry_begin; ++e)
        if (entries_[e].has_moved()) fill_entry(problem, unit.dim, entries_[e]);
    }
  });
}

void ContactBlocks::fill_entry(const StepProblem& problem, int dim, const Entry& entry) {
  const int columns = entry.columns;
  const double* jacobian = entry.jacobian;
  double* moved = moved_.data() + entry.moved;
  const double* inverse = mass_inverse_.data() + problem.mass_start[entry.block];
  std::fill_n(moved, dim * columns, 0.0);
  for (int a = 0; a < dim; ++a, jacobian += columns, moved += columns)
    for (int i = 0; i < columns; ++i) {
      if (jacobian[i] == 0) continue;
      const double* column = inverse + static_cast<std::ptrdiff_t>(i) * columns;
      if (columns == 6)
        add_column<6>(jacobian[i], column, 6, moved);
      else
        add_column<0>(jacobian[i], column, columns, moved);
    }
}

/// (M̂⁻¹Jᵀ)ᵀ, in `room` for 18 numbers where it is not stored.
const double* ContactBlocks::find_moved(const Entry& entry, int dim, double* room) const {
  if (entry.has_moved()) return moved(entry);
  const double* factor = reciprocals(entry);
  for (int a = 0; a < dim; ++a)
    for (int k = 0; k < 6; ++k) room[6 * a + k] = entry.jacobian[6 * a + k] * factor[k];
  return room;
}

/// Compressed rows of numbers become compressed columns of dense blocks, in two passes: count, then
/// place and fill. Rows are met in order, so that each column finds its blocks one after the other.
/// Units whose rows already hold whole blocks are copied block by block.
void ContactBlocks::assemble_coupling(const RowCoupling& coupling) {
  couplings_.clear();
  for (Unit& unit : units_) unit.coupling_begin = 0;
  if (coupling.is_empty()) return;
  count_coupling(coupling);
  for (int i = 0; i < num_units(); ++i) {
    if (columns_[i].is_blockwise) {
      fill_coupling_blocks(coupling, i);
      continue;
    }
    for (int row = units_[i].row; row < units_[i + 1].row; ++row)
      fill_coupling_row(coupling, i, row);
  }
}

/// Whether all rows of the unit have the same columns, and these are whole units.
bool ContactBlocks::is_blockwise(const RowCoupling& coupling, int i) const {
  const int row = units_[i].row, start = coupling.entry_start(row);
  const int size = coupling.entry_start(row + 1) - start;
  for (int a = 1; a < units_[i].dim; ++a) {
    const int other = coupling.entry_start(row + a);
    if (coupling.entry_start(row + a + 1) - other != size) return false;
    int num_different = 0;
    for (int k = 0; k < size; ++k)
      num_different += coupling.column(start + k) != coupling.column(other + k) ? 1 : 0;
    if (num_different > 0) return false;
  }
  for (int k = 0; k < size;) {
    const int column = coupling.column(start + k);
    const Unit& unit = units_[unit_of_row_[column]];
    if (column != unit.row || k + unit.dim > size) return false;
    for (int b = 1; b < unit.dim; ++b)
      if (coupling.column(start + k + b) != column + b) return false;
    k += unit.dim;
  }
  return true;
}

/// coupling_begin of all units, room for blocks and numbers, and where each column begins.
void ContactBlocks::count_coupling(const RowCoupling& coupling) {
  columns_.assign(num_units(), {-1, 0, -1, false, 0});
  for (int i = 0; i < num_units(); ++i) {
    const bool is_whole = columns_[i].is_blockwise = is_blockwise(coupling, i);
    const int first = coupling.entry_start(units_[i].row);
    const int end = coupling.entry_start(is_whole ? units_[i].row + 1 : units_[i + 1].row);
    for (int e = first; e < end;) {
      const int j = unit_of_row_[coupling.column(e)];
      count_block(i, j);
      e += is_whole ? units_[j].dim : 1;
    }
  }
  std::size_t size = 0;
  for (int j = 0; j < num_units(); ++j) {
    units_[j + 1].coupling_begin += units_[j].coupling_begin;
    const std::size_t column_size = columns_[j].next_value;
    columns_[j].next_value = size;
    columns_[j].next_block = units_[j].coupling_begin - 1;
    columns_[j].last_seen = -1;
    size += column_size;
  }
  couplings_.resize(units_.back().coupling_begin);
  coupling_values_.assign(size, 0.0);
}

void ContactBlocks::count_block(int i, int j) {
  Column& column = columns_[j];
  if (column.last_seen == i) return;
  column.last_seen = i;
  column.next_value += static_cast<std::size_t>(units_[i].dim) * units_[j].dim;
  ++units_[j + 1].coupling_begin;
}

/// The block in the rows of i and the columns of j, placed when it is first met.
ContactBlocks::Coupling& ContactBlocks::place_block(int i, int j) {
  Column& column = columns_[j];
  if (column.last_seen == i) return couplings_[column.next_block];
  column.last_seen = i;
  Coupling& block = couplings_[++column.next_block];
  block = {units_[i].row, units_[i].dim, column.next_value};
  column.next_value += static_cast<std::size_t>(units_[i].dim) * units_[j].dim;
  if (i == j) column.diagonal = column.next_block;
  return block;
}

void ContactBlocks::fill_coupling_blocks(const RowCoupling& coupling, int i) {
  const int dim = units_[i].dim, first = coupling.entry_start(units_[i].row);
  const int size = coupling.entry_start(units_[i].row + 1) - first;
  for (int k = 0; k < size;) {
    const int j = unit_of_row_[coupling.column(first + k)], columns = units_[j].dim;
    double* values = coupling_values_.data() + place_block(i, j).values;
    for (int a = 0; a < dim; ++a)
      for (int b = 0; b < columns; ++b)
        values[b * dim + a] = coupling.value(first + a * size + k + b);
    k += columns;
  }
}

void ContactBlocks::fill_coupling_row(const RowCoupling& coupling, int i, int row) {
  for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e) {
    const int j = unit_of_row_[coupling.column(e)];
    const int place = (coupling.column(e) - units_[j].row) * units_[i].dim + row - units_[i].row;
    coupling_values_[place_block(i, j).values + place] += coupling.value(e);
  }
}

bool ContactBlocks::assemble_squares() {
  entry_squares_.resize(3 * entries_.size());
  std::atomic<bool> is_finite = true;
  run_numbers(workers_, num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i)
      if (!find_squares(i)) is_finite = false;
  });
  return is_finite;
}

/// False if the local matrix of the unit might have a number that is none: products of two rows are
/// no larger than their squares where M̂ is symmetric, and than a bound where it need not be.
bool ContactBlocks::find_squares(int i) {
  const Unit& unit = units_[i];
  double sum = 0;
  for (int e = unit.entry_begin; e < units_[i + 1].entry_begin; ++e) {
    const Entry& entry = entries_[e];
    double* squares = entry_squares_.data() + 3 * static_cast<std::ptrdiff_t>(e);
    if (unit.dim == 3 && !entry.has_moved()) {
      sum += find_diagonal_squares(entry.jacobian, reciprocals(entry), squares);
    } else {
      double room[18];
      const double* moved = find_moved(entry, unit.dim, room);
      stiction::find_squares(entry.jacobian, moved, unit.dim, entry.columns, squares);
      const int size = unit.dim * entry.columns;
      sum += sum_of_sizes(entry.jacobian, size) * sum_of_sizes(moved, size);
    }
  }
  for (int row = unit.row; row < unit.row + unit.dim; ++row) sum += std::abs(compliance_[row]);
  if (!couplings_.empty() && columns_[i].diagonal >= 0) {
    const double* values = coupling_values(columns_[i].diagonal);
    for (int k = 0; k < unit.dim * unit.dim; ++k) sum += std::abs(values[k]);
  }
  return std::isfinite(sum);
}

void ContactBlocks::assemble_local() {
  run_numbers(workers_, num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) assemble_unit(i);
  });
}

void ContactBlocks::assemble_unit(int i) {
  double W[9];
  compute_local_matrix(i, W);
  if (i < num_bilateral_) {
    omega_[i] = bilateral_W_[i] = W[0];
  } else {
    const int j = i - num_bilateral_;
    const bool has_table = is_polygonal(*problem_, j);
    contacts_[j].prepare(W, units_[i].dim, problem_->mu[j],
                         has_table ? find_table(problem_->section[j]) : nullptr);
    omega_[i] = contacts_[j].size();
  }
  if (!(omega_[i] > 0)) assemble_omega(i);
}

void ContactBlocks::compute_local_matrix(int i, double* W) const {
  const Unit& unit = units_[i];
  const int dim = unit.dim;
  std::fill_n(W, 9, 0.0);
  for (int e = unit.entry_begin; e < units_[i + 1].entry_begin; ++e) {
    const Entry& entry = entries_[e];
    if (dim == 3 && !entry.has_moved()) {
      add_symmetric_products(entry.jacobian, reciprocals(entry), W);
      continue;
    }
    double room[18];
    const double* moved = find_moved(entry, dim, room);
    if (dim == 3 && entry.columns == 6)
      add_products<3, 6>(entry.jacobian, moved, 3, 6, W);
    else
      add_products<0, 0>(entry.jacobian, moved, dim, entry.columns, W);
  }
  for (int a = 0; a < dim; ++a) W[a * dim + a] += compliance_[unit.row + a];
  if (couplings_.empty() || columns_[i].diagonal < 0) return;
  const double* values = coupling_values(columns_[i].diagonal);
  for (int b = 0; b < dim; ++b)
    for (int a = 0; a < dim; ++a) W[a * dim + b] += *values++;
}

void ContactBlocks::assemble_omega(int i) {
  const RowCoupling& coupling = problem_->coupling;
  omega_[i] = 0;
  if (coupling.is_empty()) return;
  for (int e = coupling.entry_start(units_[i].row); e < coupling.entry_start(units_[i + 1].row);
       ++e)
    omega_[i] = std::max(omega_[i], std::abs(coupling.value(e)));
}

const PolygonTable* ContactBlocks::find_table(const FrictionSection& section) const {
  for (const PolygonTable& table : tables_)
    if (table.section == section) return &table;
  return nullptr;
}

void ContactBlocks::compute_state(const double* x, double* u, double* w) const {
  std::atomic<bool> has_impulses = false;
  run_numbers(workers_, num_rows_, kRowGrain, [&](int begin, int end) {
    bool has_some = false;
    for (int i = begin; i < end; ++i) {
      u[i] = bias_[i] + compliance_[i] * x[i];
      has_some = has_some || x[i] != 0;
    }
    if (has_some) has_impulses = true;
  });
  std::copy(free_velocity_.begin(), free_velocity_.end(), w);
  if (!has_impulses) return;
  run_numbers(workers_, num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      if (is_large() && b + 2 < end) ask_for_meetings(b + 2);
      if (is_large() && b + 1 < end) ask_for_pieces(b + 1, x);
      push_block(b, x, w);
    }
  });
  for (int i = 0; has_coupling() && i < num_units(); ++i) push_rows(i, x, u);
}

/// For packs, which have local problems of their own.
void ContactBlocks::ask_for(int j) const {
  const Unit *unit = &units_[num_bilateral_ + j], *next = unit + 1;
  prefetch(&bias_[unit->row]);
  prefetch(&compliance_[unit->row]);
  for (int e = unit->entry_begin; e < next->entry_begin; ++e)
    prefetch(entries_[e].jacobian, unit->dim * entries_[e].columns * sizeof(double));
}

/// Units of a body are spread over the memory: where their numbers are, and then the numbers.
void ContactBlocks::ask_for_meetings(int block) const {
  for (const Meeting& meeting : meetings(block)) {
    prefetch(&units_[meeting.unit], sizeof(Unit));
    prefetch(&entries_[meeting.entry], sizeof(Entry));
  }
}

void ContactBlocks::ask_for_pieces(int block, const double* x) const {
  for (const Meeting& meeting : meetings(block)) {
    const Entry& entry = entries_[meeting.entry];
    const int dim = units_[meeting.unit].dim;
    prefetch(entry.has_moved() ? moved(entry) : entry.jacobian,
             dim * entry.columns * sizeof(double));
    prefetch(x + units_[meeting.unit].row);
  }
}

/// What impulses do to one body. The velocity of a rigid one stays in registers as long as there
/// are contacts in space.
void ContactBlocks::push_block(int block, const double* x, double* w) const {
  std::span<const Meeting> left = meetings(block);
  const auto is_spatial = [&](const Meeting& meeting) {
    return units_[meeting.unit].dim == 3 && entries_[meeting.entry].columns == 6;
  };
  if (!left.empty() && is_spatial(left.front())) {
    const Entry& first = entries_[left.front().entry];
    double* velocity = w + first.dof;
    Pair sum[3] = {load_pair(velocity), load_pair(velocity + 2), load_pair(velocity + 4)};
    const double* factor = reciprocals(first);
    const Pair reciprocal[3] = {load_pair(factor), load_pair(factor + 2), load_pair(factor + 4)};
    for (; !left.empty() && is_spatial(left.front()); left = left.subspan(1)) {
      const Entry& entry = entries_[left.front().entry];
      const double* impulse = x + units_[left.front().unit].row;
      if (entry.has_moved())
        add_three_columns(impulse, moved(entry), sum);
      else
        add_three_rows(impulse, entry.jacobian, reciprocal, sum);
    }
    for (int k = 0; k < 3; ++k) store_pair(sum[k], velocity + 2 * k);
  }
  for (const Meeting& meeting : left) {
    const Unit& unit = units_[meeting.unit];
    const Entry& entry = entries_[meeting.entry];
    const int columns = entry.columns;
    double room[18];
    const double* moved = find_moved(entry, unit.dim, room);
    if (unit.dim == 3 && columns == 6) {
      for (int a = 0; a < 3; ++a) add_column<6>(x[unit.row + a], moved + 6 * a, 6, w + entry.dof);
      continue;
    }
    for (int a = 0; a < unit.dim; ++a, moved += columns) {
      const double impulse = x[unit.row + a];
      if (impulse == 0) continue;
      if (columns == 6)
        add_column<6>(impulse, moved, 6, w + entry.dof);
      else
        add_column<0>(impulse, moved, columns, w + entry.dof);
    }
  }
}

/// What the impulse of a unit does to rows directly.
void ContactBlocks::push_rows(int i, const double* x, double* u) const {
  const Unit& unit = units_[i];
  for (int a = 0; a < unit.dim; ++a) {
    const double impulse = x[unit.row + a];
    if (impulse == 0) continue;
    for (int k = unit.coupling_begin; k < units_[i + 1].coupling_begin; ++k) {
      const int num_rows = couplings_[k].num_rows;
      const double* column = coupling_values(k) + static_cast<std::ptrdiff_t>(a) * num_rows;
      for (int row = 0; row < num_rows; ++row) u[couplings_[k].row + row] += column[row] * impulse;
    }
  }
}

}  // namespace stiction
