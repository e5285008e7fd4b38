#include "stiction/solve/body_newton.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/deadline.h"
#include "stiction/base/infinity.h"
#include "stiction/solve/gauss_seidel_sweep.h"
#include "stiction/solve/newton_work.h"

namespace stiction {
namespace {

/// ε relative to the mobility of a unit: errors shrink by about this factor per iteration, and as
/// many digits of the factors are lost, which the next iteration makes good.
constexpr double kCompliance = 1e-4;

/// Balance is found when the defect has fallen by this factor, or not in so many steps.
constexpr double kBalance = 1e-4;
constexpr int kMaxSteps = 6;
/// From impulses that have the statuses right it has fallen to this share after the first step; at
/// loose tolerances, and of many contacts, others are left to sweeps.
constexpr double kFirstGain = 0.1;

/// A search ends where the slope is this share of the first one.
constexpr double kSearchGain = 0.1;
constexpr int kMaxTrials = 6;

/// After so many iterations a residual has to fall by this factor in each; before, it is hopeless
/// above this level.
constexpr int kSettling = 3;
constexpr double kLeastGain = 0.5, kHopeless = 1e-3;
/// A start beyond this is of another motion, and its statuses are. In logs that roll starts with
/// more than this error of motion (T23) all failed, and hardly one with less.
constexpr double kFarStart = 3e-4, kFarMotion = 1e-5;
/// Share of the speed of free motion up to which a contact that opens counts as closed.
constexpr double kTouch = 1e-3;
/// Share of the impulse that would stop a body at such a contact. Walls are found with shares from
/// 0.05 to 1: with less contacts slip, with more they are torn apart.
constexpr double kPress = 0.5;
/// Units and bodies that one task takes: some ten microseconds.
constexpr int kUnitGrain = 64, kBodyGrain = 16;
/// Share of the energy of free motion above which bodies move for certain, and of what an answer
/// may be wrong by.
constexpr double kMotion = 1e-3, kErrorShare = 10;

}  // namespace

BodyNewton::BodyNewton(const BodyNewtonOptions& options, std::shared_ptr<SweepWorkshop> workshop)
    : options_(options),
      acceptance_(options.tolerance, options.measure, options.workers),
      workshop_(share_or_make(workshop)),
      is_alone_(workshop == nullptr),
      blocks_(workshop_->blocks),
      judge_(workshop_->residual),
      state_(workshop_->state),
      lu_(options.workers) {}

SolverReport BodyNewton::solve(const StepProblem& problem, StepSolution& solution) {
  const Deadline deadline(max_seconds_);
  acceptance_.forget_last();
  if (!start(problem, solution)) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kUnsupported, .has_answer = false};
  }
  SolverReport report{.status = SolverStatus::kMaxIterations};
  if (leaves_rest_ && !moves(problem)) {
    report.has_answer = false;
    return report;
  }
  bool is_cold = !has_impulses();
  // What is left to sweeps is no answer to them either: more need not be known of it.
  const bool may_leave = !is_cold && leaves_motion_ && workshop_->may_be_packed();
  double level = judge_.evaluate_impulses(
      blocks_, state_, may_leave ? std::max(kFarMotion, options_.enough) : kInfinity);
  target_ = options_.goal;
  if (level <= target_ && is_accepted(problem, solution, options_.goal)) return {};
  const bool is_patient = is_cold || !(options_.leaves_motion || gives_up_soon_);
  report.has_answer = false;  // none that the caller does not have
  workshop_->is_start_measured = true;
  if (!is_cold && !(level <= kFarStart)) return report;
  const bool gives_up_far = leaves_motion_ || gives_up_soon_;
  if (!is_cold && gives_up_far && !(judge_.last_levels().motion <= kFarMotion)) return report;
  if (!is_cold && options_.leaves_motion && moves(problem)) return report;
  const double max_flops = affordable_flops(deadline.time_limit(), options_.max_flops);
  if (!(level <= options_.tolerance) && is_too_large(max_flops)) return report;
  workshop_->is_start_measured = false;
  prepare_impulses();
  if (is_cold) press_contacts();
  build_pattern(problem);
  bool has_gained = lu_.analyse(matrix_, max_flops);
  if (!has_gained && !(level <= options_.tolerance)) return report;
  report.has_answer = true;
  for (int iteration = 1; has_gained && iteration <= options_.max_iterations; ++iteration) {
    if (deadline.has_passed()) break;
    if (is_cold)
      w_.assign(problem.num_dofs(), 0.0);
    else
      find_origin(problem);
    if (!find_balance(problem, is_patient ? kMaxSteps : 1, deadline, report.iterations)) {
      report.has_answer = !is_cold;
      break;
    }
    const double before = level;
    level = judge_.evaluate_impulses(blocks_, state_);
    if (is_cold && moves(problem)) {
      report.has_answer = false;
      return report;
    }
    is_cold = false;
    const bool is_there = level <= target_ && is_accepted(problem, solution, options_.goal);
    const bool will_do = !is_there && level <= options_.enough && moves(problem) &&
                         is_accepted(problem, solution, options_.enough);
    if (is_there || will_do) {
      report.status = SolverStatus::kConverged;
      return report;
    }
    // Statuses settle in the first iterations, or not at all.
    has_gained = iteration <= kSettling ? level < kHopeless : level <= kLeastGain * before;
  }
  if (!report.has_answer) return report;
  if (is_accepted(problem, solution, options_.tolerance))
    report.status = SolverStatus::kConverged;
  else if (!solution.is_finite()) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kNonFinite, .has_answer = false};
  }
  return report;
}

