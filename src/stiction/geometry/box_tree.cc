#include "stiction/geometry/box_tree.h"

#include <algorithm>
#include <bit>

#include "stiction/base/check.h"

namespace stiction {
namespace {

/// Sum of the edges: ranks boxes as their areas do, and neither overflows nor underflows where
/// lengths do not.
double compute_edges(const Bounds& box) { return (box.upper - box.lower).sum(); }

double compute_united_edges(const Bounds& a, const Bounds& b) {
  return (a.upper.cwiseMax(b.upper) - a.lower.cwiseMin(b.lower)).sum();
}

/// A balanced tree has depth log₂ n; this much is still no loss worth a rebuild.
int depth_limit(int num_boxes) {
  return 16 + 4 * static_cast<int>(std::bit_width(static_cast<unsigned>(num_boxes)));
}

}  // namespace

/// Reorders the items of a range of at least two and returns where its second half begins.
int BoxTree::split(const Range& range) {
  const auto first = items_.begin() + range.first, last = items_.begin() + range.last;
  Bounds centers;
  for (auto item = first; item != last; ++item) centers.include(item->center);
  int axis = 0;
  (centers.upper - centers.lower).maxCoeff(&axis);
  const double middle = 0.5 * centers.lower[axis] + 0.5 * centers.upper[axis];
  const auto cut =
      std::partition(first, last, [&](const Item& item) { return item.center[axis] < middle; });
  // The middle gives better boxes than the median, but only the median bounds the depth.
  const auto count = last - first, smallest = std::max<std::ptrdiff_t>(count / 8, 1);
  if (cut - first >= smallest && last - cut >= smallest)
    return static_cast<int>(cut - items_.begin());
  const auto median = first + count / 2;
  std::nth_element(first, median, last, [axis](const Item& a, const Item& b) {
    return a.center[axis] < b.center[axis];
  });
  return static_cast<int>(median - items_.begin());
}

void BoxTree::unite_children(int k) {
  Node& node = nodes_[index(k)];
  const Bounds& left = nodes_[index(node.left)].box;
  const Bounds& right = nodes_[index(node.right)].box;
  node.box.lower = left.lower.cwiseMin(right.lower);
  node.box.upper = left.upper.cwiseMax(right.upper);
}

void BoxTree::place(const Range& range, std::span<const Bounds> boxes) {
  Node& node = nodes_[index(range.position)];
  node.parent = range.parent;
  node.end = range.position + 2 * (range.last - range.first) - 1;
  if (range.last - range.first == 1) {
    const int proxy = items_[index(range.first)].proxy;
    node.box = boxes[index(proxy)];
    node.left = -1;
    node.right = proxy;
    leaf_of_[index(proxy)] = range.position;
    return;
  }
  const int middle = split(range);
  node.left = range.position + 1;
  node.right = range.position + 2 * (middle - range.first);
  place({range.first, middle, node.left, range.position}, boxes);
  place({middle, range.last, node.right, range.position}, boxes);
  unite_children(range.position);
}

void BoxTree::build(std::span<const int> proxies, std::span<const Bounds> boxes, WorkerPool& pool) {
  const int count = static_cast<int>(proxies.size());
  leaf_of_.assign(boxes.size(), -1);
  free_nodes_.clear();
  num_boxes_ = count;
  is_lopsided_ = false;
  root_ = count > 0 ? 0 : -1;
  nodes_.resize(count > 0 ? 2 * index(count) - 1 : 0);
  items_.resize(index(count));
  if (count == 0) return;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Bounds& box = boxes[index(proxies[i])];
    items_[i] = {0.5 * box.lower + 0.5 * box.upper, proxies[i]};
  }
  // The top of the tree is split by one thread until there are subtrees for all.
  const int largest = pool.num_threads() == 1 ? count : std::max(count / 16, 1024);
  top_.clear();
  subtrees_.assign(1, {0, count, 0, -1});
  for (std::size_t i = 0; i < subtrees_.size();) {
    const Range range = subtrees_[i];
    if (range.last - range.first <= largest) {
      ++i;
      continue;
    }
    const int middle = split(range);
    Node& node = nodes_[index(range.position)];
    node.parent = range.parent;
    node.end = range.position + 2 * (range.last - range.first) - 1;
    node.left = range.position + 1;
    node.right = range.position + 2 * (middle - range.first);
    top_.push_back(range);
    subtrees_[i] = {range.first, middle, node.left, range.position};
    subtrees_.push_back({middle, range.last, node.right, range.position});
  }
  pool.run(static_cast<int>(subtrees_.size()),
           [&](int i, int) { place(subtrees_[index(i)], boxes); });
  for (auto range = top_.rbegin(); range != top_.rend(); ++range) unite_children(range->position);
}

