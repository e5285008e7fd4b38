// The symbolic half of SaddleLdlt: elimination tree, fronts, and where every number goes.
#include <algorithm>
#include <utility>

#include "stiction/solve/saddle_ldlt.h"

namespace stiction {
namespace {

// A front takes in the next node while that adds few zeros: small dense kernels cost more per call
// than per number. Measured with stiction_bench_direct.
constexpr int kSmallFront = 12;         // pivots
constexpr double kZerosInSmall = 0.45;  // of the numbers of a small front …
constexpr double kZerosInLarge = 0.12;  // … and of a large one

}  // namespace

void SaddleLdlt::analyse(const StepProblem& problem, const std::vector<char>& candidates) {
  if (is_exact_ && graph_.fits(problem, candidates) && is_same_order(problem)) return;
  rebuild(problem, candidates);
}

/// The order depends on which groups are safe or compliant, and that on numbers.
bool SaddleLdlt::is_same_order(const StepProblem& problem) {
  for (int g = 0; g < graph_.num_groups(); ++g)
    if (!graph_.has_same_freedom(problem, g)) return false;
  return true;
}

void SaddleLdlt::rebuild(const StepProblem& problem, const std::vector<char>& candidates) {
  graph_.build(problem, candidates);
  graph_.compute_order(order_);
  find_structure();
  form_fronts();
  link_fronts();
  list_items();
  lay_out();
  is_exact_ = true;
  is_factored_ = has_failed_ = false;
  ++num_analyses_;
}

/// Structure of the columns by merging those of the children in the elimination tree.
void SaddleLdlt::find_structure() {
  const int n = graph_.num_nodes(), num_bodies = graph_.num_bodies();
  std::vector<std::vector<int>> children(n);
  structure_.assign(n, {});
  position_.resize(n);
  for (int k = 0; k < n; ++k) position_[order_[k]] = k;
  for (int k = 0; k < n; ++k) {
    std::vector<int>& list = structure_[k];
    const int node = order_[k];
    const auto take = [&](int other) {
      if (position_[other] > k) list.push_back(position_[other]);
    };
    if (node < num_bodies) {
      for (int e = graph_.body_group_begin(node); e < graph_.body_group_begin(node + 1); ++e)
        take(num_bodies + graph_.body_group(e));
    } else {
      const ConstraintGraph::Group& group = graph_.group(node - num_bodies);
      for (int e = 0; e < group.num_bodies; ++e) take(graph_.body(group.body_begin + e));
    }
    for (const int child : children[k])
      for (const int later : structure_[child])
        if (later > k) list.push_back(later);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (!list.empty()) children[list.front()].push_back(k);
  }
  postorder(children);
}

/// Renumbers the places so that a subtree is contiguous and the child with the largest structure
/// lies directly before its parent, where the two may become one front.
void SaddleLdlt::postorder(const std::vector<std::vector<int>>& children) {
  const int n = graph_.num_nodes();
  std::vector<int> backwards, pending, place(n), order(n), sorted;
  for (int root = n - 1; root >= 0; --root) {
    if (!structure_[root].empty()) continue;
    pending.push_back(root);
    while (!pending.empty()) {
      const int node = pending.back();
      pending.pop_back();
      backwards.push_back(node);
      sorted = children[node];
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](int a, int b) { return structure_[a].size() < structure_[b].size(); });
      pending.insert(pending.end(), sorted.begin(), sorted.end());
    }
  }
  for (int k = 0; k < n; ++k) place[backwards[k]] = n - 1 - k;
  std::vector<std::vector<int>> structure(n);
  parent_.assign(n, -1);
  for (int old = 0; old < n; ++old) {
    const int k = place[old];
    order[k] = order_[old];
    for (int& later : structure_[old]) later = place[later];
    std::sort(structure_[old].begin(), structure_[old].end());
    structure[k] = std::move(structure_[old]);
    if (!structure[k].empty()) parent_[k] = structure[k].front();
  }
  structure_ = std::move(structure);
  order_ = std::move(order);
  start_.assign(n + 1, 0);
  for (int k = 0; k < n; ++k) {
    position_[order_[k]] = k;
    start_[k + 1] = start_[k] + graph_.node_size(order_[k]);
  }
}

