#include "stiction/solve/newton_interior.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stiction {

namespace {

// Free rows may be redundant: a proximal term of this size keeps the matrix regular.
constexpr double kProximal = 1e-10;
// A step shorter than this makes the iteration try again with the shift held.
constexpr double kShortStep = 0.2;

}  // namespace

InteriorPoint::Vector InteriorPoint::read(const ConstVectorRef& v, const FrictionBlocks& blocks,
                                          int block) {
  Vector out = Vector::Zero();
  for (int k = 0; k < blocks.size(block); ++k) out[k] = v[blocks.W.row_start[block] + k];
  return out;
}

void InteriorPoint::write(const Vector& value, const FrictionBlocks& blocks, int block,
                          VectorRef v) {
  for (int k = 0; k < blocks.size(block); ++k) v[blocks.W.row_start[block] + k] = value[k];
}

void InteriorPoint::classify(const FrictionBlocks& blocks) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  cones_.clear();
  bounds_.clear();
  cone_of_block_.assign(blocks.num_blocks(), -1);
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int start = blocks.W.row_start[i], rows = blocks.size(i);
    if (blocks.kind[i] != FrictionBlocks::Kind::kContact) {
      bounds_.push_back(
          {start, i, blocks.kind[i] == FrictionBlocks::Kind::kFree ? -kInfinity : blocks.lower[i],
           blocks.kind[i] == FrictionBlocks::Kind::kFree ? kInfinity : blocks.upper[i]});
    } else if (rows == 1 || blocks.mu[i] == 0) {
      bounds_.push_back({start, i, 0, kInfinity});
      for (int k = 1; k < rows; ++k) bounds_.push_back({start + k, i, 0, 0});
    } else {
      Cone cone;
      cone.block = i;
      cone.transform[0] = blocks.mu[i];
      cone_of_block_[i] = static_cast<int>(cones_.size());
      cones_.push_back(cone);
    }
  }
}

// In the middle of the cones, at the size that the velocities without impulses suggest.
void InteriorPoint::start(const FrictionBlocks& blocks) {
  const int n = blocks.num_rows();
  x_.setZero(n);
  y_.setZero(n);
  dx_.setZero(n);
  dy_.setZero(n);
  right_.resize(n);
  scaled_.resize(n);
  defect_.resize(n);
  const double energy = blocks.q.squaredNorm();
  const double size = energy > 0 ? std::sqrt(energy / blocks.num_blocks()) : 1;
  for (const Cone& cone : cones_) {
    const int row = blocks.W.row_start[cone.block];
    x_[row] = size / cone.transform[0];
    y_[row] = size * cone.transform[0];
  }
  for (Bound& bound : bounds_) {
    const bool has_lower = std::isfinite(bound.lower), has_upper = std::isfinite(bound.upper);
    const double offset = size;
    double& x = x_[bound.row];
    if (has_lower && has_upper)
      x = bound.lower + std::min(0.5, offset / (bound.upper - bound.lower + offset)) *
                            (bound.upper - bound.lower);
    else if (has_lower || has_upper)
      x = has_lower ? bound.lower + offset : bound.upper - offset;
    if (bound.lower == bound.upper) continue;
    bound.below = has_lower ? size * size / (x - bound.lower) : 0;
    bound.above = has_upper ? size * size / (bound.upper - x) : 0;
    y_[bound.row] = bound.below - bound.above;
  }
}

// u + μ‖û_T‖ n − û for cones, u − multiplier for rows.
void InteriorPoint::compute_defect(const FrictionBlocks& blocks) {
  blocks.compute_velocity(x_, u_);
  defect_ = u_ - y_;
  for (const Cone& cone : cones_) {
    const int row = blocks.W.row_start[cone.block];
    defect_[row] += blocks.mu[cone.block] * y_.segment(row + 1, blocks.size(cone.block) - 1).norm();
  }
  for (const Bound& bound : bounds_)
    if (bound.lower == bound.upper) defect_[bound.row] = 0;
}

double InteriorPoint::compute_gap() const { return compute_gap_after(0); }

double InteriorPoint::compute_gap_after(double step) const {
  double sum = 0;
  int pairs = static_cast<int>(cones_.size());
  // Rows that are not part of a cone have to be left out of the scalar product.
  sum = (x_ + step * dx_).dot(y_ + step * dy_);
  for (const Bound& bound : bounds_) {
    const double x = x_[bound.row] + step * dx_[bound.row];
    sum -= x * (y_[bound.row] + step * dy_[bound.row]);
    if (bound.lower == bound.upper) continue;
    if (std::isfinite(bound.lower)) {
      sum += (x - bound.lower) * (bound.below + step * bound.d_below);
      ++pairs;
    }
    if (std::isfinite(bound.upper)) {
      sum += (bound.upper - x) * (bound.above + step * bound.d_above);
      ++pairs;
    }
  }
  return pairs > 0 ? sum / pairs : 0;
}

