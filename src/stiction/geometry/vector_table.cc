#include "stiction/geometry/vector_table.h"

#include <algorithm>
#include <limits>

namespace stiction {
namespace {

using Lanes = Eigen::Array4d;

}  // namespace

void VectorTable::finish() {
  count_ = (static_cast<int>(vectors_.size()) + kLanes - 1) / kLanes * kLanes;
  components_.clear();
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < count_; ++i) {
      components_.push_back(vectors_[i < static_cast<int>(vectors_.size()) ? i : 0][axis]);
    }
  }
  vectors_ = {};
}

int VectorTable::find_furthest(const Eigen::Vector3d& direction) const {
  const double dx = direction.x(), dy = direction.y(), dz = direction.z();
  int best = 0;
  double highest = -std::numeric_limits<double>::infinity();
  for (int first = 0; first < count_; first += kBlock) {
    const int size = std::min(kBlock, count_ - first);
    const double* const x = components_.data() + first;
    const double* const y = x + count_;
    const double* const z = y + count_;
    alignas(16) double products[kBlock];
    Lanes tops = Lanes::Constant(highest);
    for (int i = 0; i < size; i += kLanes) {
      const Lanes product = dx * Eigen::Map<const Lanes>(x + i) +
                            dy * Eigen::Map<const Lanes>(y + i) +
                            dz * Eigen::Map<const Lanes>(z + i);
      Eigen::Map<Lanes>(products + i) = product;
      tops = tops.max(product);
    }
    const double top = tops.maxCoeff();
    if (!(top > highest)) continue;
    highest = top;
    int i = 0;
    while (i + 1 < size && products[i] != top) ++i;
    best = first + i;
  }
  return best;
}

}  // namespace stiction
