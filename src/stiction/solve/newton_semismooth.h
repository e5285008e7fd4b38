// Semi-smooth Newton method for friction blocks with a proximal term: find x with
//
//   u = W x + q + α(x − c),   Φ(x, u) = 0,
//
// where c is the centre and Φ the map of Alart and Curnier, per contact with
// z = x − ρu:
//   Φ_N = x_N − max(z_N, 0),   Φ_T = x_T − P_D(z_T),   D the disc of radius μ max(z_N, 0),
// and Φ = x − P_[lo,hi](x − ρu) for bilateral rows. The term α makes the Newton matrix regular
// where rows are redundant. A non-monotone line search on ‖Φ‖² keeps the iterates from running
// away; it does not promise convergence from everywhere, which is why the outer loop watches the
// outcome.
#pragma once

#include <array>
#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/saddle_lu.h"

namespace stiction {

class SemismoothNewton {
 public:
  enum class Outcome { kReached, kStalled, kIterationLimit };

  struct Target {
    double alpha = 0;        // ≥ 0, weight of the proximal term
    double reduction = 0.1;  // of √‖Φ‖², relative to the start
    int max_iterations = 15;
    double step_scale = 10;  // ρ
    Deadline deadline{};
  };

  Outcome solve(const FrictionBlocks& blocks, SaddleLu& lu, const ConstVectorRef& centre,
                const Target& target, KeptVector& x);
  /// Newton iterations of the last solve.
  int iterations() const { return iterations_; }

 private:
  void compute_velocity(const FrictionBlocks& blocks, const ConstVectorRef& centre,
                        const ConstVectorRef& x, KeptVector& u) const;
  double evaluate(const FrictionBlocks& blocks, const ConstVectorRef& x, const ConstVectorRef& u,
                  bool with_derivatives);
  void evaluate_bilateral(const FrictionBlocks& blocks, int block, double x, double u, double* phi,
                          double* A, double* B) const;
  void evaluate_contact(const FrictionBlocks& blocks, int block, const double* x, const double* u,
                        double* phi, double* A, double* B) const;
  bool search_line(const FrictionBlocks& blocks, const ConstVectorRef& centre, KeptVector& x);

  Target target_;
  int iterations_ = 0;
  double merit_ = 0;
  std::array<double, 5> recent_merits_{};
  std::vector<double> A_, B_;  // ∂Φ/∂u and ∂Φ/∂x, 9 numbers per block
  KeptVector phi_, step_, u_, trial_;
};

}  // namespace stiction
