#include "stiction/solve/gauss_seidel_pgs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/deadline.h"
#include "stiction/base/error.h"
#include "stiction/solve/dense_lu.h"
#include "stiction/solve/gauss_seidel_projection.h"

namespace stiction {
namespace {

/// The factor by which the section would have to grow to contain β.
double gauge(const OneContact& law, const double* beta) {
  if (law.dim() == 2) return std::abs(beta[0]);
  if (!law.table()) return planar_length(beta[0], beta[1]);
  double largest = 0;
  for (const PolygonTable::Corner& corner : law.table()->corners)
    largest = std::max(largest, corner.normal[0] * beta[0] + corner.normal[1] * beta[1]);
  return largest / law.table()->apothem;
}

// In what follows kDim = law.dim().

template <int kDim>
void shorten_tangents(const OneContact& law, double* r) {
  if constexpr (kDim == 1) return;
  const double size = gauge(law, r + 1), limit = law.mu() * r[0];
  if (size <= limit) return;
  for (int i = 1; i < kDim; ++i) r[i] *= limit / size;
}

/// One row of the contact for the present values of its others; u follows.
template <int kDim>
void relax_row(const OneContact& law, int row, double lower, double upper, double* r, double* u) {
  const double W = law.W(row, row);
  const double wanted = W > 0 ? r[row] - u[row] / W : r[row];
  const double change = std::clamp(wanted, lower, upper) - r[row];
  r[row] += change;
  for (int i = 0; i < kDim; ++i) u[i] += law.W(i, row) * change;
}

/// r of rows [first, dim) such that their velocities vanish; false if their matrix is singular.
template <int kDim>
bool stick_rows(const OneContact& law, int first, double* r, const double* u) {
  const int n = kDim - first;
  double lu[9], change[3];
  int swap[3];
  for (int i = 0; i < n; ++i) {
    change[i] = -u[first + i];
    for (int j = 0; j < n; ++j) lu[i * n + j] = law.W(first + i, first + j);
  }
  if (!factor_lu(lu, n, swap)) return false;
  solve_lu(lu, n, swap, change);
  for (int i = 0; i < n; ++i) r[first + i] += change[i];
  return true;
}

template <int kDim>
void relax_separately(const OneContact& law, double* r, double* u) {
  relax_row<kDim>(law, 0, 0.0, std::numeric_limits<double>::infinity(), r, u);
  for (int i = 1; i < kDim; ++i) relax_row<kDim>(law, i, -law.mu() * r[0], law.mu() * r[0], r, u);
}

/// The new impulse of a contact that has r and moves with u.
template <int kDim>
void relax_contact(PgsVariant variant, const OneContact& law, double* r, double* u) {
  switch (variant) {
    case PgsVariant::kAllSeparate:
      return relax_separately<kDim>(law, r, u);
    case PgsVariant::kBlockProjection:
      if (!stick_rows<kDim>(law, 0, r, u)) return relax_separately<kDim>(law, r, u);
      r[0] = std::max(0.0, r[0]);
      return shorten_tangents<kDim>(law, r);
    case PgsVariant::kBlockTangents:
      relax_row<kDim>(law, 0, 0.0, std::numeric_limits<double>::infinity(), r, u);
      if (kDim > 1 && stick_rows<kDim>(law, 1, r, u)) shorten_tangents<kDim>(law, r);
      return;
  }
}

}  // namespace

PgsSolver::PgsSolver(const PgsOptions& options)
    : options_(options), acceptance_(options.tolerance, options.measure) {
  if (!(options.tolerance > 0))
    throw InputError(fmt::format("pgs: tolerance is {}, must be positive", options.tolerance));
  if (options.max_iterations < 0)
    throw InputError(
        fmt::format("pgs: max_iterations is {}, must be >= 0", options.max_iterations));
}

SolverReport PgsSolver::solve(const StepProblem& problem, StepSolution& solution) {
  if (!start(problem, solution)) {
    solution.set_zero(problem);
    return {.status = SolverStatus::kNonFinite, .has_answer = false};
  }
  SolverReport report{SolverStatus::kMaxIterations};
  const Deadline deadline(max_seconds_);
  double change = 0;
  for (;; ++report.iterations, change = sweep()) {
    const double residual = judge(change);
    if (residual <= target_ && confirm(problem, solution)) {
      report.status = SolverStatus::kConverged;
      return report;
    }
    const bool is_broken = !std::isfinite(residual) && !state_.is_finite();
    if (is_broken) report.status = SolverStatus::kNonFinite;
    if (is_broken || report.iterations == options_.max_iterations || deadline.has_passed()) break;
  }
  state_.go_to(blocks_, best_);
  state_.store(blocks_, solution);
  return report;
}

bool PgsSolver::start(const StepProblem& problem, const StepSolution& solution) {
  if (!blocks_.assemble(problem)) return false;
  state_.start(blocks_, solution, options_.warm_start);
  judge_.prepare(problem, blocks_, options_.measure);
  history_.residual.clear();
  history_.change.clear();
  history_.num_state_changes.clear();
  status_.assign(problem.num_contacts(), ContactStatus::kOpen);
  best_.assign(state_.x(), state_.x() + blocks_.num_rows());
  best_residual_ = std::numeric_limits<double>::infinity();
  target_ = options_.tolerance;
  return state_.is_finite();
}

/// The residual of the present state, which is noted in the history and kept if it is the best.
double PgsSolver::judge(double change) {
  const double residual = judge_.evaluate(blocks_, state_);
  history_.residual.push_back(residual);
  history_.change.push_back(change);
  history_.num_state_changes.push_back(count_state_changes());
  if (residual < best_residual_) {
    best_residual_ = residual;
    std::copy(state_.x(), state_.x() + blocks_.num_rows(), best_.begin());
  }
  return residual;
}

/// Contacts that do something else than at the last call.
int PgsSolver::count_state_changes() {
  int num_changes = 0;
  for (int j = 0; j < static_cast<int>(status_.size()); ++j) {
    const int unit = blocks_.num_bilateral() + j;
    double u[3];
    compute_unit_velocity(blocks_, unit, state_.u(), state_.w(), u);
    const ContactStatus status =
        status_of(blocks_.contact(j), state_.x() + blocks_.unit(unit).row, u);
    num_changes += status != status_[j] ? 1 : 0;
    status_[j] = status;
  }
  return num_changes;
}

/// Asks the judge; if the answer is refused, the next one has to be better by what it lacked.
bool PgsSolver::confirm(const StepProblem& problem, StepSolution& solution) {
  state_.refresh(blocks_);
  state_.store(blocks_, solution);
  const double measured = acceptance_.measure(problem, solution);
  if (measured <= options_.tolerance) return true;
  target_ *= std::clamp(0.5 * options_.tolerance / measured, 0.01, 0.5);
  return false;
}

double PgsSolver::sweep() {
  double square = 0;
  for (int i = 0; i < blocks_.num_bilateral(); ++i) square += visit_bilateral(i);
  for (int i = blocks_.num_bilateral(); i < blocks_.num_units(); ++i) {
    const int contact = i - blocks_.num_bilateral(), dim = blocks_.unit(i).dim;
    square += dim == 1   ? visit_contact<1>(contact)
              : dim == 2 ? visit_contact<2>(contact)
                         : visit_contact<3>(contact);
  }
  return std::sqrt(square);
}

double PgsSolver::visit_bilateral(int row) {
  double s;
  compute_unit_velocity<1>(blocks_, row, state_.u(), state_.w(), &s);
  const double W = blocks_.bilateral_W(row), old = state_.x()[row];
  double x = old;
  (void)solve_bilateral_row(W, s - W * old, blocks_.lower(row), blocks_.upper(row), x);
  const double change = x - old;
  if (change != 0) apply_change<1>(blocks_, row, &change, state_);
  return change * change * blocks_.omega(row);
}

template <int kDim>
double PgsSolver::visit_contact(int contact) {
  const int unit = blocks_.num_bilateral() + contact;
  const double* old = state_.x() + blocks_.unit(unit).row;
  double u[kDim], r[kDim], square = 0;
  compute_unit_velocity<kDim>(blocks_, unit, state_.u(), state_.w(), u);
  for (int i = 0; i < kDim; ++i) r[i] = old[i];
  relax_contact<kDim>(options_.variant, blocks_.contact(contact), r, u);
  for (int i = 0; i < kDim; ++i) {
    r[i] -= old[i];
    square += r[i] * r[i];
  }
  if (square > 0) apply_change<kDim>(blocks_, unit, r, state_);
  return square * blocks_.omega(unit);
}

}  // namespace stiction
