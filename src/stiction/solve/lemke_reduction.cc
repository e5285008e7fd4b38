#include "stiction/solve/lemke_reduction.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stiction {
namespace {

constexpr int kScalingSweeps = 4;

/// Entries of the equilibrated matrix below this count as zero when a pivot is sought.
template <class Real>
const Real kSmallestPivot = std::pow(std::numeric_limits<Real>::epsilon(), Real(0.7));

/// A power of two near 1/√x, one for x in [1/2, 2): scaling by it is exact.
template <class Real>
Real inverse_root(Real x) {
  if (!(x > 0)) return Real(1);
  const int exponent = std::ilogb(x);
  return std::ldexp(Real(1), -(exponent > 0 ? (exponent + 1) / 2 : exponent / 2));
}

}  // namespace

template <class Real>
void LemkeReduction<Real>::scale(const MixedLcp<Real>& lcp) {
  scaled_ = lcp;
  balance(scaled_, row_scale_, column_scale_);
}

template <class Real>
void LemkeReduction<Real>::reduce() {
  num_free_ = scaled_.num_free;
  stride_ = scaled_.size() + 1;
  open_equations_.resize(num_free_);
  std::iota(open_equations_.begin(), open_equations_.end(), 0);
  open_variables_ = open_equations_;
  equations_.clear();
  free_variables_.clear();
  is_swapped_.assign(scaled_.num_complementary, 0);
  if (num_free_ == 0) {
    reduced_ = scaled_;
    return;
  }
  load();
  while (try_exchange_free()) {
  }
  while (try_exchange_pair()) {
  }
  extract();
}

template <class Real>
void LemkeReduction<Real>::load() {
  const int size = scaled_.size();
  numbers_.resize(static_cast<std::size_t>(size) * stride_);
  for (int i = 0; i < size; ++i) {
    std::copy(scaled_.row(i), scaled_.row(i) + size, row(i));
    row(i)[size] = scaled_.vector[i];
  }
}

/// Multiplies rows and columns by powers of two until their largest entries are near one.
/// Symmetric matrices stay symmetric.
template <class Real>
void LemkeReduction<Real>::balance(MixedLcp<Real>& lcp, std::vector<Real>& row_scale,
                                   std::vector<Real>& column_scale) {
  const int n = lcp.size();
  row_scale.assign(n, Real(1));
  column_scale.assign(n, Real(1));
  for (int sweep = 0; sweep < kScalingSweeps && find_factors(lcp); ++sweep)
    for (int i = 0; i < n; ++i) {
      Real* target = lcp.row(i);
      for (int j = 0; j < n; ++j) target[j] *= row_factor_[i] * column_factor_[j];
      lcp.vector[i] *= row_factor_[i];
      row_scale[i] *= row_factor_[i];
      column_scale[i] *= column_factor_[i];
    }
}

/// The factors of one sweep; false if all of them are one.
template <class Real>
bool LemkeReduction<Real>::find_factors(const MixedLcp<Real>& lcp) {
  const int n = lcp.size();
  row_factor_.assign(n, Real(0));
  column_factor_.assign(n, Real(0));
  using Array = Eigen::Array<Real, Eigen::Dynamic, 1>;
  Eigen::Map<Array> columns(column_factor_.data(), n);
  for (int i = 0; i < n; ++i) {
    const Eigen::Map<const Array> source(lcp.row(i), n);
    row_factor_[i] = source.abs().maxCoeff();
    columns = columns.max(source.abs());
  }
  bool is_needed = false;
  for (std::vector<Real>* factors : {&row_factor_, &column_factor_})
    for (Real& x : *factors) is_needed |= (x = inverse_root(x)) != Real(1);
  return is_needed;
}

