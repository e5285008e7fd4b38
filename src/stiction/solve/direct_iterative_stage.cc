#include "stiction/solve/direct_iterative_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/infinity.h"

namespace stiction {
namespace {

constexpr double kShift = 1e-10;          // δ in units of 1/W_ii
constexpr double kSignTolerance = 1e-14;  // of a wrong sign, in units of the energy scale
constexpr int kMaxProximalSteps = 6;
constexpr int kBlockRounds = 10;  // rounds without fewer wrong signs before single changes
constexpr int kMinRounds = 100;   // limit per proximal step, and as many more as there are rows

}  // namespace

SaddleLdlt::Status DirectStage::prepare(const StepProblem& problem, const ContactBlocks& blocks,
                                        const double* x, const double* velocity) {
  problem_ = &problem;
  const int num_rows = problem.num_rows(), num_bilateral = problem.num_bilateral();
  rows_.clear();
  active_.assign(num_rows, 0);
  side_.assign(num_rows, Side::kOutside);
  lower_.assign(num_rows, 0.0);
  upper_.assign(num_rows, kInfinity);
  omega_.assign(num_rows, 0.0);
  delta_.assign(num_rows, 0.0);
  for (int unit = 0; unit < blocks.num_units(); ++unit) {
    const int row = blocks.unit(unit).row;
    if (unit < num_bilateral) {
      add_row(row, blocks.bilateral_W(unit), blocks.lower(unit), blocks.upper(unit));
      continue;
    }
    add_row(row, blocks.contact(unit - num_bilateral).W(0, 0), 0, kInfinity);
  }
  ldlt_.analyse(problem, active_);
  choose_sides(x, velocity);
  return ldlt_.factor(problem, active_, delta_);
}

/// Rows that nothing moves, or that have no room to move, stay outside.
void DirectStage::add_row(int row, double omega, double lower, double upper) {
  omega_[row] = omega;
  lower_[row] = lower;
  upper_[row] = upper;
  if (!(omega > 0) || lower == upper) return;
  rows_.push_back(row);
  active_[row] = 1;
  const bool is_joint = std::isinf(lower) && std::isinf(upper);
  if (!is_joint) delta_[row] = kShift * omega;
}

/// A row is free where it carries an impulse or its velocity calls for one.
void DirectStage::choose_sides(const double* x, const double* velocity) {
  for (const int row : rows_) {
    const double wanted = x[row] - velocity[row] / omega_[row];
    side_[row] = wanted <= lower_[row]   ? Side::kLower
                 : wanted >= upper_[row] ? Side::kUpper
                                         : Side::kFree;
    active_[row] = side_[row] == Side::kFree;
  }
}

DirectStage::Report DirectStage::solve(double* x, double energy_scale) {
  Report report;
  scale_ = energy_scale;
  center_.assign(x, x + side_.size());
  answer_ = center_;
  for (int step = 0; step < kMaxProximalSteps; ++step) {
    report.is_solved = pivot(x, report);
    if (!take_answer(x, report.is_solved) || !report.is_solved) break;
  }
  return report;
}

/// Block pivoting around the present proximal centre; the answer goes to answer_.
bool DirectStage::pivot(double* x, Report& report) {
  const int max_rounds = kMinRounds + static_cast<int>(rows_.size());
  int fewest = std::numeric_limits<int>::max(), patience = kBlockRounds;
  for (int round = 0; round < max_rounds; ++round) {
    if (!factor_and_solve(x, report)) return false;
    const int num_wrong = find_wrong_rows();
    if (num_wrong == 0) return true;
    if (num_wrong < fewest) {
      fewest = num_wrong;
      patience = kBlockRounds;
    } else if (patience > 0) {
      --patience;
    }
    const int num_changed = patience > 0 ? num_wrong : 1;
    for (int k = 0; k < num_changed; ++k) {
      const int row = wrong_[k];
      side_[row] = wanted_side(row);
      active_[row] = side_[row] == Side::kFree;
    }
  }
  return false;
}

bool DirectStage::factor_and_solve(const double* x, Report& report) {
  if (ldlt_.factor(*problem_, active_, delta_) != SaddleLdlt::Status::kFactored) return false;
  ++report.rounds;
  report.fronts += ldlt_.fronts_refactored();
  form_right_side(x);
  ldlt_.solve(f_, g_, w_, answer_);
  for (const int row : rows_) {
    if (side_[row] == Side::kLower) answer_[row] = lower_[row];
    if (side_[row] == Side::kUpper) answer_[row] = upper_[row];
  }
  return true;
}

/// f = p and the impulses that are not solved for; g = what free rows have to move with.
void DirectStage::form_right_side(const double* x) {
  const int num_bilateral = problem_->num_bilateral();
  f_ = problem_->p;
  g_.assign(side_.size(), 0.0);
  for (std::size_t i = 0; i < side_.size(); ++i) {
    const int row = static_cast<int>(i);
    if (side_[row] == Side::kFree) {
      g_[row] = (row < num_bilateral ? problem_->bias[row]
                                     : -problem_->contact_bias[row - num_bilateral]) +
                delta_[row] * center_[row];
      continue;
    }
    const double impulse = side_[row] == Side::kLower   ? lower_[row]
                           : side_[row] == Side::kUpper ? upper_[row]
                                                        : x[row];
    if (impulse == 0) continue;
    const RowPlace place = ConstraintGraph::place_of_row(*problem_, row);
    for (int k = 0; k < place.num_entries(); ++k)
      for (int c = 0; c < place.columns(k); ++c)
        f_[problem_->dof_start[place.block(k)] + c] += place.values(k)[c] * impulse;
  }
}

/// Velocity of a row at its bound, with the proximal term.
double DirectStage::slack(int row) const {
  const int num_bilateral = problem_->num_bilateral();
  const double compliance = row < num_bilateral ? problem_->compliance[row]
                                                : problem_->contact_compliance[row - num_bilateral];
  double sum =
      row < num_bilateral ? -problem_->bias[row] : problem_->contact_bias[row - num_bilateral];
  sum += compliance * answer_[row] + delta_[row] * (answer_[row] - center_[row]);
  const RowPlace place = ConstraintGraph::place_of_row(*problem_, row);
  for (int k = 0; k < place.num_entries(); ++k)
    for (int c = 0; c < place.columns(k); ++c)
      sum += place.values(k)[c] * w_[problem_->dof_start[place.block(k)] + c];
  return sum;
}

DirectStage::Side DirectStage::wanted_side(int row) const {
  const double root = std::sqrt(omega_[row]), tolerance = kSignTolerance * scale_;
  switch (side_[row]) {
    case Side::kFree:
      if ((lower_[row] - answer_[row]) * root > tolerance) return Side::kLower;
      if ((answer_[row] - upper_[row]) * root > tolerance) return Side::kUpper;
      return Side::kFree;
    case Side::kLower:
      return slack(row) / root < -tolerance ? Side::kFree : Side::kLower;
    case Side::kUpper:
      return slack(row) / root > tolerance ? Side::kFree : Side::kUpper;
    default:
      return side_[row];
  }
}

int DirectStage::find_wrong_rows() {
  wrong_.clear();
  for (const int row : rows_)
    if (wanted_side(row) != side_[row]) wrong_.push_back(row);
  return static_cast<int>(wrong_.size());
}

/// Takes over the answer. True if a proximal step around it would change anything.
bool DirectStage::take_answer(double* x, bool is_solved) {
  double left = 0;
  for (const int row : rows_) {
    x[row] = is_solved ? std::clamp(answer_[row], lower_[row], upper_[row]) : answer_[row];
    left = std::max(left, delta_[row] * std::abs(x[row] - center_[row]) / std::sqrt(omega_[row]));
    center_[row] = x[row];
  }
  return left > 0.1 * kSignTolerance * scale_;
}

}  // namespace stiction
