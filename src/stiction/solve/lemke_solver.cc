#include "stiction/solve/lemke_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "stiction/solve/friction_lcp.h"
#include "stiction/solve/lemke_lcp.h"

namespace stiction {
namespace {

/// An answer is corrected until its violation is perfect or stops falling. One that is not good
/// after that is tried again by other means. If all attempts miss it, the best of them still counts
/// as solved where it is sufficient.
constexpr double kPerfectViolation = 1e-14;
constexpr double kGoodViolation = 1e-11;
constexpr double kSufficientViolation = 1e-10;

constexpr int kCorrections = 3;

struct Attempt {
  int stage;
  LemkeOptions options;
};
constexpr int kFewPivots = 4;
/// Ends the method before it gets lost among nearly singular bases with next to nothing left to
/// gain.
constexpr double kEarly = 1e-10;
constexpr Attempt kDoubleAttempts[] = {
    {0, {}},
    {1, {.cover_seed = 1}},
    {2, {.refresh_interval = kFewPivots, .dismissal = kEarly}},
};
constexpr Attempt kLongAttempts[] = {
    {3, {.refresh_interval = kFewPivots}},
    {4, {.cover_seed = 2}},
    {4, {.cover_seed = 3}},
    {4, {.refresh_interval = kFewPivots, .cover_seed = 4, .dismissal = kEarly}},
    {4, {.refresh_interval = kFewPivots, .cover_seed = 5, .dismissal = kEarly}},
};

bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool all_finite(const BlockRows& rows) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      if (!all_finite({rows.entry_values(e),
                       static_cast<std::size_t>(rows.num_rows(i)) * rows.entry_columns(e)}))
        return false;
  return true;
}

bool all_finite(const StepProblem& problem) {
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (!(problem.lower[i] <= problem.upper[i]) || problem.lower[i] == StepProblem::kUnbounded ||
        problem.upper[i] == -StepProblem::kUnbounded)
      return false;
  return all_finite(problem.mass_values) && all_finite(problem.p) &&
         all_finite(problem.bilateral) && all_finite(problem.compliance) &&
         all_finite(problem.bias) && all_finite(problem.contacts) &&
         all_finite(problem.contact_compliance) && all_finite(problem.contact_bias) &&
         all_finite(problem.mu);
}

bool is_supported(const StepProblem& problem) {
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (problem.contacts.num_rows(j) == 3 && problem.mu[j] > 0 &&
        problem.section[j].kind == FrictionSection::Kind::kDisc)
      return false;
  return true;
}

/// One arithmetic: everything from the mass factors to the answer.
template <class Real>
struct Pipeline {
  FrictionLcp<Real> problem;
  LemkeLcp<Real> lemke;
};

/// What the attempts have come to so far. The answer is written when it is better than before.
struct Progress {
  SolverReport report;
  double violation = std::numeric_limits<double>::infinity();
  bool has_answer = false;
  bool is_done() const { return violation <= kGoodViolation; }
};

template <class Real>
void attempt(const StepProblem& problem, const Attempt& how, Pipeline<Real>& pipeline,
             StepSolution& solution, Progress& progress) {
  const LcpReport lcp = pipeline.lemke.solve(pipeline.problem.lcp(), how.options);
  progress.report.iterations += lcp.pivots;
  if (!progress.has_answer)
    progress.report.status = lcp.status == LcpStatus::kPivotLimit ? SolverStatus::kMaxIterations
                                                                  : SolverStatus::kNoSolution;
  if (lcp.status != LcpStatus::kSolved) return;
  for (int correction = 0; correction <= kCorrections; ++correction) {
    if (correction > 0) pipeline.lemke.correct(pipeline.problem.y());
    const auto violation =
        static_cast<double>(pipeline.problem.evaluate(problem, pipeline.lemke.z()));
    const bool is_worse = progress.has_answer && !(violation < progress.violation);
    if (is_worse && !(correction == 1 && violation <= kPerfectViolation)) break;
    progress.has_answer = true;
    progress.violation = violation;
    progress.report.stage = how.stage;
    pipeline.problem.write(problem, solution);
    // One correction in any case: it gives impulses the digits that differences of them need.
    if (violation <= kPerfectViolation && correction > 0) break;
  }
}

/// Assembles the problem in one arithmetic and tries one attempt after the other.
template <class Real>
void run(const StepProblem& problem, std::span<const Attempt> attempts, Pipeline<Real>& pipeline,
         StepSolution& solution, Progress& progress) {
  using Outcome = typename FrictionLcp<Real>::Outcome;
  switch (pipeline.problem.assemble(problem)) {
    case Outcome::kAssembled:
      break;
    case Outcome::kTrivial:
      progress.violation = 0;
      progress.has_answer = true;
      pipeline.problem.write(problem, solution);
      return;
    case Outcome::kSingularMass:
      progress.report.status = SolverStatus::kNoSolution;
      return;
    case Outcome::kNonFinite:
      progress.report.status = SolverStatus::kNonFinite;
      return;
  }
  for (const Attempt& how : attempts) {
    attempt(problem, how, pipeline, solution, progress);
    if (progress.is_done()) return;
  }
}

}  // namespace

struct LemkeSolver::Workspace {
  Pipeline<double> in_double;
  Pipeline<long double> in_long_double;  // empty until it is needed
};

LemkeSolver::LemkeSolver() : workspace_(std::make_unique<Workspace>()) {}
LemkeSolver::~LemkeSolver() = default;

SolverReport LemkeSolver::solve(const StepProblem& problem, StepSolution& solution) {
  solution.resize(problem);
  std::fill(solution.w.begin(), solution.w.end(), 0.0);
  std::fill(solution.lambda.begin(), solution.lambda.end(), 0.0);
  std::fill(solution.r.begin(), solution.r.end(), 0.0);
  if (!is_supported(problem)) return {.status = SolverStatus::kUnsupported, .has_answer = false};
  if (!all_finite(problem)) return {.status = SolverStatus::kNonFinite, .has_answer = false};
  Progress progress;
  run<double>(problem, kDoubleAttempts, workspace_->in_double, solution, progress);
  if (!progress.is_done() && progress.report.status != SolverStatus::kNonFinite)
    run<long double>(problem, kLongAttempts, workspace_->in_long_double, solution, progress);
  progress.report.has_answer = progress.has_answer;
  if (progress.violation <= kSufficientViolation) progress.report.status = SolverStatus::kConverged;
  return progress.report;
}

}  // namespace stiction
