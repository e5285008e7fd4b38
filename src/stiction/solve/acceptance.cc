#include "stiction/solve/acceptance.h"

#include <algorithm>

namespace stiction {

double Acceptance::measure(const StepProblem& problem, const StepSolution& solution) {
  double worst = 0;
  if (measure_ != StoppingMeasure::kPublished)
    worst = certifier_.certify(problem, solution).residual();
  if (measure_ != StoppingMeasure::kCertificate)
    worst = std::max(worst, published_.compute(collection_kind(problem), problem, solution));
  // Impulses out of proportion would hide a contradiction from the published error.
  if (measure_ == StoppingMeasure::kPublished && worst <= tolerance_ &&
      has_inflated_impulses(problem, solution))
    worst = std::max(worst, certifier_.certify(problem, solution).residual());
  return worst;
}

}  // namespace stiction
