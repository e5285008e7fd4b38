#include "stiction/solve/contradiction.h"

#include <gtest/gtest.h>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "stiction/solve/lemke_solver.h"
#include "tests/solve/edge_problems.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

using testing::add_normal;
using testing::squeezed_point;

TEST(Contradiction, OfTwoWallsThatCloseInIsFoundInAnyUnits) {
  for (const double mass : {1e-9, 1.0, 1e9})
    for (const double speed : {1e-6, 1.0, 1e6}) {
      const Contradiction found = find_contradiction(squeezed_point(mass, speed));
      EXPECT_EQ(found.contacts, (std::vector<int>{0, 1})) << mass << " kg " << speed << " m/s";
      EXPECT_TRUE(found.rows.empty());
    }
}

TEST(Contradiction, NamesOnlyTheRowsThatContradict) {
  StepProblem problem = squeezed_point(1, 1);
  problem.add_mass_block(1)(0, 0) = 2;
  add_normal(problem, 1, 1, -5);
  EXPECT_EQ(find_contradiction(problem).contacts, (std::vector<int>{0, 1}));
}

// A truck far away is part of the same problem and not of the contradiction: what its mass and its
// speed are must not decide what counts as rounding of the point's rows.
TEST(Contradiction, IsFoundBesideAFarHeavyBody) {
  for (const double mass : {1e3, 1e6, 1e9})
    for (const double speed : {0.0, 1.0, 1e3}) {
      StepProblem problem = squeezed_point(1e-3, 1e-2);
      problem.add_mass_block(1)(0, 0) = mass;
      problem.p.back() = -mass * speed;
      add_normal(problem, 1, 1, 0);
      const Contradiction found = find_contradiction(problem);
      EXPECT_EQ(found.contacts, (std::vector<int>{0, 1})) << mass << " kg " << speed << " m/s";
      EXPECT_TRUE(found.rows.empty());
    }
}

TEST(Contradiction, BetweenAJointAndAContactNamesBoth) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  problem.add_bilateral_row({.compliance = 0, .bias = -1});  // the joint wants w = −1
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  add_normal(problem, 0, 1, 0);  // the contact w ≥ 0
  const Contradiction found = find_contradiction(problem);
  EXPECT_EQ(found.rows, (std::vector<int>{0}));
  EXPECT_EQ(found.contacts, (std::vector<int>{0}));
}

TEST(Contradiction, IsNoneWhereAMotorGivesWayOrASpringYields) {
  StepProblem problem = squeezed_point(1, 1);
  problem.contact_compliance[0] = 1e-3;
  EXPECT_FALSE(find_contradiction(problem).is_found());

  StepProblem motor;
  motor.add_mass_block(1)(0, 0) = 1;
  motor.add_bilateral_row({.compliance = 0, .bias = -1, .lower = -5, .upper = 5});
  motor.bilateral.add_entry(0, 1)(0, 0) = 1;
  add_normal(motor, 0, 1, 0);
  EXPECT_FALSE(find_contradiction(motor).is_found());
}

/// Springs of 10¹² N/m on a milligram that want opposite velocities and a contact that wants
/// another one, `bias` of the rows in m/s.
StepProblem opposed_springs(double bias, double compliance) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1e-6;
  for (const double sign : {-1.0, 1.0}) {
    problem.add_bilateral_row({.compliance = compliance, .bias = sign * bias});
    problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  }
  add_normal(problem, 0, -1, -bias);
  return problem;
}

// Their step has a solution, with impulses of b/C: 10¹² times what would move the mass.
TEST(Contradiction, IsNoneBetweenSpringsHoweverStiff) {
  for (const double compliance : {1e-6, 1e-12, 1e-15, 1e-18})
    for (const double bias : {1e-3, 1.0, 1e3})
      EXPECT_FALSE(find_contradiction(opposed_springs(bias, compliance)).is_found())
          << compliance << " " << bias;
  EXPECT_TRUE(find_contradiction(opposed_springs(1, 0)).is_found());
}

