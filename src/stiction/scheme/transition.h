// Stick–slip and take-off: watches whether the closed contacts of a substep are still in the state
// they were in, as a function of the substep's length (Potra et al. 2006, §7.5; the margin is that
// of the basic variable that controls the state, ERRATA item 9):
//
//   sticking   μν − ‖β‖ ≥ 0          slipping   slip along its direction at the start ≥ 0
//   both       ν ≥ 0
//
// and once the solution has left the state, minus the variable that has taken its place.
#pragma once

#include <vector>

#include "stiction/scheme/outcome.h"

namespace stiction {

class TransitionWatch {
 public:
  /// A solved substep from v_start to v_end.
  struct Substep {
    const StepAssembly& assembly;
    const StepSolution& solution;
    const VectorXd& v_start;
    const VectorXd& v_end;
  };
  /// Looks for contacts that are no longer in `status` after the substep, and watches these from
  /// now on. Returns whether there are any. A contact without force opens if it leaves faster than
  /// `slow_rate`: where many feet share a load, some carry nothing.
  bool begin(const Substep& substep, const std::vector<ContactStatus>& status, double slow_rate);
  /// The smallest margin of the watched contacts after a shorter substep of the same contacts:
  /// negative if one of them has left its state.
  double margin(const Substep& substep);

  struct Change {
    int contact = 0;  // index in the model
    ContactStatus status = ContactStatus::kOpen;
  };
  /// Of the last call that found any.
  const std::vector<Change>& changes() const { return changes_; }

 private:
  struct Watched {
    int index = 0;  // in the problem
    ContactStatus status = ContactStatus::kOpen;
    double scale = 1;  // of its margin
  };
  double margin_of(const Substep& substep, int index, ContactStatus status) const;

  double slow_rate_ = 0;
  std::vector<Watched> watched_;
  std::vector<Change> changes_;
};

}  // namespace stiction