void InteriorPoint::build_cone_block(const FrictionBlocks& blocks, Cone& cone, double theta) {
  const int i = cone.block, rows = blocks.size(i);
  const Vector y = read(y_, blocks, i);
  cone.scaling = lorentz::make_scaling(cone.transform.cwiseProduct(read(x_, blocks, i)),
                                       y.cwiseQuotient(cone.transform));
  cone.shift.setIdentity();
  const double slip = y.tail<2>().norm();
  if (slip > 0)
    cone.shift.block<1, 2>(0, 1) =
        -theta * cone.trust * blocks.mu[i] * y.tail<2>().transpose() / slip;
  const lorentz::Matrix D = cone.shift * cone.transform.asDiagonal() * cone.scaling.inverse *
                            cone.scaling.inverse * cone.transform.asDiagonal();
  double* A = A_.data() + 9 * static_cast<std::size_t>(i);
  double* B = B_.data() + 9 * static_cast<std::size_t>(i);
  for (int r = 0; r < rows; ++r) {
    A[4 * r] = 1;
    for (int c = 0; c < rows; ++c) B[3 * r + c] = D(r, c);
  }
}

void InteriorPoint::build_bound_row(const FrictionBlocks& blocks, const Bound& bound) {
  const int local = bound.row - blocks.W.row_start[bound.block];
  const std::size_t at = 9 * static_cast<std::size_t>(bound.block) + 4 * local;
  const bool is_fixed = bound.lower == bound.upper;
  A_[at] = is_fixed ? 0 : 1;
  B_[at] = is_fixed ? 1 : kProximal;
  if (is_fixed) return;
  if (std::isfinite(bound.lower)) B_[at] += bound.below / (x_[bound.row] - bound.lower);
  if (std::isfinite(bound.upper)) B_[at] += bound.above / (bound.upper - x_[bound.row]);
}

bool InteriorPoint::factor(const FrictionBlocks& blocks, SaddleLu& lu, double theta) {
  A_.assign(9 * static_cast<std::size_t>(blocks.num_blocks()), 0);
  B_.assign(A_.size(), 0);
  for (Cone& cone : cones_) build_cone_block(blocks, cone, theta);
  for (const Bound& bound : bounds_) build_bound_row(blocks, bound);
  return lu.factor(blocks.W, A_, B_);
}

void InteriorPoint::build_right_side(const FrictionBlocks& blocks, const Direction& direction) {
  for (const Cone& cone : cones_) {
    const int i = cone.block;
    const Vector lambda = cone.scaling.inverse * cone.transform.cwiseProduct(read(x_, blocks, i));
    Vector target = -lorentz::product(lambda, lambda);
    target[0] += direction.sigma * tau_;
    if (direction.is_corrected) {
      const Vector dx = cone.scaling.inverse * cone.transform.cwiseProduct(read(dx_, blocks, i));
      const Vector dy = cone.scaling.F * read(dy_, blocks, i).cwiseQuotient(cone.transform);
      target -= lorentz::product(dx, dy);
    }
    const Vector scaled = lorentz::divide(target, lambda);
    write(scaled, blocks, i, scaled_);
    const Vector moved = cone.scaling.inverse * scaled;
    write(cone.shift * cone.transform.cwiseProduct(moved) - read(defect_, blocks, i), blocks, i,
          right_);
  }
  for (Bound& bound : bounds_) right_[bound.row] = recover_bound(direction, bound);
}

// The right side of a row; keeps what the multipliers' steps will be for dx = 0.
double InteriorPoint::recover_bound(const Direction& direction, Bound& bound) const {
  if (bound.lower == bound.upper) return 0;
  const double x = x_[bound.row], dx = dx_[bound.row], goal = direction.sigma * tau_;
  double right = -defect_[bound.row];
  if (std::isfinite(bound.lower)) {
    const double second = direction.is_corrected ? dx * bound.d_below : 0;
    bound.d_below = (goal - second) / (x - bound.lower) - bound.below;
    right += bound.d_below;
  }
  if (std::isfinite(bound.upper)) {
    const double second = direction.is_corrected ? -dx * bound.d_above : 0;
    bound.d_above = (goal - second) / (bound.upper - x) - bound.above;
    right -= bound.d_above;
  }
  return right;
}

void InteriorPoint::solve_refined(const FrictionBlocks& blocks, SaddleLu& lu) {
  dx_ = right_;
  lu.solve(dx_);
  refine_.resize(right_.size());
  blocks.W.multiply(dx_.data(), refine_.data());
  for (int i = 0; i < blocks.num_blocks(); ++i) {
    const int row = blocks.W.row_start[i], rows = blocks.size(i);
    const double* A = A_.data() + 9 * static_cast<std::size_t>(i);
    const double* B = B_.data() + 9 * static_cast<std::size_t>(i);
    for (int r = 0; r < rows; ++r) {
      refine_[row + r] *= A[4 * r];  // A is diagonal here
      for (int c = 0; c < rows; ++c) refine_[row + r] += B[3 * r + c] * dx_[row + c];
    }
  }
  refine_ = right_ - refine_;
  lu.solve(refine_);
  dx_ += refine_;
}