void SaddleLdlt::form_fronts() {
  const int n = graph_.num_nodes();
  fronts_.clear();
  rest_.clear();
  std::vector<int> rest_size(n, 0);
  for (int k = 0; k < n; ++k)
    for (const int later : structure_[k]) rest_size[k] += start_[later + 1] - start_[later];
  for (int first = 0; first < n;) {
    int last = first;
    double zeros = 0;
    for (; last + 1 < n && parent_[last] == last + 1; ++last) {
      const int pivots = start_[last + 1] - start_[first];
      const int taken = start_[last + 2] - start_[last + 1];
      const double added =
          static_cast<double>(rest_size[last + 1] + taken - rest_size[last]) * pivots;
      const int width = pivots + taken;
      const double numbers = width * (0.5 * width + rest_size[last + 1]);
      const double limit = width <= kSmallFront ? kZerosInSmall : kZerosInLarge;
      if (zeros + added > limit * numbers) break;
      zeros += added;
    }
    Front front{.first_node = first, .num_nodes = last + 1 - first, .first_pivot = start_[first]};
    front.num_pivots = start_[last + 1] - start_[first];
    front.num_rows = front.num_pivots + rest_size[last];
    front.rest_begin = static_cast<int>(rest_.size());
    for (const int later : structure_[last])
      for (int i = start_[later]; i < start_[later + 1]; ++i) rest_.push_back(i);
    for (std::int64_t k = front.num_rows; k > front.num_rows - front.num_pivots; --k)
      front.flops += k * (k + 1) / 2;
    fronts_.push_back(front);
    first = last + 1;
  }
}

/// Parents, children, and the places of a front's rest in its parent.
void SaddleLdlt::link_fronts() {
  const int num_fronts = static_cast<int>(fronts_.size());
  std::vector<int> front_of(order_.size()), next(num_fronts + 1, 0), local(start_.back());
  for (int f = 0; f < num_fronts; ++f)
    for (int k = 0; k < fronts_[f].num_nodes; ++k) front_of[fronts_[f].first_node + k] = f;
  for (Front& front : fronts_) {
    const int parent_node = parent_[front.first_node + front.num_nodes - 1];
    front.parent = parent_node < 0 ? -1 : front_of[parent_node];
    if (front.parent >= 0) ++next[front.parent + 1];
  }
  for (int f = 0; f < num_fronts; ++f) next[f + 1] += next[f];
  for (int f = 0; f < num_fronts; ++f) {
    fronts_[f].child_begin = next[f];
    fronts_[f].child_end = next[f + 1];
  }
  children_.resize(next.back());
  for (int f = 0; f < num_fronts; ++f)
    if (fronts_[f].parent >= 0) children_[next[fronts_[f].parent]++] = f;
  relative_.resize(rest_.size());
  for (const Front& front : fronts_) {
    for (int i = 0; i < front.num_pivots; ++i) local[front.first_pivot + i] = i;
    for (int i = front.num_pivots; i < front.num_rows; ++i)
      local[rest_[front.rest_begin + i - front.num_pivots]] = i;
    for (int c = front.child_begin; c < front.child_end; ++c) {
      const Front& child = fronts_[children_[c]];
      for (int i = 0; i < child.num_rows - child.num_pivots; ++i)
        relative_[child.rest_begin + i] = local[rest_[child.rest_begin + i]];
    }
  }
}

void SaddleLdlt::list_items() {
  std::size_t size = 0;
  value_start_.assign(graph_.num_nodes() + 1, 0);
  for (int node = 0; node < graph_.num_nodes(); ++node) {
    const std::size_t n = graph_.node_size(node);
    const bool is_body = node < graph_.num_bodies();
    size += is_body ? n * n : n * (graph_.group(node - graph_.num_bodies()).width + 1);
    value_start_[node + 1] = size;
  }
  items_.clear();
  std::vector<int> local(start_.back());
  for (Front& front : fronts_) {
    for (int i = 0; i < front.num_pivots; ++i) local[front.first_pivot + i] = i;
    for (int i = front.num_pivots; i < front.num_rows; ++i)
      local[rest_[front.rest_begin + i - front.num_pivots]] = i;
    front.item_begin = static_cast<int>(items_.size());
    for (int k = 0; k < front.num_nodes; ++k) append_items(front.first_node + k, local);
    front.item_end = static_cast<int>(items_.size());
  }
}

