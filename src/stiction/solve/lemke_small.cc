#include "stiction/solve/lemke_small.h"

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>

#include "stiction/base/known_size.h"

namespace stiction {
namespace {

/// As in LemkeLcp: rounding of coefficients, of values and of what breaks ties.
constexpr double kPivot = 1e-11;
constexpr double kTie = 1e-13;
constexpr double kLexicographic = 1e-11;

/// A pivot below this is compared with its column before it is believed.
constexpr double kSmallPivot = 1e-6;

constexpr std::uint64_t bit(int row) { return std::uint64_t{1} << row; }
bool has_several(std::uint64_t rows) { return (rows & (rows - 1)) != 0; }

/// Calls visit(row) for every row of a set, in order.
template <class Visit>
void for_each_row(std::uint64_t rows, const Visit& visit) {
  for (; rows != 0; rows &= rows - 1) visit(std::countr_zero(rows));
}

/// A number that is stored by itself shortly before it is loaded together with its neighbours
/// stalls the processor: in rows up to this stride that would be most of the time.
constexpr int kShortRow = 8;

/// Two numbers that are stored at once.
using AnyPair [[gnu::vector_size(16), gnu::may_alias]] = double;

/// Row k: ones, and a zero in column k.
template <int kStride>
struct Others {
  alignas(16) std::array<double, kStride* kStride> numbers = {};
  constexpr Others() {
    for (int i = 0; i < kStride; ++i)
      for (int j = 0; j < kStride; ++j) numbers[i * kStride + j] = i == j ? 0 : 1;
  }
  const double* row(int k) const { return numbers.data() + k * kStride; }
};
template <int kStride>
constexpr Others<kStride> kOthers;

}  // namespace

LcpReport LemkeSmall::solve(const DenseLcpView& lcp, double* z) {
  switch (lcp.size) {
    case 1:
      return run<1, 4>(lcp, z);
    case 2:
      return run<2, 4>(lcp, z);
    case 3:
      return run<3, 6>(lcp, z);
    case 4:
      return run<4, 6>(lcp, z);
    default:
      break;
  }
  using Run = LcpReport (LemkeSmall::*)(const DenseLcpView&, double*);
  static constexpr Run kRuns[] = {
      &LemkeSmall::run<0, 4>,  &LemkeSmall::run<0, 8>,  &LemkeSmall::run<0, 12>,
      &LemkeSmall::run<0, 16>, &LemkeSmall::run<0, 20>, &LemkeSmall::run<0, 24>,
      &LemkeSmall::run<0, 28>, &LemkeSmall::run<0, 32>, &LemkeSmall::run<0, 36>,
      &LemkeSmall::run<0, 40>, &LemkeSmall::run<0, 44>, &LemkeSmall::run<0, 48>,
      &LemkeSmall::run<0, 52>, &LemkeSmall::run<0, 56>, &LemkeSmall::run<0, 60>,
      &LemkeSmall::run<0, 64>};
  return (this->*kRuns[(lcp.size + 1) / 4])(lcp, z);
}

template <int kSize, int kStride>
LcpReport LemkeSmall::run(const DenseLcpView& lcp, double* z) {
  const int n = known<kSize>(lcp.size);
  // Of equal q the last row is the least: its perturbation has the highest power of ε.
  int first = 0;
  for (int i = 1; i < n; ++i)
    if (lcp.q[i] <= lcp.q[first]) first = i;
  if (n == 0 || lcp.q[first] >= 0) {
    std::fill_n(z, n, 0.0);
    return {};
  }
  load<kSize, kStride>(lcp, first);
  const int limit = 20 + 5 * n;
  int column = kCoefficients + first;
  for (int pivots = 2; pivots <= limit; ++pivots) {
    const int row = blocking_row<kSize, kStride>(n, column);
    if (row < 0) return {LcpStatus::kRay, pivots - 1};
    const int entering = nonbasic_[column], leaving = basic_[row];
    if (row == z0_row_) {
      finish<kSize, kStride>(n, column, entering, z);
      return {LcpStatus::kSolved, pivots};
    }
    pivot<kSize, kStride>(n, row, column);
    basic_[row] = entering;
    place_[entering] = -1 - row;
    nonbasic_[column] = leaving;
    place_[leaving] = column;
    column = place_[leaving < n ? leaving + n : leaving - n];
  }
  return {LcpStatus::kPivotLimit, limit};
}

/// y = M z + z₀ + q after z₀ has taken the row of the least q: with covering ones that is a
/// subtraction of this row from the others. z₀'s column becomes that of y_first.
template <int kSize, int kStride>
void LemkeSmall::load(const DenseLcpView& lcp, int first) {
  const int n = known<kSize>(lcp.size);
  for (int i = 0; i < n; ++i) {
    if constexpr (kSize > 0)
      load_short_row<kSize, kStride>(lcp, first, i);
    else
      load_row<kStride>(lcp, first, i);
    basic_[i] = i;
    place_[i] = -1 - i;
    nonbasic_[kCoefficients + i] = n + i;
    place_[n + i] = kCoefficients + i;
  }
  nonbasic_[kFirst] = first;
  place_[first] = kFirst;
  z0_row_ = first;
  slack_ = -kTie * lcp.q[first];
}

/// z₀'s own row has no other to be subtracted from.
template <int kStride>
void LemkeSmall::load_row(const DenseLcpView& lcp, int first, int i) {
  const double* least = lcp.matrix + static_cast<std::ptrdiff_t>(first) * lcp.row_step;
  const double* from = lcp.matrix + static_cast<std::ptrdiff_t>(i) * lcp.row_step;
  double* const to = numbers_.data() + i * kStride;
  to[kConstant] = (i == first ? 0 : lcp.q[i]) - lcp.q[first];
  to[kFirst] = 1;
  double* const coefficients = to + kCoefficients;
  const int n = lcp.size, step = lcp.column_step;
  if (i == first)
    for (int j = 0; j < n; ++j) coefficients[j] = -least[j * step];
  else if (step == 1)
    for (int j = 0; j < n; ++j) coefficients[j] = from[j] - least[j];
  else
    for (int j = 0; j < n; ++j) coefficients[j] = from[j * step] - least[j * step];
  for (int j = kCoefficients + n; j < kStride; ++j) to[j] = 0;
}

/// The same in pairs; see kShortRow.
template <int kSize, int kStride>
void LemkeSmall::load_short_row(const DenseLcpView& lcp, int first, int i) {
  const double* least = lcp.matrix + static_cast<std::ptrdiff_t>(first) * lcp.row_step;
  const double* from = lcp.matrix + static_cast<std::ptrdiff_t>(i) * lcp.row_step;
  const double share = i == first ? 0 : 1;
  const int step = lcp.column_step;
  const auto coefficient = [&](int j) {
    return j < kSize ? share * from[j * step] - least[j * step] : 0;
  };
  auto* const pairs = reinterpret_cast<AnyPair*>(numbers_.data() + i * kStride);
  pairs[0] = AnyPair{share * lcp.q[i] - lcp.q[first], 1};
  for (int j = 0; j + kCoefficients < kStride; j += 2)
    pairs[1 + j / 2] = AnyPair{coefficient(j), coefficient(j + 1)};
}

/// The row that blocks as the variable of `column` grows; −1 if none does.
template <int kSize, int kStride>
int LemkeSmall::blocking_row(int size, int column) {
  smallest_ = kPivot;
  int best = least_ratio<kSize, kStride>(size, column);
  if (best >= 0 && numbers_[best * kStride + column] > -kSmallPivot) [[unlikely]] {
    double largest = 1;
    for (int i = 0; i < size; ++i)
      largest = std::max(largest, std::abs(numbers_[i * kStride + column]));
    smallest_ = kPivot * largest;
    best = least_ratio<kSize, kStride>(size, column);
  }
  return has_several(ties_) ? resolve_ties(size, column, kStride, best) : best;
}

/// The first of the two passes of LemkeDictionary: the longest step that violates no variable by
/// more than the slack. Ratios are compared by products.
template <int kSize, int kStride>
int LemkeSmall::least_ratio(int size, int column) {
  const int n = known<kSize>(size);
  int best = -1;
  double best_value = 1, best_rate = 0;  // an infinite ratio
  ties_ = 0;
  for (int i = 0; i < n; ++i) {
    const double rate = -numbers_[i * kStride + column];
    if (rate <= smallest_) continue;
    const double value = std::max(numbers_[i * kStride + kConstant], 0.0);
    if (value * best_rate > best_value * rate) continue;
    ties_ |= bit(i);
    if ((value + slack_) * best_rate >= best_value * rate) continue;
    best = i;
    best_value = value + slack_;
    best_rate = rate;
  }
  return best;
}

/// Of the rows whose ratio is that of `best` within the slack: z₀, or the lexicographically least.
int LemkeSmall::resolve_ties(int size, int column, int stride, int best) {
  const double best_rate = -numbers_[best * stride + column];
  const double best_value = std::max(numbers_[best * stride + kConstant], 0.0) + slack_;
  for_each_row(ties_, [&](int row) {
    const double rate = -numbers_[row * stride + column];
    const double value = std::max(numbers_[row * stride + kConstant], 0.0);
    if (value * best_rate > best_value * rate) ties_ ^= bit(row);
  });
  if ((ties_ & bit(z0_row_)) != 0) return z0_row_;
  return has_several(ties_) ? lexicographic_least(size, column, stride) : std::countr_zero(ties_);
}

/// The coefficient of εᵖ in a basic variable is minus that of y_p while y_p is nonbasic; while it
/// is basic, one in its own row and zero elsewhere, so that its row is greater than the others.
int LemkeSmall::lexicographic_least(int size, int column, int stride) {
  for (int power = 0; power < size && has_several(ties_); ++power) {
    const int place = place_[power];
    if (place < 0)
      ties_ &= ~bit(-1 - place);
    else
      keep_least(place, column, stride);
  }
  // Rows that are equal in every power of ε cannot be told apart: the largest pivot is the safest.
  int best = std::countr_zero(ties_);
  for_each_row(ties_, [&](int row) {
    if (numbers_[row * stride + column] < numbers_[best * stride + column]) best = row;
  });
  return best;
}

/// Keeps the rows with the least ratio of minus a coefficient to the rate.
void LemkeSmall::keep_least(int power_column, int column, int stride) {
  double best_value = 1, best_rate = 0;  // an infinite ratio
  for_each_row(ties_, [&](int row) {
    const double rate = -numbers_[row * stride + column];
    const double value = kLexicographic - numbers_[row * stride + power_column];
    if (value * best_rate < best_value * rate) best_value = value, best_rate = rate;
  });
  for_each_row(ties_, [&](int row) {
    const double rate = -numbers_[row * stride + column];
    const double value = -kLexicographic - numbers_[row * stride + power_column];
    if (value * best_rate > best_value * rate) ties_ ^= bit(row);
  });
}

template <int kSize, int kStride>
void LemkeSmall::pivot(int size, int row, int column) {
  if constexpr (kStride <= kShortRow)
    pivot_short<kSize, kStride>(size, row, column);
  else
    pivot_long<kStride>(size, row, column);
}

/// The column of the pivot is exchanged by multiplying with a zero among ones: whole rows are
/// loaded and stored.
template <int kSize, int kStride>
void LemkeSmall::pivot_short(int size, int row, int column) {
  const int n = known<kSize>(size);
  using Row = Eigen::Array<double, kStride, 1>;
  using RowMap = Eigen::Map<Row, Eigen::Aligned16>;
  const Eigen::Map<const Row, Eigen::Aligned16> others(kOthers<kStride>.row(column));
  double* const pivot_row = numbers_.data() + row * kStride;
  const double reciprocal = 1 / pivot_row[column];
  const Row source = ((1 - others) - RowMap{pivot_row} * others).eval() * reciprocal;
  for (int i = 0; i < n; ++i) {
    if (i == row) continue;
    double* const target = numbers_.data() + i * kStride;
    const double factor = target[column];
    RowMap{target} = RowMap{target} * others + factor * source;
  }
  RowMap{pivot_row} = source;
}

/// Rows that the pivot leaves alone are looked for. The column is overwritten after each row, as
/// long as possible before it is loaded with its neighbours.
template <int kStride>
void LemkeSmall::pivot_long(int size, int row, int column) {
  using Row = Eigen::Array<double, kStride, 1>;
  using RowMap = Eigen::Map<Row, Eigen::Aligned16>;
  double* const pivot_row = numbers_.data() + row * kStride;
  const double reciprocal = 1 / pivot_row[column];
  const Row source = RowMap{pivot_row} * -reciprocal;
  for (int i = 0; i < size; ++i) {
    if (i == row) continue;
    double* const target = numbers_.data() + i * kStride;
    const double factor = target[column];
    if (factor == 0) continue;
    RowMap{target} += factor * source;
    target[column] = factor * reciprocal;
  }
  RowMap{pivot_row} = source;
  pivot_row[column] = reciprocal;
}

/// z₀ leaves: only the values are still needed.
template <int kSize, int kStride>
void LemkeSmall::finish(int size, int column, int entering, double* z) const {
  const int n = known<kSize>(size);
  const double* z0 = numbers_.data() + z0_row_ * kStride;
  const double step = -z0[kConstant] / z0[column];
  std::fill_n(z, n, 0.0);
  for (int i = 0; i < n; ++i) {
    const double* row = numbers_.data() + i * kStride;
    if (basic_[i] >= n && i != z0_row_)
      z[basic_[i] - n] = std::max(row[kConstant] + step * row[column], 0.0);
  }
  if (entering >= n) z[entering - n] = std::max(step, 0.0);
}

}  // namespace stiction
