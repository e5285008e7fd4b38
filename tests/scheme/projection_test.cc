// Projection (46) against closed forms, against the conditions of optimality, and where rows depend
// on or contradict each other.
#include "stiction/scheme/projection.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "stiction/model/system_builder.h"
#include "stiction/solve/solvers.h"
#include "tests/dense_algebra.h"

namespace stiction {
namespace {

/// The convergence criterion, times what sizes of order one amount to in these models.
constexpr double kRounding = 1e-12;
constexpr double kCertified = 1e-8;

using Outcome = PositionProjection::Outcome;

VectorXd vector(std::initializer_list<double> values) {
  return ConstVectorMap(values.begin(), static_cast<Eigen::Index>(values.size()));
}

/// A solver with its stage, as a simulation has them.
class Projector {
 public:
  explicit Projector(std::string_view solver = "lemke")
      : solver_(make_solver(solver)), stage_(*solver_, kCertified) {
    stage_.begin_step();
  }

  VectorXd project(const Model& model, const VectorXd& guess,
                   const std::vector<double>& spring_targets = {},
                   const std::vector<ContactStatus>& contacts = {}) {
    VectorXd q;
    outcome = projection_.project(
        model, {.guess = guess, .spring_targets = spring_targets, .contacts = contacts}, stage_, q);
    return q;
  }

  VectorXd project_velocity(const Model& model, State state) {
    outcome = projection_.project_velocity(model, stage_, state);
    return state.v;
  }

  bool is_certified() const { return stage_.certificate().meets(kCertified); }

  Outcome outcome;

 private:
  std::unique_ptr<Solver> solver_;
  SolveStage stage_;
  PositionProjection projection_;
};

/// A point mass in the plane.
struct Point {
  SystemBuilder system;
  Expression x, y;