/// For factors. What an order of least degree costs is not known before it is found, but it does
/// not gain more than this factor on layers.
bool BodyNewton::is_too_large(double max_flops) const {
  constexpr double kLargestGain = 10;
  return workshop_->find_order().estimate_elimination(blocks_) > kLargestGain * max_flops;
}

bool BodyNewton::start(const StepProblem& problem, const StepSolution& solution) {
  if (problem.num_blocks() == 0 || !problem.coupling.is_empty()) return false;
  for (int j = 0; j < problem.num_contacts(); ++j)
    if (problem.contacts.num_rows(j) == 3 && problem.mu[j] > 0 &&
        problem.section[j].kind != FrictionSection::Kind::kDisc)
      return false;
  if (is_alone_) workshop_->forget();
  if (!workshop_->lay_out(problem, options_.measure, options_.workers)) return false;
  workshop_->is_start_measured = false;
  state_.start(blocks_, solution, true);
  return state_.is_finite();
}

void BodyNewton::prepare_impulses() {
  impulses_.assign(state_.x(), state_.x() + blocks_.num_rows());
  bias_.resize(blocks_.num_rows());
  for (int row = 0; row < blocks_.num_rows(); ++row) bias_[row] = blocks_.bias(row);
  set_compliance();
}

void BodyNewton::set_compliance() {
  epsilon_.resize(blocks_.num_units());
  responses_.resize(blocks_.num_units());
  shift_.assign(blocks_.num_units(), 0.0);
  for (int i = 0; i < blocks_.num_units(); ++i) {
    const ContactBlocks::Unit& unit = blocks_.unit(i);
    epsilon_[i] = kCompliance * blocks_.omega(i);
    for (int a = 0; a < unit.dim; ++a)
      epsilon_[i] = std::max(epsilon_[i], blocks_.compliance(unit.row + a));
  }
}

/// Where in a body's row of the matrix the pieces of its units go.
void BodyNewton::build_pattern(const StepProblem& problem) {
  const int n = problem.num_blocks();
  BlockMatrix& A = matrix_;
  A.row_start.assign(problem.dof_start.begin(), problem.dof_start.end());
  A.diagonal.resize(n);
  find_neighbours(n);
  A.value_start.assign(1, 0);
  for (int b = 0; b < n; ++b)
    for (int e = A.entry_start[b]; e < A.entry_start[b + 1]; ++e) {
      if (A.entry_block[e] == b) A.diagonal[b] = e;
      A.value_start.push_back(A.value_start.back() + A.size(b) * A.size(A.entry_block[e]));
    }
  A.mirror.resize(A.entry_block.size());
  for (int b = 0; b < n; ++b)
    for (int e = A.entry_start[b]; e < A.entry_start[b + 1]; ++e)
      A.mirror[e] = find_entry(A.entry_block[e], b);
  A.values.resize(A.value_start.back());
  pair_start_.assign(1, 0);
  pairs_.clear();
  for (int i = 0; i < blocks_.num_units(); ++i)
    for (int e = blocks_.unit(i).entry_begin; e < blocks_.unit(i + 1).entry_begin; ++e) {
      for (int f = blocks_.unit(i).entry_begin; f < blocks_.unit(i + 1).entry_begin; ++f)
        pairs_.push_back(A.value_start[find_entry(blocks_.entry(e).block, blocks_.entry(f).block)]);
      pair_start_.push_back(static_cast<int>(pairs_.size()));
    }
}

