#include "stiction/solve/nsgs_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/check.h"
#include "stiction/base/error.h"
#include "stiction/base/infinity.h"

namespace stiction {
namespace {

/// Frozen units are visited again in every sweep whose number divides by this.
constexpr int kRevisit = 10;

/// Share of the present residual below which a change is no news.
constexpr double kQuietShare = 1e-3;

/// The hybrid acceleration changes from Anderson to NNCG after this many sweeps, once so many have
/// gained less than a tenth: what Anderson has not solved by then changes its contact states again
/// and again, and NNCG copes better with that (docs/solvers/nsgs.md). So does momentum, as far as
/// single precision goes.
constexpr int kAndersonSweeps = 200;
constexpr int kAndersonPatience = 40;

/// β of momentum, and the share of their way by which contacts that slide are held back. In piles
/// whose contacts change from stick to slip and back a β of 0.9 keeps some of them changing for
/// ever, and 0.7 takes half as many sweeps again. Below the fine tolerance, where it is a matter of
/// hundreds of sweeps, and as far as single precision goes it may be larger if what slides is held
/// back. At other tolerances few sweeps do as a rule, and holding back costs some of them. Where
/// many have not done, what is left are contacts that go on changing; they settle with less of both
/// (docs/decisions/0027-single-precision-and-momentum.md).
struct Momentum {
  double beta, hold;
  int late_from;  // sweep
  double late_beta, late_hold;
};
constexpr Momentum kRoughMomentum = {0.8, 0, 40, 0.8, 0.6},
                   kFineMomentum = {0.88, 0.45, 600, 0.6, 0.5};
constexpr double kFineTolerance = 1e-4;

/// Sums are updated in place and drift by rounding; they are computed anew after this many sweeps.
/// Momentum then begins anew, too: what its last point had of that drift would come back β/(1 − β)
/// times as large, with every time.
constexpr int kRefresh = 100;

/// A refused answer makes the target smaller by at most this factor at once.
constexpr double kStrictest = 0.01;

/// A sweep that changes at most so much more than the target, in the same measure, may end at it;
/// so much of that after an answer that was refused nevertheless. What is measured at other times,
/// and how often, says whether sweeps get on.
constexpr double kPromising = 1.3, kAfterRefusal = 0.6;
constexpr int kLongestGap = 100;

/// Tolerances from which on sweeps begin in single precision: (T23) then asks for 3·10⁻⁴ of the
/// motion of a contact or less.
constexpr double kSingleTolerance = 1e-7;
/// They go on in double precision if answers are refused that change by less than this share of the
/// target, or after so many sweeps that gain nothing.
constexpr double kLeastPromising = 0.2;
constexpr int kSinglePatience = 1000;

/// Good starts may be answers after a few sweeps: the first ones are checked.
constexpr int kFirstSweeps = 2;

/// A check costs up to half a sweep. Gaps that grow with the sweeps done keep both the checks and
/// the sweeps done in vain to a small share.
int next_check(int sweep, int least_gap) {
  return sweep + std::clamp(sweep / 8, sweep < kFirstSweeps ? 1 : least_gap, 20);
}

}  // namespace

NsgsSolver::NsgsSolver(const NsgsOptions& options, std::shared_ptr<SweepWorkshop> workshop)
    : options_(options),
      acceptance_(options.tolerance, options.measure, options.workers),
      start_acceptance_(options.tolerance, options.start_measure, options.workers),
      workshop_(share_or_make(workshop)),
      is_alone_(workshop == nullptr),
      blocks_(workshop_->blocks),
      state_(workshop_->state) {
  if (!(options.tolerance > 0))
    throw InputError(fmt::format("nsgs: tolerance is {}, must be positive", options.tolerance));
  if (options.max_iterations < 0)
    throw InputError(
        fmt::format("nsgs: max_iterations is {}, must be >= 0", options.max_iterations));
  if (!(options.relaxation > 0 && options.relaxation < 2))
    throw InputError(
        fmt::format("nsgs: relaxation is {}, must lie between 0 and 2", options.relaxation));
  if (options.depth < 1 || options.depth > 16)
    throw InputError(fmt::format("nsgs: depth is {}, must be 1 to 16", options.depth));
}

SolverReport NsgsSolver::solve(const StepProblem& problem, StepSolution& solution) {
  const Deadline deadline(max_seconds_);
  acceptance_.forget_last();
  if (try_nothing(problem, solution)) return {SolverStatus::kConverged, 0};
  if (!start(problem, solution)) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kNonFinite, .has_answer = false};
  }
  const SolverReport report = iterate(problem, deadline, solution);
  if (report.status == SolverStatus::kConverged) return report;
  state_.go_to(blocks_, workshop_->best);
  state_.store(blocks_, solution);
  return report;
}

