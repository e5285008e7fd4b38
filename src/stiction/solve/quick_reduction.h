// Frees a mixed complementarity problem of a few rows,
//
//   y = A z + q,   y_i = 0 for the free variables,   0 ≤ z_i ⊥ y_i ≥ 0 for the others,
//
// of its equations: what LemkeReduction does with care for scales, here in one table without
// scaling and without allocation once its room is there. Free variables are eliminated by partial
// pivoting over the equations. Those that are left, because their block is singular, go together
// with a complementary pair each, whose z and y change roles: circuits of diodes need that. What
// comes out has to be checked by the caller.
#pragma once

#include <cstdint>
#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

class QuickReduction {
 public:
  static constexpr int kMaxComplementary = 62;
  static constexpr int kMaxRows = 100;

  /// Whether a problem is nothing but such a problem, of a size worth trying: no bodies, bilateral
  /// rows without bounds, contacts without tangents.
  static bool takes(const StepProblem& problem);

  /// Loads and reduces. False if equations are left that determine nothing.
  bool reduce(const StepProblem& problem);

  /// The reduced problem, row by row at a distance of `stride`, without the free variables.
  int size() const { return num_complementary_; }
  const double* matrix() const { return numbers_.data(); }
  int stride() const { return stride_; }
  const double* q() const { return numbers_.data() + num_table_numbers(); }

  /// The answer of the whole problem from one of the reduced problem.
  void recover(const double* reduced_z, StepSolution& solution);

 private:
  /// A free variable that was eliminated: its row of the table gives it by the columns on its left.
  struct Elimination {
    int row, column;
    std::uint64_t swapped;  // pairs that had changed roles by then, one bit each
  };

  int num_rows() const { return num_complementary_ + num_free_; }
  std::ptrdiff_t num_table_numbers() const {
    return static_cast<std::ptrdiff_t>(num_rows()) * stride_;
  }
  double* row(int i) { return numbers_.data() + static_cast<std::ptrdiff_t>(i) * stride_; }
  // Below the table, by column: q of the reduced problem, the largest entry at first, the answer.
  double* reduced_q() { return row(num_rows()); }
  double* column_size() { return row(num_rows() + 1); }
  double* x() { return row(num_rows() + 2); }
  void load_plain(const StepProblem& problem);
  void load(const StepProblem& problem);
  void eliminate();
  bool try_eliminate_free();
  bool try_eliminate_pair();
  int largest_equation(int column);
  int largest_free(int i);
  bool is_pivot(double value, int column);
  void exchange(int pivot_row, int column);
  void swap_columns(int a, int b);
  void swap_rows(int a, int b);
  void finish(int equation);

  int num_complementary_ = 0, num_free_ = 0;
  int stride_ = 0;
  int width_ = 0;          // columns in use: complementary variables, q, open free variables
  int num_equations_ = 0;  // open ones: the first below the complementary rows
  std::uint64_t swapped_ = 0;
  std::vector<double> numbers_;  // complementary rows, equations, three rows more
  std::vector<int> variable_;    // bilateral row of the problem, by column
  std::vector<Elimination> eliminations_;
};

}  // namespace stiction
