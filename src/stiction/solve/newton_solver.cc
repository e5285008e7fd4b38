#include "stiction/solve/newton_solver.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/admm_solver.h"
#include "stiction/solve/newton_interior.h"
#include "stiction/solve/newton_polish.h"
#include "stiction/solve/newton_proximal.h"

namespace stiction {

namespace {

/// Of the own residual: nothing is left to gain.
constexpr double kExact = 1e-14;

constexpr int kSmallRows = 60;  // below it Newton steps from zero cost less than any starter
constexpr int kPlainIterations = 12;
constexpr double kNear = 1e-3;     // residuals from which plain steps may be polished
constexpr int kFirstAttempt = 40;  // Newton iterations before the interior point method is tried
constexpr int kChunk = 400;        // Newton iterations between two attempts to polish
constexpr double kLoose = 1e-5;    // tolerances that ADMM reaches by itself
constexpr int kShortStart = 30;    // ADMM iterations after which statuses may already be right
constexpr int kStarterFactorisations = 10;  // that ADMM makes, about
constexpr int kMaxRefusals = 4;
constexpr double kTighter = 0.1;  // of the own goal after a refusal

}  // namespace

struct NewtonSolver::Workspace {
  FrictionBlocks blocks;
  SaddleLu lu;
  AdmmIteration admm;
  SemismoothNewton plain;
  ProximalNewton proximal;
  InteriorPoint interior;
  NewtonPolish polish;
  KeptVector x, u, other;
  double goal = 0;  // for the own residual
  double residual = 0;
  int iterations = 0;
  int limit = 0;  // of iterations, by number and by work
  int stage = 0;
  Deadline deadline;