/// Whether no impulses at all are an answer: worth asking where no contact of a condensed problem
/// approaches faster than the tolerance allows and the start is no better. Saves the layout.
bool NsgsSolver::try_nothing(const StepProblem& problem, StepSolution& solution) {
  const bool is_warm = options_.warm_start && !solution.r.empty();
  if (is_warm || problem.num_dofs() > 0 || problem.num_bilateral() > 0) return false;
  double largest = 0, approach = 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int row = problem.contacts.row_start(j);
    approach = std::max(approach, -problem.contact_bias[row]);
    if (approach > options_.tolerance) return false;
    largest = std::max(largest, std::abs(problem.contact_bias[row]));
  }
  const bool is_tiny = largest < std::numeric_limits<double>::epsilon();
  if (approach > options_.tolerance * largest && !is_tiny) return false;
  solution.w.clear();
  solution.lambda.clear();
  solution.r.assign(problem.num_contact_rows(), 0.0);
  best_level_ = acceptance_.measure(problem, solution);
  if (best_level_ <= options_.tolerance) return true;
  solution.r.clear();
  return false;
}

/// The layout and the first state; false if numbers are not finite or a mass block is singular.
bool NsgsSolver::start(const StepProblem& problem, const StepSolution& solution) {
  if (is_alone_) workshop_->forget();
  if (!workshop_->lay_out_rows(problem, options_.measure, options_.workers)) return false;
  if (!may_begin_in_packs()) workshop_->complete();
  is_start_measured_ =
      options_.warm_start && !asks_published(options_.measure) && workshop_->knows_start(solution);
  workshop_->is_start_measured = false;
  if (!is_start_measured_) state_.start(blocks_, solution, options_.warm_start);
  if (options_.shortens_start && state_.shorten(problem, blocks_)) is_start_measured_ = false;
  workshop_->best.assign(state_.x(), state_.x() + blocks_.num_rows());
  best_level_ = gain_level_ = kInfinity;
  target_ = options_.tolerance;
  last_gain_ = 0;
  pair_start_ = -1;
  is_extrapolated_ = false;
  has_changed_over_ = is_focus_vain_ = false;
  visits_ = Visits::kOneByOne;
  promising_ = kPromising;
  return state_.is_finite();
}

SolverReport NsgsSolver::iterate(const StepProblem& problem, const Deadline& deadline,
                                 StepSolution& solution) {
  if (evaluate(0) <= target_ && confirm_start(problem, solution))
    return {SolverStatus::kConverged, 0};
  workshop_->begin_sweeps();
  choose_visits();
  choose_momentum(0);
  if (has_changes()) workshop_->residual.list_scales(blocks_, workshop_->scale);
  load_packs();
  if (options_.max_iterations == 0) return {SolverStatus::kMaxIterations, 0};
  for (int number = 1, due = 1;; ++number) {
    sweep(number);
    const bool is_last = number >= options_.max_iterations * patience() ||
                         (number >= options_.timeless_sweeps && deadline.has_passed());
    bool is_focused = false;
    if (!is_last && is_promising(number)) {
      store_impulses();
      double measured = 0;
      if (is_answer(problem, solution, measured)) {
        best_level_ = measured;
        return {SolverStatus::kConverged, number};
      }
      promising_ *= kAfterRefusal;
      note(measured);
    } else if (is_last || (number >= due && !is_far_off(number))) {
      due = has_changes() ? number + 1 : next_check(number, options_.check_gap);
      const double level = evaluate_and_focus(number, deadline, is_focused);
      if (level <= target_ && number >= options_.least_sweeps && confirm(problem, solution))
        return {SolverStatus::kConverged, number};
      const bool has_stalled =
          options_.stall_sweeps > 0 && number - last_gain_ >= options_.stall_sweeps * patience();
      if (level == kInfinity && !state_.is_finite()) return {SolverStatus::kNonFinite, number};
      if (is_last || has_stalled) return {SolverStatus::kMaxIterations, number};
    }
    if (is_rounding(number)) {
      visit_in_double(number);
      continue;
    }
    if (is_focused)
      restart_acceleration(number);
    else
      accelerate(number);
    if (number % kRefresh == 0) refresh(number);
  }
}

