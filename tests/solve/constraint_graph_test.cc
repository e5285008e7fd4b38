#include "stiction/solve/constraint_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/solve/random_problem.h"
#include "tests/solve/saddle_ldlt_problems.h"

namespace stiction {
namespace {

std::vector<char> all_rows(const StepProblem& problem) {
  return std::vector<char>(problem.num_rows(), 1);
}

ConstraintGraph graph_of(const StepProblem& problem) {
  ConstraintGraph graph;
  graph.build(problem, all_rows(problem));
  return graph;
}

TEST(ConstraintGraph, GroupsRowsByTheirBodies) {
  testing::MechanismMaker maker({.rows_per_joint = 5});
  for (int i = 0; i < 3; ++i) maker.add_body({static_cast<double>(i), 0, 0});
  maker.add_joint(0, 1);
  maker.add_joint(1, 0);  // the same pair the other way round
  maker.add_joint(2, -1);
  maker.add_contact(1, 0, {0.5, 0, 0});
  const StepProblem& problem = maker.problem();
  const ConstraintGraph graph = graph_of(problem);
  ASSERT_EQ(graph.num_groups(), 2);
  EXPECT_EQ(graph.group(0).num_slots, 13);
  EXPECT_EQ(graph.group(0).width, 12);
  EXPECT_EQ(graph.group(1).num_slots, 5);
  EXPECT_EQ(graph.group(1).num_bodies, 1);
  for (int row = 0; row < problem.num_rows(); ++row)
    EXPECT_EQ(graph.slot_row(graph.row_slot(row)), row);
}

TEST(ConstraintGraph, LeavesUnmarkedRowsOut) {
  const StepProblem problem = testing::make_chain(4);
  std::vector<char> marks(problem.num_rows(), 0);
  marks[7] = marks[8] = 1;
  ConstraintGraph graph;
  graph.build(problem, marks);
  EXPECT_EQ(graph.num_groups(), 1);
  EXPECT_EQ(graph.num_slots(), 2);
  EXPECT_EQ(graph.row_slot(0), -1);
  EXPECT_TRUE(graph.fits(problem, marks));
  EXPECT_FALSE(graph.fits(problem, all_rows(problem)));
}

TEST(ConstraintGraph, PlacesRowsOfAnotherProblemWhereTheirBodiesWere) {
  const StepProblem wall = testing::make_wall(3, 3);
  ConstraintGraph graph = graph_of(wall);
  std::vector<char> marks = all_rows(wall);
  for (int row = 10; row < 20; ++row) marks[row] = 0;
  EXPECT_TRUE(graph.try_place(wall, marks));
  EXPECT_EQ(graph.row_slot(12), -1);
  EXPECT_GE(graph.row_slot(21), 0);
  EXPECT_TRUE(graph.try_place(wall, all_rows(wall)));
  StepProblem other = wall;
  other.add_contact({.num_tangents = 2, .mu = 0.5, .section = {}});
  other.contacts.add_entry(0, 6).setOnes();
  other.contacts.add_entry(8, 6).setOnes();  // bodies that never met
  EXPECT_FALSE(graph.try_place(other, all_rows(other)));
  EXPECT_TRUE(graph.fits(wall, all_rows(wall)));
  EXPECT_FALSE(graph.try_place(testing::make_wall(3, 2), all_rows(testing::make_wall(3, 2))));
}

/// Every node once, and the rule of constraint_graph_order.cc by a slow check of its own: a group
/// never comes before all of its bodies unless it is compliant, and early groups hang on trees.
void expect_sound_order(const StepProblem& problem) {
  ConstraintGraph graph = graph_of(problem);
  std::vector<int> order;
  graph.compute_order(order);
  const std::set<int> nodes(order.begin(), order.end());
  ASSERT_EQ(order.size(), static_cast<std::size_t>(graph.num_nodes()));
  ASSERT_EQ(nodes.size(), order.size());
  std::vector<int> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k]] = static_cast<int>(k);
  for (int g = 0; g < graph.num_groups(); ++g) {
    const ConstraintGraph::Group& group = graph.group(g);
    int num_before = 0;
    for (int k = 0; k < group.num_bodies; ++k)
      num_before += place[graph.body(group.body_begin + k)] < place[graph.num_bodies() + g] ? 1 : 0;
    if (group.is_compliant) continue;
    EXPECT_EQ(group.is_early, num_before < group.num_bodies);
    if (group.is_early) {
      EXPECT_EQ(group.num_bodies - num_before, 1);
      EXPECT_TRUE(group.is_safe);
    }
  }
}

TEST(ConstraintGraph, OrdersEveryNodeOnceWithRowsBehindTheirBodies) {
  expect_sound_order(testing::make_chain(30));
  expect_sound_order(testing::make_tree(40, 3));
  expect_sound_order(testing::make_net(6, 5));
  expect_sound_order(testing::make_star(20));
  expect_sound_order(testing::make_wall(5, 4));
  expect_sound_order(StepProblem());
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    expect_sound_order(testing::random_problem(seed, {.allow_strange_units = false}));
}

TEST(ConstraintGraph, EliminatesTheLeavesOfTreesFirst) {
  ConstraintGraph graph = graph_of(testing::make_star(50));
  std::vector<int> order;
  graph.compute_order(order);
  // The hub with its joint to the ground comes last: every leaf is followed by its own joint.
  EXPECT_GE(std::find(order.begin(), order.end(), 0) - order.begin(), 2 * 49 - 2);
  int num_early = 0;
  for (int g = 0; g < graph.num_groups(); ++g) num_early += graph.group(g).is_early ? 1 : 0;
  EXPECT_GE(num_early, 48);
}

TEST(ConstraintGraph, TellsSafeGroupsFromOthers) {
  // Two rows that are the same on one body and differ on the other.
  StepProblem problem;
  for (int b = 0; b < 2; ++b) problem.add_mass_block(3) = RowMatrixXd::Identity(3, 3);
  for (int i = 0; i < 2; ++i) {
    problem.add_bilateral_row({});
    problem.bilateral.add_entry(0, 3) << 1, 0, 0;
    problem.bilateral.add_entry(1, 3)(0, i) = 1;
  }
  EXPECT_FALSE(graph_of(problem).group(0).is_safe);
  EXPECT_TRUE(graph_of(testing::make_chain(3)).group(1).is_safe);
  // Four points of a brick on another: dependent, but in the same way on both.
  const StepProblem wall = testing::make_wall(1, 2);
  EXPECT_TRUE(graph_of(wall).group(graph_of(wall).num_groups() - 1).is_safe);
  // A heavy body beside a light one does not count.
  const StepProblem uneven = testing::make_chain(3, {.mass_ratio = 1e8});
  EXPECT_FALSE(graph_of(uneven).group(1).is_safe);
  const StepProblem soft = testing::make_chain(3, {.compliance = 0.1});
  EXPECT_TRUE(graph_of(soft).group(0).is_compliant);
}

}  // namespace
}  // namespace stiction
