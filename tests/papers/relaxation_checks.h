// Residuals over sweeps of one step problem, for the experiments of Lacoursière & Linde (2011),
// §17.3: how Gauss–Seidel variants stall, and what a solver reaches beside them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "stiction/app/experiments/certified_residual.h"
#include "stiction/problem/step_problem.h"
#include "stiction/solve/gauss_seidel_pgs.h"

namespace stiction::testing {

inline constexpr std::array kPgsVariants = {PgsVariant::kAllSeparate, PgsVariant::kBlockProjection,
                                            PgsVariant::kBlockTangents};

struct Sweeps {
  std::vector<double> residual;  // per sweep, the start first
  int num_changing = 0;          // sweeps in which a contact changed between open, stick and slip
  int num_jumps = 0;             // sweeps that raised the residual by more than half
  bool has_converged = false;

  double last() const { return residual.back(); }
};

/// Sweeps from no impulses, until the certificate is below 1e-9.
Sweeps sweep(const StepProblem& problem, PgsVariant variant, int max_sweeps);

using experiments::certified_residual;

}  // namespace stiction::testing
