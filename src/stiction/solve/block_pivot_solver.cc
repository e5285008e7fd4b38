#include "stiction/solve/block_pivot_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/error.h"
#include "stiction/solve/block_pivot_rows.h"

namespace stiction {
namespace {

constexpr double kPerfectViolation = 1e-14;
constexpr double kSufficientViolation = 1e-10;
constexpr int kCorrections = 3;

/// δ of a regularised matrix, relative to its unit diagonal, and proximal steps to get rid of it.
constexpr double kRegularization = 1e-9;
constexpr int kProximalSteps = 12;
/// Rounds of a search with linked bounds from the states of an outer round.
constexpr int kLinkedRounds = 10;
constexpr double kSettled = 1e-14;  // change of a step that needs no other

bool is_supported(const StepProblem& problem) {
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (problem.contacts.num_rows(j) == 3 && problem.mu[j] > 0 &&
        problem.section[j].kind != FrictionSection::Kind::kBox)
      return false;
  return true;
}

bool has_sound_bounds(const StepProblem& problem) {
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (!(problem.lower[i] <= problem.upper[i]) || problem.lower[i] == StepProblem::kUnbounded ||
        problem.upper[i] == -StepProblem::kUnbounded)
      return false;
  return std::all_of(problem.mu.begin(), problem.mu.end(),
                     [](double mu) { return std::isfinite(mu); });
}

}  // namespace

/// One solve: what is known so far and the steps towards more.
struct BlockPivotSolver::Workspace {
  BlockPivotRows rows;
  BlockPivotLcp method;
  std::vector<double> center;  // of proximal steps
  SolverReport report;
  double violation = 0;

  void start() {
    report = {.status = SolverStatus::kNoSolution};
    violation = std::numeric_limits<double>::infinity();
  }

  /// Impulses that are zero, or at the bound nearest to it, may be all that is needed. Where
  /// velocities are rounding of zero, pivoting would only take the rounding for data.
  void try_zero(const StepProblem& problem, StepSolution& solution) {
    center.assign(rows.lcp().size, 0);
    violation = rows.evaluate(problem, center);
    rows.write(problem, solution);
  }

  /// Keeps the present z() of the method if it is better than what is known.
  void consider(const StepProblem& problem, StepSolution& solution, int stage) {
    for (int correction = 0; correction <= kCorrections; ++correction) {
      if (correction > 0) method.correct(rows.lcp(), rows.w());
      const double found = rows.evaluate(problem, method.z());
      if (!(found < violation)) return;
      violation = found;
      report.stage = stage;
      rows.write(problem, solution);
      if (found <= kPerfectViolation) return;
    }
  }

  /// The bounded problem with fixed friction bounds; false if the method gave up.
  bool solve_bounded(const BlockPivotOptions& how) {
    const int steps = how.regularization > 0 ? kProximalSteps : 1;
    for (int step = 0; step < steps; ++step) {
      if (how.regularization > 0) rows.shift_vector(center, how.regularization);
      const LcpReport lcp = method.solve(rows.lcp(), how);
      report.iterations += lcp.pivots;
      if (lcp.status == LcpStatus::kPivotLimit) report.status = SolverStatus::kMaxIterations;
      if (lcp.status != LcpStatus::kSolved) return false;
      const double change = largest_change();
      center = method.z();
      if (change <= kSettled) break;
    }
    return true;
  }

  /// From the centre to z(), relative to z().
  double largest_change() const {
    double change = 0, largest = std::numeric_limits<double>::min();
    for (std::size_t i = 0; i < center.size(); ++i) {
      change = std::max(change, std::abs(method.z()[i] - center[i]));
      largest = std::max(largest, std::abs(method.z()[i]));
    }
    return change / largest;
  }
};

BlockPivotSolver::BlockPivotSolver(const BlockPivotSolverOptions& options)
    : options_(options), workspace_(std::make_unique<Workspace>()) {
  if (options.max_outer < 1 || options.block_rounds < 0 || !(options.tolerance > 0))
    throw InputError("block-pivot: max_outer and tolerance must be positive, block_rounds >= 0");
}

BlockPivotSolver::~BlockPivotSolver() = default;

SolverReport BlockPivotSolver::solve(const StepProblem& problem, StepSolution& solution) {
  solution.resize(problem);
  std::fill(solution.w.begin(), solution.w.end(), 0.0);
  std::fill(solution.lambda.begin(), solution.lambda.end(), 0.0);
  std::fill(solution.r.begin(), solution.r.end(), 0.0);
  if (!is_supported(problem)) return {.status = SolverStatus::kUnsupported};
  if (!has_sound_bounds(problem)) return {.status = SolverStatus::kNonFinite};
  Workspace& work = *workspace_;
  work.start();
  switch (work.rows.assemble(problem)) {
    case BlockPivotRows::Outcome::kAssembled:
      break;
    case BlockPivotRows::Outcome::kSingularMass:
      return work.report;
    case BlockPivotRows::Outcome::kNonFinite:
      return {.status = SolverStatus::kNonFinite};
  }
  work.try_zero(problem, solution);
  for (const int stage : {0, 1}) {
    if (work.violation <= options_.tolerance) break;
    run(problem, solution, stage);
  }
  if (work.violation <= kSufficientViolation) work.report.status = SolverStatus::kConverged;
  return work.report;
}

/// The outer iteration: bounds of friction from the normal impulses of the last round.
void BlockPivotSolver::run(const StepProblem& problem, StepSolution& solution, int stage) {
  Workspace& work = *workspace_;
  const BlockPivotOptions how{.block_rounds = options_.block_rounds,
                              .regularization = stage == 0 ? 0 : kRegularization};
  work.center.assign(work.rows.lcp().size, 0);
  work.rows.update_friction_bounds(work.center);
  work.rows.shift_vector(work.center, 0);
  work.method.reset(work.rows.lcp());
  const int num_rounds = work.rows.has_friction() ? options_.max_outer : 1;
  for (int round = 0; round < num_rounds; ++round) {
    if (!work.solve_bounded(how)) return;
    work.center = work.method.z();
    work.rows.shift_vector(work.center, 0);
    if (round + 1 == num_rounds) work.consider(problem, solution, stage);
    const LcpReport linked =
        work.method.solve_linked(work.rows.lcp(), how.regularization, kLinkedRounds);
    work.report.iterations += linked.pivots - 1;  // the first repeats the last round
    if (linked.status == LcpStatus::kSolved) work.consider(problem, solution, stage);
    if (work.violation <= options_.tolerance) return;
    work.rows.update_friction_bounds(work.center);
  }
  work.report.status = SolverStatus::kMaxIterations;
}

}  // namespace stiction
