// Lemke's method for dense linear complementarity problems from anywhere,
//
//   w = M z + q,   0 ≤ z ⊥ w ≥ 0,
//
// M of any kind: the way in for callers who have a matrix and no step problem. A quick attempt by
// LemkeSmall or LemkeLcp comes first, then what LemkeGeneral knows about bad scales, other covering
// vectors and long double. Every answer is measured with the data given, and one that misses the
// tolerance is never called solved.
#pragma once

#include <memory>
#include <vector>

#include "stiction/solve/lcp.h"
#include "stiction/solve/lemke_small.h"

namespace stiction {

enum class MatrixOrder { kRowMajor, kColumnMajor };

struct LemkeDenseOptions {
  double tolerance = 1e-12;  // [-] of the error, see LemkeDenseReport
};

struct [[nodiscard]] LemkeDenseReport {
  /// kSolved only if the error meets the tolerance; kInaccurate: z is the best that was found.
  LcpStatus status = LcpStatus::kSolved;
  int pivots = 0;  // of all attempts
  /// Σ|v_i| / max|q_i| with v_i = min(a_i z_i, w_i), a_i = max(1, max_j |M_ij|), or Σ|v_i| if q
  /// vanishes. At least the error of the public LCP collection, which takes norms in place of sum
  /// and maximum, and has a_i = 1, so that it believes any z > 0 where M is huge. Infinite if there
  /// is no answer.
  double error = 0;
  int stage = 0;  // 0: the quick attempt sufficed
};

class LemkeDense {
 public:
  explicit LemkeDense(const LemkeDenseOptions& options = {});
  ~LemkeDense();

  /// M is size × size without gaps, q and z of the size. Without an answer z is zero. Throws
  /// InputError for a negative size or a number that is not finite. Allocates when a size comes for
  /// the first time, and for sizes up to LemkeSmall::kMaxSize only if the quick attempt fails.
  LemkeDenseReport solve(int size, const double* matrix, const double* q, double* z,
                         MatrixOrder order = MatrixOrder::kRowMajor);
  /// The quick attempt alone, row-major, for callers with means of their own: false, and z of no
  /// use, if it misses the tolerance or the problem is larger than LemkeSmall::kMaxSize.
  bool try_quickly(int size, const double* matrix, const double* q, double* z, int& pivots);
  /// w of the last answer.
  const std::vector<double>& w() const { return w_; }

 private:
  struct Workspace;
  bool try_small(const DenseLcpView& lcp, LemkeDenseReport& report, double* z);
  void solve_carefully(const DenseLcpView& lcp, LemkeDenseReport& report, double* z);
  template <class Real, class Method>
  bool improve(const DenseLcpView& lcp, const LcpReport& found, const Method& method,
               LemkeDenseReport& report, double* z);
  template <class Real>
  bool try_general(const DenseLcpView& lcp, LemkeDenseReport& report, double* z);

  LemkeDenseOptions options_;
  LemkeSmall small_;
  std::vector<double> w_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction
