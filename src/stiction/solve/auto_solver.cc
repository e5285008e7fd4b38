#include "stiction/solve/auto_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "stiction/base/all_finite.h"
#include "stiction/base/infinity.h"
#include "stiction/solve/auto_team.h"
#include "stiction/solve/contradiction.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

/// Up to this size a first attempt is made before islands are looked for.
constexpr int kSmallRows = 60;
/// Contacts from which on all threads work on one island.
constexpr int kLargeIsland = 400;
/// Errors of islands in the published 2-norms add up, each relative to the largest of up to three
/// norms of its own. This share of the tolerance for each is always enough: (1/2)²·3 < 1.
constexpr double kIslandShare = 0.5;

bool is_finite(const RowCoupling& coupling) {
  for (int e = 0; e < coupling.num_entries(); ++e)
    if (!std::isfinite(coupling.value(e))) return false;
  return true;
}

bool is_finite(const StepProblem& problem) {
  return all_finite(problem.mass_values) && all_finite(problem.p) && all_finite(problem.bias) &&
         all_finite(problem.contact_bias) && all_finite(problem.mu) &&
         all_finite(problem.compliance) && all_finite(problem.contact_compliance) &&
         is_finite(problem.coupling);
}

/// Squared velocities below this are no scale for an error. (problem/published_error.h)
constexpr double kLeastSquare = 2.2e-16 * 2.2e-16;

/// Zero impulses where nothing pushes, in a problem without bodies: û is then in the dual cone of
/// every contact, or misses it by no more than the negative part of its normal velocity.
bool needs_no_impulse(const StepProblem& problem, const AutoOptions& options) {
  if (problem.num_blocks() > 0 || problem.num_bilateral() > 0) return false;
  const bool is_published = options.measure == StoppingMeasure::kPublished;
  double push = 0, square = 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const double normal = problem.contact_bias[problem.contacts.row_start(j)];
    if (normal >= 0) continue;
    if (!is_published) return false;
    push += normal * normal;
  }
  for (const double bias : problem.contact_bias) square += bias * bias;
  const double scale = square > kLeastSquare ? square : 1;
  if (!(push <= options.tolerance * options.tolerance * scale)) return false;
  // Beyond what the judge can measure, or no problem at all.
  return std::isfinite(square) && is_finite(problem.coupling);
}

bool has_impulses(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
         static_cast<int>(solution.r.size()) == problem.num_contact_rows();
}

/// A contact that pivoting does not take.
bool has_disc(const StepProblem& problem) {
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (problem.contacts.num_rows(j) == 3 && problem.mu[j] > 0 &&
        problem.section[j].kind == FrictionSection::Kind::kDisc)
      return true;
  return false;
}

bool fits(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.w.size()) == problem.num_dofs() &&
         has_impulses(problem, solution);
}

bool all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
}

}  // namespace

struct AutoSolver::Desk {
  std::unique_ptr<AutoTeam> team;
  StepProblem part;
  StepSolution start, solution;
  std::vector<double> before;
};

AutoSolver::AutoSolver(const AutoOptions& options)
    : options_(options),
      pool_(options.workers != nullptr ? options.workers
                                       : std::make_shared<WorkerPool>(options.num_threads)),
      acceptance_(options.tolerance, options.measure, pool_.get()),
      quick_(std::make_unique<QuickLcp>()),
      direct_(std::make_unique<DirectAttempt>()),
      whole_(std::make_unique<AutoTeam>(options, pool_.get())) {}

AutoSolver::~AutoSolver() = default;

const Certifier* AutoSolver::certifier() const {
  return whole_->certifier() != nullptr ? whole_->certifier() : &acceptance_.certifier();
}

SolverReport AutoSolver::solve(const StepProblem& problem, StepSolution& solution) {
  deadline_ = Deadline(max_seconds_);
  least_time_ = 0;
  acceptance_.forget_last();
  whole_->forget_certifier();
  SolverReport first;
  take_velocities(problem, solution);
  if (whole_->stands_still(problem, solution)) return first;
  if (is_solved_at_once(problem, solution, first)) return first;
  SolverReport report{.status = SolverStatus::kMaxIterations, .has_answer = false};
  double best = kInfinity;
  if (!has_impulses(problem, solution)) prepare_start(problem, solution);
  whole_->try_quick(problem, solution, best, report);
  if (best == 0) return {SolverStatus::kConverged, report.iterations, report.stage};
  prepare_start(problem, solution);
  start_ = solution;
  hold_ground(problem, report, solution);
  if (is_late(report)) return admit_failure(problem, report, solution);
  int level = 0;
  // Taking a small problem apart costs as much as a first attempt at solving it.
  if (problem.num_rows() <= kSmallRows) {
    best = ground_level_;
    (void)whole_->improve(problem, level++, start_, solution, best, report, deadline_);
  } else if (!has_ground()) {
    whole_->try_few_sweeps(problem, solution, best, report);
  }
  if (whole_->is_good(best)) return {SolverStatus::kConverged, report.iterations, report.stage};
  islands_.find(problem);
  pending_.clear();
  bool is_solved = false;
  if (is_worth_splitting()) {
    is_solved = solve_islands(problem, report, solution);
    best = kInfinity;  // that of another answer
    whole_->forget_certifier();
  }
  // Parts that all pass by themselves may still fail together, where data of one limit what counts
  // as an impulse of another (T22); published errors are of the whole. A step that fails costs more
  // than another search on other paths.
  const bool is_worth_it =
      pending_.empty() || options_.measure == StoppingMeasure::kPublished ||
      (options_.is_for_steps() && problem.num_contacts() <= AutoTraits::kManyDiscs);
  if (!is_solved && is_worth_it) is_solved = solve_whole(problem, level, best, report, solution);
  if (is_solved) report.status = SolverStatus::kConverged;
  if (is_solved) return report;
  return_to_ground(problem, solution);
  return admit_failure(problem, report, solution);
}

/// Where time is limited: an answer to go on from, and to come back to if nothing better is found
/// in time. Newton's iterates, cut off, may be worse than none.
void AutoSolver::hold_ground(const StepProblem& problem, SolverReport& report,
                             StepSolution& solution) {
  ground_level_ = kInfinity;
  if (!deadline_.is_limited()) return;
  ground_level_ = whole_->sweep_roughly(problem, solution, report, deadline_);
  if (has_ground()) ground_ = solution;
  // To lay the problem out takes most of that time, and other methods do it again.
  constexpr double kLayout = 0.5, kMost = 0.25;
  const double taken = deadline_.seconds() - deadline_.remaining();
  least_time_ = std::min(kLayout * taken, kMost * deadline_.seconds());
}

bool AutoSolver::has_ground() const { return ground_level_ < kInfinity; }

/// What is better for each island need not be so for all of them.
void AutoSolver::return_to_ground(const StepProblem& problem, StepSolution& solution) {
  if (has_ground() && !(acceptance_.measure(problem, solution) <= ground_level_))
    solution = ground_;
}

/// Impulses without velocities are a guess from elsewhere. Small problems that pivoting takes are
/// solved exactly without, and as fast; an answer that is only just accepted would be the loss.
void AutoSolver::prepare_start(const StepProblem& problem, StepSolution& solution) {
  if (fits(problem, solution)) return;
  const bool is_used = problem.num_rows() > kSmallRows || has_disc(problem);
  if (has_impulses(problem, solution) && is_used)
    solution.w.assign(problem.num_dofs(), 0.0);
  else
    solution.set_zero(problem);
}

/// By the start, by nothing at all, or by an attempt that costs less than laying out the problem.
bool AutoSolver::is_solved_at_once(const StepProblem& problem, StepSolution& solution,
                                   SolverReport& report) {
  // Zeros are what an answer is before the first solve; that they are one is rare and cheap to find
  // out otherwise.
  const bool is_cold = has_zero_impulses(solution) && all_zero(solution.w) &&
                       (problem.num_blocks() == 0 || !all_zero(problem.p));
  const bool is_start = fits(problem, solution) && !is_cold;
  if (is_start && is_start_accepted(problem, solution)) return true;
  if (DirectAttempt::is_for(problem))
    return direct_->try_solve(problem, acceptance_, solution, report);
  if (is_start || problem.num_blocks() > 0) return false;
  if (needs_no_impulse(problem, options_)) {
    solution.set_zero(problem);
    return true;
  }
  return quick_->try_solve(problem, acceptance_, solution, report);
}

/// Whether there is no time for another method. Without an answer there has to be.
bool AutoSolver::is_late(const SolverReport& report) const {
  return report.has_answer && deadline_.is_limited() && deadline_.remaining() <= least_time_;
}

/// The judge costs about as much as solving a joint system, whose starts have mostly moved on.
bool AutoSolver::is_start_accepted(const StepProblem& problem, const StepSolution& solution) {
  const bool is_refused = options_.tolerance < AutoTeam::kLooseTolerance &&
                          options_.measure == StoppingMeasure::kCertificate &&
                          DirectAttempt::is_for(problem) && direct_->is_far_off(problem, solution);
  return !is_refused && acceptance_.accepts(problem, solution);
}

/// Not if nearly all contacts belong to one island.
bool AutoSolver::is_worth_splitting() const {
  constexpr double kDominant = 0.95;
  int largest = 0, total = 0;
  for (int island = 0; island < islands_.num_islands(); ++island) {
    largest = std::max(largest, islands_.num_contacts(island));
    total += islands_.num_contacts(island);
  }
  return islands_.num_islands() > 1 && largest <= kDominant * total;
}

/// The chain of methods from `level` on; `best` is the measure of `solution`, if known.
bool AutoSolver::solve_whole(const StepProblem& problem, int level, double best,
                             SolverReport& report, StepSolution& solution) {
  if (report.has_answer && best == kInfinity) best = acceptance_.measure(problem, solution);
  while (!is_late(report) &&
         whole_->improve(problem, level, start_, solution, best, report, deadline_)) {
    if (whole_->is_good(best)) return true;
    ++level;
  }
  return false;
}

/// True if the answer is accepted; otherwise islands that failed remain in pending_.
bool AutoSolver::solve_islands(const StepProblem& problem, SolverReport& report,
                               StepSolution& solution) {
  const auto furnish = [&](std::vector<Desk>& desks, const AutoOptions& options) {
    if (!desks.empty()) return;
    desks.resize(pool_->num_threads() + 1);
    for (Desk& desk : desks)
      desk.team =
          std::make_unique<AutoTeam>(options, &desk == &desks.back() ? pool_.get() : nullptr);
  };
  move_loose_blocks(problem, solution);
  furnish(desks_, options_);
  if (run_islands(problem, desks_, report, solution)) return true;
  if (!pending_.empty() || options_.measure == StoppingMeasure::kCertificate) return false;
  furnish(strict_, {.tolerance = std::max(kIslandShare * options_.tolerance,
                                          std::numeric_limits<double>::min()),
                    .measure = options_.measure});
  return run_islands(problem, strict_, report, solution);
}

/// The chain of methods on every island, level by level.
bool AutoSolver::run_islands(const StepProblem& problem, std::vector<Desk>& desks,
                             SolverReport& report, StepSolution& solution) {
  pending_.resize(islands_.num_islands());
  std::iota(pending_.begin(), pending_.end(), 0);
  level_of_.assign(islands_.num_islands(), kInfinity);
  for (int level = 0; !pending_.empty(); ++level) {
    if (run_level(problem, level, desks, report, solution) == 0) return false;
    // What is too rough for an island by itself may be fine beside the others. The first methods
    // may have been asked for more.
    if ((level > 0 || pending_.empty() || !options_.is_for_steps()) &&
        acceptance_.accepts(problem, solution))
      return true;
  }
  return false;
}

