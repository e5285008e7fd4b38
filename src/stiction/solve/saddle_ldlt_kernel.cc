#include "stiction/solve/saddle_ldlt_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

constexpr int kBlock = 12;      // pivots factored at a time
constexpr int kTileRows = 128;  // a tile of L of this many rows …
constexpr int kTileDepth = 32;  // … and columns stays in the first cache

/// Two columns of the target minus L (rows [0, n), depth columns) times their coefficients.
void subtract_pair(const double* L, int ld, int n, int depth, const double* c0, const double* c1,
                   double* t0, double* t1) {
  int k = 0;
  for (; k + 4 <= depth; k += 4) {
    const double* l0 = L + static_cast<std::ptrdiff_t>(k) * ld;
    const double *l1 = l0 + ld, *l2 = l1 + ld, *l3 = l2 + ld;
    const double a0 = c0[k], a1 = c0[k + 1], a2 = c0[k + 2], a3 = c0[k + 3];
    const double b0 = c1[k], b1 = c1[k + 1], b2 = c1[k + 2], b3 = c1[k + 3];
    for (int i = 0; i < n; ++i) {
      t0[i] -= (l0[i] * a0 + l1[i] * a1) + (l2[i] * a2 + l3[i] * a3);
      t1[i] -= (l0[i] * b0 + l1[i] * b1) + (l2[i] * b2 + l3[i] * b3);
    }
  }
  for (; k < depth; ++k) {
    const double *l = L + static_cast<std::ptrdiff_t>(k) * ld, a = c0[k], b = c1[k];
    for (int i = 0; i < n; ++i) {
      t0[i] -= l[i] * a;
      t1[i] -= l[i] * b;
    }
  }
}

void subtract_single(const double* L, int ld, int n, int depth, const double* c0, double* t0) {
  for (int k = 0; k < depth; ++k) {
    const double *l = L + static_cast<std::ptrdiff_t>(k) * ld, a = c0[k];
    for (int i = 0; i < n; ++i) t0[i] -= l[i] * a;
  }
}

/// target −= L₂ D L₁ᵀ for the columns [first, last) of the panel's rows, on and below the diagonal,
/// with the leading `depth` columns of L. `target` points at (first, first).
void subtract_product(const LdltPanel& panel, int depth, int first, int last, double* target,
                      int target_ld) {
  const int ld = panel.num_rows;
  double c[2][kTileDepth];
  for (int k0 = 0; k0 < depth; k0 += kTileDepth) {
    const int tile_depth = std::min(kTileDepth, depth - k0);
    const double* L = panel.values + static_cast<std::ptrdiff_t>(k0) * ld;
    for (int i0 = first; i0 < panel.num_rows; i0 += kTileRows) {
      const int i1 = std::min(i0 + kTileRows, panel.num_rows);
      const int end = std::min(last, i1);
      for (int j = first; j < end; j += 2) {
        const bool is_pair = j + 1 < end;
        for (int k = 0; k < tile_depth; ++k) {
          const double* entry = L + static_cast<std::ptrdiff_t>(k) * ld + j;
          c[0][k] = entry[0] * panel.pivot[k0 + k];
          if (is_pair) c[1][k] = entry[1] * panel.pivot[k0 + k];
        }
        // Of a pair's first row the second column lies above the diagonal, where nobody looks.
        const int i = std::max(i0, j);
        double* t0 = target + static_cast<std::ptrdiff_t>(j - first) * target_ld + (i - first);
        if (is_pair)
          subtract_pair(L + i, ld, i1 - i, tile_depth, c[0], c[1], t0, t0 + target_ld);
        else
          subtract_single(L + i, ld, i1 - i, tile_depth, c[0], t0);
      }
    }
  }
}

// The order of operations below is that of one column after the other, whatever kCount is: several
// at once load their target once, and their sums do not wait for each other.

/// target −= the product of kCount columns of L, n numbers each, with x.
template <int kCount>
inline void subtract_columns(const double* L, std::ptrdiff_t ld, int n, const double* x,
                             double* target) {
  for (int i = 0; i < n; ++i) {
    double value = target[i];
    for (int c = 0; c < kCount; ++c) value -= L[c * ld + i] * x[c];
    target[i] = value;
  }
}

