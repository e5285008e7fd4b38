#include "stiction/solve/nsgs_acceleration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

constexpr int kMaxDepth = 16;
/// An extrapolation that makes ‖f‖² grow by more than this is taken back.
constexpr double kGrowth = 4;
/// Directions of the least squares problem that depend on others to this degree are left out.
constexpr double kDependent = 1e-10;

/// Numbers that one task takes. Sums are over blocks of this size, added up in their order.
constexpr int kGrain = 2048;

/// Σ a b. Four partial sums: one alone would wait for itself at every term.
double dot(const double* a, const double* b, int n) {
  double sum[4] = {};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

}  // namespace

void NsgsAccelerator::prepare(Acceleration kind, int depth, std::vector<double> const& weight,
                              int size, WorkerPool* workers) {
  kind_ = kind;
  workers_ = workers;
  depth_ = std::clamp(depth, 1, kMaxDepth);
  num_rows_ = static_cast<int>(weight.size());
  size_ = size;
  forget();
  if (kind == Acceleration::kNone) return;
  weight_ = weight;
  start_.resize(size);
  image_.resize(size);
  defect_.resize(num_rows_);
  last_defect_.resize(num_rows_);
  if (kind == Acceleration::kNncg) {
    direction_.assign(size, 0.0);
    return;
  }
  defect_steps_.resize(static_cast<std::size_t>(depth_) * num_rows_);
  image_steps_.resize(static_cast<std::size_t>(depth_) * size);
  gram_.assign(static_cast<std::size_t>(depth_) * depth_, 0.0);
}

void NsgsAccelerator::forget() {
  count_ = newest_ = 0;
  has_last_ = is_extrapolated_ = false;
  std::fill(direction_.begin(), direction_.end(), 0.0);
}

/// Anderson's method needs the impulses of the start only.
void NsgsAccelerator::remember(std::span<const double> z) {
  if (kind_ == Acceleration::kNone) return;
  const int size = kind_ == Acceleration::kNncg ? size_ : num_rows_;
  std::copy(z.begin(), z.begin() + size, start_.begin());
}

/// `count` sums over all impulses; add_block(begin, end, out) computes those of a block.
template <class Sum>
void NsgsAccelerator::sum_up(int count, const Sum& add_block, double* sums) {
  const int num_blocks = (num_rows_ + kGrain - 1) / kGrain;
  partial_.resize(static_cast<std::size_t>(num_blocks) * kMaxDepth);
  run_blocks(workers_, num_rows_, kGrain, [&](int begin, int end) {
    add_block(begin, end,
              partial_.data() + static_cast<std::ptrdiff_t>(begin / kGrain) * kMaxDepth);
  });
  std::fill_n(sums, count, 0.0);
  for (int k = 0; k < num_blocks; ++k)
    for (int c = 0; c < count; ++c)
      sums[c] += partial_[static_cast<std::size_t>(k) * kMaxDepth + c];
}

/// The weighted change of the impulses by the sweep.
void NsgsAccelerator::measure_defect(std::span<const double> z, double& square) {
  sum_up(
      1,
      [&](int begin, int end, double* out) {
        for (int i = begin; i < end; ++i) defect_[i] = weight_[i] * (z[i] - start_[i]);
        *out = dot(defect_.data() + begin, defect_.data() + begin, end - begin);
      },
      &square);
}

void NsgsAccelerator::extrapolate(std::span<double> z) {
  if (kind_ == Acceleration::kNone) return;
  double square = 0;
  measure_defect(z, square);
  if (is_extrapolated_ && !(square <= kGrowth * least_square_)) {
    std::copy(image_.begin(), image_.end(), z.begin());
    forget();
    return;
  }
  const double ratio = has_last_ && last_square_ > 0 ? square / last_square_ : 0;
  last_square_ = square;
  least_square_ = has_last_ ? std::min(least_square_, square) : square;
  is_extrapolated_ = false;
  if (kind_ == Acceleration::kNncg)
    extrapolate_conjugate(ratio, z);
  else
    extrapolate_anderson(z);
}

void NsgsAccelerator::extrapolate_conjugate(double ratio, std::span<double> z) {
  std::copy(z.begin(), z.end(), image_.begin());
  const double beta = ratio > 1 ? 0 : ratio;
  for (int i = 0; i < size_; ++i) {
    const double carried = beta * direction_[i];
    direction_[i] = carried + z[i] - start_[i];
    z[i] += carried;
  }
  is_extrapolated_ = beta > 0;
  has_last_ = true;
}

