// Whether a step problem has the answer w = 0, and with which impulses: those of a static
// equilibrium,
//
//   p + Gᵀλ + Jᵀr = 0,   λ ∈ [lo, hi],   r ∈ K,   rows that hold at w = 0                  (T37)
//
// If there are any, they are an answer of (T1)–(T4) without motion; a body that is about to creep
// has none, however slow it is. The judge is the certificate at a precision near rounding, far
// below the tolerance of a simulation: what passes is at rest, not nearly so.
//
// Impulses that balance the forces up to the tolerance of a solver are made to do so by the least
// change of each relative to its distance from the boundary of its cone or bounds: conjugate
// gradients on R D Rᵀ, as large as the bodies. Impulses at the boundary stay as they are. It may
// fail where an equilibrium exists, never the other way round.
#pragma once

#include <vector>

#include "stiction/problem/certificate.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

class RestFinder {
 public:
  /// `precision` is that of the certificate.
  explicit RestFinder(double precision) : precision_(precision) {}

  /// Starts from the impulses in `solution`. If w = 0 is an answer it is there, with impulses that
  /// survive a division by h and the multiplication with it to the bit, and the return value is the
  /// number of iterations it took, 0 for impulses that did as they were. Otherwise −1, and
  /// `solution` holds nothing of use.
  int find(const StepProblem& problem, StepSolution& solution);

 private:
  void admit(const StepProblem& problem, StepSolution& solution);
  void admit_row(const StepProblem& problem, int row, double& lambda);
  void admit_contact(const StepProblem& problem, int contact, double* r);
  void measure_scale(const StepProblem& problem);
  void measure_imbalance(const StepProblem& problem, const StepSolution& solution);
  double relative_imbalance(const StepProblem& problem) const;
  bool accepts(const StepProblem& problem, StepSolution& solution);
  void factor_preconditioner(const StepProblem& problem);
  void precondition(const StepProblem& problem, const std::vector<double>& x,
                    std::vector<double>& y) const;
  void apply(const StepProblem& problem, const std::vector<double>& y, std::vector<double>& out);
  int balance(const StepProblem& problem, StepSolution& solution);

  double precision_;
  Certifier certifier_;
  double speed_ = 0;            // [m/s] that forces alone give to a block, the largest
  std::vector<double> room_;    // D per row, bilateral rows first: [N s] to the boundary
  std::vector<double> answer_;  // D R y per row
  std::vector<double> blocks_;  // of the preconditioner, Cholesky factors
  std::vector<double> imbalance_, y_, z_, direction_, image_;  // per coordinate
};

}  // namespace stiction
