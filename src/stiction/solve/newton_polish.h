// The last step to rounding, after any solver: impulses near a solution tell which contacts are
// open, stick or slip, and with these statuses fixed the problem is a square system of equations,
//
//   open   x = 0,      stick   u = 0,      slip   u_N = 0,  x_T + μ x_N u_T/‖u_T‖ = 0,
//
// (T2) at a bound x = lo or x = hi, and u = 0 between and in free rows. Newton steps solve it; only
// the direction of slip is nonlinear. Redundant rows make it singular but consistent: a vanishing
// proximal term chooses the smallest change of the impulses. Statuses are read again after every
// step, and the best iterate is kept, so that a wrong guess does no harm.
#pragma once

#include <vector>

#include "stiction/base/deadline.h"
#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/saddle_lu.h"

namespace stiction {

struct PolishOptions {
  double tolerance = 0;  // of FrictionBlocks::residual; 0: to rounding
  int max_iterations = 6;
  double least_gain = 10;  // the polished impulses are taken if their residual is smaller by this
  double proximal = 1e-9;  // relative to the effective mass of a row
  Deadline deadline{};
};

class NewtonPolish {
 public:
  /// Returns the residual of x, which changes only for a gain: where statuses were wrong, a
  /// slightly smaller residual would be a worse start for others.
  double run(const FrictionBlocks& blocks, SaddleLu& lu, const PolishOptions& options,
             KeptVector& x);
  int iterations() const { return iterations_; }

 private:
  void linearise(const FrictionBlocks& blocks, const PolishOptions& options);
  void linearise_contact(const FrictionBlocks& blocks, int block, double* A, double* B);
  void linearise_slip(const FrictionBlocks& blocks, int block, double* A, double* B);
  void linearise_row(const FrictionBlocks& blocks, int block, double* A, double* B);
  bool solve(const FrictionBlocks& blocks, SaddleLu& lu);

  int iterations_ = 0;
  std::vector<double> A_, B_;
  KeptVector x_, u_, best_, defect_, step_, remainder_;
};

}  // namespace stiction
