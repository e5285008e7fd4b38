#include "stiction/sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/all_finite.h"
#include "stiction/base/flushed_denormals.h"
#include "stiction/base/text.h"
#include "stiction/scheme/projection.h"
#include "stiction/scheme/unused_options.h"
#include "stiction/sim/accumulated_slip.h"
#include "stiction/sim/mechanism.h"
#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

std::span<const double> as_span(const VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}

/// Solvers get a margin: a step of a simulation may take several solves, and what is left of the
/// error goes on into the next.
constexpr double kSolverShare = 0.1;

/// A remainder of a duration below this share of h is rounding of a duration that somebody typed,
/// not a step; so short a step would push out what penetrates at any speed.
constexpr double kStepRounding = 1e-6;

/// Steps are counted in 64 bits and their times computed in doubles.
constexpr double kMaxSteps = 1e15;

/// An impact that raises the energy by less than this share of what moves is rounding.
constexpr double kGainShare = 1e-12;

/// A projected start that keeps less than this share of its kinetic energy is at rest.
constexpr double kRestShare = 1e-20;

/// A step is repeated this often where bodies moved further than expected.
constexpr int kMaxSurprises = 3;

/// And this often where shapes overlap that contacts say are apart.
constexpr int kMaxLooks = 8;

/// So often what hardly moves is asked whether it rests: an answer takes about as long as a few
/// steps. Counted in steps of the run, so that one that goes on from a checkpoint asks as often.
constexpr std::int64_t kStepsPerLook = 8;

/// Of a budget, for what follows the last solve of a step.
constexpr double kMostReserve = 0.25;

/// More names than this say no more.
constexpr std::size_t kMaxNames = 8;

std::unique_ptr<Solver> make_step_solver(const SimulationOptions& options,
                                         std::shared_ptr<WorkerPool> workers) {
  return make_solver(options.solver, kSolverShare * options.tolerance,
                     StoppingMeasure::kCertificate, options.tolerance, std::move(workers));
}

/// The options, or an InputError. Asked before anything is made from them.
const SimulationOptions& checked(const SimulationOptions& options) {
  if (!(options.h > 0) || !std::isfinite(options.h))
    throw InputError(fmt::format("h is {}, must be finite and > 0", options.h));
  if (!(options.tolerance > 0))
    throw InputError(fmt::format("tolerance is {}, must be > 0", options.tolerance));
  if (!(options.penetration_tolerance >= 0))
    throw InputError(
        fmt::format("penetration_tolerance is {}, must be >= 0", options.penetration_tolerance));
  if (!(options.budget >= 0) || !std::isfinite(options.budget))
    throw InputError(fmt::format("budget is {}, must be finite and >= 0", options.budget));
  check_options(options.stepping);
  return options;
}

/// Sections that the solver takes, for messages.
std::string sections_of(const Solver& solver) {
  std::vector<std::string> names;
  for (const FrictionSection& section :
       {FrictionSection::disc(), FrictionSection::box(), FrictionSection::polygon(8)})
    if (solver.takes_section(section)) names.push_back(to_text(section));
  return joined(names);
}

/// Throws InputError if the steps of the scheme are problems that the solver does not take.
void check_solver(const ContactModel& model, const State& state, const SimulationOptions& options,
                  const Scheme& scheme, const Solver& solver) {
  const auto is_rough = [](const ContactInfo* law) {
    return law->num_tangents == 2 && law->mu > 0;
  };
  if (!solver.takes_section(options.friction) &&
      std::ranges::any_of(model.contact_laws(), is_rough))
    throw InputError(fmt::format(
        "solver '{}' does not take contacts in space with friction '{}'; it takes: {}; auto takes "
        "all",
        options.solver, to_text(options.friction), sections_of(solver)));
  if (!solver.takes_nonsymmetric_masses() && !scheme.has_symmetric_masses(model, state))
    throw InputError(fmt::format(
        "solver '{}' needs symmetric masses, {} makes them nonsymmetric where bodies turn; set "
        "gyroscopic to explicit, or in trapezoidal schemes jacobians to springs-only, or take auto",
        options.solver, scheme.name()));
}

}  // namespace

