#include "stiction/solve/nsgs_acceleration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stiction {
namespace {

/// An extrapolation that makes ‖f‖² grow by more than this is taken back.
constexpr double kGrowth = 4;
/// Directions of the least squares problem that depend on others to this degree are left out.
constexpr double kDependent = 1e-10;

/// Numbers that one task takes. Sums are over blocks of this size, added up in their order.
constexpr int kGrain = 2048;
/// Numbers that stay in the nearest cache while all columns are added to them.
constexpr int kChunk = 512;

/// Σ a b. Four partial sums: one alone would wait for itself at every term.
double dot(const double* a, const double* b, int n) {
  double sum[4] = {};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  for (; i < n; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/// Σ a c and Σ b c, each as above.
void dot_both(const double* a, const double* b, const double* c, int n, double* out) {
  double of_a[4] = {}, of_b[4] = {};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; ++k) {
      of_a[k] += a[i + k] * c[i + k];
      of_b[k] += b[i + k] * c[i + k];
    }
  for (; i < n; ++i) {
    of_a[0] += a[i] * c[i];
    of_b[0] += b[i] * c[i];
  }
  out[0] = (of_a[0] + of_a[2]) + (of_a[1] + of_a[3]);
  out[1] = (of_b[0] + of_b[2]) + (of_b[1] + of_b[3]);
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
  partial_.resize(static_cast<std::size_t>(num_blocks) * kMaxSums);
  run_blocks(workers_, num_rows_, kGrain, [&](int begin, int end) {
    add_block(begin, end, partial_.data() + static_cast<std::ptrdiff_t>(begin / kGrain) * kMaxSums);
  });
  std::fill_n(sums, count, 0.0);
  for (int k = 0; k < num_blocks; ++k)
    for (int c = 0; c < count; ++c) sums[c] += partial_[static_cast<std::size_t>(k) * kMaxSums + c];
}

/// The weighted change of the impulses by the sweep, and for Anderson's method how it differs from
/// that of the sweep before, with the products of both with all such differences: one pass.
void NsgsAccelerator::measure_defect(std::span<const double> z, Products& products) {
  const bool has_step = kind_ == Acceleration::kAnderson && has_last_;
  const int newest = count_ < depth_ ? count_ : (newest_ + 1) % depth_;
  const int count = has_step ? std::min(count_ + 1, depth_) : 0;
  double sums[kMaxSums];
  sum_up(
      1 + 2 * count,
      [&](int begin, int end, double* out) {
        const int n = end - begin;
        double* defect = defect_.data() + begin;
        for (int i = 0; i < n; ++i)
          defect[i] = weight_[begin + i] * (z[begin + i] - start_[begin + i]);
        out[0] = dot(defect, defect, n);
        if (!has_step) return;
        double* step = defect_step(newest) + begin;
        const double* last = last_defect_.data() + begin;
        for (int i = 0; i < n; ++i) step[i] = defect[i] - last[i];
        for (int c = 0; c < count; ++c)
          dot_both(step, defect, defect_step(c) + begin, n, out + 1 + 2 * c);
      },
      sums);
  products.square = sums[0];
  for (int c = 0; c < count; ++c) {
    products.of_step[c] = sums[1 + 2 * c];
    products.of_defect[c] = sums[2 + 2 * c];
  }
}

void NsgsAccelerator::extrapolate(std::span<double> z) {
  if (kind_ == Acceleration::kNone) return;
  Products products;
  measure_defect(z, products);
  const double square = products.square;
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
    extrapolate_anderson(products, z);
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

void NsgsAccelerator::extrapolate_anderson(const Products& products, std::span<double> z) {
  const bool has_step = has_last_;
  if (has_step) append_step(products);
  std::swap(last_defect_, defect_);
  has_last_ = true;
  double gamma[kMaxDepth] = {};
  if (count_ > 0) solve_least_squares(products, gamma);
  for (int c = 0; c < count_; ++c) is_extrapolated_ = is_extrapolated_ || gamma[c] != 0;
  double* newest = image_steps_.data() + static_cast<std::size_t>(newest_) * size_;
  run_numbers(workers_, size_, kGrain, [&](int begin, int end) {
    for (int first = begin; first < end; first += kChunk) {
      const int last = std::min(end, first + kChunk);
      if (has_step)
        for (int i = first; i < last; ++i) newest[i] = z[i] - image_[i];
      std::copy(z.begin() + first, z.begin() + last, image_.begin() + first);
      for (int c = 0; c < count_; ++c) {
        if (gamma[c] == 0) continue;
        const double* step = image_steps_.data() + static_cast<std::size_t>(c) * size_;
        for (int i = first; i < last; ++i) z[i] -= gamma[c] * step[i];
      }
    }
  });
}

/// The last difference of defects is one of the columns from now on.
void NsgsAccelerator::append_step(const Products& products) {
  newest_ = count_ < depth_ ? count_ : (newest_ + 1) % depth_;
  count_ = std::min(count_ + 1, depth_);
  for (int c = 0; c < count_; ++c)
    gram_[newest_ * depth_ + c] = gram_[c * depth_ + newest_] = products.of_step[c];
}

/// γ of least ‖f − Σ γ_c Δf_c‖ by elimination with diagonal pivots in the scaled Gram matrix.
void NsgsAccelerator::solve_least_squares(const Products& products, double* gamma) const {
  double a[kMaxDepth][kMaxDepth + 1], scale[kMaxDepth];
  bool is_used[kMaxDepth] = {};
  for (int c = 0; c < count_; ++c) {
    const double square = gram_[c * depth_ + c];
    scale[c] = square > 0 ? 1 / std::sqrt(square) : 0;
    gamma[c] = 0;
  }
  for (int c = 0; c < count_; ++c) {
    for (int d = 0; d < count_; ++d) a[c][d] = gram_[c * depth_ + d] * scale[c] * scale[d];
    a[c][count_] = scale[c] * products.of_defect[c];
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
