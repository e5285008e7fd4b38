#include "stiction/solve/acceptance.h"

#include <algorithm>
#include <cmath>

namespace stiction {

double Acceptance::measure(const StepProblem& problem, const StepSolution& solution) {
  double worst = 0;
  if (asks_certificate(measure_)) {
    const Certificate certificate = certifier_.certify(problem, solution);
    worst = certificate.residual();
    if (measure_ == StoppingMeasure::kVelocities)
      worst = std::max(worst, kVelocityShare * std::sqrt(certificate.motion));
  }
  if (asks_published(measure_))
    worst = std::max(worst, published_.compute(collection_kind(problem), problem, solution));
  // Impulses out of proportion would hide a contradiction from the published error.
  if (measure_ == StoppingMeasure::kPublished && worst <= tolerance_ &&
      has_inflated_impulses(problem, solution))
    worst = std::max(worst, certifier_.certify(problem, solution).residual());
  return worst;
}

}  // namespace stiction
