#include "stiction/problem/certificate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stiction {
namespace {

/// A body of mass m on a floor with coordinates (x, y), pushed by p; μ = 0.5.
StepProblem block(double mass, double p_x, double p_y) {
  StepProblem problem;
  problem.h = 1e-3;
  RowMatrixMap m = problem.add_mass_block(2);
  m << mass, 0, 0, mass;
  problem.block_p(0) << p_x, p_y;
  problem.add_contact({.num_tangents = 1, .mu = 0.5, .section = {}, .key = 7});
  problem.contacts.add_entry(0, 2) << 0, 1, 1, 0;
  return problem;
}

StepSolution solution(std::vector<double> w, std::vector<double> r) {
  StepSolution s;
  s.w = std::move(w);
  s.r = std::move(r);
  return s;
}

TEST(Certificate, IsZeroForExactAnswers) {
  // Stick, slip and open, each worked out by hand.
  EXPECT_EQ(certify(block(2, 0.4, -1), solution({0, 0}, {1, -0.4})).residual(), 0);
  EXPECT_LT(certify(block(2, 2, -1), solution({0.75, 0}, {1, -0.5})).residual(), 1e-15);
  EXPECT_EQ(certify(block(2, 2, 1), solution({1, 0.5}, {0, 0})).residual(), 0);
}

TEST(Certificate, FindsEveryKindOfFault) {
  const StepProblem slip = block(2, 2, -1);
  EXPECT_GT(certify(slip, solution({0.75, 0}, {1.001, -0.5})).momentum, 1e-5) << "impulse scaled";
  // Friction beyond the cone, consistent with the momentum: w_x = (2 − 0.6)/2.
  EXPECT_GT(certify(slip, solution({0.7, 0}, {1, -0.6})).cone, 1e-2) << "outside the cone";
  EXPECT_LT(certify(slip, solution({0.7, 0}, {1, -0.6})).momentum, 1e-15);
  EXPECT_GT(certify(slip, solution({0.8, 0}, {1, -0.4})).cone, 1e-2) << "not maximal dissipation";
  EXPECT_GT(certify(slip, solution({1.25, 0}, {1, 0.5})).cone, 1e-2) << "friction along the slip";
  EXPECT_GT(certify(slip, solution({0.8, -0.1}, {0.8, -0.4})).cone, 1e-2) << "penetrating velocity";
  EXPECT_GT(certify(slip, solution({0.7, 0.1}, {1.2, -0.6})).cone, 1e-2)
      << "impulse while separating";
  EXPECT_GT(certify(block(2, 0, 0), solution({0, -0.05}, {-0.1, 0})).cone, 1e-2) << "adhesion";
}

TEST(Certificate, IsInvalidForAnythingNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity}) {
    EXPECT_FALSE(certify(block(2, 2, -1), solution({bad, 0}, {1, -0.5})).meets(1e300));
    EXPECT_FALSE(certify(block(2, 2, -1), solution({0.75, 0}, {1, bad})).meets(1e300));
    EXPECT_FALSE(certify(block(2, bad, -1), solution({0.75, 0}, {1, -0.5})).meets(1e300));
    EXPECT_FALSE(certify(block(bad, 2, -1), solution({0.75, 0}, {1, -0.5})).meets(1e300));
    StepProblem biased = block(2, 2, -1);
    biased.contact_bias[0] = bad;
    EXPECT_FALSE(certify(biased, solution({0.75, 0}, {1, -0.5})).meets(1e300));
  }
  StepProblem rough = block(2, 2, -1);
  rough.mu[0] = nan;
  EXPECT_FALSE(certify(rough, solution({0.75, 0}, {1, -0.5})).meets(1e300));
  StepProblem compliant = block(2, 2, -1);
  compliant.contact_compliance[1] = nan;
  EXPECT_FALSE(certify(compliant, solution({0.75, 0}, {1, -0.5})).meets(1e300));
  for (const auto& row :
       {StepProblem::BilateralRow{.lower = nan}, StepProblem::BilateralRow{.upper = nan},
        StepProblem::BilateralRow{.compliance = nan}, StepProblem::BilateralRow{.bias = nan}}) {
    StepProblem held;
    held.add_mass_block(1)(0, 0) = 2;
    held.add_bilateral_row(row);
    held.bilateral.add_entry(0, 1)(0, 0) = 1;
    StepSolution answer = solution({0}, {});
    answer.lambda = {0};
    EXPECT_FALSE(certify(held, answer).meets(1e300));
  }
  EXPECT_FALSE(certify(block(-2, 2, -1), solution({0.75, 0}, {1, -0.5})).meets(1e300))
      << "mass not positive definite";
  EXPECT_FALSE(certify(block(2, 2, -1), solution({0.75, 0}, {1})).meets(1e300)) << "wrong size";
}