/// The diagonal block of the node at a place, and its edges to nodes that come later.
void SaddleLdlt::append_items(int place, const std::vector<int>& local) {
  using Kind = Item::Kind;
  const int node = order_[place], size = graph_.node_size(node), at = local[start_[place]];
  const int num_bodies = graph_.num_bodies();
  const auto edge = [&](int g, int body, int column) {
    const int width = graph_.group(g).width;
    const int row = local[start_[position_[num_bodies + g]]], dof = local[start_[position_[body]]];
    const bool is_transposed = node >= num_bodies;
    items_.push_back({is_transposed ? Kind::kTransposed : Kind::kJacobian, num_bodies + g,
                      is_transposed ? dof : row, is_transposed ? row : dof,
                      graph_.group(g).num_slots, graph_.body_size(body), width,
                      value_start_[num_bodies + g] + column});
  };
  const auto column_of = [&](const ConstraintGraph::Group& group, int body) {
    int column = 0;
    for (int e = 0; graph_.body(group.body_begin + e) != body; ++e)
      column += graph_.body_size(graph_.body(group.body_begin + e));
    return column;
  };
  if (node < num_bodies) {
    items_.push_back({Kind::kMass, node, at, at, size, size, size, value_start_[node]});
    for (int e = graph_.body_group_begin(node); e < graph_.body_group_begin(node + 1); ++e) {
      const int g = graph_.body_group(e);
      if (position_[num_bodies + g] > place) edge(g, node, column_of(graph_.group(g), node));
    }
    return;
  }
  const ConstraintGraph::Group& group = graph_.group(node - num_bodies);
  items_.push_back({Kind::kCompliance, node, at, at, size, 1, 1,
                    value_start_[node] + static_cast<std::size_t>(size) * group.width});
  for (int e = 0; e < group.num_bodies; ++e) {
    const int body = graph_.body(group.body_begin + e);
    if (position_[body] > place) edge(node - num_bodies, body, column_of(group, body));
  }
}

/// Places of the numbers of the fronts. Fronts lie in postorder, so that what children hand to
/// their parents forms a stack, unless it is kept.
void SaddleLdlt::lay_out_fronts() {
  std::size_t panels = 0, top = 0, highest = 0, largest = 0, weights = 0;
  for (Front& front : fronts_) {
    const std::size_t rows = front.num_rows, rest = rows - front.num_pivots;
    if (is_lean_ && front.child_begin < front.child_end)
      top = fronts_[children_[front.child_begin]].update;
    front.panel = panels;
    front.update = top;
    front.weight = weights;
    panels += rows * front.num_pivots;
    top += rest * rest;
    weights += rows;
    highest = std::max(highest, top);
    largest = std::max(largest, rest * rest);
  }
  panels_.resize(panels);
  updates_.resize(highest);
  weights_.resize(weights);
  own_update_.resize(is_lean_ ? largest : 0);
}

void SaddleLdlt::lay_out() {
  lay_out_fronts();
  values_.assign(value_start_.back(), 0.0);
  is_changed_.assign(graph_.num_nodes(), 1);
  is_stale_.assign(fronts_.size(), 1);
  const int n = start_.back();
  is_row_.resize(n);
  natural_.resize(n);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const int group = order_[k] - graph_.num_bodies();
    const int first = group < 0 ? graph_.dof_start(order_[k])
                                : graph_.num_dofs() + graph_.group(group).slot_begin;
    for (int i = start_[k]; i < start_[k + 1]; ++i) {
      is_row_[i] = group >= 0;
      natural_[i] = first + i - start_[k];
    }
  }
  int widest = 0;
  for (int g = 0; g < graph_.num_groups(); ++g) widest = std::max(widest, graph_.group(g).width);
  packed_.resize(widest);
  for (std::vector<double>* list :
       {&pivot_, &inverse_, &unknown_, &right_side_, &residual_, &size_, &gather_, &permuted_})
    list->resize(n);
  active_slot_.assign(graph_.num_slots(), 0);
}

}  // namespace stiction
