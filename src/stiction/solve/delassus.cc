#include "stiction/solve/delassus.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

/// Sums this small against the sizes of their terms are rounding: the impulses are refined to the
/// digits of long double.
constexpr long double kRounding = 32 * std::numeric_limits<long double>::epsilon();

}  // namespace

template <class Real>
bool Delassus<Real>::factor_mass(const StepProblem& problem) {
  mass_lu_.assign(problem.mass_values.begin(), problem.mass_values.end());
  mass_swap_.resize(problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (!factor_lu(mass_lu_.data() + problem.mass_start[b], problem.block_size(b),
                   mass_swap_.data() + problem.dof_start[b]))
      return false;
  collect_pieces(problem);
  return true;
}

template <class Real>
void Delassus<Real>::collect_pieces(const StepProblem& problem) {
  num_rows_ = problem.num_bilateral() + problem.num_contact_rows();
  pieces_.clear();
  append_pieces(problem.bilateral, 0);
  append_pieces(problem.contacts, problem.num_bilateral());
}

template <class Real>
void Delassus<Real>::append_pieces(const BlockRows& rows, int first_row) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      pieces_.push_back({first_row + rows.row_start(i), rows.num_rows(i), rows.entry_block(e),
                         rows.entry_values(e), 0});
}

/// defect = p + Gᵀλ + Jᵀr − M̂w, in long double.
template <class Real>
void Delassus<Real>::compute_defect(const StepProblem& problem,
                                    const std::vector<long double>& impulse,
                                    const std::vector<long double>& w) {
  defect_.assign(problem.p.begin(), problem.p.end());
  for (const Piece& piece : pieces_) {
    const int size = problem.block_size(piece.block);
    long double* defect = defect_.data() + problem.dof_start[piece.block];
    for (int i = 0; i < piece.num_rows; ++i) {
      const long double x = impulse[piece.row + i];
      if (x == 0) continue;
      for (int k = 0; k < size; ++k) defect[k] += x * piece.values[i * size + k];
    }
  }
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int size = problem.block_size(b);
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    for (int i = 0; i < size; ++i)
      for (int k = 0; k < size; ++k)
        defect_[problem.dof_start[b] + i] -=
            static_cast<long double>(mass[i * size + k]) * w[problem.dof_start[b] + k];
  }
}

template <class Real>
void Delassus<Real>::solve_mass(const StepProblem& problem, Real* x) const {
  for (int b = 0; b < problem.num_blocks(); ++b)
    solve_lu(mass_lu_.data() + problem.mass_start[b], problem.block_size(b),
             mass_swap_.data() + problem.dof_start[b], x + problem.dof_start[b]);
}

template <class Real>
void Delassus<Real>::compute_free_velocity(const StepProblem& problem,
                                           std::vector<long double>& w) {
  scratch_.assign(problem.p.begin(), problem.p.end());
  solve_mass(problem, scratch_.data());
  w.assign(scratch_.begin(), scratch_.end());
}

template <class Real>
void Delassus<Real>::compute_velocity(const StepProblem& problem,
                                      const std::vector<long double>& impulse,
                                      std::vector<long double>& w) {
  w.assign(problem.num_dofs(), 0.0L);
  scratch_.resize(problem.num_dofs());
  for (int refinement = 0; refinement < 2; ++refinement) {
    compute_defect(problem, impulse, w);
    for (std::size_t i = 0; i < w.size(); ++i) scratch_[i] = static_cast<Real>(defect_[i]);
    solve_mass(problem, scratch_.data());
    for (std::size_t i = 0; i < w.size(); ++i) w[i] += scratch_[i];
  }
  clear_rounding(problem, impulse, w);
}

/// A velocity whose terms |M̂⁻¹|(|p| + |Jᵀ||x|) cancel to their rounding is zero. Row by row, since
/// a coordinate knows nothing of the size of others that do not act on it; and only where impulses
/// act.
template <class Real>
void Delassus<Real>::clear_rounding(const StepProblem& problem,
                                    const std::vector<long double>& impulse,
                                    std::vector<long double>& w) {
  scratch_.resize(problem.num_dofs());
  for (int i = 0; i < problem.num_dofs(); ++i) scratch_[i] = std::abs(problem.p[i]);
  is_loaded_.assign(problem.num_blocks(), 0);
  for (const Piece& piece : pieces_) {
    const int size = problem.block_size(piece.block);
    Real* terms = scratch_.data() + problem.dof_start[piece.block];
    for (int i = 0; i < piece.num_rows; ++i) {
      const auto x = static_cast<Real>(std::abs(impulse[piece.row + i]));
      if (x == Real(0)) continue;
      is_loaded_[piece.block] = 1;
      for (int k = 0; k < size; ++k) terms[k] += std::abs(piece.values[i * size + k]) * x;
    }
  }
  for (int b = 0; b < problem.num_blocks(); ++b)
    if (is_loaded_[b] && problem.block_size(b) <= kLargestCleared) clear_block(problem, b, w);
}

template <class Real>
void Delassus<Real>::clear_block(const StepProblem& problem, int block,
                                 std::vector<long double>& w) const {
  const int size = problem.block_size(block), start = problem.dof_start[block];
  Real column[kLargestCleared], bound[kLargestCleared] = {};
  for (int j = 0; j < size; ++j) {
    std::fill(column, column + size, Real(0));
    column[j] = 1;
    solve_lu(mass_lu_.data() + problem.mass_start[block], size, mass_swap_.data() + start, column);
    for (int i = 0; i < size; ++i) bound[i] += std::abs(column[i]) * scratch_[start + j];
  }
  for (int i = 0; i < size; ++i)
    if (std::abs(w[start + i]) <= kRounding * bound[i]) w[start + i] = 0;
}

