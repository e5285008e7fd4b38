#include "stiction/solve/gauss_seidel_residual.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

void GaussSeidelResidual::prepare(const StepProblem& problem, const ContactBlocks& blocks,
                                  StoppingMeasure measure) {
  measure_ = measure;
  if (measure != StoppingMeasure::kPublished) relative_.prepare(problem, blocks);
  if (measure != StoppingMeasure::kCertificate) published_.prepare(blocks);
}

double GaussSeidelResidual::evaluate(const ContactBlocks& blocks, const SweepState& state) {
  double worst = 0;
  if (measure_ != StoppingMeasure::kPublished)
    worst = relative_.evaluate(blocks, state.x(), state.u(), state.w());
  if (measure_ != StoppingMeasure::kCertificate) {
    const double error = published_.evaluate(blocks, state.x(), state.u(), state.w());
    worst = error >= worst || std::isnan(error) ? error : worst;
  }
  return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
}

}  // namespace stiction
