// Whether numbers are finite, without a branch for each.
#pragma once

#include <cstddef>
#include <span>

#include "stiction/base/pair.h"

namespace stiction {

/// x − x is zero for finite numbers only, and what is not a number stays so in a sum.
inline bool all_finite(std::span<const double> values) {
  Pair sum[2] = {};
  std::size_t i = 0;
  for (; i + 4 <= values.size(); i += 4)
    for (int k = 0; k < 2; ++k) {
      const Pair x = load_pair(values.data() + i + 2 * k);
      sum[k] += x - x;
    }
  double rest = sum_of(sum[0]) + sum_of(sum[1]);
  for (; i < values.size(); ++i) rest += values[i] - values[i];
  return rest == 0;
}

}  // namespace stiction
