// A step that iterates to its own end: the implicit midpoint rule with joints held on position
// level. With the mean velocity w̄ = (v + v⁺)/2 and q⁺ = q ⊕ h w̄,
//
//   M (v⁺ − v) = h k(t + h/2, q_mid, w̄) + Ḡᵀλ,   Θ(q⁺, t + h) = 0                            (T31)
//
// where the rows Ḡ satisfy h Ḡ w̄ = Θ(q⁺) − Θ(q) exactly. The product of the first line with w̄ says
// that joints do no work: energy is conserved at any h and any ratio of masses, which is what keeps
// heavy chains together. Velocities are then projected onto the joints at q⁺, which only takes
// energy away. Where the iteration does not converge the step is halved.
#pragma once

#include <span>
#include <string_view>

#include "stiction/scheme/outcome.h"
#include "stiction/scheme/step_forces.h"

namespace stiction {

/// StepResult::failure where no step is short enough.
inline constexpr std::string_view kNoMidpoint =
    "the iteration to the end of the step did not converge, not even for shorter steps";

class MidpointStep {
 public:
  MidpointStep(FrictionSection section, const SpookOptions& options)
      : options_(options), assembly_(section), projection_(section) {}

  /// Steps by h > 0 into `end` and adds what happened to `result`. `touching` contacts take part.
  /// `forces` are those of the last step and become those of this one. False if a part of the step
  /// did not converge.
  bool step(const ContactModel& model, const State& start, double h, std::span<const int> touching,
            StepForces& forces, SolveStage& solve, State& end, OutcomeReader& reader,
            StepResult& result);
  const StepProblem& problem() const { return assembly_.problem(); }

 private:
  bool iterate(const ContactModel& model, const State& start, double h, bool is_shortest,
               std::span<const int> touching, StepForces& forces, SolveStage& solve, State& end,
               StepResult& result);
  void assemble(const ContactModel& model, const State& start, double h,
                std::span<const int> touching, const StepForces& forces, const State& guess);
  void project_velocity(const ContactModel& model, std::span<const int> touching, SolveStage& solve,
                        State& end, OutcomeReader& reader, StepResult& result);

  SpookOptions options_;
  StepAssembly assembly_, projection_;
  StepSolution solution_;
  StepSolution solver_start_;
  TurningRows turning_rows_;
  SolverReport report_;
  State from_, guess_;
  VectorXd mean_velocity_, q_mid_, move_, theta_start_, change_, v_before_;
  StepForces start_forces_;
};

}  // namespace stiction
