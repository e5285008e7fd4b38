// Sweeps over the part of a problem that is still wrong. After a few sweeps over everything the
// motion of most contacts of a pile is as good as it has to be, and a few are not: these, their
// neighbours and what errs by more than a small share are swept a few times, with an acceleration
// of their own, while all other impulses are kept; then the part is chosen anew. What this does to
// contacts around it is measured, and they join if they err. On 4,000 spheres that fall into a box
// less than half of the visits are left (docs/solvers/nsgs.md).
#pragma once

#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/gauss_seidel_residual.h"
#include "stiction/solve/nsgs_acceleration.h"
#include "stiction/solve/nsgs_sweep.h"

namespace stiction {

class SweepFocus {
 public:
  /// Whether it is worth asking: the residual has just been evaluated, and knows all errors.
  static bool is_for(const ContactBlocks& blocks, int num_sweeps, StoppingMeasure measure);

  /// Sweeps until no contact that was looked at errs by more than `target`, the part is too large,
  /// or it takes too long. False if nothing was done. `depth` is that of Anderson's method.
  bool run(const ContactBlocks& blocks, double target, int depth, const Deadline& deadline,
           GaussSeidelResidual& residual, NsgsSweep& sweep, SweepState& state);

 private:
  bool choose(const ContactBlocks& blocks, double target, const GaussSeidelResidual& residual,
              const NsgsSweep& sweep);
  void list_bodies(const ContactBlocks& blocks, int unit);
  void mark_meetings(const ContactBlocks& blocks, std::vector<char>& units) const;
  void sweep_part(const ContactBlocks& blocks, int depth, NsgsSweep& sweep, SweepState& state);
  void gather(const ContactBlocks& blocks, const SweepState& state);
  void scatter(const ContactBlocks& blocks, SweepState& state) const;

  std::vector<char> is_in_, is_near_;  // per unit
  SweepOrder order_;                   // of the part
  std::vector<int> near_;              // units of the part and around it
  std::vector<int> bodies_;            // of the part, each by one of its entries
  std::vector<char> is_listed_;        // per body
  std::vector<double> values_;         // x, u and w of the part
  std::vector<double> weight_;         // √ω per row of the part
  NsgsAccelerator<double> accelerator_;
};

}  // namespace stiction
