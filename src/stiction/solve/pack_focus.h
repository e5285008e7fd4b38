// Sweeps in packs over the part of a problem that is still wrong, as SweepFocus for those that are
// visited one by one. After a few sweeps over everything most contacts of a pile hardly change any
// more, and some do. These, and the neighbours of those that change most, get packs of their own
// and are swept with an acceleration of their own while all other impulses are kept; the next sweep
// over everything tells what that was worth. What a sweep changes is known anyway, so that nothing
// has to be measured (docs/solvers/nsgs.md).
#pragma once

#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/nsgs_acceleration.h"
#include "stiction/solve/sweep_packs.h"

namespace stiction {

template <class Real>
class PackFocus {
 public:
  /// After a sweep over everything, in the given order. Returns how many contacts were visited, 0
  /// if nothing was done: all is well, or too much is wrong. `depth` is that of Anderson's method.
  long run(const ContactBlocks& blocks, const SweepOrder& order, double target, int depth,
           const Deadline& deadline, SweepPacks<Real>& packs);

 private:
  bool choose(const ContactBlocks& blocks, const SweepOrder& order, double target,
              const SweepPacks<Real>& packs);

  std::vector<char> is_in_;  // per contact
  SweepOrder order_;         // of the part
  SweepPacks<Real> part_;
  NsgsAccelerator<Real> accelerator_;
};

}  // namespace stiction
