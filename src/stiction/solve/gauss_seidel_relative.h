// The natural map of (T21) and (T22) of a state of Gauss–Seidel sweeps, in the relative scale of
// the certificate and by code of its own. Shortcuts err to the strict side: ‖·‖_S is replaced by
// the norm of M̂⁻¹, equal for symmetric M̂ and smaller otherwise, and |K||x| is left out of what
// other impulses could do to a row. The momentum (T20) needs no measure, since w is computed from
// the impulses.
#pragma once

#include <vector>

#include "stiction/solve/contact_blocks.h"

namespace stiction {

class RelativeMeasure {
 public:
  /// `problem` must outlive the evaluations.
  void prepare(const StepProblem& problem, const ContactBlocks& blocks);
  /// x, u, w are a consistent state. Infinite or not a number if one of them is not finite.
  double evaluate(const ContactBlocks& blocks, const double* x, const double* u, const double* w);

 private:
  /// 1/√ω of normal and tangents (T22); zero where no impulse moves the contact.
  struct Scale {
    double normal = 0, tangential = 0;
  };
  struct Sums;
  void prepare_norms(const ContactBlocks& blocks);
  void prepare_data(const ContactBlocks& blocks);
  void prepare_scales(const ContactBlocks& blocks);
  void measure_impulses(const ContactBlocks& blocks, const double* x, const double* w);
  double excess_rounding(double impulse) const;
  void include_bilateral(const ContactBlocks& blocks, int row, double x, double s,
                         Sums& sums) const;
  template <int kDim>
  void include_contact(const ContactBlocks& blocks, int unit, const double* x, const double* u,
                       const double* w, Sums& sums) const;

  const StepProblem* problem_ = nullptr;
  std::vector<double> entry_norm_;  // √(J_a M̂⁻¹J_aᵀ) of every row of every entry
  std::vector<double> row_norm_;    // their sums over the entries of a row
  std::vector<double> momentum_;    // √(pᵀM̂⁻¹p) per block
  std::vector<double> involved_;    // impulses on every block
  std::vector<Scale> scale_;        // per contact
  double row_data_ = 0;             // largest impulse that a bias or a bound calls for
  double cap_ = 0;                  // what impulses may amount to
  double background_ = 0;           // impulses on the most loaded block, within the cap
};

}  // namespace stiction