  explicit Point(double mass = 1, double x0 = 1, double y0 = 1)
      : x(system.add_coordinate("x", {x0, 0})), y(system.add_coordinate("y", {y0, 0})) {
    system.set_mass(x, x, mass);
    system.set_mass(y, y, mass);
  }
};

/// Point masses on massless rods of length `length`, the first hung up at the origin.
Model chain(const std::vector<double>& masses, double length, int copies = 1) {
  SystemBuilder system;
  Expression last_x, last_y;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const double depth = -length * static_cast<double>(i + 1);
    const Expression x = system.add_coordinate("x" + std::to_string(i), {0, 0});
    const Expression y = system.add_coordinate("y" + std::to_string(i), {depth, 0});
    system.set_mass(x, x, masses[i]);
    system.set_mass(y, y, masses[i]);
    const Expression dx = i == 0 ? x : x - last_x, dy = i == 0 ? y : y - last_y;
    for (int k = 0; k < copies; ++k)
      system.add_constraint("rod " + std::to_string(i) + "," + std::to_string(k),
                            dx * dx + dy * dy - length * length);
    last_x = x;
    last_y = y;
  }
  return system.build_model();
}

/// Share of M(q − q̃) that is no combination of the rows of G: 0 at the nearest point.
double compute_stray_share(const Model& model, const VectorXd& guess, const VectorXd& q) {
  const auto& system = dynamic_cast<const GeneralizedSystem&>(*model.parts()[0].system);
  const int n = system.num_coordinates(), m = system.num_constraints();
  RowMatrixXd mass(n, n), rows(m, n);
  VectorXd drift(m);
  system.evaluate_mass(0, guess, mass);
  system.evaluate_constraint_rows(0, q, rows, drift);
  const VectorXd force = mass * (q - guess);
  const MatrixXd columns = rows.transpose();
  const VectorXd multipliers = testing::solve_least_norm(columns, force);
  return (columns * multipliers - force).norm() / force.norm();
}

double compute_joint_error(const Model& model, const VectorXd& q) {
  return ModelEvaluator().compute_joint_error(model, {0, q, VectorXd::Zero(q.size())});
}

TEST(Projection, PendulumGoesToItsCircleAlongTheRay) {
  Projector projector;
  const VectorXd guess = vector({1.4, -1.1});
  const VectorXd q = projector.project(chain({3.0}, 1), guess);
  EXPECT_LT((q - guess / guess.norm()).norm(), kRounding);
  EXPECT_TRUE(projector.outcome.is_feasible);
  EXPECT_LE(projector.outcome.violation, 1e-13);
  EXPECT_TRUE(projector.is_certified());
}

TEST(Projection, ErrorsOfAStepTakeTwoIterations) {
  // An error of 1e-6 is 1e-12 after one iteration and gone after two.
  Projector projector;
  (void)projector.project(chain({3.0, 0.5}, 1), vector({0.6, -0.8 + 1e-6, 1.2, -1.6 - 2e-6}));
  EXPECT_EQ(projector.outcome.iterations, 2);
  EXPECT_TRUE(projector.outcome.is_feasible);
}

TEST(Projection, DoublePendulumGoesToTheNearestPointInTheNormOfTheMass) {
  const Model model = chain({5.0, 0.2}, 1);
  const VectorXd guess = vector({0.65, -0.8, 1.15, -1.7});
  Projector projector;
  const VectorXd q = projector.project(model, guess);
  ASSERT_TRUE(projector.outcome.is_feasible);
  EXPECT_LT(compute_joint_error(model, q), kRounding);
  // Optimality is reached to the root of what is demanded of the constraints.
  EXPECT_LT(compute_stray_share(model, guess, q), 1e-6);
  EXPECT_LT((q - guess).head(2).norm(), (q - guess).tail(2).norm());  // the heavy one stays
}

TEST(Projection, SliderCrankClosesItsLoop) {
  SystemBuilder system;
  const Expression crank = system.add_coordinate("crank", {0.7, 0});
  const Expression rod = system.add_coordinate("rod", {-0.3, 0});
  const Expression slide = system.add_coordinate("slide", {1.5, 0});
  system.set_mass(crank, crank, 0.02);
  system.set_mass(rod, rod, 0.05);
  system.set_mass(slide, slide, 1.0);
  system.add_constraint("x", 0.5 * cos(crank) + 1.2 * cos(rod) - slide);
  system.add_constraint("y", 0.5 * sin(crank) + 1.2 * sin(rod));
  const Model model = system.build_model();
  for (double angle = 0; angle < 6.3; angle += 0.1) {
    Projector projector;
    const double beta = -std::asin(0.5 / 1.2 * std::sin(angle));
    const VectorXd guess =
        vector({angle + 1e-3, beta - 2e-3, 0.5 * std::cos(angle) + 1.2 * std::cos(beta) + 1e-3});
    const VectorXd q = projector.project(model, guess);
    ASSERT_TRUE(projector.outcome.is_feasible) << angle;
    EXPECT_LT(compute_joint_error(model, q), kRounding) << angle;
    EXPECT_LT(compute_stray_share(model, guess, q), 1e-6) << angle;
    EXPECT_LE(projector.outcome.iterations, 4) << angle;
    EXPECT_TRUE(projector.is_certified()) << angle;
  }
}

TEST(Projection, RepeatedConstraintsChangeNothing) {
  const std::vector<double> masses = {1, 10, 0.1};
  const VectorXd guess = vector({0.61, -0.8, 1.2, -1.61, 1.21, -2.6});
  Projector once, thrice;
  const VectorXd expected = once.project(chain(masses, 1), guess);
  const VectorXd q = thrice.project(chain(masses, 1, 3), guess);
  ASSERT_TRUE(thrice.outcome.is_feasible);
  EXPECT_TRUE(thrice.is_certified());
  EXPECT_LT((q - expected).norm(), 1e-9);  // as far as nearest is nearest
  EXPECT_LE(thrice.outcome.iterations, once.outcome.iterations + 1);
}

TEST(Projection, FarGuessesArriveByDampedSteps) {
  // From near the centre of the circle the whole first step leads far beyond it.
  Projector projector;
  const VectorXd guess = vector({1e-3, -2e-3});
  const VectorXd q = projector.project(chain({1.0}, 1), guess);
  ASSERT_TRUE(projector.outcome.is_feasible);
  EXPECT_LT((q - guess / guess.norm()).norm(), kRounding);
}

TEST(Projection, GapsActOnlyWhereTheyAreViolated) {
  Point point(2.0);
  point.system.add_contact({.name = "floor", .gap = point.y});
  point.system.add_contact({.name = "wall", .gap = point.x});
  const Model model = point.system.build_model();
  Projector projector;
  EXPECT_LT((projector.project(model, vector({0.3, -0.1})) - vector({0.3, 0})).norm(), kRounding);
  EXPECT_LT((projector.project(model, vector({-0.2, -0.1}))).norm(), kRounding);
  EXPECT_TRUE(projector.is_certified());
  const VectorXd apart = vector({0.3, 0.1});
  EXPECT_EQ(projector.project(model, apart), apart);
  EXPECT_EQ(projector.outcome.iterations, 0);
}

TEST(Projection, GapsThatPushNothingReleaseTheirPoint) {
  // The rod leads away from the floor: its row would have to pull.
  Point point;
  point.system.add_constraint("rod", point.y - 0.5);
  point.system.add_contact({.name = "floor", .gap = point.y + 0.1 * point.x});
  const Model model = point.system.build_model();
  Projector projector;
  const VectorXd q = projector.project(model, vector({0.2, -0.1}));
  EXPECT_TRUE(projector.outcome.is_feasible);
  EXPECT_LT((q - vector({0.2, 0.5})).norm(), kRounding);
}

TEST(Projection, ContactsBeyondReachEnterWhenACorrectionMeetsThem) {
  // Lifting the point by a little sends it, along the steep guide, far and through the wall.
  Point point(1.0, 0, 0);
  point.system.add_constraint("guide", point.x - 200.0 * point.y);
  point.system.add_contact({.name = "floor", .gap = point.y});
  point.system.add_contact({.name = "wall", .gap = 0.5 - point.x});
  point.system.add_contact({.name = "far", .gap = 1e3 - point.x});
  const Model model = point.system.build_model();
  Projector projector;
  const VectorXd q = projector.project(model, vector({1, 0.001}));
  EXPECT_TRUE(projector.outcome.is_feasible);
  EXPECT_LT((q - vector({0.5, 0.0025})).norm(), kRounding);
  EXPECT_TRUE(projector.is_certified());
}

TEST(Projection, ClosedContactsAreHeldFromBothSides) {
  Point point;
  point.system.add_contact({.name = "floor", .gap = point.y});
  const Model model = point.system.build_model();
  Projector projector;
  for (const double height : {0.01, -0.01}) {
    const VectorXd q = projector.project(model, vector({0.3, height}), {}, {ContactStatus::kStick});
    EXPECT_LT((q - vector({0.3, 0})).norm(), kRounding);
  }
}

TEST(Projection, ClosedContactsThatDoNotFitTogetherAreGapsAgain) {
  Point point;
  point.system.add_contact({.name = "lower", .gap = point.y});
  point.system.add_contact({.name = "upper", .gap = point.y - 0.1});
  const Model model = point.system.build_model();
  Projector projector;
  const VectorXd q = projector.project(model, vector({0.3, 0.05}), {},
                                       {ContactStatus::kStick, ContactStatus::kSlip});
  EXPECT_TRUE(projector.outcome.is_feasible);
  EXPECT_LT((q - vector({0.3, 0.1})).norm(), kRounding);
}

/// A point on a circle, another one tied to it by a spring.
Model sprung_pendulum(double stiffness) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0}), y = system.add_coordinate("y", {-1, 0});
  const Expression a = system.add_coordinate("a", {0, 0}), b = system.add_coordinate("b", {-2, 0});
  for (const Expression& c : {x, y}) system.set_mass(c, c, 2.0);
  for (const Expression& c : {a, b}) system.set_mass(c, c, 0.5);
  system.add_constraint("rod", x * x + y * y - 1.0);
  system.add_spring({.name = "spring",
                     .extension = sqrt((a - x) * (a - x) + (b - y) * (b - y)) - 0.7,
                     .stiffness = stiffness,
                     .damping = 1.0});
  system.add_spring({.name = "damper", .extension = a - 100.0, .damping = 3.0});
  return system.build_model();
}

