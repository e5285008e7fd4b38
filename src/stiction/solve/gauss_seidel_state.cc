#include "stiction/solve/gauss_seidel_state.h"

#include <algorithm>
#include <cmath>

#include "stiction/base/all_finite.h"
#include "stiction/base/known_size.h"

namespace stiction {
namespace {

/// Bodies and numbers that one task takes: some ten microseconds.
constexpr int kBodyGrain = 256, kNumberGrain = 1 << 13;

template <int kSize, class Shares>
Shares measure_shares(const double* mass, int size, const double* w, const double* free) {
  const int n = known<kSize>(size);
  Shares sum;
  for (int i = 0; i < n; ++i) {
    double momentum = 0;  // of the impulses: M̂ (w − M̂⁻¹p) = Jᵀx
    for (int j = 0; j < n; ++j) momentum += mass[i * n + j] * (w[j] - free[j]);
    sum.square += momentum * (w[i] - free[i]);
    sum.product += momentum * free[i];
  }
  return sum;
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
  shares_.resize(problem.num_blocks());
  run_numbers(blocks.workers(), problem.num_blocks(), kBodyGrain, [&](int begin, int end) {
    for (int b = begin; b < end; ++b) {
      const int first = problem.dof_start[b], n = problem.block_size(b);
      const double* mass = problem.mass_values.data() + problem.mass_start[b];
      shares_[b] = with_known_size<6>(n, [&]<int kSize>() {
        return measure_shares<kSize, Shares>(mass, n, w() + first, free.data() + first);
      });
    }
  });
  double square = 0, product = 0;
  for (const Shares& of_body : shares_) {
    square += of_body.square;
    product += of_body.product;
  }
  for (int row = 0; row < blocks.num_rows(); ++row) {
    square += blocks.compliance(row) * x()[row] * x()[row];
    product += blocks.bias(row) * x()[row];
  }
  if (!(square > 0 && -product < kNearlyAll * square)) return false;
  const double share = std::max(0.0, -product / square);
  run_numbers(blocks.workers(), blocks.num_rows(), kNumberGrain, [&](int begin, int end) {
    for (int row = begin; row < end; ++row) {
      x()[row] *= share;
      u()[row] = blocks.bias(row) + blocks.compliance(row) * x()[row];
    }
  });
  run_numbers(blocks.workers(), blocks.num_dofs(), kNumberGrain, [&](int begin, int end) {
    for (int k = begin; k < end; ++k) w()[k] = free[k] + share * (w()[k] - free[k]);
  });
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
