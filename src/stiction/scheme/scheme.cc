#include "stiction/scheme/scheme.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "stiction/base/error.h"
#include "stiction/base/text.h"
#include "stiction/scheme/moreau.h"

namespace stiction {

void SolveStage::begin_step() {
  certificate_ = {};
  report_ = {};
  wall_ = 0;
}

const StepSolution& SolveStage::solve(const StepProblem& problem) {
  using Clock = std::chrono::steady_clock;
  // A cold start: impulses of the last step may belong to other contacts, and a run that continues
  // from a checkpoint, where they are not kept, has to take the same steps.
  solution_.w.clear();
  solution_.lambda.clear();
  solution_.r.clear();
  const Clock::time_point start = Clock::now();
  const SolverReport report = solver_.solve(problem, solution_);
  wall_ += std::chrono::duration<double>(Clock::now() - start).count();
  report_.iterations += report.iterations;
  report_.stage = std::max(report_.stage, report.stage);
  report_.has_answer = report_.has_answer && report.has_answer;
  if (report_.status == SolverStatus::kConverged) report_.status = report.status;
  certificate_.include(certifier_.certify(problem, solution_));
  return solution_;
}

void SolveStage::certify_state(const Model& model, const State& state) {
  Certificate state_figures;
  state_figures.gap = evaluator_.compute_smallest_gap(model, state);
  state_figures.joint = evaluator_.compute_joint_error(model, state);
  certificate_.include(state_figures);
}

std::vector<std::string> scheme_names() { return {"moreau"}; }

std::unique_ptr<Scheme> make_scheme(std::string_view name, const SchemeOptions& options) {
  if (name == "moreau") return std::make_unique<MoreauScheme>(options);
  throw InputError(fmt::format("unknown scheme '{}'; known: {}", name, joined(scheme_names())));
}

}  // namespace stiction
