#include "stiction/sim/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace stiction {
namespace {

/// Memory for the reference, in doubles: a quarter of a gigabyte.
constexpr double kMaxReferenceNumbers = 32.0 * 1024 * 1024;

/// Errors below this share of the largest coordinate are rounding, and have no order.
constexpr double kRoundingShare = 1e-12;

/// Timed runs are repeated until they took this long together or were that many; three times at
/// least, unless three would take long.
constexpr double kEnoughTime = 0.03, kLongTime = 0.3;  // [s]
constexpr int kFewRepeats = 3, kMaxRepeats = 30;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

SimulationOptions options_for(const ComparisonPlan& plan, const std::string& scheme,
                              const std::string& solver, double h) {
  SimulationOptions options = plan.base;
  options.scheme = scheme;
  options.solver = solver;
  options.h = h;
  return options;
}

void check_numbers(const ComparisonPlan& plan) {
  if (plan.schemes.empty() || plan.solvers.empty() || plan.steps.empty())
    throw InputError("nothing to compare: schemes, solvers and steps must not be empty");
  if (!(plan.duration > 0) || !std::isfinite(plan.duration))
    throw InputError(fmt::format("duration is {}, must be finite and > 0", plan.duration));
  if (plan.phases < 1 || plan.phases > kMaxPhases)
    throw InputError(fmt::format("phases is {}, must be 1 to {}", plan.phases, kMaxPhases));
  for (const double h : plan.steps) {
    if (!(h > 0) || !std::isfinite(h))
      throw InputError(fmt::format("h is {}, must be finite and > 0", h));
    if (h > plan.duration)
      throw InputError(
          fmt::format("h is {} s, must not be longer than the duration, {} s", h, plan.duration));
  }
  const double shortest = *std::min_element(plan.steps.begin(), plan.steps.end());
  if (!(plan.reference_h > 0) || !(plan.reference_h < shortest))
    throw InputError(fmt::format(
        "h of the reference is {} s, must be > 0 and shorter than all compared steps, here {} s",
        plan.reference_h, shortest));
}

/// Makes every simulation once, so that what a scheme or solver does not take is known at once.
void check_plan(const Model& model, const ComparisonPlan& plan, std::vector<std::string>& notes) {
  check_numbers(plan);
  const auto check = [&](const std::string& scheme, const std::string& solver, double h) {
    try {
      const Simulation simulation(model, options_for(plan, scheme, solver, h));
      simulation.check_duration(plan.duration);
      for (const std::string& note : simulation.notes()) {
        std::string text = note.starts_with(scheme) ? note : fmt::format("{}: {}", scheme, note);
        if (std::find(notes.begin(), notes.end(), text) == notes.end())
          notes.push_back(std::move(text));
      }
    } catch (const InputError& error) {
      throw InputError(fmt::format("{} with {}: {}", scheme, solver, error.what()));
    }
  };
  check(plan.reference_scheme, plan.reference_solver, plan.reference_h);
  for (const std::string& scheme : plan.schemes)
    for (const std::string& solver : plan.solvers) check(scheme, solver, plan.steps.front());
}

/// Runs to the end. Why it did not, or did not well; empty if all is good.
std::string run_to_end(Simulation& simulation, double duration) {
  try {
    simulation.run(duration);
  } catch (const StepRejected& rejected) {
    return rejected.what();
  }
  const RunSummary& summary = simulation.summary();
  if (summary.steps_above_tolerance == 0) return {};
  return fmt::format("{} of {} steps are above the tolerance {}, residual {:.3g} at worst",
                     summary.steps_above_tolerance, summary.steps, simulation.options().tolerance,
                     summary.residual_max);
}

ReferenceTrajectory run_reference(const Model& model, const ComparisonPlan& plan,
                                  Comparison& comparison) {
  Simulation simulation(
      model, options_for(plan, plan.reference_scheme, plan.reference_solver, plan.reference_h));
  ReferenceTrajectory reference(ReferenceTrajectory::stride_for(
                                    model, plan.duration / plan.reference_h, kMaxReferenceNumbers),
                                ConfigurationSpace(model));
  simulation.add_observer(reference);
  const Clock::time_point began = Clock::now();
  comparison.reference_failure = run_to_end(simulation, plan.duration);
  comparison.reference_wall = seconds_since(began);
  comparison.reference_steps = simulation.summary().steps;
  comparison.reference_stride = reference.stride();
  reference.finish(simulation.state());
  return reference;
}

/// Adds one phase to `run`: first for the time, without observers, then for the error.
void add_phase(const Model& model, const SimulationOptions& options, double duration,
               const ReferenceTrajectory& reference, ComparisonRun& run) {
  double best = 0, spent = 0;
  const auto is_enough = [&](int repeats) {
    return repeats >= kMaxRepeats || spent >= (repeats < kFewRepeats ? kLongTime : kEnoughTime);
  };
  for (int repeat = 0; !is_enough(repeat); ++repeat) {
    Simulation simulation(model, options);
    const Clock::time_point began = Clock::now();
    run.failure = run_to_end(simulation, duration);
    const double wall = seconds_since(began);
    if (!run.is_good()) return;
    best = repeat == 0 ? wall : std::min(best, wall);
    spent += wall;
  }
  Simulation simulation(model, options);
  ErrorMeter meter(reference);
  simulation.add_observer(meter);
  run.failure = run_to_end(simulation, duration);
  if (!run.is_good()) return;
  const TrajectoryError error = meter.error();
  const RunSummary& summary = simulation.summary();
  run.wall += best;
  run.steps += static_cast<double>(summary.steps);
  run.error.q_end += error.q_end;
  run.error.q_mean += error.q_mean;
  run.error.v_mean += error.v_mean;
  run.residual_max = std::max(run.residual_max, summary.residual_max);
  for (std::size_t kind = 0; kind < run.events_by_kind.size(); ++kind)
    run.events_by_kind[kind] += static_cast<double>(summary.events[kind]);
}

/// From sums over the phases to means.
void divide(ComparisonRun& run, double phases) {
  for (double* sum :
       {&run.wall, &run.steps, &run.error.q_end, &run.error.q_mean, &run.error.v_mean})
    *sum /= phases;
  for (double& count : run.events_by_kind) {
    count /= phases;
    run.events += count;
  }
}

ComparisonRun run_step_size(const Model& model, const ComparisonPlan& plan,
                            const ReferenceTrajectory& reference, SimulationOptions options) {
  ComparisonRun run;
  run.h = options.h;
  for (int k = 0; k < plan.phases && run.is_good(); ++k) {
    options.h = run.h * (1 + kPhaseShift * k);
    add_phase(model, options, plan.duration, reference, run);
  }
  if (run.is_good()) {
    divide(run, plan.phases);
    return run;
  }
  ComparisonRun failed;  // without the sums of the phases that were good
  failed.h = run.h;
  failed.failure = run.failure;
  return failed;
}

/// Slope of the least-squares line through (log h, log error).
std::optional<double> fitted_slope(const std::vector<double>& h, const std::vector<double>& error) {
  if (h.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(h.size());
  double x_mean = 0, y_mean = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    x_mean += std::log(h[i]) / n;
    y_mean += std::log(error[i]) / n;
  }
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double dx = std::log(h[i]) - x_mean;
    xx += dx * dx;
    xy += dx * (std::log(error[i]) - y_mean);
  }
  return xy / xx;
}

}  // namespace

