#include "stiction/solve/interior_point_solver.h"

#include <algorithm>
#include <cmath>

namespace stiction {

InteriorPointSolver::InteriorPointSolver(const InteriorPointOptions& options)
    : options_(options), acceptance_(options.tolerance, options.measure) {}

bool InteriorPointSolver::is_warm_start_enough(const StepProblem& problem,
                                               const StepSolution& solution) {
  blocks_.read_solution(problem, solution, x_);
  blocks_.compute_velocity(x_, u_);
  residual_ = blocks_.residual(x_, u_);
  return residual_ <= options_.tolerance && acceptance_.accepts(problem, solution);
}

SolverReport InteriorPointSolver::solve(const StepProblem& problem, StepSolution& solution) {
  constexpr double kReach = 1e-9;  // beyond it rounding of almost active cones decides
  SolverReport report;
  if (!blocks_.assemble(problem, options_.measure)) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kUnsupported, .has_answer = false};
  }
  if (is_warm_start_enough(problem, solution)) return report;
  const double goal =
      options_.has_polish ? std::max(options_.tolerance, kReach) : options_.tolerance;
  constexpr double kFactorisations = 2;  // per iteration, at most
  const int limit = affordable_iterations(blocks_, lu_, options_.max_flops / kFactorisations,
                                          options_.max_iterations);
  if (limit == 0) {
    x_.setZero();
    blocks_.write_solution(problem, x_, solution);
    report.status = SolverStatus::kMaxIterations;
    return report;
  }
  residual_ = interior_.run(blocks_, lu_, {.tolerance = goal, .max_iterations = limit},
                            Deadline(options_.max_seconds), x_);
  report.iterations = interior_.iterations();
  if (!finish(problem, report, solution)) report.status = SolverStatus::kMaxIterations;
  if (!std::isfinite(residual_) || !solution.is_finite()) {
    report.status = SolverStatus::kNonFinite;
    solution.set_zero(problem);
  }
  return report;
}

/// Writes the answer and asks for acceptance; polishes further as long as it is refused and that
/// still helps.
bool InteriorPointSolver::finish(const StepProblem& problem, SolverReport& report,
                                 StepSolution& solution) {
  constexpr double kTighter = 0.1;
  for (double goal = options_.tolerance;; goal = kTighter * residual_) {
    if (residual_ > goal && options_.has_polish) {
      residual_ = polish_.run(blocks_, lu_, {.tolerance = goal}, x_);
      report.iterations += polish_.iterations();
      report.stage = 1;
    }
    written_ = x_;
    blocks_.clear_rounding(written_);
    blocks_.write_solution(problem, written_, solution);
    if (acceptance_.accepts(problem, solution)) return true;
    if (!(residual_ <= goal) || residual_ == 0) return false;
  }
}

}  // namespace stiction
