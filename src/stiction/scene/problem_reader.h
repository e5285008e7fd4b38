// Problem files of every kind we know, read into step problems:
//   the engine's own dump                 (problem/problem_file.h)
//   FCLIB /fclib_local    u = W r + q                       no bodies, coupling W
//   FCLIB /fclib_global   M v = H r + G l + f,  u = Hᵀv + w,  Gᵀv + b = 0
//                         mass blocks are the connected parts of M (those of one body as one),
//                         the rows of Gᵀ are bilateral rows
//   /lcp                  w = M z + q                       contacts without friction, coupling M
//   /mlcp                 the same, equations as unbounded bilateral rows
// An answer is put back into the order of its file by ProblemFile. Rolling friction is recognised
// and refused. See docs/problem-files.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stiction/problem/published_error.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

struct ProblemFile {
  ProblemKind kind = ProblemKind::kStepProblem;
  std::string title;  // from the file, else its name without folder and ending
  StepProblem problem;

  /// Index in the file's v of every degree of freedom of the problem.
  std::vector<int> dof_index;
  /// Index in the file's z (lcp, mlcp) of every row of the problem, bilateral rows first. In
  /// friction and step problems λ and r have the file's order, and this list is empty.
  std::vector<int> row_index;

  std::optional<StepSolution> solution;  // stored in the file, in the order of `problem`
  std::vector<StepSolution> guesses;     // starts stored in the file

  /// Rows per contact of friction problems: 2 or 3.
  int space_dimension = 0;
};

/// `friction` replaces the section of every contact with two tangents; without it, contacts of
/// FCLIB files have the disc and those of dumps what was dumped. Throws IoError if the file cannot
/// be read, InputError naming file and object if its content is not a problem without fault.
ProblemFile read_problem_file(const std::string& path,
                              const std::optional<FrictionSection>& friction = {});

/// z of an lcp or mlcp, else r, in the order of the file.
std::vector<double> impulses_in_file_order(const ProblemFile& file, const StepSolution& solution);

/// The velocities v in the order of the file.
std::vector<double> velocities_in_file_order(const ProblemFile& file, const StepSolution& solution);

}  // namespace stiction
