#include "stiction/solve/nsgs_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/error.h"

namespace stiction {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Frozen units are visited again in every sweep whose number divides by this.
constexpr int kRevisit = 10;

/// Share of the present residual below which a change is no news.
constexpr double kQuietShare = 1e-3;

/// The hybrid acceleration changes from Anderson to NNCG here: what Anderson has not solved by then
/// changes its contact states again and again, and NNCG copes better with that
/// (docs/solvers/nsgs.md).
constexpr int kAndersonSweeps = 200;

/// Sums are updated in place and drift by rounding; they are computed anew after this many sweeps.
constexpr int kRefresh = 100;

/// A check costs up to half a sweep. Gaps that grow with the sweeps done keep both the checks and
/// the sweeps done in vain to a small share.
int next_check(int sweep) { return sweep + std::clamp(sweep / 8, 1, 20); }

}  // namespace

NsgsSolver::NsgsSolver(const NsgsOptions& options) : options_(options) {
  if (!(options.tolerance > 0))
    throw InputError(fmt::format("nsgs: tolerance is {}, must be positive", options.tolerance));
  if (options.max_iterations < 0)
    throw InputError(
        fmt::format("nsgs: max_iterations is {}, must be >= 0", options.max_iterations));
  if (!(options.relaxation > 0 && options.relaxation < 2))
    throw InputError(
        fmt::format("nsgs: relaxation is {}, must lie between 0 and 2", options.relaxation));
  if (options.depth < 1 || options.depth > 16)
    throw InputError(fmt::format("nsgs: depth is {}, must be 1 to 16", options.depth));
}

SolverReport NsgsSolver::solve(const StepProblem& problem, StepSolution& solution) {
  if (!start(problem, solution)) {
    solution.resize(problem);
    return {SolverStatus::kNonFinite};
  }
  const SolverReport report = iterate();
  state_.store(blocks_, best_, solution);
  return report;
}

/// The layout and the first state; false if numbers are not finite or a mass block is singular.
bool NsgsSolver::start(const StepProblem& problem, const StepSolution& solution) {
  if (!blocks_.assemble(problem)) return false;
  state_.start(blocks_, solution, options_.warm_start);
  judge_.prepare(problem, blocks_);
  best_.assign(state_.x(), state_.x() + blocks_.num_rows());
  best_residual_ = {kInfinity, kInfinity};
  last_gain_ = 0;
  gain_level_ = kInfinity;
  return true;
}

SolverReport NsgsSolver::iterate() {
  if (check(0)) return {SolverStatus::kConverged, 0};
  sweep_.prepare(blocks_);
  weight_.resize(blocks_.num_rows());
  for (int i = 0; i < blocks_.num_units(); ++i)
    std::fill(weight_.begin() + blocks_.unit(i).row, weight_.begin() + blocks_.unit(i + 1).row,
              std::sqrt(blocks_.omega(i)));
  const int size = static_cast<int>(state_.values().size());
  const bool is_hybrid = options_.acceleration == Acceleration::kHybrid;
  accelerator_.prepare(is_hybrid ? Acceleration::kAnderson : options_.acceleration, options_.depth,
                       weight_, size);
  int due = 1;
  for (int number = 1; number <= options_.max_iterations; ++number) {
    if (is_hybrid && number == kAndersonSweeps)
      accelerator_.prepare(Acceleration::kNncg, options_.depth, weight_, size);
    if (!options_.alternates || number % 2 == 1) accelerator_.remember(state_.values());
    sweep(number);
    if (number == due || number == options_.max_iterations) {
      due = next_check(number);
      if (check(number)) return {SolverStatus::kConverged, number};
      const bool has_stalled =
          options_.stall_sweeps > 0 && number - last_gain_ >= options_.stall_sweeps;
      if (has_stalled) return {SolverStatus::kMaxIterations, number};
      if (!is_finite_) return {SolverStatus::kNonFinite, number};
    }
    if (!options_.alternates || number % 2 == 0) accelerator_.extrapolate(state_.values());
    if (number % kRefresh == 0) blocks_.compute_state(state_.x(), state_.u(), state_.w());
  }
  return {SolverStatus::kMaxIterations, options_.max_iterations};
}

void NsgsSolver::sweep(int number) {
  NsgsSweep::Step step;
  step.is_forward = !options_.alternates || number % 2 == 1;
  step.relaxation = options_.relaxation;
  const bool is_anderson =
      options_.acceleration == Acceleration::kAnderson ||
      (options_.acceleration == Acceleration::kHybrid && number < kAndersonSweeps);
  if (options_.freezes && !is_anderson && number > kRevisit) {
    double total = 0;
    for (int i = 0; i < blocks_.num_rows(); ++i) total += std::abs(state_.x()[i]) * weight_[i];
    step.quiet_below = kQuietShare * std::min(1.0, best_residual_.relative) * total;
    step.includes_quiet = number % kRevisit == 0;
  }
  sweep_.run(blocks_, step, state_);
}

double NsgsSolver::measured(const Residual& residual) const {
  switch (options_.measure) {
    case StoppingMeasure::kRelative:
      return residual.relative;
    case StoppingMeasure::kUnit:
      return residual.unit;
    case StoppingMeasure::kBoth:
      break;
  }
  return std::max(residual.relative, residual.unit);
}

/// Notes the state if it is the best so far; true if it passes, with sums computed from scratch.
bool NsgsSolver::check(int number) {
  Residual residual = judge_.evaluate(blocks_, state_.x(), state_.u(), state_.w());
  if (measured(residual) <= options_.tolerance && number > 0) {
    blocks_.compute_state(state_.x(), state_.u(), state_.w());
    residual = judge_.evaluate(blocks_, state_.x(), state_.u(), state_.w());
  }
  is_finite_ = std::isfinite(residual.unit);
  const double level = measured(residual);
  if (level < measured(best_residual_)) {
    best_residual_ = residual;
    std::copy(state_.x(), state_.x() + blocks_.num_rows(), best_.begin());
  }
  if (level < 0.9 * gain_level_) {
    gain_level_ = level;
    last_gain_ = number;
  }
  return level <= options_.tolerance;
}

}  // namespace stiction