/// Step 2: the largest entry where open equations meet open variables.
template <class Real>
bool LemkeReduction<Real>::try_exchange_free() {
  Real best = kSmallestPivot<Real>;
  int equation = -1, variable = -1;
  for (const int e : open_equations_)
    for (const int f : open_variables_)
      if (std::abs(row(e)[f]) > best) best = std::abs(row(e)[f]), equation = e, variable = f;
  if (equation < 0) return false;
  exchange(equation, variable);
  // The tableau keeps a slot per original index: put the row of the free variable and the column of
  // the equation, both finished, out of the way by forgetting them.
  use_equation(equation);
  use_free(variable);
  return true;
}

/// Step 3: the pair i with the largest min(|a_ei|, |a_if|) over open equations and variables.
template <class Real>
bool LemkeReduction<Real>::try_exchange_pair() {
  Real best = kSmallestPivot<Real>;
  int equation = -1, variable = -1, pair = -1;
  for (int i = num_free_; i < stride_ - 1; ++i) {
    if (is_swapped_[i - num_free_]) continue;
    const auto largest = [&](const std::vector<int>& set, auto entry) {
      return *std::max_element(set.begin(), set.end(),
                               [&](int a, int b) { return entry(a) < entry(b); });
    };
    if (open_equations_.empty()) return false;
    const int e = largest(open_equations_, [&](int k) { return std::abs(row(k)[i]); });
    const int f = largest(open_variables_, [&](int k) { return std::abs(row(i)[k]); });
    const Real value = std::min(std::abs(row(e)[i]), std::abs(row(i)[f]));
    if (value > best) best = value, equation = e, variable = f, pair = i;
  }
  if (pair < 0) return false;
  exchange(equation, pair);
  exchange(pair, variable);
  // Row `equation` now holds z_pair and column `variable` holds y_pair: bring both to the slot of
  // the pair, which afterwards reads y_pair → z_pair with exchanged roles.
  std::swap_ranges(row(equation), row(equation) + stride_, row(pair));
  for (int i = 0; i < stride_ - 1; ++i) std::swap(row(i)[variable], row(i)[pair]);
  is_swapped_[pair - num_free_] = 1;
  use_equation(equation);
  use_free(variable);
  return true;
}

template <class Real>
void LemkeReduction<Real>::use_equation(int equation) {
  equations_.push_back(equation);
  std::erase(open_equations_, equation);
}

template <class Real>
void LemkeReduction<Real>::use_free(int variable) {
  free_variables_.push_back(variable);
  std::erase(open_variables_, variable);
}

/// Differences that are rounding of their terms become zero, or later pivots would take them for
/// data.
template <class Real>
void LemkeReduction<Real>::exchange(int pivot_row, int column) {
  constexpr Real kRounding = 8 * std::numeric_limits<Real>::epsilon();
  Real* __restrict source = row(pivot_row);
  const Real reciprocal = Real(1) / source[column];
  for (int j = 0; j < stride_; ++j) source[j] *= -reciprocal;
  source[column] = reciprocal;
  for (int i = 0; i < stride_ - 1; ++i) {
    Real* __restrict target = row(i);
    const Real factor = target[column];
    if (i == pivot_row || factor == Real(0)) continue;
    target[column] = 0;
    for (int j = 0; j < stride_; ++j) {
      const Real term = factor * source[j];
      const Real value = target[j] + term;
      target[j] = std::abs(value) <= kRounding * std::abs(term) ? Real(0) : value;
    }
  }
}

template <class Real>
void LemkeReduction<Real>::extract() {
  const int n = stride_ - 1 - num_free_;
  reduced_.resize(0, n);
  for (int i = 0; i < n; ++i) {
    const Real* from = row(num_free_ + i);
    std::copy(from + num_free_, from + num_free_ + n, reduced_.row(i));
    reduced_.vector[i] = from[num_free_ + n];
  }
  // Only signs and the basis are taken from the reduced problem, so its scales need not be kept.
  balance(reduced_, unused_row_scale_, unused_column_scale_);
}

template class LemkeReduction<double>;
template class LemkeReduction<long double>;

}  // namespace stiction
