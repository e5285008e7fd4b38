// LU factors with partial pivoting of a small dense matrix in plain row-major storage, in place and
// without allocation: the mass blocks of a step and the bases of Lemke's method. Eigen's
// PartialPivLU of dynamic size was rejected for the former, since its blocking and temporaries cost
// more than the whole solve of a 3×3 block.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stiction {

/// Whether all of an n × n matrix but its diagonal is zero, of either sign.
inline bool is_diagonal_matrix(const double* a, int n) {
  std::uint64_t bits = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i != j) bits |= std::bit_cast<std::uint64_t>(a[i * n + j]);
  return bits << 1 == 0;
}

/// Overwrites the n × n matrix by L (unit diagonal, below) and U, whose diagonal is stored as its
/// reciprocals; swap[k] is the row exchanged with row k. False if a pivot is zero or not finite, or
/// not above `smallest`: of an equilibrated matrix such a pivot is rounding.
template <class Real>
bool factor_lu(Real* a, int n, int* swap, Real smallest = 0) {
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    swap[k] = best;
    if (best != k)
      for (int j = 0; j < n; ++j) std::swap(a[k * n + j], a[best * n + j]);
    const Real reciprocal = Real(1) / a[k * n + k];
    if (!std::isfinite(reciprocal) || std::abs(a[k * n + k]) <= smallest) return false;
    a[k * n + k] = reciprocal;
    const Real* pivot_row = a + k * n;
    for (int i = k + 1; i < n; ++i) {
      Real* row = a + i * n;
      if (row[k] == Real(0)) continue;
      const Real factor = row[k] *= reciprocal;
      for (int j = k + 1; j < n; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  return true;
}

/// solve_lu for a size that the compiler knows or, with kSize = 0, for n.
template <int kSize, class Real>
inline void solve_lu_of_size(const Real* lu, int size, const int* swap, Real* x) {
  const int n = kSize > 0 ? kSize : size;
  for (int k = 0; k < n; ++k)
    if (swap[k] != k) std::swap(x[k], x[swap[k]]);
  for (int i = 1; i < n; ++i) {
    Real sum = x[i];
    for (int j = 0; j < i; ++j) sum -= lu[i * n + j] * x[j];
    x[i] = sum;
  }
  for (int i = n - 1; i >= 0; --i) {
    Real sum = x[i];
    for (int j = i + 1; j < n; ++j) sum -= lu[i * n + j] * x[j];
    x[i] = sum * lu[i * n + i];
  }
}

/// Σ a_k x_k in four sums: one alone would wait for itself at every term.
template <class Real>
inline Real long_dot(const Real* a, const Real* x, int n) {
  Real sum[4] = {};
  int k = 0;
  for (; k + 4 <= n; k += 4)
    for (int i = 0; i < 4; ++i) sum[i] += a[k + i] * x[k + i];
  for (; k < n; ++k) sum[0] += a[k] * x[k];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// solve_lu for sizes of machines.
template <class Real>
inline void solve_long_lu(const Real* lu, int n, const int* swap, Real* x) {
  for (int k = 0; k < n; ++k)
    if (swap[k] != k) std::swap(x[k], x[swap[k]]);
  int first = 0;  // all zeros before
  while (first < n && x[first] == Real(0)) ++first;
  for (int i = first + 1; i < n; ++i)
    x[i] -= long_dot(lu + static_cast<std::ptrdiff_t>(i) * n + first, x + first, i - first);
  for (int i = n - 1; i >= 0; --i) {
    const Real* row = lu + static_cast<std::ptrdiff_t>(i) * n;
    x[i] = (x[i] - long_dot(row + i + 1, x + i + 1, n - i - 1)) * row[i];
  }
}

/// x ← A⁻¹ x with the factors of factor_lu. Sizes of bodies are unrolled; the arithmetic is the
/// same.
template <class Real>
void solve_lu(const Real* lu, int n, const int* swap, Real* x) {
  switch (n) {
    case 1:
      return solve_lu_of_size<1>(lu, n, swap, x);
    case 2:
      return solve_lu_of_size<2>(lu, n, swap, x);
    case 3:
      return solve_lu_of_size<3>(lu, n, swap, x);
    case 6:
      return solve_lu_of_size<6>(lu, n, swap, x);
    default:
      constexpr int kLong = 24;
      return n < kLong ? solve_lu_of_size<0>(lu, n, swap, x) : solve_long_lu(lu, n, swap, x);
  }
}

}  // namespace stiction
