// A few Gauss–Seidel sweeps over the contacts of a condensed problem in the plane (no bodies,
// contacts of a normal and at most one tangent), on the coupling K as it is stored: no layout, no
// copies, no allocation. For problems of a handful of contacts that hardly interact, for which the
// preparations of NsgsSolver take longer than the answer. Gives up early; what it finds has to be
// checked by the caller.
#pragma once

#include "stiction/problem/step_problem.h"

namespace stiction {

class QuickSweeps {
 public:
  static constexpr int kMaxSweeps = 30;

  static bool takes(const StepProblem& problem);

  explicit QuickSweeps(const StepProblem& problem) : problem_(problem) {}

  /// Sweeps until impulses change by no more than `tolerance` of their size, from r, which has the
  /// size of the problem. False if that seems to take more than kMaxSweeps, or a contact has no
  /// solution.
  bool sweep_until(double tolerance, double* r);
  /// One sweep; false if a contact has no solution.
  bool sweep(double* r);

  int num_sweeps() const { return num_sweeps_; }

 private:
  bool visit(int contact, double* r);
  void replace(double& impulse, double value);

  const StepProblem& problem_;
  int num_sweeps_ = 0;
  double change_ = 0;   // squared, of the last sweep
  double impulse_ = 0;  // squared, after it
};

}  // namespace stiction