/// Bodies that share a unit, each once and in increasing order.
void BodyNewton::find_neighbours(int num_bodies) {
  BlockMatrix& A = matrix_;
  A.entry_start.assign(1, 0);
  A.entry_block.clear();
  seen_from_.assign(num_bodies, -1);
  for (int b = 0; b < num_bodies; ++b) {
    const auto add = [&](int other) {
      if (seen_from_[other] == b) return;
      seen_from_[other] = b;
      A.entry_block.push_back(other);
    };
    add(b);
    for (const ContactBlocks::Meeting& meeting : blocks_.meetings(b))
      for (int f = blocks_.unit(meeting.unit).entry_begin;
           f < blocks_.unit(meeting.unit + 1).entry_begin; ++f)
        add(blocks_.entry(f).block);
    std::sort(A.entry_block.begin() + A.entry_start[b], A.entry_block.end());
    A.entry_start.push_back(static_cast<int>(A.entry_block.size()));
  }
}

int BodyNewton::find_entry(int row, int column) const {
  const auto begin = matrix_.entry_block.begin() + matrix_.entry_start[row];
  const auto end = matrix_.entry_block.begin() + matrix_.entry_start[row + 1];
  return static_cast<int>(std::lower_bound(begin, end, column) - matrix_.entry_block.begin());
}

void BodyNewton::respond_bilateral(int i, double u) {
  const int row = blocks_.unit(i).row;
  const double sigma = epsilon_[i] - blocks_.compliance(row);
  const double z = (sigma * guess_[row] - u) / epsilon_[i];
  Response& response = responses_[i];
  response.x[0] = std::clamp(z, blocks_.lower(i), blocks_.upper(i));
  response.D[0] = response.x[0] == z ? 1 / epsilon_[i] : 0;
}

/// `u` is without what compliance adds to it.
void BodyNewton::respond_contact(int i, const double* u) {
  const ContactBlocks::Unit& unit = blocks_.unit(i);
  const double epsilon = epsilon_[i], mu = blocks_.contact(i - blocks_.num_bilateral()).mu();
  const int dim = unit.dim;
  const double* guess = guess_.data() + unit.row;
  Response& response = responses_[i];
  std::fill_n(response.D, 9, 0.0);
  std::fill_n(response.x, 3, 0.0);
  double z[3] = {}, z_t = 0;
  for (int a = 0; a < dim; ++a) {
    const double c = blocks_.compliance(unit.row + a);
    z[a] = ((epsilon - c) * guess[a] - u[a]) / epsilon;
    if (a > 0) z_t += z[a] * z[a];
  }
  z_t = std::sqrt(z_t);
  z[0] -= shift_[i] / epsilon;
  if (mu == 0 || dim == 1) {
    if (z[0] <= 0) return;
    response.x[0] = z[0];
    response.D[0] = 1 / epsilon;
    return;
  }
  if (z[0] <= -mu * z_t) return;  // open
  double DP[9] = {};              // derivative of the projection
  if (z_t <= mu * z[0]) {         // sticks
    for (int a = 0; a < dim; ++a) {
      response.x[a] = z[a];
      DP[3 * a + a] = 1;
    }
  } else {
    const double share = 1 / (1 + mu * mu), normal = share * (z[0] + mu * z_t);
    double t[3] = {};
    for (int a = 1; a < dim; ++a) t[a] = z[a] / z_t;
    response.x[0] = normal;
    DP[0] = share;
    for (int a = 1; a < dim; ++a) {
      response.x[a] = mu * normal * t[a];
      DP[a] = DP[3 * a] = share * mu * t[a];
      for (int b = 1; b < dim; ++b)
        DP[3 * a + b] = mu * mu * share * t[a] * t[b] +
                        mu * normal / z_t * ((a == b ? 1.0 : 0.0) - t[a] * t[b]);
    }
  }
  for (int a = 0; a < 9; ++a) response.D[a] = DP[a] / epsilon;
}

