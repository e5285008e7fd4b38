#include "stiction/solve/lemke_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "stiction/solve/friction_lcp.h"
#include "stiction/solve/lemke_dense.h"
#include "stiction/solve/lemke_general.h"
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
    {1, {.uses_dictionary = true}},
    {1, {.cover_seed = 1, .uses_dictionary = true}},
    {2, {.refresh_interval = kFewPivots, .dismissal = kEarly, .uses_dictionary = true}},
};
constexpr Attempt kLongAttempts[] = {
    {3, {.refresh_interval = kFewPivots, .uses_dictionary = true}},
    {4, {.cover_seed = 2, .uses_dictionary = true}},
    {4, {.cover_seed = 3, .uses_dictionary = true}},
    {4,
     {.refresh_interval = kFewPivots,
      .cover_seed = 4,
      .dismissal = kEarly,
      .uses_dictionary = true}},
    {4,
     {.refresh_interval = kFewPivots,
      .cover_seed = 5,
      .dismissal = kEarly,
      .uses_dictionary = true}},
};

/// For problems with direct coupling, whose matrix may be anything. Rays prove nothing for many of
/// them, so that paths are tried with more covering vectors.
constexpr Attempt kGeneralAttempts[] = {
    {0, {}},
    {1, {.has_fine_ties = true}},
    {1, {.cover_seed = 1}},
    {1, {.cover_seed = 2}},
    {1, {.cover_seed = 3}},
    {2, {.refresh_interval = kFewPivots, .dismissal = kEarly}},
};
constexpr int kEnumerationStage = 5;

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

/// Whether a problem is nothing but 0 ≤ z ⊥ K z + q ≥ 0.
bool is_plain_lcp(const StepProblem& problem) {
  return problem.num_blocks() == 0 && problem.num_bilateral() == 0 &&
         problem.num_contact_rows() == problem.num_contacts() && !problem.coupling.is_empty() &&
         all_finite(problem.mu);
}

/// Dense LCPs without the way over FrictionLcp, whose arrays cost more than a few pivots.
struct PlainLcp {
  /// Every row has to hold to this share of the sizes of its own terms, whatever its units.
  static constexpr double kRowTolerance = 1e-14;

  LemkeDense method{{.tolerance = kGoodViolation}};
  std::vector<double> matrix;

  void load(const StepProblem& problem) {
    const int n = problem.num_contacts();
    matrix.assign(static_cast<std::size_t>(n) * n, 0.0);
    const RowCoupling& coupling = problem.coupling;
    for (int i = 0; i < n; ++i) {
      double* row = matrix.data() + static_cast<std::size_t>(i) * n;
      row[i] = problem.contact_compliance[i];
      for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e)
        row[coupling.column(e)] += coupling.value(e);
    }
  }

  bool holds_in_every_row(const StepProblem& problem, const std::vector<double>& z) const {
    const int n = problem.num_contacts();
    for (int i = 0; i < n; ++i) {
      const double* row = matrix.data() + static_cast<std::size_t>(i) * n;
      double magnitude = std::abs(problem.contact_bias[i]);
      for (int j = 0; j < n; ++j) magnitude += std::abs(row[j]) * z[j];
      const double w = method.w()[i];
      const double violation = z[i] > 0 ? std::abs(w) : std::max(-w, 0.0);
      if (!(violation <= kRowTolerance * magnitude)) return false;
    }
    return true;
  }

  /// False, and nothing but solution.r touched, if the answer is not good in every respect.
  bool try_solve(const StepProblem& problem, StepSolution& solution, SolverReport& report) {
    load(problem);
    report.iterations = 0;
    return method.try_quickly(problem.num_contacts(), matrix.data(), problem.contact_bias.data(),
                              solution.r.data(), report.iterations) &&
           holds_in_every_row(problem, solution.r);
  }
};

/// One arithmetic: everything from the mass factors to the answer.
template <class Real>
struct Pipeline {
  FrictionLcp<Real> problem;
  LemkeLcp<Real> lemke;
  LemkeGeneral<Real> general;  // for problems with direct coupling
};

/// What the attempts have come to so far. The answer is written when it is better than before.
struct Progress {
  SolverReport report;
  double violation = std::numeric_limits<double>::infinity();
  bool has_answer = false;
  bool is_done() const { return violation <= kGoodViolation; }
};

/// Judges and corrects what `method` has found.
template <class Real, class Method>
void conclude(const StepProblem& problem, const LcpReport& lcp, FrictionLcp<Real>& form,
              Method& method, StepSolution& solution, Progress& progress, int stage) {
  progress.report.iterations += lcp.pivots;
  if (!progress.has_answer)
    progress.report.status = lcp.status == LcpStatus::kPivotLimit ? SolverStatus::kMaxIterations
                                                                  : SolverStatus::kNoSolution;
  if (lcp.status != LcpStatus::kSolved) return;
  for (int correction = 0; correction <= kCorrections; ++correction) {
    if (correction > 0) method.correct(form.y());
    const auto violation = static_cast<double>(form.evaluate(problem, method.z()));
    const bool is_worse = progress.has_answer && !(violation < progress.violation);
    if (is_worse && !(correction == 1 && violation <= kPerfectViolation)) break;
    progress.has_answer = true;
    progress.violation = violation;
    progress.report.stage = stage;
    form.write(problem, solution);
    // One correction in any case: it gives impulses the digits that differences of them need.
    if (violation <= kPerfectViolation && correction > 0) break;
  }
}

