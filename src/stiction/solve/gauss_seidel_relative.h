// The natural map of (T21) and (T22) of a state of Gauss–Seidel sweeps, in the relative scale of
// the certificate and by code of its own, and the error of every row's motion (T23). Shortcuts err
// to the strict side: ‖·‖_S is replaced by the norm of M̂⁻¹, equal for symmetric M̂ and smaller
// otherwise, and |K||x| is left out of what other impulses could do to a row. The momentum (T20)
// needs no measure, since w is computed from the impulses. What impulses beyond the cap do on their
// errors (T23) is left to the certificate.
#pragma once

#include <span>
#include <vector>

#include "stiction/base/infinity.h"
#include "stiction/solve/contact_blocks.h"

namespace stiction {

class RelativeMeasure {
 public:
  /// Infinite or not a number if a number of the state is not finite.
  struct Levels {
    double impulses = 0;  // (T21), (T22)
    double motion = 0;    // (T23)
    double largest() const { return impulses > motion ? impulses : motion; }
  };
  /// `problem` must outlive the evaluations. Local problems of contacts are not asked for yet, if
  /// there are bodies.
  void prepare(const StepProblem& problem, const ContactBlocks& blocks);
  /// What list_scales needs, for bodies with velocities w.
  void measure_data(const ContactBlocks& blocks, const double* w);
  /// Whether at least half of the bodies that rows touch have velocities there that are more than
  /// rest.
  bool moves(const ContactBlocks& blocks) const;
  /// x, u, w are a consistent state. Infinite also where the motion is beyond `largest_motion`:
  /// what moves shows that in one of its first units.
  Levels evaluate(const ContactBlocks& blocks, const double* x, const double* u, const double* w,
                  double largest_motion = kInfinity);
  /// (T23) of a unit, as measured last.
  double motion(int unit) const { return figures_[unit].motion; }
  /// What that is relative to, [√J] per unit, but for what impulses of others could do.
  void list_scales(const ContactBlocks& blocks, std::vector<double>& out) const;
  /// The same measured anew for some units, relative to the data of the last evaluation; the
  /// largest, infinite if it is not a number.
  double measure_motion_again(const ContactBlocks& blocks, const double* x, const double* u,
                              const double* w, std::span<const int> units);

 private:
  /// 1/√ω of normal and tangents (T22); zero where no impulse moves the contact.
  struct Scale {
    double normal = 0, tangential = 0;
  };
  /// What a unit adds to the sums of all.
  struct Figures {
    double defect = 0;           // [√J]; of a contact its square
    double impulse = 0;          // [√J]
    double background = 0;       // what others could do to it; of a contact its square
    double motion = 0;           // (T23)
    double all = 0;              // a sum over its numbers: maxima drop those that are none
    bool is_infeasible = false;  // nothing moves it, and it does not hold
  };
  void complete(const ContactBlocks& blocks);
  void prepare_norms(const ContactBlocks& blocks, int unit);
  double prepare_data(const ContactBlocks& blocks, int unit) const;
  void prepare_scale(const ContactBlocks& blocks, int contact);
  void measure_impulses(const ContactBlocks& blocks, const double* x, const double* w);
  double sum_impulses(const ContactBlocks& blocks, int block, const double* x) const;
  double excess_rounding(double impulse) const;
  double find_data(const ContactBlocks& blocks, int unit, double reach) const;
  double measure_motion(const ContactBlocks& blocks, int unit, double square, double reach) const;
  Levels sum_up(const ContactBlocks& blocks) const;
  Figures measure_unit(const ContactBlocks& blocks, int unit, const double* x, const double* u,
                       const double* w) const;
  Figures measure_bilateral(const ContactBlocks& blocks, int row, double x, double s) const;
  template <int kDim>
  Figures measure_contact(const ContactBlocks& blocks, int unit, const double* x, const double* u,
                          const double* w) const;

  const StepProblem* problem_ = nullptr;
  std::vector<double> entry_norm_;  // √(J_a M̂⁻¹J_aᵀ), three per entry
  std::vector<double> row_norm_;    // their sums over the entries of a row
  std::vector<double> momentum_;    // √(pᵀM̂⁻¹p) per block
  std::vector<double> involved_;    // impulses on every block
  std::vector<double> moving_;      // the same without those of rows
  std::vector<double> unit_data_;   // impulses that biases and bounds call for, per unit
  std::vector<Scale> scale_;        // per contact
  std::vector<Figures> figures_;    // per unit
  bool is_complete_ = false;        // norms and scales of all units
  double row_data_ = 0;             // largest impulse that a bias or a bound calls for
  double data_ = 0;                 // the largest momentum of a body or impulse of that kind
  double cap_ = 0;                  // what impulses may amount to
  double background_ = 0;           // impulses on the most loaded block, within the cap
};

}  // namespace stiction
