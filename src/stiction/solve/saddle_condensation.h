// A small step problem without its bodies, joints and springs: with w and the impulses λ of the
// unbounded bilateral rows eliminated at once, what is left is a problem in the impulses of the
// others alone,
//
//   u = A x + q,      A = R S⁻¹Rᵀ + D,      S = [M̂ −Gᵀ; G C]  (and no impulses of other rows),
//
// a step problem with nothing but direct coupling. Eliminating w first, as the Delassus matrix
// does, loses the compliance of a spring of 10¹² N/m beside the mobility of the milligram that it
// holds, and with it what decides between contacts that press on the two. S has both at full
// precision, and rows that are stiff in A are so in their own units.
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/saddle_system.h"

namespace stiction {

class SaddleCondensation {
 public:
  /// Above this number of degrees of freedom and rows it does not try.
  static constexpr int kMaxSize = 200;

  /// False if the problem is too large, has direct coupling already or nothing to condense. Bounded
  /// bilateral rows stay bilateral rows, contacts keep their order.
  bool condense(const StepProblem& problem, StepProblem& condensed);
  /// Velocities and impulses of the problem condensed last, for an answer to the condensed one.
  void expand(const StepProblem& problem, const StepSolution& answer, StepSolution& solution);

 private:
  using Real = SaddleSystem::Real;
  void list_kept_rows(const StepProblem& problem);
  void factor();
  void solve_for(int kept, std::vector<Real>& response);
  void add_rows(const StepProblem& problem, StepProblem& condensed) const;
  void fill_coupling(StepProblem& condensed);
  Real velocity(int row, const std::vector<Real>& response) const;

  SaddleSystem system_;
  PivotedLu lu_;
  std::vector<int> kept_;                     // rows of the problem that stay
  std::vector<char> is_kept_;                 // num_rows
  std::vector<std::vector<Real>> responses_;  // of all unknowns to unit impulses of kept rows
  std::vector<Real> free_;                    // w and λ without them
};

}  // namespace stiction
