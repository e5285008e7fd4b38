// One step on position level (Stewart–Trinkle 1996, §3): the complement of a normal impulse is the
// gap at the end of the step, so that contacts need neither event location nor stabilisation.
//
//   M(q̂)(v⁺ − v) = h k(t + h/2, q + h v/2, v) + Gᵀλ + Σ (N_jᵀν_j + T_jᵀβ_j),   q⁺ = q + h v⁺
//   0 ≤ Φ(q̂) + N (q⁺ − q̂) ⊥ ν ≥ 0,    Θ(q̂) + G (q⁺ − q̂) = 0                                (T19)
//
// with all rows at q̂: the prediction q + h v (one problem), or, iterated to a fixed point q̂ = q⁺,
// the end of the step itself. Impacts are inelastic.
#pragma once

#include "stiction/scheme/outcome.h"
#include "stiction/scheme/step_forces.h"

namespace stiction {

class PositionLevelStep {
 public:
  explicit PositionLevelStep(FrictionSection section) : assembly_(section) {}

  struct Options {
    bool is_nonlinear = true;
    /// Contacts that penetrate at the start may do so at the end. Otherwise they are pushed out
    /// within the step, with the velocity that this takes.
    bool keeps_penetration = false;
    bool is_gyroscopic_implicit = false;
    /// [m] Contacts whose gap at the prediction is no more than this take part: they cost little,
    /// and what others hold for them would come and go with the rounding of its gap.
    double touching = 0;
  };
  struct Report {
    int iterations = 1;         // problems solved with different q̂
    bool has_converged = true;  // to a fixed point, if asked for
    bool is_linear = false;     // since there was none: one problem at the prediction
  };
  /// Steps by h > 0 into `end`, and adds what happened to `result`. `closed` are the contacts that
  /// pressed in the last step (empty: none); they take part, and those that the prediction or the
  /// end of the step violate. `forces` are those of the last step, and of this one afterwards.
  Report step(const ContactModel& model, const State& start,
              const std::vector<ContactStatus>& closed, double h, const Options& options,
              StepForces& forces, SolveStage& solve, State& end, OutcomeReader& reader,
              StepResult& result);
  /// Of all contacts of the model after the last step.
  const std::vector<ContactStatus>& status() const { return status_; }
  const StepProblem& problem() const { return assembly_.problem(); }

 private:
  void choose_contacts(const ContactModel& model, const std::vector<ContactStatus>& closed,
                       double touching);
  const StepSolution& iterate(const ContactModel& model, const State& start,
                              const std::vector<ContactStatus>& closed, double h,
                              const Options& options, bool chooses_alternatives, StepForces& forces,
                              SolveStage& solve, State& end, Report& report);
  void choose_alternatives(const ContactModel& model, const State& start, double h);
  static void evaluate_gaps(const ContactModel& model, double t, const VectorXd& q, VectorXd& gaps);
  void evaluate_prediction_gaps(const ContactModel& model, double t);
  bool add_violated_contacts(const ContactModel& model, const State& end);
  const StepSolution& solve_at_prediction(const ContactModel& model, const State& start, double h,
                                          const Options& options, StepForces& forces,
                                          SolveStage& solve, State& end);

  StepAssembly assembly_;
  SolverReport solver_report_;
  StepSolution start_;
  VectorXd prediction_, mid_, move_, gaps_, start_gaps_, prediction_gaps_;
  bool has_prediction_gaps_ = false;
  std::vector<char> is_active_, is_suppressed_;
  std::vector<int> active_;
  std::vector<ContactStatus> status_;
};

}  // namespace stiction