/// The residual, after sweeps over what is still wrong if there were any.
double NsgsSolver::evaluate_and_focus(int number, const Deadline& deadline, bool& is_focused) {
  const double before = evaluate(number);
  is_focused = before > target_ && !is_focus_vain_ && focus(number, deadline);
  const double level = is_focused ? evaluate(number) : before;
  is_focus_vain_ = is_focused && !(level < before);
  return level;
}

/// The kind in use.
Acceleration NsgsSolver::acceleration() const {
  if (options_.acceleration != Acceleration::kHybrid) return options_.acceleration;
  if (has_changed_over_) return Acceleration::kNncg;
  return is_packed() ? Acceleration::kMomentum : Acceleration::kAnderson;
}

/// √ω per impulse.
const std::vector<double>& NsgsSolver::weigh_impulses() {
  std::vector<double>& weight = workshop_->weight;
  weight.resize(blocks_.num_rows());
  for (int i = 0; i < blocks_.num_units(); ++i)
    std::fill(weight.begin() + blocks_.unit(i).row, weight.begin() + blocks_.unit(i + 1).row,
              std::sqrt(blocks_.omega(i)));
  return weight;
}

void NsgsSolver::choose_visits() {
  if (may_begin_in_packs() && workshop_->lay_out(workshop_->single_packs)) {
    visits_ = Visits::kInSinglePacks;
    return;
  }
  workshop_->complete();
  if (may_visit_packs() && workshop_->lay_out(workshop_->double_packs))
    visits_ = Visits::kInDoublePacks;
}

/// Packs have one order, and no relaxation.
bool NsgsSolver::may_visit_packs() const {
  return options_.relaxation == 1 && !options_.alternates;
}

bool NsgsSolver::may_begin_in_packs() const {
  return may_visit_packs() && is_rough() && workshop_->may_be_packed();
}

/// Whether single precision will mostly do.
bool NsgsSolver::is_rough() const {
  return options_.measure == StoppingMeasure::kCertificate &&
         options_.tolerance >= kSingleTolerance;
}

/// How far sweeps after sweep `number` carry on, and how much contacts are held back.
void NsgsSolver::choose_momentum(int number) {
  const bool may_hold = is_packed() && is_rough() && acceleration() == Acceleration::kMomentum;
  const bool is_fine = may_hold && options_.tolerance < kFineTolerance;
  const Momentum& kind = is_fine ? kFineMomentum : kRoughMomentum;
  late_from_ = kind.late_from;
  const bool is_late = may_hold && number >= late_from_;
  const double hold = !may_hold ? 0 : is_late ? kind.late_hold : kind.hold;
  with_packs([&](auto& desk) { desk.packs.set_hold(hold); });
  way_ = is_fine ? 1 - hold : 1;
  momentum_ = is_late ? kind.late_beta : kind.beta;
  workshop_->double_packs.accelerator.set_momentum(momentum_);
}

/// Whether single precision is what sweeps do not get beyond.
bool NsgsSolver::is_rounding(int number) const {
  return visits_ == Visits::kInSinglePacks &&
         (promising_ < kLeastPromising || number - last_gain_ >= kSinglePatience);
}

/// From the state that sweeps in single precision have come to.
void NsgsSolver::visit_in_double(int number) {
  store_impulses();
  if (state_.is_finite())
    state_.refresh(blocks_);
  else
    state_.go_to(blocks_, workshop_->best);
  visits_ = Visits::kInDoublePacks;
  ST_DEMAND(workshop_->lay_out(workshop_->double_packs));  // takes all that single ones take
  load_packs();
  is_extrapolated_ = has_changed_over_ = false;
  last_gain_ = number;
  promising_ = kPromising;
  prepare_acceleration(number);
}

/// Whether sweeps tell what they change in the terms of the residual.
bool NsgsSolver::has_changes() const { return is_packed() && asks_certificate(options_.measure); }

