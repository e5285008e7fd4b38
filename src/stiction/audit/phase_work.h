// What impulses and forces of a phase did, by cause (T30).
#pragma once

#include <cmath>

#include "stiction/audit/phase_problem.h"

namespace stiction {

/// Work entry by entry, [J], and how large its terms were.
struct PhaseWork {
  double applied = 0, motor = 0, friction = 0, impact = 0;
  double size = 0;
  void add(double& entry, double work) {
    entry += work;
    size += std::abs(work);
  }
};

/// Adds the work of a phase whose equations are in `assembled`.
void add_work(const Model& model, const AuditSettings& settings, const AuditedPhase& phase,
              const PhaseProblem& assembled, PhaseWork& work);

}  // namespace stiction
