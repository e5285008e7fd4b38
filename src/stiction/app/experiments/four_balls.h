// The error measures of Stewart & Trinkle's table 1 (E3).
#pragma once

#include "stiction/app/experiments/trace.h"

namespace stiction::experiments {

/// A row of table 1: against the reference the integral of the error of velocities, which are
/// constant within steps, and the largest error of positions; the largest total variation of a
/// velocity. Norms are maximum norms over all 24 coordinates.
struct FourBallsErrors {
  double velocity_error = 0, position_error = 0, variation = 0;
};

/// `reference` has the step kFourBallsReference, `h` is a multiple of it.
FourBallsErrors compare_balls(const Trace& coarse, const Trace& reference, double h);

}  // namespace stiction::experiments
