#include "stiction/solve/block_pivot_lcp.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"
#include "stiction/solve/dense_lu.h"

namespace stiction {
namespace {

/// Signs within this share of the terms that a number is made of are rounding.
constexpr double kSignTolerance = 1e-12;

/// A pivot of the equilibrated matrix below this says that its rows depend on each other. Impulses
/// that cancel could take any size then, and would hide every error beside them.
constexpr double kSingularPivot = 1e-11;

constexpr int kRefinements = 2;

}  // namespace

void BoundedLcp::resize(int n) {
  size = n;
  const auto count = static_cast<std::size_t>(n);
  matrix.assign(count * count, 0);
  vector.assign(count, 0);
  lower.assign(count, -kInfinity);
  upper.assign(count, kInfinity);
  master.assign(count, -1);
  ratio.assign(count, 0);
}

void BlockPivotLcp::reset(const BoundedLcp& lcp) {
  state_.resize(lcp.size);
  for (int i = 0; i < lcp.size; ++i) {
    const bool has_lower = lcp.lower[i] > -kInfinity, has_upper = lcp.upper[i] < kInfinity;
    state_[i] = !has_lower && !has_upper ? State::kBetween
                : has_lower && !(has_upper && std::abs(lcp.upper[i]) < std::abs(lcp.lower[i]))
                    ? State::kLower
                    : State::kUpper;
  }
}

LcpReport BlockPivotLcp::solve(const BoundedLcp& lcp, const BlockPivotOptions& options) {
  const int limit = options.max_rounds > 0 ? options.max_rounds : 1000 + 20 * lcp.size;
  pace_ = {.block_left = options.block_rounds, .spell = 2 * lcp.size};
  is_linked_ = false;
  regularization_ = options.regularization;
  for (int round = 1; round <= limit; ++round) {
    if (options.deadline.has_passed()) return {LcpStatus::kPivotLimit, round};
    place_bounds(lcp);
    if (!solve_between(lcp, options.regularization)) return {LcpStatus::kSingular, round};
    compute_w(lcp);
    const int count = find_violations(lcp);
    if (count == 0) return {LcpStatus::kSolved, round};
    if (!update_pace(count, round, options)) return {LcpStatus::kRay, round};
    change_states();
  }
  return {LcpStatus::kPivotLimit, limit};
}

/// Decides between all violations and one. False if single changes go round in a circle whichever
/// end they start from.
bool BlockPivotLcp::update_pace(int count, int round, const BlockPivotOptions& options) {
  if (count < pace_.fewest) {
    const int spell = pace_.spell;
    pace_ = {.fewest = count, .block_left = options.block_rounds, .spell = spell};
    old_states_.clear();
    return true;
  }
  const bool is_cycle = is_repeated(round);
  if (pace_.block_left > 0) {
    pace_.block_left = is_cycle ? 0 : pace_.block_left - 1;
    if (pace_.block_left == 0) start_spell(round, false);
    return true;
  }
  if (is_cycle && pace_.has_cycled) return false;
  if (is_cycle || --pace_.spell_left == 0) {
    pace_.has_cycled = pace_.has_cycled || is_cycle;
    pace_.spell *= 2;
    start_spell(round, !pace_.is_reversed);
  }
  return true;
}

void BlockPivotLcp::start_spell(int round, bool is_reversed) {
  pace_.is_reversed = is_reversed;
  pace_.spell_left = pace_.spell;
  old_states_ = state_;
  old_round_ = round;
}

void BlockPivotLcp::change_states() {
  if (pace_.block_left > 0) {
    for (std::size_t k = 0; k < violations_.size(); ++k) state_[violations_[k]] = wanted_[k];
  } else {
    const std::size_t k = pace_.is_reversed ? violations_.size() - 1 : 0;
    state_[violations_[k]] = wanted_[k];
  }
}

/// Brent's test: the states are compared with those of the last round that was a power of two.
bool BlockPivotLcp::is_repeated(int round) {
  if (old_states_ == state_) return true;
  if (old_states_.empty() || round >= 2 * old_round_) {
    old_states_ = state_;
    old_round_ = round;
  }
  return false;
}

void BlockPivotLcp::place_bounds(const BoundedLcp& lcp) {
  z_.resize(lcp.size);
  for (int i = 0; i < lcp.size; ++i)
    z_[i] = state_[i] == State::kLower   ? lcp.lower[i]
            : state_[i] == State::kUpper ? lcp.upper[i]
                                         : 0;
}

/// Variables between, from LU factors and refinement that starts from the present z. The factors
/// may be more regular than the equations, but only where they have to be.
bool BlockPivotLcp::solve_between(const BoundedLcp& lcp, double factor_regularization) {
  between_.clear();
  for (int i = 0; i < lcp.size; ++i)
    if (state_[i] == State::kBetween) between_.push_back(i);
  const bool may_be_exact = factor_regularization > 0 && regularization_ == 0;
  if (!(may_be_exact && factor_between(lcp, 0)) && !factor_between(lcp, factor_regularization))
    return false;
  for (int k = 0; k <= kRefinements; ++k) {
    compute_residual(lcp);
    apply_correction(lcp);
  }
  return std::all_of(z_.begin(), z_.end(), [](double z) { return std::isfinite(z); });
}

bool BlockPivotLcp::factor_between(const BoundedLcp& lcp, double regularization) {
  const int size = static_cast<int>(between_.size());
  factor_.resize(static_cast<std::size_t>(size) * size);
  factor_swap_.resize(size);
  for (int a = 0; a < size; ++a) {
    double* target = factor_.data() + static_cast<std::size_t>(a) * size;
    const double* source = lcp.row(between_[a]);
    for (int b = 0; b < size; ++b) target[b] = source[between_[b]];
    target[a] += regularization;
  }
  if (is_linked_) add_links(lcp);
  return factor_lu(factor_.data(), size, factor_swap_.data(),
                   regularization > 0 ? 0.0 : kSingularPivot);
}

/// Linked variables at their bounds follow their master: their columns are added to its column.
void BlockPivotLcp::add_links(const BoundedLcp& lcp) {
  const auto size = static_cast<std::ptrdiff_t>(between_.size());
  for (int i = 0; i < lcp.size; ++i) {
    if (lcp.master[i] < 0 || state_[i] == State::kBetween) continue;
    const auto place = std::lower_bound(between_.begin(), between_.end(), lcp.master[i]);
    if (place == between_.end() || *place != lcp.master[i]) continue;
    const double share = state_[i] == State::kUpper ? lcp.ratio[i] : -lcp.ratio[i];
    const std::ptrdiff_t column = place - between_.begin();
    for (std::ptrdiff_t a = 0; a < size; ++a)
      factor_[a * size + column] += share * lcp.row(between_[a])[i];
  }
}

/// Row i of H z + δz + q, accumulated in long double, and the sum of the sizes of its terms.
double BlockPivotLcp::compute_row(const BoundedLcp& lcp, int i, double& magnitude) const {
  const double* row = lcp.row(i);
  long double sum = lcp.vector[i] + static_cast<long double>(regularization_) * z_[i];
  magnitude = std::abs(lcp.vector[i]);
  for (int j = 0; j < lcp.size; ++j) {
    if (z_[j] == 0) continue;
    sum += static_cast<long double>(row[j]) * z_[j];
    magnitude += std::abs(row[j] * z_[j]);
  }
  return static_cast<double>(sum);
}

void BlockPivotLcp::compute_residual(const BoundedLcp& lcp) {
  correction_.resize(between_.size());
  double unused = 0;
  for (std::size_t a = 0; a < between_.size(); ++a)
    correction_[a] = -compute_row(lcp, between_[a], unused);
}

void BlockPivotLcp::apply_correction(const BoundedLcp& lcp) {
  solve_lu(factor_.data(), static_cast<int>(between_.size()), factor_swap_.data(),
           correction_.data());
  for (std::size_t a = 0; a < between_.size(); ++a) z_[between_[a]] += correction_[a];
  if (is_linked_) spread_links(lcp);
}

void BlockPivotLcp::spread_links(const BoundedLcp& lcp) {
  for (int i = 0; i < lcp.size; ++i)
    if (lcp.master[i] >= 0 && state_[i] != State::kBetween)
      z_[i] = (state_[i] == State::kUpper ? lcp.ratio[i] : -lcp.ratio[i]) * z_[lcp.master[i]];
}

void BlockPivotLcp::correct(const BoundedLcp& lcp, const std::vector<double>& w) {
  correction_.resize(between_.size());
  for (std::size_t a = 0; a < between_.size(); ++a) correction_[a] = -w[between_[a]];
  apply_correction(lcp);
}

void BlockPivotLcp::compute_w(const BoundedLcp& lcp) {
  w_.assign(lcp.size, 0);
  magnitude_.assign(lcp.size, 0);
  for (int i = 0; i < lcp.size; ++i)
    if (state_[i] != State::kBetween) w_[i] = compute_row(lcp, i, magnitude_[i]);
}

/// Where the present numbers want variable i to be.
BlockPivotLcp::State BlockPivotLcp::wanted_state(const BoundedLcp& lcp, int i,
                                                 double z_tolerance) const {
  const bool follows = is_linked_ && lcp.master[i] >= 0;
  const double reach = follows ? lcp.ratio[i] * std::max(0.0, z_[lcp.master[i]]) : 0;
  const double lower = follows ? -reach : lcp.lower[i], upper = follows ? reach : lcp.upper[i];
  const double w_tolerance = kSignTolerance * magnitude_[i];
  switch (state_[i]) {
    case State::kBetween:
      return z_[i] < lower - z_tolerance   ? State::kLower
             : z_[i] > upper + z_tolerance ? State::kUpper
                                           : State::kBetween;
    case State::kLower:
      return w_[i] < -w_tolerance && lower < upper ? State::kBetween : State::kLower;
    case State::kUpper:
      return w_[i] > w_tolerance && lower < upper ? State::kBetween : State::kUpper;
  }
  return state_[i];
}

int BlockPivotLcp::find_violations(const BoundedLcp& lcp) {
  double largest = 0;
  for (const double z : z_) largest = std::max(largest, std::abs(z));
  violations_.clear();
  wanted_.clear();
  for (int i = 0; i < lcp.size; ++i) {
    const State wanted = wanted_state(lcp, i, kSignTolerance * largest);
    if (wanted == state_[i]) continue;
    violations_.push_back(i);
    wanted_.push_back(wanted);
  }
  return static_cast<int>(violations_.size());
}

LcpReport BlockPivotLcp::solve_linked(const BoundedLcp& lcp, double factor_regularization,
                                      int max_rounds) {
  saved_states_ = state_;
  saved_z_ = z_;
  is_linked_ = true;
  regularization_ = 0;
  for (int round = 1; round <= max_rounds; ++round) {
    place_bounds(lcp);
    for (int i = 0; i < lcp.size; ++i)
      if (state_[i] == State::kBetween) z_[i] = saved_z_[i];
    spread_links(lcp);
    if (!solve_between(lcp, factor_regularization)) break;
    compute_w(lcp);
    if (find_violations(lcp) == 0) return {LcpStatus::kSolved, round};
    for (std::size_t k = 0; k < violations_.size(); ++k) state_[violations_[k]] = wanted_[k];
  }
  state_ = saved_states_;
  return {LcpStatus::kPivotLimit, max_rounds};
}

}  // namespace stiction
