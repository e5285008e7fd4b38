#include "stiction/solve/minimum_degree.h"

#include <algorithm>
#include <cmath>

namespace stiction {

namespace {

/// Nodes with more neighbours come last, in the order of their numbers: their lists would be gone
/// through once for each neighbour, and they end up coupled to everything whenever they come. The
/// numbers are those of Amestoy, Davis & Duff (2004).
int find_most_neighbours(int num_nodes) {
  constexpr double kLeast = 16, kPerRoot = 10;
  return static_cast<int>(std::max(kLeast, kPerRoot * std::sqrt(num_nodes)));
}

}  // namespace

void MinimumDegree::find_order(const std::vector<int>& start, const std::vector<int>& neighbours,
                               std::vector<int>& order) {
  start_from(start, neighbours);
  order.clear();
  while (num_left_ > 0) {
    const int pivot = take_least();
    form_element(pivot);
    measure_outside(pivot);
    for (int m = elements_[pivot].begin; m < elements_[pivot].end; ++m)
      shorten_list(pivot, members_[m]);
    join_twins(pivot);
    file_members(pivot);
    for (int node = pivot; node >= 0; node = nodes_[node].after) order.push_back(node);
  }
  order.insert(order.end(), crowded_.begin(), crowded_.end());
}

void MinimumDegree::start_from(const std::vector<int>& start, const std::vector<int>& neighbours) {
  const int n = static_cast<int>(start.size()) - 1;
  nodes_.resize(n);
  elements_.assign(n, {});
  lists_.clear();
  members_.clear();
  first_of_degree_.assign(n, -1);
  first_of_hash_.assign(n, -1);
  mark_.assign(n, 0);
  stamp_ = last_mark_ = 0;
  num_left_ = least_degree_ = n;
  crowded_.clear();
  const int most_neighbours = find_most_neighbours(n);
  for (int i = 0; i < n; ++i) {
    const int begin = static_cast<int>(lists_.size());
    for (int e = start[i]; e < start[i + 1]; ++e)
      if (neighbours[e] != i) lists_.push_back(neighbours[e]);
    const int length = static_cast<int>(lists_.size()) - begin;
    nodes_[i] = {.begin = begin,
                 .length = length,
                 .num_elements = 0,
                 .weight = 1,
                 .degree = length,
                 .previous = -1,
                 .next = -1,
                 .stamp = 0,
                 .last = i,
                 .after = -1,
                 .hash = 0,
                 .next_of_hash = -1};
    if (length <= most_neighbours) continue;
    nodes_[i].weight = 0;
    crowded_.push_back(i);
  }
  num_left_ -= static_cast<int>(crowded_.size());
  for (int i = n - 1; i >= 0; --i)
    if (nodes_[i].weight > 0) file(i);
}

void MinimumDegree::file(int i) {
  Node& node = nodes_[i];
  int& first = first_of_degree_[node.degree];
  node.previous = -1;
  node.next = first;
  if (first >= 0) nodes_[first].previous = i;
  first = i;
  least_degree_ = std::min(least_degree_, node.degree);
}

void MinimumDegree::take_from_file(int i) {
  const Node& node = nodes_[i];
  if (node.next >= 0) nodes_[node.next].previous = node.previous;
  (node.previous >= 0 ? nodes_[node.previous].next : first_of_degree_[node.degree]) = node.next;
}

int MinimumDegree::take_least() {
  while (first_of_degree_[least_degree_] < 0) ++least_degree_;
  const int pivot = first_of_degree_[least_degree_];
  take_from_file(pivot);
  return pivot;
}

/// The pivot's neighbours, and those that its elements gave it, become members of an element.
void MinimumDegree::form_element(int pivot) {
  Node& node = nodes_[pivot];
  node.stamp = ++stamp_;
  num_left_ -= node.weight;
  node.weight = 0;
  elements_[pivot].begin = static_cast<int>(members_.size());
  const int elements_end = node.begin + node.num_elements;
  for (int k = node.begin; k < node.begin + node.length; ++k) {
    if (k >= elements_end) {
      add_member(pivot, lists_[k]);
      continue;
    }
    Element& absorbed = elements_[lists_[k]];
    for (int m = absorbed.begin; m < absorbed.end; ++m) add_member(pivot, members_[m]);
    absorbed.weight = 0;
  }
  elements_[pivot].end = static_cast<int>(members_.size());
}

void MinimumDegree::add_member(int pivot, int i) {
  Node& node = nodes_[i];
  if (node.weight == 0 || node.stamp == stamp_) return;
  node.stamp = stamp_;
  take_from_file(i);
  members_.push_back(i);
  elements_[pivot].weight += node.weight;
}

/// Of all elements that share members with the pivot's.
void MinimumDegree::measure_outside(int pivot) {
  for (int m = elements_[pivot].begin; m < elements_[pivot].end; ++m) {
    const Node& node = nodes_[members_[m]];
    for (int k = node.begin; k < node.begin + node.num_elements; ++k) {
      Element& element = elements_[lists_[k]];
      if (element.stamp != stamp_) {
        element.stamp = stamp_;
        element.outside = element.weight;
      }
      element.outside -= node.weight;
    }
  }
}

/// The pivot's element takes the place of all that it covers; there is at least one such entry. A
/// member without anything else is eliminated with the pivot.
void MinimumDegree::shorten_list(int pivot, int i) {
  Node& node = nodes_[i];
  int* list = lists_.data() + node.begin;
  int num_kept = 0, degree = 0;
  unsigned hash = 0;
  const auto keep = [&](int other, int weight) {
    list[num_kept++] = other;
    degree += weight;
    hash += static_cast<unsigned>(other);
  };
  for (int k = 0; k < node.num_elements; ++k) {
    Element& element = elements_[list[k]];
    if (element.weight == 0) continue;
    if (element.outside == 0)
      element.weight = 0;
    else
      keep(list[k], element.outside);
  }
  const int num_elements = num_kept;
  for (int k = node.num_elements; k < node.length; ++k) {
    const Node& other = nodes_[list[k]];
    if (other.weight > 0 && other.stamp != stamp_) keep(list[k], other.weight);
  }
  if (num_kept == 0) {
    num_left_ -= node.weight;
    elements_[pivot].weight -= node.weight;
    eliminate_with(pivot, i);
    return;
  }
  list[num_kept] = list[num_elements];
  list[num_elements] = pivot;
  node.length = num_kept + 1;
  node.num_elements = num_elements + 1;
  node.degree = std::min(node.degree, degree);
  node.hash = static_cast<int>(hash % nodes_.size());
  node.next_of_hash = first_of_hash_[node.hash];
  first_of_hash_[node.hash] = i;
}

void MinimumDegree::eliminate_with(int i, int other) {
  nodes_[nodes_[i].last].after = other;
  nodes_[i].last = nodes_[other].last;
  nodes_[other].weight = 0;
}

void MinimumDegree::join_twins(int pivot) {
  for (int m = elements_[pivot].begin; m < elements_[pivot].end; ++m) {
    const Node& node = nodes_[members_[m]];
    if (node.weight == 0) continue;
    const int first = first_of_hash_[node.hash];
    first_of_hash_[node.hash] = -1;
    if (first >= 0) join_twins_of(first);
  }
}

/// Among the nodes of one hash.
void MinimumDegree::join_twins_of(int first) {
  for (int i = first; i >= 0 && nodes_[i].next_of_hash >= 0; i = nodes_[i].next_of_hash) {
    Node& node = nodes_[i];
    ++last_mark_;
    for (int k = node.begin; k < node.begin + node.length; ++k) mark_[lists_[k]] = last_mark_;
    for (int before = i, j = node.next_of_hash; j >= 0; j = nodes_[before].next_of_hash) {
      if (!is_marked_twin(i, j)) {
        before = j;
        continue;
      }
      node.weight += nodes_[j].weight;
      node.degree = std::min(node.degree, nodes_[j].degree);
      nodes_[before].next_of_hash = nodes_[j].next_of_hash;
      eliminate_with(i, j);
    }
  }
}

/// The list of `i` is marked.
bool MinimumDegree::is_marked_twin(int i, int other) const {
  const Node &a = nodes_[i], &b = nodes_[other];
  if (a.length != b.length || a.num_elements != b.num_elements) return false;
  const auto begin = lists_.begin() + b.begin;
  return std::all_of(begin, begin + b.length, [&](int k) { return mark_[k] == last_mark_; });
}

/// With their new degrees; no longer members are those that have been eliminated.
void MinimumDegree::file_members(int pivot) {
  Element& element = elements_[pivot];
  int end = element.begin;
  for (int m = element.begin; m < element.end; ++m) {
    const int i = members_[m];
    Node& node = nodes_[i];
    if (node.weight == 0) continue;
    node.degree = std::min(node.degree + element.weight - node.weight, num_left_ - node.weight);
    file(i);
    members_[end++] = i;
  }
  element.end = end;
  members_.resize(end);
}

}  // namespace stiction
