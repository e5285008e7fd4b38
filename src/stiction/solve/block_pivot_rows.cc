#include "stiction/solve/block_pivot_rows.h"

#include <algorithm>
#include <cmath>

namespace stiction {

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
  // A row that nothing moves has no scale of its own; one of a general LCP with another diagonal
  // takes that of its largest entry.
  for (int i = 0; i < size; ++i) {
    double w = scale_[i];
    if (!(w > 0) && !problem.coupling.is_empty())
      for (int j = 0; j < size; ++j) w = std::max(w, std::abs(delassus_.row(i)[j]));
    scale_[i] = 1 / std::sqrt(w > 0 ? w : largest > 0 ? largest : 1.0);
  }
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

void BlockPivotRows::evaluate(const StepProblem& problem, const std::vector<double>& z) {
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
}

void BlockPivotRows::write(const StepProblem& problem, StepSolution& solution) const {
  const int num_bilateral = problem.num_bilateral();
  std::copy_n(impulse_.begin(), num_bilateral, solution.lambda.begin());
  std::copy(impulse_.begin() + num_bilateral, impulse_.end(), solution.r.begin());
  for (std::size_t i = 0; i < velocity_.size(); ++i)
    solution.w[i] = static_cast<double>(velocity_[i]);
}

}  // namespace stiction
