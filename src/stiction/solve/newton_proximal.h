// Proximal-point loop around the semi-smooth Newton method, for problems whose W is singular:
// x_{k+1} solves the problem with W + α_k I and q − α_k x_k roughly. α falls while that succeeds
// and rises when it fails. Where the status of the contacts no longer changes, the inner steps are
// those of Newton's method on the active equations with a vanishing regularisation: the loop is its
// own polish and ends at rounding, with the smallest change of redundant impulses.
#pragma once

#include "stiction/solve/newton_semismooth.h"

namespace stiction {

struct ProximalOptions {
  double tolerance = 1e-12;   // of FrictionBlocks::residual
  double first_alpha = 1e-2;  // relative to the effective mass of a row
  double least_alpha = 1e-12;
  double decrease = 0.5;      // of α after success
  double increase = 2;        // of α after failure
  int max_iterations = 1000;  // Newton iterations; a proximal step that has begun is finished
  int hard_limit = 1 << 30;   // Newton iterations, whatever has begun
  int max_failures = 25;      // in a row
  double step_scale = 10;     // see SemismoothNewton::Target
};

class ProximalNewton {
 public:
  /// Improves x and returns its residual, never larger than at the start.
  double run(const FrictionBlocks& blocks, SaddleLu& lu, const ProximalOptions& options,
             const Deadline& deadline, KeptVector& x);
  /// Newton iterations of the last run.
  int iterations() const { return iterations_; }
  /// The weight that the next problem would have.
  double alpha() const { return alpha_; }

 private:
  SemismoothNewton newton_;
  int iterations_ = 0;
  double alpha_ = 0;
  KeptVector trial_, u_, best_;
};

}  // namespace stiction
