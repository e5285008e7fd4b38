#include "stiction/solve/sweep_workshop.h"

namespace stiction {
namespace {

/// Below this number of contacts sweeps are over before packs are filled.
constexpr int kFewestPacked = 60;

}  // namespace

bool SweepWorkshop::lay_out(const StepProblem& problem, StoppingMeasure measure,
                            WorkerPool* workers) {
  const bool is_known = problem_ == &problem;
  problem_ = nullptr;
  if (!is_known) {
    has_order_ = false;
    if (!blocks.assemble(problem, workers)) return false;
  }
  const bool asks_the_same = asks_certificate(measure) == asks_certificate(measure_) &&
                             asks_published(measure) == asks_published(measure_);
  if (!is_known || !asks_the_same) residual.prepare(problem, blocks, measure);
  measure_ = measure;
  problem_ = &problem;
  return true;
}

void SweepWorkshop::begin_sweeps() {
  if (!has_order_) {
    sweep.find_order(blocks);
    has_packs_ =
        blocks.num_units() >= kFewestPacked && packs.lay_out(*problem_, blocks, sweep.order());
  }
  has_order_ = true;
  sweep.begin(blocks);
}

}  // namespace stiction
