// Whether an answer obeys the laws, asked in the words of (T1)–(T4) and not by a projection: the
// conditions one by one, on the dense problem of state_enumeration.h. A second judge beside the
// certificate, with which it shares nothing, so that "never called converged wrongly" is more than
// the certificate's agreement with itself. And the error of the public collections, written down
// once more from their own description.
#pragma once

#include <cmath>
#include <vector>

#include "stiction/problem/step_problem.h"
#include "tests/solve/state_enumeration.h"

namespace stiction::testing {

VectorXd all_impulses(const StepSolution& solution);

/// Every number has the size that the problem asks for, and is finite.
bool is_well_formed(const StepProblem& problem, const StepSolution& solution);

/// Corners of a section in space; empty for the disc.
std::vector<Eigen::Vector2d> section_corners(const FrictionSection& section);

class LawCheck {
 public:
  LawCheck(const StepProblem& problem, const StepSolution& solution);

  /// The largest violation over the sum of all terms that impulses and velocities consist of. Zero
  /// for a solution; about the tolerance for an answer that is good to it.
  double violation() const { return size_ > 0 ? worst_ / size_ : worst_; }

 private:
  void blame(double violation) {  // in √J; NaN is the worst
    worst_ = violation > worst_ || std::isnan(violation) ? violation : worst_;
  }

  /// w = M̂⁻¹(p + Rᵀx), in the norm of kinetic energy.
  void check_momentum(const StepSolution& solution);

  /// (T2): inside the bounds; the slack is zero strictly between them and pushes outwards at one.
  void check_bilateral(int i);

  /// (T3), (T4): 0 ≤ ν ⊥ u_N ≥ 0; β ∈ μν·B; and no impulse of the section brakes more than β.
  void check_contact(int j);

  const StepProblem& problem_;
  DenseProblem dense_;
  VectorXd x_, u_, scale_;
  double size_ = 0, worst_ = 0;
};

/// The error of a local friction problem or an LCP as the public collections define it, for
/// contacts with the disc: ‖r − P(r − û)‖ / max(‖q‖, ‖r‖, ‖u‖), of LCPs ‖min(r, u)‖ / ‖q‖.
double error_of_collections(const StepProblem& problem, const StepSolution& solution);

}  // namespace stiction::testing
