// Search structures over many static boxes: a tree of four-way nodes with single-precision bounds
// (meshes), and a pyramid of ranges of heights over the cells of a grid (height fields).
//
// Bounds are stored relative to the whole and rounded outwards: a search never misses, whatever the
// units. Neither search recurses or allocates.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "stiction/geometry/bounds.h"

namespace stiction {

class TriangleTree {
 public:
  static constexpr int kLeafSize = 4;

  TriangleTree() = default;
  /// One box for each item. O(n log n).
  explicit TriangleTree(const std::vector<Bounds>& boxes);

  /// Calls visit(item) for the items of all leaves that touch the box, in the order of the tree.
  template <typename Visit>
  void for_each_in_box(const Bounds& box, Visit&& visit) const;

  /// Calls visit(item), which returns the new bound, for items that may be within `bound` of the
  /// point, the near ones first.
  template <typename Visit>
  void for_each_near(const Eigen::Vector3d& point, double bound, Visit&& visit) const;

  std::size_t memory() const { return nodes_.capacity() * sizeof(Node) + items_.capacity() * 4; }

 private:
  /// Four children side by side. A child is an inner node (≥ 0), a leaf (~first, with its count) or
  /// nothing (an empty box).
  struct Node {
    std::array<float, 4> lower[3], upper[3];
    std::array<std::int32_t, 4> child;
    std::array<std::uint8_t, 4> count;  // of items, in leaves
  };
  static constexpr int kStackSize = 256;  // three for each level, and the tree is balanced
  static constexpr std::int32_t kNoChild = std::numeric_limits<std::int32_t>::min();

  struct Builder;
  float inside(double x, int axis) const {
    return static_cast<float>((x - origin_[axis]) * inverse_scale_);
  }

  std::vector<Node> nodes_;
  std::vector<std::int32_t> items_;
  Eigen::Vector3d origin_ = Eigen::Vector3d::Zero();
  double inverse_scale_ = 1, unit_ = 1;  // [1/m], [m]
};

/// Lowest and highest sample of blocks of 2^k × 2^k cells.
class CellPyramid {
 public:
  CellPyramid() = default;
  /// `heights` row after row, at least 2 × 2.
  CellPyramid(const std::vector<double>& heights, int rows, int cols);

  int num_levels() const { return static_cast<int>(levels_.size()); }
  struct Range {
    double low = 0, high = 0;  // [m]
  };
  struct Level {
    int rows = 0, cols = 0;  // of blocks
    std::vector<Range> ranges{};
    const Range& at(int i, int j) const { return ranges[static_cast<std::size_t>(i) * cols + j]; }
  };
  const Level& level(int k) const { return levels_[k]; }
  std::size_t memory() const;

 private:
  std::vector<Level> levels_;  // level 0: single cells
};

template <typename Visit>
void TriangleTree::for_each_in_box(const Bounds& box, Visit&& visit) const {
  if (nodes_.empty()) return;
  // One step outwards, since the conversion to single precision rounds to nearest.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float lower[3], upper[3];
  for (int axis = 0; axis < 3; ++axis) {
    lower[axis] = std::nextafter(inside(box.lower[axis], axis), -kInfinity);
    upper[axis] = std::nextafter(inside(box.upper[axis], axis), kInfinity);
  }
  std::array<std::int32_t, kStackSize> stack;
  int top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const Node& node = nodes_[stack[--top]];
    std::array<int, 4> touches;
    for (int k = 0; k < 4; ++k) {
      touches[k] = 1;
      for (int axis = 0; axis < 3; ++axis)
        touches[k] &= static_cast<int>(node.lower[axis][k] <= upper[axis]) &
                      static_cast<int>(lower[axis] <= node.upper[axis][k]);
    }
    for (int k = 0; k < 4; ++k) {
      if (!touches[k]) continue;
      if (node.child[k] >= 0) {
        stack[top++] = node.child[k];
      } else if (node.child[k] != kNoChild) {
        const int first = ~node.child[k];
        for (int i = 0; i < node.count[k]; ++i) visit(items_[first + i]);
      }
    }
  }
}

template <typename Visit>
void TriangleTree::for_each_near(const Eigen::Vector3d& point, double bound, Visit&& visit) const {
  if (nodes_.empty()) return;
  struct Entry {
    double distance;
    std::int32_t child;
    int count;
  };
  const Eigen::Vector3d p = (point - origin_) * inverse_scale_;
  // Rounding of p may take this much of the distance.
  const double slack = 1e-12 * (1 + p.cwiseAbs().maxCoeff());
  std::array<Entry, kStackSize> stack;
  int top = 0;
  stack[top++] = {.distance = 0, .child = 0, .count = 0};
  while (top > 0) {
    const Entry entry = stack[--top];
    if (entry.distance * unit_ > bound) continue;
    if (entry.child < 0) {
      const int first = ~entry.child;
      for (int i = 0; i < entry.count; ++i) bound = visit(items_[first + i]);
      continue;
    }
    const Node& node = nodes_[entry.child];
    const int begin = top;
    for (int k = 0; k < 4; ++k) {
      if (node.child[k] == kNoChild) continue;
      double squared = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const double outside = std::max(
            {0.0, double(node.lower[axis][k]) - p[axis], p[axis] - double(node.upper[axis][k])});
        squared += outside * outside;
      }
      const Entry child{.distance = std::max(0.0, std::sqrt(squared) - slack),
                        .child = node.child[k],
                        .count = node.count[k]};
      if (child.distance * unit_ > bound) continue;
      int at = top++;
      for (; at > begin && stack[at - 1].distance < child.distance; --at) {
        stack[at] = stack[at - 1];
      }
      stack[at] = child;
    }
  }
}

}  // namespace stiction
