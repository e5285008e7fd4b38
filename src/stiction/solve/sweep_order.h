// The order in which a Gauss–Seidel sweep visits the units of a large problem, so that threads can
// share it out. Bodies are layered by their distance from one at the edge of the graph of units
// (breadth first); layers next to each other form slabs of about the same number of units. A unit
// touches bodies of one slab or of two that follow each other, hence
//
//   phase 0   units within a slab, one task per slab,
//   phase 1   units between slabs 2k and 2k + 1, one task per k,
//   phase 2   units between slabs 2k + 1 and 2k + 2,
//
// and no two tasks of a phase touch the same body. Bodies without coordinates (static ones) connect
// nothing. Within a task units keep their order. All of it follows from the problem alone: the
// sweep is the same for any number of threads, one included.
//
// Colours of pairs of bodies would take a phase per neighbour of a body, and what a column carries
// would get down only two bodies per sweep (docs/decisions/0024-sweeps-by-slabs.md).
#pragma once

#include <span>
#include <vector>

#include "stiction/solve/contact_blocks.h"

namespace stiction {

class SweepOrder {
 public:
  /// Small problems, and those whose rows are coupled directly, keep the order of their units: one
  /// phase of one task.
  void find(const ContactBlocks& blocks);

  /// The same order of those units of `whole` that are in.
  void select(const SweepOrder& whole, const std::vector<char>& is_in);

  /// What it would cost about to eliminate bodies layer by layer, each with the next: the cubes of
  /// the degrees of freedom of the layers, added up. Zero where there are no layers, or one body
  /// has a quarter of all units.
  double estimate_elimination(const ContactBlocks& blocks) const;

  int num_phases() const { return static_cast<int>(phase_start_.size()) - 1; }
  int num_tasks(int phase) const { return phase_start_[phase + 1] - phase_start_[phase]; }
  /// Slabs, one if there are none; a task of phase 0 each.
  int num_slabs() const { return num_slabs_ > 1 ? num_slabs_ : 1; }
  /// Of a body that some unit touches.
  int slab_of(int body) const { return num_slabs_ > 1 ? slab_[layer_[body]] : 0; }
  /// Units between a slab and the next one, if there is one.
  std::span<const int> border(int slab) const {
    return slab + 1 < num_slabs() ? task(1 + slab % 2, slab / 2) : std::span<const int>{};
  }
  /// Units of a task, in their order.
  std::span<const int> task(int phase, int number) const {
    const int k = phase_start_[phase] + number;
    return std::span(units_).subspan(task_start_[k], task_start_[k + 1] - task_start_[k]);
  }
  /// Of all tasks.
  std::span<const int> units() const { return units_; }

 private:
  int number_layers(const ContactBlocks& blocks, int first);
  void find_layers(const ContactBlocks& blocks);
  void form_slabs(const ContactBlocks& blocks, int num_slabs);
  void place_units(const ContactBlocks& blocks);
  void keep_order(const ContactBlocks& blocks);

  std::vector<int> units_, task_start_, phase_start_{0};
  std::vector<int> layer_;  // of a body; of a component they follow those of the one before
  std::vector<int> queue_;  // bodies by layers
  std::vector<int> slab_;   // of a layer
  std::vector<int> task_;   // of a unit
  std::vector<int> weight_;
  int num_layers_ = 0, num_slabs_ = 0;
};

}  // namespace stiction
