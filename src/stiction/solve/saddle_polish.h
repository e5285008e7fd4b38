// The last digits of a small step problem, after any solver that found which contacts are open,
// stick or slip and which bounds are met. With these statuses fixed the step is a square system,
//
//   M̂ w − Rᵀx = p,   and per row  u = 0,  or x = 0,  or x at its bound,  or β on the side of μν·B
//
// (R = [G; J], u the row velocities of (T2)–(T4)), and is solved with w as an unknown of its own.
// Solvers that eliminate it, w = M̂⁻¹(p + Rᵀx), give a light body the rounding of the impulses over
// its mass: where springs of 10¹² N/m hold it between heavy bodies that is more than its motion,
// which the rows alone know well. Here rows hold to rounding of w, and the balance of momentum to
// rounding of the impulses, whatever the compliances and masses.
//
// Newton steps on all of it in long double; LU with full pivoting of the scaled matrix. Redundant
// rows end the factorisation early, and the impulses that are left keep their values. Statuses are
// read again after every step. Dense and cubic: for problems of a few hundred unknowns.
#pragma once

#include <memory>

#include "stiction/problem/step_problem.h"

namespace stiction {

class SaddlePolish {
 public:
  /// Above this number of degrees of freedom and rows it does not try.
  static constexpr int kMaxSize = 200;
  static constexpr double kNoDrift = 1e-10;

  SaddlePolish();
  ~SaddlePolish();

  /// The largest share of the motion of the bodies at a row that holds by which it misses all the
  /// same; above kNoDrift that is more than rounding. The certificate may forgive it beside the
  /// impulses, but a joint between stiff springs would drift by it. One pass over the rows; 0 for
  /// problems with direct coupling.
  static double compute_drift(const StepProblem& problem, const StepSolution& answer);

  /// Solves `problem` from `answer`, which has to be finite and of the right size, into `polished`.
  /// True if that is the better one: in its certificate or, if both are below `enough`, in its
  /// drift. Does not try above kMaxSize. Does not allocate once its storage has grown.
  bool polish(const StepProblem& problem, const StepSolution& answer, double enough,
              StepSolution& polished);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction
