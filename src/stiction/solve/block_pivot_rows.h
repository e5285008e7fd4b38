// A step problem as a bounded complementarity problem over its rows (block_pivot_lcp.h): z are the
// impulses of bilateral rows, then contact rows, in the unit √J (scaled by 1/√W), and H is W.
// Bounds of tangents are linked to their normal.
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"
#include "stiction/solve/block_pivot_lcp.h"
#include "stiction/solve/delassus.h"

namespace stiction {

class BlockPivotRows {
 public:
  enum class Outcome { kAssembled, kSingularMass, kNonFinite };
  Outcome assemble(const StepProblem& problem);
  const BoundedLcp& lcp() const { return lcp_; }
  /// Takes the bounds of tangents from the normal impulses of z.
  void update_friction_bounds(const std::vector<double>& z);
  bool has_friction() const { return has_friction_; }
  /// q ← q of the problem − δz: the proximal step around z.
  void shift_vector(const std::vector<double>& z, double regularization);

  /// The impulses of z, brought within their bounds, the velocities that they give by the data of
  /// the problem, and w from those.
  void evaluate(const StepProblem& problem, const std::vector<double>& z);
  /// w of the last evaluation.
  const std::vector<double>& w() const { return w_; }
  /// Writes what evaluate has found.
  void write(const StepProblem& problem, StepSolution& solution) const;

 private:
  void compute_scales(const StepProblem& problem);
  void bound_rows(const StepProblem& problem);
  void link_tangents(const StepProblem& problem);

  Delassus<double> delassus_;
  BoundedLcp lcp_;
  bool has_friction_ = false;
  std::vector<double> vector_;  // q of the problem
  std::vector<double> scale_;   // s = 1/√W of each row
  std::vector<long double> impulse_;
  std::vector<long double> velocity_;
  std::vector<double> u_, magnitude_;  // of rows
  std::vector<double> w_;
};

}  // namespace stiction
