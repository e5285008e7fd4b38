#include "stiction/solve/direct_attempt.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/infinity.h"

namespace stiction {
namespace {

/// A start with a block that is this far from balance, relative to its terms, passes no tolerance
/// below 1e-8: the certificate's norm of a block differs from the plain one by the root of its
/// condition, at most.
constexpr double kFarOff = 1e-3;
constexpr int kBlocksLookedAt = 4;

/// Share of a row's own entry of S that stabilises the factors of dependent rows. Rounding makes
/// impulses that do nothing of about 1e-16 over it; motions of the mechanism that are softer than
/// it, relative to a single joint, would converge slowly.
constexpr double kDamping = 1e-8;

/// Of a correction: the next one would be rounding. Corrections shrink by the same share each time,
/// which without damping is that of the first one in the answer.
constexpr double kSettled = 1e-9, kSettledDamped = 1e-12;
constexpr int kMaxRefinements = 12;
constexpr int kMoreRefinements = 3;  // if the judge refuses

constexpr double kSignTolerance = 1e-11;  // of impulses and slacks, relative to all impulses
constexpr int kMaxRounds = 40;
constexpr int kPatience = 3;  // rounds without fewer wrong statuses before they change one by one

bool has_impulses(const StepProblem& problem, const StepSolution& solution) {
  return static_cast<int>(solution.lambda.size()) == problem.num_bilateral() &&
         static_cast<int>(solution.r.size()) == problem.num_contact_rows();
}

bool is_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
}

/// Σ J_k²/M_kk + C of one row of a row block.
double compute_mobility(const StepProblem& problem, const BlockRows& rows, int row_block, int row,
                        double compliance) {
  double sum = compliance;
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const int columns = rows.entry_columns(e), block = rows.entry_block(e);
    const double* values = rows.entry_values(e) + static_cast<std::ptrdiff_t>(row) * columns;
    const double* mass = problem.mass_values.data() + problem.mass_start[block];
    for (int k = 0; k < columns; ++k) sum += values[k] * values[k] / mass[k * (columns + 1)];
  }
  return sum;
}

}  // namespace

bool DirectAttempt::is_for(const StepProblem& problem) {
  return problem.num_bilateral() > 0 && problem.coupling.is_empty() &&
         problem.num_contact_rows() <= problem.num_bilateral();
}

bool DirectAttempt::is_far_off(const StepProblem& problem, const StepSolution& solution) {
  if (!lu_.analyse(problem)) return false;
  const int num_looks = std::min(kBlocksLookedAt, problem.num_blocks());
  for (int i = 0; i < num_looks; ++i) {
    const int block = (problem.num_blocks() - 1) * i / std::max(num_looks - 1, 1);
    if (lu_.momentum_defect(problem, block, solution) > kFarOff) return true;
  }
  return false;
}

bool DirectAttempt::try_solve(const StepProblem& problem, Acceptance& judge, StepSolution& solution,
                              SolverReport& report) {
  if (!lu_.analyse(problem)) return false;
  set_up(problem, solution);
  SolverReport own;
  if (!find_statuses(problem, own) || has_slip()) return false;
  if (!refine_until_judged(problem, judge)) return false;
  solution = trial_;
  report = own;
  return true;
}

void DirectAttempt::set_up(const StepProblem& problem, const StepSolution& solution) {
  has_start_ =
      has_impulses(problem, solution) && !(is_zero(solution.lambda) && is_zero(solution.r));
  const int num_bilateral = problem.num_bilateral();
  side_.assign(problem.num_rows(), Side::kHeld);
  active_.assign(problem.num_rows(), 1);
  fixed_.assign(problem.num_rows(), 0.0);
  g_.resize(problem.num_rows());
  switches_.clear();
  for (int i = 0; i < num_bilateral; ++i) {
    g_[i] = problem.bias[i];
    if (problem.lower[i] == -kInfinity && problem.upper[i] == kInfinity) continue;
    const double mobility =
        compute_mobility(problem, problem.bilateral, i, 0, problem.compliance[i]);
    add_switch({.row = i,
                .lower = problem.lower[i],
                .upper = problem.upper[i],
                .root = std::sqrt(mobility)},
               has_start_ ? solution.lambda[i] : 0);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int first = problem.contacts.row_start(j), num_rows = problem.contacts.num_rows(j);
    for (int k = 0; k < num_rows; ++k) {
      const int row = num_bilateral + first + k;
      g_[row] = -problem.contact_bias[first + k];
      side_[row] = Side::kOff;
      active_[row] = 0;
    }
    const double mobility =
        compute_mobility(problem, problem.contacts, j, 0, problem.contact_compliance[first]);
    add_switch({.row = num_bilateral + first,
                .contact = j,
                .num_tangents = problem.mu[j] > 0 ? num_rows - 1 : 0,
                .mu = problem.mu[j],
                .upper = kInfinity,
                .root = std::sqrt(mobility)},
               has_start_ ? solution.r[first] : 0);
  }
}

