#include "stiction/solve/small_lu.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "stiction/base/linear_algebra.h"
#include "stiction/base/pair.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

constexpr int kSize = SmallLu::kSize;
using Row = Eigen::Matrix<double, 1, kSize>;

Eigen::Map<Row> row_of(double* block, int i) { return Eigen::Map<Row>(block + i * kSize); }
Eigen::Map<const Row> row_of(const double* block, int i) {
  return Eigen::Map<const Row>(block + i * kSize);
}

/// One column of factor_lu, whose number the compiler knows.
template <int kColumn>
bool eliminate_column(double* a, int* swap) {
  double* const pivot_row = a + kColumn * kSize;
  double largest = std::abs(pivot_row[kColumn]);
  int best = kColumn;
  for (int i = kColumn + 1; i < kSize; ++i) {
    const double size = std::abs(a[i * kSize + kColumn]);
    best = size > largest ? i : best;
    largest = size > largest ? size : largest;
  }
  swap[kColumn] = best;
  if (best != kColumn) std::swap_ranges(pivot_row, pivot_row + kSize, a + best * kSize);
  const double reciprocal = 1 / pivot_row[kColumn];
  if (!std::isfinite(reciprocal) || pivot_row[kColumn] == 0) return false;
  pivot_row[kColumn] = reciprocal;
  for (int i = kColumn + 1; i < kSize; ++i) {
    double* const row = a + i * kSize;
    if (row[kColumn] == 0) continue;
    const double factor = row[kColumn] *= reciprocal;
    for (int j = kColumn + 1; j < kSize; ++j) row[j] -= factor * pivot_row[j];
  }
  return true;
}

/// factor_lu of a block.
bool factor_block(double* a, int* swap) {
  return [&]<int... kColumns>(std::integer_sequence<int, kColumns...>) {
    return (eliminate_column<kColumns>(a, swap) && ...);
  }
  (std::make_integer_sequence<int, kSize>());
}

/// B ← A⁻¹B, for factors of A.
void divide_block(const double* lu, const int* swap, double* b) {
  for (int k = 0; k < kSize; ++k)
    if (swap[k] != k) std::swap_ranges(b + k * kSize, b + (k + 1) * kSize, b + swap[k] * kSize);
  for (int i = 1; i < kSize; ++i) {
    Row row = row_of(b, i);
    for (int k = 0; k < i; ++k) row -= lu[i * kSize + k] * row_of(b, k);
    row_of(b, i) = row;
  }
  for (int i = kSize - 1; i >= 0; --i) {
    Row row = row_of(b, i);
    for (int k = i + 1; k < kSize; ++k) row -= lu[i * kSize + k] * row_of(b, k);
    row_of(b, i) = lu[i * kSize + i] * row;  // reciprocals of pivots, see factor_lu
  }
}

/// C ← C − AB.
void subtract_product(const double* a, const double* b, double* c) {
  for (int i = 0; i < kSize; ++i) {
    Row row = row_of(c, i);
    for (int k = 0; k < kSize; ++k) row -= a[i * kSize + k] * row_of(b, k);
    row_of(c, i) = row;
  }
}

/// y ← y − Ax. Numbers of x were stored one by one just before, and to load them in pairs would
/// wait for that.
void subtract_times(const double* a, const double* x, double* y) {
  const Pair x0{x[0], x[1]}, x1{x[2], x[3]}, x2{x[4], x[5]};
  for (int i = 0; i < kSize; ++i, a += kSize)
    y[i] -= sum_of(load_pair(a) * x0 + (load_pair(a + 2) * x1 + load_pair(a + 4) * x2));
}

/// Calls visit(i) for the numbers of the bits that are set, increasing.
template <class Visit>
void for_each_bit(std::uint32_t bits, const Visit& visit) {
  for (; bits != 0; bits &= bits - 1) visit(std::countr_zero(bits));
}

}  // namespace

void SmallLu::begin(int num_blocks) {
  num_blocks_ = num_blocks;
  std::fill_n(neighbours_.begin(), num_blocks, 0U);
}

void SmallLu::couple(int first, int second) {
  neighbours_[first] |= 1U << second;
  neighbours_[second] |= 1U << first;
}

void SmallLu::analyse() {
  // As a rule the same as in the step before.
  const bool is_known =
      num_analysed_ == num_blocks_ &&
      std::equal(neighbours_.begin(), neighbours_.begin() + num_blocks_, analysed_.begin());
  if (is_known) return;
  num_analysed_ = num_blocks_;
  analysed_ = neighbours_;
  std::array<std::uint32_t, kMaxBlocks> graph = neighbours_;
  std::array<std::uint32_t, kMaxBlocks> left_at = {};  // neighbours at elimination, by number
  std::uint32_t left = (1U << num_blocks_) - 1;
  for (int place = 0; place < num_blocks_; ++place) {
    int best = std::countr_zero(left), least = kMaxBlocks + 1;
    for_each_bit(left, [&](int b) {
      const int degree = std::popcount(graph[b] & left & ~(1U << b));
      if (degree >= least) return;
      best = b;
      least = degree;
    });
    left &= ~(1U << best);
    const std::uint32_t others = left_at[best] = graph[best] & left;
    for_each_bit(others, [&](int b) { graph[b] |= others; });
    place_[best] = place;
    number_[place] = best;
  }
  for (int place = 0; place < num_blocks_; ++place) {
    later_[place] = 0;
    for_each_bit(left_at[number_[place]], [&](int b) { later_[place] |= 1U << place_[b]; });
  }
  place_values();
}

void SmallLu::place_values() {
  num_values_ = 0;
  const auto place = [&](int i, int j) {
    start_[kMaxBlocks * i + j] = num_values_;
    num_values_ += kEntries;
  };
  for (int i = 0; i < num_blocks_; ++i) {
    place(i, i);
    for_each_bit(later_[i], [&](int j) {
      place(i, j);
      place(j, i);
    });
  }
  const auto size = static_cast<std::size_t>(num_values_);
  if (values_.size() < size) values_.resize(size);
}

void SmallLu::clear() { std::fill_n(values_.begin(), num_values_, 0.0); }

/// A_ij ← A_ij − A_ik A_kk⁻¹ A_kj; above the diagonal A_kk⁻¹A_kj is kept, below it A_ik.
bool SmallLu::factor() {
  for (int k = 0; k < num_blocks_; ++k) {
    int* swap = swap_.data() + k * kSize;
    if (!factor_block(at(k, k), swap)) return false;
    for_each_bit(later_[k], [&](int j) {
      divide_block(at(k, k), swap, at(k, j));
      for_each_bit(later_[k], [&](int i) { subtract_product(at(i, k), at(k, j), at(i, j)); });
    });
  }
  return true;
}

void SmallLu::solve(double* x) const {
  for (int k = 0; k < num_blocks_; ++k) {
    double* own = x + number_[k] * kSize;
    solve_lu_of_size<kSize>(at(k, k), kSize, swap_.data() + k * kSize, own);
    for_each_bit(later_[k], [&](int i) { subtract_times(at(i, k), own, x + number_[i] * kSize); });
  }
  for (int k = num_blocks_ - 1; k >= 0; --k)
    for_each_bit(later_[k], [&](int j) {
      subtract_times(at(k, j), x + number_[j] * kSize, x + number_[k] * kSize);
    });
}

}  // namespace stiction
