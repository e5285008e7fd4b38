// The solver for those who do not want to choose. Small problems that Lemke's method takes are
// solved by it, to rounding; others by Gauss–Seidel sweeps, and what those leave open by Newton's
// method, starting from their answer. Deterministic: the choice depends on the problem alone.
#pragma once

#include "stiction/problem/solver.h"
#include "stiction/solve/lemke_solver.h"
#include "stiction/solve/newton_solver.h"
#include "stiction/solve/nsgs_solver.h"

namespace stiction {

class AutoSolver final : public Solver {
 public:
  /// `tolerance` is that of the iterative solvers, on their own relative residual.
  explicit AutoSolver(double tolerance);

  std::string_view name() const override { return "auto"; }
  /// `stage` of the report is 10 per solver tried before, plus the stage of the last one.
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;

 private:
  LemkeSolver lemke_;
  NsgsSolver nsgs_;
  NewtonSolver newton_;
};

}  // namespace stiction
