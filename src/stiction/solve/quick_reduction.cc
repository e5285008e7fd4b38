#include "stiction/solve/quick_reduction.h"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

/// Entries below this share of what their column held at first are taken for rounding.
constexpr double kRounding = 1e-12;

constexpr std::uint64_t bit(int i) { return std::uint64_t{1} << i; }

}  // namespace

bool QuickReduction::takes(const StepProblem& problem) {
  if (problem.num_blocks() > 0 || problem.coupling.is_empty() ||
      problem.num_contact_rows() != problem.num_contacts() ||
      problem.num_contacts() > kMaxComplementary || problem.num_rows() > kMaxRows)
    return false;
  for (int i = 0; i < problem.num_bilateral(); ++i)
    if (problem.lower[i] != -StepProblem::kUnbounded || problem.upper[i] != StepProblem::kUnbounded)
      return false;
  return true;
}

bool QuickReduction::reduce(const StepProblem& problem) {
  num_complementary_ = problem.num_contacts();
  num_equations_ = num_free_ = problem.num_bilateral();
  swapped_ = 0;
  eliminations_.clear();
  if (num_free_ == 0) {
    load_plain(problem);
    return true;
  }
  load(problem);
  eliminate();
  return num_equations_ == 0;
}

/// A problem without equations, which is reduced already.
void QuickReduction::load_plain(const StepProblem& problem) {
  const RowCoupling& coupling = problem.coupling;
  const int m = stride_ = num_complementary_;
  const auto count = static_cast<std::size_t>(m) * m;
  if (numbers_.size() < count + m) numbers_.resize(count + m);
  const bool is_full = coupling.num_entries() == static_cast<int>(count);
  if (!is_full) std::fill_n(numbers_.begin(), count, 0.0);
  int e = 0;
  for (int i = 0; i < m; ++i) {
    double* target = row(i);
    for (; e < coupling.entry_start(i + 1); ++e) target[coupling.column(e)] = coupling.value(e);
    target[i] += problem.contact_compliance[i];
  }
  std::copy(problem.contact_bias.begin(), problem.contact_bias.end(), reduced_q());
}

void QuickReduction::load(const StepProblem& problem) {
  const RowCoupling& coupling = problem.coupling;
  const int m = num_complementary_, n = num_free_;
  width_ = stride_ = m + 1 + n;
  numbers_.assign(static_cast<std::size_t>(m + n + 3) * stride_, 0.0);
  variable_.resize(stride_);
  for (int j = 0; j < n; ++j) variable_[m + 1 + j] = j;
  for (int i = 0; i < m + n; ++i) {
    const int own = i < n ? m + 1 + i : i - n;
    double* target = row(i < n ? m + i : i - n);
    for (int e = coupling.entry_start(i); e < coupling.entry_start(i + 1); ++e) {
      const int j = coupling.column(e), column = j < n ? m + 1 + j : j - n;
      target[column] = coupling.value(e);
      column_size()[column] = std::max(column_size()[column], std::abs(coupling.value(e)));
    }
    target[own] += i < n ? problem.compliance[i] : problem.contact_compliance[i - n];
    target[m] = i < n ? -problem.bias[i] : problem.contact_bias[i - n];
  }
}

void QuickReduction::eliminate() {
  const int m = num_complementary_;
  while (num_equations_ > 0 && try_eliminate_free()) {
  }
  while (num_equations_ > 0 && try_eliminate_pair()) {
  }
  for (int i = 0; i < m; ++i) reduced_q()[i] = row(i)[m];
}

bool QuickReduction::is_pivot(double value, int column) {
  return std::abs(value) > kRounding * column_size()[column];
}

/// The open equation with the largest entry in a column.
int QuickReduction::largest_equation(int column) {
  int best = num_complementary_;
  for (int i = best + 1; i < num_complementary_ + num_equations_; ++i)
    if (std::abs(row(i)[column]) > std::abs(row(best)[column])) best = i;
  return best;
}

