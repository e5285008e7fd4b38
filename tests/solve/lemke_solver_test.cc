#include "stiction/solve/lemke_solver.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"
#include "tests/solve/random_problem.h"

namespace stiction {
namespace {

using testing::random_problem;

// A few roundings; the closed forms below have entries of about one.
constexpr double kTight = 1e-13;

StepSolution solve(const StepProblem& problem) {
  LemkeSolver solver;
  StepSolution solution;
  const SolverReport report = solver.solve(problem, solution);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_TRUE(certify(problem, solution).meets(1e-12));
  return solution;
}

SolverStatus status_of(const StepProblem& problem) {
  StepSolution solution;
  return LemkeSolver().solve(problem, solution).status;
}

/// A particle of given mass in two or three dimensions with momentum p.
StepProblem particle(double mass, const VectorXd& p) {
  StepProblem problem;
  const int size = static_cast<int>(p.size());
  problem.add_mass_block(size) = mass * MatrixXd::Identity(size, size);
  problem.block_p(0) = p;
  return problem;
}

/// Contact of block 0 whose rows are given: normal, tangents.
void add_contact(StepProblem& problem, const MatrixXd& rows, double mu,
                 const FrictionSection& section = FrictionSection::polygon(8)) {
  problem.add_contact(
      {.num_tangents = static_cast<int>(rows.rows()) - 1, .mu = mu, .section = section});
  problem.contacts.add_entry(0, static_cast<int>(rows.cols())) = rows;
}

void add_row(StepProblem& problem, const VectorXd& row,
             const StepProblem::BilateralRow& data = {}) {
  problem.add_bilateral_row(data);
  problem.bilateral.add_entry(0, static_cast<int>(row.size())) = row.transpose();
}

/// Normal along y, tangent along x.
MatrixXd ground_rows() { return Eigen::Matrix2d{{0, 1}, {1, 0}}; }

TEST(Lemke, WithoutRowsTheVelocityIsFree) {
  const StepSolution s = solve(particle(2, Eigen::Vector3d(2, 4, -6)));
  EXPECT_EQ(s.w, (std::vector<double>{1, 2, -3}));
}

TEST(Lemke, SeparatingContactsNeedNoPivot) {
  StepProblem problem = particle(2, Eigen::Vector2d(2, 4));
  add_contact(problem, ground_rows(), 0.5);
  LemkeSolver solver;
  StepSolution s;
  const SolverReport report = solver.solve(problem, s);
  EXPECT_EQ(report.status, SolverStatus::kConverged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(s.w, (std::vector<double>{1, 2}));
  EXPECT_EQ(s.r, (std::vector<double>{0, 0}));
}

TEST(Lemke, FallingBallStopsOnThePlane) {
  StepProblem problem = particle(3, Eigen::Vector2d(0, -6));
  add_contact(problem, ground_rows(), 0.5);
  const StepSolution s = solve(problem);
  EXPECT_NEAR(s.w[1], 0, kTight);
  EXPECT_NEAR(s.r[0], 6, kTight);
  EXPECT_NEAR(s.r[1], 0, kTight);
}

TEST(Lemke, BlockOnInclineSticksUpToTheFrictionAngle) {
  const double mu = 0.5, mass = 2, gh = 0.3;
  for (int degrees = 1; degrees < 90; ++degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    StepProblem problem =
        particle(mass, mass * gh * Eigen::Vector2d(std::sin(angle), -std::cos(angle)));
    add_contact(problem, ground_rows(), mu);
    const StepSolution s = solve(problem);
    const double sliding = gh * (std::sin(angle) - mu * std::cos(angle));
    EXPECT_NEAR(s.w[0], std::tan(angle) <= mu ? 0 : sliding, kTight) << degrees;
    EXPECT_NEAR(s.w[1], 0, kTight);
  }
}

TEST(Lemke, SpatialSlidingFollowsTheVertexOfTheSection) {
  StepProblem problem = particle(1, Eigen::Vector3d(0, 3, -2));
  add_contact(problem, Eigen::Matrix3d{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, 0.5);
  const StepSolution s = solve(problem);  // slides along a vertex of the octagon: exact Coulomb
  EXPECT_NEAR(s.w[0], 0, kTight);
  EXPECT_NEAR(s.w[1], 2, kTight);
  EXPECT_NEAR(s.r[2], -1, kTight);
}

TEST(Lemke, FrictionlessContactLeavesTheTangentFree) {
  StepProblem problem = particle(1, Eigen::Vector3d(0.5, 3, -2));
  add_contact(problem, Eigen::Matrix3d{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, 0,
              FrictionSection::disc());
  const StepSolution s = solve(problem);
  EXPECT_EQ(s.r[1], 0);
  EXPECT_EQ(s.r[2], 0);
  EXPECT_EQ(s.w[1], 3);
}

TEST(Lemke, CompliantContactYieldsAsItsClosedForm) {
  const double mass = 2, compliance = 0.25, bias = 0.5;
  StepProblem problem = particle(mass, Eigen::Vector2d(0, -6));
  add_contact(problem, ground_rows(), 0.5);
  problem.contact_compliance[0] = compliance;
  problem.contact_bias[0] = bias;
  const StepSolution s = solve(problem);
  const double nu = (3 - bias) / (1 / mass + compliance);  // −p/m + ν/m + cν + b = 0
  EXPECT_NEAR(s.r[0], nu, kTight);
  EXPECT_NEAR(s.w[1], -3 + nu / mass, kTight);
}

TEST(Lemke, BoundedRowGivesAtMostItsBound) {
  const double bound = 0.75, mass = 2;
  for (const double p : {-3.0, -0.75, -0.5, 0.0, 0.3, 0.75, 2.0}) {
    StepProblem problem = particle(mass, VectorXd::Constant(1, p));
    add_row(problem, VectorXd::Ones(1), {.lower = -bound, .upper = bound});
    const StepSolution s = solve(problem);
    const double lambda = std::clamp(-p, -bound, bound);
    EXPECT_NEAR(s.lambda[0], lambda, kTight);
    EXPECT_NEAR(s.w[0], (p + lambda) / mass, kTight);
  }
}

TEST(Lemke, GenerousBoundsCostNoDigits) {
  StepProblem problem = particle(3, VectorXd::Constant(1, 1));
  add_row(problem, VectorXd::Ones(1), {.lower = -1e15, .upper = 1e14});
  EXPECT_NEAR(solve(problem).lambda[0], -1, kTight);
}

TEST(Lemke, BoundsNeedNotContainZero) {
  for (const double low : {-5.0, 2.0}) {
    StepProblem problem = particle(1, VectorXd::Constant(1, 1));
    add_row(problem, VectorXd::Ones(1), {.lower = low, .upper = low + 1});
    EXPECT_NEAR(solve(problem).lambda[0], low < 0 ? low + 1 : low, kTight);
  }
}

TEST(Lemke, EqualBoundsAreAConstantImpulse) {
  StepProblem problem = particle(2, VectorXd::Constant(1, 1));
  add_row(problem, VectorXd::Ones(1), {.bias = 7, .lower = 3, .upper = 3});
  const StepSolution s = solve(problem);
  EXPECT_EQ(s.lambda[0], 3);
  EXPECT_EQ(s.w[0], 2);
}

TEST(Lemke, OneSidedRowsPushOneWayOnly) {
  for (const double sign : {-1.0, 1.0}) {
    StepProblem pushed = particle(1, VectorXd::Constant(1, -sign));
    StepProblem::BilateralRow row;
    (sign > 0 ? row.lower : row.upper) = 0;
    add_row(pushed, VectorXd::Ones(1), row);
    EXPECT_NEAR(solve(pushed).lambda[0], sign, kTight);
    StepProblem pulled = particle(1, VectorXd::Constant(1, sign));
    add_row(pulled, VectorXd::Ones(1), row);
    EXPECT_EQ(solve(pulled).lambda[0], 0);
  }
}

TEST(Lemke, SpringRowEqualsItsClosedForm) {
  const double mass = 2, p = 3;
  for (const double compliance : {1e-12, 1e-3, 1.0, 1e3}) {
    StepProblem problem = particle(mass, VectorXd::Constant(1, p));
    add_row(problem, VectorXd::Ones(1), {.compliance = compliance, .bias = -0.5});
    const double w = (p - 0.5 / compliance) / (mass + 1 / compliance);
    EXPECT_NEAR(solve(problem).w[0], w, kTight);
  }
}

TEST(Lemke, RedundantJointsShareAnImpulseWithoutChangingTheMotion) {
  StepProblem single = particle(2, Eigen::Vector3d(1, 2, 3));
  add_row(single, Eigen::Vector3d(1, 1, 0));
  StepProblem redundant = single;
  add_row(redundant, Eigen::Vector3d(-0.1, -0.1, 0));
  add_row(redundant, Eigen::Vector3d(1, 1, 0));
  const StepSolution a = solve(single), b = solve(redundant);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.w[i], b.w[i], kTight);
}

TEST(Lemke, ContradictingJointsAreNoSolution) {
  StepProblem problem = particle(1, Eigen::Vector2d(1, 2));
  add_row(problem, Eigen::Vector2d(1, 0), {.bias = 1});
  add_row(problem, Eigen::Vector2d(2, 0), {.bias = 1});
  EXPECT_EQ(status_of(problem), SolverStatus::kNoSolution);
}

TEST(Lemke, JointAndContactActTogether) {
  StepProblem problem = particle(1, Eigen::Vector2d(0, -1));
  add_row(problem, Eigen::Vector2d(1, -1));  // moves along the diagonal only
  add_contact(problem, ground_rows(), 0.5);
  const StepSolution s = solve(problem);
  EXPECT_NEAR(s.w[0], 0, kTight);
  EXPECT_NEAR(s.w[1], 0, kTight);
}

TEST(Lemke, DuplicateContactsGiveTheSameVelocity) {
  StepProblem one = particle(1, Eigen::Vector3d(1, 3, -2));
  const Eigen::Matrix3d rows{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  add_contact(one, rows, 0.5);
  StepProblem many = one;
  for (int i = 0; i < 5; ++i) add_contact(many, rows, 0.5);
  const StepSolution a = solve(one), b = solve(many);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.w[i], b.w[i], kTight);
}

TEST(Lemke, ContactThatNothingMovesIsHarmlessUnlessItPenetrates) {
  StepProblem problem = particle(1, Eigen::Vector2d(1, -1));
  add_contact(problem, Eigen::Matrix2d::Zero(), 0.5);
  add_contact(problem, ground_rows(), 0.5);
  EXPECT_NEAR(solve(problem).w[0], 0.5, kTight);
  problem.contact_bias[0] = -1;
  EXPECT_EQ(status_of(problem), SolverStatus::kNoSolution);
}

// A rod that slides towards the end it leans on: the sliding contact would accelerate into the
// wall.
TEST(Lemke, SolvesPainlevesConfiguration) {
  const double mu = 1.5, mass = 1, inertia = 0.2;
  const Eigen::Vector3d normal(0, 1, 0.5), tangent(1, 0, 1);
  const Eigen::Vector3d inverse_mass(1 / mass, 1 / mass, 1 / inertia);
  ASSERT_LT(normal.dot(inverse_mass.asDiagonal() * (normal - mu * tangent)), 0);
  for (const double approach : {0.0, 0.01, 1.0}) {
    StepProblem problem;
    problem.add_mass_block(3) = inverse_mass.cwiseInverse().asDiagonal();
    problem.block_p(0) = Eigen::Vector3d(1, -approach - 1e-3, 0);
    MatrixXd rows(2, 3);
    rows << normal.transpose(), tangent.transpose();
    add_contact(problem, rows, mu);
    const StepSolution s = solve(problem);
    EXPECT_GT(s.r[0], 0);
  }
}

TEST(Lemke, BoxIsTheRotatedSquare) {
  const double mu = 0.4, half_root = std::sqrt(0.5);
  Random random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Eigen::Vector3d p(random.normal(), random.normal(), -1);
    const Eigen::Matrix3d rows{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    const Eigen::Matrix3d rotated{{0, 0, 1}, {half_root, half_root, 0}, {-half_root, half_root, 0}};
    StepProblem box = particle(1, p), square = particle(1, p);
    add_contact(box, rows, mu, FrictionSection::box());
    add_contact(square, rotated, mu * std::sqrt(2.0), FrictionSection::polygon(4));
    const StepSolution a = solve(box), b = solve(square);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.w[i], b.w[i], kTight);
  }
}

TEST(Lemke, RefusesTheDiscWithTwoTangentsOnly) {
  StepProblem problem = particle(1, Eigen::Vector3d(1, 3, -2));
  const Eigen::Matrix3d rows{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
  add_contact(problem, rows.topRows(2), 0.5, FrictionSection::disc());
  EXPECT_EQ(status_of(problem), SolverStatus::kConverged);
  add_contact(problem, rows, 0.5, FrictionSection::disc());
  EXPECT_EQ(status_of(problem), SolverStatus::kUnsupported);
}

TEST(Lemke, RefusesWhatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  StepProblem sound = particle(1, Eigen::Vector2d(1, -1));
  add_contact(sound, ground_rows(), 0.5);
  add_row(sound, Eigen::Vector2d(1, 1), {.compliance = 1});
  ASSERT_EQ(status_of(sound), SolverStatus::kConverged);
  const auto spoiled = [&](auto member) {
    StepProblem problem = sound;
    (problem.*member)[0] = nan;
    return status_of(problem);
  };
  for (const auto member : {&StepProblem::p, &StepProblem::mass_values, &StepProblem::bias,
                            &StepProblem::compliance, &StepProblem::lower, &StepProblem::mu,
                            &StepProblem::contact_bias, &StepProblem::contact_compliance})
    EXPECT_EQ(spoiled(member), SolverStatus::kNonFinite);
  add_contact(sound, nan * ground_rows(), 0);
  EXPECT_EQ(status_of(sound), SolverStatus::kNonFinite);
}

// Units that are powers of four change no mantissa, not even that of the scales 1/√W.
TEST(Lemke, UnitsDoNotChangeTheAnswer) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const StepProblem problem = random_problem(seed, {.max_contacts = 6, .max_bodies = 4});
    const StepSolution expected = solve(problem);
    for (const int exponent : {-40, 40}) {
      const double mass = std::ldexp(1.0, exponent), speed = std::ldexp(1.0, -exponent / 2);
      StepProblem scaled = problem;
      for (double& x : scaled.mass_values) x *= mass;
      for (double& x : scaled.p) x *= mass * speed;
      for (double& x : scaled.bias) x *= speed;
      for (double& x : scaled.contact_bias) x *= speed;
      for (double& x : scaled.compliance) x /= mass;
      for (double& x : scaled.contact_compliance) x /= mass;
      for (double& x : scaled.lower) x *= mass * speed;
      for (double& x : scaled.upper) x *= mass * speed;
      const StepSolution s = solve(scaled);
      for (std::size_t i = 0; i < s.w.size(); ++i) EXPECT_EQ(s.w[i], expected.w[i] * speed);
      for (std::size_t i = 0; i < s.r.size(); ++i) EXPECT_EQ(s.r[i], expected.r[i] * mass * speed);
    }
  }
}

TEST(Lemke, TheOldSolutionDoesNotChangeTheAnswer) {
  LemkeSolver used;
  StepSolution warm;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const StepProblem problem = random_problem(seed, {.max_contacts = 8});
    ASSERT_EQ(used.solve(problem, warm).status, SolverStatus::kConverged);
    const StepSolution cold = solve(problem);
    EXPECT_EQ(warm.w, cold.w);
    EXPECT_EQ(warm.r, cold.r);
  }
}

// Implicit schemes may hand over blocks with condition numbers far beyond those of mass matrices.
TEST(Lemke, IllConditionedMassIsSolvedAsWell) {
  for (const double small : {1e-4, 1e-8, 1e-10}) {
    StepProblem problem;
    problem.add_mass_block(3) = Eigen::Matrix3d{{1, 1, 0}, {1, 1 + small, 0.1 * small}, {0, 0, 1}};
    problem.block_p(0) = Eigen::Vector3d(1, -2, -1);
    add_contact(problem, MatrixXd{{0, 0.3, 1}, {1, 0.2, 0.1}}, 0.7);
    add_contact(problem, MatrixXd{{0.1, 1, 0.2}, {1, 0, -1}}, 0.7);
    solve(problem);
  }
}

}  // namespace
}  // namespace stiction
