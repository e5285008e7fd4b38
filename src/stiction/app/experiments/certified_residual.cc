#include "stiction/app/experiments/certified_residual.h"

#include "stiction/problem/certificate.h"
#include "stiction/solve/solvers.h"

namespace stiction::experiments {

double certified_residual(const StepProblem& problem, const std::string& solver, double tolerance) {
  StepSolution solution;
  solution.resize(problem);
  const SolverReport report = make_solver(solver, tolerance)->solve(problem, solution);
  if (report.status == SolverStatus::kUnsupported) return 1;
  Certifier certifier;
  return certifier.certify(problem, solution).residual();
}

}  // namespace stiction::experiments
