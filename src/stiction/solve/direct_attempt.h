// A first attempt at step problems of joint systems: chains, trees and loops of bodies with many
// rows that always hold, few that are bounded (motors, limits, friction in joints) and few
// contacts. With the statuses of the latter given,
//
//   a bounded row holds, or its impulse is at a bound;   a contact sticks, or is open,
//
// the step is a linear system, solved by block LU factors (joint_lu.h) with refinement, in time
// linear in the number of bodies. Statuses that turn out wrong are exchanged and the factors
// computed again: all at once while that makes them fewer, then one by one (block principal
// pivoting). Contacts that slip are left to others.
//
// Rows that depend on each other share the load: of all impulses that do the same, those with the
// smallest Σ S_ii λ_i² are chosen, S_ii the mobility of the bodies at a row. Rows with compliance
// share it as their compliances say.
//
// No answer leaves without the judge's consent. Allocates only when sizes grow.
#pragma once

#include <vector>

#include "stiction/problem/solver.h"
#include "stiction/solve/acceptance.h"
#include "stiction/solve/joint_lu.h"

namespace stiction {

class DirectAttempt {
 public:
  /// Whether this could be for a problem: joints, few contacts, no direct coupling.
  static bool is_for(const StepProblem& problem);

  /// Whether `solution`, of the right size, is so far from an answer that no judge needs to be
  /// asked: a look at a few mass blocks, for starts that have moved on.
  [[nodiscard]] bool is_far_off(const StepProblem& problem, const StepSolution& solution);

  /// Tries to solve a problem. Statuses start from the impulses in `solution` if they fit, the
  /// numbers of an answer do not depend on them. False if it did not succeed; the solution is
  /// unchanged then. `iterations` of the report count factorisations.
  bool try_solve(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                 SolverReport& report);

  /// Rows of the last attempt that depend on others, increasing; for the tests.
  const std::vector<int>& redundant_rows() const { return lu_.redundant_rows(); }
  const JointLu& factors() const { return lu_; }

 private:
  enum class Side : char { kHeld, kLower, kUpper, kOff };
  /// A row whose status may change; the tangents of a contact follow its normal.
  struct Switch {
    int row = 0, contact = -1;  // contact: −1 for a bilateral row
    int num_tangents = 0;       // of a contact with friction
    double mu = 0;
    double lower = 0, upper = 0;
    double root = 0;  // √W of its mobility, by the diagonal of M̂
  };

  void set_up(const StepProblem& problem, const StepSolution& solution);
  void add_switch(const Switch& candidate, double impulse);
  void set_side(const Switch& item, Side side);
  bool find_statuses(const StepProblem& problem, SolverReport& report);
  bool factor_and_solve(const StepProblem& problem);
  void find_wrong(const StepProblem& problem);
  Side wanted_side(const StepProblem& problem, const Switch& item, double tolerance) const;
  double compute_slack(const StepProblem& problem, const Switch& item) const;
  double compute_scale() const;
  bool has_slip() const;
  bool refine_until_judged(const StepProblem& problem, Acceptance& judge);
  void write(const StepProblem& problem);

  JointLu lu_;
  std::vector<Side> side_;     // per row
  std::vector<char> active_;   // per row: held
  std::vector<double> fixed_;  // per row: its impulse if it is not held
  std::vector<Switch> switches_;
  std::vector<int> wrong_;  // of switches_
  std::vector<double> f_, g_;
  StepSolution trial_;
  bool has_start_ = false;
  bool is_damped_ = false;  // rows depend on others
};

}  // namespace stiction