std::string Simulation::rejection_text(double h) const {
  const Certificate& certificate = stage_.certificate();
  const SolverReport& report = stage_.report();
  const std::string step = fmt::format("step from t = {} s with h = {} s", state_.t, h);
  std::string at;
  if (!stage_.offending_contacts().empty()) {
    std::vector<std::string> names;
    for (int j = 0; j < model_.num_contacts() && names.size() < kMaxNames; ++j)
      if (std::ranges::count(stage_.offending_contacts(), model_.contact_key(j)) > 0)
        names.push_back(fmt::format("'{}'", model_.contact_name(j)));
    at = fmt::format("; contacts in error: {}{}", joined(names),
                     names.size() < stage_.offending_contacts().size() ? ", …" : "");
  }
  if (!report.has_answer)
    return fmt::format("{} has no answer: {}{}", step, to_text(report.status), at);
  if (!certificate.meets(options_.tolerance) && std::isfinite(certificate.residual()))
    return fmt::format(
        "{} misses the tolerance {}: residual {:.3g} (momentum {:.3g}, bilateral {:.3g}, cone "
        "{:.3g}, motion {:.3g}); solver: {}{}",
        step, options_.tolerance, certificate.residual(), certificate.momentum,
        certificate.bilateral, certificate.cone, certificate.motion, to_text(report.status), at);
  if (!attempt().failure.empty()) return fmt::format("{}: {}{}", step, attempt().failure, at);
  return step +
         " leads nowhere: a number is not finite, or the mass matrix is not positive definite";
}

double Simulation::Clock::after_step(double next_h, double now) {
  if (next_h == h && index > 0) {
    ++index;
  } else {
    start = now;
    h = next_h;
    index = 1;
  }
  return start + static_cast<double>(index) * h;
}

Simulation::Simulation(Model model, const SimulationOptions& options)
    : model_(std::move(model), options.collision),
      options_(checked(options)),
      scheme_(make_scheme(options.scheme,
                          {.friction = options.friction, .stepping = options.stepping})),
      solver_(make_step_solver(options, model_.workers())),
      stage_(*solver_, options.tolerance, model_.workers().get()),
      state_(model_.initial_state()) {
  make_stage();
  if (options.project_start) project_start();
  validate(state_);
  scheme_->check(model_);
  check_solver(model_, state_, options_, *scheme_, *solver_);
  model_.detect(state_, options_.h);
  attempt().contacts.reserve(model_.num_contacts());
  taken().contacts.reserve(model_.num_contacts());
  ledger_.begin(evaluator_.compute_energy(model_, state_));
  forget_last_step();
  summary_.gap_min = evidence_.certificate.gap;
  summary_.joint_error_max = evidence_.certificate.joint;
}

/// For solver_ as it was made, and what may sleep.
void Simulation::make_stage() {
  resting_ = nullptr;
  sleepers_.reset();
  if (options_.sleep && scheme_->keeps_rest()) {
    auto resting = std::make_unique<RestingSolver>(
        std::move(solver_),
        RestingSolver::Options{.tolerance = options_.tolerance,
                               .first_detected_key = ContactModel::kFirstDetectedKey});
    resting_ = resting.get();
    sleepers_ = std::make_unique<Sleepers>(*resting);
    solver_ = std::move(resting);
  }
  stage_ = SolveStage(*solver_, options_.tolerance, model_.workers().get());
  stage_.set_timed(options_.times_steps);
}

const StepProblem& Simulation::last_problem() const {
  const StepProblem& whole = scheme_->last_problem();
  return resting_ == nullptr ? whole : resting_->moving_problem(whole);
}

void Simulation::wake_all() {
  if (sleepers_) sleepers_->wake_all(model_, taken().memory);
}

/// Those that the contacts found last are of.
void Simulation::wake_met(double h) {
  while (sleepers_ && sleepers_->wake_met(model_, taken().memory)) model_.detect_again(state_, h);
}

/// As if no step had been taken yet: what observers are told of a start.
void Simulation::forget_last_step() {
  taken().contacts.clear();
  taken().events.clear();
  taken().phases.clear();
  taken().joint_impulses.assign(model_.num_joint_rows(), 0.0);
  stage_.begin_step();
  stage_.certify_state(model_, state_);
  taken_force_.resize(0);
  evidence_ = {};
  evidence_.certificate = stage_.certificate();
}

