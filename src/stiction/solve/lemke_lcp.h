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

#include "stiction/solve/lcp.h"
#include "stiction/solve/lemke_dictionary.h"

namespace stiction {

struct LemkeOptions {
  int max_pivots = 0;            // 0: 50 + 20 per complementary variable
  int refresh_interval = 100;    // pivots between recomputations of the dictionary
  std::uint64_t cover_seed = 0;  // 0: covering vector of ones; else random in [1/2, 2)
  double dismissal = 0;          // z₀ below this share of the other z counts as zero; 0: rounding
};

template <class Real>
class LemkeLcp {
 public:
  /// Solves into z(). Storage is reused: no allocation once the largest problem has been seen. Free
  /// variables whose rows depend on others are set to zero; whether their equations hold is for the
  /// caller to check, as is the sign of rounding errors.
  LcpReport solve(const MixedLcp<Real>& lcp, const LemkeOptions& options);
  const std::vector<long double>& z() const { return z_; }

  /// One step of refinement, z ← z − A⁻¹y on the variables that are not fixed at zero, with y as
  /// computed by someone who knows better than A z + q does. After kSolved.
  void correct(const std::vector<Real>& y);

 private:
  void prepare(const MixedLcp<Real>& lcp, const LemkeOptions& options);
  void eliminate_free(const MixedLcp<Real>& lcp);
  void eliminate(int free, int size);
  int largest_diagonal(int stride) const;
  LcpReport pivot(const LemkeOptions& options);
  int blocking_row(int entering);
  bool refresh();
  bool finish(const MixedLcp<Real>& lcp);
  void collect_support();
  void refine(const MixedLcp<Real>& lcp);
  void apply_correction();

  LemkeDictionary<Real> dictionary_;
  typename LemkeDictionary<Real>::Data data_;
  bool starts_feasible_ = false;
  int since_refresh_ = 0;            // pivots
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
};

}  // namespace stiction
