#include "stiction/solve/admm_solver.h"

#include <algorithm>
#include <cmath>

namespace stiction {

AdmmSolver::AdmmSolver(const AdmmOptions& options)
    : options_(options), acceptance_(options.tolerance, options.measure) {}

/// The equations of motion in the form that suits the problem; null if it is not one for ADMM.
AdmmSystem* AdmmSolver::assemble(const StepProblem& problem) {
  const bool wants_saddle = options_.form == AdmmForm::kSaddle ||
                            (options_.form == AdmmForm::kAuto && saddle_.is_worth_it(problem));
  if (wants_saddle && saddle_.assemble(problem, options_.measure)) {
    form_ = AdmmForm::kSaddle;
    return &saddle_;
  }
  form_ = AdmmForm::kDelassus;
  if (!blocks_.assemble(problem, options_.measure)) return nullptr;
  delassus_.bind(blocks_, &lu_);
  return &delassus_;
}

/// True if the answer is accepted.
bool AdmmSolver::iterate(AdmmSystem& system, const StepProblem& problem, StepSolution& solution) {
  constexpr double kLeast = 0.1, kMost = 0.7;  // of the own goal, after a refusal
  AdmmIteration::Limit limit{.tolerance = options_.tolerance,
                             .max_iterations = options_.max_iterations,
                             .deadline = Deadline(options_.max_seconds)};
  while (true) {
    const double residual = iteration_.go_on(system, limit, x_);
    system.write_solution(problem, x_, solution);
    const double measured = acceptance_.measure(problem, solution);
    if (measured <= options_.tolerance) return true;
    if (!(residual <= limit.tolerance) || residual == 0) return false;
    // The motion (T23) is a square: errors have to fall by the root of what is missing.
    const double missing = std::sqrt(options_.tolerance / measured);
    limit.tolerance = residual * std::clamp(0.9 * missing, kLeast, kMost);
  }
}

SolverReport AdmmSolver::solve(const StepProblem& problem, StepSolution& solution) {
  AdmmSystem* system = assemble(problem);
  if (!system) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kUnsupported, .has_answer = false};
  }
  system->read_solution(problem, solution, x_);
  iteration_.start(*system, options_, x_);
  if (iteration_.residual() <= options_.tolerance && acceptance_.accepts(problem, solution))
    return {};
  const bool is_accepted = iterate(*system, problem, solution);
  SolverStatus status = is_accepted ? SolverStatus::kConverged : SolverStatus::kMaxIterations;
  const bool has_answer = std::isfinite(iteration_.residual()) || iteration_.is_finite();
  if (!has_answer || !solution.is_finite()) {
    status = SolverStatus::kNonFinite;
    solution.set_zero(problem);
  }
  return {status, iteration_.iterations()};
}

}  // namespace stiction
