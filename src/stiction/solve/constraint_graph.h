// The graph of the saddle matrix [M̂ Rᵀ; R −C] of chosen rows of a step problem. Its nodes are the
// mass blocks ("bodies") and the groups of rows that touch the same bodies; an edge joins a group
// to each of its bodies, and nothing else is joined. A group has a slot for every row that it was
// built with; rows that come later may take a free slot of the group with their bodies, so that
// contacts can come and go without a new graph.
//
// The graph also knows the order in which to eliminate its nodes: minimum degree, with the rule
// that keeps every pivot safe although C may be zero (constraint_graph_order.cc).
#pragma once

#include <vector>

#include "stiction/problem/step_problem.h"

namespace stiction {

/// The place of one row of a problem in its Jacobian: bilateral rows are counted first.
struct RowPlace {
  const BlockRows* rows;
  int row_block;
  int local;  // row within its row block

  int num_entries() const {
    return rows->entry_start(row_block + 1) - rows->entry_start(row_block);
  }
  int block(int k) const { return rows->entry_block(rows->entry_start(row_block) + k); }
  int columns(int k) const { return rows->entry_columns(rows->entry_start(row_block) + k); }
  /// The numbers of this row in the columns of block(k).
  const double* values(int k) const {
    return rows->entry_values(rows->entry_start(row_block) + k) +
           static_cast<std::size_t>(local) * columns(k);
  }
};

class ConstraintGraph {
 public:
  struct Group {
    int body_begin = 0, num_bodies = 0;  // into bodies(), increasing
    int slot_begin = 0, num_slots = 0;
    int width = 0;              // scalar columns of all its bodies
    bool is_safe = false;       // every body alone tells its rows apart as well as all do together
    bool is_compliant = false;  // all pivots are large without any body
    bool is_early = false;      // eliminated before one of its bodies; set by compute_order
  };

  /// Builds the graph of the rows with a nonzero mark; one mark per row, bilateral rows first.
  void build(const StepProblem& problem, const std::vector<char>& candidates);
  /// Places the marked rows of another problem into the slots of this graph. False, with the graph
  /// unchanged, if its mass blocks differ in size or a row finds no slot.
  bool try_place(const StepProblem& problem, const std::vector<char>& candidates);
  /// The rows are still those of the last build or try_place: same marks, bodies and sizes.
  bool fits(const StepProblem& problem, const std::vector<char>& candidates) const {
    return candidates_ == candidates && fits_placed(problem);
  }
  /// The same for the rows that have a place, whatever the marks are now.
  bool fits_placed(const StepProblem& problem) const;

  /// All nodes in the order of elimination: bodies are 0 … num_bodies() − 1, groups follow.
  void compute_order(std::vector<int>& order);
  /// Whether is_safe and is_compliant of the group are what they were when the graph was built.
  bool has_same_freedom(const StepProblem& problem, int group);

  int num_bodies() const { return static_cast<int>(dof_start_.size()) - 1; }
  int num_groups() const { return static_cast<int>(groups_.size()); }
  int num_nodes() const { return num_bodies() + num_groups(); }
  int num_slots() const { return static_cast<int>(slot_row_.size()); }
  int num_dofs() const { return dof_start_.back(); }
  int dof_start(int body) const { return dof_start_[body]; }
  int body_size(int body) const { return dof_start_[body + 1] - dof_start_[body]; }
  /// Scalar unknowns of a node.
  int node_size(int node) const {
    return node < num_bodies() ? body_size(node) : groups_[node - num_bodies()].num_slots;
  }
  const Group& group(int g) const { return groups_[g]; }
  int body(int k) const { return bodies_[k]; }
  /// The row in a slot; −1 if it is free.
  int slot_row(int slot) const { return slot_row_[slot]; }
  /// The slot of a row; −1 if the row is not marked.
  int row_slot(int row) const { return row_slot_[row]; }
  int num_rows() const { return static_cast<int>(row_slot_.size()); }
  /// Groups of body b: [body_group_begin(b), body_group_begin(b + 1)) of body_group.
  int body_group_begin(int body) const { return body_group_start_[body]; }
  int body_group(int k) const { return body_groups_[k]; }

  /// Marks of the last build or try_place.
  const std::vector<char>& candidates() const { return candidates_; }

  static RowPlace place_of_row(const StepProblem& problem, int row);

 private:
  bool has_bodies_of(const Group& group, const RowPlace& place) const;
  void list_groups_of_bodies();
  void classify(const StepProblem& problem, const Group& group, bool& is_safe, bool& is_compliant);
  bool condense(const StepProblem& problem, const Group& group, int body_index,
                std::vector<double>& S);

  std::vector<int> dof_start_{0};
  std::vector<Group> groups_;
  std::vector<int> bodies_;
  std::vector<int> slot_row_, row_slot_;
  std::vector<char> candidates_;
  std::vector<int> body_group_start_{0}, body_groups_;
  std::vector<double> parts_[2], whole_, diagonal_, mass_factor_, moved_;  // of classify
  std::vector<char> is_done_;
};

}  // namespace stiction
