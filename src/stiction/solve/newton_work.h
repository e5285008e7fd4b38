// How much Newton's methods may work. Their cost is that of factorisations, which grows with the
// cube of the contacts of one body: where hundreds of contacts contradict each other, iterations
// that gain nothing would go on for minutes. The limit is in operations and not in seconds, so that
// the same problem ends in the same iterate on every machine.
#pragma once

#include <algorithm>

#include "stiction/solve/friction_blocks.h"
#include "stiction/solve/saddle_lu.h"

namespace stiction {

/// What a solve may cost by default: at five billion operations a second twelve seconds, and twice
/// what the hardest file of the public collection takes to 1e-8 (gen_wall-s0008, 3.2e10).
inline constexpr double kMaxFlops = 6e10;

/// Operations of one Newton iteration with these factors: the factorisation, two solves, and one
/// product with W. From the numbers in the factors alone: n columns of c_j numbers below (and rows
/// right of) the pivots cost Σ 2c_j² ≥ (Σ 2c_j)²/2n, which for a dense matrix is 3/4 of the truth.
inline double estimate_iteration_flops(const FrictionBlocks& blocks, const SaddleLu& lu) {
  const double numbers = static_cast<double>(lu.num_factor_entries());
  const double rows = blocks.num_rows() > 0 ? blocks.num_rows() : 1;
  return 0.5 * numbers * numbers / rows + 4 * numbers +
         2 * static_cast<double>(blocks.W.values.size());
}

/// What counts on under a time limit, in operations a second: a fifth of what is usual.
inline constexpr double kSlowFlops = 1e9;

/// Operations that a time limit pays for, at most `most`; seconds of zero or less: no limit.
inline double affordable_flops(double seconds, double most) {
  return seconds > 0 ? std::min(most, kSlowFlops * seconds) : most;
}

/// Iterations that a budget of operations pays for, at most `most`; zero if not even one. Analyses
/// the pattern.
inline int affordable_iterations(const FrictionBlocks& blocks, SaddleLu& lu, double max_flops,
                                 int most) {
  if (blocks.num_rows() == 0) return most;
  lu.analyse(blocks.W);
  const double paid = max_flops / estimate_iteration_flops(blocks, lu);
  return paid >= most ? most : static_cast<int>(paid);
}

}  // namespace stiction
