// The scheme of Stewart and Trinkle 1996: position-level complementarity, see
// position_level_step.h. With `nonlinear` (the default) no contact penetrates beyond rounding;
// without, one problem per step and penetrations of order h². First order. Impacts are inelastic:
// restitution of the model is not used, and `notes` says so.
#pragma once

#include "stiction/scheme/impact.h"
#include "stiction/scheme/position_level_step.h"

namespace stiction {

class StewartTrinkleScheme final : public Scheme {
 public:
  explicit StewartTrinkleScheme(const SchemeOptions& options)
      : options_(options.stepping), step_(options.friction), impact_(options.friction) {}

  std::string_view name() const override { return "stewart-trinkle"; }
  bool wants_alternatives() const override { return options_.nonlinear; }
  bool keeps_rest() const override { return true; }
  bool has_symmetric_masses(const ContactModel& model, const State& state) const override;
  std::vector<std::string> notes(const ContactModel& model) const override;
  void step(const ContactModel& model, const State& start, const SchemeMemory& memory, double h,
            SolveStage& solve, StepResult& result) override;
  const StepProblem& last_problem() const override {
    return is_impact_ ? impact_.problem() : step_.problem();
  }

 private:
  SteppingOptions options_;
  PositionLevelStep step_;
  ImpactStage impact_;
  OutcomeReader reader_;
  StepForces forces_;
  ContactEvaluator evaluator_;
  KeptVector gaps_;
  std::vector<int> touching_;
  bool is_impact_ = false;  // the last step was one with h = 0
};

}  // namespace stiction
