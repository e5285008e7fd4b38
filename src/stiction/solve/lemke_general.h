// Lemke's method for mixed complementarity problems with any matrix: LCPs and circuits from files,
// not the friction problems of mechanics, whose positive definite mass LemkeLcp relies on. The
// problem is equilibrated and freed of its equations by LemkeReduction, solved by LemkeLcp, and the
// answer is computed from the basis that was found, with the equilibrated matrix.
//
// For matrices outside the classes of Lemke's theorems a ray says little. Other covering vectors
// take other paths; where all fail, solve_by_enumeration looks at every basis of a small problem.
#pragma once

#include <vector>

#include "stiction/solve/lcp.h"
#include "stiction/solve/lemke_lcp.h"
#include "stiction/solve/lemke_reduction.h"

namespace stiction {

template <class Real>
class LemkeGeneral {
 public:
  /// As LemkeLcp::try_last_basis. The problem must live as long as the calls below.
  bool try_last_basis(const MixedLcp<Real>& lcp);
  /// Takes a problem, which must live as long as the calls below.
  void prepare(const MixedLcp<Real>& lcp);

  LcpReport solve(const LemkeOptions& options);
  /// Tries all 2ⁿ complementary bases of a problem with at most kMaxEnumerated complementary
  /// variables, kSingular without a look at larger ones. Finds a solution if one has a nonsingular
  /// basis; kRay if none has.
  LcpReport solve_by_enumeration();
  static constexpr int kMaxEnumerated = 16;

  const std::vector<long double>& z() const { return z_; }
  /// As LemkeLcp::correct.
  void correct(const std::vector<Real>& y);

 private:
  bool finish(const std::vector<int>& support);
  bool finish_basis();
  void collect_basis(const std::vector<int>& support);
  void refine();
  void apply_correction();
  bool is_solution(const std::vector<int>& support);

  const MixedLcp<Real>* lcp_ = nullptr;
  LemkeReduction<Real> reduction_;
  LemkeLcp<Real> lemke_;
  std::vector<int> candidate_;       // of enumeration
  std::vector<Real> candidate_z_;    // on the candidate
  std::vector<int> rows_, columns_;  // equations that hold, variables that are not fixed at zero
  std::vector<Real> basis_;          // LU factors of the equilibrated matrix there
  std::vector<int> basis_swap_;
  std::vector<Real> correction_;
  std::vector<long double> z_;
  int num_free_ = 0, num_complementary_ = 0;  // of the last solve
  bool has_basis_ = false;
};

}  // namespace stiction
