#include "stiction/problem/published_error.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "stiction/base/random.h"
#include "stiction/problem/certificate.h"

namespace stiction {
namespace {

/// u = W r + q with one contact, all numbers by hand.
StepProblem make_local(const Eigen::MatrixXd& W, const Eigen::VectorXd& q, double mu) {
  StepProblem problem;
  problem.add_contact({static_cast<int>(q.size()) - 1, mu, FrictionSection::disc(), 0});
  problem.contact_bias.assign(q.begin(), q.end());
  for (int i = 0; i < W.rows(); ++i) {
    problem.coupling.add_row();
    for (int j = 0; j < W.cols(); ++j) problem.coupling.add_entry(j, W(i, j));
  }
  return problem;
}

StepSolution with_impulses(std::vector<double> r) {
  return {.w = {}, .lambda = {}, .r = std::move(r)};
}

double local_error(const StepProblem& problem, std::vector<double> r) {
  return compute_published_error(ProblemKind::kLocalFriction, problem, with_impulses(std::move(r)));
}

TEST(PublishedError, LocalMeasureOfASlidingContactByHand) {
  // W = I, q = (−1, 2, 0), μ = ½: r = (1, −½, 0) gives u = (0, 3/2, 0), sliding against r.
  const StepProblem problem =
      make_local(Eigen::Matrix3d::Identity(), Eigen::Vector3d(-1, 2, 0), 0.5);
  EXPECT_EQ(local_error(problem, {1, -0.5, 0}), 0);
  // r = 0: u = q, û = (−1 + ½·2, 2, 0), and −û = (0, −2, 0) is projected onto the cone's flank.
  const double nu = 2 * 0.5 / (1 + 0.25);  // ν = μ‖x_T‖/(1 + μ²)
  EXPECT_NEAR(local_error(problem, {0, 0, 0}), std::hypot(nu, 0.5 * nu) / std::sqrt(5.0), 1e-15);
}

TEST(PublishedError, LocalMeasureIsNotScaledWhereEverythingVanishes) {
  const StepProblem problem =
      make_local(Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1e-18, 0), 0.5);
  EXPECT_DOUBLE_EQ(local_error(problem, {0, 0}), 1e-18);
  const StepProblem larger =
      make_local(Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1e-15, 0), 0.5);
  EXPECT_DOUBLE_EQ(local_error(larger, {0, 0}), 1);
}

TEST(PublishedError, GlobalMeasureAddsMomentumAndCone) {
  // One unknown, M = 2, H = 1, f = −4: r = 4 stops it.
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 2;
  problem.p[0] = -4;
  problem.add_contact({0, 0.0, FrictionSection::disc(), 0});
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  const auto error = [&](double v, double r) {
    return compute_published_error(ProblemKind::kGlobalFriction, problem,
                                   {.w = {v}, .lambda = {}, .r = {r}});
  };
  EXPECT_EQ(error(0, 4), 0);
  EXPECT_DOUBLE_EQ(error(1, 4), 2.0 / 4 + 1.0 / 4);  // Mv − Hr − f = 2, min(r, u) = 1
  EXPECT_DOUBLE_EQ(error(-1, 2), 0.0 + 1.0 / 2);     // momentum right, u = −1
  EXPECT_DOUBLE_EQ(error(-2, 0), 0.0 + 1.0);         // no impulse: u = −2, relative to itself
}

TEST(PublishedError, GlobalMeasureCountsEquations) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 2;
  problem.p[0] = 4;
  problem.add_bilateral_row({.bias = 1});
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  const auto error = [&](double v, double l) {
    return compute_published_error(ProblemKind::kGlobalFriction, problem,
                                   {.w = {v}, .lambda = {l}, .r = {}});
  };
  EXPECT_EQ(error(1, -2), 0);
  EXPECT_DOUBLE_EQ(error(2, 0), 0.5);  // v = 2 instead of 1
}

StepProblem make_lcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, int num_equations) {
  StepProblem problem;
  for (int i = 0; i < q.size(); ++i) {
    if (i < num_equations) {
      problem.add_bilateral_row({.bias = -q[i]});
    } else {
      problem.add_contact({0, 0.0, FrictionSection::disc(), 0});
      problem.contact_bias.back() = q[i];
    }
    problem.coupling.add_row();
    for (int j = 0; j < q.size(); ++j) problem.coupling.add_entry(j, M(i, j));
  }
  return problem;
}