double extension_of(const Model& model, const VectorXd& q) {
  VectorXd extension(2);
  model.parts()[0].system->evaluate_springs(0, q, extension);
  return extension[0];
}

TEST(Projection, SpringsKeepTheirExtension) {
  const Model model = sprung_pendulum(1e9);
  Projector projector;
  const VectorXd guess = vector({0.61, -0.81, 1.3, -1.4});
  const double target = extension_of(model, guess) - 1e-3;
  const VectorXd q = projector.project(model, guess, {target, 12345.0});
  ASSERT_TRUE(projector.outcome.is_feasible);
  EXPECT_LT(compute_joint_error(model, q), kRounding);
  EXPECT_NEAR(extension_of(model, q), target, kRounding);
  EXPECT_LE(projector.outcome.spring_error, 1e-13);
  EXPECT_TRUE(projector.is_certified());
  // Without targets the second point has no reason to move.
  EXPECT_EQ(projector.project(model, guess).tail(2), guess.tail(2));
}

TEST(Projection, SpringsAloneAreReasonEnough) {
  const Model model = sprung_pendulum(1e3);
  Projector projector;
  const VectorXd guess = vector({0.6, -0.8, 1.3, -1.4});
  const double target = extension_of(model, guess) + 1e-5;
  const VectorXd q = projector.project(model, guess, {target, 0});
  EXPECT_NEAR(extension_of(model, q), target, kRounding);
  EXPECT_LT(compute_joint_error(model, q), kRounding);
  EXPECT_LE(projector.outcome.iterations, 3);
}