/// The level-th method on every pending island; how many had one.
int AutoSolver::run_level(const StepProblem& problem, int level, std::vector<Desk>& desks,
                          SolverReport& report, StepSolution& solution) {
  outcomes_.assign(pending_.size(), {});
  const bool is_over = is_late(report);
  const auto run_one = [&](int k, Desk& desk) {
    outcomes_[k].report.has_answer = false;
    if (!is_over || (level_of_[pending_[k]] == kInfinity && !has_ground()))
      run_island(problem, pending_[k], level, desk, outcomes_[k], solution);
  };
  // Large islands one after the other, by all threads; the others at once, each by one.
  shared_.clear();
  single_.clear();
  for (int k = 0; k < static_cast<int>(pending_.size()); ++k)
    (islands_.num_contacts(pending_[k]) >= kLargeIsland ? shared_ : single_).push_back(k);
  for (const int k : shared_) run_one(k, desks.back());
  pool_->run(static_cast<int>(single_.size()),
             [&](int number, int worker) { run_one(single_[number], desks[worker]); });
  int num_tried = 0;
  std::size_t num_left = 0;
  for (std::size_t k = 0; k < outcomes_.size(); ++k) {
    const Outcome& outcome = outcomes_[k];
    num_tried += outcome.was_tried ? 1 : 0;
    report.iterations += outcome.report.iterations;
    report.stage = std::max(report.stage, outcome.report.stage);
    report.has_answer = report.has_answer || outcome.report.has_answer;
    if (!outcome.is_done) pending_[num_left++] = pending_[k];
  }
  pending_.resize(num_left);
  return num_tried;
}

/// Reads and writes what belongs to the island only: others are solved at the same time.
void AutoSolver::run_island(const StepProblem& problem, int island, int level, Desk& desk,
                            Outcome& outcome, StepSolution& solution) {
  islands_.extract(problem, island, desk.part);
  islands_.gather(problem, island, start_, desk.start);
  islands_.gather(problem, island, solution, desk.solution);
  double& best = level_of_[island];
  gather_velocities(problem, island, desk.before);
  desk.team->begin(desk.before);
  if (level == 0 && desk.team->stands_still(desk.part, desk.solution)) best = 0;
  if (level == 0 && best != 0)
    desk.team->try_direct(desk.part, desk.solution, best, outcome.report);
  if (level == 0 && best != 0) desk.team->try_quick(desk.part, desk.solution, best, outcome.report);
  const bool is_solved = best == 0;
  if (level == 0 && !is_solved && has_ground()) best = desk.team->measure(desk.part, desk.solution);
  outcome.was_tried = is_solved || desk.team->improve(desk.part, level, desk.start, desk.solution,
                                                      best, outcome.report, deadline_);
  if (!outcome.was_tried) return;
  islands_.scatter(problem, island, desk.solution, solution);
  outcome.is_done = is_solved || desk.team->is_good(best);
}

/// Velocities of the step before are no start, but tell what moves.
void AutoSolver::take_velocities(const StepProblem& problem, StepSolution& solution) {
  before_.clear();
  if (options_.is_for_steps() && fits(problem, solution)) before_.swap(solution.w);
  whole_->begin(before_);
}

void AutoSolver::gather_velocities(const StepProblem& problem, int island,
                                   std::vector<double>& out) const {
  out.clear();
  if (before_.empty()) return;
  for (const int b : islands_.blocks(island))
    out.insert(out.end(), before_.begin() + problem.dof_start[b],
               before_.begin() + problem.dof_start[b + 1]);
}

/// Bodies that no row touches: w = M̂⁻¹p.
void AutoSolver::move_loose_blocks(const StepProblem& problem, StepSolution& solution) {
  for (const int block : islands_.loose_blocks()) {
    const int start = problem.dof_start[block], size = problem.block_size(block);
    const double* mass = problem.mass_values.data() + problem.mass_start[block];
    lu_.assign(mass, mass + static_cast<std::ptrdiff_t>(size) * size);
    swap_.resize(size);
    double* w = solution.w.data() + start;
    std::copy_n(problem.p.data() + start, size, w);
    if (factor_lu(lu_.data(), size, swap_.data())) solve_lu(lu_.data(), size, swap_.data(), w);
  }
}

/// All of an answer is finite, whatever it is worth.
SolverReport AutoSolver::admit_failure(const StepProblem& problem, SolverReport report,
                                       StepSolution& solution) const {
  if (!report.has_answer || !fits(problem, solution) || !solution.is_finite())
    solution.set_zero(problem);
  if (!is_finite(problem))
    report.status = SolverStatus::kNonFinite;
  else if (!is_late(report) && find_contradiction(problem).is_found())
    report.status = SolverStatus::kInfeasible;
  return report;
}

}  // namespace stiction