void NsgsAccelerator::extrapolate_anderson(std::span<double> z) {
  if (has_last_) append_difference(z);
  std::swap(last_defect_, defect_);
  has_last_ = true;
  double gamma[kMaxDepth] = {};
  if (count_ > 0) solve_least_squares(gamma);
  for (int c = 0; c < count_; ++c) is_extrapolated_ = is_extrapolated_ || gamma[c] != 0;
  run_numbers(workers_, size_, kGrain, [&](int begin, int end) {
    std::copy(z.begin() + begin, z.begin() + end, image_.begin() + begin);
    for (int c = 0; c < count_; ++c) {
      if (gamma[c] == 0) continue;
      const double* step = image_steps_.data() + static_cast<std::size_t>(c) * size_;
      for (int i = begin; i < end; ++i) z[i] -= gamma[c] * step[i];
    }
  });
}

void NsgsAccelerator::append_difference(std::span<const double> z) {
  newest_ = count_ < depth_ ? count_ : (newest_ + 1) % depth_;
  count_ = std::min(count_ + 1, depth_);
  double* defect_step = defect_steps_.data() + static_cast<std::size_t>(newest_) * num_rows_;
  double* image_step = image_steps_.data() + static_cast<std::size_t>(newest_) * size_;
  run_numbers(workers_, size_, kGrain, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) image_step[i] = z[i] - image_[i];
  });
  double products[kMaxDepth];
  sum_up(
      count_,
      [&](int begin, int end, double* out) {
        for (int i = begin; i < end; ++i) defect_step[i] = defect_[i] - last_defect_[i];
        for (int c = 0; c < count_; ++c)
          out[c] = dot(defect_step + begin,
                       defect_steps_.data() + static_cast<std::size_t>(c) * num_rows_ + begin,
                       end - begin);
      },
      products);
  for (int c = 0; c < count_; ++c)
    gram_[newest_ * depth_ + c] = gram_[c * depth_ + newest_] = products[c];
}

/// γ of least ‖f − Σ γ_c Δf_c‖ by elimination with diagonal pivots in the scaled Gram matrix.
void NsgsAccelerator::solve_least_squares(double* gamma) {
  double a[kMaxDepth][kMaxDepth + 1], scale[kMaxDepth], products[kMaxDepth];
  sum_up(
      count_,
      [&](int begin, int end, double* out) {
        for (int c = 0; c < count_; ++c)
          out[c] = dot(last_defect_.data() + begin,
                       defect_steps_.data() + static_cast<std::size_t>(c) * num_rows_ + begin,
                       end - begin);
      },
      products);
  bool is_used[kMaxDepth] = {};
  for (int c = 0; c < count_; ++c) {
    const double square = gram_[c * depth_ + c];
    scale[c] = square > 0 ? 1 / std::sqrt(square) : 0;
    gamma[c] = 0;
  }
  for (int c = 0; c < count_; ++c) {
    for (int d = 0; d < count_; ++d) a[c][d] = gram_[c * depth_ + d] * scale[c] * scale[d];
    a[c][count_] = scale[c] * products[c];
  }
  int order[kMaxDepth], used = 0;
  for (; used < count_; ++used) {
    int best = -1;
    for (int c = 0; c < count_; ++c)
      if (!is_used[c] && a[c][c] > kDependent && (best < 0 || a[c][c] > a[best][best])) best = c;
    if (best < 0) break;
    is_used[best] = true;
    order[used] = best;
    for (int c = 0; c < count_; ++c) {
      if (is_used[c]) continue;
      const double factor = a[c][best] / a[best][best];
      for (int d = 0; d <= count_; ++d) a[c][d] -= factor * a[best][d];
    }
  }
  for (int k = used - 1; k >= 0; --k) {
    const int c = order[k];
    double sum = a[c][count_];
    for (int l = k + 1; l < used; ++l) sum -= a[c][order[l]] * gamma[order[l]];
    gamma[c] = sum / a[c][c];
  }
  for (int c = 0; c < count_; ++c) gamma[c] *= scale[c];
}

}  // namespace stiction
