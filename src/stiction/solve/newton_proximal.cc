#include "stiction/solve/newton_proximal.h"

#include <algorithm>

namespace stiction {

double ProximalNewton::run(const FrictionBlocks& blocks, SaddleLu& lu,
                           const ProximalOptions& options, const Deadline& deadline,
                           KeptVector& x) {
  // A step may make the residual somewhat worse on its way to a better one, so the centre is not
  // always the best iterate.
  constexpr double kTolerated = 1.5;
  constexpr double kMostAlpha = 1e3;
  constexpr int kNewtonSteps = 15;  // per proximal step
  blocks.compute_velocity(x, u_);
  double current = blocks.residual(x, u_), least = current;
  best_ = x;
  double& alpha = alpha_ = options.first_alpha;
  iterations_ = 0;
  for (int failures = 0; least > options.tolerance && failures < options.max_failures;) {
    const int left = options.hard_limit - iterations_;
    if (iterations_ >= options.max_iterations || left <= 0 || deadline.has_passed()) break;
    trial_ = x;
    const auto outcome = newton_.solve(blocks, lu, x,
                                       {.alpha = alpha,
                                        .max_iterations = std::min(kNewtonSteps, left),
                                        .step_scale = options.step_scale,
                                        .deadline = deadline},
                                       trial_);
    iterations_ += std::max(1, newton_.iterations());
    blocks.compute_velocity(trial_, u_);
    const double residual = blocks.residual(trial_, u_);
    const bool has_reached = outcome == SemismoothNewton::Outcome::kReached;
    const bool is_success = has_reached && residual < kTolerated * current;
    if (is_success || residual < current) {
      x.swap(trial_);
      current = residual;
    }
    if (current < least) {
      least = current;
      best_ = x;
    }
    failures = is_success ? 0 : failures + 1;
    alpha = is_success ? std::max(options.decrease * alpha, options.least_alpha)
                       : std::min(options.increase * alpha, kMostAlpha);
  }
  x = best_;
  return least;
}

}  // namespace stiction
