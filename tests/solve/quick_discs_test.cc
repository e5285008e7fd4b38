// From impulses near the answer the quick attempt at few contacts ends in a factorisation or two,
// at velocities and impulses that obey the laws by a second judge; what it does not take it
// refuses.
#include "stiction/solve/quick_discs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stiction/problem/certificate.h"
#include "stiction/solve/auto_solver.h"
#include "stiction/solve/newton_solver.h"
#include "tests/solve/joint_problems.h"
#include "tests/solve/law_check.h"

namespace stiction {
namespace {

using Eigen::Vector3d;

constexpr double kStep = 1.0 / 60, kWeight = 9.81 * kStep;  // of 1 kg
constexpr double kGoal = 1e-10;

/// Velocity v + ω × r at r, rows: normal z, then x and y.
void add_point(StepProblem& problem, int block, const Vector3d& r, double sign) {
  RowMatrixMap J = problem.contacts.add_entry(block, 6);
  J << 0, 0, 1, r.y(), -r.x(), 0,  //
      1, 0, 0, 0, r.z(), -r.y(),   //
      0, 1, 0, -r.z(), 0, r.x();
  J *= sign;
}

void add_body(StepProblem& problem, double mass, const Vector3d& velocity) {
  RowMatrixMap block = problem.add_mass_block(6);
  block.setZero();
  for (int i = 0; i < 6; ++i) block(i, i) = i < 3 ? mass : mass / 6;
  problem.block_p(problem.num_blocks() - 1).head<3>() =
      mass * (velocity - Vector3d(0, 0, 9.81 * kStep));
}

void add_contact(StepProblem& problem, double mu) {
  problem.add_contact({.num_tangents = 2, .mu = mu, .section = FrictionSection::disc()});
}

/// A cube with its four lower corners on the ground.
StepProblem make_cube(const Vector3d& velocity, double mu) {
  StepProblem problem;
  problem.h = kStep;
  add_body(problem, 1, velocity);
  for (const double x : {-0.5, 0.5})
    for (const double y : {-0.5, 0.5}) {
      add_contact(problem, mu);
      add_point(problem, 0, {x, y, -0.5}, 1);
    }
  return problem;
}

/// Balls on a plate that a slider along x holds and a momentum drags.
StepProblem make_plate(int num_balls, double push) {
  StepProblem problem;
  problem.h = kStep;
  add_body(problem, 10, Vector3d::Zero());
  problem.block_p(0).x() = push;
  for (int dof = 1; dof < 6; ++dof) {
    problem.add_bilateral_row({});
    problem.bilateral.add_entry(0, 6)(0, dof) = 1;
  }
  for (int k = 1; k <= num_balls; ++k) {
    add_body(problem, 1, Vector3d::Zero());
    add_contact(problem, 0.5);
    add_point(problem, k, {0, 0, -0.5}, 1);
    add_point(problem, 0, {0.3 * k, 0, 0.1}, -1);
  }
  return problem;
}

StepSolution solve_otherwise(const StepProblem& problem) {
  StepSolution answer;
  EXPECT_EQ(NewtonSolver({.tolerance = 1e-13}).solve(problem, answer).status,
            SolverStatus::kConverged);
  return answer;
}

StepSolution disturbed(StepSolution solution, double share) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> noise(-share, share);
  for (double& impulse : solution.r) impulse *= 1 + noise(random);
  for (double& impulse : solution.lambda) impulse *= 1 + noise(random);
  solution.w.assign(solution.w.size(), 1e3);  // is not looked at
  return solution;
}

/// An answer from disturbed impulses, with the velocities of another solver: these are unique.
void expect_found(const StepProblem& problem, double share, int most_factorisations) {
  SCOPED_TRACE(share);
  const StepSolution expected = solve_otherwise(problem);
  QuickDiscs quick;
  StepSolution answer;
  int factorisations = 0;
  ASSERT_TRUE(quick.try_solve(problem, disturbed(expected, share), kGoal, answer, factorisations));
  EXPECT_LE(factorisations, most_factorisations);
  EXPECT_LE(testing::LawCheck(problem, answer).violation(), 10 * kGoal);
  // Momentum balances to rounding whatever the impulses are; the laws hold to the goal, in units of
  // the largest impulse, that is of the weight of everything here.
  const double scale = problem.num_blocks() * 10 * kWeight;
  EXPECT_LE((answer.w_vector() - expected.w_vector()).norm(), 10 * kGoal * scale);
}

TEST(QuickDiscs, HoldsACubeThatRestsOnRedundantContacts) {
  for (const double share : {0.0, 1e-6, 1e-2, 0.5})
    expect_found(make_cube(Vector3d::Zero(), 0.5), share, 2);
}

/// Nearly all of the friction holds it. Where the cube tips onto two contacts the other two have
/// less friction than would be theirs: they are at the edge of their cones, and at rest.
TEST(QuickDiscs, HoldsACubeOfWhichSomeContactsHaveAllTheirFriction) {
  constexpr double kMu = 0.5;
  const StepProblem problem = make_cube({0.98 * kMu * kWeight, 0, 0}, kMu);
  StepSolution start, answer;
  start.set_zero(problem);
  QuickDiscs quick;
  int factorisations = 0;
  ASSERT_TRUE(quick.try_solve(problem, start, kGoal, answer, factorisations));
  EXPECT_LE(factorisations, 5);
  EXPECT_LE(testing::LawCheck(problem, answer).violation(), 10 * kGoal);
  EXPECT_LE(answer.w_vector().norm(), 10 * kGoal * kWeight);
}

TEST(QuickDiscs, FindsThatACubeSlides) {
  // Forces turn with the slip that they change: a Newton step for each digit or two of it.
  for (const double share : {0.0, 1e-6, 1e-3}) expect_found(make_cube({2, 1, 0}, 0.5), share, 8);
}

TEST(QuickDiscs, TakesContactsWithoutFriction) {
  for (const double share : {0.0, 1e-3}) expect_found(make_cube({2, 1, 0}, 0), share, 3);
}

TEST(QuickDiscs, RollsBallsOnAPlateWithOneFactorisation) {
  const StepProblem problem = make_plate(10, 0.4);
  for (const double share : {0.0, 1e-6, 1e-3}) expect_found(problem, share, 1);
  // A ball with I = m/6 and r = 1/2 that rolls follows with 1/(1 + m r²/I) = 2/5 of the plate, and
  // so much of its mass is dragged.
  EXPECT_NEAR(solve_otherwise(problem).w[0], 0.4 / (10 + 10 * 0.4), 1e-12);
}

TEST(QuickDiscs, TakesMassesThatAreNotSymmetric) {
  StepProblem problem = make_cube({0.02, 0, 0}, 0.9);
  testing::make_gyroscopic(problem, 0.01);
  for (const double share : {0.0, 1e-6, 1e-2}) expect_found(problem, share, 4);
}

TEST(QuickDiscs, IsFreeOfUnits) {
  const StepProblem cube = make_cube({2, 1, 0}, 0.5);
  const StepSolution start = disturbed(solve_otherwise(cube), 1e-3);
  for (const double unit : {1e-12, 1e12}) {  // of mass
    StepProblem scaled = cube;
    for (double& mass : scaled.mass_values) mass *= unit;
    for (double& p : scaled.p) p *= unit;
    StepSolution scaled_start = start, answer;
    for (double& r : scaled_start.r) r *= unit;
    QuickDiscs quick;
    int factorisations = 0;
    ASSERT_TRUE(quick.try_solve(scaled, scaled_start, kGoal, answer, factorisations)) << unit;
    EXPECT_TRUE(certify(scaled, answer).meets(10 * kGoal)) << unit;
  }
}

TEST(QuickDiscs, GoesOnFromWhereItEnded) {
  const StepProblem problem = make_cube({2, 1, 0}, 0.5);
  const StepSolution expected = solve_otherwise(problem);
  QuickDiscs quick;
  StepSolution rough, fine;
  int first = 0, second = 0;
  ASSERT_TRUE(quick.try_solve(problem, disturbed(expected, 1e-3), 1e-5, rough, first));
  ASSERT_TRUE(quick.go_on(problem, kGoal, fine, second));
  EXPECT_LT((fine.w_vector() - expected.w_vector()).norm(),
            0.1 * (rough.w_vector() - expected.w_vector()).norm());
}

/// `auto` asks it first, and takes an answer that is far better than the tolerance of the step.
/// What it asks otherwise leaves 1e-7 of the cube.
TEST(QuickDiscs, SolvesStepsOfAutoFromImpulsesOfTheStepBefore) {
  const StepProblem problem = make_cube({1, 0.5, 0}, 0.3);
  StepSolution solution = disturbed(solve_otherwise(problem), 1e-3);
  AutoSolver solver({.tolerance = 1e-6, .acceptable = 1e-6});
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_LE(report.iterations, 5);
  EXPECT_LT(certify(problem, solution).residual(), 1e-8);
}

/// What slides on with the impulses of the step before needs no factors; what rests always gets
/// them, or its errors would add up.
TEST(QuickDiscs, KeepsImpulsesOfSteadyMotion) {
  for (const double speed : {1.0, 0.0}) {
    const StepProblem problem = make_cube({speed, speed / 2, 0}, 0.3);
    StepSolution answer;
    QuickDiscs quick;
    int factorisations = 0;
    const StepSolution expected = solve_otherwise(problem);
    ASSERT_TRUE(quick.try_solve(problem, disturbed(expected, 1e-3), 1e-13, answer, factorisations));
    StepSolution again;
    int more = 0;
    ASSERT_TRUE(quick.try_solve(problem, answer, 1e-13, again, more));
    EXPECT_EQ(more, speed > 0 ? 0 : 1);
    EXPECT_LT((again.w_vector() - expected.w_vector()).norm(), 1e-11);
    EXPECT_LE(testing::LawCheck(problem, again).violation(), 1e-8);
  }
}

/// Two objects that have solved different problems before answer with the same bits, also where
/// impulses to start from have friction without pressure.
TEST(QuickDiscs, KeepsNothingOfProblemsBefore) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> number;
  QuickDiscs one, other;
  StepSolution first, second;
  int factorisations = 0, same = 0;
  for (int k = 0; k < 300; ++k) {
    const StepProblem problem = make_cube({number(random), number(random), -0.1}, 0.4),
                      before = make_plate(k % 12, number(random));
    StepSolution start;
    start.set_zero(before);
    (void)other.try_solve(before, start, kGoal, second, factorisations);
    start.set_zero(problem);
    for (int j = 0; j < problem.num_contacts(); ++j) {
      start.r[3 * j] = std::max(0.0, number(random));
      start.r[3 * j + 1] = 0.1 * number(random);
    }
    int count = 0, other_count = 0;
    const bool is_found = one.try_solve(problem, start, kGoal, first, count);
    ASSERT_EQ(other.try_solve(problem, start, kGoal, second, other_count), is_found);
    ASSERT_EQ(count, other_count);
    same += is_found && first.is_identical(second) ? 1 : 0;
    ASSERT_TRUE(!is_found || first.is_identical(second));
  }
  EXPECT_GT(same, 30);
}

