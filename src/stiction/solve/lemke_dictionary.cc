#include "stiction/solve/lemke_dictionary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/check.h"

namespace stiction {

template <class Real>
void LemkeDictionary<Real>::reset(const Data& data) {
  data_ = data;
  const int n = data.size;
  stride_ = n + 2;
  numbers_.resize(static_cast<std::size_t>(n) * stride_);
  basic_.resize(n);
  nonbasic_.resize(n + 1);
  place_.resize(2 * n + 1);
  q_scale_ = 0;
  for (int i = 0; i < n; ++i) q_scale_ = std::max(q_scale_, -data.q[i]);
  load();
}

template <class Real>
void LemkeDictionary<Real>::load() {
  const int n = data_.size;
  for (int i = 0; i < n; ++i) {
    const Real* from = data_.matrix + static_cast<std::size_t>(i) * data_.stride;
    Real* to = row(i);
    std::copy(from, from + n, to);
    to[n] = data_.cover[i];
    to[n + 1] = data_.q[i];
    basic_[i] = i;
    place_[i] = -1 - i;
    nonbasic_[i] = n + i;
    place_[n + i] = i;
  }
  nonbasic_[n] = z0();
  place_[z0()] = n;
}

template <class Real>
int LemkeDictionary<Real>::first_leaving() const {
  // Of equal ratios the last row is the least: its perturbation has the highest power of ε.
  int best = 0;
  for (int i = 1; i < size(); ++i)
    if (data_.q[i] * data_.cover[best] <= data_.q[best] * data_.cover[i]) best = i;
  return best;
}

template <class Real>
Real LemkeDictionary<Real>::perturbation(int row_index, int power) const {
  const int place = place_[power];
  if (place < 0) return place == -1 - row_index ? Real(1) : Real(0);
  return -row(row_index)[place];
}

template <class Real>
void LemkeDictionary<Real>::measure(int column, const PivotTolerances<Real>& tolerances) {
  Real largest = 1, scale = q_scale_;
  for (int i = 0; i < size(); ++i) {
    largest = std::max(largest, std::abs(row(i)[column]));
    if (basic_[i] >= size()) scale = std::max(scale, value(i));
  }
  smallest_pivot_ = tolerances.pivot * largest;
  slack_ = tolerances.tie * scale;
}

// Two passes (after Harris): the longest step that violates no bound by more than the slack, then
// every row that blocks within it. Rows whose exact ratios are equal are all found this way.
template <class Real>
void LemkeDictionary<Real>::collect_ties(int column) {
  Real longest = std::numeric_limits<Real>::infinity();
  ties_.clear();
  for (int i = 0; i < size(); ++i) {
    const Real rate = -row(i)[column];
    if (rate <= smallest_pivot_) continue;
    const Real value = std::max(row(i)[q_column()], Real(0));
    if (value > longest * rate) continue;
    longest = std::min(longest, (value + slack_) / rate);
    ties_.push_back(i);
  }
  std::erase_if(ties_, [&](int i) {
    return std::max(row(i)[q_column()], Real(0)) > -longest * row(i)[column];
  });
}

template <class Real>
int LemkeDictionary<Real>::lexicographic_least(int column,
                                               const PivotTolerances<Real>& tolerances) {
  for (int power = 0; power < size() && ties_.size() > 1; ++power) {
    // Compare P_i/a_i with an error of `lexicographic` in every P_i.
    Real least = std::numeric_limits<Real>::infinity();
    for (const int i : ties_) {
      const Real rate = -row(i)[column];
      least = std::min(least, (perturbation(i, power) + tolerances.lexicographic) / rate);
    }
    std::erase_if(ties_, [&](int i) {
      return perturbation(i, power) > -least * row(i)[column] + tolerances.lexicographic;
    });
  }
  // Rows that are equal in every power of ε cannot be told apart: the largest pivot is the safest.
  return *std::max_element(ties_.begin(), ties_.end(),
                           [&](int i, int k) { return row(i)[column] > row(k)[column]; });
}

template <class Real>
int LemkeDictionary<Real>::blocking(int entering, const PivotTolerances<Real>& tolerances) {
  const int column = place_[entering];
  measure(column, tolerances);
  const int z0_row = -1 - place_[z0()];
  collect_ties(column);
  if (ties_.empty()) return -1;
  for (const int i : ties_)
    if (i == z0_row) return z0();
  if (ties_.size() == 1) return basic_[ties_.front()];
  return basic_[lexicographic_least(column, tolerances)];
}

template <class Real>
bool LemkeDictionary<Real>::try_dismiss_z0(int left, Real tolerance) {
  const int z0_row = -1 - place_[z0()];
  Real scale = q_scale_;
  for (int i = 0; i < size(); ++i)
    if (basic_[i] >= size() && i != z0_row) scale = std::max(scale, value(i));
  if (!(std::abs(value(z0_row)) <= tolerance * scale)) return false;
  const int columns[2] = {place_[left], place_[complement(left)]};
  const Real* coefficients = row(z0_row);
  const bool first_is_larger =
      std::abs(coefficients[columns[0]]) > std::abs(coefficients[columns[1]]);
  const int column = first_is_larger ? columns[0] : columns[1];
  if (coefficients[column] == Real(0)) return false;
  pivot(z0_row, column);
  return true;
}

template <class Real>
void LemkeDictionary<Real>::pivot(int pivot_row, int column) {
  const int n = size();
  Real* __restrict source = row(pivot_row);
  const Real reciprocal = Real(1) / source[column];
  for (int j = 0; j < stride_; ++j) source[j] *= -reciprocal;
  source[column] = reciprocal;
  Real largest = std::abs(Real(1) / reciprocal);
  const Real pivot_size = largest;
  for (int i = 0; i < n; ++i) {
    if (i == pivot_row) continue;
    Real* __restrict target = row(i);
    const Real factor = target[column];
    if (factor == Real(0)) continue;
    largest = std::max(largest, std::abs(factor));
    target[column] = 0;
    for (int j = 0; j < stride_; ++j) target[j] += factor * source[j];
  }
  last_pivot_quality_ = pivot_size / largest;
  const int leaving = basic_[pivot_row];
  const int entering = nonbasic_[column];
  basic_[pivot_row] = entering;
  nonbasic_[column] = leaving;
  place_[entering] = -1 - pivot_row;
  place_[leaving] = column;
}

template <class Real>
bool LemkeDictionary<Real>::refresh() {
  const int n = size();
  entering_.clear();
  leaving_.clear();
  for (int variable = n; variable <= z0(); ++variable)
    if (is_basic(variable)) entering_.push_back(variable);
  for (int i = 0; i < n; ++i)
    if (!is_basic(i)) leaving_.push_back(i);
  ST_DEMAND(entering_.size() == leaving_.size());
  load();
  while (!entering_.empty()) {
    std::size_t best_e = 0, best_l = 0;
    Real best = 0;
    for (std::size_t l = 0; l < leaving_.size(); ++l) {
      const Real* candidates = row(leaving_[l]);
      for (std::size_t e = 0; e < entering_.size(); ++e) {
        const Real size_of = std::abs(candidates[place_[entering_[e]]]);
        if (size_of > best) best = size_of, best_e = e, best_l = l;
      }
    }
    if (!(best > std::numeric_limits<Real>::epsilon())) return false;
    pivot(leaving_[best_l], place_[entering_[best_e]]);
    leaving_[best_l] = leaving_.back();
    leaving_.pop_back();
    entering_[best_e] = entering_.back();
    entering_.pop_back();
  }
  return true;
}

template class LemkeDictionary<double>;
template class LemkeDictionary<long double>;

}  // namespace stiction
