// A binary tree of boxes: which of many boxes overlap a given one, or each other.
//
// Built at once by splitting at the middle of the longest axis, or at the median where that is
// lopsided; boxes can then be inserted and removed one by one. Nothing but comparisons, sums and
// means of coordinates goes in, so that all scales are alike. Which leaf lies where never shows in
// results: queries visit leaves in an order of the tree's own, and callers sort.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stiction/base/worker_pool.h"
#include "stiction/geometry/bounds.h"

namespace stiction {

/// Bounds::overlaps without its branches, which a tree makes unpredictable.
inline bool boxes_overlap(const Bounds& a, const Bounds& b) {
  const auto meet = [&](int axis) {
    return static_cast<int>(a.lower[axis] <= b.upper[axis]) &
           static_cast<int>(b.lower[axis] <= a.upper[axis]);
  };
  return (meet(0) & meet(1) & meet(2)) != 0;
}

/// Boxes are named by proxies: dense indices ≥ 0. All bounds must be finite and not empty. Storage
/// is reused.
class BoxTree {
 public:
  /// Replaces all by the boxes of these proxies, boxes[proxy] each. O(n log n).
  void build(std::span<const int> proxies, std::span<const Bounds> boxes, WorkerPool& pool);
  /// For a proxy that is not in the tree.
  void insert(int proxy, const Bounds& box);
  /// For a proxy that is in the tree.
  void remove(int proxy);
  bool contains(int proxy) const {
    return static_cast<std::size_t>(proxy) < leaf_of_.size() && leaf_of_[index(proxy)] >= 0;
  }
  /// The node of a proxy, −1 if it is not in the tree. As built, those of neighbours in space are
  /// near each other.
  int place_of(int proxy) const {
    return static_cast<std::size_t>(proxy) < leaf_of_.size() ? leaf_of_[index(proxy)] : -1;
  }
  int num_boxes() const { return num_boxes_; }
  /// Insertions have made the tree so deep that it had better be built anew.
  bool is_lopsided() const { return is_lopsided_; }

  /// visit(proxy) for all boxes that overlap `box`. `stack` is scratch.
  template <typename Visit>
  void query(const Bounds& box, std::vector<int>& stack, Visit&& visit) const {
    if (root_ < 0) return;
    stack.clear();
    int k = root_;
    for (;;) {
      const Node& node = nodes_[index(k)];
      if (boxes_overlap(node.box, box)) {
        if (node.left >= 0) {
          stack.push_back(node.right);
          k = node.left;
          continue;
        }
        visit(node.proxy());
      }
      if (stack.empty()) return;
      k = stack.back();
      stack.pop_back();
    }
  }

  /// Of a tree as built, without later changes: nodes are stored in preorder, so that the leaves of
  /// positions [first, last) see every later leaf once. visit(leaf's proxy, other's proxy) for
  /// pairs that overlap; visit_leaf(proxy, box) before them for each leaf. Disjoint ranges give
  /// disjoint pairs.
  template <typename VisitLeaf, typename VisitPair>
  void query_later(int first, int last, VisitLeaf&& visit_leaf, VisitPair&& visit) const {
    const int size = num_nodes();
    for (int position = first; position < last; ++position) {
      const Node& leaf = nodes_[index(position)];
      if (leaf.left >= 0) continue;
      const int proxy = leaf.proxy();
      visit_leaf(proxy, leaf.box);
      for (int k = position + 1; k < size;) {
        const Node& node = nodes_[index(k)];
        if (boxes_overlap(node.box, leaf.box)) {
          if (node.left < 0) visit(proxy, node.proxy());
          ++k;
        } else {
          k = node.end;
        }
      }
    }
  }
  int num_nodes() const { return static_cast<int>(nodes_.size()); }

 private:
  struct Node {
    Bounds box;
    int parent = -1;
    int left = -1;   // −1: a leaf
    int right = -1;  // of a leaf: its proxy
    int end = 0;     // as built: position after the last node below this one
    int proxy() const { return right; }
  };
  struct Item {
    Eigen::Vector3d center;  // [m]
    int proxy = 0;
  };
  /// Items [first, last) become the nodes from `position` on: 2 (last − first) − 1 of them.
  struct Range {
    int first = 0, last = 0, position = 0, parent = -1;
  };

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  int split(const Range& range);
  void place(const Range& range, std::span<const Bounds> boxes);
  void unite_children(int k);
  int find_sibling(const Bounds& box);
  int take_node();
  void replace_child(int parent, int child, int replacement);

  std::vector<Node> nodes_;
  std::vector<int> leaf_of_;     // proxy → node, −1 if it is not here
  std::vector<int> free_nodes_;  // places of nodes_ that are empty
  std::vector<Item> items_;      // scratch of build
  std::vector<Range> top_, subtrees_;
  int root_ = -1;
  int num_boxes_ = 0;
  bool is_lopsided_ = false;
};

}  // namespace stiction