TEST(Certificate, KeepsTheWorstWhenIncluded) {
  Certificate a, b;
  a.momentum = 1e-3;
  a.gap = 1;
  b.cone = std::numeric_limits<double>::quiet_NaN();
  b.gap = -2;
  a.include(b);
  EXPECT_EQ(a.momentum, 1e-3);
  EXPECT_EQ(a.gap, -2);
  EXPECT_FALSE(a.meets(1e300));
}

TEST(Certificate, DoesNotDependOnTheUnits) {
  // Not an exact answer: the figures themselves must agree. Lengths times L, masses times m.
  const auto figures = [](double length, double mass) {
    StepProblem problem = block(2 * mass, 2 * mass * length, -1 * mass * length);
    return certify(problem, solution({0.8 * length, 1e-3 * length},
                                     {1.01 * mass * length, -0.45 * mass * length}));
  };
  const Certificate reference = figures(1, 1);
  EXPECT_GT(reference.cone, 1e-4);
  for (const double length : {1e-12, 1e3}) {
    for (const double mass : {1e-9, 1e12}) {
      EXPECT_NEAR(figures(length, mass).cone / reference.cone, 1, 1e-12);
      EXPECT_NEAR(figures(length, mass).momentum / reference.momentum, 1, 1e-12);
    }
  }
}

TEST(Certificate, DoesNotDependOnTheFrameOfTheCoordinates) {
  // Rotating the coordinates rotates mass, p, rows and w; r stays.
  const double c = std::cos(0.7), s = std::sin(0.7);
  Eigen::Matrix2d rotation, mass;
  rotation << c, -s, s, c;
  mass << 2, 0.3, 0.1, 1;  // not symmetric
  Eigen::Matrix2d rows;
  rows << 0, 1, 1, 0;
  const Eigen::Vector2d p(2, -1), w(0.8, 1e-3);
  const auto figures = [&](const Eigen::Matrix2d& turn) {
    StepProblem problem;
    problem.add_mass_block(2) = turn * mass * turn.transpose();
    problem.block_p(0) = turn * p;
    problem.add_contact({.num_tangents = 1, .mu = 0.5, .section = {}});
    problem.contacts.add_entry(0, 2) = rows * turn.transpose();
    problem.add_bilateral_row({.bias = 0.1});
    problem.bilateral.add_entry(0, 2) = Eigen::RowVector2d(0.3, 2) * turn.transpose();
    const Eigen::Vector2d turned = turn * w;
    StepSolution answer = solution({turned[0], turned[1]}, {1.01, -0.45});
    answer.lambda = {0.2};
    return certify(problem, answer);
  };
  const Certificate straight = figures(Eigen::Matrix2d::Identity()), turned = figures(rotation);
  EXPECT_NEAR(straight.momentum, turned.momentum, 1e-14);
  EXPECT_NEAR(straight.bilateral, turned.bilateral, 1e-14);
  EXPECT_NEAR(straight.cone, turned.cone, 1e-14);
}

TEST(Certificate, SeesNormalErrorsWhereTheTangentIsFarLighterOrHeavier) {
  // Approach with 1 m/s: ν = 1 stops it. An answer that leaves a tenth of the approach is wrong by
  // a tenth, whatever the inertia or compliance along the tangent.
  for (const double tangential_mass : {1e-12, 1e-3, 1.0, 1e3, 1e12}) {
    for (const double tangential_compliance : {0.0, 1e10}) {
      StepProblem problem;
      problem.add_mass_block(2) << tangential_mass, 0, 0, 1;
      problem.block_p(0) << 0, -1;
      problem.add_contact({.num_tangents = 1, .mu = 0.5, .section = {}});
      problem.contacts.add_entry(0, 2) << 0, 1, 1, 0;
      problem.contact_compliance[1] = tangential_compliance;
      EXPECT_LT(certify(problem, solution({0, 0}, {1, 0})).residual(), 1e-15);
      EXPECT_GT(certify(problem, solution({0, -0.1}, {0.9, 0})).cone, 0.05)
          << tangential_mass << " " << tangential_compliance;
    }
  }
}

