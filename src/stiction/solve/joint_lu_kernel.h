// Dense kernels of JointLu, on row-major blocks of sizes that the compiler knows or, with a size of
// 0, on those given. Inner loops run over columns that do not depend on each other, so that
// compilers vectorise them. No allocation.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "stiction/base/known_size.h"
#include "stiction/base/pair.h"

namespace stiction {

/// Room for a matrix: its own where the compiler knows the size, else the given one.
template <int kCount>
class Room {
 public:
  explicit Room(double* other) : begin_(kCount > 0 ? own_.data() : other) {}
  double* begin() { return begin_; }
  void copy_to(double* target) const {
    for (int i = 0; i < kCount; ++i) target[i] = own_[i];
  }

 private:
  std::array<double, kCount + 1> own_;
  double* begin_;
};

/// Loads one by one: a pair that is put together from two stores would have to wait for both.
template <int kSize>
inline double dot(const double* a, const double* b, int size) {
  const int n = known<kSize>(size);
  double even = 0, odd = 0;
  int k = 0;
  for (; k + 1 < n; k += 2) {
    even += a[k] * b[k];
    odd += a[k + 1] * b[k + 1];
  }
  if (k < n) even += a[k] * b[k];
  return even + odd;
}

/// A vector of a body in space.
struct SixPairs {
  Pair a, b, c;
  /// Of numbers that were stored one by one.
  static SixPairs gather(const double* x) {
    return {Pair{x[0], x[1]}, Pair{x[2], x[3]}, Pair{x[4], x[5]}};
  }
  static SixPairs load(const double* x) {
    return {load_pair(x), load_pair(x + 2), load_pair(x + 4)};
  }
  void store(double* x) const {
    store_pair(a, x);
    store_pair(b, x + 2);
    store_pair(c, x + 4);
  }
  double dot(const SixPairs& other) const {
    return sum_of(a * other.a + b * other.b + c * other.c);
  }
  void add(const SixPairs& other, double factor) {
    a += other.a * factor;
    b += other.b * factor;
    c += other.c * factor;
  }
};

template <int kSize>
inline double dot_strided(const double* a, const double* b, int size, std::ptrdiff_t stride) {
  const int n = known<kSize>(size);
  double sum = a[0] * b[0];
  for (int k = 1; k < n; ++k) sum += a[k] * b[k * stride];
  return sum;
}

/// LU without exchanges of a positive definite matrix, L with unit diagonal; reciprocals of pivots
/// on the diagonal. False if a pivot is not positive or not finite.
template <int kSize>
inline bool factor_definite(double* a, int size) {
  const int n = known<kSize>(size);
  for (int i = 0; i < n; ++i) {
    const double pivot = a[i * n + i];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const double inverse = a[i * n + i] = 1 / pivot;
    for (int r = i + 1; r < n; ++r) {
      const double factor = a[r * n + i] *= inverse;
      for (int c = i + 1; c < n; ++c) a[r * n + c] -= factor * a[i * n + c];
    }
  }
  return true;
}

/// x ← A⁻¹x by these factors.
template <int kSize>
inline void solve_definite(const double* lu, int size, double* x) {
  const int n = known<kSize>(size);
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) x[i] -= lu[i * n + k] * x[k];
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) x[i] -= lu[i * n + k] * x[k];
    x[i] *= lu[i * n + i];
  }
}

template <int kColumns>
inline void subtract_multiple(double factor, const double* from, int columns, double* to) {
  const int m = known<kColumns>(columns);
  for (int c = 0; c < m; ++c) to[c] -= factor * from[c];
}

template <int kColumns>
inline void scale(double factor, int columns, double* x) {
  const int m = known<kColumns>(columns);
  for (int c = 0; c < m; ++c) x[c] *= factor;
}

/// X ← A⁻¹X for many columns.
template <int kSize, int kColumns>
inline void solve_columns(const double* lu, int size, int columns, double* X) {
  const int n = known<kSize>(size), m = known<kColumns>(columns);
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) subtract_multiple<kColumns>(lu[i * n + k], X + k * m, m, X + i * m);
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      subtract_multiple<kColumns>(lu[i * n + k], X + k * m, m, X + i * m);
    scale<kColumns>(lu[i * n + i], m, X + i * m);
  }
}

/// Whether linear and angular velocities of a body are not coupled by its mass block, as long as
/// nothing implicit couples them.
inline bool is_split(const double* mass) {
  std::uint64_t bits = 0;  // but for the signs
  for (int i = 0; i < 3; ++i)
    for (int j = 3; j < 6; ++j)
      bits |= std::bit_cast<std::uint64_t>(mass[6 * i + j]) |
              std::bit_cast<std::uint64_t>(mass[6 * j + i]);
  return bits << 1 == 0;
}

/// factor_definite of a body that is split.
inline bool factor_split(double* a) {
  for (double* b : {a, a + 21}) {
    if (!(b[0] > 0) || !std::isfinite(b[0])) return false;
    b[0] = 1 / b[0];
    b[6] *= b[0];
    b[12] *= b[0];
    b[7] -= b[6] * b[1];
    b[8] -= b[6] * b[2];
    b[13] -= b[12] * b[1];
    b[14] -= b[12] * b[2];
    if (!(b[7] > 0) || !std::isfinite(b[7])) return false;
    b[7] = 1 / b[7];
    b[13] *= b[7];
    b[14] -= b[13] * b[8];
    if (!(b[14] > 0) || !std::isfinite(b[14])) return false;
    b[14] = 1 / b[14];
  }
  return true;
}

