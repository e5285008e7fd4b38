// Dense kernels of JointLu, on row-major blocks of sizes that the compiler knows or, with a size of
// 0, on those given. Inner loops run over columns that do not depend on each other, so that
// compilers vectorise them. No allocation.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace stiction {

template <int kSize>
constexpr int known(int size) {
  return kSize > 0 ? kSize : size;
}

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
  bool is_zero = true;
  for (int i = 0; i < 3; ++i)
    for (int j = 3; j < 6; ++j) is_zero &= mass[6 * i + j] == 0 && mass[6 * j + i] == 0;
  return is_zero;
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

/// solve_columns of a body that is split: the same numbers for less work.
template <int kColumns>
inline void solve_columns_split(const double* lu, int columns, double* X) {
  const int m = known<kColumns>(columns);
  for (int first = 0; first < 6; first += 3) {
    const double* a = lu + 7 * first;
    double *x = X + first * m, *y = x + m, *z = y + m;
    subtract_multiple<kColumns>(a[6], x, m, y);
    subtract_multiple<kColumns>(a[12], x, m, z);
    subtract_multiple<kColumns>(a[13], y, m, z);
    scale<kColumns>(a[14], m, z);
    subtract_multiple<kColumns>(a[8], z, m, y);
    scale<kColumns>(a[7], m, y);
    subtract_multiple<kColumns>(a[1], y, m, x);
    subtract_multiple<kColumns>(a[2], z, m, x);
    scale<kColumns>(a[0], m, x);
  }
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
