// Turns a general dense mixed complementarity problem (lcp.h), whose matrix may be nonsymmetric,
// indefinite, singular and badly scaled, into an equilibrated one without free variables:
//
//   1. rows and columns are scaled by powers of two until their largest entries are near one;
//   2. free variables are exchanged for equations by complete pivoting over their own block;
//   3. equations and free variables that are left (their block is singular) are exchanged together
//      with a complementary pair i: equation e for z_i, y_i for the free variable f. That is a
//      principal pivot on the block [0 a_ei; a_if a_ii], after which z_i and y_i have changed
//      roles. Circuits of diodes need it: their currents are determined only by which diodes
//      conduct;
//   4. equations that vanish altogether depend on the others, and their variables stay at zero.
#pragma once

#include <vector>

#include "stiction/solve/lcp.h"

namespace stiction {

template <class Real>
class LemkeReduction {
 public:
  /// Step 1 alone.
  void scale(const MixedLcp<Real>& lcp);
  /// Steps 2 to 4, after step 1.
  void reduce();

  /// The whole problem after step 1: y_i/row_scale is A z/column_scale + q.
  const MixedLcp<Real>& scaled() const { return scaled_; }
  const std::vector<Real>& row_scale() const { return row_scale_; }
  const std::vector<Real>& column_scale() const { return column_scale_; }

  /// What is left: num_free is zero, complementary variable i is that of the whole problem, with z
  /// and y exchanged if is_swapped(i).
  const MixedLcp<Real>& reduced() const { return reduced_; }
  bool is_swapped(int i) const { return is_swapped_[i] != 0; }
  /// Equations and free variables that were exchanged, as many of one as of the other.
  const std::vector<int>& equations() const { return equations_; }
  const std::vector<int>& free_variables() const { return free_variables_; }

 private:
  void balance(MixedLcp<Real>& lcp, std::vector<Real>& row_scale, std::vector<Real>& column_scale);
  bool find_factors(const MixedLcp<Real>& lcp);
  void load();
  bool try_exchange_free();
  bool try_exchange_pair();
  void exchange(int row, int column);
  void use_equation(int equation);
  void use_free(int variable);
  void extract();
  Real* row(int i) { return numbers_.data() + static_cast<std::size_t>(i) * stride_; }

  MixedLcp<Real> scaled_, reduced_;
  std::vector<Real> row_scale_, column_scale_;
  std::vector<Real> row_factor_, column_factor_;              // of one sweep
  std::vector<Real> unused_row_scale_, unused_column_scale_;  // of the reduced problem
  int num_free_ = 0;
  int stride_ = 0;
  std::vector<Real> numbers_;  // the tableau, size × (size + 1) with q
  std::vector<int> open_equations_, open_variables_;
  std::vector<int> equations_, free_variables_;
  std::vector<char> is_swapped_;
};

}  // namespace stiction