TEST(Contradiction, IsNoneBetweenContactsOfWhichOneIsStiffAndNotRigid) {
  StepProblem problem = squeezed_point(1e-6, 1);
  problem.contact_compliance[1] = 1e-13;
  EXPECT_FALSE(find_contradiction(problem).is_found());
}

TEST(Contradiction, IsNoneWhereDirectCouplingIsSoft) {
  StepProblem problem = squeezed_point(1e-6, 1);
  for (int i = 0; i < 2; ++i) {
    problem.coupling.add_row();
    problem.coupling.add_entry(i, 1e-13);
  }
  EXPECT_FALSE(find_contradiction(problem).is_found());
}

// K = [1 −1; −1 1] moves the two apart from each other only, and both want to go the same way.
TEST(Contradiction, BetweenRowsWhoseDirectCouplingCancelsIsFound) {
  StepProblem problem;
  for (int i = 0; i < 2; ++i) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.coupling.add_row();
    problem.coupling.add_entry(i, 1);
    problem.coupling.add_entry(1 - i, -1);
  }
  problem.contact_bias = {-1, -1};
  EXPECT_EQ(find_contradiction(problem).contacts, (std::vector<int>{0, 1}));
}

TEST(Contradiction, OfAnLcpWithARowOfZerosIsThatRow) {
  StepProblem problem;  // w₁ = −1 whatever z is
  for (int i = 0; i < 2; ++i)
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.contact_bias = {2, -1};
  problem.coupling.add_row();
  problem.coupling.add_entry(0, 1);
  problem.coupling.add_row();
  problem.coupling.add_entry(0, 0);
  EXPECT_EQ(find_contradiction(problem).contacts, (std::vector<int>{1}));
}

TEST(Contradiction, IsNoneInProblemsWithASolution) {
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    EXPECT_FALSE(find_contradiction(testing::random_problem(seed)).is_found()) << seed;
  EXPECT_FALSE(find_contradiction({}).is_found());
}

// Any claim must be true: where one is made, Lemke's method, which finds a solution of every
// frictionless problem with a positive semidefinite matrix that has one, finds none.
TEST(Contradiction, IsTrueWhereRandomBiasesPullApart) {
  int num_found = 0, num_solved = 0;
  LemkeSolver lemke;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    StepProblem problem = testing::random_problem(
        seed, {.max_contacts = 12, .max_bodies = 4, .mu_max = 0, .allow_strange_units = false});
    std::fill(problem.mu.begin(), problem.mu.end(), 0.0);
    Random random(seed);
    for (int j = 0; j < problem.num_contacts(); ++j)
      problem.contact_bias[problem.contacts.row_start(j)] = random.normal();
    StepSolution answer;
    const bool is_solved = lemke.solve(problem, answer).status == SolverStatus::kConverged &&
                           certify(problem, answer).meets(1e-9);
    const bool is_found = find_contradiction(problem).is_found();
    EXPECT_FALSE(is_solved && is_found) << seed;
    num_found += is_found ? 1 : 0;
    num_solved += is_solved ? 1 : 0;
  }
  EXPECT_GT(num_found, 20);
  EXPECT_GT(num_solved, 20);
  EXPECT_GE(num_found + num_solved, 190);  // hardly any problem is left undecided
}

// The weights 1, 1 balance to 1e-7; what is left of them is enough for a body that moves.
TEST(Contradiction, IsNoneWhereTheMotionOfABodyResolvesIt) {
  StepProblem problem;
  problem.add_mass_block(2).setIdentity();
  problem.p = {0, 1};
  for (const auto& normal : {Eigen::RowVector2d(1, 0), Eigen::RowVector2d(-1, 1e-7)}) {
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
    problem.contacts.add_entry(0, 2) = normal;
    problem.contact_bias.back() = -1e-9;
  }
  StepSolution solution;
  solution.w = {1e-9, 1};
  solution.r = {1e-9, 0};
  EXPECT_TRUE(certify(problem, solution).meets(1e-12));
  EXPECT_FALSE(find_contradiction(problem).is_found());
}

}  // namespace
}  // namespace stiction