/// Soft in the normal as contacts of a compliant material are: friction is found as fast as on
/// rigid ground.
TEST(QuickDiscs, FindsFrictionOnSoftGround) {
  for (const double compliance : {1e-3, 1.0, 100.0}) {
    SCOPED_TRACE(compliance);
    for (const Vector3d& velocity : {Vector3d(1, 0.5, -0.1), Vector3d(0, 0, -0.1)}) {
      StepProblem problem = make_cube(velocity, 0.3);
      for (int j = 0; j < problem.num_contacts(); ++j)
        problem.contact_compliance[problem.contacts.row_start(j)] = compliance;
      expect_found(problem, 1e-3, 4);
    }
  }
}

// What holds on the disc holds on polygons and boxes, inside of them.
TEST(QuickDiscs, HoldsOnPolygonsAndBoxes) {
  for (const FrictionSection& section : {FrictionSection::polygon(8), FrictionSection::box()}) {
    SCOPED_TRACE(to_text(section));
    StepProblem problem = make_cube(Vector3d(0.03 * kWeight, 0.02 * kWeight, 0), 0.5);
    for (FrictionSection& own : problem.section) own = section;
    QuickDiscs quick;
    StepSolution start, answer;
    start.set_zero(problem);
    int factorisations = 0;
    ASSERT_TRUE(quick.try_solve(problem, start, kGoal, answer, factorisations));
    EXPECT_EQ(factorisations, 1);
    EXPECT_LE(certify(problem, answer).residual(), 1e-9);
    EXPECT_LE(ConstVectorMap(answer.w.data(), 6).norm(), kGoal);
  }
}

