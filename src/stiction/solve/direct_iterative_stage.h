// The direct half of the direct–iterative splitting ([SPOOK] §16, (96)): joints, bounded rows and
// contact normals together, while friction impulses β keep their values,
//
//   M̂ w = p + Gᵀλ + Nᵀν + Tᵀβ,   (T2) for λ,   0 ≤ N w + c_N ν + b_N ⊥ ν ≥ 0.
//
// A mixed complementarity problem, solved by block principal pivoting over the saddle LDLᵀ: every
// row is free (its equation holds) or at a bound; rows with a wrong sign change sides, all at once,
// or one at a time by Murty's rule while that does not make them fewer. A change of sides refactors
// a path of the elimination tree.
//
// Normals that depend on each other make the matrix singular. They get a tiny compliance δ that
// proximal steps remove: (N w)_i + c ν_i + δ(ν_i − ν̄_i) with ν̄ the result of the step before.
// Joints get none: they hold to rounding; dependent ones are named by the LDLᵀ.
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/contact_blocks.h"
#include "stiction/solve/saddle_ldlt.h"

namespace stiction {

class DirectStage {
 public:
  struct Report {
    bool is_solved = false;  // no wrong signs left
    int rounds = 0;          // factorisations, full or partial
    int fronts = 0;          // refactored in all of them
  };

  /// Prepares for a problem. `x` are impulses and `velocity` the velocities of all rows that go
  /// with them, from which the first sides are guessed. kFactored if the matrix of these sides is.
  [[nodiscard]] SaddleLdlt::Status prepare(const StepProblem& problem, const ContactBlocks& blocks,
                                           const double* x, const double* velocity);

  /// Overwrites λ and ν in the impulses x of all rows; β stays. `energy_scale` [√J] is the size of
  /// impulses in x √ω that counts as one. If no complementary answer is found, the last one is left
  /// there, whose joints hold all the same while some normals may pull.
  Report solve(double* x, double energy_scale);

  const SaddleLdlt& factors() const { return ldlt_; }

 private:
  enum class Side : char { kOutside, kFree, kLower, kUpper };

  void add_row(int row, double omega, double lower, double upper);
  void choose_sides(const double* x, const double* velocity);
  bool pivot(double* x, Report& report);
  bool factor_and_solve(const double* x, Report& report);
  void form_right_side(const double* x);
  int find_wrong_rows();
  Side wanted_side(int row) const;
  bool take_answer(double* x, bool is_solved);
  double slack(int row) const;

  const StepProblem* problem_ = nullptr;
  SaddleLdlt ldlt_;
  std::vector<int> rows_;     // that may take part
  std::vector<char> active_;  // per row
  std::vector<Side> side_;
  std::vector<double> lower_, upper_, omega_, delta_, center_;
  std::vector<double> f_, g_, w_, answer_;
  std::vector<int> wrong_;
  double scale_ = 1;
};

}  // namespace stiction