TEST(Certificate, IsNotHiddenByImpulsesThatCancel) {
  // A block between walls that both push: u₁ = w + 0.5 ≥ 0 and u₂ = −w − 1 ≥ 0 have no solution,
  // however hard the walls press against each other.
  for (const double force : {1.0, 1e6, 1e12, 1e18}) {
    StepProblem problem;
    problem.add_mass_block(1)(0, 0) = 1;
    problem.p[0] = 1;
    for (const double sign : {1.0, -1.0}) {
      problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
      problem.contacts.add_entry(0, 1)(0, 0) = sign;
    }
    problem.contact_bias = {0.5, -1};
    EXPECT_GT(certify(problem, solution({0}, {force, force + 1})).cone, 1e-8) << force;
    EXPECT_FALSE(certify(problem, solution({-0.75}, {force, force + 1.75})).meets(1e-9)) << force;
  }
}

// A body between walls that press against each other, free to slide along them with its momentum 1.
// A tenth of it is lost in the answer, however hard the walls press.
TEST(Certificate, MomentumIsNotHiddenByImpulsesThatCancel) {
  for (const double force : {1.0, 1e6, 1e9, 1e12, 1e15, 1e18}) {
    StepProblem problem;
    problem.add_mass_block(2).setIdentity();
    problem.p = {1, 0};
    for (const double sign : {1.0, -1.0}) {
      problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
      problem.contacts.add_entry(0, 2) << 0, sign;
    }
    EXPECT_FALSE(certify(problem, solution({0.9, 0}, {force, force})).meets(1e-9)) << force;
  }
}

/// A milligram on a floor with friction μ, that springs of 10¹³ N/m press down and push along it:
/// m w = p + (λ₁ + β, λ₂ + ν), w₁ + C λ₁ = 1, w₂ + C λ₂ = −1. It slips with w₁ = 1 − C μν to
/// rounding, ν = 1/C.
class PressedMilligram {
 public:
  static constexpr double kMass = 1e-6, kCompliance = 1e-13;

  explicit PressedMilligram(double mu) : mu_(mu) {
    problem_.add_mass_block(2) << kMass, 0, 0, kMass;
    problem_.p = {3e-6, -2e-6};
    for (const double bias : {1.0, -1.0}) {
      problem_.add_bilateral_row({.compliance = kCompliance, .bias = bias});
      problem_.bilateral.add_entry(0, 2) << (bias > 0), (bias < 0);
    }
    problem_.add_contact({.num_tangents = 1, .mu = mu, .section = {}});
    problem_.contacts.add_entry(0, 2) << 0, 1, 1, 0;
  }

  /// Springs and the floor as they would be for these velocities and this friction, to rounding;
  /// momentum is balanced but for what `friction` is off.
  Certificate judge(double slip, double sink, double friction) const {
    const double along = (1 - slip) / kCompliance, down = (-1 - sink) / kCompliance;
    StepSolution answer = solution({slip, sink}, {-down, friction});
    answer.lambda = {along, down};
    return certify(problem_, answer);
  }
  double friction() const { return -mu_ * (1 / kCompliance); }
  double slip() const { return 1 - mu_; }

 private:
  double mu_;
  StepProblem problem_;
};

// Impulses are 10¹⁹ times the momenta and biases in √J. What is off by rounding is not refused for
// it, and what is off by more is.
TEST(Certificate, BelievesInImpulsesThatSpringsCallForAndInNothingElse) {
  for (const double mu : {0.1, 0.3, 1.0 / 3, 0.77}) {
    const PressedMilligram body(mu);
    const double slip = body.slip(), friction = body.friction();
    EXPECT_LE(body.judge(slip, 0, friction).residual(), 1e-10) << mu;
    EXPECT_GT(body.judge(slip, -1e-3, friction).residual(), 1e-9) << "sinks";
    EXPECT_GT(body.judge(slip, 0, friction * (1 + 1e-9)).residual(), 1e-9) << "unbalanced";
    // The springs take up what friction lacks, so that rows and momentum hold.
    const double less = 1e-6;
    EXPECT_GT(body.judge(1 - mu * (1 - less), 0, friction * (1 - less)).residual(), 1e-9)
        << "slips with less than full friction";
    EXPECT_GT(body.judge(1 + mu, 0, -friction).residual(), 1e-9) << "friction that drives";
    EXPECT_GT(body.judge(0, 0, -1 / PressedMilligram::kCompliance).residual(), 1e-9)
        << "sticks beyond the cone";
  }
}

