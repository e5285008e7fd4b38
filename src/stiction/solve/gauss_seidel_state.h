// Where a Gauss–Seidel iteration stands: impulses, velocities of rows without bodies, velocities of
// bodies (contact_blocks.h), in one array. All parts are affine in the impulses, so that an affine
// combination of states is a state; extrapolation needs no products with matrices.
#pragma once

#include <cstddef>
#include <vector>

#include "stiction/solve/contact_blocks.h"

namespace stiction {

class SweepState {
 public:
  double* x() { return values_.data(); }
  double* u() { return values_.data() + num_rows_; }
  double* w() { return values_.data() + 2 * num_rows_; }
  const double* x() const { return values_.data(); }
  const double* u() const { return values_.data() + num_rows_; }
  const double* w() const { return values_.data() + 2 * num_rows_; }
  std::vector<double>& values() { return values_; }
  bool is_finite() const;
  /// Takes the multiple of the impulses, at most one, that leaves least of
  ///
  ///   ½ xᵀW x + xᵀa,   W and a of (T6),
  ///
  /// which is what contacts without friction minimise. Impulses of an impact are many times those
  /// that the next step needs. Not if there are joints, whose impulses follow their own laws.
  /// Returns whether they were changed.
  bool shorten(const StepProblem& problem, const ContactBlocks& blocks);

  /// The state of no impulses, or of those in `solution` if it is asked for and they fit the
  /// problem and are finite; bilateral impulses are brought between their bounds.
  void start(const ContactBlocks& blocks, const StepSolution& solution, bool is_warm);

  /// Velocities computed from the impulses, without the rounding that updates in place collect.
  void refresh(const ContactBlocks& blocks) { blocks.compute_state(x(), u(), w()); }

  /// Goes to the state with these impulses.
  void go_to(const ContactBlocks& blocks, const std::vector<double>& impulses);

  /// Writes the state into `solution` as it is.
  void store(const ContactBlocks& blocks, StepSolution& solution) const;

 private:
  /// xᵀW x and xᵀa, as far as a body has a share in them.
  struct Shares {
    double square = 0, product = 0;
  };

  std::size_t num_rows_ = 0;
  std::vector<double> values_;
  std::vector<Shares> shares_;  // of shorten
};

}  // namespace stiction