TEST(PublishedError, LcpMeasureIsTheMinimumOverTheFreeSlack) {
  const StepProblem problem = make_lcp(Eigen::Matrix2d{{2, 1}, {1, 2}}, Eigen::Vector2d(-3, 4), 0);
  const auto error = [&](double z0, double z1) {
    return compute_published_error(ProblemKind::kLcp, problem, with_impulses({z0, z1}));
  };
  EXPECT_EQ(error(1.5, 0), 0);
  EXPECT_DOUBLE_EQ(error(1, 0), 1.0 / 5);                    // w = (−1, 5), min = (−1, 0)
  EXPECT_DOUBLE_EQ(error(1.5, -1), std::hypot(1, 1) / 5.0);  // w = (−1, 3.5), min = (−1, −1)
}

TEST(PublishedError, DivergedAnswerIsNotMistakenForASolution) {
  // z − max(0, z − w) would cancel to zero here.
  const StepProblem problem = make_lcp(Eigen::MatrixXd::Zero(1, 1), -Eigen::VectorXd::Ones(1), 0);
  EXPECT_DOUBLE_EQ(compute_published_error(ProblemKind::kLcp, problem, with_impulses({1e30})), 1);
}

TEST(PublishedError, MixedMeasureTakesEquationsWithTheirSign) {
  const StepProblem problem = make_lcp(Eigen::Matrix2d{{1, 0}, {0, 1}}, Eigen::Vector2d(-3, 4), 1);
  const auto error = [&](double z0, double z1) {
    return compute_published_error(ProblemKind::kMlcp, problem,
                                   {.w = {}, .lambda = {z0}, .r = {z1}});
  };
  EXPECT_EQ(error(3, 0), 0);
  EXPECT_DOUBLE_EQ(error(0, 0), 3.0 / 5);  // w = (−3, 4), scales |q| = 5, |w| = 5
  EXPECT_DOUBLE_EQ(error(6, 0), 3.0 / 6);  // w = (3, 4), |z| = 6
}

TEST(PublishedError, StepProblemsAreJudgedByTheCertificate) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 2;
  problem.p[0] = -4;
  problem.add_contact({0, 0.0, FrictionSection::disc(), 0});
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  const StepSolution answer{.w = {-0.5}, .lambda = {}, .r = {3}};
  EXPECT_EQ(compute_published_error(ProblemKind::kStepProblem, problem, answer),
            certify(problem, answer).residual());
}

TEST(PublishedError, WhatIsNotFiniteOrDoesNotFitIsInfinitelyWrong) {
  const StepProblem problem = make_local(Eigen::Matrix2d::Identity(), Eigen::Vector2d(-1, 0), 0.5);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(local_error(problem, {std::nan(""), 0}), kInfinity);
  EXPECT_EQ(local_error(problem, {kInfinity, 0}), kInfinity);
  EXPECT_EQ(local_error(problem, {1}), kInfinity);
  EXPECT_EQ(local_error(problem, {1e300, 1e300}), kInfinity);  // overflows on the way
}

TEST(PublishedError, EmptyProblemIsSolved) {
  for (const ProblemKind kind :
       {ProblemKind::kStepProblem, ProblemKind::kLocalFriction, ProblemKind::kGlobalFriction,
        ProblemKind::kLcp, ProblemKind::kMlcp})
    EXPECT_EQ(compute_published_error(kind, {}, {}), 0) << to_text(kind);
}

TEST(PublishedError, PolygonIsMeasuredWithItsOwnCone) {
  // On the square {|b₁| + |b₂| ≤ 1} sliding along (1, 1) is resisted on a whole edge.
  StepProblem problem = make_local(Eigen::Matrix3d::Zero(), Eigen::Vector3d(0, 1, 1), 1);
  problem.section[0] = FrictionSection::polygon(4);
  EXPECT_NEAR(local_error(problem, {1, -0.5, -0.5}), 0, 1e-15);
  EXPECT_NEAR(local_error(problem, {1, -0.75, -0.25}), 0, 1e-15);
  problem.section[0] = FrictionSection::disc();
  EXPECT_GT(local_error(problem, {1, -0.5, -0.5}), 0.1);
}

}  // namespace
}  // namespace stiction
