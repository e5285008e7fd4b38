#include "stiction/scheme/moreau.h"

#include <fmt/format.h>

#include <numbers>

#include "stiction/base/error.h"
#include "stiction/scheme/mass_symmetry.h"

namespace stiction {
namespace {

/// Constraints take back a share α of their error per step. With G w = −αΘ/h and the trapezoidal
/// position update the error obeys x⁺ = (1 − α/2) x − α/2 x⁻; α = 6 − 4√2 is its critically damped
/// case, a factor √2 − 1 per step. (T15)
/// Redundant constraints that are nonlinear depend on each other only up to the error of q, and
/// would lock what they cannot hold exactly. A rigid joint yields by the share `compliance` of the
/// velocity that its impulse would give, which (T15) takes back: at a free fall of h = 1e-3 s,
/// 1e-10 m/s.
constexpr StepAssembly::ConstraintForm kConstraints{.compliance = 1e-8,
                                                    .stabilization = 6 - 4 * std::numbers::sqrt2};

}  // namespace

void MoreauScheme::check(const ContactModel& model) const {
  for (const ContactInfo* law : model.contact_laws())
    if (law->impact == ImpactLaw::kPoisson)
      throw InputError(fmt::format(
          "contact '{}' asks for Poisson's impact law, moreau has Newton's; take one of "
          "the schemes that locate collisions, such as trapezoidal-2",
          law->name));
  check_contacts_are_rigid(name(), model);
}

bool MoreauScheme::has_symmetric_masses(const ContactModel& model, const State& state) const {
  return !is_gyroscopic_implicit_ || is_gyroscopic_term_symmetric(model, state);
}

void MoreauScheme::step(const ContactModel& model, const State& start, const SchemeMemory& memory,
                        double h, SolveStage& solve, StepResult& result) {
  model.displace(start.q, start.v, 0.5 * h, q_mid_);
  const EvaluationPoint mid{start.t + 0.5 * h, q_mid_};

  assembly_.clear();
  assembly_.add_mass_and_momentum(model, mid, mid, start.v, h);
  if (is_gyroscopic_implicit_) assembly_.make_gyroscopic_term_implicit(model, mid, start.v, h);
  assembly_.add_constraint_rows(model, mid, start, h, kConstraints);
  assembly_.add_spring_rows(model, mid, start, h, SpringRule::kEnd);
  forces_.recall(model, memory);
  assembly_.add_touching_contacts(model, mid, start.v, solve.tolerance());

  forces_.write(model, assembly_, h, start_);
  start_.w.assign(start.v.begin(), start.v.end());
  const StepSolution& solution = solve.solve(assembly_.problem(), &start_);

  result.end.t = start.t + h;
  result.end.v = solution.w_vector();
  model.displace(q_mid_, result.end.v, 0.5 * h, result.end.q);
  const OutcomeReader::Phase phase{.v_start = start.v,
                                   .v_end = result.end.v,
                                   .start = &start,
                                   .rows_t = mid.t,
                                   .rows_q = &q_mid_};
  reader_.begin(model, result);
  reader_.add(assembly_, solution, phase, result);
  reader_.add_applied_work(model, mid, start.v, h, phase, result);
  const KeptVector& gaps = reader_.finish(model, result);
  if (h > 0) forces_.read(model, assembly_, solution, h);
  forces_.keep(result.memory);
  solve.certify_state(model, result.end, gaps);
}

}  // namespace stiction