  bool is_open() const { return !(residual <= goal); }
  bool may_go_on() const { return is_open() && iterations < limit && !deadline.has_passed(); }
  int left(int wanted) const { return std::min(wanted, limit - iterations); }
  bool affords_starter(double max_flops) {
    return affordable_iterations(blocks, lu, max_flops, kStarterFactorisations) ==
           kStarterFactorisations;
  }
  void start(const StepProblem& problem, const StepSolution& solution);
  void iterate(const NewtonOptions& options);
  void improve(bool has_interior_stage);
  void run_plain();
  void run_starter(int max_iterations);
  void run_polish();
  void run_proximal(double first_alpha, int max_iterations);
  void run_interior();
};

void NewtonSolver::Workspace::start(const StepProblem& problem, const StepSolution& solution) {
  blocks.read_solution(problem, solution, x);
  blocks.compute_velocity(x, u);
  residual = blocks.residual(x, u);
  iterations = stage = 0;
  // Impulses that are worse than none are no start.
  if (residual <= 1) return;
  x.setZero();
  u = blocks.q;
  residual = blocks.residual(x, u);
}

void NewtonSolver::Workspace::run_plain() {
  constexpr double kProximal = 1e-9;  // redundant rows
  other = x;
  (void)plain.solve(blocks, lu, x,
                    {.alpha = kProximal,
                     .reduction = std::max(1e-15, 0.1 * goal),
                     .max_iterations = left(kPlainIterations),
                     .step_scale = 1,
                     .deadline = deadline},
                    other);
  iterations += plain.iterations();
  blocks.compute_velocity(other, u);
  const double reached = blocks.residual(other, u);
  if (!(reached < residual)) return;
  residual = reached;
  x.swap(other);
}

void NewtonSolver::Workspace::run_starter(int max_iterations) {
  residual = admm.go_on(
      blocks, lu, {.tolerance = goal, .max_iterations = max_iterations, .deadline = deadline}, x);
}

void NewtonSolver::Workspace::run_polish() {
  constexpr int kPolishIterations = 6;
  residual = polish.run(
      blocks, lu,
      {.tolerance = goal, .max_iterations = left(kPolishIterations), .deadline = deadline}, x);
  iterations += polish.iterations();
}

void NewtonSolver::Workspace::run_proximal(double first_alpha, int max_iterations) {
  residual = proximal.run(blocks, lu,
                          {.tolerance = goal,
                           .first_alpha = first_alpha,
                           .max_iterations = left(max_iterations),
                           .hard_limit = limit - iterations},
                          deadline, x);
  iterations += proximal.iterations();
}

void NewtonSolver::Workspace::run_interior() {
  constexpr int kInteriorIterations = 100;
  const double reached = interior.run(
      blocks, lu, {.tolerance = std::max(goal, 1e-9), .max_iterations = left(kInteriorIterations)},
      deadline, other);
  iterations += interior.iterations();
  if (!(reached < residual)) return;
  residual = reached;
  x.swap(other);
}

// From the warm start or from nothing.
void NewtonSolver::Workspace::iterate(const NewtonOptions& options) {
  limit = affordable_iterations(blocks, lu, options.max_flops, options.max_iterations);
  const double in_time = affordable_flops(deadline.time_limit(), options.max_flops);
  if (deadline.is_limited() && affordable_iterations(blocks, lu, in_time, 1) == 0) limit = 0;
  if (may_go_on() && blocks.num_rows() <= kSmallRows) {
    run_plain();
    if (may_go_on() && residual < kNear) run_polish();
  }
  if (is_open() && options.starter_iterations > 0 && affords_starter(in_time)) {
    admm.start(blocks, {}, x);
    if (goal < kLoose && options.starter_iterations > kShortStart) {
      run_starter(kShortStart);
      if (may_go_on()) run_polish();
    }
    if (is_open()) run_starter(options.starter_iterations);
  }
  improve(options.has_interior_stage);
}

// From impulses that are near a solution already.
void NewtonSolver::Workspace::improve(bool has_interior_stage) {
  if (may_go_on()) run_polish();
  if (may_go_on()) run_proximal(1e-2, kFirstAttempt);
  if (may_go_on() && has_interior_stage) {
    stage = 1;
    run_interior();
    if (may_go_on()) run_polish();
    if (may_go_on()) run_proximal(1e-6, kFirstAttempt);
  }
  for (double alpha = 1e-3; may_go_on();) {
    stage = 2;
    run_proximal(alpha, kChunk);
    if (may_go_on()) run_polish();
    alpha = std::max(proximal.alpha(), 1e-6);
  }
}

NewtonSolver::NewtonSolver(const NewtonOptions& options)
    : options_(options),
      acceptance_(options.tolerance, options.measure),
      workspace_(std::make_unique<Workspace>()) {}
NewtonSolver::~NewtonSolver() = default;

SolverReport NewtonSolver::solve(const StepProblem& problem, StepSolution& solution) {
  Workspace& work = *workspace_;
  work.deadline = Deadline(options_.max_seconds);
  if (!work.blocks.assemble(problem, options_.measure)) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kUnsupported, .has_answer = false};
  }
  work.goal = options_.tolerance;
  work.start(problem, solution);
  if (!work.is_open() && acceptance_.accepts(problem, solution)) {
    if (!options_.improves_starts || work.residual <= kExact) return {};
    work.goal = kExact;
    work.limit = options_.max_iterations;
    work.run_polish();
  } else {
    work.iterate(options_);
  }
  bool is_accepted = false;
  for (int refusals = 0; refusals <= kMaxRefusals; ++refusals) {
    work.other = work.x;
    work.blocks.clear_rounding(work.other);
    work.blocks.write_solution(problem, work.other, solution);
    is_accepted = acceptance_.accepts(problem, solution);
    if (is_accepted || work.is_open()) break;
    work.goal = kTighter * work.residual;
    work.improve(options_.has_interior_stage);
  }
  SolverStatus status = is_accepted ? SolverStatus::kConverged : SolverStatus::kMaxIterations;
  if (!std::isfinite(work.residual) || !solution.is_finite()) {
    status = SolverStatus::kNonFinite;
    solution.set_zero(problem);
  }
  return {status, work.iterations, work.stage};
}

}  // namespace stiction
