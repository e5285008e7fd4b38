#include "stiction/scheme/event_scheme.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/scheme/gap_path.h"

namespace stiction {
namespace {

/// What is left of a step below this share of it is rounding.
constexpr double kStepRounding = 1e-14;

/// So many events closer than the floor, and one for every contact, are no Zeno sequence yet:
/// contacts that close together are located one after the other.
constexpr int kShortEvents = 8;

/// Nor does a step with this many events go on locating them, however far they are apart, and so
/// many for every contact: in a heap that jams contacts may stick and slip in turn for ever, each
/// time with a problem that takes milliseconds.
constexpr std::size_t kManyEvents = 100, kEventsPerContact = 10;

/// Of the way that a gap goes in a substep, what may be left of it where it closes: far more than
/// the tolerance of time leaves. What is left beyond, the motion jumps over as the substep grows,
/// since friction has more than one answer.
constexpr double kClosed = 1e-9;

/// Error control: safety factor and limits for the change of the substep.
constexpr double kSafety = 0.9, kLargestCut = 0.2, kLargestGrowth = 5;

enum AttemptSlot { kCoarse, kFirstHalf, kSecondHalf, kTrial, kNumSlots };

}  // namespace

EventScheme::EventScheme(std::unique_ptr<SubstepRule> rule, const SchemeOptions& options)
    : options_(options.stepping),
      rule_(std::move(rule)),
      projects_(options.stepping.projection.value_or(rule_->projects_by_default())),
      impact_(options.friction),
      fallback_(options.friction),
      attempts_(kNumSlots, Attempt(options.friction)),
      last_problem_(&attempts_[kCoarse].assembly.problem()) {}

std::vector<std::string> EventScheme::notes(const ContactModel& model) const {
  std::vector<std::string> notes;
  for (const ContactInfo* law : model.contact_laws())
    if (law->restitution_tangential > 0 && law->impact != ImpactLaw::kNewton)
      notes.push_back(fmt::format(
          "Poisson's law has no tangential restitution; that of contact '{}' is not used",
          law->name));
  return notes;
}

void EventScheme::step(const ContactModel& model, const State& start, const SchemeMemory& memory,
                       double h, SolveStage& solve, StepResult& result) {
  const Context c{model, solve, result};
  begin(c, start, memory, h);
  if (h == 0) strike(c, find_fastest_approach(c, 0), {.has_to_succeed = true});
  const std::size_t most_events = kManyEvents + kEventsPerContact * model.num_contacts();
  double remaining = h;
  while (remaining > kStepRounding * h) {
    strike_approaching(c, remaining);
    if (num_short_ > max_short_ || result.events.size() > most_events)
      remaining -= finish_without_events(c, remaining);
    else if (options_.error_control.tolerance > 0)
      remaining -= advance_with_control(c, remaining);
    else
      remaining -= advance(c, remaining);
  }
  state_.t = end_time_;
  result.end = state_;
  result.memory.contacts = status_;
  result.memory.substep = substep_;
  forces_.keep(result.memory);
  const KeptVector& gaps = reader_.finish(model, result);
  solve.certify_state(model, result.end, gaps);
}

void EventScheme::begin(const Context& c, const State& start, const SchemeMemory& memory,
                        double h) {
  reader_.begin(c.model, c.result);
  c.result.substeps = 0;
  state_ = start;
  h_ = h;
  end_time_ = start.t + h;
  contact_tolerance_ =
      std::max(options_.events.contact_tolerance, options_.events.contact_growth * h * h * h);
  floor_ = options_.events.min_step * h;
  slow_rate_ = h > 0 ? options_.events.contact_tolerance / h : 0;
  last_event_ = -std::numeric_limits<double>::infinity();
  num_short_ = 0;
  max_short_ = kShortEvents + c.model.num_contacts();
  substep_ = memory.substep;
  forces_.recall(c.model, memory);
  active_.clear();
  is_held_.assign(c.model.num_contacts(), 0);
  has_struck_.assign(c.model.num_contacts(), 0);
  evaluator_.compute_gaps(c.model, state_.t, state_.q, gaps_);
  status_ = memory.contacts;
  if (status_.empty()) guess_status(c);
}

/// At a start without memory: contacts that touch and slide are slipping. What those do that rest
/// is for the first substep to find out.
void EventScheme::guess_status(const Context& c) {
  status_.assign(c.model.num_contacts(), ContactStatus::kOpen);
  for (int j = 0; j < c.model.num_contacts(); ++j)
    if (is_touching(j) && std::abs(evaluator_.compute_gap_rate(c.model, state_, j)) <= slow_rate_ &&
        evaluator_.compute_slip_speed(c.model, state_, j) > 0)
      status_[j] = ContactStatus::kSlip;
}

void EventScheme::run(const Context& c, const State& start, double length, Attempt& attempt) {
  attempt.length = length;
  rule_->assemble(c.model, start, length, active_, attempt.assembly);
  forces_.write(c.model, attempt.assembly, length, solver_start_);
  rule_->take_back_rounding(start, solver_start_, attempt.assembly);
  attempt.solution = c.solve.probe(attempt.assembly.problem(), attempt.report, &solver_start_);
  rule_->advance(c.model, start, length, attempt.solution, attempt.end);
  last_problem_ = &attempt.assembly.problem();
}

double EventScheme::advance(const Context& c, double remaining) {
  choose_contacts(c, remaining);
  Attempt& attempt = attempts_[kCoarse];
  run(c, state_, remaining, attempt);
  return take(c, attempt);
}

double EventScheme::advance_with_control(const Context& c, double remaining) {
  const double shortest = options_.error_control.min_step * h_;
  const double wanted = substep_ > 0 ? std::max(substep_, shortest) : remaining;
  double length = std::min(wanted, remaining), factor = 1;
  bool is_first_try = true;
  while (true) {
    choose_contacts(c, length);
    run(c, state_, length, attempts_[kCoarse]);
    run(c, state_, 0.5 * length, attempts_[kFirstHalf]);
    run(c, attempts_[kFirstHalf].end, 0.5 * length, attempts_[kSecondHalf]);
    const double error = estimate_error(c.model, attempts_[kCoarse], attempts_[kSecondHalf]);
    factor =
        kSafety * std::pow(options_.error_control.tolerance / error, 1.0 / (rule_->order() + 1));
    factor = std::clamp(factor, kLargestCut, kLargestGrowth);
    if (!(error > options_.error_control.tolerance) || length <= shortest) break;
    is_first_try = false;
    ++c.result.rejected_substeps;
    length = std::max(factor * length, shortest);
  }
  substep_ = factor * length;
  // A substep cut short by the end of the step says nothing against a longer one.
  if (is_first_try && length < wanted && factor >= 1) substep_ = std::max(substep_, wanted);
  const std::size_t num_events = c.result.events.size();
  const double taken = take(c, attempts_[kFirstHalf]);
  if (taken < 0.5 * length || c.result.events.size() > num_events) return taken;
  if (projects_) run(c, state_, 0.5 * length, attempts_[kSecondHalf]);
  return taken + take(c, attempts_[kSecondHalf]);
}

/// The local error of the finer of two solutions (Richardson), in q and in h·v.
double EventScheme::estimate_error(const ContactModel& model, const Attempt& coarse,
                                   const Attempt& fine) {
  model.displacement(fine.end.q, coarse.end.q, difference_);
  model.measure_coordinates(fine.end.q, sizes_);
  double error = 0;
  for (Eigen::Index i = 0; i < difference_.size(); ++i) {
    const double difference = std::max(std::abs(difference_[i]),
                                       coarse.length * std::abs(coarse.end.v[i] - fine.end.v[i]));
    error = std::max(error, difference / (1 + sizes_[i]));
  }
  return error / (std::exp2(rule_->order()) - 1);
}

/// Potra et al. 2006, (7.1): contacts that press, and those that touch and do not leave.
void EventScheme::choose_contacts(const Context& c, double length) {
  active_.clear();
  is_active_.assign(c.model.num_contacts(), 0);
  for (int j = 0; j < c.model.num_contacts(); ++j) {
    const bool is_active =
        status_[j] != ContactStatus::kOpen || is_held_[j] ||
        (is_touching(j) && length * evaluator_.compute_gap_rate(c.model, state_, j) <=
                               options_.events.contact_tolerance);
    if (!is_active) continue;
    is_active_[j] = 1;
    active_.push_back(j);
  }
}

/// Takes an attempt that starts at state_, up to its first event. Returns the time that has passed,
/// which is 0 where the attempt has to be repeated with further contacts held.
double EventScheme::take(const Context& c, Attempt& attempt) {
  std::optional<Collision> collision;
  has_new_hold_ = false;
  if (options_.events.collisions) collision = find_collision(c, attempt);
  if (collision && has_struck_[collision->contact] && !is_flight(c, attempt, *collision))
    hold(collision->contact);
  if (has_new_hold_) return 0;
  double time = collision ? collision->time : attempt.length;
  if (options_.events.transitions && rule_->order() > 1 && take_transition(c, attempt, time))
    return time;
  if (time > 0) accept(c, attempt, time);
  if (!collision) return time;
  if (collision->is_met)
    strike(c, collision->contact);
  else
    ++num_short_;  // nothing is gained by more of them, however far apart
  return time;
}

/// Moves state_ to `time` within the attempt and books what happened.
void EventScheme::accept(const Context& c, const Attempt& attempt, double time) {
  c.solve.commit(attempt.assembly.problem(), attempt.solution, attempt.report);
  const double share = time / attempt.length;
  State& next = attempts_[kTrial].end;
  next.t = state_.t + time;
  if (share == 1) {
    next.q = attempt.end.q;
    next.v = attempt.end.v;
  } else {  // Potra et al. 2006, (7.3): the interpolant is a parabola
    next.v = state_.v + share * (attempt.end.v - state_.v);
    mean_velocity_ = 0.5 * (state_.v + next.v);
    c.model.displace(state_.q, mean_velocity_, time, next.q);
  }
  OutcomeReader::Phase phase{
      .v_start = state_.v, .v_end = next.v, .share = share, .start = &state_};
  if (c.result.phases.is_on) {
    const double ahead = rule_->rows_ahead() * attempt.length;
    c.model.displace(state_.q, state_.v, ahead, rows_q_);
    phase.rows_t = state_.t + ahead;
    phase.rows_q = &rows_q_;
  }
  reader_.add(attempt.assembly, attempt.solution, phase, c.result);
  forces_.read(c.model, attempt.assembly, attempt.solution, attempt.length);
  rule_->add_applied_work(c.model, state_, next, time, phase, reader_, c.result);
  compute_spring_targets(c, next.v, time);
  std::swap(state_, next);
  std::fill(status_.begin(), status_.end(), ContactStatus::kOpen);
  const std::vector<int>& contacts = attempt.assembly.contact_indices();
  for (std::size_t j = 0; j < contacts.size(); ++j)
    status_[contacts[j]] =
        contact_status(attempt.assembly.problem(), attempt.solution, static_cast<int>(j));
  evaluator_.compute_gaps(c.model, state_.t, state_.q, gaps_);
  ++c.result.substeps;
  if (projects_) {
    // Without location the projection would open again what the step has closed, and nobody would
    // see it.
    const int closed = options_.events.collisions ? -1 : find_deepest_inactive();
    project(c);
    evaluator_.compute_gaps(c.model, state_.t, state_.q, gaps_);
    if (closed >= 0) strike(c, closed);
  }
  let_go_what_left();
}

/// Contacts that were held and have left all the same are in flight, long enough to be followed.
/// Held any longer they would press across the gap, and the projection would close it at the
/// expense of springs.
void EventScheme::let_go_what_left() {
  for (std::size_t j = 0; j < is_held_.size(); ++j)
    if (status_[j] == ContactStatus::kOpen && !is_touching(static_cast<int>(j))) is_held_[j] = 0;
}

/// The inactive contact that penetrates most at gaps_; −1 if none does.
int EventScheme::find_deepest_inactive() const {
  int deepest = -1;
  for (int j = 0; j < gaps_.size(); ++j)
    if (!is_active_[j] && gaps_[j] < (deepest < 0 ? 0 : gaps_[deepest])) deepest = j;
  return deepest;
}

std::optional<EventScheme::Collision> EventScheme::find_collision(const Context& c,
                                                                  Attempt& attempt) {
  if (static_cast<int>(active_.size()) == c.model.num_contacts()) return std::nullopt;
  evaluator_.compute_gaps(c.model, attempt.end.t, attempt.end.q, end_gaps_);
  if (!rule_->has_interpolant()) return find_collision_by_steps(c, attempt);
  std::optional<Collision> collision = find_collision_on_path(c, attempt);
  if (collision && end_gaps_[collision->contact] < 0 && stores_energy(c, attempt, collision->time))
    collision = find_collision_by_steps(c, attempt);
  return collision;
}

/// Whether the interpolant holds more energy at `time` than at both ends: a stiff spring that turns
/// over within the substep would be stretched by what the parabola makes of it.
bool EventScheme::stores_energy(const Context& c, const Attempt& attempt, double time) {
  State& within = attempts_[kTrial].end;
  const double share = time / attempt.length;
  within.t = state_.t + time;
  within.v = state_.v + share * (attempt.end.v - state_.v);
  mean_velocity_ = 0.5 * (state_.v + within.v);
  c.model.displace(state_.q, mean_velocity_, time, within.q);
  const Energy start = evaluator_.compute_energy(c.model, state_),
               end = evaluator_.compute_energy(c.model, attempt.end),
               middle = evaluator_.compute_energy(c.model, within);
  constexpr double kShare = 1e-2;  // of the kinetic energy; smooth motions stay far below
  return middle.total() >
         std::max(start.total(), end.total()) + kShare * std::max(start.kinetic, end.kinetic);
}

/// Potra et al. 2006, (7.2), by the cubic of the gap.
std::optional<EventScheme::Collision> EventScheme::find_collision_on_path(const Context& c,
                                                                          const Attempt& attempt) {
  std::optional<Collision> first;
  for (int j = 0; j < c.model.num_contacts(); ++j) {
    if (is_active_[j]) continue;
    GapPath path{.length = attempt.length, .start = gaps_[j], .end = end_gaps_[j]};
    path.start_rate = evaluator_.compute_gap_rate(c.model, state_, j);
    if (path.end >= 0 && path.start_rate >= 0) continue;
    path.end_rate = evaluator_.compute_gap_rate(c.model, attempt.end, j);
    if (const std::optional<double> time = path.find_closing()) {
      if (!first || *time < first->time) first = {*time, j};
    } else if (path.end < 0) {
      hold(j);  // it never opened
    }
  }
  return first;
}

/// The smallest of the gaps, of inactive contacts alone. Where it is not a number the step has gone
/// too far.
EventScheme::Lowest EventScheme::find_lowest(const VectorXd& gaps, Inactive which) const {
  Lowest lowest;
  for (int j = 0; j < gaps.size(); ++j) {
    if (is_active_[j] || gaps[j] >= lowest.gap) continue;
    if (which != Inactive::kAll && is_touching(j) != (which == Inactive::kTouching)) continue;
    lowest = {std::isnan(gaps[j]) ? -std::numeric_limits<double>::infinity() : gaps[j], j};
  }
  return lowest;
}

/// After a substep of that length.
EventScheme::Lowest EventScheme::find_lowest_after(const Context& c, double length, Inactive which,
                                                   Attempt& attempt) {
  run(c, state_, length, attempt);
  evaluator_.compute_gaps(c.model, attempt.end.t, attempt.end.q, end_gaps_);
  return find_lowest(end_gaps_, which);
}

/// For rules whose velocity jumps at the start of a step: the longest step that closes nothing.
std::optional<EventScheme::Collision> EventScheme::find_collision_by_steps(const Context& c,
                                                                           Attempt& attempt) {
  const double length = attempt.length, gap_at_end = find_lowest(end_gaps_, Inactive::kAll).gap;
  if (!(gap_at_end < 0)) return std::nullopt;
  const double gap_at_start = find_lowest(gaps_, Inactive::kAll).gap;
  if (gap_at_start > contact_tolerance_)
    return find_closing(c, {.low = 0, .high = length}, gap_at_start, gap_at_end, Inactive::kAll,
                        attempt);
  // Something touches and leaves, and something closes: find all of them in flight.
  double time = length, gap = gap_at_end;
  while (gap <= 0 && time > floor_)
    gap = find_lowest_after(c, time /= 2, Inactive::kAll, attempt).gap;
  if (gap > 0)
    return find_closing(c, {.low = time, .high = length}, gap, gap_at_end, Inactive::kAll, attempt);
  if (hold_what_comes_back()) return std::nullopt;
  // What touched is in flight; something else came from afar within the shortest time.
  const double gap_apart = find_lowest(gaps_, Inactive::kApart).gap;
  const std::optional<Collision> collision =
      find_closing(c, {.low = 0, .high = time}, gap_apart, gap, Inactive::kApart, attempt);
  if (collision->time > 0 && hold_what_comes_back()) return std::nullopt;
  return collision;
}

/// Holds the inactive contact that touched at state_ and is deepest at end_gaps_, if one is closed.
bool EventScheme::hold_what_comes_back() {
  const Lowest back = find_lowest(end_gaps_, Inactive::kTouching);
  if (!(back.gap <= 0)) return false;
  hold(back.contact);
  return true;
}

EventScheme::Collision EventScheme::find_closing(const Context& c, RootBracket bracket,
                                                 double gap_low, double gap_high, Inactive which,
                                                 Attempt& attempt) {
  Lowest lowest;
  const auto gap_after = [&](double length) {
    lowest = find_lowest_after(c, length, which, attempt);
    return lowest.gap;
  };
  bracket = find_root(gap_after, bracket, gap_low, gap_high,
                      options_.events.time_tolerance * bracket.high);
  double gap = gap_low;
  if (bracket.low > 0) gap = gap_after(bracket.low);
  const double closed = std::max(contact_tolerance_, kClosed * (gap_low - gap_high));
  return {.time = bracket.low, .contact = lowest.contact, .is_met = gap <= closed};
}

/// Whether a contact that rebounded within this step and closes again was in flight in between:
/// then a step that ends there closes it too. Where stiff springs throw it back at once the path of
/// the longer step tells nothing, and the contact is held for the rest of the step, as in Potra et
/// al. 2006, §8.
bool EventScheme::is_flight(const Context& c, const Attempt& attempt, const Collision& collision) {
  if (!rule_->has_interpolant()) return true;  // found by steps
  const int j = collision.contact;
  const GapPath path{.length = attempt.length,
                     .start = gaps_[j],
                     .end = end_gaps_[j],
                     .start_rate = evaluator_.compute_gap_rate(c.model, state_, j),
                     .end_rate = evaluator_.compute_gap_rate(c.model, attempt.end, j)};
  const double height = path.at(0.5 * collision.time);
  Attempt& trial = attempts_[kTrial];
  run(c, state_, collision.time, trial);
  evaluator_.compute_gaps(c.model, trial.end.t, trial.end.q, end_gaps_);
  return std::abs(end_gaps_[j]) <= 0.5 * height;
}

/// When the margin, which is negative after `length`, becomes so; none if not before `time`, and 0
/// if before the floor. Where contacts stick and slip in turn nearly all are of the last kind, and
/// a search to the tolerance takes a hundred problems.
template <class Margin>
std::optional<double> EventScheme::find_transition(const Margin& margin, double length,
                                                   double time) const {
  if (!(time > 0)) return std::nullopt;
  RootBracket bracket{.low = 0, .high = length};
  double at_low = 1, at_high = -1;
  if (time < length) {
    at_high = margin(time);
    if (at_high >= 0) return std::nullopt;
    bracket.high = time;
  }
  if (floor_ < bracket.high) {
    const double at_floor = margin(floor_);
    if (at_floor < 0) return 0;
    at_low = std::min(at_floor, at_low);  // which may be infinite
    bracket.low = floor_;
  }
  bracket = find_root(margin, bracket, at_low, at_high, options_.events.time_tolerance * length);
  return bracket.low < floor_ ? 0 : bracket.low;
}

/// Looks for a transition before `time`; if there is one, takes it and sets `time` to when it was.
bool EventScheme::take_transition(const Context& c, Attempt& attempt, double& time) {
  const auto substep = [&](const Attempt& a) {
    return TransitionWatch::Substep{a.assembly, a.solution, state_.v, a.end.v};
  };
  if (!watch_.begin(substep(attempt), status_, slow_rate_)) return false;
  Attempt& trial = attempts_[kTrial];
  const auto margin = [&](double length) {
    run(c, state_, length, trial);
    return watch_.margin(substep(trial));
  };
  const std::optional<double> when = find_transition(margin, attempt.length, time);
  if (!when) return false;  // the collision comes first
  time = *when;
  if (time > 0) {
    run(c, state_, time, attempt);
    accept(c, attempt, time);
  }
  // Those that change together are one event as far as the floor is concerned.
  bool is_first = true;
  for (const TransitionWatch::Change& change : watch_.changes()) {
    status_[change.contact] = change.status;
    const EventKind kind = change.status == ContactStatus::kStick  ? EventKind::kStick
                           : change.status == ContactStatus::kSlip ? EventKind::kSlip
                                                                   : EventKind::kTakeOff;
    const StepEvent event{.kind = kind, .time = state_.t, .contact = change.contact};
    if (is_first)
      count_event(c, event);
    else
      c.result.events.push_back(event);
    is_first = false;
  }
  return true;
}

/// An impact at state_ of all contacts that touch, and of `contact` (−1: none in particular).
void EventScheme::strike(const Context& c, int contact, ImpactStage::Rule rule) {
  participants_.clear();
  for (int j = 0; j < c.model.num_contacts(); ++j)
    if (status_[j] != ContactStatus::kOpen || is_touching(j) || j == contact)
      participants_.push_back(j);
  rule.restitution_threshold = options_.events.restitution_threshold;
  const std::optional<double> change =
      impact_.strike(c.model, participants_, rule, c.solve, state_, reader_, c.result);
  last_problem_ = &impact_.problem();
  if (!change) {  // surfaces that close in on each other: only positions can tell
    num_short_ = max_short_ + 1;
    return;
  }
  for (std::size_t i = 0; i < participants_.size(); ++i) {
    const int j = participants_[i];
    // A closed contact that the impact neither loads nor opens stays what it was.
    const bool is_untouched = impact_.status()[i] == ContactStatus::kOpen &&
                              evaluator_.compute_gap_rate(c.model, state_, j) <= slow_rate_;
    if (!is_untouched) status_[j] = impact_.status()[i];
  }
  if (contact < 0) return;
  has_struck_[contact] = 1;
  count_event(c, {.kind = EventKind::kCollision,
                  .time = state_.t,
                  .contact = contact,
                  .energy_change = *change});
}

/// Contacts that touch without having pressed, and approach: they have collided.
void EventScheme::strike_approaching(const Context& c, double remaining) {
  const double slowest = std::max(slow_rate_, options_.events.contact_tolerance / remaining);
  if (const int contact = find_fastest_approach(c, slowest); contact >= 0) strike(c, contact);
}

/// Of the contacts that touch and do not press yet; −1 if none is faster than `slowest`.
int EventScheme::find_fastest_approach(const Context& c, double slowest) {
  int fastest = -1;
  for (int j = 0; j < c.model.num_contacts(); ++j) {
    if (status_[j] != ContactStatus::kOpen || is_held_[j] || !is_touching(j)) continue;
    const double approach = -evaluator_.compute_gap_rate(c.model, state_, j);
    if (approach <= slowest) continue;
    slowest = approach;
    fastest = j;
  }
  return fastest;
}

void EventScheme::count_event(const Context& c, const StepEvent& event) {
  c.result.events.push_back(event);
  num_short_ = event.time - last_event_ < floor_ ? num_short_ + 1 : 0;
  last_event_ = event.time;
}

/// Events follow each other too fast: the rest of the step on position level.
double EventScheme::finish_without_events(const Context& c, double remaining) {
  c.result.events.push_back({.kind = EventKind::kFloor, .time = state_.t, .contact = -1});
  State& next = attempts_[kTrial].end;
  const PositionLevelStep::Report report =
      fallback_.step(c.model, state_, status_, remaining,
                     {.is_nonlinear = true,
                      .keeps_penetration = true,
                      .touching = options_.events.contact_tolerance},
                     forces_, c.solve, next, reader_, c.result);
  if (report.is_linear) ++c.result.linear_steps;
  last_problem_ = &fallback_.problem();
  compute_spring_targets(c, next.v, remaining);
  std::swap(state_, next);
  state_.t = end_time_;
  status_ = fallback_.status();
  project(c);
  ++c.result.substeps;
  // Velocities of this step are mean ones. From here on they have to be those of the closed
  // contacts at this very moment, which may differ where surfaces are driven.
  evaluator_.compute_gaps(c.model, state_.t, state_.q, gaps_);
  strike(c, -1, {.is_inelastic = true});
  return remaining;
}

/// φ + h (∇φᵀv⁺ + ∂φ/∂t): where a substep from state_ means springs to be (AP02, (46)).
void EventScheme::compute_spring_targets(const Context& c, const VectorXd& v_end, double h) {
  spring_targets_.clear();
  // In schemes of higher order the linearised extension would cost an order, and there is no bound
  // on the energy to keep.
  if (!projects_ || rule_->order() > 1) return;
  if (c.model.num_springs() == 0) return;
  spring_values_.resize(c.model.num_springs());
  c.model.evaluate_springs(state_.t, state_.q, spring_values_);
  spring_rows_.clear();
  c.model.append_spring_rows(state_.t, state_.q, spring_rows_);
  for (int i = 0; i < c.model.num_springs(); ++i) {
    const double rate = spring_rows_.rows.times(i, 0, c.model.block_starts(), v_end.data());
    spring_targets_.push_back(spring_values_[i] + h * (rate + spring_rows_.drift[i]));
  }
}

void EventScheme::project(const Context& c) {
  if (!projects_) return;
  if (c.result.phases.is_on) c.result.phases.add(PhaseKind::kProjection, state_);
  const PositionProjection::Outcome outcome = projection_.project(
      c.model,
      {.t = state_.t, .guess = state_.q, .spring_targets = spring_targets_, .contacts = status_},
      c.solve, state_.q);
  c.result.iterations += outcome.iterations;
  if (!outcome.is_feasible)
    c.result.failure = "no position nearby fits the constraints and gaps (projection)";
}

}  // namespace stiction
