#include "stiction/solve/sweep_workshop.h"

#include <algorithm>

namespace stiction {
namespace {

/// Below this number of contacts sweeps are over before packs are filled.
constexpr int kFewestPacked = 60;

}  // namespace

bool SweepWorkshop::lay_out(const StepProblem& problem, StoppingMeasure measure,
                            WorkerPool* workers) {
  if (!lay_out_rows(problem, measure, workers)) return false;
  complete();
  return true;
}

bool SweepWorkshop::lay_out_rows(const StepProblem& problem, StoppingMeasure measure,
                                 WorkerPool* workers) {
  const bool is_known = problem_ == &problem;
  problem_ = nullptr;
  if (!is_known) {
    has_order_ = is_start_measured = false;
    is_complete_ = false;
    if (!blocks.assemble_rows(problem, workers)) return false;
  }
  // Scales of problems without bodies come from local problems, and so do published errors.
  if (!blocks.has_bodies() || asks_published(measure)) complete();
  const bool asks_the_same = asks_certificate(measure) == asks_certificate(measure_) &&
                             asks_published(measure) == asks_published(measure_);
  if (!is_known || !asks_the_same) {
    residual.prepare(problem, blocks, measure);
    is_start_measured = false;
  }
  measure_ = measure;
  problem_ = &problem;
  return true;
}

void SweepWorkshop::complete() {
  if (!is_complete_) blocks.assemble_local();
  is_complete_ = true;
}

bool SweepWorkshop::knows_start(const StepSolution& solution) const {
  const auto num_joints = static_cast<std::size_t>(blocks.num_bilateral());
  return is_start_measured && solution.lambda.size() == num_joints &&
         solution.lambda.size() + solution.r.size() ==
             static_cast<std::size_t>(blocks.num_rows()) &&
         std::equal(solution.lambda.begin(), solution.lambda.end(), state.x()) &&
         std::equal(solution.r.begin(), solution.r.end(), state.x() + num_joints);
}

const SweepOrder& SweepWorkshop::find_order() {
  if (!has_order_) {
    sweep.find_order(blocks);
    double_packs.is_laid_out = single_packs.is_laid_out = false;
  }
  has_order_ = true;
  return sweep.order();
}

void SweepWorkshop::begin_sweeps() {
  (void)find_order();
  sweep.begin(blocks);
}

bool SweepWorkshop::may_be_packed() const {
  return blocks.num_units() >= kFewestPacked && blocks.num_bilateral() == 0;
}

template <class Real>
bool SweepWorkshop::lay_out(PackDesk<Real>& desk) {
  if (!desk.is_laid_out)
    desk.is_possible = may_be_packed() && desk.packs.lay_out(*problem_, blocks, sweep.order());
  desk.is_laid_out = true;
  return desk.is_possible;
}

template bool SweepWorkshop::lay_out(PackDesk<double>&);
template bool SweepWorkshop::lay_out(PackDesk<float>&);

}  // namespace stiction
