// Lemke's method in one piece for a few variables, where the bookkeeping of LemkeDictionary costs
// more than its arithmetic: the same tableau and the same rule against cycling, covering vector of
// ones, no refreshing, sizes up to four unrolled. The first pivot is made while loading and the
// last one only as far as the values of the answer. What it finds has to be checked by the caller,
// who goes to LemkeLcp or LemkeGeneral with anything that is not solved.
#pragma once

#include <array>
#include <cstdint>

#include "stiction/solve/lcp.h"

namespace stiction {

/// w = M z + q, by address: nothing is copied. Element (i, j) of M is at i·row_step +
/// j·column_step.
struct DenseLcpView {
  int size = 0;
  const double* matrix = nullptr;
  const double* q = nullptr;
  int row_step = 0;
  int column_step = 1;
};

class LemkeSmall {
 public:
  static constexpr int kMaxSize = 62;

  /// Solves into z, of the size of the problem (at most kMaxSize). Does not allocate. kSolved: z is
  /// the answer up to rounding. kRay, kPivotLimit: z is unchanged.
  LcpReport solve(const DenseLcpView& lcp, double* z);

 private:
  // Rows have a stride that the compiler knows, kStride ≥ size + 2; kSize is 0 or the size.
  static constexpr int kMaxStride = 64;
  static constexpr int kConstant = 0;      // column of the values
  static constexpr int kFirst = 1;         // column that was z₀'s
  static constexpr int kCoefficients = 2;  // first column of the others

  template <int kSize, int kStride>
  LcpReport run(const DenseLcpView& lcp, double* z);
  // Parts of run with one caller each; a call would cost as much as a row of a tiny problem.
  template <int kSize, int kStride>
  [[gnu::always_inline]] inline void load(const DenseLcpView& lcp, int first);
  template <int kSize, int kStride>
  [[gnu::always_inline]] inline void load_short_row(const DenseLcpView& lcp, int first, int i);
  template <int kStride>
  [[gnu::always_inline]] inline void load_row(const DenseLcpView& lcp, int first, int i);
  template <int kSize, int kStride>
  int blocking_row(int size, int column);
  template <int kSize, int kStride>
  int least_ratio(int size, int column);
  int resolve_ties(int size, int column, int stride, int best);
  int lexicographic_least(int size, int column, int stride);
  void keep_least(int power_column, int column, int stride);
  template <int kSize, int kStride>
  [[gnu::always_inline]] inline void pivot(int size, int row, int column);
  template <int kSize, int kStride>
  [[gnu::always_inline]] inline void pivot_short(int size, int row, int column);
  template <int kStride>
  [[gnu::always_inline]] inline void pivot_long(int size, int row, int column);
  template <int kSize, int kStride>
  [[gnu::always_inline]] inline void finish(int size, int column, int entering, double* z) const;

  double slack_ = 0;
  double smallest_ = 0;  // pivot of the present column
  int z0_row_ = 0;
  std::uint64_t ties_ = 0;  // rows, one bit each; at first too many
  alignas(16) std::array<double, kMaxSize * kMaxStride> numbers_;
  // Variables are y_i = i and z_i = size + i; z₀ is known by its row.
  std::array<int, kMaxSize> basic_;
  std::array<int, kMaxStride> nonbasic_;  // by column
  std::array<int, 2 * kMaxSize> place_;  // column of a nonbasic variable, −1 − row of a basic one
};

}  // namespace stiction
