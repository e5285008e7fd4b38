#include "stiction/solve/nsgs_acceleration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/solve/long_vectors.h"

namespace stiction {
namespace {

/// An extrapolation that makes ‖f‖² grow by more than this is taken back.
constexpr double kGrowth = 4;
/// Directions of the least squares problem that depend on others to this degree are left out: a
/// hundred times what rounding of sums leaves, or more.
template <class Real>
constexpr double kDependent = sizeof(Real) == sizeof(float) ? 1e-5 : 1e-10;

/// Numbers that one task takes. Sums are over blocks of this size, added up in their order.
constexpr int kGrain = 2048;
/// Numbers that stay in the nearest cache while all columns are added to them.
constexpr int kChunk = 512;

}  // namespace

template <class Real>
void NsgsAccelerator<Real>::prepare(Acceleration kind, int depth, std::vector<Real> const& weight,
                                    int size, WorkerPool* workers) {
  kind_ = kind;
  workers_ = workers;
  depth_ = std::clamp(depth, 1, kMaxDepth);
  num_rows_ = static_cast<int>(weight.size());
  size_ = size;
  forget();
  if (kind == Acceleration::kNone) return;
  image_.resize(size);
  if (kind == Acceleration::kMomentum) return;
  weight_ = weight;
  start_.resize(size);
  defect_.resize(num_rows_);
  last_defect_.resize(num_rows_);
  if (kind == Acceleration::kNncg) {
    direction_.assign(size, Real{0});
    return;
  }
  defect_steps_.resize(static_cast<std::size_t>(depth_) * num_rows_);
  image_steps_.resize(static_cast<std::size_t>(depth_) * size);
  gram_.assign(static_cast<std::size_t>(depth_) * depth_, 0.0);
}

template <class Real>
void NsgsAccelerator<Real>::forget() {
  count_ = newest_ = 0;
  has_last_ = is_extrapolated_ = false;
  std::fill(direction_.begin(), direction_.end(), Real{0});
}

/// Anderson's method needs the impulses of the start only, momentum nothing of it.
template <class Real>
void NsgsAccelerator<Real>::remember(std::span<const Real> z) {
  if (kind_ == Acceleration::kNone || kind_ == Acceleration::kMomentum) return;
  const int size = kind_ == Acceleration::kNncg ? size_ : num_rows_;
  std::copy(z.begin(), z.begin() + size, start_.begin());
}

/// `count` sums over all impulses; add_block(begin, end, out) computes those of a block.
template <class Real>
template <class Sum>
void NsgsAccelerator<Real>::sum_up(int count, const Sum& add_block, double* sums) {
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
template <class Real>
void NsgsAccelerator<Real>::measure_defect(std::span<const Real> z, Products& products) {
  const bool has_step = kind_ == Acceleration::kAnderson && has_last_;
  const int newest = count_ < depth_ ? count_ : (newest_ + 1) % depth_;
  const int count = has_step ? std::min(count_ + 1, depth_) : 0;
  const LongVectors<Real>& loops = LongVectors<Real>::chosen();
  double sums[kMaxSums];
  sum_up(
      1 + 2 * count,
      [&](int begin, int end, double* out) {
        const int n = end - begin;
        Real* defect = defect_.data() + begin;
        loops.subtract_weighted(weight_.data() + begin, z.data() + begin, start_.data() + begin, n,
                                defect);
        out[0] = loops.dot(defect, defect, n);
        if (!has_step) return;
        Real* step = defect_step(newest) + begin;
        loops.subtract(defect, last_defect_.data() + begin, n, step);
        for (int c = 0; c < count; ++c)
          loops.dot_both(step, defect, defect_step(c) + begin, n, out + 1 + 2 * c);
      },
      sums);
  products.square = sums[0];
  for (int c = 0; c < count; ++c) {
    products.of_step[c] = sums[1 + 2 * c];
    products.of_defect[c] = sums[2 + 2 * c];
  }
}

template <class Real>
void NsgsAccelerator<Real>::extrapolate(std::span<Real> z) {
  if (kind_ == Acceleration::kNone) return;
  if (kind_ == Acceleration::kMomentum) return carry_on(z);
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

template <class Real>
void NsgsAccelerator<Real>::carry_on(std::span<Real> z) {
  if (has_last_)
    run_numbers(workers_, size_, kGrain, [&](int begin, int end) {
      LongVectors<Real>::chosen().carry_on(momentum_, end - begin, image_.data() + begin,
                                           z.data() + begin);
    });
  else
    std::copy(z.begin(), z.end(), image_.begin());
  has_last_ = true;
}

template <class Real>
void NsgsAccelerator<Real>::extrapolate_conjugate(double ratio, std::span<Real> z) {
  std::copy(z.begin(), z.end(), image_.begin());
  const Real beta = static_cast<Real>(ratio > 1 ? 0 : ratio);
  for (int i = 0; i < size_; ++i) {
    const Real carried = beta * direction_[i];
    direction_[i] = carried + z[i] - start_[i];
    z[i] += carried;
  }
  is_extrapolated_ = beta > 0;
  has_last_ = true;
}

template <class Real>
void NsgsAccelerator<Real>::extrapolate_anderson(const Products& products, std::span<Real> z) {
  const bool has_step = has_last_;
  if (has_step) append_step(products);
  std::swap(last_defect_, defect_);
  has_last_ = true;
  double gamma[kMaxDepth] = {};
  if (count_ > 0) solve_least_squares(products, gamma);
  for (int c = 0; c < count_; ++c) is_extrapolated_ = is_extrapolated_ || gamma[c] != 0;
  const LongVectors<Real>& loops = LongVectors<Real>::chosen();
  Real* newest = image_steps_.data() + static_cast<std::size_t>(newest_) * size_;
  run_numbers(workers_, size_, kGrain, [&](int begin, int end) {
    for (int first = begin; first < end; first += kChunk) {
      const int last = std::min(end, first + kChunk);
      if (has_step)
        loops.subtract(z.data() + first, image_.data() + first, last - first, newest + first);
      std::copy(z.begin() + first, z.begin() + last, image_.begin() + first);
      for (int c = 0; c < count_; ++c) {
        if (gamma[c] == 0) continue;
        const Real* step = image_steps_.data() + static_cast<std::size_t>(c) * size_;
        loops.take_off(static_cast<Real>(gamma[c]), step + first, last - first, z.data() + first);
      }
    }
  });
}

/// The last difference of defects is one of the columns from now on.
template <class Real>
void NsgsAccelerator<Real>::append_step(const Products& products) {
  newest_ = count_ < depth_ ? count_ : (newest_ + 1) % depth_;
  count_ = std::min(count_ + 1, depth_);
  for (int c = 0; c < count_; ++c)
    gram_[newest_ * depth_ + c] = gram_[c * depth_ + newest_] = products.of_step[c];
}

/// γ of least ‖f − Σ γ_c Δf_c‖ by elimination with diagonal pivots in the scaled Gram matrix.
template <class Real>
void NsgsAccelerator<Real>::solve_least_squares(const Products& products, double* gamma) const {
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
      if (!is_used[c] && a[c][c] > kDependent<Real> && (best < 0 || a[c][c] > a[best][best]))
        best = c;
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

template class NsgsAccelerator<double>;
template class NsgsAccelerator<float>;

}  // namespace stiction
