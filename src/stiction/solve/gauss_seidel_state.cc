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