/// Whether the last sweep changed so little that the judge may be asked at once: what it leaves is
/// less than what it changed, and of 180 such answers he refused 9.
bool NsgsSolver::is_promising(int number) const {
  return has_changes() && options_.asks_judge && !is_extrapolated_ &&
         number >= options_.least_sweeps && change_ <= promising_ * way_ * way_ * target_ &&
         number - last_evaluation_ < kLongestGap;
}

/// Whether the result of the last sweep need not be measured. In packs that is only done to see
/// whether sweeps get on.
bool NsgsSolver::is_far_off(int number) const {
  return has_changes() && number - last_evaluation_ < kLongestGap &&
         (options_.asks_judge || change_ > kPromising * target_);
}

void NsgsSolver::load_packs() {
  with_packs([&](auto& desk) {
    desk.packs.load(state_);
    if (has_changes()) desk.packs.set_scales(workshop_->scale);
  });
}

void NsgsSolver::store_packs() {
  with_packs([&](auto& desk) { desk.packs.store(state_); });
}

/// For states that are refreshed before anything but impulses is read.
void NsgsSolver::store_impulses() {
  with_packs([&](auto& desk) { desk.packs.store_impulses(state_); });
}

void NsgsSolver::refresh(int number) {
  with_packs([](auto& desk) { desk.packs.settle(); });
  store_impulses();
  state_.refresh(blocks_);
  load_packs();
  if (acceleration() == Acceleration::kMomentum) restart_acceleration(number);
}

/// Ends sweep `number`: its result becomes the start of the next one. The first sweep is not part
/// of the history: it comes from no impulses at all and says little about those to come. In packs
/// an extrapolation other than by momentum takes as long as a sweep, so that it is made of every
/// second one.
void NsgsSolver::accelerate(int number) {
  is_extrapolated_ = false;
  if (options_.acceleration == Acceleration::kNone) return;
  const bool may_change_over = options_.acceleration == Acceleration::kHybrid &&
                               !has_changed_over_ && !(is_packed() && is_rough());
  const bool changes_over =
      may_change_over && number >= kAndersonSweeps && number - last_gain_ >= kAndersonPatience;
  has_changed_over_ = has_changed_over_ || changes_over;
  if (number == 1 || changes_over) {
    prepare_acceleration(number);
    return;
  }
  if (number == late_from_) choose_momentum(number);
  const bool carries_on = acceleration() == Acceleration::kMomentum;
  const bool is_paired = options_.alternates || (is_packed() && !carries_on);
  if (number - pair_start_ < (is_paired ? 2 : 1)) return;
  if (is_packed() && carries_on)  // by the packs themselves
    with_packs([&](auto& desk) { desk.packs.carry_on(momentum_); });
  else
    with_accelerator([](auto& accelerator, auto values) {
      accelerator.extrapolate(values);
      accelerator.remember(values);
    });
  is_extrapolated_ = !carries_on;
  pair_start_ = number;
}

/// From the state after sweep `number` on.
void NsgsSolver::prepare_acceleration(int number) {
  if (options_.acceleration == Acceleration::kNone) return;
  const Acceleration kind = acceleration();
  choose_momentum(number);
  const auto prepare = [&](auto& accelerator, const auto& weight, auto values) {
    accelerator.prepare(kind, options_.depth, weight, static_cast<int>(values.size()),
                        options_.workers);
    accelerator.remember(values);
  };
  with_packs([&](auto& desk) {
    if (kind == Acceleration::kMomentum)
      desk.packs.forget_momentum();
    else
      prepare(desk.accelerator, desk.packs.weigh(), desk.packs.values());
  });
  if (!is_packed())
    prepare(workshop_->double_packs.accelerator, weigh_impulses(),
            std::span<double>(state_.values()));
  pair_start_ = number;
}

/// What was learned from sweeps over everything does not hold after those over a part.
void NsgsSolver::restart_acceleration(int number) {
  is_extrapolated_ = false;
  if (options_.acceleration == Acceleration::kNone) return;
  if (is_packed() && acceleration() == Acceleration::kMomentum)
    with_packs([](auto& desk) { desk.packs.forget_momentum(); });
  else
    with_accelerator([](auto& accelerator, auto values) {
      accelerator.forget();
      accelerator.remember(values);
    });
  pair_start_ = number;
}

