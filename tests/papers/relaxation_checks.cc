#include "tests/papers/relaxation_checks.h"

namespace stiction::testing {

Sweeps sweep(const StepProblem& problem, PgsVariant variant, int max_sweeps) {
  PgsSolver solver({.max_iterations = max_sweeps, .variant = variant, .warm_start = false});
  StepSolution solution;
  solution.resize(problem);
  Sweeps found;
  found.has_converged = solver.solve(problem, solution).status == SolverStatus::kConverged;
  found.residual = solver.history().residual;
  for (std::size_t i = 1; i < found.residual.size(); ++i) {
    if (solver.history().num_state_changes[i] > 0) ++found.num_changing;
    if (found.residual[i] > 1.5 * found.residual[i - 1]) ++found.num_jumps;
  }
  return found;
}

}  // namespace stiction::testing