// A spring holds a milligram against a wall, w = 0. An answer that moves by 10⁻⁷ of the free
// velocity is well within what is allowed of motions, but the impulse of 1/C does the work 10⁻⁷/C
// on it, which is 10⁻⁷ of what the spring has.
TEST(Certificate, CountsTheWorkOfLargeImpulsesOnSmallErrors) {
  StepProblem problem;
  const double m = 1e-6, C = 1e-13;
  problem.add_mass_block(1)(0, 0) = m;
  problem.p = {0};
  problem.add_bilateral_row({.compliance = C, .bias = -1});
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}});
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  const auto judge = [&](double w) {
    StepSolution answer = solution({w}, {(1 + w) / C});
    answer.lambda = {-(1 + w) / C};
    return certify(problem, answer);
  };
  EXPECT_LE(judge(0).residual(), 1e-12);
  for (const double w : {1e-7, -1e-7}) {
    EXPECT_LT(judge(w).cone, 1e-9);
    EXPECT_GT(judge(w).motion, 1e-8) << w;
  }
}

TEST(Certificate, ChecksBoundsOfBilateralRows) {
  // One coordinate of mass 2 with p = 2, held by a row with |λ| ≤ 0.5: w = 0.75, λ = −0.5.
  const auto figure = [](double w, double lambda) {
    StepProblem problem;
    problem.add_mass_block(1)(0, 0) = 2;
    problem.p[0] = 2;
    problem.add_bilateral_row({.lower = -0.5, .upper = 0.5});
    problem.bilateral.add_entry(0, 1)(0, 0) = 1;
    StepSolution answer = solution({w}, {});
    answer.lambda = {lambda};
    return certify(problem, answer);
  };
  EXPECT_LT(figure(0.75, -0.5).residual(), 1e-15);
  EXPECT_GT(figure(0.7, -0.6).bilateral, 1e-2) << "beyond the bound";
  EXPECT_GT(figure(0.8, -0.4).bilateral, 1e-2) << "moves though the bound is not reached";
  EXPECT_GT(figure(1.25, 0.5).bilateral, 1e-2) << "at the wrong bound";
}

TEST(Certificate, CompliantRowHoldsExactly) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  problem.p[0] = 0;
  problem.add_bilateral_row({.compliance = 1e-12, .bias = -3});
  problem.bilateral.add_entry(0, 1)(0, 0) = 1;
  // w = λ, w + Cλ = −3.
  StepSolution answer = solution({-3 / (1 + 1e-12)}, {});
  answer.lambda = {-3 / (1 + 1e-12)};
  EXPECT_LT(certify(problem, answer).residual(), 1e-15);
}

TEST(FindFault, SeesWhatIsNamedTwice) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  problem.coupling.add_row();
  problem.coupling.add_entry(0, 1);
  EXPECT_EQ(find_fault(problem), "");
  problem.coupling.add_entry(0, 2);
  EXPECT_EQ(find_fault(problem), "coupling of row 0 names row 0 twice");
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  EXPECT_EQ(find_fault(problem), "contact 0 names mass block 0 twice");
}

TEST(FindFault, NamesWhatIsWrong) {
  EXPECT_EQ(find_fault(block(2, 2, -1)), "");
  EXPECT_EQ(find_fault(block(-2, 2, -1)), "mass block 0 is not positive definite");
  StepProblem problem = block(2, 2, -1);
  problem.mu[0] = -1;
  EXPECT_EQ(find_fault(problem), "contact 0 has the friction coefficient -1");
  problem = block(2, 2, -1);
  problem.add_bilateral_row({.lower = 1, .upper = 0});
  EXPECT_EQ(find_fault(problem), "bilateral row 0 has the bounds 1 and 0");
  problem = block(2, std::nan(""), -1);
  EXPECT_EQ(find_fault(problem), "p is not finite");
  problem = block(2, 2, -1);
  problem.contacts.add_entry(3, 2);
  EXPECT_EQ(find_fault(problem), "contact 0 touches mass block 3, but there are 1");
}

// A body of 1 kg between the ground and one of 1e8 kg, all at rest at the end. If both sink at a
// sixth of their free velocity the impulses are right to a sixth of 1e8, which hides 1/6 m/s of the
// light one from errors that are relative to impulses.
TEST(Certificate, SeesALightBodySinkUnderAHeavyOne) {
  StepProblem problem;
  problem.add_mass_block(1)(0, 0) = 1;
  problem.add_mass_block(1)(0, 0) = 1e8;
  problem.p = {-1, -1e8};
  for (int j = 0; j < 2; ++j)
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.contacts.clear();
  problem.contacts.add_row_block(1);
  problem.contacts.add_entry(0, 1)(0, 0) = 1;
  problem.contacts.add_row_block(1);
  problem.contacts.add_entry(0, 1)(0, 0) = -1;
  problem.contacts.add_entry(1, 1)(0, 0) = 1;
  StepSolution rest, sinking;
  rest.w = {0, 0};
  rest.r = {1e8 + 1, 1e8};
  EXPECT_LE(certify(problem, rest).residual(), 1e-15);
  const double v = -1.0 / 6;
  sinking.w = {v, v};
  sinking.r = {(1 + v) * (1e8 + 1), (1 + v) * 1e8};
  const Certificate certificate = certify(problem, sinking);
  EXPECT_LT(certificate.cone, 1e-8);
  EXPECT_GT(certificate.motion, 1e-6);
}

