// Every contender on every problem at every tolerance, and who was fastest.
#pragma once

#include <functional>
#include <optional>

#include "bench/solvers/trial.h"

namespace stiction::bench {

struct TournamentOptions {
  std::vector<double> tolerances = {1e-4, 1e-8, 1e-12};
  double time_limit = 10;  // [s] per solve
  /// A rival is stopped after so many times the best time of its library on the same problem and
  /// tolerance, though not before one second: only the fastest matters. 0 lets all go on.
  double patience = 5;
};

struct Trial {
  std::string library, solver;
  double tolerance = 0;
  TrialResult result;
};

/// All that happened on one problem.
struct ProblemRecord {
  std::string folder, problem;
  ProblemKind kind = ProblemKind::kLcp;
  int num_contacts = 0, num_rows = 0;
  std::vector<Trial> trials;

  /// The fastest of a library that solved it; nothing if none did.
  const Trial* best(const std::string& library, double tolerance) const;
  const Trial* find(const std::string& library, const std::string& solver, double tolerance) const;
};

using Progress = std::function<void(const ProblemRecord&, const Trial&)>;

/// Runs one problem against all contenders.
ProblemRecord run_problem(const ProblemFile& file, const std::string& folder,
                          const Contenders& contenders, const TournamentOptions& options,
                          const Progress& progress);

/// Ours against the best rival, over the problems that both solved.
struct Comparison {
  double tolerance = 0;
  int problems = 0, solved_by_us = 0, solved_by_them = 0, compared = 0;
  double geometric_mean = 0;  // of their time over ours
  double worst = 0;           // least such ratio where one of both takes over a millisecond
  std::string worst_problem;
};
Comparison compare(const std::vector<ProblemRecord>& records, const std::string& our_solver,
                   double tolerance);

}  // namespace stiction::bench
