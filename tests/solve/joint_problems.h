// Joint systems as step problems beside those of saddle_ldlt_problems.h: loops with rows that
// depend on each other, mass blocks that are not symmetric, and the dense form of a step.
#pragma once

#include <Eigen/Core>

#include "stiction/problem/step_problem.h"
#include "tests/solve/saddle_ldlt_problems.h"

namespace stiction::testing {

/// Adds an antisymmetric part to the angular corner of every block of size six, as the implicit
/// gyroscopic term does, of the given share of its inertia.
void make_gyroscopic(StepProblem& problem, double share);

/// Two rails of bodies joined by rungs, hinges everywhere: one loop per rung, all rows independent
/// in general position but more of them than velocities.
StepProblem make_ladder(int num_loops, double compliance = 0);

/// Loops of bars with parallel hinges (axis z) in a plane, which can move: crank, coupler and
/// rocker per loop, on the ground and on the rocker before. Three of the rows of every loop depend
/// on others.
StepProblem make_four_bars(int num_loops, double compliance = 0);

inline StepProblem make_four_bar(double compliance = 0) { return make_four_bars(1, compliance); }

/// A z = b with z = (w, x) and the equations M̂w − Rᵀx = p, R w + C x = b, bilateral rows only.
struct DenseStep {
  explicit DenseStep(const StepProblem& problem);

  Eigen::VectorXd join(const StepSolution& solution) const;
  Eigen::MatrixXd inverse_mass_times(const Eigen::MatrixXd& f) const;
  /// R M̂⁻¹Rᵀ + C
  Eigen::MatrixXd delassus() const;
  /// b − R M̂⁻¹p
  Eigen::VectorXd free_rows() const;

  int num_dofs, num_rows;
  Eigen::MatrixXd A;
  Eigen::VectorXd b;
};

}  // namespace stiction::testing
