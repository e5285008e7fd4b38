// How far a state of Gauss–Seidel sweeps is from a solution: the natural map of (T21) and (T22) in
// the same relative scale as the certificate, by code of its own. Shortcuts all err to the strict
// side: ‖·‖_S is replaced by the norm of M̂⁻¹, equal for symmetric M̂ and smaller otherwise; the sums
// of impulses leave out ‖M̂w‖ and |K||x|. The momentum (T20) needs no measure, since w is computed
// from the impulses.
//
// Public collections of problems judge by the map with ρ = 1 in the 2-norm instead, whatever the
// units: `unit`, see Residual.
#pragma once

#include <vector>

#include "stiction/solve/contact_blocks.h"

namespace stiction {

/// The nearest point of the cone of `contact`, with dim numbers in and out.
void project_on_cone(const OneContact& contact, const double* z, double* out);

/// σ_B(−u_T) of (T4).
double support_against(const OneContact& contact, const double* u);

struct Residual {
  double relative = 0;  // [-] the larger of (T21) and (T22)
  double unit = 0;  // [-] ‖r − P(r − û)‖₂ / max(‖r‖₂, ‖u‖₂), without bodies also over ‖bias‖₂
};

class GaussSeidelResidual {
 public:
  void prepare(const StepProblem& problem, const ContactBlocks& blocks);
  /// Of a consistent state. A not-a-number anywhere makes both figures infinite.
  Residual evaluate(const ContactBlocks& blocks, const double* x, const double* u, const double* w);
  /// Open, stick or slip of every contact at the last evaluation, by what the projection met.
  const std::vector<char>& status() const { return status_; }

 private:
  struct Sums;
  void measure_data(const ContactBlocks& blocks);
  void compute_involved(const ContactBlocks& blocks, const double* x);
  void include_bilateral(const ContactBlocks& blocks, int i, const double* x, const double* u,
                         const double* reach, Sums& sums) const;
  void include_contact(const ContactBlocks& blocks, int j, const double* x, const double* u,
                       const double* reach, Sums& sums);

  std::vector<double> row_norm_;    // √(J_i M̂⁻¹J_iᵀ) of every row of every entry
  std::vector<int> norm_start_;     // of the entries
  std::vector<double> block_norm_;  // √(pᵀM̂⁻¹p)
  double cap_ = 0;                  // of impulses, by the size of the data
  std::vector<double> involved_;    // impulses on every block
  std::vector<char> status_;
};

}  // namespace stiction
