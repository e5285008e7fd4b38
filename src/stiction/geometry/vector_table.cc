#include "stiction/geometry/vector_table.h"

#include <algorithm>
#include <bit>
#include <limits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stiction {
namespace {

using Lanes = Eigen::Array4d;

/// Bit k: whether number k of four is `value`.
unsigned compare_four(const double* numbers, double value) {
#ifdef __SSE2__
  const __m128d both = _mm_set1_pd(value);
  const int low = _mm_movemask_pd(_mm_cmpeq_pd(_mm_load_pd(numbers), both));
  const int high = _mm_movemask_pd(_mm_cmpeq_pd(_mm_load_pd(numbers + 2), both));
  return static_cast<unsigned>(low | high << 2);
#else
  unsigned bits = 0;
  for (int k = 0; k < 4; ++k) bits |= static_cast<unsigned>(numbers[k] == value) << k;
  return bits;
#endif
}

/// Where `value` is first among `count` ≤ 32 numbers that have it, a multiple of four, in aligned
/// memory. Whichever it is, the way there is the same: a search that stops at it is guessed wrongly
/// nearly every time, and twice as slow.
int find_first_equal(const double* numbers, int count, double value) {
  unsigned equals = 0;
  for (int i = 0; i < count; i += 4) equals |= compare_four(numbers + i, value) << i;
  return std::countr_zero(equals);
}

}  // namespace

VectorTable::VectorTable(std::span<const Eigen::Vector3d> vectors, std::span<double> numbers)
    : numbers_(numbers.data()), count_(static_cast<int>(padded(vectors.size()))) {
  replace(vectors);
}

void VectorTable::replace(std::span<const Eigen::Vector3d> vectors) {
  for (int axis = 0; axis < 3; ++axis) {
    double* const components = numbers_ + axis * count_;
    for (int i = 0; i < count_; ++i) {
      components[i] = vectors[i < static_cast<int>(vectors.size()) ? i : 0][axis];
    }
  }
}

int VectorTable::find_furthest(const Eigen::Vector3d& direction) const {
  const double dx = direction.x(), dy = direction.y(), dz = direction.z();
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int first = 0; first < count_; first += kBlock) {
    const int size = std::min(kBlock, count_ - first);
    const double* const x = numbers_ + first;
    const double* const y = x + count_;
    const double* const z = y + count_;
    alignas(16) double products[kBlock];
    Lanes tops = Lanes::Constant(highest);
    for (int i = 0; i < size; i += static_cast<int>(kLanes)) {
      const Lanes product = dx * Eigen::Map<const Lanes>(x + i) +
                            dy * Eigen::Map<const Lanes>(y + i) +
                            dz * Eigen::Map<const Lanes>(z + i);
      Eigen::Map<Lanes>(products + i) = product;
      tops = tops.max(product);
    }
    const double top = tops.maxCoeff();
    if (!(top > highest)) continue;
    highest = top;
    best = first + find_first_equal(products, size, top);
  }
  return best;
}

}  // namespace stiction