/// Impulses that answer the velocities w_, and momentum_ = M̂ (w(x) − w), what the bodies lack to
/// move accordingly; its size in the norm of M̂⁻¹.
double BodyNewton::respond(const StepProblem& problem) {
  run_numbers(options_.workers, blocks_.num_units(), kUnitGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      double u[3];
      compute_unit_velocity(blocks_, i, bias_.data(), w_.data(), u);
      if (i < blocks_.num_bilateral())
        respond_bilateral(i, u[0]);
      else
        respond_contact(i, u);
      std::copy_n(responses_[i].x, blocks_.unit(i).dim, impulses_.data() + blocks_.unit(i).row);
    }
  });
  state_.go_to(blocks_, impulses_);
  momentum_.resize(problem.num_dofs());
  change_.resize(problem.num_dofs());
  squares_.resize(problem.num_blocks());
  run_numbers(options_.workers, problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const int first = problem.dof_start[b], n = problem.block_size(b);
      const ConstVectorMap pushed(state_.w() + first, n), w(w_.data() + first, n);
      auto change = change_.segment(first, n);
      change = pushed - w;
      momentum_.segment(first, n) = problem.mass_block(b).lazyProduct(change);
      squares_[b] = momentum_.segment(first, n).dot(change);
    }
  });
  double square = 0;
  for (const double part : squares_) square += part;
  return std::sqrt(square);
}

void BodyNewton::fill_matrix(const StepProblem& problem) {
  run_numbers(options_.workers, problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) fill_rows(problem, b);
  });
}

/// The rows of one body: M̂, and what all units that touch it add.
void BodyNewton::fill_rows(const StepProblem& problem, int block) {
  const auto first = matrix_.values.begin() + matrix_.value_start[matrix_.entry_start[block]];
  const auto last = matrix_.values.begin() + matrix_.value_start[matrix_.entry_start[block + 1]];
  std::fill(first, last, 0.0);
  const std::size_t size =
      static_cast<std::size_t>(problem.block_size(block)) * problem.block_size(block);
  std::copy_n(problem.mass_values.data() + problem.mass_start[block], size,
              matrix_.values.data() + matrix_.value_start[matrix_.diagonal[block]]);
  for (const ContactBlocks::Meeting& meeting : blocks_.meetings(block))
    add_unit(meeting.unit, meeting.entry);
}

/// RᵀDR of one unit in the rows of one of its bodies.
void BodyNewton::add_unit(int i, int e) {
  const ContactBlocks::Unit& unit = blocks_.unit(i);
  const double* D = responses_[i].D;
  const int dim = unit.dim, end = blocks_.unit(i + 1).entry_begin;
  if (std::all_of(D, D + (dim == 1 ? 1 : 9), [](double d) { return d == 0; })) return;
  const int* pair = pairs_.data() + pair_start_[e];
  const int rows = blocks_.entry(e).columns;
  const double* J = blocks_.entry(e).jacobian;
  for (int b = 0; b < dim; ++b)
    for (int r = 0; r < rows; ++r) {
      double factor = 0;  // of DᵀJ
      for (int a = 0; a < dim; ++a) factor += J[a * rows + r] * D[3 * a + b];
      for (int f = unit.entry_begin; f < end; ++f) {
        const int columns = blocks_.entry(f).columns;
        const double* other = blocks_.entry(f).jacobian + static_cast<std::ptrdiff_t>(b) * columns;
        double* out = matrix_.values.data() + pair[f - unit.entry_begin] +
                      static_cast<std::ptrdiff_t>(r) * columns;
        if (columns == 6)
          for (int c = 0; c < 6; ++c) out[c] += factor * other[c];
        else
          for (int c = 0; c < columns; ++c) out[c] += factor * other[c];
      }
    }
}

