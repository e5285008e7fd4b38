#include "bench/solvers/siconos_problem.h"

#include <CSparseMatrix.h>
#include <NumericsSparseMatrix.h>
#include <SparseBlockMatrix.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace stiction::bench {
namespace {

MatrixPointer make_sparse(int num_rows, int num_columns, std::size_t num_entries) {
  NumericsMatrix* matrix = NM_create(NM_SPARSE, num_rows, num_columns);
  NM_triplet_alloc(matrix, static_cast<CS_INT>(num_entries));
  matrix->matrix2->origin = NSM_TRIPLET;
  return MatrixPointer(matrix);
}

/// Column by column.
std::vector<double> list_dense(const StepProblem& problem) {
  const auto size = static_cast<std::size_t>(problem.num_rows());
  std::vector<double> values(size * size, 0.0);
  const RowCoupling& coupling = problem.coupling;
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e)
      values[static_cast<std::size_t>(coupling.column(e)) * size + i] = coupling.value(e);
  return values;
}

double norm(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

void MatrixDeleter::operator()(NumericsMatrix* matrix) const {
  NM_clear(matrix);
  std::free(matrix);  // NOLINT: Siconos allocates with malloc
}

MatrixPointer make_coupling_matrix(const StepProblem& problem, Storage storage, int block_size) {
  const int size = problem.num_rows();
  const RowCoupling& coupling = problem.coupling;
  if (storage == Storage::kDense) {
    MatrixPointer dense(NM_create(NM_DENSE, size, size));
    const std::vector<double> values = list_dense(problem);
    std::memcpy(dense->matrix0, values.data(), values.size() * sizeof(double));
    return dense;
  }
  MatrixPointer sparse = make_sparse(size, size, coupling.num_entries());
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e)
      NM_entry(sparse.get(), i, coupling.column(e), coupling.value(e));
  if (storage == Storage::kSparse) return sparse;
  MatrixPointer blocks(NM_create(NM_SPARSE_BLOCK, size, size));
  SBM_from_csparse(block_size, NM_csc(sparse.get()), blocks->matrix1);
  return blocks;
}

MatrixPointer make_mass_matrix(const StepProblem& problem) {
  MatrixPointer matrix =
      make_sparse(problem.num_dofs(), problem.num_dofs(), problem.mass_values.size());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b];
    for (int i = 0; i < problem.block_size(b); ++i)
      for (int j = 0; j < problem.block_size(b); ++j)
        if (const double value = problem.mass_block(b)(i, j); value != 0)
          NM_entry(matrix.get(), start + i, start + j, value);
  }
  return matrix;
}

MatrixPointer make_jacobian_matrix(const StepProblem& problem) {
  const BlockRows& rows = problem.contacts;
  std::size_t num_entries = 0;
  for (int k = 0; k < rows.num_row_blocks(); ++k)
    for (int e = rows.entry_start(k); e < rows.entry_start(k + 1); ++e)
      num_entries += static_cast<std::size_t>(rows.num_rows(k) * rows.entry_columns(e));
  MatrixPointer matrix = make_sparse(problem.num_dofs(), rows.num_rows(), num_entries);
  for (int k = 0; k < rows.num_row_blocks(); ++k)
    for (int e = rows.entry_start(k); e < rows.entry_start(k + 1); ++e)
      for (int i = 0; i < rows.num_rows(k); ++i)
        for (int j = 0; j < rows.entry_columns(e); ++j)
          if (const double value = rows.entry_matrix(k, e)(i, j); value != 0)
            NM_entry(matrix.get(), problem.dof_start[rows.entry_block(e)] + j,
                     rows.row_start(k) + i, value);
  return matrix;
}

SiconosProblem::SiconosProblem(const ProblemFile& file, Storage storage) {
  mu_ = file.problem.mu;
  q_ = file.problem.contact_bias;
  if (file.kind == ProblemKind::kLocalFriction) fill_friction(file, storage);
  if (file.kind == ProblemKind::kGlobalFriction) fill_global(file);
  if (file.kind == ProblemKind::kLcp) fill_lcp(file);
  if (file.kind == ProblemKind::kMlcp) fill_mlcp(file);
}

void SiconosProblem::fill_friction(const ProblemFile& file, Storage storage) {
  matrix_ = make_coupling_matrix(file.problem, storage, file.space_dimension);
  friction_.dimension = file.space_dimension;
  friction_.numberOfContacts = file.problem.num_contacts();
  friction_.M = matrix_.get();
  friction_.q = q_.data();
  friction_.mu = mu_.data();
}

void SiconosProblem::fill_global(const ProblemFile& file) {
  matrix_ = make_mass_matrix(file.problem);
  jacobian_ = make_jacobian_matrix(file.problem);
  b_ = file.problem.contact_bias;
  q_ = file.problem.p;
  global_.dimension = file.space_dimension;
  global_.numberOfContacts = file.problem.num_contacts();
  global_.M = matrix_.get();
  global_.H = jacobian_.get();
  global_.q = q_.data();
  global_.norm_q = norm(q_);
  global_.b = b_.data();
  global_.norm_b = norm(b_);
  global_.mu = mu_.data();
}

void SiconosProblem::fill_lcp(const ProblemFile& file) {
  matrix_ = make_coupling_matrix(file.problem, Storage::kDense, 1);
  lcp_.size = file.problem.num_rows();
  lcp_.M = matrix_.get();
  lcp_.q = q_.data();
}

void SiconosProblem::fill_mlcp(const ProblemFile& file) {
  const StepProblem& problem = file.problem;
  const int n = problem.num_bilateral(), m = problem.num_contacts(), size = n + m;
  matrix_ = make_coupling_matrix(problem, Storage::kDense, 1);
  q_.insert(q_.begin(), problem.bias.begin(), problem.bias.end());
  for (int i = 0; i < n; ++i) q_[i] = -q_[i];
  const auto part = [&](int row, int num_rows, int column, int num_columns) {
    std::vector<double> values;
    for (int j = column; j < column + num_columns; ++j)
      for (int i = row; i < row + num_rows; ++i) values.push_back(matrix_->matrix0[j * size + i]);
    return values;
  };
  equations_ = part(0, n, 0, n);
  upper_right_ = part(0, n, n, m);
  lower_left_ = part(n, m, 0, n);
  inequalities_ = part(n, m, n, m);
  q_tail_.assign(q_.begin() + n, q_.end());
  block_rows_ = {0, n, size};
  mlcp_.isStorageType1 = mlcp_.isStorageType2 = 1;
  mlcp_.n = n;
  mlcp_.m = m;
  mlcp_.blocksRows = block_rows_.data();
  mlcp_.blocksIsComp = block_is_inequality_.data();
  mlcp_.M = matrix_.get();
  mlcp_.q = q_.data();
  mlcp_.A = equations_.data();
  mlcp_.B = inequalities_.data();
  mlcp_.C = upper_right_.data();
  mlcp_.D = lower_left_.data();
  mlcp_.a = q_.data();
  mlcp_.b = q_tail_.data();
}

}  // namespace stiction::bench
