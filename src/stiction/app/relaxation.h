// How iterations approach the answer of one problem: residual against sweep of the three variants
// of projected Gauss–Seidel that Lacoursière & Linde compare ([SPOOK] §17.3, figures 8–10), and of
// the splitting with direct stages, all from no impulses. A picture and a table of them.
#pragma once

#include <string>
#include <vector>

#include "stiction/app/plot.h"
#include "stiction/problem/step_problem.h"
#include "stiction/solve/acceptance.h"

namespace stiction {

struct RelaxationOptions {
  double tolerance = 1e-8;  // [-] where iterations may stop
  StoppingMeasure measure = StoppingMeasure::kCertificate;
  int max_sweeps = 1000;
};

struct Relaxation {
  std::string method;
  std::vector<double> sweep;       // counted from 0, the start
  std::vector<double> residual;    // [-] of the measure, same size
  std::vector<int> state_changes;  // contacts that changed between open, stick and slip in this
                                   // sweep; empty where the method does not count them
  bool has_converged = false;
};

/// Gauss–Seidel in its three variants, then the splitting; the latter is missing where it does not
/// take the problem.
std::vector<Relaxation> compute_relaxations(const StepProblem& problem,
                                            const RelaxationOptions& options);

/// A panel per variant with lines where contacts change their state, and the splitting in each.
PanelPlot make_relaxation_plot(const std::string& title, const std::vector<Relaxation>& all);

/// One line per sweep: method, sweep, residual, state changes.
std::string to_csv(const std::vector<Relaxation>& all);

}  // namespace stiction