/// The status that goes with an impulse of the start. Bounds that are equal leave no choice.
void DirectAttempt::add_switch(const Switch& candidate, double impulse) {
  switches_.push_back(candidate);
  Side side = Side::kHeld;
  const bool is_contact = candidate.contact >= 0;
  if (candidate.upper <= candidate.lower || (is_contact && impulse <= 0))
    side = Side::kLower;
  else if (has_start_ && impulse <= candidate.lower)
    side = Side::kLower;
  else if (has_start_ && impulse >= candidate.upper)
    side = Side::kUpper;
  set_side(candidate, side);
  if (candidate.upper <= candidate.lower) switches_.pop_back();
}

void DirectAttempt::set_side(const Switch& item, Side side) {
  side_[item.row] = side;
  active_[item.row] = side == Side::kHeld;
  fixed_[item.row] = side == Side::kLower ? item.lower : side == Side::kUpper ? item.upper : 0;
  for (int k = 1; k <= item.num_tangents; ++k) active_[item.row + k] = active_[item.row];
}

/// Exchanges statuses until none is wrong.
bool DirectAttempt::find_statuses(const StepProblem& problem, SolverReport& report) {
  std::size_t fewest = switches_.size() + 1;
  int patience = kPatience;
  for (int round = 0; round < kMaxRounds; ++round) {
    ++report.iterations;
    if (!factor_and_solve(problem)) return false;
    find_wrong(problem);
    if (wrong_.empty()) return true;
    if (wrong_.size() < fewest) {
      fewest = wrong_.size();
      patience = kPatience;
    } else if (patience > 0) {
      --patience;
    }
    const std::size_t first = patience > 0 ? 0 : wrong_.size() - 1;
    const double tolerance = kSignTolerance * compute_scale();
    for (std::size_t i = first; i < wrong_.size(); ++i) {
      const Switch& item = switches_[wrong_[i]];
      set_side(item, wanted_side(problem, item, tolerance));
    }
  }
  return false;
}

/// Where there are more rigid rows than velocities, some depend on others; everywhere else pivots
/// tell.
bool DirectAttempt::factor_and_solve(const StepProblem& problem) {
  f_ = problem.p;
  for (const Switch& item : switches_) {
    const double impulse = fixed_[item.row];
    if (impulse == 0) continue;
    const BlockRows& rows = problem.bilateral;  // open contacts have none
    for (int e = rows.entry_start(item.row); e < rows.entry_start(item.row + 1); ++e)
      for (int k = 0; k < rows.entry_columns(e); ++k)
        f_[problem.dof_start[rows.entry_block(e)] + k] += rows.entry_values(e)[k] * impulse;
  }
  int num_rigid = 0;
  for (int i = 0; i < problem.num_bilateral(); ++i)
    num_rigid += active_[i] && problem.compliance[i] == 0;
  is_damped_ = num_rigid > problem.num_dofs();
  if (!lu_.factor(problem, active_, is_damped_ ? kDamping : 0)) return false;
  if (!is_damped_ && !lu_.redundant_rows().empty()) {
    is_damped_ = true;
    if (!lu_.factor(problem, active_, kDamping)) return false;
  }
  lu_.solve(f_.data(), g_.data());
  if (is_damped_ && !switches_.empty()) (void)lu_.refine();
  return true;
}