/// Moves the start to the nearest one that fits constraints and gaps, first q, then v.
void Simulation::project_start() {
  if (model_.parts().empty() || !state_.q.allFinite() || !state_.v.allFinite()) return;
  PositionProjection projection;
  stage_.begin_step();
  const VectorXd guess = state_.q;
  model_.detect(state_, options_.h);
  if (!projection.project(model_, {.t = state_.t, .guess = guess}, stage_, state_.q).is_feasible) {
    const std::string violated =
        describe_violations(model_, state_, options_.penetration_tolerance);
    throw InputError(fmt::format(
        "start cannot be projected: no configuration nearby fits the constraints and gaps{}{}",
        violated.empty() ? "" : "; at best they miss: ", violated));
  }
  const double moving = evaluator_.compute_energy(model_, state_).kinetic;
  if (!projection.project_velocity(model_, stage_, state_).is_feasible)
    throw InputError("start cannot be projected: no velocities fit the constraints and contacts");
  // What is left of velocities that the constraints forbid altogether is rounding.
  if (evaluator_.compute_energy(model_, state_).kinetic < kRestShare * moving) state_.v.setZero();
}

std::vector<std::string> Simulation::notes() const {
  std::vector<std::string> notes = scheme_->notes(model_);
  for (std::string& note : model_.notes()) notes.push_back(std::move(note));
  for (std::string& note : describe_unused_options(scheme_->name(), options_.stepping))
    notes.push_back(std::move(note));
  if (options_.sleep && !sleepers_)
    notes.push_back(fmt::format(
        "nothing sleeps: {}{} may move what is at rest by rounding; moreau, stewart-trinkle and "
        "spook keep it as it is",
        scheme_->name(), options_.scheme == "spook" ? " with position_iteration" : ""));
  const std::vector<int> redundant = find_redundant_rows(model_, state_);
  if (redundant.empty()) return notes;
  const std::vector<std::string> all = model_.joint_row_names();
  std::vector<std::string> names;
  for (const int row : redundant) {
    if (names.size() == kMaxNames) break;
    names.push_back(fmt::format("'{}'", all[row]));
  }
  notes.push_back(fmt::format(
      "{} joint {} on others ({}{}): the motion is the same without, and how reactions are shared "
      "out is a convention",
      redundant.size(), redundant.size() == 1 ? "row depends" : "rows depend", joined(names),
      names.size() < redundant.size() ? ", …" : ""));
  return notes;
}

void Simulation::validate(const State& state) const {
  if (model_.parts().empty()) throw InputError("model is empty");
  const auto faults = find_start_faults(model_, state, options_.penetration_tolerance);
  if (faults.empty()) return;
  std::string text;
  bool is_about_place = false;
  for (const StartFault& fault : faults) {
    text += (text.empty() ? "" : "\n") + fault.message;
    is_about_place = is_about_place || fault.where == StartFault::Where::kContact ||
                     fault.where == StartFault::Where::kConstraint;
  }
  if (is_about_place && !options_.project_start)
    text += "\nproject_start moves the start to the nearest one that fits";
  throw InputError(text);
}

void Simulation::set_state(const State& state) {
  if (state.q.size() != state_.q.size() || state.v.size() != state_.v.size())
    throw InputError(fmt::format("state has {} positions and {} velocities, must have {} and {}",
                                 state.q.size(), state.v.size(), state_.q.size(), state_.v.size()));
  if (!std::isfinite(state.t) || !state.q.allFinite() || !state.v.allFinite())
    throw InputError("state holds a number that is not finite");
  validate(state);
  wake_all();
  state_ = state;
  clock_ = {};
  taken().memory = {};
  model_.detect(state_, options_.h);
  ledger_.begin(evaluator_.compute_energy(model_, state_));
  forget_last_step();
}

void Simulation::exchange_model(Model model) {
  wake_all();
  Model before = model_;
  model_.exchange(std::move(model));
  try {
    scheme_->check(model_);
    check_solver(model_, state_, options_, *scheme_, *solver_);
  } catch (const InputError&) {
    model_.exchange(std::move(before));
    throw;
  }
  model_.detect(state_, options_.h);
  const Energy energy = evaluator_.compute_energy(model_, state_);
  ledger_.add_step({.applied = energy.total() - ledger_.now.total()}, energy);
}

