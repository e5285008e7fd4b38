// Reads a solved step back into mechanics: what every contact and joint did, and how much energy
// each of them gave to the system. Uses the problem and its solution, no solver.
#pragma once

#include "stiction/scheme/assembly.h"
#include "stiction/scheme/scheme.h"

namespace stiction {

class OutcomeReader {
 public:
  /// Fills contacts, joint impulses and the work of `result`, whose `end` is already set, for a
  /// scheme whose unknown is v⁺ and whose applied forces were taken at `point`.
  void read(const Model& model, const State& start, const EvaluationPoint& point,
            const StepAssembly& assembly, const StepSolution& solution, StepResult& result);

 private:
  void read_contacts(const Model& model, const StepAssembly& assembly, const StepSolution& solution,
                     StepResult& result);
  void read_joints(const Model& model, const StepAssembly& assembly, const StepSolution& solution,
                   StepResult& result);
  void add_applied_work(const Model& model, const State& start, const EvaluationPoint& point,
                        double h, StepResult& result);

  VectorXd mean_velocity_;  // (v + v⁺)/2: Δ½vᵀMv is exactly impulse · mean velocity for constant M
  std::vector<double> values_;
};

}  // namespace stiction