std::string_view to_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kQEnd:
      return "q-end";
    case ErrorKind::kVMean:
      return "v-mean";
    case ErrorKind::kQMean:
      break;
  }
  return "q-mean";
}

double value_of(const TrajectoryError& error, ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kQEnd:
      return error.q_end;
    case ErrorKind::kVMean:
      return error.v_mean;
    case ErrorKind::kQMean:
      break;
  }
  return error.q_mean;
}

bool Comparison::has_failures() const {
  if (!reference_failure.empty()) return true;
  for (const ComparisonLine& line : lines)
    for (const ComparisonRun& run : line.runs)
      if (!run.is_good()) return true;
  return false;
}

void update_orders(ComparisonLine& line, ErrorKind kind, double rounding) {
  std::vector<double> h, error;
  const ComparisonRun* before = nullptr;  // the neighbour, if its error counts
  for (ComparisonRun& run : line.runs) {
    const double now = value_of(run.error, kind);
    const bool counts = run.is_good() && std::isfinite(now) && now > rounding;
    run.order.reset();
    if (counts && before != nullptr)
      run.order = std::log(value_of(before->error, kind) / now) / std::log(before->h / run.h);
    before = counts ? &run : nullptr;
    if (!counts) continue;
    h.push_back(run.h);
    error.push_back(now);
  }
  line.fitted_order = fitted_slope(h, error);
}

Comparison compare(const Model& model, const ComparisonPlan& plan,
                   const ComparisonProgress& progress) {
  Comparison comparison;
  check_plan(model, plan, comparison.notes);
  const int all =
      static_cast<int>(1 + plan.schemes.size() * plan.solvers.size() * plan.steps.size());
  int done = 0;
  const auto announce = [&](const std::string& scheme, const std::string& solver, double h) {
    if (progress) progress(done, all, fmt::format("{} with {}, h = {} s", scheme, solver, h));
    ++done;
  };
  announce(plan.reference_scheme, plan.reference_solver, plan.reference_h);
  const ReferenceTrajectory reference = run_reference(model, plan, comparison);
  if (!comparison.reference_failure.empty()) return comparison;
  const double rounding =
      kRoundingShare * (plan.error == ErrorKind::kVMean ? reference.largest_velocity()
                                                        : reference.largest_coordinate());
  for (const std::string& scheme : plan.schemes)
    for (const std::string& solver : plan.solvers) {
      ComparisonLine& line = comparison.lines.emplace_back();
      line.scheme = scheme;
      line.solver = solver;
      for (const double h : plan.steps) {
        announce(scheme, solver, h);
        line.runs.push_back(
            run_step_size(model, plan, reference, options_for(plan, scheme, solver, h)));
      }
      update_orders(line, plan.error, rounding);
    }
  return comparison;
}

}  // namespace stiction
