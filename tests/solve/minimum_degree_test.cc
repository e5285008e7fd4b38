// Orders are judged by the fill that they cause, counted by eliminating node after node in sets of
// neighbours, beside that of Eigen's order of the same kind.
#include "stiction/solve/minimum_degree.h"

#include <gtest/gtest.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "stiction/base/random.h"
#include "tests/solve/allocation_counter.h"

namespace stiction {
namespace {

struct Graph {
  std::string name;
  std::vector<std::set<int>> neighbours;

  int size() const { return static_cast<int>(neighbours.size()); }
  void couple(int i, int j) {
    if (i == j) return;
    neighbours[i].insert(j);
    neighbours[j].insert(i);
  }
};

struct Pattern {
  std::vector<int> start{0}, neighbours;
};

/// Nodes are neighbours of themselves, as in the matrices that are ordered.
Pattern make_pattern(const Graph& graph) {
  Pattern pattern;
  for (int i = 0; i < graph.size(); ++i) {
    pattern.neighbours.push_back(i);
    pattern.neighbours.insert(pattern.neighbours.end(), graph.neighbours[i].begin(),
                              graph.neighbours[i].end());
    pattern.start.push_back(static_cast<int>(pattern.neighbours.size()));
  }
  return pattern;
}

std::vector<int> find_order(const Graph& graph) {
  const Pattern pattern = make_pattern(graph);
  std::vector<int> order;
  MinimumDegree().find_order(pattern.start, pattern.neighbours, order);
  return order;
}

std::vector<int> find_order_of_eigen(const Graph& graph) {
  Eigen::SparseMatrix<double> matrix(graph.size(), graph.size());
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i < graph.size(); ++i) {
    entries.emplace_back(i, i, 1.0);
    for (const int j : graph.neighbours[i]) entries.emplace_back(i, j, 1.0);
  }
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation(graph.size());
  Eigen::AMDOrdering<int>()(matrix, permutation);
  return {permutation.indices().begin(), permutation.indices().end()};
}

bool is_permutation_of_all(const Graph& graph, std::vector<int> order) {
  std::sort(order.begin(), order.end());
  for (int i = 0; i < static_cast<int>(order.size()); ++i)
    if (order[i] != i) return false;
  return static_cast<int>(order.size()) == graph.size();
}

/// Entries of the factor beside the diagonal.
long count_entries(Graph graph, const std::vector<int>& order) {
  long entries = 0;
  for (const int node : order) {
    const std::set<int> left = std::exchange(graph.neighbours[node], {});
    entries += static_cast<long>(left.size());
    for (const int i : left) {
      graph.neighbours[i].erase(node);
      for (const int j : left) graph.couple(i, j);
    }
  }
  return entries;
}

Graph make_grid(int nx, int ny, int nz) {
  Graph graph{"grid", std::vector<std::set<int>>(static_cast<std::size_t>(nx) * ny * nz)};
  for (int i = 0; i < graph.size(); ++i) {
    if ((i + 1) % nx != 0) graph.couple(i, i + 1);
    if (i / nx % ny + 1 < ny) graph.couple(i, i + nx);
    if (i + nx * ny < graph.size()) graph.couple(i, i + nx * ny);
  }
  graph.name += " " + std::to_string(nx) + " " + std::to_string(ny) + " " + std::to_string(nz);
  return graph;
}

Graph make_random(int size, double degree, std::uint64_t seed) {
  Graph graph{"random " + std::to_string(size) + " " + std::to_string(degree),
              std::vector<std::set<int>>(size)};
  Random random(seed);
  const auto any = [&] { return std::min(size - 1, static_cast<int>(size * random.uniform())); };
  for (int k = 0; k < static_cast<int>(size * degree / 2); ++k) {
    const int i = any();
    graph.couple(i, any());
  }
  return graph;
}

/// The hub is the first node, and others may be a path.
Graph make_star(int size, bool has_path) {
  Graph graph{has_path ? "arrow" : "star", std::vector<std::set<int>>(size)};
  for (int i = 1; i < size; ++i) {
    graph.couple(0, i);
    if (has_path && i > 1) graph.couple(i - 1, i);
  }
  return graph;
}

/// What contacts of bodies are to each other: those that share one are neighbours.
Graph make_contacts(const Graph& bodies, int contacts_per_pair) {
  std::vector<std::vector<int>> contacts(bodies.size());
  int count = 0;
  for (int i = 0; i < bodies.size(); ++i)
    for (const int j : bodies.neighbours[i])
      for (int k = 0; i < j && k < contacts_per_pair; ++k, ++count) {
        contacts[i].push_back(count);
        contacts[j].push_back(count);
      }
  Graph graph{"contacts of " + bodies.name, std::vector<std::set<int>>(count)};
  for (const std::vector<int>& list : contacts)
    for (const int a : list)
      for (const int b : list) graph.couple(a, b);
  return graph;
}

std::vector<Graph> make_graphs() {
  std::vector<Graph> graphs{{"empty", {}},
                            {"one node", std::vector<std::set<int>>(1)},
                            {"no neighbours", std::vector<std::set<int>>(20)},
                            make_grid(500, 1, 1),
                            make_grid(30, 30, 1),
                            make_grid(9, 9, 9),
                            make_star(400, false),
                            make_star(400, true),
                            make_contacts(make_grid(10, 10, 1), 4),
                            make_contacts(make_grid(5, 5, 5), 1),
                            make_contacts(make_star(40, false), 2)};
  for (const int size : {30, 200, 600})
    for (const double degree : {0.7, 1.5, 3.0, 6.0})
      graphs.push_back(make_random(size, degree, size));
  return graphs;
}

TEST(MinimumDegree, OrdersEveryNodeOnce) {
  for (const Graph& graph : make_graphs())
    EXPECT_TRUE(is_permutation_of_all(graph, find_order(graph))) << graph.name;
}

// Approximate degrees and ties leave some per cent to chance.
TEST(MinimumDegree, FillsHardlyMoreThanTheOrderOfEigen) {
  for (const Graph& graph : make_graphs()) {
    if (graph.size() == 0) continue;
    const auto of_eigen = static_cast<double>(count_entries(graph, find_order_of_eigen(graph)));
    const auto own = static_cast<double>(count_entries(graph, find_order(graph)));
    EXPECT_LE(own, 1.1 * of_eigen + 3) << graph.name;
  }
}

TEST(MinimumDegree, FillsNothingWhereNothingNeedsToBe) {
  for (const Graph& graph :
       {make_grid(300, 1, 1), make_star(300, false), make_star(300, true), make_star(5, false)}) {
    long pairs = 0;
    for (const std::set<int>& list : graph.neighbours) pairs += static_cast<long>(list.size());
    EXPECT_EQ(count_entries(graph, find_order(graph)), pairs / 2) << graph.name;
  }
}

TEST(MinimumDegree, DependsOnThePatternAlone) {
  MinimumDegree used;
  for (const Graph& graph : make_graphs()) {
    const Pattern pattern = make_pattern(graph);
    std::vector<int> order{7, 7, 7};
    used.find_order(pattern.start, pattern.neighbours, order);
    EXPECT_EQ(order, find_order(graph)) << graph.name;
  }
}

#if ST_COUNTS_ALLOCATIONS

TEST(MinimumDegree, AllocatesNothingOnceWarm) {
  std::vector<Pattern> patterns;
  for (const Graph& graph : make_graphs()) patterns.push_back(make_pattern(graph));
  MinimumDegree minimum_degree;
  std::vector<int> order;
  const auto order_all = [&] {
    for (const Pattern& pattern : patterns)
      minimum_degree.find_order(pattern.start, pattern.neighbours, order);
  };
  order_all();
  const long before = testing::num_allocations();
  order_all();
  EXPECT_EQ(testing::num_allocations(), before);
}

#endif

}  // namespace
}  // namespace stiction
