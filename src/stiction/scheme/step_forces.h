// Mean forces of a step: what the next one starts its solver from, and what its geometric stiffness
// is made of (T28).
#pragma once

#include <vector>

#include "stiction/scheme/assembly.h"
#include "stiction/scheme/scheme.h"

namespace stiction {

struct StepForces {
  std::vector<double> joints;    // one per joint row
  std::vector<double> contacts;  // three per contact

  /// From what the last step left; zeros if it left nothing.
  void recall(const ContactModel& model, const SchemeMemory& memory);
  /// Hands them over: nothing is left here until the next step recalls them.
  void keep(SchemeMemory& memory);
  /// Of a solution, over h > 0.
  void read(const ContactModel& model, const StepAssembly& assembly, const StepSolution& solution,
            double h);
  /// The impulses that these forces make in a step, as a start for the problem of `assembly`.
  void write(const ContactModel& model, const StepAssembly& assembly, double h,
             StepSolution& start) const;
};

}  // namespace stiction