/// Assembles the problem in one arithmetic; false if there is nothing left to solve.
template <class Real>
bool assemble(const StepProblem& problem, FrictionLcp<Real>& form, StepSolution& solution,
              Progress& progress) {
  using Outcome = typename FrictionLcp<Real>::Outcome;
  switch (form.assemble(problem)) {
    case Outcome::kAssembled:
      return true;
    case Outcome::kTrivial:
      progress.violation = 0;
      progress.has_answer = true;
      form.write(problem, solution);
      return false;
    case Outcome::kSingularMass:
      progress.report.status = SolverStatus::kNoSolution;
      return false;
    case Outcome::kNonFinite:
      progress.report.status = SolverStatus::kNonFinite;
      return false;
  }
  return false;
}

/// Tries one attempt after the other in one arithmetic.
template <class Real>
void run(const StepProblem& problem, std::span<const Attempt> attempts, bool is_warm,
         Pipeline<Real>& pipeline, StepSolution& solution, Progress& progress) {
  FrictionLcp<Real>& form = pipeline.problem;
  if (!assemble(problem, form, solution, progress)) return;
  if (is_warm && pipeline.lemke.try_last_basis(form.lcp())) {
    conclude(problem, {}, form, pipeline.lemke, solution, progress, 0);
    if (progress.is_done()) return;
  }
  for (const Attempt& how : attempts) {
    const LcpReport lcp = pipeline.lemke.solve(form.lcp(), how.options);
    conclude(problem, lcp, form, pipeline.lemke, solution, progress, how.stage);
    if (progress.is_done()) return;
  }
}

/// The same for problems with direct coupling, with enumeration as the last resort.
template <class Real>
void run_general(const StepProblem& problem, std::span<const Attempt> attempts, bool is_warm,
                 Pipeline<Real>& pipeline, StepSolution& solution, Progress& progress) {
  FrictionLcp<Real>& form = pipeline.problem;
  if (!assemble(problem, form, solution, progress)) return;
  if (is_warm && pipeline.general.try_last_basis(form.lcp())) {
    conclude(problem, {}, form, pipeline.general, solution, progress, 0);
    if (progress.is_done()) return;
  }
  pipeline.general.prepare(form.lcp());
  for (const Attempt& how : attempts) {
    const LcpReport lcp = pipeline.general.solve(how.options);
    conclude(problem, lcp, form, pipeline.general, solution, progress, how.stage);
    if (progress.is_done()) return;
  }
  const LcpReport lcp = pipeline.general.solve_by_enumeration();
  conclude(problem, lcp, form, pipeline.general, solution, progress, kEnumerationStage);
}

}  // namespace

struct LemkeSolver::Workspace {
  explicit Workspace(const LemkeSolverOptions& options)
      : acceptance(options.tolerance, options.measure) {}

  Acceptance acceptance;
  Pipeline<double> in_double;
  Pipeline<long double> in_long_double;  // empty until it is needed
  PlainLcp plain;
};

LemkeSolver::LemkeSolver(const LemkeSolverOptions& options)
    : options_(options), workspace_(std::make_unique<Workspace>(options)) {}
LemkeSolver::~LemkeSolver() = default;

SolverReport LemkeSolver::solve(const StepProblem& problem, StepSolution& solution) {
  solution.set_zero(problem);
  if (!options_.warm_start && is_plain_lcp(problem)) {
    SolverReport report;
    if (workspace_->plain.try_solve(problem, solution, report) &&
        workspace_->acceptance.accepts(problem, solution))
      return report;
    std::fill(solution.r.begin(), solution.r.end(), 0.0);
  }
  if (!is_supported(problem)) return {.status = SolverStatus::kUnsupported, .has_answer = false};
  if (!all_finite(problem)) return {.status = SolverStatus::kNonFinite, .has_answer = false};
  Progress progress;
  const bool is_warm = options_.warm_start;
  const auto is_open = [&] {
    return !progress.is_done() && progress.report.status != SolverStatus::kNonFinite;
  };
  if (problem.coupling.is_empty()) {
    run(problem, kDoubleAttempts, is_warm, workspace_->in_double, solution, progress);
    if (is_open())
      run(problem, kLongAttempts, false, workspace_->in_long_double, solution, progress);
  } else {
    run_general(problem, kGeneralAttempts, is_warm, workspace_->in_double, solution, progress);
    if (is_open())
      run_general(problem, kLongAttempts, false, workspace_->in_long_double, solution, progress);
  }
  progress.report.has_answer = progress.has_answer;
  if (progress.violation <= kSufficientViolation)
    progress.report.status = workspace_->acceptance.accepts(problem, solution)
                                 ? SolverStatus::kConverged
                                 : SolverStatus::kMaxIterations;
  return progress.report;
}

}  // namespace stiction
