#include "stiction/sim/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/solve/solvers.h"

namespace stiction {
namespace {

/// Solvers get a margin: a step of a simulation may take several solves, and what is left of the
/// error goes on into the next.
constexpr double kSolverShare = 0.1;

/// A remainder of a duration below this share of h is rounding, not a step.
constexpr double kStepRounding = 1e-9;

/// Steps are counted in 64 bits and their times computed in doubles.
constexpr double kMaxSteps = 1e15;

std::string rejection_text(double t, double h, double tolerance, const Certificate& certificate,
                           const SolverReport& report) {
  const std::string step = fmt::format("step from t = {} s with h = {} s", t, h);
  if (!report.has_answer) return fmt::format("{} has no answer: {}", step, to_text(report.status));
  if (!certificate.meets(tolerance) && std::isfinite(certificate.residual()))
    return fmt::format(
        "{} misses the tolerance {}: residual {:.3g} (momentum {:.3g}, bilateral {:.3g}, cone "
        "{:.3g}, motion {:.3g}); solver: {}",
        step, tolerance, certificate.residual(), certificate.momentum, certificate.bilateral,
        certificate.cone, certificate.motion, to_text(report.status));
  return step +
         " leads nowhere: a number is not finite, or the mass matrix is not positive definite";
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
  return options;
}

}  // namespace

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
    : model_(std::move(model)),
      options_(checked(options)),
      scheme_(make_scheme(options.scheme, {.friction = options.friction})),
      solver_(make_solver(options.solver, kSolverShare * options.tolerance)),
      stage_(*solver_),
      state_(model_.initial_state()) {
  validate();
  attempt_.contacts.reserve(model_.num_contacts());
  taken_.contacts.reserve(model_.num_contacts());
  ledger_.begin(evaluator_.compute_energy(model_, state_));
  forget_last_step();
  summary_.gap_min = evidence_.certificate.gap;
  summary_.joint_error_max = evidence_.certificate.joint;
}

/// As if no step had been taken yet: what observers are told of a start.
void Simulation::forget_last_step() {
  taken_.contacts.clear();
  taken_.joint_impulses.assign(model_.num_joint_rows(), 0.0);
  stage_.begin_step();
  stage_.certify_state(model_, state_);
  evidence_ = {};
  evidence_.certificate = stage_.certificate();
}

void Simulation::validate() const {
  if (model_.parts().empty()) throw InputError("model is empty");
  const auto faults = find_start_faults(model_, state_, options_.penetration_tolerance);
  if (faults.empty()) return;
  std::string text;
  for (const StartFault& fault : faults) text += (text.empty() ? "" : "\n") + fault.message;
  throw InputError(text);
}

double Simulation::step(double h) {
  if (!(h >= 0) || !std::isfinite(h))
    throw InputError(fmt::format("h is {}, must be finite and >= 0", h));
  const int max_halvings = options_.on_failure == OnFailure::kRetry ? kMaxHalvings : 0;
  for (int halvings = 0; !try_step(h); ++halvings) {
    if (options_.on_failure == OnFailure::kAccept && has_answer()) {
      ++summary_.steps_above_tolerance;
      break;
    }
    if (halvings == max_halvings || h == 0)
      throw StepRejected(
          rejection_text(state_.t, h, options_.tolerance, stage_.certificate(), stage_.report()),
          state_.t, stage_.certificate(), stage_.report());
    h /= 2;
    ++summary_.retries;
  }
  accept_step(h);
  return h;
}

bool Simulation::try_step(double h) {
  stage_.begin_step();
  scheme_->step(model_, state_, h, stage_, attempt_);
  attempt_energy_ = evaluator_.compute_energy(model_, attempt_.end);
  return has_answer() && stage_.certificate().meets(options_.tolerance);
}

/// Whether there is anything to accept: an answer, if not a good one, and a state to go on from.
bool Simulation::has_answer() const {
  const Certificate& certificate = stage_.certificate();
  return stage_.report().has_answer && std::isfinite(certificate.residual()) &&
         std::isfinite(certificate.joint) &&
         certificate.gap > -std::numeric_limits<double>::infinity() &&
         std::isfinite(attempt_energy_.total()) && attempt_.end.q.allFinite() &&
         attempt_.end.v.allFinite();
}

void Simulation::accept_step(double h) {
  attempt_.end.t = h > 0 ? clock_.after_step(h, state_.t) : state_.t;
  std::swap(state_, attempt_.end);
  std::swap(taken_, attempt_);
  evidence_ = {stage_.certificate(), stage_.report(), stage_.wall(), h};
  ledger_.add_step(taken_.work, attempt_energy_);
  const Certificate& certificate = evidence_.certificate;
  ++summary_.steps;
  summary_.contacts_max = std::max(summary_.contacts_max, static_cast<int>(taken_.contacts.size()));
  summary_.residual_max = std::max(summary_.residual_max, certificate.residual());
  summary_.gap_min = std::min(summary_.gap_min, certificate.gap);
  summary_.joint_error_max = std::max(summary_.joint_error_max, certificate.joint);
  for (StepObserver* observer : observers_) notify(*observer);
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
  observers_.push_back(&observer);
  notify(observer);
}

void Simulation::remove_observer(StepObserver& observer) { std::erase(observers_, &observer); }

void Simulation::notify(StepObserver& observer) const {
  observer.on_step({.step = summary_.steps,
                    .h = evidence_.h,
                    .state = state_,
                    .contacts = taken_.contacts,
                    .joint_impulses = taken_.joint_impulses,
                    .energy = ledger_,
                    .certificate = evidence_.certificate,
                    .solver = evidence_.report,
                    .solver_wall = evidence_.solver_wall});
}

}  // namespace stiction