/// The part of solve_lower of the pivots [k, k + kCount).
template <int kCount>
inline void lower_columns(const LdltPanel& panel, int k, double* x1, double* x2) {
  const std::ptrdiff_t ld = panel.num_rows;
  const double* L = panel.values + k * ld;
  double* x = x1 + k;
  for (int c = 0; c < kCount; ++c)
    for (int i = c + 1; i < kCount; ++i) x[i] -= L[c * ld + k + i] * x[c];
  const int p = panel.num_pivots, end = k + kCount;
  subtract_columns<kCount>(L + end, ld, p - end, x, x1 + end);
  subtract_columns<kCount>(L + p, ld, panel.num_rows - p, x, x2);
}

/// The part of solve_upper of the pivots [k, k + kCount).
template <int kCount>
inline void upper_columns(const LdltPanel& panel, int k, double* x1, const double* x2) {
  const std::ptrdiff_t ld = panel.num_rows;
  const double* L = panel.values + k * ld;
  const int p = panel.num_pivots, rest = panel.num_rows - p;
  double sum[kCount] = {};
  for (int i = 0; i < rest; ++i)
    for (int c = 0; c < kCount; ++c) sum[c] += L[c * ld + p + i] * x2[i];
  for (int c = kCount - 1; c >= 0; --c) {
    for (int i = k + c + 1; i < p; ++i) sum[c] += L[c * ld + i] * x1[i];
    x1[k + c] -= sum[c];
  }
}

/// Pivot k of the panel: its column becomes that of L. See factor_panel.
bool take_pivot(const LdltPanel& panel, int k, double tiny) {
  double* column = panel.values + static_cast<std::ptrdiff_t>(k) * panel.num_rows;
  const double d = column[k];
  if (!std::isfinite(d)) return false;
  const bool is_row = panel.is_row[k] != 0;
  if (!is_row && !(d > 0)) return false;
  panel.pivot[k] = d;
  if (is_row && !(-d > tiny * panel.weight[k])) {
    panel.inverse[k] = 0;
    panel.pivot[k] = 0;
    std::fill(column + k + 1, column + panel.num_rows, 0.0);
    return true;
  }
  const double inverse = 1 / d;
  panel.inverse[k] = inverse;
  for (int i = k + 1; i < panel.num_rows; ++i) column[i] *= inverse;
  // What bodies add to the pivots of rows; rows take away from each other.
  if (!is_row)
    for (int i = k + 1; i < panel.num_rows; ++i) panel.weight[i] += column[i] * column[i] * d;
  return true;
}

}  // namespace

bool factor_panel(const LdltPanel& panel, double tiny) {
  const std::ptrdiff_t ld = panel.num_rows;
  for (int begin = 0; begin < panel.num_pivots; begin += kBlock) {
    const int end = std::min(begin + kBlock, panel.num_pivots);
    if (begin > 0)
      subtract_product(panel, begin, begin, end, panel.values + begin * ld + begin, panel.num_rows);
    for (int k = begin; k < end; ++k) {
      if (!take_pivot(panel, k, tiny)) return false;
      const double* column = panel.values + k * ld;
      for (int j = k + 1; j < end; ++j) {
        const double factor = column[j] * panel.pivot[k];
        double* target = panel.values + j * ld;
        if (factor == 0) continue;
        for (int i = j; i < panel.num_rows; ++i) target[i] -= column[i] * factor;
      }
    }
  }
  return true;
}

void subtract_outer_product(const LdltPanel& panel, double* update) {
  const int rest = panel.num_rows - panel.num_pivots;
  subtract_product(panel, panel.num_pivots, panel.num_pivots, panel.num_rows, update, rest);
}

void solve_lower(const LdltPanel& panel, double* x1, double* x2) {
  int k = 0;
  for (; k + 4 <= panel.num_pivots; k += 4) lower_columns<4>(panel, k, x1, x2);
  switch (panel.num_pivots - k) {
    case 3:
      return lower_columns<3>(panel, k, x1, x2);
    case 2:
      return lower_columns<2>(panel, k, x1, x2);
    case 1:
      return lower_columns<1>(panel, k, x1, x2);
    default:
      return;
  }
}

void solve_upper(const LdltPanel& panel, double* x1, const double* x2) {
  int k = panel.num_pivots;
  switch (k % 4) {
    case 3:
      upper_columns<3>(panel, k -= 3, x1, x2);
      break;
    case 2:
      upper_columns<2>(panel, k -= 2, x1, x2);
      break;
    case 1:
      upper_columns<1>(panel, k -= 1, x1, x2);
      break;
    default:
      break;
  }
  while (k > 0) upper_columns<4>(panel, k -= 4, x1, x2);
}

}  // namespace stiction
