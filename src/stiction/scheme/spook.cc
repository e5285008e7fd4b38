#include "stiction/scheme/spook.h"

#include <fmt/format.h>

#include <algorithm>

#include "stiction/base/error.h"
#include "stiction/scheme/mass_symmetry.h"

namespace stiction {
namespace {

/// More inertia is needed where a body's tension grows by more than this within a step: an explicit
/// oscillator is stable up to h²k/m = 4, one with the inertia of h²k up to twice that more.
constexpr double kStableTurning = 4, kStableGrowth = 2;
constexpr int kMaxRepetitions = 3;

}  // namespace

SpookScheme::SpookScheme(const SchemeOptions& options)
    : options_(options.stepping),
      assembly_(options.friction),
      impact_(options.friction),
      midpoint_(options.friction, options.stepping.spook),
      last_problem_(&assembly_.problem()) {}

void SpookScheme::check(const ContactModel& model) const {
  for (const ContactInfo* law : model.contact_laws())
    if (law->impact == ImpactLaw::kPoisson)
      throw InputError(
          fmt::format("contact '{}' asks for Poisson's impact law, spook has Newton's", law->name));
}

bool SpookScheme::has_symmetric_masses(const ContactModel& model, const State& state) const {
  const bool is_explicit =
      options_.gyroscopic == GyroscopicTerm::kExplicit && !options_.spook.position_iteration;
  return is_explicit || is_gyroscopic_term_symmetric(model, state);
}

void SpookScheme::step(const ContactModel& model, const State& start, const SchemeMemory& memory,
                       double h, SolveStage& solve, StepResult& result) {
  reader_.begin(model, result);
  start_ = start;
  result.memory = memory;
  forces_.recall(model, memory);
  assembly_.evaluate_contacts(model, {start.t, start.q});
  const KeptVector& gaps = assembly_.evaluated_gaps();
  touching_.clear();
  // A contact that pressed in the last step may have opened by what the solver is forgiven; its gap
  // is part of its row.
  for (int j = 0; j < model.num_contacts(); ++j)
    if (!(gaps[j] > options_.events.contact_tolerance) ||
        forces_.contacts[static_cast<std::size_t>(3) * j] > 0)
      touching_.push_back(j);
  strike(model, h, solve, result);
  if (h == 0) {
    result.end = start_;
  } else if (options_.spook.position_iteration) {
    const bool has_converged =
        midpoint_.step(model, start_, h, touching_, forces_, solve, result.end, reader_, result);
    if (!has_converged) result.failure = kNoMidpoint;
    last_problem_ = &midpoint_.problem();
    forces_.keep(result.memory);
  } else {
    step_linearly(model, h, solve, result);
  }
  solve.certify_state(model, result.end, reader_.finish(model, result));
}

/// Lacoursière–Linde, (71): contacts that touch and do not part. Those that part already would
/// raise the energy by ½ν(γ⁺ + γ⁻) if something pushes them back, and have their turn in the next
/// step.
void SpookScheme::strike(const ContactModel& model, double h, SolveStage& solve,
                         StepResult& result) {
  int fastest = -1;
  double approach = h == 0 ? 0 : options_.events.restitution_threshold;
  striking_.clear();
  for (const int j : touching_) {
    const double rate = assembly_.gap_rate(model, j, start_.v);
    // At rest up to the threshold, so that rounding does not leave out what carries the others.
    if (!(rate > options_.events.restitution_threshold)) striking_.push_back(j);
    if (-rate > approach) {
      approach = -rate;
      fastest = j;
    }
  }
  if (fastest < 0) return;
  const ImpactStage::Rule rule{.law = ImpactLaw::kNewton,
                               .restitution_threshold = options_.events.restitution_threshold,
                               .has_to_succeed = true,
                               .relative_compliance = options_.spook.compliance};
  const std::optional<double> change =
      impact_.strike(model, striking_, rule, solve, start_, reader_, result);
  last_problem_ = &impact_.problem();
  result.events.push_back({.kind = EventKind::kCollision,
                           .time = start_.t,
                           .contact = fastest,
                           .energy_change = change.value_or(0)});
}

void SpookScheme::assemble(const ContactModel& model, double h, double tolerance) {
  const EvaluationPoint here{start_.t, start_.q};
  StepAssembly::SpookForm form{.compliance = options_.spook.compliance,
                               .relaxation = options_.spook.relaxation * h,
                               .stiffness_return = options_.spook.stiffness_return};
  assembly_.clear();
  assembly_.add_mass_and_momentum(model, here, here, start_.v, h);
  if (options_.gyroscopic != GyroscopicTerm::kExplicit)
    assembly_.make_gyroscopic_term_implicit(model, here, start_.v, h);
  if (options_.spook.geometric_stiffness) {
    assembly_.add_geometric_stiffness(model, here, start_.v, h, forces_.joints, forces_.contacts,
                                      {.inertia = 1, .momentum = options_.spook.stiffness_return});
    turning_rows_.clear();
    turning_rows_.h = h;
    model.append_turning_rows(here.t, here.q, forces_.joints, turning_rows_);
    form.turning = &turning_rows_;
  }
  assembly_.add_spook_rows(model, start_, h, form);
  // Also contacts that pressed nothing, but may have to now.
  assembly_.find_touching(model, start_.v, tolerance, touching_);
  std::sort(touching_.begin(), touching_.end());
  touching_.erase(std::unique(touching_.begin(), touching_.end()), touching_.end());
  assembly_.add_spook_contacts(model, start_, h, form, touching_);
}

void SpookScheme::step_linearly(const ContactModel& model, double h, SolveStage& solve,
                                StepResult& result) {
  const EvaluationPoint here{start_.t, start_.q};
  SolverReport report;
  const StepSolution* solution = nullptr;
  for (int repetition = 0;; ++repetition) {
    assemble(model, h, solve.tolerance());
    if (result.phases.is_on) turning_ = forces_;
    forces_.write(model, assembly_, h, solver_start_);
    solver_start_.w.assign(start_.v.begin(), start_.v.end());
    solution = &solve.probe(assembly_.problem(), report, &solver_start_);
    forces_.read(model, assembly_, *solution, h);
    if (!options_.spook.geometric_stiffness || repetition == kMaxRepetitions) break;
    const StepAssembly::TurningExcess excess =
        assembly_.find_turning_excess(model, here, h, forces_.joints, forces_.contacts);
    if (!(excess.trace > kStableTurning + kStableGrowth * excess.used)) break;
    ++result.iterations;
  }
  last_problem_ = &assembly_.problem();
  solve.commit(assembly_.problem(), *solution, report);
  result.end.t = start_.t + h;
  result.end.v = solution->w_vector();
  model.displace(start_.q, result.end.v, h, result.end.q);
  const OutcomeReader::Phase phase{.v_start = start_.v,
                                   .v_end = result.end.v,
                                   .start = &start_,
                                   .rows_t = start_.t,
                                   .rows_q = &start_.q,
                                   .turning_joints = &turning_.joints,
                                   .turning_contacts = &turning_.contacts};
  reader_.add(assembly_, *solution, phase, result);
  reader_.add_applied_work(model, here, start_.v, h, phase, result);
  forces_.keep(result.memory);
}

}  // namespace stiction
