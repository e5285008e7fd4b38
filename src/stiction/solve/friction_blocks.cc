#include "stiction/solve/friction_blocks.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/dense_lu.h"

namespace stiction {

namespace {

template <int kRows, int kColumns>
inline void add_product(const double* a, const double* x, double* sum) {
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < kColumns; ++c) sum[r] += a[r * kColumns + c] * x[c];
}

inline void add_product(int rows, int columns, const double* a, const double* x, double* sum) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) sum[r] += a[r * columns + c] * x[c];
}

double dot(const double* a, const double* b, int n) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// The larger eigenvalue of the symmetric part of a block's tangential part.
double tangential_mobility(const ConstRowMatrixMap& block) {
  if (block.rows() == 1) return 0;
  if (block.rows() == 2) return block(1, 1);
  return 0.5 * (block(1, 1) + block(2, 2)) +
         std::hypot(0.5 * (block(1, 1) - block(2, 2)), 0.5 * (block(1, 2) + block(2, 1)));
}

}  // namespace

void BlockMatrix::multiply(const double* x, double* y) const {
  for (int i = 0; i < num_blocks(); ++i) {
    constexpr int kMostRows = 3;  // of a contact; without the limit analyzers see sum overrun
    const int rows = std::min(size(i), kMostRows);
    double sum[kMostRows] = {};
    for (int e = entry_start[i]; e < entry_start[i + 1]; ++e) {
      const int j = entry_block[e], columns = size(j);
      const double* a = values.data() + value_start[e];
      const double* xj = x + row_start[j];
      if (rows == 3 && columns == 3)
        add_product<3, 3>(a, xj, sum);
      else if (rows == 2 && columns == 2)
        add_product<2, 2>(a, xj, sum);
      else
        add_product(rows, columns, a, xj, sum);
    }
    for (int r = 0; r < rows; ++r) y[row_start[i] + r] = sum[r];
  }
}

bool FrictionBlocks::assemble(const StepProblem& problem, StoppingMeasure measure) {
  measure_ = measure;
  if (!classify(problem)) return false;
  collect_pieces(problem);
  if (count_numbers() > kMostNumbers || !move_pieces(problem)) return false;
  build_pattern(problem);
  fill(problem);
  compute_free(problem);
  compute_scales();
  apply_scales();
  measure_data(problem);
  return true;
}

bool FrictionBlocks::classify(const StepProblem& problem) {
  num_bilateral_ = problem.num_bilateral();
  problem_kind_ = collection_kind(problem);
  const int num_blocks = num_bilateral_ + problem.num_contacts();
  kind.assign(num_blocks, Kind::kContact);
  friction_.assign(num_blocks, 0);
  lower.assign(num_blocks, 0);
  upper.assign(num_blocks, 0);
  W.row_start.resize(num_blocks + 1);
  W.row_start[0] = 0;
  for (int i = 0; i < num_bilateral_; ++i) {
    lower[i] = problem.lower[i];
    upper[i] = problem.upper[i];
    const bool is_free = std::isinf(lower[i]) && std::isinf(upper[i]);
    kind[i] = is_free ? Kind::kFree : Kind::kBounded;
    W.row_start[i + 1] = i + 1;
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int rows = problem.contacts.num_rows(j), i = num_bilateral_ + j;
    if (rows > 2 && problem.section[j].kind != FrictionSection::Kind::kDisc && problem.mu[j] > 0)
      return false;
    friction_[i] = problem.mu[j];
    W.row_start[i + 1] = W.row_start[i] + rows;
  }
  block_of_row_.resize(W.row_start.back());
  for (int i = 0; i < num_blocks; ++i)
    for (int r = W.row_start[i]; r < W.row_start[i + 1]; ++r) block_of_row_[r] = i;
  return true;
}

void FrictionBlocks::append_pieces(const BlockRows& rows, int first_block) {
  for (int i = 0; i < rows.num_row_blocks(); ++i) {
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      pieces_.push_back({first_block + i, rows.entry_block(e), rows.entry_values(e), 0, 0});
    block_piece_start_.push_back(static_cast<int>(pieces_.size()));
  }
}

