// The equations of a small step with the velocities as unknowns of their own, dense and in long
// double,
//
//   M̂ w − Rᵀx = p,      u = R w + D x + b,      R = [G; J],  D = compliances and K,
//
// u the row velocities of (T2)–(T4) with their biases. All numbers are scaled, w by the roots of
// masses and x by those of effective masses ω, so that they have the unit √J and entries of the
// matrices are about one.
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

/// LU factors with full pivoting of a dense square matrix, as far as its rank goes.
class PivotedLu {
 public:
  using Real = long double;

  void resize(int size);
  Real* row(int i) { return a_.data() + static_cast<std::size_t>(i) * size_; }
  /// Overwrites the matrix. Pivots that are mere rounding of entries of about one end it early: the
  /// rows that are left depend on the others.
  void factor();
  int rank() const { return rank_; }
  /// x ← A⁻¹x; unknowns beyond the rank become zero.
  void solve(std::vector<Real>& x);

 private:
  bool move_pivot(int k);

  int size_ = 0, rank_ = 0;
  std::vector<Real> a_;
  std::vector<int> row_of_, column_of_;
  std::vector<Real> scratch_;
};

struct SaddleSystem {
  using Real = long double;

  /// False if a mass is not positive.
  bool load(const StepProblem& problem);

  const Real* u_row(int i) const { return rows.data() + static_cast<std::size_t>(i) * size; }
  Real* u_row(int i) { return rows.data() + static_cast<std::size_t>(i) * size; }
  const Real* mass_row(int i) const { return mass.data() + static_cast<std::size_t>(i) * num_dofs; }
  Real* mass_row(int i) { return mass.data() + static_cast<std::size_t>(i) * num_dofs; }
  /// Writes the i-th row of [M̂ −Rᵀ].
  void copy_balance(int i, Real* target) const;

  int num_dofs = 0, num_bilateral = 0, num_rows = 0;
  int size = 0;                // num_dofs + num_rows
  std::vector<Real> unit;      // [√kg] and 1/[√kg], size: what w and x are multiplied by
  std::vector<Real> mass;      // num_dofs × num_dofs
  std::vector<Real> rows;      // num_rows × size, [R D]
  std::vector<Real> momentum;  // [√J], num_dofs
  std::vector<Real> bias;      // [√J], num_rows, with the sign of u

 private:
  bool scale_dofs(const StepProblem& problem);
  void scale_rows(const StepProblem& problem);
  void add_mobilities(const BlockRows& blocks, const StepProblem& problem, int first_row);
  void load_mass(const StepProblem& problem);
  void load_rows(const BlockRows& blocks, const StepProblem& problem, int first_row);
  void load_direct(const StepProblem& problem);
};

}  // namespace stiction
