#include "stiction/solve/gauss_seidel_residual.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

void GaussSeidelResidual::prepare(const StepProblem& problem, const ContactBlocks& blocks,
                                  StoppingMeasure measure) {
  measure_ = measure;
  if (asks_certificate(measure)) relative_.prepare(problem, blocks);
  if (asks_published(measure)) published_.prepare(blocks);
}

double GaussSeidelResidual::evaluate(const ContactBlocks& blocks, const SweepState& state,
                                     double largest_motion) {
  return include_published(measure_levels(blocks, state, largest_motion).largest(), blocks, state);
}

double GaussSeidelResidual::evaluate_impulses(const ContactBlocks& blocks, const SweepState& state,
                                              double largest_motion) {
  return include_published(measure_levels(blocks, state, largest_motion).impulses, blocks, state);
}

RelativeMeasure::Levels GaussSeidelResidual::measure_levels(const ContactBlocks& blocks,
                                                            const SweepState& state,
                                                            double largest_motion) {
  if (!asks_certificate(measure_)) return {};
  return last_levels_ = relative_.evaluate(blocks, state.x(), state.u(), state.w(), largest_motion);
}

double GaussSeidelResidual::include_published(double level, const ContactBlocks& blocks,
                                              const SweepState& state) {
  double worst = level;
  if (asks_published(measure_)) {
    const double error = published_.evaluate(blocks, state.x(), state.u(), state.w());
    worst = error >= worst || std::isnan(error) ? error : worst;
  }
  return std::isfinite(worst) ? worst : std::numeric_limits<double>::infinity();
}

}  // namespace stiction