void FrictionBlocks::collect_pieces(const StepProblem& problem) {
  pieces_.clear();
  block_piece_start_.assign(1, 0);
  append_pieces(problem.bilateral, 0);
  append_pieces(problem.contacts, num_bilateral_);
  const int num_masses = problem.num_blocks();
  mass_piece_start_.assign(num_masses + 1, 0);
  for (const Piece& piece : pieces_) ++mass_piece_start_[piece.mass + 1];
  for (int k = 0; k < num_masses; ++k) mass_piece_start_[k + 1] += mass_piece_start_[k];
  mass_pieces_.resize(pieces_.size());
  mark_.assign(mass_piece_start_.begin(), mass_piece_start_.end());
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    mass_pieces_[mark_[pieces_[i].mass]++] = static_cast<int>(i);
}

/// At most so many numbers of W come from bodies: the rows of a body all move each other.
double FrictionBlocks::count_numbers() const {
  double numbers = 0;
  for (std::size_t k = 0; k + 1 < mass_piece_start_.size(); ++k) {
    double rows = 0;
    for (int i = mass_piece_start_[k]; i < mass_piece_start_[k + 1]; ++i)
      rows += size(pieces_[mass_pieces_[i]].block);
    numbers += rows * rows;
  }
  return numbers;
}

bool FrictionBlocks::move_pieces(const StepProblem& problem) {
  mass_lu_ = problem.mass_values;
  mass_swap_.resize(problem.num_dofs());
  for (int k = 0; k < problem.num_blocks(); ++k)
    if (!factor_lu(mass_lu_.data() + problem.mass_start[k], problem.block_size(k),
                   mass_swap_.data() + problem.dof_start[k]))
      return false;
  moved_.clear();
  piece_norm_.clear();
  for (Piece& piece : pieces_) {
    const int rows = size(piece.block), columns = problem.block_size(piece.mass);
    piece.moved_start = static_cast<int>(moved_.size());
    piece.norm_start = static_cast<int>(piece_norm_.size());
    moved_.insert(moved_.end(), piece.values,
                  piece.values + static_cast<std::ptrdiff_t>(rows) * columns);
    for (int r = 0; r < rows; ++r) {
      double* x = moved_.data() + piece.moved_start + static_cast<std::ptrdiff_t>(r) * columns;
      solve_lu(mass_lu_.data() + problem.mass_start[piece.mass], columns,
               mass_swap_.data() + problem.dof_start[piece.mass], x);
      const double square =
          dot(x, piece.values + static_cast<std::ptrdiff_t>(r) * columns, columns);
      piece_norm_.push_back(std::sqrt(std::max(square, 0.0)));
    }
  }
  return true;
}

/// Which blocks each block is coupled to by K, each of them once.
void FrictionBlocks::collect_coupling(const StepProblem& problem) {
  const RowCoupling& coupling = problem.coupling;
  mark_.assign(num_blocks(), -1);
  coupled_.clear();
  coupled_start_.assign(1, 0);
  for (int i = 0; i < num_blocks(); ++i) {
    if (!coupling.is_empty())
      for (int row = W.row_start[i]; row < W.row_start[i + 1]; ++row)
        for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e) {
          const int j = block_of_row_[coupling.column(e)];
          if (coupling.value(e) == 0 || mark_[j] == i) continue;
          mark_[j] = i;
          coupled_.push_back(j);
        }
    coupled_start_.push_back(static_cast<int>(coupled_.size()));
  }
  transpose_coupling();
}

void FrictionBlocks::transpose_coupling() {
  transposed_start_.assign(num_blocks() + 1, 0);
  for (const int j : coupled_) ++transposed_start_[j + 1];
  for (int i = 0; i < num_blocks(); ++i) transposed_start_[i + 1] += transposed_start_[i];
  transposed_.resize(coupled_.size());
  mark_.assign(transposed_start_.begin(), transposed_start_.end());
  for (int i = 0; i < num_blocks(); ++i)
    for (int e = coupled_start_[i]; e < coupled_start_[i + 1]; ++e)
      transposed_[mark_[coupled_[e]]++] = i;
}

/// The pattern of W in the order in which its entries are met.
void FrictionBlocks::collect_neighbours() {
  mark_.assign(num_blocks(), -1);
  neighbours_.clear();
  W.entry_start.assign(1, 0);
  const auto add = [this](int i, int j) {
    if (mark_[j] == i) return;
    mark_[j] = i;
    neighbours_.push_back(j);
  };
  for (int i = 0; i < num_blocks(); ++i) {
    add(i, i);
    for (int e = coupled_start_[i]; e < coupled_start_[i + 1]; ++e) add(i, coupled_[e]);
    for (int e = transposed_start_[i]; e < transposed_start_[i + 1]; ++e) add(i, transposed_[e]);
    for (int k = block_piece_start_[i]; k < block_piece_start_[i + 1]; ++k) {
      const int mass = pieces_[k].mass;
      for (int l = mass_piece_start_[mass]; l < mass_piece_start_[mass + 1]; ++l)
        add(i, pieces_[mass_pieces_[l]].block);
    }
    W.entry_start.push_back(static_cast<int>(neighbours_.size()));
  }
}

