// Impacts: the step problem with h = 0, at a given configuration, for velocities alone. Every
// contact has its own law.
//
//   Newton    γ_N⁺ + e_N γ_N⁻ ≥ 0 ⊥ ν, friction on γ_T⁺ + e_T γ_T⁻: one problem              (T13)
//   Poisson   compression:   M (v^c − v⁻) = Gᵀλ + Nᵀν^c + Tᵀβ^c,        0 ≤ γ_N^c ⊥ ν^c ≥ 0
//             decompression: M (v⁺ − v^c) = Nᵀ(e ν^c) + Gᵀλ + Nᵀν^x + Tᵀβ^x, 0 ≤ γ_N⁺ ⊥ ν^x ≥ 0
//
// (Potra et al. 2006, §7.3 and §7.4.) The restituted impulse e ν^c carries no friction; ν^x is what
// a contact needs beyond it to stay feasible. Without restitution there is no second problem.
// Joints keep their velocity, springs and dampers have no time to act. Poisson's law with friction
// can raise the energy: the change is reported, not repaired.
#pragma once

#include <optional>
#include <span>

#include "stiction/scheme/outcome.h"

namespace stiction {

class ImpactStage {
 public:
  explicit ImpactStage(FrictionSection section) : assembly_(section) {}

  struct Rule {
    ImpactLaw law = ImpactLaw::kPoisson;  // of contacts that name none
    double restitution_threshold = 0;     // [m/s] an impact whose approach is slower is inelastic
    bool is_inelastic = false;            // restitution 0 throughout
    bool has_to_succeed = false;          // an impact without answer fails the step
    // Of the normal rows and of the joints: SPOOK's stage has Newton's law with 4εφ/h² for both
    // (Lacoursière–Linde, (71) with T_N for Φ).
    double contact_compliance = 0, joint_compliance = 0;
    double relative_compliance = 0;  // of both, relative to the mobility of the row
  };
  /// Changes `state.v`; `contacts` take part, in the order of the model. Adds impulses and work to
  /// `result`. Returns the change of kinetic energy without the work of driven surfaces, [J]. Where
  /// surfaces are driven against each other no velocities may fit: then nothing happens, unless the
  /// rule wants the failure on the record.
  std::optional<double> strike(const ContactModel& model, std::span<const int> contacts,
                               const Rule& rule, SolveStage& solve, State& state,
                               OutcomeReader& reader, StepResult& result);
  /// What the contacts given last do after the impact: those that press stay closed.
  const std::vector<ContactStatus>& status() const { return status_; }
  const StepProblem& problem() const { return assembly_.problem(); }

 private:
  void assemble(const ContactModel& model, std::span<const int> contacts, const Rule& rule,
                const State& state);
  void measure_approach(const State& state);
  void add_newton_biases(const ContactModel& model, const Rule& rule);
  void add_compliance(const Rule& rule);
  bool add_restitution(const ContactModel& model, const Rule& rule,
                       const StepSolution& compression);
  double kinetic_energy_change(const VectorXd& v_after) const;
  const ContactInfo& info(const ContactModel& model, int j) const;
  ImpactLaw law_of(const ContactModel& model, int j, const Rule& rule) const;

  StepAssembly assembly_;
  VectorXd v_before_, v_compressed_;
  StepSolution compression_, decompression_;
  std::vector<double> approach_;    // γ⁻ per contact row
  std::vector<double> restituted_;  // e ν^c per contact
  std::vector<double> mobilities_;  // of contacts, scratch
  double fastest_ = 0;              // approach of a normal, [m/s]
  std::vector<ContactStatus> status_;
};

}  // namespace stiction
