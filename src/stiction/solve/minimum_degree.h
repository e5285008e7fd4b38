// An order of elimination that keeps the factors of a sparse symmetric pattern small: approximate
// minimum degree on a quotient graph (Amestoy, Davis & Duff 1996), with twins (nodes that have the
// same neighbours, such as the contacts of two bodies) eliminated as one.
//
// Eigen's, which it replaces, takes all its storage anew in each call; that took an eighth of the
// allocations of a machine in a heap of rocks, whose pattern is another one in every step. Here
// storage is kept: no allocation but for more nodes, neighbours or numbers in the factors than ever
// before. Ties go to the node that came last to its degree: same pattern, same order.
#pragma once

#include <vector>

namespace stiction {

class MinimumDegree {
 public:
  /// The neighbours of node i are [start[i], start[i + 1]) of `neighbours`, each once, and i is one
  /// of theirs; i itself may be among them. `order` becomes a permutation of the nodes.
  void find_order(const std::vector<int>& start, const std::vector<int>& neighbours,
                  std::vector<int>& order);

 private:
  /// A node stands for `weight` nodes: itself and its twins. 0 once eliminated or a twin.
  struct Node {
    int begin, length, num_elements;  // of its list in lists_: elements first, then other nodes
    int weight;
    int degree;          // at most: weight of the neighbours, until it is filed without the pivot's
    int previous, next;  // of the same degree
    int stamp;           // the last pivot that it was a member of
    int last, after;     // nodes that are eliminated with it: the last of them, and a list
    int hash, next_of_hash;
  };
  /// What an eliminated node leaves behind: neighbours that are all coupled to each other.
  struct Element {
    int begin = 0, end = 0;  // of members_
    int weight = 0;          // of the members, 0 once there is none or another element has them all
    int outside = 0;         // weight of the members that the pivot does not have
    int stamp = 0;           // the pivot that this holds for
  };

  void start_from(const std::vector<int>& start, const std::vector<int>& neighbours);
  void file(int node);
  void take_from_file(int node);
  int take_least();
  void form_element(int pivot);
  void add_member(int pivot, int node);
  void measure_outside(int pivot);
  void shorten_list(int pivot, int node);
  void join_twins(int pivot);
  void join_twins_of(int first);
  bool is_marked_twin(int node, int other) const;
  void eliminate_with(int node, int other);
  void file_members(int pivot);

  std::vector<Node> nodes_;
  std::vector<Element> elements_;  // by their pivots
  std::vector<int> lists_, members_;
  std::vector<int> first_of_degree_, first_of_hash_;
  std::vector<int> mark_;     // of nodes and elements
  std::vector<int> crowded_;  // nodes with so many neighbours that they come last
  int least_degree_ = 0, num_left_ = 0, stamp_ = 0, last_mark_ = 0;
};

}  // namespace stiction
