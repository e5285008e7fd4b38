#include "stiction/solve/lemke_revised.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/check.h"

namespace stiction {

template <class Real>
void LemkeRevised<Real>::reset(const Data& data) {
  data_ = data;
  const int n = data.size;
  if (columns_.cols() < n + 1) columns_.resize(n + 1, n + 1);
  for (int i = 0; i < n; ++i) {
    const Real* source = data.matrix + static_cast<std::size_t>(i) * data.stride;
    for (int j = 0; j < n; ++j) columns_(j, i) = source[j];
    columns_(n, i) = data.cover[i];
  }
  if (inverse_.rows() < n + 1) inverse_.resize(n + 1, n + 1);
  z_names_.clear();
  y_names_.clear();
  place_.assign(2 * n + 1, -1);
  q_scale_ = 0;
  for (int i = 0; i < n; ++i) q_scale_ = std::max(q_scale_, -data.q[i]);
  for (Vector* v : {&z_, &y_, &dz_, &dy_, &column_, &row_, &row_of_a_})
    if (v->size() < n + 1) v->resize(n + 1);
  y_.head(n) = Eigen::Map<const Vector>(data.q, n);
  direction_of_ = -1;
}

template <class Real>
const Real* LemkeRevised<Real>::column(int variable) const {
  return columns_.row(variable - size()).data();
}

template <class Real>
Real LemkeRevised<Real>::value(int variable) const {
  return variable < size() ? y_[variable] : z_[place_[variable]];
}

template <class Real>
Real LemkeRevised<Real>::rate(int variable) const {
  return variable < size() ? dy_[variable] : dz_[place_[variable]];
}

template <class Real>
int LemkeRevised<Real>::first_leaving() const {
  // Of equal ratios the last row is the least: its perturbation has the highest power of ε.
  int best = 0;
  for (int i = 1; i < size(); ++i)
    if (data_.q[i] * data_.cover[best] <= data_.q[best] * data_.cover[i]) best = i;
  return best;
}

template <class Real>
void LemkeRevised<Real>::gather_column(int variable) {
  const Real* source = column(variable);
  for (int k = 0; k < num_basic(); ++k) column_[k] = source[y_names_[k]];
}

/// How the basic variables move per unit of the entering one; rows of L have no y to move.
template <class Real>
void LemkeRevised<Real>::compute_direction(int entering) {
  const int n = size(), s = num_basic();
  if (entering < n) {
    dz_.head(s) = inverse_.col(place_[entering]).head(s);
    dy_.head(n).setZero();
  } else {
    gather_column(entering);
    column_.head(s) = -column_.head(s);
    dz_.head(s).noalias() = inverse() * column_.head(s);
    dy_.head(n) = Eigen::Map<const Vector>(column(entering), n);
  }
  for (int k = 0; k < s; ++k)
    if (dz_[k] != Real(0)) dy_.head(n) += dz_[k] * Eigen::Map<const Vector>(column(z_names_[k]), n);
  for (const int i : y_names_) dy_[i] = 0;
  direction_of_ = entering;
}

template <class Real>
void LemkeRevised<Real>::measure(const PivotTolerances<Real>& tolerances) {
  const int n = size(), s = num_basic();
  largest_rate_ = dy_.head(n).cwiseAbs().maxCoeff();
  Real scale = q_scale_;
  if (s > 0) {
    largest_rate_ = std::max(largest_rate_, dz_.head(s).cwiseAbs().maxCoeff());
    scale = std::max(scale, z_.head(s).maxCoeff());
  }
  smallest_pivot_ = tolerances.pivot * std::max(Real(1), largest_rate_);
  slack_ = tolerances.tie * scale;
}

// Two passes as in LemkeDictionary.
template <class Real>
void LemkeRevised<Real>::collect_ties() {
  Real longest = std::numeric_limits<Real>::infinity();
  ties_.clear();
  const auto consider = [&](int variable, Real value, Real rate) {
    if (rate >= -smallest_pivot_) return;
    value = std::max(value, Real(0));
    if (value > -longest * rate) return;
    longest = std::min(longest, (value + slack_) / -rate);
    ties_.push_back(variable);
  };
  for (int i = 0; i < size(); ++i) consider(i, y_[i], dy_[i]);
  for (int k = 0; k < num_basic(); ++k) consider(z_names_[k], z_[k], dz_[k]);
  std::erase_if(ties_, [&](int v) { return std::max(value(v), Real(0)) > -longest * rate(v); });
}

/// The coefficient of εʲ in a basic variable: minus that of y_j while y_j is nonbasic.
template <class Real>
Real LemkeRevised<Real>::perturbation(int variable, int power) const {
  const int position = place_[power];
  if (position < 0) return variable == power ? Real(1) : Real(0);
  if (variable >= size()) return -inverse_(place_[variable], position);
  Real sum = 0;
  for (int k = 0; k < num_basic(); ++k)
    sum += columns_(z_names_[k] - size(), variable) * inverse_(k, position);
  return -sum;
}

template <class Real>
int LemkeRevised<Real>::lexicographic_least(const PivotTolerances<Real>& tolerances) {
  for (int power = 0; power < size() && ties_.size() > 1; ++power) {
    if (place_[power] < 0 && std::find(ties_.begin(), ties_.end(), power) == ties_.end()) continue;
    Real least = std::numeric_limits<Real>::infinity();
    for (std::size_t k = 0; k < ties_.size(); ++k) {
      row_[k] = perturbation(ties_[k], power);
      least = std::min(least, (row_[k] + tolerances.lexicographic) / -rate(ties_[k]));
    }
    std::size_t kept = 0;
    for (std::size_t k = 0; k < ties_.size(); ++k)
      if (!(row_[k] > -least * rate(ties_[k]) + tolerances.lexicographic)) ties_[kept++] = ties_[k];
    ties_.resize(kept);
  }
  // Rows that are equal in every power of ε cannot be told apart: the largest pivot is the safest.
  return *std::max_element(ties_.begin(), ties_.end(),
                           [&](int i, int k) { return rate(i) > rate(k); });
}

template <class Real>
int LemkeRevised<Real>::blocking(int entering, const PivotTolerances<Real>& tolerances) {
  compute_direction(entering);
  measure(tolerances);
  collect_ties();
  if (ties_.empty()) return -1;
  if (std::find(ties_.begin(), ties_.end(), z0()) != ties_.end()) return z0();
  if (ties_.size() == 1) return ties_.front();
  return lexicographic_least(tolerances);
}

template <class Real>
bool LemkeRevised<Real>::try_dismiss_z0(int left, Real tolerance) {
  const int z0_row = place_[z0()], s = num_basic();
  Real scale = q_scale_;
  for (int k = 0; k < s; ++k)
    if (k != z0_row) scale = std::max(scale, z_[k]);
  if (!(std::abs(z_[z0_row]) <= tolerance * scale)) return false;
  int best = -1;
  Real largest = 0;
  for (const int candidate : {left, complement(left)}) {
    compute_direction(candidate);
    if (std::abs(dz_[z0_row]) > largest) largest = std::abs(dz_[z0_row]), best = candidate;
  }
  if (best < 0) return false;
  exchange(z0(), best);
  return true;
}

template <class Real>
void LemkeRevised<Real>::exchange(int leaving, int entering) {
  if (direction_of_ != entering) {
    compute_direction(entering);
    measure({});
  }
  const Real pivot = rate(leaving);
  last_pivot_quality_ = std::abs(pivot) / std::max(largest_rate_, std::abs(pivot));
  const Real step = -value(leaving) / pivot;
  move(step);
  const bool is_z_entering = entering >= size(), is_z_leaving = leaving >= size();
  if (is_z_entering && !is_z_leaving) grow(leaving, entering);
  if (is_z_entering && is_z_leaving) replace_column(leaving, entering);
  if (!is_z_entering && !is_z_leaving) replace_row(leaving, entering);
  if (!is_z_entering && is_z_leaving) shrink(leaving, entering);
  if (is_z_entering)
    z_[place_[entering]] = step;
  else
    y_[entering] = step;
  if (!is_z_leaving) y_[leaving] = 0;
  direction_of_ = -1;
}

template <class Real>
void LemkeRevised<Real>::move(Real step) {
  z_.head(num_basic()) += step * dz_.head(num_basic());
  y_.head(size()) += step * dy_.head(size());
}

/// row_ = A_iS K.
template <class Real>
void LemkeRevised<Real>::compute_row(int y) {
  const int s = num_basic();
  for (int k = 0; k < s; ++k) row_of_a_[k] = columns_(z_names_[k] - size(), y);
  row_.head(s).noalias() = inverse().transpose() * row_of_a_.head(s);
}

/// z_j enters, y_i leaves: A_LS gets a column and a row.
template <class Real>
void LemkeRevised<Real>::grow(int leaving, int entering) {
  const int s = num_basic();
  const Real reciprocal = Real(1) / dy_[leaving];
  if (s > 0) {
    compute_row(leaving);
    row_.head(s) *= reciprocal;
    inverse().noalias() -= dz_.head(s) * row_.head(s).transpose();
    inverse_.col(s).head(s) = dz_.head(s) * reciprocal;
    inverse_.row(s).head(s) = -row_.head(s).transpose();
  }
  inverse_(s, s) = reciprocal;
  z_names_.push_back(entering);
  place_[entering] = s;
  y_names_.push_back(leaving);
  place_[leaving] = s;
}

/// z_j enters, z_k leaves: a column of A_LS is replaced.
template <class Real>
void LemkeRevised<Real>::replace_column(int leaving, int entering) {
  const int s = num_basic(), p = place_[leaving];
  row_.head(s) = inverse_.row(p).head(s).transpose() * (Real(-1) / dz_[p]);
  inverse().noalias() += dz_.head(s) * row_.head(s).transpose();
  inverse_.row(p).head(s) = row_.head(s).transpose();
  place_[leaving] = -1;
  name_z(p, entering);
}

/// y_l enters, y_i leaves: a row of A_LS is replaced.
template <class Real>
void LemkeRevised<Real>::replace_row(int leaving, int entering) {
  const int s = num_basic(), c = place_[entering];
  compute_row(leaving);
  const Real reciprocal = Real(1) / row_[c];
  column_.head(s) = inverse_.col(c).head(s) * reciprocal;
  inverse().noalias() -= column_.head(s) * row_.head(s).transpose();
  inverse_.col(c).head(s) = column_.head(s);
  place_[entering] = -1;
  name_y(c, leaving);
}

/// y_l enters, z_k leaves: A_LS loses a column and a row.
template <class Real>
void LemkeRevised<Real>::shrink(int leaving, int entering) {
  const int s = num_basic(), p = place_[leaving], c = place_[entering];
  const Real reciprocal = Real(1) / inverse_(p, c);
  row_.head(s) = inverse_.row(p).head(s).transpose() * reciprocal;
  column_.head(s) = inverse_.col(c).head(s);
  inverse().noalias() -= column_.head(s) * row_.head(s).transpose();
  remove_z(p);
  remove_y(c);
}

template <class Real>
void LemkeRevised<Real>::name_z(int position, int variable) {
  z_names_[position] = variable;
  place_[variable] = position;
}

template <class Real>
void LemkeRevised<Real>::name_y(int position, int variable) {
  y_names_[position] = variable;
  place_[variable] = position;
}

/// The last row of K takes the place of the one removed.
template <class Real>
void LemkeRevised<Real>::remove_z(int position) {
  const int last = static_cast<int>(z_names_.size()) - 1;
  place_[z_names_[position]] = -1;
  if (position != last) {
    inverse_.row(position).head(last + 1) = inverse_.row(last).head(last + 1);
    z_[position] = z_[last];
    name_z(position, z_names_[last]);
  }
  z_names_.pop_back();
}

template <class Real>
void LemkeRevised<Real>::remove_y(int position) {
  const int last = static_cast<int>(y_names_.size()) - 1;
  place_[y_names_[position]] = -1;
  if (position != last) {
    inverse_.col(position).head(last + 1) = inverse_.col(last).head(last + 1);
    name_y(position, y_names_[last]);
  }
  y_names_.pop_back();
}

template <class Real>
bool LemkeRevised<Real>::refresh() {
  ST_DEMAND(z_names_.size() == y_names_.size());
  if (!invert()) return false;
  compute_values();
  direction_of_ = -1;
  return true;
}

/// Gauss–Jordan in place with complete pivoting; the order of S and L becomes that of the pivots.
template <class Real>
bool LemkeRevised<Real>::invert() {
  const int s = num_basic();
  for (int j = 0; j < s; ++j) {
    const Real* source = column(z_names_[j]);
    for (int i = 0; i < s; ++i) inverse_(i, j) = source[y_names_[i]];
  }
  is_used_row_.assign(s, 0);
  is_used_column_.assign(s, 0);
  row_names_ = z_names_;
  column_names_ = y_names_;
  for (int step = 0; step < s; ++step) {
    int p = -1, c = -1;
    Real best = std::numeric_limits<Real>::epsilon();
    for (int i = 0; i < s; ++i) {
      if (is_used_row_[i]) continue;
      for (int j = 0; j < s; ++j)
        if (!is_used_column_[j] && std::abs(inverse_(i, j)) > best)
          best = std::abs(inverse_(i, j)), p = i, c = j;
    }
    if (p < 0) return false;
    is_used_row_[p] = is_used_column_[c] = 1;
    invert_step(p, c);
    name_z(p, row_names_[c]);
    name_y(c, column_names_[p]);
  }
  return true;
}

template <class Real>
void LemkeRevised<Real>::invert_step(int p, int c) {
  const int s = num_basic();
  const Real reciprocal = Real(1) / inverse_(p, c);
  row_.head(s) = inverse_.row(p).head(s).transpose() * -reciprocal;
  row_[c] = 0;
  column_.head(s) = inverse_.col(c).head(s);
  column_[p] = 0;
  inverse().noalias() += column_.head(s) * row_.head(s).transpose();
  inverse_.row(p).head(s) = row_.head(s).transpose();
  inverse_.col(c).head(s) = column_.head(s) * reciprocal;
  inverse_(p, c) = reciprocal;
}

template <class Real>
void LemkeRevised<Real>::compute_values() {
  const int n = size(), s = num_basic();
  for (int k = 0; k < s; ++k) column_[k] = -data_.q[y_names_[k]];
  z_.head(s).noalias() = inverse() * column_.head(s);
  y_.head(n) = Eigen::Map<const Vector>(data_.q, n);
  for (int k = 0; k < s; ++k)
    y_.head(n) += z_[k] * Eigen::Map<const Vector>(column(z_names_[k]), n);
  for (const int i : y_names_) y_[i] = 0;
}

template class LemkeRevised<double>;
template class LemkeRevised<long double>;

}  // namespace stiction
