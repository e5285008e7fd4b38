#include "stiction/solve/small_lu.h"

#include <algorithm>
#include <bit>

#include "stiction/base/linear_algebra.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

constexpr int kSize = SmallLu::kSize;
using Row = Eigen::Matrix<double, 1, kSize>;

Eigen::Map<Row> row_of(double* block, int i) { return Eigen::Map<Row>(block + i * kSize); }
Eigen::Map<const Row> row_of(const double* block, int i) {
  return Eigen::Map<const Row>(block + i * kSize);
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

/// y ← y − Ax.
void subtract_times(const double* a, const double* x, double* y) {
  const Row factor = row_of(x, 0);
  for (int i = 0; i < kSize; ++i) y[i] -= row_of(a, i).dot(factor);
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
  std::array<std::uint32_t, kMaxBlocks> graph = neighbours_;
  std::array<std::uint32_t, kMaxBlocks> left_at = {};  // neighbours at elimination, by number
  std::uint32_t left = (1U << num_blocks_) - 1;
  for (int place = 0; place < num_blocks_; ++place) {
    int best = -1, least = kMaxBlocks + 1;
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
  const auto size = static_cast<std::size_t>(place_of(num_blocks_, 0));
  if (values_.size() < size) values_.resize(size);
}

void SmallLu::clear() {
  for (int i = 0; i < num_blocks_; ++i) {
    std::fill_n(at(i, i), kEntries, 0.0);
    for_each_bit(later_[i], [&](int j) {
      std::fill_n(at(i, j), kEntries, 0.0);
      std::fill_n(at(j, i), kEntries, 0.0);
    });
  }
}

/// A_ij ← A_ij − A_ik A_kk⁻¹ A_kj; above the diagonal A_kk⁻¹A_kj is kept, below it A_ik.
bool SmallLu::factor() {
  for (int k = 0; k < num_blocks_; ++k) {
    int* swap = swap_.data() + k * kSize;
    if (!factor_lu(at(k, k), kSize, swap)) return false;
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
