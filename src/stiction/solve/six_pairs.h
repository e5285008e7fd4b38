// Six numbers of a body in three pairs that stay in registers, for products with several rows.
#pragma once

#include <array>

#include "stiction/base/pair.h"

namespace stiction {

struct SixPairs {
  std::array<Pair, 3> x;

  SixPairs() = default;
  explicit SixPairs(const double* from)
      : x{load_pair(from), load_pair(from + 2), load_pair(from + 4)} {}

  /// Even and odd places first, then both.
  double dot(const SixPairs& row) const {
    return sum_of(row.x[0] * x[0] + (row.x[1] * x[1] + row.x[2] * x[2]));
  }
  double dot(const double* row) const { return dot(SixPairs(row)); }
  /// With the squares of a row.
  double dot_squares(const double* row) const {
    const SixPairs a(row);
    return dot(a.times(a));
  }
  /// Number by number.
  SixPairs times(const SixPairs& other) const {
    SixPairs product;
    for (int k = 0; k < 3; ++k) product.x[k] = x[k] * other.x[k];
    return product;
  }
  void add(double factor, const SixPairs& other) {
    for (int k = 0; k < 3; ++k) x[k] += factor * other.x[k];
  }
  void store(double* to) const {
    for (int k = 0; k < 3; ++k) store_pair(x[k], to + 2 * k);
  }
};

}  // namespace stiction