void Simulation::change_options(const SimulationOptions& options) {
  SimulationOptions next = checked(options);
  next.collision = options_.collision;
  next.project_start = options_.project_start;
  next.penetration_tolerance = options_.penetration_tolerance;
  auto scheme = make_scheme(next.scheme, {.friction = next.friction, .stepping = next.stepping});
  auto solver = make_step_solver(next, model_.workers());
  scheme->check(model_);
  check_solver(model_, state_, next, *scheme, *solver);
  wake_all();
  if (next.scheme != options_.scheme) {
    SchemeMemory memory;  // slip belongs to the contacts, not to the scheme
    memory.keys = std::move(taken().memory.keys);
    memory.slips = std::move(taken().memory.slips);
    taken().memory = std::move(memory);
  }
  options_ = std::move(next);
  scheme_ = std::move(scheme);
  solver_ = std::move(solver);
  make_stage();
}

void Simulation::set_held_force(const VectorXd& force) {
  if (force.size() != 0 && force.size() != state_.v.size())
    throw InputError(
        fmt::format("force has {} numbers, must have {}", force.size(), state_.v.size()));
  if (!force.allFinite()) throw InputError("force holds a number that is not finite");
  model_.set_held_force(force);
}

double Simulation::step(double h) {
  if (!(h >= 0) || !std::isfinite(h))
    throw InputError(fmt::format("h is {}, must be finite and >= 0", h));
  attempt_times_ = {};
  const int max_halvings = options_.on_failure == OnFailure::kRetrySmaller ? kMaxHalvings : 0;
  bool is_flagged = false;
  for (int halvings = 0; !try_step(h); ++halvings) {
    const bool takes_any = options_.on_failure == OnFailure::kAcceptAndFlag || options_.budget > 0;
    if (takes_any && has_answer()) {
      is_flagged = true;
      ++summary_.steps_above_tolerance;
      if (options_.budget > 0)
        summary_.overrun_residual =
            std::max(summary_.overrun_residual, stage_.certificate().residual());
      break;
    }
    if (halvings == max_halvings || h == 0)
      throw StepRejected(rejection_text(h), state_.t, stage_.certificate(), stage_.report());
    h /= 2;
    ++summary_.retries;
  }
  accept_step(h, is_flagged);
  return h;
}

/// Of the scheme and of what it has asked for.
void Simulation::add_stage_times() {
  attempt_times_.solve += stage_.wall();
  attempt_times_.solve_direct += stage_.report().direct_wall;
  attempt_times_.solve_sweeps += stage_.report().sweeps_wall;
  attempt_times_.certify += stage_.certify_wall();
  attempt_times_.assemble += watch_.lap() - stage_.wall() - stage_.certify_wall();
}

bool Simulation::try_step(double h) {
  const FlushedDenormals flushed;
  const Deadline deadline(options_.budget - reserve_);
  watch_ = Stopwatch(is_timed());
  const SchemeMemory* before = nullptr;
  model_.detect(state_, h, scheme_->wants_alternatives());
  wake_met(h);
  for (int surprises = 0, looks = 0;; ++surprises) {
    if (options_.times_steps) attempt_times_.detect += watch_.lap();
    stage_.begin_step(deadline);
    if (sleepers_)
      sleepers_->begin_step(model_, state_, summary_.steps % kStepsPerLook == kStepsPerLook - 1);
    before = &recall();
    scheme_->step(model_, state_, *before, h, stage_, attempt());
    if (options_.times_steps) add_stage_times();
    if (sleepers_ && sleepers_->wake_changed(model_, taken().memory)) {
      model_.detect_again(state_, h);
      wake_met(h);
      --surprises;  // this was no step
      continue;
    }
    // Whoever was hit may have met things that were thought out of reach.
    if (surprises < kMaxSurprises && model_.detect_further(state_, h, attempt().end)) {
      wake_met(h);
      continue;
    }
    if (!meets_hidden_overlaps(h, looks++ < kMaxLooks && !deadline.has_passed())) break;
    wake_met(h);
    --surprises;
  }
  if (model_.has_surfaces()) attempt().memory.keys = before->keys;
  accumulate_slip(model_, before->slips, options_.stepping.events.contact_tolerance, attempt());
  if (sleepers_) sleepers_->complete(stage_, attempt());
  attempt_energy_ = evaluator_.compute_energy(model_, attempt().end);
  return has_answer() && attempt().failure.empty() &&
         stage_.certificate().meets(options_.tolerance);
}

