#include "stiction/solve/saddle_condensation.h"

#include <algorithm>
#include <cmath>

namespace stiction {

bool SaddleCondensation::condense(const StepProblem& problem, StepProblem& condensed) {
  if (!problem.coupling.is_empty() || problem.num_dofs() + problem.num_rows() > kMaxSize)
    return false;
  if (!system_.load(problem)) return false;
  list_kept_rows(problem);
  if (kept_.empty()) return false;
  factor();
  solve_for(-1, free_);
  responses_.resize(std::max(responses_.size(), kept_.size()));
  for (std::size_t k = 0; k < kept_.size(); ++k) solve_for(kept_[k], responses_[k]);
  condensed.clear();
  add_rows(problem, condensed);
  fill_coupling(condensed);
  return true;
}

void SaddleCondensation::list_kept_rows(const StepProblem& problem) {
  kept_.clear();
  is_kept_.assign(system_.num_rows, true);
  for (int i = 0; i < system_.num_rows; ++i) {
    if (i < system_.num_bilateral)
      is_kept_[i] = std::isfinite(problem.lower[i]) || std::isfinite(problem.upper[i]);
    if (is_kept_[i]) kept_.push_back(i);
  }
}

/// S, with impulses of kept rows prescribed.
void SaddleCondensation::factor() {
  lu_.resize(system_.size);
  for (int i = 0; i < system_.num_dofs; ++i) system_.copy_balance(i, lu_.row(i));
  for (int i = 0; i < system_.num_rows; ++i) {
    Real* row = lu_.row(system_.num_dofs + i);
    if (!is_kept_[i]) {
      std::copy_n(system_.u_row(i), system_.size, row);
    } else {
      std::fill(row, row + system_.size, Real(0));
      row[system_.num_dofs + i] = 1;
    }
  }
  lu_.factor();
}

/// All unknowns for a unit impulse of a kept row, or (−1) for momenta and biases without impulses.
void SaddleCondensation::solve_for(int kept, std::vector<Real>& response) {
  response.assign(system_.size, 0);
  if (kept >= 0) {
    response[system_.num_dofs + kept] = 1;
  } else {
    std::copy(system_.momentum.begin(), system_.momentum.end(), response.begin());
    for (int i = 0; i < system_.num_rows; ++i)
      if (!is_kept_[i]) response[system_.num_dofs + i] = -system_.bias[i];
  }
  lu_.solve(response);
}

void SaddleCondensation::add_rows(const StepProblem& problem, StepProblem& condensed) const {
  const auto offset = [&](int row) {
    return static_cast<double>((velocity(row, free_) + system_.bias[row]) *
                               system_.unit[system_.num_dofs + row]);
  };
  for (const int row : kept_)
    if (row < system_.num_bilateral)
      condensed.add_bilateral_row({0, -offset(row), problem.lower[row], problem.upper[row]});
  for (int j = 0; j < problem.num_contacts(); ++j) {
    const int num_rows = problem.contacts.num_rows(j), first = problem.contacts.row_start(j);
    condensed.add_contact({num_rows - 1, problem.mu[j], problem.section[j], problem.key[j]});
    for (int k = 0; k < num_rows; ++k)
      condensed.contact_bias[first + k] = offset(system_.num_bilateral + first + k);
  }
}

void SaddleCondensation::fill_coupling(StepProblem& condensed) {
  const Real* unit = system_.unit.data() + system_.num_dofs;
  for (const int row : kept_) {
    condensed.coupling.add_row();
    for (std::size_t k = 0; k < kept_.size(); ++k)
      condensed.coupling.add_entry(
          static_cast<int>(k),
          static_cast<double>(velocity(row, responses_[k]) * unit[row] * unit[kept_[k]]));
  }
}

/// Without bias.
SaddleCondensation::Real SaddleCondensation::velocity(int row,
                                                      const std::vector<Real>& response) const {
  Real u = 0;
  for (int j = 0; j < system_.size; ++j) u += system_.u_row(row)[j] * response[j];
  return u;
}

void SaddleCondensation::expand(const StepProblem& problem, const StepSolution& answer,
                                StepSolution& solution) {
  const auto num_bounded = answer.lambda.size();
  std::vector<Real>& z = free_;
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    const double impulse = k < num_bounded ? answer.lambda[k] : answer.r[k - num_bounded];
    const Real scaled = impulse * system_.unit[system_.num_dofs + kept_[k]];
    for (int i = 0; i < system_.size; ++i) z[i] += scaled * responses_[k][i];
  }
  for (int i = 0; i < system_.size; ++i) z[i] /= system_.unit[i];
  solution.resize(problem);
  std::copy_n(z.begin(), system_.num_dofs, solution.w.begin());
  std::copy_n(z.begin() + system_.num_dofs, system_.num_bilateral, solution.lambda.begin());
  std::copy_n(z.begin() + system_.num_dofs + system_.num_bilateral, solution.r.size(),
              solution.r.begin());
}

}  // namespace stiction
