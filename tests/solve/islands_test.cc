#include "stiction/solve/islands.h"

#include <gtest/gtest.h>

#include <Eigen/Core>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/dense_algebra.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

void add_contact(StepProblem& problem, std::initializer_list<int> blocks) {
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  for (const int block : blocks) problem.contacts.add_entry(block, 1)(0, 0) = block + 1;
}

StepProblem five_bodies() {
  StepProblem problem;
  for (int b = 0; b < 5; ++b) {
    problem.add_mass_block(1)(0, 0) = b + 1;
    problem.p[b] = -b - 1;
  }
  return problem;
}

TEST(Islands, AreTheConnectedParts) {
  StepProblem problem = five_bodies();
  add_contact(problem, {3, 1});
  add_contact(problem, {0});
  problem.add_bilateral_row({.bias = 7});
  problem.bilateral.add_entry(4, 1)(0, 0) = 1;
  problem.bilateral.add_entry(3, 1)(0, 0) = -1;
  Islands islands;
  islands.find(problem);
  ASSERT_EQ(islands.num_islands(), 2);
  EXPECT_EQ(islands.loose_blocks(), (std::vector<int>{2}));
  StepProblem part;
  islands.extract(problem, 0, part);  // of the bilateral row, which comes first
  EXPECT_EQ(part.num_blocks(), 3);
  EXPECT_EQ(part.num_bilateral(), 1);
  EXPECT_EQ(part.num_contacts(), 1);
  EXPECT_EQ(part.p, (std::vector<double>{-2, -4, -5}));
  EXPECT_EQ(part.contacts.entry_block(0), 1);  // body 3 is the second there
  EXPECT_EQ(part.contacts.entry_values(0)[0], 4);
  islands.extract(problem, 1, part);
  EXPECT_EQ(part.num_blocks(), 1);
  EXPECT_EQ(part.num_bilateral(), 0);
  EXPECT_EQ(part.p, (std::vector<double>{-1}));
}

TEST(Islands, FollowTheCouplingButNotItsZeros) {
  StepProblem problem;
  for (int j = 0; j < 3; ++j) add_contact(problem, {});
  problem.contact_bias = {1, 2, 3};
  const double K[3][3] = {{1, 0, 5}, {0, 2, 0}, {0, 0, 3}};
  for (const auto& row : K) {
    problem.coupling.add_row();
    for (int j = 0; j < 3; ++j) problem.coupling.add_entry(j, row[j]);
  }
  Islands islands;
  islands.find(problem);
  ASSERT_EQ(islands.num_islands(), 2);
  StepProblem part;
  islands.extract(problem, 0, part);
  EXPECT_EQ(part.contact_bias, (std::vector<double>{1, 3}));
  ASSERT_EQ(part.coupling.num_entries(), 3);
  EXPECT_EQ(part.coupling.column(1), 1);
  EXPECT_EQ(part.coupling.value(1), 5);
}

TEST(Islands, OfAnEmptyProblemAreNone) {
  Islands islands;
  islands.find({});
  EXPECT_EQ(islands.num_islands(), 0);
  islands.find(five_bodies());
  EXPECT_EQ(islands.num_islands(), 0);
  EXPECT_EQ(islands.loose_blocks().size(), 5u);
}

TEST(Islands, HoldEveryRowOnceAndGiveBackWhatWasGathered) {
  Islands islands;
  StepProblem part;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem = testing::random_problem(seed);
    islands.find(problem);
    StepSolution whole, again, piece;
    whole.resize(problem);
    Random random(seed);
    for (auto* array : {&whole.w, &whole.lambda, &whole.r})
      for (double& x : *array) x = random.normal();
    again.resize(problem);
    for (const int block : islands.loose_blocks())
      for (int k = problem.dof_start[block]; k < problem.dof_start[block + 1]; ++k)
        again.w[k] = whole.w[k];
    int num_rows = 0;
    for (int island = 0; island < islands.num_islands(); ++island) {
      islands.extract(problem, island, part);
      EXPECT_EQ(find_fault(part), "");
      num_rows += part.num_rows();
      islands.gather(problem, island, whole, piece);
      islands.scatter(problem, island, piece, again);
    }
    EXPECT_EQ(num_rows, problem.num_rows());
    EXPECT_EQ(whole.w, again.w);
    EXPECT_EQ(whole.lambda, again.lambda);
    EXPECT_EQ(whole.r, again.r);
  }
}

// (T20)–(T22) are relative to the whole problem, whose impulses are those of all parts.
TEST(Islands, SolvedApartSolveTheWhole) {
  Islands islands;
  LemkeSolver lemke;
  StepProblem part;
  StepSolution whole, piece;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StepProblem problem = testing::random_problem(seed, {.max_contacts = 12});
    islands.find(problem);
    whole.resize(problem);
    for (const int block : islands.loose_blocks()) {
      const int start = problem.dof_start[block], size = problem.block_size(block);
      whole.w_vector().segment(start, size) = testing::solve_dense(
          problem.mass_block(block), ConstVectorMap(problem.p.data() + start, size));
    }
    double worst = 1e-14;
    for (int island = 0; island < islands.num_islands(); ++island) {
      islands.extract(problem, island, part);
      (void)lemke.solve(part, piece);
      worst = std::max(worst, certify(part, piece).residual());
      islands.scatter(problem, island, piece, whole);
    }
    EXPECT_LE(certify(problem, whole).residual(), 1.0001 * worst) << seed;
  }
}

}  // namespace
}  // namespace stiction
