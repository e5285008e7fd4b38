#include "stiction/solve/direct_iterative_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stiction/base/deadline.h"
#include "stiction/base/error.h"
#include "stiction/base/infinity.h"
#include "stiction/base/stopwatch.h"
#include "stiction/solve/direct_iterative_friction.h"
#include "stiction/solve/gauss_seidel_sweep.h"

namespace stiction {
namespace {

// A sweep that changes no impulse by more than this, in energy units, ends the stage.
constexpr double kSettled = 1e-16;

void check(bool is_good, const char* name, double value, const char* range) {
  if (!is_good)
    throw InputError(fmt::format("direct-iterative: {} is {}, must be {}", name, value, range));
}

}  // namespace

DirectIterativeSolver::DirectIterativeSolver(const DirectIterativeOptions& options)
    : options_(options), acceptance_(options.tolerance, options.measure) {
  check(options.tolerance > 0, "tolerance", options.tolerance, "positive");
  check(options.max_rounds >= 0, "max_rounds", options.max_rounds, ">= 0");
  check(options.depth >= 1 && options.depth <= 16, "depth", options.depth, "in [1, 16]");
  check(options.sweeps_per_round >= 1, "sweeps_per_round", options.sweeps_per_round, ">= 1");
}

SolverReport DirectIterativeSolver::solve(const StepProblem& problem, StepSolution& solution) {
  SolverReport report{SolverStatus::kMaxIterations};
  SaddleLdlt::Status status = SaddleLdlt::Status::kNonsymmetric;
  if (problem.coupling.is_empty()) status = start(problem, solution, report);
  if (status != SaddleLdlt::Status::kFactored) {
    solution.set_zero(problem);
    report.has_answer = false;
    report.status = status == SaddleLdlt::Status::kNonsymmetric ? SolverStatus::kUnsupported
                                                                : SolverStatus::kNonFinite;
    return report;
  }
  const bool is_start_enough = options_.warm_start && acceptance_.accepts(problem, solution);
  if (is_start_enough || iterate(problem, solution, report)) {
    report.status = SolverStatus::kConverged;
    return report;
  }
  if (!is_finite_) report.status = SolverStatus::kNonFinite;
  state_.go_to(blocks_, best_);
  state_.store(blocks_, solution);
  return report;
}

SaddleLdlt::Status DirectIterativeSolver::start(const StepProblem& problem,
                                                const StepSolution& solution,
                                                SolverReport& report) {
  if (!blocks_.assemble(problem)) return SaddleLdlt::Status::kIndefinite;
  history_.is_direct.clear();
  history_.work.clear();
  for (std::vector<double>* list :
       {&history_.joint, &history_.normal, &history_.residual, &history_.energy})
    list->clear();
  judge_.prepare(problem, blocks_, options_.measure);
  state_.start(blocks_, solution, false);
  update_velocities();
  free_ = velocity_;
  // What the data call for: velocities without impulses, in energy units.
  data_scale_ = 0;
  for (int i = 0; i < blocks_.num_units(); ++i)
    for (int a = 0; a < blocks_.unit(i).dim && blocks_.omega(i) > 0; ++a)
      data_scale_ = std::max(
          data_scale_, std::abs(free_[blocks_.unit(i).row + a]) / std::sqrt(blocks_.omega(i)));
  state_.start(blocks_, solution, options_.warm_start);
  best_.assign(state_.x(), state_.x() + blocks_.num_rows());
  hint_.assign(problem.num_contacts(), 0.0);
  best_residual_ = kInfinity;
  own_tolerance_ = options_.tolerance;
  is_finite_ = true;
  record(false, 0);
  if (!is_finite_) return SaddleLdlt::Status::kIndefinite;
  Stopwatch watch;
  const SaddleLdlt::Status status = direct_.prepare(problem, blocks_, state_.x(), velocity_.data());
  report.direct_wall += watch.lap();
  return status;
}

bool DirectIterativeSolver::iterate(const StepProblem& problem, StepSolution& solution,
                                    SolverReport& report) {
  const Deadline deadline(max_seconds_);
  prepare_acceleration();
  run_direct(report);
  while (!passes(problem, solution)) {
    if (report.iterations == options_.max_rounds || !is_finite_ || deadline.has_passed())
      return false;
    if (options_.acceleration != Acceleration::kNone) {
      if (report.iterations > 0) accelerator_.extrapolate(state_.values());
      accelerator_.remember(state_.values());
    }
    ++report.iterations;
    run_sweeps(report);
    run_direct(report);
  }
  return true;
}

void DirectIterativeSolver::prepare_acceleration() {
  if (options_.acceleration == Acceleration::kNone) return;
  weight_.resize(blocks_.num_rows());
  for (int i = 0; i < blocks_.num_units(); ++i)
    for (int a = 0; a < blocks_.unit(i).dim; ++a)
      weight_[blocks_.unit(i).row + a] = std::sqrt(blocks_.omega(i));
  const bool is_conjugate = options_.acceleration == Acceleration::kNncg;
  accelerator_.prepare(is_conjugate ? Acceleration::kNncg : Acceleration::kAnderson, options_.depth,
                       weight_, static_cast<int>(state_.values().size()));
}

/// Whether the state after a direct stage is the answer; keeps the best one.
bool DirectIterativeSolver::passes(const StepProblem& problem, StepSolution& solution) {
  if (residual_ < best_residual_) {
    best_residual_ = residual_;
    std::copy(state_.x(), state_.x() + blocks_.num_rows(), best_.begin());
  }
  if (!(residual_ <= own_tolerance_)) return false;
  state_.store(blocks_, solution);
  const double error = acceptance_.measure(problem, solution);
  if (error <= options_.tolerance) {
    best_.assign(state_.x(), state_.x() + blocks_.num_rows());
    return true;
  }
  own_tolerance_ *= std::clamp(0.5 * options_.tolerance / error, 0.01, 0.5);
  return false;
}

void DirectIterativeSolver::run_direct(SolverReport& report) {
  Stopwatch watch;
  const DirectStage::Report stage = direct_.solve(state_.x(), scale_);
  report.direct_wall += watch.lap();
  state_.refresh(blocks_);
  record(true, stage.rounds);
}

void DirectIterativeSolver::run_sweeps(SolverReport& report) {
  Stopwatch watch;
  int sweeps = 0;
  double change = kInfinity;
  while (sweeps < options_.sweeps_per_round && change > kSettled * scale_) {
    ++sweeps;
    change = 0;
    for (int i = blocks_.num_bilateral(); i < blocks_.num_units(); ++i) {
      const int contact = i - blocks_.num_bilateral(), dim = blocks_.unit(i).dim;
      const bool has_friction = dim > 1 && blocks_.contact(contact).mu() > 0;
      if (has_friction || options_.sweeps_move_normals)
        change = std::max(change, dim == 1   ? visit<1>(contact)
                                  : dim == 2 ? visit<2>(contact)
                                             : visit<3>(contact));
    }
  }
  report.sweeps_wall += watch.lap();
  state_.refresh(blocks_);
  record(false, sweeps);
}

template <int kDim>
double DirectIterativeSolver::visit(int contact) {
  const int unit = blocks_.num_bilateral() + contact;
  const double* old = state_.x() + blocks_.unit(unit).row;
  double u[kDim], r[kDim];
  compute_unit_velocity<kDim>(blocks_, unit, state_.u(), state_.w(), u);
  std::copy(old, old + kDim, r);
  const OneContact& law = blocks_.contact(contact);
  if (options_.sweeps_move_normals) {
    for (int i = 0; i < kDim; ++i)
      for (int k = 0; k < kDim; ++k) u[i] -= law.W(i, k) * r[k];
    if (!law.solve(u, r, hint_[contact])) return 0;
  } else {
    relax_friction(law, u, r);
  }
  double square = 0;
  for (int i = 0; i < kDim; ++i) {
    r[i] -= old[i];
    square += r[i] * r[i];
  }
  if (square > 0) apply_change<kDim>(blocks_, unit, r, state_);
  return std::sqrt(square * blocks_.omega(unit));
}

void DirectIterativeSolver::update_velocities() {
  velocity_.resize(blocks_.num_rows());
  for (int i = 0; i < blocks_.num_units(); ++i)
    compute_unit_velocity(blocks_, i, state_.u(), state_.w(),
                          velocity_.data() + blocks_.unit(i).row);
}

/// Appends to the history; the state has to be consistent.
void DirectIterativeSolver::record(bool is_direct, int work) {
  update_velocities();
  residual_ = judge_.evaluate(blocks_, state_);
  is_finite_ = is_finite_ && state_.is_finite();
  double joint = 0, normal = 0, energy = 0;
  scale_ = data_scale_;
  for (int i = 0; i < blocks_.num_units(); ++i) {
    const int row = blocks_.unit(i).row, dim = blocks_.unit(i).dim;
    const double omega = blocks_.omega(i), root = std::sqrt(omega);
    for (int a = 0; a < dim; ++a) {
      const double x = state_.x()[row + a];
      energy += 0.5 * x * (velocity_[row + a] + free_[row + a]);
      scale_ = std::max(scale_, std::abs(x) * root);
    }
    if (!(omega > 0)) continue;
    const bool is_bilateral = i < blocks_.num_bilateral();
    const double lower = is_bilateral ? blocks_.lower(i) : 0;
    const double upper = is_bilateral ? blocks_.upper(i) : kInfinity;
    const double x = state_.x()[row];
    const double violation =
        std::abs(x - std::clamp(x - velocity_[row] / omega, lower, upper)) * root;
    (is_bilateral ? joint : normal) = std::max(is_bilateral ? joint : normal, violation);
  }
  const double inverse = scale_ > 0 ? 1 / scale_ : 1;
  history_.is_direct.push_back(is_direct);
  history_.joint.push_back(joint * inverse);
  history_.normal.push_back(normal * inverse);
  history_.residual.push_back(residual_);
  history_.energy.push_back(energy);
  history_.work.push_back(work);
}

}  // namespace stiction