/// Where the scheme keeps shapes apart at the end of a step but contacts have hidden an overlap:
/// whether the step is to be made again, now that it shows. If not, the certificate tells of it.
bool Simulation::meets_hidden_overlaps(double h, bool may_repeat) {
  if (!scheme_->wants_alternatives() || !model_.has_surfaces() || h == 0) return false;
  is_asked_.assign(model_.num_contacts(), 0);
  for (const ContactOutcome& outcome : attempt().contacts)
    if (outcome.contact >= 0) is_asked_[outcome.contact] = 1;
  Certificate state_figures;
  state_figures.gap = model_.find_hidden_overlaps(attempt().end, is_asked_, options_.tolerance);
  if (may_repeat && attempt().linear_steps == 0 && model_.detect_hidden(state_, h, attempt().end))
    return true;
  stage_.include(state_figures);
  return false;
}

/// Whether nothing has come or gone.
bool Simulation::has_same_contacts(const SchemeMemory& memory) const {
  const std::vector<std::uint64_t>& keys = memory.keys;
  if (static_cast<int>(keys.size()) != model_.num_contacts()) return false;
  int j = 0;
  return std::all_of(keys.begin(), keys.end(),
                     [&](std::uint64_t key) { return key == model_.contact_key(j++); });
}

/// What the last step left, in the order of the contacts that there are now.
const SchemeMemory& Simulation::recall() {
  attempt().memory.keys.clear();
  if (!model_.has_surfaces()) return taken().memory;
  const SchemeMemory& old = taken().memory;
  if (has_same_contacts(old)) return old;  // as a rule
  memory_.substep = old.substep;
  memory_.joint_forces = old.joint_forces;
  memory_.keys.resize(model_.num_contacts());
  run_numbers(model_.workers().get(), model_.num_contacts(), kContactGrain,
              [&](int begin, int end) {
                for (int j = begin; j < end; ++j) memory_.keys[j] = model_.contact_key(j);
              });
  places_.list(old.keys);
  memory_.contacts.assign(old.contacts.empty() ? 0 : memory_.keys.size(), ContactStatus::kOpen);
  memory_.contact_forces.assign(old.contact_forces.empty() ? 0 : 3 * memory_.keys.size(), 0.0);
  memory_.slips.assign(old.slips.empty() ? 0 : memory_.keys.size(), {});
  run_numbers(model_.workers().get(), model_.num_contacts(), kContactGrain,
              [&](int begin, int end) {
                int next = 0;  // contacts that stay mostly follow each other as before
                for (int j = begin; j < end; ++j) {
                  const int place = places_.find(memory_.keys[j], next);
                  if (place < 0) continue;
                  next = place + 1;
                  if (!memory_.contacts.empty()) memory_.contacts[j] = old.contacts[place];
                  if (!memory_.contact_forces.empty())
                    std::copy_n(old.contact_forces.begin() + std::ptrdiff_t{3} * place, 3,
                                memory_.contact_forces.begin() + std::ptrdiff_t{3} * j);
                  if (!memory_.slips.empty()) memory_.slips[j] = old.slips[place];
                }
              });
  return memory_;
}

/// Whether there is anything to accept: an answer, if not a good one, and a state to go on from.
bool Simulation::has_answer() const {
  const Certificate& certificate = stage_.certificate();
  return stage_.report().has_answer && std::isfinite(certificate.residual()) &&
         std::isfinite(certificate.joint) &&
         certificate.gap > -std::numeric_limits<double>::infinity() &&
         std::isfinite(attempt_energy_.total()) && all_finite(as_span(attempt().end.q)) &&
         all_finite(as_span(attempt().end.v));
}

