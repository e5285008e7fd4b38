#include "stiction/scheme/substep.h"

#include <fmt/format.h>

#include "stiction/base/error.h"
#include "stiction/scheme/mass_symmetry.h"

namespace stiction {
namespace {

/// Rows at q itself, and a projection that keeps q on the constraints: redundant rows agree to
/// rounding.
constexpr StepAssembly::ConstraintForm kEulerConstraints{.compliance = 0};

/// Rows at a predicted configuration, whose error of order h² makes redundant rows disagree: they
/// have to yield a little or they lock (compare MoreauScheme).
constexpr double kJointCompliance = 1e-9;

}  // namespace

std::string_view EulerSubstep::name() const {
  return kind_ == EulerKind::kExplicit ? "anitescu-potra" : "linearly-implicit-euler";
}

bool EulerSubstep::has_symmetric_masses(const ContactModel& model, const State& state) const {
  return !is_gyroscopic_implicit_ || is_gyroscopic_term_symmetric(model, state);
}

void EulerSubstep::assemble(const ContactModel& model, const State& start, double h,
                            std::span<const int> contacts, StepAssembly& assembly) {
  const EvaluationPoint here{start.t, start.q};
  assembly.clear();
  assembly.add_mass_and_momentum(model, here, here, start.v, h);
  if (kind_ == EulerKind::kExplicit) assembly.add_explicit_springs(model, start, h);
  if (is_gyroscopic_implicit_) assembly.make_gyroscopic_term_implicit(model, here, start.v, h);
  assembly.add_constraint_rows(model, here, start, h, kEulerConstraints);
  if (kind_ == EulerKind::kLinearlyImplicit)
    assembly.add_spring_rows(model, here, start, h, SpringRule::kEnd);
  assembly.add_contacts(model, here, contacts);
}

void EulerSubstep::advance(const ContactModel& model, const State& start, double h,
                           const StepSolution& solution, State& end) {
  end.t = start.t + h;
  end.v = solution.w_vector();
  model.displace(start.q, end.v, h, end.q);
}

void EulerSubstep::add_applied_work(const ContactModel& model, const State& start, const State&,
                                    double duration, const OutcomeReader::Phase& phase,
                                    OutcomeReader& reader, StepResult& result) const {
  reader.add_applied_work(model, {start.t, start.q}, start.v, duration, phase, result);
}

std::string_view TrapezoidalSubstep::name() const {
  return kind_ == TrapezoidalKind::kEnd ? "trapezoidal-1" : "trapezoidal-2";
}

void TrapezoidalSubstep::check(const ContactModel& model) const {
  if (jacobians_ != ForceJacobians::kExact) return;
  for (const Model::Part& part : model.parts())
    if (!part.system->has_exact_force_jacobians())
      throw InputError(
          fmt::format("{} needs the derivatives of the force on '{}', which has none; override "
                      "evaluate_force_jacobians, or set jacobians to differences or springs-only",
                      name(), part.system->name_of_velocity(0)));
}

bool TrapezoidalSubstep::has_symmetric_masses(const ContactModel& model, const State& state) const {
  return jacobians_ == ForceJacobians::kSpringsOnly || are_force_jacobians_symmetric(model, state);
}

void TrapezoidalSubstep::assemble(const ContactModel& model, const State& start, double h,
                                  std::span<const int> contacts, StepAssembly& assembly) {
  const bool is_mean = kind_ == TrapezoidalKind::kMean;
  model.displace(start.q, start.v, 0.5 * h, q_mid_);
  model.displace(start.q, start.v, h, q_end_);
  const EvaluationPoint mid{start.t + 0.5 * h, q_mid_}, end{start.t + h, q_end_};
  const EvaluationPoint& rows = is_mean ? mid : end;
  assembly.clear();
  assembly.add_trapezoidal_mass_and_momentum(model, start, mid, h, is_mean ? 2 : 1, jacobians_);
  const SpringRule spring_rule = is_mean ? SpringRule::kMean : SpringRule::kMeanByEnd;
  assembly.add_constraint_rows(model, rows, start, h,
                               {.compliance = kJointCompliance, .spring_rule = spring_rule});
  assembly.add_spring_rows(model, mid, start, h, spring_rule);
  assembly.add_contacts(model, rows, contacts);
}

/// Rows on v⁺ have nothing to reflect.
void TrapezoidalSubstep::take_back_rounding(const State& start, const StepSolution& impulses,
                                            StepAssembly& assembly) {
  if (kind_ == TrapezoidalKind::kMean) rounding_.take_back(start.v, impulses, assembly);
}

void TrapezoidalSubstep::advance(const ContactModel& model, const State& start, double h,
                                 const StepSolution& solution, State& end) {
  end.t = start.t + h;
  end.v = solution.w_vector();
  if (kind_ == TrapezoidalKind::kMean) end.v = 2 * end.v - start.v;
  mean_velocity_ = 0.5 * (start.v + end.v);
  model.displace(start.q, mean_velocity_, h, end.q);
}

void TrapezoidalSubstep::add_applied_work(const ContactModel& model, const State& start,
                                          const State& end, double duration,
                                          const OutcomeReader::Phase& phase, OutcomeReader& reader,
                                          StepResult& result) const {
  reader.add_applied_work(model, {start.t, start.q}, start.v, 0.5 * duration, phase, result);
  reader.add_applied_work(model, {end.t, end.q}, end.v, 0.5 * duration, phase, result);
}

std::unique_ptr<SubstepRule> make_substep_rule(std::string_view name,
                                               const SteppingOptions& options) {
  if (name == "anitescu-potra")
    return std::make_unique<EulerSubstep>(EulerKind::kExplicit, options.gyroscopic);
  if (name == "linearly-implicit-euler")
    return std::make_unique<EulerSubstep>(EulerKind::kLinearlyImplicit, options.gyroscopic);
  if (name == "trapezoidal-1")
    return std::make_unique<TrapezoidalSubstep>(TrapezoidalKind::kEnd, options.jacobians);
  if (name == "trapezoidal-2")
    return std::make_unique<TrapezoidalSubstep>(TrapezoidalKind::kMean, options.jacobians);
  return nullptr;
}

}  // namespace stiction