/// Sweeps over what is still wrong, if that is little; whether there were any.
bool NsgsSolver::focus(int number, const Deadline& deadline) {
  if (is_packed() || !options_.focuses || !SweepFocus::is_for(blocks_, number, options_.measure))
    return false;
  return workshop_->focus.run(blocks_, target_, options_.depth, deadline, workshop_->residual,
                              workshop_->sweep, state_);
}

void NsgsSolver::sweep(int number) {
  if (is_packed()) {
    with_packs([&](auto& desk) { change_ = desk.packs.run(); });
    return;
  }
  NsgsSweep::Step step;
  step.is_forward = !options_.alternates || number % 2 == 1;
  step.relaxation = options_.relaxation;
  const bool needs_all = acceleration() == Acceleration::kAnderson;
  if (options_.freezes && !needs_all && number > kRevisit) {
    double total = 0;
    for (int i = 0; i < blocks_.num_units(); ++i)
      for (int row = blocks_.unit(i).row; row < blocks_.unit(i + 1).row; ++row)
        total += std::abs(state_.x()[row]) * std::sqrt(blocks_.omega(i));
    step.quiet_below = kQuietShare * std::min(1.0, best_level_) * total;
    step.includes_quiet = number % kRevisit == 0;
  }
  workshop_->sweep.run(blocks_, step, state_);
}

/// The residual of the present state, which is noted if it is the best so far. Infinite if the
/// state is not finite, and also where a row that nothing moves does not hold.
double NsgsSolver::evaluate(int number) {
  last_evaluation_ = number;
  store_packs();
  const double level = number == 0 ? evaluate_start() : measure(kInfinity);
  note(level);
  if (level < 0.9 * gain_level_) {
    gain_level_ = level;
    last_gain_ = number;
  }
  return level;
}

/// Where sweeps will tell what they change a start of what moves is not looked at, since that costs
/// more than a sweep, and of one that is no answer nothing more is asked.
double NsgsSolver::evaluate_start() {
  if (is_start_measured_) return workshop_->residual.last_levels().largest();
  if (!workshop_->may_be_packed()) return measure(kInfinity);
  if (may_begin_in_packs() && workshop_->residual.measure_data(blocks_, state_)) return kInfinity;
  return measure(target_);
}

/// The residual of the present state, infinite where a motion is beyond `largest_motion`.
double NsgsSolver::measure(double largest_motion) {
  workshop_->complete();
  return workshop_->residual.evaluate(blocks_, state_, largest_motion);
}

/// Keeps the state if it is the best so far.
void NsgsSolver::note(double level) {
  if (!(level < best_level_)) return;
  best_level_ = level;
  std::copy(state_.x(), state_.x() + blocks_.num_rows(), workshop_->best.begin());
}

bool NsgsSolver::confirm_start(const StepProblem& problem, StepSolution& solution) {
  if (!options_.asks_judge || options_.start_measure == StoppingMeasure::kCertificate)
    return confirm(problem, solution);
  // What misses by far is not worth the judge's time.
  constexpr double kFar = 2;
  const double velocities = kVelocityShare * std::sqrt(workshop_->residual.last_levels().motion);
  if (options_.start_measure == StoppingMeasure::kVelocities &&
      velocities > kFar * options_.tolerance)
    return false;
  state_.store(blocks_, solution);
  return start_acceptance_.accepts(problem, solution);
}

/// Asks the judge; if the answer is refused, the next one has to be better by what it lacked.
bool NsgsSolver::confirm(const StepProblem& problem, StepSolution& solution) {
  double measured = 0;
  if (is_answer(problem, solution, measured)) return true;
  target_ *= std::clamp(0.5 * options_.tolerance / measured, kStrictest, 0.5);
  return false;
}

bool NsgsSolver::is_answer(const StepProblem& problem, StepSolution& solution, double& measured) {
  if (blocks_.has_bodies()) state_.refresh(blocks_);  // w then belongs to the impulses, to the bit
  state_.store(blocks_, solution);
  if (!options_.asks_judge) return true;
  measured = acceptance_.measure(problem, solution);
  return measured <= options_.tolerance;
}

}  // namespace stiction
