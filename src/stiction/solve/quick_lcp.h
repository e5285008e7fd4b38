// First attempts at condensed problems of a few rows, which are solved in less time than the
// general solvers need to lay them out:
//
//   LCPs and mixed LCPs      equations out (QuickReduction), Lemke's method (LemkeSmall), and if
//   that
//                            ends on a ray, all bases of up to five variables
//   planar contacts          a few sweeps (QuickSweeps)
//
// No answer leaves without the judge's consent. Allocates only when sizes grow.
#pragma once

#include <array>

#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/lemke_small.h"
#include "stiction/solve/quick_reduction.h"

namespace stiction {

class QuickLcp {
 public:
  /// Tries to solve a problem from no impulses. False if this is not for it, or did not succeed;
  /// the solution then has the right size and no impulses.
  bool try_solve(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                 SolverReport& report);

 private:
  bool try_pivots(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                  SolverReport& report);
  bool try_bases(const StepProblem& problem, Acceptance& judge, StepSolution& solution);
  bool try_sweeps(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                  SolverReport& report);
  bool solve_basis(unsigned basis);

  static constexpr int kMaxEnumerated = 5;

  QuickReduction reduction_;
  LemkeSmall lemke_;
  std::array<double, QuickReduction::kMaxComplementary> z_ = {};
};

}  // namespace stiction
