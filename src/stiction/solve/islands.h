// The parts into which a step problem falls: rows that share a mass block or a direct coupling
// belong to one island, others have nothing to do with each other and can be solved apart. Islands
// are numbered by their first row block, bilateral rows before contacts, and keep the order of
// blocks and rows, so that nothing depends on how they were found.
#pragma once

#include <span>
#include <vector>

#include "stiction/base/disjoint_sets.h"
#include "stiction/problem/step_problem.h"

namespace stiction {

class Islands {
 public:
  void find(const StepProblem& problem);

  int num_islands() const { return static_cast<int>(contact_start_.size()) - 1; }
  /// Mass blocks that no row touches, and that belong to no island.
  const std::vector<int>& loose_blocks() const { return loose_; }
  /// Mass blocks of an island, as they are numbered in the whole.
  std::span<const int> blocks(int island) const {
    return std::span(blocks_).subspan(block_start_[island],
                                      block_start_[island + 1] - block_start_[island]);
  }
  /// Contacts of an island, as they are numbered in the whole.
  int num_contacts(int island) const { return contact_start_[island + 1] - contact_start_[island]; }

  /// The island as a problem of its own. `part` keeps its storage.
  void extract(const StepProblem& problem, int island, StepProblem& part) const;
  /// The island's share of an answer. The whole must have the sizes of the problem.
  void gather(const StepProblem& problem, int island, const StepSolution& whole,
              StepSolution& part) const;
  void scatter(const StepProblem& problem, int island, const StepSolution& part,
               StepSolution& whole) const;

 private:
  void join_rows(const BlockRows& rows, int first_node);
  void join_coupling(const StepProblem& problem);
  void number(const StepProblem& problem);
  void list(int first_node, int count, std::vector<int>& start, std::vector<int>& items) const;
  void copy_rows(const BlockRows& from, int row_block, BlockRows& to) const;
  void number_locally(const StepProblem& problem);
  template <typename Visit>
  void visit_rows(const StepProblem& problem, int island, const Visit& visit) const;
  void copy_coupling(const StepProblem& problem, int island, StepProblem& part) const;
  template <typename Visit>
  void visit_segments(const StepProblem& problem, int island, const Visit& visit) const;

  DisjointSets sets_;           // of nodes: mass blocks, bilateral rows, contacts
  std::vector<int> island_;     // of nodes; −1 for loose blocks
  std::vector<int> row_node_;   // node of every row
  std::vector<int> local_;      // index of a mass block within its island
  std::vector<int> local_row_;  // index of a row within its island, of problems with coupling
  std::vector<int> block_start_, blocks_;
  std::vector<int> bilateral_start_, bilaterals_;
  std::vector<int> contact_start_{0}, contacts_;
  std::vector<int> loose_;
};

}  // namespace stiction
