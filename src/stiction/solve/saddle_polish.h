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

  /// How far rows that hold miss all the same. The certificate may forgive it, but a joint between
  /// stiff springs would drift by it, and impulses far beyond the data do work on it.
  struct Miss {
    /// The largest error in √J as a share of the momenta and biases of the problem.
    double of_data = 0;
    /// The largest error as a share of the motion of the bodies at that row; above kNoDrift that is
    /// more than rounding.
    double of_motion = 0;
    /// What differs by rounding of the data is told apart by motions.
    bool operator<(const Miss& other) const;
  };
  /// One pass over the rows; 0 for problems with direct coupling.
  static Miss compute_miss(const StepProblem& problem, const StepSolution& answer);
  static double compute_drift(const StepProblem& problem, const StepSolution& answer) {
    return compute_miss(problem, answer).of_motion;
  }

  /// Solves `problem` from `answer`, which has to be finite and of the right size, into `polished`.
  /// True if that is the better one: in its certificate or, if both are below `enough`, in what its
  /// rows miss. Does not try above kMaxSize. Does not allocate once its storage has grown.
  bool polish(const StepProblem& problem, const StepSolution& answer, double enough,
              StepSolution& polished);

  /// Tries all combinations of statuses of a problem that has no more than kMaxCombinations of
  /// them, until the certificate of one is at most `enough`; the best one is the answer. False if
  /// none was tried. For what pivoting cannot tell apart: between stiff springs velocities that say
  /// which contact slips can be 10⁻²⁰ of what the impulses amount to.
  static constexpr int kMaxCombinations = 6000;
  bool enumerate(const StepProblem& problem, double enough, StepSolution& best);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction
