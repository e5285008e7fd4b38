#include "stiction/solve/newton_solver.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/admm_solver.h"
#include "stiction/solve/newton_interior.h"
#include "stiction/solve/newton_proximal.h"

namespace stiction {

struct NewtonSolver::Workspace {
  FrictionBlocks blocks;
  SaddleLu lu;
  AdmmIteration admm;
  ProximalNewton proximal;
  InteriorPoint interior;
  VectorXd x, u, other;
  double residual = 0;
  int iterations = 0;
  Deadline deadline;

  void start(const StepProblem& problem, const StepSolution& solution);
  void run_starter(const NewtonOptions& options);
  void run_proximal(const NewtonOptions& options, double first_alpha, int max_iterations);
  void run_interior(const NewtonOptions& options);
  void finish(const NewtonOptions& options);
};

void NewtonSolver::Workspace::start(const StepProblem& problem, const StepSolution& solution) {
  blocks.read_solution(problem, solution, x);
  blocks.compute_velocity(x, u);
  residual = blocks.residual(x, u);
  iterations = 0;
  // Impulses that are worse than none are no start.
  if (residual > 1 || !std::isfinite(residual)) {
    x.setZero();
    blocks.compute_velocity(x, u);
    residual = blocks.residual(x, u);
  }
}

void NewtonSolver::Workspace::run_starter(const NewtonOptions& options) {
  residual =
      admm.run(blocks, lu,
               {.tolerance = options.tolerance, .max_iterations = options.starter_iterations}, x);
}

void NewtonSolver::Workspace::run_proximal(const NewtonOptions& options, double first_alpha,
                                           int max_iterations) {
  residual = proximal.run(
      blocks, lu,
      {.tolerance = options.tolerance,
       .first_alpha = first_alpha,
       .max_iterations = std::min(max_iterations, options.max_iterations - iterations)},
      deadline, x);
  iterations += proximal.iterations();
}

void NewtonSolver::Workspace::run_interior(const NewtonOptions& options) {
  const double reached =
      interior.run(blocks, lu, {.tolerance = std::max(options.tolerance, 1e-9)}, deadline, other);
  iterations += interior.iterations();
  if (!(reached < residual)) return;
  residual = reached;
  x = other;
}

// The residual is measured against the whole problem. Parts of it that are almost at rest are known
// less well than that after ADMM; a few Newton steps beyond the tolerance set them right.
void NewtonSolver::Workspace::finish(const NewtonOptions& options) {
  constexpr double kHighAccuracy = 1e-9;
  if (options.tolerance > kHighAccuracy) return;
  NewtonOptions beyond = options;
  beyond.tolerance *= 1e-3;
  run_proximal(beyond, 1e-6, 4);
}

NewtonSolver::NewtonSolver(const NewtonOptions& options)
    : options_(options), workspace_(std::make_unique<Workspace>()) {}
NewtonSolver::~NewtonSolver() = default;

SolverReport NewtonSolver::solve(const StepProblem& problem, StepSolution& solution) {
  constexpr int kFirstAttempt = 60;  // Newton iterations before the interior point method is tried
  Workspace& work = *workspace_;
  if (!work.blocks.assemble(problem)) {
    solution.resize(problem);
    return {SolverStatus::kUnsupported};
  }
  work.deadline = Deadline(options_.max_seconds);
  work.start(problem, solution);
  const auto has_converged = [&] { return work.residual <= options_.tolerance; };
  int stage = 0;
  const bool is_solved_already = has_converged();
  if (!has_converged() && options_.starter_iterations > 0) work.run_starter(options_);
  if (!has_converged()) work.run_proximal(options_, 1e-2, kFirstAttempt);
  if (!has_converged() && options_.has_interior_stage) {
    stage = 1;
    work.run_interior(options_);
    if (!has_converged()) work.run_proximal(options_, 1e-6, kFirstAttempt);
  }
  if (!has_converged()) {
    stage = 2;
    work.run_proximal(options_, 1e-3, options_.max_iterations);
  }
  if (has_converged() && !is_solved_already) work.finish(options_);
  if (!is_solved_already) work.blocks.clear_rounding(work.x);
  work.blocks.write_solution(problem, work.x, solution);
  SolverStatus status = has_converged() ? SolverStatus::kConverged : SolverStatus::kMaxIterations;
  if (!std::isfinite(work.residual)) status = SolverStatus::kNonFinite;
  return {status, work.iterations, stage};
}

}  // namespace stiction
