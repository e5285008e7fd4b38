#include "stiction/scheme/scheme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/scheme/event_scheme.h"
#include "stiction/scheme/moreau.h"
#include "stiction/scheme/spook.h"
#include "stiction/scheme/stewart_trinkle.h"

namespace stiction {
namespace {

/// Below, a solve costs little more than to remember it.
constexpr int kManyContacts = 30;

}  // namespace

void SolveStage::begin_step(const Deadline& deadline) {
  deadline_ = deadline;
  expected_solves_ = std::max(1, num_solves_);
  num_solves_ = 0;
  certificate_ = {};
  report_ = {};
  wall_ = certify_wall_ = 0;
  offending_contacts_.clear();
  part_certificates_.clear();
}

const StepSolution& SolveStage::solve(const StepProblem& problem, const StepSolution* start) {
  SolverReport report;
  Stopwatch watch(is_timed_);
  look(problem, report, start, watch);
  book(problem, solution_, report, watch);
  return solution_;
}

const StepSolution& SolveStage::probe(const StepProblem& problem, SolverReport& report,
                                      const StepSolution* start) {
  Stopwatch watch(is_timed_);
  look(problem, report, start, watch);
  return solution_;
}

/// A probe, on a watch that has just been started.
void SolveStage::look(const StepProblem& problem, SolverReport& report, const StepSolution* start,
                      Stopwatch& watch) {
  // Nothing is left of the solve before: a run that continues from a checkpoint, where that is not
  // kept, has to take the same steps.
  solution_.w.clear();
  solution_.lambda.clear();
  solution_.r.clear();
  if (start != nullptr && solver_->profits_from_starts()) {
    solution_.w = start->w;
    solution_.lambda = start->lambda;
    solution_.r = start->r;
  }
  const bool had_time = !deadline_.has_passed();
  if (deadline_.is_limited()) limit_time(problem);
  // What is asked twice are steps of things at rest.
  const bool is_worth_keeping = !deadline_.is_limited() &&
                                problem.num_contacts() >= kManyContacts &&
                                solver_->depends_on_problem_alone();
  bool is_kept = is_worth_keeping;
  if (is_kept) start_ = solution_;
  const bool was_asked = !is_kept || !recall(problem, report);
  if (was_asked) {
    report = solver_->solve(problem, solution_);
    is_kept = is_kept && may_come_again();
    if (is_kept) keep(problem, report);
  }
  last_kept_ = is_kept ? &last_[problem.h == 0 ? 0 : 1] : nullptr;
  last_probed_ = &problem;
  last_asked_ = was_asked ? &problem : nullptr;
  if (deadline_.is_limited()) {
    after_solve_.lap();
    late_ = had_time ? std::max(0.0, -deadline_.remaining()) : 0;
  }
  wall_ += watch.lap();
  report_.iterations += report.iterations;
  if (!was_asked) return;
  report_.direct_wall += report.direct_wall;
  report_.sweeps_wall += report.sweeps_wall;
}

/// Of what is left a solve gets a share, so that others of the step come to theirs: an impact is
/// followed by a step at least, and a step has as many problems as the last one, as a rule. Where
/// nothing is left, as in a step that is made again because bodies met that were thought out of
/// reach, it gets a little nevertheless.
void SolveStage::limit_time(const StepProblem& problem) {
  constexpr double kShortest = 1e-4, kLeastShare = 0.1;  // [s], and of all the time
  const int left = problem.h > 0 ? expected_solves_ - num_solves_++ : expected_solves_ + 1;
  const double share = deadline_.remaining() / std::max(1, left);
  solver_->set_time_limit(std::max({share, kLeastShare * deadline_.seconds(), kShortest}));
}

/// Copies of problems take a share of their steps. Those of things that move are seldom asked for
/// twice.
bool SolveStage::may_come_again() const {
  return std::all_of(solution_.w.begin(), solution_.w.end(), [](double w) { return w == 0; });
}

/// An answer follows from the problem and the start alone: for the same bits it need not be sought
/// again.
bool SolveStage::recall(const StepProblem& problem, SolverReport& report) {
  const Solved& last = last_[problem.h == 0 ? 0 : 1];
  if (!problem.is_identical(last.problem) || !start_.is_identical(last.start)) return false;
  solution_ = last.solution;
  report = last.report;
  return true;
}

void SolveStage::keep(const StepProblem& problem, const SolverReport& report) {
  Solved& last = last_[problem.h == 0 ? 0 : 1];
  last.problem = problem;
  last.start = start_;
  last.solution = solution_;
  last.report = report;
  last.certificate.reset();
}

void SolveStage::commit(const StepProblem& problem, const StepSolution& solution,
                        const SolverReport& report) {
  Stopwatch watch(is_timed_);
  book(problem, solution, report, watch);
}

void SolveStage::book(const StepProblem& problem, const StepSolution& solution,
                      const SolverReport& report, Stopwatch& watch) {
  report_.stage = std::max(report_.stage, report.stage);
  report_.has_answer = report_.has_answer && report.has_answer;
  if (report_.status == SolverStatus::kConverged) report_.status = report.status;
  if (solver_->parts().empty()) book_part(problem, solution, -1, watch);
  for (const SolvedPart& part : solver_->parts())
    book_part(*part.problem, *part.solution, part.first_block, watch);
}

/// Certifies a problem and counts it among those of the step.
void SolveStage::book_part(const StepProblem& problem, const StepSolution& solution,
                           int first_block, Stopwatch& watch) {
  const bool was_good = certificate_.meets(tolerance_);
  const Certificate found = certify(problem, solution, watch);
  certificate_.include(found);
  if (first_block >= 0) part_certificates_.push_back({first_block, found});
  if (!was_good || certificate_.meets(tolerance_)) return;
  offending_problem_ = problem;
  for (const int j : certifier_.offenders(tolerance_).contacts)
    offending_contacts_.push_back(problem.key[j]);
}

/// A certifier does not care who asks it: one that has just certified these very numbers for the
/// solver need not do so again, which takes no time worth a look at the clock. Where the solver was
/// asked last about this problem, it is still the one that it was given, and to compare answers is
/// enough. Offenders are those of our own.
Certificate SolveStage::certify(const StepProblem& problem, const StepSolution& solution,
                                Stopwatch& watch) {
  const bool is_kept = last_kept_ != nullptr && &problem == last_probed_ && &solution == &solution_;
  if (is_kept && last_kept_->certificate && last_kept_->certificate->meets(tolerance_))
    return *last_kept_->certificate;
  const Certifier* judge = solver_->certifier();
  std::optional<Certificate> found;
  if (judge != nullptr && &problem == last_asked_) found = judge->recall_last(problem, solution);
  if (!found || !found->meets(tolerance_)) {
    found = certifier_.certify(problem, solution);
    certify_wall_ += watch.lap();
  }
  if (is_kept) last_kept_->certificate = found;
  return *found;
}

void SolveStage::certify_state(const ContactModel& model, const State& state) {
  ContactEvaluator::compute_gaps(model, state.t, state.q, gaps_);
  certify_state(model, state, gaps_);
}

void SolveStage::certify_state(const ContactModel& model, const State& state,
                               const ConstVectorRef& gaps) {
  if (model.has_alternatives()) {
    gaps_ = gaps;
    model.raise_gaps(state, gaps_);
  }
  Certificate state_figures;
  state_figures.gap = model.has_alternatives() ? ContactEvaluator::smallest_of(gaps_)
                                               : ContactEvaluator::smallest_of(gaps);
  state_figures.joint = evaluator_.compute_joint_error(model, state);
  certificate_.include(state_figures);
}

std::string_view to_text(PhaseKind kind) {
  static constexpr std::array<std::string_view, kNumPhaseKinds> kNames = {
      "step",           "impact",
      "decompression",  "inelastic impact",
      "position level", "linear position level",
      "midpoint",       "velocity projection",
      "projection"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view to_text(EventKind kind) {
  switch (kind) {
    case EventKind::kCollision:
      return "collision";
    case EventKind::kStick:
      return "stick";
    case EventKind::kSlip:
      return "slip";
    case EventKind::kTakeOff:
      return "take-off";
    case EventKind::kFloor:
      return "floor";
  }
  return "unknown";
}

namespace {

void require(bool is_good, const char* name, double value, const char* range) {
  if (!is_good || !std::isfinite(value))
    throw InputError(fmt::format("{} is {}, must be {}", name, value, range));
}

}  // namespace

void check_options(const SteppingOptions& options) {
  const EventOptions& e = options.events;
  require(e.contact_tolerance > 0, "events.contact_tolerance", e.contact_tolerance, "> 0");
  require(e.contact_growth >= 0, "events.contact_growth", e.contact_growth, ">= 0");
  require(e.min_step > 0 && e.min_step < 1, "events.min_step", e.min_step, "in (0, 1)");
  require(e.time_tolerance > 0 && e.time_tolerance < 1, "events.time_tolerance", e.time_tolerance,
          "in (0, 1)");
  require(e.restitution_threshold >= 0, "events.restitution_threshold", e.restitution_threshold,
          ">= 0");
  const SpookOptions& s = options.spook;
  require(s.relaxation > 0, "spook.relaxation", s.relaxation, "> 0");
  require(s.compliance > 0, "spook.compliance", s.compliance, "> 0");
  require(s.stiffness_return >= 0 && s.stiffness_return < 1, "spook.stiffness_return",
          s.stiffness_return, "in [0, 1)");
  const ErrorControl& c = options.error_control;
  require(c.tolerance >= 0, "error_control.tolerance", c.tolerance, ">= 0");
  require(c.min_step > 0 && c.min_step < 1, "error_control.min_step", c.min_step, "in (0, 1)");
}

void check_contacts_are_rigid(std::string_view scheme, const ContactModel& model) {
  for (const ContactInfo* law : model.contact_laws())
    if (law->compliance > 0)
      throw InputError(fmt::format(
          "contact '{}' has compliance {}, {} has rigid contacts; take spook or stewart-trinkle",
          law->name, law->compliance, scheme));
}

std::vector<std::string> scheme_names() {
  return {"stewart-trinkle",
          "anitescu-potra",
          "linearly-implicit-euler",
          "trapezoidal-1",
          "trapezoidal-2",
          "moreau",
          "spook"};
}

std::unique_ptr<Scheme> make_scheme(std::string_view name, const SchemeOptions& options) {
  if (name == "spook") return std::make_unique<SpookScheme>(options);
  if (name == "moreau") return std::make_unique<MoreauScheme>(options);
  if (name == "stewart-trinkle") return std::make_unique<StewartTrinkleScheme>(options);
  if (std::unique_ptr<SubstepRule> rule = make_substep_rule(name, options.stepping))
    return std::make_unique<EventScheme>(std::move(rule), options);
  throw InputError(fmt::format("unknown scheme '{}'; known: {}", name, joined(scheme_names())));
}

}  // namespace stiction
