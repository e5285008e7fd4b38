#include "stiction/solve/admm_saddle.h"

#include <algorithm>
#include <cmath>

#include "stiction/solve/gauss_seidel_sweep.h"

namespace stiction {
namespace {

constexpr double kAsymmetry = 1e-12;  // of a mass block, relative: what SaddleLdlt takes
// Rows with less compliance than this, in units of their mobility, cost digits when they are
// eliminated first: as many as the number is small.
constexpr double kLittleCompliance = 1e-4;
constexpr double kFewerNumbers = 1.5, kSmallProblem = 16000;  // see is_worth_it

}  // namespace

/// Counts the numbers that each form has before any fill. Measured: the saddle matrix pays when the
/// Delassus matrix is half as large again and the problem is not small.
bool AdmmSaddle::is_worth_it(const StepProblem& problem) {
  if (problem.num_blocks() == 0 || !problem.coupling.is_empty()) return false;
  std::vector<double>& rows_on = rows_on_body_;
  rows_on.assign(problem.num_blocks(), 0.0);
  double delassus = 0, saddle = 0;
  for (const BlockRows* rows : {&problem.bilateral, &problem.contacts})
    for (int i = 0; i < rows->num_row_blocks(); ++i)
      for (int e = rows->entry_start(i); e < rows->entry_start(i + 1); ++e) {
        rows_on[rows->entry_block(e)] += rows->num_rows(i);
        saddle += static_cast<double>(rows->num_rows(i)) * rows->entry_columns(e);
      }
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const double n = rows_on[b] > 0 ? problem.block_size(b) : 0;
    delassus += rows_on[b] * rows_on[b];
    saddle += n * n;
  }
  return delassus > kFewerNumbers * saddle + kSmallProblem;
}

bool AdmmSaddle::assemble(const StepProblem& problem, StoppingMeasure measure) {
  is_analysed_ = false;
  if (!problem.coupling.is_empty() || !collect_bodies(problem)) return false;
  if (!blocks_.assemble(problem) || !describe_rows(problem)) return false;
  residual_.prepare(problem, blocks_, measure);
  scale_rows(problem);
  return true;
}

/// Numbers the bodies that rows touch. False if the mass of one is not symmetric and positive
/// definite.
bool AdmmSaddle::collect_bodies(const StepProblem& problem) {
  body_.assign(problem.num_blocks(), -1);
  for (const BlockRows* rows : {&problem.bilateral, &problem.contacts})
    for (int e = 0; e < rows->num_entries(); ++e) body_[rows->entry_block(e)] = 0;
  scaled_.clear();
  for (int b = 0; b < problem.num_blocks(); ++b) {
    if (body_[b] < 0) continue;
    const double* block = problem.mass_values.data() + problem.mass_start[b];
    const int n = problem.block_size(b);
    if (!is_positive_definite(block, n)) return false;
    body_[b] = scaled_.num_blocks();
    std::copy_n(block, static_cast<std::size_t>(n) * n, scaled_.add_mass_block(n).data());
  }
  return true;
}

/// By its Cholesky factor; also looks for symmetry.
bool AdmmSaddle::is_positive_definite(const double* block, int n) {
  double largest = 0, difference = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      largest = std::max(largest, std::abs(block[i * n + j]));
      difference = std::max(difference, std::abs(block[i * n + j] - block[j * n + i]));
    }
  if (!(difference <= kAsymmetry * largest)) return false;
  std::vector<double>& L = cholesky_;
  L.assign(block, block + static_cast<std::ptrdiff_t>(n) * n);
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < j; ++k) L[j * n + j] -= L[j * n + k] * L[j * n + k];
    if (!(L[j * n + j] > 0)) return false;
    const double reciprocal = 1 / (L[j * n + j] = std::sqrt(L[j * n + j]));
    for (int i = j + 1; i < n; ++i) {
      for (int k = 0; k < j; ++k) L[i * n + j] -= L[i * n + k] * L[j * n + k];
      L[i * n + j] *= reciprocal;
    }
  }
  return true;
}

/// The rows without what other rows do to them: a condensed problem whose K is the block diagonal
/// of W. FrictionBlocks finds scales, bounds and friction in it as in the whole problem.
bool AdmmSaddle::describe_rows(const StepProblem& problem) {
  impulse_.assign(problem.num_rows(), 0.0);
  state_.start(blocks_, {}, false);
  state_.go_to(blocks_, impulse_);  // the start may lie at bounds
  local_.clear();
  for (int i = 0; i < problem.num_bilateral(); ++i) {
    local_.add_bilateral_row({.lower = problem.lower[i], .upper = problem.upper[i]});
    describe_row_block(i);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    local_.add_contact({.num_tangents = problem.contacts.num_rows(j) - 1,
                        .mu = problem.mu[j],
                        .section = problem.section[j],
                        .key = problem.key[j]});
    describe_row_block(problem.num_bilateral() + j);
  }
  return rows_.assemble(local_);
}

