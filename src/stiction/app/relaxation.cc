#include "stiction/app/relaxation.h"

#include <fmt/format.h>

#include <utility>

#include "stiction/solve/direct_iterative_solver.h"
#include "stiction/solve/gauss_seidel_pgs.h"

namespace stiction {
namespace {

Relaxation relax(const StepProblem& problem, const RelaxationOptions& options, PgsVariant variant,
                 std::string method) {
  PgsSolver solver({.tolerance = options.tolerance,
                    .measure = options.measure,
                    .max_iterations = options.max_sweeps,
                    .variant = variant,
                    .warm_start = false});
  StepSolution solution;
  solution.resize(problem);
  Relaxation found;
  found.method = std::move(method);
  found.has_converged = solver.solve(problem, solution).status == SolverStatus::kConverged;
  found.residual = solver.history().residual;
  found.state_changes = solver.history().num_state_changes;
  for (std::size_t i = 0; i < found.residual.size(); ++i)
    found.sweep.push_back(static_cast<double>(i));
  return found;
}

/// A direct stage counts as no sweep: it stands above the last one before it.
Relaxation split(const StepProblem& problem, const RelaxationOptions& options) {
  constexpr int kSweepsPerRound = 15;
  DirectIterativeSolver solver({.tolerance = options.tolerance,
                                .measure = options.measure,
                                .max_rounds = options.max_sweeps / kSweepsPerRound,
                                .sweeps_per_round = kSweepsPerRound,
                                .warm_start = false});
  StepSolution solution;
  solution.resize(problem);
  Relaxation found;
  found.method = "direct-iterative";
  const SolverReport report = solver.solve(problem, solution);
  if (report.status == SolverStatus::kUnsupported) return found;
  found.has_converged = report.status == SolverStatus::kConverged;
  const DirectIterativeSolver::History& history = solver.history();
  double num_sweeps = 0;
  for (std::size_t i = 0; i < history.residual.size(); ++i) {
    if (history.is_direct[i] == 0) num_sweeps += history.work[i];
    found.sweep.push_back(num_sweeps);
    found.residual.push_back(history.residual[i]);
  }
  return found;
}

}  // namespace

std::vector<Relaxation> compute_relaxations(const StepProblem& problem,
                                            const RelaxationOptions& options) {
  std::vector<Relaxation> all{
      relax(problem, options, PgsVariant::kAllSeparate, "all separate"),
      relax(problem, options, PgsVariant::kBlockProjection, "block projection"),
      relax(problem, options, PgsVariant::kBlockTangents, "block tangents")};
  if (Relaxation splitting = split(problem, options); !splitting.residual.empty())
    all.push_back(std::move(splitting));
  return all;
}

PanelPlot make_relaxation_plot(const std::string& title, const std::vector<Relaxation>& all) {
  PanelPlot plot{.title = title, .x_label = "sweeps", .y_label = "residual", .panels = {}};
  for (const Relaxation& variant : all) {
    if (variant.state_changes.empty()) continue;
    PanelPlot::Panel panel{.title = variant.method, .curves = {}, .marks = {}};
    panel.curves.push_back({variant.method, variant.sweep, variant.residual});
    for (const Relaxation& other : all)
      if (other.state_changes.empty())
        panel.curves.push_back({other.method, other.sweep, other.residual});
    for (std::size_t i = 1; i < variant.state_changes.size(); ++i)
      if (variant.state_changes[i] > 0) panel.marks.push_back(variant.sweep[i]);
    plot.panels.push_back(std::move(panel));
  }
  return plot;
}

std::string to_csv(const std::vector<Relaxation>& all) {
  std::string text = "method,sweep,residual,state_changes\n";
  for (const Relaxation& one : all)
    for (std::size_t i = 0; i < one.sweep.size(); ++i)
      text += fmt::format(
          "{},{},{:.17g},{}\n", one.method, one.sweep[i], one.residual[i],
          one.state_changes.empty() ? std::string() : std::to_string(one.state_changes[i]));
  return text;
}

}  // namespace stiction
