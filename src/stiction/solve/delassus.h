// The matrix that maps impulses of rows to velocities of rows, W = J M̂⁻¹Jᵀ + compliance (T6), over
// all bilateral rows and then all contact rows of a step problem. The direct
// coupling K of condensed problems is part of it. M̂ is factorised block by block by LU, since it
// need not be symmetric.
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

template <class Real>
class Delassus {
 public:
  /// Factorises the mass blocks; false if one is singular.
  bool factor_mass(const StepProblem& problem);

  // Impulses and velocities are kept in long double: a light body between heavy ones, or one that
  // joints hold still, moves by the difference of far larger numbers, and refinement lives on their
  // digits.

  /// w = M̂⁻¹p.
  void compute_free_velocity(const StepProblem& problem, std::vector<long double>& w);
  /// w = M̂⁻¹(p + Gᵀλ + Jᵀr) for the impulses of all rows, with one step of refinement. Components
  /// that are mere rounding of their terms become zero: a body that is held still would creep
  /// otherwise, and nothing could tell later that its velocity is meant to be zero.
  void compute_velocity(const StepProblem& problem, const std::vector<long double>& impulse,
                        std::vector<long double>& w);
  /// u = (G w + Cλ − b, J w + c r + b_c) for given impulses and velocities, and the sum of the
  /// sizes of its terms.
  void compute_row_velocity(const StepProblem& problem, const std::vector<long double>& impulse,
                            const std::vector<long double>& w, std::vector<Real>& u,
                            std::vector<Real>& magnitude);
  /// Computes W. Needs factor_mass.
  void assemble(const StepProblem& problem);

  int num_rows() const { return num_rows_; }
  const Real* row(int i) const { return matrix_.data() + static_cast<std::size_t>(i) * num_rows_; }

 private:
  /// Larger blocks keep their rounding: finding it takes the inverse of the block.
  static constexpr int kLargestCleared = 12;

  /// One dense piece of one row block.
  struct Piece {
    int row;  // first row, counted over bilateral and contact rows
    int num_rows;
    int block;
    const double* values;  // of the problem, row-major
    int moved_start;       // of M̂⁻¹Jᵀ in moved_, row-major as the values
  };
  void collect_pieces(const StepProblem& problem);
  void append_pieces(const BlockRows& rows, int first_row);
  void move_pieces(const StepProblem& problem);
  void add_products(const StepProblem& problem, int block);
  void add_coupling_velocity(const StepProblem& problem, const std::vector<long double>& impulse,
                             std::vector<Real>& magnitude);
  void solve_mass(const StepProblem& problem, Real* x) const;
  void clear_rounding(const StepProblem& problem, const std::vector<long double>& impulse,
                      std::vector<long double>& w);
  void clear_block(const StepProblem& problem, int block, std::vector<long double>& w) const;
  void compute_defect(const StepProblem& problem, const std::vector<long double>& impulse,
                      const std::vector<long double>& w);

  int num_rows_ = 0;
  std::vector<Real> mass_lu_;    // as mass_values of the problem
  std::vector<int> mass_swap_;   // num_dofs
  std::vector<char> is_loaded_;  // blocks that impulses act on
  std::vector<Piece> pieces_;
  std::vector<int> block_start_;  // pieces of block k: block_pieces_[block_start_[k] …]
  std::vector<int> block_pieces_;
  std::vector<Real> moved_;
  std::vector<Real> matrix_;
  std::vector<long double> defect_, sums_;
  std::vector<Real> scratch_;
};

}  // namespace stiction
