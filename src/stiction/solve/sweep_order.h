// The order in which a Gauss–Seidel sweep visits the units of a large problem, so that threads can
// share it out. Bodies are layered by their distance from one at the edge of the graph of units
// (breadth first); layers next to each other form slabs, which have about the same number of units
// together with those on the border to the next one. A unit touches bodies of one slab or of two
// that follow each other, hence
//
//   first      units between slabs 2k + 1 and 2k + 2, one task per k, if there are more than two,
//   then       units within a slab, one task per slab,
//   last       units between slabs 2k and 2k + 1, one task per k,
//
// and no two tasks of a phase touch the same body. What is between the second and the third slab
// comes first since it needs neither the first nor the last one: two threads need not wait for it.
// Bodies without coordinates (static ones) connect
// nothing. Within a task units keep their order. All of it follows from the problem alone: the
// sweep is the same for any number of threads, one included.
//
// A small problem is one task. Its units keep their order, too, unless most of them wait for each
// other, as in a row of logs where every contact shares a body with the one before: sweeps in packs
// (sweep_packs.h) would leave most lanes empty. There units go by groups that share no body, and a
// unit may get ahead of a few others of its bodies: what a column carries still gets down most of
// it in a sweep.
//
// Colours of pairs of bodies would take a phase per neighbour of a body, and what a column carries
// would get down only two bodies per sweep (docs/decisions/0024-sweeps-by-slabs.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "stiction/solve/contact_blocks.h"

namespace stiction {

class SweepOrder {
 public:
  /// Small problems, and those whose rows are coupled directly, are one phase of one task.
  void find(const ContactBlocks& blocks);

  /// The same order of those units of `whole` that are in.
  void select(const SweepOrder& whole, const std::vector<char>& is_in);

  /// What it would cost about to eliminate bodies layer by layer, each with the next: the cubes of
  /// the degrees of freedom of the layers, added up. Zero where there are no layers, or one body
  /// has a quarter of all units.
  double estimate_elimination(const ContactBlocks& blocks) const;

  int num_phases() const { return static_cast<int>(phase_start_.size()) - 1; }
  int num_tasks(int phase) const { return phase_start_[phase + 1] - phase_start_[phase]; }
  /// Slabs, one if there are none.
  int num_slabs() const { return num_slabs_ > 1 ? num_slabs_ : 1; }
  /// Of a body that some unit touches.
  int slab_of(int body) const { return num_slabs_ > 1 ? slab_[layer_[body]] : 0; }
  /// Tasks by their place among all of them: of a slab, and of its border to the next one.
  int slab_task(int slab) const { return num_odd_borders() + slab; }
  int border_task(int slab) const {
    return slab % 2 == 1 ? slab / 2 : num_odd_borders() + num_slabs() + slab / 2;
  }
  /// Units of a task, in the order of the sweep.
  std::span<const int> task(int number) const {
    const int first = task_start_[number];
    return std::span(units_).subspan(first, task_start_[number + 1] - first);
  }
  std::span<const int> task(int phase, int number) const {
    return task(phase_start_[phase] + number);
  }
  /// Of all tasks.
  std::span<const int> units() const { return units_; }

 private:
  /// Lanes of a pack in single precision.
  static constexpr int kGroupSize = 8;
  static constexpr int kMaskSize = 64;

  int num_odd_borders() const { return (num_slabs() - 1) / 2; }
  int number_layers(const ContactBlocks& blocks, int first);
  void find_layers(const ContactBlocks& blocks);
  void form_slabs(const ContactBlocks& blocks, int num_slabs);
  std::pair<int, int> find_layers_of(const ContactBlocks& blocks, int unit) const;
  void place_units(const ContactBlocks& blocks);
  void form_one_task(const ContactBlocks& blocks);
  int count_steps(const ContactBlocks& blocks);
  void form_groups(const ContactBlocks& blocks);

  int find_room(int group);
  void place_by_groups();

  /// Groups that a body is in.
  struct Stay {
    int end = 0;             // behind the last one
    int base = 0;            // earlier ones do not matter any more
    std::uint64_t mask = 0;  // bit k: it is in group base + k

    /// Bit k: it is in group first + k.
    std::uint64_t from(int first) const {
      return first - base < kMaskSize ? mask >> (first - base) : 0;
    }
    void add(int group);
  };

  std::vector<int> units_, task_start_, phase_start_{0};
  std::vector<int> layer_;  // of a body; of a component they follow those of the one before
  std::vector<int> queue_;  // bodies by layers
  std::vector<int> slab_;   // of a layer
  std::vector<int> task_;   // of a unit
  std::vector<std::pair<int, int>> layers_of_;  // the lowest and the highest one of a unit
  std::vector<int> weight_;
  std::vector<Stay> stay_;              // of a body
  std::vector<int> group_;              // of a unit
  std::vector<int> group_size_, room_;  // of a group: units, and where to look for room
  int num_layers_ = 0, num_slabs_ = 0;
};

}  // namespace stiction