TEST(Projection, SpringsGiveWayToConstraintsAndGaps) {
  Point point(1.0, 0.5, 0.5);
  point.system.add_constraint("guide", point.y - 0.3 * point.x * point.x);
  point.system.add_contact({.name = "wall", .gap = 1.0 - point.x});
  point.system.add_spring({.name = "along", .extension = point.x - 0.2, .stiffness = 1e6});
  point.system.add_spring({.name = "across", .extension = point.y, .stiffness = 1e6});
  const Model model = point.system.build_model();
  Projector projector;
  const VectorXd q = projector.project(model, vector({0.9, 0.2}), {1.0, 0.4});
  EXPECT_TRUE(projector.outcome.is_feasible);
  EXPECT_GT(projector.outcome.spring_error, 1e-3);
  EXPECT_LT((q - vector({1, 0.3})).norm(), 1e-9);  // as far as nearest is nearest
  EXPECT_LE(projector.outcome.iterations, 12);
  EXPECT_TRUE(projector.is_certified());
}

TEST(Projection, UnitsDoNotMatter) {
  // Metres and millimetres; the mass is measured by what the lengths are, 1 kg or 1e-6 kg m²/mm².
  const VectorXd guess = vector({0.61, -0.81, 1.3, -1.4});
  Projector metres, millimetres;
  const VectorXd q = metres.project(chain({2.0, 0.3}, 1), guess);
  const VectorXd q_mm = millimetres.project(chain({2e-6, 0.3e-6}, 1e3), 1e3 * guess);
  EXPECT_LT((q_mm * 1e-3 - q).norm(), kRounding);
  EXPECT_EQ(metres.outcome.iterations, millimetres.outcome.iterations);
  EXPECT_NEAR(metres.outcome.violation, millimetres.outcome.violation, 1e-13);
}

TEST(Projection, CoordinatesMayHaveDifferentUnits) {
  // A pendulum whose y is counted in thousandths of x.
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0});
  const Expression y = system.add_coordinate("y", {-1e3, 0});
  system.set_mass(x, x, 2.0);
  system.set_mass(y, y, 2e-6);
  system.add_constraint("rod", x * x + 1e-6 * y * y - 1.0);
  Projector projector;
  const VectorXd q = projector.project(system.build_model(), vector({0.7, -900}));
  const VectorXd expected = vector({0.7, -0.9}) / std::hypot(0.7, 0.9);
  EXPECT_NEAR(q[0], expected[0], kRounding);
  EXPECT_NEAR(q[1] * 1e-3, expected[1], kRounding);
}

TEST(Projection, FeasibleGuessesKeepTheirBits) {
  const Model model = chain({3.0, 0.5}, 1);
  Projector projector;
  VectorXd q = projector.project(model, vector({0.61, -0.8, 1.2, -1.6}));
  ASSERT_TRUE(projector.outcome.is_feasible);
  const VectorXd again = projector.project(model, q);
  EXPECT_EQ(again, q);
  EXPECT_EQ(projector.outcome.iterations, 0);
}

