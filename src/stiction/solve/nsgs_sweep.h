// One NSGS sweep: every unit in turn gets the impulse that solves its own law exactly while all
// others keep theirs. Contacts that hardly move compared with the rest may be left out for a few
// sweeps ("frozen"). Large problems are visited by slabs, which threads share out (sweep_order.h).
#pragma once

#include <vector>

#include "stiction/solve/gauss_seidel_sweep.h"
#include "stiction/solve/sweep_order.h"

namespace stiction {

class NsgsSweep {
 public:
  void find_order(const ContactBlocks& blocks);
  /// Forgets what units did; the order is kept.
  void begin(const ContactBlocks& blocks);

  struct Step {
    bool is_forward = true;
    double relaxation = 1;
    double quiet_below = 0;      // [√J] a unit that moves less than this is quiet; 0: none is
    bool includes_quiet = true;  // visit units that were quiet for a few sweeps
  };
  void run(const ContactBlocks& blocks, const Step& step, SweepState& state) {
    run(blocks, order_, step, state);
  }
  /// Only those units, in that order.
  void run(const ContactBlocks& blocks, const SweepOrder& order, const Step& step,
           SweepState& state);
  const SweepOrder& order() const { return order_; }

 private:
  template <int kDim>
  void visit_contact(const ContactBlocks& blocks, int contact, const Step& step, SweepState& state);
  void visit_bilateral(const ContactBlocks& blocks, int row, const Step& step, SweepState& state);
  void visit(const ContactBlocks& blocks, int unit, const Step& step, SweepState& state);
  void note_change(const ContactBlocks& blocks, int unit, double square, const Step& step);

  struct Memory {
    double hint = 0;    // of the one-contact solver
    int num_quiet = 0;  // visits in a row
  };
  std::vector<Memory> memory_;  // per unit
  SweepOrder order_;
};

}  // namespace stiction