TEST(Certificate, IsInvalidWhereACouplingOrAComplianceIsNotANumber) {
  StepProblem problem;
  problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.contact_bias = {1};
  problem.coupling.add_row();
  problem.coupling.add_entry(0, std::numeric_limits<double>::quiet_NaN());
  StepSolution zero;
  zero.r = {0};
  EXPECT_FALSE(certify(problem, zero).meets(1));
  StepProblem falling;
  falling.add_mass_block(1)(0, 0) = 1;
  falling.p = {-1};
  falling.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  falling.contacts.add_entry(0, 1)(0, 0) = 1;
  falling.contact_compliance = {std::numeric_limits<double>::quiet_NaN()};
  zero.w = {-1};
  EXPECT_FALSE(certify(falling, zero).meets(1));
}

// K = [0 0; 1 1]: nothing moves the first row, but its impulse moves the second.
TEST(Certificate, AllowsNoImpulseAtAnOpenContactThatNothingMoves) {
  StepProblem problem;
  for (int j = 0; j < 2; ++j)
    problem.add_contact({.num_tangents = 0, .mu = 0, .section = {}, .key = 0});
  problem.contact_bias = {1, -5};
  problem.coupling.add_row();
  problem.coupling.add_row();
  problem.coupling.add_entry(0, 1);
  problem.coupling.add_entry(1, 1);
  StepSolution right, wrong, negative;
  right.r = {0, 5};
  wrong.r = {5, 0};
  negative.r = {-3, 8};
  EXPECT_TRUE(certify(problem, right).meets(1e-15));
  EXPECT_FALSE(certify(problem, wrong).meets(1));
  EXPECT_FALSE(certify(problem, negative).meets(1));
}

TEST(Certificate, IsRecalledForTheVerySameAnswerOnly) {
  StepProblem problem = block(2, 2, -1);
  problem.add_bilateral_row({.compliance = 0.1, .bias = 0});
  problem.bilateral.add_entry(0, 2) << 1, 0;
  StepSolution answer = solution({0.75, 0}, {1, -0.5});
  answer.lambda = {0.25};
  Certifier certifier;
  EXPECT_FALSE(certifier.recall_last(problem, answer)) << "nothing was certified";
  const Certificate certificate = certifier.certify(problem, answer);
  ASSERT_TRUE(certifier.recall_last(problem, answer));
  EXPECT_EQ(certifier.recall_last(problem, answer)->residual(), certificate.residual());
  EXPECT_TRUE(certifier.recall_last(problem, StepSolution(answer))) << "a copy will do";
  EXPECT_FALSE(certifier.recall_last(StepProblem(problem), answer)) << "that may be another one";
  const auto up = [](double& x) { x = std::nextafter(x, 10); };
  for (std::vector<double> StepSolution::*list :
       {&StepSolution::w, &StepSolution::lambda, &StepSolution::r}) {
    StepSolution changed = answer;
    up((changed.*list)[0]);
    EXPECT_FALSE(certifier.recall_last(problem, changed));
  }
  certifier.forget_last();
  EXPECT_FALSE(certifier.recall_last(problem, answer));
}

TEST(StepProblem, IsIdenticalToTheBitOnly) {
  StepProblem problem = block(2, 2, -1);
  problem.add_bilateral_row({.compliance = 0.1, .bias = 0});
  problem.bilateral.add_entry(0, 2) << 1, 0;
  const auto is_identical = [&](const auto& change) {
    StepProblem changed = problem;
    change(changed);
    return changed.is_identical(problem);
  };
  const auto up = [](double& x) { x = std::nextafter(x, 10); };
  EXPECT_TRUE(is_identical([](StepProblem&) {}));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.h); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.mass_values[3]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.p[1]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.compliance[0]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { p.bias[0] = -0.0; }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { p.lower[0] = -1; }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { p.upper[0] = 1; }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.bilateral.entry_values(0)[1]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.contacts.entry_values(0)[0]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.contact_compliance[1]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.contact_bias[0]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { up(p.mu[0]); }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { ++p.section[0].num_sides; }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { ++p.key[0]; }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { p.add_mass_block(1)(0, 0) = 1; }));
  EXPECT_FALSE(is_identical([&](StepProblem& p) { p.coupling.add_row(); }));
}

}  // namespace
}  // namespace stiction