TEST(Projection, TheAnswerMayReplaceTheGuess) {
  const Model model = chain({3.0}, 1);
  const auto solver = make_solver("lemke");
  SolveStage stage(*solver, kCertified);
  PositionProjection projection;
  VectorXd q = vector({1.4, -1.1});
  const VectorXd expected = q / q.norm();
  EXPECT_TRUE(projection.project(model, {.guess = q}, stage, q).is_feasible);
  EXPECT_LT((q - expected).norm(), kRounding);
}

TEST(Projection, ContradictionsAreAdmitted) {
  {
    Point point;
    point.system.add_constraint("nowhere", point.x * point.x + point.y * point.y + 1.0);
    Projector projector;
    const VectorXd q = projector.project(point.system.build_model(), vector({0.5, 0.2}));
    EXPECT_FALSE(projector.outcome.is_feasible);
    EXPECT_GT(projector.outcome.violation, 1e-3);
    EXPECT_TRUE(q.allFinite());
  }
  {
    Point point;
    point.system.add_contact({.name = "floor", .gap = point.y - 1.0});
    point.system.add_contact({.name = "ceiling", .gap = 0.5 - point.y});
    Projector projector;
    const VectorXd q = projector.project(point.system.build_model(), vector({0.5, 0.7}));
    EXPECT_FALSE(projector.outcome.is_feasible);
    EXPECT_TRUE(q.allFinite());
  }
  {
    Point point;
    point.system.add_constraint("here", point.y);
    point.system.add_constraint("there", point.y - 1.0);
    Projector projector;
    const VectorXd q = projector.project(point.system.build_model(), vector({0.5, 0.2}));
    EXPECT_FALSE(projector.outcome.is_feasible);
    EXPECT_TRUE(q.allFinite());
  }
}

TEST(Projection, ChainsThroughTheirSingularPositionAreHeld) {
  // Stretched between two points at exactly its length: the rows of the rods depend on each other.
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {1, 0}), y = system.add_coordinate("y", {0, 0});
  system.set_mass(x, x, 1.0);
  system.set_mass(y, y, 1.0);
  system.add_constraint("left", sqrt(x * x + y * y) - 1.0);
  system.add_constraint("right", sqrt((x - 2.0) * (x - 2.0) + y * y) - 1.0);
  const Model model = system.build_model();
  Projector projector;
  const VectorXd q = projector.project(model, vector({1 + 1e-4, 0}));
  EXPECT_TRUE(projector.outcome.is_feasible);
  EXPECT_LT((q - vector({1, 0})).norm(), kRounding);
}

TEST(Projection, EverySolverServes) {
  SystemBuilder system;
  const Expression x = system.add_coordinate("x", {0, 0}), y = system.add_coordinate("y", {-1, 0});
  const Expression a = system.add_coordinate("a", {0, 0}), b = system.add_coordinate("b", {-2, 0});
  for (const Expression& c : {x, y}) system.set_mass(c, c, 2.0);
  for (const Expression& c : {a, b}) system.set_mass(c, c, 0.5);
  system.add_constraint("rod", x * x + y * y - 1.0);
  system.add_constraint("again", 2.0 * (x * x + y * y) - 2.0);
  system.add_contact({.name = "floor", .gap = b + 1.5});
  system.add_contact({.name = "apart", .gap = b + 3.0});
  system.add_spring({.name = "spring",
                     .extension = sqrt((a - x) * (a - x) + (b - y) * (b - y)) - 0.7,
                     .stiffness = 1e6});
  const Model model = system.build_model();
  const VectorXd guess = vector({0.601, -0.802, 1.3, -1.501});
  VectorXd expected;
  for (const std::string& name : solver_names()) {
    SCOPED_TRACE(name);
    Projector projector(name);
    const VectorXd q = projector.project(model, guess, {0.2});
    EXPECT_TRUE(projector.outcome.is_feasible);
    EXPECT_LE(projector.outcome.violation, 1e-13);
    EXPECT_LE(projector.outcome.spring_error, 1e-12);
    EXPECT_TRUE(projector.is_certified());
    if (expected.size() == 0) expected = q;
    EXPECT_LT((q - expected).norm(), 1e-8);
  }
}

