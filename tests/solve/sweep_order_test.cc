// Sweeps over large problems: every unit once, no body in two tasks of a phase, the same bits for
// any number of threads, and hardly more sweeps than in the order of the units.
#include "stiction/solve/sweep_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "stiction/base/worker_pool.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/body_newton.h"
#include "stiction/solve/jointed_sweeps.h"
#include "stiction/solve/nsgs_solver.h"
#include "tests/solve/allocation_counter.h"
#include "tests/solve/disc_problem.h"
#include "tests/solve/sphere_grid.h"

namespace stiction {
namespace {

StepProblem pile() { return testing::sphere_grid({.count = {8, 8, 8}}); }

/// Spheres side by side in rows that do not touch each other: many components.
StepProblem rows_of_spheres() {
  StepProblem problem;
  for (int row = 0; row < 100; ++row)
    for (int k = 0; k < 13; ++k) {
      const int block = problem.num_blocks();
      problem.add_mass_block(6).setIdentity();
      if (k == 0) continue;
      problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
      problem.contacts.add_entry(block - 1, 6)(0, 0) = -1;
      problem.contacts.add_entry(block, 6)(0, 0) = 1;
    }
  return problem;
}

/// Rows of 13 bodies are eliminated one by one: 6³ for each. A pile of 512 costs what its layers
/// do, at least that of equal ones: 8 + 8 + 8 − 2 of them from corner to corner.
TEST(SweepOrder, EstimatesWhatEliminationCosts) {
  ContactBlocks rows, grid, small;
  SweepOrder order;
  ASSERT_TRUE(rows.assemble(rows_of_spheres()));
  order.find(rows);
  EXPECT_EQ(order.estimate_elimination(rows), 1300 * 216.0);
  ASSERT_TRUE(grid.assemble(pile()));
  order.find(grid);
  const double layers = 22, size = 6 * 512 / layers;
  EXPECT_GT(order.estimate_elimination(grid), layers * size * size * size);
  EXPECT_LT(order.estimate_elimination(grid), std::pow(6 * 512.0, 3));
  ASSERT_TRUE(small.assemble(testing::sphere_grid()));
  order.find(small);
  EXPECT_EQ(order.estimate_elimination(small), 0);
}

void expect_valid(const StepProblem& problem, int least_tasks) {
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(problem));
  SweepOrder order;
  order.find(blocks);
  std::vector<int> visits(blocks.num_units(), 0);
  int most = 0;
  for (int phase = 0; phase < order.num_phases(); ++phase) {
    std::vector<int> owner(blocks.num_blocks(), -1);
    most = std::max(most, order.num_tasks(phase));
    for (int task = 0; task < order.num_tasks(phase); ++task) {
      const auto units = order.task(phase, task);
      EXPECT_TRUE(std::is_sorted(units.begin(), units.end()));
      for (const int unit : units) {
        ++visits[unit];
        for (int e = blocks.unit(unit).entry_begin; e < blocks.unit(unit + 1).entry_begin; ++e) {
          int& task_of_body = owner[blocks.entry(e).block];
          EXPECT_TRUE(task_of_body < 0 || task_of_body == task);
          task_of_body = task;
        }
      }
    }
  }
  EXPECT_EQ(visits, std::vector<int>(blocks.num_units(), 1));
  EXPECT_GE(most, least_tasks);
}

TEST(SweepOrder, VisitsEveryUnitOnceAndSharesNoBody) {
  expect_valid(pile(), 4);
  expect_valid(testing::sphere_grid({.count = {40, 5, 3}}), 4);
  expect_valid(rows_of_spheres(), 3);
  expect_valid(testing::sphere_grid({.count = {2, 2, 2}}), 1);
}

/// A row of logs, each touching the next at both ends.
StepProblem row_of_logs(int count, double mu = 0.3) {
  StepProblem problem;
  for (int k = 0; k < count; ++k) {
    const int block = problem.num_blocks();
    problem.add_mass_block(6).setIdentity();
    for (int i = 0; i < 6; ++i) problem.p.at(6 * block + i) = std::sin(5 * block + i);
    for (const double end : {-1.0, 1.0}) {
      if (k == 0) continue;
      problem.add_contact(
          {.num_tangents = 2, .mu = mu, .section = FrictionSection::disc(), .key = 0});
      for (const double side : {-1.0, 1.0}) {
        RowMatrixMap rows = problem.contacts.add_entry(side < 0 ? block - 1 : block, 6);
        const Eigen::Vector3d arm(-side, end, 0);
        for (int i = 0; i < 3; ++i) {
          rows(i, i) = side;
          rows.row(i).tail<3>() = side * arm.cross(Eigen::Vector3d::Unit(i));
        }
      }
    }
  }
  return problem;
}

/// One after the other, every contact would be alone in its pack. A group takes every second pair
/// of logs at most, and eight contacts.
TEST(SweepOrder, GroupsWhatWouldWaitForEachOther) {
  ContactBlocks blocks;
  const StepProblem problem = row_of_logs(60);
  ASSERT_TRUE(blocks.assemble(problem));
  SweepOrder order;
  order.find(blocks);
  std::vector<int> visits(blocks.num_units(), 0);
  int num_groups = 1;
  std::set<int> bodies;
  for (const int unit : order.units()) {
    ++visits[unit];
    std::vector<int> own;
    for (int e = blocks.unit(unit).entry_begin; e < blocks.unit(unit + 1).entry_begin; ++e)
      own.push_back(blocks.entry(e).block);
    if (std::any_of(own.begin(), own.end(), [&](int body) { return bodies.contains(body); })) {
      ++num_groups;
      bodies.clear();
    }
    bodies.insert(own.begin(), own.end());
  }
  EXPECT_EQ(visits, std::vector<int>(blocks.num_units(), 1));
  EXPECT_GE(8 * num_groups, blocks.num_units());
  EXPECT_LE(8 * num_groups, 2 * blocks.num_units());
}

/// The answer is reached, whatever the order is.
TEST(SweepOrder, SolvesWhatIsGrouped) {
  const StepProblem problem = row_of_logs(60);
  for (const double tolerance : {1e-4, 1e-6, 1e-9}) {
    StepSolution solution;
    NsgsSolver solver({.tolerance = tolerance, .max_iterations = 5000});
    EXPECT_EQ(solver.solve(problem, solution).status, SolverStatus::kConverged);
    EXPECT_LE(certify(problem, solution).residual(), tolerance);
  }
}

/// What one of two threads visits, the border in the middle with the slabs before it, and the
/// other.
TEST(SweepOrder, GivesTwoThreadsAsMuch) {
  ContactBlocks blocks;
  ASSERT_TRUE(blocks.assemble(testing::sphere_grid({.count = {60, 5, 3}})));
  SweepOrder order;
  order.find(blocks);
  ASSERT_EQ(order.num_slabs(), 4);
  const auto size_of = [&](int task) { return static_cast<double>(order.task(task).size()); };
  double first = 0, second = 0;
  for (const int slab : {0, 1})
    first += size_of(order.slab_task(slab)) + size_of(order.border_task(slab));
  second += size_of(order.slab_task(2)) + size_of(order.border_task(2));
  second += size_of(order.slab_task(3));
  EXPECT_EQ(first + second, blocks.num_units());
  const double of_a_layer = blocks.num_units() / 66.0;  // from corner to corner
  EXPECT_NEAR(first, second, 2 * of_a_layer);
}

TEST(SweepOrder, KeepsTheOrderOfSmallAndOfCoupledProblems) {
  for (const StepProblem& problem :
       {testing::sphere_grid({.count = {4, 4, 4}}),
        testing::condensed_problem(5, {.num_contacts = 200, .num_tangents = 2, .rank = 400})}) {
    ContactBlocks blocks;
    ASSERT_TRUE(blocks.assemble(problem));
    SweepOrder order;
    order.find(blocks);
    EXPECT_EQ(order.num_phases(), 1);
    EXPECT_EQ(order.num_tasks(0), 1);
    EXPECT_EQ(static_cast<int>(order.task(0, 0).size()), blocks.num_units());
    EXPECT_TRUE(std::is_sorted(order.units().begin(), order.units().end()));
  }
}

template <class MakeSolver>
void expect_same_bits(const StepProblem& problem, const MakeSolver& make) {
  StepSolution expected;
  const SolverReport first = make(nullptr)->solve(problem, expected);
  for (const int num_threads : {1, 2, 3}) {
    WorkerPool pool(num_threads);
    const auto solver = make(&pool);
    for (int repetition = 0; repetition < 2; ++repetition) {
      StepSolution solution;
      const SolverReport report = solver->solve(problem, solution);
      EXPECT_TRUE(solution.is_identical(expected)) << num_threads << " threads";
      EXPECT_EQ(report.status, first.status);
      EXPECT_EQ(report.iterations, first.iterations);
    }
  }
}

TEST(Threads, SweepsGiveTheSameBits) {
  const StepProblem problem = pile();
  for (const Acceleration acceleration :
       {Acceleration::kNone, Acceleration::kNncg, Acceleration::kAnderson, Acceleration::kMomentum})
    for (const bool alternates : {false, true})
      expect_same_bits(problem, [&](WorkerPool* workers) {
        return std::make_unique<NsgsSolver>(NsgsOptions{.tolerance = 1e-7,
                                                        .max_iterations = 60,
                                                        .acceleration = acceleration,
                                                        .alternates = alternates,
                                                        .workers = workers});
      });
}

TEST(Threads, AutoGivesTheSameBitsOnOneLargeIsland) {
  const StepProblem problem = pile();
  for (const double tolerance : {1e-4, 1e-7})
    expect_same_bits(problem, [&](WorkerPool* workers) {
      return std::make_unique<AutoSolver>(
          AutoOptions{.tolerance = 0.1 * tolerance,
                      .acceptable = tolerance,
                      .num_threads = workers == nullptr ? 1 : workers->num_threads()});
    });
}

/// From impulses that are nearly right, which is what the method is for.
TEST(Threads, NewtonsMethodOnBodiesGivesTheSameBits) {
  const StepProblem problem = testing::sphere_grid({.count = {8, 8, 4}, .agitation = 0});
  StepSolution start;
  (void)NsgsSolver({.tolerance = 1e-7}).solve(problem, start);
  StepSolution expected = start;
  const SolverReport first = BodyNewton().solve(problem, expected);
  EXPECT_GT(first.iterations, 0);
  for (const int num_threads : {1, 2, 3}) {
    WorkerPool pool(num_threads);
    BodyNewton solver({.workers = &pool});
    for (int repetition = 0; repetition < 2; ++repetition) {
      StepSolution solution = start;
      const SolverReport report = solver.solve(problem, solution);
      EXPECT_TRUE(solution.is_identical(expected)) << num_threads << " threads";
      EXPECT_EQ(report.status, first.status);
      EXPECT_EQ(report.iterations, first.iterations);
    }
  }
}

TEST(Threads, CertificatesHaveTheSameBits) {
  const StepProblem problem = pile();
  StepSolution solution;
  (void)NsgsSolver({.tolerance = 1e-4}).solve(problem, solution);
  const Certificate expected = certify(problem, solution);
  EXPECT_GT(expected.cone, 0);
  for (const int num_threads : {1, 2, 3}) {
    WorkerPool pool(num_threads);
    Certifier certifier(&pool);
    const Certificate certificate = certifier.certify(problem, solution);
    EXPECT_EQ(certificate.momentum, expected.momentum);
    EXPECT_EQ(certificate.cone, expected.cone);
    EXPECT_EQ(certificate.motion, expected.motion);
  }
}

#if ST_COUNTS_ALLOCATIONS
TEST(Threads, DoNotAllocateOnceWarm) {
  WorkerPool pool(2);
  NsgsSolver sweeps({.tolerance = 1e-7, .max_iterations = 60, .workers = &pool});
  testing::expect_no_allocation_once_warm(
      sweeps, {pile(), rows_of_spheres(), testing::sphere_grid({.count = {40, 5, 3}})});
}
#endif

}  // namespace
}  // namespace stiction
