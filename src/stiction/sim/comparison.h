// Work against precision: runs schemes × solvers × step sizes of one model, measures each against a
// fine reference (comparison_reference.h), and reads orders of convergence from the errors.
// Everything but the times is the same from call to call. A run that misses the tolerance has
// neither error nor time: a fast wrong answer is no answer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/sim/comparison_reference.h"
#include "stiction/sim/simulation.h"

namespace stiction {

/// Which number of TrajectoryError orders and plots are made of.
enum class ErrorKind { kQMean, kQEnd, kVMean };

std::string_view to_text(ErrorKind kind);  // q-mean, q-end, v-mean
double value_of(const TrajectoryError& error, ErrorKind kind);

struct ComparisonPlan {
  std::vector<std::string> schemes, solvers;  // no name twice
  std::vector<double> steps;                  // [s] longest first, none twice
  double duration = 1;                        // [s] > 0
  std::string reference_scheme, reference_solver;
  double reference_h = 0;  // [s] shorter than all steps
  /// Each step is also run at h (1 + 0.03 k), k < phases, and the results averaged: where an impact
  /// falls inside a step is arbitrary, and so is the error of a single run.
  int phases = 1;
  ErrorKind error = ErrorKind::kQMean;
  SimulationOptions base;  // for everything else: tolerance, friction section, policy, …
};

inline constexpr double kPhaseShift = 0.03;
inline constexpr int kMaxPhases = 32;  // beyond, the longest step would be twice the shortest

/// One scheme with one solver at one step; means over the phases where there are several.
struct ComparisonRun {
  double h = 0;
  std::string failure;  // why a run was rejected; empty if all phases are good
  TrajectoryError error;
  double wall = 0;    // [s] without observers, best of a few where that is short
  double steps = 0;   // taken
  double events = 0;  // located, of all kinds
  std::array<double, kNumEventKinds> events_by_kind{};
  double residual_max = 0;      // the worst of all phases
  std::optional<double> order;  // against the step before; none if either failed or is rounding

  bool is_good() const { return failure.empty(); }
  double steps_per_second() const { return wall > 0 ? steps / wall : 0; }
};

/// The runs of one scheme with one solver, in the order of ComparisonPlan::steps.
struct ComparisonLine {
  std::string scheme, solver;
  std::vector<ComparisonRun> runs;
  std::optional<double> fitted_order;  // slope of log error over log h; none below two errors
};

struct Comparison {
  std::string reference_failure;  // then there are no lines
  std::int64_t reference_steps = 0;
  double reference_wall = 0;  // [s]
  int reference_stride = 1;   // every how many steps it was kept
  std::vector<ComparisonLine> lines;
  std::vector<std::string> notes;  // what schemes leave out of the model

  bool has_failures() const;
};

/// Told before every run: how many are done, of how many, and what comes next.
using ComparisonProgress = std::function<void(int done, int all, const std::string& next)>;

/// Throws InputError for a plan that cannot be run, before anything is run: a number out of range,
/// a name that does not exist, a scheme that does not take the model.
[[nodiscard]] Comparison compare(const Model& model, const ComparisonPlan& plan,
                                 const ComparisonProgress& progress = {});

/// Orders between neighbours and over all runs of a line, from errors above `rounding`.
void update_orders(ComparisonLine& line, ErrorKind kind, double rounding);

}  // namespace stiction
