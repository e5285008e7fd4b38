// The order of elimination: approximate minimum degree on a quotient graph (Amestoy, Davis & Duff
// 1996) with a rule for groups of rows. The pivot of a row is −C until one of its bodies has been
// eliminated, and C may be zero. Eliminating groups only after all of their bodies would always be
// safe, but is the Delassus matrix: a body with many rows couples them all. The rule here allows
// what joints of trees need and is as safe:
//
//   Eliminated bodies and groups form components. A group that is eliminated while one of its two
//   bodies is not is *early*; it hangs on the component of the other body. A component may have an
//   early group only while it is a tree (n bodies, n − 1 groups of two bodies each, all safe), and
//   only one; no further group joins it until the missing body has come.
//
// Then a vanishing pivot always means rows that depend on each other, never an unlucky order: let
// y be impulses of a component's rows that move none of its eliminated bodies. Without an early
// group these are all bodies that the rows touch, so the rows are dependent indeed. With one, the
// tree hangs on it: at each leaf a single group acts, which moves that body unless y is a
// dependency within the group (that is what safe means); strip the leaves, one after the other, up
// to the early group. Compliant groups may go at any time, also first, and do not count: y has no
// part in rows with compliance.
#include <algorithm>
#include <queue>
#include <utility>

#include "stiction/solve/constraint_graph.h"

namespace stiction {
namespace {

class EliminationOrder {
 public:
  explicit EliminationOrder(const ConstraintGraph& graph);
  void run(std::vector<int>& order, std::vector<char>& is_early);

 private:
  struct Component {
    int parent;  // union–find
    bool is_tree = true;
    bool has_early = false;
    std::vector<int> parked;  // nodes that wait for a change here
  };
  using Entry = std::pair<int, int>;  // degree, node

  bool is_body(int node) const { return node < graph_.num_bodies(); }
  int find(int body);
  int unite(int a, int b);
  void retry(int component);
  bool may_eliminate(int node);
  bool may_eliminate_group(int node);
  void note_body(int body);
  void note_group(int node, std::vector<char>& is_early);
  void form_element(int node);
  void update_degrees(int node);
  void push(int node) { heap_.push({degree_[node], node}); }

