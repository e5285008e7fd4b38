#include "stiction/scheme/stewart_trinkle.h"

#include <fmt/format.h>

#include "stiction/scheme/mass_symmetry.h"

namespace stiction {

std::vector<std::string> StewartTrinkleScheme::notes(const ContactModel& model) const {
  std::vector<std::string> notes;
  for (const ContactInfo* law : model.contact_laws())
    if (law->restitution > 0 || law->restitution_tangential > 0)
      notes.push_back(fmt::format(
          "stewart-trinkle treats impacts as inelastic; restitution of contact '{}' is not used",
          law->name));
  return notes;
}

bool StewartTrinkleScheme::has_symmetric_masses(const ContactModel& model,
                                                const State& state) const {
  return options_.gyroscopic != GyroscopicTerm::kImplicit ||
         is_gyroscopic_term_symmetric(model, state);
}

void StewartTrinkleScheme::step(const ContactModel& model, const State& start,
                                const SchemeMemory& memory, double h, SolveStage& solve,
                                StepResult& result) {
  reader_.begin(model, result);
  is_impact_ = h == 0;
  if (is_impact_) {
    result.end = start;
    evaluator_.compute_gaps(model, start.t, start.q, gaps_);
    touching_.clear();
    for (int j = 0; j < model.num_contacts(); ++j)
      if (gaps_[j] <= options_.events.contact_tolerance) touching_.push_back(j);
    impact_.strike(model, touching_, {.is_inelastic = true, .has_to_succeed = true}, solve,
                   result.end, reader_, result);
    result.memory = memory;
  } else {
    forces_.recall(model, memory);
    const PositionLevelStep::Report report =
        step_.step(model, start, memory.contacts, h,
                   {.is_nonlinear = options_.nonlinear,
                    .is_gyroscopic_implicit = options_.gyroscopic == GyroscopicTerm::kImplicit,
                    .touching = options_.events.contact_tolerance},
                   forces_, solve, result.end, reader_, result);
    result.iterations = report.iterations;
    result.linear_steps = report.is_linear ? 1 : 0;
    result.memory.contacts = step_.status();
    forces_.keep(result.memory);
  }
  const KeptVector& gaps = reader_.finish(model, result);
  solve.certify_state(model, result.end, gaps);
}

}  // namespace stiction