// dy and the multipliers' steps from dx; returns the longest step that stays inside.
double InteriorPoint::recover_steps(const FrictionBlocks& blocks) {
  double longest = std::numeric_limits<double>::max();
  for (const Cone& cone : cones_) {
    const int i = cone.block;
    const Vector dx = cone.transform.cwiseProduct(read(dx_, blocks, i));
    const Vector scaled = read(scaled_, blocks, i) - cone.scaling.inverse * dx;
    const Vector dy = cone.scaling.inverse * scaled;
    write(cone.transform.cwiseProduct(dy), blocks, i, dy_);
    const Vector x = cone.transform.cwiseProduct(read(x_, blocks, i));
    const Vector y = read(y_, blocks, i).cwiseQuotient(cone.transform);
    longest =
        std::min({longest, lorentz::step_to_boundary(x, dx), lorentz::step_to_boundary(y, dy)});
  }
  const auto consider = [&longest](double value, double change) {
    if (change < 0) longest = std::min(longest, -value / change);
  };
  for (Bound& bound : bounds_) {
    if (bound.lower == bound.upper) continue;
    const double x = x_[bound.row], dx = dx_[bound.row];
    if (std::isfinite(bound.lower)) {
      bound.d_below -= bound.below / (x - bound.lower) * dx;
      consider(x - bound.lower, dx);
      consider(bound.below, bound.d_below);
    }
    if (std::isfinite(bound.upper)) {
      bound.d_above += bound.above / (bound.upper - x) * dx;
      consider(bound.upper - x, -dx);
      consider(bound.above, bound.d_above);
    }
    dy_[bound.row] = bound.d_below - bound.d_above;
  }
  return longest;
}

double InteriorPoint::find_direction(const FrictionBlocks& blocks, SaddleLu& lu,
                                     const Direction& direction) {
  build_right_side(blocks, direction);
  solve_refined(blocks, lu);
  return std::min(1.0, recover_steps(blocks));
}

// ‖û_T‖ is far from linear where the slip of a contact turns: Newton's steps with its derivative
// would send such a contact to and fro. It is trusted less there, and more again when it goes on.
void InteriorPoint::update_trust(const FrictionBlocks& blocks, double step) {
  constexpr double kTurn = 0.5;  // cosine
  constexpr double kLess = 0.25, kMore = 2;
  for (Cone& cone : cones_) {
    const Eigen::Vector2d slip = read(y_, blocks, cone.block).tail<2>();
    const Eigen::Vector2d next = slip + step * read(dy_, blocks, cone.block).tail<2>();
    const bool has_turned = slip.dot(next) < kTurn * slip.norm() * next.norm();
    cone.trust = has_turned ? kLess * cone.trust : std::min(1.0, kMore * cone.trust);
  }
}

void InteriorPoint::move(double step) {
  x_ += step * dx_;
  y_ += step * dy_;
  for (Bound& bound : bounds_) {
    bound.below += step * bound.d_below;
    bound.above += step * bound.d_above;
  }
}

double InteriorPoint::run(const FrictionBlocks& blocks, SaddleLu& lu,
                          const InteriorOptions& options, const Deadline& deadline, KeptVector& x) {
  classify(blocks);
  start(blocks);
  double least = std::numeric_limits<double>::infinity(), first_ratio = 0;
  int stalled = 0;
  for (iterations_ = 0; iterations_ < options.max_iterations; ++iterations_) {
    compute_defect(blocks);
    const double residual = blocks.residual(x_, u_);
    stalled = residual < 0.98 * least ? 0 : stalled + 1;
    if (residual < least) {
      least = residual;
      best_ = x_;
    }
    tau_ = compute_gap();
    if (least <= options.tolerance || stalled > options.max_stalled || deadline.has_passed()) break;
    if (!(tau_ > 0 || (cones_.empty() && tau_ == 0)) || !std::isfinite(tau_)) break;
    const double ratio = defect_.norm() / std::max(tau_, std::numeric_limits<double>::min());
    if (iterations_ == 0) first_ratio = ratio;
    double sigma = 1, step = 0;
    for (const double theta : {1.0, 0.0}) {
      if (!factor(blocks, lu, theta)) break;
      const double affine = find_direction(blocks, lu, {0, false});
      const double gap = compute_gap_after(affine);
      sigma = std::clamp(std::pow(std::max(gap, 0.0) / tau_, 2), 1e-4, 0.9);
      // The velocities must not lag far behind the centre, or the path ends at a wall.
      if (ratio > 100 * first_ratio) sigma = 1;
      step = find_direction(blocks, lu, {sigma, affine > 0.1});
      if (step > kShortStep) break;
    }
    if (!dx_.allFinite() || !dy_.allFinite()) break;
    const double length = std::min(1.0, std::max(0.9, 1 - sigma) * step);
    update_trust(blocks, length);
    move(length);
  }
  if (std::isfinite(least)) x = best_;
  return least;
}

}  // namespace stiction
