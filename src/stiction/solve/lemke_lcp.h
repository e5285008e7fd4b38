// Lemke's method for dense mixed complementarity problems (lcp.h), with the lexicographic rule
// against cycling: it ends with a solution or on a ray after finitely many pivots, and for the
// friction problems of a step with positive definite mass it cannot end on a ray (Anitescu & Potra
// 2002, theorems 2.1 and 2.2). Degeneracy is their normal case, since q is zero in every row that
// belongs to a friction bound.
//
// The pivots only find a basis. The answer is computed from that basis and the original data by LU
// factors and iterative refinement, so that rounding in the dictionary does not reach it.
#pragma once

#include <cstdint>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/lcp.h"
#include "stiction/solve/lemke_dictionary.h"
#include "stiction/solve/lemke_revised.h"

namespace stiction {

struct LemkeOptions {
  int max_pivots = 0;            // 0: 50 + 20 per complementary variable
  int refresh_interval = 100;    // pivots between recomputations of the dictionary
  std::uint64_t cover_seed = 0;  // 0: covering vector of ones; else random in [1/2, 2)
  double dismissal = 0;          // z₀ below this share of the other z counts as zero; 0: rounding
  bool uses_dictionary = false;  // at any size: slower, but its zeros are exact more often
  bool has_fine_ties = false;    // tells ratios apart down to a few roundings
  const Deadline* deadline = nullptr;  // at which pivots end with kPivotLimit
};

template <class Real>
class LemkeLcp {
 public:
  /// Solves into z(). Storage is reused: no allocation once the largest problem has been seen. Free
  /// variables whose rows depend on others are set to zero; whether their equations hold is for the
  /// caller to check, as is the sign of rounding errors.
  LcpReport solve(const MixedLcp<Real>& lcp, const LemkeOptions& options);
  const std::vector<long double>& z() const { return z_; }
  /// Computes z() from the basis of the last solve, without a pivot. False if there is none for
  /// this size, or if it is singular or has the wrong signs. The caller judges z() in any case.
  bool try_last_basis(const MixedLcp<Real>& lcp);
  /// Pivots only: support() is the basis found, without the values of its variables.
  LcpReport find_basis(const MixedLcp<Real>& lcp, const LemkeOptions& options);
  /// Variables that are not fixed at zero: independent free ones, then complementary ones in order.
  const std::vector<int>& support() const { return support_; }

  /// One step of refinement, z ← z − A⁻¹y on the variables that are not fixed at zero, with y as
  /// computed by someone who knows better than A z + q does. After kSolved.
  void correct(const std::vector<Real>& y);

 private:
  void prepare(const MixedLcp<Real>& lcp, const LemkeOptions& options);
  void eliminate_free(const MixedLcp<Real>& lcp);
  void eliminate(int free, int size);
  int largest_diagonal(int stride) const;
  template <class Tableau>
  LcpReport pivot(Tableau& tableau, const LemkeOptions& options);
  bool finish(const MixedLcp<Real>& lcp);
  template <class Tableau>
  void collect_support(const Tableau& tableau);
  void refine(const MixedLcp<Real>& lcp);
  void apply_correction();

  LemkeDictionary<Real> dictionary_;  // for small problems
  LemkeRevised<Real> revised_;        // for the others
  LemkeData<Real> data_;
  const PivotTolerances<Real>* tolerances_ = nullptr;
  bool starts_feasible_ = false;
  std::vector<Real> cover_;          // d
  std::vector<Real> reduced_;        // A without the free variables, size × (size + 1) with q
  std::vector<Real> reduced_q_;      // q without the free variables
  std::vector<int> independent_;     // free variables that the others do not determine
  std::vector<Real> growth_;         // of rounding errors in the rows and columns of reduced_
  std::vector<char> is_eliminated_;  // free variables
  std::vector<int> support_;         // variables that are not fixed at zero
  std::vector<Real> basis_;          // LU factors of A on the support
  std::vector<int> basis_swap_;
  std::vector<Real> correction_;
  std::vector<long double> z_;
  int num_free_ = 0;
  int num_complementary_ = 0;
  bool has_basis_ = false;
};

}  // namespace stiction
