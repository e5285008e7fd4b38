// Moreau's midpoint scheme with Newton restitution (Glocker–Studer 2005, §5):
//
//   q^M = q + h/2 v,   t^M = t + h/2,   active contacts {j : Φ_j(q^M, t^M) ≤ 0}
//   M^M (v⁺ − v) = h k(t^M, q^M, v) + Gᵀλ + Σ (N_jᵀν_j + T_jᵀβ_j)
//   ξ_N = γ_N⁺ + e_N γ_N⁻,  ξ_T = γ_T⁺ + e_T γ_T⁻,   0 ≤ ξ_N ⊥ ν ≥ 0,  −β ∈ μν Sgn(ξ_T)       (T13)
//   q⁺ = q^M + h/2 v⁺
//
// First order, no event location. Springs of the layout are implicit rows (T14), constraints hold
// on velocity level and are pulled back by the critically damped rate of (T15). h = 0 is the impact
// alone. It refuses nothing, but a step larger than a contact's free flight simply misses that
// contact.
#pragma once

#include "stiction/scheme/assembly.h"
#include "stiction/scheme/outcome.h"
#include "stiction/scheme/scheme.h"
#include "stiction/scheme/step_forces.h"

namespace stiction {

class MoreauScheme final : public Scheme {
 public:
  explicit MoreauScheme(const SchemeOptions& options)
      : assembly_(options.friction),
        is_gyroscopic_implicit_(options.stepping.gyroscopic == GyroscopicTerm::kImplicit) {}

  std::string_view name() const override { return "moreau"; }
  bool keeps_rest() const override { return true; }
  /// Contacts that ask for Poisson's law need a scheme that locates collisions.
  void check(const ContactModel& model) const override;
  bool has_symmetric_masses(const ContactModel& model, const State& state) const override;
  void step(const ContactModel& model, const State& start, const SchemeMemory& memory, double h,
            SolveStage& solve, StepResult& result) override;
  const StepProblem& last_problem() const override { return assembly_.problem(); }

 private:
  StepAssembly assembly_;
  bool is_gyroscopic_implicit_;
  OutcomeReader reader_;
  StepForces forces_;   // of the last step
  StepSolution start_;  // that they make
  VectorXd q_mid_;
};

}  // namespace stiction
