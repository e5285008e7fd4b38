#include "stiction/solve/block_pivot_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/deadline.h"
#include "stiction/base/error.h"
#include "stiction/solve/block_pivot_rows.h"

namespace stiction {
namespace {

constexpr int kCorrections = 3;

/// δ of the matrix in each stage, relative to its unit diagonal, and proximal steps to get rid of
/// it. The larger one stays clear of rounding where the smaller does not.
constexpr double kRegularization[] = {0, 1e-9, 1e-6};
constexpr int kNumStages = 3;
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
  explicit Workspace(const BlockPivotSolverOptions& options)
      : acceptance(options.tolerance, options.measure) {}

  BlockPivotRows rows;
  BlockPivotLcp method;
  Acceptance acceptance;
  StepSolution candidate;
  std::vector<double> center;  // of proximal steps
  SolverReport report;
  Deadline deadline;
  double error = 0;  // of the best answer, by the measure asked for

  void start(const StepProblem& problem) {
    report = {.status = SolverStatus::kNoSolution};
    error = std::numeric_limits<double>::infinity();
    candidate.resize(problem);
  }
  bool is_done() const { return error <= acceptance.tolerance(); }
  bool goes_on() const { return !is_done() && !deadline.has_passed(); }

  /// Keeps the answer of z if it is better than what is known.
  bool keep_if_better(const StepProblem& problem, const std::vector<double>& z,
                      StepSolution& solution) {
    rows.evaluate(problem, z);
    rows.write(problem, candidate);
    const double found = acceptance.measure(problem, candidate);
    if (!(found < error)) return false;
    error = found;
    solution = candidate;
    return true;
  }

  /// Impulses that are zero, or at the bound nearest to it, may be all that is needed. Where
  /// velocities are rounding of zero, pivoting would only take the rounding for data.
  void try_zero(const StepProblem& problem, StepSolution& solution) {
    center.assign(rows.lcp().size, 0);
    keep_if_better(problem, center, solution);
  }

  /// Judges the present z() of the method and corrects it as long as that helps.
  void consider(const StepProblem& problem, StepSolution& solution, int stage) {
    for (int correction = 0; correction <= kCorrections && !is_done(); ++correction) {
      if (correction > 0) method.correct(rows.lcp(), rows.w());
      if (!keep_if_better(problem, method.z(), solution)) return;
      report.stage = stage;
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
    : options_(options), workspace_(std::make_unique<Workspace>(options)) {
  if (options.max_outer < 1 || options.block_rounds < 0 || !(options.tolerance > 0))
    throw InputError("block-pivot: max_outer and tolerance must be positive, block_rounds >= 0");
}

BlockPivotSolver::~BlockPivotSolver() = default;

SolverReport BlockPivotSolver::solve(const StepProblem& problem, StepSolution& solution) {
  solution.set_zero(problem);
  if (!is_supported(problem)) return {.status = SolverStatus::kUnsupported, .has_answer = false};
  if (!has_sound_bounds(problem)) return {.status = SolverStatus::kNonFinite, .has_answer = false};
  Workspace& work = *workspace_;
  work.start(problem);
  work.deadline = Deadline(max_seconds_);
  switch (work.rows.assemble(problem)) {
    case BlockPivotRows::Outcome::kAssembled:
      break;
    case BlockPivotRows::Outcome::kSingularMass:
      return {.status = SolverStatus::kNoSolution, .has_answer = false};
    case BlockPivotRows::Outcome::kNonFinite:
      return {.status = SolverStatus::kNonFinite, .has_answer = false};
  }
  work.try_zero(problem, solution);
  for (int stage = 0; stage < kNumStages && work.goes_on(); ++stage) run(problem, solution, stage);
  if (work.is_done()) work.report.status = SolverStatus::kConverged;
  work.report.has_answer = std::isfinite(work.error);
  return work.report;
}

/// The outer iteration: bounds of friction from the normal impulses of the last round.
void BlockPivotSolver::run(const StepProblem& problem, StepSolution& solution, int stage) {
  Workspace& work = *workspace_;
  const BlockPivotOptions how{.block_rounds = options_.block_rounds,
                              .regularization = kRegularization[stage],
                              .deadline = work.deadline};
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
    if (!work.goes_on()) return;
    work.rows.update_friction_bounds(work.center);
  }
  work.report.status = SolverStatus::kMaxIterations;
}

}  // namespace stiction
