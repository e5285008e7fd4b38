// Solves friction problems with the disc to rounding. Attempts in turn, each starting from the best
// impulses so far unless it says otherwise (`stage` of the report):
//
//   0 the warm start as it is, or a few dozen iterations of ADMM, then semi-smooth Newton steps
//     with a proximal term (ProximalNewton)
//   1 the interior point method from inside the cones, then the proximal Newton steps again
//   2 proximal Newton steps until the budget is spent
//
// Redundant contacts and joints and nonsymmetric W are allowed. Keeps the best iterate by its own
// residual and says so if that is not good enough. Refuses box and polygon sections in space.
#pragma once

#include <memory>

#include "stiction/problem/solver.h"

namespace stiction {

struct NewtonOptions {
  double tolerance = 1e-10;      // relative natural-map residual, see FrictionBlocks::residual
  int max_iterations = 2000;     // Newton and interior point iterations
  double max_seconds = 0;        // 0: no limit
  int starter_iterations = 100;  // of ADMM; 0: none
  bool has_interior_stage = true;
};

class NewtonSolver : public Solver {
 public:
  explicit NewtonSolver(const NewtonOptions& options = {});
  ~NewtonSolver() override;

  std::string_view name() const override { return "newton"; }
  SolverReport solve(const StepProblem& problem, StepSolution& solution) override;

 private:
  struct Workspace;
  NewtonOptions options_;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction
