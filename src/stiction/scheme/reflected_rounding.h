// Rows on the mean velocity w = (v + v⁺)/2 reflect what the start has of their velocity: s(w) = 0
// makes s(v⁺) = −s(v). For motion that is how the scheme keeps its order and its energy. But what
// rounding and solvers leave in the velocity of a row stays there as well, and all that follows
// gathers with it. Where the start fulfils a rigid row to rounding, it acts on v⁺ instead:
//
//   ½ s(v⁺) = s(w) − ½ s(v)   for s(w),   if |s(v)| ≤ τ                                     (T39)
//
// with s = G v + Cλ − b of joints, and u = J v + b of contacts, both tangents at once. τ is a share
// of the speeds that there are and that forces and impulses make in the step, and what a row
// yields; no velocity of a row changes by more. Below the rounding of the sum s(v) there is nothing
// to take back: what rolls steadily goes on to the bit. So does what is above τ.
#pragma once

#include <vector>

#include "stiction/scheme/assembly.h"

namespace stiction {

class ReflectedRounding {
 public:
  /// Changes rows of the problem of a substep that starts with `v`; `impulses` are those that the
  /// last one lets expect.
  void take_back(const VectorXd& v, const StepSolution& impulses, StepAssembly& assembly);

 private:
  void measure_limits(const VectorXd& v, const StepSolution& impulses, const StepProblem& problem);
  void add_impulses(const BlockRows& rows, const double* impulses, const StepProblem& problem);
  /// Of speeds of a row that are taken back.
  struct Range {
    double least = 0;  // [m/s] rounding of a sum R v
    double most = 0;   // [m/s] τ
    bool contains(double speed) const { return speed > least && speed <= most; }
  };
  Range range_of(const BlockRows& rows, int row_block, int row, const VectorXd& v,
                 const StepProblem& problem) const;
  void take_back_joints(const VectorXd& v, const StepSolution& impulses, StepAssembly& assembly);
  void take_back_contacts(const VectorXd& v, StepProblem& problem) const;

  std::vector<double> limits_;  // [m/s] τ of the coordinates
};

}  // namespace stiction
