// Dense kernels of JointLu, on row-major blocks of sizes that the compiler knows or, with a size of
// 0, on those given. Inner loops run over columns that do not depend on each other, so that
// compilers vectorise them. No allocation.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

/// Pivots of a symmetric matrix are not larger than its diagonal. Those of one with a large
/// antisymmetric part are, and answers lose as many digits.
inline bool is_grown(double pivot, double diagonal) { return pivot > 2 * diagonal; }

/// LU without exchanges of a positive definite matrix, L with unit diagonal; reciprocals of pivots
/// on the diagonal. False if a pivot is not positive or not finite.
template <int kSize>
inline bool factor_definite(double* a, int size, bool& has_grown) {
  const int n = known<kSize>(size);
  std::array<double, kSize + 1> diagonal;
  for (int i = 0; i < kSize; ++i) diagonal[i] = a[i * n + i];
  has_grown = kSize == 0;  // not looked at
  for (int i = 0; i < n; ++i) {
    const double pivot = a[i * n + i];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    if constexpr (kSize > 0) has_grown = has_grown || is_grown(pivot, diagonal[i]);
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

/// A vector of a body in space, its linear half beside the angular one: both take the same
/// operations in a body that is split.
struct Halves {
  Pair x, y, z;
  static Halves of(const SixPairs& v) {
    return {Pair{v.a[0], v.b[1]}, Pair{v.a[1], v.c[0]}, Pair{v.b[0], v.c[1]}};
  }
  SixPairs joined() const { return {Pair{x[0], y[0]}, Pair{z[0], x[1]}, Pair{y[1], z[1]}}; }
  Pair dot_by_halves(const Halves& other) const { return x * other.x + y * other.y + z * other.z; }
};

/// LU of a mass block that is split, L with unit diagonal; reciprocals of pivots.
struct SplitFactors {
  Pair inverse_0, inverse_1, inverse_2, l10, l20, l21, u01, u02, u12;

  static constexpr int kCount = 18;  // numbers, of 36 that a block has room for
  static SplitFactors load(const double* from) {
    SplitFactors factors;
    std::memcpy(&factors, from, sizeof factors);
    return factors;
  }
  void store(double* to) const { std::memcpy(to, this, sizeof *this); }

  /// False if a pivot is not positive or not finite.
  bool factor(const double* mass, bool& has_grown) {
    const auto entry = [&](int i, int j) { return Pair{mass[6 * i + j], mass[21 + 6 * i + j]}; };
    const Pair pivot_0 = entry(0, 0);
    inverse_0 = 1.0 / pivot_0;
    u01 = entry(0, 1);
    u02 = entry(0, 2);
    l10 = entry(1, 0) * inverse_0;
    l20 = entry(2, 0) * inverse_0;
    const Pair pivot_1 = entry(1, 1) - l10 * u01;
    u12 = entry(1, 2) - l10 * u02;
    inverse_1 = 1.0 / pivot_1;
    l21 = (entry(2, 1) - l20 * u01) * inverse_1;
    const Pair pivot_2 = entry(2, 2) - l20 * u02 - l21 * u12;
    inverse_2 = 1.0 / pivot_2;
    has_grown = is_grown(pivot_1, entry(1, 1)) || is_grown(pivot_2, entry(2, 2));
    return is_pivot(pivot_0) && is_pivot(pivot_1) && is_pivot(pivot_2);
  }
  Halves solve(const Halves& b) const {
    const Pair y = b.y - l10 * b.x;
    const Pair z = (b.z - l20 * b.x - l21 * y) * inverse_2;
    const Pair solved_y = (y - u12 * z) * inverse_1;
    return {(b.x - u01 * solved_y - u02 * z) * inverse_0, solved_y, z};
  }

 private:
  static bool is_pivot(Pair pivot) {
    return pivot[0] > 0 && pivot[1] > 0 && std::isfinite(pivot[0]) && std::isfinite(pivot[1]);
  }
  static bool is_grown(Pair pivot, Pair diagonal) {
    return stiction::is_grown(pivot[0], diagonal[0]) || stiction::is_grown(pivot[1], diagonal[1]);
  }
};

/// W = R M̂⁻¹Rᵀ of a body that is split; R holds Halves of rows, one after the other.
template <int kRows>
inline void multiply_split(const SplitFactors& factors, const double* R, int rows, double* W) {
  const int m = known<kRows>(rows);
  const auto row = [&](int i) {
    return Halves{load_pair(R + 6 * i), load_pair(R + 6 * i + 2), load_pair(R + 6 * i + 4)};
  };
  int c = 0;
  for (; c + 1 < m; c += 2) {
    const Halves first = factors.solve(row(c)), second = factors.solve(row(c + 1));
    for (int i = 0; i < m; ++i) {
      const Halves r = row(i);
      const Pair a = r.dot_by_halves(first), b = r.dot_by_halves(second);
      store_pair(Pair{a[0], b[0]} + Pair{a[1], b[1]}, W + i * m + c);
    }
  }
  if (c == m) return;
  const Halves last = factors.solve(row(c));
  for (int i = 0; i < m; ++i) W[i * m + c] = sum_of(row(i).dot_by_halves(last));
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

/// L ← L D⁻¹ row by row.
template <int kSize>
inline void solve_rows(const double* D, const double* inverse, int size, int rows, double* L) {
  const int n = known<kSize>(size);
  for (int r = 0; r < rows; ++r, L += n) {
    Room<kSize> room(L);
    double* x = room.begin();
    for (int k = 0; k < n; ++k) {
      double sum = L[k];
      for (int i = 0; i < k; ++i) sum -= x[i] * D[i * n + k];
      x[k] = sum * inverse[k];
    }
    for (int k = n - 2; k >= 0; --k)
      for (int i = k + 1; i < n; ++i) x[k] -= x[i] * D[i * n + k];
    room.copy_to(L);
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