void DirectAttempt::find_wrong(const StepProblem& problem) {
  wrong_.clear();
  if (switches_.empty()) return;
  const double tolerance = kSignTolerance * compute_scale();
  for (std::size_t i = 0; i < switches_.size(); ++i)
    if (wanted_side(problem, switches_[i], tolerance) != side_[switches_[i].row])
      wrong_.push_back(static_cast<int>(i));
}

DirectAttempt::Side DirectAttempt::wanted_side(const StepProblem& problem, const Switch& item,
                                               double tolerance) const {
  if (side_[item.row] == Side::kHeld) {
    const double impulse = lu_.x(item.row);
    if ((item.lower - impulse) * item.root > tolerance) return Side::kLower;
    if ((impulse - item.upper) * item.root > tolerance) return Side::kUpper;
    return Side::kHeld;
  }
  const double slack = compute_slack(problem, item);
  if (side_[item.row] == Side::kLower)
    return slack < -tolerance * item.root ? Side::kHeld : Side::kLower;
  return slack > tolerance * item.root ? Side::kHeld : Side::kUpper;
}

/// R w + C x − g of a row at a bound.
double DirectAttempt::compute_slack(const StepProblem& problem, const Switch& item) const {
  const int* start = problem.dof_start.data();
  const double* w = lu_.w().data();
  if (item.contact >= 0) return problem.contacts.times(item.contact, 0, start, w) - g_[item.row];
  return problem.bilateral.times(item.row, 0, start, w) +
         problem.compliance[item.row] * fixed_[item.row] - g_[item.row];
}

/// The largest impulse in √J, of those that hold and of those at bounds.
double DirectAttempt::compute_scale() const {
  double largest = 0;
  for (std::size_t row = 0; row < active_.size(); ++row) {
    if (!active_[row]) continue;
    const double x = lu_.x(static_cast<int>(row));
    largest = std::max(largest, x * x * lu_.weight(static_cast<int>(row)));
  }
  largest = std::sqrt(largest);
  for (const Switch& item : switches_)
    largest = std::max(largest, std::abs(fixed_[item.row]) * item.root);
  return largest;
}

/// A contact that would need more friction than any section has; the rest is the judge's.
bool DirectAttempt::has_slip() const {
  constexpr double kLargestSection = 1.42;  // a corner of the box
  for (const Switch& item : switches_) {
    if (item.num_tangents == 0 || !active_[item.row]) continue;
    double square = 0;
    for (int k = 1; k <= item.num_tangents; ++k)
      square += lu_.x(item.row + k) * lu_.x(item.row + k);
    if (std::sqrt(square) > kLargestSection * item.mu * lu_.x(item.row)) return true;
  }
  return false;
}

/// True if the judge accepts; the answer is in trial_.
bool DirectAttempt::refine_until_judged(const StepProblem& problem, Acceptance& judge) {
  double change = lu_.refine();
  const double settled = is_damped_ ? kSettledDamped : kSettled;
  for (int k = 1; k < kMaxRefinements && change > settled; ++k) {
    const double last = change;
    change = lu_.refine();
    if (!(change < 0.9 * last)) break;
  }
  for (int k = 0;; ++k) {
    write(problem);
    if (judge.accepts(problem, trial_)) return true;
    if (k == kMoreRefinements) return false;
    (void)lu_.refine();
  }
}

void DirectAttempt::write(const StepProblem& problem) {
  trial_.w.assign(lu_.w().begin(), lu_.w().end());
  trial_.lambda.resize(problem.num_bilateral());
  trial_.r.resize(problem.num_contact_rows());
  for (int i = 0; i < problem.num_bilateral(); ++i)
    trial_.lambda[i] = active_[i] ? lu_.x(i) : fixed_[i];
  for (int i = 0; i < problem.num_contact_rows(); ++i) {
    const int row = problem.num_bilateral() + i;
    trial_.r[i] = active_[row] ? lu_.x(row) : 0;
  }
  for (const Switch& item : switches_)
    if (item.row < problem.num_bilateral())
      trial_.lambda[item.row] = std::clamp(trial_.lambda[item.row], item.lower, item.upper);
    else
      trial_.r[item.row - problem.num_bilateral()] =
          std::max(trial_.r[item.row - problem.num_bilateral()], 0.0);
}

}  // namespace stiction