/// solve_definite of a body that is split.
inline void solve_split(const double* lu, double* x) {
  for (int first = 0; first < 6; first += 3) {
    const double* a = lu + 7 * first;
    double* y = x + first;
    const double y1 = y[1] - a[6] * y[0];
    const double y2 = (y[2] - a[12] * y[0] - a[13] * y1) * a[14];
    const double z1 = (y1 - a[8] * y2) * a[7];
    y[0] = (y[0] - a[1] * z1 - a[2] * y2) * a[0];
    y[1] = z1;
    y[2] = y2;
  }
}

/// W = R X and X = M̂⁻¹Rᵀ, or the transpose of it, of a body that is split, two columns at a time:
/// they stay in registers while all rows of R pass.
template <int kColumns, bool kIsTransposed>
inline void eliminate_split(const double* lu, const double* R, int columns, double* X, double* W) {
  const int m = known<kColumns>(columns);
  const auto place = [&](int k, int c) { return X + (kIsTransposed ? 6 * c + k : m * k + c); };
  int c = 0;
  for (; c + 1 < m; c += 2) {
    const double *first = R + 6 * c, *second = first + 6;
    const auto solve = [&](int at, const double* a, Pair& x, Pair& y, Pair& z) {
      x = Pair{first[at], second[at]};
      y = Pair{first[at + 1], second[at + 1]} - a[6] * x;
      z = (Pair{first[at + 2], second[at + 2]} - a[12] * x - a[13] * y) * a[14];
      y = (y - a[8] * z) * a[7];
      x = (x - a[1] * y - a[2] * z) * a[0];
    };
    Pair x0, x1, x2, x3, x4, x5;
    solve(0, lu, x0, x1, x2);
    solve(3, lu + 21, x3, x4, x5);
    const auto put = [&](int k, const Pair& x) {
      *place(k, c) = x[0];
      *place(k, c + 1) = x[1];
    };
    put(0, x0);
    put(1, x1);
    put(2, x2);
    put(3, x3);
    put(4, x4);
    put(5, x5);
    for (int i = 0; i < m; ++i) {
      const double* r = R + 6 * i;
      store_pair(r[0] * x0 + r[1] * x1 + r[2] * x2 + r[3] * x3 + r[4] * x4 + r[5] * x5,
                 W + i * m + c);
    }
  }
  if (c == m) return;
  std::array<double, 6> x;
  for (int k = 0; k < 6; ++k) x[k] = R[6 * c + k];
  solve_split(lu, x.data());
  for (int k = 0; k < 6; ++k) *place(k, c) = x[k];
  const SixPairs column = SixPairs::gather(x.data());
  for (int i = 0; i < m; ++i) W[i * m + c] = SixPairs::load(R + 6 * i).dot(column);
}

/// W = R·X with R of columns × size and X of size × columns, two columns at a time: they stay in
/// registers while all rows of R pass.
template <int kSize, int kColumns>
inline void multiply(const double* R, const double* X, int size, int columns, double* W) {
  const int n = known<kSize>(size), m = known<kColumns>(columns);
  int c = 0;
  for (; c + 1 < m; c += 2)
    for (int i = 0; i < m; ++i) {
      double even = R[i * n] * X[c], odd = R[i * n] * X[c + 1];
      for (int k = 1; k < n; ++k) {
        even += R[i * n + k] * X[k * m + c];
        odd += R[i * n + k] * X[k * m + c + 1];
      }
      W[i * m + c] = even;
      W[i * m + c + 1] = odd;
    }
  for (int i = 0; i < m && c < m; ++i) W[i * m + c] = dot_strided<kSize>(R + i * n, X + c, n, m);
}

/// U ← D⁻¹U with the factors of a pivot, whose reciprocals lie apart.
template <int kSize, int kColumns>
inline void solve_panel(const double* D, const double* inverse, int size, int columns, double* U) {
  const int n = known<kSize>(size), m = known<kColumns>(columns);
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) subtract_multiple<kColumns>(D[i * n + k], U + k * m, m, U + i * m);
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k)
      subtract_multiple<kColumns>(D[i * n + k], U + k * m, m, U + i * m);
    scale<kColumns>(inverse[i], m, U + i * m);
  }
}

template <int kSize>
inline void solve_block(const double* D, const double* inverse, int size, double* x) {
  const int n = known<kSize>(size);
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) x[i] -= D[i * n + k] * x[k];
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) x[i] -= D[i * n + k] * x[k];
    x[i] *= inverse[i];
  }
}

/// to −= row·U for some columns of a panel with the given leading dimension.
template <int kSize, int kColumns>
inline void subtract_row(const double* row, const double* U, int size, int columns,
                         std::ptrdiff_t stride, double* to) {
  const int n = known<kSize>(size), m = known<kColumns>(columns);
  for (int k = 0; k < n; ++k)
    for (int c = 0; c < m; ++c) to[c] -= row[k] * U[k * stride + c];
}

}  // namespace stiction
