// The equations of motion of ADMM by the saddle matrix. With S the scales of (T8), impulses S x and
// W = S (R M̂⁻¹Rᵀ + C) S,
//
//   (W + D) x = g      is      [M̂  −(SR)ᵀ; SR  SCS + D] (w; x) = (0; g):
//
// a penalty on impulses is a compliance of their rows. Every row has one then, so that SaddleLdlt
// may eliminate in any order, and rows that depend on each other do no harm. Nothing is assembled
// over pairs of contacts: the matrix is as large as the problem. The factors are linear in it for
// chains, trees and stars; they fill as those of any sparse factorisation in nets and packings.
//
// Takes problems with symmetric positive definite mass and without direct couplings; bodies that no
// row touches are left out. The residual is that of the Gauss–Seidel solvers, which needs no matrix
// either.
#pragma once

#include "stiction/solve/admm_system.h"
#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/gauss_seidel_residual.h"
#include "stiction/solve/saddle_ldlt.h"

namespace stiction {

class AdmmSaddle : public AdmmSystem {
 public:
  /// Whether this form should take less time and memory than the Delassus matrix.
  bool is_worth_it(const StepProblem& problem);

  /// False if the problem is not one for this form. `problem` must outlive the use of the system.
  [[nodiscard]] bool assemble(const StepProblem& problem, StoppingMeasure measure);

  /// Numbers in the factors.
  std::size_t num_factor_entries() const { return ldlt_.num_factor_entries(); }

  const FrictionBlocks& rows() const override { return rows_; }
  [[nodiscard]] bool factor(const std::vector<double>& D) override;
  void solve(VectorRef x) override;
  void compute_velocity(const ConstVectorRef& x, KeptVector& u) override;
  double measure(const ConstVectorRef& x) override;
  void read_solution(const StepProblem& problem, const StepSolution& solution,
                     KeptVector& x) const override {
    rows_.read_solution(problem, solution, x);
  }
  void write_solution(const StepProblem& problem, const ConstVectorRef& x,
                      StepSolution& solution) override;

 private:
  bool collect_bodies(const StepProblem& problem);
  bool is_positive_definite(const double* block, int n);
  bool describe_rows(const StepProblem& problem);
  void describe_row_block(int unit);
  void scale_rows(const StepProblem& problem);
  void append_scaled(const BlockRows& rows, int row_block, int first_row, BlockRows& out) const;
  void go_to(const ConstVectorRef& x);

  ContactBlocks blocks_;
  GaussSeidelResidual residual_;
  SweepState state_;
  StepProblem local_;    // every row block alone: K is the block diagonal of W
  FrictionBlocks rows_;  // of local_
  StepProblem scaled_;   // touched bodies, S R, S C S + D
  SaddleLdlt ldlt_{SaddleLdlt::Memory::kLean};  // the penalty changes everywhere
  std::vector<double> compliance_;              // S C S
  std::vector<int> body_;  // of a mass block, in scaled_; −1: no row touches it
  std::vector<char> all_rows_;
  bool is_analysed_ = false;     // for the present problem
  bool needs_digits_ = false;    // a row has so little compliance that solutions are refined
  bool is_first_solve_ = false;  // with the present factors
  std::vector<double> rows_on_body_;
  std::vector<double> impulse_, f_, g_, w_, x_, cholesky_;
};

}  // namespace stiction