void Simulation::accept_step(double h, bool is_flagged) {
  attempt().end.t = h > 0 ? clock_.after_step(h, state_.t) : state_.t;
  std::swap(state_, attempt().end);
  taken_place_ = 1 - taken_place_;
  evidence_ = {stage_.certificate(), stage_.report(), attempt_times_, h, is_flagged};
  taken_force_ = model_.held_force();
  ledger_.add_step(taken().work, attempt_energy_);
  summarize_step();
  if (sleepers_) sleepers_->settle(model_, stage_, state_, taken());
  for (StepObserver* observer : observers_) notify(*observer);
  if (!is_timed()) return;
  attempt_times_.other += watch_.lap();
  summary_.times.add(attempt_times_);
  summary_.step_walls.add(attempt_times_.total());
  if (!(options_.budget > 0)) return;
  if (attempt_times_.total() > options_.budget) ++summary_.overruns;
  constexpr double kMemory = 0.9;  // of the largest, which comes again
  const double after = stage_.after_solve();
  reserve_ = std::max(after, kMemory * reserve_ + (1 - kMemory) * after);
  reserve_ = std::min(reserve_, kMostReserve * options_.budget);
}

void Simulation::summarize_step() {
  const Certificate& certificate = evidence_.certificate;
  ++summary_.steps;
  summary_.asleep_max = std::max(summary_.asleep_max, num_asleep());
  summary_.asleep_steps += num_asleep();
  summary_.wakes = sleepers_ ? sleepers_->num_wakes() : 0;
  summary_.substeps += taken().substeps;
  summary_.rejected_substeps += taken().rejected_substeps;
  summary_.scheme_iterations += taken().iterations;
  summary_.linear_steps += taken().linear_steps;
  const double moving = std::abs(attempt_energy_.kinetic) + std::abs(attempt_energy_.spring);
  for (const StepEvent& event : taken().events) {
    ++summary_.events[static_cast<std::size_t>(event.kind)];
    if (event.energy_change <= kGainShare * moving) continue;
    ++summary_.impact_gains;
    summary_.impact_gain += event.energy_change;
  }
  summary_.contacts_max =
      std::max(summary_.contacts_max, static_cast<int>(taken().contacts.size()));
  summary_.reduced_max = std::max(summary_.reduced_max, model_.num_reduced());
  summary_.residual_max = std::max(summary_.residual_max, certificate.residual());
  summary_.gap_min = std::min(summary_.gap_min, certificate.gap);
  summary_.joint_error_max = std::max(summary_.joint_error_max, certificate.joint);
}

void Simulation::check_duration(double duration) const {
  if (!(duration >= 0) || !std::isfinite(duration))
    throw InputError(fmt::format("duration is {}, must be finite and >= 0", duration));
  if (!(duration / options_.h < kMaxSteps))
    throw InputError(fmt::format("duration {} with h = {} takes more than {:.0e} steps", duration,
                                 options_.h, kMaxSteps));
}

bool Simulation::run(double duration, const std::function<bool()>& should_stop) {
  check_duration(duration);
  const double h = options_.h;
  const auto num_full = static_cast<std::int64_t>(std::floor(duration / h + kStepRounding));
  const double remainder = duration - static_cast<double>(num_full) * h;
  const std::int64_t num_steps = num_full + (remainder > kStepRounding * h ? 1 : 0);
  for (std::int64_t k = 0; k < num_steps; ++k) {
    double left = k < num_full ? h : remainder;
    while (left > kStepRounding * h) {  // once, unless a retry shortened the step
      if (should_stop && should_stop()) return false;
      left -= step(left);
    }
  }
  return true;
}

void Simulation::add_observer(StepObserver& observer) {
  if (observer.wants_phases() && !attempt().phases.is_on) {
    wake_all();  // phases of what sleeps are not known
    attempt().phases.is_on = taken().phases.is_on = true;
  }
  observers_.push_back(&observer);
  notify(observer);
}

void Simulation::remove_observer(StepObserver& observer) { std::erase(observers_, &observer); }

void Simulation::notify(StepObserver& observer) const {
  observer.on_step({.step = summary_.steps,
                    .h = evidence_.h,
                    .state = state_,
                    .contacts = taken().contacts,
                    .joint_impulses = taken().joint_impulses,
                    .events = taken().events,
                    .energy = ledger_,
                    .certificate = evidence_.certificate,
                    .solver = evidence_.report,
                    .times = evidence_.times,
                    .phases = &taken().phases,
                    .held_force = &taken_force_,
                    .is_flagged = evidence_.is_flagged});
}

}  // namespace stiction