template <class Real>
void Delassus<Real>::compute_row_velocity(const StepProblem& problem,
                                          const std::vector<long double>& impulse,
                                          const std::vector<long double>& w, std::vector<Real>& u,
                                          std::vector<Real>& magnitude) {
  sums_.resize(num_rows_);
  magnitude.resize(num_rows_);
  const int num_bilateral = problem.num_bilateral();
  const auto start_sum = [&](int i, long double compliant, long double bias) {
    sums_[i] = compliant + bias;
    magnitude[i] = static_cast<Real>(std::abs(compliant) + std::abs(bias));
  };
  for (int i = 0; i < num_bilateral; ++i)
    start_sum(i, static_cast<long double>(problem.compliance[i]) * impulse[i], -problem.bias[i]);
  for (int i = 0; i < problem.num_contact_rows(); ++i)
    start_sum(num_bilateral + i,
              static_cast<long double>(problem.contact_compliance[i]) * impulse[num_bilateral + i],
              problem.contact_bias[i]);
  for (const Piece& piece : pieces_) {
    const int size = problem.block_size(piece.block);
    const long double* velocity = w.data() + problem.dof_start[piece.block];
    for (int i = 0; i < piece.num_rows; ++i)
      for (int k = 0; k < size; ++k) {
        const long double term = piece.values[i * size + k] * velocity[k];
        sums_[piece.row + i] += term;
        magnitude[piece.row + i] += static_cast<Real>(std::abs(term));
      }
  }
  add_coupling_velocity(problem, impulse, magnitude);
  u.resize(num_rows_);
  for (int i = 0; i < num_rows_; ++i) u[i] = static_cast<Real>(sums_[i]);
}

template <class Real>
void Delassus<Real>::add_coupling_velocity(const StepProblem& problem,
                                           const std::vector<long double>& impulse,
                                           std::vector<Real>& magnitude) {
  const RowCoupling& coupling = problem.coupling;
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e) {
      const long double term =
          static_cast<long double>(coupling.value(e)) * impulse[coupling.column(e)];
      sums_[i] += term;
      magnitude[i] += static_cast<Real>(std::abs(term));
    }
}

template <class Real>
void Delassus<Real>::assemble(const StepProblem& problem) {
  move_pieces(problem);
  matrix_.assign(static_cast<std::size_t>(num_rows_) * num_rows_, Real(0));
  for (int b = 0; b < problem.num_blocks(); ++b) add_products(problem, b);
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_rows_; ++i)
    matrix_[static_cast<std::size_t>(i) * num_rows_ + i] +=
        i < num_bilateral ? problem.compliance[i] : problem.contact_compliance[i - num_bilateral];
  const RowCoupling& coupling = problem.coupling;
  for (int i = 0; i < coupling.num_rows(); ++i)
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e)
      matrix_[static_cast<std::size_t>(i) * num_rows_ + coupling.column(e)] += coupling.value(e);
}

/// M̂⁻¹Jᵀ of every piece, and the pieces sorted by mass block.
template <class Real>
void Delassus<Real>::move_pieces(const StepProblem& problem) {
  moved_.clear();
  block_start_.assign(problem.num_blocks() + 1, 0);
  for (Piece& piece : pieces_) {
    const int size = problem.block_size(piece.block);
    piece.moved_start = static_cast<int>(moved_.size());
    moved_.insert(moved_.end(), piece.values, piece.values + piece.num_rows * size);
    for (int i = 0; i < piece.num_rows; ++i)
      solve_lu(mass_lu_.data() + problem.mass_start[piece.block], size,
               mass_swap_.data() + problem.dof_start[piece.block],
               moved_.data() + piece.moved_start + i * size);
    ++block_start_[piece.block + 1];
  }
  for (int b = 0; b < problem.num_blocks(); ++b) block_start_[b + 1] += block_start_[b];
  block_pieces_.resize(pieces_.size());
  // Filling from the back moves each start to its place: block_start_[b + 1] ends as the start of
  // b.
  for (int i = static_cast<int>(pieces_.size()) - 1; i >= 0; --i)
    block_pieces_[--block_start_[pieces_[i].block + 1]] = i;
  std::rotate(block_start_.begin(), block_start_.begin() + 1, block_start_.end());
  block_start_.back() = static_cast<int>(pieces_.size());
}

template <class Real>
void Delassus<Real>::add_products(const StepProblem& problem, int block) {
  const int size = problem.block_size(block);
  for (int a = block_start_[block]; a < block_start_[block + 1]; ++a) {
    const Piece& left = pieces_[block_pieces_[a]];
    for (int b = block_start_[block]; b < block_start_[block + 1]; ++b) {
      const Piece& right = pieces_[block_pieces_[b]];
      const Real* moved = moved_.data() + right.moved_start;
      for (int i = 0; i < left.num_rows; ++i) {
        Real* target =
            matrix_.data() + static_cast<std::size_t>(left.row + i) * num_rows_ + right.row;
        for (int j = 0; j < right.num_rows; ++j) {
          Real sum = 0;
          for (int k = 0; k < size; ++k) sum += left.values[i * size + k] * moved[j * size + k];
          target[j] += sum;
        }
      }
    }
  }
}

template class Delassus<double>;
template class Delassus<long double>;

}  // namespace stiction
