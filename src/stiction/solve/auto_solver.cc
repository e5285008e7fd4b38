#include "stiction/solve/auto_solver.h"

#include <algorithm>

namespace stiction {
namespace {

/// Lemke's method is cubic in this number; measured on polygons it stays below 2 ms.
constexpr int kMaxLemkeRows = 120;
/// Sweeps that Gauss–Seidel gets before Newton takes over: about what one factorisation costs.
constexpr int kMaxSweeps = 300;

bool is_for_lemke(const StepProblem& problem) {
  int num_rows = problem.num_bilateral();
  bool has_friction = false;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const bool is_spatial = problem.contacts.num_rows(j) == 3 && problem.mu[j] > 0;
    if (is_spatial && problem.section[j].kind == FrictionSection::Kind::kDisc) return false;
    has_friction = has_friction || problem.mu[j] > 0;
    num_rows += is_spatial ? 3 + std::max(4, problem.section[j].num_sides) : 4;
  }
  // Matrices of plain complementarity problems may be anything: only pivoting takes them.
  const bool is_lcp = !problem.coupling.is_empty() && !has_friction;
  return is_lcp || num_rows <= kMaxLemkeRows;
}

}  // namespace

AutoSolver::AutoSolver(double tolerance)
    : nsgs_({.tolerance = tolerance, .max_iterations = kMaxSweeps}),
      newton_({.tolerance = tolerance}) {}

SolverReport AutoSolver::solve(const StepProblem& problem, StepSolution& solution) {
  Solver* const candidates[] = {&lemke_, &nsgs_, &newton_};
  SolverReport total;
  int num_tried = 0;
  for (Solver* solver : candidates) {
    if (solver == &lemke_ && !is_for_lemke(problem)) continue;
    const SolverReport report = solver->solve(problem, solution);
    total.status = report.status;
    total.iterations += report.iterations;
    total.stage = 10 * num_tried++ + report.stage;
    total.has_answer = report.has_answer;
    if (report.status == SolverStatus::kConverged || report.status == SolverStatus::kNonFinite)
      break;
  }
  return total;
}

}  // namespace stiction