/// Impulses that say of a contact that it is closed, wherever bodies would not leave it by
/// themselves: a share of those that would stop the bodies one by one.
void BodyNewton::press_contacts() {
  for (int i = blocks_.num_bilateral(); i < blocks_.num_units(); ++i) {
    const ContactBlocks::Unit& unit = blocks_.unit(i);
    double speed = 0, leaving = blocks_.bias(unit.row);
    for (int e = unit.entry_begin; e < blocks_.unit(i + 1).entry_begin; ++e) {
      const ContactBlocks::Entry& entry = blocks_.entry(e);
      const ConstVectorMap normal(blocks_.entry(e).jacobian, entry.columns);
      const ConstVectorMap w(blocks_.free_velocity().data() + entry.dof, entry.columns);
      const double own = normal.dot(w);
      speed = std::max(speed, std::abs(own));
      leaving += own;
    }
    const double W = blocks_.contact(i - blocks_.num_bilateral()).W(0, 0);
    if (W > 0 && leaving <= kTouch * speed) impulses_[unit.row] = kPress * speed / W;
  }
}

/// Where an iteration from the impulses at hand begins: their velocities, and shifts of these.
void BodyNewton::find_origin(const StepProblem& problem) {
  w_.assign(state_.w(), state_.w() + problem.num_dofs());
  for (int i = blocks_.num_bilateral(); i < blocks_.num_units(); ++i) {
    double u[3] = {};
    compute_unit_velocity(blocks_, i, state_.u(), w_.data(), u);
    shift_[i] = blocks_.contact(i - blocks_.num_bilateral()).mu() * std::hypot(u[1], u[2]);
  }
}

/// Velocities that the impulses answer to them give the bodies, from those at hand: a minimum of
///
///   ½‖w − M̂⁻¹p‖² + Σ ε/2 ‖x(w)‖²
///
/// while the shifts are kept, and if M̂ is symmetric. Newton's method with a search along its steps.
bool BodyNewton::find_balance(const StepProblem& problem, int num_first_steps,
                              const Deadline& deadline, int& num_factorisations) {
  guess_ = impulses_;
  double defect = respond(problem);
  const double enough = kBalance * defect, promising = kFirstGain * defect;
  for (int k = 0; k < kMaxSteps && defect > enough; ++k) {
    if (k == num_first_steps && defect > promising) return false;
    if (deadline.has_passed()) return false;
    fill_matrix(problem);
    ++num_factorisations;
    if (!lu_.factor(matrix_, no_shift_)) return false;
    direction_ = momentum_;
    lu_.solve(direction_);
    if (!direction_.allFinite()) return false;
    defect = search(problem);
    if (!std::isfinite(defect)) return false;
  }
  return state_.is_finite();
}

/// Goes along direction_ until the bodies are pushed neither way.
double BodyNewton::search(const StepProblem& problem) {
  const double slope = -direction_.dot(momentum_);
  origin_ = w_;
  double length = 1, lower = 0, lower_slope = slope;
  for (int trial = 1;; ++trial) {
    for (std::size_t k = 0; k < w_.size(); ++k) w_[k] = origin_[k] + length * direction_[k];
    const double defect = respond(problem), now = -direction_.dot(momentum_);
    if (now <= kSearchGain * std::abs(slope) || trial == kMaxTrials) return defect;
    // Beyond the minimum: between the last point before it and here.
    const double next = lower + (length - lower) * -lower_slope / (now - lower_slope);
    length = std::max(next, 0.1 * length);
  }
}

/// Impulses leave more than a little of the motion that the bodies would have without.
bool BodyNewton::moves(const StepProblem& problem) const {
  double energy = 0, free_energy = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int first = problem.dof_start[b], n = problem.block_size(b);
    const ConstVectorMap w(state_.w() + first, n);
    const ConstVectorMap free(blocks_.free_velocity().data() + first, n);
    energy += w.dot(problem.mass_block(b).lazyProduct(w));
    free_energy += free.dot(problem.mass_block(b).lazyProduct(free));
  }
  return energy > std::max(kMotion, kErrorShare * options_.enough) * free_energy;
}

bool BodyNewton::has_impulses() const {
  return std::any_of(state_.x(), state_.x() + blocks_.num_rows(), [](double x) { return x != 0; });
}

bool BodyNewton::is_accepted(const StepProblem& problem, StepSolution& solution, double tolerance) {
  state_.store(blocks_, solution);
  const double measured = acceptance_.measure(problem, solution);
  if (measured <= tolerance) return true;
  target_ *= std::clamp(0.5 * tolerance / measured, 0.01, 0.5);
  return false;
}

}  // namespace stiction