TEST(Projection, RandomChainsOnAFloorArriveInFewIterations) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int trial = 0; trial < 200; ++trial) {
    SCOPED_TRACE(trial);
    const int n = 1 + trial % 8;
    SystemBuilder system;
    std::vector<Expression> x, y;
    VectorXd guess(2 * n);
    const double error = std::pow(10.0, -2 - 3 * (uniform(random) + 1));
    double px = 0, py = 0;
    for (int i = 0; i < n; ++i) {
      const double angle = -1.5 + uniform(random), mass = std::pow(10.0, 3 * uniform(random));
      px += std::cos(angle);
      py += std::sin(angle);
      x.push_back(system.add_coordinate("x" + std::to_string(i), {px, 0}));
      y.push_back(system.add_coordinate("y" + std::to_string(i), {py, 0}));
      system.set_mass(x[i], x[i], mass);
      system.set_mass(y[i], y[i], mass);
      const Expression dx = i == 0 ? x[0] : x[i] - x[i - 1], dy = i == 0 ? y[0] : y[i] - y[i - 1];
      system.add_constraint("rod " + std::to_string(i), sqrt(dx * dx + dy * dy) - 1.0);
      system.add_contact(
          {.name = "floor " + std::to_string(i), .gap = y[i] - py + 0.5 * error * uniform(random)});
      guess[2 * i] = px + error * uniform(random);
      guess[2 * i + 1] = py + error * uniform(random);
    }
    const Model model = system.build_model();
    Projector projector;
    const VectorXd q = projector.project(model, guess);
    EXPECT_TRUE(projector.outcome.is_feasible);
    EXPECT_LT(compute_joint_error(model, q), 1e-12 * n);
    EXPECT_LE(projector.outcome.iterations, 8);
    EXPECT_TRUE(projector.is_certified());
  }
}

TEST(VelocityProjection, PendulumLosesItsRadialVelocity) {
  const Model model = chain({3.0}, 1);
  Projector projector;
  const VectorXd v = projector.project_velocity(model, {0, vector({0.6, -0.8}), vector({1, 1})});
  // (1, 1) less its part along (0.6, −0.8).
  EXPECT_LT((v - vector({1 + 0.12, 1 - 0.16})).norm(), kRounding);
  EXPECT_TRUE(projector.outcome.is_feasible);
  EXPECT_TRUE(projector.is_certified());
  const VectorXd again = projector.project_velocity(model, {0, vector({0.6, -0.8}), v});
  EXPECT_EQ(again, v);
  EXPECT_EQ(projector.outcome.iterations, 0);
}

TEST(VelocityProjection, DrivenConstraintsSetVelocities) {
  Point point(2.0, 0, 0);
  point.system.add_constraint("drive", point.x - 3.0 * point.system.time());
  point.system.add_constraint("again", 2.0 * point.x - 6.0 * point.system.time());
  Projector projector;
  const VectorXd v =
      projector.project_velocity(point.system.build_model(), {0, vector({0, 0}), vector({0, 0})});
  EXPECT_LT((v - vector({3, 0})).norm(), kRounding);
  EXPECT_TRUE(projector.outcome.is_feasible);
}

TEST(VelocityProjection, ContactsThatTouchDoNotApproach) {
  Point point(2.0, 0, 0);
  point.system.add_contact({.name = "floor", .gap = point.y});
  point.system.add_contact({.name = "wall", .gap = point.x + 1e-3});
  const Model model = point.system.build_model();
  Projector projector;
  const VectorXd v = projector.project_velocity(model, {0, vector({0, 0}), vector({-1, -2})});
  EXPECT_LT((v - vector({-1, 0})).norm(), kRounding);
  const VectorXd leaving = vector({-1, 2});
  EXPECT_EQ(projector.project_velocity(model, {0, vector({0, 0}), leaving}), leaving);
}

TEST(VelocityProjection, ContradictionsAreAdmitted) {
  Point point(2.0, 0, 0);
  point.system.add_constraint("drive", point.x - 3.0 * point.system.time());
  point.system.add_constraint("stop", point.x);
  Projector projector;
  const VectorXd v =
      projector.project_velocity(point.system.build_model(), {0, vector({0, 0}), vector({1, 0})});
  EXPECT_FALSE(projector.outcome.is_feasible);
  EXPECT_TRUE(v.allFinite());
}

}  // namespace
}  // namespace stiction
