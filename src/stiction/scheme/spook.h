// SPOOK (Lacoursière–Linde): constraints as stiff springs whose discretisation is stable for every
// stiffness, with one linear or complementarity problem per step, rank-deficient joints included.
//
//   M̂ v⁺ = M v + h k + Gᵀλ + …,   G v⁺ + Cλ = −(4φ/h)Θ + φ G v,   q⁺ = q + h v⁺            (T29)
//   C = 4εφ/h²,  φ = 1/(1 + 4τ/h)
//
// Contacts that touch and approach strike first, in a stage of its own (their §8). Two additions:
// the stiffness of forces that turn with the bodies, in M̂ and in rows (T28), without which heavy
// chains come apart; and, instead of the linear step, an iteration to the end of the step that
// conserves energy (T31, MidpointStep).
#pragma once

#include "stiction/scheme/impact.h"
#include "stiction/scheme/midpoint_step.h"

namespace stiction {

class SpookScheme final : public Scheme {
 public:
  explicit SpookScheme(const SchemeOptions& options);

  std::string_view name() const override { return "spook"; }
  bool keeps_rest() const override { return !options_.spook.position_iteration; }
  void check(const ContactModel& model) const override;
  bool has_symmetric_masses(const ContactModel& model, const State& state) const override;
  void step(const ContactModel& model, const State& start, const SchemeMemory& memory, double h,
            SolveStage& solve, StepResult& result) override;
  const StepProblem& last_problem() const override { return *last_problem_; }

 private:
  void strike(const ContactModel& model, double h, SolveStage& solve, StepResult& result);
  void step_linearly(const ContactModel& model, double h, SolveStage& solve, StepResult& result);
  void assemble(const ContactModel& model, double h, double tolerance);

  SteppingOptions options_;
  StepAssembly assembly_;
  ImpactStage impact_;
  MidpointStep midpoint_;
  OutcomeReader reader_;
  const StepProblem* last_problem_;

  State start_;  // of the step, after its impacts
  std::vector<int> touching_;
  std::vector<int> striking_;  // those of them that do not part
  StepForces forces_;          // of the last solution; the geometric stiffness is taken from them
  StepForces turning_;         // that the one of the last problem was made of, for the log
  TurningRows turning_rows_;
  StepSolution solver_start_;
};

}  // namespace stiction
