// A dense mixed linear complementarity problem: find z with
//
//   y = A z + q,   y_i = 0 for the free variables,   0 ≤ z_i ⊥ y_i ≥ 0 for the others.
//
// The free variables come first. The matrix is expected to be equilibrated (diagonal about one),
// since the tolerances of the methods that take it are relative to that.
#pragma once

#include <vector>

namespace stiction {

template <class Real>
struct MixedLcp {
  int num_free = 0;
  int num_complementary = 0;
  std::vector<Real> matrix;  // A, row-major, size() × size()
  std::vector<Real> vector;  // q, size()

  int size() const { return num_free + num_complementary; }
  Real* row(int i) { return matrix.data() + static_cast<std::size_t>(i) * size(); }
  const Real* row(int i) const { return matrix.data() + static_cast<std::size_t>(i) * size(); }

  /// Sets the sizes and zeroes the numbers; keeps the capacity.
  void resize(int free, int complementary) {
    num_free = free;
    num_complementary = complementary;
    const auto n = static_cast<std::size_t>(size());
    matrix.assign(n * n, Real(0));
    vector.assign(n, Real(0));
  }
};

enum class LcpStatus {
  kSolved,      // a complementary basis was found; its accuracy is the caller's to judge
  kRay,         // a secondary ray: no solution was found
  kPivotLimit,  // more pivots than allowed
  kSingular,    // a basis could not be factorised
  kInaccurate,  // a basis was found, but its answer misses the tolerance that was asked for
};

struct [[nodiscard]] LcpReport {
  LcpStatus status = LcpStatus::kSolved;
  int pivots = 0;
};

}  // namespace stiction
