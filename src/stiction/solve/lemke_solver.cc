#include "stiction/solve/lemke_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "stiction/base/all_finite.h"
#include "stiction/base/deadline.h"
#include "stiction/solve/friction_lcp.h"
#include "stiction/solve/lemke_dense.h"
#include "stiction/solve/lemke_general.h"
#include "stiction/solve/lemke_lcp.h"
#include "stiction/solve/saddle_condensation.h"
#include "stiction/solve/saddle_polish.h"

namespace stiction {
namespace {

/// An answer is corrected until its violation is perfect or stops falling. One that is not good
/// after that is tried again by other means. If all attempts miss it, the best of them still counts
/// as solved where it is sufficient.
constexpr double kPerfectViolation = 1e-14;
constexpr double kGoodViolation = 1e-11;
constexpr double kSufficientViolation = 1e-10;

constexpr int kCorrections = 3;

/// Answers are fine if the judge finds them below this, or below this share of the tolerance, as
/// ordinary ones are. Others are polished.
constexpr double kFine = 1e-12;
constexpr double kFineShare = 1e-3;
/// Below this, and this share of the tolerance, smaller measures are no gain: friction on the edge
/// of its cone has the rounding of the normal impulse.
constexpr double kPolished = 1e-10;
constexpr double kEnoughShare = 0.1;
/// Answers that drift by more have a wrong basis, even if the judge forgives them.
constexpr double kGrossDrift = 1e-6;
/// What attempts off the beaten track have to reach to count as an answer at all.
constexpr double kSomeAnswer = 1e-2;

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
constexpr int kCondensedStage = 4;

bool are_finite(const BlockRows& rows) {
  for (int i = 0; i < rows.num_row_blocks(); ++i)
    for (int e = rows.entry_start(i); e < rows.entry_start(i + 1); ++e)
      if (!all_finite({rows.entry_values(e),
                       static_cast<std::size_t>(rows.num_rows(i)) * rows.entry_columns(e)}))
        return false;
  return true;
}

bool are_finite(const StepProblem& problem) {
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (!(problem.lower[i] <= problem.upper[i]) || problem.lower[i] == StepProblem::kUnbounded ||
        problem.upper[i] == -StepProblem::kUnbounded)
      return false;
  return all_finite(problem.mass_values) && all_finite(problem.p) &&
         are_finite(problem.bilateral) && all_finite(problem.compliance) &&
         all_finite(problem.bias) && are_finite(problem.contacts) &&
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

/// How good an answer is to others than this method.
struct Standing {
  double measure = std::numeric_limits<double>::infinity();  // of the judge
  SaddlePolish::Miss miss{std::numeric_limits<double>::infinity(),
                          std::numeric_limits<double>::infinity()};
};

/// What the attempts have come to so far. The answer is written when it is better than before.
struct Progress {
  SolverReport report;
  double violation = std::numeric_limits<double>::infinity();
  Standing standing;         // in the end
  bool is_polished = false;  // the judge alone counts
  bool has_answer = false;
  Deadline deadline{};
  bool is_done() const { return violation <= kGoodViolation || deadline.has_passed(); }
};

LemkeOptions with_deadline(LemkeOptions options, const Progress& progress) {
  if (progress.deadline.is_limited()) options.deadline = &progress.deadline;
  return options;
}

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
    const LcpReport lcp = pipeline.lemke.solve(form.lcp(), with_deadline(how.options, progress));
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
    const LcpReport lcp = pipeline.general.solve(with_deadline(how.options, progress));
    conclude(problem, lcp, form, pipeline.general, solution, progress, how.stage);
    if (progress.is_done()) return;
  }
  const LcpReport lcp = pipeline.general.solve_by_enumeration();
  conclude(problem, lcp, form, pipeline.general, solution, progress, kEnumerationStage);
}

}  // namespace

struct LemkeSolver::Workspace {
  explicit Workspace(const LemkeSolverOptions& options)
      : acceptance(options.tolerance, options.measure),
        fine(std::max(kFine, kFineShare * options.tolerance)),
        enough(std::min(kPolished, kEnoughShare * options.tolerance)) {}

  Acceptance acceptance;
  double fine;    // larger measures are a reason to polish
  double enough;  // smaller ones are no gain
  Pipeline<double> in_double;
  Pipeline<long double> in_long_double;  // empty until it is needed
  PlainLcp plain;
  SaddlePolish saddle;
  SaddleCondensation condensation;
  std::unique_ptr<LemkeSolver> condensed_solver;  // made when it is needed
  StepProblem condensed;
  StepSolution condensed_answer, trial, polished;