TEST(QuickDiscs, RefusesWhatItDoesNotTake) {
  QuickDiscs quick;
  StepSolution start, answer;
  int factorisations = 0;
  const auto is_refused = [&](const StepProblem& problem) {
    start.set_zero(problem);
    return !QuickDiscs::is_for(problem) ||
           !quick.try_solve(problem, start, kGoal, answer, factorisations);
  };
  StepProblem slides_on_polygon = make_cube(Vector3d::UnitX(), 0.5);
  slides_on_polygon.section[2] = FrictionSection::polygon(8);
  EXPECT_TRUE(is_refused(slides_on_polygon));

  StepProblem other_size = make_cube(Vector3d::Zero(), 0.5);
  other_size.add_mass_block(3).setIdentity();
  EXPECT_TRUE(is_refused(other_size));

  StepProblem massless = make_cube(Vector3d::Zero(), 0.5);
  massless.mass_values[7] = 0;
  massless.mass_values[0] = 0;
  EXPECT_TRUE(is_refused(massless));

  StepProblem soft_along = make_cube(Vector3d::Zero(), 0.5);
  soft_along.contact_compliance[1] = 0.1;
  EXPECT_TRUE(is_refused(soft_along));

  StepProblem planar;
  planar.h = kStep;
  add_body(planar, 1, Vector3d::Zero());
  planar.add_contact({.num_tangents = 1, .mu = 0.5, .section = FrictionSection::disc()});
  planar.contacts.add_entry(0, 6).setIdentity();
  EXPECT_TRUE(is_refused(planar));

  StepProblem of_three = make_plate(3, 0);
  of_three.add_bilateral_row({});
  for (int block = 0; block < 3; ++block) of_three.bilateral.add_entry(block, 6).setOnes();
  EXPECT_TRUE(is_refused(of_three));

  EXPECT_TRUE(is_refused(make_plate(16, 0)));  // 17 bodies
  StepProblem many = make_cube(Vector3d::Zero(), 0.5);
  for (int k = 0; k < QuickDiscs::kMaxContacts; ++k) {
    add_contact(many, 0.5);
    add_point(many, 0, {0, 0, -0.5}, 1);
  }
  EXPECT_TRUE(is_refused(many));

  StepProblem coupled = make_cube(Vector3d::Zero(), 0.5);
  for (int i = 0; i < coupled.num_contact_rows(); ++i) {
    coupled.coupling.add_row();
    coupled.coupling.add_entry(i, 1);
  }
  EXPECT_TRUE(is_refused(coupled));
  EXPECT_TRUE(is_refused(StepProblem()));
}

TEST(QuickDiscs, GivesUpOrIsRightFromAnywhere) {
  // From no impulses at all, thrown and turning: candidates that come out obey the laws.
  std::mt19937_64 random(11);
  std::normal_distribution<double> number;
  QuickDiscs quick;
  StepSolution start, answer;
  int num_found = 0;
  for (int k = 0; k < 300; ++k) {
    SCOPED_TRACE(k);
    StepProblem problem = make_cube({number(random), number(random), number(random)}, 0.5);
    for (int i = 3; i < 6; ++i) problem.block_p(0)[i] = 0.1 * number(random);
    start.set_zero(problem);
    int factorisations = 0;
    if (!quick.try_solve(problem, start, kGoal, answer, factorisations)) continue;
    ++num_found;
    // 1e-4 is what candidates are shown with; 1e-3 in terms that LawCheck sums up.
    EXPECT_LE(testing::LawCheck(problem, answer).violation(), 1e-3);
  }
  EXPECT_GT(num_found, 100);  // what leaves the ground, at least, is found
}

}  // namespace
}  // namespace stiction