void AdmmSaddle::describe_row_block(int unit) {
  const int row = blocks_.unit(unit).row, dim = blocks_.unit(unit).dim;
  const int joints = blocks_.num_bilateral();
  double q[3];
  compute_unit_velocity(blocks_, unit, state_.u(), state_.w(), q);
  if (unit < joints) {
    local_.bias[unit] = -q[0];
    local_.coupling.add_row();
    local_.coupling.add_entry(unit, blocks_.bilateral_W(unit));
    return;
  }
  for (int a = 0; a < dim; ++a) {
    local_.contact_bias[row - joints + a] = q[a];
    local_.coupling.add_row();
    for (int b = 0; b < dim; ++b)
      local_.coupling.add_entry(row + b, blocks_.contact(unit - joints).W(a, b));
  }
}

void AdmmSaddle::scale_rows(const StepProblem& problem) {
  const int joints = problem.num_bilateral();
  for (int i = 0; i < joints; ++i) {
    scaled_.add_bilateral_row({});
    append_scaled(problem.bilateral, i, 0, scaled_.bilateral);
  }
  for (int j = 0; j < problem.num_contacts(); ++j) {
    scaled_.add_contact({.num_tangents = problem.contacts.num_rows(j) - 1, .section = {}});
    append_scaled(problem.contacts, j, joints, scaled_.contacts);
  }
  compliance_.resize(problem.num_rows());
  for (int row = 0; row < problem.num_rows(); ++row)
    compliance_[row] = rows_.scale[row] * blocks_.compliance(row) * rows_.scale[row];
  all_rows_.assign(problem.num_rows(), 1);
  f_.assign(scaled_.num_dofs(), 0.0);
  g_.resize(problem.num_rows());
}

/// The pieces of a row block, scaled; `first_row` is where the rows of `rows` begin among all.
void AdmmSaddle::append_scaled(const BlockRows& rows, int row_block, int first_row,
                               BlockRows& out) const {
  for (int e = rows.entry_start(row_block); e < rows.entry_start(row_block + 1); ++e) {
    const int columns = rows.entry_columns(e);
    const double* value = rows.entry_values(e);
    double* target = out.add_entry(body_[rows.entry_block(e)], columns).data();
    for (int a = 0; a < rows.num_rows(row_block); ++a) {
      const double scale = rows_.scale[first_row + rows.row_start(row_block) + a];
      for (int k = 0; k < columns; ++k) *target++ = scale * *value++;
    }
  }
}

bool AdmmSaddle::factor(const std::vector<double>& D) {
  const int joints = scaled_.num_bilateral();
  needs_digits_ = false;
  for (int row = 0; row < scaled_.num_rows(); ++row) {
    const double compliance = compliance_[row] + D[row];
    (row < joints ? scaled_.compliance[row] : scaled_.contact_compliance[row - joints]) =
        compliance;
    needs_digits_ = needs_digits_ || compliance < kLittleCompliance;
  }
  // The order then depends on this problem and the first penalty alone.
  if (!is_analysed_) ldlt_.analyse(scaled_, all_rows_);
  is_analysed_ = true;
  is_first_solve_ = true;
  return ldlt_.factor(scaled_, all_rows_) == SaddleLdlt::Status::kFactored;
}

void AdmmSaddle::solve(VectorRef x) {
  using Refinement = SaddleLdlt::Refinement;
  std::copy(x.begin(), x.end(), g_.begin());
  ldlt_.solve(f_, g_, w_, x_,
              !needs_digits_    ? Refinement::kNone
              : is_first_solve_ ? Refinement::kFull
                                : Refinement::kContinued);
  is_first_solve_ = false;
  std::copy(x_.begin(), x_.end(), x.begin());
}

void AdmmSaddle::go_to(const ConstVectorRef& x) {
  for (int row = 0; row < rows_.num_rows(); ++row) impulse_[row] = rows_.scale[row] * x[row];
  state_.go_to(blocks_, impulse_);
}

void AdmmSaddle::compute_velocity(const ConstVectorRef& x, KeptVector& u) {
  go_to(x);
  u.resize(rows_.num_rows());
  for (int i = 0; i < blocks_.num_units(); ++i)
    compute_unit_velocity(blocks_, i, state_.u(), state_.w(), u.data() + blocks_.unit(i).row);
  for (int row = 0; row < rows_.num_rows(); ++row) u[row] *= rows_.scale[row];
}

double AdmmSaddle::measure(const ConstVectorRef& x) {
  go_to(x);
  return residual_.evaluate_impulses(blocks_, state_);
}

void AdmmSaddle::write_solution(const StepProblem& problem, const ConstVectorRef& x,
                                StepSolution& solution) {
  go_to(x);
  solution.resize(problem);
  state_.store(blocks_, solution);
}

}  // namespace stiction