/// The node beside which a new leaf costs least, where the cost of a tree is the sum of the edges
/// of its inner nodes: what random queries visit.
int BoxTree::find_sibling(const Bounds& box) {
  int k = root_, depth = 0;
  while (nodes_[index(k)].left >= 0) {
    const Node& node = nodes_[index(k)];
    const double united = compute_united_edges(node.box, box);
    const double growth = united - compute_edges(node.box);
    const auto cost_below = [&](int child) {
      const Node& below = nodes_[index(child)];
      const double united_below = compute_united_edges(below.box, box);
      return below.left < 0 ? united_below : united_below - compute_edges(below.box);
    };
    const double left = cost_below(node.left), right = cost_below(node.right);
    if (united <= growth + std::min(left, right)) break;
    k = left <= right ? node.left : node.right;
    ++depth;
  }
  if (depth > depth_limit(num_boxes_)) is_lopsided_ = true;
  return k;
}

int BoxTree::take_node() {
  if (free_nodes_.empty()) {
    nodes_.emplace_back();
    return num_nodes() - 1;
  }
  const int k = free_nodes_.back();
  free_nodes_.pop_back();
  return k;
}

void BoxTree::replace_child(int parent, int child, int replacement) {
  nodes_[index(replacement)].parent = parent;
  if (parent < 0) {
    root_ = replacement;
  } else if (nodes_[index(parent)].left == child) {
    nodes_[index(parent)].left = replacement;
  } else {
    nodes_[index(parent)].right = replacement;
  }
}

void BoxTree::insert(int proxy, const Bounds& box) {
  ST_DEMAND(!contains(proxy));
  if (leaf_of_.size() <= index(proxy)) leaf_of_.resize(index(proxy) + 1, -1);
  const int leaf = take_node();
  nodes_[index(leaf)] = {.box = box, .parent = -1, .left = -1, .right = proxy, .end = 0};
  leaf_of_[index(proxy)] = leaf;
  ++num_boxes_;
  if (root_ < 0) {
    root_ = leaf;
    return;
  }
  const int sibling = find_sibling(box);
  const int joint = take_node();
  replace_child(nodes_[index(sibling)].parent, sibling, joint);
  Node& node = nodes_[index(joint)];
  node.left = sibling;
  node.right = leaf;
  nodes_[index(sibling)].parent = joint;
  nodes_[index(leaf)].parent = joint;
  unite_children(joint);
  for (int k = node.parent; k >= 0; k = nodes_[index(k)].parent) {
    if (nodes_[index(k)].box.contains(box)) break;
    nodes_[index(k)].box.include(box);
  }
}

void BoxTree::remove(int proxy) {
  ST_DEMAND(contains(proxy));
  const int leaf = leaf_of_[index(proxy)];
  leaf_of_[index(proxy)] = -1;
  --num_boxes_;
  free_nodes_.push_back(leaf);
  const int joint = nodes_[index(leaf)].parent;
  if (joint < 0) {
    root_ = -1;
    return;
  }
  const Node& node = nodes_[index(joint)];
  const int sibling = node.left == leaf ? node.right : node.left;
  const int above = node.parent;
  free_nodes_.push_back(joint);
  replace_child(above, joint, sibling);
  for (int k = above; k >= 0; k = nodes_[index(k)].parent) {
    const Bounds before = nodes_[index(k)].box;
    unite_children(k);
    const Bounds& after = nodes_[index(k)].box;
    if (before.lower == after.lower && before.upper == after.upper) break;
  }
}

}  // namespace stiction
