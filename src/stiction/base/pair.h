// Two numbers that are computed at once, by the vector units that every 64-bit processor has. The
// order of operations is part of the source, so the same bits come out with and without them.
#pragma once

#include <cstring>

namespace stiction {

using Pair = double __attribute__((vector_size(16)));

inline Pair load_pair(const double* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}
inline void store_pair(const Pair& pair, double* to) { std::memcpy(to, &pair, sizeof pair); }

inline double sum_of(const Pair& pair) { return pair[0] + pair[1]; }

}  // namespace stiction
