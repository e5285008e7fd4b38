#include "stiction/geometry/triangle_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stiction {

/// Splits at medians of centres, twice for each node: balanced whatever the triangles look like.
struct TriangleTree::Builder {
  struct Entry {
    std::array<float, 3> center;
    std::int32_t item;
  };
  struct Range {
    int first = 0, count = 0;
  };
  struct Task {
    Range range;
    std::int32_t node;
  };

  TriangleTree& tree;
  const std::vector<Bounds>& boxes;
  std::vector<Entry> entries{};

  int split(const Range& range) {
    std::array<float, 3> low, high;
    low.fill(std::numeric_limits<float>::infinity());
    high.fill(-std::numeric_limits<float>::infinity());
    for (int i = range.first; i < range.first + range.count; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], entries[i].center[axis]);
        high[axis] = std::max(high[axis], entries[i].center[axis]);
      }
    }
    int axis = 0;
    for (int k = 1; k < 3; ++k) {
      if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    }
    const auto begin = entries.begin() + range.first;
    const int half = range.count / 2;
    std::nth_element(begin, begin + half, begin + range.count, [=](const Entry& a, const Entry& b) {
      if (a.center[axis] != b.center[axis]) return a.center[axis] < b.center[axis];
      return a.item < b.item;
    });
    return half;
  }

  void fill_child(std::int32_t node, int k, const Range& range, std::vector<Task>& tasks) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Bounds box;
    for (int i = range.first; i < range.first + range.count; ++i) {
      box.include(boxes[entries[i].item]);
    }
    for (int axis = 0; axis < 3; ++axis) {
      tree.nodes_[node].lower[axis][k] =
          range.count == 0 ? kInfinity
                           : std::nextafter(tree.inside(box.lower[axis], axis), -kInfinity);
      tree.nodes_[node].upper[axis][k] =
          range.count == 0 ? -kInfinity
                           : std::nextafter(tree.inside(box.upper[axis], axis), kInfinity);
    }
    tree.nodes_[node].count[k] = 0;
    if (range.count == 0) {
      tree.nodes_[node].child[k] = kNoChild;
    } else if (range.count <= kLeafSize) {
      tree.nodes_[node].child[k] = ~range.first;
      tree.nodes_[node].count[k] = static_cast<std::uint8_t>(range.count);
    } else {
      const auto child = static_cast<std::int32_t>(tree.nodes_.size());
      tree.nodes_[node].child[k] = child;
      tree.nodes_.emplace_back();
      tasks.push_back({range, child});
    }
  }

  void build() {
    std::vector<Task> tasks;
    tree.nodes_.emplace_back();
    tasks.push_back({{0, static_cast<int>(entries.size())}, 0});
    while (!tasks.empty()) {
      const auto [range, node] = tasks.back();
      tasks.pop_back();
      const int half = split(range);
      const Range left{range.first, half}, right{range.first + half, range.count - half};
      const int left_half = left.count > 1 ? split(left) : left.count;
      const int right_half = right.count > 1 ? split(right) : right.count;
      fill_child(node, 0, {left.first, left_half}, tasks);
      fill_child(node, 1, {left.first + left_half, left.count - left_half}, tasks);
      fill_child(node, 2, {right.first, right_half}, tasks);
      fill_child(node, 3, {right.first + right_half, right.count - right_half}, tasks);
    }
    for (const Entry& entry : entries) tree.items_.push_back(entry.item);
  }
};

TriangleTree::TriangleTree(const std::vector<Bounds>& boxes) {
  if (boxes.empty()) return;
  Bounds all;
  for (const Bounds& box : boxes) all.include(box);
  const double size = (all.upper - all.lower).maxCoeff();
  origin_ = all.lower;
  unit_ = size > 0 && std::isfinite(1 / size) ? size : 1;
  inverse_scale_ = 1 / unit_;
  Builder builder{.tree = *this, .boxes = boxes};
  builder.entries.reserve(boxes.size());
  items_.reserve(boxes.size());
  nodes_.reserve(boxes.size() / 6 + 1);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    Builder::Entry entry{.center = {}, .item = static_cast<std::int32_t>(i)};
    for (int axis = 0; axis < 3; ++axis) {
      const float center = inside(0.5 * boxes[i].lower[axis] + 0.5 * boxes[i].upper[axis], axis);
      entry.center[axis] = std::isfinite(center) ? center : 0;
    }
    builder.entries.push_back(entry);
  }
  builder.build();
}

CellPyramid::CellPyramid(const std::vector<double>& heights, int rows, int cols) {
  Level cells{.rows = rows - 1, .cols = cols - 1};
  cells.ranges.reserve(static_cast<std::size_t>(cells.rows) * cells.cols);
  for (int i = 0; i + 1 < rows; ++i) {
    for (int j = 0; j + 1 < cols; ++j) {
      const std::size_t at = static_cast<std::size_t>(i) * cols + j;
      const auto [low, high] =
          std::minmax({heights[at], heights[at + 1], heights[at + cols], heights[at + cols + 1]});
      cells.ranges.push_back({low, high});
    }
  }
  levels_.push_back(std::move(cells));
  while (levels_.back().rows > 1 || levels_.back().cols > 1) {
    const Level& fine = levels_.back();
    Level coarse{.rows = (fine.rows + 1) / 2, .cols = (fine.cols + 1) / 2};
    coarse.ranges.reserve(static_cast<std::size_t>(coarse.rows) * coarse.cols);
    for (int i = 0; i < coarse.rows; ++i) {
      for (int j = 0; j < coarse.cols; ++j) {
        Range range = fine.at(2 * i, 2 * j);
        for (int k = 1; k < 4; ++k) {
          const int row = 2 * i + k / 2, col = 2 * j + k % 2;
          if (row >= fine.rows || col >= fine.cols) continue;
          range.low = std::min(range.low, fine.at(row, col).low);
          range.high = std::max(range.high, fine.at(row, col).high);
        }
        coarse.ranges.push_back(range);
      }
    }
    levels_.push_back(std::move(coarse));
  }
}

std::size_t CellPyramid::memory() const {
  std::size_t bytes = 0;
  for (const Level& level : levels_) bytes += level.ranges.capacity() * sizeof(Range);
  return bytes;
}

}  // namespace stiction
