#include "stiction/scheme/impact.h"

#include <algorithm>

namespace stiction {

const ContactInfo& ImpactStage::info(const ContactModel& model, int j) const {
  return model.contact(assembly_.contact_indices()[j]);
}

ImpactLaw ImpactStage::law_of(const ContactModel& model, int j, const Rule& rule) const {
  const ImpactLaw own = info(model, j).impact;
  return own == ImpactLaw::kOfScheme ? rule.law : own;
}

void ImpactStage::assemble(const ContactModel& model, std::span<const int> contacts,
                           const Rule& rule, const State& state) {
  const EvaluationPoint here{state.t, state.q};
  assembly_.clear();
  assembly_.add_mass_and_momentum(model, here, here, state.v, 0);
  assembly_.add_constraint_rows(model, here, state, 0, {.compliance = rule.relative_compliance});
  assembly_.add_contacts(model, here, contacts);
}

void ImpactStage::measure_approach(const State& state) {
  const StepProblem& problem = assembly_.problem();
  approach_ = assembly_.contact_drifts();
  fastest_ = 0;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const BlockRows& rows = problem.contacts;
    for (int e = rows.entry_start(j); e < rows.entry_start(j + 1); ++e) {
      const ConstRowMatrixMap entry(rows.entry_values(e), rows.num_rows(j), rows.entry_columns(e));
      VectorMap(approach_.data() + rows.row_start(j), rows.num_rows(j)) +=
          entry.lazyProduct(state.v.segment(problem.dof_start[rows.entry_block(e)], entry.cols()));
    }
    fastest_ = std::max(fastest_, -approach_[rows.row_start(j)]);
  }
}

void ImpactStage::add_newton_biases(const ContactModel& model, const Rule& rule) {
  StepProblem& problem = assembly_.problem();
  for (int j = 0; j < problem.num_contacts(); ++j) {
    if (law_of(model, j, rule) != ImpactLaw::kNewton) continue;
    const int start = problem.contacts.row_start(j);
    for (int i = 0; i < problem.contacts.num_rows(j); ++i)
      problem.contact_bias[start + i] +=
          (i == 0 ? info(model, j).restitution : info(model, j).restitution_tangential) *
          approach_[start + i];
  }
}

void ImpactStage::add_compliance(const Rule& rule) {
  StepProblem& problem = assembly_.problem();
  for (double& compliance : problem.compliance) compliance += rule.joint_compliance;
  assembly_.compute_normal_mobilities(mobilities_);
  for (int j = 0; j < problem.num_contacts(); ++j)
    problem.contact_compliance[problem.contacts.row_start(j)] =
        rule.contact_compliance + rule.relative_compliance * mobilities_[j];
}

/// Turns the problem into that of decompression; false if nothing is restituted.
bool ImpactStage::add_restitution(const ContactModel& model, const Rule& rule,
                                  const StepSolution& compression) {
  StepProblem& problem = assembly_.problem();
  bool has_any = false;
  restituted_.assign(problem.num_contacts(), 0.0);
  for (int j = 0; j < problem.num_contacts(); ++j) {
    if (law_of(model, j, rule) != ImpactLaw::kPoisson) continue;
    restituted_[j] = info(model, j).restitution * compression.r[problem.contacts.row_start(j)];
    has_any = has_any || restituted_[j] > 0;
  }
  if (!has_any) return false;
  // p = M v^c + Σ e ν^c Nᵀ
  for (int b = 0; b < problem.num_blocks(); ++b)
    problem.block_p(b) = problem.mass_block(b).lazyProduct(
        ConstVectorMap(compression.w.data() + problem.dof_start[b], problem.block_size(b)));
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const BlockRows& rows = problem.contacts;
    for (int e = rows.entry_start(j); e < rows.entry_start(j + 1); ++e)
      problem.block_p(rows.entry_block(e)) +=
          restituted_[j] * ConstVectorMap(rows.entry_values(e), rows.entry_columns(e));
  }
  return true;
}

std::optional<double> ImpactStage::strike(const ContactModel& model, std::span<const int> contacts,
                                          const Rule& rule, SolveStage& solve, State& state,
                                          OutcomeReader& reader, StepResult& result) {
  assemble(model, contacts, rule, state);
  measure_approach(state);
  const bool is_elastic = !rule.is_inelastic && fastest_ > rule.restitution_threshold;
  if (is_elastic) add_newton_biases(model, rule);
  add_compliance(rule);
  SolverReport report;
  compression_ = solve.probe(assembly_.problem(), report);
  if (!report.has_answer && !rule.has_to_succeed) return std::nullopt;
  solve.commit(assembly_.problem(), compression_, report);

  const double motor = result.work.motor;
  v_before_ = state.v;
  state.v = compression_.w_vector();
  const PhaseKind kind = rule.is_inelastic ? PhaseKind::kInelasticImpact : PhaseKind::kImpact;
  reader.add(assembly_, compression_,
             {.v_start = v_before_,
              .v_end = state.v,
              .kind = kind,
              .start = &state,
              .rows_t = state.t,
              .rows_q = &state.q},
             result);
  const StepSolution* last = &compression_;
  if (is_elastic && add_restitution(model, rule, compression_)) {
    decompression_ = solve.solve(assembly_.problem());
    last = &decompression_;
  }
  status_.resize(contacts.size());
  for (std::size_t j = 0; j < contacts.size(); ++j)
    status_[j] = contact_status(assembly_.problem(), *last, static_cast<int>(j));
  if (last == &decompression_) {
    for (int j = 0; j < assembly_.problem().num_contacts(); ++j)
      decompression_.r[assembly_.problem().contacts.row_start(j)] += restituted_[j];
    v_compressed_ = state.v;
    state.v = decompression_.w_vector();
    reader.add(assembly_, decompression_,
               {.v_start = v_compressed_,
                .v_end = state.v,
                .kind = PhaseKind::kDecompression,
                .start = &state,
                .rows_t = state.t,
                .rows_q = &state.q},
               result);
  }
  return kinetic_energy_change(state.v) - (result.work.motor - motor);
}

/// ½ (v⁺ + v⁻)ᵀM (v⁺ − v⁻), which does not cancel where the two are close.
double ImpactStage::kinetic_energy_change(const VectorXd& v_after) const {
  const StepProblem& problem = assembly_.problem();
  double change = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int start = problem.dof_start[b], n = problem.block_size(b);
    const auto before = v_before_.segment(start, n), after = v_after.segment(start, n);
    for (int i = 0; i < n; ++i)
      change += 0.5 * (after[i] + before[i]) * problem.mass_block(b).row(i).dot(after - before);
  }
  return change;
}

}  // namespace stiction
