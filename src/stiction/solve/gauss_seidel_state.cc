#include "stiction/solve/gauss_seidel_state.h"

#include <algorithm>
#include <cmath>

namespace stiction {
namespace {

bool all_finite(const std::vector<double>& values) {
  return ConstVectorMap(values.data(), static_cast<Eigen::Index>(values.size())).allFinite();
}

}  // namespace

void SweepState::start(const ContactBlocks& blocks, const StepSolution& solution, bool is_warm) {
  const std::size_t num_bilateral = blocks.num_bilateral();
  num_rows_ = blocks.num_rows();
  values_.assign(2 * num_rows_ + blocks.num_dofs(), 0.0);
  if (is_warm && solution.lambda.size() == num_bilateral &&
      solution.r.size() == num_rows_ - num_bilateral && all_finite(solution.lambda) &&
      all_finite(solution.r)) {
    std::copy(solution.lambda.begin(), solution.lambda.end(), x());
    std::copy(solution.r.begin(), solution.r.end(), x() + num_bilateral);
  }
  for (int i = 0; i < blocks.num_bilateral(); ++i)
    x()[i] = std::clamp(x()[i], blocks.lower(i), blocks.upper(i));
  refresh(blocks);
}

bool SweepState::is_finite() const { return all_finite(values_); }

bool SweepState::shorten(const StepProblem& problem, const ContactBlocks& blocks) {
  constexpr double kNearlyAll = 0.9;  // a little too much does no harm
  if (blocks.num_bilateral() > 0 || blocks.has_coupling()) return false;
  const std::vector<double>& free = blocks.free_velocity();
  double square = 0, product = 0;  // xᵀW x, xᵀa
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int first = problem.dof_start[b], n = problem.block_size(b);
    const double* mass = problem.mass_values.data() + problem.mass_start[b];
    for (int i = 0; i < n; ++i) {
      double momentum = 0;  // of the impulses: M̂ (w − M̂⁻¹p) = Jᵀx
      for (int j = 0; j < n; ++j) momentum += mass[i * n + j] * (w()[first + j] - free[first + j]);
      square += momentum * (w()[first + i] - free[first + i]);
      product += momentum * free[first + i];
    }
  }
  for (int row = 0; row < blocks.num_rows(); ++row) {
    square += blocks.compliance(row) * x()[row] * x()[row];
    product += blocks.bias(row) * x()[row];
  }
  if (!(square > 0 && -product < kNearlyAll * square)) return false;
  const double share = std::max(0.0, -product / square);
  for (int row = 0; row < blocks.num_rows(); ++row) {
    x()[row] *= share;
    u()[row] = blocks.bias(row) + blocks.compliance(row) * x()[row];
  }
  for (int k = 0; k < blocks.num_dofs(); ++k) w()[k] = free[k] + share * (w()[k] - free[k]);
  return true;
}

void SweepState::go_to(const ContactBlocks& blocks, const std::vector<double>& impulses) {
  std::copy(impulses.begin(), impulses.end(), x());
  refresh(blocks);
}

void SweepState::store(const ContactBlocks& blocks, StepSolution& solution) const {
  solution.lambda.assign(x(), x() + blocks.num_bilateral());
  solution.r.assign(x() + blocks.num_bilateral(), x() + blocks.num_rows());
  solution.w.assign(w(), w() + blocks.num_dofs());
}

}  // namespace stiction