  /// Judges the answer, and improves it if it needs that.
  void finish(const StepProblem& problem, StepSolution& solution, Progress& progress);
  /// Gives an answer the digits that elimination of the velocities has lost. True if it is another
  /// one then.
  bool polish(const StepProblem& problem, Standing& standing, StepSolution& solution);
  Standing assess(const StepProblem& problem, const StepSolution& solution) {
    return {acceptance.measure(problem, solution), SaddlePolish::compute_miss(problem, solution)};
  }
  bool is_better(const Standing& a, const Standing& b) const {
    return std::pair(std::max(a.measure, enough), a.miss) <
           std::pair(std::max(b.measure, enough), b.miss);
  }
  /// Where polishing is not enough: the pivots may have ended on a ray, or in a wrong basis whose
  /// violation is small beside impulses but not beside motions. The same methods on the condensed
  /// problem, then all attempts one by one, each polished.
  void search(const StepProblem& problem, StepSolution& solution, Progress& progress);
  void try_condensed(const StepProblem& problem, StepSolution& solution, Progress& progress);
  template <class Real>
  void try_attempts(const StepProblem& problem, std::span<const Attempt> attempts,
                    Pipeline<Real>& pipeline, StepSolution& solution, Progress& progress);
  void keep_better(const StepProblem& problem, int stage, StepSolution& solution,
                   Progress& progress);
  bool is_content(const Standing& standing) const {
    return standing.measure <= fine ||
           (standing.measure <= acceptance.tolerance() && standing.miss.of_motion <= kGrossDrift);
  }
};

LemkeSolver::LemkeSolver(const LemkeSolverOptions& options)
    : options_(options), workspace_(std::make_unique<Workspace>(options)) {}
LemkeSolver::~LemkeSolver() = default;

bool LemkeSolver::Workspace::polish(const StepProblem& problem, Standing& standing,
                                    StepSolution& solution) {
  const bool is_fine =
      standing.measure <= fine && standing.miss.of_motion <= SaddlePolish::kNoDrift;
  if (is_fine || !problem.coupling.is_empty()) return false;
  if (!saddle.polish(problem, solution, enough, polished)) return false;
  const Standing after = assess(problem, polished);
  if (!is_better(after, standing)) return false;
  standing = after;
  solution = polished;
  return true;
}

void LemkeSolver::Workspace::finish(const StepProblem& problem, StepSolution& solution,
                                    Progress& progress) {
  if (progress.has_answer) {
    progress.standing = assess(problem, solution);
    progress.is_polished = polish(problem, progress.standing, solution);
  }
  const bool is_small = problem.num_dofs() + problem.num_rows() <= SaddlePolish::kMaxSize;
  if (is_small && problem.coupling.is_empty() && !is_content(progress.standing) &&
      !progress.deadline.has_passed())
    search(problem, solution, progress);
}

/// Polishes `trial` and takes it if it is the better one.
void LemkeSolver::Workspace::keep_better(const StepProblem& problem, int stage,
                                         StepSolution& solution, Progress& progress) {
  Standing found = assess(problem, trial);
  (void)polish(problem, found, trial);
  const bool is_taken =
      progress.has_answer ? is_better(found, progress.standing) : found.measure < kSomeAnswer;
  if (!is_taken) return;
  progress.standing = found;
  progress.has_answer = progress.is_polished = true;
  progress.report.stage = stage;
  solution = trial;
}

void LemkeSolver::Workspace::try_condensed(const StepProblem& problem, StepSolution& solution,
                                           Progress& progress) {
  if (!condensation.condense(problem, condensed)) return;
  if (!condensed_solver) condensed_solver = std::make_unique<LemkeSolver>();
  progress.report.iterations += condensed_solver->solve(condensed, condensed_answer).iterations;
  condensation.expand(problem, condensed_answer, trial);
  if (trial.is_finite()) keep_better(problem, kCondensedStage, solution, progress);
}

template <class Real>
void LemkeSolver::Workspace::try_attempts(const StepProblem& problem,
                                          std::span<const Attempt> attempts,
                                          Pipeline<Real>& pipeline, StepSolution& solution,
                                          Progress& progress) {
  for (const Attempt& how : attempts) {
    if (is_content(progress.standing)) return;
    Progress now;
    trial.set_zero(problem);
    run(problem, {&how, 1}, false, pipeline, trial, now);
    progress.report.iterations += now.report.iterations;
    if (now.has_answer) keep_better(problem, how.stage, solution, progress);
  }
}

void LemkeSolver::Workspace::search(const StepProblem& problem, StepSolution& solution,
                                    Progress& progress) {
  const bool had_answer = progress.has_answer;
  try_condensed(problem, solution, progress);
  if (!had_answer) return;  // every attempt ended on a ray
  try_attempts<double>(problem, kDoubleAttempts, in_double, solution, progress);
  try_attempts<long double>(problem, kLongAttempts, in_long_double, solution, progress);
  if (!is_content(progress.standing) && saddle.enumerate(problem, enough, trial))
    keep_better(problem, kEnumerationStage, solution, progress);
}

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
  if (!are_finite(problem)) return {.status = SolverStatus::kNonFinite, .has_answer = false};
  Progress progress;
  progress.deadline = Deadline(max_seconds_);
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
  workspace_->finish(problem, solution, progress);
  progress.report.has_answer = progress.has_answer;
  if (progress.violation <= kSufficientViolation || progress.is_polished)
    progress.report.status = progress.standing.measure <= options_.tolerance
                                 ? SolverStatus::kConverged
                                 : SolverStatus::kMaxIterations;
  return progress.report;
}

}  // namespace stiction