/// The column of the open free variable with the largest entry in a row.
int QuickReduction::largest_free(int i) {
  int best = num_complementary_ + 1;
  for (int j = best + 1; j < width_; ++j)
    if (std::abs(row(i)[j]) > std::abs(row(i)[best])) best = j;
  return best;
}

bool QuickReduction::try_eliminate_free() {
  for (int column = width_ - 1; column > num_complementary_; --column) {
    const int equation = largest_equation(column);
    if (!is_pivot(row(equation)[column], column)) continue;
    swap_columns(column, width_ - 1);
    exchange(equation, width_ - 1);
    finish(equation);
    return true;
  }
  return false;
}

/// The pair i with the largest min(|a_ei|, |a_if|) over open equations e and free variables f: a
/// principal pivot on [0 a_ei; a_if a_ii].
bool QuickReduction::try_eliminate_pair() {
  double best = 0;
  int equation = -1, column = -1, pair = -1;
  for (int i = 0; i < num_complementary_; ++i) {
    if ((swapped_ & bit(i)) != 0) continue;
    const int e = largest_equation(i), f = largest_free(i);
    const double value = std::min(std::abs(row(e)[i]), std::abs(row(i)[f]));
    if (value > best && is_pivot(row(e)[i], i) && is_pivot(row(i)[f], f))
      best = value, equation = e, column = f, pair = i;
  }
  if (pair < 0) return false;
  swap_columns(column, width_ - 1);
  exchange(equation, pair);
  // The column of z_pair has become that of an equation, zero, and is now given to y_pair, which
  // the second exchange makes a variable like the others.
  for (int i = 0; i < num_complementary_ + num_equations_; ++i) row(i)[pair] = 0;
  row(pair)[pair] = -1;
  exchange(pair, width_ - 1);
  swap_rows(equation, pair);  // z_pair takes the place of y_pair
  swapped_ |= bit(pair);
  finish(equation);
  return true;
}

/// Solves a row for the variable of a column and puts it into the other open rows.
void QuickReduction::exchange(int pivot_row, int column) {
  double* const source = row(pivot_row);
  const double factor = -1 / source[column];
  for (int j = 0; j < width_; ++j) source[j] *= factor;
  for (int i = 0; i < num_complementary_ + num_equations_; ++i) {
    double* const target = row(i);
    const double share = target[column];
    if (i == pivot_row || share == 0) continue;
    for (int j = 0; j < width_; ++j) target[j] += share * source[j];
  }
}

void QuickReduction::swap_columns(int a, int b) {
  if (a == b) return;
  for (int i = 0; i < num_rows(); ++i) std::swap(row(i)[a], row(i)[b]);
  std::swap(column_size()[a], column_size()[b]);
  std::swap(variable_[a], variable_[b]);
}

void QuickReduction::swap_rows(int a, int b) {
  if (a != b) std::swap_ranges(row(a), row(a) + stride_, row(b));
}

/// The row of an equation now gives the variable of the last column.
void QuickReduction::finish(int equation) {
  --num_equations_;
  --width_;
  swap_rows(equation, num_complementary_ + num_equations_);
  eliminations_.push_back({num_complementary_ + num_equations_, width_, swapped_});
}

void QuickReduction::recover(const double* reduced_z, StepSolution& solution) {
  const int m = num_complementary_;
  std::vector<double>& r = solution.r;
  for (int i = 0; i < m; ++i) {
    r[i] = reduced_z[i];
    if ((swapped_ & bit(i)) == 0) continue;
    double y = q()[i];
    for (int j = 0; j < m; ++j) y += row(i)[j] * reduced_z[j];
    r[i] = std::max(y, 0.0);
  }
  for (auto it = eliminations_.rbegin(); it != eliminations_.rend(); ++it) {
    const double* source = row(it->row);
    double value = source[m];
    for (int j = 0; j < m; ++j)
      value += source[j] * ((it->swapped & bit(j)) != 0 ? reduced_z[j] : r[j]);
    for (int j = m + 1; j < it->column; ++j) value += source[j] * x()[j];
    solution.lambda[variable_[it->column]] = x()[it->column] = value;
  }
}

}  // namespace stiction