  const ConstraintGraph& graph_;
  std::vector<std::vector<int>> neighbours_;  // nodes not yet eliminated, not through elements
  std::vector<std::vector<int>> elements_;    // of a node
  std::vector<std::vector<int>> members_;     // of the element that an eliminated node left behind
  std::vector<int> element_weight_, outside_, outside_stamp_, stamp_;
  std::vector<int> degree_;
  std::vector<char> is_eliminated_, is_absorbed_;
  std::vector<Component> components_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  int clock_ = 0;
};

EliminationOrder::EliminationOrder(const ConstraintGraph& graph)
    : graph_(graph),
      neighbours_(graph.num_nodes()),
      elements_(graph.num_nodes()),
      members_(graph.num_nodes()),
      element_weight_(graph.num_nodes(), 0),
      outside_(graph.num_nodes(), 0),
      outside_stamp_(graph.num_nodes(), 0),
      stamp_(graph.num_nodes(), 0),
      degree_(graph.num_nodes(), 0),
      is_eliminated_(graph.num_nodes(), 0),
      is_absorbed_(graph.num_nodes(), 0),
      components_(graph.num_bodies()) {
  for (int b = 0; b < graph.num_bodies(); ++b) components_[b].parent = b;
  for (int g = 0; g < graph.num_groups(); ++g) {
    const ConstraintGraph::Group& group = graph.group(g);
    const int node = graph.num_bodies() + g;
    for (int k = 0; k < group.num_bodies; ++k) {
      const int body = graph.body(group.body_begin + k);
      neighbours_[node].push_back(body);
      neighbours_[body].push_back(node);
      degree_[node] += graph.body_size(body);
      degree_[body] += group.num_slots;
    }
  }
}

int EliminationOrder::find(int body) {
  while (components_[body].parent != body)
    body = components_[body].parent = components_[components_[body].parent].parent;
  return body;
}

int EliminationOrder::unite(int a, int b) {
  a = find(a);
  b = find(b);
  if (a == b) {
    components_[a].is_tree = false;
    return a;
  }
  if (components_[a].parked.size() < components_[b].parked.size()) std::swap(a, b);
  Component &kept = components_[a], &gone = components_[b];
  gone.parent = a;
  kept.is_tree = kept.is_tree && gone.is_tree;
  kept.has_early = kept.has_early || gone.has_early;
  kept.parked.insert(kept.parked.end(), gone.parked.begin(), gone.parked.end());
  gone.parked.clear();
  return a;
}

void EliminationOrder::retry(int component) {
  for (const int node : components_[component].parked) push(node);
  components_[component].parked.clear();
}

bool EliminationOrder::may_eliminate(int node) {
  return is_body(node) || may_eliminate_group(node);
}

/// The rule above. A group that must wait is parked where the change that frees it will happen.
bool EliminationOrder::may_eliminate_group(int node) {
  const ConstraintGraph::Group& group = graph_.group(node - graph_.num_bodies());
  if (group.is_compliant) return true;
  int num_missing = 0, present = -1;
  for (int k = 0; k < group.num_bodies; ++k) {
    const int body = graph_.body(group.body_begin + k);
    if (!is_eliminated_[body]) {
      ++num_missing;
      continue;
    }
    present = find(body);
    if (components_[present].has_early) {
      components_[present].parked.push_back(node);
      return false;
    }
  }
  if (num_missing == 0) return true;
  return num_missing == 1 && group.is_safe && present >= 0 && components_[present].is_tree;
}

/// Early groups that waited for this body are complete now.
void EliminationOrder::note_body(int body) {
  for (int k = graph_.body_group_begin(body); k < graph_.body_group_begin(body + 1); ++k) {
    const int g = graph_.body_group(k), node = graph_.num_bodies() + g;
    const ConstraintGraph::Group& group = graph_.group(g);
    if (!is_eliminated_[node] || group.is_compliant) continue;
    const int first = graph_.body(group.body_begin), second = graph_.body(group.body_begin + 1);
    components_[find(first == body ? second : first)].has_early = false;
    unite(first, second);
  }
  retry(find(body));
  for (int k = graph_.body_group_begin(body); k < graph_.body_group_begin(body + 1); ++k) {
    const int node = graph_.num_bodies() + graph_.body_group(k);
    if (!is_eliminated_[node]) push(node);
  }
}

void EliminationOrder::note_group(int node, std::vector<char>& is_early) {
  const int g = node - graph_.num_bodies();
  const ConstraintGraph::Group& group = graph_.group(g);
  int present = -1;
  if (group.is_compliant) {
    is_early[g] = 1;
    return;
  }
  for (int k = 0; k < group.num_bodies; ++k) {
    const int body = graph_.body(group.body_begin + k);
    if (!is_eliminated_[body]) {
      is_early[g] = 1;
      continue;
    }
    present = present < 0 ? find(body) : unite(present, body);
  }
  if (present < 0) return;
  if (is_early[g])
    components_[present].has_early = true;
  else if (!group.is_safe)  // also groups of one body, or of more than two
    components_[present].is_tree = false;
}

/// Replaces the node by the element of all nodes that it joins to each other.
void EliminationOrder::form_element(int node) {
  std::vector<int>& members = members_[node];
  ++clock_;
  stamp_[node] = clock_;
  const auto take = [&](int other) {
    if (is_eliminated_[other] || stamp_[other] == clock_) return;
    stamp_[other] = clock_;
    members.push_back(other);
    element_weight_[node] += graph_.node_size(other);
  };
  for (const int other : neighbours_[node]) take(other);
  for (const int element : elements_[node]) {
    for (const int other : members_[element]) take(other);
    is_absorbed_[element] = 1;
    members_[element].clear();
  }
  neighbours_[node].clear();
  elements_[node].clear();
}

/// Approximate external degrees of the members of the newest element.
void EliminationOrder::update_degrees(int node) {
  const std::vector<int>& members = members_[node];
  for (const int member : members)
    for (const int element : elements_[member]) {
      if (is_absorbed_[element]) continue;
      if (outside_stamp_[element] != clock_) {
        outside_stamp_[element] = clock_;
        outside_[element] = element_weight_[element];
      }
      outside_[element] -= graph_.node_size(member);
    }
  for (const int member : members) {
    std::vector<int>& elements = elements_[member];
    int degree = element_weight_[node] - graph_.node_size(member);
    std::erase_if(elements, [&](int element) {
      return is_absorbed_[element] || outside_[element] == 0;  // nothing outside: absorbed, too
    });
    for (const int element : elements) degree += outside_[element];
    elements.push_back(node);
    std::erase_if(neighbours_[member],
                  [&](int other) { return is_eliminated_[other] || stamp_[other] == clock_; });
    for (const int other : neighbours_[member]) degree += graph_.node_size(other);
    degree_[member] = degree;
    push(member);
  }
}

void EliminationOrder::run(std::vector<int>& order, std::vector<char>& is_early) {
  for (int node = 0; node < graph_.num_nodes(); ++node) push(node);
  while (!heap_.empty()) {
    const auto [degree, node] = heap_.top();
    heap_.pop();
    if (is_eliminated_[node] || degree != degree_[node] || !may_eliminate(node)) continue;
    is_eliminated_[node] = 1;
    order.push_back(node);
    form_element(node);
    update_degrees(node);
    if (is_body(node))
      note_body(node);
    else
      note_group(node, is_early);
  }
}

}  // namespace

void ConstraintGraph::compute_order(std::vector<int>& order) {
  order.clear();
  std::vector<char> is_early(groups_.size(), 0);
  EliminationOrder(*this).run(order, is_early);
  for (int g = 0; g < num_groups(); ++g) groups_[g].is_early = is_early[g] != 0;
}

}  // namespace stiction