/// A symmetric pattern is its own transpose, and transposing it by counting sorts it.
void FrictionBlocks::sort_pattern() {
  W.entry_block.resize(neighbours_.size());
  W.mirror.resize(neighbours_.size());
  W.diagonal.resize(num_blocks());
  W.value_start.resize(neighbours_.size() + 1);
  mark_.assign(W.entry_start.begin(), W.entry_start.end());
  for (int i = 0; i < num_blocks(); ++i)
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e)
      W.entry_block[mark_[neighbours_[e]]++] = i;
  mark_.assign(W.entry_start.begin(), W.entry_start.end());
  int next = 0;
  for (int i = 0; i < num_blocks(); ++i)
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e) {
      const int j = W.entry_block[e];
      W.mirror[e] = mark_[j]++;
      if (j == i) W.diagonal[i] = e;
      W.value_start[e] = next;
      next += size(i) * size(j);
    }
  W.value_start[neighbours_.size()] = next;
}

void FrictionBlocks::build_pattern(const StepProblem& problem) {
  collect_coupling(problem);
  collect_neighbours();
  sort_pattern();
}

void FrictionBlocks::fill(const StepProblem& problem) {
  W.values.assign(W.value_start.back(), 0.0);
  mark_.resize(num_blocks());
  for (int i = 0; i < num_blocks(); ++i) {
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e)
      mark_[W.entry_block[e]] = W.value_start[e];
    add_products(problem, i);
    add_coupling(problem, i);
  }
}

void FrictionBlocks::add_products(const StepProblem& problem, int block) {
  for (int k = block_piece_start_[block]; k < block_piece_start_[block + 1]; ++k) {
    const Piece& piece = pieces_[k];
    const std::ptrdiff_t columns = problem.block_size(piece.mass);
    for (int l = mass_piece_start_[piece.mass]; l < mass_piece_start_[piece.mass + 1]; ++l) {
      const Piece& other = pieces_[mass_pieces_[l]];
      double* out = W.values.data() + mark_[other.block];
      for (int r = 0; r < size(block); ++r)
        for (int c = 0; c < size(other.block); ++c)
          *out++ += dot(piece.values + r * columns, moved_.data() + other.moved_start + c * columns,
                        static_cast<int>(columns));
    }
  }
}

void FrictionBlocks::add_coupling(const StepProblem& problem, int block) {
  const RowCoupling& coupling = problem.coupling;
  for (int row = W.row_start[block]; row < W.row_start[block + 1]; ++row) {
    const int local = row - W.row_start[block];
    W.values[mark_[block] + local * size(block) + local] +=
        row < num_bilateral_ ? problem.compliance[row]
                             : problem.contact_compliance[row - num_bilateral_];
    if (coupling.is_empty()) continue;
    for (int e = coupling.entry_start(row); e < coupling.entry_start(row + 1); ++e) {
      const int column = coupling.column(e), j = block_of_row_[column];
      if (coupling.value(e) == 0) continue;
      W.values[mark_[j] + local * size(j) + column - W.row_start[j]] += coupling.value(e);
    }
  }
}

void FrictionBlocks::compute_free(const StepProblem& problem) {
  free_velocity_ = ConstVectorMap(problem.p.data(), problem.num_dofs());
  for (int k = 0; k < problem.num_blocks(); ++k)
    solve_lu(mass_lu_.data() + problem.mass_start[k], problem.block_size(k),
             mass_swap_.data() + problem.dof_start[k],
             free_velocity_.data() + problem.dof_start[k]);
  q.resize(num_rows());
  for (int row = 0; row < num_rows(); ++row)
    q[row] = row < num_bilateral_ ? -problem.bias[row] : problem.contact_bias[row - num_bilateral_];
  for (const Piece& piece : pieces_) {
    const std::ptrdiff_t columns = problem.block_size(piece.mass);
    for (int r = 0; r < size(piece.block); ++r)
      q[W.row_start[piece.block] + r] +=
          dot(piece.values + r * columns, free_velocity_.data() + problem.dof_start[piece.mass],
              static_cast<int>(columns));
  }
}

