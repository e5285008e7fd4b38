// Some mass blocks of a step problem with the rows that touch them, as a problem of its own. Rows
// must not touch blocks of both sides. Order is kept.
#pragma once

#include <span>
#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

class ProblemPart {
 public:
  /// Takes the blocks with is_in[block] != 0, the rows that touch them, and those that touch none.
  void extract(const StepProblem& whole, std::span<const char> is_in);
  /// The part's share of an answer, what there is of it: a start may lack velocities.
  void gather(const StepProblem& whole, const StepSolution& from);
  void scatter(const StepProblem& whole, StepSolution& to) const;

  StepProblem problem;
  StepSolution solution;

 private:
  void copy_rows(const BlockRows& from, int row_block, BlockRows& to) const;

  std::vector<int> local_;                          // of blocks, −1 outside
  std::vector<int> blocks_, bilateral_, contacts_;  // in the whole
};

}  // namespace stiction
