// Numbers 0, 1, … in sets that are joined one by one (union-find). A set is known by its smallest
// number, whatever the order of joining.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

namespace stiction {

class DisjointSets {
 public:
  /// Each by itself.
  void reset(int count) {
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int size() const { return static_cast<int>(parent_.size()); }
  int root(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(int a, int b) {
    const int first = root(a), second = root(b);
    parent_[std::max(first, second)] = std::min(first, second);
  }

 private:
  std::vector<int> parent_;
};

}  // namespace stiction