/// Stands in where the matrix of an LCP has no positive diagonal: the largest coupling of the rows.
double FrictionBlocks::spare_mobility(int block) const {
  double largest = 0;
  for (int v = W.value_start[W.entry_start[block]]; v < W.value_start[W.entry_start[block + 1]];
       ++v)
    largest = std::max(largest, std::abs(W.values[v]));
  return largest;
}

/// The scales of (T8), and of (T22) where the tangents of a contact differ.
void FrictionBlocks::compute_scales() {
  scale.resize(num_rows());
  is_moved_.assign(num_blocks(), true);
  mu.resize(num_blocks());
  for (int i = 0; i < num_blocks(); ++i) {
    const ConstRowMatrixMap block = std::as_const(W).entry(i, W.diagonal[i]);
    const double normal = block(0, 0), tangential = tangential_mobility(block);
    double largest = std::max(normal, tangential);
    if (!(largest > 0)) largest = spare_mobility(i);
    if (!(largest > 0)) {
      is_moved_[i] = false;
      largest = 1;
    }
    const double scale_normal = 1 / std::sqrt(normal > 0 ? normal : largest);
    const double scale_tangential = 1 / std::sqrt(tangential > 0 ? tangential : largest);
    for (int k = 0; k < size(i); ++k)
      scale[W.row_start[i] + k] = k == 0 ? scale_normal : scale_tangential;
    mu[i] = friction_[i] * (scale_normal / scale_tangential);
  }
}

void FrictionBlocks::apply_scales() {
  double* value = W.values.data();
  for (int i = 0; i < num_blocks(); ++i) {
    for (int e = W.entry_start[i]; e < W.entry_start[i + 1]; ++e) {
      const double* right = scale.data() + W.row_start[W.entry_block[e]];
      for (int r = 0; r < size(i); ++r)
        for (int c = 0; c < size(W.entry_block[e]); ++c)
          *value++ *= scale[W.row_start[i] + r] * right[c];
    }
    if (kind[i] != Kind::kBounded) continue;
    lower[i] /= scale[W.row_start[i]];
    upper[i] /= scale[W.row_start[i]];
  }
  q.array() *= ConstVectorMap(scale.data(), num_rows()).array();
}

void FrictionBlocks::compute_velocity(const ConstVectorRef& x, KeptVector& u) const {
  u.resize(num_rows());
  W.multiply(x.data(), u.data());
  u += q;
}

void FrictionBlocks::write_solution(const StepProblem& problem, const ConstVectorRef& x,
                                    StepSolution& solution) const {
  solution.resize(problem);
  for (int row = 0; row < num_rows(); ++row)
    (row < num_bilateral_ ? solution.lambda[row] : solution.r[row - num_bilateral_]) =
        scale[row] * x[row];
  solution.w = problem.p;
  for (const Piece& piece : pieces_) {
    const int columns = problem.block_size(piece.mass);
    double* w = solution.w.data() + problem.dof_start[piece.mass];
    const double* value = piece.values;
    for (int row = W.row_start[piece.block]; row < W.row_start[piece.block + 1]; ++row)
      for (int c = 0; c < columns; ++c) w[c] += *value++ * (scale[row] * x[row]);
  }
  for (int k = 0; k < problem.num_blocks(); ++k)
    solve_lu(mass_lu_.data() + problem.mass_start[k], problem.block_size(k),
             mass_swap_.data() + problem.dof_start[k], solution.w.data() + problem.dof_start[k]);
}

void FrictionBlocks::read_solution(const StepProblem& problem, const StepSolution& solution,
                                   KeptVector& x) const {
  x.setZero(num_rows());
  if (static_cast<int>(solution.lambda.size()) != num_bilateral_ ||
      static_cast<int>(solution.r.size()) != problem.num_contact_rows())
    return;
  for (int row = 0; row < num_rows(); ++row)
    x[row] = (row < num_bilateral_ ? solution.lambda[row] : solution.r[row - num_bilateral_]) /
             scale[row];
  if (!x.allFinite()) x.setZero();
}

void FrictionBlocks::clear_rounding(VectorRef x) const {
  constexpr double kRounding = 1e-17;
  const double least = kRounding * kRounding * x.squaredNorm();
  for (int i = 0; i < num_blocks(); ++i) {
    auto impulse = x.segment(W.row_start[i], size(i));
    if (impulse.squaredNorm() < least) impulse.setZero();
  }
}

}  // namespace stiction
