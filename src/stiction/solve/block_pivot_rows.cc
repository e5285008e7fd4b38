#include "stiction/solve/block_pivot_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {
namespace {

/// Share of the motion that counts as an impulse where there are none, as in the certificate.
constexpr double kMotionShare = 1e-4;

}  // namespace

BlockPivotRows::Outcome BlockPivotRows::assemble(const StepProblem& problem) {
  if (!delassus_.factor_mass(problem)) return Outcome::kSingularMass;
  delassus_.assemble(problem);
  const int size = delassus_.num_rows();
  lcp_.resize(size);
  compute_scales(problem);
  impulse_.assign(size, 0.0L);
  delassus_.compute_velocity(problem, impulse_, velocity_);
  delassus_.compute_row_velocity(problem, impulse_, velocity_, u_, magnitude_);
  bool is_finite = true;
  for (int i = 0; i < size; ++i) {
    lcp_.vector[i] = scale_[i] * u_[i];
    is_finite = is_finite && std::isfinite(lcp_.vector[i]);
    for (int j = 0; j < size; ++j) {
      lcp_.row(i)[j] = scale_[i] * delassus_.row(i)[j] * scale_[j];
      is_finite = is_finite && std::isfinite(lcp_.row(i)[j]);
    }
  }
  vector_ = lcp_.vector;
  bound_rows(problem);
  link_tangents(problem);
  return is_finite ? Outcome::kAssembled : Outcome::kNonFinite;
}

void BlockPivotRows::compute_scales(const StepProblem& problem) {
  const int size = delassus_.num_rows();
  scale_.resize(size);
  double largest = 0;
  for (int i = 0; i < size; ++i) largest = std::max(largest, scale_[i] = delassus_.row(i)[i]);
  // A row that nothing moves, or with the diagonal of a general LCP, has no scale of its own.
  const double other = problem.coupling.is_empty() && largest > 0 ? largest : 1;
  for (double& s : scale_) s = 1 / std::sqrt(s > 0 ? s : other);
}

void BlockPivotRows::bound_rows(const StepProblem& problem) {
  const int num_bilateral = problem.num_bilateral();
  for (int i = 0; i < num_bilateral; ++i) {
    lcp_.lower[i] = problem.lower[i] / scale_[i];
    lcp_.upper[i] = problem.upper[i] / scale_[i];
  }
  for (int j = 0; j < problem.num_contacts(); ++j)
    lcp_.lower[num_bilateral + problem.contacts.row_start(j)] = 0;
}

void BlockPivotRows::link_tangents(const StepProblem& problem) {
  has_friction_ = false;
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int normal = problem.num_bilateral() + problem.contacts.row_start(j);
    for (int t = normal + 1; t < normal + problem.contacts.num_rows(j); ++t) {
      lcp_.lower[t] = lcp_.upper[t] = 0;
      lcp_.master[t] = normal;
      lcp_.ratio[t] = problem.mu[j] * scale_[normal] / scale_[t];
      has_friction_ = has_friction_ || problem.mu[j] > 0;
    }
  }
}

void BlockPivotRows::update_friction_bounds(const std::vector<double>& z) {
  for (int i = 0; i < lcp_.size; ++i) {
    if (lcp_.master[i] < 0) continue;
    lcp_.upper[i] = lcp_.ratio[i] * std::max(0.0, z[lcp_.master[i]]);
    lcp_.lower[i] = -lcp_.upper[i];
  }
}

void BlockPivotRows::shift_vector(const std::vector<double>& z, double regularization) {
  for (int i = 0; i < lcp_.size; ++i) lcp_.vector[i] = vector_[i] - regularization * z[i];
}

double BlockPivotRows::evaluate(const StepProblem& problem, const std::vector<double>& z) {
  for (int i = 0; i < lcp_.size; ++i) {
    double x = z[i];
    if (lcp_.master[i] >= 0) {
      const double reach = lcp_.ratio[i] * std::max(0.0, z[lcp_.master[i]]);
      x = std::clamp(x, -reach, reach);
    } else {
      x = std::clamp(x, lcp_.lower[i], lcp_.upper[i]);
    }
    impulse_[i] = scale_[i] * x;
  }
  // Scaling there and back may leave the bounds by a rounding.
  for (int i = 0; i < problem.num_bilateral(); ++i)
    impulse_[i] = std::clamp(static_cast<double>(impulse_[i]), problem.lower[i], problem.upper[i]);
  delassus_.compute_velocity(problem, impulse_, velocity_);
  delassus_.compute_row_velocity(problem, impulse_, velocity_, u_, magnitude_);
  w_.resize(lcp_.size);
  for (int i = 0; i < lcp_.size; ++i) w_[i] = scale_[i] * u_[i];
  return violation(problem);
}

/// Of the natural map z − P(z − w), in √J, bilateral rows and contacts each relative to the
/// sum of its own impulses.
double BlockPivotRows::violation(const StepProblem& problem) const {
  double worst[2] = {0, 0}, total[2] = {0, 0}, unit_max[2] = {0, 0}, background = 0;
  for (int i = 0; i < lcp_.size; ++i) {
    const int kind = i < problem.num_bilateral() ? 0 : 1;
    const double unit = 1;
    const auto z = static_cast<double>(impulse_[i] / scale_[i]);
    double lower = lcp_.lower[i], upper = lcp_.upper[i];
    if (lcp_.master[i] >= 0) {
      const int normal = lcp_.master[i];
      upper = lcp_.ratio[i] * std::max(0.0, static_cast<double>(impulse_[normal] / scale_[normal]));
      lower = -upper;
    }
    const double error = std::abs(z - std::clamp(z - w_[i], lower, upper)) * unit;
    if (!std::isfinite(error)) return std::numeric_limits<double>::infinity();
    worst[kind] = std::max(worst[kind], error);
    total[kind] += std::abs(z) * unit;
    unit_max[kind] = std::max(unit_max[kind], unit);
    background = std::max({background, magnitude_[i] * scale_[i], std::abs(z)});
  }
  double result = 0;
  for (int k = 0; k < 2; ++k)
    if (worst[k] > 0)
      result = std::max(result, worst[k] / (total[k] + kMotionShare * background * unit_max[k]));
  return result;
}

void BlockPivotRows::write(const StepProblem& problem, StepSolution& solution) const {
  const int num_bilateral = problem.num_bilateral();
  std::copy_n(impulse_.begin(), num_bilateral, solution.lambda.begin());
  std::copy(impulse_.begin() + num_bilateral, impulse_.end(), solution.r.begin());
  for (std::size_t i = 0; i < velocity_.size(); ++i)
    solution.w[i] = static_cast<double>(velocity_[i]);
}

}  // namespace stiction
